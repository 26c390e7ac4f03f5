"""Make the runs of a generator: many at once, none twice, and none lost whatever becomes of the workers."""

import json
import pickle
import shutil
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from math import nan
from pathlib import Path
from secrets import token_bytes
from types import MappingProxyType, TracebackType
from typing import Any, overload

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.files.source import shown
from unveil.data.files.whole_files import read_unlinked, replace_file
from unveil.errors import InputError, OwnCodeError, UnveilError, where_raised, whole_number
from unveil.protections.generators import GeneratedRelease, Generator, RunError, SourceTable, scripts_of, with_env
from unveil.protections.generators.processes import remove_left
from unveil.studies.releases import RELEASE_FORMAT, stored_table, table_from
from unveil.studies.stored_results import FORMAT
from unveil.work.private_folder import make_private_folder, remove_left_behind
from unveil.work.results import ResultFolder
from unveil.work.run import Pace, Progress, endings_raise, executor
from unveil.work.run import run as run_tasks
from unveil.work.seal import Seal, SealKey, parts_of, sealed_parts, write_bytes
from unveil.work.task import SharedValue, Task, WorkerDiedError, version

__all__ = ["GeneratorRuns", "PlannedRun", "make_runs"]

MANIFEST, RUNS, LOGS, WORK, TIMES = "made.json", "runs", "logs", "work", "times.jsonl"
#: What is said of runs that are not those asked for, by what differs; of all else, that a setting does.
_OTHER = MappingProxyType(
    {
        "generator": "of another generator",
        "scripts": "of a generator whose scripts have changed since",
        "people": "of other people",
        "seed": "with another seed",
        "version": "of another version of unveil",
        "format": "in the format of another version of unveil",
    }
)


@dataclass(frozen=True, eq=False)
class PlannedRun:
    """A run to be made: its number, from 1, where its randomness starts from, and the rows that are given."""

    number: int
    seed: int
    rows: IntArray

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"run-{self.number:04}"


class GeneratorFolder(ResultFolder):
    """The folder with the runs of a generator."""

    manifest, parts, files = MANIFEST, (RUNS, LOGS, WORK), (TIMES,)
    what, own, advice = "runs", "runs of this generator", "Name another folder (--keep-runs)"
    other = _OTHER

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        remove_left(self.folder / WORK)
        self.give_up()
        super().__exit__(kind, error, trace)

    def give_up(self) -> None:
        """Let generators on other machines see that they are not wanted any more."""
        shutil.rmtree(self.folder / WORK, ignore_errors=True)

    def _claim(self) -> None:
        super()._claim()
        self.give_up()  # what runs that were killed may have left

    def seal(self, run: PlannedRun) -> Seal:
        """Return what the file of a run says about itself."""
        rows = np.ascontiguousarray(run.rows, "<i8").tobytes()
        told = json.dumps([self.identity, run.number, run.seed], sort_keys=True).encode()
        return Seal(f"{run.name}.result", sha256(told + rows).hexdigest(), "fine")

    def has(self, run: PlannedRun) -> bool:
        """Return whether a run is done, and its file as it was written."""
        return self.content(run) is not None

    def content(self, run: PlannedRun) -> bytes | None:
        """Return the file of a run, or None where it is not there, a link, damaged, or another one's."""
        return self.sealed_content(RUNS, self.seal(run))

    def note_seconds(self, run: PlannedRun, seconds: float) -> None:
        """Note how long a run took, once its file is there; a worker elsewhere may have another disk."""
        if not (self.folder / RUNS / f"{run.name}.result").is_file():
            raise InputError(
                f"a worker wrote a run to {shown(self.folder)} that is not seen here. All workers must share this "
                "folder: name one that they do share (--keep-runs)"
            )
        self.note(TIMES, {"run": run.number, "seconds": round(seconds, 6)})

    def seconds(self) -> dict[int, float]:
        """Return how long each run took, as far as that is known."""
        found: dict[int, float] = {}
        try:
            lines = read_unlinked(self.folder / TIMES).decode().splitlines()
        except (OSError, ValueError):
            return found
        for line in lines:
            try:
                told = json.loads(line)
                found[int(told["run"])] = float(told["seconds"])
            except (ValueError, KeyError, TypeError):  # half a line, where a disk was full
                continue
        return found


