"""Predicates ("exactly one record has …"): conditions on columns, and matches."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from unveil._kernels.table.predicates import PredicateConditions, fits, index, matches
from unveil._kernels.threads import in_threads
from unveil._kernels.types import BoolArray, Int32Array, IntArray
from unveil.data.files.column_store import room_for
from unveil.data.table.cells import ABSENT, NOBODY, SHOWN, SUPPRESSED, Cells, OrderedCells
from unveil.data.table.coded_columns import codes_of
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table import Kind, Table

_AGREE = "Bring the tables together with unveil.data.table.agree first"


# Conditions on one column of a table: a relation and a value.

Relation = Literal["=", "!=", ">=", "<=", ">", "<", "in", "is missing", "is not missing"]
Single = bool | int | float | str | np.datetime64
Value = Single | tuple[Single, ...]

RELATIONS: tuple[Relation, ...] = get_args(Relation)
#: The kinds of columns whose values have an order, so that one may be at least or at most another.
WITH_ORDER: tuple["Kind", ...] = ("number", "ordered", "date")
_WITHOUT_VALUE = ("is missing", "is not missing")
_HIDDEN = "…"


@dataclass(frozen=True)
class Condition:
    """A condition on one column; a missing cell only satisfies "is missing".

    Attributes
    ----------
    column
        Any name.
    relation
        One of "=", "!=", ">=", "<=", ">", "<", "in", "is missing" and "is not missing". Those of order need a column of
        numbers, dates or ordered levels.
    value
        A number, text, truth value or date (kept as ``numpy.datetime64`` in microseconds, in UTC); a tuple of them for
        "in", None for the last two relations. It is data, and so never part of the ``repr``. "is missing" may have a
        text that tells why: the key of a marker, or an empty one for an empty cell; without it all reasons are meant.

    Examples
    --------
    >>> Condition("age", ">=", 90)
    Condition(column='age', relation='>=')
    """

    column: str
    relation: Relation
    value: Value | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise InputError("a condition must name its column by a text. Write Condition('age', '>=', 90)")
        if self.relation not in RELATIONS:
            raise InputError(
                f"Unknown relation in a condition on column {self.column!r}. Use one of {', '.join(RELATIONS)}"
            )
        if self.relation == "is missing" and isinstance(self.value, str):
            return
        if (self.value is None) != (self.relation in _WITHOUT_VALUE):
            must = "no value" if self.relation in _WITHOUT_VALUE else "a value"
            raise InputError(f"a condition {self.relation!r} on column {self.column!r} must have {must}. Pass it")
        if isinstance(self.value, tuple) != (self.relation == "in"):
            raise InputError(
                f"only a condition 'in' takes a tuple, here on column {self.column!r}. Pass a tuple for 'in' only"
            )
        if isinstance(self.value, tuple):
            object.__setattr__(self, "value", tuple(_plain(each, self.column) for each in self.value))
        elif self.value is not None:
            object.__setattr__(self, "value", _plain(self.value, self.column))

    def describe(self, *, show_values: bool = False) -> str:
        """Return the condition in words, with its value only if asked for.

        >>> Condition("home town", "=", "Ulm").describe()
        "'home town' = …"
        """
        if self.value is None or self.relation == "is missing":
            return f"{self.column!r} {self.relation}{f' ({self.value})' if show_values and self.value else ''}"
        shown = repr(self.value) if isinstance(self.value, str) else str(self.value)
        return f"{self.column!r} {self.relation} {shown if show_values else _HIDDEN}"


#: Conditions that must all hold for the same row.
Predicate = tuple[Condition, ...]


def _plain(value: Any, column: str) -> Single:
    """Return the value in the one form that it is compared in."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
        value = value.item()
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, date):
        value = np.datetime64(value, "us")
    elif isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]")
    fits = isinstance(value, bool | int | float | str | np.datetime64)
    if not fits or (isinstance(value, float) and not isfinite(value)) or (fits and value != value):
        raise InputError(
            f"the value of a condition on column {column!r} is of type {type(value).__name__}. Pass a finite number, "
            "text, truth value or date, or use the relation 'is missing'"
        )
    plain: Single = value
    return plain


