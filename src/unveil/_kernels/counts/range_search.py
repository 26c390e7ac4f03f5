"""Track cell bounds during the search, with the values already seen in tables."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.counts.rows import NO_END
from unveil._kernels.types import BoolArray, IntArray


@dataclass(eq=False)
class CellEnds:
    """Bounds of the cells of one block during the search, and the least and greatest values seen in a table."""

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
        """Return ends as they are told, of which no table has shown anything yet."""
        zeros = np.zeros(low.size, np.int64)
        return cls(low.copy(), high.copy(), np.full(low.size, NO_END), zeros - 1, zeros, zeros.copy())

    def take(self, world: IntArray) -> None:
        """Remember the values of a table that fits."""
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
    """The cells of a block whose ranges are searched, and the width from which the rest does not matter.

    ``enough`` is None where every end is wanted exactly; ``from_start`` is whether tables that are found by lot are
    looked for beyond it neither.
    """

    cells: BoolArray
    enough: int | None = None
    from_start: bool = False

    def of(self, ends: CellEnds) -> BoolArray:
        """Return which cells are not settled for good by the values that tables have shown already."""
        if self.enough is None:
            return self.cells
        many = (ends.worlds > 0) & (ends.seen_high - ends.seen_low + 1 > self.enough)
        return self.cells & ~many
