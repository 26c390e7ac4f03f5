"""Convert columns to their type, or report cells that do not fit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from unveil.data.files import parse as _parse
from unveil.data.files._columns import without_nan
from unveil.data.table.words import TRUTH_PAIRS
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl


_YEAR, _SHORT, _PART = r"([0-9]{4})", r"([0-9]{2})", r"([0-9]{1,2})"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = r"^\s*([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?\s*$"
_LEAST_PLAIN = 5
#: The year in which two digits begin to mean 19…
_PIVOT = 69


class _DateFormat(NamedTuple):
    """Date format: pattern, groups of year, month, and day, and description."""

    pattern: str
    year: int
    month: int
    day: int
    words: str


_WAYS = (
    _DateFormat(rf"^\s*{_PART}\.{_PART}\.{_YEAR}\s*$", 3, 2, 1, "day.month.year"),
    _DateFormat(rf"^\s*{_PART}\.{_PART}\.{_SHORT}\s*$", 3, 2, 1, "day.month.year with two digits"),
    _DateFormat(rf"^\s*{_YEAR}/{_PART}/{_PART}\s*$", 1, 2, 3, "year/month/day"),
    _DateFormat(rf"^\s*{_PART}/{_PART}/{_YEAR}\s*$", 3, 2, 1, "day/month/year"),
    _DateFormat(rf"^\s*{_PART}/{_PART}/{_YEAR}\s*$", 3, 1, 2, "month/day/year"),
    _DateFormat(rf"^\s*{_PART}-{_PART}-{_YEAR}\s*$", 3, 2, 1, "day-month-year"),
    _DateFormat(rf"^\s*{_PART} ([A-Za-z]{{3,9}}) {_YEAR}\s*$", 3, 2, 1, "day, name of the month, year"),
)
_PLAIN = _DateFormat(r"^\s*((?:19|20)[0-9]{2})([0-9]{2})([0-9]{2})\s*$", 1, 2, 3, "year, month and day in eight digits")


class Dates(NamedTuple):
    """Date format of a column; not ``sure`` if day and month could swap."""

    way: str
    sure: bool


def looks_like_dates(different: "pl.Series") -> Dates | None:
    """Return the date format of distinct cells, or None.

    >>> import polars as pl
    >>> looks_like_dates(pl.Series(["31.12.2020", "1.2.2021"]))
    Dates(way='day.month.year', sure=True)
    >>> looks_like_dates(pl.Series(["1/2/2020", "3/4/2020"])).sure
    False
    """
    if not _parse.all_match(different, "[0-9]"):
        # No way to write a date is without a digit: one look instead of ten at columns of words.
        return None
    if _parse.looks_like_dates(different) and not _parse.to_moment(different).has_nulls():
        return Dates("as in ISO 8601", sure=True)
    if _parse.all_match(different, _CLOCK) and not _clock(different).has_nulls():
        return Dates("hours and minutes", sure=True)
    fitting = [way for way in _WAYS if _fits(different, way)]
    if fitting:
        return Dates(fitting[0].words, sure=len(fitting) == 1)
    if different.len() >= _LEAST_PLAIN and _fits(different, _PLAIN):
        return Dates(_PLAIN.words, sure=True)
    return None


def to_moments(text: "pl.Series", dates: Dates | None = None) -> "pl.Series":
    """Return dates and times as microseconds, null if invalid.

    Where no way fits all cells, it is the one that fits most of them. ``dates`` is the way, where it is known.
    """
    if dates is None and (different := text.drop_nulls().unique()).len():
        dates = looks_like_dates(different)
    if dates is None:
        tries = [_parse.to_moment(text), _clock(text), *(_dated(text, way) for way in _WAYS)]
        return min(tries, key=lambda moments: moments.null_count())
    way = next((way for way in (*_WAYS, _PLAIN) if way.words == dates.way), None)
    if way is not None:
        return _dated(text, way)
    return _clock(text) if dates.way == "hours and minutes" else _parse.to_moment(text)


def have_two_orders(different: "pl.Series") -> bool:
    """Return whether cells mix day/month/year and month/day/year.

    >>> import polars as pl
    >>> have_two_orders(pl.Series(["31/12/2020", "12/31/2020"])), have_two_orders(pl.Series(["31/12/2020", "1/2/2020"]))
    (True, False)
    """
    first, second = _WAYS[3], _WAYS[4]
    if not _parse.all_match(different, first.pattern):
        return False
    days, months = _dated(different, first), _dated(different, second)
    return bool((days.is_null() & months.is_not_null()).any() and (months.is_null() & days.is_not_null()).any())


def _fits(different: "pl.Series", way: _DateFormat) -> bool:
    return _parse.all_match(different, way.pattern) and not _dated(different, way).has_nulls()


def _dated(text: "pl.Series", way: _DateFormat) -> "pl.Series":
    import polars as pl

    year, month, day = (text.str.extract(way.pattern, group) for group in (way.year, way.month, way.day))
    if "two digits" in way.words:
        century = (year.cast(pl.Int64, strict=False) < _PIVOT).cast(pl.String)
        year = century.replace_strict({"true": "20", "false": "19"}, default=None, return_dtype=pl.String) + year
    if "name of the month" in way.words:
        names = {name: f"{place:02}" for place, name in enumerate(_MONTHS, 1)}
        month = month.str.to_lowercase().str.slice(0, 3).replace_strict(names, default=None, return_dtype=pl.String)
    written = year + "-" + month.str.zfill(2) + "-" + day.str.zfill(2)
    return written.str.to_datetime("%Y-%m-%d", strict=False, time_unit="us").rename(text.name)


def _clock(text: "pl.Series") -> "pl.Series":
    hour, minute, second = (text.str.extract(_CLOCK, group) for group in (1, 2, 3))
    written = "1970-01-01 " + hour.str.zfill(2) + ":" + minute + ":" + second.fill_null("00")
    return written.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False, time_unit="us").rename(text.name)


Kind = Literal["number", "category", "ordered", "date", "boolean", "text"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: A kind as callers tell it: its name, or the levels of an ordered column from the lowest to the highest.
DeclaredKind = Kind | Sequence[str]

_MUST: dict[Kind, str] = {
    "number": "hold numbers",
    "boolean": "hold true or false",
    "date": "hold dates such as 2024-12-31",
    "ordered": "hold only its declared levels",
}


def kind_of(declared: DeclaredKind) -> Kind:
    """Return the declared type: ordered if levels are given."""
    return next((kind for kind in KINDS if kind == declared), "ordered")


def normal(series: "pl.Series", table: str) -> "pl.Series":
    """Return the column in a base type, with null for empty and NaN."""
    import polars as pl

    dtype = series.dtype
    if dtype == pl.Enum:
        return series
    if dtype.is_float():
        return finite(without_nan(series.cast(pl.Float64)), table)
    if dtype.is_integer():
        return _parse.fewest_bits(series)
    if dtype.is_decimal():
        return _parse.fewest_bits(series.cast(pl.Int128)) if dtype.scale == 0 else series.cast(pl.Float64)  # type: ignore[attr-defined]
    if dtype == pl.Boolean:
        return series
    if dtype == pl.Date:
        return series.cast(pl.Datetime("us"))
    if dtype == pl.Datetime:
        zoned = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if dtype.time_zone else series  # type: ignore[attr-defined]
        return zoned.cast(pl.Datetime("us"))
    if dtype == pl.Duration:
        return series.cast(pl.Duration("us")).cast(pl.Int64)
    if dtype == pl.Time:
        return series.cast(pl.Int64) // 1000
    text = series.bin.encode("hex") if dtype == pl.Binary else series.cast(pl.String)
    gone = text == ""
    return text.set(gone, None) if gone.any() else text


def without_blanks(values: "pl.Series") -> "pl.Series":
    """Return the column with null for cells of text that are all blanks."""
    import polars as pl

    return filled_cells(values)[0] if values.dtype == pl.String else values


def filled_cells(text: "pl.Series") -> tuple["pl.Series", "pl.Series"]:
    """Return the cells with null for blanks, and the distinct rest.

    To look at the different cells only is much quicker than to look at all of them.
    """
    different = text.drop_nulls().unique()
    blank = different.filter(different.str.strip_chars() == "")
    if blank.is_empty():
        return text, different
    return text.set(text.is_in(blank.implode()), None), different.filter(~different.is_in(blank.implode()))


def finite(values: "pl.Series", table: str) -> "pl.Series":
    """Return the numbers, or refuse those that are infinite."""
    infinite = values.is_infinite()
    if infinite.any():
        raise InputError(
            f"column {values.name!r} of the {table} must hold finite numbers, but holds {int(infinite.sum())} infinite "
            f"ones, the first in row {infinite.arg_true()[0] + 1} (counted from 1 below the header). "
            "Replace them, or leave the column out"
        )
    return values


def text_of(values: "pl.Series") -> "pl.Series":
    """Return the cells as text, with plain integers."""
    import polars as pl

    text = values.cast(pl.String)
    return text.str.replace(r"\.0$", "") if values.dtype == pl.Float64 else text


def numbers_of(text: "pl.Series", others: int, digits: "pl.Series", *, table: str) -> "pl.Series":
    """Return cells as numbers, integers if possible, null if invalid.

    All different cells that are numbers are among ``digits``.
    """
    import polars as pl

    # To try is much quicker than to look first.
    short = text.cast(pl.Int64, strict=False)
    if short.null_count() == others:
        return short
    if _parse.looks_whole(digits):
        return _parse.fewest_bits(_parse.to_whole(text))
    numbers = text.cast(pl.Float64, strict=False).fill_nan(None)
    if numbers.null_count() > others:
        numbers = text.str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None)
    return finite(numbers, table)


def as_truth(values: "pl.Series") -> "pl.Series":
    """Return booleans for truth words in five languages, else null."""
    import polars as pl

    words = {word: bool(place) for pair in TRUTH_PAIRS for place, word in enumerate(pair)}
    plain = text_of(values).str.strip_chars().str.replace(r"^([01])\.0+$", "$1").str.to_lowercase()
    return plain.replace_strict(words, default=None, return_dtype=pl.Boolean)


def in_form(values: "pl.Series", declared: DeclaredKind) -> "pl.Series":
    """Return the cells in a type's form, null if they do not fit.

    Raises
    ------
    InputError
        If the kind does not exist, the levels are no list of different words, or words are to be ordered without any.
    """
    import polars as pl

    if not isinstance(declared, str):
        return _with_levels(values, declared)
    if declared not in KINDS:
        raise InputError(f"unknown type of column {values.name!r}. Use one of: {', '.join(KINDS)}")
    if declared in ("category", "text"):
        return text_of(values)
    if declared == "ordered" and values.dtype == pl.Enum:
        return values
    if values.dtype == pl.Enum:
        values = values.cast(pl.String)
    if declared in ("number", "ordered"):
        if values.dtype == pl.String:
            numbers = _parse.to_number(values)
            return numbers.set(numbers.is_infinite(), None) if numbers.dtype.is_float() else numbers
        return values.cast(pl.Int64) if values.dtype in (pl.Boolean, pl.Datetime) else values
    if declared == "boolean":
        return values if values.dtype == pl.Boolean else as_truth(values)
    return values if values.dtype == pl.Datetime else to_moments(text_of(values))


def refuse_lost(before: "pl.Series", after: "pl.Series", declared: DeclaredKind, why: str, table: str) -> None:
    """Reject a column with cells that do not fit its type.

    ``why`` is the source of the type, such as "its type was declared as number".
    """
    if after.null_count() <= before.null_count():
        return
    lost = after.is_null() & before.is_not_null()
    if declared == "ordered" and lost.sum() == before.len() - before.null_count():
        raise InputError(
            f"column {before.name!r} of the {table} is ordered ({why}), but its cells are words without a known "
            "order. List its levels from lowest to highest: "
            f"kinds={{{before.name!r}: ['…', '…']}}"
        )
    number = int(lost.sum())
    cells = "1 cell does" if number == 1 else f"{number} cells do"
    raise InputError(
        f"column {before.name!r} of the {table} must {_MUST[kind_of(declared)]} ({why}), "
        f"but {cells} not fit, the first in row {lost.arg_true()[0] + 1} (counted from 1 below the header). "
        "Give another type with kinds={…}, or name the texts for missing values with missing=(…)"
    )


def _with_levels(values: "pl.Series", levels: Sequence[str]) -> "pl.Series":
    import polars as pl

    words = [str(level) for level in levels]
    if len(set(words)) < len(words) or not words:
        raise InputError(
            f"the levels of column {values.name!r} must be different words, from the lowest to the highest. "
            "Name each of them once"
        )
    return text_of(values).cast(pl.Enum(words), strict=False)
