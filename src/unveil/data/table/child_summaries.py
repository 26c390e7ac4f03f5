"""Summaries of child tables: one row per person, from the rows of each person."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.table.cells import SHOWN
from unveil.data.table.child_tables import ChildTable
from unveil.data.table.coded_columns import CellFrame, StoredColumn, places
from unveil.data.table.column import Column
from unveil.data.table.table import Table
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    AnyArray = NDArray[np.float64] | NDArray[np.int64]

#: Microseconds.
_DAY = 86_400e6


class Summary(NamedTuple):
    """One value per person from the rows of a child table.

    ``source`` is the column of the child table that it is made of; empty for the number of rows.
    """

    column: Column
    values: "pl.Series"
    source: str


def sorted_rows(table: Table, person: IntArray, time: str | None) -> tuple[Table, IntArray]:
    """Return the rows of people, by person, then by time, then by content; rows without a person are left out.

    >>> visits = Table.from_frame({"year": [2002, 2001, 2003], "cost": [5, 6, 7]}, name="visits")
    >>> rows, person = sorted_rows(visits, np.array([1, 1, -1]), "year")
    >>> rows.series("cost").to_list(), person
    ([6, 5], array([1, 1]))
    """
    content = np.empty(table.rows, np.int64)
    content[table.content_order()] = np.arange(table.rows)
    moment = np.zeros(table.rows, np.int64) if time is None else places(table.series(time))
    order = np.lexsort((content, moment, person))
    order = order[np.searchsorted(person[order], 0) :]
    return table.take(order), person[order]


def summaries(child: ChildTable) -> Iterator[Summary]:
    """Yield the summaries of a child table; each depends on the rows of its person alone.

    They are the number of rows, the first time and the mean gap, and for each other column the mean of numbers, the
    earliest date, or the most frequent value (of equally frequent ones the first in their order). Free text and
    identifiers have none; a column that is ignored because others are named has some. A range counts as its middle, and
    a set of values as missing. A person without a value has a missing one.

    >>> visits = Table.from_frame({"cost": [5, 7, 1], "ward": ["a", "a", "b"]}, name="visits")
    >>> for each in summaries(ChildTable("visits", visits, np.array([0, 0, 2]), 3)):
    ...     print(each.column.name, each.values.to_list())
    visits: number of rows [2, 0, 1]
    visits: mean cost [6.0, None, 1.0]
    visits: most frequent ward ['a', None, 'b']
    """
    import polars as pl

    name, person = child.name, child.person
    number = np.bincount(person, minlength=child.people)
    own = Column(name=f"{name}: number of rows", kind="number", role="known", reason="", missing=0)
    yield _summary(own, pl.Series(number), "number of rows of a person", "")
    for column in child.rows.columns:
        if not (column.is_used or (column.role == "ignored" and column.role_told)) or column.kind == "text":
            continue
        values = _values(child.rows, column)
        about = f"of a person's rows in {name!r}"
        if column.name == child.time:
            first, gap = _times(values, person, child.people)
            unit = " in days" if column.kind == "date" else ""
            yield _summary(replace(column, name=f"{name}: first {column.name}"), first, f"first {about}", column.name)
            named = replace(column, name=f"{name}: mean gap of {column.name}{unit}", kind="number", written=())
            yield _summary(named, gap, f"mean time between rows {about}", column.name)
        elif column.kind == "number":
            mean = _means(values, person, child.people)
            yield _summary(replace(column, name=f"{name}: mean {column.name}"), mean, f"mean {about}", column.name)
        elif column.kind == "date":
            first = _times(values, person, child.people)[0]
            yield _summary(
                replace(column, name=f"{name}: earliest {column.name}"), first, f"earliest {about}", column.name
            )
        else:
            most = _most_frequent(values, person, child.people)
            named = replace(column, name=f"{name}: most frequent {column.name}")
            yield _summary(named, most, f"most frequent {about}", column.name)


def with_summaries(
    parent: Table | None, made: Iterable[Summary], *, name: str, without: Sequence[str] = (), keys: "pl.Series | None"
) -> Table:
    """Return one row per person: the columns of the parent table, or the keys, and then the summaries.

    >>> visits = Table.from_frame({"cost": [5, 7, 1]}, name="visits")
    >>> people = Table.from_frame({"age": [31, 40]}, name="people")
    >>> made = summaries(ChildTable("visits", visits, np.array([0, 0, 1]), 2))
    >>> with_summaries(people, made, name="original", keys=None).column_names
    ('age', 'visits: number of rows', 'visits: mean cost')
    """
    base = parent
    if base is None and keys is not None:
        base = Table.from_frame({keys.name: keys}, name=name, kinds={keys.name: "category"})
    kept = [] if base is None else [each for each in base.columns if each.name not in without]
    made = list(made)
    taken = {each.name for each in kept}
    for each in made:
        if each.column.name in taken:
            raise InputError(
                f"The people table has a column {each.column.name!r}, which is the name of a summary. Rename the column"
            )
    columns = (*kept, *(each.column for each in made))
    store = None if base is None else base.store
    content = {each.name: base.content.cells[each.name] for each in kept} if base is not None else {}
    content |= {each.column.name: StoredColumn.of(each.values.alias(each.column.name), store) for each in made}
    if base is None:
        return Table(name, columns, CellFrame(content))
    marked = {each: cells for each, cells in base.marked.items() if each not in without}
    return replace(base, name=name, columns=columns, content=CellFrame(content), marked=marked)


def _summary(column: Column, values: "pl.Series", reason: str, source: str) -> Summary:
    # Its numbers are sums of cells: they are neither rounded nor cut off, and no marker stands in them.
    made = replace(
        column,
        reason=reason,
        missing=values.null_count(),
        markers=(),
        question="",
        hierarchy=None,
        called="",
        exact=True,
    )
    return Summary(made, values, source)


def _values(rows: Table, column: Column) -> "pl.Series":
    """Return the values of a column; of a range its middle."""
    import polars as pl

    cells = (rows.cells or {}).get(column.name)
    if cells is None or not cells.coarse or column.kind not in ("number", "date"):
        return rows.select([column.name]).single_values().series(column.name)
    ends = (cells.ranges.low, cells.ranges.high)
    kind = pl.Float64 if column.kind == "number" else pl.Int64
    low, high = (each.fill_null(other).cast(kind) for each, other in zip(ends, reversed(ends), strict=True))
    half = (high - low) / 2 if column.kind == "number" else (high - low) // 2
    shown = pl.Series((cells.state == SHOWN)[cells.of_row])
    middle = (low + half).gather(cells.of_row).zip_with(shown, pl.repeat(None, rows.rows, dtype=kind, eager=True))
    return middle if column.kind == "number" else middle.cast(cells.values.dtype)


def _means(values: "pl.Series", person: IntArray, people: int) -> "pl.Series":
    """Return the mean of each person's numbers; added by size, so that their order is all the same."""
    import polars as pl

    own, numbers, starts, ends = _by_person(values.cast(pl.Float64), person)
    sums = np.add.reduceat(numbers, starts) if starts.size else np.empty(0)
    return _placed(sums / (ends - starts + 1), own, people)


