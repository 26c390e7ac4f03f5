"""The set with the greatest excess of belief over probability.

A belief function is below a probability if that excess is 0.

Only unions of focal sets need testing: the belief of any other set is that of the union of the focal sets inside it.
Let the excess of a family of focal sets be the sum of their masses minus the probability of their union; then the
greatest excess over all families is the greatest ``Bel(A) - P(A)`` over all sets.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import BoolArray, FloatArray, IntArray

Family = BoolArray

#: All unions of this many focal sets are tried; 4,096 of them take less than a millisecond.
MOST_UNIONS = 12
#: Flows are whole numbers of 31 bits.
SCALE = 2**30


class WorstSet(NamedTuple):
    """The set ``A`` with the greatest ``Bel(A) - P(A)``, and the method."""

    elements: IntArray
    belief: float
    probability: float
    method: str

    @property
    def excess(self) -> float:
        """Return the excess of belief over probability, at least 0."""
        return self.belief - self.probability


# Elements that lie in the same sets collapsed to one atom, so that a large frame with few sets becomes a small one.

Sets = Sequence[IntArray]

#: Below this share of the frame, elements are numbered again; above, a table as long as the frame costs less.
_DENSE = 1 / 8
#: Sets that one signature of 64 bits holds, with the sign left alone.
_BITS = 62


class CompactSets(NamedTuple):
    """Sets and elements of positive weight, on positions 0 to ``width - 1``.

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
    """Weights of atoms and the sorted pairs (set, atom inside it)."""

    weight: FloatArray
    set_of_pair: IntArray
    atom_of_pair: IntArray


def compact(sets: Sets, elements: IntArray, weight: FloatArray, size: int) -> CompactSets:
    """Return the sets on a smaller frame; weight outside all sets is dropped.

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
    """Return an index of sorted elements, as a fast slice where possible.

    >>> reach(np.array([3, 4, 5])), reach(np.array([3, 5]))
    (slice(3, 6, None), array([3, 5]))
    """
    first, last = int(elements[0]), int(elements[-1])
    return slice(first, last + 1) if last - first + 1 == elements.size else elements


def signatures(sets: Sets, width: int) -> NDArray[np.integer]:
    """Return the sets that hold each element, as bits; at most 62 sets.

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
    """Return the atoms of positive weight.

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


def worst_set(sets: Sets, mass: FloatArray, elements: IntArray, probability: FloatArray, size: int) -> WorstSet:
    """Return the set with the greatest ``Bel(A) - P(A)``, or the empty set.

    ``sets`` are the focal sets, each sorted and distinct, on a frame of ``size`` elements. Exact up to rounding, except
    by flow, where an excess below one in 2^30 for each focal set and atom may go unseen.

    >>> sets, probability = (np.array([0, 1]), np.array([2, 3])), np.array([0.1, 0.1, 0.4, 0.4])
    >>> found = worst_set(sets, np.array([0.6, 0.4]), np.arange(4), probability, 4)
    >>> found.elements, found.belief, found.method
    (array([0, 1]), 0.6, 'disjoint focal sets')
    """
    problem = compact(sets, elements, probability, size)
    family, method = _worst_family(problem, np.asarray(mass, np.float64))
    return _as_set(problem, mass, family, method)


def _worst_family(problem: CompactSets, mass: FloatArray) -> tuple[Family, str]:
    if mass.size == 1:
        return np.ones(1, np.bool_), "one focal set"
    family = _of_disjoint(problem, mass)
    if family is not None:
        return family, "disjoint focal sets"
    if mass.size <= MOST_UNIONS:
        return _of_unions(problem, mass), "unions of focal sets"
    family = _of_nested(problem, mass)
    if family is not None:
        return family, "nested focal sets"
    return _of_flow(problem, mass), "flow"


def _as_set(problem: CompactSets, mass: FloatArray, family: Family, method: str) -> WorstSet:
    """Return the union of a family, with its belief and probability.

    Focal sets outside the family may add to the belief.
    """
    inside = np.zeros(problem.width, np.bool_)
    for number in np.flatnonzero(family):
        inside[reach(problem.sets[number])] = True
    within = np.array(
        [taken or bool(inside[reach(one)].all()) for taken, one in zip(family, problem.sets, strict=True)]
    )
    belief = float(np.sum(mass[within]))
    probability = float(np.sum(problem.weight[inside[problem.elements]]))
    if belief <= probability:
        return WorstSet(np.zeros(0, np.int64), 0.0, 0.0, method)
    return WorstSet(problem.elements_at(inside), belief, probability, method)


def _of_disjoint(problem: CompactSets, mass: FloatArray) -> Family | None:
    """Return the focal sets that exceed by themselves; None where some overlap."""
    member = np.concatenate(problem.sets)
    if member.size > problem.width:
        return None
    owner = np.full(problem.width, -1, np.int64)
    owner[member] = np.repeat(np.arange(mass.size), [one.size for one in problem.sets])
    if np.count_nonzero(owner >= 0) < member.size:
        return None
    return mass > _weight_by(owner, problem, mass.size)


def _weight_by(owner: IntArray, problem: CompactSets, count: int) -> FloatArray:
    """Return the probability of each owner's elements."""
    of = owner[problem.elements]
    return np.bincount(of[of >= 0], problem.weight[of >= 0], count).astype(np.float64)


