"""Feasibility intervals of a system: propagation, then blockwise solver."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unveil._kernels.counts.blocks import CellBlock, blocks
from unveil._kernels.counts.ends import NoWorldError, find_ends
from unveil._kernels.counts.propagate import PropagatedBounds, propagate
from unveil._kernels.counts.range_search import CellEnds, RangeQuery
from unveil._kernels.counts.rows import SparseRows
from unveil._kernels.counts.solver import LARGEST_PROGRAM, Budget
from unveil._kernels.counts.walks import find_by_walking
from unveil._kernels.types import BoolArray, IntArray


class ContradictionError(Exception):
    """Contradictory cells; ``row`` is an infeasible sum, ``cells`` a block.

    ``row`` is -1 where it takes several sums together.
    """

    def __init__(self, row: int = -1, cells: IntArray | None = None) -> None:
        super().__init__("no table fits")
        self.row = row
        self.cells = np.zeros(0, np.int64) if cells is None else cells


@dataclass(frozen=True, eq=False)
class Solution:
    """Interval of every cell, attainment, method, and propagation-only bounds.

    ``low_by`` and ``high_by`` are the codes of :mod:`unveil._kernels.counts.ends`. Cells that were not wanted keep the
    ends that sums give, which are true and perhaps too wide. ``seen_low`` and ``seen_high`` are the least and greatest
    values of a cell in the tables that were found: between them lies nothing that could be left out.
    """

    low: IntArray
    high: IntArray
    low_attained: BoolArray
    high_attained: BoolArray
    low_by: IntArray
    high_by: IntArray
    seen_low: IntArray
    seen_high: IntArray
    sums: PropagatedBounds
    blocks: int
    largest_block: int

    @property
    def proven(self) -> BoolArray:
        """Of which cells both ends are attained by a table."""
        return self.low_attained & self.high_attained


def solve(
    rows: SparseRows,
    low: IntArray,
    high: IntArray,
    queried: BoolArray,
    *,
    budget: Budget,
    rng: np.random.Generator,
    enough: int | None = None,
    decide_above: int | None = None,
    deciding: int = 3,
    progress: Callable[[float], None] = lambda _: None,
) -> Solution:
    """Return the range of every wanted cell.

    Parameters
    ----------
    rows, low, high
        The sums, and what is told of each cell.
    queried
        The cells whose ends are looked for.
    enough
        From how many values on a cell's exact ends do not matter; None finds all.
    decide_above, deciding
        In blocks of more cells than this, ends matter only up to ``deciding`` values.
    progress
        Called with the share that is done.

    Raises
    ------
    ContradictionError
        If no table fits.
    """
    sums = propagate(rows, low, high)
    if sums.conflict >= 0:
        raise ContradictionError(sums.conflict)
    parts = blocks(rows, sums.low, sums.high)
    solution = _from_sums(sums, parts)
    for at, block in enumerate(parts):
        progress(at / len(parts))
        huge = block.cells.size > LARGEST_PROGRAM
        # That some table fits cannot be refuted by walking.
        if not queried[block.cells].any() or (huge and enough == 0):
            continue
        large = decide_above is not None and int(queried[block.cells].sum()) > decide_above
        limit = deciding if large and enough is None else enough
        own = RangeQuery(cells=queried[block.cells], enough=limit, from_start=enough is not None)
        try:
            ends = CellEnds.of(sums.low[block.cells], sums.high[block.cells])
            if huge:
                find_by_walking(block.rows, ends, own, budget, rng)
            else:
                ends = find_ends(block.rows, ends.low, ends.high, own, budget, rng)
        except NoWorldError as error:
            raise ContradictionError(cells=block.cells) from error
        _take(solution, block, ends)
    return solution


def _from_sums(sums: PropagatedBounds, parts: list[CellBlock]) -> Solution:
    one = sums.low == sums.high
    zeros = np.zeros(one.size, np.int64)
    return Solution(
        low=sums.low.copy(),
        high=sums.high.copy(),
        low_attained=one.copy(),
        high_attained=one.copy(),
        low_by=zeros,
        high_by=zeros.copy(),
        seen_low=np.where(one, sums.low, sums.high),
        seen_high=sums.low.copy(),
        sums=sums,
        blocks=len(parts),
        largest_block=max((block.cells.size for block in parts), default=0),
    )


def _take(solution: Solution, block: CellBlock, ends: CellEnds) -> None:
    cells = block.cells
    solution.low[cells], solution.high[cells] = ends.low, ends.high
    if ends.worlds:
        solution.low_attained[cells], solution.high_attained[cells] = ~ends.open_low, ~ends.open_high
        solution.seen_low[cells], solution.seen_high[cells] = ends.seen_low, ends.seen_high
    solution.low_by[cells], solution.high_by[cells] = ends.low_by, ends.high_by
