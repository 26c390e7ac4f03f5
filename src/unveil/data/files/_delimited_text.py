"""Read text tables: check the shape of every row first, then let polars read the columns.

polars fills short rows with nulls and closes some open quotes by itself, so a damaged file could pass as a smaller one.
One pass over the bytes with numpy finds such rows, and their numbers, for less than what reading costs.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unveil.data.files._shape import Lines, empty_lines, look
from unveil.data.files.column_store import ColumnBlocks, ColumnStore
from unveil.data.files.source import Source
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLOCK = 1 << 22
_LONGEST_HEADER = 1 << 20
_LONGEST_ROW = 1 << 24

_QUOTES = "a quote is not closed or stands inside a cell. Put that cell in quotes and write each quote inside it twice"
_LINES = "a line ends with a carriage return alone. Save the file with ordinary line ends"
_ENCODING = (
    "it is not in UTF-8, as the text before it. Save the file again as UTF-8, or tell its encoding "
    "(--read encoding=NAME)"
)
_EMPTY = "it is an empty line. Remove it"


class NotUtf8Error(InputError):
    """Text that seemed to be UTF-8 turns out not to be, further on."""


def csv_columns(source: Source) -> list[str]:
    """Return the names in the header."""
    head = next(source.chunks(_LONGEST_HEADER))
    # What follows the header may be cut within a character here; only the header itself must be UTF-8.
    lines = io.StringIO(head.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", "surrogateescape"), newline="")
    written = source.dialect
    try:
        names = next(csv.reader(lines, delimiter=written.separator, quotechar=written.quote, strict=True))
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


def csv_rows(source: Source, width: int, chosen: Iterable[int], *, has_header: bool = True) -> "pl.DataFrame":
    """Return the columns at the chosen places as text, called "0", "1" and so on by place; an empty cell is null.

    Every row must have as many cells as the first line, with quotes as in RFC 4180. Empty lines at the end are no rows.
    Without a header the first line is a row like the others.
    """
    import polars as pl

    names = [str(place) for place in chosen]
    try:
        height = csv_height(source, width) + (not has_header)
        rows = _scan(source.for_polars(), source, width, skip_rows=int(has_header))
        frame = rows.select(names).head(height).collect()
    except (pl.exceptions.PolarsError, OSError):
        raise _not_a_table(source) from None  # what polars says can hold a cell
    if frame.height != height:
        raise _not_a_table(source)
    return frame


def csv_blocks(source: Source, width: int, store: ColumnStore, *, has_header: bool) -> ColumnBlocks:
    """Return the cells that `csv_rows` returns, on disk; never more than a block of text is in memory."""
    import polars as pl

    blocks, is_first = ColumnBlocks([str(place) for place in range(width)], store), has_header

    def add(lines: Lines) -> None:
        nonlocal is_first
        start, is_first = int(lines.ends[0]) + 1 if is_first else 0, False
        text = lines.text[start : lines.complete]
        if text.strip(b"\r\n") or (text and width == 1):  # there is nothing in empty lines that polars could read
            blocks.add(_scan(io.BytesIO(text), source, width, skip_rows=0).collect())

    try:
        height = csv_height(source, width, each=add) + (not has_header)
    except (pl.exceptions.PolarsError, OSError):
        raise _not_a_table(source) from None  # what polars says can hold a cell
    if blocks.height < height:
        raise _not_a_table(source)
    blocks.height = height  # empty lines at the end are no rows
    return blocks


def _scan(text: Path | io.BytesIO, source: Source, width: int, *, skip_rows: int) -> "pl.LazyFrame":
    import polars as pl

    return pl.scan_csv(
        text,
        has_header=False,  # polars would rename repeated names and not undo doubled quotes in names
        skip_rows=skip_rows,
        schema={str(place): pl.String for place in range(width)},
        separator=source.dialect.separator,
        quote_char=source.dialect.quote,
        glob=False,
    )


def _not_a_table(source: Source) -> InputError:
    return InputError(
        f"the file {source.name} cannot be read as a table of text. Write it again as plain CSV in UTF-8, or as Parquet"
    )


def _wrong_row(source: Source, row: int, why: str) -> InputError:
    where = f"row {row} (counted from 1 below the header)" if row else "the header"
    kind = NotUtf8Error if why == _ENCODING else InputError
    return kind(f"the file {source.name} cannot be read as a table at {where}: {why}")


def csv_height(source: Source, fields: int, *, each: Callable[[Lines], None] | None = None) -> int:
    """Return the number of rows below the header, each with ``fields`` cells, or say which row is wrong and why.

    ``each`` is given the text block by block, as far as it is right and has rows with cells.
    """
    before = rows = 0
    first_empty: int | None = None
    for lines in _in_blocks(source):
        empty = empty_lines(lines) if fields > 1 else np.zeros(lines.ends.size, bool)
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
            raise _wrong_row(source, *min(wrong, key=lambda found: found[0]))
        before += lines.ends.size
        if each is not None and not empty.all():
            each(lines)
    return rows


def _uneven(seen: int, fields: int) -> str:
    count = f"it has {seen} field{'s' * (seen != 1)}, the header has {fields}"
    return f"{count}. Write as many cells there; a cell with the separator in it needs quotes"


def _in_blocks(source: Source) -> Iterator[Lines]:
    """Yield the text in blocks; where one ends within a row, the next begins with that row again."""
    rest, start = b"", _BYTE_ORDER_MARK
    sign, quote = source.dialect.separator, source.dialect.quote
    for piece in source.chunks(_BLOCK):
        lines = look(rest + piece.removeprefix(start), sign, quote, last=False)
        yield lines
        rest, start = lines.text[lines.complete :], b""
    if rest:
        yield look(rest if rest.endswith(b"\n") else rest + b"\n", sign, quote, last=True)


def _wrong_bytes(lines: Lines) -> Iterator[tuple[int, str]]:
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
