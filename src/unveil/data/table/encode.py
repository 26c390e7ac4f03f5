"""Encode columns of several tables as integers for exact distances."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.cells.boxes import ANY, HIGHEST, LOWEST, CellColumns
from unveil._kernels.neighbours.index import EVERY, IntegerGrid, SortedRows, chosen_columns, from_zero, sorted_rows
from unveil._kernels.types import Int32Array, IntArray
from unveil.data.table.cells import ABSENT, NOBODY, SHOWN, SUPPRESSED, Cells
from unveil.data.table.coded_columns import places
from unveil.data.table.kinds import Kind
from unveil.data.table.scales import (
    LAST_MARKER,
    MISSING,
    Agreement,
    Codes,
    ColumnGrid,
    PlacedColumn,
    Units,
    marker_numbers,
    marker_of_cells,
    on_grid,
)
from unveil.data.table.table import Table
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LAST_MARKER", "MISSING", "EncodedTable", "encode", "equality", "without_markers"]


_LARGEST_DISTANCE = 2**61
_NUMBER_KINDS = ("number", "ordered", "date")
# A step that is to cost at least this much is rounded by less than 0.4 %.
_LEAST_STEP = 2**8


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """Columns of one table as integers, with shared scales and codes.

    The distance of two rows is the sum of ``step_cost`` times the difference over the number columns, plus
    ``mismatch_cost`` for each code that differs and for each number that only one of the two rows has, or that neither
    has for another reason. It is at most 2**61. Divided by ``mismatch_cost`` it counts mismatches, a whole span being
    one.

    Attributes
    ----------
    size
        How many rows there are.
    names_numbers, number_columns
        The columns of kinds number, ordered and date, in grid units; `MISSING` where the value is missing, and one of
        the next numbers up to `LAST_MARKER` where a marker stands for it: each marker equals itself only.
    names_codes, code_columns
        All other columns, each value a number from 1 on; 0 is a missing value, a category of its own, and so is each
        number below 0, a marker that stands for no value.
    step_cost
        The cost of one grid unit of each number column; 0 for a column whose span is 0.
    mismatch_cost
        The cost of two different categories, and of a whole span of a number column.
    exact
        Whether nothing was rounded: the distance is then ``mismatch_cost`` times the exact fraction. False as soon as
        a column is truly real, has a span of more than 2**58 steps, or the costs of all columns do not fit.
    cells
        Of a released table with coarse cells in these columns: what they are, number columns first. The columns
        then hold the cells that are single values, and a missing value for all others.
    """

    size: int
    names_numbers: tuple[str, ...]
    number_columns: Sequence[Units]
    names_codes: tuple[str, ...]
    code_columns: Sequence[Codes]
    step_cost: IntArray
    mismatch_cost: int
    exact: bool = True
    cells: CellColumns | None = None

    @cached_property
    def numbers(self) -> IntArray:
        """The number columns of all rows."""
        return self.block(slice(None)).numbers

    @cached_property
    def codes(self) -> Int32Array:
        """The category columns of all rows."""
        return self.block(slice(None)).codes

    def grid(self, rows: IntArray | slice = slice(None)) -> IntegerGrid:
        """Return these rows, or all, as the kernels take them."""
        if isinstance(rows, slice) and rows == slice(None):
            return IntegerGrid(self.numbers, self.codes, self.step_cost, self.mismatch_cost)
        return self.block(rows)

    def block(self, rows: IntArray | slice) -> IntegerGrid:
        """Return these rows in kernel form."""
        size = len(range(*rows.indices(self.size))) if isinstance(rows, slice) else len(rows)
        # Column by column, as they are gone through.
        numbers = np.empty((size, len(self.number_columns)), np.int64, order="F")
        codes = np.empty((size, len(self.code_columns)), np.int32, order="F")
        for place, units in enumerate(self.number_columns):
            numbers[:, place] = units.of(rows)
        for place, coded in enumerate(self.code_columns):
            codes[:, place] = coded.of(rows)
        return IntegerGrid(numbers, codes, self.step_cost, self.mismatch_cost)

    @property
    def widths(self) -> tuple[int, int]:
        """Numbers of number columns and category columns."""
        return len(self.number_columns), len(self.code_columns)

    def column(self, place: int, rows: IntArray | slice) -> IntArray | Int32Array:
        """Return some rows of one column; those of numbers come first."""
        width = len(self.number_columns)
        return self.number_columns[place].of(rows) if place < width else self.code_columns[place - width].of(rows)

    def on_columns(self, columns: IntArray) -> "EncodedTable":
        """Return some of the columns, of which each cell is one value."""
        numbers, codes = chosen_columns(columns, len(self.number_columns))
        return replace(
            self,
            names_numbers=tuple(self.names_numbers[place] for place in numbers),
            number_columns=[self.number_columns[place] for place in numbers],
            names_codes=tuple(self.names_codes[place] for place in codes),
            code_columns=[self.code_columns[place] for place in codes],
            step_cost=self.step_cost[numbers],
            cells=None,
        )

    def take(self, rows: IntArray) -> "EncodedTable":
        """Return some of the rows, of which each cell is one value."""
        some = self.block(rows)
        return replace(
            self,
            size=len(rows),
            number_columns=[Units(column) for column in some.numbers.T],
            code_columns=[Codes(column) for column in some.codes.T],
            cells=None,
        )

    def in_order(self) -> SortedRows:
        """Return the rows in a content-based order; ties in any order."""
        every: Iterable[IntArray | Int32Array] = (self.column(place, EVERY) for place in range(sum(self.widths)))
        if self.cells is not None:
            every = self.cells.of_row
        return sorted_rows(map(from_zero, every), self.size)

    def by_content(self) -> IntArray:
        """Return the rows in a content-based order; ties in current order."""
        return np.argsort(self.in_order().numbered(np.int64), kind="stable")


def encode(
    tables: Sequence[Table], columns: Sequence[str], *, span_of: Sequence[int] = (0, 1)
) -> tuple[EncodedTable, ...]:
    """Return the columns of each table as integers with exact distances.

    A number column counts in steps that all its values are multiples of: whole numbers, up to six decimals, days or
    microseconds. Truly real values are put on 2**-40 of the span. Two values as far apart as the span cost as
    much as two different categories: ``mismatch_cost`` is the least common multiple of the spans, in steps, where
    that fits; then two distances are equal if and only if the exact fractions are. Where it does not fit, the widest
    columns stay exact as far as they can and the costs of the other columns' steps are rounded, by less than 0.4 %:
    ties within a column stay exact, ties of sums over several columns may break. A span of more than some 2**45
    steps then gets wider ones, on which values nearer than 2**-36 of the span may fall together.

    Nothing depends on the order of the rows, nor, for values within the range, on tables that ``span_of`` leaves out.

    Where a table has coarse cells in one of the columns, the span of all of them is that of the people beside whom the
    cells were read, and a number outside a cell is as far from it as from the nearer end, a whole span at most.

    Parameters
    ----------
    tables
        Tables that agree (see `unveil.data.table.agree`).
    columns
        The columns to encode, each once.
    span_of
        The positions of the tables whose values make the span, by default the original and the released one; those
        beyond the last table are passed over. A value of another table counts up to three spans beyond the range: all
        numbers within the range stay in the same order by their distance from it. A column with a span of 0 never
        differs, except that a missing value differs from one that is there.

    Raises
    ------
    InputError
        If a column is not in all tables, comes twice or is of different kinds.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 31, 34, None], "sex": ["f", "m", "f", None]}))
    >>> (encoded,) = encode([people], ["age", "sex"])
    >>> encoded.numbers[:3, 0], encoded.codes[:, 0], encoded.step_cost, encoded.mismatch_cost
    (array([0, 1, 4]), array([1, 2, 1, 0], dtype=int32), array([1]), 4)
    """
    coarse = [place for place, table in enumerate(tables) if table.coarse(columns)]
    if coarse:
        return _encode_cells(tables, columns, coarse[0])
    kinds = _checked_kinds(tables, columns)
    number_names = tuple(name for name in columns if kinds[name] in _NUMBER_KINDS)
    code_names = tuple(name for name in columns if kinds[name] not in _NUMBER_KINDS)
    reference = [position for position in span_of if position < len(tables)]
    shared = _shared_by(tables)
    codes = [_code_column(tables, name, shared) for name in code_names]
    placed = [_number_column(tables, name, reference, kinds[name], shared) for name in number_names]
    spans, numbers = [column.span for column in placed], [column.tables for column in placed]
    reach, exact = len(code_names) + sum(column.reach for column in placed), all(column.exact for column in placed)
    # The wider steps of a column may make its reach one span longer.
    costs = _costs(spans, reach, reach + len(spans))
    if not costs.fits:
        units = ([each.of(slice(None)) for each in column] for column in numbers)
        numbers = [[Units(each) for each in _widened(*column)] for column in zip(units, costs.wider, strict=True)]
    return tuple(
        EncodedTable(
            size=table.rows,
            names_numbers=number_names,
            number_columns=[column[place] for column in numbers],
            names_codes=code_names,
            code_columns=[column[place] for column in codes],
            step_cost=costs.steps,
            mismatch_cost=costs.mismatch,
            exact=exact and costs.fits,
        )
        for place, table in enumerate(tables)
    )


def _shared_by(tables: Sequence[Table]) -> Agreement | None:
    """Return the shared scales of agreed tables, else None."""
    shared = tables[0].agreement
    if not isinstance(shared, Agreement) or not shared.has_scales:
        return None
    return shared if all(table.agreement is shared for table in tables) else None


def _code_column(tables: Sequence[Table], name: str, shared: Agreement | None) -> list[Codes]:
    if shared is not None:
        return shared.codes(name, tables)
    codes = zip(_codes([table.series(name) for table in tables]), _markers(tables, name), strict=True)
    return [Codes(own if marker is None else np.where(own == 0, -marker, own)) for own, marker in codes]


def _number_column(
    tables: Sequence[Table], name: str, reference: Sequence[int], kind: Kind, shared: Agreement | None
) -> PlacedColumn:
    placed = None if shared is None else shared.numbers(name, tables, reference)
    if placed is not None:
        return placed
    grid = on_grid([table.series(name) for table in tables], reference, ranks=kind == "ordered")
    units = [
        Units(_with_markers(units, marker)) for units, marker in zip(grid.values, _markers(tables, name), strict=True)
    ]
    return PlacedColumn(units, grid.span, grid.reach, grid.exact)


def equality(tables: Sequence[Table], name: str) -> Sequence[Units | Codes]:
    """Return a column of agreed tables as numbers that preserve equality."""
    shared = _shared_by(tables)
    if tables[0].column(name).kind not in _NUMBER_KINDS:
        return _code_column(tables, name, shared)
    placed = None if shared is None else shared.numbers(name, tables, range(len(tables)))
    # On the grid of real numbers two of them may fall together.
    return _code_column(tables, name, None) if placed is None else placed.tables


def _checked_kinds(tables: Sequence[Table], columns: Sequence[str]) -> dict[str, Kind]:
    """Return the validated type of each column."""
    if not tables:
        raise InputError("there must be at least one table to encode. Pass the original and the released table")
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if list(columns).count(name) > 1)
        raise InputError(f"each column may be named once, but {twice!r} is named more often. Name it once")
    kinds: dict[str, Kind] = {}
    schemas = [table.content.schema for table in tables]
    for name in columns:
        every = {table.column(name).kind for table in tables}
        types = {schema[name] for schema in schemas}
        # Whole and real numbers go together; levels of two orders, or texts and truth values, do not.
        mixed = len(types) > 1 and not all(each.is_numeric() for each in types)
        if mixed or (len(every) > 1 and every != {"category", "text"}):
            raise InputError(
                f"column {name!r} must have one type in all tables, but has {' and '.join(sorted(every))}. "
                "Bring the tables together with unveil.data.table.agree first"
            )
        kinds[name] = tables[0].column(name).kind
    return kinds


def _codes(parts: Sequence["pl.Series"]) -> list[Int32Array]:
    """Return cell codes: 0 for missing, else ascending from 1."""
    import polars as pl

    if parts[0].dtype == pl.Boolean:
        return [(part.cast(pl.Int32) + 1).fill_null(0).to_numpy() for part in parts]
    # All tables at once: starting a join costs more than a thousand cells do.
    whole = pl.concat([part.to_frame() for part in parts], how="vertical_relaxed").to_series()
    return np.split(places(whole), np.cumsum([part.len() for part in parts])[:-1])


def _markers(tables: Sequence[Table], name: str) -> list[IntArray | None]:
    """Return the marker number of each cell, shared by all tables; 0 for none."""
    number = marker_numbers(tables, name)
    return [marker_of_cells(table, name, number) for table in tables]


def _with_markers(units: IntArray, marker: IntArray | None) -> IntArray:
    return units if marker is None else np.where(units == MISSING, MISSING + marker, units)


def without_markers(numbers: IntArray) -> IntArray:
    """Return grid units with `MISSING` for every marker.

    >>> without_markers(np.array([MISSING, MISSING + 2, 7])) == [MISSING, MISSING, 7]
    array([ True,  True,  True])
    """
    return np.where(numbers <= LAST_MARKER, MISSING, numbers)


def _mismatch_cost(spans: Sequence[int], reach: int) -> tuple[int, bool]:
    """Return the cost of a mismatch, and whether every span divides it."""
    most = _LARGEST_DISTANCE // max(1, reach)
    cost, exact = 1, True
    for span in sorted({span for span in spans if span}, reverse=True):
        common = math.lcm(cost, span)
        exact = exact and common <= most
        cost = common if common <= most else cost
    # Where something is rounded anyhow, the larger the cost the less it matters.
    return (cost, True) if exact else (cost * (most // cost), False)


class _Costs(NamedTuple):
    """Costs of steps and mismatches, spans in steps, and step widths."""

    steps: IntArray
    mismatch: int
    spans: list[int]
    wider: list[int]
    fits: bool


def _costs(spans: list[int], reach: int, wider_reach: int) -> _Costs:
    """Return the costs of columns; wide spans get larger steps."""
    mismatch, fits = _mismatch_cost(spans, reach)
    wider = [1] * len(spans)
    if not fits:
        most = _LARGEST_DISTANCE // (wider_reach * _LEAST_STEP)
        wider = [max(1, -(-span // most)) for span in spans]
        spans = [span // step for span, step in zip(spans, wider, strict=True)]
        mismatch, _ = _mismatch_cost(spans, wider_reach)
    steps = np.array([(2 * mismatch + span) // (2 * span) if span else 0 for span in spans], np.int64)
    return _Costs(steps, mismatch, spans, wider, fits)


def _widened(parts: Sequence[IntArray], step: int) -> list[IntArray]:
    """Return a column in wider steps."""
    return [np.where(units <= LAST_MARKER, units, units // step) for units in parts]


def _encode_cells(tables: Sequence[Table], columns: Sequence[str], released: int) -> tuple[EncodedTable, ...]:
    """Return original columns and released cells on the original scales."""
    cells = {name: (tables[released].cells or {})[name] for name in columns}
    people = [table for place, table in enumerate(tables) if place != released]
    kinds = _checked_kinds(people or tables, columns)
    number_names = tuple(name for name in columns if kinds[name] in _NUMBER_KINDS)
    code_names = tuple(name for name in columns if kinds[name] not in _NUMBER_KINDS)
    grids = [_ends_on_grid([table.series(name) for table in people], cells[name], kinds[name]) for name in number_names]
    spans = [grid.span for grid in grids]
    costs = _costs(spans, len(columns), len(columns))
    if not costs.fits:
        grids = [
            grid._replace(values=_widened(grid.values, step)) for grid, step in zip(grids, costs.wider, strict=True)
        ]
    exact = costs.fits and all(grid.exact for grid in grids)
    every = [cells[name] for name in (*number_names, *code_names)]
    numbered = [marker_numbers(tables, name) for name in number_names]
    ends = [
        _special_ends(each, number, *grid.values[-2:])
        for each, grid, number in zip(every, grids, numbered, strict=False)
    ]
    joined = _joined(every, ends, np.array(costs.spans, np.int64))

    def encoded(numbers: list[IntArray], codes: list[IntArray], joint: CellColumns | None = None) -> EncodedTable:
        return EncodedTable(
            size=tables[released].rows if joint else (numbers + codes)[0].size,
            names_numbers=number_names,
            number_columns=[Units(column) for column in numbers],
            names_codes=code_names,
            code_columns=[Codes(column) for column in codes],
            step_cost=costs.steps,
            mismatch_cost=costs.mismatch,
            exact=exact,
            cells=joint,
        )

    markers = {
        name: [part for at, part in enumerate(_markers(tables, name)) if at != released] for name in number_names
    }
    made = [
        encoded(
            [
                _with_markers(grid.values[place], markers[name][place])
                for grid, name in zip(grids, number_names, strict=True)
            ],
            [_code(cells[name], cells[name].places(table.held(name))) for name in code_names],
        )
        for place, table in enumerate(people)
    ]
    singles = [
        np.where(each.single & (each.state != NOBODY), low, MISSING)[each.of_row]
        for each, (low, _) in zip(every, ends, strict=False)
    ]
    made.insert(released, encoded(singles, [_single_code(cells[name]) for name in code_names], joined))
    return tuple(made)


def _ends_on_grid(people: Sequence["pl.Series"], cells: Cells, kind: Kind) -> ColumnGrid:
    """Return original values and cell ends on one grid."""
    import polars as pl

    ranges = cells.ranges
    values = cells.values
    if kind != "ordered":
        values = values.head(1).append(values.tail(1))
    parts = [*people, values]
    if isinstance(values.dtype, pl.Enum):
        parts = [part.to_physical() for part in parts]
    if values.dtype.is_temporal() or isinstance(values.dtype, pl.Enum):
        parts = [part.cast(pl.Int64) for part in parts]
    ranks = kind == "ordered" and values.dtype.is_numeric()
    return on_grid([*parts, ranges.low, ranges.high], [len(people)], ranks=ranks)


def _special_ends(cells: Cells, number: Mapping[str, int], low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
    """Return the cell ends with marks for open, invalid, and missing ones."""
    ranges = cells.ranges
    # Only ends of real numbers are left out; the last step inside is one further.
    low, high = low + ranges.low_out, high - ranges.high_out
    low = np.where(ranges.low.is_null().to_numpy(), LOWEST, low)
    high = np.where(ranges.high.is_null().to_numpy(), HIGHEST, high)
    states = [cells.state == state for state in (SUPPRESSED, NOBODY, ABSENT)]
    gap = np.array([MISSING + number.get(key, 0) for key in cells.marker], np.int64)
    return np.select(states, [ANY, HIGHEST, gap], low), np.select(states, [HIGHEST, LOWEST, gap], high)


def _joined(every: Sequence[Cells], ends: Sequence[tuple[IntArray, IntArray]], spans: IntArray) -> CellColumns:
    """Return the cells of all columns, number columns first, as the kernels take them."""
    codes, starts, members = [], [np.zeros(1, np.int64)], [np.empty(0, np.int32)]
    for each in every[len(ends) :]:
        held = _codes_held(each)
        codes.append(len(each.values) + 2 + len(each.markers))
        starts.append(starts[-1][-1] + np.cumsum([part.size for part in held]))
        members += held
    return CellColumns(
        of_row=np.array([each.of_row for each in every], np.int32),
        offset=np.concatenate([[0], np.cumsum([each.state.size for each in every])]),
        low=np.concatenate([np.empty(0, np.int64), *(low for low, _ in ends)]),
        high=np.concatenate([np.empty(0, np.int64), *(high for _, high in ends)]),
        span=spans,
        start=np.concatenate(starts),
        member=np.concatenate(members),
        codes=np.array(codes, np.int64),
        share=np.concatenate([each.share for each in every]),
        is_any=np.concatenate([each.state == SUPPRESSED for each in every]),
    )


def _codes_held(cells: Cells) -> list[Int32Array]:
    """Return each cell's codes: 0 missing, values from 1, unknown values, markers."""
    sets = cells.sets
    every = np.arange(len(cells.values) + 2 + len(cells.markers), dtype=np.int32)
    held = {SUPPRESSED: every, NOBODY: every[:0]}
    gap = _code(cells, cells.gap).astype(np.int32)
    parts = [
        held.get(state, sets.member[low:high] + np.int32(1))
        for state, low, high in zip(cells.state.tolist(), sets.start, sets.start[1:], strict=False)
    ]
    return [gap[cell : cell + 1] if cells.state[cell] == ABSENT else part for cell, part in enumerate(parts)]


def _code(cells: Cells, place: IntArray) -> IntArray:
    """Return value codes by position; unknown values come last."""
    last = len(cells.values)
    return np.where(place >= -1, place + 1, np.where(place == -2, last + 1, last - 1 - place))


def _single_code(cells: Cells) -> IntArray:
    """Return the code of single-valued cells, else 0."""
    sets = cells.sets
    single = (cells.state == SHOWN) & sets.single
    code = np.zeros(cells.state.size, np.int64)
    code[single] = sets.member[sets.start[:-1][single]] + 1
    code[cells.state == NOBODY] = len(cells.values) + 1
    code[cells.state == ABSENT] = _code(cells, cells.gap)[cells.state == ABSENT]
    return code[cells.of_row]
