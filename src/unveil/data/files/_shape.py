"""Row ends and cell counts of a text table, computed from bytes."""

import csv
import io
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

_NEWLINE, _RETURN = b"\n\r"


@dataclass(frozen=True)
class Lines:
    """Text that starts at a row, with byte offsets of its lines."""

    text: bytes
    last: bool
    ends: NDArray[np.int64]
    fields: NDArray[np.int64]
    stray: NDArray[np.int64]
    lone_returns: NDArray[np.int64]
    quote_is_open: bool

    @property
    def complete(self) -> int:
        """Number of bytes that belong to complete rows."""
        return int(self.ends[-1]) + 1 if self.ends.size else 0


def look(text: bytes, separator: str, quote: str = '"', *, last: bool) -> Lines:
    r"""Return the row ends and cell counts of a text, respecting quotes.

    >>> look(b'a,b\n1,"2,3"\n', ",", last=True).fields
    array([2, 2])
    """
    array, sign = np.frombuffer(text, np.uint8), quote.encode()
    marks = np.flatnonzero((array == ord(separator)) | (array == _NEWLINE))
    returns = np.flatnonzero(array == _RETURN) if b"\r" in text else np.empty(0, np.int64)
    stray = np.empty(0, np.int64)
    quote_is_open = False
    if sign in text:
        is_quote = array == ord(quote)
        # Odd from an opening quote to its closing one; a doubled quote closes and opens again.
        quotes_so_far = np.cumsum(is_quote, dtype=np.uint8) & 1
        marks, returns = marks[quotes_so_far[marks] == 0], returns[quotes_so_far[returns] == 0]
        stray = _stray_quotes(array, np.flatnonzero(is_quote), [ord(separator), ord(quote), _NEWLINE])
        quote_is_open = bool(quotes_so_far[-1])
    row_ends = np.flatnonzero(array[marks] == _NEWLINE)
    followed = returns[returns + 1 < array.size]
    return Lines(
        text=text,
        last=last,
        ends=marks[row_ends],
        fields=np.diff(row_ends, prepend=-1),
        stray=stray,
        lone_returns=followed[array[followed + 1] != _NEWLINE],
        quote_is_open=quote_is_open,
    )


def _stray_quotes(array: NDArray[np.uint8], quotes: NDArray[np.int64], borders: list[int]) -> NDArray[np.int64]:
    """Return the quotes that neither begin a cell, nor end one, nor are doubled."""
    border = np.zeros(256, bool)
    border[borders] = True
    opening = quotes[::2]
    opening = opening[opening > 0]
    after_cell = border.copy()
    after_cell[_RETURN] = True
    closing = quotes[1::2]
    closing = closing[closing + 1 < array.size]
    return np.concatenate([opening[~border[array[opening - 1]]], closing[~after_cell[array[closing + 1]]]])


def empty_lines(lines: Lines) -> NDArray[np.bool_]:
    """Return which rows hold no sign at all."""
    starts = np.concatenate([[0], lines.ends[:-1] + 1])[: lines.ends.size]
    empty: NDArray[np.bool_] = lines.ends == starts
    if b"\r\n" in lines.text:
        array = np.frombuffer(lines.text, np.uint8)
        empty |= (lines.ends == starts + 1) & (array[starts] == _RETURN)
    return empty


def first_rows(text: bytes, separator: str, quote: str = '"', *, at_most: int | None = 2_000) -> list[list[str]]:
    r"""Return the header and up to ``at_most`` readable rows of a UTF-8 text.

    >>> first_rows(b'a,b\n1,"2,3"\n', ",")
    [['a', 'b'], ['1', '2,3']]
    """
    rows: list[list[str]] = []
    lines = io.StringIO(text.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"), newline="")
    with suppress(csv.Error):  # reading says what is wrong with the file
        rows.extend(islice(csv.reader(lines, delimiter=separator, quotechar=quote), at_most and at_most + 1))
    return rows
