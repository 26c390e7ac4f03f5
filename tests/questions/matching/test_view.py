"""The numbers behind the pictures and sentences of the page about matchings."""

import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.approved.sentences import Approved
from tests.report.test_page import Reader
from unveil._kernels.matching.closed_form import cracks_of_even
from unveil.guesses import Matching, MatchingDistribution
from unveil.metrics.matchings.cracks import Cracks, EstimatedValue, cracks
from unveil.questions.matching.answer import matching
from unveil.questions.matching.estimates import accuracy, amount, certainty, method_words, or_more, permanent_text
from unveil.questions.matching.findings import MatchingFindings
from unveil.questions.matching.sections.items import MatchingContext, at_risk_table, resolved_chart
from unveil.questions.matching.sections.sets import group_table
from unveil.questions.matching.view import (
    MOST_BARS,
    crack_chart,
    explanation,
    headline,
    heuristic_table,
    next_steps,
    page,
    summary_table,
    tone,
)
from unveil.report.page import render
from unveil.report.svg.lines import svg

HOSPITAL = [[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]]
NAMES = ("Flu", "Viral Fever", "Cold", "Asthma", "Tuberculosis")


def measured(matrix: Any, truth: Any = None, **settings: Any) -> Cracks:
    guess = Matching(np.array(matrix, float))
    return cracks(guess, range(guess.n) if truth is None else truth, rng=np.random.default_rng(0), **settings)


FOUND = measured(HOSPITAL, [2, 3, 4, 0, 1], groups=["viral", "viral", "viral", "other", "other"])
SAMPLED = replace(
    FOUND,
    expected_cracks=EstimatedValue(1.6234, 0.031, "worm", 1.002, "sampled"),
    crack_probability_error=np.full(5, 0.01),
    crack_distribution_error=np.full(6, 0.02),
    crack_distribution_method="worm",
)


def blind(n: int) -> Any:
    return cracks_of_even(n, np.arange(n))


# --- sentences --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "sentence", "strikes"),
    [
        (FOUND, "1.6 of 5 pseudonyms are expected to be resolved (baseline 1).", "warning"),
        (SAMPLED, "1.6 of 5 pseudonyms are expected to be resolved (95% CI 1.56–1.69; baseline 1).", "warning"),
        (measured(np.eye(3)), "3 of 3 pseudonyms are resolved: only the true matching is possible.", "bad"),
        (measured(np.eye(1)), "1 of 1 pseudonym is resolved: only the true matching is possible.", "neutral"),
        (
            measured(1 - np.eye(3)),
            "0 of 3 pseudonyms can be resolved: the attack rules out every true match.",
            "neutral",
        ),
        (measured(np.ones((6, 6))), "1 of 6 pseudonyms are expected to be resolved (baseline 1).", "neutral"),
        (
            measured([[1, 0, 0], [0, 0, 1], [0, 1, 0]]),
            "1 of 3 pseudonyms are expected to be resolved (baseline 1).",
            "warning",
        ),
    ],
)
def test_the_headline_says_what_was_found_and_strikes_accordingly(found: Cracks, sentence: str, strikes: str) -> None:
    assert headline(found) == sentence
    assert tone(found) == strikes


def test_the_owner_is_told_what_is_certain_and_what_to_do(approved: Approved) -> None:
    def said(matrix: Any) -> str:
        return " ".join(explanation(measured(matrix)))

    approved(said([[1, 0, 0], [0, 1, 1], [0, 1, 1]]))
    approved(said([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]))
    assert said(np.eye(2)) == ""
    assert "cannot be confused" in said([[1]])
    assert "misled" in said(1 - np.eye(3))
    assert explanation(FOUND)[0].endswith(" all 5.")
    first = {next_steps(found)[0] for found in (measured(np.eye(2)), FOUND, measured(np.ones((6, 6))))}
    assert len(first) == 3


def test_every_kind_of_certainty_is_said_in_words() -> None:
    assert certainty(EstimatedValue(1, 0, "single, Glynn")) == f"Exact, by {method_words('single, Glynn')}."
    sampled = certainty(EstimatedValue(1, 0.25, "worm", 1.0123, "sampled"))
    assert "standard error of 0.25, R-hat 1.012" in sampled
    assert "unreliable" not in sampled
    assert "unreliable" in certainty(EstimatedValue(1, 0.25, "worm", 1.2, "sampled"))
    bracket = certainty(EstimatedValue(0.25, 0.5, "Bethe bracket, worm", 1.0, "bracket"))
    assert "between 0.25 and 0.75 (plus three standard errors" in bracket
    assert certainty(EstimatedValue(math.nan, math.nan, "listed matchings")) == ""


@pytest.mark.parametrize(
    ("method"), ["single", "closed form", "subsets", "frontier", "Glynn", "worm", "Bethe bracket", "listed matchings"]
)
def test_every_method_has_words(method: str) -> None:
    assert method_words(method) != method


