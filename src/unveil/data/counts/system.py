"""Every cell of published tables once, the sums between cells, and what all tables together tell of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import prod

import numpy as np

from unveil._kernels.counts.rows import NO_END, OPEN, SparseRows, chosen, rows_of, with_more
from unveil._kernels.types import BoolArray, Int32Array, IntArray
from unveil.data.counts.published_counts import PublishedCounts
from unveil.data.counts.settings import Range
from unveil.data.counts.structural import covered_by
from unveil.errors import InputError

#: An array of more cells is not made: the tables alone are used then, and ranges may be too wide.
LARGEST = 200_000


# All cells of tables that share variables, each once, and the sums between them.

#: Of one variable: a code and the codes that it is the sum of, for every partition that is known. Code 0 is the total.
Partitions = Sequence[tuple[int, Sequence[int]]]


@dataclass(frozen=True, eq=False)
class CellArrays:
    """Cells of margin-closed arrays, one array for each clique of variables.

    ``codes`` has a row for each cell and a column for each variable: the number of its code, 0 where the cell is not
    divided by that variable. ``numbers`` holds the cells of each clique in the shape of its codes.
    """

    cliques: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    codes: Int32Array
    numbers: tuple[IntArray, ...]
    rows: SparseRows

    def locate(self, codes: IntArray) -> IntArray:
        """Return the cell of each row of codes, -1 where no clique has all its variables."""
        found = np.full(codes.shape[0], -1, np.int64)
        for clique, numbers in zip(self.cliques, self.numbers, strict=True):
            others = [at for at in range(codes.shape[1]) if at not in clique]
            inside = (found < 0) & (codes[:, others] == 0).all(axis=1)
            found[inside] = numbers[tuple(codes[inside][:, at] for at in clique)]
        return found


def cell_arrays(cliques: Sequence[Sequence[int]], sizes: Sequence[int], partitions: Sequence[Partitions]) -> CellArrays:
    """Return the cells of all cliques, those that cliques share once, with every sum between them.

    ``sizes`` and ``partitions`` are the number of codes and the known partitions of each variable.

    >>> made = cell_arrays([(0,)], [3], [[(0, (1, 2))]])
    >>> made.codes.ravel().tolist(), made.rows.cell.tolist(), made.rows.coefficient.tolist()
    ([0, 1, 2], [0, 1, 2], [1, -1, -1])
    """
    numbers: list[IntArray] = []
    known = 0
    for at, clique in enumerate(cliques):
        shape = tuple(sizes[variable] for variable in clique)
        own = np.full(shape, -1, np.int64)
        for earlier, theirs in zip(cliques[:at], numbers, strict=True):
            own[_shared(clique, earlier)] = theirs[_shared(earlier, clique)]
        fresh = own < 0
        own[fresh] = known + np.arange(int(fresh.sum()))
        known += int(fresh.sum())
        numbers.append(own)
    codes = np.zeros((known, len(sizes)), np.int32)
    for clique, own in zip(cliques, numbers, strict=True):
        for axis, variable in enumerate(clique):
            along = np.arange(sizes[variable]).reshape([-1 if each == axis else 1 for each in range(len(clique))])
            codes[own.ravel(), variable] = np.broadcast_to(along, own.shape).ravel()
    rows = rows_of(_sums(cliques, numbers, partitions), known)
    made = tuple(tuple(each) for each in cliques)
    return CellArrays(made, tuple(sizes), codes, tuple(numbers), rows)


def _shared(clique: Sequence[int], other: Sequence[int]) -> tuple[int | slice, ...]:
    """Return the part of a clique's array that another has too: all codes of shared variables, the rest at the total.

    Both list their variables in ascending order, so that the two parts have the same shape.
    """
    return tuple(slice(None) if variable in other else 0 for variable in clique)


def _sums(
    cliques: Sequence[Sequence[int]], numbers: Sequence[IntArray], partitions: Sequence[Partitions]
) -> list[tuple[IntArray, IntArray]]:
    entries = []
    for at, (clique, own) in enumerate(zip(cliques, numbers, strict=True)):
        for axis, variable in enumerate(clique):
            across = np.moveaxis(own, axis, 0).reshape(own.shape[axis], -1)
            fresh = _not_in_earlier(cliques, at, variable, own.shape)
            across = across[:, fresh]
            for parent, children in partitions[variable]:
                cells = across[[parent, *children]].T
                if cells.size:
                    entries.append((cells, np.array([1] + [-1] * len(children), np.int64)))
    return entries


def _not_in_earlier(cliques: Sequence[Sequence[int]], at: int, variable: int, shape: tuple[int, ...]) -> BoolArray:
    """Return of which combinations of the other variables an earlier clique does not have the sums already."""
    clique = cliques[at]
    axis = list(clique).index(variable)
    fresh = np.ones(shape, np.bool_)
    for earlier in cliques[:at]:
        if variable in earlier:
            fresh[_shared(clique, earlier)] = False
    return np.asarray(np.take(fresh, 0, axis=axis).ravel(), np.bool_)


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
            "the combination out of --structural-zeros, or correct the count"
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


# Which sets of variables must be looked at together, so that what fits each of them comes from one population.

Sets = tuple[tuple[int, ...], ...]


def largest_only(sets: Iterable[Iterable[int]]) -> Sets:
    """Return the sets that no other contains, each once, in a fixed order.

    >>> largest_only([(0, 1), (1,), (1, 2), (0, 1)])
    ((0, 1), (1, 2))
    """
    every = sorted({tuple(sorted(set(each))) for each in sets})
    return tuple(each for each in every if not any(set(each) < set(other) for other in every))


def is_acyclic(sets: Iterable[Iterable[int]]) -> bool:
    """Return whether the sets can be taken away one by one, each sharing with one other what it shares with any.

    Exactly then whole-number tables that agree on shared margins always come from one population (Atserias and
    Kolaitis, 2021).

    >>> is_acyclic([(0, 1), (1, 2)]), is_acyclic([(0, 1), (1, 2), (0, 2)])
    (True, False)
    """
    left = [set(each) for each in largest_only(sets)]
    changed = True
    while changed and len(left) > 1:
        changed = False
        for one in left:
            others = [each for each in left if each is not one]
            shared = one & set().union(*others)
            if any(shared <= other for other in others):
                left, changed = others, True
                break
    return len(left) <= 1


def triangulated(sets: Iterable[Iterable[int]]) -> Sets:
    """Return the cliques of a graph without long circles that has all pairs of the sets: by least fill, then by number.

    >>> triangulated([(0, 1), (1, 2), (2, 3), (0, 3)])
    ((0, 1, 3), (1, 2, 3))
    """
    sets = largest_only(sets)
    beside: dict[int, set[int]] = {variable: set() for each in sets for variable in each}
    for each in sets:
        for one, other in combinations(each, 2):
            beside[one].add(other)
            beside[other].add(one)
    cliques = []
    while beside:
        variable = min(beside, key=lambda each: (_fill(beside, each), each))
        near = beside.pop(variable)
        cliques.append((variable, *near))
        for one, other in combinations(near, 2):
            beside[one].add(other)
            beside[other].add(one)
        for other in near:
            beside[other].discard(variable)
    return largest_only(cliques)


def cover(sets: Iterable[Iterable[int]]) -> Sets:
    """Return the sets of variables to look at: the given ones where they are acyclic, else those of a triangulation."""
    given = largest_only(sets)
    return given if is_acyclic(given) else triangulated(given)


def _fill(beside: dict[int, set[int]], variable: int) -> int:
    return sum(other not in beside[one] for one, other in combinations(beside[variable], 2))
