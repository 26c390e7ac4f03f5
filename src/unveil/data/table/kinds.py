"""Tell what kind of values a column holds and what role it plays, with the reason, or do as told."""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from unveil.data.files import parse as _parse
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["number", "category", "ordered", "date", "boolean", "text"]
Role = Literal["identifier", "known", "sensitive", "ignored"]

KINDS: tuple[Kind, ...] = get_args(Kind)
ROLES: tuple[Role, ...] = get_args(Role)
#: A kind as callers tell it: its name, or the levels of an ordered column from the lowest to the highest.
ToldKind = Kind | Sequence[str]

_LONG_TEXT = 30
_ENOUGH_ROWS = 20
_CODE_DIGITS = 8
_CODE_WORDS = {"zip", "zipcode", "postcode", "postal", "plz", "fips", "code", "codes", "icd"}
_IDENTIFIER_WORDS = {
    "id", "ids", "identifier", "uuid", "guid", "ssn", "email", "mail", "phone", "telephone", "mobile", "name",
    "firstname", "lastname", "fullname", "surname", "username", "passport", "iban", "key",
}  # fmt: skip
_CODE_REASON = "whole numbers under a name that says they are codes"
_LONG_REASON = f"whole numbers of more than {_parse.MOST_DIGITS} digits"


class Settled(NamedTuple):
    """A column in the form its kind is kept in, that kind, and why."""

    values: "pl.Series"
    kind: Kind
    reason: str


def settle(
    series: "pl.Series",
    *,
    told: ToldKind | None = None,
    missing: Collection[str] = (),
    remark: str = "",
    table: str = "table",
) -> Settled:
    """Return the column's values in the form of its kind, the kind and the reason.

    A number is kept as Int64, Int128 or Float64, a date as microseconds in UTC, a boolean as Boolean, a category and
    a text as String, an ordered column as Enum (or as the numbers it holds). Missing is null in all of them.

    Parameters
    ----------
    series
        The column as it came in.
    told
        The kind it must have, or its levels from the lowest to the highest; None guesses.
    missing
        Texts that stand for a missing value, beside the empty cell.
    remark
        What is already known of the cells: a column with a remark is a category.
    table
        How messages call the table.

    Examples
    --------
    >>> import polars as pl
    >>> settle(pl.Series("age", ["39", "", "50"])).reason
    'every cell is a whole number'
    >>> settle(pl.Series("ward", ["007", "012"])).kind
    'category'
    """
    import polars as pl

    values = _normal(series, missing, table)
    if told is not None:
        return _as_told(values, told, table)
    if values.null_count() == values.len():
        return Settled(values.cast(pl.String), "category", "every cell is missing")
    if remark:
        return Settled(values, "category", remark)
    if values.dtype == pl.String:
        return _from_text(values, table)
    if values.dtype == pl.Boolean:
        return Settled(values, "boolean", "every cell is true or false")
    if values.dtype == pl.Datetime:
        return Settled(values, "date", "every cell is a date or a moment")
    if values.dtype == pl.Enum:
        return Settled(values, "ordered", "the column comes with an order of its values")
    if values.dtype == pl.Int128 and not values.cast(pl.Float64).abs().lt(10.0**_parse.MOST_DIGITS).all():
        return Settled(_text(values), "category", _LONG_REASON)
    if values.dtype.is_integer() and _words(series.name) & _CODE_WORDS:
        return Settled(_text(values), "category", _CODE_REASON)
    return Settled(values, "number", _number_reason(values))


def _number_reason(values: "pl.Series") -> str:
    return f"every cell is a {'whole ' if values.dtype.is_integer() else ''}number"


def _normal(series: "pl.Series", missing: Collection[str], table: str) -> "pl.Series":
    """Return the column in one of the seven types that the kinds are told from, with null for every missing value."""
    import polars as pl

    dtype = series.dtype
    if dtype == pl.Enum:
        return series.set(series.cast(pl.String).is_in(list(missing)), None) if missing else series
    if dtype.is_float():
        return _finite(series.cast(pl.Float64).fill_nan(None), table)
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
    gone = (text.str.strip_chars() == "") | text.is_in(list(missing)) if missing else text.str.strip_chars() == ""
    return text.set(gone, None) if gone.any() else text


def _finite(values: "pl.Series", table: str) -> "pl.Series":
    infinite = values.is_infinite()
    if infinite.any():
        raise InputError(
            f"column {values.name!r} of the {table} must hold finite numbers, but holds {int(infinite.sum())} infinite "
            f"ones, the first in row {infinite.arg_true()[0] + 1} (counted from 1 below the header). "
            "Replace them, or leave the column out"
        )
    return values


def _from_text(text: "pl.Series", table: str) -> Settled:
    if _parse.looks_decimal(text):
        if _parse.has_leading_zero(text):
            return Settled(text, "category", "numbers with leading zeros, which are codes")
        if _parse.looks_whole(text):
            if _words(text.name) & _CODE_WORDS:
                return Settled(text, "category", _CODE_REASON)
            whole = _parse.to_whole(text)
            if whole.null_count() > text.null_count():
                return Settled(text, "category", _LONG_REASON)
            return Settled(whole, "number", _number_reason(whole))
        number = _finite(_parse.to_number(text), table)
        return Settled(number, "number", _number_reason(number))
    if _parse.looks_like_truth(text):
        return Settled(_parse.to_truth(text), "boolean", "every cell is true or false")
    if _parse.looks_like_dates(text):
        moment = _parse.to_moment(text)
        if moment.null_count() == text.null_count():
            return Settled(moment, "date", "every cell is a date or a moment as in ISO 8601")
    filled = text.len() - text.null_count()
    length = text.str.len_chars().mean()
    if isinstance(length, float) and length > _LONG_TEXT and text.n_unique() > filled / 2:
        return Settled(
            text, "text", "long texts, most of them different; two texts are equal or not, as categories are"
        )
    return Settled(text, "category", "cells that are no numbers, dates or truth values")


