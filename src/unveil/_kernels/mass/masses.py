"""Masses on sets of atoms as bit masks, combined in one pass.

An atom is a block of elements that no focal set tells apart. Up to 63 atoms a set is one int64; beyond, a Python
integer in an array of objects, which every function here takes as well.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import product
from operator import and_
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import FloatArray, IntArray

#: Sets of atoms: int64, or Python integers in an array of objects where there are more than 63 atoms.
Masks = NDArray[Any]
Operation = Callable[[Masks, Masks], Masks]

#: The most atoms whose sets fit into one int64.
WORD = 63
#: The most atoms for which a value for every set of atoms is held at once.
MOST_TABULATED = 22
_PAIRS_AT_ONCE = 2**21
# The transform has a cost of about this many pairs for each set and atom.
_PAIRS_PER_STEP = 4


def mask_type(atoms: int) -> type:
    """Return what sets of that many atoms are held in."""
    return np.int64 if atoms <= WORD else object


def sums_at(position: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Return the sum of the values at each of that many positions.

    >>> sums_at(np.array([1, 1, 0]), np.array([0.5, 0.25, 0.25]), 3)
    array([0.25, 0.75, 0.  ])
    """
    sums: FloatArray = np.bincount(position, values, size).astype(np.float64, copy=False)
    return sums


def sizes_of(masks: Masks, sizes: IntArray) -> IntArray:
    """Return the number of elements of each set, given that of each atom.

    >>> sizes_of(np.array([0b01, 0b11]), np.array([5, 2])).tolist()
    [5, 7]
    """
    total = np.zeros(masks.size, np.int64)
    for atom, size in enumerate(sizes.tolist()):
        total += ((masks >> atom) & 1).astype(np.int64) * size
    return total


def merged(masks: Masks, mass: FloatArray) -> tuple[Masks, FloatArray]:
    """Return each set once, in ascending order, with the sum of its masses.

    >>> merged(np.array([3, 1, 3]), np.array([0.25, 0.25, 0.5]))
    (array([1, 3]), array([0.25, 0.75]))
    """
    if masks.dtype == object:
        sums: dict[int, float] = {}
        for mask, value in zip(masks.tolist(), mass.tolist(), strict=True):
            sums[mask] = sums.get(mask, 0.0) + value
        distinct = sorted(sums)
        return _objects(distinct), np.array([sums[mask] for mask in distinct], np.float64)
    order = np.argsort(masks)
    ordered = masks[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[first], np.add.reduceat(mass[order], first)


def _objects(values: Sequence[int]) -> Masks:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def transformed(values: NDArray[Any], over: Literal["subsets", "supersets"], *, back: bool = False) -> NDArray[Any]:
    """Return subset or superset sums of every atom set, or invert them.

    The value of a set stands at the position that has its atoms as bits, so there are ``2**atoms``. From masses the
    sums over subsets are beliefs, those over supersets commonalities; the way back is the Möbius inversion.

    >>> transformed(np.array([0, 0.25, 0, 0.75]), "subsets")
    array([0.  , 0.25, 0.  , 1.  ])
    >>> transformed(np.array([0, 0.25, 0, 1]), "subsets", back=True)
    array([0.  , 0.25, 0.  , 0.75])
    """
    result = values.copy()
    width = 1
    while width < result.size:
        pairs = result.reshape(-1, 2, width)
        without, holding = pairs[:, 0], pairs[:, 1]
        target, source = (holding, without) if over == "subsets" else (without, holding)
        if back:
            target -= source
        else:
            target += source
        width *= 2
    return result


def combine_pairs(
    one: Masks, mass: FloatArray, other: Masks, other_mass: FloatArray, atoms: int
) -> tuple[Masks, FloatArray]:
    """Return intersections of set pairs, ascending, with summed mass products.

    The empty set is among them if two sets are disjoint. Three ways lead to the same sets: a transform where pairs are
    many for so few atoms, sums at the position of each set where pairs and sets are about as many, else sorting.

    >>> combine_pairs(np.array([1, 3]), np.array([0.5, 0.5]), np.array([2, 3]), np.array([0.5, 0.5]), 2)
    (array([0, 1, 2, 3]), array([0.25, 0.25, 0.25, 0.25]))
    """
    pairs, tabulated = one.size * other.size, atoms <= MOST_TABULATED
    if tabulated and pairs > _PAIRS_PER_STEP * atoms * 2**atoms:
        return _by_transform(one, mass, other, other_mass, atoms)
    if tabulated and 2**atoms <= 4 * pairs:
        return _by_position(one, mass, other, other_mass, atoms)
    return join_pairs(one, mass, other, other_mass, np.bitwise_and)


def join_pairs(
    one: Masks, mass: FloatArray, other: Masks, other_mass: FloatArray, join: Operation
) -> tuple[Masks, FloatArray]:
    """Return joined set pairs, distinct and ascending, with mass products."""
    found, sums = [], []
    for rows in _chunks(one.size, other.size):
        sets = join(one[rows, None], other).ravel()
        part, total = merged(sets, np.multiply.outer(mass[rows], other_mass).ravel())
        found.append(part)
        sums.append(total)
    return (found[0], sums[0]) if len(found) == 1 else merged(np.concatenate(found), np.concatenate(sums))


def _chunks(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _PAIRS_AT_ONCE // max(1, columns))
    return (slice(low, low + step) for low in range(0, rows, step))


def _by_position(
    one: Masks, mass: FloatArray, other: Masks, other_mass: FloatArray, atoms: int
) -> tuple[Masks, FloatArray]:
    sums = np.zeros(2**atoms)
    for rows in _chunks(one.size, other.size):
        sets = np.bitwise_and(one[rows, None], other).ravel()
        sums += sums_at(sets, np.multiply.outer(mass[rows], other_mass).ravel(), 2**atoms)
    found = np.flatnonzero(sums)
    return found, sums[found]


def _by_transform(
    one: Masks, mass: FloatArray, other: Masks, other_mass: FloatArray, atoms: int
) -> tuple[Masks, FloatArray]:
    """Return the product of commonalities, with exact pair counts."""
    sums, pairs = np.ones(2**atoms), np.ones(2**atoms, np.int64)
    for masks, weights in ((one, mass), (other, other_mass)):
        sums *= transformed(sums_at(masks, weights, 2**atoms), "supersets")
        pairs *= transformed(np.bincount(masks, minlength=2**atoms), "supersets")
    sums = transformed(sums, "supersets", back=True)
    pairs = transformed(pairs, "supersets", back=True)
    found = np.flatnonzero((pairs > 0) & (sums > 0))
    return found, sums[found]


def tuples(masks: Sequence[Masks], masses: Sequence[FloatArray]) -> Iterator[tuple[list[Masks], list[FloatArray]]]:
    """Yield all tuples of sets, one per family, in batches."""
    last = masks[-1].size
    heads = product(*(range(part.size) for part in masks[:-1]))
    step = max(1, _PAIRS_AT_ONCE // (last * len(masks)))
    while portion := [head for head, _ in zip(heads, range(step), strict=False)]:
        at = np.array(portion, np.int64).reshape(len(portion), -1)
        sets = [np.repeat(part[at[:, k]], last) for k, part in enumerate(masks[:-1])]
        weights = [np.repeat(part[at[:, k]], last) for k, part in enumerate(masses[:-1])]
        yield [*sets, np.tile(masks[-1], len(portion))], [*weights, np.tile(masses[-1], len(portion))]


def common_part(sets: Sequence[Masks]) -> Masks:
    """Return the intersection of the sets at each position."""
    part: Masks = reduce(and_, sets)
    return part
