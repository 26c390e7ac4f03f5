"""Refuse dates and times that no calendar holds, before a library stops at one and prints it."""

from typing import TYPE_CHECKING

from unveil.errors import InputError, shortened

if TYPE_CHECKING:
    import polars as pl

#: How many of each unit a day has.
_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
#: What polars can show ends 262,142 years after the year 0.
_DAYS = 250_000 * 365
_DATES = "dates and times that lie less than 250,000 years away"
_MOST = 2**63 - 1


def refuse_far_moments(column: "pl.Series", where: str) -> None:
    """Refuse dates that the calendar of polars does not hold, and spans that microseconds cannot count.

    Other columns pass. ``where`` names the file or the table in the message.

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
