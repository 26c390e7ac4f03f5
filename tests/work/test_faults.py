"""Whatever ends a lead or a worker, fills the disk or changes files: nothing is lost, doubled, believed or left."""

import errno
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any

import pytest

from tests.data.files.test_column_store import on_unix
from tests.work.front_ends import FRONT_ENDS, FrontEnd, write_home
from tests.work.test_cluster import Cluster, dask
from unveil.errors import InputError
from unveil.work.lock import Lock, running
from unveil.work.processes import Processes
from unveil.work.run import Pace, run
from unveil.work.seal import DiskError, SealKey, parts_of, seal_of, sealed_parts
from unveil.work.task import MismatchError, Task, WorkerDiedError
from unveil.work.threads import Threads

__all__ = ["dask"]  # a fixture
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_home(tmp_path_factory.mktemp("files"))


@pytest.fixture(params=FRONT_ENDS)
def front(request: pytest.FixtureRequest) -> FrontEnd:
    return FRONT_ENDS[request.param]


@pytest.fixture(scope="module")
def undisturbed(home: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[FrontEnd, dict[str, bytes]]:
    """The results of each front end, computed in this process without any fault."""
    made = {}
    for name, each in FRONT_ENDS.items():
        folder = tmp_path_factory.mktemp(name) / "clean"
        each.run(home, folder, 0)
        made[each] = each.files(folder)
    return made


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


def times(front: FrontEnd, folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / front.part).iterdir()}