@dataclass(frozen=True)
class Predicates:
    """Guesses that each say: exactly one record satisfies all of these conditions.

    Attributes
    ----------
    each
        The predicates, at least one; each is a tuple of at least one `Condition`.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> people = Table.from_frame(pl.DataFrame({"age": [31, 90, 93], "town": ["Ulm", "Bonn", "Ulm"]}))
    >>> guess = Predicates(((Condition("age", ">=", 90),), (Condition("age", ">=", 90), Condition("town", "=", "Ulm"))))
    >>> guess.counts(people)
    array([2, 1])
    >>> guess.describe()[1]
    "exactly one record has 'age' >= … and 'town' = …"
    """

    each: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        each = tuple(tuple(predicate) for predicate in self.each)
        if not each or not all(each) or not all(isinstance(one, Condition) for predicate in each for one in predicate):
            raise InputError(
                "a predicate is empty, or none is given. Write Predicates(((Condition('age', '>=', 90),),))"
            )
        object.__setattr__(self, "each", each)

    def __len__(self) -> int:
        return len(self.each)

    def __iter__(self) -> Iterator[Predicate]:
        return iter(self.each)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns that a condition is about, sorted."""
        return tuple(sorted({condition.column for predicate in self.each for condition in predicate}))

    def counts(self, table: "Table") -> IntArray:
        """Return for how many rows of the table each predicate holds, exactly.

        Raises
        ------
        InputError
            If a column is not in the table, or cannot be compared with a value or by a relation.
        """
        return self.matches(table)[0]

    def matches(self, table: "Table") -> tuple[IntArray, IntArray]:
        """Return the number of rows per predicate, and a single row's position."""
        return CodedTable(table, self.columns).matches(self)

    def fits(self, table: "Table") -> tuple[IntArray, IntArray]:
        """Return all rows of the table that each predicate holds for.

        Those of predicate g are ``rows[starts[g]:starts[g + 1]]``. Errors are those of `counts`.
        """
        return CodedTable(table, self.columns).fits(self)

    def describe(self, *, show_values: bool = False) -> tuple[str, ...]:
        """Return a sentence per predicate; values are shown only on request."""
        return tuple(
            "exactly one record has " + " and ".join(one.describe(show_values=show_values) for one in predicate)
            for predicate in self.each
        )


