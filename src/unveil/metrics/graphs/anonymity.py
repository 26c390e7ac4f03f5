"""Anonymity of the nodes of a released graph by degree."""

from math import inf, nan

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.graph.release import NOBODY, GraphRelease
from unveil.metrics._listing import metric

_SOURCE = "Liu and Terzi (2008), k-degree anonymity"


@metric(category="disclosure", per="release", more_means="more private", bounds=(1.0, inf), source=_SOURCE)
def smallest_degree_class(release: GraphRelease) -> float:
    """Return the size of the smallest class of nodes of equal degree.

    Formula: ``min #{released nodes of its degree}`` over nodes with a true match; pseudo nodes count in a class,
    because they cannot be told from others. 1 means that a node is re-identified by its degree alone. k
    means that the release is k-degree anonymous: an attacker who knows only how many neighbors a person has in it is
    left with at least k nodes. NaN where the graph has no nodes.

    >>> from unveil.data.graph import Graph
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3])
    >>> smallest_degree_class(GraphRelease(star, star, np.arange(4)))
    1.0
    """
    sizes = degree_class_sizes(release)
    return float(sizes.min()) if sizes.size else nan


@metric(category="disclosure", per="release", more_means="less private", bounds=(0.0, 1.0), source=_SOURCE)
def unique_degree_share(release: GraphRelease) -> float:
    """Return the share of original nodes with a unique released degree, 0 to 1.

    Formula: ``#{nodes alone in their degree class} / #{original nodes}``. 0 means that everyone shares the number of
    neighbors with a person. 1 means that all nodes are re-identified by it. NaN where the graph has no nodes.

    >>> from unveil.data.graph import Graph
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3])
    >>> unique_degree_share(GraphRelease(star, star, np.arange(4)))
    0.25
    """
    sizes = degree_class_sizes(release)
    return float((sizes == 1).mean()) if sizes.size else nan


def degree_class_sizes(release: GraphRelease) -> IntArray:
    """Return the number of nodes of equal degree, per matched released node."""
    degrees = release.released.degrees
    return np.bincount(degrees)[degrees][release.truth != NOBODY] if degrees.size else degrees