def _times(values: "pl.Series", person: IntArray, people: int) -> "tuple[pl.Series, pl.Series]":
    """Return each person's first time, and the mean time between rows: in days for dates."""
    is_date = values.dtype.is_temporal()
    own, numbers, starts, ends = _by_person(values.to_physical() if is_date else values, person)
    several = ends > starts
    gaps = (numbers[ends] - numbers[starts])[several] / (ends - starts)[several]
    first = _placed(numbers[starts], own, people).cast(values.dtype)
    return first, _placed(gaps / (_DAY if is_date else 1.0), own[several], people)


def _most_frequent(values: "pl.Series", person: IntArray, people: int) -> "pl.Series":
    """Return each person's most frequent value; of equally frequent ones the first in their order."""
    import polars as pl

    rows = pl.DataFrame({"person": person, "value": values}).drop_nulls("value")
    counts = rows.group_by("person", "value").len().sort("person", "len", "value", descending=[False, True, False])
    best = counts.unique("person", keep="first", maintain_order=True)
    whole = pl.DataFrame({"person": np.arange(people)}).join(best, on="person", how="left", maintain_order="left")
    return whole["value"]


def _by_person(values: "pl.Series", person: IntArray) -> "tuple[IntArray, AnyArray, IntArray, IntArray]":
    """Return the people with a number, the numbers by person and size, and the first and last of each person."""
    there = values.is_not_null().to_numpy()
    own, numbers = person[there], values.drop_nulls().to_numpy()
    order = np.lexsort((numbers, own))
    own, numbers = own[order], numbers[order]
    starts, ends = np.flatnonzero(np.diff(own, prepend=-1)), np.flatnonzero(np.diff(own, append=-1))
    return own[starts], numbers, starts, ends


def _placed(numbers: "AnyArray", own: IntArray, people: int) -> "pl.Series":
    """Return one number per person, missing for the rest."""
    import polars as pl

    place = pl.Series(np.full(people, -1)).scatter(own, np.arange(own.size))
    return pl.Series(numbers).gather(place.replace(-1, None))
