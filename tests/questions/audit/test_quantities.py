"""What a limit can be set for: each figure at its worst, groups of people among them, and what it cannot do without."""

from dataclasses import replace
from math import isnan

import polars as pl
import pytest

from tests.questions.audit.leaks import CONTROL, FOREIGN, GUESSES, ILL, LEAK, ORIGINAL, ask, found, people, run, tables
from unveil.attacks.table.linkability import Linkability
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.guesses.trials import Attempts, Trials
from unveil.metrics.releases.disclosure import disclosure
from unveil.metrics.trials.groups import GroupRates, bands, group_rates
from unveil.metrics.trials.risk import risk
from unveil.metrics.verdict.control import ControlCheck
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import (
    AttackFinding,
    Audit,
    AuditedRelease,
    AuditVerdict,
    CopyFindings,
    JudgedFigure,
    ReleaseVerdict,
)
from unveil.questions.audit.quantities import meanings, needs, quantities_of
from unveil.questions.audit.report_context import judged
from unveil.report.judgement import Judgement
from unveil.report.limits import check_limits

#: The attacks whose tries are about single people, so that groups have rates of their own.
PERSONAL = [name for name, attack in ATTACKS.items() if attack.per_person]


def shown(finding: AttackFinding) -> tuple[GroupRates, ...]:
    return () if finding.groups is None else finding.groups.groups


# --- quantities -------------------------------------------------------------------------------------------------------


def test_every_attack_and_measure_has_quantities_and_says_what_they_need() -> None:
    said = meanings()
    assert {name.split(".")[0] for name in said} == {*ATTACKS, "disclosure", "utility"}
    for name, meaning in said.items():
        for need, option in (("control", "--control"), ("by", "--by")):
            if option in meaning:
                assert need in needs(name)
    assert needs("membership.worst_group.low") == ("control", "by")
    assert needs("disclosure.k_anonymity") == needs("utility.loss") == ()
    assert "copies.worst_group" not in said
    assert "row_order.excess_over_control" not in said


def test_each_quantity_is_the_worst_over_releases_and_columns_but_not_the_mean() -> None:
    answer = ask(
        ORIGINAL, {"near": LEAK, "far": FOREIGN}, CONTROL, attacks=[*GUESSES, "singling_out"], targets=40,
        sensitive=["ill", "income"],
    )  # fmt: skip
    for attack in (*GUESSES, "singling_out"):
        rows = answer.to_polars().filter(pl.col("attack") == attack)
        for figure in ("attack_rate", "control_rate", "excess_over_control"):
            for end, column in (("", figure), (".low", f"{figure}_low"), (".high", f"{figure}_high")):
                assert answer.quantities[f"{attack}.{figure}{end}"].value == rows[column].max()
    every = ask(ORIGINAL, LEAK, CONTROL, attacks=["inference"], targets=40)
    *columns, mean = found(every)
    highest = max(each.risk.naive_rate.value for each in columns)
    assert every.quantities["inference.naive_rate"].value == highest
    assert mean.risk.naive_rate.value != highest


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
    of_copies = ("copies.attack_rate", "copies.unmistakable")
    assert all(isnan(each.value) for name, each in quantities.items() if not name.startswith(of_copies))
    assert quantities["copies.unmistakable"].value == 0
    assert isnan(ask(ORIGINAL, FOREIGN, attacks=["disclosure"]).quantities["copies.unmistakable"].value)
    assert not any(each.exceeded_when_undefined for each in quantities.values())


def test_the_worst_group_is_the_one_that_is_hit_most() -> None:
    """Where there is a control table groups are ranked by their excess, but the quantity is a rate."""
    answer = ask(ORIGINAL, LEAK, CONTROL, attacks=PERSONAL, by="region", targets=None, kind="masked")
    for attack in PERSONAL:
        for end in ("value", "low", "high"):
            rates = [
                getattr(group.attack_rate, end)
                for finding in found(answer)
                if finding.attack == attack
                for group in shown(finding)
            ]
            name = f"{attack}.worst_group{'' if end == 'value' else '.' + end}"
            if rates:
                assert answer.quantities[name].value == max(rates), name
    assert isnan(ask(ORIGINAL, LEAK, attacks=["inference"]).quantities["inference.worst_group"].value)


# --- how sure they are ------------------------------------------------------------------------------------------------


def tried(hits: int, tries: int, outside: int, control: int) -> tuple[Trials, AttackFinding]:
    """Return an attack that hit so many people, and so many of the control, as trials and as a finding."""
    attempts = [Attempts(tries=of, expected=hit, low=hit, high=hit) for hit, of in ((hits, tries), (outside, control))]
    trials = Trials(attack=attempts[0], naive=attempts[1], control=attempts[1], what="a link")
    return trials, AttackFinding(attack="linkability", targets=tries, risk=risk(trials))


def audited(*findings: AttackFinding, control: str = "usable") -> Audit:
    release = AuditedRelease(name="r", rows=500, kind="synthetic", columns=(), sha256=None, findings=findings)
    check = ControlCheck(outcome=control, members=500, others=400)  # type: ignore[arg-type]
    verdict = AuditVerdict(control=check, releases=(ReleaseVerdict(name="r", outcome="nothing_found"),))
    return Audit(
        rows=500, columns=(), sha256=None, control_rows=400, control_sha256=None, releases=(release,),
        attacks=("linkability",), verdict=verdict,
    )  # fmt: skip


EXCESS = "linkability.excess_over_control"


