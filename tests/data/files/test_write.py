import errno
import fcntl
import os
import stat
import threading
from pathlib import Path

import pytest

from unveil.data.files.write import write_text
from unveil.errors import InputError

SPECIAL = "ü 🦊\n\r\n\udc80"


def test_the_text_is_written_in_utf_8_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert write_text(str(path), SPECIAL) == path
    assert path.read_bytes() == "ü 🦊\n\r\n\\udc80".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_usual_permissions_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    path = write_text(tmp_path / "new", "a", shared=True)
    assert path.stat().st_mode == usual.stat().st_mode
    path.chmod(0o640)
    write_text(path, "b", shared=True)
    assert path.read_text() == "b"
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_only_this_user_may_read_a_file_that_is_not_made_to_be_shared(tmp_path: Path, umask: int) -> None:
    wide = tmp_path / "wide"
    wide.touch()
    wide.chmod(0o666)
    (tmp_path / "link").symlink_to("wide")
    before = os.umask(umask)
    try:
        written = [write_text(tmp_path / name, "a") for name in ("new", "wide", "link")]
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in written] == [0o600] * 3
    assert [path.read_text() for path in written] == ["a"] * 3


def test_a_link_that_another_user_made_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").write_text("old")
    (tmp_path / "link").symlink_to("there")
    if os.geteuid() == 0:
        os.lchown(tmp_path / "link", 65534, 65534)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 65534)
    with pytest.raises(InputError, match="a link that another user made"):
        write_text(tmp_path / "link", "a")
    assert (tmp_path / "there").read_text() == "old"


def test_a_device_and_a_pipe_behind_a_number_are_written_to(tmp_path: Path) -> None:
    write_text("/dev/null", "a")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    reading, writing = os.pipe()
    write_text(f"/dev/fd/{writing}", "a")
    os.close(writing)
    with os.fdopen(reading) as stream:
        assert stream.read() == "a"
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    left, ours, empty = (tmp_path / f".unveil-{name}.tmp" for name in ("left", "ours", "empty"))
    for path in (left, ours):
        path.write_text("secret")
    empty.touch()
    with ours.open("rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # as its writer does, which may live in another process
        write_text(tmp_path / "report.html", "a")
        assert sorted(tmp_path.iterdir()) == sorted([ours, empty, tmp_path / "report.html"])
    os.utime(empty, (0, 0))
    write_text(tmp_path / "report.html", "a")
    assert list(tmp_path.iterdir()) == [tmp_path / "report.html"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    link = tmp_path / "link"
    link.symlink_to("there")
    write_text(link, "a")
    assert link.is_symlink()
    assert (tmp_path / "there").read_text() == "a"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    seen: list[str] = []
    reader = threading.Thread(target=lambda: seen.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "a")
    reader.join()
    assert seen == ["a"]


def test_places_that_cannot_hold_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, says in {
        tmp_path: "is a folder",
        tmp_path / "none" / "a.html": "does not exist",
        tmp_path / "file" / "a.html": "does not exist",
        tmp_path / "bad\0name": "cannot be written",
        tmp_path / ("x" * 300): "cannot be written",
    }.items():
        with pytest.raises(InputError, match=says):
            write_text(path, "a")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("nameless", [True, False])
def test_what_fails_halfway_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException, nameless: bool
) -> None:
    path = write_text(tmp_path / "report.html", "old")
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(step, fail)
    with pytest.raises(InputError if isinstance(error, OSError) else KeyboardInterrupt):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_or_folder_that_may_not_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_text(tmp_path / "report.html", "old")
    with monkeypatch.context() as patch:  # the tests may run as a user who may do anything
        patch.setattr(os, "access", lambda *_: False)
        with pytest.raises(InputError, match="may not be written"):
            write_text(path, "new")

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", forbidden)
    with pytest.raises(InputError, match="may not be written"):
        write_text(tmp_path / "another.html", "new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
