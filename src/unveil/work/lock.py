"""Exclusive folder lock, freed by the system when its holder ends."""

import contextlib
import json
import os
import platform
from pathlib import Path
from typing import IO

from unveil.data.files.source import shown
from unveil.data.files.whole_files import open_secret, read_unlinked, replace_file
from unveil.errors import InputError

LOCK_FILE = "run.lock"
#: Who holds the lock; a file of its own, so that nothing is ever written to the file that is locked.
_HOLDER = "run.lock.json"


class Lock:
    """Lock of a run that writes to a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stream: IO[str] | None = None

    def take(self) -> None:
        """Take the lock, or say who holds it."""
        stream = open_secret(self.folder / LOCK_FILE, "a")
        if not _held_by_us(stream):
            stream.close()
            raise InputError(
                f"another run writes to {shown(self.folder)}: {_holder(self.folder)}. Wait until it "
                "ends, or choose another folder"
            )
        self._stream = stream
        holder = json.dumps({"pid": os.getpid(), "host": platform.node()}).encode()
        with contextlib.suppress(OSError):  # a full disk, which the run itself reports
            replace_file(self.folder / _HOLDER, holder, lasting=False)

    def free(self) -> None:
        """Release the lock."""
        if self._stream is not None:
            with contextlib.suppress(OSError):
                (self.folder / _HOLDER).unlink(missing_ok=True)
            self._stream.close()
            self._stream = None


def running(folder: Path) -> str | None:
    """Return which process writes to the folder now, in words, or None."""
    if (folder / LOCK_FILE).is_symlink() or not (folder / LOCK_FILE).is_file():
        return None
    # Only for reading: a study on a disk that cannot be written to can be looked at.
    with (folder / LOCK_FILE).open(encoding="utf-8") as stream:
        return None if _held_by_us(stream, looking=True) else _holder(folder)


def _holder(folder: Path) -> str:
    try:
        told = json.loads(read_unlinked(folder / _HOLDER))
        return f"process {told['pid']} on {told['host']}"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "another process"


def _held_by_us(stream: IO[str], *, looking: bool = False) -> bool:
    """Return whether the lock was acquired.

    Who is only ``looking`` shares it, which a file open for reading allows everywhere; where there are no locks, as on
    some disks that cannot be written to, nobody else holds it.
    """
    try:
        import fcntl
    except ImportError:  # not on this system, which has another way
        import msvcrt

        try:
            stream.seek(0)
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(stream, (fcntl.LOCK_SH if looking else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return looking
    return True
