"""Every distance against its definition, and the laws that distances obey."""

from collections.abc import Callable
from dataclasses import asdict
from fractions import Fraction
from itertools import product
from math import isnan, log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import partition_distances as oracle
from tests.oracles.random_partitions import all_partitions, canonical
from tests.strategies import labels, views
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.metrics._listing import METRICS
from unveil.metrics.partitions.distances import (
    adjusted_rand_index,
    bcubed_precision,
    bcubed_recall,
    minimal_transfer_distance,
    partition_distances,
    rand_index,
    variation_of_information,
)

LISTED: dict[str, tuple[Callable[..., float], dict[str, bool]]] = {
    "voi": (variation_of_information, {}),
    "voi_normalized": (variation_of_information, {"normalized": True}),
    "rand": (rand_index, {}),
    "adjusted_rand": (adjusted_rand_index, {}),
    "bcubed_precision": (bcubed_precision, {}),
    "bcubed_recall": (bcubed_recall, {}),
    "mtd": (minimal_transfer_distance, {}),
    "mtd_normalized": (minimal_transfer_distance, {"normalized": True}),
}

Pair = tuple[list[str], list[str]]


def pairs_of_labels(least: int, most: int) -> st.SearchStrategy[Pair]:
    return st.integers(least, most).flatmap(lambda n: st.tuples(labels(n), labels(n)))


def measured(guess: list[str], truth: list[str]) -> dict[str, float]:
    return asdict(partition_distances(Partition.from_labels(guess), Partition.from_labels(truth)))


def expected(guess: list[str], truth: list[str]) -> dict[str, float]:
    """What the definitions give, for at least two items; the adjusted Rand index takes all orders of the items."""
    voi, mtd = oracle.variation_of_information(guess, truth), oracle.transfer_distance(guess, truth)
    return {
        "voi": voi,
        "voi_normalized": voi / log2(len(truth)),
        "rand": float(oracle.rand(guess, truth)),
        "bcubed_precision": float(oracle.bcubed_precision(guess, truth)),
        "bcubed_recall": float(oracle.bcubed_recall(guess, truth)),
        "mtd": float(mtd),
        "mtd_normalized": mtd / (len(truth) - 1),
    }


@given(pairs_of_labels(2, 20))
def test_all_distances_follow_their_definitions(pair: Pair) -> None:
    distances = measured(*pair)
    del distances["adjusted_rand"]
    assert distances == pytest.approx(expected(*pair), rel=1e-12, abs=1e-12)


@given(pairs_of_labels(2, 6))
def test_adjusted_rand_is_adjusted_for_chance(pair: Pair) -> None:
    assert measured(*pair)["adjusted_rand"] == float(oracle.adjusted_rand(*pair))


@pytest.mark.unwatched
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_transfer_distance_is_the_least_number_of_transfers(n: int) -> None:
    for guess, truth in product(all_partitions(n), all_partitions(n)):
        distance = minimal_transfer_distance(Partition.from_labels(guess), Partition.from_labels(truth))
        assert distance == oracle.transfer_distance_by_transfers(guess, truth)


@given(pairs_of_labels(1, 12))
def test_listed_functions_say_the_same_as_the_collection(pair: Pair) -> None:
    guess, truth = map(Partition.from_labels, pair)
    together = asdict(partition_distances(guess, truth))
    alone = {name: function(guess, truth, **options) for name, (function, options) in LISTED.items()}
    assert alone == pytest.approx(together, abs=0, nan_ok=True)


def test_every_function_is_listed_as_a_distance() -> None:
    names = {function.__name__ for function, _ in LISTED.values()}
    assert {name for name, m in METRICS.items() if m.category == "distance"} == names
    for name in names:
        assert METRICS[name].needs_truth
        assert METRICS[name].per == "release"


@given(pairs_of_labels(2, 12))
def test_values_keep_to_their_bounds(pair: Pair) -> None:
    distances = measured(*pair)
    for name, (function, options) in LISTED.items():
        low, high = METRICS[function.__name__].bounds
        assert low <= distances[name] <= (1.0 if options else high)
    assert distances["mtd"] == round(distances["mtd"])
    assert distances["bcubed_precision"] >= len(set(pair[0])) / len(pair[0]) * (1 - 1e-12)
    assert distances["bcubed_recall"] >= len(set(pair[1])) / len(pair[1]) * (1 - 1e-12)


@given(pairs_of_labels(1, 12))
def test_exchanging_guess_and_truth_exchanges_precision_and_recall_only(pair: Pair) -> None:
    forth, back = measured(*pair), measured(pair[1], pair[0])
    back["bcubed_precision"], back["bcubed_recall"] = back["bcubed_recall"], back["bcubed_precision"]
    assert forth == pytest.approx(back, rel=1e-12, nan_ok=True)


@given(pairs_of_labels(2, 6))
def test_distance_is_exactly_zero_for_the_same_partition_and_only_then(pair: Pair) -> None:
    same = canonical(pair[0]) == canonical(pair[1])
    distances = measured(*pair)
    for name, (function, _) in LISTED.items():
        best = 0.0 if METRICS[function.__name__].more_means == "more private" else 1.0
        if same:
            assert distances[name] == best
        elif not name.startswith("bcubed"):
            assert distances[name] != best
    assert same == (distances["bcubed_precision"] == distances["bcubed_recall"] == 1.0)


