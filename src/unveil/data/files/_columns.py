"""Turn a column as a file holds it into identifiers, or into numbers where all of it is numbers."""

from typing import TYPE_CHECKING

from unveil.data.files.dialect import GROUPING, MOST_OF, NUMBERS, Dialect
from unveil.data.files.source import Source
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_WHOLE = r"^[+-]?(0|[1-9][0-9]{0,17})$"
_DECIMAL = r"^[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def as_text(source: Source, column: "pl.Series") -> "pl.Series":
    """Return the cells as text: digits of whole numbers, words of categories, null where empty or NaN."""
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
    """Return the cells as whole numbers, else as numbers, where all that are filled are such; else as they are."""
    import polars as pl

    if column.dtype.is_float():
        return without_nan(column)
    if column.dtype != pl.String:
        return column
    column = _without_empty(column)
    if column.null_count() == column.len():
        return column
    for pattern, dtype in ((_WHOLE, pl.Int64), (_DECIMAL, pl.Float64)):
        if column.str.contains(pattern).all():
            return column.cast(dtype)
    return column


def without_nan(column: "pl.Series") -> "pl.Series":
    """Return real numbers with null for NaN; where there is none, the very same cells, which may be many."""
    return column.fill_nan(None) if column.is_nan().any() else column


def plain_numbers(column: "pl.Series", written: Dialect) -> "pl.Series":
    """Return a column of text with its numbers and ranges as plain ones: no groups of digits, points before decimals.

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


def _without_empty(text: "pl.Series") -> "pl.Series":
    empty = text == ""
    return text.set(empty, None) if empty.any() else text
