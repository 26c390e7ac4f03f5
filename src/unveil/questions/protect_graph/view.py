"""How the findings about a protected graph are shown: JSON, limits, table, page and pictures."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.data.graph.release import GraphRelease
from unveil.data.ledger import Ledger
from unveil.metrics import METRICS
from unveil.metrics.graphs.utility import UtilityLoss
from unveil.questions.protect_graph.findings import CROWDS, AnonymizeFindings, Degrees
from unveil.questions.protect_graph.words import explanation, headline, next_steps
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import Block, Chart, Number, Page, Section, Series, Style, TableBlock
from unveil.report.limits import Quantity
from unveil.report.scale import thin
from unveil.report.terminal import Part, opening
from unveil.report.text import count, decimal, significant

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

_OWN_MEANINGS = {
    "pseudo_node_share": "released nodes that stand for nobody, as a share of the original nodes",
    "epsilon": "what a differentially private release spent, which is a bound on what it gives away; infinite for all "
    "others",
}


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    listed = [metric for metric in METRICS.values() if metric.on == "GraphRelease"]
    said = {}
    for metric in listed:
        side = "less" if metric.more_means == "more private" else "greater"
        what = metric.summary.removeprefix("Return ").rstrip(".")
        said[metric.name] = f"{what}. Exceeded when {side} than VALUE: more is {metric.more_means}"
    return said | _OWN_MEANINGS


def quantities(findings: AnonymizeFindings) -> dict[str, Quantity]:
    """Return what a limit can be set for: what was lost, how far degrees give nodes away, what was spent."""
    release = findings.release
    values = {each.metric.name: each.value for each in findings.utility}
    values |= {
        "smallest_degree_class": findings.after.smallest_class,
        "unique_degree_share": findings.after.unique_share,
        "pseudo_node_share": release.pseudo_nodes / release.original.nodes if release.original.nodes else np.nan,
        "epsilon": np.inf if release.ledger is None else release.ledger.total,
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


def frame(findings: AnonymizeFindings) -> "pl.DataFrame":
    """Return one row per figure of what the release lost."""
    import polars as pl

    names = ("value", "quantity", "before", "after", "sampled", "why")
    rows = [{"name": each.metric.name, **{name: getattr(each, name) for name in names}} for each in findings.utility]
    return pl.DataFrame(rows).with_columns(pl.col("value", "before", "after").fill_nan(None))


def plot(findings: AnonymizeFindings) -> "NDArray[Any]":
    """Return matplotlib axes with crowds of nodes and the distribution of degrees, before and after."""
    from unveil.report.draw.lines import draw_all

    return draw_all([crowd_chart(findings), degree_chart(findings)])


def crowd_chart(findings: AnonymizeFindings) -> Chart:
    """Return how many nodes hide in crowds of which size, before and after; a crowd has as many neighbours each."""
    names = ["unique"]
    names += [f"one of {low + 1} to {high}" for low, high in pairwise(CROWDS)]
    names.append(f"one of {CROWDS[-1] + 1} or more")
    both: tuple[tuple[Degrees, str, Style], ...] = (
        (findings.before, "before", "first"),
        (findings.after, "after", "second"),
    )
    shares = [np.array(degrees.crowds) / max(sum(degrees.crowds), 1) for degrees, _, _ in both]
    return Chart(
        title="How many nodes have as many neighbours",
        x_label="share of nodes",
        y_label="",
        series=tuple(
            Series(name=name, x=share, y=np.arange(len(names), dtype=np.float64), style=style, kind="points")
            for (_, name, style), share in zip(both, shares, strict=True)
        ),
        caption="A node is unique where no other has as many neighbours: whoever knows that number finds it. The "
        "larger its crowd, the better it hides.",
        x_range=(0.0, max(float(np.max(shares)), 0.01)),
        x_kind="share",
        rows=tuple(names),
    )


def degree_chart(findings: AnonymizeFindings) -> Chart:
    """Return the share of nodes with at least so many neighbours, before and after, both axes in powers of ten."""
    both = (
        (findings.release.original, findings.before, "before"),
        (findings.release.released, findings.after, "after"),
    )
    most = max(float(degrees.number.max(initial=1.0)) for _, degrees, _ in both)
    fewest = min(1 / max(graph.nodes, 1) for graph, _, _ in both)
    left_out = [f"{degrees.alone:,} of {graph.nodes:,} {when}" for graph, degrees, when in both if degrees.alone]
    without = f" Nodes without a neighbour are not drawn: {' and '.join(left_out)}." if left_out else ""
    return Chart(
        title="How many neighbours nodes have",
        x_label="number of neighbours",
        y_label="share of nodes with at least so many",
        series=(_line(findings.before, "original", "first"), _line(findings.after, "released", "second")),
        caption="Where both lines lie on one another, as many nodes of the release have so many neighbours as of the "
        f"original; where they part, it is less like the original.{without}",
        x_range=(0.0, math.log10(most) or 1.0),
        y_range=(math.log10(fewest), 0.0) if fewest < 1 else (-1.0, 0.0),
        x_kind="power",
        y_kind="power of share",
    )


def _line(degrees: Degrees, name: str, style: Style) -> Series:
    x, y = np.log10(degrees.number), np.log10(degrees.at_least)
    x, y = thin(x, y) if x.size else (x, y)
    return Series(name=name, x=x, y=y, style=style)


def page(findings: AnonymizeFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data; :func:`unveil.report.page.render` turns it into HTML. It names no node."""
    release = findings.release
    counted = fact_table(release)
    has_edges = release.original.edges + release.released.edges > 0
    sections = [
        Section(
            heading="What the release is still good for",
            lead="Each figure is 0 where nothing was lost.",
            blocks=(utility_table(findings.utility), *([counted] if counted else [])),
        ),
    ]
    if has_edges:
        lead = "Whoever knows how many connections somebody has looks for that number first."
        sections.append(Section(heading="How many neighbours nodes have", lead=lead, blocks=(degree_chart(findings),)))
    if release.ledger is not None:
        sections.append(ledger_section(release.ledger))
    return Page(
        title="A protected graph",
        question=f"What does {findings.protect} do to a graph of {count(release.original.nodes, 'node', 'nodes')}?",
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=next_steps(findings),
        picture=(crowd_chart(findings),) if release.original.nodes else (),
        tone="neutral",
        sections=tuple(sections),
        method=_method(findings),
        limitations=_UNTESTED,
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
    )


