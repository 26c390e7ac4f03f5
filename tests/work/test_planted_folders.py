"""A folder that a run goes on from: links in it lead nowhere, and a folder that others can write to is refused."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data.files.test_column_store import on_unix
from tests.questions.audit.example import asked, write_files
from tests.studies.small import small_study
from tests.studies.test_generator_runs import GIVEN, IDENTITY, planned
from unveil.errors import InputError
from unveil.protections.generators import generator_from
from unveil.studies.generator_runs import make_runs
from unveil.studies.run import run_study

Run = Callable[[Path], object]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(params=["audit", "study", "generator"])
def run(request: pytest.FixtureRequest, files: Path) -> tuple[Run, str]:
    """What runs in a folder and goes on in it, and a folder that it makes there."""
    if request.param == "audit":
        return lambda folder: asked(files, attacks=("copies",), resume=folder), "results"
    if request.param == "study":
        return lambda folder: run_study(small_study(files), folder, resume=True, workers=0), "results"
    return lambda folder: make_runs(
        generator_from("shuffle"), GIVEN, planned(1), folder=folder, identity=IDENTITY
    ), "runs"


@on_unix
@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("name", ["run.lock", "run.lock.json"])
def test_a_lock_that_is_a_link_changes_no_other_file(
    run: tuple[Run, str], tmp_path: Path, name: str, link: Callable[[Path, Path], None]
) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "folder"
    victim.write_text("precious")
    folder.mkdir(0o700)
    link(victim, folder / name)
    if name == "run.lock":
        with pytest.raises(InputError, match="must be a plain file"):
            run[0](folder)
    else:
        run[0](folder)
    assert victim.read_text() == "precious"
    assert (folder / name).exists() == (name == "run.lock")


@on_unix
def test_results_are_not_kept_behind_a_link(run: tuple[Run, str], tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "folder"
    run[0](folder)
    (folder / run[1]).rename(elsewhere)
    (folder / run[1]).symlink_to(elsewhere)
    before = {path: path.read_bytes() for path in elsewhere.iterdir()}
    with pytest.raises(InputError, match="must be a plain folder, but is a link"):
        run[0](folder)
    assert {path: path.read_bytes() for path in elsewhere.iterdir()} == before


@on_unix
def test_a_result_that_is_a_link_is_not_read(run: tuple[Run, str], tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    run[0](folder)
    results = sorted((folder / run[1]).iterdir())
    assert results
    for result in results:
        result.rename(tmp_path / result.name)
        result.symlink_to(tmp_path / result.name)
    run[0](folder)
    assert not any(result.is_symlink() for result in results)


@on_unix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_can_write_to_is_refused(run: tuple[Run, str], tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(InputError, match=r"must be writable by this user alone.*chmod go-w"):
        run[0](folder)
    assert list(folder.iterdir()) == []


@on_unix
def test_a_folder_of_another_user_is_refused(
    run: tuple[Run, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(InputError, match="must belong to this user, but belongs to another one"):
        run[0](folder)
    assert list(folder.iterdir()) == []


@on_unix
def test_a_link_that_the_user_names_is_followed(run: tuple[Run, str], tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir(0o700)
    (tmp_path / "folder").symlink_to(tmp_path / "disk")
    run[0](tmp_path / "folder")
    assert (tmp_path / "disk" / run[1]).is_dir()
