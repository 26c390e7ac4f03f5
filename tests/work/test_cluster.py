"""A Dask cluster on this machine: a scheduler and two workers, each a process of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.protections.generators.people import left, people, script
from tests.questions.audit.example import asked, write_files
from tests.studies.small import GUESS, files, node_files, small_study
from unveil.errors import InputError
from unveil.protections.generators import generator_from
from unveil.questions.audit.projection import memory_of
from unveil.questions.audit.settings import RunSettings
from unveil.studies import Results, run_study
from unveil.studies.generator_runs import PlannedRun, make_runs
from unveil.work.cluster import DaskCluster
from unveil.work.task import SharedValue, Task

ROOT = Path(__file__).parents[2]


@dataclass
class Cluster:
    """The address of a scheduler, and the processes of its workers."""

    address: str
    scheduler: "subprocess.Popen[bytes]"
    workers: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def have(self, count: int, *, log: Path = Path(os.devnull)) -> None:
        """Start or kill workers until there are this many, and the scheduler knows; new ones write to the log."""
        self.workers = [each for each in self.workers if each.poll() is None]
        for each in self.workers[count:]:
            each.kill()
            each.wait()
        del self.workers[count:]
        told = (self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0")
        while len(self.workers) < count:
            self.workers.append(process("dask_worker", *told, "--death-timeout", "60", log=log))
        with import_module("distributed").Client(self.address, set_as_default=False) as client:
            while len(client.nthreads()) != count:
                time.sleep(0.05)


def process(name: str, *told: str, log: Path = Path(os.devnull)) -> "subprocess.Popen[bytes]":
    # One loss is enough to give a task up: this test need not kill eight workers.
    more = {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with log.open("wb") as stream:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{name}", *told],
            env={**os.environ, **more},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    told = tmp_path_factory.mktemp("dask") / "scheduler.json"
    place = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(told))
    scheduler = process("dask_scheduler", *place)
    deadline = time.monotonic() + 120
    address = ""
    while not address:
        assert time.monotonic() < deadline, "the scheduler did not start"
        time.sleep(0.05)
        if told.exists() and told.read_text():
            address = json.loads(told.read_text())["address"]
    made = Cluster(address, scheduler)
    yield made
    made.have(0)
    scheduler.kill()
    scheduler.wait()


def test_a_cluster_gives_the_same_bytes(dask: Cluster, tmp_path: Path) -> None:
    dask.have(2)
    study = small_study(tmp_path, attacks=(GUESS, "tests.studies.own:Failing:seeds=5"))
    run_study(study, tmp_path / "clean", workers=0)
    summary = run_study(study, tmp_path / "out", cluster=dask.address)
    assert (summary.total, summary.done, summary.failed) == (8, 8, 2)
    assert files(tmp_path / "out") == files(tmp_path / "clean")
    assert node_files(tmp_path / "out") == node_files(tmp_path / "clean")
    again = run_study(study, tmp_path / "out", cluster=dask.address, resume=True)
    assert (again.reused, again.done) == (6, 2)


def test_a_task_that_kills_its_workers_is_a_row(dask: Cluster, tmp_path: Path) -> None:
    dask.have(4)  # each try takes one with it
    study = small_study(tmp_path, attacks=(GUESS, "tests.studies.own:Deadly:seeds=5"), protections=("id-removal",))
    summary = run_study(study, tmp_path / "out", cluster=dask.address)
    assert (summary.done, summary.failed) == (4, 1)
    (error,) = Results.read(tmp_path / "out").errors["error"]
    assert error == "every worker that computed this ended early, even when it ran alone (says the cluster)"


# One run fails as soon as the other has begun, which then takes for ever.
_ONE_FAILS = """
begun, ready = pathlib.Path({begun!r}), pathlib.Path({ready!r})
if not ready.exists():
    if os.environ["UNVEIL_SEED"] == "73000002":
        begun.touch()
        time.sleep(600)
    while not begun.exists():
        time.sleep(0.01)
    sys.exit(3)
