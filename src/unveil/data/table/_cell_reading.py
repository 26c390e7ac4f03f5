"""Read the cells of a released column as sets of original values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil._kernels.types import Int32Array
from unveil.data.table._cell_columns import (
    ColumnTexts,
    OrderedTexts,
    PeopleValues,
    ReadCell,
    UnorderedTexts,
    can_miss,
    weighed,
)
from unveil.data.table._cell_texts import folded
from unveil.data.table._intervals import Interval, ranges_of, scale_of
from unveil.data.table.cells import ABSENT, NOBODY, SHOWN, SUPPRESSED, Cells, CodeColumn, OrderedCells, UnorderedCells

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.hierarchy import Hierarchy
    from unveil.data.table.kinds import Kind

#: The kinds whose values lie in an order, so that a cell may be an interval.
WITH_ORDER = ("number", "ordered", "date")


def read_texts(
    people: PeopleValues, released: CodeColumn, kind: "Kind", hierarchy: "Hierarchy | None", *, masked: bool
) -> Cells:
    """Return the cells of a text column; each distinct text is read once.

    A missing cell is a missing value where the original has such, and else one that was taken out, if the release is
    masked or has other cells that stand for several values.
    """
    sort = OrderedTexts if kind in WITH_ORDER else UnorderedTexts
    hidden = {folded(each.text) for number, each in enumerate(released.markers, 1) if released.hides(number)}
    words: ColumnTexts = sort(people, kind, hierarchy, hidden)
    texts = released.values.unique().drop_nulls().to_list()
    read = words.read_all(texts)
    gaps = released.gaps()
    if gaps:
        masked = masked or not words.cells(read, np.arange(len(read), dtype=np.int32)).single.all()
    empty = {number: _gap(people, released, number, masked=masked) for number in gaps}
    order = sorted({*read, *empty.values()}, key=_rank)
    place = {each: at for at, each in enumerate(order)}
    of_row = _numbered(released.values, texts, [place[each] for each in read])
    return words.cells(order, _with_gaps(of_row, released, {number: place[each] for number, each in empty.items()}))


def taken_out(original: CodeColumn, released: CodeColumn) -> bool:
    """Return whether cells of a masked release were suppressed."""
    return can_miss(released) and not can_miss(original)


def _gap(people: PeopleValues, released: CodeColumn, number: int, *, masked: bool) -> ReadCell:
    """Return the cell of a missing value, by its marker number."""
    if released.hides(number) or (masked and not people.can_miss and released.misses(number)):
        return SUPPRESSED, None
    if number and released.markers[number - 1].kind_of_marker == "unreadable":
        return NOBODY, ("",)
    return ABSENT, (released.key(number),)


def _with_gaps(of_row: Int32Array, released: CodeColumn, cell: Mapping[int, int]) -> Int32Array:
    """Return the cell of each row, with marker cells for missing values."""
    if not cell:
        return of_row
    by_marker = np.zeros(len(released.markers) + 1, np.int32)
    by_marker[list(cell)] = list(cell.values())
    number = 0 if released.marked is None else released.marked.to_numpy()
    return np.where(released.values.is_null().to_numpy(), by_marker[number], of_row)


def _rank(read: ReadCell) -> tuple[Any, ...]:
    state, what = read
    if isinstance(what, Interval):
        ends = -inf if what.low is None else what.low, inf if what.high is None else what.high
        return state, *ends, what.low_out, not what.high_out
    return state, what or ()


def _numbered(released: "pl.Series", texts: Sequence[str], number: Sequence[int]) -> Int32Array:
    import polars as pl

    known = pl.DataFrame({"text": pl.Series(texts, dtype=pl.String), "cell": pl.Series(number, dtype=pl.Int32)})
    rows = released.alias("text").to_frame()
    return rows.join(known, on="text", how="left", maintain_order="left")["cell"].fill_null(0).to_numpy()


def read_values(people: PeopleValues, released: CodeColumn, kind: "Kind", *, masked: bool) -> Cells:
    """Return the cells of a column of single values, with suppressed ones."""
    import polars as pl

    known = released.values.unique().drop_nulls().sort()
    read = {number: _gap(people, released, number, masked=masked) for number in released.gaps()}
    gaps = sorted(set(read.values()), key=_rank)
    cell = {number: known.len() + gaps.index(each) for number, each in read.items()}
    of_row = _with_gaps(_places_among(known, released.values), released, cell)
    state = np.full(known.len(), SHOWN, np.uint8)
    first, last = np.zeros(len(gaps), np.int64), np.full(len(gaps), -1)
    if kind in WITH_ORDER:
        shown, values = (_physical(part) for part in (known, people.values))
        if shown.dtype != values.dtype:
            shown, values = shown.cast(pl.Float64), values.cast(pl.Float64)
        first = np.append(values.search_sorted(shown, side="left").to_numpy().astype(np.int64), first)
        last = np.append(values.search_sorted(shown, side="right").to_numpy().astype(np.int64) - 1, last)
        never = np.zeros(first.size, bool)
        shown = pl.concat([shown, shown.clear(len(gaps))])
        holds: OrderedCells | UnorderedCells = OrderedCells(shown, shown, never, never, first, last)
    else:
        place = _places_among(people.values, known)
        here = np.append(place < people.values.len(), np.zeros(len(gaps), bool))
        state[~here[: place.size]] = NOBODY
        first, last = np.zeros(here.size, np.int64), np.full(here.size, -1)
        first[here] = last[here] = place[here[: place.size]]
        holds = UnorderedCells(np.concatenate([[0], np.cumsum(here)]), first[here].astype(np.int32))
    inside = people.up_to[np.maximum(last + 1, first)] - people.up_to[first]
    state = np.append(state, np.array([each for each, _ in gaps], np.uint8))
    marker = ("",) * known.len() + tuple(what[0] if each == ABSENT else "" for each, what in gaps)
    return weighed(people, of_row, state, holds, inside, marker)


def exact_values(cells: Cells, released: "pl.Series") -> "pl.Series":
    """Return single-valued cells as values, else null; unknown words stay."""
    import polars as pl

    there = ((cells.state == SHOWN) & cells.single)[cells.of_row]
    word = (cells.state == NOBODY)[cells.of_row] & (cells.values.dtype == pl.String)
    if isinstance(cells.holds, OrderedCells):
        number = cells.holds.low.gather(cells.of_row).set(pl.Series(~there), None)
        dtype = cells.values.dtype
        if isinstance(dtype, pl.Enum):
            return dtype.categories.gather(number).cast(dtype).alias(released.name)
        return (number.cast(dtype) if dtype == pl.Datetime else number).alias(released.name)
    row = np.where(there, cells.holds.start[cells.of_row], 0)
    member = np.append(cells.holds.member, 0)[np.minimum(row, cells.holds.member.size)]
    place = pl.Series(member).set(pl.Series(~there), None)
    if not cells.values.len():
        return released
    found = cells.values.gather(place)
    if word.any():
        found = found.zip_with(pl.Series(~word), released.cast(found.dtype))
    return found.alias(released.name)


def with_intervals(cells: Cells, intervals: Sequence[Interval], people: PeopleValues) -> Cells:
    """Return the cells with intervals instead of single numbers, in order."""
    every = [*intervals, *(Interval(Fraction(0), Fraction(0)) for _ in range(cells.state.size - len(intervals)))]
    ranges = ranges_of(every, scale_of(people.values))
    share = np.where(cells.state == SHOWN, people.share(people.inside(ranges)), cells.share)
    return replace(cells, holds=ranges, share=share)


def _physical(values: "pl.Series") -> "pl.Series":
    import polars as pl

    if isinstance(values.dtype, pl.Enum):
        return values.to_physical().cast(pl.Int64)
    return values.cast(pl.Int64) if values.dtype == pl.Datetime else values


def _places_among(known: "pl.Series", cells: "pl.Series") -> Int32Array:
    """Return positions among ascending distinct values; past the end if absent."""
    import polars as pl

    if not cells.len():
        return np.empty(0, np.int32)
    where = known.alias("value").to_frame().with_row_index("place")
    rows = cells.alias("value").to_frame()
    found = rows.join(where, on="value", how="left", maintain_order="left")["place"]
    return found.cast(pl.Int32).fill_null(known.len()).to_numpy()
