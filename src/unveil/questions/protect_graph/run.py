"""The question about a protected graph measured: a graph and a protection in, findings out."""

from collections.abc import Sequence

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil._specification import settings_of
from unveil.data.graph import Graph
from unveil.data.graph.release import NOBODY, GraphRelease
from unveil.metrics.graphs.anonymity import degree_class_sizes, smallest_degree_class, unique_degree_share
from unveil.metrics.graphs.utility import graph_utility
from unveil.protections import GraphProtection
from unveil.protections.specification import applied
from unveil.questions.protect_graph.findings import CROWDS, AnonymizeFindings, Degrees
from unveil.report.progress import Progress


def run(
    original: Graph,
    protection: GraphProtection,
    *,
    protect: str,
    rng: np.random.Generator,
    progress: Progress,
    notes: Sequence[str],
) -> AnonymizeFindings:
    """Return what the protection did to the graph; ``protect`` is how it is written. See :func:`unveil.anonymize`."""
    progress("protecting", 0.0)
    release: GraphRelease = applied(protection, original, rng=rng)
    progress("measuring what was lost", 0.5)
    unprotected = GraphRelease(original, original, np.arange(original.nodes))
    return AnonymizeFindings(
        protect=protect,
        settings=settings_of(protection),
        changes=release.changes,
        before=degrees_of(unprotected),
        after=degrees_of(release),
        hidden=hidden_by(unprotected, release) if release.pairing == "node" else None,
        utility=graph_utility(release),
        release=release,
        notes=tuple(dict.fromkeys((*notes, *release.notes, *original.notes))),
    )


def degrees_of(release: GraphRelease) -> Degrees:
    """Return how many neighbours released nodes have."""
    degrees = release.released.degrees
    number, at_least = _at_least(degrees)
    sizes = degree_class_sizes(release)
    return Degrees(
        smallest_class=smallest_degree_class(release),
        unique_share=unique_degree_share(release),
        number=number,
        at_least=at_least,
        alone=int((degrees == 0).sum()),
        crowds=tuple(np.bincount(np.searchsorted(CROWDS, sizes), minlength=len(CROWDS) + 1).tolist()),
    )


def hidden_by(before: GraphRelease, after: GraphRelease) -> int:
    """Return how many nodes have a number of neighbours of their own before, and not after."""
    still = after.truth[after.truth != NOBODY][degree_class_sizes(after) == 1]
    unique = np.flatnonzero(degree_class_sizes(before) == 1)
    return int((~np.isin(unique, still)).sum())


def _at_least(degrees: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return each number of neighbours from 1 that occurs, and the share of nodes with at least that many.

    >>> _at_least(np.array([0, 1, 1, 3]))
    (array([1., 3.]), array([0.75, 0.25]))
    """
    values, counts = np.unique(degrees, return_counts=True)
    share = counts[::-1].cumsum()[::-1] / max(degrees.size, 1)
    return values[values > 0].astype(np.float64), share[values > 0]
