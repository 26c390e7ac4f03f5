"""Loops that run as plain Python or compiled by numba.

Importing numba costs a third of a second and compiling costs more, so nobody should wait for either on a small input;
and a loop that also runs as plain Python is seen by coverage and works on arrays of Python integers, which never
overflow.

Every loop that is ever compiled is listed by its decorator, with the types of arguments that it meets in practice:
``@kernel(...)`` for a loop that decides for itself which way to run, ``@loop(...)`` for one whose callers decide. From
that listing ``unveil warm-up`` compiles them all beforehand.
"""

import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from functools import cache, wraps
from pathlib import Path
from threading import RLock
from types import CodeType, FunctionType
from typing import Any, NamedTuple, ParamSpec, TypeVar, overload

import numpy as np

from unveil._kernels import _compile_timer

P = ParamSpec("P")
R = TypeVar("R")

#: Up to here loops whose callers decide by the length of an array run as plain Python.
PLAIN_UP_TO = 10_000
#: A call with fewer entries than this is nothing, even beside a compiler that is loaded already.
_SMALL = 2_000
#: Entries of a loop that a process may go through in plain Python, a quarter of a second, before the compiler pays.
_MOST_PLAIN = 500_000
#: A single call with more entries than this is worth the compiler by itself.
_MOST_AT_ONCE = 200_000
#: Options of numba for every loop: no code of C calls one, and making each callable from C takes time.
_OPTIONS: dict[str, Any] = {"no_cfunc_wrapper": True}
#: So many steps of numpy, element by element, take as long as one entry of a loop in plain Python.
NUMPY_STEPS = 256


class Loop(NamedTuple):
    """Loop that may be compiled: function, argument types, and options."""

    function: Callable[..., Any]
    types: tuple[str, ...]
    options: dict[str, Any]
    uses: tuple[str, ...]


class LoopLedger:
    """Entries run in plain Python by loop, and the compiled loops."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all, as in a new process."""
        self.entries: Counter[Hashable] = Counter()
        self.ready: set[Hashable] = set()


LEDGER = LoopLedger()
_COMPILING = RLock()
LOOPS: dict[Callable[..., Any], Loop] = {}


def loop(*types: str, uses: tuple[str, ...] = (), **options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register a loop with its argument types, and return it unchanged.

    ``uses`` names functions of numpy that make compiling slow and are used all the same; a test refuses others.
    ``options`` go to numba.
    """

    def listed(function: Callable[P, R]) -> Callable[P, R]:
        LOOPS[function] = Loop(function, types, options, uses)
        return function

    return listed


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile the function and its helpers with numba, once per process.

    Compiled code is kept on disk for the next process, if possible.
    """
    # Two threads would otherwise each compile it.
    with _COMPILING:
        return _compiled(function)


@cache
def _compiled(function: Callable[P, R]) -> Callable[P, R]:
    from numba import njit
    from numba.extending import register_jitable

    _compile_timer.watch()
    for helper in helpers(function):
        _make_usable(helper, register_jitable)
    options = _OPTIONS | (LOOPS[function].options if function in LOOPS else {})
    fast: Callable[P, R]
    try:
        fast = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        # Neither the folder of the package nor that of the user can be written: each process compiles for itself.
        fast = njit(nogil=True, **options)(function)
    return fast


@cache
def _make_usable(helper: Callable[..., object], register: Callable[..., object]) -> None:
    """Make a plain function callable from compiled ones."""
    wrap: Any = register(**_OPTIONS)
    wrap(helper)


def helpers(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """Return the plain functions of this package that a function calls."""
    found: dict[Callable[..., Any], None] = {}
    waiting = [function]
    while waiting:
        known = waiting.pop()
        for name in _names(known.__code__):
            called = known.__globals__.get(name)
            if not isinstance(called, FunctionType) or not called.__module__.startswith("unveil."):
                continue
            if called is not function and called not in found:
                found[called] = None
                waiting.append(called)
    return list(found)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@overload
def kernel(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def kernel(
    *types: str,
    cost: int | Callable[..., int] = 1,
    small: Callable[..., Any] | None = None,
    uses: tuple[str, ...] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def kernel(
    *types: Any, cost: int | Callable[..., int] = 1, small: Callable[..., Any] | None = None, uses: tuple[str, ...] = ()
) -> Any:
    """Register a loop that is compiled when it pays.

    It runs as plain Python while the call is small, or while this process has gone through few of its entries that way
    and the compiler is not loaded with the loop on disk; ``cost`` is how many steps it takes per entry of its longest
    array, or a function of the arguments that returns all steps. Once compiled for these types it always runs so.
    Arrays of Python integers (dtype object) always take the plain way. ``small`` is the same in numpy, which runs in
    place of plain Python; its ``cost`` counts ``NUMPY_STEPS`` steps as one.
    """
    if types and callable(types[0]):
        return kernel()(types[0])

    def made(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            given = (*args, *kwargs.values())
            kinds = (function, *map(_kind, given))
            if object in kinds:
                return function(*args, **kwargs)
            if kinds not in LEDGER.ready:
                steps = cost(*args) if callable(cost) else max(map(_size, given), default=0) * cost
                if not _pays(function, steps):
                    return (small or function)(*args, **kwargs)
            LEDGER.ready.add(kinds)
            fast: Callable[P, R] = compiled(function)
            return fast(*args, **kwargs)

        loop(*types, uses=uses)(function)
        return run

    return made


def _pays(function: Callable[..., Any], entries: int) -> bool:
    """Return whether compilation pays; if not, count the entries."""
    most = min(_MOST_AT_ONCE, _MOST_PLAIN - LEDGER.entries[function])
    if entries > most or (entries > _SMALL and _is_loaded_soon(function)):
        return True
    LEDGER.entries[function] += entries
    return False


def _is_loaded_soon(function: Callable[..., Any]) -> bool:
    """Return whether numba is loaded, and has compiled the function in this process or on disk."""
    if "numba" not in sys.modules:
        return False
    fast = compiled(function)
    if getattr(fast, "signatures", None):
        return True
    kept = getattr(fast, "stats", None)
    name = f"*{function.__name__}-{function.__code__.co_firstlineno}.py*.nbi"
    return kept is not None and kept.cache_path is not None and any(Path(kept.cache_path).glob(name))


def _size(argument: Any) -> int:
    return argument.size if isinstance(argument, np.ndarray) else 0


def _kind(argument: Any) -> Any:
    if not isinstance(argument, np.ndarray):
        return type(argument)
    return object if argument.dtype == object else argument.dtype
