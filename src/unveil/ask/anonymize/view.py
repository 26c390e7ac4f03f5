"""The page that answers: what does the graph look like after the protection, and what did that cost?"""

from collections.abc import Mapping, Sequence
from importlib.metadata import version as installed_version

from unveil.ask.anonymize.charts import degree_chart
from unveil.data.graph_release import GraphRelease
from unveil.data.ledger import Ledger
from unveil.measure.graph_anonymity import smallest_degree_class, unique_degree_share
from unveil.measure.graph_utility import Lost
from unveil.show.blocks import Block, Number, Page, Section, Table
from unveil.show.text import count, decimal, percent, significant


def page(
    release: GraphRelease,
    utility: Sequence[Lost],
    *,
    protect: str,
    settings: Mapping[str, str],
    notes: Sequence[str] = (),
    seed: int | None = None,
) -> Page:
    """Return the whole report as data; :func:`unveil.show.page.render` turns it into HTML. It names no node."""
    counted = fact_table(release)
    has_edges = release.original.edges + release.released.edges > 0
    sections = [
        Section(heading="What changed", lead="", blocks=(*change_numbers(release), *([counted] if counted else []))),
        Section(
            heading="Neighbours, before and after",
            lead="Whoever knows how many connections somebody has looks for that number first.",
            blocks=(*degree_numbers(release), *([degree_chart(release)] if has_edges else [])),
        ),
        Section(
            heading="What the release is still good for",
            lead="Each figure is 0 where nothing was lost.",
            blocks=(utility_table(utility),),
        ),
    ]
    if release.ledger is not None:
        sections.append(ledger_section(release.ledger))
    return Page(
        title="A protected graph",
        question=f"What does {protect} do to a graph of {count(release.original.nodes, 'node', 'nodes')}?",
        headline=headline(release, protect),
        tone="neutral",
        sections=tuple(sections),
        method=_method(release, protect, settings),
        untested=_UNTESTED,
        notes=tuple(notes),
        seed=seed,
        version=installed_version("unveil"),
    )


def headline(release: GraphRelease, protect: str) -> str:
    """Return what was done and what changed, in one sentence."""
    added, removed, _ = release.changes
    edges = release.original.edges
    if release.kind == "synthetic":
        drawn = count(release.released.edges, "edge", "edges")
        what = f"drew a new graph with {drawn}, where the original has {edges:,}"
    elif added == removed == 0:
        what = f"kept {_all(edges)} and only numbered the nodes at random"
    else:
        lost = f"removed {removed:,} of {count(edges, 'edge', 'edges')}" if removed else f"kept {_all(edges)}"
        what = f"{lost} and added {added:,}" if added else lost
    pseudo = count(release.pseudo_nodes, "pseudo node", "pseudo nodes")
    return f"The protection {protect} {what}{f', with {pseudo}' if release.pseudo_nodes else ''}."


def _all(edges: int) -> str:
    return "the only edge" if edges == 1 else f"all {edges:,} edges"


def change_numbers(release: GraphRelease) -> tuple[Number, ...]:
    """Return the counts of what changed, each with what it means."""
    added, removed, kept = release.changes
    original, released = release.original, release.released
    numbers = [
        Number(
            label="Edges kept",
            value=f"{kept:,} of {original.edges:,}",
            meaning="Nodes are nobody's and were paired by the rank of their degree: these are the same by chance."
            if release.pairing == "rank"
            else "A connection that stays can be found by whoever knows it.",
        ),
        Number(
            label="Edges added",
            value=f"{added:,}",
            meaning="So many released connections join nodes that were not connected.",
        ),
        Number(
            label="Edges removed",
            value=f"{removed:,}",
            meaning="So many connections of the original cannot be seen in the release.",
        ),
    ]
    if release.pseudo_nodes:
        numbers.append(
            Number(
                label="Pseudo nodes",
                value=f"{release.pseudo_nodes:,}",
                meaning=f"Of the {released.nodes:,} released nodes, so many stand for nobody.",
            )
        )
    return tuple(numbers)


