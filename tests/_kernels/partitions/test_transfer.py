"""The heaviest pairing: both ways of finding it against each other and against all pairings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.oracles import partition_distances as oracle
from unveil._kernels._compile import PLAIN_UP_TO
from unveil._kernels.partitions.transfer import _by_levels, _by_scipy, _heaviest_first, heaviest_cells
from unveil._kernels.types import BoolArray, Int32Array, IntArray

Table = tuple[Int32Array, Int32Array, IntArray, int, int]

#: Mostly small weights, so that there are ties, and some large ones.
WEIGHTS = st.one_of(st.integers(1, 3), st.integers(1, 12), st.integers(1, 10**6))


def table(cells: dict[tuple[int, int], int]) -> Table:
    """Return the cells as arrays, in the order in which they come, with no row or column left empty."""
    rows, columns = (sorted({cell[axis] for cell in cells}) for axis in (0, 1))
    row = np.array([rows.index(r) for r, _ in cells], np.int32)
    column = np.array([columns.index(c) for _, c in cells], np.int32)
    return row, column, np.array(list(cells.values()), np.int64), len(rows), len(columns)


def table_of_labels(truth: IntArray, guess: IntArray) -> Table:
    cells, count = np.unique(np.stack([truth, guess]), axis=1, return_counts=True)
    row, column = (np.unique(line, return_inverse=True)[1].astype(np.int32) for line in cells)
    return row, column, count, int(row.max()) + 1, int(column.max()) + 1


def weight_of(chosen: BoolArray, row: Int32Array, column: Int32Array, weight: NDArray[np.integer]) -> int:
    """Return what the chosen cells weigh together, and see that they are a choice that is allowed."""
    assert np.unique(row[chosen]).size == np.unique(column[chosen]).size == int(chosen.sum())
    return int(weight[chosen].sum())


def heaviest(row: Int32Array, column: Int32Array, weight: IntArray, rows: int, columns: int) -> int:
    return weight_of(heaviest_cells(row, column, weight, rows, columns), row, column, weight)


def by_scipy(row: Int32Array, column: Int32Array, weight: IntArray, rows: int, columns: int) -> int:
    return weight_of(_by_scipy(row, column, weight, rows, columns), row, column, weight)


def by_levels(row: Int32Array, column: Int32Array, weight: IntArray, rows: int, columns: int) -> int:
    first_row, first_column, first_weight, place = _heaviest_first(row, column, weight, rows, columns)
    chosen = _by_levels(first_row, first_column, first_weight, rows, columns)
    assert (weight[place] == first_weight).all()
    return weight_of(chosen, first_row, first_column, first_weight)


@given(st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 5)), WEIGHTS, min_size=1))
def test_both_ways_find_the_best_of_all_pairings(cells: dict[tuple[int, int], int]) -> None:
    small = table(cells)
    best = oracle.heaviest_pairing({(int(r), int(c)): int(w) for r, c, w in zip(*small[:3], strict=True)}, *small[3:])
    assert heaviest(*small) == best
    assert by_scipy(*small) == best
    assert by_levels(*small) == best


@given(st.integers(2, 40), st.integers(2, 40), st.integers(1, 200), st.integers(1, 30), st.integers(0, 2**32))
def test_levels_agree_with_scipy_where_there_are_too_many_pairings(
    rows: int, columns: int, cells: int, heaviest: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    place = zip(rng.integers(0, rows, cells).tolist(), rng.integers(0, columns, cells).tolist(), strict=True)
    medium = table(dict(zip(place, rng.integers(1, heaviest, cells, endpoint=True).tolist(), strict=True)))
    assert by_levels(*medium) == by_scipy(*medium)


def test_cells_come_heaviest_first_with_lines_in_order_of_appearance() -> None:
    row, column, weight, _ = _heaviest_first(
        np.array([0, 0, 1, 2], np.int32), np.array([0, 1, 2, 1], np.int32), np.array([1, 5, 9, 5]), 3, 3
    )
    assert weight.tolist() == [9, 5, 5, 1]
    assert row.tolist() == [0, 1, 2, 1]
    assert column.tolist() == [0, 1, 1, 2]


def test_a_greedy_choice_must_be_undone() -> None:
    # The heaviest cell is not in the best pairing, and each later level has to change the pairs of the one before.
    assert by_levels(*table({(0, 0): 5, (0, 1): 4, (1, 0): 4, (1, 2): 1, (2, 1): 2, (2, 2): 1})) == 4 + 4 + 1


@pytest.mark.parametrize("kind", ["uniform", "resolved", "growing", "skewed", "wide"])
def test_large_tables_agree_with_scipy(kind: str) -> None:
    rng = np.random.default_rng(20)
    n = 40_000
    truth, guess = rng.integers(0, n // 8, n), rng.integers(0, n // 8, n)
    if kind == "resolved":
        truth = rng.integers(0, n // 3, n)
        guess = np.where(rng.random(n) < 0.5, truth, guess)
    elif kind == "growing":
        truth, guess = ((rng.random(n) * np.arange(1, n + 1)).astype(np.int64) for _ in range(2))
    elif kind == "skewed":
        truth, guess = ((3 / (1e-4 + rng.random(n))).astype(np.int64) + rng.integers(0, 300, n) for _ in range(2))
    elif kind == "wide":
        truth = rng.integers(0, 100, n)
    large = table_of_labels(truth, guess)
    assert large[2].size > PLAIN_UP_TO
    assert heaviest(*large) == by_scipy(*large)
    assert heaviest(large[1], large[0], large[2], large[4], large[3]) == by_scipy(*large)
