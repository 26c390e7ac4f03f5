"""Who is found in a released graph, by an adversary who knows a part of it and some of the people?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil._specification import settings_of
from unveil.ask.graph.findings import AttackedGraph, of_nodes
from unveil.ask.graph.run import World, attack_all, check_repeat, generators
from unveil.attack import AttacksGraph, graph_attack_from
from unveil.data.graph_knowledge import draw_knowledge
from unveil.data.graphs import graph_from
from unveil.guess import Candidates
from unveil.protect import ProtectsGraph, graph_protection_from, protection_text
from unveil.show.limits import Quantity
from unveil.show.metrics import quantity_meanings
from unveil.show.progress import Progress, silent
from unveil.show.trust import trust_of

if TYPE_CHECKING:
    from unveil.show.blocks import Page

SCHEMA = "unveil.graph/1"
#: What a release without any other protection is: names are gone, connections are all there.
UNPROTECTED = "id-removal"
#: Limits can be set for the upper end of the interval of these too.
_WITH_HIGH_END = ("adversary_success_rate", "adversary_overall_success")
_ONE_REPETITION = (
    "There is one repetition, and so no interval: another release, or other knowledge of the adversary, may give other "
    "figures. Repeat it (--repeat 10) to see by how much."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphAnswer:
    """What an adversary finds in a released graph: the figures, and the same as JSON, as a page and as a picture.

    ``found`` has the figures over all repetitions. ``guess`` and ``truth`` are those of the first one, without the
    nodes that the adversary knew before, for metrics of your own. ``notes`` say what a reader has to know.
    """

    found: AttackedGraph = field(repr=False)
    notes: tuple[str, ...]
    guess: Candidates = field(repr=False)
    truth: NDArray[np.int64] = field(repr=False)

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The figures that a limit can be set for: the mean of every metric, and the upper ends of both successes."""
        meaning = meanings()
        values = {each.metric.name: each.mean for each in self.found.metrics}
        values |= {f"{name}_high": self.found.metric(name).high for name in _WITH_HIGH_END}
        worse = {each.metric.name: each.metric.more_means == "less private" for each in self.found.metrics}
        return {
            name: Quantity(
                name=name,
                value=value,
                meaning=meaning[name],
                exceeded_when_undefined=False,
                more_is_worse=worse.get(name, True),
            )
            for name, value in values.items()
        }

    def page(self, *, seed: int | None = None) -> "Page":
        """Return the report as data: what the page and the terminal show."""
        from unveil.ask.graph.view import page

        return page(self.found, notes=self.notes, seed=seed)

    def to_html(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the report as one HTML page that needs no network and names no node."""
        from unveil.show.limits import with_limits
        from unveil.show.page import render

        return render(with_limits(self.page(seed=seed), limits, self.quantities))

    def to_json(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the answer as JSON; undefined figures, and intervals of a single repetition, are null.

        Counts are means over the repetitions; ``repetitions`` has those of each. Rates are means of the rates of the
        repetitions, those of attempts over the repetitions that attempted anything. Each metric has as ``trust`` its
        grade in attacks on graphs (docs/grades.md), such as ``{"graphs": "use"}``, null where it has none.
        """
        from unveil import __version__
        from unveil.show.machine import dumps

        return dumps(
            {
                "schema": SCHEMA,
                "version": __version__,
                **_figures(self.found),
                "notes": list(self.notes),
                "limits": list(limits),
                "seed": seed,
            }
        )

    def plot(self) -> NDArray[Any]:
        """Return matplotlib axes with the nodes of the first repetition, and the probabilities of the true nodes."""
        from matplotlib import pyplot

        from unveil.ask.graph.charts import node_picture, truth_chart
        from unveil.show.draw.lines import draw
        from unveil.show.draw.rings import draw_rings

        _, axes = pyplot.subplots(1, 2, figsize=(11.4, 5.4), layout="constrained")
        draw_rings(node_picture(self.found), axes[0])
        draw(truth_chart(self.found), axes[1])
        row: NDArray[Any] = axes
        return row


def graph(
    original: Any,
    protect: str | ProtectsGraph | None = None,
    attack: str | AttacksGraph = "ns",
    *,
    seed_pairs: int = 50,
    overlap: float = 0.85,
    connected: bool = False,
    repeat: int = 1,
    rng: np.random.Generator,
    progress: Progress = silent,
    notes: Sequence[str] = (),
) -> GraphAnswer:
    """Return how many people an adversary finds in a graph after a protection.

    Each repetition makes a new release, draws new knowledge (which connections and which people the adversary knows)
    and attacks anew, with random numbers of its own. The first repetitions are the same however many there are, and
    release and knowledge are the same whatever the attack.

    Parameters
    ----------
    original
        A Graph, a file, a networkx or igraph graph, a scipy sparse matrix, or whatever
        :func:`unveil.data.graphs.graph_from` takes.
    protect
        The protection, or how it is written, such as ``k-degree:k=5``; None only takes the names away.
    attack
        The attack, or how it is written, such as ``ns`` or ``yg:theta=3``.
    seed_pairs, overlap, connected
        How many people the adversary knows in the release, and the share of the original connections that it knows;
        see :func:`unveil.data.graph_knowledge.draw_knowledge`.
    repeat
        How often all this is done, from 1 to 10,000; an interval needs two.
    rng
        Where chance comes from.
    progress
        Called with the name of a step and the share of all work that is done.
    notes
        Sentences to carry into the report.

    Raises
    ------
    InputError
        If a setting is none, if the protection or the attack cannot work on the graph, or if nothing is left to find.

    Examples
    --------
    >>> from unveil.data import samples
    >>> answer = graph(samples.graph(), "switch:share=0.1", rng=np.random.default_rng(1))
    >>> answer.found.graph, answer.found.repetitions[0].matches.targets
    ((1000, 4622), 950)
    """
    check_repeat(repeat)
    protection = graph_protection_from(protect or UNPROTECTED) if isinstance(protect, str | None) else protect
    attacker = graph_attack_from(attack) if isinstance(attack, str) else attack
    source = graph_from(original)

    def worlds() -> Iterator[World]:
        for number, own in enumerate(generators(rng, repeat)):
            for_protection, for_knowledge, for_attack = own.spawn(3)
            progress("protecting", number / repeat)
            release = protection.apply(source, rng=for_protection)
            knowledge = draw_knowledge(
                release, overlap=overlap, seed_pairs=seed_pairs, connected=connected, rng=for_knowledge
            )
            yield World(
                released=release.released,
                knowledge=knowledge,
                truth=release.truth,
                rng=for_attack,
                notes=(*release.notes, *knowledge.notes),
                paired_by_rank=release.pairing == "rank",
            )

    outcome = attack_all(
        attacker,
        worlds(),
        repeat=repeat,
        progress=progress,
        graph=(source.nodes, source.edges),
        protect=protect.strip() if isinstance(protect, str) else protection_text(protection),
        protect_settings=settings_of(protection),
        overlap=overlap,
        connected=connected,
        given_seeds=False,
    )
    said = dict.fromkeys([*notes, *source.notes, *outcome.notes, *one_repetition(repeat)])
    # The overlap is known to be a number only now: drawing knowledge has checked it.
    found = replace(outcome.found, overlap=float(overlap))
    return GraphAnswer(found=found, notes=tuple(said), guess=outcome.guess, truth=outcome.truth)


def one_repetition(repeat: int) -> tuple[str, ...]:
    """Return the note that there is no interval, where there is none."""
    return (_ONE_REPETITION,) if repeat == 1 else ()


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    said = {name: of_nodes(text) for name, text in quantity_meanings().items()}
    return said | {
        f"{name}_high": f"the upper end of the 95% interval of {name} over the repetitions; undefined, and not "
        "checked, where fewer than two have one (nothing was attempted, or nothing repeated). Exceeded when greater "
        "than VALUE: more is less private"
        for name in _WITH_HIGH_END
    }


def _figures(found: AttackedGraph) -> dict[str, Any]:
    return {
        "graph": None if found.graph is None else dict(zip(("nodes", "edges"), found.graph, strict=True)),
        "protect": found.protect,
        "attack": found.attack,
        "settings": {"protect": dict(found.protect_settings), "attack": dict(found.attack_settings)},
        "scope": found.scope,
        "released": {
            "nodes": found.mean(lambda each: each.released_nodes),
            "edges": found.mean(lambda each: each.released_edges),
        },
        "auxiliary": {
            "nodes": found.mean(lambda each: each.auxiliary_nodes),
            "edges": found.mean(lambda each: each.auxiliary_edges),
        },
        "seed_pairs": found.mean(lambda each: each.seeds),
        "overlap": found.overlap,
        "connected": found.connected,
        "repeat": len(found.repetitions),
        "targets": found.mean(lambda each: each.matches.targets),
        "stand_for_nobody": found.mean(lambda each: each.matches.nobody),
        "truth_unknown": found.mean(lambda each: each.unknown),
        "attempted": found.mean(lambda each: each.matches.attempted),
        "correct": found.mean(lambda each: each.matches.correct),
        "correct_by_chance": found.mean(lambda each: each.matches.by_chance),
        "correct_by_random_mapping": found.mean(lambda each: each.at_random),
        "truth_not_considered": found.mean(lambda each: each.matches.not_considered),
        "metrics": [
            {
                "name": each.metric.name,
                "category": each.metric.category,
                "per": each.metric.per,
                "more_means": each.metric.more_means,
                "mean": each.mean,
                "low": each.low,
                "high": each.high,
                "undefined": each.undefined,
                "why": each.why,
                "trust": trust_of(each.metric.name, ["graphs"]),
            }
            for each in found.metrics
        ],
        "entropy_cut_offs": [dict(vars(each)) for each in found.cut_offs],
        "repetitions": [
            {
                "released": {"nodes": each.released_nodes, "edges": each.released_edges},
                "targets": each.matches.targets,
                "stand_for_nobody": each.matches.nobody,
                "attempted": each.matches.attempted,
                "correct": each.matches.correct,
                "correct_by_random_mapping": each.at_random,
            }
            for each in found.repetitions
        ],
    }
