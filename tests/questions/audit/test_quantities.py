"""What a limit can be set for: each figure at its worst, groups of people among them, and what it cannot do without."""

from math import isnan

import polars as pl
import pytest

from tests.questions.audit.leaks import CONTROL, FOREIGN, GUESSES, ILL, LEAK, ORIGINAL, ask, found, people, run, tables
from unveil.attacks.table.linkability import Linkability
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.metrics.releases.disclosure import disclosure
from unveil.metrics.trials.groups import GroupRates, bands, group_rates
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision.evidence import meanings
from unveil.questions.audit.decision.findings import EFFECTS, MAX_RISK, WORST
from unveil.questions.audit.findings import (
    AttackFinding,
)

#: The attacks whose tries are about single people, so that groups have rates of their own.
PERSONAL = [name for name, attack in ATTACKS.items() if attack.per_person]


def shown(finding: AttackFinding) -> tuple[GroupRates, ...]:
    return () if finding.groups is None else finding.groups.groups


# --- quantities -------------------------------------------------------------------------------------------------------


def test_every_effect_and_measure_can_be_limited_and_no_rate() -> None:
    said = meanings()
    distances = {each.name for each in ATTACKS.values() if each.distances}
    alone = {*EFFECTS, WORST, MAX_RISK, "journalist_max", "marketer", "delta_max"}
    assert {name.split(".")[0] for name in said} == {*alone, *distances, "disclosure", "utility"}
    assert {name for name in said if "." not in name} == alone
    assert not any(name.endswith(("_rate", "excess_over_control", "worst_group")) for name in said)


def test_each_effect_is_the_worst_over_releases_and_columns() -> None:
    answer = ask(
        ORIGINAL, {"near": LEAK, "far": FOREIGN}, CONTROL, attacks=[*GUESSES, "singling_out"], targets=40,
        sensitive=["ill", "income"],
    )  # fmt: skip
    effects = [each for release in answer.decided.releases for each in release.effects]
    for attack in (*GUESSES, "singling_out"):
        significant = [each.excess for each in effects if each.attack == attack and each.is_significant]
        worst = max(significant, key=lambda each: each.value)
        assert answer.quantities[attack].value == worst.value
        normalized = answer.quantities[f"{attack}.normalized"].value
        assert normalized == pytest.approx(worst.value / (1 - worst.baseline))
    assert answer.quantities[WORST].value == max(
        answer.quantities[attack].value for attack in (*GUESSES, "singling_out")
    )


