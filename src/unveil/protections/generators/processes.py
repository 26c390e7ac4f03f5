"""Start a command, read its output, and remove its traces."""

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from unveil.data.files.whole_files import SECRET, SECRET_FOLDER
from unveil.protections.generators import _launch
from unveil.protections.generators.messages import Messages

#: The file whose lock the parent of a command holds while any of its processes runs.
_LOCK = ".lock"
_CHUNK = 1 << 16


def start_process(
    words: Sequence[str], home: Path, *, environment: Mapping[str, str], memory: int, size: int
) -> "tuple[subprocess.Popen[bytes], Messages, threading.Thread]":
    """Return the process, its output, and the reading thread.

    Parameters
    ----------
    words
        The command.
    home
        The folder of the run, where it works.
    environment
        All variables it is given.
    memory, size
        How many bytes each of its processes may hold (0: any number), and each file that they write.
    """
    program = (sys.executable, "-I", "-S", "-W", "ignore", _launch.__file__, str(memory), str(size), str(home), *words)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(home / _LOCK, flags, SECRET), "wb") as lock:
        process = subprocess.Popen(
            program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=home,
            env=dict(environment),
            start_new_session=True,
            pass_fds=(lock.fileno(),) if _locked(lock.fileno()) and os.name != "nt" else (),
        )
    printed = Messages()
    reader = threading.Thread(target=_read, args=(process.stdout, printed), daemon=True)
    reader.start()
    return process, printed, reader


def _read(stream: IO[bytes], printed: Messages) -> None:
    with stream:
        while content := os.read(stream.fileno(), _CHUNK):
            printed.add(content)


def end_process(process: "subprocess.Popen[bytes]", home: Path) -> None:
    """End a command with its child processes, and wait."""
    if process.stdin is not None:
        process.stdin.close()  # which its parent takes as the sign to end all
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=2 * _launch.PATIENCE)
    # The generator may have stopped its parent, or killed it; then its session and its mark are left to find it by.
    ancestor = process.pid if process.returncode is None else None
    _launch.end_run(str(home), session=process.pid, ancestor=ancestor)
    process.kill()
    process.wait()


def remove_left(folder: Path) -> None:
    """Remove folders of commands whose processes no longer run."""
    deadline = time.monotonic() + 2 * _launch.PATIENCE
    left = [home for home in folder.glob("run-*") if home.is_dir() and not home.is_symlink()]
    while left:
        for home in list(left):
            if not _is_locked(home / _LOCK) or time.monotonic() > deadline:
                _launch.end_run(str(home))  # where their parent was killed too
                remove_folder(home)
                left.remove(home)
        time.sleep(0.01)


def remove_folder(home: Path) -> None:
    """Remove a folder, with retries while a process still writes."""
    deadline = time.monotonic() + _launch.PATIENCE
    while True:
        if home.is_symlink():  # which a generator put in its place
            home.unlink()
        shutil.rmtree(home, ignore_errors=True)
        if not home.exists() or time.monotonic() > deadline:
            return
        # The next try also removes what a generator protected; a link may lead anywhere, and is left alone.
        for place, folders, _ in os.walk(home):
            for each in (Path(place, name) for name in folders):
                with contextlib.suppress(OSError):
                    if not each.is_symlink():
                        each.chmod(SECRET_FOLDER)
        time.sleep(0.01)


def _is_locked(path: Path) -> bool:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        number = os.open(path, flags)
    except OSError:
        return False
    try:
        return not _locked(number)
    finally:
        os.close(number)


def _locked(number: int) -> bool:
    """Return whether this process now holds a file's lock.

    It is also True where the system has no locks.
    """
    try:
        import fcntl

        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return True
    return True
