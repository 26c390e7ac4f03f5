"""The set that is believed most beyond its probability: what decides whether a belief function is below a probability.

Only unions of focal sets need testing: the belief of any other set is that of the union of the focal sets inside it.
Let the excess of a family of focal sets be the sum of their masses minus the probability of their union; then the
greatest excess over all families is the greatest ``Bel(A) - P(A)`` over all sets.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels.mass.atoms import CompactSets, Sets, collapse, compact, reach, signatures
from unveil._kernels.types import BoolArray, FloatArray, IntArray

Family = BoolArray

#: All unions of so many focal sets are tried; 4,096 of them take less than a millisecond.
MOST_UNIONS = 12
#: Flows are whole numbers of 31 bits.
SCALE = 2**30


class WorstSet(NamedTuple):
    """The set ``A`` with the greatest ``Bel(A) - P(A)``, its belief, its probability and the method."""

    elements: IntArray
    belief: float
    probability: float
    method: str

    @property
    def excess(self) -> float:
        """Return how much more is believed than is true; 0 where nothing is, because both are 0 for the empty set."""
        return self.belief - self.probability


def worst_set(sets: Sets, mass: FloatArray, elements: IntArray, probability: FloatArray, size: int) -> WorstSet:
    """Return the set with the greatest ``Bel(A) - P(A)``, the empty set where none exceeds.

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
    """Return the union of a family with its belief, to which focal sets outside the family may add, and probability."""
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
    """Return the probability of the elements of each owner, those without one left out."""
    of = owner[problem.elements]
    return np.bincount(of[of >= 0], problem.weight[of >= 0], count).astype(np.float64)


def _of_unions(problem: CompactSets, mass: FloatArray) -> Family:
    """Return the best of all 2^k families: the probability of a union is what no atom outside of it has."""
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
    """Return the best family of sets any two of which are nested or disjoint; None where two overlap otherwise.

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
    """Return the focal sets that the residual of a greatest flow reaches; none where all mass finds its place.

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