def test_figures_of_the_release_itself_are_the_worst_over_releases() -> None:
    bands_of_ages = {"age": pl.col("age") // 50}
    coarse = FOREIGN.select("age", "sex").with_columns(**bands_of_ages)
    fine = FOREIGN.select("age", "sex")
    original = ORIGINAL.select("age", "sex")
    answer = ask(original, {"coarse": coarse, "fine": fine}, attacks=["disclosure", "utility"])
    every = [release.disclosure for release in answer.findings.releases]
    tables = [Table.from_frame(each) for each in (coarse, fine)]
    by_hand = [disclosure(Release(Table.from_frame(original), table), minimum_cell=11) for table in tables]
    assert [each.k_anonymity for each in every if each] == [each.k_anonymity for each in by_hand]
    quantities = answer.quantities
    assert quantities["disclosure.k_anonymity"].value == min(each.k_anonymity for each in by_hand)
    assert not quantities["disclosure.k_anonymity"].more_is_worse
    for figure in ("highest_risk", "average_risk", "sample_uniqueness"):
        assert quantities[f"disclosure.{figure}"].value == max(getattr(each, figure) for each in by_hand)
    losses = [release.utility.loss for release in answer.findings.releases if release.utility]
    assert quantities["utility.loss"].value == max(losses) > min(losses)


def test_what_was_not_measured_is_undefined_and_never_0() -> None:
    quantities = ask(ORIGINAL, FOREIGN, attacks=["copies"]).quantities
    assert set(quantities) == set(meanings())
    assert all(isnan(each.value) for name, each in quantities.items() if not name.startswith("copies."))
    assert quantities["copies.unmistakable"].value == 0
    assert isnan(ask(ORIGINAL, FOREIGN, attacks=["disclosure"]).quantities["copies.unmistakable"].value)
    assert not any(each.exceeded_when_undefined for each in quantities.values())


# --- groups -----------------------------------------------------------------------------------------------------------


def test_groups_are_those_of_the_same_trials() -> None:
    attacks = ["linkability", *GUESSES]
    answer = ask(
        ORIGINAL, LEAK, CONTROL, attacks=attacks, group_by="region", sensitive=["ill"], scenarios=["age:sex"],
        targets=None, neighbors=2,
    )  # fmt: skip
    by_hand = {
        "linkability": Linkability(first=("age",), second=("sex",), neighbours=2, targets=None),
        **{attack: made(secret=ILL, known=("age", "sex"), targets=None) for attack, made in GUESSES.items()},
    }
    original, _, control = tables(True)
    labels = bands(original, "region"), bands(control, "region", like=original)
    for finding in found(answer):
        trials = run(by_hand[finding.attack], leak=True)
        assert repr(finding.groups) == repr(group_rates(trials, *labels, minimum=11, looks=3))


def test_groups_of_people_who_were_drawn_are_counted_among_all() -> None:
    answer = ask(ORIGINAL, LEAK, CONTROL, attacks=PERSONAL, group_by="sex", targets=60, release_type="masked")
    grouped = [finding for finding in found(answer) if finding.groups is not None]
    assert {finding.attack for finding in grouped} >= {"singling_out", "linkability", "inference", "membership"}
    sizes = dict(ORIGINAL["sex"].value_counts().iter_rows())
    for finding in grouped:
        assert {group.name: group.people for group in shown(finding)} == sizes
        tried = sum(group.tries for group in shown(finding))
        assert tried == (120 if finding.attack == "singling_out" else finding.targets)


def test_a_group_that_is_hit_more_often_is_named() -> None:
    north = pl.concat([ORIGINAL.filter(pl.col("region") == "north"), people(60, 30)])
    answer = ask(
        ORIGINAL, north, CONTROL, attacks=["attribute_disclosure"], group_by="region", sensitive=["ill"], targets=None
    )
    (finding,) = found(answer)
    assert finding.groups is not None
    assert [group.name for group in finding.groups.worse] == ["north"]


@pytest.mark.parametrize("attack", [name for name, attack in ATTACKS.items() if not attack.needs_children])
def test_no_group_below_the_minimum_is_in_the_answer(attack: str) -> None:
    rare = ORIGINAL.with_columns(region=pl.Series(["Zephyrine", *["Xanadu"] * 5, *ORIGINAL["region"][6:]]))
    answer = ask(rare, rare.reverse(), CONTROL, attacks=[attack], group_by="region", targets=80, release_type="masked")
    assert "Zephyrine" not in answer.to_json()
    assert "Xanadu" not in answer.to_json()
    for group in (group for finding in found(answer) for group in shown(finding)):
        assert min(group.people, group.tries) >= 11
        assert group.control_tries == 0 or group.control_tries >= 11


def test_groups_may_be_of_a_column_that_is_not_released() -> None:
    """Whom a release hits is asked of people, not of what is told about them."""
    answer = ask(
        ORIGINAL, LEAK.drop("region"), CONTROL.drop("region"), group_by="region", attacks=["inference"], targets=None
    )
    grouped = next(finding.groups for finding in found(answer) if finding.groups is not None)
    sizes = dict(ORIGINAL["region"].value_counts().iter_rows())
    assert {group.name: group.people for group in grouped.groups if group.kind == "named"}.items() <= sizes.items()
    assert all(isnan(group.control_rate.value) for group in grouped.groups)