def test_the_heuristic_has_its_errors() -> None:
    table = heuristic_table(measured([[0.6, 0.4], [0.4, 0.6]]))
    assert [row[1] for row in table.rows] == ["1.2", "-6.2%", "9.23%"]
    assert heuristic_table(measured(np.ones((3, 3)))).rows[1][1] == "0.0%"


def test_the_accuracy_is_said_in_a_word() -> None:
    assert accuracy(EstimatedValue(1, 0.25, "worm", 1.2, "sampled")) == "unreliable"
    assert accuracy(EstimatedValue(0.25, 0.5, "Bethe bracket", 1.0, "bracket")) == "lower bound"


def test_permanents_of_any_size_can_be_read() -> None:
    assert permanent_text(FOUND) == "18"
    assert permanent_text(measured(np.ones((20, 20)))) == "2.43 × 10^18"
    assert permanent_text(measured(np.full((2, 2), 1e-300))) == "2.00 × 10^-600"
    assert permanent_text(measured([[0.5, 0.5], [0.5, 0.5]])) == "0.5"


def test_permanents_of_weights_are_given_as_numbers_while_floats_reach() -> None:
    def value(matrix: Any) -> Any:
        return measured(matrix).whole_permanent.value

    assert value([[1 / 3, 2 / 3], [2 / 3, 1 / 3]]) == pytest.approx(5 / 9, rel=1e-12)
    assert value(HOSPITAL) == 18.0
    assert value(np.full((2, 2), 1e200)) is None
    assert value(np.full((2, 2), 1e-200)) is None
    assert value(np.ones((200, 200))) is None
    assert permanent_text(measured([[0.05, 0.01], [0.02, 0.07]])) == "0.0037"


def test_flatness_and_nmape_stand_in_the_answer() -> None:
    q = [[0.6, 0.4], [0.4, 0.6]]
    answer = matching(q, [0, 1])
    found = json.loads(answer.to_json())
    # H is 1.2 or 0.8, the expected cracks 18/13 or 8/13: both are 12/65 off, 9.23 % of two items.
    assert found["nmape"] == pytest.approx(100 * 12 / 65 / 2, rel=1e-9)
    assert found["nmape_estimate"]["kind"] == "exact"
    assert found["flat"] is False
    assert "9.23%" in answer.to_html()
    flat = matching(HOSPITAL, [2, 3, 4, 0, 1])
    assert flat.findings.cracks.flat
    unequal = json.loads(matching([[1, 1], [1, 1], [1, 0]], [0, 1, -1]).to_json())
    assert (unequal["nmape"], unequal["flat"]) == (None, True)
    listed = MatchingDistribution.from_matching(Matching(np.array(q)))
    assert json.loads(matching(listed, [0, 1]).to_json())["nmape"] is None


def test_digits_follow_the_error() -> None:
    assert amount(EstimatedValue(1234.5678, 12.0, "worm", 1, "sampled")) == "1,235"
    assert amount(EstimatedValue(1234.5678, 0.12, "worm", 1, "sampled")) == "1,234.57"
    assert amount(EstimatedValue(29 / 18, 1e-15, "subsets")) == "1.611"
    assert (or_more(3, 4), or_more(4, 4), or_more(1, 1)) == ("3 or more", "all 4", "the only one")


# --- figures ----------------------------------------------------------------------------------------------------------


def values(found: Cracks) -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in summary_table(found, blind(found.n)).rows}


def test_results_stand_next_to_the_baseline() -> None:
    told = values(FOUND)
    assert told["Expected resolved pseudonyms"] == ("1.611 of 5", "1", "exact")
    assert told["Resolved with 5% probability"] == ("all 5", "3 or more", "exact")


def test_sampled_numbers_say_so() -> None:
    told = values(replace(SAMPLED, _effective=100.0))
    assert told["Expected resolved pseudonyms"][2] == "± 0.062"
    assert re.fullmatch(r"\d to \d", told["Resolved with 5% probability"][2])
    bracket = replace(
        FOUND,
        d=EstimatedValue(0.5, 0.1, "Bethe bracket", math.nan, "bracket"),
        permanent=None,
        log_permanent=EstimatedValue(100.0, 23.0, "Bethe bracket", math.nan, "bracket"),
    )
    told = values(bracket)
    assert told["Degree of anonymity d"][0] == "0.5 or more"
    assert told["Permanent of the matrix"][0] == "2.69 × 10^43 or more"


