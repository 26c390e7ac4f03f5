"""Elements that lie in the same sets collapsed to one atom, so that a large frame with few sets becomes a small one."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import BoolArray, FloatArray, IntArray

Sets = Sequence[IntArray]

#: Below this share of the frame, elements are numbered anew; above, a table as long as the frame costs less.
_DENSE = 1 / 8
#: Sets that one signature of 64 bits holds, with the sign left alone.
_BITS = 62


class CompactSets(NamedTuple):
    """The sets and the elements of positive weight, on positions 0 to ``width - 1``.

    ``held`` is the element at each position, or None where positions are elements.
    """

    sets: tuple[IntArray, ...]
    elements: IntArray
    weight: FloatArray
    width: int
    held: IntArray | None

    def elements_at(self, places: BoolArray) -> IntArray:
        """Return the elements at these positions, ascending."""
        found = np.flatnonzero(places)
        return found if self.held is None else self.held[found]


class AtomWeights(NamedTuple):
    """The weight of each atom, and the pairs (set, atom inside it), sorted by set and atom."""

    weight: FloatArray
    set_of_pair: IntArray
    atom_of_pair: IntArray


def compact(sets: Sets, elements: IntArray, weight: FloatArray, size: int) -> CompactSets:
    """Return the sets on a frame that is not much larger than they are; weight outside all sets may be lost.

    >>> compact((np.array([70, 90]),), np.array([80, 90]), np.array([0.25, 0.75]), 10_000).elements
    array([1])
    """
    kept = weight > 0
    elements, weight = elements[kept], weight[kept]
    total = sum(one.size for one in sets)
    if total > size * _DENSE:
        return CompactSets(tuple(sets), elements, weight, size, None)
    held = np.unique(np.concatenate(list(sets)))
    place = np.minimum(np.searchsorted(held, elements), held.size - 1)
    inside = held[place] == elements
    moved = tuple(np.searchsorted(held, one) for one in sets)
    return CompactSets(moved, place[inside], weight[inside], held.size, held)


def reach(elements: IntArray) -> IntArray | slice:
    """Return an index for sorted distinct elements that is a slice where they have no gaps, which is much faster.

    >>> reach(np.array([3, 4, 5])), reach(np.array([3, 5]))
    (slice(3, 6, None), array([3, 5]))
    """
    first, last = int(elements[0]), int(elements[-1])
    return slice(first, last + 1) if last - first + 1 == elements.size else elements


def signatures(sets: Sets, width: int) -> NDArray[np.integer]:
    """Return for each element the sets that hold it, as bits of a number; at most 62 sets.

    >>> signatures((np.array([0, 1]), np.array([1, 2])), 4).tolist()
    [1, 3, 2, 0]
    """
    if len(sets) > _BITS:
        raise ValueError(f"a signature holds at most {_BITS} sets, not {len(sets)}")
    # Small numbers move through memory faster.
    kind = np.dtype("u1" if len(sets) <= 8 else "u2" if len(sets) <= 16 else "i8")
    found = np.zeros(width, kind)
    for bit, one in enumerate(sets):
        found[reach(one)] |= kind.type(1 << bit)
    return found


def collapse(problem: CompactSets) -> AtomWeights:
    """Return the atoms of positive weight; those of weight 0 are left out.

    >>> sets = (np.array([0, 1, 2]), np.array([2, 3]))
    >>> atoms = collapse(compact(sets, np.arange(4), np.array([0.25, 0.25, 0.5, 0.0]), 4))
    >>> atoms.weight.tolist(), atoms.set_of_pair.tolist(), atoms.atom_of_pair.tolist()
    ([0.5, 0.5], [0, 0, 1], [0, 1, 1])
    """
    label = np.zeros(problem.width, np.int64)
    for first in range(0, len(problem.sets), _BITS):
        bits = signatures(problem.sets[first : first + _BITS], problem.width)
        values, finer = np.unique(bits, return_inverse=True)
        label = np.unique(label * values.size + finer, return_inverse=True)[1]
    count = int(label.max()) + 1
    weight: FloatArray = np.bincount(label[problem.elements], problem.weight, count).astype(np.float64)
    number = np.cumsum(weight > 0) - 1
    member = label[np.concatenate(problem.sets)]
    owner = np.repeat(np.arange(len(problem.sets)), [one.size for one in problem.sets])
    filled = weight[member] > 0
    pair = np.unique(owner[filled] * count + number[member[filled]])
    return AtomWeights(weight[weight > 0], pair // count, pair % count)
