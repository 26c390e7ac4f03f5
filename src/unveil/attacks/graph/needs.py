"""Cost of mean-field matching, estimated before the run.

The constants were measured on one core of one machine (docs/research/graph-measured.md has the table). Another may
take half of that or twice as long.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels.graph.sparse_field import HEATING, MOST_STEPS
from unveil.data.graph import Graph

#: Bytes for each pair of nodes with all candidates, for each candidate of a node, and for each node of the larger graph
#: while the first candidates are chosen by degree.
BYTES_PER_PAIR, BYTES_PER_CANDIDATE, BYTES_PER_NODE = 64, 80, 20_000
# Seconds for each pair of nodes with all candidates, at least and at most.
_LEAST_PER_PAIR, _MOST_PER_PAIR = 0.6e-6, 3.0e-6
# Seconds of a step for each pair of edges that meet in a node, one of either graph, and for each candidate of a node;
# and once for each pair of nodes that is compared by degree.
_PER_WITNESS, _PER_CANDIDATE, _BY_DEGREE = 2e-8, 4e-7, 1.2e-8
# It settles after this many steps at the least once it is heated.
_LEAST_STEPS = 2


class Needs(NamedTuple):
    """Cost of a run: CPU seconds, memory in GB, and advice."""

    least: float
    most: float
    memory: float
    instead: str

    @property
    def sentence(self) -> str:
        """All of it in one sentence."""
        return (
            f"Each run of mean-field takes about {self.least:,.0f} to {self.most:,.0f} CPU seconds and "
            f"{self.memory:.1f} GB. A further run checks whether both graphs match: {self.instead}."
        )


def needs_of_all(nodes: int, others: int) -> Needs:
    """Return the cost of comparing all pairs of nodes.

    >>> needs_of_all(4_000, 4_000).sentence[:67]
    'Each run of mean-field takes about 10 to 48 CPU seconds and 1.0 GB.'
    """
    pairs = nodes * others
    instead = "candidates=30 takes a fraction of that"
    return Needs(pairs * _LEAST_PER_PAIR, pairs * _MOST_PER_PAIR, pairs * BYTES_PER_PAIR / 1e9, instead)


def needs_of_few(released: Graph, auxiliary: Graph, width: int, *, by_degree: bool) -> Needs:
    """Return the cost of few candidates per node, without the first attack."""
    degree = released.degrees.astype(np.float64)
    # A neighbor of a node is taken for one with about as many neighbors, of which the auxiliary graph has its share.
    witnesses = float((degree**2).sum()) * min(1.0, auxiliary.edges / max(released.edges, 1))
    step = witnesses * _PER_WITNESS + released.nodes * width * _PER_CANDIDATE
    once = released.nodes * auxiliary.nodes * _BY_DEGREE if by_degree else 0.0
    room = released.nodes * width * BYTES_PER_CANDIDATE
    room += max(released.nodes, auxiliary.nodes) * BYTES_PER_NODE if by_degree else 0
    instead = "fewer candidates take less memory, and korula-lattanzi takes a fraction of the time"
    least, most = (once + (len(HEATING) + steps) * step for steps in (_LEAST_STEPS, MOST_STEPS))
    return Needs(least, most, room / 1e9, instead)
