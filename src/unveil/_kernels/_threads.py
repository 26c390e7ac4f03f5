"""Compiled loops side by side: they release Python's lock, so threads of one process use all cores."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(run: Callable[[T], R], tasks: Iterable[T], *, threads: int | None = None) -> list[R]:
    """Return what ``run`` makes of each task, in the order of the tasks; on all cores unless told otherwise.

    What a task is must not hang on the number of threads; then neither do the numbers.

    >>> in_threads(abs, [-3, 2], threads=2)
    [3, 2]
    """
    given = list(tasks)
    most = min(len(given), cores() if threads is None else threads)
    if most <= 1:
        return [run(task) for task in given]
    with ThreadPoolExecutor(most) as pool:
        return list(pool.map(run, given))