def identity_of(generator: Generator, declared: Mapping[str, object]) -> dict[str, object]:
    """Return all that runs depend on: the generator with its scripts, the version, and what the caller tells."""
    told = {"generator": generator.written, "scripts": scripts_of(generator), **declared}
    return {**told, "version": version(), "format": FORMAT}


def write_log(folder: Path, run: PlannedRun, log: bytes) -> None:
    """Keep what the generator printed in a run."""
    if log:
        replace_file(log_of(folder, run), log, lasting=False)


def log_of(folder: Path, run: PlannedRun) -> Path:
    """Return where the messages of a run are kept."""
    return folder / LOGS / f"{run.name}.txt"


def content_of_made(generated: GeneratedRelease, seal: Seal, key: SealKey) -> bytes:
    """Return the file of a run: the release with all that is known of it.

    How long it took is not in it: a generator that does the same again makes the same bytes.
    """
    stored = {
        "released": stored_table(generated.released),
        "truth": None if generated.truth is None else np.asarray(generated.truth, np.int64),
        "kind": generated.kind,
        "notes": tuple(generated.notes),
    }
    return sealed_parts(RELEASE_FORMAT.write(stored), seal, key)


def made_of_content(content: bytes, seconds: float = nan) -> GeneratedRelease:
    """Return what a run made, out of its file."""
    stored = RELEASE_FORMAT.read(parts_of(content))
    return GeneratedRelease(**{**stored, "released": table_from(stored["released"]), "seconds": seconds})


class GeneratorRuns(Sequence[GeneratedRelease]):
    """The releases of the runs in the order of the plan; each is read from its file on demand."""

    def __init__(self, home: GeneratorFolder, runs: Sequence[PlannedRun]) -> None:
        self._home, self._runs, self._seconds = home, tuple(runs), home.seconds()

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, place: int) -> GeneratedRelease: ...
    @overload
    def __getitem__(self, place: slice) -> list[GeneratedRelease]: ...
    def __getitem__(self, place: int | slice) -> GeneratedRelease | list[GeneratedRelease]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        run = self._runs[place]
        content = self._home.content(run)
        if content is None:
            raise InputError(
                f"the file {run.name}.result in {shown(self._home.folder)} was changed or removed since it was made. "
                "Call the same command again, which makes it anew"
            )
        return made_of_content(content, self._seconds.get(run.number, nan))


