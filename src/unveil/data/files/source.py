"""Open a file for reading and detect its format from its bytes."""

import codecs
import gzip
import io
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from unveil.data.files._encoding import as_utf8, encoding_of
from unveil.data.files.dialect import LOOKED_AT, Dialect, dialect_of
from unveil.data.files.settings import FileSettings
from unveil.errors import InputError

#: The most bytes that a compressed file may grow to: more than any published graph that fits in memory.
LARGEST = 1 << 31
#: The most bytes that are taken from a pipe: it can be read only once, so all of it is kept in memory.
LARGEST_PIPE = 1 << 30
#: How many seconds a pipe may stay silent before it counts as forgotten.
LONGEST_SILENCE = 60
_PIECE = 1 << 16
#: How much memory the libraries take before a file is read, and how many times its size a file takes then.
LEAST_MEMORY = 2_000_000_000
_GROWTH = 5

# What people hand over by mistake, by its first bytes: what it is, and what to do about it.
_MISTAKEN = {
    b"PK\x03\x04": ("a spreadsheet or a zip archive", "Save the sheet as CSV (UTF-8), or unpack the archive first"),
    b"%PDF": ("a PDF document", "Export the table as CSV or Parquet"),
    b"\xff\xfe": ("text in UTF-16", "Save it again as UTF-8"),
    b"\xfe\xff": ("text in UTF-16", "Save it again as UTF-8"),
    b"\x28\xb5\x2f\xfd": ("compressed with zstandard", "Decompress it, or compress it with gzip instead"),
    b"\xfd7zXZ\x00": ("compressed with xz", "Decompress it, or compress it with gzip instead"),
    b"PARE": ("an encrypted Parquet file", "Write it again without encryption"),
    b"FEA1": ("a Feather file of the first version", "Write it again with a later program, or as Parquet"),
}
#: Formats that say themselves what their columns are called and hold; all others are text, a kind called "csv".
Kind = Literal["csv", "parquet", "feather", "ndjson", "sav", "dta", "xpt", "sas7bdat"]
_FORMATS: dict[bytes, Kind] = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"$FL2": "sav",
    b"$FL3": "sav",
    b"<stata_dta>": "dta",
    b"HEADER RECORD*******LIB": "xpt",
    bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011"): "sas7bdat",
}
#: How the name of a sheet begins in words.
SHEET = "the sheet"
_OLD_STATA = range(110, 120)
#: A table in an archive that is compressed is packed twice; more is no table.
_MOST_PACKED = 3
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OTHER_JSON = re.compile(rb"\s*(\[\s*[\[{]|\{\s*\n)")
#: How what gzip packed begins.
GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Source:
    """File that holds a table: path, format, and unpacked bytes.

    The bytes of text are in UTF-8 and begin with the first line of the table; ``dialect`` says how it was written.
    ``inside`` names what was read of a file that may hold several tables: a file in an archive, a sheet.
    """

    path: Path
    kind: Kind
    content: bytes | None = None
    dialect: Dialect = field(default_factory=Dialect)
    inside: str = ""

    @property
    def name(self) -> str:
        """File name in messages: the given path, in quotes."""
        return shown(self.path)

    @property
    def usual(self) -> str:
        """Default separator by extension: tab for ``.tsv`` and ``.tab``, else comma."""
        suffixes = [suffix.lower() for suffix in self.path.suffixes if suffix.lower() not in {".gz", ".gzip", ".zip"}]
        return "\t" if suffixes and suffixes[-1] in {".tsv", ".tab"} else ","

    @property
    def is_sheet(self) -> bool:
        """True if the text is from a workbook sheet."""
        return self.inside.startswith(SHEET)

    def reading(self, *, header: bool = True) -> str:
        """Return how the file was read if it is not plain CSV."""
        inside = f"{self.inside} of it" * bool(self.inside)
        return ", ".join(filter(None, [inside, self.dialect.words(usual=self.usual, header=header)]))

    def chunks(self, size: int) -> Iterator[bytes]:
        """Yield the bytes of the file in pieces of ``size``."""
        try:
            with self.path.open("rb") if self.content is None else io.BytesIO(self.content) as stream:
                while piece := stream.read(size):
                    yield piece
        except OSError as error:
            raise unreadable(self.path, error) from error

    def all_bytes(self) -> bytes:
        """Return the bytes of the file."""
        return b"".join(self.chunks(_PIECE)) if self.content is None else self.content

    def for_polars(self) -> Path | io.BytesIO:
        """Return the file in the form that polars reads fastest."""
        if self.content is not None:
            return io.BytesIO(self.content)
        path = self.path.absolute()
        # polars takes no name with bytes outside UTF-8.
        return path if is_text(str(path)) else io.BytesIO(self.all_bytes())


