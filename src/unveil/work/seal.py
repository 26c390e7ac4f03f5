"""Files that are there in full or not at all, and tell whether they are still what was written."""

import errno
import hashlib
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from unveil.data.files.source import shown
from unveil.data.files.whole_files import replace_file
from unveil.errors import UnveilError

if TYPE_CHECKING:
    import polars as pl

State = Literal["fine", "failed"]

_WORD = "unveil-seal"
_OPEN = "0" * 64
_SEAL = re.compile(rb"unveil-seal:([0-9a-f]{64}):([^:]*):([^:]*):(fine|failed);")


class Seal(NamedTuple):
    """What a file says about itself: whose results it holds, of which data, and whether the scenario failed."""

    name: str
    digest: str
    state: State


class DiskError(UnveilError):
    """A result could not be written, as on a full disk; what was written before is kept."""


def sealed(
    frame: "pl.DataFrame", seal: Seal, more: Mapping[str, str] | None = None, *, level: int | None = None
) -> bytes:
    """Return the bytes of a Parquet file that holds its own hash, so that any change of any byte is seen.

    The same rows, seal and texts beside them (``more``) give the same bytes. ``level`` is how hard to compress them.
    """
    stream = io.BytesIO()
    written = f"{_WORD}:{_OPEN}:{seal.name}:{seal.digest}:{seal.state};"
    metadata = {"unveil": written, **(more or {})}
    if level is None:
        frame.write_parquet(stream, compression="zstd", metadata=metadata)
    else:  # in one piece, so that what is alike in all of it is seen
        frame.write_parquet(
            stream,
            compression="zstd",
            compression_level=level,
            statistics=False,
            data_page_size=1 << 26,
            metadata=metadata,
        )
    content = stream.getvalue()
    closed = f"{_WORD}:{hashlib.sha256(content).hexdigest()}:"
    return content.replace(f"{_WORD}:{_OPEN}:".encode(), closed.encode())


def seal_of(content: bytes) -> Seal | None:
    """Return what a file says about itself, or None where it is damaged or no such file."""
    found = _SEAL.search(content)
    if found is None:
        return None
    start, end = found.span(1)
    blank = b"".join([content[:start], _OPEN.encode(), content[end:]])
    if hashlib.sha256(blank).hexdigest().encode() != found[1]:
        return None
    state: State = "fine" if found[4] == b"fine" else "failed"
    return Seal(found[2].decode(), found[3].decode(), state)


def remedy(error: OSError) -> str:
    """Return what to do about a disk; room is what it lacks only if it says so.

    >>> remedy(OSError(errno.ENOSPC, "no space")), remedy(OSError(errno.EACCES, "not allowed"))
    ('make room or choose another disk', 'choose a folder that can be written to')
    """
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "make room or choose another disk" if full else "choose a folder that can be written to"


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file that only this user may read, seen once it is on the disk in full; one of that name is replaced."""
    try:
        replace_file(path, content)
    except OSError as error:
        if not path.is_file() and path.exists():
            raise DiskError(
                f"{shown(path)} must be a file, but something else is there. Move it away, and resume; what was "
                "computed before is kept"
            ) from error
        raise DiskError(
            f"{shown(path)} cannot be written ({error.strerror or type(error).__name__}). What was computed before is "
            f"kept: {remedy(error)}, and resume"
        ) from error
