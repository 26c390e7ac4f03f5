"""Bring one column of several tables to one kind and role, and read its released cells, or say why that cannot be."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil.data.table._cell_reading import (
    People,
    exact_values,
    read_texts,
    read_values,
    with_intervals,
)
from unveil.data.table._rounding import recognise
from unveil.data.table.cells import ABSENT, NOBODY, SHOWN, SUPPRESSED, Cells, texts_of
from unveil.data.table.kinds import Kind, ToldKind, settle
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.table import Column, Table

_NOUNS = {"number": "numbers", "ordered": "ordered values", "date": "dates", "boolean": "true or false"}
# Up to this share of cells that cannot be read a column is read all the same.
_MOST_UNREAD = 0.5
_FEW_UNREAD = 0.05


class Part(NamedTuple):
    """One column of all tables, of one kind and role; what its released cells stand for if some are coarse."""

    columns: list["Column"]
    values: list["pl.Series"]
    cells: Cells | None = None
    note: str = ""


def one_kind(tables: Sequence["Table"], name: str, *, masked: bool) -> Part:
    """Return the column of each table, all of one kind and role.

    The kind is the one that was told, else the one that all tables of people with a value have; the role likewise, else
    that of the first table. The second table is the released one.
    """
    columns = [table.column(name) for table in tables]
    values = [table.frame[name] for table in tables]
    leader = _leader(tables, columns)
    kind, role = columns[leader].kind, next((each for each in columns if each.role_told), columns[0])
    whose = tables[leader].name, tables[columns.index(role)].name
    form: ToldKind = (_common_levels(values, name) if kind == "ordered" else None) or kind
    unread = len(tables) > 1 and tables[1].cells is None
    plain = not unread or _is_plain(values[1], kind, form)
    for place, (table, column) in enumerate(zip(tables, columns, strict=True)):
        reason = column.reason
        # What has been read, or is about to be, stays as it was written.
        if place != 1 or (unread and plain):
            values[place] = _settled(values[place], column, kind, form, table)
        if (column.kind, column.role) != (kind, role.role):
            reason = f"{kind}: as in the {whose[0]}; {role.role}: as in the {whose[1]}"
        columns[place] = replace(column, kind=kind, role=role.role, reason=reason)
    if not unread:
        return Part(columns, values)
    values[1], cells, note = _read(tables, columns, values, plain=plain, masked=masked)
    return Part(columns, values, cells, note)


def _settled(cells: "pl.Series", column: "Column", kind: Kind, form: ToldKind, table: "Table") -> "pl.Series":
    if column.kind != kind or (not isinstance(form, str) and _levels(cells) != list(form)):
        return settle(cells, told=form, table=table.name).values
    return cells


def _is_plain(cells: "pl.Series", kind: Kind, form: ToldKind) -> bool:
    """Return whether all cells of a released column are single values of this kind already, or nearly so."""
    import polars as pl

    if kind in ("category", "text") or cells.null_count() == cells.len():
        return True
    if not isinstance(form, str):
        return isinstance(cells.dtype, pl.Enum) or (
            cells.dtype == pl.String and bool(cells.drop_nulls().unique().is_in(list(form)).all())
        )
    wanted = {"date": cells.dtype == pl.Datetime, "boolean": cells.dtype == pl.Boolean}
    return wanted.get(kind, cells.dtype.is_numeric())


def _read(
    tables: Sequence["Table"], columns: Sequence["Column"], values: Sequence["pl.Series"], *, plain: bool, masked: bool
) -> tuple["pl.Series", Cells | None, str]:
    """Return the released column, what its cells stand for if some are coarse, and what has to be said."""
    kind, released, note = columns[1].kind, values[1], ""
    persons = [values[0], *values[2:]]
    taken_out = masked and released.null_count() > 0 and values[0].null_count() == 0
    cells = None
    if kind in ("category", "text"):
        plain = not taken_out and _are_known(persons, released)
    if not plain:
        people = People(persons)
        cells = read_texts(people, texts_of(released), kind, columns[0].hierarchy, masked=masked)
        note = _said_of_unread(tables, columns[1], cells)
        if not cells.coarse:
            released, cells = exact_values(cells, released), None
    elif taken_out:
        cells = read_values(People(persons), released, kind, empty=SUPPRESSED)
    used = columns[0].role in ("known", "sensitive")
    if masked and kind == "number" and used and not columns[0].exact:
        shown = released if cells is None else _single_numbers(cells)
        found = None if shown is None else recognise(values[0], shown)
        if found is not None:
            people = People(persons)
            cells = cells or read_values(people, released, kind, empty=ABSENT)
            note = (
                f"column {columns[1].name!r} of the {tables[1].name} is read as {found.said}. If that is wrong, say "
                f"that it is exact (--exact {columns[1].name})"
            )
            cells = with_intervals(cells, found.intervals, people)
    return released, cells, note


def _are_known(people: Sequence["pl.Series"], released: "pl.Series") -> bool:
    """Return whether people have all words of a released column."""
    import polars as pl

    words = released.drop_nulls().unique()
    have = pl.concat([part.drop_nulls().unique().cast(pl.String) for part in people])
    return bool(words.is_in(have.implode()).all())


def _single_numbers(cells: Cells) -> "pl.Series | None":
    """Return the numbers that are shown, row by row, or None where some cell is an interval."""
    shown = cells.state == SHOWN
    if not shown.any() or not cells.single[shown].all():
        return None
    rows = cells.of_row[shown[cells.of_row]]
    return cells.holds.low.gather(rows)  # type: ignore[union-attr]


def _said_of_unread(tables: Sequence["Table"], column: "Column", cells: Cells) -> str:
    """Return a note on cells that cannot be read, or refuse the column if they are most of it."""
    if column.kind in ("category", "text"):
        return ""
    unread = float(np.mean(cells.state[cells.of_row] == NOBODY))
    noun, name = _NOUNS[column.kind], column.name
    if unread > _MOST_UNREAD:
        raise InputError(
            f"column {name!r} holds {noun} in the {tables[0].name}, but {unread:.0%} of the cells of the "
            f"{tables[1].name} are no {noun}, ranges or stars. Tell its kind with kinds={{{name!r}: …}}, name the "
            "texts that stand for missing values with missing=(…), or leave the column out"
        )
    if not unread:
        return ""
    warning = " Figures with this column understate the risk" if unread > _FEW_UNREAD else ""
    return (
        f"{unread:.1%} of the cells of column {name!r} of the {tables[1].name} cannot be read and fit nobody.{warning}"
    )


def with_shares(tables: Sequence["Table"], cells: Mapping[str, Cells | None]) -> dict[str, Cells]:
    """Return the cells of all columns where some are coarse, else none: rows are weighed by all that they show."""
    if not any(cells.values()):
        return {}
    made = {}
    for name, each in cells.items():
        if each is None:
            persons = [table.frame.get_column(name) for table in (tables[0], *tables[2:])]
            released = tables[1].frame.get_column(name)
            each = read_values(People(persons), released, tables[1].column(name).kind, empty=ABSENT)
        made[name] = each
    return made


def _leader(tables: Sequence["Table"], columns: Sequence["Column"]) -> int:
    """Return the position of the table whose kind of the column counts for all; what is released does not lead."""
    told = [position for position, column in enumerate(columns) if column.kind_told]
    # A column without a value can be of any kind.
    filled = [position for position, table in enumerate(tables) if columns[position].missing < table.rows]
    asked = told or [position for position in filled if position != 1] or filled or [0]
    kinds = {columns[position].kind for position in asked}
    if "ordered" in kinds and kinds <= {"ordered", "category", "text"}:
        return next(position for position in asked if columns[position].kind == "ordered")
    first = asked[0]
    for position in asked:
        one, other = columns[first].kind, columns[position].kind
        if other != one and {one, other} != {"category", "text"}:
            name = columns[first].name
            raise InputError(
                f"column {name!r} must be of one kind in all tables, but is {one} in the {tables[first].name} and "
                f"{other} in the {tables[position].name}. Tell its kind with kinds={{{name!r}: …}}, name the texts "
                "that stand for missing values with missing=(…), or leave the column out"
            )
    return first


def _levels(values: "pl.Series") -> list[str] | None:
    import polars as pl

    return values.dtype.categories.to_list() if isinstance(values.dtype, pl.Enum) else None


def _common_levels(values: Sequence["pl.Series"], name: str) -> list[str] | None:
    """Return the longest list of levels, which must hold all others in the same order; None if there is none."""
    every = [levels for series in values if (levels := _levels(series)) is not None]
    longest = max(every, key=len, default=None)
    for levels in every:
        if longest is not None and [level for level in longest if level in set(levels)] != levels:
            raise InputError(
                f"column {name!r} must have one list of levels that holds for all tables, but its levels differ. "
                f"Tell them with kinds={{{name!r}: ['…', '…']}}, from the lowest to the highest"
            )
    return longest
