"""The tables of a protected graph: what the protection counted, what was lost, what was spent."""

from collections.abc import Sequence

from unveil.data.graph.release import GraphRelease
from unveil.data.ledger import Ledger
from unveil.metrics.graphs.utility import UtilityLoss
from unveil.report.blocks import Block, Number, Section, TableBlock
from unveil.report.text import decimal, significant


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
        tells="sure",
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
