"""What to change: each change is what auditing the changed release gives, and what is said of it is what was found."""

import json
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.questions.audit.example import CONTROL, MASKED, ORIGINAL, ask
from unveil.data.table import Hierarchy
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.suggestions import section, suggestion_sentences
from unveil.questions.audit.words import percent
from unveil.questions.result import Result
from unveil.report.blocks import TableBlock

SETTINGS: dict[str, Any] = {"release_type": "masked", "attacks": ["linkability", "utility"], "neighbors": 1}


@cache
def suggested() -> Result[Audit]:
    return ask(ORIGINAL, MASKED, CONTROL, suggest=4, **SETTINGS)


def test_every_change_is_what_auditing_the_changed_release_gives() -> None:
    found = suggested().findings.suggestions
    assert found is not None
    assert found.again is not None
    ways = [(each.how, each.columns) for each in found.changes]
    assert ways[:2] == [("coarser", ways[0][1]), ("left out", ways[0][1])]
    assert found.attacks == ("linkability",)
    for change, after in zip(found.changes, found.again.releases, strict=True):
        if change.how == "left out":
            alone = ask(ORIGINAL, MASKED.drop(change.columns), CONTROL, **SETTINGS).findings.releases[0]
            own, other = (each.strongest("linkability") for each in (alone, after))
            assert own is not None
            assert other is not None
            # The same people, and the same draws; p is another, because it allows for all changes.
            assert (own.risk, own.scenario) == (other.risk, other.scenario)
            assert alone.utility is not None
            assert change.utility is not None
            assert change.utility.loss == pytest.approx(alone.utility.loss)
    # All changes are one family.
    assert len(found.again.verdict.releases) == len(found.changes) == 4
    assert found.again.attacked == suggested().findings.attacked


def test_a_coarser_column_is_a_loss_and_leaves_the_others_alone() -> None:
    found, before = suggested().findings.suggestions, suggested().findings.releases[0].utility
    assert found is not None
    coarser = next(each for each in found.changes if each.how == "coarser")
    assert coarser.utility is not None
    assert before is not None
    kept, lost = ({each.name: each.distance for each in utility.columns} for utility in (before, coarser.utility))
    # Ranges are a loss although they hold the value.
    assert {name for name in kept if lost[name] > kept[name]} == set(coarser.columns)
    assert {name for name in kept if lost[name] == kept[name]} == set(kept) - set(coarser.columns)


def test_the_best_change_comes_first_and_is_said_with_its_cost() -> None:
    answer = suggested()
    answer = answer.with_limits({"linkability": 0.9})
    shown = section(answer.findings, AuditContext())
    assert shown is not None
    (table,) = shown.blocks
    assert isinstance(table, TableBlock)
    written = json.loads(answer.to_json())["suggestions"]
    assert len(table.rows) == len(written) == 4
    for each, row in zip(written, table.rows, strict=True):
        assert row[0] == f"{' and '.join(each['columns'])} {each['change']}"
        assert (row[3] == "nothing") == (not each["significant"])
        assert row[5] == "Pass"
    numbers = [(len(each["significant"]), each["values"][0]["after"]["value"]) for each in written]
    assert numbers == sorted(numbers)
    best = written[0]
    (sentence,) = suggestion_sentences(answer.findings)
    assert f"“{' and '.join(best['columns'])} {best['change']}”" in sentence
    assert f"utility loss {percent(best['utility_loss_before'])} → {percent(best['utility_loss'])}" in sentence
    assert "looks better than it is" in table.note
    assert shown.heading in answer.to_html(redacted=True)