def _as_told(values: "pl.Series", told: ToldKind, table: str) -> Settled:
    import polars as pl

    if not isinstance(told, str):
        return Settled(_with_levels(values, told, table), "ordered", "as told")
    if told not in KINDS:
        raise InputError(
            f"the kind of column {values.name!r} must be one of {', '.join(KINDS)}. Correct it in kinds={{…}}"
        )
    if told in ("category", "text"):
        return Settled(_text(values), told, "as told")
    if told == "ordered":
        return Settled(_ordered(values, table), told, "as told")
    before = values
    if values.dtype == pl.Enum:
        values = values.cast(pl.String)
    if told == "number" and values.dtype == pl.String:
        values = _finite(_parse.to_number(values), table)
    elif told == "number" and values.dtype in (pl.Boolean, pl.Datetime):
        values = values.cast(pl.Int64)
    elif told == "boolean" and values.dtype != pl.Boolean:
        values = _parse.to_truth(_text(values))
    elif told == "date" and values.dtype != pl.Datetime:
        values = _parse.to_moment(_text(values))
    must = {"number": "numbers", "boolean": "true or false", "date": "dates such as 2024-12-31"}[told]
    _refuse_lost(before, values, f"hold {must}, because its kind was told to be {told}", table)
    return Settled(values, told, "as told")


def _refuse_lost(before: "pl.Series", after: "pl.Series", must: str, table: str) -> None:
    if after.null_count() > before.null_count():
        lost = after.is_null() & before.is_not_null()
        raise InputError(
            f"column {before.name!r} of the {table} must {must}, but {int(lost.sum())} cells do not fit, the first in "
            f"row {lost.arg_true()[0] + 1} (counted from 1 below the header). "
            "Tell another kind with kinds={…}, or name the texts that stand for missing values with missing=(…)"
        )


def _ordered(values: "pl.Series", table: str) -> "pl.Series":
    import polars as pl

    if values.dtype != pl.String:
        return values.cast(pl.Int64) if values.dtype in (pl.Boolean, pl.Datetime) else values
    number = _parse.to_number(values)
    if number.null_count() > values.null_count():
        raise InputError(
            f"column {values.name!r} of the {table} was told to be ordered, but its cells are words and have no order "
            f"of their own. Tell its levels from the lowest to the highest with kinds={{{values.name!r}: ['…', '…']}}"
        )
    return _finite(number, table)


def _with_levels(values: "pl.Series", levels: Sequence[str], table: str) -> "pl.Series":
    import polars as pl

    words = [str(level) for level in levels]
    if len(set(words)) < len(words) or not words:
        raise InputError(
            f"the levels of column {values.name!r} must be different words, from the lowest to the highest"
        )
    text = _text(values)
    ordered = text.cast(pl.Enum(words), strict=False)
    _refuse_lost(text, ordered, "hold only the levels that were told for it", table)
    return ordered


def _text(values: "pl.Series") -> "pl.Series":
    """Return the cells as text; whole numbers are written without decimals, whatever type they have."""
    import polars as pl

    text = values.cast(pl.String)
    return text.str.replace(r"\.0$", "") if values.dtype == pl.Float64 else text


def _words(name: str) -> set[str]:
    """Return the words of a column name, in lower case.

    >>> sorted(_words("PatientID_number"))
    ['id', 'number', 'patient']
    """
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)
    return {part.lower() for part in parts}


def guess_role(values: "pl.Series", kind: Kind) -> tuple[Role, str]:
    """Return the role of a column and why: an identifier where every row has its own value, else known.

    Numbers with decimals, dates and truth values are never guessed to be identifiers, and whole numbers without a
    telling name only if they count the rows or are long codes: an income that happens to differ in all rows is
    something an adversary can know, and leaving it out would hide a risk.

    >>> import polars as pl
    >>> guess_role(pl.Series("patient_id", [11, 7, 12]), "number")
    ('identifier', 'every value is different and the name says so')
    """
    known: tuple[Role, str] = ("known", "an adversary may know it")
    whole = kind == "number" and values.dtype.is_integer()
    if not (whole or kind in ("category", "text")):
        return known
    filled = values.len() - values.null_count()
    by_name = bool(_words(values.name) & _IDENTIFIER_WORDS)
    if not filled or (not by_name and (filled < max(_ENOUGH_ROWS, values.len()))):
        return known
    if values.drop_nulls().n_unique() < filled:
        return known
    if by_name:
        return "identifier", "every value is different and the name says so"
    if not whole:
        return "identifier", "every row has its own value"
    low, high = int(values.min()), int(values.max())  # type: ignore[arg-type]
    if high - low + 1 == filled:
        return "identifier", "it counts the rows"
    if low >= 10 ** (_CODE_DIGITS - 1) and len(str(low)) == len(str(high)):
        return "identifier", "every row has its own number of as many digits"
    return known
