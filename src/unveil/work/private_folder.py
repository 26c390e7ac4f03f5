"""Private temporary folders, and removal of leftovers of dead processes."""

import contextlib
import os
import re
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from unveil.data.files.whole_files import SECRET
from unveil.work.lock import Lock, running

#: What the folders are for; the names of all begin with this word, their user and their process.
FolderKind = Literal["made", "serve"]
_PREFIX = "unveil"
#: For this many seconds the folder of a living process counts as being set up, even without a held lock.
STARTING = 60.0


@dataclass(kw_only=True)
class PrivateFolder:
    """Private folder, locked while its process lives."""

    path: Path
    _lock: Lock = field(repr=False)
    _process: int = field(default_factory=os.getpid, repr=False)

    def remove(self) -> None:
        """Remove the folder with its content; a second call does nothing."""
        if os.getpid() != self._process:  # a forked copy of the process is not the owner
            return
        # Twice, because a process that is being killed may write one more file in between.
        for _ in range(2):
            shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):
            self._lock.free()


def make_private_folder(kind: FolderKind, parent: Path | None = None) -> PrivateFolder:
    """Return a new private folder, after removing those of killed processes.

    Parameters
    ----------
    kind
        What it is for.
    parent
        Where to make it; the user's folder for temporary files unless given.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     folder = make_private_folder("made", Path(parent))
    ...     print(oct(folder.path.stat().st_mode & 0o777), sorted(each.name for each in folder.path.iterdir()))
    ...     folder.remove()
    0o700 ['run.lock', 'run.lock.json']
    """
    home = Path(tempfile.gettempdir()) if parent is None else parent
    remove_left_behind(home)
    path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}-{kind}-{_user()}-{os.getpid()}-", dir=home))
    lock = Lock(path)
    lock.take()
    (path / "run.lock").chmod(SECRET)
    return PrivateFolder(path=path, _lock=lock)


def remove_left_behind(home: Path | None = None) -> None:
    """Remove this user's private folders of dead processes.

    Links are not followed. Folders of other users stay, and so do folders that others may enter, whatever their name.
    """
    # Earlier versions made some for audits.
    pattern = re.compile(rf"{_PREFIX}-(?:audit|made|serve)-{_user()}-(\d+)-\w+")
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir() if home is None else home) as entries:
        for entry in entries:
            found = pattern.fullmatch(entry.name)
            if found is not None and _is_left_behind(entry, int(found[1])):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_left_behind(entry: "os.DirEntry[str]", process: int) -> bool:
    try:
        about = entry.stat(follow_symlinks=False)
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != _user() or not _is_private(about):
            return False
        path = Path(entry.path)
        # Between making its folder and taking the lock a process holds nothing that others could see.
        starting = time.time() - about.st_mtime < STARTING
        if starting and (_is_alive(process) or not (path / "run.lock").is_file()):
            return False
        return running(path) is None
    except OSError:
        return False


def _is_private(about: os.stat_result) -> bool:
    return os.name == "nt" or not about.st_mode & 0o077


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass  # it is there, and belongs to another user
    return True


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
