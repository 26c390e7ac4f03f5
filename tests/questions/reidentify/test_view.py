"""The page about re-identification: the headline says what holds, and every number is the one that was found."""

from dataclasses import replace
from math import isnan, log, nan
from typing import Any

import numpy as np
import pytest

from tests.approved.sentences import Approved
from unveil.metrics.trials.risk import Rate, wilson
from unveil.questions.reidentify.findings import AttackOutcome, Clash, KnowledgeStep, ReidentifyFindings, ValidityCounts
from unveil.questions.reidentify.sections.effect import drawn, hit_chart, step_table, uncertainty_chart
from unveil.questions.reidentify.sections.validity import validity_table
from unveil.questions.reidentify.view import attack_chart, attack_table, frame, next_steps, page, sentences, tone
from unveil.questions.result import PageContext
from unveil.report.blocks import NextStep
from unveil.report.figures import json_of
from unveil.report.page import render

UNKNOWN = "how the release was made is not known"


def attacked(name: str = "intersection:p=10", **changes: Any) -> AttackOutcome:
    steps = (
        KnowledgeStep(known=0, column="", attack_rate=Rate(0.02, 0.02, 0.02), nonspecificity=log(50), entropy=log(50)),
        KnowledgeStep(known=1, column="age", attack_rate=wilson(5, 50), nonspecificity=2.0, entropy=2.0),
        KnowledgeStep(known=2, column="income", attack_rate=wilson(10, 50), nonspecificity=1.0, entropy=1.5),
    )
    usual = AttackOutcome(
        attack=name,
        summary="An adversary.",
        leaves="Beliefs",
        targets=50,
        attempted=50,
        nobody=0,
        record_level=ValidityCounts(level="record", valid=50),
        file_level=ValidityCounts(level="file", valid=50),
        steps=steps,
        confusion=2.0,
        typical_confusion=3.0,
        witness="",
    )
    return replace(usual, **changes)


def not_valid(name: str = "nearest", invalid: int = 20, **changes: Any) -> AttackOutcome:
    verdict = ValidityCounts(level="record", valid=50 - invalid, invalid=invalid)
    return attacked(name, record_level=verdict, witness="It is believed too much.", **changes)


def unknown(name: str = "softmax", **changes: Any) -> AttackOutcome:
    levels = {f"{level}_level": ValidityCounts(level=level, undecided=50, why=UNKNOWN) for level in ("record", "file")}
    return attacked(name, **(levels | changes))


def found(*attacks: AttackOutcome, **changes: Any) -> ReidentifyFindings:
    usual = ReidentifyFindings(
        records=50,
        originals=50,
        somebody=50,
        protect="rank-swapping:p=10",
        known=("age", "income"),
        order="in the order in which they were named",
        attacks=attacks or (attacked(),),
        clashes=(),
        keeps_order=False,
        confusion=2.0,
    )
    return replace(usual, **changes)


def hits(number: float) -> tuple[KnowledgeStep, ...]:
    steps = attacked().steps
    return (*steps[:-1], replace(steps[-1], attack_rate=wilson(number, 50)))


def test_the_headline_names_the_valid_attack_and_says_what_the_others_prove(approved: Approved) -> None:
    both = page(found(attacked(), not_valid()))
    approved(both.headline)
    approved(both.explanation)
    several = found(not_valid(), not_valid("k", 50))
    approved(sentences(several))
    assert "fits the masking" in next_steps(several)[0]


def test_the_picture_has_each_attack_with_its_interval_and_verdict() -> None:
    chart = attack_chart(found(attacked(), not_valid(steps=hits(40)), unknown()))
    assert chart.rows == (
        "intersection:p=10: valid",
        "nearest: not valid for 20 of 50",
        "softmax: validity unknown",
    )
    (series,) = chart.series
    assert series.x.tolist() == [0.2, 0.8, 0.2]
    assert (series.low is not None, series.high is not None) == (True, True)
    assert chart.thresholds[0].value == 0.02
    assert page(found()).picture[0].title == chart.title  # type: ignore[union-attr]


def test_the_best_valid_attack_speaks_first_however_well_others_hit() -> None:
    best, wild = attacked("good", steps=hits(15)), not_valid("wild", steps=hits(49))
    text = page(found(attacked("poor", steps=hits(3)), wild, best)).headline
    assert text.startswith("good re-identifies 30% of 50 records (95% CI ")


