"""Run audit tasks in threads, processes, or a cluster; store their results."""

import pickle
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from unveil._kernels.threads import available, threads
from unveil.data.files.column_store import ColumnStore
from unveil.data.files.source import shown
from unveil.data.table import Hierarchy, Table
from unveil.data.table.coded_columns import CellFrame
from unveil.errors import InputError
from unveil.questions.audit.findings import AttackFinding
from unveil.questions.audit.generator.settings import GeneratorSettings
from unveil.questions.audit.inputs import PreparedAudit, prepare
from unveil.questions.audit.read import AuditFiles, AuditTables
from unveil.questions.audit.settings import AuditSettings, RunSettings
from unveil.questions.audit.tasks import AuditTask, Workbench
from unveil.questions.roles import HierarchySettings
from unveil.report.progress import Progress
from unveil.work.memory import MemoryLimit, give_back, memory_bound
from unveil.work.private_folder import remove_left_behind
from unveil.work.processes import Processes
from unveil.work.result_format import ResultFormat, types_within
from unveil.work.results import ResultFolder
from unveil.work.run import endings_raise, executor
from unveil.work.run import run as run_tasks
from unveil.work.seal import Seal, parts_of, sealed_parts, write_bytes
from unveil.work.task import Executor, SharedValue, Task, WorkerDiedError, version
from unveil.work.threads import Threads

_RESULTS = "results"
#: Of so many rows the texts of cells are in memory at once.
_AT_ONCE = 1 << 16


class ResultCache(ResultFolder):
    """The folder of task results of one audit; they are personal data."""

    manifest, parts = "audit.json", (_RESULTS,)
    what, own, advice = "results", "results of this audit", "Choose another folder for resume"
    other = MappingProxyType(
        {
            # What was told comes before the tables, which hold what was told of their columns.
            "version": "of another version of unveil",
            "settings": "with other settings",
            "seed": "with another seed",
            "original": "of another original",
            "control": "with another control",
            "releases": "of other releases",
            "reference": "with other siblings or another population",
            "tables": "with other child tables",
        }
    )

    def found(self, audit: str, tasks: Iterable[AuditTask]) -> dict[AuditTask, Any]:
        """Return the stored task results; skip damaged and foreign files."""
        made = {}
        for task in tasks:
            content = self.sealed_content(_RESULTS, _seal(audit, task))
            if content is not None:
                with suppress(ValueError):
                    made[task] = result_format().read(parts_of(content))
        return made

    def keep(self, audit: str, task: AuditTask, result: Any) -> None:
        """Write a task's result atomically."""
        seal = _seal(audit, task)
        write_bytes(self.folder / _RESULTS / seal.name, sealed_parts(result_format().write(result), seal, self.key))


def _seal(audit: str, task: AuditTask) -> Seal:
    return Seal(f"{task.name}-{audit[:12]}.result", digest_of((audit, tuple(task))), "fine")


@cache
def result_format() -> ResultFormat:
    """Return the types that stored results may hold."""
    from unveil._kernels.verdict.permutations import agreeing_cells, true_links
    from unveil.metrics.trials.membership import Curve
    from unveil.questions.audit.attack_results import AttackResult
    from unveil.questions.audit.findings import AuditedRelease, CopyFindings
    from unveil.questions.audit.reference.findings import SiblingFinding
    from unveil.report.suppressed_number import SuppressedNumber

    return ResultFormat(
        types=(*types_within(AttackResult, AuditedRelease, CopyFindings, SiblingFinding), Curve, SuppressedNumber),
        functions=(agreeing_cells, true_links),
    )


