"""Complementary suppression: hide further counts until every small one has another value that fits."""

from dataclasses import dataclass, field

import numpy as np

from unveil._kernels.counts.moves import cheapest_move
from unveil._kernels.counts.solver import Budget
from unveil._kernels.types import BoolArray, IntArray
from unveil.data.counts.system import CountSystem
from unveil.errors import InputError, whole_number

#: What a step of a cell costs that is hidden anyway.
_FREE = 0.001


@dataclass(frozen=True, eq=False)
class HiddenCounts:
    """Which cells are hidden, and the small ones for which it is proven that hiding alone does not help.

    ``is_hidden`` and ``is_helpless`` have one entry for each cell; ``is_undecided`` those for which the budget did not
    suffice.
    """

    is_hidden: BoolArray = field(repr=False)
    is_helpless: BoolArray = field(repr=False)
    is_undecided: BoolArray = field(repr=False)
    programs: int


@dataclass(frozen=True, kw_only=True)
class HideCounts:
    """A holder who hides all counts from 1 to minimum - 1, and others so that none of these can be worked out.

    One symbol stands for all that is hidden, and zeros are shown: whoever knows that knows each hidden count to be at
    least 1. For every small count another population is made in which it differs, at the least loss of other counts;
    all that differs there is hidden. Greedy, so not the least that suffices.

    Attributes
    ----------
    minimum
        Counts from 1 to one less are small.
    work
        Steps that the solver may take in all.
    """

    minimum: int = 5
    work: int = 1_000_000

    def __post_init__(self) -> None:
        whole_number(self.minimum, "the minimum", least=2)
        whole_number(self.work, "work", least=1)

    def apply(self, system: CountSystem, counts: IntArray) -> HiddenCounts:
        """Return what to hide of tables whose true counts are known, what is hidden already included."""
        rows = system.arrays.rows
        if not rows.hold(counts):
            raise InputError("true counts must add up, but do not. Pass those of the records behind the tables")
        listed = np.zeros(system.number, np.bool_)
        listed[system.cell] = True
        small = listed & (counts >= 1) & (counts < self.minimum)
        hidden = (listed & system.is_hidden) | small
        # A zero that is shown stays one; what no table lists may be anything.
        least = np.where(listed & (counts > 0), 1, 0)
        movable = ~listed | (counts > 0)
        budget = Budget(self.work)
        differs, helpless, undecided = (np.zeros(system.number, np.bool_) for _ in range(3))
        order = np.flatnonzero(small)
        for cell in order[np.argsort(counts[order], kind="stable")].tolist():
            if differs[cell]:
                continue
            if budget.is_spent:
                undecided[cell] = True
                continue
            cost = np.where(hidden | ~listed, _FREE, 1 + np.log1p(counts))
            moves = [
                move
                for sign in (1, -1)
                if (move := cheapest_move(rows, counts, least, movable, cost, cell, sign, budget)) is not None
            ]
            if not moves:
                helpless[cell] = True
                continue
            best = min(moves, key=lambda move: float(cost[move != 0].sum()))
            hidden |= (best != 0) & listed
            differs |= best != 0
        return HiddenCounts(hidden, helpless, undecided, budget.linear)


def known_counts(system: CountSystem) -> IntArray | None:
    """Return the count of every cell where tables show enough to know them all, else None.

    >>> from unveil.data.counts import read_counts
    >>> from unveil.data.counts.system import system_of
    >>> known_counts(system_of(read_counts([{"ward": ["N", "S"], "count": ["2", "7"]}]))).tolist()
    [9, 2, 7]
    """
    from unveil._kernels.counts.propagate import propagate

    if not system.released.is_shown.all():
        return None
    low, high = system.told(())
    if (low > high).any():
        return None
    found = propagate(system.arrays.rows, low, high)
    return found.low if found.conflict < 0 and (found.low == found.high).all() else None