def make_runs(
    generator: Generator,
    given: SourceTable,
    runs: Sequence[PlannedRun],
    *,
    folder: Path | None,
    identity: Mapping[str, object],
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> GeneratorRuns:
    """Return what the generator makes in each of these runs, in their order.

    What is made does not depend on the workers, their number or order, nor on interruptions: the files of two
    deterministic generators are the same byte for byte.

    Parameters
    ----------
    generator
        Makes the releases.
    given
        All people, of whom each run is given some.
    runs
        What to make; the numbers differ.
    folder
        Where what is made is kept: the same call with the same folder goes on where an earlier one ended. None is a
        private folder that is gone when the answer is, or on any error.
    identity
        What else the runs depend on, by name: a digest of the ``people``, the ``seed``, and whatever plans the runs.
    workers
        How many processes of this machine make runs at the same time. With one, and with what cannot be sent to
        another process, they are made in this one.
    cluster
        The address of a Dask cluster to use instead; its workers share ``folder`` and have what the generator needs.
    progress
        Called whenever a run is done.

    Raises
    ------
    InputError
        If a run fails, which stops the others soon; or if the folder holds other runs.
    DiskError
        If a run cannot be written, as on a full disk; those written before are kept.
    """
    whole_number(workers, "the number of workers", at_least=0)
    if cluster is not None and folder is None:
        raise InputError("runs on a cluster need a folder that all its workers share. Name one (--keep-runs)")
    remove_left_behind()
    with endings_raise(), ExitStack() as stack:
        key, path = None, folder
        if path is None:
            private = make_private_folder("made")
            stack.callback(private.remove)
            key, path = SealKey(token_bytes(32)), private.path / "made"  # nobody resumes what is private
        with GeneratorFolder(path.absolute(), identity_of(generator, identity), key) as home:
            missing = [run for run in runs if not home.has(run)]
            pace = Pace(progress, len(runs), len(runs) - len(missing))
            pace.report()
            if missing:
                shared, count = SharedValue((generator, given)), min(workers, len(missing))
                is_sent = (cluster is not None or count > 1) and _is_sendable(generator, given, cluster)
                with executor(count if is_sent else 0, cluster) as on:
                    run_tasks(
                        (_task(run, shared, home, kept=folder is not None) for run in missing),
                        on=on,
                        settle=_Settlement(home, pace, folder is not None),
                        lost="the cluster lost the runs of this generator. See that it runs, and call the same again",
                        progress=pace,
                    )
        answer = GeneratorRuns(home, runs)
        weakref.finalize(answer, stack.pop_all().close)
        return answer


def _is_sendable(generator: Generator, given: SourceTable, cluster: str | None) -> bool:
    """Return whether other processes can have the generator and the people; a cluster must."""
    try:
        pickle.dumps(given)
        method = pickle.dumps(generator)
    except Exception as error:  # whatever a user's function or frame does when it is copied
        if cluster is not None:
            raise InputError(
                f"the generator or the people cannot be sent to a cluster ({type(error).__name__}). Name a function as "
                "package.module:function, or do without the cluster"
            ) from None
        return False
    is_of_script = b"__main__" in method  # which is another module in another process
    if is_of_script and cluster is not None:
        raise InputError(
            "a function that is defined in the script itself cannot be sent to a cluster. Put it into a module of "
            "its own, or do without the cluster"
        )
    return not is_of_script


def _task(run: PlannedRun, shared: SharedValue, home: GeneratorFolder, *, kept: bool) -> Task:
    # Values of variables are sent with each task: a shared value is pickled without them.
    variables = getattr(shared.value[0], "env", {})
    return Task(run, _make, (shared, variables, run, home.folder, home.seal(run), home.key, kept))


@dataclass(frozen=True)
class _Outcome:
    """What became of a run, in a worker: how long it took, or what happened and what to do about it."""

    seconds: float
    failed: tuple[str, str] | None = None
    messages: bool = False
    #: The traceback of the user's own code that failed.
    trace: str = ""


@dataclass(frozen=True)
class _Settlement:
    """Notes how long a run took, or raises the error that ends all of them."""

    home: GeneratorFolder
    pace: Pace
    kept: bool

    def __call__(self, task: Task, error: BaseException | None, outcome: Any) -> tuple[Task, ...]:
        run: Any = task.key
        which = f"run {run.number} of {self.pace.total}"
        if isinstance(error, UnveilError) and not isinstance(error, WorkerDiedError):
            raise error
        if error is not None:
            why = str(error) if isinstance(error, WorkerDiedError) else f"{where_raised(error)} stopped it"
            said = (f"{which} could not be made: {why}", self._others(), "Call the same again with one worker")
            raise InputError(". ".join(filter(None, said)))
        if outcome.failed is not None:
            happened, advice = outcome.failed
            sentences = [f"{which} failed: the generator {happened}", advice, self._messages(run, outcome)]
            whole = ". ".join(filter(None, [*sentences, self._others()]))
            raise OwnCodeError(whole, outcome.trace) if outcome.trace else InputError(whole)
        self.home.note_seconds(run, outcome.seconds)
        return ()

    def _messages(self, run: PlannedRun, outcome: _Outcome) -> str:
        if not outcome.messages:
            return ""
        where = f"Its messages are in {shown(log_of(self.home.folder, run))}"
        return where if self.kept else "Name a folder with --keep-runs to keep its messages"

    def _others(self) -> str:
        done = self.pace.reused + self.pace.done
        if self.pace.total == 1:
            return ""
        return "The other runs were stopped" + f", and the {done} that are done are kept" * (self.kept and done > 0)


def _make(
    shared: SharedValue,
    variables: Mapping[str, str],
    run: PlannedRun,
    folder: Path,
    seal: Seal,
    key: SealKey,
    kept: bool,
) -> _Outcome:
    """Make one run, write what it made, and keep what it printed."""
    generator, given = shared.value
    try:
        made = with_env(generator, variables).make(given, run.rows, seed=run.seed, folder=folder / WORK)
    except RunError as error:
        if kept:
            write_log(folder, run, error.log)
        return _Outcome(nan, (error.happened, error.advice), bool(error.log), error.trace)
    if kept:
        write_log(folder, run, made.log)
    write_bytes(folder / RUNS / seal.name, content_of_made(made, seal, key))
    return _Outcome(made.seconds)
