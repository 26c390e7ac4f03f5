"""The private folder: nobody else enters it, and it is gone when it is no longer needed, whatever happened."""

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unveil.errors import InputError
from unveil.web.serve import make_folder
from unveil.work import private_folder as module
from unveil.work.private_folder import PrivateFolder, remove_left_behind

USER, PREFIX = os.getuid(), "unveil-serve"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def dead_process() -> int:
    """Return the number of a process that is no longer there."""
    done = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.DEVNULL)
    done.wait()
    return done.pid


def left_behind(parent: Path, *, process: int | None = None, lock: bool = True) -> Path:
    """Return a folder as a server leaves it that was killed."""
    path = parent / f"{PREFIX}-{USER}-{dead_process() if process is None else process}-abc"
    path.mkdir(0o700, parents=True)
    (path / "files").mkdir()
    (path / "files" / "secret.csv").write_text("a", encoding="utf-8")
    if lock:
        (path / "run.lock").write_text("", encoding="utf-8")
    return path


def age(path: Path) -> None:
    then = time.time() - 2 * module.STARTING
    os.utime(path, (then, then))


def test_only_this_user_may_enter(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        made = make_folder(tmp_path)
    finally:
        os.umask(old)
    assert [mode(each) for each in (made.path, made.files, made.jobs)] == [0o700] * 3
    assert mode(made.path / "run.lock") == 0o600
    assert made.path.parent == tmp_path
    assert made.path.name.startswith(f"{PREFIX}-{USER}-{os.getpid()}-")
    made.remove()


def test_it_lies_among_the_temporary_files_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = make_folder()
    assert made.path.parent == tmp_path
    made.remove()


def test_removing_takes_everything_and_may_be_done_twice(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.csv").write_text("a", encoding="utf-8")
    made = make_folder(tmp_path)
    (made.files / "x").write_text("a", encoding="utf-8")
    (made.jobs / "link").symlink_to(outside)
    made.remove()
    made.remove()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["outside"]
    assert (outside / "kept.csv").exists(), "a link inside is removed, and what it points to is not"


def test_a_copy_of_the_process_removes_nothing(tmp_path: Path) -> None:
    made = make_folder(tmp_path)
    copy = PrivateFolder(path=made.path, _lock=made._lock, _process=os.getpid() + 1)
    copy.remove()
    assert made.files.is_dir()
    made.remove()


def test_the_next_start_removes_what_a_crash_left(tmp_path: Path) -> None:
    left = left_behind(tmp_path)
    made = make_folder(tmp_path)
    assert not left.exists()
    assert made.path.exists()
    made.remove()


def test_a_server_that_lives_keeps_its_folder(tmp_path: Path) -> None:
    first = make_folder(tmp_path)
    age(first.path)
    second = make_folder(tmp_path)
    assert first.files.is_dir()
    second.remove()
    first.remove()


def test_a_number_that_was_given_again_does_not_save_an_old_folder(tmp_path: Path) -> None:
    left = left_behind(tmp_path, process=os.getpid())
    remove_left_behind(tmp_path)
    assert left.exists(), "it may be starting"
    age(left)
    remove_left_behind(tmp_path)
    assert not left.exists()


def test_a_folder_without_a_lock_is_left_alone_until_it_is_old(tmp_path: Path) -> None:
    left = left_behind(tmp_path, lock=False)
    remove_left_behind(tmp_path)
    assert left.exists()
    age(left)
    remove_left_behind(tmp_path)
    assert not left.exists()


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    parent, other = tmp_path / "tmp", tmp_path / "home"
    parent.mkdir()
    target = left_behind(other)
    link = parent / target.name
    link.symlink_to(target)
    remove_left_behind(parent)
    assert (target / "files" / "secret.csv").exists()
    assert link.is_symlink()


def test_what_belongs_to_another_user_is_never_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = left_behind(tmp_path)
    foreign = tmp_path / left.name.replace(f"-{USER}-", f"-{USER + 1}-")
    left.rename(foreign)
    remove_left_behind(tmp_path)
    assert foreign.exists(), "its name says that it is another user's"
    # A folder of ours under the name of another user: what counts is to whom it belongs.
    monkeypatch.setattr(module, "_user", lambda: USER + 1)
    remove_left_behind(tmp_path)
    assert foreign.exists()


@pytest.mark.parametrize(
    "name", ["unveil-serve", "unveil-serve-0", f"{PREFIX}-{USER}-x-abc", f"x{PREFIX}-{USER}-1-abc"]
)
def test_other_folders_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(0o700)
    age(tmp_path / name)
    remove_left_behind(tmp_path)
    assert (tmp_path / name).is_dir()


def test_a_folder_that_others_may_enter_stays(tmp_path: Path) -> None:
    left = left_behind(tmp_path)
    left.chmod(0o750)
    remove_left_behind(tmp_path)
    assert left.exists(), "none of ours is like that"


def test_a_file_under_such_a_name_stays(tmp_path: Path) -> None:
    path = tmp_path / f"{PREFIX}-{USER}-{2**22 + 1}-abc"
    path.write_text("a", encoding="utf-8")
    age(path)
    remove_left_behind(tmp_path)
    remove_left_behind(tmp_path / "nowhere")
    assert path.exists()


@pytest.mark.parametrize("wanted", ["/no/such/folder", __file__])
def test_private_files_lie_where_they_were_wanted_or_nowhere(monkeypatch: pytest.MonkeyPatch, wanted: str) -> None:
    monkeypatch.setenv("TMPDIR", wanted)
    with pytest.raises(InputError, match=r"TMPDIR must name a folder.*TMPDIR=/some/folder"):
        make_folder()


def test_no_folder_for_temporary_files_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: [str(tmp_path / "nothing")])
    with pytest.raises(InputError, match="folder for temporary files"):
        make_folder()
    with pytest.raises(InputError, match="which does not work"):
        make_folder(tmp_path / "nothing")
