"""Bring one column of several tables to one kind and role, or say why that cannot be."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from unveil.data.table.kinds import ToldKind, settle
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.table import Column, Table


def one_kind(tables: Sequence["Table"], name: str) -> list[tuple["Column", "pl.Series"]]:
    """Return the column of each table, all of one kind and role.

    The kind is the one that was told, else the one that all tables with a value have; the role likewise, else that of
    the first table.
    """
    columns = [table.column(name) for table in tables]
    values = [table.frame[name] for table in tables]
    leader = _leader(tables, columns)
    kind, role = columns[leader].kind, next((each for each in columns if each.role_told), columns[0])
    form: ToldKind = (_common_levels(values, name) if kind == "ordered" else None) or kind
    parts = []
    for table, column, cells in zip(tables, columns, values, strict=True):
        reason = column.reason
        if column.kind != kind or (not isinstance(form, str) and _levels(cells) != list(form)):
            cells = settle(cells, told=form, table=table.name).values
        if (column.kind, column.role) != (kind, role.role):
            whose = tables[leader].name, tables[columns.index(role)].name
            reason = f"{kind}: as in the {whose[0]}; {role.role}: as in the {whose[1]}"
        parts.append((replace(column, kind=kind, role=role.role, reason=reason), cells))
    return parts


def _leader(tables: Sequence["Table"], columns: Sequence["Column"]) -> int:
    """Return the position of the table whose kind of the column counts for all."""
    told = [position for position, column in enumerate(columns) if column.kind_told]
    # A column without a value can be of any kind.
    filled = [position for position, table in enumerate(tables) if columns[position].missing < table.rows]
    asked = told or filled or [0]
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
                f"{other} in the {tables[position].name}. Tell the kind with kinds={{{name!r}: 'category'}} (or "
                "another), name the texts that stand for missing values with missing=(…), or leave the column out"
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