def _method(findings: AnonymizeFindings) -> tuple[str, ...]:
    told = ", ".join(f"{name}={value}" for name, value in findings.settings.items())
    sentences = [
        f"The original graph was protected by {findings.protect.partition(':')[0]}{f' with {told}' if told else ''}, "
        f"and "
        "its nodes were numbered at random."
    ]
    if findings.release.pairing == "rank":
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


def brief(findings: AnonymizeFindings) -> Iterator[Part]:
    """Yield what a terminal shows: who is hidden, what was lost, what was spent."""
    release = findings.release
    yield from opening(page(findings))
    for table in (fact_table(release), utility_table(findings.utility)):
        if table is not None:
            yield ""
            yield table
    if release.ledger is not None:
        yield ""
        yield f"Public, and so not protected: {'; '.join(release.ledger.public)}"
        yield ledger_table(release.ledger)


VIEW = QuestionView(
    schema="unveil.anonymize/1",
    findings=AnonymizeFindings,
    about="The answer of `unveil protect-graph`: what a protection does to a graph, and what that costs.",
    quantities=quantities,
    frame=frame,
    page=page,
    plot=plot,
    meanings=meanings,
)


# The tables of a protected graph: what the protection counted, what was lost, what was spent.


def fact_table(release: GraphRelease) -> TableBlock | None:
    """Return what the protection counted on its way, or None where it counted nothing."""
    rows = tuple((name, decimal(value)) for name, value in release.facts.items())
    if not rows:
        return None
    return TableBlock(
        caption="What the protection counted", columns=("what", "number"), rows=rows, align=("left", "right")
    )


def utility_table(utility: Sequence[UtilityLoss]) -> TableBlock:
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
    return TableBlock(
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
        value=f"{significant(ledger.total, digits=4)} of epsilon = {significant(ledger.epsilon, digits=4)}",
        meaning="Whatever an adversary believes about one connection changes by a factor of at most e to that power. "
        f"Public, and so not protected: {'; '.join(ledger.public)}.",
    )
    return Section(
        heading="The ledger",
        lead="Every question that was asked of the original to make the release, with the noise in its answer. The "
        "other figures of this page compare with the original without any noise: they are for whoever holds it.",
        blocks=(spent, ledger_table(ledger)),
    )


def ledger_table(ledger: Ledger) -> TableBlock:
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
    return TableBlock(
        caption="Questions and their cost",
        columns=("question", "noise", "answers", "sensitivity", "scale of noise", "cost", "counted"),
        rows=rows,
        align=("left", "left", "right", "right", "right", "right", "left"),
        note="Questions that share a part look at disjoint edges and cost as much as the dearest of them.",
        prose=True,
    )