def test_entries_are_sorted_by_risk_then_name_and_capped() -> None:
    table = at_risk_table(FOUND, NAMES)
    assert [row[0] for row in table.rows] == ["Asthma", "Tuberculosis", "Viral Fever", "Flu", "Cold"]
    assert table.rows[0][1] == "44.4%"
    assert table.columns[-1] == "P(group resolved)"
    assert at_risk_table(SAMPLED, NAMES).rows[0][2] == "0.01"
    many = at_risk_table(measured(np.ones((50, 50))), [f"e{k:02}" for k in range(50)])
    assert [row[0] for row in many.rows] == [f"e{k:02}" for k in range(10)]
    assert "40 more items" in many.note
    certain = at_risk_table(measured([[1, 0], [0, 1]]), ["x" * 500, "\x1b[2J\u202e"])
    assert [len(row[0]) <= 60 for row in certain.rows] == [True, True]
    assert "\x1b" not in certain.rows[0][0] + certain.rows[1][0]
    assert certain.rows[0][1] == "100% (certain)"


def test_groups_that_are_found_most_often_come_first() -> None:
    table = group_table(FOUND)
    shares = [float(row[2]) / int(row[1]) for row in table.rows]
    assert shares == sorted(shares, reverse=True)
    assert {row[0] for row in table.rows} == {"viral", "other"}


# --- charts -----------------------------------------------------------------------------------------------------------


def test_the_distribution_is_drawn_number_by_number_with_its_5_percent_point() -> None:
    chart = crack_chart(FOUND, blind(5))
    bars, line = chart.series
    assert dict(zip((bars.x + 0.5).tolist(), (bars.y * 18).tolist(), strict=True)) == pytest.approx(
        {0: 4, 1: 6, 2: 3, 3: 4, 5: 1}
    )
    assert line.y == pytest.approx(blind(5))
    (mark,) = chart.thresholds
    assert (mark.name, mark.value) == ("with 5% probability all 5", 4.5)
    values = re.findall(r'class="value middle"[^>]*>([^<]+)<', svg(chart, identity="c"))
    assert values == ["22%", "33%", "17%", "22%", "5.6%"]
    ticks = re.findall(r'class="tick middle"[^>]*>([^<]+)<', svg(chart, identity="c"))
    assert sorted(ticks) == ["0", "1", "2", "3", "4", "5"]


@given(st.lists(st.floats(0, 1), min_size=2, max_size=400), st.integers(1, 50))
@settings(max_examples=22)
def test_bars_hold_all_but_a_trace_of_the_chance_and_one_starts_at_the_mark(heights: list[float], zeros: int) -> None:
    chance = np.array([0.0] * zeros + heights)
    chance = chance / chance.sum() if chance.sum() > 0 else np.eye(chance.size)[0]
    n = chance.size - 1
    found = replace(FOUND, n=n, crack_distribution=chance, crack_distribution_error=np.zeros(n + 1))
    chart = crack_chart(found, blind(n))
    bars = chart.series[0]
    assert bars.x.size <= MOST_BARS + 1
    assert 1 - 3e-4 <= bars.y.sum() <= 1 + 1e-9
    assert bars.y.max() <= chart.y_range[1]
    assert chart.x_range[0] <= bars.x.min()
    assert bars.x.max() + bars.width <= chart.x_range[1]
    tail = found.at_least(0.05).at_least
    assert ((bars.x + 0.5 - tail) % bars.width == 0).all()
    assert bars.y[bars.x >= tail - 0.5].sum() == pytest.approx(chance[tail:].sum(), abs=2e-4)


def test_blind_guessing_is_not_drawn_where_it_would_flatten_the_bars() -> None:
    even = np.full(101, 1 / 101)
    found = replace(FOUND, n=100, crack_distribution=even, crack_distribution_error=np.zeros(101))
    assert [series.name for series in crack_chart(found, blind(100)).series] == ["attack"]


@pytest.mark.parametrize("chances", [np.zeros(30), np.ones(30), np.linspace(0, 0.2, 30), np.linspace(0, 1, 30)])
def test_entries_are_all_in_the_picture(chances: Any) -> None:
    chart = resolved_chart(replace(FOUND, n=30, crack_probability=chances))
    (bars,) = chart.series
    assert bars.y.sum() == pytest.approx(1)
    assert chart.x_range[0] <= bars.x.min()
    assert bars.x.max() + bars.width <= chart.x_range[1] + 1e-9
    assert bars.y.max() <= chart.y_range[1]


# --- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "found", [FOUND, SAMPLED, measured([[1]]), measured(1 - np.eye(3)), measured(np.ones((30, 30)))]
)
def test_a_page_of_any_attack_is_sound_html(found: Cracks) -> None:
    names = tuple(f"<b>{k}</b>" for k in range(found.n))
    held = MatchingFindings(
        cracks=found, blind=blind(found.n), holds="weights", possible=found.n, items=names, pseudonyms=names
    )
    text = render(page(held, MatchingContext(seed=1)))
    reader = Reader(text)
    assert "<b>0" not in text
    assert "&lt;b&gt;0" in text
    assert len(text) < 1_000_000
    assert reader.open == []
    assert not any("nan" in words.split() for _, words in reader.texts)
