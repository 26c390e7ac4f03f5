"""Pairing of synthetic and original nodes by degree rank, for evaluation."""

import numpy as np

from unveil._kernels.graph.rows import edge_keys, ends_of
from unveil._kernels.types import IntArray

#: What the notes of such a release say.
PAIRED = (
    "the graph is synthetic: its nodes correspond to no person. For evaluation only, each node is paired with an "
    "original node by the rank of its degree; the pairing is not released"
)


def paired_by_rank(keys: IntArray, degrees: IntArray, *, rng: np.random.Generator) -> IntArray:
    """Return synthetic edge keys, nodes numbered by original degree rank.

    Nodes of equal degree are ranked at random, in both graphs.

    >>> star = np.array([1, 6, 7])  # node 1 is joined to 0, 2 and 3
    >>> np.sort(paired_by_rank(star, np.array([0, 1, 1, 3]), rng=np.random.default_rng(1)))
    array([ 3,  7, 11])
    """
    nodes = degrees.size
    one, other = ends_of(keys, nodes)
    drawn = np.bincount(np.concatenate([one, other]), minlength=nodes)
    number = np.empty(nodes, np.int64)
    number[np.lexsort((rng.random(nodes), drawn))] = np.lexsort((rng.random(nodes), degrees))
    return edge_keys(number[one], number[other], nodes)
