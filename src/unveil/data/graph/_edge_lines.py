"""Read edges from text: check line shapes with numpy, parse with polars.

Text is read in blocks, so that memory hangs on the number of edges and not on the size of the file.
"""

import bz2
import gzip
import io
import os
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import IntArray
from unveil.data.files.source import _MISTAKEN, LARGEST, pipe_content, shown, too_large, unreadable
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

Between = Literal["spaces", "tabs", "commas"]

#: Lines that begin with one of these are remarks.
COMMENT = b"#%"
#: Source, target, weight and time, where no header says otherwise.
MOST_COLUMNS = 4
_SEPARATORS = ((b";", "semicolons"), (b",", "commas"), (b"\t", "tabs"), (b" ", "spaces"))
_BLOCK = 1 << 22
_LONGEST_LINE = 1 << 20
_TAB, _NEWLINE, _COMMA, _RETURN = b"\t\n,\r"
_BLANK = np.zeros(256, np.bool_)
_BLANK[list(b" \t\r\n\v\f")] = True


# Open a file of edges: gzip, bzip2 and archives undone while reading, never on disk and never without a bound.

HEAD = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class EdgeFile:
    """Text file of edges: path, format, and byte range.

    Attributes
    ----------
    path
        The file as the caller named it.
    head
        The first bytes of the text, up to 1 MB, without a byte order mark.
    member
        The file inside an archive that holds the edges; empty if the file is no archive.
    content
        The bytes of a pipe, which can be read only once; None for a file.
    """

    path: Path
    head: bytes
    member: str = ""
    content: bytes | None = None

    @property
    def name(self) -> str:
        """File name in messages: the given path, in quotes."""
        return shown(self.path)

    def chunks(self, size: int, *, skip: int = 0) -> Iterator[bytes]:
        """Yield the text in blocks of ``size`` bytes, without byte order mark."""
        with _text(self.path, self.content, self.member) as stream:
            first = stream.read(size)
            skip += len(BYTE_ORDER_MARK) if first.startswith(BYTE_ORDER_MARK) else 0
            while first:
                yield first[skip:]
                skip = max(skip - len(first), 0)
                first = stream.read(size)


def open_edges(path: str | os.PathLike[str]) -> EdgeFile:
    """Open an edge file and detect its format; pipes are read completely.

    In an archive (tar, also compressed) the edges are in the one file called ``out.NAME``, as KONECT packs them.

    Raises
    ------
    InputError
        If the file cannot be read, is empty or binary, is cut short, or is an archive of something else.
    """
    path = Path(path)
    try:
        content = pipe_content(path)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise unreadable(path, error) from error
    with _text(path, content, "") as stream:
        head = stream.read(HEAD)
    member = ""
    if head[257:262] == b"ustar":
        member = _member(path, content)
        with _text(path, content, member) as stream:
            head = stream.read(HEAD)
    _refuse(path, head)
    return EdgeFile(path, head.removeprefix(BYTE_ORDER_MARK), member, content)


def not_text(path: Path) -> InputError:
    """Return the error for a file with bytes that no text has."""
    return InputError(
        f"the file {shown(path)} must hold edges as text, but is a binary file. Export the edges as CSV: source,target"
    )


