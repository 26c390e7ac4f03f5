"""Several rows per person: refused unless told, never an accusation, and people are what is counted."""

import json
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from tests.approved.sentences import Approved
from unveil.cli import main
from unveil.errors import InputError
from unveil.guesses.trials import Attempts, Trials
from unveil.questions.audit.answer import audit
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision.templates import STEPS
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.people import TargetPool, per_person
from unveil.questions.result import Result

MEN, OTHERS, YEARS = 90, 60, 6


def panel(people: int, seed: int) -> pl.DataFrame:
    """Return people who are seen every year: what they are stays, what they earn changes a little."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), YEARS)
    kept = {
        "ethn": rng.choice(["a", "b", "c"], people, p=[0.6, 0.3, 0.1]),
        "school": rng.integers(8, 18, people),
        "trade": rng.choice(list("klmnopqr"), people),
        "region": rng.choice(["n", "e", "s", "w"], people),
    }
    pay = rng.normal(2000, 600, people)[person] + rng.normal(0, 60, person.size)
    return pl.DataFrame(
        {
            "nr": seed * 10_000 + 13 * person,
            "year": np.tile(np.arange(2001, 2001 + YEARS), people),
            **{name: values[person] for name, values in kept.items()},
            "union": np.where(rng.random(person.size) < 0.1, "yes", "no"),
            "pay": pay.round().astype(int),
        }
    )


@cache
def tables() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return people in the data, a release of others, and a control."""
    return panel(MEN, 1), panel(MEN, 2), panel(OTHERS, 3)


def ask(*given: Any, seed: int = 5, **settings: Any) -> Result[Audit]:
    return audit(*given, rng=np.random.default_rng(seed), predicates=100, **settings)


def test_several_rows_per_person_are_refused_with_the_column_and_both_ways_out(
    tmp_path: Any, approved: Approved
) -> None:
    for name, frame in zip(("original", "released", "control"), tables(), strict=True):
        frame.write_csv(tmp_path / f"{name}.csv")
    files = [str(tmp_path / f"{name}.csv") for name in ("original", "released")]
    command = ["audit", *files, "--control", str(tmp_path / "control.csv"), "--attacks", "copies"]
    run = CliRunner().invoke(main, command)
    assert run.exit_code == 2
    approved(run.output)
    for told, number in (("nr", MEN), ("none", MEN * YEARS)):
        run = CliRunner().invoke(main, [*command, "--id", told, "--json"])
        assert run.exit_code == 0, run.output
        assert json.loads(run.stdout)["original"]["people"] == number
    with pytest.raises(InputError, match="Set id to 'nr'"):
        audit(tables()[0], generator="shuffle")


def test_no_attack_no_refusal() -> None:
    original, released, _ = tables()
    assert ask(original, released, attacks=["disclosure"]).findings.rows == MEN * YEARS


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rows_of_people_whom_no_column_tells_apart_accuse_nobody(seed: int) -> None:
    original, released, control = (panel(size, 10 * seed + place) for place, size in enumerate((MEN, MEN, OTHERS)))
    answer = ask(*(each.drop("nr") for each in (original, released, control)))
    verdict = answer.findings.verdict
    assert answer.findings.decision.control == verdict.control.outcome != "usable"
    assert verdict.control.is_clustered
    assert answer.headline == "Inconclusive: the control group cannot be used."
    assert STEPS["identifier"] in answer.page().next_steps


def test_one_row_per_person_is_no_cluster() -> None:
    answer = ask(*(each.filter(pl.col("year") == 2001).drop("nr") for each in tables()), attacks=["copies"])
    assert answer.findings.verdict.control.outcome == "usable"
    assert answer.findings.verdict.control.clustering < 3


@cache
def told() -> Result[Audit]:
    copied = tables()[0].filter(pl.col("nr").rank("dense") <= 9)
    strangers = tables()[1].filter(pl.col("nr").rank("dense") > 9)
    # The first year alone of nine people, and five of their other years.
    released = pl.concat([copied.filter(pl.col("year") < 2006), strangers]).drop("nr")
    return ask(tables()[0], released, tables()[2], identifiers=["nr"], group_by="ethn")


def test_with_an_identifier_every_number_is_one_of_people() -> None:
    found = told().findings
    assert (found.rows, found.people, found.attacked, found.attacked_outside) == (MEN * YEARS, MEN, MEN, OTHERS)
    assert f"{MEN} people" in told().page().question
    for finding in found.releases[0].findings:
        attack = ATTACKS[finding.attack]
        if attack.tries_are_people and not attack.distances and finding.risk.attack_rate.defined:
            assert finding.targets <= MEN, finding.attack
        if finding.groups is not None:
            assert sum(each.people for each in finding.groups.groups) == MEN
    for figure in found.verdict.releases[0].findings:
        if ATTACKS[figure.attack].tries_are_people:
            assert (figure.tries <= MEN, figure.control_tries <= OTHERS) == (True, True)
    (copies,) = found.releases[0].of("copies")
    assert (copies.targets, copies.links.expected) == (MEN, 9)


