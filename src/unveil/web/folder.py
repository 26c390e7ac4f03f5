"""The one folder where private tables lie while the page is open."""

import os
import tempfile
from pathlib import Path

from unveil.errors import InputError
from unveil.work.private_folder import PrivateFolder, make_private_folder

_SAY_WHERE = "Say where files may lie for a while: TMPDIR=/some/folder unveil serve"


class ServedFolder(PrivateFolder):
    """The private folder of a server."""

    @property
    def files(self) -> Path:
        """The files that people gave."""
        return self.path / "files"

    @property
    def jobs(self) -> Path:
        """The folders of the jobs, one each."""
        return self.path / "jobs"


def make_folder(parent: Path | None = None) -> ServedFolder:
    """Return a new private folder, after removing those of killed servers.

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
    0o700 ['files', 'jobs', 'run.lock', 'run.lock.json']
    """
    home = _temporary() if parent is None else parent
    try:
        made = make_private_folder("serve", home)
    except OSError as error:
        raise InputError(f"a folder must be made in {str(home)!r}, which does not work. {_SAY_WHERE}") from error
    folder = ServedFolder(**vars(made))
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
