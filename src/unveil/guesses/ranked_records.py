"""What an adversary thinks that exists: combinations of codes, the surest first."""

from dataclasses import dataclass, field

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError


@dataclass(frozen=True, eq=False, kw_only=True)
class RankedRecords:
    """Combinations of one code of every variable, those first of which the adversary is surest that somebody has them.

    Attributes
    ----------
    cells
        The number of the cell of each combination, the surest first; ties are broken by lot.
    confidence
        How sure the adversary is, in any unit: it ranks, and is no probability.
    is_certain
        Whether somebody must have each: it is so in every population that fits.

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
                f"each of the {self.cells.size} ranked records must have a confidence and be certain or not, but there "
                f"are {self.confidence.size} and {self.is_certain.size} of these. Pass one for each"
            )

    @classmethod
    def by(
        cls, cells: IntArray, confidence: FloatArray, is_certain: BoolArray, *, rng: np.random.Generator
    ) -> "RankedRecords":
        """Return records ranked: certain ones first, then by confidence, ties by lot."""
        order = np.lexsort((rng.random(cells.size), -confidence, ~is_certain))
        return cls(cells=cells[order], confidence=confidence[order], is_certain=is_certain[order])