def identity_of(prepared: PreparedAudit) -> dict[str, str]:
    """Return hashes of everything that the results depend on."""
    settings = prepared.settings
    if settings.model is not None:
        raise InputError(
            "An audit with a custom model cannot be resumed, because models cannot be compared. Leave out the model, "
            "or leave out resume"
        )
    apart = {each.name for kind in (RunSettings, GeneratorSettings, HierarchySettings) for each in kind.table()}
    apart |= {"control", "seed", "suggest", "suggest_for", "sibling", "sibling_people", "population", "tables"}
    named = [each.name for each in settings.table() if each.is_keyword and each.name not in apart]
    of_figures = {name: getattr(settings, name) for name in named}
    return {
        "version": version(),
        "original": digest_of(prepared.original),
        "control": digest_of(prepared.control),
        "reference": digest_of(prepared.reference),
        "tables": digest_of([each.release.children for each in prepared.releases]),
        "releases": digest_of([(each.release.name, each.release.released, each.truth) for each in prepared.releases]),
        "seed": digest_of((prepared.seed, [each.seed for each in prepared.releases])),
        # Where it was computed changes nothing, and hierarchies stand with their lines in the original.
        "settings": digest_of((of_figures, settings.claim, settings.lacking, prepared.parts)),
    }


def digest_of(value: Any) -> str:
    """Return a hash of settings and tables, equal in every process.

    >>> digest_of({"a": 1, "b": (2.0, None)}) == digest_of({"b": (2.0, None), "a": 1})
    True
    >>> digest_of((1, 2)) == digest_of((12,))
    False
    """
    return sha256(b"\0".join(_told(value))).hexdigest()


def _cells(frame: CellFrame) -> list[bytes]:
    """Return cell hashes, computed in blocks of rows to save memory."""
    rows = (frame[start : start + _AT_ONCE] for start in range(0, max(frame.height, 1), _AT_ONCE))
    return [sha256(each.write_csv(null_value="\0").encode()).digest() for each in rows]


def _told(value: Any) -> list[bytes]:
    if value is None or isinstance(value, str | bytes | bool | int | float | Path):
        return [type(value).__name__.encode(), repr(value).encode()]
    if isinstance(value, np.ndarray):
        return [b"array", value.dtype.str.encode(), repr(value.shape).encode(), np.ascontiguousarray(value).tobytes()]
    if isinstance(value, Table):
        # Its cells, and not the hash of a file: a table may be made of a file's.
        parts: tuple[Any, ...] = (value.name, value.columns, [str(each) for each in value.content.schema.values()])
        marked = CellFrame({name: value.marked[name] for name in sorted(value.marked)})
        return [b"table", digest_of(parts).encode(), *_cells(value.content), b"markers", *_cells(marked)]
    if isinstance(value, Mapping):
        return [b"mapping", *sorted(digest_of(pair).encode() for pair in value.items())]
    if isinstance(value, set | frozenset):
        return [b"set", *sorted(digest_of(each).encode() for each in value)]
    if isinstance(value, list | tuple):
        return [b"list", *(digest_of(each).encode() for each in value)]
    if is_dataclass(value) and not isinstance(value, type):
        told = [(each.name, getattr(value, each.name)) for each in fields(value)]
        return [type(value).__name__.encode(), digest_of(told).encode()]
    raise InputError(
        f"An audit with a setting of type {type(value).__name__} cannot be resumed. Leave the setting out, or do "
        "not resume"
    )


#: What to do where more memory was taken than was allowed.
_ADVICE = (
    "Allow more memory, leave out columns, or audit a sample of the rows; the parts that are done are kept where a "
    "folder to resume from is named"
)


_HERE = Threads(None)


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
        """Return the job of an audit of these files."""
        told = settings.hierarchies.items()
        hierarchies = {name: each if isinstance(each, Hierarchy) else Hierarchy.read(each) for name, each in told}
        return cls(
            files.absolute(),
            tables.digests,
            replace(settings, hierarchies=hierarchies, threads=settings.threads or 1),
            rng,
            tables.store is not None,
        )

    @property
    def is_readable(self) -> bool:
        """Whether another process can read the files; no pipes."""
        return None not in self.digests

    def prepared(self) -> PreparedAudit:
        """Return the prepared audit of the same files; refuse changed ones."""
        tables = self.files.read(store=ColumnStore() if self.stored else None)
        for path, here, there in zip(self.files.paths, tables.digests, self.digests, strict=True):
            if here != there:
                raise InputError(
                    f"The file {shown(path)} differs on a worker, or changed during the audit. Store the same file on "
                    "all machines, and run the audit again"
                )
        return prepare(*tables, settings=self.settings, rng=deepcopy(self.rng))


