"""The order of cells in which they are merged, beside a sort of Python's by the three keys."""

import numpy as np
import pytest

from unveil._kernels._compile import compiled
from unveil._kernels.partitions import unlinkability
from unveil._kernels.partitions.unlinkability import order_cells


@pytest.mark.parametrize("seed", range(4))
def test_cells_are_ordered_by_cost_then_foreign_then_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Rows of one cell, of a few, and of more than are compared each with each; few different numbers, so many ties.
    start = np.concatenate([[0], np.cumsum(rng.choice([1, 2, 7, unlinkability._RUN, unlinkability._RUN + 1, 90], 40))])
    own, foreign = rng.integers(1, 5, start[-1]), rng.integers(0, 5, start[-1])
    own_total = np.add.reduceat(own, start[:-1])
    missed, mixed = np.array([0, 1, 2, 3])[rng.integers(0, 4, 40)], rng.integers(0, 3, 40)
    mixed[missed == 0] += 1
    expected, ties = [], []
    for r in range(40):
        cost = missed[r] * (own_total[r] - own) + mixed[r] * foreign
        cells = range(start[r], start[r + 1])
        expected += sorted(cells, key=lambda k: (cost[k], foreign[k], -own[k]))
        ties.append(int((cost[start[r] : start[r + 1]] == cost[expected[start[r]]]).sum()))
    room = int(max(own_total.max(), foreign.max())) + 1
    given = (start, own, foreign, own_total, missed, mixed)
    for told in (room, 0):
        order, tied = order_cells(*given, told)
        assert order.tolist() == expected
        assert tied.tolist() == ties
        order[:], tied[:] = -1, -1
        compiled(unlinkability._order.__wrapped__)(*given, told, order, tied)  # type: ignore[attr-defined]
        assert order.tolist() == expected
        assert tied.tolist() == ties
