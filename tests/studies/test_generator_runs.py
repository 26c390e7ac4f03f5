"""Runs of a generator in a folder: none twice, none lost, the same bytes, and nothing left behind."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError, Future
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.protections.generators.people import SECRET, left, people, script, typed
from unveil.data.table import Table
from unveil.errors import InputError, UnveilError
from unveil.protections.generators import FunctionGenerator, SourceTable, generator_from
from unveil.studies.generator_runs import PlannedRun, made_of_content, make_runs
from unveil.work.processes import Processes
from unveil.work.seal import DiskError
from unveil.work.task import MismatchError, WorkerDiedError

ROOT = Path(__file__).parents[2]
ME = "tests.studies.test_generator_runs"
IDENTITY = {"people": "abc", "seed": 3, "hold out": 0.2}
FRAME = typed()
GIVEN = SourceTable(Table.from_frame(FRAME), FRAME)


def planned(count: int, rows: int = 30, seed: int = 0) -> list[PlannedRun]:
    drawn = np.random.default_rng(1)
    return [PlannedRun(n, seed + n, np.sort(drawn.choice(rows, rows - 2, replace=False))) for n in range(1, count + 1)]


def files(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (folder / "runs").iterdir()}


def counted(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return rows drawn from a frame; a file that the variable COUNT names has a letter for each call."""
    sys.stdout.write(f"{SECRET}\n")
    if "COUNT" in os.environ:
        with Path(os.environ["COUNT"]).open("a") as stream:
            stream.write("x")
    return frame[rng.integers(frame.height, size=frame.height)]


