"""The report on a protected graph: first screen, sections, limits, and data frame."""

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.data.ledger import Ledger
from unveil.metrics import METRICS
from unveil.metrics.graphs.utility import UtilityLoss
from unveil.questions.protect_graph.findings import CROWDS, AnonymizeFindings, Degrees
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import Chart, NextStep, Page, Section, Series, Side, Style, TableBlock
from unveil.report.limits import Quantity
from unveil.report.text import count, decimal, percent, significant
from unveil.report.trust import summary_of

if TYPE_CHECKING:
    import polars as pl

#: The losses that the first screen names.
_LARGEST = 3
#: The width of a bar of the degree histogram, in powers of ten; two stand side by side.
_BAR = 0.1
_LEFT: Side = "left"
_RIGHT: Side = "right"


def page(findings: AnonymizeFindings, context: PageContext = PLAIN) -> Page:
    """Return the report as data; it names no node."""
    release = findings.release
    sections = [structure_section(findings)]
    if release.original.nodes:
        sections.append(degree_section(findings))
    if release.ledger is not None:
        sections.append(ledger_section(release.ledger))
    has_edges = release.original.edges + release.released.edges > 0
    return Page(
        title="Protected graph",
        question="How does the protection change the graph?",
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=next_steps(findings),
        picture=(*((degree_chart(findings),) if has_edges else ()), summary_table(findings)),
        facts=(
            f"method {findings.protect}",
            f"original of {count(release.original.nodes, 'node', 'nodes')} and {release.original.edges:,} edges",
            f"release of {count(release.released.nodes, 'node', 'nodes')} and {release.released.edges:,} edges",
        ),
        tone="neutral",
        sections=tuple(sections),
        method=_method(findings),
        limitations=(
            "Attackers with other knowledge may still re-identify nodes. Attack the release to measure this.",
            "Other published data on the nodes (attributes, times, texts) are not covered.",
        ),
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
    )


# The first screen.


def headline(findings: AnonymizeFindings) -> str:
    """Return the headline: unique degrees before and after, and changed edges."""
    before, after = findings.before.unique, findings.after.unique
    edges = count(findings.changes.added + findings.changes.removed, "edge", "edges")
    if findings.hidden is None:
        new = count(findings.release.released.edges, "edge", "edges")
        had = "node has" if before == 1 else "nodes have"
        return f"{findings.protect} draws a new graph of {new}; {before:,} {had} a unique degree in the original."
    if before == after == 0:
        return f"No node has a unique degree before or after {findings.protect}; {edges} changed."
    if before == after:
        nodes = count(before, "node", "nodes")
        return f"{findings.protect} leaves {nodes} with a unique degree; {edges} changed."
    verb = "reduces" if after < before else "raises"
    return f"{findings.protect} {verb} nodes with a unique degree from {before:,} to {after:,}; {edges} changed."


def explanation(findings: AnonymizeFindings) -> tuple[str, ...]:
    """Return the effect on degrees, the largest loss, and the privacy budget."""
    sentences = []
    if findings.hidden is not None and findings.release.original.nodes:
        became = findings.after.unique - (findings.before.unique - findings.hidden)
        others = count(findings.after.smallest_class - 1, "other node", "other nodes")
        if became > 0:
            sentences.append(f"{count(became, 'node has', 'nodes have')} a unique degree in the release only.")
        elif not findings.after.unique:
            sentences.append(f"In the release every node shares its degree with at least {others}.")
    known = [f"{_name(each.metric.name)} {significant(each.value, digits=2)}" for each in _losses(findings)[:2]]
    if known:
        sentences.append(f"Largest utility losses (0 = unchanged): {' and '.join(known)}.")
    ledger = findings.release.ledger
    if ledger is not None:
        spent, allowed = significant(ledger.total, digits=4), significant(ledger.epsilon, digits=4)
        sentences.append(f"Differential privacy: {spent} of ε = {allowed} spent.")
    return tuple(sentences)


def _losses(findings: AnonymizeFindings) -> list[UtilityLoss]:
    """Return the losses above 0, the largest first."""
    return sorted((each for each in findings.utility if each.value > 0), key=lambda each: -each.value)


def _name(metric: str) -> str:
    return metric.replace("_", " ")


def next_steps(findings: AnonymizeFindings) -> tuple[NextStep, ...]:
    """Return what to do before the graph is published."""
    steps = [
        NextStep("Attack the release to see how many nodes are re-identified.", option="unveil graph"),
        NextStep("Keep the true node matches internal: they undo the release."),
    ]
    if findings.hidden is not None and findings.after.unique:
        steps.insert(0, NextStep("Protect the nodes with a unique degree by another method.", option="--method"))
    return tuple(steps)


