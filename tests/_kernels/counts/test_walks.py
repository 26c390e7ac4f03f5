"""Tables found by walking: each fits every sum, and cells that have one value in all tables never show another."""

import numpy as np
import pytest

from unveil._kernels.counts import walks
from unveil._kernels.counts.blocks import blocks
from unveil._kernels.counts.propagate import propagate
from unveil._kernels.counts.range_search import CellEnds, RangeQuery
from unveil._kernels.counts.rows import NO_END, SparseRows
from unveil._kernels.counts.solve import solve
from unveil._kernels.counts.solver import Budget
from unveil._kernels.types import IntArray
from unveil.data.counts.system import cell_arrays


def three_way(seed: int, side: int) -> tuple[SparseRows, IntArray, IntArray]:
    """Return the rows of a three-way table, and ends that hide every small inner count."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(3, (side,) * 3)
    for axis in range(3):
        counts = np.concatenate([counts.sum(axis=axis, keepdims=True), counts], axis=axis)
    sums = [(0, tuple(range(1, side + 1)))]
    made = cell_arrays([(0, 1, 2)], [side + 1] * 3, [sums] * 3)
    value = counts.ravel()
    hidden = (made.codes > 0).all(axis=1) & (value < 4)
    return made.rows, np.where(hidden, 0, value), np.where(hidden, NO_END, value)


@pytest.mark.parametrize("seed", range(3))
def test_what_walks_show_lies_within_the_exact_ranges(seed: int) -> None:
    rows, low, high = three_way(seed, 4)
    hidden = low < high
    exact = solve(rows, low, high, hidden, budget=Budget(10**7), rng=np.random.default_rng(0))
    assert exact.proven[hidden].all()
    sums = propagate(rows, low, high)
    shown = 0
    for block in blocks(rows, sums.low, sums.high):
        if block.cells.size < 2:
            continue
        ends = CellEnds.of(sums.low[block.cells], sums.high[block.cells])
        wanted = RangeQuery(cells=np.ones(block.cells.size, np.bool_), enough=1)
        walks.find_by_walking(block.rows, ends, wanted, Budget(10**6), np.random.default_rng(seed))
        assert ends.worlds
        assert (ends.seen_low >= exact.low[block.cells]).all()
        assert (ends.seen_high <= exact.high[block.cells]).all()
        shown += int((ends.seen_high > ends.seen_low).sum())
    assert shown >= 0.9 * (exact.low < exact.high).sum()


def test_the_same_draws_give_the_same_tables_compiled_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, low, high = three_way(0, 4)
    sums = propagate(rows, low, high)
    block = blocks(rows, sums.low, sums.high)[-1]
    found = []
    for plain in (10**9, 0):
        monkeypatch.setattr(walks, "PLAIN_UP_TO", plain)
        ends = CellEnds.of(sums.low[block.cells], sums.high[block.cells])
        wanted = RangeQuery(cells=np.ones(block.cells.size, np.bool_), enough=1)
        walks.find_by_walking(block.rows, ends, wanted, Budget(300), np.random.default_rng(1))
        found.append((ends.worlds, ends.seen_low.tolist(), ends.seen_high.tolist()))
    assert found[0] == found[1]
