"""Replace files atomically; keep private files readable by this user only."""

import contextlib
import errno
import os
import secrets
import shutil
import signal
import stat
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from unveil.errors import InputError

#: How a file is called while it is written, where the system cannot write one without a name.
DRAFT = ".unveil-*.tmp"
#: What others may do with a secret file, and with a folder of such files: nothing.
SECRET, SECRET_FOLDER = 0o600, 0o700

# What asks a process to end and can wait until a file has its name.
_ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name))
# A draft without a byte may be one that its writer is about to lock; after so many seconds it is not.
_STARTING = 60.0
# Open the file of that name itself, not what a link leads to, and do not wait for the other end of a pipe.
_UNLINKED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def replace_file(target: Path, content: bytes, *, shared: bool = False, lasting: bool = True) -> None:
    """Write ``content`` to ``target`` atomically.

    The file is written without a name where the system can do that, so that whatever ends this process leaves nothing
    behind; elsewhere under the name of a draft, which the next :func:`sweep` removes.

    Parameters
    ----------
    target
        The file; a link of that name is replaced, never followed.
    content
        All its bytes.
    shared
        False lets only this user read it, whatever the umask and whatever was there. True is for what is made to be
        passed on: a new file has the usual permissions, an old one keeps its own.
    lasting
        Whether to wait until the disk has it.
    """
    draft = target.with_name(f".unveil-{secrets.token_hex(8)}.tmp")
    number = _nameless(target.parent, shared)
    if number is not None:
        with os.fdopen(number, "wb") as stream:
            _fill(stream, content, target, shared=shared, lasting=lasting)
            if _linked(stream, target) or _named(stream, draft, target):
                return
    with _endings_wait():
        try:
            with os.fdopen(_opened(draft, shared), "wb") as stream:
                _lock(stream)
                _fill(stream, content, target, shared=shared, lasting=lasting)
                _take_place(stream, draft, target)
        finally:
            draft.unlink(missing_ok=True)


def replace_folder(target: Path, contents: Mapping[str, bytes], *, shared: bool = False) -> None:
    """Create the folder ``target`` with these files, atomically."""
    draft = target.with_name(f".unveil-{secrets.token_hex(8)}.tmp")
    with _endings_wait():
        try:
            draft.mkdir(0o777 if shared else SECRET_FOLDER)
            for name, content in contents.items():
                replace_file(draft / name, content, shared=shared)
            if target.exists():
                target.rmdir()  # not every system lets a folder take the place of another
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove drafts whose writers have ended in a folder.

    In a folder for all, others may have put anything under such a name: a link is not followed, a pipe not waited for.
    """
    for draft in folder.glob(DRAFT):
        with contextlib.suppress(OSError):
            about = draft.lstat()
            if stat.S_ISDIR(about.st_mode) and _is_ours(about) and time.time() - about.st_mtime > _STARTING:
                shutil.rmtree(draft)
                continue
        with contextlib.suppress(OSError), open(draft, "rb", opener=_as_it_is) as stream:
            if _is_left(os.fstat(stream.fileno())) and _lock(stream):
                draft.unlink()


def make_secret_folder(folder: Path) -> None:
    """Create a folder that only this user can access."""
    folder.mkdir(SECRET_FOLDER, exist_ok=True)
    with contextlib.suppress(PermissionError):  # its owner decides
        folder.chmod(SECRET_FOLDER)


def open_secret(path: Path, mode: str) -> IO[str]:
    """Open a private text file for appending, never through a link.

    A link, a pipe or a file of another user under that name is refused: writing to it would change some other file.
    """

    def opener(name: str, flags: int) -> int:
        number = os.open(name, flags | _UNLINKED, SECRET)
        about = os.fstat(number)
        if not (stat.S_ISREG(about.st_mode) and _is_ours(about) and about.st_nlink <= 1):
            os.close(number)
            raise OSError(errno.EINVAL, "not a plain file of this user", name)
        return number

    try:
        return open(path, mode, encoding="utf-8", opener=opener)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EINVAL, errno.ENXIO):
            raise InputError(
                f"{str(path)!r} must be a plain file of this user, but is a link, a pipe or another user's file. "
                "Remove it, or name another folder"
            ) from error
        raise


def read_unlinked(path: Path) -> bytes:
    """Return the bytes of a plain file; raise OSError otherwise."""
    with open(path, "rb", opener=_as_it_is) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a plain file", str(path))
        return stream.read()


def refuse_shared_folder(folder: Path) -> None:
    """Reject a folder in which another user could place files."""
    if not hasattr(os, "geteuid"):  # a system without such owners and permissions
        return
    about = folder.stat()
    if not _is_ours(about):
        raise InputError(
            f"the folder {str(folder)!r} belongs to another user, who could change results in it. Name another folder"
        )
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(
            f"the folder {str(folder)!r} is writable by other users, who could change results in it. "
            "Remove that permission (chmod go-w), or name another folder"
        )


def _as_it_is(name: str, flags: int) -> int:
    return os.open(name, flags | _UNLINKED)


def _is_left(about: os.stat_result) -> bool:
    ours = stat.S_ISREG(about.st_mode) and _is_ours(about)
    return ours and (about.st_size > 0 or time.time() - about.st_mtime > _STARTING)


def _is_ours(about: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or about.st_uid == os.geteuid()


def _nameless(folder: Path, shared: bool) -> int | None:
    """Return a new unnamed file in the folder, or None if unsupported."""
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666 if shared else SECRET)
    except (OSError, AttributeError):  # what is wrong with the folder is told by the other way
        return None


def _opened(draft: Path, shared: bool) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return os.open(draft, flags, 0o666 if shared else SECRET)


def _fill(stream: IO[bytes], content: bytes, target: Path, *, shared: bool, lasting: bool) -> None:
    """Write the bytes, and give the file its permissions before it has its name."""
    if hasattr(os, "fchmod"):
        if not shared:
            os.fchmod(stream.fileno(), SECRET)  # a umask may also take away what this user needs
        elif target.is_file():
            os.fchmod(stream.fileno(), target.stat().st_mode & 0o7777)
    stream.write(content)
    stream.flush()
    if lasting:
        os.fsync(stream.fileno())


def _linked(stream: IO[bytes], name: Path) -> bool:
    """Return whether the unnamed file now has this unused name."""
    try:
        # Only with a folder does Python ask the system to follow the link to the file; an absolute path ignores it.
        os.link(f"/proc/self/fd/{stream.fileno()}", name, src_dir_fd=stream.fileno())
    except OSError:
        return False
    return True


def _named(stream: IO[bytes], draft: Path, target: Path) -> bool:
    """Return whether the file without a name has taken the place of another one."""
    _lock(stream)
    with _endings_wait():
        if not _linked(stream, draft):
            return False
        try:
            _take_place(stream, draft, target)
        finally:
            draft.unlink(missing_ok=True)
    return True


def _take_place(stream: IO[bytes], draft: Path, target: Path) -> None:
    if os.name == "nt":
        stream.close()  # a file that is open cannot be renamed there
    draft.replace(target)


def _lock(stream: IO[bytes]) -> bool:
    """Return whether this process now holds the lock of a file."""
    try:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


@contextlib.contextmanager
def _endings_wait() -> Iterator[None]:
    """Delay signals that ask this process to end."""
    came: list[int] = []
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {ending: signal.signal(ending, lambda number, _: came.append(number)) for ending in _ENDINGS}
    try:
        yield
    finally:
        for ending, handler in before.items():
            signal.signal(ending, signal.SIG_DFL if handler is None else handler)
        for number in came[:1]:
            signal.raise_signal(number)
