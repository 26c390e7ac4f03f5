"""The numbers behind the pictures and sentences of the page about candidates."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from tests.approved.sentences import Approved
from tests.candidate_strategies import Case, cases
from tests.report.test_page import Reader
from unveil.guesses import Candidates
from unveil.metrics import METRICS, MetricValue, all_metrics
from unveil.metrics.candidates.matches import Matches, matches
from unveil.questions.attack_metrics.answer import attack_metrics, blind_of, ends_of, sure_of
from unveil.questions.attack_metrics.charts import FIRST, histogram, overviews
from unveil.questions.attack_metrics.findings import CandidatesFindings, ReferenceValues
from unveil.questions.attack_metrics.tables import by_category, key_numbers, left_out_table, metric_table
from unveil.questions.attack_metrics.view import headline, page
from unveil.questions.attack_metrics.words import matched_headline, matched_tone, why_they_differ
from unveil.questions.result import Result
from unveil.report.blocks import Chart, Number, Section, TableBlock
from unveil.report.page import render
from unveil.report.scale import MOST_BINS, axis, choose_bins
from unveil.report.trust import GROUNDS, LEGEND, mark, meaning_of, summary_of, title_of, where_from

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


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            matched(),
            "The adversary matched 12 of 30 targets rightly (40% of all, 48% of the 25 it attempted), where random "
            "guessing matches 5.",
        ),
        (
            matched(nobody=2, nobody_attempted=1, correct=11.25, overall_success=11.25 / 28, success_rate=0.45),
            "The adversary matched 11.2 of 28 targets rightly (40% of all, 45% of the 25 it attempted), where random "
            "guessing matches 5.",
        ),
        (
            matched(attempted=30, success_rate=0.4),
            "The adversary matched 12 of 30 targets rightly (40% of all), where random guessing matches 5.",
        ),
        (matched(correct=0.0), "The adversary matched none of 30 targets rightly, in 25 attempts."),
        (matched(attempted=0, correct=0.0), "The adversary attempted none of the 30 targets."),
        (
            matched(nobody=30, nobody_attempted=25, correct=0.0, overall_success=math.nan),
            "No match can be right: none of the 30 targets stands for anybody.",
        ),
        (
            Matches(targets=30, attempted=25, has_truth=False),
            "The adversary attempted 25 of 30 targets; the typical one still hides among 2.3 alike.",
        ),
    ],
)
def test_the_headline_fits_the_case(found: Matches, sentence: str) -> None:
    assert matched_headline(found, doubt=2.34) == sentence


@pytest.mark.parametrize(
    ("changes", "tone"),
    [
        ({"correct": 0.0, "success_rate": 0.0, "overall_success": 0.0}, "neutral"),
        ({"has_truth": False}, "neutral"),
        ({}, "warning"),
        ({"success_rate": 0.5}, "bad"),
        ({"overall_success": math.nan}, "warning"),
    ],
)
def test_the_tone_is_bad_when_every_second_claim_is_right(changes: dict[str, Any], tone: str) -> None:
    assert matched_tone(matched(**changes)) == tone


def test_why_the_two_success_figures_differ(approved: Approved) -> None:
    approved(why_they_differ(matched(nobody=1, nobody_attempted=1)))
    assert "not attempted" not in why_they_differ(matched(attempted=31, targets=30, nobody=2, nobody_attempted=3))
    assert "nobody" not in why_they_differ(matched())
    assert why_they_differ(matched(attempted=30)).startswith("Both are the same here")
    assert why_they_differ(matched(attempted=0)).startswith("Nothing was attempted")
    chance = why_they_differ(matched(attempted=29, nobody=1, nobody_attempted=1))
    approved(chance)


@given(cases())
def test_they_are_said_to_be_the_same_only_where_they_are(case: Case) -> None:
    found = attack_metrics(case.guess, case.truth).findings.matches
    said = why_they_differ(found)
    if "Both are the same" in said or "happen to be the same" in said:
        assert found.success_rate == pytest.approx(found.overall_success) or found.somebody == 0
    elif found.attempted and found.correct:
        assert found.success_rate != found.overall_success


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_is_explained_in_plain_words(name: str) -> None:
    said = meaning_of(METRICS[name])
    assert said[0] == said[0].upper()
    assert not said.startswith("Return")
    assert "`" not in said
    assert "NaN" not in said
    assert said.endswith((".", ".)"))
    assert " means " in said
    assert title_of(METRICS[name]).lower() == name.replace("_", " ")


# --- figures ----------------------------------------------------------------------------------------------------------


def by_label(numbers: tuple[Number, ...]) -> dict[str, Number]:
    return {number.label: number for number in numbers}


def test_key_figures_stand_beside_random_guessing() -> None:
    found = by_label(key_numbers(FOUND.matches, doubt=2.5))
    # Right: the first for sure, the third by one chance in three; the fifth is a decoy, the fourth was not attempted.
    assert (found["Success rate"].value, found["Success rate"].reference) == ("33.3%", "25.0%")
    assert (found["Overall success"].value, found["Overall success"].reference) == ("33.3%", "25.0%")
    assert "1.3 of 4 attempts" in found["Success rate"].meaning
    assert "tie" in found["Success rate"].meaning
    assert found["Targets attempted"].value == "4 of 5"
    assert "1 target stands for nobody" in found["Targets attempted"].meaning
    assert found["Doubt that is left"].value == "2.5 alike"
    assert "True candidate not considered" not in found


def test_without_truth_no_success_is_shown() -> None:
    found = by_label(key_numbers(BLIND.findings.matches, doubt=math.nan))
    assert list(found) == ["Targets attempted"]


def test_a_truth_that_was_not_considered_is_counted() -> None:
    guess = Candidates([0, 1, 2], [0, 1], [1.0, 1.0])  # type: ignore[arg-type]
    found = by_label(key_numbers(attack_metrics(guess, [0, 0]).findings.matches))
    assert found["True candidate not considered"].value == "1"


def test_tables_have_every_metric_once() -> None:
    tables = [metric_table(category, members, as_written=True) for category, members in by_category(FOUND.measured)]
    rows = {row[0]: row for table in tables for row in table.rows}
    assert sorted(rows) == sorted(NAMES)
    assert sum(len(table.rows) for table in tables) == len(NAMES)
    assert len({table.caption for table in tables}) == len(tables) == 5
    assert rows["anonymity_set_size"][1:-1] == ("2.25", "2.5", "1.15 to 3", "if high")
    assert rows["adversary_success_rate"][1:-1] == ("0.333", "", "", "if low")
    assert {name: row[-1] for name, row in rows.items()} == {name: mark(name, *GROUNDS) for name in NAMES}
    assert metric_table("x", FOUND.measured).rows[0][0] == "Anonymity set size"


def test_a_metric_without_any_value_has_no_range() -> None:
    row = metric_table("x", [measured("entropy", [math.nan])]).rows[0]
    assert row[:6] == ("Entropy", "undefined", "undefined", "", "", "if high")


def test_a_page_has_what_a_metric_is_by_chance_and_in_words() -> None:
    table = metric_table("x", FOUND.measured, FOUND.ends)
    assert table.columns[4:] == ("By chance", "Private", "Trust", "What it is")
    assert len(table.align) == len(table.columns)
    for row, each in zip(table.rows, FOUND.measured, strict=True):
        assert row[6:] == (mark(each.metric.name, *GROUNDS), summary_of(each.metric))
    rows = {row[0]: row for row in table.rows}
    # By chance one of three, of two (the third has no chance but is on the list), of three and, of the decoy, of three.
    assert rows["Adversary success rate"][4] == "0.25"
    assert LEGEND in page(FOUND).sections[1].lead
    assert len(page(FOUND).sections[1].lead) <= 800, "a longer lead would be cut"
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
def test_a_terminal_has_missing_values_below(values: dict[str, list[float]], note: str) -> None:
    metrics = [measured(name, numbers) for name, numbers in values.items()]
    assert metric_table("x", metrics, as_written=True).note == note


def test_missing_values_of_two_kinds_are_counted_together() -> None:
    table = metric_table("x", [each for each in FOUND.measured if each.metric.category == "error"], as_written=True)
    assert table.note == "Missing: 2 (1 not attempted and 1 stand for nobody)."


def test_a_table_says_why_something_is_undefined_and_a_page_shows_no_empty_picture() -> None:
    nothing = [measured("entropy", [math.nan]), measured("min_entropy", [1.0])]
    assert metric_table("x", nothing).note == "Undefined: 1 not attempted."
    ends = {"entropy": ReferenceValues(math.nan, math.nan), "min_entropy": ReferenceValues(2.0, 0.0)}
    (picture,) = overviews(found := CandidatesFindings(matches=FOUND.matches, measured=tuple(nothing), ends=ends))
    assert [row.name for row in picture.rows] == ["Min entropy"]
    assert "Undefined: 1 not attempted." in render(page(found))
    assert page(replace(found, ends=dict.fromkeys(ends, ReferenceValues(1.0, 1.0)))).picture == ()


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
    assert set(marks[: marks.count("use")]) == {"use"}
    for row in (*first.rows, *second.rows):
        assert row.boxes[0] is not None
        assert row.boxes[0].mean == pytest.approx(float(placed[row.name]))
        assert row.boxes[0].low >= -0.5
    assert "0.333; by chance 0.25" in [row.note for row in first.rows]


def test_what_is_left_out_is_named_with_what_it_would_say() -> None:
    rows = {row[0]: row[1] for row in left_out_table(BLIND.findings.left_out).rows}
    assert len(rows) == sum(METRICS[name].needs_truth for name in NAMES)
    html = BLIND.to_html()
    assert all(str(escape(sentence)) in html for sentence in rows.values())


# --- histograms -------------------------------------------------------------------------------------------------------


def bars(chart: Chart) -> dict[float, float]:
    (series,) = chart.series
    return dict(zip(np.round(series.x, 9).tolist(), series.y.tolist(), strict=True))


def test_bars_are_shares_of_the_targets_with_a_value(approved: Approved) -> None:
    chart = histogram(measured("incorrectness", [0.0, 0.3, 0.3, 0.95, 1.0, math.nan]))
    assert bars(chart) == {0.0: 0.2, 0.3: 0.4, 0.95: 0.4}
    assert chart.x_range == (0.0, 1.0)
    assert chart.series[0].width == pytest.approx(0.05)
    assert [(each.name, each.value, each.across) for each in chart.thresholds] == [("mean 0.51", 0.51, "x")]
    approved(chart.caption)
    assert chart.small


def test_a_value_on_an_edge_belongs_to_the_bar_that_starts_there() -> None:
    edges = [k * 0.05 for k in range(20)]
    chart = histogram(measured("incorrectness", edges))
    assert bars(chart) == {round(edge, 9): pytest.approx(0.05) for edge in edges}


def test_whole_numbers_stand_in_the_middle_of_their_bar() -> None:
    chart = histogram(measured("anonymity_set_size", [1.0, 1.0, 3.0, 6.0]))
    assert bars(chart) == {0.5: 0.5, 2.5: 0.25, 5.5: 0.25}
    assert (chart.x_range, chart.x_kind, chart.series[0].width) == ((0.5, 6.5), "count", 1.0)


def test_the_axis_says_which_way_is_private() -> None:
    assert histogram(measured("mutual_information", [1.0])).x_label.endswith("(further right is less private)")


def test_values_far_from_0_are_not_squeezed_into_one_bar() -> None:
    chart = histogram(measured("entropy", [11.6, 11.7, 11.8, 11.9]))
    assert len(bars(chart)) == 4
    assert chart.x_range[0] > 11


def test_the_noise_of_rounding_is_no_spread() -> None:
    chart = histogram(measured("entropy", [1.5849625007211559, 1.584962500721156, 1.5849625007211563]))
    assert list(bars(chart).values()) == [1.0]
    ticks = [text for _, text in axis(*chart.x_range).ticks]
    assert len(set(ticks)) == len(ticks) > 1


def test_without_any_value_there_are_no_bars_and_the_reason_is_said(approved: Approved) -> None:
    chart = histogram(measured("entropy", [math.nan, math.nan]))
    assert (bars(chart), chart.thresholds) == ({}, ())
    approved(chart.caption)


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


@given(st.lists(values, min_size=1, max_size=30))
def test_bars_add_up_to_all_targets(numbers: list[float]) -> None:
    chart = histogram(measured("entropy", numbers))
    (series,) = chart.series
    assert series.y.sum() == pytest.approx(1)
    assert series.y.max() < chart.y_range[1]
    array = np.array(numbers)
    for x, height in zip(series.x, series.y, strict=True):
        room = 1e-6 * series.width
        inside = (array >= x - room) & (array <= x + series.width + room)
        assert height <= inside.mean() + 1e-9


# --- the page ---------------------------------------------------------------------------------------------------------


def section(answer: Result[CandidatesFindings], heading: str) -> Section:
    return next(each for each in answer.page().sections if each.heading == heading)


def test_the_page_has_one_picture_and_every_metric_in_a_table() -> None:
    found = ANSWER.page(seed=3)
    assert found.picture == overviews(FOUND)[:1]
    tables = [block for block in found.sections[1].blocks if isinstance(block, TableBlock)]
    assert [table.caption for table in tables] == [
        "Uncertainty", "Error", "Information gain or loss", "Similarity", "Success",
    ]  # fmt: skip
    assert sum(len(table.rows) for table in tables) == len(NAMES)
    assert found.headline == headline(FOUND)
    assert found.sections[0].lead == why_they_differ(FOUND.matches)
    assert (found.seed, found.tone) == (3, "warning")
    assert "--truth FILE" in BLIND.page().next_steps[0]


def test_without_truth_the_page_says_what_is_missing_and_why() -> None:
    lost = section(BLIND, "What could not be measured")
    lacking = sum(METRICS[name].needs_truth for name in NAMES)
    assert f"{lacking} metrics compare the adversary's belief with the truth, which was not given" in lost.lead
    assert "--truth" in lost.lead
    assert isinstance(lost.blocks[0], TableBlock)
    assert len(lost.blocks[0].rows) == lacking
    assert "How far the adversary reaches" in [each.heading for each in BLIND.page().sections]


def test_only_what_was_asked_for_is_on_the_page() -> None:
    found = attack_metrics(SCORES_AS_GUESS, metrics=["entropy"]).page()
    assert [each.heading for each in found.sections] == ["How far the adversary reaches", "Every metric"]
    # The headline does not depend on what is shown: it is the one of the terminal.
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
