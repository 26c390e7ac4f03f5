"""The one folder where private tables lie while the page is open, and its removal, whatever happens."""

import contextlib
import os
import re
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from unveil.errors import InputError
from unveil.study.lock import Lock, running

PREFIX = "unveil-serve"
_SAY_WHERE = "Say where files may lie for a while: TMPDIR=/some/folder unveil serve"
#: A folder of a process that is still there is left alone for so long, in seconds, even if nobody holds its lock yet.
STARTING = 60.0


@dataclass(kw_only=True)
class PrivateFolder:
    """A folder that only this user may enter, locked for as long as the process lives."""

    path: Path
    _lock: Lock = field(repr=False)
    _process: int = field(default_factory=os.getpid, repr=False)

    @property
    def files(self) -> Path:
        """Where the files lie that people gave."""
        return self.path / "files"

    @property
    def jobs(self) -> Path:
        """Where each job has a folder of its own."""
        return self.path / "jobs"

    def remove(self) -> None:
        """Remove the folder with all that is in it; may be called more than once."""
        if os.getpid() != self._process:  # a copy of the process is not the owner
            return
        # Twice, because a process that is being killed may write one more file in between.
        for _ in range(2):
            shutil.rmtree(self.path, ignore_errors=True)
        self._lock_free()

    def _lock_free(self) -> None:
        with contextlib.suppress(OSError):
            self._lock.free()


def make_folder(parent: Path | None = None) -> PrivateFolder:
    """Return a new private folder, after removing those that crashed servers of the same user left behind.

    Parameters
    ----------
    parent
        Where it is made; the user's folder for temporary files unless given.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     folder = make_folder(Path(parent))
    ...     print(oct(folder.path.stat().st_mode & 0o777), sorted(each.name for each in folder.path.iterdir()))
    ...     folder.remove()
    0o700 ['files', 'jobs', 'run.lock']
    """
    home = _temporary() if parent is None else parent
    remove_left_behind(home)
    try:
        path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}-{_user()}-{os.getpid()}-", dir=home))
    except OSError as error:
        raise InputError(f"a folder must be made in {str(home)!r}, which does not work. {_SAY_WHERE}") from error
    lock = Lock(path)
    lock.take()
    (path / "run.lock").chmod(0o600)
    folder = PrivateFolder(path=path, _lock=lock)
    folder.files.mkdir(mode=0o700)
    folder.jobs.mkdir(mode=0o700)
    return folder


def _temporary() -> Path:
    """Return the user's folder for temporary files; where TMPDIR names one, private tables lie there or nowhere."""
    wanted = os.environ.get("TMPDIR")
    if wanted and not (Path(wanted).is_dir() and os.access(wanted, os.W_OK | os.X_OK)):
        raise InputError(f"TMPDIR must name a folder that this user may write to, but is {wanted!r}. {_SAY_WHERE}")
    try:
        return Path(wanted or tempfile.gettempdir())
    except OSError as error:
        raise InputError(f"there must be a folder for temporary files, but there is none. {_SAY_WHERE}") from error


def remove_left_behind(home: Path) -> None:
    """Remove the folders of this user's servers that are no longer alive, and nothing else.

    A link is never followed, and what belongs to another user is never touched, whatever its name.
    """
    pattern = re.compile(rf"{PREFIX}-{_user()}-(\d+)-\w+")
    with contextlib.suppress(OSError), os.scandir(home) as entries:
        for entry in entries:
            found = pattern.fullmatch(entry.name)
            if found is not None and _is_left_behind(entry, int(found[1])):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_left_behind(entry: "os.DirEntry[str]", process: int) -> bool:
    try:
        about = entry.stat(follow_symlinks=False)
        if not entry.is_dir(follow_symlinks=False) or about.st_uid != _user():
            return False
        path = Path(entry.path)
        # Between making its folder and taking the lock a server holds nothing that others could see.
        starting = time.time() - about.st_mtime < STARTING
        if starting and (_is_alive(process) or not (path / "run.lock").is_file()):
            return False
        return running(path) is None
    except OSError:
        return False


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass  # it is there, and belongs to somebody else
    return True


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
