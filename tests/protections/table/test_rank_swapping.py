"""Rank swapping: values stay in their column and near their rank, as often as the procedure says."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.protections.tables import LEVELS, applied, people, table, truth_of
from unveil._kernels._compile import PLAIN_UP_TO
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.protections import RankSwapping
from unveil.protections.table._rank_schemes import partners


def procedure(n: int, window: int) -> dict[tuple[int, ...], Fraction]:
    """Return the probability of each outcome, by the definition: the lowest free rank swaps with a free one nearby."""
    outcomes: dict[tuple[int, ...], Fraction] = {}

    def go(rank: int, partner: list[int], probability: Fraction) -> None:
        if rank == n:
            outcomes[tuple(partner)] = outcomes.get(tuple(partner), Fraction(0)) + probability
        elif partner[rank] != rank:
            go(rank + 1, partner, probability)
        else:
            choices = [other for other in range(rank + 1, min(n, rank + window + 1)) if partner[other] == other]
            for other in choices:
                swapped = partner.copy()
                swapped[rank], swapped[other] = other, rank
                go(rank + 1, swapped, probability / len(choices))
            if not choices:
                go(rank + 1, partner, probability)

    go(0, list(range(n)), Fraction(1))
    return outcomes


def all_draws(n: int, window: int) -> Iterator[NDArray[np.float64]]:
    """Yield draws that choose each of one, two, three … free ranks equally often."""
    steps = [1, 1, 2, 6][window]
    yield from (np.array(draws) for draws in product((np.arange(steps) + 0.5) / steps, repeat=n))


@pytest.mark.parametrize(("n", "window"), [(1, 1), (2, 1), (5, 1), (6, 2), (5, 3)])
def test_every_outcome_is_as_likely_as_the_procedure_makes_it(n: int, window: int) -> None:
    found = Counter(tuple(partners(draws, window).tolist()) for draws in all_draws(n, window))
    total = sum(found.values())
    assert {outcome: Fraction(count, total) for outcome, count in found.items()} == procedure(n, window)


def test_the_highest_of_eleven_ranks_stays_with_the_probability_worked_out_for_window_three() -> None:
    stays = sum(probability for outcome, probability in procedure(11, 3).items() if outcome[10] == 10)
    assert stays == Fraction(29, 54)  # 0.537
    rng = np.random.default_rng(3)
    found = np.mean([partners(rng.random(11), 3)[10] == 10 for _ in range(4000)])
    assert abs(found - 29 / 54) < 0.04  # five standard deviations


@given(st.integers(0, 60), st.integers(0, 70), st.integers(0, 2**32))
def test_ranks_swap_in_pairs_within_the_window(n: int, window: int, seed: int) -> None:
    partner = partners(np.random.default_rng(seed).random(n), window)
    np.testing.assert_array_equal(partner[partner], np.arange(n))
    assert (np.abs(partner - np.arange(n)) <= window).all()
    # Two that stayed are further apart than the window: otherwise they would have swapped.
    assert (np.diff(np.flatnonzero(partner == np.arange(n))) > window).all()


def test_the_compiled_way_gives_the_same() -> None:
    draws = np.random.default_rng(5).random(PLAIN_UP_TO + 1)
    plain = partners.__wrapped__(draws, 500)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(partners(draws, 500), plain)


def test_every_column_keeps_its_values() -> None:
    original = people()
    release = applied(RankSwapping(share=0.2), original)
    for name in release.released.column_names:
        assert release.released.frame[name].sort().equals(original.frame[name].sort())
    assert not release.released.frame.equals(original.frame.drop("person_id")[truth_of(release)])


def test_missing_values_stay_with_their_person() -> None:
    original = people()
    release = applied(RankSwapping(share=0.2), original)
    for name in ("income", "town", "smoker"):
        gone = original.frame[name].is_null().to_numpy()
        assert gone.any()
        np.testing.assert_array_equal(release.released.frame[name].is_null().to_numpy(), gone[truth_of(release)])


@pytest.mark.parametrize(("share", "window"), [(0.05, 5), (0.29, 29), (0.999, 99), (1, 100), (0.01, 1)])
def test_no_value_moves_further_than_the_window(share: float, window: int) -> None:
    values = np.random.default_rng(1).permutation(100) * 3
    original = table(number=values)
    moved = []
    for seed in range(30):
        release = applied(RankSwapping(share=share), original, seed)
        after = release.released.frame["number"].to_numpy()
        moved.append(np.abs(after // 3 - values[truth_of(release)] // 3).max())
    assert max(moved) <= window
    assert max(moved) > 0.8 * window  # the window is used


def test_the_window_counts_values_that_are_there() -> None:
    original = table(number=[*range(0, 100, 5), *[None] * 80])
    release = applied(RankSwapping(share=0.1), original)
    after, before = release.released.frame["number"], original.frame["number"][truth_of(release)]
    assert (after - before).abs().max() == 10  # two ranks of the 20 values


def test_an_order_that_was_told_is_used() -> None:
    frame = pl.DataFrame({"level": [level for level in LEVELS for _ in range(10)]})
    original = Table.from_frame(frame, kinds={"level": LEVELS})
    pairs: set[tuple[Any, Any]] = set()
    for seed in range(20):
        release = applied(RankSwapping(share=0.2), original, seed)
        pairs |= set(zip(release.released.frame["level"], original.frame["level"][truth_of(release)], strict=True))
    assert pairs == {
        *zip(LEVELS, LEVELS, strict=True),
        *product(["low", "middle"], repeat=2),
        *product(LEVELS[1:], repeat=2),
    }


@pytest.mark.unwatched
def test_equal_values_are_ranked_by_lot() -> None:
    # Neighbours in rank swap, so the 1 goes to whoever is ninth; which row that is must not follow from their order.
    original = table(number=[0] * 9 + [1])
    found: Counter[int] = Counter()
    for seed in range(450):
        release = applied(RankSwapping(share=0.1), original, seed)
        found[int(truth_of(release)[release.released.frame["number"].to_list().index(1)])] += 1
    assert set(found) == set(range(9))
    assert max(abs(count - 50) for count in found.values()) < 35  # five standard deviations


def test_categories_get_an_order_by_lot() -> None:
    original = table(town=["a"] * 20 + ["b"] * 20 + ["c"] * 20)
    pairs: Counter[tuple[Any, Any]] = Counter()
    for seed in range(60):
        release = applied(RankSwapping(share=0.1), original, seed)
        pairs.update(zip(release.released.frame["town"], original.frame["town"][truth_of(release)], strict=True))
    # Each pair of towns is next to one another in two of three orders.
    met = [pairs[one, other] for one, other in ("ab", "bc", "ac")]
    assert min(met) > 0.5 * max(met)
    assert pairs["a", "b"] == pairs["b", "a"]


def test_only_the_columns_named_are_swapped() -> None:
    original = people()
    release = applied(RankSwapping(columns=("age",), share=0.2), original)
    aligned = original.frame.drop("person_id")[truth_of(release)]
    assert release.released.frame.drop("age").equals(aligned.drop("age"))
    assert not release.released.frame["age"].equals(aligned["age"])


def test_columns_are_swapped_independently() -> None:
    values = np.random.default_rng(2).permutation(500)
    release = applied(RankSwapping(share=0.2), table(one=values, two=values))
    truth = values[truth_of(release)]
    one, two = (release.released.frame[name].to_numpy() - truth for name in ("one", "two"))
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.25


def test_a_window_below_one_rank_is_said() -> None:
    release = applied(RankSwapping(), table(age=[1, 2, 3], size=[3, 4, 4]))
    assert [note for note in release.notes if "is unchanged" in note] == [
        "column 'age' is unchanged: 0.05 of its values is less than one rank",
        "column 'size' is unchanged: 0.05 of its values is less than one rank",
    ]


@pytest.mark.parametrize("share", [0, -0.1, 1.01, float("nan"), float("inf"), "much"])
def test_a_share_that_is_none_is_refused(share: Any) -> None:
    with pytest.raises(InputError, match=r"share is|share must be"):
        RankSwapping(share=share)


@pytest.mark.parametrize("columns", ["age", ()])
def test_columns_must_be_a_tuple_of_names(columns: Any) -> None:
    with pytest.raises(InputError, match="Pass a tuple of column names, or None for all"):
        RankSwapping(columns=columns)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (("agee",), "Did you mean 'age'"),
        (("person_id",), "column 'person_id' is a direct identifier and is not released, so it"),
    ],
)
def test_columns_that_cannot_be_swapped_are_refused(columns: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        RankSwapping(columns=columns).apply(people(), rng=np.random.default_rng(1))
