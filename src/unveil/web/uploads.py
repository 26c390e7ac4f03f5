"""Uploads: streamed to the private folder under size limits and random names."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.web import NamedFile, RefusedError
from unveil.web._private import FULL, open_private

MEGABYTE = 1_000_000
#: How the path of a file may end; readers look at this. Everything else is read as what it turns out to be.
SUFFIXES = (
    ".csv.gz", ".tsv.gz", ".tab.gz", ".txt.gz", ".tsv.gzip", ".tab.gzip", ".csv", ".tsv", ".tab", ".txt", ".parquet",
    ".dta", ".json", ".toml", ".edges", ".npz", ".npy", ".mtx", ".gz", ".gzip",
)  # fmt: skip
_LONGEST_NAME = 120
#: So much of a file is in memory at a time.
_PIECE = 2**20


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of uploads: size and speed."""

    #: Bytes of one file, and of all that are kept.
    file: int = 512 * MEGABYTE
    total: int = 2048 * MEGABYTE
    files: int = 200
    #: So many files may come at the same time; more are asked to try again.
    at_once: int = 4
    #: Seconds without a byte, and for a whole file.
    idle: float = 30.0
    seconds: float = 600.0


@dataclass(frozen=True, kw_only=True)
class Upload(NamedFile):
    """A file that arrived in full."""

    id: str
    size: int


class Uploads:
    """Uploaded files since the server start, and their total size."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        self.folder = folder
        self.limits = limits or Limits()
        self._kept: dict[str, Upload] = {}
        self._seen: dict[str, dict[str, Any]] = {}
        self._coming = 0
        #: Bytes on the disk, also of files that are still coming.
        self._bytes = 0

    def all(self) -> list[Upload]:
        """Return the files, in the order in which they arrived."""
        return list(self._kept.values())

    @property
    def room(self) -> int:
        """Bytes left for the next file."""
        return max(0, min(self.limits.file, self.limits.total - self._bytes))

    def find(self, identity: str) -> Upload:
        """Return the file with this id."""
        try:
            return self._kept[identity]
        except KeyError:
            raise RefusedError(404, "This file was removed. Upload it again") from None

    def remove(self, identity: str) -> None:
        """Remove the file with this id."""
        upload = self.find(identity)
        upload.path.unlink(missing_ok=True)
        del self._kept[identity]
        self._seen.pop(identity, None)
        self._bytes -= upload.size

    async def seen(self, upload: Upload, look: Callable[[Upload], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """Return the cached result of ``look`` at a file."""
        if upload.id not in self._seen:
            found = await look(upload)
            if "error" in found or upload.id not in self._kept:
                return found
            self._seen[upload.id] = found
        return self._seen[upload.id]

    async def receive(self, name: str, pieces: AsyncIterator[bytes], *, declared: int | None = None) -> Upload:
        """Store the file of ``pieces``; invalid uploads leave nothing.

        Parameters
        ----------
        name
            What the person calls it. Only its ending is used, where it is one of those in ``SUFFIXES``.
        pieces
            The content as it arrives.
        declared
            How many bytes were announced, if that was done.
        """
        self._check_room(declared)
        identity = secrets.token_hex(16)
        path = self.folder / f"{identity}{suffix_of(name)}"
        size = 0
        arrived = False
        self._coming += 1
        try:
            with open_private(path) as stream:
                async with asyncio.timeout(self.limits.seconds):
                    async for piece in self._large(pieces):
                        size += len(piece)
                        self._bytes += len(piece)
                        if size > self.limits.file or self._bytes > self.limits.total:
                            raise self._too_large(size)
                        await asyncio.to_thread(stream.write, piece)
            arrived = True
        except TimeoutError:
            raise RefusedError(408, "The upload was too slow, and nothing was kept. Upload the file again") from None
        except OSError as error:
            raise _unwritable(error) from error
        finally:
            self._coming -= 1
            if not arrived:
                self._bytes -= size
                path.unlink(missing_ok=True)
        upload = Upload(id=identity, path=path, name=shown_name(name), size=size)
        self._kept[identity] = upload
        return upload

    def _check_room(self, declared: int | None) -> None:
        if self._coming >= self.limits.at_once:
            raise RefusedError(
                503, f"Busy: {self.limits.at_once} files are already on their way. Try again in a moment"
            )
        if len(self._kept) + self._coming >= self.limits.files:
            raise RefusedError(
                413, f"{self.limits.files} files are kept already. Remove some, or start the server again"
            )
        if declared is not None and declared > self.room:
            raise self._too_large(declared)

    def _too_large(self, size: int) -> RefusedError:
        if size > self.limits.file:
            return RefusedError(
                413,
                f"A file may have {_megabytes(self.limits.file)}, and this one has more. Use a smaller one, or start "
                "the server with a larger size limit",
            )
        return RefusedError(
            413,
            f"All files together may have {_megabytes(self.limits.total)}, and with this one they would have more. "
            "Remove files that are no longer needed, or start the server with a larger size limit",
        )

    async def _large(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield the bytes in larger pieces, with a timeout."""
        collected = bytearray()
        while True:
            try:
                async with asyncio.timeout(self.limits.idle):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                break
            collected += piece
            if len(collected) >= _PIECE:
                yield bytes(collected)
                collected.clear()
        yield bytes(collected)


def suffix_of(name: str) -> str:
    """Return a known file extension, or "".

    >>> suffix_of("People.CSV.gz"), suffix_of("../../people.csv/.."), suffix_of("notes.exe")
    ('.csv.gz', '', '')
    """
    return next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), "")


def shown_name(name: str) -> str:
    r"""Return a printable one-line name: the last path part, shortened.

    >>> shown_name("C:\\data\\people\x00\n.csv")
    'people.csv'
    """
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    plain = "".join(each for each in last if each.isprintable()).strip()
    if len(plain) > _LONGEST_NAME:
        plain = f"{plain[: _LONGEST_NAME // 2]}…{plain[-_LONGEST_NAME // 3 :]}"
    return plain or "a file without a name"


def _unwritable(error: OSError) -> RefusedError:
    if error.errno in FULL:
        return RefusedError(507, "The disk for temporary files is full, so nothing was kept. Free some space")
    return RefusedError(
        500, "The file cannot be kept on this machine. See whether its folder for temporary files works"
    )


def _megabytes(size: int) -> str:
    return f"{size / MEGABYTE:,.3g} MB" if size < 1000 * MEGABYTE else f"{size / MEGABYTE:,.0f} MB"
