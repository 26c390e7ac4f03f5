"""Hand tasks to workers, and lose none of them whatever becomes of the workers."""

import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import nan
from typing import Any, TypeVar

from unveil.errors import InputError
from unveil.studies.executors import WorkerDiedError, Workers, died

#: Called with how many tasks are done, how many there are, and the seconds left (NaN before the first is done).
Progress = Callable[[int, int, float], None]

Task = TypeVar("Task", bound=Hashable)

# A task that ended its worker is tried again at once, then once more when nothing else runs.
_TRIES = 3
_LOOK = 1.0
# What asks a process to end, and would leave a private folder behind.
_ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def run_tasks(
    first: Iterable[Task],
    hands: Workers,
    *,
    begin: Callable[[Task], "Future[Any]"],
    settle: Callable[[Task, BaseException | None, Any], Iterable[Task]],
) -> None:
    """Compute tasks until none is left; whatever ``settle`` raises ends all of it.

    Parameters
    ----------
    first
        The tasks that can begin now.
    hands
        Who computes.
    begin
        Hands a task to a worker.
    settle
        Called once for each task with its error or its answer; returns the tasks that can begin now. A task that lost
        its worker is tried again before: at once, and the last time on its own.
    """
    ready, alone, deaths = deque(first), deque[Task](), Counter[Task]()
    running: dict[Future[Any], Task] = {}
    while ready or alone or running:
        # Twice as many as run at once, so that no worker waits for us.
        while ready and len(running) < 2 * hands.slots:
            task = ready.popleft()
            future = begin(task)
            running[future] = task
            if future.done():  # computed in this process: what becomes of it is seen before the next one begins
                break
        if alone and not running and not ready:
            task = alone.popleft()
            running[begin(task)] = task
        ended, _ = wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED)
        if not ended:
            hands.check()
        for future in ended:
            task = running.pop(future)
            error = CancelledError() if future.cancelled() else future.exception()
            if error is not None and died(error):
                # Dask has tried several times before it says so.
                deaths[task] += 1 if isinstance(error, WorkerDiedError) else _TRIES - 1
                if deaths[task] < _TRIES:
                    (alone if deaths[task] == _TRIES - 1 else ready).append(task)
                    continue
            ready.extend(settle(task, error, None if error is not None else future.result()))


@dataclass
class Pace:
    """How many tasks are done, and how long the others will take at that pace."""

    progress: Progress | None
    total: int
    reused: int
    done: int = 0
    began: float = field(default_factory=time.monotonic)

    def report(self, more: int = 0) -> None:
        """Tell how far it is, after so many more tasks are done."""
        self.done += more
        if self.progress is not None:
            left = self.total - self.reused - self.done
            pace = (time.monotonic() - self.began) / self.done if self.done else nan
            self.progress(self.reused + self.done, self.total, left * pace if left else 0.0)


class MismatchError(InputError):
    """A worker has another version of the package."""


def version() -> str:
    """Return the version of the package, without loading more of it."""
    from unveil._version import __version__

    return __version__


def check_version(expected: str) -> None:
    """Refuse to compute, in a worker, for a run of another version."""
    if version() != expected:
        raise MismatchError(
            f"every worker must have the same version of unveil, but one has {version()} and this is {expected}. "
            f"Install unveil {expected} on all of them"
        )


def how_lost(error: BaseException) -> str:
    """Return in words that no worker lived to the end of a task."""
    last = str(error) if isinstance(error, WorkerDiedError) else "says the cluster"
    return f"every worker was lost that computed this, also when nothing else was computed ({last})"


@contextmanager
def endings_raise() -> Iterator[None]:
    """Let what asks this process to end leave nothing behind; only the main thread can do that."""
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
