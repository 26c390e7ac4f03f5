"""Feasibility intervals of cells of published tables."""

from dataclasses import dataclass, field

import numpy as np

from unveil._kernels.counts.rows import NO_END
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError


@dataclass(frozen=True, eq=False, kw_only=True)
class CellIntervals:
    """Feasibility interval of every cell, with given bounds and certainty.

    Attributes
    ----------
    told_low, told_high
        What the tables tell of a cell by itself; NO_END (2^42) without an upper end.
    low, high
        The least and the greatest count over all populations that agree with everything told. Never too narrow; too
        wide only where ``is_proven`` does not hold.
    is_proven
        Whether some population attains both ends.
    seen_low, seen_high
        The least and greatest count in the populations that were found: what a cell can be for sure.
    is_hidden, is_unlisted
        Which cells the tables list without their value, and which they do not list at all.

    Examples
    --------
    >>> one = CellIntervals(told_low=[0], told_high=[9], low=[2], high=[2], is_proven=[True], seen_low=[2],
    ...                     seen_high=[2], is_hidden=[True], is_unlisted=[False])
    >>> one.is_recovered.tolist()
    [True]
    """

    told_low: IntArray = field(repr=False)
    told_high: IntArray = field(repr=False)
    low: IntArray = field(repr=False)
    high: IntArray = field(repr=False)
    is_proven: BoolArray = field(repr=False)
    seen_low: IntArray = field(repr=False)
    seen_high: IntArray = field(repr=False)
    is_hidden: BoolArray = field(repr=False)
    is_unlisted: BoolArray = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("told_low", "told_high", "low", "high", "seen_low", "seen_high"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), np.int64))
        for name in ("is_proven", "is_hidden", "is_unlisted"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), np.bool_))
        if (self.low > self.high).any():
            cell = int(np.flatnonzero(self.low > self.high)[0])
            raise InputError(f"Cell {cell}: the lower bound is above the upper bound. Swap them")

    @property
    def is_recovered(self) -> BoolArray:
        """Which suppressed cells have one value left."""
        return np.asarray(self.is_hidden & (self.low == self.high), np.bool_)

    @property
    def is_settled(self) -> BoolArray:
        """Cells known to be recovered or not."""
        return np.asarray((self.low == self.high) | self.has_more_than(1), np.bool_)

    @property
    def values(self) -> FloatArray:
        """How many values each cell can have, infinite without an upper end."""
        return np.where(self.high >= NO_END, np.inf, self.high - self.low + 1.0)

    @property
    def values_told(self) -> FloatArray:
        """Number of values that given bounds allow, possibly infinite."""
        return np.where(self.told_high >= NO_END, np.inf, self.told_high - self.told_low + 1.0)

    def has_more_than(self, values: int) -> BoolArray:
        """Return the cells shown to have more values than this."""
        more = self.seen_high - self.seen_low + 1 > values
        return np.asarray((self.seen_high >= self.seen_low) & more, np.bool_)


# Records that an attacker believes to exist: combinations of codes, the surest first.


@dataclass(frozen=True, eq=False, kw_only=True)
class RankedRecords:
    """Records as combinations of codes, most confident first.

    Attributes
    ----------
    cells
        The number of the cell of each combination, the surest first; ties are broken at random.
    confidence
        How sure the attacker is, in any unit: it ranks, and is no probability.
    is_certain
        Whether a person must have each: it is so in every population that fits.

    Examples
    --------
    >>> RankedRecords(cells=[4, 2], confidence=[1.0, 0.5], is_certain=[True, False]).cells.tolist()
    [4, 2]
    """

    cells: IntArray = field(repr=False)
    confidence: FloatArray = field(repr=False)
    is_certain: BoolArray = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", np.asarray(self.cells, np.int64))
        object.__setattr__(self, "confidence", np.asarray(self.confidence, np.float64))
        object.__setattr__(self, "is_certain", np.asarray(self.is_certain, np.bool_))
        if not self.cells.size == self.confidence.size == self.is_certain.size:
            raise InputError(
                f"{self.cells.size} records come with {self.confidence.size} confidences and {self.is_certain.size} "
                "certainties. Pass one of each per record"
            )

    @classmethod
    def by(
        cls, cells: IntArray, confidence: FloatArray, is_certain: BoolArray, *, rng: np.random.Generator
    ) -> "RankedRecords":
        """Return records by certainty, confidence, and then at random."""
        order = np.lexsort((rng.random(cells.size), -confidence, ~is_certain))
        return cls(cells=cells[order], confidence=confidence[order], is_certain=is_certain[order])
