"""Turn the columns of several tables into whole numbers on shared scales, so that distances of rows are exact."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import Int32Array, IntArray
from unveil.data.table._grid import LAST_MARKER, MISSING, on_grid
from unveil.data.table.table import Kind, Table
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LAST_MARKER", "MISSING", "Encoded", "encode", "without_markers"]


_LARGEST_DISTANCE = 2**61
_NUMBER_KINDS = ("number", "ordered", "date")
# A step that is to cost at least this much is rounded by less than 0.4 %.
_LEAST_STEP = 2**8


@dataclass(frozen=True, eq=False)
class Encoded:
    """One table's columns as whole numbers, on scales and codes that all tables of one call share.

    The distance of two rows is the sum of ``step_cost`` times the difference over the number columns, plus
    ``mismatch_cost`` for each code that differs and for each number that only one of the two rows has, or that neither
    has for another reason. It is at most 2**61. Divided by ``mismatch_cost`` it counts mismatches, a whole span being
    one.

    Attributes
    ----------
    names_numbers, numbers
        The columns of kinds number, ordered and date, in grid units; `MISSING` where the value is missing, and one of
        the next numbers up to `LAST_MARKER` where a marker stands for it: each marker equals itself only.
    names_codes, codes
        All other columns, each value a number from 1 on; 0 is a missing value, a category of its own, and so is each
        number below 0, a marker that stands for no value.
    step_cost
        The cost of one grid unit of each number column; 0 for a column whose span is 0.
    mismatch_cost
        The cost of two different categories, and of a whole span of a number column.
    exact
        Whether nothing was rounded: the distance is then ``mismatch_cost`` times the exact fraction. False as soon as
        a column is truly real, has a span of more than 2**58 steps, or the costs of all columns do not fit.
    """

    names_numbers: tuple[str, ...]
    numbers: IntArray
    names_codes: tuple[str, ...]
    codes: Int32Array
    step_cost: IntArray
    mismatch_cost: int
    exact: bool = True


def encode(tables: Sequence[Table], columns: Sequence[str], *, span_of: Sequence[int] = (0, 1)) -> tuple[Encoded, ...]:
    """Return the columns of each table as whole numbers with which the distance of two rows is exact.

    A number column counts in steps that all its values are multiples of: whole numbers, up to six decimals, days or
    microseconds. Truly real values are put on 2**-40 of the span. Two values as far apart as the span cost as
    much as two different categories: ``mismatch_cost`` is the least common multiple of the spans, in steps, where
    that fits; then two distances are equal if and only if the exact fractions are. Where it does not fit, the widest
    columns stay exact as far as they can and the costs of the other columns' steps are rounded, by less than 0.4 %:
    ties within a column stay exact, ties of sums over several columns may break. A span of more than some 2**45
    steps then gets wider ones, on which values nearer than 2**-36 of the span may fall together.

    Nothing depends on the order of the rows, nor, for values within the range, on tables that ``span_of`` leaves out.

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
    kinds = _checked_kinds(tables, columns)
    number_names = tuple(name for name in columns if kinds[name] in _NUMBER_KINDS)
    code_names = tuple(name for name in columns if kinds[name] not in _NUMBER_KINDS)
    reference = [position for position in span_of if position < len(tables)]
    codes = [np.empty((table.rows, len(code_names)), np.int32) for table in tables]
    for place, name in enumerate(code_names):
        for coded, part in zip(codes, _codes([table.frame[name] for table in tables]), strict=True):
            coded[:, place] = part
        for coded, marker in zip(codes, _markers(tables, name), strict=True):
            if marker is not None:
                coded[:, place] = np.where(coded[:, place] == 0, -marker, coded[:, place])
    numbers = [np.empty((table.rows, len(number_names)), np.int64) for table in tables]
    spans, reach, exact = [], len(code_names), True
    for place, name in enumerate(number_names):
        grid = on_grid([table.frame[name] for table in tables], reference, ranks=kinds[name] == "ordered")
        spans.append(grid.span)
        reach += grid.reach
        exact = exact and grid.exact
        for array, units, marker in zip(numbers, grid.values, _markers(tables, name), strict=True):
            array[:, place] = units if marker is None else np.where(units == MISSING, MISSING + marker, units)
    mismatch, fits = _mismatch_cost(spans, reach)
    if not fits:
        # The wider steps of a column may make its reach one span longer.
        reach += len(spans)
        spans = _widened(numbers, spans, _LARGEST_DISTANCE // (reach * _LEAST_STEP))
        mismatch, _ = _mismatch_cost(spans, reach)
    steps = np.array([(2 * mismatch + span) // (2 * span) if span else 0 for span in spans], np.int64)
    return tuple(
        Encoded(number_names, array, code_names, coded, steps, mismatch, exact and fits)
        for array, coded in zip(numbers, codes, strict=True)
    )


def _checked_kinds(tables: Sequence[Table], columns: Sequence[str]) -> dict[str, Kind]:
    """Return the kind of each column, or say what is wrong with it."""
    if not tables:
        raise InputError("there must be at least one table to encode. Pass the original and the released table")
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if list(columns).count(name) > 1)
        raise InputError(f"each column may be named once, but {twice!r} is named more often. Name it once")
    kinds: dict[str, Kind] = {}
    schemas = [table.frame.schema for table in tables]
    for name in columns:
        every = {table.column(name).kind for table in tables}
        types = {schema[name] for schema in schemas}
        # Whole and real numbers go together; levels of two orders, or texts and truth values, do not.
        mixed = len(types) > 1 and not all(map(_is_number, types))
        if mixed or (len(every) > 1 and every != {"category", "text"}):
            raise InputError(
                f"column {name!r} must be of one kind in all tables, but is {' and '.join(sorted(every))}. "
                "Bring the tables together with unveil.data.table.agree first"
            )
        kinds[name] = tables[0].column(name).kind
    return kinds


def _is_number(dtype: "pl.DataType") -> bool:
    return dtype.is_numeric()


def _codes(parts: Sequence["pl.Series"]) -> list[Int32Array]:
    """Return the number of each cell: 0 for missing, else from 1 in the order of the values of all tables."""
    import polars as pl

    if parts[0].dtype == pl.Boolean:
        return [(part.cast(pl.Int32) + 1).fill_null(0).to_numpy() for part in parts]
    # One join for all tables: starting one costs more than a thousand cells do.
    cells = pl.concat(parts).alias("word")
    numbered = cells.unique().drop_nulls().sort().to_frame().with_row_index("code", offset=1)
    found = cells.to_frame().join(numbered, on="word", how="left", maintain_order="left")["code"]
    return np.split(found.fill_null(0).cast(pl.Int32).to_numpy(), np.cumsum([part.len() for part in parts])[:-1])


def _markers(tables: Sequence[Table], name: str) -> list[IntArray | None]:
    """Return the number of the marker in each cell, the same in all tables for the same marker; 0 for none."""
    keys = sorted({marker.key for table in tables if name in table.marked for marker in table.column(name).markers})
    numbers: list[IntArray | None] = []
    for table in tables:
        if name in table.marked:
            own = [0, *(1 + keys.index(marker.key) for marker in table.column(name).markers)]
            numbers.append(np.array(own, np.int64)[table.marked[name].to_numpy()])
        else:
            numbers.append(None)
    return numbers


def without_markers(numbers: IntArray) -> IntArray:
    """Return grid units with `MISSING` for every marker, for those who do not ask why a value is missing.

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


def _widened(numbers: Sequence[IntArray], spans: Sequence[int], most: int) -> list[int]:
    """Give columns with more than ``most`` steps in their span wider ones, in place, and return the spans."""
    for place, span in enumerate(spans):
        step = -(-span // most)
        if step > 1:
            for array in numbers:
                units = array[:, place]
                units[...] = np.where(units <= LAST_MARKER, units, units // step)
    return [span // max(1, -(-span // most)) for span in spans]
