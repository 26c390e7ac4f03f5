"""Build the columns of a table and detect ordered codes."""

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unveil.data.files.column_store import ColumnStore
from unveil.data.table._names import renamed
from unveil.data.table.coded_columns import CellColumn, CellFrame, StoredColumn, cells_of, marks_in
from unveil.data.table.column import Column
from unveil.data.table.dictionaries import Dictionary, settled_by
from unveil.data.table.dictionary_files import read_dictionary
from unveil.data.table.forms import text_of
from unveil.data.table.kinds import ROLES, DeclaredKind, Role, TypedColumn, guess_role, settle
from unveil.data.table.markers import DeclaredMarkers, told_markers
from unveil.data.table.rules import Confidence
from unveil.data.table.words import MarkerKind
from unveil.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import polars as pl


Floats = NDArray[np.float64]

_MOST_ROWS = 20_000
_MOST_FEATURES = 60
_MOST_WORDS = 6
_LEAST_F = 4.0
#: How many orders are drawn by lot; they are always the same ones.
ORDERS = 200
# Orders that are each other's reverse are equally good, but for rounding.
_ROUNDING = 1e-12


class CodeOrderTest(NamedTuple):
    """Result of the order test: how well other columns agree with the codes.

    ``share`` is the part of what the codes tell about other columns that a straight line along the codes explains,
    from 0 to 1, NaN where they tell nothing; ``as_good`` is how many of the 200 orders drawn by lot explain as much,
    and ``best`` whether no order does better, which is tried out for three codes only.
    """

    codes: int
    share: float
    as_good: int
    best: bool

    @property
    def is_ordered(self) -> bool:
        """True if the codes count as ordered."""
        if self.codes == 3:
            return self.share >= 0.8 and self.best
        chance = self.as_good / ORDERS
        clear = self.codes >= 4 and self.share >= 0.5 and chance <= 0.1
        return clear or (self.codes >= 5 and self.share >= 0.2 and chance <= 0.02)


def order_test(codes: "pl.Series", features: Floats) -> CodeOrderTest:
    """Return how well other columns agree with the order of these codes.

    Parameters
    ----------
    codes
        The codes as numbers, null where there is none; at least three different ones.
    features
        The other columns as numbers, one row per code; NaN where there is none. See `features_of`.

    Examples
    --------
    >>> import polars as pl
    >>> school = pl.Series([1, 2, 3, 4] * 50)
    >>> pay = np.array([10.0, 21.0, 29.0, 41.0] * 50) + np.arange(200) % 7
    >>> found = order_test(school, pay[:, None])
    >>> round(found.share, 2), found.is_ordered
    (0.99, True)
    """
    there = codes.is_not_null().to_numpy()
    level = codes.rank("dense").fill_null(1).to_numpy().astype(np.int64)[there] - 1
    size = int(level.max(initial=-1)) + 1
    sums = _sums(level, features[there], size)
    shares = _shares(_orders(size), sums.only(_telling(sums)))
    own, others = shares[0], shares[1:]
    better = others > own + _ROUNDING
    return CodeOrderTest(
        codes=size,
        share=float(own),
        as_good=int((others[:ORDERS] >= own - _ROUNDING).sum()),
        best=size == 3 and not better.any(),
    )


def _orders(size: int) -> Floats:
    """Return code orders, one per row: their own, then random or all."""
    rng = np.random.default_rng(0)
    own = np.arange(size, dtype=np.float64)
    drawn = [rng.permutation(own) for _ in range(ORDERS)]
    return np.array([own, *drawn, *(permutations(own) if size == 3 else ())])


class _Sums(NamedTuple):
    """Counts, sums, and sums of squares of features by code.

    Features are ranks, so that all of these are exact, in whatever order the rows come.
    """

    weight: Floats
    total: Floats
    squares: Floats

    def only(self, kept: NDArray[np.int64]) -> "_Sums":
        return _Sums(self.weight[:, kept], self.total[:, kept], self.squares[kept])

    def variations(self) -> tuple[Floats, Floats]:
        """Return the total and between-code sums of squares of each feature."""
        rows, everything = self.weight.sum(axis=0), self.total.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            around = everything**2 / rows
            means = np.where(self.weight > 0, self.total**2 / self.weight, 0.0).sum(axis=0)
        return self.squares - around, means - around


