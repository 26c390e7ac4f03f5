"""Run a study: hand its tasks to workers, and lose nothing whatever becomes of them."""

import os
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from typing import Any

from unveil.errors import InputError, whole_number
from unveil.study.executors import WorkerDiedError, Workers, died, local, lost
from unveil.study.executors import cluster as dask_cluster
from unveil.study.memory import physical_memory
from unveil.study.plan import Study
from unveil.study.scenario import Scenario
from unveil.study.seal import DiskError
from unveil.study.sources import digest_of
from unveil.study.store import Store
from unveil.study.work import Outcome, make_release, run_scenario, told, write_rows

#: Called with the scenarios that are done, all that there are, and the seconds left (NaN before the first is done).
Progress = Callable[[int, int, float], None]

# A task that ended its worker is tried again at once, then once more when nothing else runs.
_TRIES = 3
_SHARE_OF_MEMORY = 0.8
_LOOK = 1.0


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """What a run did.

    Attributes
    ----------
    total
        How many scenarios the study has.
    done, failed
        How many were computed now, and how many of those ended with an error (a row in their file tells it).
    reused
        How many were there already.
    set_aside
        How many files were damaged; they were moved to ``damaged`` and computed again.
    seconds
        How long it took.
    folder
        Where the results are.
    """

    total: int
    done: int
    failed: int
    reused: int
    set_aside: int
    seconds: float
    folder: Path


def run_study(
    study: Study,
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    cluster: str | None = None,
    resume: bool = False,
    memory: int | None = None,
    progress: Progress | None = None,
) -> RunSummary:
    """Return what the run did, after every scenario of the study has a file in ``out``.

    The numbers do not depend on the workers, their number or order, nor on interruptions: the files of two runs are
    the same byte for byte.

    Parameters
    ----------
    study
        What to compute.
    out
        The folder for results; it must be empty, or hold this very study if ``resume``.
    workers
        How many processes of this machine; None for one per processor. 0 computes in this process.
    cluster
        The address of a Dask cluster to use instead. Its workers must have the same version of this package, the data
        at the same place (or behind the same variable of the environment) and a folder ``out`` that all share.
    resume
        True computes what is missing, damaged or failed before.
    memory
        How many bytes all workers together may take; of a cluster, each worker. A scenario that is projected to need
        more than its share is not begun, and its file tells so. None for 80 % of the memory of this machine; for a
        cluster, no limit.
    progress
        Called whenever a scenario is done.

    Raises
    ------
    InputError
        If the study, the folder or the cluster cannot be used.
    DiskError
        If results cannot be written, as on a full disk; those written before are kept.
    KeyboardInterrupt
        If the run is interrupted; nothing is half-written, and it can be resumed.
    """
    began = time.monotonic()
    study.check()
    study = study.at_absolute_paths()
    study = replace(study, data=tuple(replace(each, digest=digest_of(each)) for each in study.data))
    count = (os.cpu_count() or 1) if workers is None else workers
    limit = _limit(memory, 1 if cluster else max(1, count), everything=cluster is None)
    with Store(Path(out).absolute(), study, resume=resume) as store:
        scenarios = study.scenarios()
        there = store.done(scenarios)
        missing = [scenario for scenario in scenarios if scenario.file_name not in there]
        run = _Run(study, store, limit, progress, len(scenarios), len(there))
        if missing:
            hands = local(count) if cluster is None else dask_cluster(cluster)
            try:
                run.compute(missing, hands)
            finally:
                hands.stop()
        return RunSummary(
            total=len(scenarios),
            done=run.done,
            failed=run.failed,
            reused=len(there),
            set_aside=len(store.set_aside),
            seconds=time.monotonic() - began,
            folder=store.folder,
        )


def _limit(memory: int | None, shares: int, *, everything: bool) -> int | None:
    if memory is None:
        return int(physical_memory() * _SHARE_OF_MEMORY) // shares if everything else None
    return whole_number(memory, "memory, in bytes,", advice="Leave it out to have one set") // shares


@dataclass(frozen=True)
class _Task:
    """A scenario to compute, or (with a number) a release that scenarios need."""

    scenario: Scenario
    release: int | None = None

    @property
    def shared(self) -> tuple[str, str]:
        return self.scenario.data.name, self.scenario.protect


