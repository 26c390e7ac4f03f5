"""Make the runs of a generator: many at once, none twice, and none lost whatever becomes of the workers."""

import pickle
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from math import ceil, nan
from pathlib import Path
from typing import Any, NamedTuple, overload

from unveil.data.files.source import shown
from unveil.errors import InputError, OwnCodeError, UnveilError, where_raised, whole_number
from unveil.protections.generators import GeneratedRelease, Generator, RunError, SourceTable, with_env
from unveil.studies.executors import Workers, died, local, lost
from unveil.studies.executors import cluster as dask_cluster
from unveil.studies.generator_folder import (
    RUNS,
    WORK,
    GeneratorFolder,
    PlannedRun,
    content_of_made,
    identity_of,
    log_of,
    made_of_content,
    write_log,
)
from unveil.studies.private_folder import handed_over, make_private_folder, remove_left_behind
from unveil.studies.seal import Seal, write_bytes
from unveil.studies.tasks import Pace, Progress, check_version, endings_raise, how_lost, run_tasks, version

__all__ = ["GeneratorRuns", "PlannedRun", "make_runs", "projected"]


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
                f"the file {run.name}.parquet in {shown(self._home.folder)} was changed or removed since it was made. "
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
        raise InputError("runs on a cluster need a folder that all its workers share. Name one (--made)")
    remove_left_behind()
    private = make_private_folder("made") if folder is None else None
    home = private.path / "made" if private is not None else Path(folder or "").absolute()
    try:
        with endings_raise():
            answer = _made_in(
                GeneratorFolder(home, identity_of(generator, identity)),
                generator,
                given,
                runs,
                workers=workers,
                cluster=cluster,
                progress=progress,
                kept=folder is not None,
            )
    except BaseException:
        if private is not None:
            private.remove()
        raise
    if private is not None:
        weakref.finalize(answer, private.remove)
    return answer


def projected(first: float, runs: int, workers: int = 1) -> float:
    """Return how many seconds all runs take by the clock if each takes as long as the first one.

    >>> projected(12.0, runs=20, workers=4)
    60.0
    """
    return ceil(runs / max(1, workers)) * first


def _made_in(
    home: GeneratorFolder,
    generator: Generator,
    given: SourceTable,
    runs: Sequence[PlannedRun],
    *,
    workers: int,
    cluster: str | None,
    progress: Progress | None,
    kept: bool,
) -> GeneratorRuns:
    """Return the runs once all of them are in the folder."""
    with home:
        missing = [run for run in runs if not home.has(run)]
        pace = Pace(progress, len(runs), len(runs) - len(missing))
        pace.report()
        if missing:
            with ExitStack() as stack:
                sent = None
                if cluster is not None or min(workers, len(missing)) > 1:
                    sent = _sent(generator, given, home.folder, stack, everywhere=cluster is not None)
                count = min(workers, len(missing)) if sent is not None else 0
                hands = local(count) if cluster is None else dask_cluster(cluster)
                try:
                    _RunsInProgress(home, generator, given, sent, pace, kept=kept).compute(missing, hands)
                except BaseException:
                    hands.stop()
                    if cluster is not None:
                        home.give_up()
                    raise
                hands.stop()
    return GeneratorRuns(home, runs)


class _SentFile(NamedTuple):
    """The file with the generator and the people for other processes, and its SHA-256."""

    path: Path
    digest: str


def _sent(
    generator: Generator, given: SourceTable, folder: Path, stack: ExitStack, *, everywhere: bool
) -> _SentFile | None:
    """Write the generator and the people for other processes; return None where that cannot be done.

    Processes of this machine read a file without a name; other machines, where ``everywhere``, need one.
    """
    try:
        method = pickle.dumps(generator)
        content = pickle.dumps((generator, given))
    except Exception as error:  # whatever a user's function or frame does when it is copied
        if everywhere:
            raise InputError(
                f"the generator or the people cannot be sent to a cluster ({type(error).__name__}). Name a function as "
                "package.module:function, or do without the cluster"
            ) from None
        return None
    if b"__main__" in method:  # which is another module in another process
        if everywhere:
            raise InputError(
                "a function that is defined in the script itself cannot be sent to a cluster. Put it into a module of "
                "its own, or do without the cluster"
            )
        return None
    digest = sha256(content).hexdigest()
    if not everywhere:
        return _SentFile(stack.enter_context(handed_over(content, kind="made", folder=folder / WORK)), digest)
    path = folder / WORK / f"given-{digest[:16]}.pickle"
    write_bytes(path, content)
    return _SentFile(path, digest)


