"""Rank intersection: candidates within the swap window in every column."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import NamedTuple

import numpy as np

from unveil._kernels.table.rank_windows import ranking, windows_by_rank
from unveil._kernels.types import Int32Array, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.table._candidate_boxes import CandidateSets, CellCompatibility, beliefs_of_sets, empty_rows, sets_of
from unveil.attacks.table.record_linkage import check_settings
from unveil.data.table import Table, agree
from unveil.data.table.encode import MISSING, EncodedTable, encode, without_markers
from unveil.data.table.release import Knowledge
from unveil.errors import InputError, NobodyFitsError
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.candidates import Candidates
from unveil.guesses.partition import exact_fraction

#: The kinds whose values have an order that everyone knows; others are swapped in random order.
WITH_ORDER = frozenset({"number", "ordered", "date", "boolean"})


class RankedColumn(NamedTuple):
    """One column of both tables as ranks, and its window."""

    original: IntArray
    released: IntArray
    window: int


@attack(
    source='Nin, Herranz and Torra, "Rethinking rank swapping to decrease disclosure risk", 2008',
    name="intersection",
    aka=("rank-intersection", "rank-swapping-intersection"),
    example="p=10,columns=age,income",
)
@dataclass(frozen=True, kw_only=True)
class RankIntersection:
    """Intersect the windows of p percent of ranks over all columns.

    In each column the released value has a rank, and its original value one at most ``floor(p * n / 100)`` away, its
    own included; an original row must be within that window in all columns at once. All belief is on the rows that
    are. Swapping keeps the values of a column, so ranks can be counted in either table: here in the one with more of
    them. Equal values have any of their ranks, so all of them are within the window if one can be. A missing value
    stays where it is.

    The guess is valid if the window is at least the one that was used. An intersection that is empty proves that it is
    not: p is too small, or a column was not rank-swapped (or not in its own order).

    Parameters
    ----------
    p
        How far a value may have moved, in percent of the values of its column, above 0 and at most 100. It must be told
        before the attack is run: it is that of the rank swapping, if the attacker is to know it.
    columns
        The columns to intersect; None for all that both tables have, the attacker knows and that have an order.
        Others (category, text) are swapped in random order, so their ranks say nothing.

    Examples
    --------
    >>> import polars as pl
    >>> original = Table.from_frame(pl.DataFrame({"age": [20, 30, 40, 50], "income": [9, 7, 8, 6]}), name="original")
    >>> released = Table.from_frame(pl.DataFrame({"age": [30, 20], "income": [9, 6]}), name="released")
    >>> attack = RankIntersection(p=25)
    >>> guess = attack.run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1))
    >>> [mass.sets for mass in guess.each]
    [(array([0, 2]),), (array([1]),)]
    """

    p: float | None = None
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_settings(self.columns, 1, None)
        if self.p is not None and not 0 < exact_fraction(self.p, what="p") <= 100:
            raise InputError(f"p is {self.p}; it must be above 0 and at most 100 percent. Write a tenth as 10")

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Beliefs:  # noqa: ARG002
        """Return the belief in each released row's intersection.

        ``rng`` is not needed.
        """
        return beliefs_of_sets(knowledge.records.rows, self._sets(released, knowledge)[0])

    def point_guess(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Candidates:  # noqa: ARG002
        """Return the nearest original row of each intersection, ties shared.

        The distance is the sum over columns of the ranks that lie between two values, 0 for equal ones.

        >>> import polars as pl
        >>> people = Table.from_frame(pl.DataFrame({"age": [20, 30, 40, 50]}))
        >>> guess = RankIntersection(p=50).point_guess(
        ...     released=people, knowledge=Knowledge(people), rng=np.random.default_rng(1)
        ... )
        >>> guess.candidate, guess.probability
        (array([0, 1, 2, 3], dtype=int32), array([1., 1., 1., 1.]))
        """
        sets, columns = self._sets(released, knowledge)
        target, row = sets.pairs()
        apart = np.zeros(target.size, np.int64)
        for column in columns:
            apart += _ranks_between(column, target, row)
        # Inside the intersection every target has a row, so each has a first pair.
        least = np.minimum.reduceat(apart, np.flatnonzero(np.diff(target, prepend=-1)))
        nearest = apart == least[target]
        size = np.bincount(target[nearest], minlength=released.rows)
        start = np.concatenate([[0], np.cumsum(size)])
        return Candidates(start, row[nearest], np.repeat(1 / size, size))

    def _sets(self, released: Table, knowledge: Knowledge) -> tuple[CandidateSets, list[RankedColumn]]:
        if self.p is None:
            raise InputError(
                "the rank intersection needs the window of the rank swapping, but p is missing. "
                "Write intersection:p=10, with the percentage of the rank swapping"
            )
        columns = self._columns(released, knowledge, exact_fraction(self.p, what="p") / 100)
        sets = sets_of(
            [
                CellCompatibility(*windows_by_rank(one.released, one.original, one.window, missing=MISSING))
                for one in columns
            ]
        )
        empty = empty_rows(sets)
        if empty.size:
            raise NobodyFitsError(
                f"p = {self.p} is too small: the intersection is empty for {empty.size} of the "
                f"{released.rows} released rows, the first row {int(empty[0]) + 1} (counted from 1 below "
                "the header). Raise p, or leave out the columns that were not swapped in their own order",
                empty,
            )
        return sets, columns

    def _columns(self, released: Table, knowledge: Knowledge, share: Fraction) -> list[RankedColumn]:
        known, masked = agree(knowledge.records, released)
        coarse = masked.coarse()
        names = self.columns
        if names is None:
            names = tuple(each.name for each in known.columns if each.role == "known" and each.kind in WITH_ORDER)
            names = tuple(name for name in names if name not in coarse)
        if not names:
            raise InputError(
                f"the {known.name} and the {masked.name} share no quasi-identifier with an order "
                "(number, ordered, date, boolean). Name columns, or set their types or roles"
            )
        ranked = []
        for name in names:
            if known.column(name).kind not in WITH_ORDER:
                raise InputError(
                    f"column {name!r} is of type {known.column(name).kind}, which has no ranks. "
                    "Leave it out, or give its levels in order with kinds={…}"
                )
            if name in coarse:
                raise InputError(
                    f"column {name!r} of the {masked.name} has range cells, which have no ranks. Leave it out"
                )
            one, other = (_whole(part) for part in encode([known, masked], [name]))
            window = floor(share * ranking(other, one, missing=MISSING).size)
            ranked.append(RankedColumn(one, other, window))
        return ranked


def _whole(part: EncodedTable) -> IntArray:
    """Return the one column, whichever way it was encoded."""
    if part.names_numbers:
        return without_markers(part.numbers[:, 0])
    # Wide before the mark for missing goes in, which a narrow number would silently cut to 0.
    wide = part.codes[:, 0].astype(np.int64)
    wide[wide <= 0] = MISSING
    return wide


def _ranks_between(column: RankedColumn, target: IntArray, row: Int32Array) -> IntArray:
    """Return the rank distance of each pair; 0 if equal or missing."""
    ranked = ranking(column.released, column.original, missing=MISSING)
    one, other = column.released[target], column.original[row]
    up = np.searchsorted(ranked, other) - np.searchsorted(ranked, one, side="right") + 1
    down = np.searchsorted(ranked, one) - np.searchsorted(ranked, other, side="right") + 1
    apart = np.where(other > one, up, np.where(other < one, down, 0))
    return np.where((one == MISSING) | (other == MISSING), 0, apart)
