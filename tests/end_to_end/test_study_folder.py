"""The folder of a study that is read-only, moved, archived, or holds what nobody expects: answers or one sentence."""

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.approved.sentences import Approved
from tests.studies.small import files, small_study
from unveil.cli import main
from unveil.data.files.whole_files import read_unlinked
from unveil.studies import Study, run_study
from unveil.work.lock import running

READERS = (["study", "status"], ["study", "report"], ["grade-metrics", "--quiet"])

# Permissions do not bind root, so every change below the folder is refused before it reaches the system.
_READ_ONLY = """
import errno, os, sys
folder = sys.argv[1]
CHANGES = {"mkdir", "rename", "remove", "rmdir", "link", "symlink", "chmod", "utime", "truncate"}

def refuse(event, arguments):
    changes = event.removeprefix("os.") in CHANGES
    if event == "open":
        changes = bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND))
    named = [os.fspath(each) for each in arguments if isinstance(each, (str, os.PathLike))] if changes else []
    if any(os.path.abspath(each).startswith(folder) for each in named):
        raise OSError(errno.EROFS, "Read-only file system")

from click.testing import CliRunner
from unveil.cli import main
sys.addaudithook(refuse)
try:
    open(os.path.join(folder, "probe"), "w")
    sys.exit("the folder can be written to")
except OSError:
    pass
for call in (["study", "status"], ["study", "report", "--html", sys.argv[2]], ["grade-metrics", "--quiet"]):
    done = CliRunner().invoke(main, [*call, folder])
    print(done.exit_code, done.output.count("Traceback"), done.exception)
    print(done.output.splitlines()[:1], file=sys.stderr)
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Run a small study, of which every test gets a copy."""
    folder = tmp_path_factory.mktemp("study")
    made = small_study(folder)
    run_study(made, folder / "out", workers=0)
    return made


@pytest.fixture
def out(study: Study, tmp_path: Path) -> Path:
    return Path(shutil.copytree(Path(study.data[0].source).with_name("out"), tmp_path / "out"))


