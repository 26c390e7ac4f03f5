"""The least epsilon is that of the definition, and of the numbers that are known."""

from fractions import Fraction
from math import exp, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import epsilon as oracle
from unveil.errors import InputError
from unveil.metrics.epsilon.bound import EpsilonBound, least_epsilon, refuting_probability, replaced_to_added

deltas = st.sampled_from([0.0, 1e-6, 1e-3, 0.01, 0.2])


@st.composite
def counts(draw: st.DrawFn, most: int = 14) -> tuple[int, int, int]:
    """Draw right guesses, guesses and coins; many right ones more often than few."""
    guesses = draw(st.integers(1, most))
    right = guesses - draw(st.integers(0, guesses // 2) | st.integers(0, guesses))
    return right, guesses, guesses + draw(st.integers(0, 6))


@given(counts(), deltas, st.fractions(Fraction(1, 2), 1, max_denominator=50).filter(lambda q: q < 1))
def test_the_probability_is_the_exact_sum(counts: tuple[int, int, int], delta: float, q: Fraction) -> None:
    right, guesses, coins = counts
    found = refuting_probability(log(q / (1 - q)), right, guesses, delta=delta, coins=coins)
    assert found == pytest.approx(
        float(min(1, oracle.probability(right, guesses, q, Fraction(delta), coins))), rel=1e-9
    )


@given(counts(), deltas, st.sampled_from([0.001, 0.0125, 0.05, 0.3]))
def test_the_least_epsilon_is_the_first_that_is_not_refuted(
    counts: tuple[int, int, int], delta: float, alpha: float
) -> None:
    right, guesses, coins = counts
    first = oracle.least_on_grid(right, guesses, alpha, delta, coins)
    found = least_epsilon(right, guesses, alpha=alpha, delta=delta, coins=coins)
    assert max(0.0, first - 0.02) - 1e-9 <= found <= first + 1e-9
    assert (found == 0) == (first == 0) or first == 0.02


@pytest.mark.parametrize(("guesses", "printed"), [(21, 1.46), (1333, 5.7)])
def test_all_guesses_right_at_a_quarter_of_five_per_cent(guesses: int, printed: float) -> None:
    assert least_epsilon(guesses, guesses, alpha=0.05 / 4) == pytest.approx(printed, abs=0.02)


def test_a_small_delta_takes_little_away_and_a_large_one_everything() -> None:
    none, *found = (least_epsilon(270, 300, alpha=0.05, delta=delta) for delta in (0.0, 1e-9, 1e-5, 1e-3, 0.4))
    assert found[0] == pytest.approx(none, abs=1e-5)
    assert sorted([none, *found], reverse=True) == [none, *found]
    assert found[-1] == 0
    # The window in which the largest mean is looked for leaves nothing out.
    q = 1 / (1 + exp(-found[1]))
    assert float(oracle.probability(270, 300, q, 1e-5, 300)) == pytest.approx(0.05, rel=1e-6)


def test_a_bound_near_the_end_of_floats_keeps_its_digits() -> None:
    # All of r right: q^r = alpha, so 1 - q is about -log(alpha) / r.
    assert least_epsilon(10**9, 10**9, alpha=0.05) == pytest.approx(log(10**9 / -log(0.05)), rel=1e-8)


def test_no_guess_shows_nothing() -> None:
    assert least_epsilon(0, 0, alpha=0.05) == least_epsilon(0, 0, alpha=0.05, delta=0.1, coins=5) == 0


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"right": 4}, "the number of correct guesses must be a whole number from 0 to 3, but is 4"),
        ({"right": -1}, "the number of correct guesses must be a whole number from 0 to 3, but is -1"),
        ({"alpha": 0.0}, "alpha must lie between 0 and 1, both excluded"),
        ({"delta": 1.0}, "delta must lie between 0 and 1, 1 excluded"),
        ({"delta": float("nan")}, "delta must lie between 0 and 1"),
        ({"coins": 2}, "there are 3 guesses for 2 canaries"),
    ],
)
def test_what_cannot_be_is_refused(told: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        least_epsilon(**{"right": 1, "guesses": 3, "alpha": 0.05, **told})


def test_half_of_a_bound_for_replacing_holds_for_adding() -> None:
    bound = EpsilonBound(
        bound=3.0,
        right=9,
        guesses=9,
        share=1.0,
        coins=9,
        runs=1,
        most=4.0,
        adjacency="replace",
        confidence=0.95,
        delta=0.1,
    )
    half = replaced_to_added(bound)
    assert (half.bound, half.most, half.adjacency) == (1.5, 2.0, "add-remove")
    # A claim of (1.5, delta) for adding is one of (3, (1 + e^1.5) delta) for replacing.
    assert half.delta * (1 + exp(1.5)) == pytest.approx(0.1)
    assert replaced_to_added(half) is half
