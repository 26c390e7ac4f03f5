"""Run a study on workers, keeping finished results if one fails."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from unveil._figure import figure
from unveil.errors import whole_number
from unveil.studies.failures import told
from unveil.studies.plan import Study
from unveil.studies.scenario import Scenario
from unveil.studies.scenario_run import TaskOutcome, make_release, run_scenario, write_rows
from unveil.studies.sources import digest_of
from unveil.studies.store import Store
from unveil.studies.times import RunForecast
from unveil.work.cluster import cluster_risk
from unveil.work.memory import physical_memory
from unveil.work.run import Progress, executor
from unveil.work.run import run as run_tasks
from unveil.work.seal import DiskError, SealKey
from unveil.work.task import Executor, Task
from unveil.work.threads import Threads

_SHARE_OF_MEMORY = 0.8


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """Summary of a run.

    Attributes
    ----------
    total
        How many scenarios the study has.
    done, failed
        How many were computed now, and how many of those ended with an error (their file tells it).
    reused
        How many were there already.
    set_aside
        How many files were damaged; they were moved to ``damaged`` and computed again.
    seconds
        How long it took.
    folder
        Where the results are.
    """

    total: int = figure("Number of scenarios in the study.")
    done: int = figure("Number of scenarios computed in this run.")
    failed: int = figure("Number of scenarios that failed in this run; their file holds the error.")
    reused: int = figure("Number of scenarios computed before.")
    set_aside: int = figure("Number of damaged files that were set aside and computed again.")
    seconds: float = figure("Duration of the run, in seconds.")
    folder: Path = figure("Folder of the results.")


def run_study(
    study: Study,
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    cluster: str | None = None,
    resume: bool = False,
    memory: int | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] | None = None,
) -> RunSummary:
    """Run all scenarios of the study into ``out`` and return a summary.

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
    say
        Called with a warning where the cluster is reached without encryption.

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
    if cluster is not None and say is not None and (risk := cluster_risk(cluster)):
        say(risk)
    study.check()
    study = study.at_absolute_paths()
    study = replace(study, data=tuple(replace(each, digest=digest_of(each)) for each in study.data))
    count = (os.cpu_count() or 1) if workers is None else workers
    limit = _limit(memory, 1 if cluster else max(1, count), everything=cluster is None)
    with Store(Path(out).absolute(), study, resume=resume) as store:
        scenarios = study.scenarios()
        there = store.done(scenarios)
        missing = [scenario for scenario in scenarios if scenario.file_name not in there]
        run = _StudyRun(study, store, limit)
        if missing:
            with executor(count, cluster) as on:
                run.forecast = RunForecast.of(
                    study, store.folder, scenarios, missing, workers=on.slots, progress=progress
                )
                run.compute(missing, on)
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


class _StudyTask(NamedTuple):
    """Scenario with its duplicates, or a numbered release to make."""

    scenario: Scenario
    release: int | None = None
    twins: tuple[Scenario, ...] = ()

    @property
    def shared(self) -> tuple[str, str]:
        return self.scenario.data.name, self.scenario.protect


@dataclass
class _StudyRun:
    """State of a run: waiting tasks and outcomes."""

    study: Study
    store: Store
    memory: int | None
    forecast: RunForecast | None = None
    done: int = 0
    failed: int = 0
    waiting: dict[tuple[str, str], list[_StudyTask]] = field(default_factory=dict)
    releases_left: Counter[tuple[str, str]] = field(default_factory=Counter)

    def compute(self, scenarios: list[Scenario], on: Executor | Threads) -> None:
        """Compute the scenarios; each release is made first, by one worker."""
        first = self._plan(scenarios)
        self._report()
        run_tasks(
            map(self._task, first),
            on=on,
            settle=lambda task, error, outcome: map(self._task, self._settle(task.key, error, outcome)),
            lost="the cluster lost the tasks of this study. See that it runs, and resume the study",
        )

    def _task(self, part: _StudyTask) -> Task:
        return Task(part, _work, (self.study, part, self.store.folder, self.memory, self.store.key))

    def _plan(self, scenarios: list[Scenario]) -> list[_StudyTask]:
        """Return the releases to make, with scenarios waiting, else the scenarios."""
        if self.study.kind == "release":
            return [_StudyTask(scenario) for scenario in scenarios]
        releases: list[_StudyTask] = []
        missing = {scenario.file_name for scenario in scenarios}
        twins: dict[str, list[Scenario]] = {}
        for scenario in scenarios:
            if scenario.same_as is not None and scenario.same_as.file_name in missing:
                twins.setdefault(scenario.same_as.file_name, []).append(scenario)
        with_another = {each.file_name for every in twins.values() for each in every}
        for scenario in scenarios:
            if scenario.file_name in with_another:
                continue
            task = _StudyTask(scenario, twins=tuple(twins.get(scenario.file_name, ())))
            if task.shared not in self.waiting:
                numbers = range(min(self.study.releases, self.study.replications.most))
                releases.extend(_StudyTask(scenario, number) for number in numbers)
                self.releases_left[task.shared] = len(numbers)
                self.waiting[task.shared] = []
            self.waiting[task.shared].append(task)
        return releases

    def _settle(self, part: _StudyTask, error: BaseException | None, outcome: Any) -> Iterable[_StudyTask]:
        if isinstance(error, DiskError):
            raise error
        if error is not None:
            outcome = TaskOutcome(part.scenario.file_name, 0, told(error))
            if part.release is None:
                self._write_error(part, outcome.error)
        if part.release is not None:
            return self._released(part, outcome)
        self._finish(part, outcome)
        return ()

    def _released(self, part: _StudyTask, outcome: TaskOutcome) -> list[_StudyTask]:
        """Return the scenarios of a finished release, or fail them with its error."""
        self.releases_left[part.shared] -= 1
        waiting = self.waiting[part.shared]
        if outcome.error is not None:
            for each in waiting:
                self._write_error(each, outcome.error)
                self._finish(each, TaskOutcome(each.scenario.file_name, 0, outcome.error))
            waiting.clear()
        return self.waiting.pop(part.shared) if self.releases_left[part.shared] == 0 else []

    def _write_error(self, part: _StudyTask, error: str | None) -> None:
        for scenario in (part.scenario, *part.twins):
            write_rows(self.study, scenario, self.store.folder, [], error, self.store.key)

    def _finish(self, part: _StudyTask, outcome: TaskOutcome) -> None:
        self.store.accept(part.scenario, outcome)
        for twin in part.twins:  # which took no time and no replication of its own
            self.store.accept(twin, TaskOutcome(twin.file_name, 0, outcome.error))
        every = (part.scenario, *part.twins)
        self.done += len(every)
        self.failed += len(every) * (outcome.error is not None)
        self._report(*zip(every, (sum(outcome.seconds.values()), *(0.0 for _ in part.twins)), strict=True))

    def _report(self, *ended: tuple[Scenario, float]) -> None:
        if self.forecast is not None:
            self.forecast.report(*ended)


def _work(study: Study, part: _StudyTask, folder: Path, memory: int | None, key: SealKey) -> TaskOutcome:
    """Do one part, in a worker."""
    if part.release is not None:
        return make_release(study, part.scenario, part.release, folder, memory=memory, key=key)
    return run_scenario(study, part.scenario, folder, memory=memory, twins=part.twins, key=key)
