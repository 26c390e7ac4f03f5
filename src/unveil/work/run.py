"""Run tasks on an executor, and retry tasks of lost workers."""

import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import nan
from typing import Any

from unveil.errors import InputError, whole_number
from unveil.work.memory import MemoryLimit
from unveil.work.processes import Processes
from unveil.work.task import Executor, MismatchError, Task, WorkerDiedError
from unveil.work.threads import Threads

#: Called with how many tasks are done, how many there are, and the seconds left (NaN before the first is done).
Progress = Callable[[int, int, float], None]
#: Called once for each task with its error or its answer; returns the tasks that can begin now.
Settle = Callable[[Task, BaseException | None, Any], Iterable[Task]]

# A task that ended its worker is tried again at once, then once more when nothing else runs.
_TRIES = 3
_LOOK = 1.0
# What asks a process to end, and would leave a private folder behind.
_ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def executor(workers: int, cluster: str | None = None) -> Iterator[Executor | Threads]:
    """Yield an executor: Dask, N processes, or (for 0) this process.

    >>> with executor(0) as on:
    ...     on
    Threads(number=1)
    """
    whole_number(workers, "the number of workers", at_least=0)
    on: Executor | Threads = Threads()
    if cluster is not None:
        from unveil.work.cluster import DaskCluster

        on = DaskCluster(cluster)
    elif workers:
        on = Processes(workers)
    try:
        yield on
    finally:
        on.stop()


def run(
    tasks: Iterable[Task],
    *,
    on: Executor | Threads,
    settle: Settle,
    lost: str,
    memory: MemoryLimit | None = None,
    progress: "Pace | None" = None,
) -> None:
    """Run tasks until none is left; whatever ``settle`` raises ends all of them.

    Parameters
    ----------
    tasks
        The tasks that can begin now.
    on
        The executor: threads of this process, processes of this machine, or a Dask cluster.
    settle
        Takes each task with its error or its answer; on threads, in the thread of the task. A task that lost its
        worker is tried again before: at once, and the last time on its own; then its error is a `WorkerDiedError`.
    lost
        The error where a cluster lost the tasks, as a sentence.
    memory
        How much each worker may take while it computes a task. Threads take part in what this process may take.
    progress
        Reports each task that is settled.

    Raises
    ------
    InputError
        If a cluster lost the tasks, or a worker has another version of the package.
    """

    def settled(task: Task, error: BaseException | None, answer: Any) -> Iterable[Task]:
        if isinstance(error, MismatchError):
            raise error
        if error is not None and _is_lost(error):
            raise InputError(lost)
        following = settle(task, _named(error), answer)
        if progress is not None:
            progress.report(1)
        return following

    ready = deque(tasks)
    if isinstance(on, Threads):
        while ready:
            ready = deque(on.call(ready, settled))
        return
    _run_elsewhere(ready, on, settled, memory)


def _run_elsewhere(ready: deque[Task], on: Executor, settle: Settle, memory: MemoryLimit | None) -> None:
    alone, deaths = deque[Task](), Counter[Hashable]()
    running: dict[Future[Any], Task] = {}
    while ready or alone or running:
        # Twice as many as run at once, so that no worker waits for us.
        while ready and len(running) < 2 * on.slots:
            task = ready.popleft()
            running[on.submit(task, memory)] = task
        if alone and not running:
            task = alone.popleft()
            running[on.submit(task, memory)] = task
        ended, _ = wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED)
        if not ended:
            on.check()
        for future in ended:
            task = running.pop(future)
            error = CancelledError() if future.cancelled() else future.exception()
            if error is not None and _has_died(error):
                # Dask has tried several times before it says so.
                deaths[task.key] += 1 if isinstance(error, WorkerDiedError) else _TRIES - 1
                if deaths[task.key] < _TRIES:
                    (alone if deaths[task.key] == _TRIES - 1 else ready).append(task)
                    continue
            ready.extend(settle(task, error, None if error is not None else future.result()))


def _has_died(error: BaseException) -> bool:
    return isinstance(error, WorkerDiedError) or type(error).__name__ == "KilledWorker"


def _is_lost(error: BaseException) -> bool:
    """Return whether an error means that a cluster forgot the task."""
    return isinstance(error, CancelledError) or type(error).__name__ in ("FutureCancelledError", "CommClosedError")


def _named(error: BaseException | None) -> BaseException | None:
    """Return the error, reworded if every worker died."""
    if error is None or not _has_died(error):
        return error
    last = str(error) if isinstance(error, WorkerDiedError) else "says the cluster"
    return WorkerDiedError(f"every worker that computed this ended early, even when it ran alone ({last})")


@dataclass
class Pace:
    """Number of finished tasks, and the remaining time at that pace."""

    progress: Progress | None
    total: int
    reused: int
    done: int = 0
    began: float = field(default_factory=time.monotonic)

    def report(self, more: int = 0) -> None:
        """Report progress after N more tasks."""
        self.done += more
        if self.progress is not None:
            left = self.total - self.reused - self.done
            pace = (time.monotonic() - self.began) / self.done if self.done else nan
            self.progress(self.reused + self.done, self.total, left * pace if left else 0.0)


@contextmanager
def endings_raise() -> Iterator[None]:
    """Turn end signals into exceptions, in the main thread."""
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        usual = [each for each in _ENDINGS if signal.getsignal(each) is signal.SIG_DFL]
        before = {each: signal.signal(each, _leave) for each in usual}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _leave(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)