def degree_chart(findings: AnonymizeFindings) -> Chart:
    """Return the degree histogram before and after, in bins of equal width on a logarithmic axis."""
    both = (("original", findings.before), ("released", findings.after))
    graphs = (findings.release.original, findings.release.released)
    styles: tuple[Style, Style] = ("second", "first")
    most = max(float(degrees.number.max(initial=1.0)) for _, degrees in both)
    bins = math.floor(math.log10(most) / (2 * _BAR) + 1e-9) + 1
    shares = [_histogram(degrees, bins) for _, degrees in both]
    left_out = [
        f"{degrees.alone:,} of {graph.nodes:,} ({name})"
        for (name, degrees), graph in zip(both, graphs, strict=True)
        if degrees.alone
    ]
    moved = sum(abs(one - other) for one, other in zip(*shares, strict=True)) / 2
    return Chart(
        title="Degree distribution",
        x_label="Degree (number of edges)",
        y_label="share of nodes",
        series=tuple(
            Series(
                name=name,
                x=np.arange(bins, dtype=np.float64) * 2 * _BAR + at * _BAR,
                y=share,
                style=style,
                kind="bars",
                width=_BAR,
            )
            for at, ((name, _), share, style) in enumerate(zip(both, shares, styles, strict=True))
        ),
        caption=f"{percent(float(moved))} of the nodes are in another bin of degrees after protection."
        + (f" Not drawn, without neighbors: {', '.join(left_out)}." if left_out else ""),
        x_range=(0.0, bins * 2 * _BAR),
        y_range=(0.0, max(0.1, math.ceil(max(float(share.max()) for share in shares) * 10) / 10)),
        x_kind="power",
    )


def _histogram(degrees: Degrees, bins: int) -> FloatArray:
    """Return the share of nodes per degree bin."""
    share = degrees.at_least - np.append(degrees.at_least[1:], 0.0)
    place = np.floor(np.log10(degrees.number) / (2 * _BAR) + 1e-9).astype(np.int64)
    return np.bincount(place, share, bins).astype(np.float64)


def summary_table(findings: AnonymizeFindings) -> TableBlock:
    """Return unique degrees, edges added and removed, and the largest losses."""
    before, after, release = findings.before, findings.after, findings.release
    changes = findings.changes
    rows = [
        ("Nodes with a unique degree", f"{before.unique:,}", f"{after.unique:,}", ""),
        ("Fewest nodes that share a degree", decimal(before.smallest_class), decimal(after.smallest_class), ""),
        ("Edges (added, removed)", f"{release.original.edges:,}", f"+{changes.added:,} −{changes.removed:,}", ""),
    ]
    if release.pseudo_nodes:
        rows.append(("Nodes that stand for no original node", "0", f"{release.pseudo_nodes:,}", ""))
    rows += [
        (
            _name(each.metric.name).capitalize(),
            decimal(each.before) if each.quantity else "",
            decimal(each.after) if each.quantity else "",
            decimal(each.value),
        )
        for each in _losses(findings)[:_LARGEST]
    ]
    return TableBlock(
        caption="Summary",
        columns=("Property", "Original", "Released", "Loss"),
        rows=tuple(rows),
        align=(_LEFT, _RIGHT, _RIGHT, _RIGHT),
        note="Utility loss: 0 means unchanged.",
    )


# Sections and methods.


def structure_section(findings: AnonymizeFindings) -> Section:
    """Return the section on the properties of the graph that the release keeps."""
    lost = len(_losses(findings))
    rows = tuple(
        (
            _name(each.metric.name).capitalize(),
            decimal(each.value) + (" (sampled)" if each.sampled else ""),
            each.quantity,
            *(("", "") if not each.quantity else (decimal(each.before), decimal(each.after))),
        )
        for each in findings.utility
    )
    table = TableBlock(
        caption="Utility losses",
        columns=("Metric", "Loss", "Property", "Original", "Released"),
        rows=rows,
        align=(_LEFT, _RIGHT, _LEFT, _RIGHT, _RIGHT),
    )
    definitions = TableBlock(
        caption="Definitions",
        columns=("Metric", "Definition"),
        rows=tuple((row[0], summary_of(each.metric)) for row, each in zip(rows, findings.utility, strict=True)),
        align=(_LEFT, _LEFT),
        prose=True,
    )
    facts = TableBlock(
        caption="Counts of the protection",
        columns=("Count", "Number"),
        rows=tuple((name, decimal(value)) for name, value in findings.release.facts.items()),
        align=(_LEFT, _RIGHT),
    )
    return Section(
        heading="Structure preserved",
        question="Is the release fit for use?",
        lead=f"{lost} of {len(findings.utility)} metrics of utility show a loss.",
        blocks=(table,),
        data=(definitions, *((facts,) if facts.rows else ())),
    )


