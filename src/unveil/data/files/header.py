"""Detect whether the first line of a text table is a header.

A name that is taken for data costs one more option. Data that are taken for names would put a person's record into
reports, so where both are possible the reader is asked.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from unveil.data.files._shape import first_rows
from unveil.data.files.settings import HEADERS, Header, check_header
from unveil.data.identifiers.patterns import AMBIGUOUS, EMAIL, PHONE, TERMS, URL, UUID, runs_of, words_of
from unveil.errors import InputError

if TYPE_CHECKING:
    from unveil.data.files.source import Source

__all__ = [
    "HEADERS", "Header", "check_header", "is_surely_header", "looks_like_names", "made_names", "refuse_data",
]  # fmt: skip

_LOOKED_AT = 1 << 20
#: A column is of one shape when so many of its cells have it.
_MOST_OF = 0.9
_MISSING = frozenset(["", "?", "-", "--", ".", "*", "na", "n/a", "nan", "null", "none", "nil", "missing", "unknown"])
_NUMBER = re.compile(r"[<>~]?\s*[+-]?[$€£]?\s*(?=[\d.,]*\d)[\d.,' ]*([eE][+-]?\d+)?\s*(%|[$€£])?")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?([T ]\d{1,2}:\d{2}.*)?|\d{1,2}[-/. ]\d{1,2}[-/. ](\d{4}|\d{2})|"
    r"\d{1,2}\.?[ -][^\W\d]{3,10}\.?[ -]\d{4}|[^\W\d]{3,10}\.? \d{1,2},? \d{4}|\d{1,2}:\d{2}(:\d{2})?"
)
_PERSONAL = tuple(re.compile(pattern) for pattern in (EMAIL, URL, UUID, PHONE))
#: What columns of people are called, and those of the other files that unveil reads.
_OURS = ("item", "cluster", "target", "candidate", "entry", "token", "pseudonym", "probability")
_NAMES = frozenset().union(*TERMS.values(), _OURS) - AMBIGUOUS
_FULL_NAME = re.compile(r"[A-ZÀ-Þ][\w'’.-]*(,? [A-ZÀ-Þ][\w'’.-]*)+")


def made_names(number: int) -> list[str]:
    """Return generated column names for a file without a header.

    >>> made_names(2)
    ['column_1', 'column_2']
    """
    return [f"column_{place}" for place in range(1, number + 1)]


def refuse_data(source: "Source", names: Sequence[str]) -> None:
    """Raise the error for a first line that may be data, showing no cell."""
    if not is_surely_header(source, names):
        raise InputError(
            f"the first line of {source.name} looks like data, not like column names. Set header to yes if it holds "
            "names. Set it to no if it is data: columns are then called column_1, column_2, and so on"
        )


def is_surely_header(source: "Source", names: Sequence[str]) -> bool:
    """Return whether the first line is a header, given the rows below."""
    if source.kind != "csv":
        return True
    head = next(source.chunks(_LOOKED_AT))
    rows = first_rows(head, source.dialect.separator, source.dialect.quote)[1:]
    # Where the file was cut the last row may be half of one.
    return looks_like_names(names, rows[:-1] if len(head) == _LOOKED_AT else rows)


def looks_like_names(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a line names the columns of the rows below.

    Every cell has a vote. For names speak: a word over numbers, dates or codes; a word over few repeated words that it
    is none of; a word that columns about people are called by. For data, each twice as much: a number over numbers, a
    cell of the shape of those below or of an email address and the like, a word that occurs below, a word that the
    first line repeats. Names must win by two where anything speaks for data.

    >>> looks_like_names(["age", "town"], [["31", "Ulm"], ["40", "Ulm"]])
    True
    """
    below = [row for row in below if len(row) == len(names)]
    if not below:
        return True  # there is no row, which is said elsewhere
    votes = [_vote(name.strip(), [row[place].strip() for row in below]) for place, name in enumerate(names)]
    named = {name for name, vote in zip(names, votes, strict=True) if vote == 1}
    repeated = {name for name, times in Counter(names).items() if times > 1 and name.strip()} - named
    votes = [vote or -(name in repeated) for name, vote in zip(names, votes, strict=True)]
    yes, no = votes.count(1), votes.count(-1)
    return yes > 0 and (no == 0 or yes > 2 * no + 1)


def _vote(name: str, cells: Sequence[str]) -> int:
    """Return 1 if a first-line cell suggests a header, -1 data, else 0."""
    filled = [cell for cell in cells if cell.casefold() not in _MISSING]
    if name.casefold() in _MISSING:
        return 0
    own, shape = _shape(name), _common(filled)
    if own in _TELLING and (own == shape or own == "personal"):
        return -1
    if runs_of(words_of(name)) & _NAMES:
        return 1
    if name in filled:
        return -1
    if shape is not None and own != shape:
        return 1 if own == "word" else 0
    if own != "word":
        return -1 if own == shape else 0
    return 1 if not filled or _is_repeating(filled) else 0


_TELLING = frozenset({"number", "date", "personal"})


def _shape(cell: str) -> str:
    """Return the shape of a cell: number, date, identifier, word, or pattern."""
    if any(pattern.fullmatch(cell) for pattern in _PERSONAL):
        return "personal"
    if _DATE.fullmatch(cell):
        return "date"
    if _NUMBER.fullmatch(cell):
        return "number"
    if re.search(r"\d\d", cell):
        return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", cell))
    return "full name" if _FULL_NAME.fullmatch(cell) else "word"


def _common(cells: Sequence[str]) -> str | None:
    """Return the shape of nearly all cells, or None."""
    shapes: Counter[str] = Counter()
    for cell, times in Counter(cells).items():  # most cells stand there many times, and a look at one takes a while
        shapes[_shape(cell)] += times
    most, times = shapes.most_common(1)[0] if shapes else ("word", 0)
    return most if most != "word" and times >= _MOST_OF * len(cells) else None


def _is_repeating(cells: Sequence[str]) -> bool:
    return len(cells) > 1 and len(set(cells)) <= len(cells) / 2
