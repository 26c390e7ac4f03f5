"""Where a system lacks what Linux has, files are written and read, studies locked and pages guarded all the same."""

import os
import platform
import socket
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from unveil.cli import _leave_no_core
from unveil.data.files import whole_files
from unveil.data.files.source import most_memory
from unveil.data.files.write import is_link_of_others, write_text
from unveil.errors import InputError
from unveil.web import _peer
from unveil.work.lock import Lock, running

#: What Python has on no Windows.
MISSING = ("geteuid", "getuid", "fchmod", "killpg", "O_NOFOLLOW", "O_NONBLOCK", "O_TMPFILE")


class Locks(ModuleType):
    """The locks of Windows: one holder of a byte, and an error for the next."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.held: set[int] = set()

    def locking(self, descriptor: int, way: int, size: int) -> None:
        inode = os.fstat(descriptor).st_ino
        if inode in self.held:
            raise PermissionError
        assert (way, size) == (self.LK_NBLCK, 1)
        self.held.add(inode)


@pytest.fixture
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Locks:
    """A machine with none of what only systems like Unix have; pytest needs it for ``tmp_path``, which comes first."""
    for name in MISSING:
        monkeypatch.delattr(os, name, raising=False)
    for name in ("fcntl", "resource", "pwd", "grp"):
        monkeypatch.setitem(sys.modules, name, None)
    locks = Locks()
    monkeypatch.setitem(sys.modules, "msvcrt", locks)
    return locks


@pytest.mark.usefixtures("windows")
def test_a_file_is_written_as_a_whole_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    for text in ("first", "second ü"):
        write_text(path, text)
        assert path.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("windows")
def test_an_open_file_is_closed_before_it_takes_its_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Not os.name of the whole process: pathlib would make paths of Windows from then on.
    class Named:
        name = "nt"

        def __getattr__(self, name: str) -> Any:
            return getattr(os, name)

    closed: list[bool] = []
    draft, target = tmp_path / "draft", tmp_path / "target"
    monkeypatch.setattr(whole_files, "os", Named())
    with draft.open("wb") as stream:
        whole_files._take_place(stream, draft, target)
        closed.append(stream.closed)
    assert closed == [True]
    assert target.exists()


@pytest.mark.usefixtures("windows")
def test_what_cannot_be_asked_is_not_asked(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert not is_link_of_others(tmp_path / "link")
    assert most_memory() is None
    _leave_no_core()


def test_a_study_is_locked_by_the_locks_that_the_system_has(windows: Locks, tmp_path: Path) -> None:
    first, second = Lock(tmp_path), Lock(tmp_path)
    first.take()
    assert len(windows.held) == 1
    with pytest.raises(InputError, match="another run writes to"):
        second.take()
    assert running(tmp_path) == f"process {os.getpid()} on {platform.node()}"
    windows.held.clear()  # as when the file is closed there
    first.free()
    second.take()
    second.free()


@pytest.mark.usefixtures("windows")
def test_where_the_system_does_not_tell_who_asks_other_locks_have_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_peer, "TABLES", (tmp_path / "tcp", tmp_path / "tcp6"))
    monkeypatch.delattr(socket, "AF_NETLINK")
    assert not _peer.system_tells.__wrapped__()
    monkeypatch.setattr(_peer, "system_tells", lambda: False)
    assert _peer.is_ours(("127.0.0.1", 1), ("127.0.0.1", 2))
    assert not _peer.is_ours(("192.0.2.1", 1), ("127.0.0.1", 2))
