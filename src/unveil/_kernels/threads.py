"""Parallel threads for independent work, with ordered results.

Pieces may be made of pieces: all share one number of threads, and a piece that is cut into smaller ones takes the
threads that others do without by then.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Team:
    """Counting semaphore for nested thread pools."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._idle = number - 1
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Take an idle thread if there is one."""
        with self._lock:
            taken = self._idle > 0
            self._idle -= taken
            return taken

    def change(self, idle: int) -> None:
        """Change the number of idle threads by N."""
        with self._lock:
            self._idle += idle


#: Columns of so many rows are worked on sooner than a thread begins.
_FEW_ROWS = 1 << 16
#: Whoever presses Ctrl-C waits so many seconds for a helper to end its piece, and no longer.
_PATIENCE = 0.5

#: None is one thread per processor, of whoever asks first.
_TEAM: ContextVar[_Team | None] = ContextVar("team", default=None)
#: The work that this piece belongs to.
_WORK: ContextVar["_Work[Any, Any] | None"] = ContextVar("work", default=None)


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Limit `in_threads` to N threads in this context; 0: one per processor.

    >>> with threads(2):
    ...     in_threads(abs, [-3, 2])
    [3, 2]
    """
    token = _TEAM.set(_Team(number or processors()))
    try:
        yield
    finally:
        _TEAM.reset(token)


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available() -> int:
    """Return the thread limit (default: one per processor)."""
    team = _TEAM.get()
    return processors() if team is None else team.number


def worth(rows: int) -> int | None:
    """Return the useful number of threads for columns of N rows.

    >>> worth(100), worth(10**6)
    (1, None)
    """
    return None if rows > _FEW_ROWS else 1


def in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], *, threads: int | None = None
) -> list[Result]:
    """Return the function's results for all items, on up to N threads.

    Items must not depend on one another, nor on the number of threads: then results do not either. Compiled loops
    release Python's lock. What the first item that fails raises is raised here, and no further item is begun.

    >>> in_threads(abs, [-3, 2])
    [3, 2]
    """
    every = list(items)
    team = _TEAM.get() or _Team(threads or processors())
    most = min(team.number, len(every), threads or len(every))
    if most < 2:
        return [function(item) for item in every]
    token = _TEAM.set(team)
    try:
        return _Work(function, every, team, most - 1).done()
    finally:
        _TEAM.reset(token)


def side_by_side(*works: Callable[[], Any]) -> list[Any]:
    """Return the results of independent functions, in order.

    >>> side_by_side(lambda: 3, lambda: "two")
    [3, 'two']
    """
    return in_threads(lambda work: work(), works)


class _StoppedError(BaseException):
    """The enclosing work was stopped, for instance by Ctrl-C."""


class _Work(Generic[Item, Result]):
    """Items processed by this thread and by helpers."""

    def __init__(self, function: Callable[[Item], Result], items: Sequence[Item], team: _Team, helpers: int) -> None:
        self.function, self.items, self.team = function, items, team
        self.results: dict[int, Result] = {}
        self.failed: dict[int, BaseException] = {}
        self.parent = _WORK.get()
        self.given_up = False
        self._next, self._helpers_left = 0, helpers
        self._helpers: list[threading.Thread] = []
        self._lock = threading.Lock()

    def done(self) -> list[Result]:
        """Return all results after the last thread; stopped work ends early."""
        wait = None
        try:
            self._work()
        except BaseException:
            self.given_up, wait = True, _PATIENCE
            raise
        finally:
            # Who waits lets others have the thread.
            self.team.change(1)
            for helper in self._helpers:
                helper.join(wait)
            self.team.change(-1)
        if self.failed:
            # Items are begun in their order, so that those before the first that failed have all ended.
            raise self.failed[min(self.failed)]
        return [self.results[place] for place in range(len(self.items))]

    @property
    def is_given_up(self) -> bool:
        """True if this or the enclosing work was stopped."""
        return self.given_up or (self.parent is not None and self.parent.is_given_up)

    def _work(self) -> None:
        token = _WORK.set(self)
        try:
            while (place := self._taken()) is not None:
                try:
                    self.results[place] = self.function(self.items[place])
                except Exception as error:
                    self.failed[place] = error
        finally:
            _WORK.reset(token)

    def _taken(self) -> int | None:
        """Return the next item or None, and start an idle helper."""
        with self._lock:
            if self.is_given_up:
                raise _StoppedError
            place = self._next
            if place == len(self.items) or self.failed:
                return None
            self._next += 1
            if self._helpers_left and self._next < len(self.items) and self.team.take():
                self._helpers_left -= 1
                helper = threading.Thread(target=copy_context().run, args=(self._help,), daemon=True)
                self._helpers.append(helper)
                helper.start()
            return place

    def _help(self) -> None:
        try:
            self._work()
        except _StoppedError:
            pass
        except BaseException as error:
            self.failed[len(self.items)] = error
        finally:
            self.team.change(1)
