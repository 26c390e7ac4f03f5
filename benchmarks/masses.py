"""Mass functions: the combination of 1000 x 1000 focal sets beside py_dempster_shafer, same masses and same result.

The peer is py_dempster_shafer, part of the group ``bench``; without it only our times are shown.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, side_by_side
from unveil.guesses.mass_combination import combine
from unveil.guesses.mass_function import MassFunction

FOCAL = 1_000
ELEMENTS = (16, 60)

Masses = list[tuple[list[int], float]]


def masses(elements: int, rng: np.random.Generator) -> Masses:
    """Return random masses on random sets, each element in half of them."""
    sets: NDArray[np.bool_] = rng.random((FOCAL, elements)) < 0.5
    sets[~sets.any(axis=1), 0] = True
    return [(np.flatnonzero(row).tolist(), mass) for row, mass in zip(sets, rng.dirichlet(np.ones(FOCAL)), strict=True)]


def ours(elements: int, several: list[Masses]) -> int:
    """Combine from plain sets on, so that finding the atoms counts too, and write every resulting set out."""
    return len(combine([MassFunction.from_sets(elements, one) for one in several], "dempster").sets)


def theirs(several: list[Any]) -> Any:
    """Combine what the peer has already built."""
    return several[0].combine_conjunctive(several[1])


def peers(several: list[Masses]) -> list[Any] | None:
    """Return the peer's mass functions, or None where it is not installed."""
    try:
        import pyds  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        print("py_dempster_shafer is not installed: it is left out\n")
        return None
    return [pyds.MassFunction([(frozenset(one), mass) for one, mass in masses]) for masses in several]


def differs(found: MassFunction, peer: Any) -> float:
    """Return the largest difference of a mass; infinity where the focal sets are not the same."""
    own = {frozenset(one.tolist()): mass for one, mass in zip(found.sets, found.mass, strict=True)}
    if own.keys() != {frozenset(one) for one in peer}:
        return float("inf")
    return float(max(abs(own[frozenset(one)] - mass) for one, mass in peer.items()))


def rows() -> Iterator[Row]:
    """Yield ours on mass functions that are already built, as the peer's are; ours from and to plain sets; the peer's.

    The result holds its sets as bits, and writes them out as arrays of elements when they are asked for.
    """
    for elements in ELEMENTS:
        rng = np.random.default_rng(elements)
        several = [masses(elements, rng) for _ in range(2)]
        built = [MassFunction.from_sets(elements, one) for one in several]
        case = f"conjunctive, normalized: {FOCAL:,} x {FOCAL:,} focal sets on {elements} elements"
        tasks: dict[str, Callable[[], Any]] = {
            "unveil": partial(combine, built, "dempster"),
            "unveil, from plain sets to arrays of elements": partial(ours, elements, several),
        }
        peer = peers(several)
        if peer is not None:
            off = differs(combine(built, "dempster"), theirs(peer))
            tasks[f"py_dempster_shafer (masses differ by at most {off:.0e})"] = partial(theirs, peer)
        yield from side_by_side(case, tasks, repeat=3)
