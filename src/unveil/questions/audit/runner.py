"""Where the parts of an audit are computed: in this process, in others, or on a cluster; with the same numbers."""

import pickle
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from unveil._kernels.blas import one_blas_thread
from unveil._kernels.threads import available, in_threads, threads
from unveil.data.files.column_store import ColumnStore
from unveil.data.files.source import shown
from unveil.data.table import Hierarchy
from unveil.errors import InputError, UnveilError, whole_number
from unveil.questions.audit.checked_settings import AuditSettings
from unveil.questions.audit.findings import AttackFinding
from unveil.questions.audit.inputs import PreparedAudit, prepare
from unveil.questions.audit.read import AuditFiles, AuditTables
from unveil.questions.audit.result_cache import ResultCache, digest_of, identity_of
from unveil.questions.audit.tasks import AuditTask, Workbench
from unveil.report.progress import Progress
from unveil.studies.executors import LocalProcesses, Workers, died, local, lost
from unveil.studies.executors import cluster as dask_cluster
from unveil.studies.memory_bound import give_back, memory_bound, others_memory
from unveil.studies.private_folder import handed_over, remove_left_behind
from unveil.studies.tasks import check_version, endings_raise, how_lost, run_tasks, version

#: What to do where more memory was taken than was allowed.
_ADVICE = (
    "Allow more memory, leave out columns, or audit a sample of the rows; the parts that are done are kept where a "
    "folder to resume from is named"
)


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Where an audit is computed, and what is kept of it; no number depends on any of it.

    Attributes
    ----------
    workers
        How many processes of this machine compute parts of it at the same time; with one it is this process.
    cluster
        The address of a Dask cluster to use instead.
    resume
        The folder that keeps what is computed, so that the same audit goes on from there; None keeps nothing.
    memory
        How many bytes it may take; where tables in memory would take more, they are worked on from disk, and what would
        take more even then is refused. An audit that takes more nevertheless ends. None is what nobody uses.
    """

    workers: int = 1
    cluster: str | None = None
    resume: Path | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        whole_number(self.workers, "workers", at_least=0)
        if self.memory is not None:
            whole_number(self.memory, "memory")
        if self.cluster is not None and self.workers > 1:
            raise InputError("an audit runs on a cluster or with workers of this machine. Leave out either")

    @property
    def processes(self) -> int:
        """How many processes of this machine hold the tables, this one not counted."""
        return self.workers if self.workers > 1 and self.cluster is None else 0

    @property
    def memory_of_each(self) -> int | None:
        """How many bytes each process may take, this one and those that compute; None where nobody said."""
        return None if self.memory is None else self.memory // (1 + self.processes)


@dataclass(frozen=True)
class AuditJob:
    """What another process must know to read and prepare the same audit."""

    files: AuditFiles
    digests: tuple[str | None, ...]
    settings: AuditSettings
    rng: np.random.Generator
    #: Whether the tables are worked on from disk.
    stored: bool = False

    @classmethod
    def of(
        cls, files: AuditFiles, tables: AuditTables, settings: AuditSettings, rng: np.random.Generator
    ) -> "AuditJob":
        """Return the order of an audit of these files, which were read already."""
        told = settings.hierarchies.items()
        hierarchies = {name: each if isinstance(each, Hierarchy) else Hierarchy.read(each) for name, each in told}
        return cls(
            files.absolute(),
            tables.digests,
            replace(settings, hierarchies=hierarchies, threads=settings.threads or 1),
            rng,
            tables.original.store is not None,
        )

    @property
    def is_readable(self) -> bool:
        """Whether another process can read the files too, which of a pipe it cannot."""
        return None not in self.digests

    def prepared(self) -> PreparedAudit:
        """Return the audit, prepared of the same files; others are refused."""
        tables = self.files.read(store=ColumnStore() if self.stored else None)
        for path, here, there in zip(self.files.paths, tables.digests, self.digests, strict=True):
            if here != there:
                raise InputError(
                    f"every worker must read the same files, but {shown(path)} is another one for a worker, or has "
                    "changed since the audit began. Put the same file there on all machines, and ask again"
                )
        return prepare(*tables, settings=self.settings, rng=deepcopy(self.rng))


@dataclass(eq=False)
class _KnownAudit:
    """An audit that is being computed: how others prepare it, what tells them so, and what it is called in a folder."""

    prepared: PreparedAudit
    order: AuditJob | None = None
    sent: bytes | None = None
    digest: str = ""


class Runner:
    """Computes the parts of audits, and keeps what they give where a folder was named.

    Parameters
    ----------
    hands
        Who computes; None is this process.
    stack
        What is closed when the audit ends, whatever ended it.
    memory
        How many bytes each of other processes may take; None is any.
    """

    def __init__(
        self, hands: Workers | None = None, stack: ExitStack | None = None, *, memory: int | None = None
    ) -> None:
        self._hands = hands
        self._memory = memory
        #: The parts that are computed in this process at this moment.
        self._now: list[str] = []
        self._stack = stack or ExitStack()
        self._kept: ResultCache | None = None
        self._audits: list[_KnownAudit] = []

    def begin(self, prepared: PreparedAudit, *, order: AuditJob | None, resume: Path | None) -> None:
        """Take the folder for the audit that was asked for, and note how others prepare it."""
        if order is not None and not order.is_readable:
            order = None
        if order is None and self._hands is not None and not isinstance(self._hands, LocalProcesses):
            raise InputError(
                "the workers of a cluster read the tables themselves, so that these must be files that all of them "
                "see. Write the tables to files and name those, or do without the cluster"
            )
        self._audits.append(_KnownAudit(prepared, order))
        if resume is not None:
            self._kept = self._stack.enter_context(ResultCache(resume, identity_of(prepared)))

    def compute(
        self,
        prepared: PreparedAudit,
        tasks: Iterable[AuditTask] | Mapping[AuditTask, AttackFinding],
        *,
        progress: Progress,
    ) -> dict[AuditTask, Any]:
        """Return what each task gives, in their order; with findings, each is weighed."""
        audit = self._known(prepared)
        digest = self._digest(audit) if self._kept is not None else ""
        ledger = _Ledger(audit, list(tasks), tasks if isinstance(tasks, Mapping) else {}, self._kept, digest, progress)
        if ledger.missing:
            sent = self._sent(audit)
            if self._hands is None or sent is None:
                _compute_here(ledger, self._now)
            else:
                _compute_elsewhere(ledger, self._hands, sent, self._memory)
        return {task: ledger.found[task] for task in ledger.tasks}

    def doing(self) -> str:
        """Return what is being done in this process."""
        return " and ".join(self._now) or ("judging the figures" if self._audits else "looking at the tables")

    def _known(self, prepared: PreparedAudit) -> _KnownAudit:
        for each in self._audits:
            if each.prepared is prepared:
                return each
        self._audits.append(_KnownAudit(prepared))
        return self._audits[-1]

    def _digest(self, audit: _KnownAudit) -> str:
        audit.digest = audit.digest or digest_of(identity_of(audit.prepared))
        return audit.digest

    def _sent(self, audit: _KnownAudit) -> bytes | None:
        """Return what tells other processes how to prepare an audit; None computes it in this one.

        Who can read the files is told which; processes of this machine get all else as a private file. A cluster may
        share no disk, and what was changed to see whether that helps is in no file: it is computed here, and so it is
        where the tables are too large to be written all at once.
        """
        if audit.sent is None and self._hands is not None:
            try:
                if audit.order is not None:
                    audit.sent = pickle.dumps(audit.order)
                elif isinstance(self._hands, LocalProcesses) and audit.prepared.original.store is None:
                    audit.sent = pickle.dumps(self._private_file(audit.prepared))
            except (pickle.PicklingError, TypeError, AttributeError):  # a model of the user's own
                raise InputError(
                    "what is asked of several processes must be such that all can be told, but a model cannot be sent "
                    "to them. Do without workers and cluster"
                ) from None
        return audit.sent

    def _private_file(self, prepared: PreparedAudit) -> Path:
        content = pickle.dumps(replace(prepared, settings=_one_thread(prepared.settings)))
        return self._stack.enter_context(handed_over(content, kind="audit"))


class _Ledger:
    """Which parts of an audit are wanted, and what they gave so far."""

    def __init__(
        self,
        audit: _KnownAudit,
        tasks: list[AuditTask],
        findings: Mapping[AuditTask, AttackFinding],
        kept: ResultCache | None,
        digest: str,
        progress: Progress,
    ) -> None:
        self.prepared, self.tasks, self.findings, self.progress = audit.prepared, tasks, findings, progress
        self._kept, self._digest, self._share = kept, digest, 0.0
        self.found: dict[AuditTask, Any] = {} if kept is None else kept.found(digest, tasks)
        # Release by release, as the parts of one share what was prepared of it, and the longest first.
        places = list(dict.fromkeys(task.release for task in tasks))
        self.missing = sorted(
            (task for task in tasks if task not in self.found),
            key=lambda task: (places.index(task.release), not task.is_long),
        )

    def keep(self, task: AuditTask, result: Any) -> None:
        """Note what a part gave."""
        if self._kept is not None:
            self._kept.keep(self._digest, task, result)
        self.found[task] = result

    def say(self, what: str, share: float = 0.0) -> None:
        """Tell what is being done, and how much of one part of it is."""
        # Several parts tell how far they are, each of itself; a bar never goes back.
        self._share = max(self._share, (len(self.found) + share) / len(self.tasks))
        self.progress(what, self._share)


def _compute_here(ledger: _Ledger, now: list[str]) -> None:
    """Compute what is missing on threads of this process; a part that is cut finer takes those that are idle."""
    bench = Workbench(ledger.prepared)
    # What is worked on from disk lacks memory: there large parts take all threads, one after the other.
    is_stored = ledger.prepared.original.store is not None
    alone = [task for task in ledger.missing if is_stored and task.takes_memory]

    def part(task: AuditTask) -> None:
        where, words = task.where(ledger.prepared), task.words(ledger.prepared)
        ledger.say(words)
        now.append(words)
        step: Progress = lambda name, share: ledger.say(f"{name}{where}", share)  # noqa: E731
        ledger.keep(task, bench.compute(task, ledger.findings.get(task), progress=step))
        now.remove(words)
        if is_stored:
            give_back()

    # Around all of them: whoever ended it for one part would end it for those beside it.
    with one_blas_thread(), threads(ledger.prepared.settings.threads or available()):
        in_threads(part, alone, threads=1)
        in_threads(part, [task for task in ledger.missing if task not in alone])


def _compute_elsewhere(ledger: _Ledger, hands: Workers, sent: bytes, memory: int | None) -> None:
    """Compute what is missing in other processes."""

    def begin(task: AuditTask) -> "Future[Any]":
        return hands.submit(_work, version(), sent, task, ledger.findings.get(task), memory)

    def settle(task: AuditTask, error: BaseException | None, result: Any) -> tuple[AuditTask, ...]:
        if error is not None:
            raise _explained(error, task.words(ledger.prepared))
        ledger.keep(task, result)
        ledger.say(f"{len(ledger.found)} of {len(ledger.tasks)} parts")
        return ()

    run_tasks(ledger.missing, hands, begin=begin, settle=settle)


@contextmanager
def running(settings: RunSettings) -> Iterator[Runner]:
    """Let an audit be computed where the settings say; whatever ends it, no process and no private file is left."""
    remove_left_behind()
    with endings_raise(), ExitStack() as stack:
        hands = None
        if settings.cluster is not None:
            hands = dask_cluster(settings.cluster)
        elif settings.processes:
            hands = local(settings.processes)
        if hands is not None:
            stack.callback(hands.stop)
        runner = Runner(hands, stack, memory=settings.memory_of_each)
        stack.enter_context(
            memory_bound(settings.memory_of_each, what="this audit", doing=runner.doing, advice=_ADVICE)
        )
        yield runner


def _one_thread(settings: AuditSettings) -> AuditSettings:
    """Return the settings for one of several processes, which share the same cores, unless threads are told."""
    return replace(settings, threads=settings.threads or 1)


def _explained(error: BaseException, doing: str) -> BaseException:
    """Return the error that ends the audit: what was raised, or in words what became of the worker."""
    if isinstance(error, UnveilError) and not died(error):
        return error
    if lost(error):
        return InputError("the cluster lost the parts of this audit. See that it runs, and ask the same again")
    if died(error):
        return InputError(
            f"{doing} did not end: {how_lost(error)}. It may need more memory than there is: ask the same with fewer "
            "workers, or with fewer columns"
        )
    return error


_PREPARING = threading.Lock()
#: What a worker held before it did anything, of which the tables are no part.
_held_before = cache(others_memory)


def _work(expected: str, sent: bytes, task: AuditTask, finding: AttackFinding | None, memory: int | None) -> Any:
    """Compute one task, in a worker, which keeps the prepared audit for the next one and may take so much memory."""
    check_version(expected)
    now = ["looking at the tables"]
    with memory_bound(
        memory, what="a worker of this audit", doing=lambda: now[-1], advice=_ADVICE, before=_held_before()
    ):
        with _PREPARING:  # a worker may have several threads, and the tables are read once
            bench = _workbench(sent)
        now.append(task.words(bench.prepared))
        with threads(bench.prepared.settings.threads or available()):
            return bench.compute(task, finding)


@lru_cache(maxsize=1)
def _workbench(sent: bytes) -> Workbench:
    one_blas_thread()  # for good: a worker may have several threads, and one of them would end it for all
    order: AuditJob | Path = pickle.loads(sent)  # noqa: S301 (from the process that asked us to work)
    if isinstance(order, AuditJob):
        return Workbench(order.prepared())
    prepared: PreparedAudit = pickle.loads(order.read_bytes())  # noqa: S301 (our own file)
    return Workbench(prepared)