def test_what_is_not_known_is_said(approved: Approved) -> None:
    elsewhere = found(unknown(), protect=None)
    approved(sentences(elsewhere))
    first = next_steps(elsewhere)[0]
    assert isinstance(first, NextStep)
    assert first.option == "--method"
    assert UNKNOWN in validity_table(found(unknown())).note
    assert validity_table(found(unknown())).rows[0][-1] == f"No evidence against it, but {UNKNOWN}."


def test_an_order_that_was_kept_comes_first() -> None:
    assert sentences(found(keeps_order=True))[0].startswith("50 released rows are in the order of the original")
    assert next_steps(found(keeps_order=True))[0].startswith("Shuffle")
    assert tone(found(keeps_order=True)) == "bad"


@pytest.mark.parametrize(
    ("attacks", "wanted"),
    [
        ((attacked(steps=hits(25)),), "bad"),
        ((unknown(steps=hits(40)),), "bad"),
        ((not_valid(steps=hits(40)),), "warning"),
        ((attacked(steps=hits(10)),), "warning"),
        ((attacked(steps=hits(1)),), "neutral"),
        ((attacked(steps=hits(1)), not_valid(steps=hits(40))), "warning"),
    ],
)
def test_only_attacks_that_may_be_valid_make_it_serious(attacks: tuple[AttackOutcome, ...], wanted: str) -> None:
    assert tone(found(*attacks)) == wanted


def test_a_guess_that_leaves_nobody_is_not_valid_whatever_is_known() -> None:
    assert unknown(nobody=3).is_valid is False
    assert unknown().is_valid is None
    assert attacked(record_level=ValidityCounts(level="record", valid=49, undecided=1)).is_valid is None


def test_every_number_is_in_the_json() -> None:
    given = found(attacked(), not_valid(), unknown(), clashes=(Clash(first="a", second="b", records=3, of=9),))
    told = json_of(given)
    first, second, third = told["attacks"]
    assert (told["records"], told["protect"], told["confusion"]) == (50, "rank-swapping:p=10", 2)
    assert told["cannot_both_be_valid"] == [{"attacks": ["a", "b"], "records": 3, "of": 9}]
    assert (first["valid"]["record_level"], second["valid"]["record_level"]) == (1, 0.6)
    assert second["valid"]["counts"]["record_level"] == {"valid": 30, "invalid": 20, "not_shown": 0, "undecided": 0}
    assert isnan(third["valid"]["file_level"])
    assert third["valid"]["why"] == {"record_level": UNKNOWN, "file_level": UNKNOWN}
    assert first["attack_rate"] == {"value": 0.2, "low": wilson(10, 50).low, "high": wilson(10, 50).high}
    assert (first["nonspecificity"]["before"], first["nonspecificity"]["after"]) == (log(50), 1)
    assert [step["column"] for step in first["nonspecificity"]["steps"]] == [None, "age", "income"]
    assert (first["confusion"], first["witness"]) == ({"least": 2, "median": 3}, None)
    assert second["witness"] == "It is believed too much."


def test_tables_show_every_attack_side_by_side() -> None:
    given = found(attacked(), not_valid(), unknown())
    rows = attack_table(given).rows
    assert rows[0] == ("intersection:p=10", "100.0%", "20.0% (11.2–33.0%)", "1")
    assert [row[1] for row in rows] == ["100.0%", "60.0%", "unknown"]
    validity = validity_table(given).rows
    assert [row[0] for row in validity] == ["intersection:p=10", "nearest", "softmax"]
    assert validity[0][1:4] == ("100.0%", "100.0%", "2")
    assert validity[1][-1] == "It is believed too much."
    assert len(step_table(given).rows) == 9
    assert step_table(given).rows[2][1:] == ("2: income", "20.0% (11.2–33.0%)", "1", "1.5", "0")


def test_some_undecided_records_are_said(approved: Approved) -> None:
    part = attacked(file_level=ValidityCounts(level="file", valid=27, undecided=23, why="too many rows"))
    table = validity_table(found(part))
    assert table.rows[0][2] == "27 valid, 0 refuted, 23 open"
    approved(table.note)


def test_the_levels_are_said_to_differ_where_they_do(approved: Approved) -> None:
    part = attacked("bayes", file_level=ValidityCounts(level="file", valid=45, invalid=5))
    text = sentences(found(part))
    assert text[0].startswith("bayes re-identifies 20% of 50 records")
    approved(text[1])
    assert "file level" not in " ".join(sentences(found(attacked())))


