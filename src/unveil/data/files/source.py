"""Open a file for reading: what it is, told by its first bytes, and whether it can be read at all."""

import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from unveil.errors import InputError

_HEAD = 1 << 16
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
}


@dataclass(frozen=True)
class Source:
    """A file that holds a table: where it is, of which kind, and its bytes if they are not on disk as they are."""

    path: Path
    kind: Literal["csv", "parquet"]
    content: bytes | None

    @property
    def name(self) -> str:
        """How messages call the file: its path as the caller gave it, in quotes."""
        return shown(self.path)

    @property
    def separator(self) -> str:
        """The sign between two cells, by the file's extension: a tab in ``.tsv`` and ``.tab``, else a comma."""
        suffixes = [suffix.lower() for suffix in self.path.suffixes if suffix.lower() not in {".gz", ".gzip"}]
        return "\t" if suffixes and suffixes[-1] in {".tsv", ".tab"} else ","

    def chunks(self, size: int) -> Iterator[bytes]:
        """Yield the bytes of the file in pieces of ``size``."""
        try:
            with self.path.open("rb") if self.content is None else io.BytesIO(self.content) as stream:
                while piece := stream.read(size):
                    yield piece
        except OSError as error:
            raise unreadable(self.path, error) from error

    def for_polars(self) -> Path | io.BytesIO:
        """Return the file in the form that polars reads fastest; the path is absolute, so never an address."""
        if self.content is not None:
            return io.BytesIO(self.content)
        path = self.path.absolute()
        # polars takes no name with bytes outside UTF-8.
        return path if is_text(str(path)) else io.BytesIO(b"".join(self.chunks(_PIECE)))


def is_text(name: str) -> bool:
    r"""Return whether a name is UTF-8 on disk, as polars needs it; other bytes reach Python as lone surrogates.

    >>> is_text("Zoë.csv"), is_text("Zo\udceb.csv")
    (True, False)
    """
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def shown(path: Path) -> str:
    """Return the path as messages show it: in quotes, with control characters made visible.

    >>> shown(Path("truth.csv"))
    "'truth.csv'"
    """
    return repr(str(path))


def open_source(path: str | os.PathLike[str]) -> Source:
    """Return the file behind ``path``, recognised by its first bytes, gzip undone.

    Pipes are read to their end, because what follows looks at the bytes twice; devices are refused.
    """
    path = Path(path)
    try:
        content = pipe_content(path)
        if content is None:
            with path.open("rb") as stream:
                head = stream.read(_HEAD)
        else:
            head = content[:_HEAD]
        if head.startswith(b"\x1f\x8b"):
            content = decompressed(path, content)
            head = content[:_HEAD]
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise unreadable(path, error) from error
    return Source(path, _kind(path, head), content)


def pipe_content(path: Path) -> bytes | None:
    """Return all that a pipe holds, or None for a file, which is read where it is; anything else is refused.

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
    """Return how many bytes of memory the system lets this process take, or None where it sets no limit."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if most == resource.RLIM_INFINITY else most


def _refuse_size(path: Path) -> None:
    """Refuse a file that cannot fit, because polars ends the whole process where memory is refused to it."""
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


def decompressed(path: Path, content: bytes | None) -> bytes:
    """Return what a file of gzip holds, or the pipe whose ``content`` it is, up to a bound."""
    try:
        with gzip.open(path if content is None else io.BytesIO(content), "rb") as stream:
            plain = stream.read(LARGEST + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"the compressed file {shown(path)} is cut short or damaged. Copy or compress it again"
        ) from error
    if len(plain) > LARGEST:
        raise too_large(path, LARGEST)
    return plain


def too_large(path: Path, largest: int) -> InputError:
    """Return the error for a compressed file that grows beyond the bound."""
    return InputError(
        f"the compressed file {shown(path)} must hold at most {largest:,} bytes, but holds more. "
        "Check that it is the right file, and decompress it first"
    )


def _kind(path: Path, head: bytes) -> Literal["csv", "parquet"]:
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise InputError(
            f"the file {shown(path)} must hold a table with a header and rows, but is empty. "
            "Check that it is the right file and was written completely"
        )
    for magic, (what, advice) in _MISTAKEN.items():
        if head.startswith(magic):
            raise InputError(f"the file {shown(path)} must be CSV (in UTF-8) or Parquet, but is {what}. {advice}")
    if head.startswith(b"PAR1"):
        return "parquet"
    if b"\0" in head:
        raise InputError(
            f"the file {shown(path)} must be CSV (in UTF-8) or Parquet, but is a binary file of another kind. "
            "Export the table as CSV or Parquet"
        )
    return "csv"


def unreadable(path: Path, error: OSError | ValueError) -> InputError:
    """Return the error for a file that the system does not give, and why."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"the file {shown(path)} does not exist. Check the path and the folder it starts from")
    if isinstance(error, PermissionError):
        return InputError(f"the file {shown(path)} may not be read by this user. Ask for permission to read it")
    reason = (error.strerror if isinstance(error, OSError) else None) or "its name or content is not valid"
    return InputError(f"the file {shown(path)} cannot be read ({reason}). Check the path and the disk")
