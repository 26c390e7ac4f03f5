"""What coins can show is what the bound of perfect guesses says, and as many are asked for as exact search finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import epsilon as oracle
from unveil.errors import InputError
from unveil.metrics.epsilon.bound import SHARES, Design
from unveil.metrics.epsilon.coins import bound_of_coins, bound_of_pairs
from unveil.metrics.epsilon.power import coins_needed, most_provable

designs = st.sampled_from(["pairs", "coins"])


@given(st.integers(1, 300), st.sampled_from([0.0, 1e-3]))
def test_no_more_is_provable_than_with_every_guess_right(coins: int, delta: float) -> None:
    rng = np.random.default_rng(1)
    is_in = np.arange(coins) % 2 == 0
    pairs = bound_of_pairs([(is_in * 1.0, ~is_in * 1.0, is_in)], rng=rng, delta=delta)
    assert pairs.most == pairs.bound == most_provable(coins, design="pairs", delta=delta)
    assert bound_of_coins([(is_in * 1.0, is_in)], rng=rng, delta=delta).bound == most_provable(
        coins, design="coins", delta=delta
    )


@settings(max_examples=25)
@given(
    designs, st.sampled_from([0.5, 1.0, 2.0]), st.floats(1.0, 4.0), st.sampled_from([0.0, 1e-3]), st.floats(0.3, 0.9)
)
def test_the_fewest_coins_are_those_of_a_search(
    design: Design, claim: float, more: float, delta: float, power: float
) -> None:
    found = coins_needed(claim, claim + more, design=design, delta=delta, power=power)
    parts = SHARES[design]
    for coins in range(1, 50):
        guesses = max(1, int(parts[-1] * coins))
        enough = oracle.chance_to_refute(claim, claim + more, guesses, 0.05 / len(parts), delta, coins) >= power
        if enough:
            assert found == coins
            return
    assert found is None or found >= 50


@pytest.mark.unwatched
@pytest.mark.parametrize("design", ["pairs", "coins"])
def test_so_many_coins_find_a_fault(design: Design) -> None:
    # Each bit is turned with the probability that the true epsilon allows; a turned bit is guessed wrong.
    truth, rng, tries = 2.0, np.random.default_rng(2), 400
    coins = coins_needed(1.0, truth, design=design)
    assert coins is not None
    found = 0
    for _ in range(tries):
        is_in = rng.random(coins) < 0.5
        seen = (is_in ^ (rng.random(coins) > 1 / (1 + np.exp(-truth)))) * 1.0
        shown = (
            bound_of_pairs([(seen, 1 - seen, is_in)], rng=rng)
            if design == "pairs"
            else bound_of_coins([(seen, is_in)], rng=rng)
        )
        found += shown.bound > 1
    # Half of the coins are guessed to be in, also where fewer look so: then some guesses are by lot.
    assert found / tries > (0.75 if design == "pairs" else 0.5)


def test_where_no_number_is_enough_there_is_none() -> None:
    assert coins_needed(1.0, 0.5, design="pairs") is None
    assert coins_needed(1.0, 1.0001, design="pairs") is None
    assert coins_needed(1.0, 1.1, design="coins", delta=0.01) is None


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"claim": 0.0}, "claimed epsilon"),
        ({"truth": float("inf")}, "true epsilon"),
        ({"power": 1.0}, "power"),
        ({"design": "runs"}, "design"),
    ],
)
def test_what_cannot_be_is_refused(told: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        coins_needed(**{"claim": 1.0, "truth": 2.0, "design": "pairs", **told})  # type: ignore[arg-type]
