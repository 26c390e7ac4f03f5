"""What a guess says of one column of a table: a relation, and a value that it is compared with."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from unveil.errors import InputError

if TYPE_CHECKING:
    from unveil.data.table import Kind

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
    """What a predicate says of one column; a row in which the column is missing only ever satisfies "is missing".

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
                f"the relation of a condition on column {self.column!r} must be one of {', '.join(RELATIONS)}. "
                "Correct it"
            )
        if self.relation == "is missing" and isinstance(self.value, str):
            return
        if (self.value is None) != (self.relation in _WITHOUT_VALUE):
            must = "no value" if self.relation in _WITHOUT_VALUE else "a value"
            raise InputError(f"a condition {self.relation!r} on column {self.column!r} must have {must}. Correct it")
        if isinstance(self.value, tuple) != (self.relation == "in"):
            raise InputError(f"a condition 'in' on column {self.column!r} must have a tuple, and no other. Correct it")
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
            f"the value of a condition on column {column!r} must be a finite number, a text, a truth value or a date, "
            f"but is of type {type(value).__name__}. Correct it, or use the relation 'is missing'"
        )
    plain: Single = value
    return plain