def is_text(name: str) -> bool:
    r"""Return whether a name is valid UTF-8 on disk.

    >>> is_text("Zoë.csv"), is_text("Zo\udceb.csv")
    (True, False)
    """
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def shown(path: Path) -> str:
    """Return the quoted path with control characters made visible.

    >>> shown(Path("truth.csv"))
    "'truth.csv'"
    """
    return repr(str(path))


def open_source(path: str | os.PathLike[str], settings: FileSettings | None = None) -> Source:
    """Return the file behind ``path``: detected, unpacked, and in UTF-8.

    Pipes are read to their end, because what follows looks at the bytes twice; devices are refused.
    """
    from unveil.data.files.compression import unpacked

    path, inside = Path(path), ""
    try:
        content = pipe_content(path)
        if content is None:
            with path.open("rb") as stream:
                head = stream.read(LOOKED_AT)
        else:
            head = content[:LOOKED_AT]
        for _ in range(_MOST_PACKED):
            opened = unpacked(path, content, head)
            if opened is None:
                break
            content, inside = opened[0], opened[1] or inside
            head = content[:LOOKED_AT]
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise unreadable(path, error) from error
    source = Source(path, _kind(path, head), content, inside=inside)
    return _as_text(source, head, settings or FileSettings()) if source.kind == "csv" else source


def _as_text(source: Source, head: bytes, settings: FileSettings) -> Source:
    """Return the source of a UTF-8 text table, with its format."""
    cut = len(head) == LOOKED_AT
    told = settings.encoding if settings.encoding != "detect" else encoding_of(head, cut=cut) or "utf-8"
    encoding = codecs.lookup(told).name
    if encoding not in ("utf-8", "utf-8-sig"):
        content = as_utf8(source.all_bytes(), encoding, source.name)
        source, head = replace(source, content=content), content[:LOOKED_AT]
    dialect = dialect_of(head, settings, usual=source.usual, cut=cut)
    if dialect.skipped:
        rest = io.BytesIO(source.all_bytes())
        for _ in range(dialect.skipped):
            rest.readline()
        source = replace(source, content=rest.read())
    return replace(source, dialect=replace(dialect, encoding=encoding.removesuffix("-sig")))


def not_utf8(source: Source, settings: FileSettings) -> Source | None:
    """Return the source re-read as non-UTF-8, or None for mixed encodings.

    Only the first megabyte is looked at before a file is read, and it may hold nothing but ASCII.
    """
    content = source.all_bytes()
    encoding = encoding_of(content)
    if encoding in (None, "utf-8") or settings.encoding != "detect":
        return None
    again = replace(source, content=content)
    return _as_text(again, content[:LOOKED_AT], replace(settings, encoding=encoding))


def pipe_content(path: Path) -> bytes | None:
    """Return the content of a pipe, or None for a file.

    A device such as /dev/zero never ends, and a pipe that nobody writes to never begins: neither may hold the caller
    up for ever or fill the memory.
    """
    if path.is_dir():
        raise InputError(f"{shown(path)} must be a file, but is a folder. Name the file inside it")
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode):
        return _drained(path)
    if not stat.S_ISREG(mode):
        raise InputError(f"{shown(path)} must be a file, but is a device or a socket. Name a file, or pipe the data in")
    _refuse_size(path)
    return None


