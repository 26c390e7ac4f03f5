"""Write a file so that it is either there in full or not at all."""

import os
import secrets
from pathlib import Path

from unveil.data._source import shown
from unveil.errors import InputError


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Return the path of the file that now holds ``text``, in UTF-8; whatever was there before is replaced.

    The text goes to a new file in the same folder, which then takes the name; so a reader never sees half of it, and
    a full disk or an interruption leaves the old file as it was. A pipe or a device is written to directly.

    Raises
    ------
    InputError
        If the folder does not exist, or the file may not be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder, "report.html"), "<p>fine</p>").read_text()
    '<p>fine</p>'
    """
    path = Path(path)
    # File names with bytes outside UTF-8 reach a text as lone surrogates, which UTF-8 cannot hold.
    content = text.encode("utf-8", "backslashreplace")
    try:
        # A pipe behind /dev/fd has no name that it could be resolved to.
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(content)
            return path
        # A link keeps pointing where it points: the file behind it is replaced, not the link.
        target = path.resolve()
        if target.is_dir():
            raise InputError(f"{shown(path)} must name a file, but is a folder. Add the name of the file")
        if not target.parent.is_dir():
            raise InputError(f"the folder of {shown(path)} does not exist. Make it first, or name another folder")
        _replace(target, content)
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise _unwritable(path, error) from error
    return path


def _replace(target: Path, content: bytes) -> None:
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError
    draft = target.with_name(f".unveil-{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            draft.chmod(target.stat().st_mode)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _unwritable(path: Path, error: Exception) -> InputError:
    if isinstance(error, PermissionError):
        return InputError(f"{shown(path)} may not be written by this user. Choose another folder or file")
    reason = getattr(error, "strerror", None) or "its name is not valid"
    return InputError(f"{shown(path)} cannot be written ({reason}). Nothing was changed; choose another folder or file")