target.write_bytes(source.read_bytes())
"""


def test_runs_of_a_generator_on_a_cluster(dask: Cluster, tmp_path: Path) -> None:
    dask.have(2)
    begun, ready, out = tmp_path / "begun", tmp_path / "ready", tmp_path / "out"
    command = generator_from(script(tmp_path, _ONE_FAILS.format(begun=str(begun), ready=str(ready))))
    given, runs = people(tmp_path), [PlannedRun(n, 73_000_000 + n, np.arange(4)[-n:]) for n in (1, 2, 3)]
    with pytest.raises(InputError, match=r"run [13] of 3 failed: .* \(exit code 3\)\. .* The other runs were stopped"):
        make_runs(command, given, runs, folder=out, identity={}, cluster=dask.address)
    deadline = time.monotonic() + 60
    while any(left(run.seed) for run in runs):  # a worker elsewhere sees it within a second
        assert time.monotonic() < deadline, "a generator is left"
        time.sleep(0.05)
    ready.touch()
    made = make_runs(command, given, runs, folder=out, identity={}, cluster=dask.address)
    assert [each.released.rows for each in made] == [1, 2, 3]
    make_runs(command, given, runs, folder=tmp_path / "clean", identity={})
    kept, clean = (
        {path.name: path.read_bytes() for path in (each / "runs").iterdir()} for each in (out, tmp_path / "clean")
    )
    assert kept == clean
    assert not (out / "work").exists()


def test_variables_of_a_generator_reach_a_cluster_but_no_file_and_no_log(
    dask: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    dask.have(0)
    dask.have(1, log=log)
    monkeypatch.setenv("TOKEN", "tok-3f9a6c-secret")  # which no worker has
    seen: list[bytes] = []
    body = "assert os.environ['TOKEN'] == 'tok-' + '3f9a6c-secret'; print(os.environ['TOKEN'])\n"
    command = script(tmp_path, body + "target.write_bytes(source.read_bytes())")
    generator = generator_from(command, env=["TOKEN"])

    def look(*_: Any) -> None:
        seen.extend(path.read_bytes() for path in out.rglob("*") if path.is_file())

    runs = [PlannedRun(number, number, np.arange(4)) for number in (1, 2)]
    make_runs(generator, people(tmp_path), runs, folder=out, identity={}, cluster=dask.address, progress=look)
    look()
    assert len(seen) > 5
    assert not any(b"3f9a6c" in content for content in seen)
    assert (out / "logs" / "run-0002.txt").read_text() == "[TOKEN]\n"
    # Dask writes a task that fails to the log of its worker, some versions with its arguments.
    on = DaskCluster(dask.address)
    with pytest.raises(TypeError):
        on.submit(Task(0, len, (SharedValue(generator), generator.env))).result()  # type: ignore[attr-defined]
    on.stop()
    dask.have(0)
    assert b"Compute Failed" in log.read_bytes()
    assert b"3f9a6c" not in log.read_bytes()


@pytest.mark.parametrize("memory", [None, memory_of(10**4, RunSettings(), stored=True)])
def test_an_audit_on_a_cluster_loses_a_worker_and_gives_the_same_bytes(
    dask: Cluster, tmp_path: Path, memory: int | None
) -> None:
    dask.have(2)
    home = write_files(tmp_path / "files")
    killed: list[int] = []

    def kill(name: str, _share: float) -> None:
        if name.endswith(" parts") and not killed:
            killed.append(dask.workers[0].pid)
            dask.workers[0].kill()

    attacks = ("singling_out", "linkability", "inference", "membership", "row_order", "utility", "before")
    told: dict[str, Any] = {"attacks": attacks, "suggest": 1}
    said: list[str] = []
    run: dict[str, Any] = {"cluster": dask.address, "resume": tmp_path / "kept", "memory": memory}
    assert asked(home, progress=kill, say=said.append, **run, **told) == asked(home, **told)
    assert len(killed) == 1
    # With little memory the workers, too, work from disk.
    assert any(each.startswith("The tables are worked on from disk") for each in said) == (memory is not None)


def test_a_file_that_workers_see_otherwise_ends_the_audit(
    dask: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask.have(1)
    home = write_files(tmp_path / "files")

    def change(name: str, _share: float) -> None:
        if name == "looking at the tables":
            with (home / "masked.csv").open("a") as stream:
                stream.write("30,f,north,31\n")

    monkeypatch.chdir(home)
    with pytest.raises(InputError, match=r"The file '.*/masked\.csv' differs on a worker"):
        asked(Path(), attacks=("copies",), cluster=dask.address, progress=change)


def test_a_cluster_without_workers_is_refused(dask: Cluster, tmp_path: Path) -> None:
    dask.have(0)
    with pytest.raises(InputError, match=f"the cluster '{dask.address}' answers, but has no workers. Start some with"):
        DaskCluster(dask.address, patience=2.0)


def test_a_cluster_that_loses_all_its_workers_ends_the_run(
    dask: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask.have(1)
    begun = tmp_path / "begun"
    study = small_study(tmp_path, attacks=(f"tests.studies.own:Slow:seconds=60,begun={begun}",))
    on = DaskCluster(dask.address, patience=60.0)
    monkeypatch.setattr(on, "_patience", 0.5)
    monkeypatch.setattr("unveil.work.cluster.DaskCluster", lambda _: Watched(on, begun, dask))
    with pytest.raises(InputError, match=r"has no workers any more\. Start some with"):
        run_study(study, tmp_path / "out", cluster=dask.address)


class Watched:
    """A cluster whose last worker is killed as soon as it has begun."""

    def __init__(self, hands: Any, begun: Path, dask: Cluster) -> None:
        self.hands, self.begun, self.dask = hands, begun, dask

    def __getattr__(self, name: str) -> Any:
        return getattr(self.hands, name)

    def check(self) -> None:
        if self.begun.exists():
            self.dask.have(0)
        self.hands.check()


def test_an_address_where_nobody_answers_is_named() -> None:
    with pytest.raises(InputError, match=r"the cluster 'tcp://127\.0\.0\.1:9' cannot be reached"):
        DaskCluster("tcp://127.0.0.1:9", patience=1.0)
