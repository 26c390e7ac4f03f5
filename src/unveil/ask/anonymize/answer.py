"""What does a graph look like after a protection, and what did that cost?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil._specification import settings_of
from unveil.data.graph_release import GraphRelease
from unveil.data.graphs import graph_from
from unveil.data.ledger import Ledger
from unveil.measure import METRICS
from unveil.measure.graph_anonymity import smallest_degree_class, unique_degree_share
from unveil.measure.graph_utility import Lost, graph_utility
from unveil.protect import ProtectsGraph, graph_protection_from, protection_text
from unveil.show.limits import Quantity
from unveil.show.progress import Progress, silent

if TYPE_CHECKING:
    from unveil.show.blocks import Page

SCHEMA = "unveil.anonymize/1"
_OWN_MEANINGS = {
    "pseudo_node_share": "released nodes that stand for nobody, as a share of the original nodes",
    "epsilon": "what a differentially private release spent, which is a bound on what it gives away; infinite for all "
    "others",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class AnonymizeAnswer:
    """A released graph with its truth: what changed, what that cost, and the same as JSON, as a page and a picture.

    ``protect`` is the protection as it is written, ``settings`` are all its settings, ``utility`` is what the release
    lost.
    """

    release: GraphRelease = field(repr=False)
    protect: str
    settings: Mapping[str, str]
    utility: tuple[Lost, ...] = field(repr=False)
    notes: tuple[str, ...]

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The figures that a limit can be set for: what was lost, how far degrees give nodes away, what was spent."""
        ledger, release = self.release.ledger, self.release
        values = {each.metric.name: each.value for each in self.utility}
        values |= {
            "smallest_degree_class": smallest_degree_class(release),
            "unique_degree_share": unique_degree_share(release),
            "pseudo_node_share": release.pseudo_nodes / release.original.nodes if release.original.nodes else np.nan,
            "epsilon": np.inf if ledger is None else ledger.total(),
        }
        meaning = meanings()
        return {
            name: Quantity(
                name=name,
                value=value,
                meaning=meaning[name],
                exceeded_when_undefined=False,
                more_is_worse=name not in METRICS or METRICS[name].more_means != "more private",
            )
            for name, value in values.items()
        }

    def page(self, *, seed: int | None = None) -> "Page":
        """Return the report as data: what the page and the terminal show."""
        from unveil.ask.anonymize.view import page

        return page(
            self.release, self.utility, protect=self.protect, settings=self.settings, notes=self.notes, seed=seed
        )

    def to_html(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the report as one HTML page that needs no network and names no node."""
        from unveil.show.limits import with_limits
        from unveil.show.page import render

        return render(with_limits(self.page(seed=seed), limits, self.quantities))

    def to_json(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the answer as JSON; undefined figures are null."""
        from unveil import __version__
        from unveil.show.machine import dumps

        release, (added, removed, kept) = self.release, self.release.changes
        return dumps(
            {
                "schema": SCHEMA,
                "version": __version__,
                "graph": {"nodes": release.original.nodes, "edges": release.original.edges},
                "protect": self.protect,
                "settings": dict(self.settings),
                "kind": release.kind,
                "pairing": release.pairing,
                "released": {"nodes": release.released.nodes, "edges": release.released.edges},
                "changed": {"added": added, "removed": removed, "kept": kept, "pseudo_nodes": release.pseudo_nodes},
                "facts": dict(release.facts),
                "degrees": {
                    "smallest_class": smallest_degree_class(release),
                    "unique_share": unique_degree_share(release),
                },
                "utility": {
                    each.metric.name: {
                        "value": each.value,
                        "before": each.before,
                        "after": each.after,
                        "sampled": each.sampled,
                    }
                    for each in self.utility
                },
                "ledger": None if release.ledger is None else ledger_rows(release.ledger),
                "notes": list(self.notes),
                "limits": list(limits),
                "seed": seed,
            }
        )

    def plot(self) -> NDArray[Any]:
        """Return matplotlib axes with the distribution of degrees before and after."""
        from unveil.ask.anonymize.charts import degree_chart
        from unveil.show.draw.lines import draw_all

        return draw_all([degree_chart(self.release)])


def anonymize(
    graph: Any,
    protect: str | ProtectsGraph,
    *,
    rng: np.random.Generator,
    progress: Progress = silent,
    notes: Sequence[str] = (),
) -> AnonymizeAnswer:
    """Return the graph after a protection, with what changed and what it cost.

    Parameters
    ----------
    graph
        A Graph, a file, a networkx or igraph graph, a scipy sparse matrix, or whatever
        :func:`unveil.data.graphs.graph_from` takes.
    protect
        The protection, or how it is written, such as ``k-degree:k=5``.
    rng
        Draws the random numbers of nodes, and whatever the protection draws. Whoever can make it again undoes the
        release: for one that is published, pass ``numpy.random.default_rng()`` without a seed.
    progress
        Called with the name of a step and the share of it that is done.
    notes
        Sentences to carry into the report.

    Examples
    --------
    >>> star = ([0, 0, 0], [1, 2, 3])
    >>> answer = anonymize(star, "id-removal", rng=np.random.default_rng(1))
    >>> answer.release.released, answer.release.changes
    (Graph(4 nodes, 3 edges), EdgeChanges(added=0, removed=0, kept=3))
    """
    original = graph_from(graph)
    protection = graph_protection_from(protect) if isinstance(protect, str) else protect
    progress("protecting", 0.0)
    release = protection.apply(original, rng=rng)
    progress("measuring what was lost", 0.5)
    return AnonymizeAnswer(
        release=release,
        protect=protect.strip() if isinstance(protect, str) else protection_text(protection),
        settings=settings_of(protection),
        utility=graph_utility(release),
        notes=tuple(dict.fromkeys((*notes, *release.notes, *original.notes))),
    )


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    listed = [metric for metric in METRICS.values() if metric.on == "GraphRelease"]
    said = {}
    for metric in listed:
        side = "less" if metric.more_means == "more private" else "greater"
        what = metric.summary.removeprefix("Return ").rstrip(".")
        said[metric.name] = f"{what}. Exceeded when {side} than VALUE: more is {metric.more_means}"
    return said | _OWN_MEANINGS


def ledger_rows(ledger: Ledger) -> dict[str, Any]:
    """Return the accounts of a differentially private release under their names in JSON."""
    return {
        "epsilon": ledger.epsilon,
        "total": ledger.total(),
        "public": list(ledger.public),
        "queries": [dict(vars(query)) for query in ledger.queries],
    }