class _BoundedStream:
    """A compressed stream that reports damage and stops before it fills the memory."""

    def __init__(self, path: Path, stream: _Readable) -> None:
        self._path, self._stream, self._seen = path, stream, 0

    def read(self, size: int, /) -> bytes:
        try:
            piece = self._stream.read(size)
        except (EOFError, zlib.error, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise _damaged(self._path) from error
        self._seen += len(piece)
        if self._seen > LARGEST:
            raise too_large(self._path, LARGEST)
        return piece


def _damaged(path: Path) -> InputError:
    return InputError(f"the compressed file {shown(path)} is cut short or damaged. Copy or compress it again")


@contextmanager
def _text(path: Path, content: bytes | None, member: str) -> Iterator[_Readable]:
    """Open the text of the file, or of a file in its archive."""
    try:
        with path.open("rb") if content is None else io.BytesIO(content) as raw:
            stream = _decompressed(path, raw)
            if not member:
                yield stream
                return
            with _archive(path, stream) as archive:
                entry = next((each for each in archive if each.name == member and each.isreg()), None)
                opened = None if entry is None else archive.extractfile(entry)
                if opened is None:  # the file was changed since it was first looked at
                    raise _damaged(path)
                yield _BoundedStream(path, opened)
    except tarfile.TarError as error:
        raise _damaged(path) from error
    except OSError as error:
        raise unreadable(path, error) from error


def _decompressed(path: Path, raw: IO[bytes]) -> _Readable:
    magic = raw.read(3)
    raw.seek(0)
    if magic.startswith(b"\x1f\x8b"):
        return _BoundedStream(path, gzip.GzipFile(fileobj=raw))
    return _BoundedStream(path, bz2.BZ2File(raw)) if magic == b"BZh" else raw


def _archive(path: Path, stream: _Readable) -> "closing[tarfile.TarFile]":
    try:
        return closing(tarfile.open(fileobj=stream, mode="r|"))  # type: ignore[call-overload]
    except tarfile.TarError as error:
        raise _damaged(path) from error


def _member(path: Path, content: bytes | None) -> str:
    """Return the one file of an archive that holds edges."""
    edges: list[str] = []
    files = 0
    with _text(path, content, "") as stream, _archive(path, stream) as archive:
        for entry in archive:
            if entry.size > LARGEST:  # before the next one is looked for: that alone could take for ever
                raise InputError(
                    f"each file in the archive {shown(path)} must have at most {LARGEST:,} bytes, but one has "
                    f"{entry.size:,}. Check that it is the right archive, and unpack it first"
                )
            if entry.isreg():
                files += 1
                if PurePosixPath(entry.name).name.startswith("out."):
                    edges.append(entry.name)
    if len(edges) != 1:
        raise InputError(
            f"the archive {shown(path)} must hold one file called out.NAME with the edges, but of its {files} files "
            f"{len(edges)} are called so. Unpack it and name the file with the edges"
        )
    return edges[0]


def _refuse(path: Path, head: bytes) -> None:
    if not head.strip(BYTE_ORDER_MARK + b" \t\r\n"):
        raise InputError(
            f"the file {shown(path)} must hold edges, but is empty. Check that it is the right file and was written "
            "completely"
        )
    for magic, (what, advice) in _MISTAKEN.items():
        if head.startswith(magic):
            raise InputError(f"the file {shown(path)} must hold edges as text, but is {what}. {advice}")
    if b"\0" in head and not head.startswith(b"PAR1"):
        raise not_text(path)


def edge_lines(
    file: EdgeFile, between: Between, columns: int, *, skip: int, before: int, ends: tuple[int, int] | None = None
) -> Iterator["pl.DataFrame"]:
    """Yield the edges of a file in blocks: ``source``, ``target``, ``line``.

    Remarks and empty lines are left out. Names are whole numbers where all of a block are, else text.

    Parameters
    ----------
    file
        What to read.
    between
        What is between two cells: one comma, one tab, or any number of spaces and tabs.
    columns
        How many cells each line must have.
    skip, before
        How many bytes, and how many lines, come before the first edge.
    ends
        Which columns a header calls the ends of edges. None where there is no header: then they are the first two,
        and the others (at most two) must hold numbers.
    """
    for text in _whole_lines(file, skip, before):
        cleaned, lines = _checked(file, text, between, columns, before)
        if lines.size:
            yield _named(file, cleaned, between, columns, lines, ends)
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


def _checked(file: EdgeFile, text: bytes, between: Between, columns: int, before: int) -> tuple[bytes, IntArray]:
    """Return the edge lines with single separators, or report a malformed line."""
    array = np.frombuffer(text, np.uint8)
    _refuse_stray_returns(file, text, array, before)
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
    if between != "spaces":
        marks = np.flatnonzero(array == (_COMMA if between == "commas" else _TAB))
        cells = np.diff(np.searchsorted(marks, begins), append=marks.size) + 1
        _refuse_quotes(file, text, between, before)
    wrong = np.flatnonzero(data & (cells != columns))
    if wrong.size:
        line = text[begins[wrong[0]] : ends[wrong[0]]]
        raise wrong_line(file, before + int(wrong[0]) + 1, int(cells[wrong[0]]), columns, line)
    keep = np.repeat(data, ends - begins + 1)
    lines = np.flatnonzero(data) + before + 1
    if between != "spaces":
        return array[keep].tobytes(), lines
    written = array.copy()
    written[stops] = _TAB
    written[stops[(first + words - 1)[data]]] = _NEWLINE
    inside[stops] = True
    return written[inside & keep].tobytes(), lines


def wrong_line(file: EdgeFile, line: int, cells: int, columns: int, text: bytes) -> InputError:
    """Return the error for a line with a wrong number of cells."""
    advice = "Correct the line"
    if cells == 1:
        advice = "Write both ends of the edge; a node without an edge can be written in CSV, as in 'name,'"
        mixed = next((what for sign, what in _SEPARATORS if sign in text.strip()), "")
        if mixed == "semicolons":
            advice = "There seem to be semicolons between the names: write commas"
        elif mixed:
            advice = f"There seem to be {mixed} between the names, unlike in the first line. Use one separator"
    elif cells > MOST_COLUMNS:
        advice = "Write one edge per line; names with spaces in them need CSV"
    must = f"{columns} columns, as the first does" if columns else "two names, and at most a weight and a time"
    return InputError(
        f"line {line} of {file.name} must hold {must}, but holds {cells} column{'s' * (cells != 1)}. {advice}"
    )


def stray_return(file: EdgeFile, line: int) -> InputError:
    """Return the error for a carriage return inside a line."""
    return InputError(
        f"line {line} of {file.name} must end with a newline, but has a carriage return alone. "
        "Save the file with ordinary line ends"
    )


def _refuse_stray_returns(file: EdgeFile, text: bytes, array: NDArray[np.uint8], before: int) -> None:
    if b"\r" not in text:
        return
    returns = np.flatnonzero(array == _RETURN)
    stray = returns[~np.isin(array[returns + 1], (_RETURN, _NEWLINE))]
    if stray.size:
        raise stray_return(file, before + text[: stray[0]].count(b"\n") + 1)


def _refuse_quotes(file: EdgeFile, text: bytes, between: Between, before: int) -> None:
    if b'"' in text:
        line = before + text[: text.index(b'"')].count(b"\n") + 1
        advice = "Put 'source,target' above the first line" if between == "commas" else "Write commas instead of tabs"
        raise InputError(
            f"line {line} of {file.name} has a quote, which only a CSV file with a header may have. {advice}"
        )


def _named(
    file: EdgeFile, cleaned: bytes, between: Between, columns: int, lines: IntArray, ends: tuple[int, int] | None
) -> "pl.DataFrame":
    """Return the names at both ends of each line, after checking the weights."""
    import polars as pl

    labels = [str(place) for place in range(columns)]
    try:
        frame = pl.read_csv(
            io.BytesIO(cleaned),
            has_header=False,
            schema=dict.fromkeys(labels, pl.String),
            separator="," if between == "commas" else "\t",
            quote_char=None,
        )
    except pl.exceptions.PolarsError:
        raise _not_utf8(file, cleaned, lines) from None  # what polars says can hold a cell
    for label in labels[2:] if ends is None else ():
        _refuse_words(file, frame[label], "third" if label == "2" else "fourth", lines)
    source, target = (frame[labels[place]] for place in ends or (0, 1))
    if between == "spaces" and b"," in cleaned:
        mixed = (source.str.ends_with(",") | target.str.starts_with(",")).arg_true()
        if mixed.len():
            raise InputError(
                f"line {lines[mixed[0]]} of {file.name} must have spaces or tabs between two names, as the first line "
                "has, but also has a comma. Use one separator in all lines"
            )
    return pl.DataFrame({"source": whole(source), "target": whole(target), "line": lines})


def _refuse_words(file: EdgeFile, column: "pl.Series", which: str, lines: IntArray) -> None:
    import polars as pl

    text = column.str.strip_chars()
    wrong = (text.cast(pl.Float64, strict=False).is_null() & text.is_not_null() & (text != "")).arg_true()
    if wrong.len():
        raise InputError(
            f"the {which} column of {file.name} must hold numbers (weights or times), but does not in line "
            f"{lines[wrong[0]]}. Keep only two columns (in networkx: write_edgelist with data=False), or call "
            "two of them source and target in a header. Names with spaces need CSV"
        )


def whole(names: "pl.Series") -> "pl.Series":
    """Return the names as integers if all are, else unchanged.

    >>> import polars as pl
    >>> whole(pl.Series(["7", None, "-1"])).to_list(), whole(pl.Series(["7", "08"])).to_list()
    ([7, None, -1], ['7', '08'])
    """
    import polars as pl

    numbers = names.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).eq_missing(names).all() else names


def _not_utf8(file: EdgeFile, cleaned: bytes, lines: IntArray) -> InputError:
    try:
        cleaned.decode("utf-8")
    except UnicodeDecodeError as error:
        line = lines[cleaned[: error.start].count(b"\n")]
        return InputError(f"line {line} of {file.name} is not in UTF-8. Save the file again as UTF-8")
    return InputError(f"the file {file.name} cannot be read as edges. Write it again as CSV: source,target")
