"""Switch: pairs of edges exchange their ends, so that everybody keeps as many connections."""

from dataclasses import dataclass
from math import floor

import numpy as np

from unveil._kernels.graph.switching import TRIES, SwitchingResult, switched_edges
from unveil._kernels.random import fresh_state
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import share
from unveil.guesses.partition import exact_fraction
from unveil.protections._listing import protection
from unveil.protections.graph._release import check_edges, counted, graph_release


@protection(
    source='Ying and Wu, "Randomizing social networks: a spectrum preserving approach", 2008',
    aka=("Rand Switch", "rewiring"),
    least_rows=2,
    needs_edges=True,
    keeps=("node count", "edge count", "degrees"),
    exchanges="share",
)
@dataclass(frozen=True, kw_only=True)
class Switch:
    """Let two edges drawn at random exchange their ends, again and again; every node keeps its degree.

    Two edges t-w and u-v become t-v and u-w if these are four nodes and neither new edge is, or ever was, in the
    graph. An edge takes part in one switch at most. So every switch replaces exactly two edges of the original by new
    ones, and none is undone: a share r of switches changes a share 2 r of the edges. The number of switches is the
    largest whole number up to ``share`` times the number of edges.

    A switch is given up after 100 draws that do not fit, and all draws together are bounded by the number of edges. On
    graphs in which few pairs fit (a star, a complete graph) fewer are done than asked for, perhaps none; the notes then
    say so. Nobody's degree is hidden: whoever knows how many connections somebody has finds the same number here.

    Parameters
    ----------
    share
        How many switches to do, as a share of the edges, from 0 to 1. 0 changes nothing; more than 0.5 cannot be done,
        because each switch uses up two edges.

    Examples
    --------
    >>> ring = Graph.from_edges(range(40), [*range(1, 40), 0])
    >>> release = Switch(share=0.1).apply(ring, rng=np.random.default_rng(1))
    >>> dict(release.facts)
    {'switches asked for': 4, 'switches done': 4, 'edges changed': 8}
    """

    share: float = 0.05

    def __post_init__(self) -> None:
        share(self.share, "share")

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the graph after the switches, with nodes numbered at random."""
        check_edges(original, what="switch")
        asked = floor(exact_fraction(self.share, what="share") * original.edges)
        switched = switched_edges(original.start, original.neighbour, original.keys, asked, fresh_state(rng))
        return graph_release(
            original,
            switched.keys,
            name="switch",
            rng=rng,
            notes=_notes(self.share, original.edges, asked, switched),
            facts={
                "switches asked for": asked,
                "switches done": switched.done,
                "edges changed": 2 * switched.done,
            },
        )


def _notes(share: float, edges: int, asked: int, switched: SwitchingResult) -> tuple[str, ...]:
    """Say why fewer edges were switched than a reader would expect."""
    if asked == 0 and share > 0:
        return (
            f"no edge was switched: a share of {share} of {counted(edges, 'edge', 'edges')} is less than one switch",
        )
    if switched.done == asked:
        return ()
    done, left = switched.done, edges - 2 * switched.done
    head = f"{done:,} of {counted(asked, 'switch', 'switches')} {'was' if done == 1 or asked == 1 else 'were'} done:"
    if left < 2:
        return (f"{head} each uses up two edges, and {'none' if left == 0 else 'only 1'} was left",)
    undone = "it was" if asked == 1 else "all were" if done == 0 else "the rest was"
    return (
        f"{head} {undone} given up, because up to {TRIES} draws for each found no two edges whose ends could be "
        "exchanged without an edge that is or was there; few pairs fit in a dense graph, or where most edges meet",
    )
