"""Parse numbers and dates in text columns, all cells or none."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_WHOLE = r"^\s*[+-]?(0|[1-9][0-9]*)\s*$"
_DECIMAL = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
_PLAIN = r"^\s*[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
_INFINITE = r"(?i)^\s*[+-]?inf(inity)?\s*$"
_LEADING_ZERO = r"^\s*[+-]?0[0-9]"
_DATE = r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*$"
_MOMENT = (
    r"^\s*([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(\.[0-9]{1,9})?\s?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?\s*$"
)
_MINUTE = 60_000_000
#: Longer whole numbers are no numbers here: sums of some of these would not fit the 128 bits they are kept in.
MOST_DIGITS = 36


def all_match(text: "pl.Series", pattern: str) -> bool:
    """Return whether every non-empty cell matches, checking a sample first."""
    return bool(text.head(100).str.contains(pattern).all()) and bool(text.str.contains(pattern).all())


def any_match(text: "pl.Series", pattern: str) -> bool:
    """Return whether some filled cell matches."""
    return bool(text.str.contains(pattern).any())


def is_decimal(text: "pl.Series") -> "pl.Series":
    """Return which filled cells are numbers."""
    return text.str.contains(_DECIMAL)


def is_infinite(text: "pl.Series") -> "pl.Series":
    """Return which filled cells are the word for an infinite number."""
    return text.str.contains(_INFINITE)


def looks_whole(text: "pl.Series") -> bool:
    """Return whether every filled cell is a whole number without leading zeros."""
    return all_match(text, _WHOLE)


def looks_plain(text: "pl.Series") -> bool:
    """Return whether every filled cell is a number without leading zeros."""
    return all_match(text, _PLAIN)


def has_leading_zero(text: "pl.Series") -> bool:
    """Return whether any cell has a leading zero, as codes do."""
    return any_match(text, _LEADING_ZERO)


def looks_like_dates(text: "pl.Series") -> bool:
    """Return whether every non-empty cell is an ISO 8601 date or time."""
    return all_match(text, f"{_DATE}|{_MOMENT}")


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
    """Return the cells as integers, null if invalid or above 36 digits."""
    import polars as pl

    plain = text.str.strip_chars()
    short = plain.cast(pl.Int64, strict=False)
    if short.null_count() == text.null_count():
        return short
    return plain.set(plain.str.len_chars() > MOST_DIGITS, None).cast(pl.Int128, strict=False)


def to_number(text: "pl.Series") -> "pl.Series":
    """Return the cells as numbers, integers if possible, null if invalid."""
    import polars as pl

    if all_match(text, r"^\s*[+-]?[0-9]{1,36}\s*$"):
        return to_whole(text)
    return text.str.strip_chars().cast(pl.Float64, strict=False)


def to_moment(text: "pl.Series") -> "pl.Series":
    """Return dates and times as microseconds in UTC, null if invalid."""
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
