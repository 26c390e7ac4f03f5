"""Read text tables: check the shape of every row first, then let polars read the columns.

polars fills short rows with nulls and closes some open quotes by itself, so a damaged file could pass as a smaller one.
One pass over the bytes with numpy finds such rows, and their numbers, for less than what reading costs.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import BoolArray, IntArray
from unveil.data.files.source import Source
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_QUOTE, _NEWLINE, _RETURN = b'"\n\r'
_BLOCK = 1 << 22
_LONGEST_HEADER = 1 << 20
_LONGEST_ROW = 1 << 24

_QUOTES = "a quote is not closed or stands inside a cell. Put that cell in quotes and write each quote inside it twice"
_LINES = "a line ends with a carriage return alone. Save the file with ordinary line ends"
_ENCODING = "it is not in UTF-8. Save the file again as UTF-8"
_EMPTY = "it is an empty line. Remove it"


def csv_columns(source: Source) -> list[str]:
    """Return the names in the header."""
    head = next(source.chunks(_LONGEST_HEADER))
    # What follows the header may be cut within a character here; only the header itself must be UTF-8.
    lines = io.StringIO(head.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", "surrogateescape"), newline="")
    try:
        names = next(csv.reader(lines, delimiter=source.separator, strict=True))
        "".join(names).encode("utf-8")
    except csv.Error as error:
        raise _wrong_row(source, 0, _QUOTES) from error
    except UnicodeEncodeError as error:
        raise _wrong_row(source, 0, _ENCODING) from error
    if not names:
        raise InputError(
            f"the first line of {source.name} must hold the column names, but is empty. Remove the empty lines above it"
        )
    if len(head) == _LONGEST_HEADER and not lines.read(1):
        raise _wrong_row(source, 0, "it is longer than 1 MB. Check that the first line holds the column names")
    return names


def csv_rows(source: Source, names: list[str], chosen: list[str], *, has_header: bool = True) -> "pl.DataFrame":
    """Return the chosen columns as text; an empty cell is null.

    Every row must have as many cells as the first line, with quotes as in RFC 4180. Empty lines at the end are no rows.
    Without a header the first line is a row like the others.
    """
    import polars as pl

    height = csv_height(source, len(names)) + (not has_header)
    try:
        frame = (
            pl.scan_csv(
                source.for_polars(),
                has_header=False,  # polars would rename repeated names and not undo doubled quotes in names
                skip_rows=int(has_header),
                schema={str(position): pl.String for position in range(len(names))},
                separator=source.separator,
                glob=False,
            )
            .select([pl.col(str(names.index(name))).alias(name) for name in chosen])
            .head(height)
            .collect()
        )
    except (pl.exceptions.PolarsError, OSError):
        raise _not_a_table(source) from None  # what polars says can hold a cell
    if frame.height != height:
        raise _not_a_table(source)
    return frame


def _not_a_table(source: Source) -> InputError:
    return InputError(
        f"the file {source.name} cannot be read as a table of text. Write it again as plain CSV in UTF-8, or as Parquet"
    )


def _wrong_row(source: Source, row: int, why: str) -> InputError:
    where = f"row {row} (counted from 1 below the header)" if row else "the header"
    return InputError(f"the file {source.name} cannot be read as a table at {where}: {why}")


@dataclass(frozen=True)
class _Lines:
    """Text that begins where a row begins, and what its shape hangs on; offsets count bytes from its start."""

    text: bytes
    last: bool
    ends: IntArray
    fields: IntArray
    stray: IntArray
    lone_returns: IntArray
    quote_is_open: bool

    @property
    def complete(self) -> int:
        """How many bytes belong to whole rows."""
        return int(self.ends[-1]) + 1 if self.ends.size else 0


def csv_height(source: Source, fields: int) -> int:
    """Return the number of rows below the header, each with ``fields`` cells, or say which row is wrong and why."""
    before = rows = 0
    first_empty: int | None = None
    for lines in _in_blocks(source):
        empty = _empty_lines(lines) if fields > 1 else np.zeros(lines.ends.size, bool)
        if first_empty is None and empty.any():
            first_empty = before + int(np.argmax(empty))
        if not empty.all():
            rows = before + int(np.flatnonzero(~empty)[-1])
        # The first of several reasons for one row is given: a quote explains a wrong number of fields.
        wrong = [(before + int(np.searchsorted(lines.ends, offset)), why) for offset, why in _wrong_bytes(lines)]
        if first_empty is not None and first_empty < rows:
            wrong.append((first_empty, _EMPTY))
        uneven = np.flatnonzero((lines.fields != fields) & ~empty)
        if uneven.size:
            wrong.append((before + int(uneven[0]), _uneven(int(lines.fields[uneven[0]]), fields)))
        if wrong:
            raise _wrong_row(source, *min(wrong, key=lambda each: each[0]))
        before += lines.ends.size
    return rows


def _uneven(seen: int, fields: int) -> str:
    count = f"it has {seen} field{'s' * (seen != 1)}, the header has {fields}"
    return f"{count}. Correct it; a cell with the separator in it needs quotes"


def _in_blocks(source: Source) -> Iterator[_Lines]:
    """Yield the text in blocks; where one ends within a row, the next begins with that row again."""
    rest, start = b"", _BYTE_ORDER_MARK
    for piece in source.chunks(_BLOCK):
        lines = _look(rest + piece.removeprefix(start), ord(source.separator), last=False)
        yield lines
        rest, start = lines.text[lines.complete :], b""
    if rest:
        yield _look(rest if rest.endswith(b"\n") else rest + b"\n", ord(source.separator), last=True)


def _look(text: bytes, separator: int, *, last: bool) -> _Lines:
    array = np.frombuffer(text, np.uint8)
    marks = np.flatnonzero((array == separator) | (array == _NEWLINE))
    returns = np.flatnonzero(array == _RETURN) if b"\r" in text else np.empty(0, np.int64)
    stray = np.empty(0, np.int64)
    quote_is_open = False
    if b'"' in text:
        is_quote = array == _QUOTE
        # Odd from an opening quote to its closing one; a doubled quote closes and opens again.
        quotes_so_far = np.cumsum(is_quote, dtype=np.uint8) & 1
        marks, returns = marks[quotes_so_far[marks] == 0], returns[quotes_so_far[returns] == 0]
        stray = _stray_quotes(array, np.flatnonzero(is_quote), separator)
        quote_is_open = bool(quotes_so_far[-1])
    row_ends = np.flatnonzero(array[marks] == _NEWLINE)
    followed = returns[returns + 1 < array.size]
    return _Lines(
        text=text,
        last=last,
        ends=marks[row_ends],
        fields=np.diff(row_ends, prepend=-1),
        stray=stray,
        lone_returns=followed[array[followed + 1] != _NEWLINE],
        quote_is_open=quote_is_open,
    )


def _stray_quotes(array: NDArray[np.uint8], quotes: IntArray, separator: int) -> IntArray:
    """Return the quotes that neither begin a cell, nor end one, nor are doubled."""
    border = np.zeros(256, bool)
    border[[separator, _QUOTE, _NEWLINE]] = True
    opening = quotes[::2]
    opening = opening[opening > 0]
    after_cell = border.copy()
    after_cell[_RETURN] = True
    closing = quotes[1::2]
    closing = closing[closing + 1 < array.size]
    return np.concatenate([opening[~border[array[opening - 1]]], closing[~after_cell[array[closing + 1]]]])


def _empty_lines(lines: _Lines) -> BoolArray:
    starts = np.concatenate([[0], lines.ends[:-1] + 1])[: lines.ends.size]
    empty: BoolArray = lines.ends == starts
    if b"\r\n" in lines.text:
        array = np.frombuffer(lines.text, np.uint8)
        empty |= (lines.ends == starts + 1) & (array[starts] == _RETURN)
    return empty


def _wrong_bytes(lines: _Lines) -> Iterator[tuple[int, str]]:
    """Yield where the text itself is wrong, and why."""
    if lines.stray.size:
        yield int(lines.stray.min()), _QUOTES
    if lines.quote_is_open and (lines.last or len(lines.text) - lines.complete > _LONGEST_ROW):
        yield lines.complete, _QUOTES
    if lines.lone_returns.size:
        yield int(lines.lone_returns[0]), _LINES
    if not lines.text.isascii():
        try:
            lines.text[: lines.complete].decode("utf-8")
        except UnicodeDecodeError as error:
            yield error.start, _ENCODING
