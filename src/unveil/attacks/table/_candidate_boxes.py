"""Original cells compatible with a released cell, as bounds per column."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.table.rank_windows import Windows, rows_in_boxes
from unveil._kernels.types import BoolArray, Int32Array, IntArray
from unveil.data.table import Table, agree
from unveil.data.table.cells import ABSENT, NOBODY, SUPPRESSED, Cells, CodeColumn, OrderedCells
from unveil.data.table.encode import MISSING, encode, without_markers
from unveil.errors import InputError
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.mass_function import MassFunction

if TYPE_CHECKING:
    import polars as pl


#: Members of all different sets together, at most: they take 12 bytes each.
MOST_MEMBERS = 50_000_000


class CellCompatibility(NamedTuple):
    """Original cells of one column compatible with each released cell.

    An original row with a level from ``first[j]`` to ``last[j]`` fits released row j; where ``among`` is given, only
    if ``among[choice[j], level]`` says so too.
    """

    level: Int32Array
    first: Int32Array
    last: Int32Array
    choice: Int32Array | None = None
    among: BoolArray | None = None


def fits_of(original: Table, released: Table, name: str, reach: float) -> CellCompatibility:
    """Return the compatible original cells of each released cell."""
    one, other = agree(original.select([name]), _untold(released.select([name]), original))
    cells = (other.cells or {}).get(name)
    if cells is not None and cells.coarse:
        return _in_cells(one.held(name), cells, reach)
    known, seen = encode([one, other], [name])
    if known.names_numbers:
        return _near(without_markers(known.numbers[:, 0]), without_markers(seen.numbers[:, 0]), reach)
    level, code = (np.maximum(part.codes[:, 0], 0) for part in (known, seen))
    last = int(max(level.max(initial=0), code.max(initial=0)))
    return CellCompatibility(level, code, np.where(code == 0, last, code).astype(np.int32))


def _untold(released: Table, original: Table) -> Table:
    """Return the released column, typed as in the original by default."""
    (column,) = released.columns
    if original.column(column.name).kind_told or column.kind not in ("category", "text"):
        return released
    return replace(released, columns=(replace(column, confidence="uncertain"),))


def _near(known: IntArray, seen: IntArray, reach: float) -> CellCompatibility:
    most = _most_moved(known, reach)
    gone = seen == MISSING
    shown = np.where(gone, 0, seen)
    values = np.unique(known[known != MISSING])
    level = np.where(known == MISSING, values.size, np.searchsorted(values, known))
    first = np.where(gone, 0, np.searchsorted(values, shown - most))
    last = np.where(gone, values.size, np.searchsorted(values, shown + most, side="right") - 1)
    return CellCompatibility(level.astype(np.int32), first.astype(np.int32), last.astype(np.int32))


def _most_moved(known: IntArray, reach: float) -> int:
    there = known[known != MISSING]
    return int(reach * there.std()) if there.size else 0


def _in_cells(known: CodeColumn, cells: Cells, reach: float) -> CellCompatibility:
    """Return the compatible cells of range cells; missing fits all."""
    size = len(cells.values)
    place = cells.places(known)
    level = np.where(place < 0, size, place).astype(np.int32)
    anything = (cells.state == SUPPRESSED) | (cells.state == ABSENT)
    if isinstance(cells.holds, OrderedCells):
        first, last = cells.holds.first, cells.holds.last
        if reach:
            first, last = _moved(cells, known.values, reach)
        first, last = np.where(cells.state == NOBODY, 1, first), np.where(cells.state == NOBODY, 0, last)
        choice, among = None, None
    else:
        first, last = np.zeros(cells.state.size, np.int64), np.full(cells.state.size, size)
        among = np.zeros((cells.state.size, size + 1), bool)
        among[np.repeat(np.arange(cells.state.size), np.diff(cells.holds.start)), cells.holds.member] = True
        among[anything] = True
        choice = cells.of_row
    least, most = np.where(anything, 0, first).astype(np.int32), np.where(anything, size, last).astype(np.int32)
    return CellCompatibility(level, least[cells.of_row], most[cells.of_row], choice, among)


def _moved(cells: Cells, known: "pl.Series", reach: float) -> tuple[IntArray, IntArray]:
    """Return the positions of values within a distance of each range."""
    import polars as pl

    values = cells.values.to_physical().cast(pl.Float64).to_numpy()
    there = known.drop_nulls().to_physical().cast(pl.Float64).to_numpy()
    most = reach * float(there.std()) if there.size else 0.0
    low, high = (end.cast(pl.Float64).to_numpy() for end in (cells.ranges.low, cells.ranges.high))
    first = np.searchsorted(values, np.where(np.isnan(low), -np.inf, low - most))
    last = np.searchsorted(values, np.where(np.isnan(high), np.inf, high + most), side="right") - 1
    return first.astype(np.int64), last.astype(np.int64)


class CandidateSets(NamedTuple):
    """Distinct candidate sets, concatenated, and the set of each released row."""

    start: IntArray
    rows: Int32Array
    of_target: IntArray

    def pairs(self) -> tuple[IntArray, Int32Array]:
        """Return all pairs of released row and candidate."""
        count = np.diff(self.start)[self.of_target]
        _check_room(int(count.sum()))
        target = np.repeat(np.arange(count.size), count)
        shift = self.start[self.of_target] - np.cumsum(count) + count
        return target, self.rows[np.arange(target.size) + shift[target]]


def sets_of(fits: Sequence[CellCompatibility]) -> CandidateSets:
    """Return the candidate set of each released row, over all columns."""
    keys = [key for one in fits for key in (one.first, one.last, one.choice) if key is not None]
    of_target, example = _alike(keys)
    boxes = Windows(*(np.column_stack([getattr(one, end)[example] for one in fits]) for end in ("first", "last")))
    start, rows = rows_in_boxes(np.column_stack([one.level for one in fits]), boxes, at_most=MOST_MEMBERS)
    _check_room(int(start[-1]))
    for one in fits:
        if one.choice is not None and one.among is not None:
            owner = np.repeat(np.arange(example.size), np.diff(start))
            kept = one.among[one.choice[example][owner], one.level[rows]]
            start = np.concatenate([[0], np.cumsum(np.bincount(owner[kept], minlength=example.size))])
            rows = rows[kept]
    return CandidateSets(start, rows, of_target)


def _check_room(members: int) -> None:
    if members > MOST_MEMBERS:
        raise InputError(
            f"the candidate sets have more than {MOST_MEMBERS:,} members together. Name more "
            "columns to make the sets smaller, or take fewer rows"
        )


def _alike(keys: Iterable[Int32Array]) -> tuple[IntArray, IntArray]:
    """Return a number per row, equal for equal keys, and representatives."""
    number = np.zeros(0, np.int64)
    for key in keys:
        joint = key.astype(np.int64) if not number.size else number * (int(key.max()) + 2) + key + 1
        number = np.unique(joint, return_inverse=True)[1].astype(np.int64)
    return number, np.unique(number, return_index=True)[1]


def beliefs_of_sets(size: int, sets: CandidateSets) -> Beliefs:
    """Return the belief that each released row comes from its set.

    >>> two = CandidateSets(np.array([0, 2, 3]), np.array([0, 3, 1], np.int32), np.array([0, 1, 0]))
    >>> [mass.sets for mass in beliefs_of_sets(4, two).each]
    [(array([0, 3]),), (array([1]),), (array([0, 3]),)]
    """
    made = [
        MassFunction.from_set(size, sets.rows[begin:end].astype(np.int64))
        for begin, end in zip(sets.start[:-1].tolist(), sets.start[1:].tolist(), strict=True)
    ]
    return Beliefs.from_codes(size, sets.of_target, made)


def empty_rows(sets: CandidateSets) -> IntArray:
    """Return the released rows whose set is empty."""
    return np.flatnonzero((np.diff(sets.start) == 0)[sets.of_target])
