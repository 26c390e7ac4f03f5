"""Build the columns of a table and detect ordered codes."""

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from unveil.data.files.column_store import ColumnStore
from unveil.data.table._names import renamed
from unveil.data.table.coded_columns import CellColumn, CellFrame, StoredColumn, cells_of, marks_in
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

#: Returns a column as it came in, with a remark on its cells.
LoadCells: TypeAlias = "Callable[[], tuple[pl.Series, str]]"


@dataclass(frozen=True, kw_only=True)
class ColumnSettings:
    """Declared column settings, as in `Table.from_frame`."""

    kinds: Mapping[str, DeclaredKind] | None = None
    roles: Mapping[str, Role] | None = None
    missing: Collection[str] | Mapping[str, Collection[str]] = ()
    markers: DeclaredMarkers | None = None
    dictionary: Dictionary | str | os.PathLike[str] | None = None
    rename: Mapping[str, str] | None = None
    elsewhere: bool = False

    def of(self, names: Collection[str]) -> "ColumnSettings":
        """Return the settings for these columns."""
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
    """Columns of a table: metadata, values, markers, and notes."""

    columns: tuple[Column, ...]
    content: CellFrame
    marked: "dict[str, pl.Series]"
    notes: tuple[str, ...]


class SettledColumn(NamedTuple):
    """Column after type conversion, with its cells in memory or on disk."""

    typed: TypedColumn
    values: CellColumn
    codes: "CellColumn | None"
    marked: "pl.Series | None"
    role: tuple[Role, str]

    @classmethod
    def of(cls, typed: TypedColumn, store: ColumnStore | None) -> "SettledColumn":
        """Return a column with its cells on disk if there is a store."""
        values, codes, marked = typed.values, typed.codes, typed.marked
        bare = replace(typed, values=values.clear(), codes=None, marked=None)
        coded = None if codes is None else StoredColumn.of(codes, store)
        marked = None if marked is None else marks_in(store, marked)
        return cls(bare, StoredColumn.of(values, store), coded, marked, guess_role(values, typed.kind))


def built_columns(
    columns: list[tuple[str, LoadCells]], settings: ColumnSettings, table: str, store: ColumnStore | None = None
) -> BuiltColumns:
    """Return the columns with their types, roles, and new names.

    ``columns`` are the names of those that come in and how each is loaded; the list is empty afterwards, so that each
    column of text can go as soon as it is read. ``table`` is how messages call the table, and ``store`` where its
    columns are put on disk, each as soon as it is settled.
    """
    before = _renamed(columns, settings, table)
    names = [name for name, _ in columns]
    _check_names(names, table)
    settings = settings.of(names)
    kinds, roles, dictionary = settings.kinds or {}, settings.roles or {}, settings.dictionary
    _check_told(names, table, kinds, roles)
    if dictionary is not None and not isinstance(dictionary, Dictionary):
        dictionary = read_dictionary(dictionary)
    told = told_markers(settings.missing, settings.markers, names, table)
    settled, notes = settled_columns(columns, kinds, told, dictionary, table, store)
    known = {} if dictionary is None else dictionary.columns
    described = (
        _described(name, each, roles.get(name) or getattr(known.get(name), "role", None), before.get(name, ""))
        for name, each in zip(names, settled, strict=True)
    )
    return BuiltColumns(
        tuple(described),
        CellFrame({name: each.values for name, each in zip(names, settled, strict=True)}),
        {name: each.marked for name, each in zip(names, settled, strict=True) if each.marked is not None},
        notes,
    )


def _renamed(columns: list[tuple[str, LoadCells]], settings: ColumnSettings, table: str) -> dict[str, str]:
    """Rename columns, and return the previous name of each."""
    rename, names = settings.rename or {}, [name for name, _ in columns]
    if settings.elsewhere:
        rename = {old: new for old, new in rename.items() if old in names}
    new = renamed(names, rename, table=table)
    columns[:] = [(name, load) for name, (_, load) in zip(new, columns, strict=True)]
    return {new: old for old, new in rename.items()}


