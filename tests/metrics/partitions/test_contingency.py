"""The table that all measures of a partition start from."""

import gc
import weakref
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unveil._kernels import _compile
from unveil._kernels.partitions.contingency import column_crowds, overlap_sums
from unveil.guesses import Partition
from unveil.metrics.partitions._contingency import contingency

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), min_size=1, max_size=60)


@given(PAIRS)
def test_cells_are_the_counts_of_pairs(pairs: list[tuple[int, int]]) -> None:
    truth, guess = (Partition.from_labels(np.array(column)) for column in zip(*pairs, strict=True))
    table = contingency(guess, truth)
    counted = {
        (int(truth.clusters[r]), int(guess.clusters[c])): int(k)
        for r, c, k in zip(table.row, table.column, table.count, strict=True)
    }
    assert counted == Counter(pairs)
    for r in range(truth.cluster_count):
        row = table.column[table.row_start[r] : table.row_start[r + 1]]
        assert (np.diff(row) > 0).all()
    everything = np.divmod(np.arange(truth.cluster_count * guess.cluster_count), guess.cluster_count)
    found = table.find(*everything)
    assert (found >= 0).sum() == len(counted)


def test_large_tables_are_counted_by_the_compiled_loop_alike() -> None:
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 300, 40_000), rng.integers(0, 200, 40_000)
    assert rows.size > _compile.PLAIN_UP_TO
    table = contingency(Partition.from_labels(columns), Partition.from_labels(rows))
    keys, counts = np.unique(rows * 200 + columns, return_counts=True)
    np.testing.assert_array_equal(table.row.astype(np.int64) * 200 + table.column, keys)
    np.testing.assert_array_equal(table.count, counts)


def test_a_table_is_counted_once_and_goes_with_its_guess() -> None:
    truth, guess = Partition.from_labels("aabb"), Partition.from_labels("xyxy")
    table = contingency(guess, truth)
    assert contingency(guess, truth) is table
    assert contingency(guess, Partition.from_labels("abab")) is not table
    kept = weakref.ref(contingency(guess, truth))
    del table, guess
    gc.collect()
    assert kept() is None


def test_columns_know_how_many_share_them_and_how_evenly() -> None:
    cells, bits = column_crowds(np.array([0, 2, 0], np.int32), np.array([4, 1, 2]), 3)
    assert (cells.tolist(), bits.tolist()) == ([2, 0, 1], [10.0, 0.0, 0.0])


def test_identical_labels_lose_nothing() -> None:
    table = contingency(Partition.from_labels("xxyyz"), Partition.from_labels("aabbc"))
    sums = overlap_sums(table.row_start, table.column, table.count, table.row_total, table.column_total, 1)[:, 0]
    assert sums.tolist() == [0.0, 5.0, 5.0]
