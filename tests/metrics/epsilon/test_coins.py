"""Guesses are counted as the definition says, and bounds hold: with nothing to tell, and with known noise."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import epsilon as oracle
from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.metrics.epsilon.bound import SHARES, EpsilonBound, least_epsilon
from unveil.metrics.epsilon.coins import bound_of_coins, bound_of_pairs, pair_by_lot
from unveil.metrics.trials.risk import clopper_pearson

sizes = st.lists(st.integers(1, 70), min_size=1, max_size=4)


def best(counted: list[tuple[int, int]], coins: int, delta: float) -> float:
    alpha = (1 - 0.95) / len(counted)
    return max(least_epsilon(right, many, alpha=alpha, delta=delta, coins=coins) for right, many in counted)


def check(found: EpsilonBound, runs: list[list[tuple[float, bool]]], parts: tuple[float, ...], delta: float) -> None:
    """Compare with the slow count: bound, the share that gave it, and what could have been shown."""
    counted = [oracle.counted(runs, part) for part in parts]
    coins = sum(map(len, runs))
    assert found.bound == best(counted, coins, delta)
    assert found.most == best([(many, many) for _, many in counted], coins, delta)
    assert (found.coins, found.runs, found.delta, found.confidence) == (coins, len(runs), delta, 0.95)
    place = parts.index(found.share)
    assert (found.right, found.guesses) == counted[place]
    alone = [least_epsilon(*each, alpha=(1 - 0.95) / len(parts), delta=delta, coins=coins) for each in counted]
    assert place == (alone.index(found.bound) if found.bound > 0 else len(parts) - 1)


@given(sizes, st.sampled_from([0.0, 1e-3]), st.sampled_from([0.0, 1.0, 5.0]), st.integers(0, 2**32))
def test_pairs_are_counted_as_defined(sizes: list[int], delta: float, told: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    runs, slow = [], []
    for size in sizes:
        is_first = rng.random(size) < 0.5
        first, second = rng.normal(size=size) + told * is_first, rng.normal(size=size)
        runs.append((first, second, is_first))
        slow.append([(abs(a - b), bool((a > b) == c)) for a, b, c in zip(first, second, is_first, strict=True)])
    found = bound_of_pairs(runs, rng=rng, delta=delta)
    assert found.adjacency == "replace"
    check(found, slow, SHARES["pairs"], delta)


@given(sizes, st.sampled_from([0.0, 1e-3]), st.sampled_from([0.0, 1.0, 5.0]), st.integers(0, 2**32))
def test_coins_are_counted_as_defined(sizes: list[int], delta: float, told: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    runs = []
    for size in sizes:
        is_in = rng.random(size) < 0.5
        runs.append((rng.normal(size=size) + told * is_in, is_in))
    found = bound_of_coins(runs, rng=rng, delta=delta)
    assert found.adjacency == "add-remove"
    slow = [[(float(score), bool(coin)) for score, coin in zip(*run, strict=True)] for run in runs]
    check(found, slow, SHARES["coins"], delta)


def test_ties_are_broken_by_lot_and_not_by_place() -> None:
    rng = np.random.default_rng(3)
    # Everybody alike, and whoever is in stands first: the order must tell nothing.
    is_in, same = np.arange(4000) < 2000, np.zeros(4000)
    coins = bound_of_coins([(same, is_in)], rng=rng)
    pairs = bound_of_pairs([(same, same, np.ones(4000, np.bool_))], rng=rng)
    for found in (coins, pairs):
        assert found.bound == 0
        # Five standard deviations are 112 of 2,000 and 158 of 4,000.
        assert found.right == pytest.approx(found.guesses / 2, abs=160)
    infinite = np.full(4000, -np.inf)
    assert bound_of_pairs([(infinite, infinite, is_in)], rng=rng).bound == 0
    assert bound_of_pairs([(np.where(is_in, np.inf, 0.0), np.zeros(4000), is_in)], rng=rng).bound > 1


def test_scores_of_two_runs_need_not_be_comparable() -> None:
    rng = np.random.default_rng(4)
    is_in = rng.random((2, 200)) < 0.5
    runs = [(is_in[0] * 1.0, is_in[0]), (1e6 + is_in[1], is_in[1])]
    assert (
        bound_of_coins(runs, rng=rng).bound
        == bound_of_coins([(scores % 1e6, coin) for scores, coin in runs], rng=rng).bound
    )


def test_two_tables_are_paired_by_lot() -> None:
    rng = np.random.default_rng(5)
    first, second, member_first = pair_by_lot(np.arange(100.0), 1000 + np.arange(60.0), rng=rng)
    member, other = np.where(member_first, first, second), np.where(member_first, second, first)
    assert sorted(other) == list(1000 + np.arange(60.0))
    assert len(set(member)) == 60
    assert member.max() < 100
    assert member_first.sum() == pytest.approx(30, abs=20)
    assert member.tolist() != sorted(member)


NOTHING: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "normal": lambda rng, size: np.asarray(rng.normal(size=size)),
    "discrete": lambda rng, size: rng.integers(0, 3, size).astype(np.float64),
    "Cauchy": lambda rng, size: rng.standard_cauchy(size),
}


@pytest.mark.unwatched
@pytest.mark.parametrize("scores", NOTHING.values(), ids=NOTHING)
def test_scores_that_tell_nothing_seldom_show_anything(
    scores: Callable[[np.random.Generator, int], FloatArray],
) -> None:
    rng, size, tries = np.random.default_rng(11), 200, 300
    shown = np.zeros(3)
    for _ in range(tries):
        coins = rng.random((2, size // 2)) < 0.5
        shown += [
            bound_of_coins([(scores(rng, size // 2), coin) for coin in coins], rng=rng).bound > 0,
            bound_of_pairs([(scores(rng, size // 2), scores(rng, size // 2), coin) for coin in coins], rng=rng).bound
            > 0,
            bound_of_pairs([pair_by_lot(scores(rng, size), scores(rng, size), rng=rng)], rng=rng).bound > 0,
        ]
    assert [clopper_pearson(each, tries).low <= 0.05 for each in shown] == [True] * 3
    # It would not do never to show anything either.
    assert shown.sum() > 0


@pytest.mark.unwatched
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_bounds_hold_where_noise_of_known_size_hides_the_coins(epsilon: float) -> None:
    rng, size, tries = np.random.default_rng(12), 400, 200
    held, mean = np.zeros(2), np.zeros(2)
    for _ in range(tries):
        is_in = rng.random(size) < 0.5
        noise = rng.laplace(0, 1 / epsilon, (2, size))
        # Whether somebody is in: epsilon. Which of two is in moves both scores: twice as much.
        found = (
            bound_of_coins([(is_in + noise[0], is_in)], rng=rng).bound,
            bound_of_pairs([(is_in + noise[0], ~is_in + noise[1], is_in)], rng=rng).bound / 2,
        )
        held += [each <= epsilon for each in found]
        mean += found
    assert [clopper_pearson(each, tries).high >= 0.95 for each in held] == [True] * 2
    assert (mean / tries > epsilon / 5).all()


@pytest.mark.parametrize(
    "run",
    [
        (np.array([1.0, np.nan]), np.array([True, False])),
        (np.array([1.0]), np.array([True, False])),
        (np.array([[1.0, 2.0]]), np.array([True, False])),
        (np.array([1.0, 2.0]), np.array([1, 0])),
    ],
    ids=["NaN", "too few", "two dimensions", "numbers as coins"],
)
def test_what_is_no_run_is_refused(run: Any) -> None:
    good = (np.array([1.0, 2.0]), np.array([True, False]))
    with pytest.raises(InputError, match="run 2 lacks a truth value or a number as score for a canary"):
        bound_of_coins([good, run], rng=np.random.default_rng(1))


@pytest.mark.parametrize("runs", [[], [(np.zeros(0), np.zeros(0, np.bool_))]], ids=["no run", "no coin"])
def test_no_coins_are_refused(runs: Any) -> None:
    with pytest.raises(InputError, match="a run has no canary"):
        bound_of_coins(runs, rng=np.random.default_rng(1))
