"""Links and pipes in the folder of runs: nothing behind them is read, written, changed or removed."""

import os
from pathlib import Path

import numpy as np
import pytest

from tests.protections.generators.people import people, script, typed
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.protections.generators import SourceTable, generator_from
from unveil.studies.generator_runs import PlannedRun, make_runs

FRAME = typed()
GIVEN = SourceTable(Table.from_frame(FRAME), FRAME)
RUNS = [PlannedRun(number, number, np.arange(20)) for number in (1, 2)]


def make(out: Path, workers: int = 1) -> None:
    make_runs(generator_from("shuffle"), GIVEN, RUNS, folder=out, identity={}, workers=workers)


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return permissions and content of everything in a folder."""
    every = [folder, *sorted(folder.rglob("*"))]
    return {str(each): (each.lstat().st_mode, each.read_bytes() if each.is_file() else b"") for each in every}


@pytest.fixture
def others(tmp_path: Path) -> Path:
    """Return a folder of files that nothing may touch, with the names that runs have."""
    folder = tmp_path / "others"
    (folder / "run-abc" / "deep").mkdir(parents=True)
    (folder / "run-abc" / "deep" / "kept.csv").write_text("kept")
    (folder / ".unveil-0123456789abcdef.tmp").write_text("kept")
    for name in ("run-0001.result", "run-0001.txt", "file"):
        (folder / name).write_text("kept")
    for each in (folder, folder / "run-abc", folder / "run-abc" / "deep"):
        each.chmod(0o755)
    return folder


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("name", ["runs", "logs", "work", "made.json", "times.jsonl", "run.lock"])
def test_links_in_the_place_of_its_parts_are_refused(
    name: str, done: bool, workers: int, tmp_path: Path, others: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    if done:
        make(out)
        if (out / name).is_dir():
            for each in (out / name).iterdir():
                each.unlink()
            (out / name).rmdir()
        else:
            (out / name).unlink(missing_ok=True)
    (out / name).symlink_to(others if "." not in name else others / "file")
    before = state(others)
    with pytest.raises(InputError, match=rf"{name}' must be a plain .*, but is a link or something else, which is not"):
        make(out, workers)
    assert state(others) == before
    assert (out / name).is_symlink()


@pytest.mark.parametrize("name", ["times.jsonl", "run.lock", "made.json", "runs"])
def test_a_pipe_is_not_waited_for(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    make(out)
    if name == "runs":
        (out / name).rename(tmp_path / "away")
    else:
        (out / name).unlink()
    os.mkfifo(out / name)
    with pytest.raises(InputError, match="must be a plain"):
        make(out)


def test_links_among_its_files_are_replaced(tmp_path: Path, others: Path) -> None:
    out = tmp_path / "out"
    make(out)
    first = out / "runs" / "run-0001.result"
    content = first.read_bytes()
    # Even a link to the very file is not read through.
    (others / "copy.parquet").write_bytes(content)
    first.unlink()
    first.symlink_to(others / "copy.parquet")
    (out / "logs" / "run-0001.txt").symlink_to(others / "file")
    (out / "work").mkdir()
    (out / "work" / "run-xyz").symlink_to(others / "run-abc")
    before = state(others)
    make(out)
    assert not first.is_symlink()
    assert first.read_bytes() == content
    assert state(others) == before
    assert not (out / "work").exists()


def test_messages_replace_a_link_in_their_place(tmp_path: Path, others: Path) -> None:
    out = tmp_path / "out"
    (out / "logs").mkdir(parents=True)
    (out / "runs").mkdir()
    command = generator_from(script(tmp_path, "print('said'); target.write_bytes(source.read_bytes())"))
    runs = [PlannedRun(1, 1, np.arange(4))]
    make_runs(command, people(tmp_path), [], folder=tmp_path / "empty", identity={})
    (out / "made.json").write_bytes((tmp_path / "empty" / "made.json").read_bytes())
    (out / "logs" / "run-0001.txt").symlink_to(others / "file")
    before = state(others)
    make_runs(command, people(tmp_path), runs, folder=out, identity={})
    assert state(others) == before
    assert (out / "logs" / "run-0001.txt").read_text() == "said\n"
    assert not (out / "logs" / "run-0001.txt").is_symlink()


# The generator moves its folder away, and puts a link in its place.
_MOVES = """
home = source.parent
os.rename(home, {aside!r})
os.symlink({others!r}, home)
sys.exit(1)
"""


def test_a_generator_may_put_links_into_its_folder(tmp_path: Path, others: Path) -> None:
    before = state(others)
    for number, body in enumerate(
        [
            _MOVES.format(aside=str(tmp_path / "aside"), others=str(others)),
            f"os.symlink({str(others)!r}, 'link'); os.mkdir('kept', 0o700); os.symlink({str(others)!r}, 'kept/link')\n"
            "os.chmod('kept', 0); sys.exit(1)",
        ]
    ):
        out = tmp_path / f"out-{number}"
        command = generator_from(script(tmp_path, body))
        with pytest.raises(InputError, match=r"failed \(exit code 1\)"):
            make_runs(command, people(tmp_path), [PlannedRun(1, 1, np.arange(4))], folder=out, identity={})
        assert state(others) == before
        assert not (out / "work").exists()
