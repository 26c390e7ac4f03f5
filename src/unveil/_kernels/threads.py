"""Independent pieces of work on several threads of this process, with results in the order of the pieces."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

#: 0 is one per processor.
_THREADS: ContextVar[int] = ContextVar("threads", default=0)


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Let `in_threads` take so many threads here and in all that is called from here; 0 is one per processor.

    >>> with threads(2):
    ...     in_threads(abs, [-3, 2])
    [3, 2]
    """
    token = _THREADS.set(number)
    try:
        yield
    finally:
        _THREADS.reset(token)


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available() -> int:
    """Return how many threads may be taken here: one per processor unless told, and one inside a piece of work."""
    return _THREADS.get() or processors()


def in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], *, threads: int | None = None
) -> list[Result]:
    """Return what the function gives for each item, in the order of the items, on so many threads.

    Items must not depend on one another, nor on the number of threads: then results do not either. Compiled loops
    release Python's lock. What the first item that fails raises is raised here.

    >>> in_threads(abs, [-3, 2])
    [3, 2]
    """
    every = list(items)
    number = min(available() if threads is None else threads, len(every))
    if number < 2:
        return [function(item) for item in every]
    with ThreadPoolExecutor(number, initializer=_THREADS.set, initargs=(1,)) as pool:
        futures = [pool.submit(function, item) for item in every]
        try:
            return [future.result() for future in futures]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