class CodedTable:
    """Columns of a table as ordered codes: 0 is missing.

    Attributes
    ----------
    names, kinds
        Of each column.
    values
        Those of each column in their order: code c is ``values[column][c - 1]``. A date is in microseconds. Levels that
        no row has are values too; all other values occur.
    takes
        The types that each column can be compared with.
    index
        The codes of all columns, with the rows by code.
    markers
        The markers of each column that stand for no value, which have the codes after those of the values.
    cells
        Of each column of a released table whose cells stand for several values, else None: code c is cell c - 1 there,
        and what is said of it is what the cell says.
    """

    def __init__(self, table: "Table", names: Sequence[str]) -> None:
        self.table_name = table.name
        self.names = tuple(names)
        coarse = set(table.coarse(names))
        self.cells = tuple((table.cells or {})[name] if name in coarse else None for name in names)
        self.kinds: tuple[Kind, ...] = tuple(
            "category" if name in coarse else table.column(name).kind for name in names
        )
        self._kinds = tuple(table.column(name).kind for name in names)
        self._whys = tuple(tuple(marker.key for marker in table.column(name).markers) for name in names)
        self.markers = tuple(() if name in coarse else keys for name, keys in zip(names, self._whys, strict=True))
        codes, by_code = (room_for(table.store, (len(names), table.rows), np.int32) for _ in range(2))

        def coded(column: tuple[Int32Array, str, Cells | None]) -> tuple[list[Any], tuple[type, ...]]:
            into, name, cells = column
            if cells is not None:
                empty = (cells.state == ABSENT) & np.array([not key for key in cells.marker])
                into[:] = np.where(empty, 0, np.arange(1, cells.state.size + 1))[cells.of_row]
                return list(range(cells.state.size)), (str,)
            own, values = _coded(table, name)
            if name in table.marked:
                marker = table.marked[name].to_numpy().astype(np.int64)
                own = np.where((own == 0) & (marker > 0), len(values) + marker, own)
            into[:] = own
            return values, _comparable(table.content.schema[name])

        found = in_threads(coded, zip(codes, names, self.cells, strict=True))
        self.values, self.takes = [values for values, _ in found], [takes for _, takes in found]
        #: The code of the greatest value of each column.
        self.last = np.array([len(values) for values in self.values])
        self.index = index(codes, self._levels(), by_code)

    def _levels(self) -> list[int]:
        return [len(values) + len(markers) for values, markers in zip(self.values, self.markers, strict=True)]

    def condition(self, column: int, relation: Relation, code: int) -> Condition:
        """Return the condition on the value with this code."""
        if code == 0:
            return Condition(self.names[column], "is missing", "" if self._whys[column] else None)
        if code > len(self.values[column]):
            return Condition(self.names[column], "is missing", self._whys[column][code - len(self.values[column]) - 1])
        value = self.values[column][code - 1]
        return Condition(
            self.names[column], relation, np.datetime64(value, "us") if self.kinds[column] == "date" else value
        )

    def conditions(self, column: int, relation: Relation, code: int) -> Predicate:
        """Return the conditions on the column given by this code."""
        cells = self.cells[column]
        if cells is None or code == 0:
            return (self.condition(column, relation, code),)
        return _of_cell(self.names[column], self._kinds[column], cells, code - 1)

    def says_nothing(self, column: int) -> BoolArray:
        """Return codes that exclude nothing, or fit no record."""
        cells = self.cells[column]
        if cells is None:
            return np.zeros(self._levels()[column] + 1, bool)
        return np.append(False, (cells.state == SUPPRESSED) | (cells.state == NOBODY))

    def matches(self, predicates: Predicates) -> tuple[IntArray, IntArray]:
        """Return `Predicates.matches` for predicates about these columns."""
        return matches(self.index, self.find(predicates))

    def fits(self, predicates: Predicates) -> tuple[IntArray, IntArray]:
        """Return `Predicates.fits` for predicates about these columns."""
        return fits(self.index, self.find(predicates))

    def find(self, predicates: Iterable[Predicate]) -> PredicateConditions:
        """Return the predicates in codes; values may be absent."""
        place = {name: number for number, name in enumerate(self.names)}
        sizes, parts = [0], []
        lists: list[list[int]] = []
        for predicate in predicates:
            sizes.append(len(predicate))
            for one in predicate:
                column_of = place[one.column]
                # Markers stand behind the values, so that neither of these is one span of codes.
                apart = one.relation == "!=" or (one.relation == "is missing" and one.value is None)
                listed = one.relation == "in" or (apart and bool(self.markers[column_of]))
                parts.append((column_of, *self._span(column_of, one), len(lists) if listed else -1))
                lists += [self._codes_of(column_of, one)] if listed else []
        column, low, high, outside, choice = (np.array(part, np.int64) for part in zip(*parts, strict=True))
        begin = np.cumsum(sizes)
        if not lists:
            return PredicateConditions(begin, column, low, high, outside.astype(bool))
        among = np.zeros((len(lists), max(self._levels()) + 1), bool)
        for line, codes in enumerate(lists):
            among[line, codes] = True
        return PredicateConditions(begin, column, low, high, outside.astype(bool), choice, among)

    def _codes_of(self, column: int, condition: Condition) -> list[int]:
        """Return the codes of listed values that are present."""
        if condition.relation != "in":
            low, high, outside = self._span(column, condition)
            if outside:
                return [code for code in range(1, len(self.values[column]) + 1) if not low <= code <= high]
            return [0, *range(len(self.values[column]) + 1, self._levels()[column] + 1)]
        told = condition.value if isinstance(condition.value, tuple) else ()
        wanted = {int(each.astype(np.int64)) if isinstance(each, np.datetime64) else each for each in told}
        return [code for code, value in enumerate(self.values[column], 1) if value in wanted]

    def _span(self, column: int, condition: Condition) -> tuple[int, int, bool]:
        """Return the condition's first and last code, and whether negated."""
        values, relation = self.values[column], condition.relation
        if relation == "is missing":
            if not condition.value:
                return 0, 0, False
            keys = self.markers[column]
            code = len(values) + 1 + keys.index(str(condition.value)) if condition.value in keys else 0
            return (code, code, False) if code else (1, 0, False)
        if relation == "is not missing":
            return 1, len(values), False
        if relation == "in":
            return 0, 0, False
        if not values:  # a column in which all is missing agrees with every kind of value
            return 1, 0, False
        self._check(column, condition)
        key: Any = condition.value
        if isinstance(key, np.datetime64):
            key = int(key.astype(np.int64))
        if self.kinds[column] == "ordered" and isinstance(key, str):  # levels stand in an order of their own
            left = values.index(key) if key in values else len(values)
            right = min(left + 1, len(values))
        else:
            left, right = bisect_left(values, key), bisect_right(values, key)
        spans = {"=": (left + 1, right), "!=": (left + 1, right), ">=": (left + 1, len(values))}
        spans |= {"<=": (1, right), ">": (right + 1, len(values)), "<": (1, left)}
        return *spans[relation], relation == "!="

    def _check(self, column: int, condition: Condition) -> None:
        kind, name, takes = self.kinds[column], self.names[column], self.takes[column]
        if not isinstance(condition.value, takes) or (bool not in takes and isinstance(condition.value, bool)):
            raise InputError(
                f"column {name!r} of the {self.table_name} is of type {kind}, but a condition compares it with a value "
                f"of type {type(condition.value).__name__}. {_AGREE}"
            )
        if condition.relation in ("=", "!="):
            return
        if kind not in WITH_ORDER:
            raise InputError(
                f"a condition with {condition.relation} needs a column of numbers, dates or ordered levels, but column "
                f"{name!r} of the {self.table_name} is of type {kind}. Use =, or set the column type"
            )
        if str in takes and condition.value not in self.values[column]:
            raise InputError(
                f"a condition with {condition.relation} on the ordered column {name!r} names a level that "
                f"the {self.table_name} lacks. {_AGREE}"
            )


