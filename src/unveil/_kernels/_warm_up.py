"""Compile every registered loop in advance (``unveil warm-up``).

Each loop carries the types of its arguments as text: ``i8``, ``f8``, ``b1`` and so on are single numbers, ``i8[]`` a
row of them and ``i8[,]`` a table; ``const`` stands before arrays that must not be written to, ``A`` behind those with
gaps and ``F`` behind tables that lie column by column; ``rng`` is a generator of numpy, and ``Name(...)`` a named tuple
that the module of the loop knows.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from multiprocessing import get_context
from pkgutil import walk_packages
from time import process_time
from typing import Any, NamedTuple

from unveil._kernels._compile import LOOPS, Loop, compiled

#: Where loops are: the packages below studies and questions, none of which needs an extra to be imported.
_PACKAGES = ("_kernels", "data", "guesses", "protections", "attacks", "metrics", "anonymeter")

_WORDS = {"i8": "int64", "i4": "int32", "u8": "uint64", "u4": "uint32", "u2": "uint16", "u1": "uint8", "i1": "int8"}
_WORDS |= {"f8": "float64", "f4": "float32", "b1": "boolean", "rng": "npy_rng", "i2": "int16", "none": "none"}


class WarmLoop(NamedTuple):
    """Compiled loop: name, cache folder or None, and CPU seconds.

    The seconds are 0 for code that was on disk already.
    """

    name: str
    folder: str | None
    seconds: float


def listed_loops() -> dict[str, Loop]:
    """Return every compilable loop of the package, by name."""
    for package in _PACKAGES:
        for module in walk_packages(import_module(f"unveil.{package}").__path__, f"unveil.{package}."):
            import_module(module.name)
    return {_name(each): each for each in LOOPS.values() if each.function.__module__.startswith("unveil.")}


def _name(each: Loop) -> str:
    return f"{each.function.__module__}:{each.function.__qualname__}"


def folder_of(done: Sequence[WarmLoop]) -> str | None:
    """Return the common folder of all compiled code, or None."""
    folders = [each.folder for each in done if each.folder is not None]
    return os.path.commonpath(folders) if folders else None


def warm_up(names: Sequence[str], processes: int) -> Iterator[WarmLoop]:
    """Yield loops as they become ready, compiled in N processes."""
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for ready in as_completed([pool.submit(warm, name) for name in names]):
            yield ready.result()


def warm(name: str) -> WarmLoop:
    """Compile one loop for its registered types, or load it."""
    import_module(name.partition(":")[0])
    listed = next(each for each in LOOPS.values() if _name(each) == name)
    fast: Any = compiled(listed.function)
    before = process_time()
    for types in listed.types:
        fast.compile(numba_types(types, listed.function.__globals__))
    was_compiled = bool(fast.stats.cache_misses) or fast.stats.cache_path is None
    return WarmLoop(name, fast.stats.cache_path, process_time() - before if was_compiled else 0.0)


def numba_types(written: str, known: dict[str, Any]) -> tuple[Any, ...]:
    """Return numba's types for a loop's arguments; ``known`` has tuples.

    >>> numba_types("const i8[], f8", {})
    (Array(int64, 1, 'C', True, aligned=True), float64)
    """
    return tuple(_numba_type(part, known) for part in _parts(written))


def _numba_type(part: str, known: dict[str, Any]) -> Any:
    import numba

    types: Any = numba.types

    if part.endswith(")"):
        name, _, inside = part[:-1].partition("(")
        return types.BaseTuple.from_types(numba_types(inside, known), known[name])
    word = part.removeprefix("const ")
    kind, bracket, shape = word.partition("[")
    number = getattr(types, _WORDS[kind])
    if not bracket:
        return number
    commas, _, layout = shape.partition("]")
    return types.Array(number, len(commas) + 1, layout or "C", readonly=word != part)


def _parts(written: str) -> Iterator[str]:
    """Yield what stands between commas that are in no bracket."""
    depth, begin = 0, 0
    for place, letter in enumerate(written):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            yield written[begin:place].strip()
            begin = place + 1
    yield written[begin:].strip()
