"""Share out each mass among the atoms of its set so that the totals are a given probability."""

import numpy as np

from unveil._kernels.mass.flow import Flow, largest_flow
from unveil._kernels.mass.masses import sums_at
from unveil._kernels.types import BoolArray, FloatArray, IntArray

# What a flow carries below this is rounding.
_NOTHING = 1e-12
_CLOSE = 1e-14
_MOST_ROUNDS = 20_000


def allocate(start: IntArray, atom: IntArray, mass: FloatArray, probability: FloatArray) -> tuple[FloatArray, Flow]:
    """Return how much of its mass each set gives to each of its atoms, and a flow that says whether that is possible.

    The atoms of set ``k`` are ``atom[start[k]:start[k + 1]]``. Of all ways to share out, this is the one nearest (in
    relative entropy) to giving in proportion to the probability: there is only one such, so neither the order of the
    sets nor that of the atoms matters. Where the flow is short, no way exists and what is returned means nothing.

    >>> allocate(np.array([0, 1, 3]), np.array([0, 0, 1]), np.array([0.25, 0.75]), np.array([0.5, 0.5]))[0]
    array([0.25, 0.25, 0.5 ])
    """
    flow = largest_flow(start, atom, mass, probability)
    owner = np.repeat(np.arange(mass.size), np.diff(start))
    possible = _possible(owner, atom, flow.carried > _NOTHING, mass.size, probability.size)
    shares: FloatArray = mass[owner] * probability[atom] * possible
    for _ in range(_MOST_ROUNDS):
        shares *= _ratio(probability, sums_at(atom, shares, probability.size))[atom]
        given = sums_at(owner, shares, mass.size)
        shares *= _ratio(mass, given)[owner]
        if np.abs(given - mass).max() <= _CLOSE:
            return shares, flow
    # So slow only where sets and atoms hang together by next to nothing: any way to share out then differs by little.
    return flow.carried, flow


def _ratio(wanted: FloatArray, have: FloatArray) -> FloatArray:
    return np.divide(wanted, have, out=np.zeros_like(wanted), where=have > 0)


def _possible(owner: IntArray, atom: IntArray, carries: BoolArray, sets: int, atoms: int) -> BoolArray:
    """Return which shares are above 0 in some way to share out: those in this flow, and those it can be turned into.

    Proportional fitting to what has to be 0 would never end.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    source = np.concatenate([owner, sets + atom[carries]])
    target = np.concatenate([sets + atom, owner[carries]])
    graph = csr_matrix((np.ones(source.size, np.int8), (source, target)), (sets + atoms, sets + atoms))
    part = connected_components(graph, connection="strong")[1]
    together: BoolArray = carries | (part[owner] == part[sets + atom])
    return together
