"""Write files atomically; private files are readable by this user only."""

import os
from collections.abc import Mapping
from pathlib import Path

from unveil.data.files.source import shown
from unveil.data.files.whole_files import replace_file, replace_folder, sweep
from unveil.errors import InputError


def write_text(path: str | os.PathLike[str], text: str | bytes, *, shared: bool = False) -> Path:
    """Write ``text`` to a file, in UTF-8 where it is no bytes, and return its path.

    The text goes to a new file in the same folder, which then takes the name; so a reader never sees half of it, and
    a full disk, an interruption or a kill leaves the old file as it was, and nothing beside it. A pipe or a device is
    written to directly. A link stays, and what it points to is replaced; the link of another user is refused.

    Parameters
    ----------
    path, text
        Where to, and what.
    shared
        Whether the file is made to be passed on. If not, only this user may read it, whatever the umask is and
        whatever was there before.

    Raises
    ------
    InputError
        If the folder does not exist, the file may not be written, or another user made it a link.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder, "report.html"), "<p>fine</p>").read_text()
    '<p>fine</p>'
    """
    path = Path(path)
    # File names with bytes outside UTF-8 reach a text as lone surrogates, which UTF-8 cannot hold.
    content = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    try:
        # A pipe behind /dev/fd has no name that it could be resolved to.
        if path.exists() and not path.is_file() and not path.is_dir():
            with open(path, "wb", opener=_not_made) as stream:
                stream.write(content)
            return path
        if is_link_of_others(path):
            raise InputError(f"{shown(path)} is a link that another user made. Name another file, or remove the link")
        # A link keeps pointing where it points: the file behind it is replaced, not the link.
        target = path.resolve()
        if target.is_dir():
            raise InputError(f"{shown(path)} must name a file, but is a folder. Add the name of the file")
        if not target.parent.is_dir():
            raise InputError(f"the folder of {shown(path)} does not exist. Make it first, or name another folder")
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError
        sweep(target.parent)
        replace_file(target, content, shared=shared)
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise _unwritable(path, error) from error
    return path


def write_folder(path: str | os.PathLike[str], contents: Mapping[str, bytes], *, shared: bool = False) -> Path:
    """Create a new folder with these files and return its path.

    The files are written into a draft of the folder, which then takes its name. An empty folder may be there before.

    Raises
    ------
    InputError
        If there is a file or a folder with something in it, or the folder may not be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     folder = write_folder(Path(home, "tables"), {"a.csv": b"x"})
    ...     [file.name for file in folder.iterdir()], oct(folder.stat().st_mode & 0o777)
    (['a.csv'], '0o700')
    """
    path = Path(path)
    if reason := full_folder(path):
        raise InputError(reason)
    try:
        target = path.resolve()
        sweep(target.parent)
        replace_folder(target, contents, shared=shared)
    except (OSError, ValueError, RuntimeError) as error:
        raise _unwritable(path, error) from error
    return path


def full_folder(path: Path) -> str:
    """Return why a new folder cannot be made there, else ""."""
    if is_link_of_others(path):
        return f"{shown(path)} is a link that another user made. Name another folder"
    target = path.resolve()
    if target.is_dir() and any(target.iterdir()):
        return f"{shown(path)} must be a new or an empty folder, but something is in it. Name another one, or empty it"
    if target.exists() and not target.is_dir():
        return f"{shown(path)} must be a folder, but is a file. Name another one"
    return "" if target.parent.is_dir() else f"the folder of {shown(path)} does not exist. Make it first"


def _not_made(name: str, flags: int) -> int:
    return os.open(name, flags & ~os.O_CREAT)


def is_link_of_others(path: Path) -> bool:
    """Return whether another user placed a link there."""
    return path.is_symlink() and hasattr(os, "geteuid") and path.lstat().st_uid not in (0, os.geteuid())


def _unwritable(path: Path, error: Exception) -> InputError:
    if isinstance(error, PermissionError):
        return InputError(f"{shown(path)} may not be written by this user. Choose another folder or file")
    reason = getattr(error, "strerror", None) or "its name is not valid"
    return InputError(f"{shown(path)} cannot be written ({reason}). Nothing was changed; choose another folder or file")
