"""Percentages of a number that is hidden too: the same ranges as over all populations that would be shown so."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil.data.counts.percentages import share_of_percent


def shown(count: int, base: int, decimals: int) -> str:
    """Return a percentage, rounded half up."""
    scaled = Fraction(100 * count * 10**decimals, base)
    digits = str(int(scaled + Fraction(1, 2))).zfill(decimals + 1)
    return f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits


@given(st.integers(0, 400), st.integers(1, 400), st.integers(0, 6))
@settings(deadline=None, max_examples=60)
def test_the_share_that_was_shown_is_within(count: int, base: int, decimals: int) -> None:
    count = min(count, base)
    share = share_of_percent(shown(count, base, decimals), 0)
    assert share is not None
    assert share.low * base <= share.whole * count <= share.high * base
    assert share.high - share.low <= 2
    assert share.whole <= 200_000


@pytest.mark.parametrize("seed", range(12))
def test_ranges_are_those_of_every_population_that_is_shown_so(seed: int) -> None:
    """Two wards, of which the number of people is hidden, percentages by sex in each; all people are shown."""
    rng = np.random.default_rng(seed)
    decimals = int(rng.integers(0, 2))
    truth = rng.integers(1, 12, (2, 2))
    people, base = int(truth.sum()), truth.sum(axis=1)
    texts = [shown(int(truth[ward, sex]), int(base[ward]), decimals) for ward, sex in product(range(2), repeat=2)]
    least, most = np.full(6, people), np.zeros(6, np.int64)
    for first in product(range(people + 1), repeat=3):
        world = np.array([*first, people - sum(first)]).reshape(2, 2)
        own = world.sum(axis=1)
        if world.min() < 0 or own.min() < 1:
            continue
        # Whoever reads does not know which way a half was rounded.
        halves = [
            2 * abs(Fraction(texts[at]) * int(own[at // 2]) - 100 * int(world[at // 2, at % 2]))
            <= Fraction(int(own[at // 2]), 10**decimals)
            for at in range(4)
        ]
        if all(halves):
            values = np.array([*world.ravel(), *own])
            least, most = np.minimum(least, values), np.maximum(most, values)
    shares = {"ward": ["N", "N", "S", "S"], "sex": ["f", "m"] * 2, "percent": texts, "base": ["*"] * 4}
    totals = {"ward": ["N", "S", "Total"], "count": ["1+", "1+", str(people)]}
    frame = unveil.tables([shares, totals], percent_of=("ward",)).to_polars()
    found = {(row["ward"], row["sex"]): (row["low"], row["high"]) for row in frame.to_dicts()}
    places = [("N", "f"), ("N", "m"), ("S", "f"), ("S", "m"), ("N", "Total"), ("S", "Total")]
    for at, place in enumerate(places):
        assert found[place] == (least[at], most[at]), place