@given(st.integers(2, 400))
def test_extremes_are_reached(n: int) -> None:
    together, alone = Partition.from_labels(np.zeros(n, np.int64)), Partition.from_labels(np.arange(n))
    distances = partition_distances(alone, together)
    assert distances.voi == pytest.approx(log2(n), rel=1e-14)
    assert distances.voi_normalized == pytest.approx(1.0, rel=1e-14)
    assert distances.voi_normalized <= 1.0
    assert (distances.rand, distances.adjusted_rand) == (0.0, 0.0)
    assert distances.bcubed_precision == 1.0
    assert distances.bcubed_recall == pytest.approx(1 / n, rel=1e-14)
    assert (distances.mtd, distances.mtd_normalized) == (n - 1, 1.0)


def test_one_item_has_no_pairs_and_nothing_to_divide_by() -> None:
    distances = measured(["a"], ["b"])
    undefined = {name for name, value in distances.items() if isnan(value)}
    assert undefined == {"voi_normalized", "rand", "adjusted_rand", "mtd_normalized"}
    assert [distances[name] for name in ("voi", "bcubed_precision", "bcubed_recall", "mtd")] == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("label", ["aaaa", "abcd"])
def test_adjusted_rand_of_the_same_trivial_partition_is_one(label: str) -> None:
    assert adjusted_rand_index(Partition.from_labels(label), Partition.from_labels("wxyz"[:1] * 4)) == (label == "aaaa")
    assert adjusted_rand_index(Partition.from_labels(label), Partition.from_labels("wxyz")) == (label == "abcd")


@given(st.integers(2, 10).flatmap(lambda n: st.tuples(views(n), labels(n))))
def test_a_view_gives_the_expected_distance(case: tuple[list[tuple[list[str], Fraction]], list[str]]) -> None:
    guesses, truth = case
    view = View([Partition.from_labels(guess) for guess, _ in guesses], [p for _, p in guesses])
    distances = asdict(partition_distances(view, Partition.from_labels(truth)))
    for name, (function, options) in LISTED.items():
        values = [(p, measured(guess, truth)[name]) for guess, p in guesses]
        assert distances[name] == pytest.approx(sum(float(p) * value for p, value in values), rel=1e-12, abs=1e-12)
        assert function(view, Partition.from_labels(truth), **options) == distances[name]


def test_a_view_whose_partitions_are_all_right_is_exactly_right() -> None:
    truth = Partition.from_labels("aab")
    distances = partition_distances(View([truth] * 3, ["1/3"] * 3), truth)
    assert (distances.rand, distances.bcubed_recall, distances.voi) == (1.0, 1.0, 0.0)


def test_without_transfer_only_the_transfer_distance_is_left_out() -> None:
    guess, truth = Partition.from_labels("xxyy"), Partition.from_labels("aaab")
    with_it = asdict(partition_distances(guess, truth))
    without = asdict(partition_distances(guess, truth, transfer=False))
    assert {name for name, value in without.items() if isnan(value)} == {"mtd", "mtd_normalized"}
    assert all(with_it[name] == value for name, value in without.items() if not isnan(value))


def test_items_are_matched_by_name() -> None:
    truth = Partition.from_labels("aabb", items=list("pqrs"))
    assert partition_distances(Partition.from_labels("yxyx", items=list("rpsq")), truth).mtd == 0.0


def test_pair_counts_stay_exact_where_floats_do_not() -> None:
    # Two clusters of 2**27 items each way: products of pair counts have over 100 bits.
    from unveil.metrics.partitions._contingency import Contingency
    from unveil.metrics.partitions.distances import _adjusted_rand, _pair_counts, _rand

    half, one = 2**27, 1
    table = Contingency(
        np.array([0, 1, 3]), np.array([0, 0, 1], np.int32), np.array([half, one, half - one]),
        np.array([half, half]), np.array([half + one, half - one]),
    )  # fmt: skip
    n = 2 * half
    pairs, truth = n * (n - 1) // 2, half * (half - 1)
    guess = half * (half + 1) // 2 + (half - 1) * (half - 2) // 2
    both = half * (half - 1) // 2 + (half - 1) * (half - 2) // 2
    exact = (both - Fraction(truth * guess, pairs)) / (Fraction(truth + guess, 2) - Fraction(truth * guess, pairs))
    assert _rand(_pair_counts(table)) == float(Fraction(pairs + 2 * both - truth - guess, pairs))
    assert _adjusted_rand(_pair_counts(table)) == float(exact)


@pytest.mark.parametrize(
    ("guess", "truth"), [("aab", Partition.from_labels("aab")), (Partition.from_labels("aab"), [1])]
)
def test_anything_but_partitions_is_refused(guess: Any, truth: Any) -> None:
    with pytest.raises(InputError, match="Pass a Partition as truth, and a Partition or View as guess"):
        partition_distances(guess, truth)
    with pytest.raises(InputError, match=r"Partition\.from_labels"):
        rand_index(guess, truth)


def test_partitions_of_different_items_are_refused() -> None:
    with pytest.raises(InputError, match="guess and truth have different items: one has 3 and the other 2"):
        partition_distances(Partition.from_labels("aab"), Partition.from_labels("ab"))
