"""Parse dates and times in one format per column."""

from typing import TYPE_CHECKING, NamedTuple

from unveil.data.files import parse as _parse

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
