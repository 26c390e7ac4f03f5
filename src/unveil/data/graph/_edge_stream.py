"""Open a file of edges: gzip, bzip2 and archives undone while reading, never on disk and never without a bound."""

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
from typing import IO, Protocol

from unveil.data.files.source import _MISTAKEN, LARGEST, pipe_content, shown, too_large, unreadable
from unveil.errors import InputError

HEAD = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class EdgeFile:
    """A file that holds edges as text: where it is, how its text begins, and where in it the text is.

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
        """How messages call the file: its path as the caller gave it, in quotes."""
        return shown(self.path)

    def chunks(self, size: int, *, skip: int = 0) -> Iterator[bytes]:
        """Yield the text in pieces of ``size`` from ``skip`` bytes on; a byte order mark does not count."""
        with _text(self.path, self.content, self.member) as stream:
            first = stream.read(size)
            skip += len(BYTE_ORDER_MARK) if first.startswith(BYTE_ORDER_MARK) else 0
            while first:
                yield first[skip:]
                skip = max(skip - len(first), 0)
                first = stream.read(size)


def open_edges(path: str | os.PathLike[str]) -> EdgeFile:
    """Return the file behind ``path``, after a look at its first bytes; a pipe is read to its end.

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
    """Give the text of the file, or of the named file in the archive that it is."""
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
