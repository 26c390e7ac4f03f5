"""Read numbers, dates and truth values out of columns of text: all cells of a column, or none of it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_WHOLE = r"^\s*[+-]?(0|[1-9][0-9]*)\s*$"
_DECIMAL = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
_INFINITE = r"(?i)^\s*[+-]?inf(inity)?\s*$"
_LEADING_ZERO = r"^\s*[+-]?0[0-9]"
_DATE = r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*$"
_MOMENT = (
    r"^\s*([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(\.[0-9]{1,9})?\s?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?\s*$"
)
#: The words for true and false where a column is known to hold truth values.
TRUTHS = dict.fromkeys(("true", "t", "yes", "y", "1"), True) | dict.fromkeys(("false", "f", "no", "n", "0"), False)
_MINUTE = 60_000_000
#: Longer whole numbers are no numbers here: sums of some of these would not fit the 128 bits they are kept in.
MOST_DIGITS = 36


def all_match(text: "pl.Series", pattern: str) -> bool:
    """Return whether every filled cell matches; a look at the first cells mostly settles it."""
    return bool(text.head(100).str.contains(pattern).all()) and bool(text.str.contains(pattern).all())


def any_match(text: "pl.Series", pattern: str) -> bool:
    """Return whether some filled cell matches."""
    return bool(text.str.contains(pattern).any())


def looks_whole(text: "pl.Series") -> bool:
    """Return whether every filled cell is a whole number without leading zeros."""
    return all_match(text, _WHOLE)


def looks_decimal(text: "pl.Series") -> bool:
    """Return whether every filled cell is a number; infinite ones count when there is another beside them."""
    if all_match(text, _DECIMAL):
        return True
    return all_match(text, f"{_DECIMAL}|{_INFINITE}") and any_match(text, _DECIMAL)


def has_leading_zero(text: "pl.Series") -> bool:
    """Return whether some cell is written with a zero before other digits, as codes are."""
    return any_match(text, _LEADING_ZERO)


def looks_like_dates(text: "pl.Series") -> bool:
    """Return whether every filled cell is a date or a moment as in ISO 8601."""
    return all_match(text, f"{_DATE}|{_MOMENT}")


def looks_like_truth(text: "pl.Series") -> bool:
    """Return whether every filled cell is the word true or false."""
    return all_match(text, r"(?i)^\s*(true|false)\s*$")


def fewest_bits(whole: "pl.Series") -> "pl.Series":
    """Return whole numbers as Int64 where all of them fit, else as Int128."""
    import polars as pl

    if whole.dtype == pl.Int64:
        return whole
    if whole.dtype in (pl.UInt64, pl.Int128, pl.UInt128):
        fits = whole.cast(pl.Int64, strict=False).null_count() == whole.null_count()
        return whole.cast(pl.Int64 if fits else pl.Int128)
    return whole.cast(pl.Int64)


def to_whole(text: "pl.Series") -> "pl.Series":
    """Return the cells as whole numbers, null where a cell is none or has more than 36 digits."""
    import polars as pl

    plain = text.str.strip_chars()
    short = plain.cast(pl.Int64, strict=False)
    if short.null_count() == text.null_count():
        return short
    return plain.set(plain.str.len_chars() > MOST_DIGITS, None).cast(pl.Int128, strict=False)


def to_number(text: "pl.Series") -> "pl.Series":
    """Return the cells as numbers, whole ones where all are, null where a cell is none."""
    import polars as pl

    if all_match(text, r"^\s*[+-]?[0-9]{1,36}\s*$"):
        return to_whole(text)
    return text.str.strip_chars().cast(pl.Float64, strict=False)


def to_moment(text: "pl.Series") -> "pl.Series":
    """Return dates and moments as microseconds in UTC, null where a cell is none; without a zone UTC is meant."""
    import polars as pl

    if all_match(text, _DATE):
        return text.str.strip_chars().str.to_datetime("%Y-%m-%d", strict=False, time_unit="us")
    day, clock = text.str.extract(_MOMENT, 1), text.str.extract(_MOMENT, 2)
    seconds, part = text.str.extract(_MOMENT, 3).fill_null(":00"), text.str.extract(_MOMENT, 4).fill_null(".0")
    written = day + " " + clock + seconds + part
    moment = written.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us")
    zone = text.str.extract(_MOMENT, 5).str.replace_all(":", "", literal=True).replace("Z", "+0000").fill_null("+0000")
    sign = zone.str.slice(0, 1).replace_strict({"+": 1, "-": -1}, return_dtype=pl.Int64)
    hours, minutes = zone.str.slice(1, 2).cast(pl.Int64), zone.str.slice(3, 2).cast(pl.Int64)
    ahead = (sign * (hours * 60 + minutes) * _MINUTE).cast(pl.Duration("us"))
    days = text.str.strip_chars().str.to_datetime("%Y-%m-%d", strict=False, time_unit="us")
    return (moment - ahead).zip_with(moment.is_not_null(), days)


def to_truth(text: "pl.Series") -> "pl.Series":
    """Return true, yes, y, t and 1 as true, their opposites as false, anything else as null."""
    import polars as pl

    plain = text.str.strip_chars().str.to_lowercase()
    return plain.replace_strict(TRUTHS, default=None, return_dtype=pl.Boolean)
