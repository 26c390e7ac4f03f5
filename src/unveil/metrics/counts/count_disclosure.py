"""Disclosure of suppressed cells, from their feasibility intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil._kernels.counts.rows import SparseRows
from unveil._kernels.types import BoolArray, IntArray
from unveil.guesses.cell_intervals import CellIntervals
from unveil.metrics._listing import metric

#: More cells are not compared with one another: those of one detail share no people anyway.
_MOST_COMPARED = 2_000


@dataclass(frozen=True, kw_only=True)
class CellDisclosure:
    """Disclosure of suppressed cells.

    Attributes
    ----------
    suppressed
        Counts that tables list without their value.
    recovered
        Of them those with one value left.
    small_cells_recovered
        Of these those from 1 to minimum - 1.
    approximate
        Suppressed cells with two values left or a few more, but no more than were asked for.
    known_small
        Suppressed cells, not recovered, that are known to lie from 1 to minimum - 1 although no symbol said so.
    small_by_differencing
        Counts from 1 to minimum - 1 that no table lists and that follow from those that are listed.
    unlisted_recovered
        All counts that no table lists, no adding of values gives, and that have one value left.
    people
        People in the small counts that are recovered, listed or not, each counted once: at least this many.
    undecided, unlisted_undecided
        Hidden and unlisted counts of which the work did not suffice to say whether they can be recovered.
    approximate_undecided
        Suppressed cells, not recovered, of which it did not suffice to say whether they are narrow.
    remaining_uncertainty
        The mean share of doubt that is left, in bits: 1 nothing learned, 0 everything recovered; over the suppressed
        cells that are given within a finite range of more than one value, NaN if there are none.
    guessing
        Suppressed cells that guessing blindly within what is given gets right, on average; NaN where nothing is given.
    ends, proven
        Ends of suppressed cells, and those of them that a population attains.
    """

    suppressed: int
    recovered: int
    small_cells_recovered: int
    approximate: int
    known_small: int
    small_by_differencing: int
    unlisted_recovered: int
    people: int
    undecided: int
    unlisted_undecided: int
    approximate_undecided: int
    remaining_uncertainty: float
    guessing: float
    ends: int
    proven: int

    @property
    def recovered_rate(self) -> float:
        """Share of suppressed cells that are recovered; NaN if none is suppressed."""
        return self.recovered / self.suppressed if self.suppressed else math.nan

    @property
    def small(self) -> int:
        """Number of small cells recovered, listed in a table or not."""
        return self.small_cells_recovered + self.small_by_differencing


def cell_disclosure(
    guess: CellIntervals, *, codes: IntArray, leaves: Sequence[Sequence[int]], minimum: int, values: int = 3
) -> CellDisclosure:
    """Return the disclosure of suppressed cells from their feasibility intervals.

    ``codes`` and ``leaves`` say which cells share people.

    Parameters
    ----------
    guess
        The range of each cell.
    codes
        For each cell the number of its code in each variable.
    leaves
        For each variable and code the leaves that it stands for, as the bits of a number.
    minimum
        Counts from 1 to one less are small.
    values
        The most values of a range that is narrow.

    Examples
    --------
    >>> guess = CellIntervals(told_low=[1, 1, 5], told_high=[4, 4, 5], low=[3, 1, 5], high=[3, 2, 5],
    ...                     is_proven=[True] * 3, seen_low=[3, 1, 5], seen_high=[3, 2, 5],
    ...                     is_hidden=[True, True, False], is_unlisted=[False] * 3)
    >>> found = cell_disclosure(guess, codes=np.array([[1], [2], [0]]), leaves=[(3, 1, 2)], minimum=5)
    >>> found.recovered, found.small_cells_recovered, found.people, found.approximate, found.guessing
    (1, 1, 3, 1, 0.5)
    """
    hidden, out = guess.is_hidden, guess.is_recovered
    small = (guess.low >= 1) & (guess.low < minimum) & (guess.low == guess.high)
    unlisted = guess.is_unlisted & (guess.low == guess.high)
    within = (guess.low >= 1) & (guess.high < minimum)
    told_small = (guess.told_low >= 1) & (guess.told_high < minimum)
    few = hidden & ~out & (guess.values <= values)
    unsure = ~guess.is_settled
    wide = guess.has_more_than(values)
    named = small & (out | unlisted)
    return CellDisclosure(
        suppressed=int(hidden.sum()),
        recovered=int(out.sum()),
        small_cells_recovered=int((out & small).sum()),
        approximate=int(few.sum()),
        known_small=int((hidden & ~out & within & ~told_small).sum()),
        small_by_differencing=int((unlisted & small).sum()),
        unlisted_recovered=int(unlisted.sum()),
        people=people_once(guess.low, codes, leaves, np.flatnonzero(named)),
        undecided=int((hidden & unsure).sum()),
        unlisted_undecided=int((guess.is_unlisted & unsure).sum()),
        approximate_undecided=int((hidden & ~out & ~few & ~wide & ~guess.is_proven).sum()),
        remaining_uncertainty=remaining_uncertainty(guess),
        guessing=_guessed(guess, hidden),
        ends=2 * int(hidden.sum()),
        proven=_proven_ends(guess, hidden),
    )


def people_once(counts: IntArray, codes: IntArray, leaves: Sequence[Sequence[int]], cells: IntArray) -> int:
    """Return the least number of people in cells, subtotals counted once.

    Cells that share no people are taken one after the other, the largest count first, so the sum is of different
    people.

    >>> people_once(np.array([4, 3, 1]), np.array([[0], [1], [2]]), [(3, 1, 2)], np.arange(3))
    4
    """
    if cells.size > _MOST_COMPARED:
        return _of_one_detail(counts, codes, leaves, cells)
    apart = [
        np.array([[one & other == 0 for other in own] for one in own], np.bool_) if codes[cells, at].any() else None
        for at, own in enumerate(leaves)
    ]
    order = cells[np.lexsort((cells, -counts[cells]))]
    taken = np.zeros((0, codes.shape[1]), np.int64)
    total = 0
    for cell in order.tolist():
        shares = np.ones(taken.shape[0], np.bool_)
        for at, disjoint in enumerate(apart):
            if disjoint is not None:
                shares &= ~disjoint[codes[cell, at], taken[:, at]]
        if not shares.any():
            total += int(counts[cell])
            taken = np.vstack([taken, codes[cell]])
    return total


def _of_one_detail(counts: IntArray, codes: IntArray, leaves: Sequence[Sequence[int]], cells: IntArray) -> int:
    """Return the most people in disjoint leaf cells of the same variables."""
    single = np.ones(cells.size, np.bool_)
    for at, own in enumerate(leaves):
        is_leaf = np.array([code == 0 or bits.bit_count() == 1 for code, bits in enumerate(own)], np.bool_)
        single &= is_leaf[codes[cells, at]]
    _, detail = np.unique(codes[cells[single]] > 0, axis=0, return_inverse=True)
    sums = np.bincount(detail.ravel(), weights=counts[cells[single]])
    return int(sums.max(initial=0))


@metric(
    category="counts", per="release", more_means="less private", bounds=(0.0, 1.0), source="Zayatz (1992)",
    chance_of_success=True,
)  # fmt: skip
def recovered_rate(guess: CellIntervals) -> float:
    """Return the share of suppressed cells that are recovered, 0 to 1.

    Formula: ``worked out / hidden``, each cell once. 0 means that no suppressed cell follows from what is shown; 1
    means that all do. No range is too narrow, so it can only be too low, where ranges are not proven. NaN where no
    count is hidden.

    >>> recovered_rate(CellIntervals(told_low=[1, 1], told_high=[4, 4], low=[3, 1], high=[3, 2], is_proven=[True] * 2,
    ...                            seen_low=[3, 1], seen_high=[3, 2], is_hidden=[True] * 2, is_unlisted=[False] * 2))
    0.5
    """
    hidden = int(guess.is_hidden.sum())
    return int(guess.is_recovered.sum()) / hidden if hidden else math.nan


@metric(
    category="counts",
    per="release",
    more_means="more private",
    bounds=(0.0, 1.0),
    source="unveil, docs/how-to/published-tables.md",
)
def remaining_uncertainty(guess: CellIntervals) -> float:
    """Return the mean uncertainty left about suppressed cells, in bits over given bits.

    Formula: the mean of ``log2(values left) / log2(values told)`` over suppressed cells that are given within a finite
    range of more than one value. 0 means that all of these are recovered; 1 means that nothing was learned. NaN where
    no suppressed cell is given within such a range.

    >>> guess = CellIntervals(told_low=[1, 1], told_high=[4, 4], low=[3, 1], high=[3, 2], is_proven=[True] * 2,
    ...                       seen_low=[3, 1], seen_high=[3, 2], is_hidden=[True] * 2, is_unlisted=[False] * 2)
    >>> remaining_uncertainty(guess)
    0.25
    """
    known = guess.is_hidden & np.isfinite(guess.values_told) & (guess.values_told > 1)
    if not known.any():
        return math.nan
    return float(np.mean(np.log2(guess.values[known]) / np.log2(guess.values_told[known])))


def _guessed(guess: CellIntervals, hidden: BoolArray) -> float:
    known = hidden & np.isfinite(guess.values_told)
    return float((1 / guess.values_told[known]).sum()) if known.any() else math.nan


def _proven_ends(guess: CellIntervals, hidden: BoolArray) -> int:
    low = guess.is_proven | (guess.seen_low == guess.low)
    high = guess.is_proven | (guess.seen_high == guess.high)
    seen = guess.seen_high >= guess.seen_low
    return int((hidden & low & seen).sum() + (hidden & high & seen).sum())


# Groups whose members all share a code, so that membership of the group discloses it.


class SharedCode(NamedTuple):
    """A group with one possible code of a variable: the cells involved."""

    group: int
    cell: int
    variable: int


def shared_codes(
    rows: SparseRows, low: IntArray, high: IntArray, codes: IntArray, impossible: BoolArray | None = None
) -> list[SharedCode]:
    """Return non-empty groups in which all parts but one are empty.

    Groups whose empty parts are all ``impossible`` by what the codes mean are left out: everyone knows of these.

    The whole population is no group, and what is told of a variable must not be part of the group already. Groups come
    in the order of their size; one that several sums show is there once.

    >>> from unveil._kernels.counts.rows import rows_of
    >>> rows = rows_of([(np.array([[0, 1, 2]]), np.array([1, -1, -1]))], 3)
    >>> shared_codes(rows, np.array([4, 0, 4]), np.array([4, 0, 4]), np.array([[1, 0], [1, 1], [1, 2]]))
    [SharedCode(group=0, cell=2, variable=1)]
    """
    if not rows.number:
        return []
    parent = rows.cell[rows.start[:-1]]
    can = high[rows.cell] > 0
    can[rows.start[:-1]] = False
    left = np.add.reduceat(can.astype(np.int64), rows.start[:-1])
    told = np.zeros(rows.cell.size, np.int64) if impossible is None else impossible[rows.cell].astype(np.int64)
    parts = np.diff(rows.start) - 1 - np.add.reduceat(told, rows.start[:-1])
    found: dict[tuple[int, int], SharedCode] = {}
    for row in np.flatnonzero((left == 1) & (parts > 1) & (low[parent] >= 1) & codes[parent].any(axis=1)).tolist():
        entries = np.arange(rows.start[row], rows.start[row + 1])
        cell = int(rows.cell[entries[can[entries]][0]])
        group = int(parent[row])
        variable = int(np.flatnonzero(codes[cell] != codes[group])[0])
        if codes[group, variable] == 0:
            found.setdefault((group, variable), SharedCode(group, cell, variable))
    return sorted(found.values(), key=lambda each: (int(low[each.group]), each.group, each.variable))