def _of_unions(problem: CompactSets, mass: FloatArray) -> Family:
    """Return the best of all 2^k families of sets."""
    count = mass.size
    atom = np.bincount(signatures(problem.sets, problem.width)[problem.elements], problem.weight, 1 << count)
    masses = np.zeros(1)
    for number in range(count):
        atom = atom.reshape(-1, 2, 1 << number)
        atom[:, 1] += atom[:, 0]
        masses = np.concatenate([masses, masses + mass[number]])
    missed = atom.ravel()[::-1]  # the atoms all of whose sets lie in the complement of the family
    best = int(np.argmax(masses + missed))
    family: Family = (best >> np.arange(count)) & 1 == 1
    return family


def _of_nested(problem: CompactSets, mass: FloatArray) -> Family | None:
    """Return the best laminar family of sets; None if sets overlap.

    Going from large to small, the sets last seen at the elements of the next one must be one and the same: its parent.
    """
    count = mass.size
    order = np.argsort([-one.size for one in problem.sets], kind="stable")
    parent, owner = np.full(count, -1, np.int64), np.full(problem.width, -1, np.int64)
    for number in order:
        where = reach(problem.sets[number])
        seen = owner[where]
        if (seen != seen[0]).any():
            return None
        parent[number] = seen[0]
        owner[where] = number
    belief, probability = mass.copy(), _weight_by(owner, problem, count)
    below, take = np.zeros(count), np.zeros(count, np.bool_)
    for number in order[::-1]:
        excess = belief[number] - probability[number]
        take[number] = excess > below[number]
        above = parent[number]
        if above >= 0:
            belief[above] += belief[number]
            probability[above] += probability[number]
            below[above] += max(excess, below[number])
    for number in order:  # what lies inside a taken set is taken with it
        take[number] |= parent[number] >= 0 and take[parent[number]]
    return take


def _of_flow(problem: CompactSets, mass: FloatArray) -> Family:
    """Return focal sets reachable in the residual of a maximum flow.

    Masses flow from a source to the focal sets, to the atoms in them, and to a sink as far as their probability goes.
    Masses are rounded down and probabilities up, so that what does not fit exceeds for certain.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    atoms = collapse(problem)
    count, many = mass.size, atoms.weight.size
    supply = np.floor(mass * SCALE).astype(np.int32)
    demand = np.minimum(np.ceil(atoms.weight * SCALE), SCALE).astype(np.int32)
    source, sink, nodes = count + many, count + many + 1, count + many + 2
    tail = np.concatenate([np.full(count, source), atoms.set_of_pair, count + np.arange(many)])
    head = np.concatenate([np.arange(count), count + atoms.atom_of_pair, np.full(many, sink)])
    room = np.concatenate([supply, supply[atoms.set_of_pair], demand])
    graph = csr_array((room, (tail.astype(np.int32), head.astype(np.int32))), shape=(nodes, nodes))
    found = maximum_flow(graph, source, sink)
    if found.flow_value == int(supply.sum()):
        return np.zeros(count, np.bool_)
    flow = found.flow.tocoo()
    sent = flow.data > 0
    moved = csr_array((flow.data[sent], (flow.row[sent], flow.col[sent])), shape=(nodes, nodes))
    left = supply - np.asarray(moved[[source], :count].todense()).ravel()
    back = (flow.row < count) & (flow.col >= count) & (flow.col < source) & sent
    start = np.flatnonzero(left > 0)
    tail = np.concatenate([np.full(start.size, source), atoms.set_of_pair, flow.col[back]])
    head = np.concatenate([start, count + atoms.atom_of_pair, flow.row[back]])
    residual = csr_array((np.ones(tail.size, np.int8), (tail, head)), shape=(nodes, nodes))
    reached = np.zeros(nodes, np.bool_)
    reached[breadth_first_order(residual, source, return_predecessors=False)] = True
    return reached[:count]