def _sums(level: NDArray[np.int64], features: Floats, size: int) -> _Sums:
    order = np.argsort(level, kind="stable")
    start = np.searchsorted(level[order], np.arange(size))
    there = ~np.isnan(features[order])
    filled = np.where(there, features[order], 0.0)
    weight = np.add.reduceat(there.astype(np.float64), start, axis=0)
    return _Sums(weight, np.add.reduceat(filled, start, axis=0), (filled**2).sum(axis=0))


def _telling(sums: _Sums) -> NDArray[np.int64]:
    """Return the features that differ between codes, strongest first."""
    all_of_it, between = sums.variations()
    rows, present = sums.weight.sum(axis=0), (sums.weight > 0).sum(axis=0)
    within = all_of_it - between
    with np.errstate(invalid="ignore", divide="ignore"):
        f = np.where(within > 0, (between / (present - 1)) / (within / (rows - present)), np.inf)
    f = np.where((between > 0) & (present > 1) & (rows > present), f, 0.0)
    best = np.argsort(-f, kind="stable")[:_MOST_FEATURES]
    return np.asarray(best[f[best] > _LEAST_F])


def _shares(orders: Floats, sums: _Sums) -> Floats:
    """Return the share of between-code variation explained linearly, by order."""
    if not sums.weight.size:
        return np.full(len(orders), np.nan)
    all_of_it, between = sums.variations()
    rows = sums.weight.sum(axis=0)
    place = orders @ sums.weight / rows
    spread = orders**2 @ sums.weight - rows * place**2
    along = orders @ sums.total - place * sums.total.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        explained = np.where(spread > 0, along**2 / spread, 0.0) / all_of_it
    return np.asarray(explained.sum(axis=1) / (between / all_of_it).sum())


def features_of(columns: Sequence["pl.Series"]) -> list[Floats]:
    """Return each column as numeric features, NaN for missing.

    A number, a date or an order is its rank among the values, a word is 0 or 1 for each of the six most frequent ones.

    >>> import polars as pl
    >>> features_of([pl.Series([30, None, 50]), pl.Series(["a", "b", "a"])])[1].tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    """
    return [_feature(column) for column in columns]


def _feature(column: "pl.Series") -> Floats:
    import polars as pl

    if column.dtype == pl.Enum:
        column = column.to_physical()
    if column.dtype != pl.String:
        rank = column.cast(pl.Int8) if column.dtype == pl.Boolean else column.rank()
        return rank.cast(pl.Float64).fill_null(float("nan")).to_numpy()[:, None]
    counts = column.drop_nulls().value_counts(name="how often")
    frequent = counts.sort(["how often", counts.columns[0]], descending=[True, False])[counts.columns[0]]
    made = [(column == word).cast(pl.Float64).fill_null(float("nan")) for word in frequent.head(_MOST_WORDS)]
    return np.column_stack(made) if made else np.empty((column.len(), 0))


def rows_for_test(frame: "CellFrame") -> "NDArray[np.int64] | None":
    """Return up to 20,000 rows for the test, chosen by content.

    Rows with the same cells count as one another, so that which of them is taken does not matter.
    """
    if frame.height <= _MOST_ROWS:
        return None
    hashes = frame.hash_rows(seed=0).to_numpy()
    return np.sort(np.argpartition(hashes, _MOST_ROWS)[:_MOST_ROWS])


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
    role, why = (declared_role, "as given") if declared_role else column.role
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
    confidence: Confidence = "uncertain" if test.codes == 3 else "likely"
    typed = replace(column.typed, kind="ordered", reason=reason, confidence=confidence)
    return column._replace(typed=typed, values=column.codes, role=guess_role(codes, "ordered"))
