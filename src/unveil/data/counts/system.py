"""Every cell of published tables once, the sums between cells, and what all tables together tell of each."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from unveil._kernels.counts.arrays import CellArrays, cell_arrays
from unveil._kernels.counts.cliques import cover, largest_only
from unveil._kernels.counts.rows import NO_END, OPEN, chosen, with_more
from unveil._kernels.types import BoolArray, IntArray
from unveil.data.counts.published_counts import PublishedCounts
from unveil.data.counts.settings import Range
from unveil.data.counts.structural import covered_by
from unveil.errors import InputError

#: An array of more cells is not made: the tables alone are used then, and ranges may be too wide.
LARGEST = 200_000


@dataclass(frozen=True, eq=False)
class CountSystem:
    """The cells of published tables and the sums between them.

    Attributes
    ----------
    released
        The tables.
    arrays
        All cells, with the sums between them.
    cell
        The cell of each entry of the tables.
    is_whole
        Whether ranges are those over all populations; else tables were looked at without their common detail, which
        would need ``needed`` cells, and ranges are true but may be too wide.
    is_hidden
        Which cells a table lists without its exact figure.
    is_unlisted
        Which cells no table lists, though their variables stand in one table, and no adding of figures gives them.
    is_impossible
        Which cells nobody can be in by what their codes mean: these are neither hidden nor unlisted.
    """

    released: PublishedCounts
    arrays: CellArrays
    cell: IntArray = field(repr=False)
    is_whole: bool
    needed: int
    is_hidden: BoolArray = field(repr=False)
    is_unlisted: BoolArray = field(repr=False)
    is_impossible: BoolArray = field(repr=False)

    @property
    def number(self) -> int:
        """How many cells there are."""
        return int(self.arrays.codes.shape[0])

    def told(self, reading: Sequence[Range]) -> tuple[IntArray, IntArray]:
        """Return what is told of each cell when each symbol is read as given: all entries of a cell hold.

        Where entries contradict one another the low end lies above the high one.
        """
        low, high = np.zeros(self.number, np.int64), np.full(self.number, NO_END)
        lows = np.array([each[0] for each in reading] + [0], np.int64)
        highs = np.array([NO_END if each[1] is None else each[1] for each in reading] + [NO_END], np.int64)
        by_symbol = self.released.symbol >= 0
        own_low = np.where(by_symbol, lows[self.released.symbol], self.released.low)
        own_high = np.where(by_symbol, highs[self.released.symbol], self.released.high)
        np.maximum.at(low, self.cell, own_low)
        np.minimum.at(high, self.cell, own_high)
        return low, np.where(self.is_impossible, 0, high)

    @property
    def is_record(self) -> BoolArray:
        """Which cells are of full detail: one leaf of every variable of all tables."""
        found = (self.arrays.codes > 0).all(axis=1)
        for at, variable in enumerate(self.released.variables):
            is_leaf = np.array([variable.is_leaf(code) for code in range(len(variable.codes))], np.bool_)
            found &= is_leaf[self.arrays.codes[:, at]]
        return np.asarray(found, np.bool_)

    def with_shares_of(self, *tables: int) -> "CountSystem":
        """Return the system with the percentages of hidden numbers that some tables show, and none of the others."""
        shares = self.released.shares
        if all(share.table in tables for share in shares):
            return self
        rows = self.arrays.rows
        keep = np.ones(rows.number, np.bool_)
        # Each has two rows, behind all sums.
        keep[rows.number - 2 * len(shares) :] = np.repeat([share.table in tables for share in shares], 2)
        return replace(self, arrays=replace(self.arrays, rows=chosen(rows, keep)))

    def label(self, cell: int) -> str:
        """Return what a cell is called."""
        return self.released.label(self.arrays.codes[cell].tolist())

    def places(self, cell: int) -> list[tuple[str, int]]:
        """Return in which tables and rows a cell stands."""
        found = np.flatnonzero(self.cell == cell)
        tables = self.released.tables
        return [(tables[self.released.table[at]].name, int(self.released.row[at])) for at in found]


def system_of(released: PublishedCounts, *, largest: int = LARGEST, records: bool = False) -> CountSystem:
    """Return all cells of the tables, with the cells that they must be looked at with.

    With ``records`` all combinations of all variables are cells, where these are no more than the largest array.

    >>> from unveil.data.counts import read_counts
    >>> told = read_counts([{"ward": ["N", "S", "Total"], "count": ["*", "7", "9"]}])
    >>> system = system_of(told)
    >>> system.number, int(system.is_hidden.sum()), system.is_whole
    (3, 1, True)
    """
    sizes = [len(variable.codes) for variable in released.variables]
    sets = largest_only(table.variables for table in released.tables)
    none = np.zeros((0, len(sizes)), np.int64) if released.impossible is None else released.impossible
    every = tuple(range(len(sizes)))
    cliques = (every,) if records and prod(sizes) <= largest else cover([*sets, *map(np.flatnonzero, none)])
    needed = max((prod(sizes[at] for at in clique) for clique in cliques), default=0)
    is_whole = needed <= largest or cliques == sets
    cliques = cliques if is_whole else sets
    own = max((prod(sizes[at] for at in clique) for clique in sets), default=0)
    if own > 50 * largest:
        raise InputError(
            f"the codes of a table must have at most {50 * largest:,} combinations, but have {own:,}: most of them are "
            "not listed. Pass tables with fewer variables, or one table for each part"
        )
    arrays = cell_arrays(cliques, sizes, [variable.partitions for variable in released.variables])
    cell = arrays.locate(released.codes)
    is_hidden = np.zeros(arrays.codes.shape[0], np.bool_)
    # Percentages beside counts hide nothing: a cell is hidden where its count is.
    beside = np.array([table.form == "percentages" for table in released.tables], np.bool_)[released.table]
    is_hidden[cell[~released.is_shown & ~beside]] = True
    is_impossible = covered_by(none, arrays.codes.astype(np.int64), released.variables)
    _refuse_impossible(released, cell, is_impossible)
    return CountSystem(
        released=released,
        arrays=_with_shares(arrays, released),
        cell=cell,
        is_whole=is_whole,
        needed=needed,
        is_hidden=is_hidden & ~is_impossible,
        is_unlisted=_unlisted(arrays, cell, released, sets) & ~is_impossible,
        is_impossible=is_impossible,
    )


def _with_shares(arrays: CellArrays, released: PublishedCounts) -> CellArrays:
    """Return the cells with two more rows for each percentage of a hidden number: it is at least, and at most, so."""
    more: list[tuple[Sequence[int], Sequence[int], int, int]] = []
    for share in released.shares:
        cells = arrays.locate(np.array([share.codes, share.base])).tolist()
        least = (cells, (share.whole, -share.low)) if share.low else (cells[:1], (share.whole,))
        more += [(*least, 0, OPEN), (cells, (share.whole, -share.high), -OPEN, 0)]
    return replace(arrays, rows=with_more(arrays.rows, more))


def _refuse_impossible(released: PublishedCounts, cell: IntArray, is_impossible: BoolArray) -> None:
    """Say where a table counts somebody whom the codes do not allow."""
    wrong = np.flatnonzero(is_impossible[cell] & (released.low > 0))
    if wrong.size:
        first = int(wrong[0])
        name = released.tables[released.table[first]].name
        raise InputError(
            f"nobody may be counted in a combination that is said to be impossible, but somebody is in {wrong.size:,} "
            f"such cells, the first in row {released.row[first]} of {name} (counted from 1 below the header). Take "
            "the combination out of --structural, or correct the count"
        )


def _unlisted(
    arrays: CellArrays, cell: IntArray, released: PublishedCounts, sets: Sequence[Sequence[int]]
) -> BoolArray:
    listed = np.zeros(arrays.codes.shape[0], np.bool_)
    listed[cell] = True
    in_table = np.zeros(listed.size, np.bool_)
    for own in sets:
        others = [at for at in range(arrays.codes.shape[1]) if at not in own]
        in_table |= (arrays.codes[:, others] == 0).all(axis=1)
    added = np.zeros(listed.size, np.bool_)
    added[cell[released.is_shown]] = True
    rows = arrays.rows
    parent = rows.cell[rows.start[:-1]] if rows.number else np.zeros(0, np.int64)
    while rows.number:
        known = added[rows.cell]
        known[rows.start[:-1]] = True
        every = np.logical_and.reduceat(known, rows.start[:-1])
        if not (every & ~added[parent]).any():
            break
        added[parent[every]] = True
    return in_table & ~listed & ~added
