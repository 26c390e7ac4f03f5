import errno
import os
import threading
from pathlib import Path

import pytest

from unveil.data.write import write_text
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
    path = write_text(tmp_path / "new", "a")
    assert path.stat().st_mode == usual.stat().st_mode
    path.chmod(0o640)
    write_text(path, "b")
    assert path.read_text() == "b"
    assert path.stat().st_mode & 0o777 == 0o640


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
def test_what_fails_halfway_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    path = write_text(tmp_path / "report.html", "old")

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

    def forbidden(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    with pytest.raises(InputError, match="may not be written"):
        write_text(tmp_path / "another.html", "new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
