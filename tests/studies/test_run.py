"""A whole run: nothing lost, nothing double, the same numbers, whatever becomes of workers, disks and runs."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.studies.small import GUESS, files, looked_at, node_files, small_study
from unveil.errors import InputError
from unveil.studies import Replications, Results, Store, Study, run_study
from unveil.studies.plan import Axis
from unveil.work.lock import running
from unveil.work.task import Task, WorkerDiedError

ROOT = Path(__file__).parents[2]
LOST = "every worker that computed this ended early, even when it ran alone ({})"


@pytest.fixture
def clean(tmp_path: Path) -> dict[str, str]:
    """The files of an undisturbed run in this very process."""
    run_study(small_study(tmp_path), tmp_path / "clean", workers=0)
    return files(tmp_path / "clean")


def test_a_run_computes_everything_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    protections = (f"tests.studies.own:Counted:file={count}", "switch")
    study = small_study(tmp_path, protections=protections, attacks=(GUESS, "tests.studies.own:Failing:seeds=5"))
    seen: list[tuple[int, int, float]] = []
    out = tmp_path / "out"
    summary = run_study(study, out, workers=0, progress=lambda *each: seen.append(each))
    assert (summary.total, summary.done, summary.failed, summary.reused, summary.set_aside) == (8, 8, 2, 0, 0)
    assert summary.folder == out
    assert count.read_text() == "applied\n"
    assert [each[:2] for each in seen] == [(number, 8) for number in range(9)]
    assert all(left > 0 for _, _, left in seen[:-1])
    assert seen[-1][2] == 0
    times = [json.loads(line) for line in (out / "times.jsonl").read_text().splitlines()]
    assert {each["file"] for each in times} == set(files(out))
    assert set(times[0]["seconds"]) == set(times[0]["wall"]) == {"release", "knowledge", "attack", "measure", "write"}
    assert all(each["wall"][part] >= 0 for each in times for part in each["wall"])
    before = files(out)
    with pytest.raises(InputError, match="already holds results of this study"):
        run_study(study, out, workers=0)
    again = run_study(study, out, workers=0, resume=True)
    # What failed is tried again, since whatever made it fail may be mended.
    assert (again.done, again.failed, again.reused) == (2, 2, 6)
    assert files(out) == before


def test_a_task_that_always_kills_its_worker_is_a_row_and_takes_no_other_with_it(tmp_path: Path) -> None:
    once = tmp_path / "once"
    attacks = (
        GUESS,
        "tests.studies.own:Deadly:seeds=5",
        f"tests.studies.own:Deadly:how=exit,once={once}",
        "tests.studies.own:Leaving",
    )
    study = small_study(tmp_path, attacks=attacks, protections=("id-removal",))
    summary = run_study(study, tmp_path / "out", workers=2)
    assert (summary.total, summary.done) == (8, 8)
    results = Results.read(tmp_path / "out")
    told = {(row["attack"], row["level"]): row["error"] for row in results.errors.to_dicts()}
    # One level of the deadly attack, and both of the leaving one.
    assert summary.failed == len(told) == 1 + 2
    assert told[attacks[1], 5.0] == LOST.format("it was ended by SIGKILL")
    assert once.exists()
    assert results.frame.height == 5 * 3


class Fragile:
    """An executor whose workers are lost whenever they are given a certain task of a study."""

    slots = 1

    def __init__(self, deadly: str, error: Exception, deaths: int) -> None:
        self.deadly, self.error, self.deaths = deadly, error, deaths
        self.order: list[str] = []

    def submit(self, task: Task, _memory: object = None) -> "Future[Any]":
        part = task.key
        name = f"{part.scenario.protect}/{part.scenario.level:g}/{part.release}"
        self.order.append(name)
        future: Future[Any] = Future()
        if name == self.deadly and self.order.count(name) <= self.deaths:
            future.set_exception(self.error)
        else:
            future.set_result(task.function(*task.arguments))
        return future

    def check(self) -> None:
        """Nothing can go wrong."""

    def stop(self) -> None:
        """Nothing has to be ended."""


def test_a_release_that_is_lost_ends_its_scenarios_and_no_others(
    tmp_path: Path, clean: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unveil.work.run.Processes", lambda _: Fragile("switch/2/0", WorkerDiedError("gone"), 9))
    assert run_study(small_study(tmp_path), tmp_path / "out", workers=1).failed == 2
    results = Results.read(tmp_path / "out")
    assert results.errors["protect"].to_list() == ["switch", "switch"]
    assert set(results.errors["error"]) == {LOST.format("gone")}
    assert len(files(tmp_path / "out").items() & clean.items()) == 2


def test_an_error_of_the_machinery_itself_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.work.run.Processes", lambda _: Fragile("id-removal/5/None", TypeError("odd"), 9))
    assert run_study(small_study(tmp_path), tmp_path / "out", workers=1).failed == 1
    assert Results.read(tmp_path / "out").errors["error"][0].startswith("TypeError")


RUN = """
import sys
from pathlib import Path
from unveil.studies import Study, run_study
if len(sys.argv) > 4:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]),) * 2)
run_study(Study.read(sys.argv[1]), sys.argv[2], workers=int(sys.argv[3]))
"""


def started(study: Study, folder: Path, *more: str) -> "subprocess.Popen[str]":
    """Start a run in a process of its own, as a terminal does."""
    (folder / "study.toml").write_text(study.to_toml())
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder / "study.toml"), str(folder / "out"), "2", *more],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def until(condition: Any) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_or_interrupted_is_resumed(tmp_path: Path, how: signal.Signals) -> None:
    begun = tmp_path / "begun"
    study = small_study(tmp_path, attacks=(GUESS, f"tests.studies.own:Slow:seconds=0.1,begun={begun}"))
    run_study(study, tmp_path / "clean", workers=0)
    begun.unlink()
    out = tmp_path / "out"
    process = started(study, tmp_path)
    until(begun.exists)
    worker = int(begun.read_text())
    with pytest.raises(InputError, match=f"another run writes to .*: process {process.pid} on"):
        run_study(study, out, workers=0, resume=True)
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # what Ctrl-C does: every process of the terminal gets it
    else:
        process.kill()
    _, said = process.communicate(timeout=60)
    assert process.returncode == -how
    assert ("KeyboardInterrupt" in said) == (how == signal.SIGINT)
    until(lambda: not worker or not alive(worker))
    there = list((out / "results").glob("*.result"))
    assert running(out) is None
    summary = run_study(study, out, workers=0, resume=True)
    # A worker may end a moment after the run that started it.
    assert 0 < len(there) <= summary.reused < 8
    assert summary.done == 8 - summary.reused
    assert files(out) == files(tmp_path / "clean")
    assert not list(out.rglob("*.tmp"))


def alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    try:
        return "\nState:\tZ" not in Path(f"/proc/{number}/status").read_text()
    except OSError:
        return sys.platform != "linux"


def test_an_interruption_stops_cleanly(tmp_path: Path, clean: dict[str, str]) -> None:
    study = small_study(tmp_path)

    def interrupt(done: int, total: int, left: float) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(study, tmp_path / "out", workers=1, progress=interrupt)
    assert running(tmp_path / "out") is None
    kept = files(tmp_path / "out")
    assert kept.items() <= clean.items()
    assert run_study(study, tmp_path / "out", workers=0, resume=True).reused == len(kept) >= 1
    assert files(tmp_path / "out") == clean


def test_workers_that_cannot_write_stop_the_run(tmp_path: Path) -> None:
    # The system lets no process write files beyond a size that the manifest and releases stay below.
    study = small_study(tmp_path, metrics=(), replications=Replications(number=40))
    process = started(study, tmp_path, "6000")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "DiskError" in said
    assert "cannot be written (File too large). Earlier results are kept" in said
    assert list((tmp_path / "out" / "results").iterdir()) == []
    assert run_study(study, tmp_path / "out", workers=0, resume=True).done == 4


def test_damaged_results_are_set_aside_and_computed_again(tmp_path: Path, clean: dict[str, str]) -> None:
    study, out = small_study(tmp_path), tmp_path / "clean"
    one, other = sorted(clean)[:2]
    content = (out / "results" / one).read_bytes()
    (out / "results" / one).write_bytes(content[:200] + bytes([content[200] ^ 4]) + content[201:])
    (out / "results" / other).write_bytes(content[: len(content) // 3])
    summary = run_study(study, out, workers=0, resume=True)
    assert (summary.done, summary.reused, summary.set_aside) == (2, 2, 2)
    assert files(out) == clean


@pytest.mark.parametrize("changes", [{"seed": 4}, {"metrics": ()}])
def test_results_of_another_study_are_not_mixed_in(
    tmp_path: Path, clean: dict[str, str], changes: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match="Choose another folder"):
        run_study(replace(small_study(tmp_path), **changes), tmp_path / "clean", workers=0, resume=True)
    assert files(tmp_path / "clean") == clean


def test_changed_data_are_not_mixed_in(tmp_path: Path, clean: dict[str, str]) -> None:
    study = small_study(tmp_path)
    with Path(study.data[0].source).open("a") as stream:
        stream.write("0,39\n")
    with pytest.raises(InputError, match="its bytes have changed since"):
        run_study(study, tmp_path / "clean", workers=0, resume=True)
    assert files(tmp_path / "clean") == clean


def test_what_cannot_be_run_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    study = small_study(tmp_path)
    gone = replace(study, data=(replace(study.data[0], source=str(tmp_path / "gone.csv")),))
    with pytest.raises(InputError, match="of the data 'small' does not exist"):
        run_study(gone, tmp_path / "out", workers=0)
    with pytest.raises(InputError, match="must be a class with the method 'apply'"):
        run_study(replace(study, protections=("tests.studies.own:NotAnything",)), tmp_path / "out", workers=0)
    with pytest.raises(InputError, match="memory, in bytes, must be a whole number of at least 1, but is 0"):
        run_study(study, tmp_path / "out", workers=0, memory=0)
    assert not (tmp_path / "out").exists()


def test_scenarios_above_the_memory_are_rows_and_a_larger_machine_computes_them(
    tmp_path: Path, clean: dict[str, str]
) -> None:
    study, out = small_study(tmp_path), tmp_path / "out"
    summary = run_study(study, out, workers=0, memory=300 * 2**20)
    assert (summary.done, summary.failed) == (4, 4)
    said = Results.read(out).errors["error"].unique().to_list()
    assert len(said) == 1
    assert "projected to take 320 MiB of memory, and may take 300 MiB" in said[0]
    assert run_study(study, out, workers=0, resume=True).failed == 0
    assert files(out) == clean


def test_a_worker_that_writes_elsewhere_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = small_study(tmp_path)
    monkeypatch.setattr("unveil.studies.stored_results.write_bytes", lambda *_: None)
    with pytest.raises(InputError, match="All workers must share this folder"):
        run_study(study, tmp_path / "out", workers=0)


def test_replications_take_turns_with_releases(tmp_path: Path) -> None:
    study = small_study(tmp_path, releases=2)
    run_study(study, tmp_path / "out", workers=0)
    assert len(list((tmp_path / "out" / "releases").iterdir())) == 4
    assert Results.read(tmp_path / "out").frame["release"].to_list() == [0, 1, 0] * 4
    few = small_study(tmp_path, releases=9)
    run_study(few, tmp_path / "few", workers=0)
    assert len(list((tmp_path / "few" / "releases").iterdir())) == 6


def test_the_name_of_a_study_and_more_replications_change_no_replication(tmp_path: Path) -> None:
    one = small_study(tmp_path, replications=Replications(number=2))
    many = small_study(tmp_path, name="other", replications=Replications(number=4))
    for each in (one, many):
        run_study(each, tmp_path / each.name, workers=0)
    frames = [Results.read(tmp_path / each.name).frame for each in (one, many)]
    assert frames[0].equals(frames[1].filter(pl.col("replication") < 2))


def test_nothing_missing_starts_no_worker(
    tmp_path: Path, clean: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unveil.studies.run.executor", None)
    assert run_study(small_study(tmp_path), tmp_path / "clean", resume=True).reused == len(clean)


def test_the_store_is_free_after_an_error(tmp_path: Path) -> None:
    study = small_study(tmp_path)
    with pytest.raises(InputError, match="must be a whole number of at least 0"):
        run_study(study, tmp_path / "out", workers=-1)
    with Store(tmp_path / "out", looked_at(study)) as store:
        assert store.done() == set()


def test_an_adversary_of_a_study_may_have_heard_of_some_nodes_alone(tmp_path: Path) -> None:
    axes = (Axis("node_share", (0.5, 1.0)),)
    attacks = ("tests.studies.own:Guess:among=1000", "NS:theta=0")
    study = small_study(tmp_path, attacks=attacks, axes=axes, fixed={"seed_pairs": 12, "overlap": 1})
    run_study(study, tmp_path / "out", workers=0)
    sizes, rates = (
        {
            (row["attack"], row["level"]): row["value"]
            for row in Results.read(tmp_path / "out").values(metric).to_dicts()
            if row["protect"] == "id-removal" and row["replication"] == 0
        }
        for metric in ("anonymity_set_size", "adversary_success_rate")
    )
    # Who looks at all auxiliary nodes has as many candidates as there are.
    assert (sizes[attacks[0], 0.5], sizes[attacks[0], 1.0]) == (20, 40)
    # Numbers of the auxiliary graph are those that attempts are compared with: 1 in 20 would be right by chance.
    assert rates[attacks[1], 1.0] > rates[attacks[1], 0.5] > 0.2
    assert small_study(tmp_path).fixed_levels() == {"seed_pairs": 50.0, "overlap": 0.85}


def test_a_level_that_two_axes_share_is_computed_once(tmp_path: Path) -> None:
    count = tmp_path / "runs"
    axes = (Axis("seed_pairs", (2, 5)), Axis("overlap", (0.6, 0.85)))
    study = small_study(
        tmp_path,
        protections=("id-removal",),
        attacks=(f"tests.studies.own:CountedRuns:file={count}",),
        axes=axes,
        fixed={"seed_pairs": 5, "overlap": 0.85},
    )
    scenarios = study.scenarios()
    assert [None if each.same_as is None else each.same_as.key for each in scenarios] == [None] * 3 + [scenarios[1].key]
    seen: list[tuple[int, int]] = []
    summary = run_study(study, tmp_path / "out", workers=0, progress=lambda done, total, _: seen.append((done, total)))
    assert (summary.total, summary.done, seen[-1]) == (4, 4, (4, 4))
    assert len(count.read_text()) == 3 * 3  # three scenarios of three replications
    frame = Results.read(tmp_path / "out").frame
    numbers = ["replication", "release", "attempted", "correct", "entropy", "adversary_success_rate"]
    shared = [
        frame.filter(pl.col("axis") == axis, pl.col("level") == level).select(numbers)
        for axis, level in (("seed_pairs", 5), ("overlap", 0.85))
    ]
    assert shared[0].height == 3
    assert shared[0].equals(shared[1])
    before, nodes = files(tmp_path / "out"), node_files(tmp_path / "out")
    assert len(before) == len(nodes) == 4
    # Either of the two is computed alone where the other one is there, and is the same.
    for scenario in (scenarios[1], scenarios[3]):
        (tmp_path / "out" / "results" / scenario.file_name).unlink()
        assert run_study(study, tmp_path / "out", workers=0, resume=True).done == 1
        assert (files(tmp_path / "out"), node_files(tmp_path / "out")) == (before, nodes)
    times = [json.loads(line) for line in (tmp_path / "out" / "times.jsonl").read_text().splitlines()]
    assert [each["replications"] for each in times] == [3, 3, 0, 3, 3, 3]


def test_a_level_that_two_axes_share_fails_for_both(tmp_path: Path) -> None:
    study = small_study(
        tmp_path,
        protections=("id-removal",),
        attacks=("tests.studies.own:Failing",),
        axes=(Axis("seed_pairs", (5,)), Axis("overlap", (0.85,))),
        fixed={"seed_pairs": 5, "overlap": 0.85},
    )
    summary = run_study(study, tmp_path / "out", workers=0)
    assert (summary.done, summary.failed) == (2, 2)
    assert Results.read(tmp_path / "out").errors["axis"].to_list() == ["seed_pairs", "overlap"]
