"""Detect the type and role of a column, with the reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from unveil.data.files import parse as _parse
from unveil.data.table.forms import (
    KINDS,
    DeclaredKind,
    Kind,
    as_truth,
    filled_cells,
    have_two_orders,
    in_form,
    kind_of,
    looks_like_dates,
    normal,
    numbers_of,
    refuse_lost,
    text_of,
    to_moments,
    without_blanks,
)
from unveil.data.table.markers import Marker, is_unlisted, marked_cells, number_markers, number_of, word_markers
from unveil.data.table.rules import (
    ENOUGH_ROWS,
    MOST_CODES,
    Confidence,
    Guess,
    WholeNumbers,
    codes_by_name,
    few_values,
    in_order,
    kind_of_whole,
    kind_of_words,
    truth_pair,
)
from unveil.data.table.words import BESIDE_NUMBERS, MarkerKind, measures, names_people

if TYPE_CHECKING:
    import polars as pl

__all__ = ["KINDS", "ROLES", "Confidence", "DeclaredKind", "Kind", "Role", "TypedColumn", "guess_role", "settle"]

Role = Literal["identifier", "known", "sensitive", "ignored"]
ROLES: tuple[Role, ...] = get_args(Role)

_CODE_DIGITS = 8
_LOOKED_AT = 1_000
# The first and the last day that eight digits are taken for.
_DAYS = (19000101, 20991231)
_LONG = Guess("category", "sure", f"whole numbers of more than {_parse.MOST_DIGITS} digits")
_LEADING_ZERO = Guess("category", "sure", "numbers with leading zeros, which are codes")
_TRUTH = Guess("boolean", "sure", "it has two values, one for no and one for yes")


@dataclass(frozen=True, eq=False)
class TypedColumn:
    """Converted column, the reason for its type, and its missing cells.

    ``marked`` says which marker each cell holds (None where there are no markers); ``codes`` are the numbers of a
    category whose order is still to be tested; ``written`` is how a truth value (false, true) or a date was written;
    ``question`` is a sentence on what only the owner of the data can know.
    """

    values: "pl.Series"
    kind: Kind
    reason: str
    confidence: Confidence
    markers: tuple[Marker, ...] = ()
    marked: "pl.Series | None" = None
    codes: "pl.Series | None" = None
    written: tuple[str, ...] = ()
    question: str = ""


class _Raw(NamedTuple):
    """Unconverted column, its marker cells, and the declared markers."""

    series: "pl.Series"
    cells: Mapping[str, Marker]
    asked: Sequence[Marker]


def settle(
    series: "pl.Series",
    *,
    declared: DeclaredKind | None = None,
    markers: Mapping[str, MarkerKind] | None = None,
    remark: str = "",
    why: str = "",
    table: str = "table",
) -> TypedColumn:
    """Return the converted values, the type, the reason, and the markers.

    A number is kept as Int64, Int128 or Float64, a date as microseconds in UTC, a boolean as Boolean, a category and
    a text as String, an ordered column as Enum (or as the numbers it holds). Missing is null in all of them, and so is
    every marker, except that in a category or a text a marker that was not told stays a word.

    Parameters
    ----------
    series
        The column as it came in.
    declared
        The kind it must have, or its levels from the lowest to the highest; None guesses.
    markers
        Texts that stand for no value, with their classes, beside those that are known everywhere.
    remark
        What is already known of the cells: a column with a remark is a category.
    why
        Why it must have the told kind, where nobody told it.
    table
        How messages call the table.

    Examples
    --------
    >>> import polars as pl
    >>> settled = settle(pl.Series("age", ["39", "", "N", "50"]))
    >>> settled.values.to_list(), settled.markers
    ([39, None, None, 50], (Marker(text='N', kind_of_marker='not applicable'),))
    >>> settle(pl.Series("ward", ["007", "012"])).kind
    'category'
    """
    import polars as pl

    values = normal(series, table)
    asked = [Marker(text, kind, told=True) for text, kind in (markers or {}).items()]
    if declared is not None:
        values = without_blanks(values)
        settled = read_as(values, declared, asked)
        why = why or f"its type was declared as {kind_of(declared)}"
        refuse_lost(without(values, settled.marked), settled.values, declared, why, table)
        return settled
    if values.null_count() == values.len():
        return TypedColumn(values.cast(pl.String), "category", "every cell is missing", "sure")
    if remark:
        return TypedColumn(values, "category", remark, "likely")
    if values.dtype == pl.String:
        return _from_text(values, asked, table)
    if values.dtype == pl.Boolean:
        return TypedColumn(values, "boolean", "every cell is true or false", "sure")
    if values.dtype == pl.Datetime:
        return TypedColumn(values, "date", "every cell is a date or a moment", "sure")
    if values.dtype == pl.Enum:
        settled = read_as(values, "ordered", asked)
        return replace(settled, reason="the column comes with an order of its values", confidence="labels")
    if values.dtype == pl.Int128 and not values.cast(pl.Float64).abs().lt(10.0**_parse.MOST_DIGITS).all():
        return _finished(_Raw(values, {}, asked), _LONG)
    return _from_numbers(_Raw(values, {}, asked), values)


def _from_text(text: "pl.Series", asked: Sequence[Marker], table: str) -> TypedColumn:
    if _mostly_differs(text) and _parse.looks_plain(text):
        # To find the different cells would cost more than to look at all of them.
        return _from_digits(_Raw(text, {}, asked), text, table)
    text, different = filled_cells(text)
    is_number = _parse.is_decimal(different)
    words = different.filter(~is_number)
    cells = word_markers(words, different.len() - words.len(), asked)
    raw = _Raw(text, cells, asked)
    rest = words.filter(~words.is_in(list(cells))) if cells else words
    if words.len() < different.len() and _parse.is_infinite(rest).all():
        return _from_digits(raw, different.filter(is_number), table)
    cells |= _told_digits(different.filter(is_number), asked)
    return _from_words(
        raw._replace(cells=cells), different.filter(~different.is_in(list(cells))) if cells else different
    )


def _mostly_differs(text: "pl.Series") -> bool:
    looked_at = text.gather_every(max(1, text.len() // _LOOKED_AT))
    return text.len() > _LOOKED_AT and looked_at.n_unique() > looked_at.len() / 2


def _from_digits(raw: _Raw, digits: "pl.Series", table: str) -> TypedColumn:
    """Return the typed column for texts that are numbers."""
    if digits is not raw.series and _parse.has_leading_zero(digits):
        return _finished(raw, _LEADING_ZERO)
    words = int(raw.series.is_in(list(raw.cells)).sum()) if raw.cells else 0
    others = raw.series.null_count() + words
    numbers = numbers_of(raw.series, others, digits, table=table)
    if numbers.null_count() > others:
        return _finished(raw, _LONG)
    if digits is raw.series:
        return _from_numbers(raw, numbers)
    # Two texts may be one number, as 1 and 1.0 are.
    return _from_numbers(raw, numbers, digits.str.strip_chars().cast(numbers.dtype).unique())


def _from_numbers(raw: _Raw, numbers: "pl.Series", different: "pl.Series | None" = None) -> TypedColumn:
    """Return the typed column for numbers, null if empty or marked.

    ``different`` are the different ones, where they are known.
    """
    import polars as pl

    name, filled = raw.series.name, numbers.len() - numbers.null_count()
    different = numbers.drop_nulls().unique() if different is None else different
    different = different.sort() if different.len() <= MOST_CODES else different
    found = _told_numbers(different, raw.asked)
    if filled >= ENOUGH_ROWS:
        known = {marker.key for marker in found}
        found += [marker for marker in number_markers(different, numbers) if marker.key not in known]
    if found:
        raw = raw._replace(cells={**raw.cells, **{marker.text: marker for marker in found}})
        gone = pl.Series([number_of(marker.text) for marker in found], dtype=pl.Float64)
        different = different.filter(~different.cast(pl.Float64).is_in(gone.implode()))
    whole = numbers.dtype.is_integer() or bool((different == different.floor()).all())
    if filled < ENOUGH_ROWS:
        plain = Guess("number", "likely", f"every cell is a {'whole ' if whole else ''}number")
        guess = (codes_by_name(name, different.len()) if whole else None) or plain
    elif different.len() == 2 and truth_pair(text_of(different).to_list()):
        guess = _TRUTH
    elif few := few_values(different.len()):
        guess = few
    elif whole and different.is_between(*_DAYS).all() and looks_like_dates(text_of(different)):
        guess = Guess("date", "sure", "every cell is a date in eight digits")
    elif not whole:
        guess = Guess("number", "sure", "every cell is a number")
    elif _identifies(name, different, filled, numbers.len()):
        guess = Guess("number", "sure", "every cell is a whole number")
    else:
        guess = kind_of_whole(name, WholeNumbers(different, numbers))
    settled = _finished(raw, guess, numbers)
    return replace(settled, question=_question(name, different)) if different.len() <= MOST_CODES else settled


def _told_numbers(different: "pl.Series", asked: Sequence[Marker]) -> list[Marker]:
    """Return the declared numeric markers that occur."""
    told = [(marker, number_of(marker.text)) for marker in asked]
    return [marker for marker, number in told if number is not None and (different == number).any()]


def _told_digits(digits: "pl.Series", asked: Sequence[Marker]) -> dict[str, Marker]:
    """Return the numeric cells, given declared word markers."""
    told = {marker.key: marker for marker in asked if number_of(marker.text) is not None}
    cells = digits.to_list() if told else []
    return {cell: told[key] for cell in cells if (key := Marker(cell, "missing").key) in told}


def _question(name: str, different: "pl.Series") -> str:
    """Return the question whether 8 or 9 means no answer."""
    values = different.to_list()
    apart = [value for value in values if value in (8, 9)]
    rest = values[: len(values) - len(apart)]
    if not apart or len(rest) < 2 or rest[0] not in (0, 1) or rest[-1] > 5 or len(rest) != rest[-1] - rest[0] + 1:
        return ""
    codes = " and ".join(f"{value:g}" for value in apart)
    return f"{codes} may stand for no answer in {name!r}. If so, name {'them' if len(apart) > 1 else 'it'} as missing"


def _from_words(raw: _Raw, different: "pl.Series") -> TypedColumn:
    """Return the typed column for texts that are not all numbers."""
    text = raw.series
    filled = text.len() - text.null_count()
    if different.len() == 2 and (pair := truth_pair(different.to_list())):
        return replace(_finished(raw, _TRUTH), written=pair)
    if (filled >= ENOUGH_ROWS or different.is_empty()) and (few := few_values(different.len())):
        return _finished(raw, few)
    if dates := looks_like_dates(different):
        doubt = "" if dates.sure else ", though day and month could be exchanged"
        reason = f"every cell is a date or a moment {dates.way}{doubt}"
        guess = Guess("date", "sure" if dates.sure else "uncertain", reason, dates=dates)
        return replace(_finished(raw, guess), written=(dates.way,))
    settled = _finished(raw, kind_of_words(different, text.len(), filled))
    if have_two_orders(different):
        question = (
            f"{text.name!r} was read as text: its dates mix day/month/year and month/day/year. Write them in one order"
        )
        return replace(settled, question=question)
    return settled


def _finished(raw: _Raw, guess: Guess, numbers: "pl.Series | None" = None) -> TypedColumn:
    """Return the column converted by a rule."""
    import polars as pl

    markers, marked = marked_cells(raw.series, numbers, raw.cells)
    reason = guess.reason
    if markers:
        reason += f", with {len(markers)} marker{'s' * (len(markers) > 1)} for missing values"
    settled = TypedColumn(raw.series, guess.kind, reason, guess.confidence, markers, marked)
    if any(not marker.told and is_unlisted(marker) for marker in markers):
        settled = replace(settled, confidence="uncertain", reason=f"{reason}, one of them on no list")
    if guess.kind in ("category", "text"):
        codes = without(numbers, marked) if guess.asks and numbers is not None else None
        return replace(settled, values=text_of(_words(raw.series, markers, marked)), codes=codes)
    values = without(raw.series if numbers is None else numbers, marked)
    if guess.kind == "boolean":
        truth = as_truth(values) if numbers is None else values == 1
        return replace(settled, values=truth, written=("0", "1"))
    if guess.kind == "date":
        return replace(settled, values=to_moments(text_of(values), guess.dates))
    if guess.kind == "ordered" and values.dtype == pl.String:
        return replace(settled, values=values.cast(pl.Enum(in_order(values.drop_nulls().unique().to_list()))))
    return replace(settled, values=values)


def without(values: "pl.Series", marked: "pl.Series | None") -> "pl.Series":
    """Return the values with null in place of every marker."""
    return values if marked is None else values.set(marked > 0, None)


def _words(values: "pl.Series", markers: Sequence[Marker], marked: "pl.Series | None") -> "pl.Series":
    """Return the values with null for markers that are not category words."""
    gone = [place for place, marker in enumerate(markers, 1) if marker.is_null_in_words]
    return values if marked is None or not gone else values.set(marked.is_in(gone), None)


def read_as(values: "pl.Series", declared: DeclaredKind, asked: Sequence[Marker]) -> TypedColumn:
    """Return the column in a required type, null if cells do not fit.

    Listed markers count where the kind has no words of its own; in a category those alone that are asked for, and
    those that were suppressed. Numbers are markers only where they are asked for.
    """
    import polars as pl

    kind = kind_of(declared)
    words = kind in ("category", "text")
    raw = values.cast(pl.String) if values.dtype == pl.Enum else values
    numbers = values if values.dtype.is_numeric() else None
    cells: dict[str, Marker] = {}
    if raw.dtype == pl.String:
        levels = [] if isinstance(declared, str) else [str(level) for level in declared]
        levels += values.dtype.categories.to_list() if isinstance(values.dtype, pl.Enum) else []
        different = raw.drop_nulls().unique()
        is_number = _parse.is_decimal(different)
        known = {marker.key for marker in asked}
        # In a column of numbers or dates no word is a value, also where a table has none of its numbers.
        beside = BESIDE_NUMBERS if kind in ("number", "date") else int(is_number.sum())
        for cell, marker in word_markers(different.filter(~is_number), beside, asked, unlisted=False).items():
            listed = marker.kind_of_marker == "suppressed" if words else cell not in levels
            if listed or marker.key in known:
                cells[cell] = marker
        if any(number_of(marker.text) is not None for marker in asked):
            numbers = raw.str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None)
    if numbers is not None:
        cells |= {marker.text: marker for marker in _told_numbers(numbers.drop_nulls().unique(), asked)}
    markers, marked = marked_cells(raw, numbers, cells)
    left = _words(values, markers, marked) if words else without(values, marked)
    return TypedColumn(in_form(left, declared), kind, "as given", "given", markers, marked)


def guess_role(values: "pl.Series", kind: Kind) -> tuple[Role, str]:
    """Return the role of a column and why: identifier or known.

    Numbers with decimals, dates, truth values and whole numbers that measure something by their name (``age``) are
    never guessed to be identifiers. Other whole numbers without a telling name are, but only if they count the rows,
    are so close together that by chance two would be equal, or are long codes: an income that happens to differ in all
    rows is something an attacker can know, and leaving it out would hide a risk.

    >>> import polars as pl
    >>> guess_role(pl.Series("patient_id", [11, 7, 12]), "number")
    ('identifier', 'every value is different and the name suggests it')
    """
    if kind in ("category", "text") or (kind == "number" and values.dtype.is_integer()):
        filled = values.len() - values.null_count()
        # To count the different values of all columns would cost more than all else.
        candidate = filled == values.len() >= ENOUGH_ROWS or names_people(values.name)
        if filled and candidate and values.head(_LOOKED_AT).drop_nulls().is_unique().all():
            different = values.drop_nulls().unique()
            if why := _identifies(values.name, different, filled, values.len()):
                return "identifier", why
    return "known", "an attacker may know it"


def _identifies(name: str, different: "pl.Series", filled: int, rows: int) -> str:
    """Return why a column identifies people, or ''."""
    number = different.len()
    if number < filled:
        return ""
    if names_people(name):
        return "every value is different and the name suggests it"
    if number < max(ENOUGH_ROWS, rows):
        return ""
    if not different.dtype.is_numeric():
        return "every row has a different value"
    if measures(name):
        return ""
    low, high = int(different.min()), int(different.max())  # type: ignore[arg-type]
    if high - low + 1 == number:
        return "it counts the rows"
    if number * (number - 1) // 2 > 10 * (high - low):
        return "every row has its own number, though few numbers are possible"
    if low >= 10 ** (_CODE_DIGITS - 1) and len(str(low)) == len(str(high)):
        return "every row has its own number of as many digits"
    return ""