def fact_table(release: GraphRelease) -> Table | None:
    """Return what the protection counted on its way, or None where it counted nothing."""
    rows = tuple((name, decimal(value)) for name, value in release.facts.items())
    if not rows:
        return None
    return Table(caption="What the protection counted", columns=("what", "number"), rows=rows, align=("left", "right"))


def degree_numbers(release: GraphRelease) -> tuple[Number, ...]:
    """Return how far the number of neighbours gives nodes away, in the original and in the release."""
    import numpy as np

    plain = GraphRelease(release.original, release.original, np.arange(release.original.nodes))
    return (
        Number(
            label="Smallest class of nodes with equal degree",
            value=f"{decimal(smallest_degree_class(plain))} before, {decimal(smallest_degree_class(release))} after",
            meaning="So many nodes are left at least to whoever knows only how many neighbours somebody has in it.",
        ),
        Number(
            label="Nodes with a degree of their own",
            value=f"{percent(unique_degree_share(plain))} before, {percent(unique_degree_share(release))} after",
            meaning="Nodes of a graph that is drawn anew are nobody's: a degree of its own finds nobody in the release."
            if release.pairing == "rank"
            else "These nodes are found by their number of neighbours alone.",
        ),
    )


def utility_table(utility: Sequence[Lost]) -> Table:
    """Return what was lost, one row per figure, with the value before and after where there is one."""
    rows = tuple(
        (
            each.metric.name.replace("_", " "),
            decimal(each.value) + (" (sampled)" if each.sampled else ""),
            each.quantity,
            *(("", "") if not each.quantity else (decimal(each.before), decimal(each.after))),
            each.metric.summary.removeprefix("Return ").rstrip("."),
        )
        for each in utility
    )
    return Table(
        caption="What was lost",
        columns=("figure", "loss", "of", "original", "released", "what the loss is"),
        rows=rows,
        align=("left", "right", "left", "right", "right", "left"),
        prose=True,
    )


def ledger_section(ledger: Ledger) -> Section:
    """Return the accounts of a differentially private release."""
    spent: Block = Number(
        label="Spent",
        value=f"{significant(ledger.total(), digits=4)} of epsilon = {significant(ledger.epsilon, digits=4)}",
        meaning="Whatever an adversary believes about one connection changes by a factor of at most e to that power. "
        f"Public, and so not protected: {'; '.join(ledger.public)}.",
    )
    return Section(
        heading="The ledger",
        lead="Every question that was asked of the original to make the release, with the noise in its answer. The "
        "other figures of this page compare with the original without any noise: they are for whoever holds it.",
        blocks=(spent, ledger_table(ledger)),
    )


def ledger_table(ledger: Ledger) -> Table:
    """Return one row per question that was asked of the private graph."""
    rows = tuple(
        (
            query.name,
            query.mechanism,
            f"{query.answers:,}",
            significant(query.sensitivity, digits=4),
            significant(query.scale, digits=4),
            significant(query.cost, digits=4),
            "alone" if query.part is None else f"shared by {query.part}",
        )
        for query in ledger.queries
    )
    return Table(
        caption="Questions and their cost",
        columns=("question", "noise", "answers", "sensitivity", "scale of noise", "cost", "counted"),
        rows=rows,
        align=("left", "left", "right", "right", "right", "right", "left"),
        note="Questions that share a part look at disjoint edges and cost as much as the dearest of them.",
        prose=True,
    )


def _method(release: GraphRelease, protect: str, settings: Mapping[str, str]) -> tuple[str, ...]:
    told = ", ".join(f"{name}={value}" for name, value in settings.items())
    sentences = [
        f"The original graph was protected by {protect.partition(':')[0]}{f' with {told}' if told else ''}, and its "
        "nodes were numbered at random."
    ]
    if release.pairing == "rank":
        sentences.append(
            "The released graph is drawn anew and its nodes are nobody's. To measure attacks, each was paired with the "
            "original node whose degree has the same rank; that pairing is no part of the release."
        )
    sentences.append("Edges are compared by the nodes they stand for, not by their released numbers.")
    return tuple(sentences)


_UNTESTED = (
    "Whether an adversary finds people in the release all the same: 'unveil graph' attacks it.",
    "What else is published about the nodes, such as attributes, times or texts.",
)
