"""What does a graph look like after a protection, and what did that cost?"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil._specification import settings_of
from unveil.data.graph import Graph
from unveil.data.graph.read import graph_from
from unveil.data.graph.release import NOBODY, GraphRelease
from unveil.metrics.graphs.anonymity import degree_class_sizes, smallest_degree_class, unique_degree_share
from unveil.metrics.graphs.utility import graph_utility
from unveil.protections import GraphProtection, graph_protection_from, protection_text
from unveil.protections.specification import applied
from unveil.questions.protect_graph.findings import CROWDS, AnonymizeFindings, Degrees
from unveil.questions.protect_graph.settings import AnonymizeSettings
from unveil.questions.protect_graph.view import VIEW
from unveil.questions.request import OutputFile, Request, Response
from unveil.questions.result import Result
from unveil.questions.settings import takes_settings
from unveil.report.progress import Progress, silent


@takes_settings(AnonymizeSettings)
def protect_graph(
    graph: Any,
    method: str | GraphProtection | None = None,
    settings: AnonymizeSettings | None = None,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    **changes: Any,
) -> Result[AnonymizeFindings]:
    """Protect a graph; compare its structure before and after.

    Parameters
    ----------
    graph
        A Graph, a file, a networkx or igraph graph, a scipy sparse matrix, or any input of
        :func:`unveil.data.graph_from`.
    method
        The protection, or its notation, such as ``k-degree:k=5`` (default: ``k-degree``).
    settings
        All settings as one object; keywords replace single ones.
    rng
        Random generator, instead of ``seed``. Keep it private: it undoes the release.
    progress
        Called with the name of a step and the share of work done.
    notes
        Notes for the report.

    Examples
    --------
    >>> star = ([0, 0, 0], [1, 2, 3])
    >>> answer = protect_graph(star, "id-removal")
    >>> answer.findings.release.released, answer.findings.changes
    (Graph(4 nodes, 3 edges), EdgeChanges(added=0, removed=0, kept=3))
    """
    asked = AnonymizeSettings.merge(settings, changes if method is None else {**changes, "method": method})
    # A slip in the protection is said before a large file is read.
    protection = graph_protection_from(asked.method) if isinstance(asked.method, str) else asked.method
    progress("reading", 0.0)
    original = graph_from(graph).without(directions=asked.undirected, weights=asked.unweighted)
    rng = np.random.default_rng(asked.seed) if rng is None else rng
    written = asked.method.strip() if isinstance(asked.method, str) else protection_text(protection)
    return Result(_run(original, protection, protect=written, rng=rng, progress=progress, notes=notes), VIEW)


def ask(request: Request) -> Response:
    """Answer a request, with the release and the true matches as files."""
    from unveil.data import samples
    from unveil.data.graph.files import write_edges, write_truth

    settings = AnonymizeSettings.of_request(request)
    graph = samples.graph() if settings.edges is None else settings.edges
    answer = protect_graph(graph, settings=settings, progress=request.progress)
    release = answer.findings.release
    return Response(
        answer=answer,
        # In this order: a release whose truth could not be kept would be of no use to its holder.
        outputs={
            "write_truth": OutputFile(
                write=lambda path, **_: write_truth(path, release),
                name="truth.csv",
                said="The true matches are in {}, for internal use",
                is_release=True,
            ),
            "out": OutputFile(
                write=lambda path, **_: write_edges(path, release.released),
                name="released.csv",
                said="The released graph is in {}",
                is_release=True,
            ),
        },
    )


# Protect a graph and measure the release.


def _run(
    original: Graph,
    protection: GraphProtection,
    *,
    protect: str,
    rng: np.random.Generator,
    progress: Progress,
    notes: Sequence[str],
) -> AnonymizeFindings:
    """Return the findings of a protection, written ``protect``; see :func:`unveil.protect_graph`."""
    progress("protecting", 0.0)
    release: GraphRelease = applied(protection, original, rng=rng)
    progress("measuring utility loss", 0.5)
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
    """Return the degree distribution of a release."""
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
    """Return the number of nodes whose degree is no longer unique."""
    still = after.truth[after.truth != NOBODY][degree_class_sizes(after) == 1]
    unique = np.flatnonzero(degree_class_sizes(before) == 1)
    return int((~np.isin(unique, still)).sum())


def _at_least(degrees: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return each degree from 1, and the share of nodes with at least it.

    >>> _at_least(np.array([0, 1, 1, 3]))
    (array([1., 3.]), array([0.75, 0.25]))
    """
    values, counts = np.unique(degrees, return_counts=True)
    share = counts[::-1].cumsum()[::-1] / max(degrees.size, 1)
    return values[values > 0].astype(np.float64), share[values > 0]