def degree_section(findings: AnonymizeFindings) -> Section:
    """Return the section on how many nodes share a degree."""
    unique = percent(findings.before.unique_share), percent(findings.after.unique_share)
    return Section(
        heading="Degrees",
        question="Can an attacker who knows a degree find the node?",
        lead=f"{unique[0]} of the original nodes and {unique[1]} of the released ones have a unique degree.",
        blocks=(crowd_chart(findings),),
    )


def crowd_chart(findings: AnonymizeFindings) -> Chart:
    """Return shares of nodes by degree class size, before and after."""
    names = ["1 (unique)"]
    names += [f"{low + 1} to {high}" for low, high in pairwise(CROWDS)]
    names.append(f"{CROWDS[-1] + 1} or more")
    both: tuple[tuple[Degrees, str, Style], ...] = (
        (findings.before, "original", "second"),
        (findings.after, "released", "first"),
    )
    shares = [np.array(degrees.crowds) / max(sum(degrees.crowds), 1) for degrees, _, _ in both]
    return Chart(
        title="Nodes per degree",
        x_label="share of nodes",
        y_label="",
        series=tuple(
            Series(name=name, x=share, y=np.arange(len(names), dtype=np.float64), style=style, kind="points")
            for (_, name, style), share in zip(both, shares, strict=True)
        ),
        caption="Rows: number of nodes with the same degree. An attacker who knows a unique degree finds the node.",
        x_range=(0.0, max(float(np.max(shares)), 0.01)),
        x_kind="share",
        rows=tuple(names),
        small=True,
    )


def ledger_section(ledger: Ledger) -> Section:
    """Return the section on the privacy budget of a differentially private release."""
    spent, allowed = significant(ledger.total, digits=4), significant(ledger.epsilon, digits=4)
    return Section(
        heading="Privacy budget",
        question="What does differential privacy bound?",
        lead=f"The release spends {spent} of ε = {allowed}: beliefs about one edge change by a factor of at most "
        f"e^{spent}. Public, and so not protected: {'; '.join(ledger.public)}. The other results of this report "
        "compare with the original without noise: keep them internal.",
        blocks=(ledger_table(ledger),),
    )


def ledger_table(ledger: Ledger) -> TableBlock:
    """Return one row per query of the original graph."""
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
        caption="Queries and their cost",
        columns=("Query", "Noise", "Answers", "Sensitivity", "Noise scale", "Cost", "Counted"),
        rows=rows,
        align=(_LEFT, _LEFT, _RIGHT, _RIGHT, _RIGHT, _RIGHT, _LEFT),
        note="Queries that share a part use disjoint edges; together they cost as much as the most expensive one.",
        prose=True,
    )


def _method(findings: AnonymizeFindings) -> tuple[str, ...]:
    settings = ", ".join(f"{name}={value}" for name, value in findings.settings.items())
    method = findings.protect.partition(":")[0] + (f" with {settings}" if settings else "")
    sentences = [
        f"The graph was protected by {method}, and its nodes were numbered at random. Edges are compared by the "
        "original nodes, not by released numbers."
    ]
    if findings.release.pairing == "rank":
        sentences.append(
            "The release is a new graph. To measure attacks, each of its nodes is paired with the original node whose "
            "degree has the same rank; the pairing is not part of the release."
        )
    return tuple(sentences)


# Limits and data frame.

_OWN_MEANINGS = {
    "pseudo_node_share": "released nodes without an original, as a share of the original nodes",
    "epsilon": "ε spent by a differentially private release; infinite for all other releases",
}


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    listed = [metric for metric in METRICS.values() if metric.on == "GraphRelease"]
    said = {}
    for metric in listed:
        side = "below" if metric.more_means == "more private" else "above"
        what = metric.summary.removeprefix("Return ").rstrip(".")
        said[metric.name] = f"{what}. Fails {side} VALUE: more is {metric.more_means}"
    return said | _OWN_MEANINGS


def quantities(findings: AnonymizeFindings) -> dict[str, Quantity]:
    """Return the quantities that accept a limit: utility loss, degrees, ε."""
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
    """Return one row per measure of utility loss."""
    import polars as pl

    names = ("value", "quantity", "before", "after", "sampled", "why")
    rows = [{"name": each.metric.name, **{name: getattr(each, name) for name in names}} for each in findings.utility]
    return pl.DataFrame(rows).with_columns(pl.col("value", "before", "after").fill_nan(None))


VIEW = QuestionView(
    schema="unveil.protect-graph/2",
    findings=AnonymizeFindings,
    about="Result of `unveil protect-graph`: changes of a graph, degrees, and utility loss.",
    quantities=quantities,
    frame=frame,
    page=page,
    meanings=meanings,
)