def most_memory() -> int | None:
    """Return the memory limit of this process in bytes, or None."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if most == resource.RLIM_INFINITY else most


def _refuse_size(path: Path) -> None:
    """Reject a file that cannot fit into memory."""
    most, size = most_memory(), path.stat().st_size
    if most is not None and size * _GROWTH > most - LEAST_MEMORY:
        raise InputError(
            f"the file {shown(path)} has {size / 1e6:,.0f} MB and must fit into memory, but this process may take "
            f"{most / 1e9:.1f} GB only. Raise the limit (ulimit -v), or take fewer rows or columns"
        )


def _drained(path: Path) -> bytes:
    import select

    drained = io.BytesIO()
    # Without O_NONBLOCK opening alone would wait for a writer, perhaps for ever.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as pipe:
        waiting = select.poll()
        waiting.register(pipe, select.POLLIN | select.POLLHUP)
        while waiting.poll(LONGEST_SILENCE * 1000):
            piece = pipe.read(_PIECE)
            if piece == b"":
                return drained.getvalue()
            drained.write(piece or b"")
            if drained.tell() > LARGEST_PIPE:
                raise InputError(
                    f"the pipe {shown(path)} must hold at most {LARGEST_PIPE:,} bytes, but holds more. Write the data "
                    "to a file first, and name that"
                )
    raise InputError(
        f"the pipe {shown(path)} must be written to, but nothing came for {LONGEST_SILENCE} seconds. Check the command "
        "that should write to it, or write the data to a file first and name that"
    )


def decompressed(path: Path, content: bytes | None, largest: int | None = None) -> bytes:
    """Return the decompressed gzip content, up to a bound."""
    largest = LARGEST if largest is None else largest
    try:
        with gzip.open(path if content is None else io.BytesIO(content), "rb") as stream:
            plain = stream.read(largest + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"the compressed file {shown(path)} is cut short or damaged. Copy or compress it again"
        ) from error
    if len(plain) > largest:
        raise too_large(path, largest)
    return plain


def too_large(path: Path, largest: int) -> InputError:
    """Return the error for a compressed file that grows beyond the bound."""
    return InputError(
        f"the compressed file {shown(path)} must hold at most {largest:,} bytes, but holds more. "
        "Check that it is the right file, and decompress it first"
    )


def _kind(path: Path, head: bytes) -> Kind:
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise InputError(
            f"the file {shown(path)} must hold a table with a header and rows, but is empty. "
            "Check that it is the right file and was written completely"
        )
    for magic, kind in _FORMATS.items():
        if head.startswith(magic):
            return kind
    if head[0] in _OLD_STATA and ".dta" in (suffix.lower() for suffix in path.suffixes):
        return "dta"
    encoding = encoding_of(head, cut=len(head) == LOOKED_AT)
    if encoding is not None and encoding.startswith(("utf-16", "utf-32")):
        return "csv"
    for magic, (what, advice) in _MISTAKEN.items():
        if head.startswith(magic):
            raise _no_table(path, what, advice)
    if encoding is None:
        raise _no_table(path, "a binary file of another kind", "Export the table as CSV or Parquet")
    if _OTHER_JSON.match(head):
        raise _no_table(path, "JSON of another form", "Write one record per line (NDJSON), or export it as CSV")
    return "ndjson" if _is_record(head) else "csv"


def _no_table(path: Path, what: str, advice: str) -> InputError:
    return InputError(f"the file {shown(path)} must hold a table, as CSV or Parquet do, but is {what}. {advice}")


def _is_record(head: bytes) -> bool:
    """Return whether the first line is a record of JSON."""
    first = head.removeprefix(_BYTE_ORDER_MARK).lstrip().partition(b"\n")[0]
    try:
        return first.startswith(b"{") and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def changed_while_read(path: Path) -> InputError:
    """Return the error for a file that changed while being read."""
    return InputError(
        f"the file {shown(path)} must stay as it is while it is read, but it changed. Wait until it is written "
        "completely, and ask again"
    )


def unreadable(path: Path, error: OSError | ValueError) -> InputError:
    """Return the error for an unreadable file, with the reason."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"the file {shown(path)} does not exist. Check the path and the folder it starts from")
    if isinstance(error, PermissionError):
        return InputError(f"the file {shown(path)} may not be read by this user. Ask for permission to read it")
    reason = (error.strerror if isinstance(error, OSError) else None) or "its name or content is not valid"
    return InputError(f"the file {shown(path)} cannot be read ({reason}). Check the path and the disk")
