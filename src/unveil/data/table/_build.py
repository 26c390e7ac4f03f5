"""Make the columns of a table: each is settled by itself, then codes whose order the other columns may show."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil.data.files.column_store import ColumnStore
from unveil.data.table._names import renamed
from unveil.data.table.column import Column
from unveil.data.table.dictionaries import Dictionary, settled_by
from unveil.data.table.dictionary_files import read_dictionary
from unveil.data.table.forms import text_of
from unveil.data.table.kinds import ROLES, DeclaredKind, Role, TypedColumn, guess_role, settle
from unveil.data.table.markers import DeclaredMarkers, told_markers
from unveil.data.table.order_test import ORDERS, CodeOrderTest, features_of, order_test, rows_for_test
from unveil.data.table.rules import Confidence
from unveil.data.table.words import MarkerKind
from unveil.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class ColumnSettings:
    """What was told of the columns of a table; the fields are those of `Table.from_frame`."""

    kinds: Mapping[str, DeclaredKind] | None = None
    roles: Mapping[str, Role] | None = None
    missing: Collection[str] | Mapping[str, Collection[str]] = ()
    markers: DeclaredMarkers | None = None
    dictionary: Dictionary | str | os.PathLike[str] | None = None
    rename: Mapping[str, str] | None = None
    elsewhere: bool = False

    def of(self, names: Collection[str]) -> "ColumnSettings":
        """Return what is about these columns, where settings may be about others elsewhere."""
        if not self.elsewhere:
            return self
        missing, markers = self.missing, self.markers or {}
        if isinstance(missing, Mapping):
            missing = {name: texts for name, texts in missing.items() if name in names}
        return replace(
            self,
            kinds={name: kind for name, kind in (self.kinds or {}).items() if name in names},
            roles={name: role for name, role in (self.roles or {}).items() if name in names},
            missing=missing,
            markers={key: told for key, told in markers.items() if isinstance(told, str) or key in names},
        )


class BuiltColumns(NamedTuple):
    """The columns of a table: what is known of them, their values, which cells are markers, and what must be said."""

    columns: tuple[Column, ...]
    frame: "pl.DataFrame"
    marked: "dict[str, pl.Series]"
    notes: tuple[str, ...]


def built_columns(
    columns: "list[tuple[pl.Series, str]]", settings: ColumnSettings, table: str, store: ColumnStore | None = None
) -> BuiltColumns:
    """Return the columns in the forms of their kinds, with roles and names as they were told.

    ``columns`` are those that came in, each with a remark on its cells; the list is empty afterwards, so that each
    column of text can go as soon as it is read. ``table`` is how messages call the table, and ``store`` where its
    columns are kept on disk, each as soon as it is settled.
    """
    import polars as pl

    before = _renamed(columns, settings, table)
    names = [series.name for series, _ in columns]
    _check_names(names, columns, table)
    settings = settings.of(names)
    kinds, roles, dictionary = settings.kinds or {}, settings.roles or {}, settings.dictionary
    _check_told(names, table, kinds, roles)
    if dictionary is not None and not isinstance(dictionary, Dictionary):
        dictionary = read_dictionary(dictionary)
    told = told_markers(settings.missing, settings.markers, names, table)
    settled, notes = settled_columns(columns, kinds, told, dictionary, table, store)
    known = {} if dictionary is None else dictionary.columns
    described = (
        _described(each, roles.get(name) or getattr(known.get(name), "role", None), before.get(name, ""))
        for name, each in zip(names, settled, strict=True)
    )
    return BuiltColumns(
        tuple(described),
        pl.DataFrame({each.values.name: each.values for each in settled}),
        {each.values.name: each.marked for each in settled if each.marked is not None},
        notes,
    )


def _renamed(columns: "list[tuple[pl.Series, str]]", settings: ColumnSettings, table: str) -> dict[str, str]:
    """Give the columns their new names, and return what each of those was called before."""
    rename, there = settings.rename or {}, {series.name for series, _ in columns}
    if settings.elsewhere:
        rename = {old: new for old, new in rename.items() if old in there}
    columns[:] = renamed(columns, rename, table=table)
    return {new: old for old, new in rename.items()}


def _check_names(names: Sequence[str], columns: "list[tuple[pl.Series, str]]", table: str) -> None:
    if not columns or columns[0][0].len() == 0:
        seen = "no column" if not columns else "no row"
        raise InputError(f"the {table} must have at least one row and one column, but has {seen}. Pass the whole table")
    pattern = next(
        (place for place, text in enumerate(names, 1) if text == "*" or re.fullmatch(r"\^.*\$", text, re.S)), 0
    )
    if pattern:  # polars takes such a name for a pattern of names
        raise InputError(
            f"a column name must not be * nor begin with ^ and end with $, as that of column {pattern} of the {table} "
            "does. Rename it"
        )


def _check_told(names: Sequence[str], table: str, kinds: Mapping[str, DeclaredKind], roles: Mapping[str, Role]) -> None:
    for what, told in (("kinds", kinds), ("roles", roles)):
        unknown = [name for name in told if name not in set(names)]
        if unknown:
            raise InputError(
                f"{what} names column {unknown[0]!r}, which is not in the {table}.{did_you_mean(unknown[0], names)} "
                "Correct the name, or leave it out"
            )
    for name, role in roles.items():
        if role not in ROLES:
            raise InputError(
                f"the role of column {name!r} must be one of {', '.join(ROLES)}. Correct it in roles={{…}}"
            )


def _described(settled: TypedColumn, declared_role: Role | None, called: str) -> Column:
    role, why = (declared_role, "as told") if declared_role else guess_role(settled.values, settled.kind)
    return Column(
        name=settled.values.name,
        kind=settled.kind,
        role=role,
        reason=f"{settled.kind}: {settled.reason}; {role}: {why}",
        missing=settled.values.null_count(),
        role_told=declared_role is not None,
        confidence=settled.confidence,
        markers=settled.markers,
        question=settled.question,
        written=settled.written,
        called=called,
    )


def settled_columns(
    columns: "list[tuple[pl.Series, str]]",
    kinds: Mapping[str, DeclaredKind],
    markers: Mapping[str, Mapping[str, MarkerKind]],
    dictionary: Dictionary | None,
    table: str,
    store: ColumnStore | None = None,
) -> tuple[list[TypedColumn], tuple[str, ...]]:
    """Return all columns of a table in the forms of their kinds, and what the dictionary does not agree with.

    Parameters
    ----------
    columns
        The columns as they came in, each with a remark on its cells; the list is empty afterwards, so that each column
        of text can go as soon as it is read.
    kinds, markers
        Kinds that were told, and texts that were told to be markers in each column.
    dictionary
        What is known of the columns from elsewhere.
    table
        How messages call the table.
    store
        Where settled columns are kept on disk; None is memory.
    """
    names = [series.name for series, _ in columns]
    settled, notes = [], [] if dictionary is None else dictionary.notes_on(names, table)
    columns.reverse()
    while columns:
        series, remark = columns.pop()
        entry = None if dictionary is None else dictionary.columns.get(series.name)
        told = markers[series.name]
        if series.name in kinds:
            one = settle(series, declared=kinds[series.name], markers=told, table=table)
        elif dictionary is not None and entry is not None:
            one, said = settled_by(entry, series, told, dictionary, table)
            notes += said
        else:
            one = settle(series, markers=told, remark=remark, table=table)
        settled.append(one if store is None else _kept(one, series, store))
        del series, one
    return _with_order(settled), tuple(notes)


def _kept(column: TypedColumn, raw: "pl.Series", store: ColumnStore) -> TypedColumn:
    """Return the column with its cells on disk; they may be those that came in, unless these lie in many pieces."""
    marked, codes = (None if each is None else store.column(each) for each in (column.marked, column.codes))
    values = store.column(column.values, like=raw if raw.n_chunks() == 1 else None)
    return replace(column, values=values, marked=marked, codes=codes)


def _with_order(settled: Sequence[TypedColumn]) -> list[TypedColumn]:
    """Return the columns, those codes being ordered whose order shows in other columns."""
    if all(each.codes is None for each in settled):
        return list(settled)
    import polars as pl

    columns = {str(place): each.values if each.codes is None else each.codes for place, each in enumerate(settled)}
    frame = pl.DataFrame(columns)
    rows = rows_for_test(frame)
    frame = frame if rows is None else frame[rows]
    parts = features_of(frame.get_columns())
    tested = []
    for place, each in enumerate(settled):
        if each.codes is not None:
            codes = frame[str(place)]
            others = [part for at, part in enumerate(parts) if at != place]
            if codes.n_unique() - bool(codes.null_count()) > 2:
                each = _ordered_by(each, order_test(codes, np.column_stack([np.empty((codes.len(), 0)), *others])))
        tested.append(each)
    return tested


def _ordered_by(column: TypedColumn, test: CodeOrderTest) -> TypedColumn:
    if not test.is_ordered or column.codes is None:
        return column
    low, high = (text_of(column.codes.sort().drop_nulls())[end] for end in (0, -1))
    reason = (
        f"codes {low} to {high}, and other columns rise or fall along them ({test.share:.0%} of what the codes "
        f"tell goes one way, and of {ORDERS} other orders {test.as_good} do as well)"
    ).replace("%", " %")
    confidence: Confidence = "unsure" if test.codes == 3 else "likely"
    return replace(column, values=column.codes, kind="ordered", reason=reason, confidence=confidence)
