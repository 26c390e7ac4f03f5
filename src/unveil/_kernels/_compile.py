"""One source for two ways of running a loop: plain Python while small, compiled by numba when large.

Importing numba costs half a second and compiling costs more, so nobody should wait for either on a small
input; and a loop that also runs as plain Python is seen by coverage and works on arrays of Python integers,
which never overflow.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

PLAIN_UP_TO = 10_000


@cache
def _make_usable(helper: Callable[..., object]) -> None:
    """Let compiled functions call a plain one; numba must be told once."""
    from numba.extending import register_jitable

    register_jitable(helper)


@cache
def compiled(function: Callable[P, R], *helpers: Callable[..., object]) -> Callable[P, R]:
    """Return the function, compiled by numba together with the plain functions that it calls; once per process."""
    for helper in helpers:
        _make_usable(helper)
    return jitted(function)


def jitted(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    """Return the function, compiled by numba with these options, and kept on disk for the next process if possible."""
    from numba import njit

    fast: Callable[P, R]
    try:
        fast = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        # Neither the folder of the package nor that of the user can be written: each process compiles for itself.
        fast = njit(nogil=True, **options)(function)
    return fast


def _size(argument: Any) -> int:
    return argument.size if isinstance(argument, np.ndarray) else 0


def _is_object(argument: Any) -> bool:
    return isinstance(argument, np.ndarray) and argument.dtype == object


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return ``function``, compiled as soon as one of its arrays is longer than ``PLAIN_UP_TO``.

    Arrays of Python integers (dtype object) always take the plain way.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        given = (*args, *kwargs.values())
        if max(map(_size, given), default=0) <= PLAIN_UP_TO or any(map(_is_object, given)):
            return function(*args, **kwargs)
        fast: Callable[P, R] = compiled(function)
        return fast(*args, **kwargs)

    return run