@lru_cache(maxsize=1)
def _received(sent: _SentFile) -> tuple[Generator, SourceTable]:
    """Return the generator and the people; a file that is not the one that was sent is not unpickled."""
    content = sent.path.read_bytes()
    if sha256(content).hexdigest() != sent.digest:
        raise InputError(f"{shown(sent.path)} was changed since this run wrote it. Call the same command again")
    found: tuple[Generator, SourceTable] = pickle.loads(content)  # noqa: S301 (the bytes that the caller wrote)
    return found


@dataclass(frozen=True)
class _Outcome:
    """What became of a run, in a worker: how long it took, or what happened and what to do about it."""

    seconds: float
    failed: tuple[str, str] | None = None
    messages: bool = False
    #: The traceback of the user's own code that failed.
    trace: str = ""


@dataclass
class _RunsInProgress:
    """The state of the runs in progress."""

    home: GeneratorFolder
    generator: Generator
    given: SourceTable
    sent: _SentFile | None
    pace: Pace
    kept: bool

    def compute(self, missing: Sequence[PlannedRun], hands: Workers) -> None:
        def begin(run: PlannedRun) -> "Future[Any]":
            place = (run, self.home.folder, self.home.seal(run), self.kept)
            if self.sent is None:
                return hands.submit(_make, self.generator, self.given, *place)
            # Values of variables are sent with each task: no file holds them.
            return hands.submit(_make_elsewhere, self.sent, version(), getattr(self.generator, "env", {}), *place)

        run_tasks(missing, hands, begin=begin, settle=self._settle)

    def _settle(self, run: PlannedRun, error: BaseException | None, outcome: Any) -> tuple[PlannedRun, ...]:
        which = f"run {run.number} of {self.pace.total}"
        if isinstance(error, UnveilError) and not died(error):
            raise error
        if error is not None and lost(error):
            raise InputError("the cluster lost the runs of this generator. See that it runs, and call the same again")
        if error is not None:
            why = how_lost(error) if died(error) else f"{where_raised(error)} stopped it"
            said = (f"{which} could not be made: {why}", self._others(), "Call the same again with one worker")
            raise InputError(". ".join(filter(None, said)))
        if outcome.failed is not None:
            happened, advice = outcome.failed
            sentences = [f"{which} failed: the generator {happened}", advice, self._messages(run, outcome)]
            whole = ". ".join(filter(None, [*sentences, self._others()]))
            raise OwnCodeError(whole, outcome.trace) if outcome.trace else InputError(whole)
        self.home.note_seconds(run, outcome.seconds)
        self.pace.report(1)
        return ()

    def _messages(self, run: PlannedRun, outcome: _Outcome) -> str:
        if not outcome.messages:
            return ""
        where = f"Its messages are in {shown(log_of(self.home.folder, run))}"
        return where if self.kept else "Name a folder with --made to keep its messages"

    def _others(self) -> str:
        done = self.pace.reused + self.pace.done
        if self.pace.total == 1:
            return ""
        return "The other runs were stopped" + f", and the {done} that are done are kept" * (self.kept and done > 0)


def _make_elsewhere(sent: _SentFile, expected: str, env: Mapping[str, str], *place: Any) -> _Outcome:
    """Make one run, in a worker."""
    check_version(expected)
    generator, given = _received(sent)
    return _make(with_env(generator, env), given, *place)


def _make(generator: Generator, given: SourceTable, run: PlannedRun, folder: Path, seal: Seal, kept: bool) -> _Outcome:
    """Make one run, write what it made, and keep what it printed."""
    try:
        made = generator.make(given, run.rows, seed=run.seed, folder=folder / WORK)
    except RunError as error:
        if kept:
            write_log(folder, run, error.log)
        return _Outcome(nan, (error.happened, error.advice), bool(error.log), error.trace)
    if kept:
        write_log(folder, run, made.log)
    write_bytes(folder / RUNS / seal.name, content_of_made(made, seal))
    return _Outcome(made.seconds)