@dataclass
class _Run:
    """The state of a run: what is ready, what waits for a release, what runs, and what became of the rest."""

    study: Study
    store: Store
    memory: int | None
    progress: Progress | None
    total: int
    reused: int
    done: int = 0
    failed: int = 0
    began: float = field(default_factory=time.monotonic)
    ready: deque[_Task] = field(default_factory=deque)
    alone: deque[_Task] = field(default_factory=deque)
    waiting: dict[tuple[str, str], list[_Task]] = field(default_factory=dict)
    releases_left: Counter[tuple[str, str]] = field(default_factory=Counter)
    deaths: Counter[_Task] = field(default_factory=Counter)

    def compute(self, scenarios: list[Scenario], hands: Workers) -> None:
        """Compute the scenarios; each release is made first, by one worker."""
        self._plan(scenarios)
        self._report()
        running: dict[Future[Any], _Task] = {}
        while self.ready or self.alone or running:
            # Twice as many as run at once, so that no worker waits for us.
            while self.ready and len(running) < 2 * hands.slots:
                self._begin(self.ready.popleft(), hands, running)
            if self.alone and not running and not self.ready:
                self._begin(self.alone.popleft(), hands, running)
            ended, _ = wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED)
            if not ended:
                hands.check()
            for future in ended:
                self._settle(running.pop(future), future)

    def _plan(self, scenarios: list[Scenario]) -> None:
        for scenario in scenarios:
            task = _Task(scenario)
            if task.shared not in self.waiting:
                numbers = range(min(self.study.releases, self.study.replications.most))
                self.ready.extend(_Task(scenario, number) for number in numbers)
                self.releases_left[task.shared] = len(numbers)
                self.waiting[task.shared] = []
            self.waiting[task.shared].append(task)

    def _begin(self, task: _Task, hands: Workers, running: dict[Future[Any], _Task]) -> None:
        future = hands.submit(_work, self.study, task, self.store.folder, self.memory, _version())
        running[future] = task

    def _settle(self, task: _Task, future: "Future[Any]") -> None:
        error = _error_of(future)
        if isinstance(error, (DiskError, _MismatchError)):
            raise error
        if error is not None and lost(error):
            raise InputError("the cluster lost the tasks of this study. See that it runs, and resume the study")
        if error is not None and died(error) and self._try_again(task, error):
            return
        if error is None:
            outcome: Outcome = future.result()
        else:
            outcome = Outcome(task.scenario.file_name, 0, _fatal(error))
            if task.release is None:
                write_rows(self.study, task.scenario, self.store.folder, [], outcome.error)
        if task.release is None:
            self._finish(task.scenario, outcome)
        else:
            self._released(task, outcome)

    def _try_again(self, task: _Task, error: BaseException) -> bool:
        """Return whether a task whose worker was lost is tried again: at once, and the last time on its own."""
        # Dask has tried several times before it says so.
        self.deaths[task] += 1 if isinstance(error, WorkerDiedError) else _TRIES - 1
        if self.deaths[task] >= _TRIES:
            return False
        (self.alone if self.deaths[task] == _TRIES - 1 else self.ready).append(task)
        return True

    def _released(self, task: _Task, outcome: Outcome) -> None:
        """Let the scenarios of a release begin, or end them with its error."""
        self.releases_left[task.shared] -= 1
        waiting = self.waiting[task.shared]
        if outcome.error is not None:
            for each in waiting:
                write_rows(self.study, each.scenario, self.store.folder, [], outcome.error)
                self._finish(each.scenario, Outcome(each.scenario.file_name, 0, outcome.error))
            waiting.clear()
        elif self.releases_left[task.shared] == 0:
            self.ready.extend(waiting)
            waiting.clear()

    def _finish(self, scenario: Scenario, outcome: Outcome) -> None:
        self.store.accept(scenario, outcome)
        self.done += 1
        self.failed += outcome.error is not None
        self._report()

    def _report(self) -> None:
        if self.progress is not None:
            left = self.total - self.reused - self.done
            pace = (time.monotonic() - self.began) / self.done if self.done else nan
            self.progress(self.reused + self.done, self.total, left * pace if left else 0.0)


class _MismatchError(InputError):
    """A worker has another version of the package."""


def _work(study: Study, task: _Task, folder: Path, memory: int | None, version: str) -> Outcome:
    """Do one task, in a worker."""
    if _version() != version:
        raise _MismatchError(
            f"every worker must have the same version of unveil, but one has {_version()} and this is {version}. "
            f"Install unveil {version} on all of them"
        )
    if task.release is not None:
        return make_release(study, task.scenario, task.release, folder, memory=memory)
    return run_scenario(study, task.scenario, folder, memory=memory)


def _version() -> str:
    from unveil._version import __version__

    return __version__


def _error_of(future: "Future[Any]") -> BaseException | None:
    return CancelledError() if future.cancelled() else future.exception()


def _fatal(error: BaseException) -> str:
    if died(error):
        last = str(error) if isinstance(error, WorkerDiedError) else "says the cluster"
        return f"every worker was lost that computed this, also when nothing else was computed ({last})"
    return told(error)
