"""Track cell bounds during the search, with the values already seen in tables."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.counts.rows import NO_END, SparseRows
from unveil._kernels.types import BoolArray, IntArray


@dataclass(eq=False)
class CellEnds:
    """Bounds of one block's cells, and values seen in tables."""

    low: IntArray
    high: IntArray
    seen_low: IntArray
    seen_high: IntArray
    #: How each end was found.
    low_by: IntArray
    high_by: IntArray
    worlds: int = 0

    @classmethod
    def of(cls, low: IntArray, high: IntArray) -> "CellEnds":
        """Return initial bounds, without seen values."""
        zeros = np.zeros(low.size, np.int64)
        return cls(low.copy(), high.copy(), np.full(low.size, NO_END), zeros - 1, zeros, zeros.copy())

    def take(self, world: IntArray) -> None:
        """Record the values of a feasible table."""
        self.worlds += 1
        np.minimum(self.seen_low, world, out=self.seen_low)
        np.maximum(self.seen_high, world, out=self.seen_high)

    @property
    def open_low(self) -> BoolArray:
        """Of which cells no table attains the low end yet."""
        return self.seen_low > self.low

    @property
    def open_high(self) -> BoolArray:
        """Of which cells no table attains the high end yet."""
        return self.seen_high < self.high


@dataclass(frozen=True, kw_only=True)
class RangeQuery:
    """Searched cells of a block, and the sufficient width.

    ``enough`` is None where every end is wanted exactly; ``from_start`` is whether tables that are found by lot are
    looked for beyond it neither.
    """

    cells: BoolArray
    enough: int | None = None
    from_start: bool = False

    def of(self, ends: CellEnds) -> BoolArray:
        """Return the cells not settled by seen values."""
        if self.enough is None:
            return self.cells
        many = (ends.worlds > 0) & (ends.seen_high - ends.seen_low + 1 > self.enough)
        return self.cells & ~many


# Ways to make a table larger that are seen from the sums alone: no program is solved, however many cells there are.


def grow_together(rows: SparseRows, high: IntArray, room: IntArray) -> IntArray:
    """Return the joint growth of cells under all sums, else 0.

    Every cell that is no sum of others grows by its ``room``, unless something above it has an upper end; every sum
    grows by what its parts grow. The result is checked against all rows, so a table plus it fits again where no cell
    passes its upper end; and where no growing cell has one, the table plus any multiple.

    >>> from unveil._kernels.counts.rows import rows_of
    >>> rows = rows_of([(np.array([[0, 1, 2]]), np.array([1, -1, -1]))], 3)
    >>> grow_together(rows, np.array([NO_END, NO_END, 4]), np.array([1, 1, 3])).tolist()
    [4, 1, 3]
    >>> grow_together(rows, np.array([9, NO_END, NO_END]), np.ones(3, np.int64)).tolist()
    [0, 0, 0]
    """
    nothing = np.zeros(rows.cells, np.int64)
    is_whole, is_part = rows.coefficient == 1, rows.coefficient == -1
    is_sum = (rows.least == rows.most) & (_number(rows, is_whole) == 1)
    is_sum &= _number(rows, is_whole | is_part) == np.diff(rows.start)
    wholes = np.full(rows.number, -1, np.int64)
    wholes[rows.of_entry[is_whole]] = rows.cell[is_whole]
    of_parts = np.flatnonzero(is_part & is_sum[rows.of_entry])
    part, row = rows.cell[of_parts], rows.of_entry[of_parts]
    above = wholes[row]
    is_above = np.zeros(rows.cells, np.bool_)
    is_above[wholes[is_sum]] = True
    grows = np.where(is_above, high >= NO_END, room > 0)
    grows[rows.cell[~is_sum[rows.of_entry]]] = False
    while (lost := grows[part] & ~grows[above]).any():
        grows[part[lost]] = False
    step = np.where(grows & ~is_above, room, nothing)
    while True:
        sums = np.zeros(rows.number, np.int64)
        np.add.at(sums, row, step[part])
        found = step.copy()
        np.maximum.at(found, wholes[is_sum], sums[is_sum])
        if (found == step).all():
            break
        step = found
    return nothing if rows.sums(step).any() else step


def lowest_world(rows: SparseRows, ends: CellEnds) -> IntArray | None:
    """Return the table of lower ends if feasible, else None.

    Also takes the table with every cell at its high end that nothing above keeps from it, and marks cells without end.
    """
    world = ends.low.copy()
    if not rows.hold(world):
        return None
    ends.take(world)
    free = ends.high >= NO_END
    step = grow_together(rows, ends.high, np.where(free, 0, ends.high - world))
    if (world + step <= ends.high).all():
        ends.take(world + step)
    step = grow_together(rows, ends.high, free.astype(np.int64))
    if not step[~free].any():
        ends.seen_high[step > 0] = NO_END
    return world


def _number(rows: SparseRows, entries: BoolArray) -> IntArray:
    return np.bincount(rows.of_entry[entries], minlength=rows.number)