def _coded(table: "Table", name: str) -> tuple[IntArray | Int32Array, list[Any]]:
    """Return the code of each cell (0: missing), and ordered values."""
    import polars as pl

    cells, rows = table.lookup(name)
    if isinstance(cells.dtype, pl.Enum):
        codes, values = cells.to_physical(), cells.dtype.categories
    elif cells.dtype == pl.Boolean:
        codes, values = cells.cast(pl.Int64), pl.Series([False, True])
    else:
        cells = cells.cast(pl.Int64) if cells.dtype == pl.Datetime else cells
        own, values = codes_of(cells)
        return own[rows], values.to_list()
    return (codes.cast(pl.Int32) + 1).fill_null(0).to_numpy()[rows], values.to_list()


def _of_cell(name: str, kind: "Kind", cells: Cells, cell: int) -> Predicate:
    """Return a cell's content: an interval, some values, or nothing."""
    if cells.state[cell] == ABSENT:
        return (Condition(name, "is missing", cells.marker[cell]),)
    if cells.state[cell] != SHOWN:
        return () if cells.state[cell] == SUPPRESSED else (Condition(name, "in", ()),)
    if not isinstance(cells.holds, OrderedCells):
        members = cells.holds.member[cells.holds.start[cell] : cells.holds.start[cell + 1]]
        return (Condition(name, "in", tuple(cells.values[int(place)] for place in members)),)
    ranges, said = cells.holds, []
    levels = getattr(cells.values.dtype, "categories", None)
    for end, out, signs in ((ranges.low, ranges.low_out, (">=", ">")), (ranges.high, ranges.high_out, ("<=", "<"))):
        value: Any = end[cell]
        if value is not None:
            value = np.datetime64(value, "us") if kind == "date" else value if levels is None else levels[value]
            relation: Any = signs[int(out[cell])]
            said.append(Condition(name, relation, value))
    return tuple(said) or (Condition(name, "is not missing"),)


def _comparable(dtype: "pl.DataType") -> tuple[type, ...]:
    """Return the types of values that the cells can be compared with."""
    import polars as pl

    if dtype in (pl.String, pl.Enum):
        return (str,)
    if dtype == pl.Boolean:
        return (bool,)
    return (np.datetime64,) if dtype == pl.Datetime else (int, float)