def test_an_interval_at_another_confidence_is_that_of_the_tries() -> None:
    (few, first), (many, second) = tried(60, 500, 10, 400), tried(80, 200, 60, 300)
    for name in (EXCESS, "linkability.attack_rate", "linkability.control_rate"):
        evidence = quantities_of(audited(first, second))[name].evidence
        assert evidence is not None
        assert evidence.figures == 2
        for level in (0.95, 0.99, 0.999):
            rates = [getattr(risk(trials, confidence=level), name.partition(".")[2]) for trials in (few, many)]
            made = evidence.interval(level)
            assert made.low == pytest.approx(max(rate.low for rate in rates), abs=1e-12)
            assert made.high == pytest.approx(max(rate.high for rate in rates), abs=1e-12)
    # An end of an interval is a number like any other.
    assert quantities_of(audited(first))[f"{EXCESS}.high"].evidence is None


@pytest.mark.parametrize(
    ("control", "outcomes"),
    [
        ("usable", [True, False, None]),
        ("overlap", [True, None, None]),
        ("other_people", [None, None, None]),
        ("too_small", [None, None, None]),
    ],
)
def test_only_a_usable_control_shows_that_a_limit_is_kept(control: str, outcomes: list[bool | None]) -> None:
    """The excess is 10.2 % (7.0 % to 13.6 %)."""
    quantities = quantities_of(audited(tried(60, 500, 10, 500)[1], control=control))
    limits = [(EXCESS, 0.05), (EXCESS, 0.2), (EXCESS, 0.1)]
    checked = [check_limits(quantities, (limit,))[0] for limit in limits]
    assert [each.exceeded for each in checked] == outcomes
    # The rate itself needs no control.
    assert check_limits(quantities, (("linkability.attack_rate", 0.2),))[0].exceeded is False


def test_how_many_people_would_decide_it_is_said_where_there_are_fewer() -> None:
    """With 10 % of strangers hit a limit of 5 % takes about 723 people in each table."""
    (small,) = check_limits(quantities_of(audited(tried(30, 300, 30, 300)[1])), ((EXCESS, 0.05),))
    assert small.why.endswith("; about 723 people in each table would decide it")
    (large,) = check_limits(quantities_of(audited(tried(300, 2000, 200, 2000)[1])), ((EXCESS, 0.05),))
    assert large.exceeded is None
    assert "would decide" not in large.why


@pytest.mark.parametrize(
    ("attack", "group", "outcome"),
    [("linkability", "", "kept"), ("linkability", "sex: f", "not_shown"), ("membership", "", "not_shown"),
     ("copies", "", "not_shown")],
)  # fmt: skip
def test_what_is_proved_of_single_people_keeps_a_profile_from_being_kept(attack: str, group: str, outcome: str) -> None:
    held = ("linkability", "membership", "attribute_disclosure", "copies")
    low = [replace(tried(1, 500, 1, 500)[1], attack=each) for each in held]
    audit = audited(*low)
    proved = JudgedFigure(attack=attack, group=group, tries=500, p_adjusted=0.001, proved=True)
    copies = CopyFindings(people=500, people_unchanged=1, control_share=0, expected=0, unmistakable=0, coincidences=0)
    release = ReleaseVerdict(name="r", outcome="found", findings=(proved,), copies=copies)

    def judgement(release: ReleaseVerdict) -> Judgement:
        return judged(replace(audit, verdict=replace(audit.verdict, releases=(release,))), "ema")

    assert judgement(release).outcome == outcome
    copied = replace(release, findings=(), copies=replace(copies, unmistakable=1))
    assert judgement(copied).outcome == "exceeded"


# --- groups -----------------------------------------------------------------------------------------------------------


def test_groups_are_those_of_the_same_trials() -> None:
    attacks = ["linkability", *GUESSES]
    answer = ask(
        ORIGINAL, LEAK, CONTROL, attacks=attacks, by="region", sensitive=["ill"], scenarios=["age:sex"], targets=None,
        neighbours=2,
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
    answer = ask(ORIGINAL, LEAK, CONTROL, attacks=PERSONAL, by="sex", targets=60, kind="masked")
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
        ORIGINAL, north, CONTROL, attacks=["attribute_disclosure"], by="region", sensitive=["ill"], targets=None
    )
    (finding,) = found(answer)
    assert finding.groups is not None
    assert [group.name for group in finding.groups.worse] == ["north"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_group_below_the_minimum_is_in_the_answer(attack: str) -> None:
    rare = ORIGINAL.with_columns(region=pl.Series(["Zephyrine", *["Xanadu"] * 5, *ORIGINAL["region"][6:]]))
    answer = ask(rare, rare.reverse(), CONTROL, attacks=[attack], by="region", targets=80, kind="masked")
    assert "Zephyrine" not in answer.to_json()
    assert "Xanadu" not in answer.to_json()
    for group in (group for finding in found(answer) for group in shown(finding)):
        assert min(group.people, group.tries) >= 11
        assert group.control_tries == 0 or group.control_tries >= 11


def test_groups_may_be_of_a_column_that_is_not_released() -> None:
    """Whom a release hits is asked of people, not of what is told about them."""
    answer = ask(
        ORIGINAL, LEAK.drop("region"), CONTROL.drop("region"), by="region", attacks=["inference"], targets=None
    )
    grouped = next(finding.groups for finding in found(answer) if finding.groups is not None)
    sizes = dict(ORIGINAL["region"].value_counts().iter_rows())
    assert {group.name: group.people for group in grouped.groups if group.kind == "named"}.items() <= sizes.items()
    assert all(isnan(group.control_rate.value) for group in grouped.groups)
