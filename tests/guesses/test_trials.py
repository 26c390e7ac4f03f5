"""Hits of tries: what is certain, what is expected, what is possible."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.errors import InputError
from unveil.guesses import Attempts, Trials
from unveil.guesses.trials import mean_of_rows


@given(st.lists(st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1)), min_size=1))
def test_hits_come_from_the_chances(chances: list[float]) -> None:
    attempts = Attempts.from_chances(chances)
    assert attempts.tries == len(chances)
    assert attempts.low == sum(chance == 1 for chance in chances)
    assert attempts.high == sum(chance > 0 for chance in chances)
    assert attempts.expected == pytest.approx(sum(chances), abs=1e-9)
    assert attempts.low <= attempts.expected <= attempts.high
    assert attempts.chances is not None
    assert attempts.chances.tolist() == chances


def test_the_order_of_tries_does_not_change_the_sum() -> None:
    chances = np.random.default_rng(1).random(1000)
    sums = {Attempts.from_chances(np.random.default_rng(seed).permutation(chances)).expected for seed in range(5)}
    assert len(sums) == 1


def test_chances_are_copied_and_read_only() -> None:
    mine = np.array([0.5, 1.0])
    attempts = Attempts.from_chances(mine)
    mine[0] = 0
    assert attempts.chances is not None
    assert attempts.chances[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        attempts.chances[0] = 1


def test_totals_alone_will_do() -> None:
    attempts = Attempts(tries=500, expected=7, low=7, high=7)
    assert attempts.chances is None
    trials = Trials(attack=attempts, naive=attempts, control=None, what="a row is shared")
    assert (trials.notes, trials.control) == ((), None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tries": 0, "expected": 0, "low": 0, "high": 0}, "there are 0 attempts"),
        (
            {"tries": 3, "expected": 2, "low": 2, "high": 4},
            "the successes are not between 0 and the 3 attempts, or out of order: low",
        ),
        ({"tries": 3, "expected": 1, "low": 2, "high": 3}, "low, expected and high are 2, 1 and 3"),
        (
            {"tries": 3, "expected": float("nan"), "low": 0, "high": 3},
            "the successes are not between 0 and the 3 attempts, or out of order: low",
        ),
        (
            {"tries": 2, "expected": 1, "low": 0, "high": 2, "chances": [0.5]},
            "some chances are outside 0 to 1, or they differ in number from the",
        ),
        (
            {"tries": 1, "expected": 1, "low": 0, "high": 1, "chances": [1.5]},
            "some chances are outside 0 to 1, or they differ in number from the",
        ),
        (
            {"tries": 1, "expected": 1, "low": 0, "high": 1, "chances": [np.nan]},
            "some chances are outside 0 to 1, or they differ in number from the 1",
        ),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Attempts(**settings)


def test_no_tries_are_refused() -> None:
    with pytest.raises(InputError, match="there are 0 attempts"):
        Attempts.from_chances([])


def test_the_mean_does_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(1)
    scores, person = rng.random(300), rng.integers(0, 40, 300)
    order = rng.permutation(300)
    means = mean_of_rows(scores, person)
    assert means.tolist() == mean_of_rows(scores[order], person[order]).tolist()
    assert means[0] == pytest.approx(scores[person == 0].mean())
