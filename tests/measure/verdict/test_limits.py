"""Limits are exceeded or kept where intervals say so, and as many people are asked for as exact search does."""

import math
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import risk as oracle
from tests.oracles import verdict
from unveil.errors import InputError
from unveil.measure.trials.risk import Rate, clopper_pearson, excess
from unveil.measure.verdict.limits import (
    HeldFigure,
    Outcome,
    fewest_copies_provable,
    limits_outcome,
    people_needed,
    worth,
)

#: People needed by the share of strangers that is hit, as exact search over sizes gives them, and as they are printed.
RATES = (0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 0.9)
NEEDED = {
    0.09: (51, 77, 124, 227, 466, 788, 1816, 5369, 16177),
    0.05: (112, 182, 361, 714, 1556, 2625, 6030, 18168, 54722),
}
HARMLESS: dict[str, Any] = {"unmistakable_copies": False, "found": False, "control_usable": True}


def held(hits: int, *, limit: float = 0.1, name: str = "figure", of_a_record: bool = False) -> HeldFigure:
    def interval(confidence: float) -> Rate:
        return clopper_pearson(hits, 100, confidence=confidence)

    return HeldFigure(name=name, limit=limit, interval=interval, of_a_record=of_a_record)


@pytest.mark.parametrize(
    ("hits", "outcome"), [(2, Outcome.KEPT), (10, Outcome.NOT_SHOWN), (16, Outcome.NOT_SHOWN), (30, Outcome.EXCEEDED)]
)
def test_the_interval_decides(hits: int, outcome: Outcome) -> None:
    assert limits_outcome([held(hits)], **HARMLESS).outcome == outcome


def test_one_exceeds_after_allowing_for_all_and_all_must_keep() -> None:
    """18 of 100 lie above 10 % at 95 % and not at 99.5 %, which is asked of each of ten."""
    (alone,) = limits_outcome([held(18)], **HARMLESS).figures.values()
    among = limits_outcome([held(18, name="it"), *(held(0, name=f"{at}") for at in range(9))], **HARMLESS)
    assert (alone, among.figures["it"], among.outcome) == (Outcome.EXCEEDED, Outcome.NOT_SHOWN, Outcome.NOT_SHOWN)
    assert [among.figures[f"{at}"] for at in range(9)] == [Outcome.KEPT] * 9
    assert limits_outcome([held(40, name="a"), held(0, name="b")], **HARMLESS).outcome == Outcome.EXCEEDED
    # The worst of ten adversaries is ten figures, and so is one of ten that are held elsewhere.
    assert limits_outcome([replace(held(18), figures=10)]).outcome == Outcome.NOT_SHOWN
    assert limits_outcome([held(18)], figures=10).outcome == Outcome.NOT_SHOWN


@pytest.mark.parametrize("against", [{"unmistakable_copies": True}, {"found": True}, {"control_usable": False}])
def test_nothing_is_kept_where_anything_speaks_against_it(against: dict[str, bool]) -> None:
    found = limits_outcome([held(0)], **HARMLESS | against)
    assert (found.outcome, found.figures["figure"]) == (Outcome.NOT_SHOWN, Outcome.KEPT)


def test_a_copied_person_exceeds_a_limit_on_records() -> None:
    assert limits_outcome([held(0, of_a_record=True)], **HARMLESS).outcome == Outcome.KEPT
    copied = HARMLESS | {"unmistakable_copies": True}
    assert limits_outcome([held(0, of_a_record=True)], **copied).outcome == Outcome.EXCEEDED


def test_what_is_undefined_shows_nothing() -> None:
    unknown = HeldFigure(name="x", limit=0.1, interval=lambda _: Rate(math.nan, math.nan, math.nan, "unknown"))
    assert limits_outcome([unknown], **HARMLESS).outcome == Outcome.NOT_SHOWN
    assert limits_outcome([], **HARMLESS).outcome == Outcome.NOT_SHOWN


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
        with pytest.raises(InputError, match="limit must be a share"):
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