def test_a_harmless_panel_accuses_nobody_with_an_identifier_even_in_the_same_order() -> None:
    found = []
    for seed in range(8):
        original, released, control = (panel(size, 10 * seed + place) for place, size in enumerate((MEN, MEN, OTHERS)))
        answer = ask(original, released, control, identifiers=["nr"], attacks=["row_order"])
        found.append(answer.level)
    # With 90 people nothing significant says nothing.
    assert sum(each in ("none_found", "inconclusive") for each in found) >= 7
    kept = ask(original, original.drop("nr"), control, identifiers=["nr"], attacks=["row_order"])
    assert kept.level == "high"
    assert kept.findings.releases[0].findings[0].risk.attack_rate.value == 1


def people_of(rows: list[int], members: int) -> TargetPool:
    """Return people who have these rows, the first ones those of the original."""
    from unveil.data.table import Table
    from unveil.data.table.release import Release
    from unveil.metrics.verdict.control import ControlCheck
    from unveil.metrics.verdict.pooled_tables import pool_tables

    own, theirs = rows[:members], rows[members:]
    original, control = (Table.from_frame(pl.DataFrame({"x": range(len(part))})) for part in (own, theirs))
    everybody = pool_tables(Release(original, original, control), ids=own, control_ids=theirs)
    return TargetPool(
        everybody=everybody,
        inside=np.arange(members)[::-1].copy(),
        outside=np.arange(len(theirs)),
        control=ControlCheck(outcome="usable", members=everybody.members, others=everybody.others),
    )


def test_the_mean_over_the_rows_of_a_person_is_one_try() -> None:
    people = people_of([7, 7, 8, 9, 9, 9, 1, 1, 2], 6)
    # Positions are those of the attacked, who stand the other way round.
    attack = Attempts.from_chances([1.0, 0.5, 0.0, 1.0], rows=[0, 1, 3, 5])
    control = Attempts.from_chances([0.5, 1.0, 0.0], rows=[0, 1, 2])
    naive = Attempts.from_chances([0.1] * 6)
    found = per_person(Trials(attack=attack, naive=naive, control=control, what="it"), people)
    assert found.attack.chances is not None
    assert found.control is not None
    assert found.control.chances is not None
    by_row = dict(zip(found.attack.rows.tolist(), found.attack.chances.tolist(), strict=True))  # type: ignore[union-attr]
    # Rows 5 and 4 belong to one person, row 2 to another, row 0 to the first.
    assert by_row == {5: 1.0, 3: 0.0, 0: 0.75}
    assert found.control.chances.tolist() == [0.75, 0.0]
    assert found.naive.tries == 3
    assert found.naive.expected == pytest.approx(0.3)
    again = per_person(found, people)
    assert (again.attack.chances.tolist(), again.control.tries) == (found.attack.chances.tolist(), 2)  # type: ignore[union-attr]


def test_where_each_row_is_a_person_nothing_changes() -> None:
    people = people_of([1, 2, 3, 4, 5], 2)
    trials = Trials(
        attack=Attempts.from_chances([1.0], rows=[0]), naive=Attempts.from_chances([0.0]), control=None, what=""
    )
    assert per_person(trials, people) is trials


def test_a_record_that_one_person_has_twice_is_one_of_one_person() -> None:
    from unveil.questions.audit.attacks.copies import copied_records
    from unveil.questions.audit.inputs import prepare
    from unveil.questions.audit.settings import AuditSettings

    frame = pl.DataFrame({"who": ["a", "a", "b", "c"], "job": ["x", "x", "x", "y"], "age": [30, 30, 30, 50]})
    settings = AuditSettings(attacks=("copies",), neighbors=1, predicates=1, identifiers=("who",), min_cell=2)
    prepared = prepare(frame, frame.drop("who"), None, settings=settings, rng=np.random.default_rng(1))
    (found,) = copied_records(prepared.releases)
    assert (found.distinct, found.people, [people for people, _ in found.records]) == (2, 3, [1, 2])


def test_any_row_of_a_person_names_the_person() -> None:
    original, _, control = tables()
    whole = ask(original, original, control, identifiers=["nr"], attacks=["record_linkage"], release_type="masked")
    assert whole.findings.releases[0].findings[0].figures["sure"] > 0
    from unveil.data.table import Table
    from unveil.data.table.release import Release

    # Each row released is the person's of the year before, in all but the year.
    moved = original.with_columns(pl.col("pay", "union").shift(1).over("nr").backward_fill())
    table = Table.from_frame(original, roles={"nr": "identifier"})
    release = Release(table, Table.from_frame(moved.drop("nr", "year")), kind="masked", truth=np.arange(moved.height))
    found = (
        ask(table, release, control, identifiers=["nr"], attacks=["record_linkage"]).findings.releases[0].findings[0]
    )
    assert found.risk.attack_rate.value > 0.9
    assert found.risk.naive_rate.value == pytest.approx(1 / MEN)
