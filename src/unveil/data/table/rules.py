"""Rules for column types; the first that applies decides."""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from unveil.data.table._cell_texts import folded, intervals_in, number_in
from unveil.data.table.forms import Dates
from unveil.data.table.words import EITHER_WORDS, TRUTH_PAIRS, telling_word

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.forms import Kind


_LEADING_ZERO = re.compile(r"(?<![0-9.,])0[0-9]")


def lower_end(cell: str) -> float | None:
    """Return the lower end of a band: number, minus infinity, or None.

    A bound with a leading zero is part of a code, and a band that runs backwards is none.

    >>> lower_end("$2,500 - 5,000"), lower_end("80+"), lower_end("lt $1000"), lower_end("[30,40)")
    (2500.0, 80.0, -inf, 30.0)
    >>> lower_end("25-00503"), lower_end("40-30"), lower_end("Ulm")
    (None, None, None)
    """
    text = folded(cell)
    if _LEADING_ZERO.search(text):
        return None
    for band in intervals_in(text, lambda end, comma: number_in(end, comma_ends=comma) is not None):
        low, high = (None if end is None else number_in(end, comma_ends=band.comma) for end in (band.low, band.high))
        if low is None or high is None or low <= high:
            return -math.inf if low is None else float(low)
    return None


def in_order(cells: list[str]) -> list[str]:
    """Return bands by lower end, other words first.

    >>> in_order(["80+", "20-29", "<20", "none"])
    ['none', '<20', '20-29', '80+']
    """
    ends = {cell: lower_end(cell) for cell in cells}
    return sorted(cells, key=lambda cell: (ends[cell] is not None, ends[cell] or 0.0, cell.casefold(), cell))


#: How far a kind can be trusted: told by the caller, by a dictionary or by labels in the file, or guessed.
Confidence = Literal["given", "dictionary", "labels", "sure", "likely", "uncertain"]

#: In fewer rows nothing tells codes from amounts, and each row having its own value says nothing.
ENOUGH_ROWS = 20
MOST_CODES = 20
_MOST_LEVELS = 12
_LEAST_COUNTS = 4
_BANDS = 0.75
_MOST_BANDS = 1_000
_WORDS_OF_TEXT = 4


class Guess(NamedTuple):
    """Result of a rule: type, confidence, and reason.

    ``dates`` is how dates are written.
    """

    kind: "Kind"
    confidence: Confidence
    reason: str
    asks: bool = False
    dates: Dates | None = None


class WholeNumbers(NamedTuple):
    """Distinct whole numbers of a column without markers, and all its numbers."""

    values: "pl.Series"
    cells: "pl.Series"


def truth_pair(words: Sequence[str]) -> tuple[str, str] | None:
    """Return the false and true word of a pair, or None.

    >>> truth_pair(["Ja", "nein"]), truth_pair(["1", "2"])
    (('nein', 'Ja'), None)
    """
    plain = {word.strip().casefold(): word for word in words}
    pair = next((pair for pair in TRUTH_PAIRS if set(pair) == set(plain)), None)
    return None if pair is None or len(words) != 2 else (plain[pair[0]], plain[pair[1]])


def few_values(different: int) -> Guess | None:
    """Return the type of a column with at most two values (rules 1, 2)."""
    if different > 2:
        return None
    seen = ("every cell is missing", "all its values are the same", "it has two values")[different]
    return Guess("category", "sure", seen)


def codes_by_name(name: str, different: int) -> Guess | None:
    """Return the type codes if the column name suggests it (rule 7).

    >>> codes_by_name("rent", 2) is None, codes_by_name("rent", 900) is None, codes_by_name("town", 900) is None
    (False, True, False)
    """
    word = telling_word(name)
    if word is None or word[0] != "group" or (word[1] in EITHER_WORDS and different > MOST_CODES):
        return None
    return Guess("category", "likely", f"whole numbers, and {word[1]!r} in its name says that they are codes")


def kind_of_whole(name: str, numbers: WholeNumbers) -> Guess:
    """Return the type of whole numbers by rules 7 to 11, or codes.

    >>> import polars as pl
    >>> codes = pl.Series(range(1, 10))
    >>> kind_of_whole("RAC1P", WholeNumbers(codes, codes)).kind
    'category'
    """
    values, different = numbers.values, numbers.values.len()
    if codes := codes_by_name(name, different):
        return codes
    if different > MOST_CODES:
        return Guess("number", "likely", f"every cell is a whole number, and more than {MOST_CODES} are different")
    low, high = int(values[0]), int(values[-1])
    word = telling_word(name)
    if word is not None:
        levels = low == 1 and high == different <= _MOST_LEVELS
        return Guess(
            "ordered" if levels else "number",
            "likely",
            f"whole numbers, and {word[1]!r} in its name says that they are {'levels' if levels else 'amounts'}",
        )
    if low < 0:
        return Guess("ordered", "likely", "few whole numbers on both sides of 0")
    steps = np.diff(np.array(values.to_list(), np.float64))
    if low > 1:
        return Guess("number", "likely", "whole numbers that begin above 1, where codes would not")
    if steps.max() > 2 and steps.max() > 3 * np.median(steps):
        return Guess("number", "likely", "whole numbers with a gap that codes would not have")
    if _is_count(numbers):
        return Guess("number", "likely", "whole numbers from 0 on, each rarer than the one before: a count")
    return Guess(
        "category",
        "uncertain",
        f"{different} codes that are whole numbers, and nothing tells whether they have an order",
        asks=True,
    )


def _is_count(numbers: WholeNumbers) -> bool:
    """Return whether the numbers look like counts: 0 or 1 most frequent."""
    if int(numbers.values[0]) != 0 or numbers.values.len() < _LEAST_COUNTS:
        return False
    counts = np.array([(numbers.cells == value).sum() for value in numbers.values], np.float64)
    first = int(counts.argmax())
    if int(numbers.values[first]) > 1:
        return False
    tail = counts[first:]
    falls = tail[1:] <= 1.1 * tail[:-1] + 3 * np.sqrt(tail[:-1])
    return bool(falls.all() and tail[-1] < 0.05 * tail[0])


def kind_of_words(different: "pl.Series", rows: int, filled: int) -> Guess:
    """Return the type of non-date texts by rules 14 to 17.

    Parameters
    ----------
    different
        The different words, without markers.
    rows, filled
        The number of rows, and how many of them hold a word.
    """
    number = different.len()
    if number <= _MOST_BANDS and sum(lower_end(cell) is not None for cell in different) >= _BANDS * number:
        return Guess("ordered", "likely", "most of its values are bands of numbers, in the order of their lower ends")
    if rows >= ENOUGH_ROWS and number == rows:
        return Guess("text", "likely", "every row has a text of its own")
    words = different.str.strip_chars().str.count_matches(r"\s+") + 1
    if number > filled / 2 and float(words.mean()) >= _WORDS_OF_TEXT:  # type: ignore[arg-type]
        return Guess("text", "likely", "texts of several words, most of them different, equal or not as categories are")
    return Guess("category", "sure", "cells that are no numbers, dates or truth values")
