"""How many neighbours nodes have, before and after a protection: a picture as data."""

import numpy as np
from numpy.typing import NDArray

from unveil.data.graph import Graph
from unveil.data.graph_release import GraphRelease
from unveil.show.blocks import Chart, Series, Style
from unveil.show.scale import FloatArray, thin


def degree_chart(release: GraphRelease) -> Chart:
    """Return the share of nodes with at least so many neighbours, before and after, both axes in powers of ten."""
    before, after = release.original, release.released
    most = max(int(before.degrees.max(initial=1)), int(after.degrees.max(initial=1)), 1)
    fewest = min(1 / max(before.nodes, 1), 1 / max(after.nodes, 1))
    left_out = [
        f"{int((graph.degrees == 0).sum()):,} of {graph.nodes:,} {when}"
        for graph, when in ((before, "before"), (after, "after"))
        if (graph.degrees == 0).any()
    ]
    without = f" Nodes without a neighbour are not drawn: {' and '.join(left_out)}." if left_out else ""
    return Chart(
        title="How many neighbours nodes have",
        x_label="number of neighbours",
        y_label="share of nodes with at least so many",
        series=(_line(before, "original", "first"), _line(after, "released", "second")),
        caption="Where both lines lie on one another, as many nodes of the release have so many neighbours as of the "
        f"original; where they part, it is less like the original.{without}",
        x_range=(0.0, float(np.log10(most)) or 1.0),
        y_range=(float(np.log10(fewest)), 0.0) if fewest < 1 else (-1.0, 0.0),
        x_kind="power",
        y_kind="power of share",
    )


def _line(graph: Graph, name: str, style: Style) -> Series:
    degree, share = at_least(graph.degrees)
    x, y = thin(np.log10(degree), np.log10(share)) if degree.size else (degree, share)
    return Series(name=name, x=x, y=y, style=style)


def at_least(degrees: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Return each number of neighbours from 1 that occurs, and the share of nodes with at least that many.

    >>> at_least(np.array([0, 1, 1, 3]))
    (array([1., 3.]), array([0.75, 0.25]))
    """
    values, counts = np.unique(degrees, return_counts=True)
    share = counts[::-1].cumsum()[::-1] / max(degrees.size, 1)
    return values[values > 0].astype(np.float64), share[values > 0]
