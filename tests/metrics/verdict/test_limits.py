"""Limits are exceeded or kept where intervals say so, and as many people are asked for as exact search does."""

import math
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import risk as oracle
from tests.oracles import verdict
from unveil.errors import InputError
from unveil.metrics.trials.risk import Rate, clopper_pearson, excess
from unveil.metrics.verdict.limits import (
    LimitVerdict,
    fewest_copies_provable,
    held_to,
    people_needed,
    worth,
)

#: People needed by the share of strangers that is hit, as exact search over sizes gives them, and as they are printed.
RATES = (0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 0.9)
NEEDED = {
    0.09: (51, 77, 124, 227, 466, 788, 1816, 5369, 16177),
    0.05: (112, 182, 361, 714, 1556, 2625, 6030, 18168, 54722),
}


def held(hits: int, **settings: Any) -> LimitVerdict:
    return held_to(lambda level: clopper_pearson(hits, 100, confidence=level), 0.1, **settings).outcome


@pytest.mark.parametrize(
    ("hits", "outcome"),
    [(2, LimitVerdict.KEPT), (10, LimitVerdict.NOT_SHOWN), (16, LimitVerdict.NOT_SHOWN), (30, LimitVerdict.EXCEEDED)],
)
def test_the_interval_decides(hits: int, outcome: LimitVerdict) -> None:
    assert held(hits) == outcome


def test_to_exceed_allows_for_all_figures_and_to_keep_does_not() -> None:
    """18 of 100 lie above 10 % at 95 % and not at 99.5 %, which is asked of each of ten."""
    assert (held(18), held(18, figures=10)) == (LimitVerdict.EXCEEDED, LimitVerdict.NOT_SHOWN)
    assert held(2, figures=10) == held(2) == LimitVerdict.KEPT
    at = held_to(lambda level: clopper_pearson(18, 100, confidence=level), 0.1, figures=10)
    assert at[1:] == (clopper_pearson(18, 100, confidence=0.995).low, clopper_pearson(18, 100).high)


def test_nothing_is_kept_where_anything_speaks_against_it() -> None:
    assert held(0, can_be_kept=False) == LimitVerdict.NOT_SHOWN
    assert held(40, can_be_kept=False) == LimitVerdict.EXCEEDED


def test_what_is_undefined_shows_nothing() -> None:
    assert held_to(lambda _: Rate(math.nan, math.nan, math.nan, "unknown"), 0.1).outcome == LimitVerdict.NOT_SHOWN


def chance_of_kept(people: int, rate: float, limit: float) -> float:
    """The probability that the interval ends below the limit where both tables are hit alike, over all outcomes."""
    rates = [clopper_pearson(hits, people) for hits in range(people + 1)]
    likely = {hits: p for hits, p in enumerate(oracle.binomial(people, rate)) if p > 1e-6}
    return sum(likely[i] * likely[j] for i, j in product(likely, likely) if excess(rates[i], rates[j]).high <= limit)


@pytest.mark.parametrize("column", [0, 1, 2])
def test_the_printed_numbers_of_people_show_it_with_80_percent(column: int) -> None:
    people = NEEDED[0.09][column]
    assert chance_of_kept(people, RATES[column], 0.09) >= 0.8 > chance_of_kept(people - 2, RATES[column], 0.09)


@pytest.mark.parametrize("limit", NEEDED)
def test_the_rule_of_thumb_is_near_exact_search(limit: float) -> None:
    for rate, people in zip(RATES, NEEDED[limit], strict=True):
        assert people_needed(rate, limit) == pytest.approx(people, rel=0.11)


def test_no_number_of_people_is_enough() -> None:
    assert people_needed(1.0, 0.09) is None
    assert people_needed(0.1, 0.0) is None
    for limit in (math.nan, 1.5):
        with pytest.raises(InputError, match="it must be a share of at most 1"):
            people_needed(0.1, limit)
    with pytest.raises(InputError, match="control_rate must lie between 0 and 1"):
        people_needed(math.nan, 0.1)


def test_unequal_tables_are_worth_less() -> None:
    assert worth(200, 200) == pytest.approx(200)
    assert worth(10_000, 60) < 120


@given(st.integers(1, 60), st.integers(1, 60))
def test_the_fewest_copies_are_just_proved(members: int, others: int) -> None:
    fewest = fewest_copies_provable(members, others)
    p = [verdict.hypergeometric_p(copied, 0, members, others) for copied in range(members + 1)]
    assert fewest == next((copied for copied in range(1, members + 1) if p[copied] <= 0.005), None)