# The lead stops after its third result, and says so.
_LEAD = """
import sys, time
from pathlib import Path
from tests.work.front_ends import FRONT_ENDS
from unveil.work import seal
name, home, folder = sys.argv[1:]
front, write, kept = FRONT_ENDS[name], seal.replace_file, []

def slow(path, content, **more):
    write(path, content, **more)
    kept.append(path.parent.name)
    if kept.count(front.part) > 2:
        print("three", flush=True)
        time.sleep(600)

seal.replace_file = slow
front.run(Path(home), Path(folder), 0)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", FRONT_ENDS)
def test_a_lead_that_is_ended_leaves_what_is_done_and_nothing_else(
    name: str, how: signal.Signals, home: Path, tmp_path: Path, undisturbed: dict[FrontEnd, dict[str, bytes]]
) -> None:
    front, folder, temporary = FRONT_ENDS[name], tmp_path / "folder", tmp_path / "temporary"
    temporary.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", _LEAD, name, str(home), str(folder)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as lead:
        assert lead.stdout is not None
        said = lead.stdout.readline()
        try:
            front.run(home, folder, 0)
        except InputError as error:
            refused = str(error)
        # The signal comes before any check: a lead that sleeps on would hold up the tests.
        lead.send_signal(how)
        lead.wait(timeout=60)
    assert said == "three\n"
    assert re.search(f"another run writes to .*: process {lead.pid} on", refused)
    # A lead with private files to remove raises where it is asked to end.
    assert lead.returncode in ((-how, 128 + how) if how == signal.SIGTERM else (-how,))
    assert list(temporary.iterdir()) == []
    assert running(folder) is None
    before = times(front, folder)
    assert 3 <= len(before) < len(undisturbed[front])
    front.run(home, folder, 0)
    assert front.files(folder) == undisturbed[front]
    assert times(front, folder).items() >= before.items(), "what was done is not computed again"
    assert not list(folder.rglob("*.tmp"))


def test_results_do_not_depend_on_processes(
    front: FrontEnd, home: Path, tmp_path: Path, undisturbed: dict[FrontEnd, dict[str, bytes]]
) -> None:
    front.run(home, tmp_path / "folder", 2)
    assert front.files(tmp_path / "folder") == undisturbed[front]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_that_are_ended_cost_nothing_but_time(
    front: FrontEnd,
    how: signal.Signals,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    undisturbed: dict[FrontEnd, dict[str, bytes]],
) -> None:
    made: list[Processes] = []
    ended: Counter[int] = Counter()

    class Watched(Processes):
        """Workers of which the first two are sent a signal in the middle of a task."""

        def __init__(self, workers: int) -> None:
            super().__init__(workers)
            made.append(self)

        def _answer(self, place: int, shared: Any, call: Any) -> tuple[bool, Any]:
            process = self._processes.get(place)
            if process is not None and not ended[place]:
                ended[place] += 1
                process.send_signal(how)
            return super()._answer(place, shared, call)

    monkeypatch.setattr("unveil.work.run.Processes", Watched)
    front.run(home, tmp_path / "folder", 2)
    assert sum(ended.values()) > 0
    assert front.files(tmp_path / "folder") == undisturbed[front]
    assert made[0].process_numbers == []


def test_a_lost_worker_of_a_cluster_costs_nothing_but_time(
    front: FrontEnd, dask: Cluster, home: Path, tmp_path: Path, undisturbed: dict[FrontEnd, dict[str, bytes]]
) -> None:
    dask.have(2)
    killed: list[int] = []

    def kill(done: int | str, *_: object) -> None:
        if (done if isinstance(done, int) else done.endswith(" parts")) and not killed:
            killed.append(dask.workers[0].pid)
            dask.workers[0].kill()

    front.run(home, tmp_path / "folder", 1, cluster=dask.address, progress=kill)
    assert len(killed) == 1
    assert front.files(tmp_path / "folder") == undisturbed[front]


class KilledWorker(Exception):  # noqa: N818 (the name that Dask gave it)
    """What Dask raises when it has lost several workers with a task."""


class Fragile:
    """An executor that loses its worker whenever it is given a certain task, so many times."""

    slots = 1

    def __init__(self, deadly: int, error: Exception, deaths: int) -> None:
        self.deadly, self.error, self.deaths = deadly, error, deaths
        self.order: list[int] = []

    def submit(self, task: Task, _memory: object = None) -> "Future[Any]":
        self.order.append(task.key)
        future: Future[Any] = Future()
        if task.key == self.deadly and self.order.count(task.key) <= self.deaths:
            future.set_exception(self.error)
        else:
            future.set_result(task.function(*task.arguments))
        return future

    def check(self) -> None:
        """Nothing can go wrong for good."""

    def stop(self) -> None:
        """Nothing has to be ended."""


def ran(on: Any) -> dict[int, Any]:
    """Return the answer or the error of each of five tasks, the last of which follows the first."""
    answers: dict[int, Any] = {}

    def settle(task: Task, error: BaseException | None, answer: Any) -> list[Task]:
        assert task.key not in answers, "nothing is settled twice"
        answers[task.key] = str(error) if error is not None else answer
        return [Task(4, pow, (4, 2))] if task.key == 0 else []

    seen: list[tuple[int, int]] = []
    pace = Pace(lambda done, total, _: seen.append((done, total)), total=6, reused=1)
    run((Task(n, pow, (n, 2)) for n in range(4)), on=on, settle=settle, lost="it lost them", progress=pace)
    assert seen == [(done, 6) for done in range(2, 7)]
    return answers


@pytest.mark.parametrize(
    ("error", "deaths", "tries"),
    [(WorkerDiedError("gone"), 1, 2), (WorkerDiedError("gone"), 9, 3), (KilledWorker(), 1, 2), (KilledWorker(), 9, 2)],
)
def test_a_lost_task_is_tried_again_and_the_last_time_on_its_own(error: Exception, deaths: int, tries: int) -> None:
    on = Fragile(1, error, deaths)
    found, expected = ran(on), {number: number**2 for number in range(5)}
    assert on.order.count(1) == tries
    assert len(on.order) == 5 + tries - 1
    if deaths > tries:
        assert on.order[-1] == 1
        last = "gone" if isinstance(error, WorkerDiedError) else "says the cluster"
        expected[1] = f"every worker that computed this ended early, even when it ran alone ({last})"  # type: ignore[assignment]
    assert found == expected
    assert ran(Threads()) == {number: number**2 for number in range(5)}


@pytest.mark.parametrize("error", [CancelledError(), MismatchError("another version")])
def test_a_cluster_that_forgets_tasks_or_has_another_version_ends_the_run(error: Exception) -> None:
    with pytest.raises(InputError, match=r"it lost them|another version"):
        ran(Fragile(2, error, 9))


def test_a_full_disk_stops_a_run_and_keeps_what_is_there(
    front: FrontEnd,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    undisturbed: dict[FrontEnd, dict[str, bytes]],
) -> None:
    folder, real = tmp_path / "folder", os.fsync

    def fsync(number: int) -> None:
        if (folder / front.part).is_dir() and len(times(front, folder)) >= 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(number)

    monkeypatch.setattr("os.fsync", fsync)
    with pytest.raises(DiskError, match=r"\(No space left on device\). Earlier results are kept: make room"):
        front.run(home, folder, 0)
    before = times(front, folder)
    assert len(before) >= 2
    assert front.files(folder).items() <= undisturbed[front].items()
    assert not list(folder.rglob("*.tmp"))
    monkeypatch.undo()
    front.run(home, folder, 0)
    assert front.files(folder) == undisturbed[front]
    assert times(front, folder).items() >= before.items()


def test_one_run_at_a_time(front: FrontEnd, home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    front.run(home, folder, 0)
    lock = Lock(folder)
    lock.take()
    with pytest.raises(InputError, match=f"another run writes to .*: process {os.getpid()} on .* Wait"):
        front.run(home, folder, 0)
    (folder / "run.lock.json").write_text("?")
    with pytest.raises(InputError, match="another process"):
        front.run(home, folder, 0)
    lock.free()
    # What a dead process left is taken over.
    (folder / "run.lock.json").write_text('{"pid": 1, "host": "gone"}')
    front.run(home, folder, 0)


def test_results_of_another_version_are_refused(
    front: FrontEnd, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    front.run(home, tmp_path / "folder", 0)
    before = front.files(tmp_path / "folder")
    monkeypatch.setattr("unveil._version.__version__", "9.9")
    with pytest.raises(InputError, match=r"version (of )?unveil.*: they are not mixed"):
        front.run(home, tmp_path / "folder", 0)
    assert front.files(tmp_path / "folder") == before
    assert running(tmp_path / "folder") is None


def test_results_with_another_key_are_not_resumed(
    front: FrontEnd, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    front.run(home, tmp_path / "folder", 0)
    before = front.files(tmp_path / "folder")
    monkeypatch.setenv("UNVEIL_KEY", "the key of another user, who can read this")
    with pytest.raises(InputError, match=r"was sealed with another key.* It can be read, but not resumed"):
        front.run(home, tmp_path / "folder", 0)
    assert front.files(tmp_path / "folder") == before


def _changed(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def _planted(content: bytes) -> bytes:
    """Return a file with the same seal that another user could have made."""
    seal = seal_of(content)
    assert seal is not None
    return sealed_parts([b"[]"], seal)


@pytest.mark.parametrize("change", [_changed, _planted, lambda content: content[: len(content) // 2], lambda _: b""])
def test_tampered_results_are_computed_again(
    front: FrontEnd,
    change: Callable[[bytes], bytes],
    home: Path,
    tmp_path: Path,
    undisturbed: dict[FrontEnd, dict[str, bytes]],
) -> None:
    folder = tmp_path / "folder"
    front.run(home, folder, 0)
    one, other, *rest = sorted((folder / front.part).iterdir())
    before = {path: path.stat().st_mtime_ns for path in rest}
    content = one.read_bytes()
    one.write_bytes(change(content))
    other.write_bytes(content)  # a result in the place of another one
    front.run(home, folder, 0)
    assert front.files(folder) == undisturbed[front]
    assert {path: path.stat().st_mtime_ns for path in rest} == before


@pytest.mark.parametrize("key", [None, b"o" * 32])
def test_a_planted_release_of_a_study_is_made_again(
    key: bytes | None, home: Path, tmp_path: Path, undisturbed: dict[FrontEnd, dict[str, bytes]]
) -> None:
    front, folder = FRONT_ENDS["study"], tmp_path / "folder"
    front.run(home, folder, 0)
    one, other = sorted((folder / "releases").iterdir())
    content, seal = one.read_bytes(), seal_of(one.read_bytes())
    assert seal is not None
    one.write_bytes(sealed_parts(parts_of(other.read_bytes()), seal, None if key is None else SealKey(key)))
    for path in (folder / "results").iterdir():
        path.unlink()
    front.run(home, folder, 0)
    assert one.read_bytes() == content
    assert front.files(folder) == undisturbed[front]


@on_unix
@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("name", ["run.lock", "run.lock.json"])
def test_a_lock_that_is_a_link_changes_no_other_file(
    front: FrontEnd, home: Path, tmp_path: Path, name: str, link: Callable[[Path, Path], None]
) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "folder"
    victim.write_text("precious")
    folder.mkdir(0o700)
    link(victim, folder / name)
    if name == "run.lock":
        with pytest.raises(InputError, match="must be a plain file"):
            front.run(home, folder, 0)
    else:
        front.run(home, folder, 0)
    assert victim.read_text() == "precious"
    assert (folder / name).exists() == (name == "run.lock")


@on_unix
def test_results_are_not_kept_behind_a_link(front: FrontEnd, home: Path, tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "folder"
    front.run(home, folder, 0)
    (folder / front.part).rename(elsewhere)
    (folder / front.part).symlink_to(elsewhere)
    before = {path: path.read_bytes() for path in elsewhere.iterdir()}
    with pytest.raises(InputError, match="must be a plain folder, but is a link"):
        front.run(home, folder, 0)
    assert {path: path.read_bytes() for path in elsewhere.iterdir()} == before


@on_unix
def test_a_result_that_is_a_link_is_not_read(front: FrontEnd, home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    front.run(home, folder, 0)
    results = sorted((folder / front.part).iterdir())
    assert results
    for result in results:
        result.rename(tmp_path / result.name)
        result.symlink_to(tmp_path / result.name)
    front.run(home, folder, 0)
    assert not any(result.is_symlink() for result in results)


@on_unix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_can_write_to_is_refused(front: FrontEnd, home: Path, tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(InputError, match=r"is writable by other users.*chmod go-w"):
        front.run(home, folder, 0)
    assert list(folder.iterdir()) == []


@on_unix
def test_a_folder_of_another_user_is_refused(
    front: FrontEnd, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(InputError, match="belongs to another user"):
        front.run(home, folder, 0)
    assert list(folder.iterdir()) == []


@on_unix
def test_a_link_that_the_user_names_is_followed(front: FrontEnd, home: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir(0o700)
    (tmp_path / "folder").symlink_to(tmp_path / "disk")
    front.run(home, tmp_path / "folder", 0)
    assert (tmp_path / "disk" / front.part).is_dir()