def failing(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Fail where the file that the variable FAIL names is not there, from the third run on."""
    if rng.integers(2**62) >= 0 and len(frame) and not Path(os.environ["FAIL"]).exists() and _third(rng):
        raise ValueError(SECRET)
    return frame


def _third(rng: np.random.Generator) -> bool:
    again = np.random.default_rng(3)
    again.integers(2**62)
    return bool(rng.integers(2**62) == again.integers(2**62))


@pytest.fixture
def count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "count"
    path.touch()
    monkeypatch.setenv("COUNT", str(path))
    return path


def test_runs_are_made_once_in_their_order_and_kept(tmp_path: Path, count: Path) -> None:
    generator, runs, out = generator_from(f"{ME}:counted", kind="synthetic"), planned(4), tmp_path / "deep" / "out"
    seen: list[tuple[int, int, float]] = []
    made = make_runs(generator, GIVEN, runs, folder=out, identity=IDENTITY, progress=lambda *each: seen.append(each))
    assert [each[:2] for each in seen] == [(done, 4) for done in range(5)]
    assert isnan(seen[0][2])
    assert seen[-1][2] == 0
    for run, each in zip(runs, made, strict=True):
        alone = generator.make(GIVEN, run.rows, seed=run.seed, folder=tmp_path)
        assert each.released.frame.equals(alone.released.frame)
        assert vars(each.released.columns[1]) == vars(alone.released.columns[1])
        assert (each.kind, each.truth, each.notes) == ("synthetic", None, ())
        assert each.seconds >= 0
    assert [each.released.rows for each in made[1:3]] == [28, 28]
    assert count.read_text() == "x" * 8
    stored = made_of_content((out / "runs" / "run-0002.result").read_bytes())
    assert stored.released.frame.equals(made[1].released.frame)
    assert (out / "logs" / "run-0002.txt").read_text() == f"{SECRET}\n"
    assert not (out / "work").exists()
    modes = {path.relative_to(out).as_posix(): oct(path.stat().st_mode & 0o777) for path in [out, *out.rglob("*")]}
    assert modes.pop(".") == modes.pop("runs") == modes.pop("logs") == "0o700"
    assert set(modes.values()) == {"0o600"}
    before = files(out)
    again = make_runs(generator, GIVEN, planned(5), folder=out, identity=IDENTITY)
    assert count.read_text() == "x" * 9
    assert files(out).items() >= before.items()
    assert again[0].seconds == made[0].seconds


def test_variables_reach_workers_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "tok-3f9a6c-secret")
    body = "assert os.environ['TOKEN'] == 'tok-' + '3f9a6c-secret'; print(os.environ['TOKEN'])\n"
    command = script(tmp_path, body + "target.write_bytes(source.read_bytes())")
    generator, given, out = generator_from(command, env=["TOKEN"]), people(tmp_path), tmp_path / "out"
    make_runs(generator, given, planned(3, 4), folder=out, identity={}, workers=2)
    assert (out / "logs" / "run-0002.txt").read_text() == "[TOKEN]\n"
    assert not [path for path in out.rglob("*") if path.is_file() and b"3f9a6c" in path.read_bytes()]


def test_what_cannot_be_sent_is_made_in_this_process(tmp_path: Path) -> None:
    numbers = []

    def here(frame: Any, _rng: Any) -> Any:
        numbers.append(os.getpid())
        return frame

    make_runs(generator_from(here), GIVEN, planned(3), folder=tmp_path / "out", identity=IDENTITY, workers=2)
    assert numbers == [os.getpid()] * 3
    for function, match in ((here, r"cannot be sent to a cluster \("), (_main, "defined in the script itself")):
        with pytest.raises(InputError, match=match):
            make_runs(
                FunctionGenerator(function=function, written="same"),
                GIVEN,
                planned(1),
                folder=tmp_path / match[:4],
                identity=IDENTITY,
                cluster="tcp://127.0.0.1:9",
            )
    with pytest.raises(InputError, match="runs on a cluster need a folder that all its workers share"):
        make_runs(generator_from(here), GIVEN, planned(1), folder=None, identity={}, cluster="tcp://127.0.0.1:9")


class _Main:
    """What pickles as something of the script that was started."""

    def __call__(self, frame: Any, _rng: Any) -> Any:
        """Return the frame."""
        return frame

    def __reduce__(self) -> Any:
        return getattr, (sys.modules["__main__"].__name__, "upper")


_main = _Main()


def test_who_is_who_and_markers_come_back(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [*map(str, range(28)), "NA", "#"], "town": FRAME["town"]})
    table = Table.from_frame(frame, markers={"age": {"#": "suppressed"}})
    generator, runs = generator_from("shuffle"), planned(2)
    made = make_runs(generator, SourceTable(table, frame), runs, folder=tmp_path / "out", identity=IDENTITY)
    for run, each in zip(runs, made, strict=True):
        alone = generator.make(SourceTable(table, frame), run.rows, seed=run.seed, folder=tmp_path)
        assert each.truth is not None
        assert alone.truth is not None
        assert each.truth.tolist() == alone.truth.tolist()
        assert {name: cells.to_list() for name, cells in each.released.marked.items()} == {
            name: cells.to_list() for name, cells in alone.released.marked.items()
        }
        assert each.released.column("age").markers == alone.released.column("age").markers
        assert (each.kind, each.notes, each.released.notes) == ("masked", alone.notes, alone.released.notes)


def test_damaged_files_are_made_again(tmp_path: Path, count: Path) -> None:
    generator, runs, out = generator_from(f"{ME}:counted"), planned(3), tmp_path / "out"
    made = make_runs(generator, GIVEN, runs, folder=out, identity=IDENTITY)
    before = files(out)
    one, other = out / "runs" / "run-0001.result", out / "runs" / "run-0002.result"
    content = one.read_bytes()
    one.write_bytes(content[:90] + bytes([content[90] ^ 4]) + content[91:])
    other.write_bytes((out / "runs" / "run-0003.result").read_bytes())
    with pytest.raises(InputError, match=r"the file run-0001\.result in .* was changed or removed since it was made"):
        made[0]
    (out / "times.jsonl").write_text('{"run": 3, "seconds": 2.5}\n{"run": 1')
    again = make_runs(generator, GIVEN, runs, folder=out, identity=IDENTITY)
    assert again[2].seconds == 2.5
    assert files(out) == before
    assert count.read_text() == "x" * 5


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"people": "abd"}, "holds runs of other people: they are not mixed"),
        ({"seed": 4}, "holds runs with another seed"),
        ({"hold out": 0.3}, r"holds runs with another setting \(hold out\)"),
        ({"folds": 5}, r"holds runs with another setting \(folds\)"),
    ],
)
def test_other_runs_are_not_mixed_in(changes: dict[str, object], match: str, tmp_path: Path) -> None:
    generator, out = generator_from("shuffle"), tmp_path / "out"
    make_runs(generator, GIVEN, planned(1), folder=out, identity=IDENTITY)
    before = files(out)
    with pytest.raises(InputError, match=match):
        make_runs(generator, GIVEN, planned(1), folder=out, identity={**IDENTITY, **changes})
    assert files(out) == before


def test_another_generator_script_or_version_is_not_mixed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given, out = people(tmp_path), tmp_path / "out"
    copy = script(tmp_path, "target.write_bytes(source.read_bytes())")
    runs = [PlannedRun(1, 1, np.arange(4))]
    make_runs(generator_from(copy), given, runs, folder=out, identity={})
    for generator, match in (("shuffle", "of another generator"), (copy, "of a generator whose scripts have changed")):
        script(tmp_path, "target.write_bytes(source.read_bytes()) # in another way")
        with pytest.raises(InputError, match=match):
            make_runs(generator_from(generator), given, runs, folder=out, identity={})
    script(tmp_path, "target.write_bytes(source.read_bytes())")
    monkeypatch.setattr("unveil.studies.generator_runs.version", lambda: "9.9")
    with pytest.raises(InputError, match="of another version of unveil"):
        make_runs(generator_from(copy), given, runs, folder=out, identity={})
    (out / "made.json").write_text("[")
    with pytest.raises(InputError, match=r"made\.json in .* is damaged"):
        make_runs(generator_from(copy), given, runs, folder=out, identity={})
    with pytest.raises(InputError, match=r"must be empty or hold runs of this generator, but .* holds other files"):
        make_runs(generator_from(copy), given, runs, folder=tmp_path, identity={})
    assert not (tmp_path / "run.lock").exists()


@pytest.mark.parametrize("kept", [True, False])
def test_a_run_that_fails_stops_the_others_and_keeps_what_is_done(
    kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAIL", str(tmp_path / "mended"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    out = tmp_path / "out" if kept else None
    generator = generator_from(f"{ME}:failing")
    with pytest.raises(InputError) as caught:
        make_runs(generator, GIVEN, planned(9), folder=out, identity=IDENTITY)
    said = str(caught.value)
    assert SECRET not in said + "".join(capfd.readouterr())
    assert said.startswith(f"run 3 of 9 failed: the generator stopped: error in your function {ME}:failing: ValueError")
    messages = "Name a folder with --keep-runs to keep its messages. The other runs were stopped"
    if out is not None:
        log = out / "logs" / "run-0003.txt"
        messages = f"Its messages are in '{log}'. The other runs were stopped, and the 2 that are done are kept"
        assert SECRET in log.read_text()
        assert sorted(files(out)) == ["run-0001.result", "run-0002.result"]
    assert said.endswith(messages)
    assert list((tmp_path / "temporary").iterdir()) == []
    (tmp_path / "mended").touch()
    assert len(make_runs(generator, GIVEN, planned(9), folder=out, identity=IDENTITY)) == 9


def test_a_private_folder_lives_as_long_as_what_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = make_runs(generator_from(f"{ME}:counted"), GIVEN, planned(2), folder=None, identity={})
    (home,) = tmp_path.iterdir()
    assert oct(home.stat().st_mode & 0o777) == "0o700"
    assert list((home / "made" / "logs").iterdir()) == []
    assert made[1].released.rows == 28
    del made
    assert list(tmp_path.iterdir()) == []

    def interrupt(done: int, _total: int, _left: float) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_runs(generator_from("shuffle"), GIVEN, planned(2), folder=None, identity={}, progress=interrupt)
    assert list(tmp_path.iterdir()) == []


# A generator that copies its people, after a while in some runs; files tell that it has begun, and who made it.
_SLOW = """
seed = int(os.environ["UNVEIL_SEED"])
if seed % 3 == 2 and not os.path.exists({ready!r}):
    pathlib.Path({begun!r}).touch()
    time.sleep(600)
target.write_bytes(source.read_bytes())
"""

_RUN = """
import sys
from pathlib import Path
from tests.protections.generators.people import people
from tests.studies.test_generator_runs import planned
from unveil.protections.generators import generator_from
from unveil.studies.generator_runs import make_runs
home, out, workers = Path(sys.argv[1]), sys.argv[3] and Path(sys.argv[3]), int(sys.argv[4])
runs = planned(5, 4, 72_000_000)
make_runs(generator_from(sys.argv[2]), people(home), runs, folder=out or None, identity={}, workers=workers)
"""


@pytest.mark.parametrize(
    ("how", "workers", "kept"),
    [
        (signal.SIGKILL, 2, True),
        (signal.SIGINT, 2, False),
        (signal.SIGTERM, 1, False),
    ],
)
def test_whoever_is_killed_leaves_nothing_and_goes_on(
    how: signal.Signals, workers: int, kept: bool, tmp_path: Path
) -> None:
    begun, ready, out, temporary = (tmp_path / name for name in ("begun", "ready", "out", "temporary"))
    temporary.mkdir()
    command = script(tmp_path, _SLOW.format(begun=str(begun), ready=str(ready)))
    process = subprocess.Popen(
        [sys.executable, "-c", _RUN, str(tmp_path), command, str(out) if kept else "", str(workers)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    until(begun.exists)
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # what Ctrl-C does: every process of the terminal gets it
    else:
        process.send_signal(how)
    process.wait(timeout=60)
    until(lambda: not any(left(72_000_000 + number) for number in range(1, 6)))
    if not kept:
        assert list(temporary.iterdir()) == []
        return
    there = files(out)
    assert len(there) < 5
    ready.touch()
    given, runs = people(tmp_path), planned(5, 4, 72_000_000)
    make_runs(generator_from(command), given, runs, folder=out, identity={})
    make_runs(generator_from(command), given, runs, folder=tmp_path / "clean", identity={})
    assert files(out) == files(tmp_path / "clean")
    assert files(out).items() >= there.items()
    assert not (out / "work").exists()
    assert not list(out.rglob("*.tmp"))


def test_the_next_start_removes_what_a_kill_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, temporary = tmp_path / "begun", tmp_path / "temporary"
    temporary.mkdir()
    command = script(tmp_path, _SLOW.format(begun=str(begun), ready=str(tmp_path / "ready")))
    process = subprocess.Popen(
        [sys.executable, "-c", _RUN, str(tmp_path), command, "", "2"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    until(begun.exists)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    living = list(temporary.iterdir())
    assert len(living) == 1
    make_runs(generator_from("shuffle"), GIVEN, planned(1), folder=tmp_path / "out", identity={})
    assert list(temporary.iterdir()) == living, "its process lives"
    process.kill()
    process.wait(timeout=60)
    until(lambda: not any(left(72_000_000 + number) for number in range(1, 6)))
    # Of the people nothing has a name but what a command was about to be given when its worker died.
    own = ("runs", "work")
    named = [path for path in living[0].rglob("*") if path.is_file() and not {*own} & {*path.parts}]
    assert not list(living[0].rglob("given-*"))
    assert not [path for path in named if SECRET.encode() in path.read_bytes()]
    make_runs(generator_from("shuffle"), GIVEN, planned(1), folder=tmp_path / "out", identity={})
    assert list(temporary.iterdir()) == []


def until(condition: Any) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


# The parent of the launcher, which is our parent, is the worker.
_KILLS_WORKER = """
once = pathlib.Path({once!r})
if int(os.environ["UNVEIL_SEED"]) == 2 and not once.exists():
    once.touch()
    worker = int(pathlib.Path(f"/proc/{{os.getppid()}}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(worker, 9)
    time.sleep(600)
print(os.environ.get("OMP_NUM_THREADS"), os.environ.get("MKL_NUM_THREADS"))
target.write_bytes(source.read_bytes())
"""


def test_a_killed_worker_costs_nothing_but_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    once = tmp_path / "once"
    generator = generator_from(script(tmp_path, _KILLS_WORKER.format(once=str(once))))
    given, runs = people(tmp_path), planned(4, 4)
    make_runs(generator, given, runs, folder=tmp_path / "out", identity={}, workers=2)
    assert once.exists()
    # What a worker is told about threads is not told to a generator: its user decides.
    assert (tmp_path / "out" / "logs" / "run-0002.txt").read_text() == "5 None\n"
    make_runs(generator, given, runs, folder=tmp_path / "clean", identity={})
    assert files(tmp_path / "out") == files(tmp_path / "clean")


def test_a_killed_generator_is_a_failure_from_which_one_goes_on(tmp_path: Path) -> None:
    body = "os.environ['UNVEIL_SEED'] == '2' and not os.path.exists({!r}) and os.kill(os.getpid(), 9)\n"
    command = script(tmp_path, body.format(str(tmp_path / "ready")) + "target.write_bytes(source.read_bytes())")
    given, runs, out = people(tmp_path), planned(3, 4), tmp_path / "out"
    with pytest.raises(
        InputError, match=r"run 2 of 3 failed: .* \(ended by SIGKILL\)\. .* the 1 that are done are kept"
    ):
        make_runs(generator_from(command), given, runs, folder=out, identity={})
    (tmp_path / "ready").touch()
    make_runs(generator_from(command), given, runs, folder=out, identity={})
    assert len(files(out)) == 3


@pytest.mark.parametrize(
    ("error", "match"),
    [
        (
            WorkerDiedError("gone"),
            r"run . of 2 could not be made: every worker was lost .*\(gone\)\. The other runs were",
        ),
        (KeyError(SECRET), r"run . of 2 could not be made: KeyError stopped it\. The other runs were stopped"),
        (CancelledError(), "the cluster lost the runs of this generator"),
        (MismatchError("every worker must have the same"), "every worker must have the same"),
        (DiskError("the disk is full"), "the disk is full"),
    ],
)
def test_workers_that_are_lost_or_stop_are_told(
    error: Exception, match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def submit(*_: Any) -> Any:
        future: Future[Any] = Future()
        future.set_exception(error)
        return future

    monkeypatch.setattr(Processes, "submit", submit)
    with pytest.raises(UnveilError, match=match):
        make_runs(generator_from("shuffle"), GIVEN, planned(2), folder=tmp_path / "out", identity={}, workers=2)
    assert not (tmp_path / "out" / "work").exists()
