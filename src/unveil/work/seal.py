"""Sealed files: written atomically, and verified as this user's own.

A seal holds the file's hash, which shows damage to every reader, and, where a key is given, a keyed hash (HMAC), which
shows to those who have the key that nobody else wrote the file.
"""

import contextlib
import errno
import hashlib
import hmac
import io
import json
import os
import re
import secrets
import stat
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from unveil.data.files.source import shown
from unveil.data.files.whole_files import SECRET, SECRET_FOLDER, refuse_shared_folder, replace_file
from unveil.errors import InputError, UnveilError

if TYPE_CHECKING:
    import polars as pl

State = Literal["fine", "failed"]

_OPEN = "0" * 64
_SEAL = re.compile(rb"unveil-seal:([0-9a-f]{64}):(?:([0-9a-f]{64}):)?([^:]*):([^:]*):(fine|failed);")
#: The variable that holds the key in place of the user's file, as on a cluster without a common home.
KEY_VARIABLE = "UNVEIL_KEY"
_KEY_SIZE = 32
_EXCLUSIVE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_UNLINKED = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Seal(NamedTuple):
    """Header of a file: job, data, and failure flag."""

    name: str
    digest: str
    state: State


class SealKey(bytes):
    """Key with a hidden value, also in logs."""

    def __repr__(self) -> str:
        return "SealKey(…)"

    __str__ = __repr__

    def sign(self, content: bytes) -> str:
        """Return the keyed hash of these bytes."""
        return hmac.new(self, content, hashlib.sha256).hexdigest()


class DiskError(UnveilError):
    """A result could not be written; earlier results are kept."""


def sealed_parquet(frame: "pl.DataFrame", seal: Seal, more: Mapping[str, str], *, level: int) -> bytes:
    """Return a sealed Parquet file with texts; ``level`` sets compression.

    The same rows, seal and texts give the same bytes.
    """
    stream = io.BytesIO()
    frame.write_parquet(
        stream,
        compression="zstd",
        compression_level=level,
        statistics=False,
        data_page_size=1 << 26,  # in one piece, so that what is alike in all of it is seen
        metadata={"unveil": _opened(seal, None), **more},
    )
    return _closed(stream.getvalue(), seal, None)


def sealed_parts(parts: Sequence[bytes], seal: Seal, key: SealKey | None = None) -> bytes:
    """Return a sealed file: two header lines, then the parts.

    >>> content = sealed_parts([b"one", b"two"], Seal("name", "digest", "fine"))
    >>> parts_of(content), seal_of(content)
    ([b'one', b'two'], Seal(name='name', digest='digest', state='fine'))
    """
    sizes = json.dumps([len(each) for each in parts])
    return _closed(b"".join([f"{_opened(seal, key)}\n{sizes}\n".encode(), *parts]), seal, key)


def parts_of(content: bytes) -> list[bytes]:
    """Return the parts of a `sealed_parts` file; raise ValueError otherwise."""
    head, sizes, _ = content.split(b"\n", 2)
    ends = list(accumulate(json.loads(sizes), initial=len(head) + len(sizes) + 2))
    return [content[start:end] for start, end in pairwise(ends)]


def seal_of(content: bytes, key: SealKey | None = None) -> Seal | None:
    """Return the header of a file, or None if invalid."""
    seal = _SEAL.search(content)
    if seal is None:
        return None
    blank = _filled(content, seal.span(1), _OPEN)
    if hashlib.sha256(blank).hexdigest().encode() != seal[1]:
        return None
    if key is not None:
        opened = hashlib.sha256(_filled(blank, seal.span(2), _OPEN)).digest() if seal[2] else b""
        if not hmac.compare_digest(key.sign(opened).encode(), seal[2] or b""):
            return None
    state: State = "fine" if seal[5] == b"fine" else "failed"
    return Seal(seal[3].decode(), seal[4].decode(), state)


def _opened(seal: Seal, key: SealKey | None) -> str:
    return f"unveil-seal:{_OPEN}:{'' if key is None else f'{_OPEN}:'}{seal.name}:{seal.digest}:{seal.state};"