@dataclass(eq=False)
class _KnownAudit:
    """A running audit: its preparation, for other processes."""

    prepared: PreparedAudit
    order: AuditJob | None = None
    shared: SharedValue | None = None

    @cached_property
    def digest(self) -> str:
        """What it is called in a folder."""
        return digest_of(identity_of(self.prepared))


class Runner:
    """Runs the parts of audits, and stores their results.

    Parameters
    ----------
    on
        The executor of all parts that other processes can compute.
    stack
        What is closed when the audit ends, whatever ended it.
    memory
        How many bytes each of other processes may take; None is any.
    """

    def __init__(
        self, on: Executor | Threads = _HERE, stack: ExitStack | None = None, *, memory: int | None = None
    ) -> None:
        self._on = on
        self._memory = None if memory is None else MemoryLimit(memory, "a worker of this audit", _ADVICE)
        #: The parts that are computed in this process at this moment.
        self._now: list[str] = []
        self._stack = stack or ExitStack()
        self._kept: ResultCache | None = None
        self._audits: list[_KnownAudit] = []

    def begin(self, prepared: PreparedAudit, *, order: AuditJob | None, resume: Path | None) -> None:
        """Take the result folder, and record how workers prepare the audit."""
        if order is not None and not order.is_readable:
            order = None
        if order is None and not isinstance(self._on, Threads | Processes):
            raise InputError(
                "The workers of a cluster read the tables from files. Write the tables to shared files and pass their "
                "paths, or leave out the cluster"
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
        """Return each task's result in order, with column importance."""
        audit = self._known(prepared)
        ledger = _Ledger(audit, list(tasks), tasks if isinstance(tasks, Mapping) else {}, self._kept, progress)
        if ledger.missing:
            shared = self._shared(audit)
            if shared is None:
                _compute_here(ledger, self._now)
            else:
                _compute_elsewhere(ledger, self._on, shared, self._memory)
        return {task: ledger.found[task] for task in ledger.tasks}

    def doing(self) -> str:
        """Return what is being done in this process."""
        return " and ".join(self._now) or ("computing the tests" if self._audits else "preparing the tables")

    def _known(self, prepared: PreparedAudit) -> _KnownAudit:
        for each in self._audits:
            if each.prepared is prepared:
                return each
        self._audits.append(_KnownAudit(prepared))
        return self._audits[-1]

    def _shared(self, audit: _KnownAudit) -> SharedValue | None:
        """Return what worker processes need; None to compute here.

        Who can read the files is told which; processes of this machine receive all else over their pipes. A cluster may
        share no disk, and what was changed to see whether that helps is in no file: it is computed here, and so it is
        where the tables are too large to be sent all at once.
        """
        if audit.shared is None and not isinstance(self._on, Threads):
            value: AuditJob | PreparedAudit | None = audit.order
            if value is None and isinstance(self._on, Processes) and audit.prepared.original.store is None:
                prepared = audit.prepared
                # Several processes share the same cores, unless threads are told.
                value = replace(prepared, settings=replace(prepared.settings, threads=prepared.settings.threads or 1))
            try:
                pickle.dumps(value)
            except (pickle.PicklingError, TypeError, AttributeError):  # a model of the user's own
                raise InputError(
                    "A custom model cannot be sent to other processes. Leave out workers and cluster"
                ) from None
            audit.shared = None if value is None else SharedValue(value)
        return audit.shared


class _Ledger:
    """Requested parts of an audit, with their results."""

    def __init__(
        self,
        audit: _KnownAudit,
        tasks: list[AuditTask],
        findings: Mapping[AuditTask, AttackFinding],
        kept: ResultCache | None,
        progress: Progress,
    ) -> None:
        self.prepared, self.tasks, self.findings, self.progress = audit.prepared, tasks, findings, progress
        self._audit, self._kept, self._share = audit, kept, 0.0
        self.found: dict[AuditTask, Any] = {} if kept is None else kept.found(audit.digest, tasks)
        # Release by release, as the parts of one share what was prepared of it, and the longest first.
        places = list(dict.fromkeys(task.release for task in tasks))
        self.missing = sorted(
            (task for task in tasks if task not in self.found),
            key=lambda task: (places.index(task.release), task.order),
        )

    def keep(self, task: AuditTask, result: Any) -> None:
        """Note what a part gave."""
        if self._kept is not None:
            self._kept.keep(self._audit.digest, task, result)
        self.found[task] = result

    def say(self, what: str, share: float = 0.0) -> None:
        """Report the current step and its progress."""
        # Several parts tell how far they are, each of itself; a bar never goes back.
        self._share = max(self._share, (len(self.found) + share) / len(self.tasks))
        self.progress(what, self._share)


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit matrix products to one thread within a context.

    Their last digits would otherwise depend on the number of processors.
    """
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits


def _compute_here(ledger: _Ledger, now: list[str]) -> None:
    """Compute missing tasks on threads; idle threads take parts."""
    bench = Workbench(ledger.prepared)
    # What is worked on from disk lacks memory: there large parts take all threads, one after the other.
    is_stored = ledger.prepared.original.store is not None
    alone = [task for task in ledger.missing if is_stored and task.takes_memory]

    def part(task: AuditTask) -> Any:
        where, words = task.where(ledger.prepared), task.words(ledger.prepared)
        ledger.say(words)
        now.append(words)
        step: Progress = lambda name, share: ledger.say(f"{name}{where}", share)  # noqa: E731
        return bench.compute(task, ledger.findings.get(task), progress=step)

    def settle(task: Task, error: BaseException | None, result: Any) -> tuple[Task, ...]:
        if error is not None:
            raise error
        ledger.keep(task.key, result)
        now.remove(task.words)
        if is_stored:
            give_back()
        return ()

    def run_here(tasks: Iterable[AuditTask], number: int | None) -> None:
        calls = (Task(each, part, (each,), each.words(ledger.prepared)) for each in tasks)
        run_tasks(calls, on=Threads(number), settle=settle, lost="")

    # Around all of them: the first part that ended it would end it for those next to it.
    with one_blas_thread(), threads(ledger.prepared.settings.threads or available()):
        run_here(alone, 1)
        run_here([task for task in ledger.missing if task not in alone], None)


def _compute_elsewhere(
    ledger: _Ledger, on: Executor | Threads, shared: SharedValue, memory: MemoryLimit | None
) -> None:
    """Compute what is missing in other processes."""

    def settle(task: Task, error: BaseException | None, result: Any) -> tuple[Task, ...]:
        if isinstance(error, WorkerDiedError):
            raise InputError(
                f"A part of the audit did not finish: {task.words} ({error}). It may need more memory. Use fewer "
                "workers or fewer columns"
            )
        if error is not None:
            raise error
        ledger.keep(task.key, result)
        ledger.say(f"{len(ledger.found)} of {len(ledger.tasks)} parts")
        return ()

    run_tasks(
        (
            Task(each, _work, (shared, each, ledger.findings.get(each)), each.words(ledger.prepared))
            for each in ledger.missing
        ),
        on=on,
        settle=settle,
        lost="the cluster lost the parts of this audit. See that it runs, and ask the same again",
        memory=memory,
    )


@contextmanager
def running(settings: RunSettings) -> Iterator[Runner]:
    """Run an audit where settings say; always clean up processes and files."""
    remove_left_behind()
    with endings_raise(), ExitStack() as stack:
        on = stack.enter_context(executor(settings.processes, settings.cluster))
        runner = Runner(on, stack, memory=settings.memory_of_each)
        limit = settings.memory_of_each
        bound = None if limit is None else MemoryLimit(limit, "this audit", _ADVICE)
        stack.enter_context(memory_bound(bound, doing=runner.doing))
        yield runner


_PREPARING = threading.Lock()


def _work(shared: SharedValue, task: AuditTask, finding: AttackFinding | None) -> Any:
    """Compute one task in a worker that caches the prepared audit."""
    with _PREPARING:  # a worker may have several threads, and the tables are read once
        bench = _workbench(shared)
    with threads(bench.prepared.settings.threads or available()):
        return bench.compute(task, finding)


@lru_cache(maxsize=1)
def _workbench(shared: SharedValue) -> Workbench:
    one_blas_thread()  # for good: a worker may have several threads, and one of them would end it for all
    return Workbench(shared.value.prepared() if isinstance(shared.value, AuditJob) else shared.value)
