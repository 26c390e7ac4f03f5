"""Random perfect matchings of a nonnegative square matrix: permanents, edge marginals and cracks.

``solve`` and ``permanent`` choose the method; the other names are for those who want one of their own.
"""

from unveil._kernels.matching.answers import LogPermanent, MatchingAnswer
from unveil._kernels.matching.bethe import Bethe, Scaling, bethe, sinkhorn
from unveil._kernels.matching.blocks import MatchingBlock, convolve, decompose
from unveil._kernels.matching.dispatch import permanent, solve
from unveil._kernels.matching.edges import Edges, TooLargeError, as_edges, edge_at, edges_of
from unveil._kernels.matching.hall import NoPerfectMatchingError, maximum_matching, perfect_matching, random_matching

__all__ = [
    "Bethe",
    "Edges",
    "LogPermanent",
    "MatchingAnswer",
    "MatchingBlock",
    "NoPerfectMatchingError",
    "Scaling",
    "TooLargeError",
    "as_edges",
    "bethe",
    "convolve",
    "decompose",
    "edge_at",
    "edges_of",
    "maximum_matching",
    "perfect_matching",
    "permanent",
    "random_matching",
    "sinkhorn",
    "solve",
]
