"""However an audit is run, stopped and resumed, its JSON is the same to the last byte; and nothing is left behind."""

import io
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tests.data.files.test_column_store import on_linux, on_unix
from tests.questions.audit.example import CONTROL, FOREIGN, MASKED, ORIGINAL, asked, write_files
from unveil._kernels.threads import available
from unveil.errors import InputError
from unveil.questions.audit import runner
from unveil.questions.audit.answer import audit
from unveil.questions.audit.inputs import PreparedAudit
from unveil.questions.audit.projection import memory_of
from unveil.questions.audit.read import AuditFiles
from unveil.questions.audit.runner import AuditJob, one_blas_thread
from unveil.questions.audit.settings import RunSettings
from unveil.questions.audit.tasks import AuditTask, Workbench
from unveil.work.memory import MemoryLimit
from unveil.work.processes import Processes
from unveil.work.seal import seal_of, sealed_parts, user_key
from unveil.work.task import SharedValue, WorkerDiedError, perform, version

ROOT = Path(__file__).parents[3]
#: All attacks where results are sent or kept; these where that is not the point.
FEW = ("linkability", "copies", "before")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def plain(files: Path) -> str:
    """The JSON of an audit with all attacks, as it is run without anything said."""
    return asked(files, threads=1)


@pytest.fixture(scope="module")
def few(files: Path) -> str:
    return asked(files, attacks=FEW)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tasks that were computed in this process."""
    names: list[str] = []
    compute = Workbench.compute

    def counted(self: Workbench, task: AuditTask, *told: Any, **more: Any) -> Any:
        names.append(task.name)
        return compute(self, task, *told, **more)

    monkeypatch.setattr(Workbench, "compute", counted)
    return names


def test_what_was_kept_is_not_computed_again_and_gives_the_same_bytes(
    files: Path, plain: str, tmp_path: Path, computed: list[str]
) -> None:
    folder = tmp_path / "deep" / "kept"
    assert asked(files, resume=folder, threads=2) == plain
    results = list((folder / "results").iterdir())
    assert len(results) == len(computed) == len(set(computed)) > 30
    assert {"release-1-weigh-linkability", "original-attack-inference", "release-2-measure-utility"} < set(computed)
    assert {path.stat().st_mode & 0o777 for path in (folder, folder / "results")} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in results} == {0o600}
    computed.clear()
    assert asked(files, resume=folder) == plain
    assert computed == []


def test_processes_compute_everything_and_give_the_same_bytes(files: Path, plain: str, computed: list[str]) -> None:
    assert asked(files, workers=2) == plain
    assert computed == []


#: Too little for tables in memory, and enough for tables on disk, whoever computes.
ON_DISK = {workers: memory_of(10**4, RunSettings(workers=workers), stored=True) for workers in (1, 2)}


@on_unix
def test_an_audit_from_disk_gives_the_same_bytes(files: Path, plain: str, tmp_path: Path, computed: list[str]) -> None:
    said: list[str] = []
    assert asked(files, memory=ON_DISK[1], resume=tmp_path / "kept", threads=2, say=said.append) == plain
    assert said[0].startswith("The tables are worked on from disk")
    assert len(computed) > 30
    computed.clear()
    # What was kept is that of tables in memory, too.
    assert asked(files, resume=tmp_path / "kept") == plain
    assert asked(files, memory=ON_DISK[1], resume=tmp_path / "kept") == plain
    assert computed == []


@on_unix
def test_processes_work_from_disk_and_what_is_in_no_file_is_computed_here(
    files: Path, computed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, Any] = {"attacks": FEW, "suggest": 1}
    orders: list[bool] = []
    of = AuditJob.of

    def noted(*given: Any) -> AuditJob:
        made = of(*given)
        orders.append(made.stored)
        assert made.prepared().releases[0].release.original.store is not None
        return made

    monkeypatch.setattr(AuditJob, "of", noted)
    found = asked(files, workers=2, memory=ON_DISK[2], **told)
    assert orders == [True]
    assert computed  # what was changed
    monkeypatch.undo()
    assert found == asked(files, **told)


@on_unix
def test_nothing_is_computed_from_disk_beside_a_part_that_takes_memory(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once: list[tuple[set[int], set[int]]] = []
    compute, now = Workbench.compute, []

    def counted(self: Workbench, task: AuditTask, *given: Any, **more: Any) -> Any:
        now.append(task)
        time.sleep(0.05)
        at_once[-1][any(each.takes_memory for each in now)].add(len(now))
        assert available() == 2  # for what a part is cut into
        try:
            return compute(self, task, *given, **more)
        finally:
            now.remove(task)

    monkeypatch.setattr(Workbench, "compute", counted)
    for memory in (None, ON_DISK[1]):
        at_once.append((set(), set()))
        asked(files, attacks=(*FEW, "utility"), threads=2, memory=memory)
    (_, large), (small_stored, large_stored) = at_once
    assert 2 in large
    assert (2 in small_stored, large_stored) == (True, {1})


@on_unix
def test_markers_and_coarse_cells_give_the_same_bytes_from_disk_and_can_be_kept(
    tmp_path: Path, computed: list[str]
) -> None:
    rows = pl.int_range(pl.len())
    frames = {
        "original": ORIGINAL.with_columns(
            pl.when(rows % 9 == 0).then(pl.lit("N/A")).otherwise(pl.col("age")).alias("age")
        ),
        "masked": ORIGINAL.with_columns(
            age=pl.when(rows % 2 == 0).then(pl.lit("20-39")).otherwise("age"),
            region=pl.when(rows % 7 == 0).then(pl.lit("*")).otherwise("region"),
        ),
        "foreign": FOREIGN,
        "control": CONTROL,
    }
    for name, frame in frames.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    told: dict[str, Any] = {"attacks": (*FEW, "singling_out", "membership", "utility", "disclosure")}
    found = asked(tmp_path, **told)
    assert "20-39" not in found
    assert asked(tmp_path, memory=ON_DISK[1], resume=tmp_path / "kept", **told) == found
    computed.clear()
    assert asked(tmp_path, resume=tmp_path / "kept", **told) == found
    assert computed == []
    # Which marker stands in a cell is part of what was asked about.
    frames["original"].with_columns(pl.col("age").str.replace("N/A", "?", literal=True)).write_csv(
        tmp_path / "original.csv"
    )
    with pytest.raises(InputError, match="of another original"):
        asked(tmp_path, resume=tmp_path / "kept", **told)


def popen(command: str) -> bytes:
    """Return a pickle that reaches a shell through a dotted name in a module of unveil."""
    writer = io.BytesIO()
    writer.write(pickle.PROTO + b"\x04")
    for text in ("unveil.metrics.releases.utility", "np.lib._npyio_impl.os.popen"):
        writer.write(pickle.SHORT_BINUNICODE + bytes([len(text)]) + text.encode())
    writer.write(pickle.STACK_GLOBAL + pickle.SHORT_BINUNICODE + bytes([len(command)]) + command.encode())
    writer.write(pickle.TUPLE1 + pickle.REDUCE + pickle.STOP)
    return writer.getvalue()


@on_unix
def test_a_planted_result_runs_nothing(files: Path, few: str, tmp_path: Path, computed: list[str]) -> None:
    folder = tmp_path / "kept"
    asked(files, attacks=FEW, resume=folder)
    (path,) = (folder / "results").glob("release-1-attack-copies-*")
    own = seal_of(path.read_bytes())
    assert own is not None
    harm = popen(f"touch {tmp_path / 'harm'}")
    pickle.loads(harm).close()  # noqa: S301 (the harm that the test is about)
    assert (tmp_path / "harm").exists(), "the pickle must be harmful for the test to mean anything"
    (tmp_path / "harm").unlink()
    array = runner.result_format().write(np.arange(3))
    for parts in ([harm], [b'["tuple",[1]]', harm], [array[0], harm], [b"{}"], []):
        path.write_bytes(sealed_parts(parts, own, user_key()))
        computed.clear()
        assert asked(files, attacks=FEW, resume=folder) == few
        assert computed == ["release-1-attack-copies"]
        assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tolerance": 0.1}, "with other settings"),
        ({"sensitive": []}, "with other settings"),
        ({"seed": 6}, "with another seed"),
        ({"attacks": ("copies",)}, "with other settings"),
        ("original.csv", "of another original"),
        ("control.csv", "with another control"),
        ("foreign.csv", "of other releases"),
        ("version", "of another version of unveil"),
    ],
)
def test_results_of_another_audit_are_refused(
    change: Any, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, computed: list[str]
) -> None:
    home, folder = write_files(tmp_path / "files"), tmp_path / "kept"
    asked(home, attacks=FEW, resume=folder)
    computed.clear()
    more = change if isinstance(change, dict) else {}
    if change == "version":
        monkeypatch.setattr(runner, "version", lambda: "0.0.1")
    elif isinstance(change, str):
        lines = (home / change).read_text().splitlines(keepends=True)
        (home / change).write_text("".join([lines[0], *lines[2:]]))
    with pytest.raises(InputError, match=rf"holds results {words}: they are not mixed. Choose another folder"):
        asked(home, **{"attacks": FEW, **more}, resume=folder)
    assert computed == []


def test_a_folder_of_other_files_is_refused(files: Path) -> None:
    with pytest.raises(InputError, match=r"must be empty or hold results of this audit, but .* holds other files"):
        asked(files, attacks=FEW, resume=files)


def test_a_model_cannot_be_told_from_another_one(files: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a custom model cannot be resumed"):
        asked(files, attacks=["inference"], model=object(), resume=tmp_path / "kept")


_STOPPED = """
import sys, time
from pathlib import Path
from unveil.questions.audit.runner import ResultCache
from unveil.cli import main
kept, keep = [], ResultCache.keep

