"""The numbers behind the pictures and sentences of the page about candidates."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from tests.candidate_strategies import Case, cases
from tests.report.test_page import Reader
from unveil.guesses import Candidates
from unveil.metrics import METRICS, MetricValue, all_metrics
from unveil.metrics.candidates.matches import Matches, matches
from unveil.questions.attack_metrics.answer import attack_metrics, blind_of, ends_of, sure_of
from unveil.questions.attack_metrics.findings import CandidatesFindings, ReferenceValues
from unveil.questions.attack_metrics.sections.metrics import FIRST, by_category, metric_table, overviews
from unveil.questions.attack_metrics.view import explanation, headline, page, summary_table, tone
from unveil.questions.result import Result
from unveil.report.blocks import NextStep, Section, TableBlock
from unveil.report.page import render
from unveil.report.scale import MOST_BINS, choose_bins
from unveil.report.trust import GROUNDS, LEGEND, mark, summary_of, title_of, where_from

NAMES = [name for name, metric in METRICS.items() if metric.on == "Candidates" and metric.usual]
SCORES = [[9, 1, 0], [1, 1, 2], [1, 1, 1], [0, 0, 0], [5, 0, 0]]
ANSWER = attack_metrics(Candidates.from_scores(SCORES), [0, 0, 1, 2, -1])
BLIND = attack_metrics(Candidates.from_scores(SCORES))
FOUND = ANSWER.findings


def matched(**changes: Any) -> Matches:
    given = {"targets": 30, "attempted": 25, "has_truth": True, "correct": 12.0, "success_rate": 0.48}
    return Matches(**(given | {"overall_success": 0.4, "by_chance": 5.0} | changes))


def measured(name: str, values: list[float]) -> MetricValue:
    """Return what all_metrics says of a metric with these values."""
    array = np.array(values)
    known = array[~np.isnan(array)]
    low, median, high = np.quantile(known, [0.05, 0.5, 0.95]) if known.size else (math.nan,) * 3
    missing = int(array.size - known.size)
    return MetricValue(
        metric=METRICS[name],
        values=array,
        mean=float(known.mean()) if known.size else math.nan,
        median=float(median),
        low=float(low),
        high=float(high),
        undefined=missing,
        why=f"{missing} not attempted" if missing else "",
    )


# --- sentences --------------------------------------------------------------------------------------------------------


def with_matches(found: Matches) -> CandidatesFindings:
    """Return findings with these matches, and a median of 2.34 equally likely candidates."""
    return CandidatesFindings(matches=found, measured=(measured("inherent_privacy", [2.34]),), ends={})


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (matched(), "The attack identifies 12 of 30 targets (baseline 5)."),
        (
            matched(nobody=2, nobody_attempted=1, correct=11.25, overall_success=11.25 / 28, success_rate=0.45),
            "The attack identifies 11.2 of 28 targets (baseline 5).",
        ),
        (matched(correct=0.0), "The attack identifies 0 of 30 targets (baseline 5)."),
        (matched(attempted=0, correct=0.0), "The attack attempts 0 of 30 targets."),
        (
            matched(nobody=30, nobody_attempted=25, correct=0.0, overall_success=math.nan),
            "0 of 30 targets have a true candidate, so no match can be correct.",
        ),
        (
            Matches(targets=30, attempted=25, has_truth=False),
            "The median target has 2.3 equally likely candidates.",
        ),
    ],
)
def test_the_headline_fits_the_case(found: Matches, sentence: str) -> None:
    assert headline(with_matches(found)) == sentence


def test_targets_that_were_not_attempted_are_said() -> None:
    assert explanation(with_matches(matched()))[1] == "5 of 30 targets not attempted."
    assert len(explanation(with_matches(matched(attempted=30)))) == 1
    assert explanation(with_matches(matched(attempted=0))) == ()


@pytest.mark.parametrize(
    ("changes", "strikes"),
    [
        ({"correct": 0.0, "success_rate": 0.0, "overall_success": 0.0}, "neutral"),
        ({"has_truth": False}, "neutral"),
        ({}, "warning"),
        ({"success_rate": 0.5}, "bad"),
        ({"overall_success": math.nan}, "warning"),
    ],
)
def test_the_tone_is_bad_when_every_second_claim_is_right(changes: dict[str, Any], strikes: str) -> None:
    assert tone(matched(**changes)) == strikes


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_is_explained_in_plain_words(name: str) -> None:
    said = summary_of(METRICS[name])
    assert said[0] == said[0].upper()
    assert not said.startswith("Return")
    assert "`" not in said
    assert "NaN" not in said
    assert said.endswith((".", ".)"))
    assert " means " in METRICS[name].meaning
    assert title_of(METRICS[name]).lower() == name.replace("_", " ")


# --- figures ----------------------------------------------------------------------------------------------------------


def by_label(findings: CandidatesFindings) -> dict[str, tuple[str, ...]]:
    return {row[0].partition(" (")[0]: row[1:] for row in summary_table(findings).rows}


def test_results_stand_next_to_random_guessing() -> None:
    found = by_label(FOUND)
    # Right: the first for sure, the third by one chance in three; the fifth is a decoy, the fourth was not attempted.
    assert found["Success of attempted targets"] == ("33.3% (1.3 of 4)", "25.0%")
    assert found["Success of all targets"] == ("33.3% (1.3 of 4)", "25.0%")
    assert found["Targets attempted"][0] == "4 of 5"
    assert found["Targets without a true candidate"][0] == "1"
    assert "Attempts without the true candidate" not in found


def test_without_truth_no_success_is_shown() -> None:
    assert list(by_label(BLIND.findings)) == ["Targets attempted", "Median of equally likely candidates"]


def test_a_truth_that_was_not_considered_is_counted() -> None:
    guess = Candidates([0, 1, 2], [0, 1], [1.0, 1.0])  # type: ignore[arg-type]
    assert by_label(attack_metrics(guess, [0, 0]).findings)["Attempts without the true candidate"][0] == "1"


def test_tables_have_every_metric_once() -> None:
    tables = [metric_table(category, members, FOUND.ends) for category, members in by_category(FOUND.measured)]
    rows = {row[0]: row for table in tables for row in table.rows}
    titles = {name: title_of(METRICS[name]) for name in NAMES}
    assert sorted(rows) == sorted(titles.values())
    assert sum(len(table.rows) for table in tables) == len(NAMES)
    assert len({table.caption for table in tables}) == len(tables) == 5
    assert rows["Anonymity set size"][1:4] == ("2.25", "2.5", "1.15 to 3")
    # By chance one of three, of two (the third has no chance but is on the list), of three and, of the decoy, of three.
    assert rows["Adversary success rate"][1:6] == ("0.333", "", "", "0.25", "if low")
    assert {name: rows[titles[name]][6] for name in NAMES} == {name: mark(name, *GROUNDS) for name in NAMES}
    assert all(rows[titles[name]][7] == summary_of(METRICS[name]) for name in NAMES)


def test_a_metric_without_any_value_has_no_range() -> None:
    row = metric_table("x", [measured("entropy", [math.nan])], {}).rows[0]
    assert row[:6] == ("Entropy", "undefined", "undefined", "", "", "if high")


def test_the_page_says_what_the_marks_mean_and_where_they_come_from() -> None:
    assert LEGEND in page(FOUND).sections[0].lead
    assert len(page(FOUND).sections[0].lead) <= 800, "a longer lead would be cut"
    assert where_from() in page(FOUND).method


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ({"entropy": [1.0], "min_entropy": [2.0]}, ""),
        ({"entropy": [1.0, math.nan], "min_entropy": [2.0, math.nan]}, "Missing: 1 not attempted."),
        ({"entropy": [1.0, math.nan], "min_entropy": [2.0]}, "Missing: in entropy 1 not attempted."),
        (
            {"entropy": [1.0, math.nan], "min_entropy": [1.0, math.nan], "max_entropy": [1.0, math.nan, math.nan]},
            "Missing: 1 not attempted; in max_entropy 2 not attempted.",
        ),
        (
            {"entropy": [math.nan], "min_entropy": [1.0, math.nan]},
            "Undefined: 1 not attempted. Missing: 1 not attempted.",
        ),
    ],
)
def test_missing_values_are_counted_below(values: dict[str, list[float]], note: str) -> None:
    metrics = [measured(name, numbers) for name, numbers in values.items()]
    assert metric_table("x", metrics, {}).note == note


def test_missing_values_of_two_kinds_are_counted_together() -> None:
    table = metric_table("x", [each for each in FOUND.measured if each.metric.category == "error"], {})
    assert table.note == "Missing: 2 (1 not attempted and 1 without a true match)."


def test_a_table_says_why_something_is_undefined_and_a_page_shows_no_empty_picture() -> None:
    nothing = [measured("entropy", [math.nan]), measured("min_entropy", [1.0])]
    assert metric_table("x", nothing, {}).note == "Undefined: 1 not attempted."
    ends = {"entropy": ReferenceValues(math.nan, math.nan), "min_entropy": ReferenceValues(2.0, 0.0)}
    (picture,) = overviews(found := CandidatesFindings(matches=FOUND.matches, measured=tuple(nothing), ends=ends))
    assert [row.name for row in picture.rows] == ["Min entropy"]
    assert "Undefined: 1 not attempted." in render(page(found))
    assert page(replace(found, ends=dict.fromkeys(ends, ReferenceValues(1.0, 1.0)))).picture == (summary_table(found),)


# --- from random guessing to knowing all ------------------------------------------------------------------------------


@given(cases())
def test_who_guesses_at_random_is_at_0_and_who_knows_all_at_1(case: Case) -> None:
    truth = case.guess.truth_from(case.truth)
    ends = ends_of(case.guess, truth)
    for other, place in ((blind_of(case.guess), 0.0), (sure_of(case.guess, truth), 1.0)):
        # Who is judged again beside the same candidates is where it was.
        for each in all_metrics(other, truth):
            found = float(ends[each.metric.name].place(each.mean))
            assert math.isnan(found) or found == pytest.approx(place, abs=1e-6)
    known = {each.metric.name: each.mean for each in all_metrics(sure_of(case.guess, truth), truth)}
    assert math.isnan(known["adversary_overall_success"]) or known["adversary_overall_success"] == 1
    assert math.isnan(known["incorrectness"]) or known["incorrectness"] == 0
    blind = {each.metric.name: each.mean for each in all_metrics(blind_of(case.guess), truth)}
    assert blind["amount_of_leaked_information"] == pytest.approx(matches(case.guess, truth).by_chance)


def test_the_overview_has_each_metric_once_those_to_trust_first() -> None:
    first, second = overviews(FOUND)
    assert len(first.rows) == FIRST
    names = [row.name for row in (*first.rows, *second.rows)]
    placed = {title_of(each.metric): FOUND.ends[each.metric.name].place(each.mean) for each in FOUND.measured}
    assert sorted(names) == sorted(name for name, place in placed.items() if not math.isnan(place))
    marks = [mark(name.lower().replace(" ", "_"), *GROUNDS) for name in names]
    assert set(marks[: marks.count("reliable")]) == {"reliable"}
    for row in (*first.rows, *second.rows):
        assert row.boxes[0] is not None
        assert row.boxes[0].mean == pytest.approx(float(placed[row.name]))
        assert row.boxes[0].low >= -0.5
    assert "0.333; baseline 0.25" in [row.note for row in first.rows]


values = st.one_of(st.integers(0, 5000).map(float), st.floats(0, 1e6), st.floats(0, 1), st.just(39.863137138648355))


@given(st.lists(values, min_size=1, max_size=30), st.sampled_from([(0, math.inf), (1, math.inf), (0, 39.9), (0, 4)]))
def test_at_most_20_bins_hold_every_value(numbers: list[float], bounds: tuple[float, float]) -> None:
    array = np.maximum(np.array(numbers), bounds[0])
    bins = choose_bins(array, bounds)
    assert 1 <= bins.number <= MOST_BINS
    room = 1e-6 * bins.width
    assert bins.low - room <= array.min()
    assert array.max() <= bins.high + room
    assert bins.high > bins.low


# --- the page ---------------------------------------------------------------------------------------------------------


def section(answer: Result[CandidatesFindings], heading: str) -> Section:
    return next(each for each in answer.page().sections if each.heading == heading)


def test_the_page_has_one_picture_and_every_metric_in_a_table() -> None:
    found = ANSWER.page(seed=3)
    assert found.picture == (*overviews(FOUND)[:1], summary_table(FOUND))
    tables = [block for block in found.sections[0].data if isinstance(block, TableBlock)]
    assert [table.caption for table in tables] == [
        "Uncertainty", "Error", "Information gain or loss", "Similarity", "Success",
    ]  # fmt: skip
    assert sum(len(table.rows) for table in tables) == len(NAMES)
    assert (found.seed, found.tone) == (3, "warning")
    (step,) = BLIND.page().next_steps
    assert isinstance(step, NextStep)
    assert step.option == "--truth"


def test_without_truth_the_page_says_what_is_missing() -> None:
    lost = section(BLIND, "Accuracy")
    lacking = sum(METRICS[name].needs_truth for name in NAMES)
    assert lost.lead == f"{lacking} metrics need the true matches."
    (table,) = lost.data
    assert isinstance(table, TableBlock)
    assert len(table.rows) == lacking
    html = BLIND.to_html()
    assert all(str(escape(row[1])) in html for row in table.rows)


def test_only_what_was_asked_for_is_on_the_page() -> None:
    found = attack_metrics(SCORES_AS_GUESS, metrics=["entropy"]).page()
    assert [each.heading for each in found.sections] == ["Metrics by family"]
    # The headline does not depend on what is shown.
    assert found.headline == BLIND.page().headline


SCORES_AS_GUESS = Candidates.from_scores(SCORES)


def test_every_name_is_one_of_a_kind() -> None:
    html = ANSWER.to_html()
    reader = Reader(html)
    assert reader.open == []
    names = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(names) == len(set(names))


@pytest.mark.unwatched
def test_the_page_names_nobody_and_stays_small_with_many_targets() -> None:
    rng = np.random.default_rng(2)
    targets = np.array([f"Zephyrine-{k}" for k in range(300_000)], dtype=object)
    scores = rng.random((300_000, 2))
    guess = Candidates.from_scores(scores, targets=targets, candidates=np.array(["Zephyrine-a", "Zephyrine-b"]))
    html = attack_metrics(guess, rng.integers(-1, 3, 300_000)).to_html()
    assert len(html.encode()) < 1_000_000
    assert "Zephyrine" not in html
    assert "undefined" not in html.partition("<script")[0].replace("never undefined", "")