def test_undecided_records_leave_the_share_of_valid_ones_open(approved: Approved) -> None:
    """Of 60 guesses 8 are refuted and 52 open: that is not "0% valid", but anything from 0 to 52 of 60."""
    part = found(attacked("bayes", targets=60, file_level=ValidityCounts(level="file", invalid=8, undecided=52)))
    approved(sentences(part)[1])
    assert validity_table(part).rows[0][2] == "0 valid, 8 refuted, 52 open"
    told = json_of(part)["attacks"][0]["valid"]
    assert isnan(told["file_level"])
    assert told["between"] == {"record_level": {"low": 1, "high": 1}, "file_level": {"low": 0, "high": 52 / 60}}
    assert told["counts"]["file_level"] == {"valid": 0, "invalid": 8, "not_shown": 0, "undecided": 52}
    assert frame(part)["valid_file_level"].to_list() == [None]


def test_charts_hold_the_steps_and_the_entropy_of_probabilities() -> None:
    vote = attacked("bayes", leaves="Candidates", steps=tuple(replace(s, nonspecificity=0.0) for s in attacked().steps))
    both = found(attacked(), vote)
    hit, doubt = hit_chart(both), uncertainty_chart(both)
    assert [series.name for series in hit.series] == ["intersection:p=10", "bayes"]
    assert hit.series[0].x.tolist() == [0, 1, 2]
    assert hit.series[0].y == pytest.approx([0.02, 0.1, 0.2])
    assert doubt.series[0].y == pytest.approx([log(50), 2, 1])
    assert doubt.series[1].y == pytest.approx([log(50), 2, 1.5])
    assert (hit.x_range, hit.thresholds[0].value) == ((0, 2), 0.02)
    assert doubt.y_range[1] >= log(50)


def test_a_gap_is_a_gap_and_is_explained() -> None:
    steps = attacked().steps
    gap = replace(steps[1], attack_rate=Rate(nan, nan, nan), nonspecificity=nan, entropy=nan, why="no order")
    hit = hit_chart(found(attacked(steps=(steps[0], gap, steps[2]))))
    assert np.isnan(hit.series[0].y).tolist() == [False, True, False]
    assert "Gap:" in hit.caption


def test_at_most_five_attacks_are_drawn_those_that_hit_most(approved: Approved) -> None:
    many = tuple(attacked(f"a{k}", steps=hits(k)) for k in range(7))
    assert [each.attack for each in drawn(found(*many))] == ["a2", "a3", "a4", "a5", "a6"]
    approved(hit_chart(found(*many)).caption)


def test_contradictions_have_a_part_of_their_own(approved: Approved) -> None:
    clashes = (Clash(first="a", second="b", records=3, of=9), Clash(first="a", second="c", records=1, of=9))
    given = found(clashes=clashes)
    section = page(given).sections[2]
    approved(section.lead)
    assert section.data[0].rows[1] == ("a", "c", "1 of 9")  # type: ignore[union-attr]
    assert len(page(found()).sections) == 2


def test_the_page_is_one_file_and_names_are_harmless() -> None:
    odd = "<script>alert(1)</script>"
    text = render(page(found(attacked(odd), known=(odd, "income"), notes=("a note",)), PageContext(seed=4)))
    assert "<script>alert" not in text
    assert "A note." in text
    assert len(text) < 200_000


def test_an_attack_without_tries_is_undefined(approved: Approved) -> None:
    none = attacked(steps=(attacked().steps[0], replace(attacked().steps[2], attack_rate=Rate(nan, nan, nan, "none"))))
    approved(sentences(found(none))[0])
    assert np.isnan(attack_chart(found(none)).series[0].x).all()
    assert attack_table(found(none)).rows[0][2] == "undefined"


def test_a_table_has_a_row_for_each_attack() -> None:
    shown = frame(found(attacked(), not_valid(), unknown()))
    assert shown["attack"].to_list() == ["intersection:p=10", "nearest", "softmax"]
    assert shown["is_valid"].to_list() == [True, False, None]
    assert shown["valid_record_level"].to_list() == [1.0, 0.6, None]
    assert shown["attack_rate"].to_list() == [0.2] * 3
    assert frame(found(unknown()))["is_valid"].to_list() == [None]
