"""Private files of this user, and full disks."""

import errno
import os
from pathlib import Path
from typing import BinaryIO

from unveil.data.files.whole_files import replace_file

#: What the system says where a file cannot become any longer.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
#: What a worker that can no longer write anything exits with.
DISK_FULL = 28


def write_private(path: Path, content: str | bytes) -> None:
    """Write a private file atomically."""
    # Whatever becomes of the machine, these files are removed with their folder: no need to wait for the disk.
    whole = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    replace_file(path, whole, lasting=False)


def open_private(path: Path) -> BinaryIO:
    """Open a new private file for writing, never through a link."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
