"""Convert a file column to identifiers or numbers, with valid dates."""

from typing import TYPE_CHECKING

from unveil.data.files.dialect import GROUPING, MOST_OF, NUMBERS, Dialect
from unveil.data.files.parse import all_match
from unveil.data.files.source import Source
from unveil.errors import InputError, shortened

if TYPE_CHECKING:
    import polars as pl

_WHOLE = r"^[+-]?(0|[1-9][0-9]{0,17})$"
_DECIMAL = r"^[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
#: How many of each unit a day has.
_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
#: What polars can show ends 262,142 years after the year 0.
_DAYS = 250_000 * 365
_DATES = "dates and times that lie less than 250,000 years away"
_MOST = 2**63 - 1


def as_text(source: Source, column: "pl.Series") -> "pl.Series":
    """Return the cells as text, null if empty or NaN."""
    import polars as pl

    if column.dtype.is_nested() or column.dtype == pl.Object:
        raise InputError(
            f"column {column.name!r} of {source.name} must hold one name or number in each row, but holds lists or "
            "records. Write it again with plain cells"
        )
    if column.dtype.is_float():
        column = column.fill_nan(None)
    try:
        text = column.cast(pl.String)
    except pl.exceptions.PolarsError:
        raise InputError(
            f"column {column.name!r} of {source.name} must hold names or numbers, but its cells cannot be turned into "
            "text. Write it again as text"
        ) from None  # what polars says can hold a cell
    return _without_empty(text)


def as_typed(column: "pl.Series") -> "pl.Series":
    """Return the cells as integers, else as numbers, else unchanged."""
    import polars as pl

    if column.dtype.is_float():
        return without_nan(column)
    if column.dtype != pl.String:
        return column
    column = _without_empty(column)
    if column.null_count() == column.len():
        return column
    for pattern, dtype in ((_WHOLE, pl.Int64), (_DECIMAL, pl.Float64)):
        if all_match(column, pattern):
            return column.cast(dtype)
    return column


def without_nan(column: "pl.Series") -> "pl.Series":
    """Return numbers with null for NaN; the same object if unchanged."""
    return column.fill_nan(None) if column.is_nan().any() else column


def plain_numbers(column: "pl.Series", written: Dialect) -> "pl.Series":
    """Return text with plain numbers: no digit grouping, decimal points.

    Nearly all cells that have a digit must be numbers as the dialect writes them; others, which may say that a value is
    missing, stay. Digits in groups with blanks between them could be codes, unless some cell has decimals.

    >>> import polars as pl
    >>> plain_numbers(pl.Series(["1.234,5", "<12,5", "7,5-8", "-", None]), Dialect(decimal=",")).to_list()
    ['1234.5', '<12.5', '7.5-8', '-', None]
    """
    import polars as pl

    mark, other = (",", ".") if written.decimal == "," else (".", ",")
    if column.dtype != pl.String or not (mark == "," or written.grouped):
        return column
    number = column.str.contains(NUMBERS[mark]).fill_null(value=False)
    if int(number.sum()) < MOST_OF * int(column.str.contains("[0-9]").sum()):
        return column
    has_decimals = column.str.contains(mark, literal=True).any()
    plain = column.str.replace_all(f"[{other}]|{GROUPING}" if has_decimals else f"[{other}]", "")
    if mark == ",":
        plain = plain.str.replace_all(",", ".", literal=True)
    return plain.zip_with(number, column)


def refuse_far_moments(column: "pl.Series", where: str) -> None:
    """Refuse dates outside the calendar of polars, and spans that microseconds cannot count.

    A library would stop at such a cell and print it. Other columns pass. ``where`` names the file or table in messages.

    >>> import polars as pl
    >>> refuse_far_moments(pl.Series("born", [0, 2**31 - 1], dtype=pl.Int32).cast(pl.Date), "'people.sav'")
    Traceback (most recent call last):
        ...
    unveil.errors.InputError: column 'born' of 'people.sav' must hold dates and times that lie less than ...
    """
    import polars as pl

    dtype = column.dtype
    if dtype == pl.Duration:
        must, least, most = "spans below 292,000 years", -_MOST, _MOST
        if dtype.time_unit == "ms":  # type: ignore[attr-defined]
            least, most = -(_MOST // 1000), _MOST // 1000
    elif dtype in (pl.Date, pl.Datetime):
        per_day = 1 if dtype == pl.Date else _PER_DAY[dtype.time_unit]  # type: ignore[attr-defined]
        must, most = _DATES, min(_DAYS * per_day, _MOST)
        least = -most
    else:
        return
    counted = column.to_physical()
    if counted.null_count() < counted.len() and not least <= counted.min() <= counted.max() <= most:  # type: ignore[operator]
        raise far_moment(column.name, where, int((~counted.is_between(least, most)).arg_true()[0]), must)


def far_moment(column: str, where: str, place: int, must: str = _DATES) -> InputError:
    """Return the error for the cell at ``place`` of a column."""
    return InputError(
        f"column {shortened(column)} of {where} must hold {must}, but does not in row {place + 1} (counted from 1 "
        "below the header). Correct or empty that cell, or leave the column out of the file"
    )


def _without_empty(text: "pl.Series") -> "pl.Series":
    empty = text == ""
    return text.set(empty, None) if empty.any() else text