def slow(self, *told):
    keep(self, *told)
    kept.append(told)
    if len(kept) >= 3:  # also on other threads, which would compute all the rest meanwhile
        print("three", flush=True)
        time.sleep(60)

ResultCache.keep = slow
main()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_audit_that_was_stopped_goes_on(
    how: signal.Signals, files: Path, tmp_path: Path, computed: list[str], few: str
) -> None:
    folder, temporary = tmp_path / "kept", tmp_path / "temporary"
    temporary.mkdir()
    tables = ("original.csv", "masked.csv", "foreign.csv", "--control", "control.csv")
    told = (*tables, "--attacks", ",".join(FEW), "--sensitive", "income", "--by", "region", "--seed", "5")
    process = subprocess.Popen(
        [sys.executable, "-c", _STOPPED, "audit", *told, "--resume", str(folder), "--quiet"],
        cwd=files,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "three\n"
        process.send_signal(how)
        _, said = process.communicate(timeout=60)
    assert process.returncode == (130 if how is signal.SIGINT else -signal.SIGKILL)
    assert said == ("\nunveil: stopped\n" if how is signal.SIGINT else "")
    assert list(temporary.iterdir()) == []
    done = len(list((folder / "results").iterdir()))
    assert done >= 3
    first = asked(files, attacks=FEW, release_type=None, resume=folder)
    total = len(list((folder / "results").iterdir()))
    assert len(computed) == total - done > 0
    assert first == asked(files, attacks=FEW, release_type=None)
    assert first != few  # that one was told of which kind a release is


def test_frames_reach_other_processes_through_their_pipes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, computed: list[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    told: dict[str, Any] = {"attacks": FEW, "sensitive": ["income"], "suggest": 1}
    tables = (ORIGINAL, {"a": MASKED, "b": FOREIGN}, CONTROL)
    seen: list[Path] = []

    def look(*_: Any) -> None:
        seen.extend(tmp_path.iterdir())

    found = audit(*tables, workers=2, progress=look, **told).to_json()
    assert seen == []
    assert list(tmp_path.iterdir()) == []
    assert computed == []
    assert found == audit(*tables, **told).to_json()


class Cluster:
    """A cluster that nobody asks."""

    def __init__(self, _address: str) -> None:
        """Connect to nothing."""

    def stop(self) -> None:
        """End nothing."""


def test_a_cluster_is_given_files_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.work.cluster.DaskCluster", Cluster)
    with pytest.raises(InputError, match="The workers of a cluster read the tables from files"):
        audit(ORIGINAL, MASKED, attacks=["copies"], cluster="tcp://127.0.0.1:9")


def test_a_model_that_cannot_be_sent_is_refused() -> None:
    with pytest.raises(InputError, match="custom model cannot be sent"):
        audit(ORIGINAL, MASKED, attacks=["inference"], model=lambda: None, workers=2)


def test_workers_and_a_cluster_are_not_both() -> None:
    with pytest.raises(InputError, match="exclude each other"):
        RunSettings(workers=2, cluster="tcp://127.0.0.1:8786")


def test_a_task_whose_workers_all_die_is_named(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def submit(*_: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        future.set_exception(WorkerDiedError("it was ended by SIGKILL"))
        return future

    monkeypatch.setattr(Processes, "submit", submit)
    with pytest.raises(InputError, match=r"did not finish: .*every worker .* ended early.*\(it was ended by SIG"):
        asked(files, attacks=["copies"], workers=2)


@pytest.fixture
def order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, AuditJob]:
    """The files of an audit, and what a worker is told of it."""
    home = write_files(tmp_path / "files")
    orders: list[AuditJob] = []
    of = AuditJob.of

    def noted(*told: Any) -> AuditJob:
        orders.append(of(*told))
        return orders[-1]

    monkeypatch.setattr(AuditJob, "of", noted)
    asked(home, attacks=["copies"])
    return home, orders[0]


def test_a_worker_prepares_the_same_audit_from_the_same_files_and_refuses_others(
    order: tuple[Path, AuditJob], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home, told = order
    monkeypatch.chdir(tmp_path)
    first, second = told.prepared(), told.prepared()
    assert isinstance(first, PreparedAudit)
    assert runner.identity_of(first) == runner.identity_of(second)
    assert first.settings.threads == 1
    with (home / "foreign.csv").open("a") as stream:
        stream.write("30,f,north,31\n")
    with pytest.raises(InputError, match=r"The file '.*foreign\.csv' differs on a worker"):
        told.prepared()


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    home = write_files(tmp_path / "files")

    def change(name: str, share: float) -> None:
        if name == "reading" and share:
            time.sleep(0.01)
            with (home / "original.csv").open("a") as stream:
                stream.write("30,f,north,31\n")

    told = AuditFiles(original=home / "original.csv", released=(home / "masked.csv",))
    assert told.read().every[0].rows == ORIGINAL.height
    with pytest.raises(InputError, match=r"the file '.*original\.csv' must stay as it is while it is read"):
        told.read(change)


def test_a_hash_tells_apart_what_differs() -> None:
    base: dict[str, Any] = {"a": (1, 2.0, None), "b": np.arange(3), "c": {"x", "y"}, "d": Path("e")}
    assert runner.digest_of(base) == runner.digest_of(deepcopy(base))
    others = [
        {**base, "a": (1, 2.0, "None")},
        {**base, "a": (1, 2, None)},
        {**base, "b": np.arange(3.0)},
        {**base, "c": {"x"}},
    ]
    assert len({runner.digest_of(each) for each in (base, *others)}) == 5
    with pytest.raises(InputError, match="setting of type object cannot be resumed"):
        runner.digest_of(object())


def test_threads_are_not_what_an_audit_is_known_by(order: tuple[Path, AuditJob]) -> None:
    prepared = order[1].prepared()
    many = replace(prepared, settings=replace(prepared.settings, threads=7))
    wide = replace(prepared, settings=replace(prepared.settings, neighbors=7))
    known = [runner.identity_of(each) for each in (prepared, many, wide)]
    assert known[0] == known[1]
    assert {name for name in known[0] if known[0][name] != known[2][name]} == {"settings"}


#: The command, with a part that takes 800 MiB more, little by little; the sizes of the tables decide nothing here.
GREEDY = """
import time
import numpy as np
from unveil.questions.audit import projection, tasks
from unveil.__main__ import main
projection.BASE = projection.PER_CELL = 1
compute = tasks.Workbench.compute

def greedy(self, task, *given, **more):
    if task.part == "copies":
        held = [time.sleep(0.03) or np.ones(2**21) for _ in range(50)]
    return compute(self, task, *given, **more)

tasks.Workbench.compute = greedy
main()
"""


@on_linux
@pytest.mark.parametrize("how", [("--threads", "1"), ("--threads", "2"), ("--workers", "1"), ("enough",)])
def test_an_audit_that_takes_more_memory_than_allowed_ends_with_a_sentence(
    files: Path, tmp_path: Path, how: tuple[str, ...]
) -> None:
    page, folder = tmp_path / "page.html", tmp_path / "kept"
    tables = [str(files / f"{name}.csv") for name in ("original", "masked", "foreign")]
    told = ["--control", str(files / "control.csv"), "--attacks", ",".join(FEW), "--html", str(page)]
    memory = "4GB" if how == ("enough",) else "500MB"
    done = subprocess.run(
        [sys.executable, "-c", GREEDY, "audit", *tables, *told, "--resume", str(folder), "--memory", memory]
        + [each for each in how if each != "enough"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if how == ("enough",):
        assert (done.returncode, page.exists()) == (0, True)
        return
    assert done.returncode == 2
    took = (
        r"unveil: this audit took [\d,]+ MiB of memory while [a-z. ]*running exact copies[a-z. ]*, and may take 477 MiB"
    )
    advice = (
        "Allow more memory, leave out columns, or audit a sample of the rows; the parts that are done are kept where a "
        "folder to resume from is named"
    )
    assert re.fullmatch(rf"{took}\. {advice}", done.stderr.splitlines()[-1])
    assert "Traceback" not in done.stderr
    assert not page.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]  # nothing half-written
    assert list((folder / "results").iterdir())


@on_linux
def test_a_worker_that_takes_more_memory_than_allowed_says_so(
    order: tuple[Path, AuditJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    def greedy(*_: object) -> None:
        held = []
        for _block in range(40):
            held.append(np.ones(2**21))
            time.sleep(0.05)

    monkeypatch.setattr(Workbench, "compute", greedy)
    task = AuditTask("attack", 0, "copies")
    limit = MemoryLimit(200 * 2**20, "a worker of this audit", "Take less")
    with pytest.raises(InputError, match=r"^a worker of this audit took .* while trying copies, and may take 200 MiB"):
        perform(version(), limit, "trying copies", runner._work, SharedValue(order[1]), task, None)


def blas() -> set[int]:
    """Return the numbers of threads that the libraries for matrix products take."""
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_one_thread_until_the_context_is_left() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        with one_blas_thread():
            assert blas() == {1}
        assert blas() == {2}
        limits = one_blas_thread()
        assert blas() == {1}
        limits.__exit__(None, None, None)
