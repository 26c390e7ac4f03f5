"""Read edges from lines of text: check the shape of every line with numpy, then let polars take the names.

Text is read in blocks, so that memory hangs on the number of edges and not on the size of the file.
"""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from unveil.data._edge_stream import EdgeFile, not_text
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

Between = Literal["spaces", "commas"]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

#: Lines that begin with one of these are remarks.
COMMENT = b"#%"
#: Source, target, weight and time.
MOST_COLUMNS = 4
_BLOCK = 1 << 22
_LONGEST_LINE = 1 << 20
_TAB, _NEWLINE, _COMMA = b"\t\n,"
_BLANK = np.zeros(256, np.bool_)
_BLANK[list(b" \t\r\n\v\f")] = True


def edge_lines(file: EdgeFile, between: Between, columns: int, *, skip: int, before: int) -> Iterator["pl.DataFrame"]:
    """Yield the edges of a file in blocks: ``source``, ``target`` (null where empty) and the number of their ``line``.

    Remarks and empty lines are left out. Names are whole numbers where all of a block are, else text.

    Parameters
    ----------
    file
        What to read.
    between
        What is between two cells: one comma, or any number of spaces and tabs.
    columns
        How many cells each line must have, from 2 to 4; the third and fourth must be numbers.
    skip, before
        How many bytes, and how many lines, come before the first edge.
    """
    for text in _whole_lines(file, skip, before):
        cleaned, lines = _checked(file, text, between, columns, before)
        if lines.size:
            yield _named(file, cleaned, between, columns, lines)
        before += text.count(b"\n")


def _whole_lines(file: EdgeFile, skip: int, before: int) -> Iterator[bytes]:
    """Yield the text in blocks that end where a line ends."""
    rest = b""
    for piece in file.chunks(_BLOCK, skip=skip):
        if b"\0" in piece:
            raise not_text(file.path)
        text = rest + piece
        complete = text.rfind(b"\n") + 1
        if len(text) - complete > _LONGEST_LINE:
            line = before + text.count(b"\n") + 1
            raise InputError(
                f"line {line} of {file.name} must hold one edge, but is longer than 1 MB. "
                "Write each edge on a line of its own, with ordinary line ends"
            )
        if complete:
            yield text[:complete]
        before += text.count(b"\n")
        rest = text[complete:]
    if rest:
        yield rest + b"\n"


def _checked(file: EdgeFile, text: bytes, between: Between, columns: int, before: int) -> tuple[bytes, Integers]:
    """Return the lines with edges, one separator between cells, and their numbers; or say which line is wrong."""
    array = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(array == _NEWLINE)
    begins = np.concatenate([[0], ends[:-1] + 1])
    inside = ~_BLANK[array]
    turns = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    turns = np.concatenate([[0], turns]) if inside[0] else turns
    starts, stops = turns[::2], turns[1::2]
    first = np.searchsorted(starts, begins)
    words = np.diff(first, append=starts.size)
    data = words > 0
    data[data] = ~np.isin(array[starts[first[data]]], np.frombuffer(COMMENT, np.uint8))
    cells = words
    if between == "commas":
        cells = (
            np.diff(np.searchsorted(np.flatnonzero(array == _COMMA), begins), append=int((array == _COMMA).sum())) + 1
        )
        _refuse_quotes(file, text, before)
    wrong = np.flatnonzero(data & (cells != columns))
    if wrong.size:
        line = text[begins[wrong[0]] : ends[wrong[0]]]
        raise wrong_line(file, before + int(wrong[0]) + 1, int(cells[wrong[0]]), columns, line)
    keep = np.repeat(data, ends - begins + 1)
    lines = np.flatnonzero(data) + before + 1
    if between == "commas":
        return array[keep].tobytes(), lines
    written = array.copy()
    written[stops] = _TAB
    written[stops[(first + words - 1)[data]]] = _NEWLINE
    inside[stops] = True
    return written[inside & keep].tobytes(), lines


def wrong_line(file: EdgeFile, line: int, cells: int, columns: int, text: bytes) -> InputError:
    """Return the error for a line with a wrong number of cells, which says what seems to be the matter."""
    advice = "Correct the line"
    if cells == 1:
        advice = "Write both ends of the edge; a node without an edge can be written in CSV, as in 'name,'"
        if b";" in text:
            advice = "There seem to be semicolons between the names: write commas"
    elif cells > MOST_COLUMNS:
        advice = "Write one edge per line; names with spaces in them need CSV"
    must = "two names, and at most a weight and a time" if not 2 <= columns <= MOST_COLUMNS else f"{columns} columns"
    must += ", as the first does" if must.endswith("columns") else ""
    return InputError(
        f"line {line} of {file.name} must hold {must}, but holds {cells} column{'s' * (cells != 1)}. {advice}"
    )


def _refuse_quotes(file: EdgeFile, text: bytes, before: int) -> None:
    if b'"' in text:
        line = before + text[: text.index(b'"')].count(b"\n") + 1
        raise InputError(
            f"line {line} of {file.name} has a quote, which only a CSV file with a header may have. "
            "Put 'source,target' above the first line"
        )


def _named(file: EdgeFile, cleaned: bytes, between: Between, columns: int, lines: Integers) -> "pl.DataFrame":
    """Return the names at both ends of each line, after a look at the numbers beside them."""
    import polars as pl

    labels = ["source", "target", "third", "fourth"][:columns]
    try:
        frame = pl.read_csv(
            io.BytesIO(cleaned),
            has_header=False,
            schema=dict.fromkeys(labels, pl.String),
            separator="\t" if between == "spaces" else ",",
            quote_char=None,
        )
    except pl.exceptions.PolarsError:
        raise _not_utf8(file, cleaned, lines) from None  # what polars says can hold a cell
    for label in labels[2:]:
        text = frame[label].str.strip_chars()
        wrong = (text.cast(pl.Float64, strict=False).is_null() & text.is_not_null() & (text != "")).arg_true()
        if wrong.len():
            raise InputError(
                f"the {label} column of {file.name} must hold numbers (weights or times), but does not in line "
                f"{lines[wrong[0]]}. Leave out all but two columns (in networkx: write_edgelist with data=False); "
                "names with spaces in them need CSV"
            )
    return pl.DataFrame({label: whole(frame[label]) for label in labels[:2]}).with_columns(line=pl.Series(lines))


def whole(names: "pl.Series") -> "pl.Series":
    """Return the names as whole numbers where all of them are written as such, else as they are.

    >>> import polars as pl
    >>> whole(pl.Series(["7", None, "-1"])).to_list(), whole(pl.Series(["7", "08"])).to_list()
    ([7, None, -1], ['7', '08'])
    """
    import polars as pl

    numbers = names.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).eq_missing(names).all() else names


def _not_utf8(file: EdgeFile, cleaned: bytes, lines: Integers) -> InputError:
    try:
        cleaned.decode("utf-8")
    except UnicodeDecodeError as error:
        line = lines[cleaned[: error.start].count(b"\n")]
        return InputError(f"line {line} of {file.name} is not in UTF-8. Save the file again as UTF-8")
    return InputError(f"the file {file.name} cannot be read as edges. Write it again as CSV: source,target")