def _closed(content: bytes, seal: Seal, key: SealKey | None) -> bytes:
    """Return the content with its two hashes filled in."""
    start = content.index(_opened(seal, key).encode()) + len("unveil-seal:")
    size = len(_OPEN)
    if key is not None:
        after = start + size + 1
        content = _filled(content, (after, after + size), key.sign(hashlib.sha256(content).digest()))
    return _filled(content, (start, start + size), hashlib.sha256(content).hexdigest())


def _filled(content: bytes, place: tuple[int, int], text: str) -> bytes:
    return b"".join([content[: place[0]], text.encode(), content[place[1] :]])


def user_key() -> SealKey:
    """Return this user's sealing key, from environment or key file.

    Where no file can be kept, as with a home that cannot be written to, it is a key of this process alone: what it
    seals can be read, and not resumed by another one.
    """
    text = os.environ.get(KEY_VARIABLE)
    if text is not None:
        if len(text) < _KEY_SIZE:
            raise InputError(
                f"the variable {KEY_VARIABLE} must have at least {_KEY_SIZE} characters, but has {len(text)}. Set it "
                "to what 'openssl rand -hex 32' prints, or leave it out"
            )
        return SealKey(hashlib.sha256(text.encode()).digest())
    path = key_file()
    try:
        if not os.path.lexists(path):
            _make_key(path)
        return _read_key(path)
    except OSError:
        return _process_key()


def key_file() -> Path:
    """Return where the key of this user lies."""
    home = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    # Not by pathlib, which raises where there is no home.
    return Path(home or os.path.expanduser("~/.local/state"), "unveil", "key")  # noqa: PTH111


@cache
def _process_key() -> SealKey:
    return SealKey(secrets.token_bytes(_KEY_SIZE))


def _make_key(path: Path) -> None:
    """Write a new key, unless another process does so at this moment."""
    path.parent.mkdir(SECRET_FOLDER, parents=True, exist_ok=True)
    refuse_shared_folder(path.parent)
    draft = path.with_name(f".key-{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(draft, _EXCLUSIVE, SECRET), "wb") as stream:
            stream.write(secrets.token_bytes(_KEY_SIZE))
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)  # which takes the place of nothing, and is there in full
    finally:
        draft.unlink(missing_ok=True)


def _read_key(path: Path) -> SealKey:
    refuse_shared_folder(path.parent)
    try:
        number = os.open(path, _UNLINKED)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _wrong_key(path) from error
        raise
    try:
        about = os.fstat(number)
        is_private = not hasattr(os, "geteuid") or (about.st_uid == os.geteuid() and not about.st_mode & 0o077)
        content = os.read(number, _KEY_SIZE + 1) if stat.S_ISREG(about.st_mode) and is_private else b""
    finally:
        os.close(number)
    if len(content) != _KEY_SIZE:
        raise _wrong_key(path)
    return SealKey(content)


def _wrong_key(path: Path) -> InputError:
    return InputError(
        f"{shown(path)} must be a private file of {_KEY_SIZE} bytes, because it holds the "
        "key that seals results. Make it private (chmod 600), or remove it: a new key is made then, and "
        "earlier results cannot be resumed"
    )


def remedy(error: OSError) -> str:
    """Return the fix for a disk error; "make room" only if full.

    >>> remedy(OSError(errno.ENOSPC, "no space")), remedy(OSError(errno.EACCES, "not allowed"))
    ('make room or choose another disk', 'choose a folder that can be written to')
    """
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "make room or choose another disk" if full else "choose a folder that can be written to"


def write_bytes(path: Path, content: bytes) -> None:
    """Write a private file atomically, replacing an old one."""
    try:
        replace_file(path, content)
    except OSError as error:
        if not path.is_file() and path.exists():
            raise DiskError(
                f"{shown(path)} must be a file, but is not. Move it away, and resume; earlier results are kept"
            ) from error
        raise DiskError(
            f"{shown(path)} cannot be written ({error.strerror or type(error).__name__}). Earlier results are "
            f"kept: {remedy(error)}, and resume"
        ) from error
