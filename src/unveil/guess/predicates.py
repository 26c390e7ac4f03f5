"""Guesses of the form "exactly one record has …": conditions on columns, and for how many rows of a table they hold."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from unveil._kernels.table.predicates import Conditions, fits, index, matches
from unveil._kernels.types import IntArray
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table import Kind, Table

Relation = Literal["=", "!=", ">=", "<=", ">", "<", "is missing", "is not missing"]
Value = bool | int | float | str | np.datetime64

RELATIONS: tuple[Relation, ...] = get_args(Relation)
#: The kinds of columns whose values have an order, so that one may be at least or at most another.
WITH_ORDER: tuple["Kind", ...] = ("number", "ordered", "date")
_WITHOUT_VALUE = ("is missing", "is not missing")
_HIDDEN = "…"
_AGREE = "Bring the tables together with unveil.data.table.agree first"


@dataclass(frozen=True)
class Condition:
    """What a predicate says of one column; a row in which the column is missing only ever satisfies "is missing".

    Attributes
    ----------
    column
        Any name.
    relation
        One of "=", "!=", ">=", "<=", ">", "<", "is missing" and "is not missing". Those of order need a column of
        numbers, dates or ordered levels.
    value
        A number, text, truth value or date (kept as ``numpy.datetime64`` in microseconds, in UTC); None for the last
        two relations. It is data, and so never part of the ``repr``.

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
                f"the relation of a condition on column {self.column!r} must be one of {', '.join(RELATIONS)}. "
                "Correct it"
            )
        if (self.value is None) != (self.relation in _WITHOUT_VALUE):
            must = "no value" if self.relation in _WITHOUT_VALUE else "a value"
            raise InputError(f"a condition {self.relation!r} on column {self.column!r} must have {must}. Correct it")
        if self.value is not None:
            object.__setattr__(self, "value", _plain(self.value, self.column))

    def describe(self, *, show_values: bool = False) -> str:
        """Return the condition in words, with its value only if asked for.

        >>> Condition("home town", "=", "Ulm").describe()
        "'home town' = …"
        """
        if self.value is None:
            return f"{self.column!r} {self.relation}"
        shown = repr(self.value) if isinstance(self.value, str) else str(self.value)
        return f"{self.column!r} {self.relation} {shown if show_values else _HIDDEN}"


#: Conditions that must all hold for the same row.
Predicate = tuple[Condition, ...]


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
                "there must be at least one predicate, and each must be a tuple of at least one Condition. "
                "Write Predicates(((Condition('age', '>=', 90),),))"
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
        """Return for how many rows each predicate holds, and where that is a single one its position, else -1."""
        coded = CodedTable(table, self.columns)
        return matches(coded.index, coded.find(self.each))

    def fits(self, table: "Table") -> tuple[IntArray, IntArray]:
        """Return all rows of the table that each predicate holds for.

        Those of predicate g are ``rows[starts[g]:starts[g + 1]]``. Errors are those of `counts`.
        """
        coded = CodedTable(table, self.columns)
        return fits(coded.index, coded.find(self.each))

    def describe(self, *, show_values: bool = False) -> tuple[str, ...]:
        """Return a sentence for each predicate; values are shown only if asked for, because they are data."""
        return tuple(
            "exactly one record has " + " and ".join(one.describe(show_values=show_values) for one in predicate)
            for predicate in self.each
        )


class CodedTable:
    """Columns of a table as whole numbers in the order of their values: 0 is missing, the least value is 1.

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
    """

    def __init__(self, table: "Table", names: Sequence[str]) -> None:
        self.table_name = table.name
        self.names = tuple(names)
        self.kinds = tuple(table.column(name).kind for name in names)
        self.values: list[list[Any]] = []
        self.takes: list[tuple[type, ...]] = []
        codes = []
        for name in names:
            coded, values = _coded(table.frame[name])
            codes.append(coded)
            self.values.append(values)
            self.takes.append(_comparable(table.frame[name]))
        self.index = index(codes, [len(values) for values in self.values])

    def condition(self, column: int, relation: Relation, code: int) -> Condition:
        """Return the condition on the value with this code; a missing value is always "is missing"."""
        if code == 0:
            return Condition(self.names[column], "is missing")
        value = self.values[column][code - 1]
        return Condition(
            self.names[column], relation, np.datetime64(value, "us") if self.kinds[column] == "date" else value
        )

    def find(self, predicates: Iterable[Predicate]) -> Conditions:
        """Return the predicates in terms of codes, where no row may have the value at all."""
        place = {name: number for number, name in enumerate(self.names)}
        sizes, parts = [0], []
        for predicate in predicates:
            sizes.append(len(predicate))
            parts += [(place[one.column], *self._span(place[one.column], one)) for one in predicate]
        column, low, high, outside = (np.array(part, np.int64) for part in zip(*parts, strict=True))
        return Conditions(np.cumsum(sizes), column, low, high, outside.astype(bool))

    def _span(self, column: int, condition: Condition) -> tuple[int, int, bool]:
        """Return the first and the last code that the condition is about, and whether it means all others."""
        values, relation = self.values[column], condition.relation
        if relation == "is missing":
            return 0, 0, False
        if relation == "is not missing":
            return 1, len(values), False
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
                f"column {name!r} of the {self.table_name} is of kind {kind}, but a condition compares it with a value "
                f"of type {type(condition.value).__name__}. {_AGREE}"
            )
        if condition.relation in ("=", "!="):
            return
        if kind not in WITH_ORDER:
            raise InputError(
                f"a condition with {condition.relation} needs a column of numbers, dates or ordered levels, but column "
                f"{name!r} of the {self.table_name} is of kind {kind}. Use = or tell the column's kind"
            )
        if str in takes and condition.value not in self.values[column]:
            raise InputError(
                f"a condition with {condition.relation} on the ordered column {name!r} must name one of its levels, "
                f"but the {self.table_name} has no such level. {_AGREE}"
            )


def _coded(cells: "pl.Series") -> tuple[IntArray, list[Any]]:
    """Return the code of each cell, 0 where it is missing, and the values in order."""
    import polars as pl

    if isinstance(cells.dtype, pl.Enum):
        codes, values = cells.to_physical(), cells.dtype.categories
    elif cells.dtype == pl.Boolean:
        codes, values = cells.cast(pl.Int64), pl.Series([False, True])
    else:
        cells = cells.cast(pl.Int64) if cells.dtype == pl.Datetime else cells
        values = cells.unique().drop_nulls().sort()
        if cells.dtype == pl.String:
            codes = cells.cast(pl.Enum(values)).to_physical()
        else:
            codes = values.search_sorted(cells).set(cells.is_null(), None)
    return (codes.cast(pl.Int64) + 1).fill_null(0).to_numpy(), values.to_list()


def _comparable(cells: "pl.Series") -> tuple[type, ...]:
    """Return the types of values that the cells can be compared with."""
    import polars as pl

    if cells.dtype in (pl.String, pl.Enum):
        return (str,)
    if cells.dtype == pl.Boolean:
        return (bool,)
    return (np.datetime64,) if cells.dtype == pl.Datetime else (int, float)


def _plain(value: Any, column: str) -> Value:
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
            f"the value of a condition on column {column!r} must be a finite number, a text, a truth value or a date, "
            f"but is of type {type(value).__name__}. Correct it, or use the relation 'is missing'"
        )
    plain: Value = value
    return plain