def ask(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def refused(*arguments: str) -> str:
    """Return the one sentence with which a command refuses."""
    done = ask(*arguments)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert done.stderr.startswith("unveil: ")
    return done.stderr


def counts(out: Path) -> dict[str, int]:
    done = ask("study", "status", str(out), "--json")
    assert done.exit_code == 0, done.output
    told: dict[str, int] = json.loads(done.stdout)["scenarios"]
    return {key: value for key, value in told.items() if value}


def test_a_study_that_cannot_be_written_to_was_moved_and_has_lost_its_data_can_be_read(
    tmp_path: Path,
) -> None:
    moved, study = tmp_path / "archive" / "study", small_study(tmp_path)
    moved.parent.mkdir()
    run_study(study, tmp_path / "out", workers=0)
    (tmp_path / "out").rename(moved)
    Path(study.data[0].source).unlink()
    for path in sorted(moved.rglob("*"), reverse=True):
        path.chmod(0o500 if path.is_dir() else 0o400)
    moved.chmod(0o500)
    done = subprocess.run(
        [sys.executable, "-c", _READ_ONLY, str(moved), str(tmp_path / "report.html")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert (done.returncode, done.stdout) == (0, "0 0 None\n" * 3), done.stderr
    assert "All 4 scenarios are computed" in done.stderr
    assert (tmp_path / "report.html").stat().st_size > 1000
    moved.chmod(0o700)


def test_nobody_computes_a_study_where_there_are_no_locks(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    assert running(out) is None


@pytest.mark.parametrize("reader", READERS, ids=" ".join)
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_an_archive_must_be_unpacked(
    out: Path, tmp_path: Path, reader: list[str], kind: str, approved: Approved
) -> None:
    archive = shutil.make_archive(str(tmp_path / "study"), kind, out)
    approved(refused(*reader, archive))


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "inside").touch()


IN_PLACE: dict[str, Callable[[Path], None]] = {
    "a folder": _folder,
    "a pipe": os.mkfifo,
    "no bytes": Path.touch,
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("kind", IN_PLACE)
def test_what_is_in_the_place_of_a_result_is_damaged_and_computed_again(
    out: Path, study: Study, tmp_path: Path, kind: str
) -> None:
    before = files(out)
    path = out / "results" / min(before)
    path.unlink()
    IN_PLACE[kind](path)
    assert counts(out) == {"total": 4, "fine": 3, "damaged": 1}
    for reader in READERS:
        done = ask(*reader, str(out))
        assert (done.exit_code, done.exception) == (0, None), done.output
    (tmp_path / "study.toml").write_text(study.to_toml())
    run = ["study", "run", str(tmp_path / "study.toml"), "--out", str(out), "--workers", "0", "--resume", "--json"]
    done = ask(*run)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["set_aside"], told["done"], told["reused"]) == (1, 1, 3)
    assert files(out) == before
    assert [each.name for each in (out / "damaged").iterdir()] == [f"{path.name}.1"]


@pytest.mark.parametrize("name", ["results", "releases", "damaged"])
def test_a_file_in_the_place_of_a_folder_is_said_so(out: Path, study: Study, tmp_path: Path, name: str) -> None:
    first = min(files(out))
    (out / "results" / first).write_bytes(b"")
    if (out / name).exists():
        (out / name).rename(tmp_path / name)
    (out / name).write_text("a file")
    assert counts(out)["total"] == 4
    (tmp_path / "study.toml").write_text(study.to_toml())
    run = ["study", "run", str(tmp_path / "study.toml"), "--out", str(out), "--workers", "0", "--quiet", "--resume"]
    assert f"{name}' must be a plain folder, but is a link or something else" in refused(*run)
    (out / name).unlink()
    if (tmp_path / name).exists():
        (tmp_path / name).rename(out / name)
    assert ask(*run).exit_code == 0
    assert counts(out) == {"total": 4, "fine": 4}


def test_a_folder_in_the_place_of_a_release_is_said_so(
    out: Path, study: Study, tmp_path: Path, approved: Approved
) -> None:
    release = min((out / "releases").iterdir())
    release.unlink()
    release.mkdir()
    for result in (out / "results").iterdir():
        result.unlink()
    (tmp_path / "study.toml").write_text(study.to_toml())
    run = ["study", "run", str(tmp_path / "study.toml"), "--out", str(out), "--workers", "0", "--quiet", "--resume"]
    approved(refused(*run))
    release.rmdir()
    assert ask(*run).exit_code == 0
    assert counts(out) == {"total": 4, "fine": 4}


@pytest.mark.parametrize("kind", ["a folder", "a pipe"])
@pytest.mark.parametrize("name", ["manifest.json", "study.toml", "times.jsonl", "run.lock"])
def test_what_is_in_the_place_of_another_file_is_one_sentence_or_no_matter(out: Path, name: str, kind: str) -> None:
    (out / name).unlink()
    IN_PLACE[kind](out / name)
    if name in ("manifest.json", "study.toml"):
        for reader in READERS:
            assert name in refused(*reader, str(out))
    else:
        assert counts(out) == {"total": 4, "fine": 4}
        assert ask("study", "report", str(out)).exit_code == 0


@pytest.mark.parametrize("reader", READERS, ids=" ".join)
@pytest.mark.parametrize("hidden", ["manifest.json", "results", ".result"])
def test_the_study_of_another_user_is_said_to_be_theirs(
    out: Path, monkeypatch: pytest.MonkeyPatch, reader: list[str], hidden: str, approved: Approved
) -> None:
    read, look = read_unlinked, Path.lstat

    def forbidden(path: Path) -> bytes:
        if path.name.endswith(hidden):
            raise PermissionError(errno.EACCES, "Permission denied")
        return read(path)

    def closed(path: Path) -> os.stat_result:
        if path.parent.name == hidden:
            raise PermissionError(errno.EACCES, "Permission denied")
        return look(path)

    monkeypatch.setattr("unveil.studies.store.read_unlinked", forbidden)
    monkeypatch.setattr(Path, "lstat", closed)
    approved(refused(*reader, str(out)))