def refuse_empty(columns: "Sequence[tuple[pl.Series, str]]", table: str) -> None:
    """Refuse a table without columns or rows."""
    if not columns or columns[0][0].len() == 0:
        seen = "no column" if not columns else "no row"
        raise InputError(f"the {table} must have at least one row and one column, but has {seen}. Pass the whole table")


def _check_names(names: Sequence[str], table: str) -> None:
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
                f"the role of column {name!r} must be one of {', '.join(ROLES)}. Choose one of them in roles={{…}}"
            )


def _described(name: str, column: SettledColumn, declared_role: Role | None, called: str) -> Column:
    role, why = (declared_role, "as told") if declared_role else column.role
    settled = column.typed
    return Column(
        name=name,
        kind=settled.kind,
        role=role,
        reason=f"{settled.kind}: {settled.reason}; {role}: {why}",
        missing=column.values.null_count(),
        role_told=declared_role is not None,
        confidence=settled.confidence,
        markers=settled.markers,
        question=settled.question,
        written=settled.written,
        called=called,
    )


def settled_columns(
    columns: list[tuple[str, LoadCells]],
    kinds: Mapping[str, DeclaredKind],
    markers: Mapping[str, Mapping[str, MarkerKind]],
    dictionary: Dictionary | None,
    table: str,
    store: ColumnStore | None = None,
) -> tuple[list[SettledColumn], tuple[str, ...]]:
    """Return all typed columns, with disagreements of the dictionary.

    Parameters
    ----------
    columns
        The names of the columns and how each is loaded; the list is empty afterwards, so that each column of text can
        go as soon as it is read.
    kinds, markers
        Kinds that were told, and texts that were told to be markers in each column.
    dictionary
        What is known of the columns from elsewhere.
    table
        How messages call the table.
    store
        Where settled columns are put on disk; None is memory.
    """
    names = [name for name, _ in columns]
    settled, notes = [], [] if dictionary is None else dictionary.notes_on(names, table)
    columns.reverse()
    while columns:
        name, load = columns.pop()
        cells, remark = load()
        series = cells.alias(name)
        del load, cells
        entry = None if dictionary is None else dictionary.columns.get(name)
        told = markers[name]
        if name in kinds:
            one = settle(series, declared=kinds[name], markers=told, table=table)
        elif dictionary is not None and entry is not None:
            one, said = settled_by(entry, series, told, dictionary, table)
            notes += said
        else:
            one = settle(series, markers=told, remark=remark, table=table)
        settled.append(SettledColumn.of(one, store))
        del series, one
    return _with_order(settled), tuple(notes)


def _with_order(settled: list[SettledColumn]) -> list[SettledColumn]:
    """Return the columns, with codes ordered where other columns show it."""
    if all(each.codes is None for each in settled):
        return settled

    columns = {str(place): each.values if each.codes is None else each.codes for place, each in enumerate(settled)}
    whole = CellFrame(columns)
    rows = rows_for_test(whole)
    frame = whole[slice(None) if rows is None else rows]
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


def _ordered_by(column: SettledColumn, test: CodeOrderTest) -> SettledColumn:
    if not test.is_ordered or column.codes is None:
        return column
    codes = cells_of(column.codes)
    low, high = (text_of(codes.sort().drop_nulls())[end] for end in (0, -1))
    reason = (
        f"codes {low} to {high}, and other columns rise or fall along them ({test.share:.0%} of the variation between "
        f"codes is in this direction; {test.as_good} of {ORDERS} other orders do as well)"
    ).replace("%", " %")
    confidence: Confidence = "unsure" if test.codes == 3 else "likely"
    typed = replace(column.typed, kind="ordered", reason=reason, confidence=confidence)
    return column._replace(typed=typed, values=column.codes, role=guess_role(codes, "ordered"))