def test_nothing_is_tried_where_there_is_nothing_to_lower(approved: Approved) -> None:
    alone = ask(ORIGINAL, MASKED, suggest=3, **SETTINGS).findings
    assert alone.suggestions is not None
    assert (alone.suggestions.changes, alone.suggestions.again) == ((), None)
    approved(suggestion_sentences(alone))
    shown = section(alone, AuditContext())
    assert shown is not None
    assert shown.blocks == ()
    # A limit is enough, also on what is no attack.
    held = ask(
        ORIGINAL,
        MASKED,
        suggest=2,
        suggest_for=["disclosure.k_anonymity"],
        limits={"disclosure.k_anonymity": 1.0},
        **{**SETTINGS, "attacks": ["disclosure"]},
    )
    made = section(held.findings, AuditContext())
    assert made is not None
    approved(made.lead)
    assert [row[-1] for block in made.blocks if isinstance(block, TableBlock) for row in block.rows] == ["Pass", "Pass"]
    assert section(ask(ORIGINAL, MASKED, **SETTINGS).findings, AuditContext()) is None


def test_where_no_change_helps_that_is_said(approved: Approved) -> None:
    """Of eight columns any few point at one person: one of them does not matter."""
    frame = pl.DataFrame(np.random.default_rng(8).random((160, 8)), schema=list("abcdefgh"))
    answer = ask(frame[:80], frame[:80], frame[80:], suggest=2, **SETTINGS)
    (sentence,) = suggestion_sentences(answer.findings)
    approved(sentence)


def test_a_named_adversary_does_without_a_column_that_is_left_out() -> None:
    told = {**SETTINGS, "scenarios": {"neighbour": ["age", "sex"], "shop": (["age"], ["income"])}}
    found = ask(ORIGINAL, MASKED, CONTROL, suggest=6, **told).findings.suggestions
    assert found is not None
    assert found.again is not None
    for change, after in zip(found.changes, found.again.releases, strict=True):
        firsts = [each.scenario.first for each in after.of("linkability") if each.scenario is not None]
        gone = set(change.columns) if change.how == "left out" else set()
        # Whoever knew nothing else, or has nothing to link to, cannot try.
        expected = [tuple(name for name in ("age", "sex") if name not in gone)]
        expected += [("age",)] if not gone & {"age", "income"} else []
        assert firsts == [each for each in expected if each]


def test_told_labels_are_the_coarser_values() -> None:
    jobs = Hierarchy((("north", "cold"), ("south", "warm"), ("east", "cold")), name="regions")
    told = {**SETTINGS, "hierarchies": {"region": jobs}, "quasi_identifiers": ["region", "sex", "age"]}
    held = ["linkability"]
    found = ask(ORIGINAL, MASKED, CONTROL, suggest=9, suggest_for=held, **told).findings.suggestions
    assert found is not None
    (alone,) = (each for each in found.changes if each.how == "coarser" and each.columns == ("region",))
    by_hand = MASKED.with_columns(pl.col("region").replace({"north": "cold", "south": "warm", "east": "cold"}))
    one = ask(ORIGINAL, by_hand, CONTROL, **told).findings.releases[0]
    assert found.again is not None
    other = next(each for each in found.again.releases if each.name == alone.name)
    assert [each.risk for each in one.findings] == [each.risk for each in other.findings]


@pytest.mark.parametrize("kind", ["masked", "synthetic", None])
def test_a_release_of_ranges_is_changed_too(kind: Any) -> None:
    low = pl.col("age") // 10 * 10
    ranged = ORIGINAL.with_columns(age=low.cast(pl.String) + "-" + (low + 9).cast(pl.String))
    answer = ask(ORIGINAL, ranged, CONTROL, suggest=6, **{**SETTINGS, "release_type": kind})
    found = answer.findings.suggestions
    assert found is not None
    assert found.again is not None
    coarser = [each.columns for each in found.changes if each.how == "coarser"]
    assert ("income",) in coarser
    # What is a range already is not made wider, and stays the range that it was.
    assert not any("age" in columns for columns in coarser)
    before, after = (
        {column.name: column.distance for column in utility.columns}
        for change in found.changes
        if change.columns == ("income",) and change.how == "coarser"
        for utility in (answer.findings.releases[0].utility, change.utility)
        if utility is not None
    )
    assert before["age"] == after["age"]
    assert before["income"] < after["income"]
