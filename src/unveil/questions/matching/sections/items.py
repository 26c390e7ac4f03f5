"""Items: the probability that the attack resolves each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.metrics.matchings.cracks import Cracks
from unveil.metrics.matchings.permanents import Ambiguity
from unveil.questions.matching.estimates import CERTAIN, chance_text
from unveil.questions.result import PageContext
from unveil.report.blocks import Chart, Section, Series, Side, TableBlock, Threshold
from unveil.report.scale import choose_bins
from unveil.report.text import count, name, percent, significant

_RIGHT: Side = "right"


@dataclass(frozen=True, kw_only=True)
class MatchingContext(PageContext):
    """The choices of the report: the number of items that the table lists."""

    top: int = 10


def section(cracks: Cracks, items: Sequence[str], context: MatchingContext) -> Section:
    """Return the items most at risk."""
    certain = int((cracks.crack_probability >= CERTAIN).sum())
    lead = "No item is resolved with certainty."
    if certain:
        drawn = " in every matching that was drawn" if (cracks.crack_probability_error > 0).any() else ""
        lead = f"{count(certain, 'item is', 'items are')} resolved with certainty{drawn}."
    return Section(
        heading="Items",
        question="Which items are most at risk?",
        lead=f"{lead} Pseudonyms are left out: with the names they are the key to the release.",
        blocks=(
            *((resolved_chart(cracks),) if cracks.n > context.top else ()),
            at_risk_table(cracks, items, at_most=context.top),
        ),
    )


def ambiguity_section(ambiguity: Ambiguity, items: Sequence[str], context: MatchingContext) -> Section:
    """Return the items for which the attacker is most certain, where the truth is unknown."""
    return Section(
        heading="Items",
        question="For which items is the attacker most certain?",
        lead="Pseudonyms are left out: with the names they are the attacker's key to the release.",
        blocks=(likeliest_table(ambiguity, items, at_most=context.top),),
    )


def at_risk_table(cracks: Cracks, items: Sequence[str], *, at_most: int = 10) -> TableBlock:
    """Return the items that are most likely resolved, without their pseudonyms."""
    chance, error = cracks.crack_probability, cracks.crack_probability_error
    sampled = bool((error > 0).any())
    # Rounding must not decide between items that are equally exposed.
    likely = chance.round(12).tolist()
    order = sorted(range(cracks.n), key=lambda at: (-likely[at], items[at]))[:at_most]
    groups, unequal = cracks.groups, cracks.pairs < cracks.n
    columns = ["Item", "P(resolved)"]
    columns += ["Standard error"] if sampled else []
    columns += ["P(group resolved)"] if groups is not None else []
    columns += ["P(no pseudonym)"] if unequal else []
    rows = []
    for at in order:
        row = [name(items[at]), chance_text(chance[at])]
        row += [significant(float(error[at]), digits=2) if error[at] > 0 else "exact"] if sampled else []
        row += [chance_text(groups.probability[at])] if groups is not None else []
        row += [chance_text(cracks.no_pseudonym[at])] if unequal else []
        rows.append(tuple(row))
    return _items_table("Items most at risk", columns, rows, left=cracks.n - len(rows))


def likeliest_table(ambiguity: Ambiguity, items: Sequence[str], *, at_most: int = 10) -> TableBlock:
    """Return the items with the highest probability of a pseudonym, right or wrong."""
    likely = ambiguity.best.round(12).tolist()
    order = sorted(range(ambiguity.n), key=lambda at: (-likely[at], items[at]))[:at_most]
    sampled = bool((ambiguity.best_error > 0).any())
    columns = ["Item", "P(likeliest pseudonym)", *(["Standard error"] if sampled else [])]
    rows = [
        (
            name(items[at]),
            chance_text(float(ambiguity.best[at])),
            *((significant(float(ambiguity.best_error[at]), digits=2),) if sampled else ()),
        )
        for at in order
    ]
    return _items_table("Items by certainty of the attacker", columns, rows, left=ambiguity.n - len(order))


def _items_table(caption: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]], *, left: int) -> TableBlock:
    return TableBlock(
        caption=caption,
        columns=tuple(columns),
        rows=tuple(rows),
        align=("left", *(_RIGHT for _ in columns[1:])),
        note=f"{count(left, 'more item is', 'more items are')} in the JSON output." if left else "",
    )


def resolved_chart(cracks: Cracks) -> Chart:
    """Return the share of items by their probability to be resolved."""
    return exposure_chart(
        cracks.crack_probability, title="Probability to be resolved", x_label="probability that an item is resolved"
    )


def exposure_chart(chances: FloatArray, *, title: str, x_label: str) -> Chart:
    """Return the share of items per range of a probability."""
    values = np.clip(chances, 0.0, 1.0)
    # The whole scale, unless that would squeeze all items into its lower half.
    bins = choose_bins(values, (0.0, math.inf if 0 < values.max() < 0.5 else 1.0))
    bar = np.clip(np.floor((values - bins.low) / bins.width + 1e-9), 0, bins.number - 1).astype(np.int64)
    share = np.bincount(bar, minlength=bins.number) / values.size
    filled = np.flatnonzero(share)
    mean, highest = float(values.mean()), float(values.max())
    return Chart(
        title=title,
        x_label=x_label,
        y_label="share of items",
        series=(
            Series(
                name="items",
                x=bins.low + filled.astype(np.float64) * bins.width,
                y=share[filled],
                style="first",
                kind="bars",
                width=bins.width,
            ),
        ),
        caption=f"Mean {percent(mean)}, highest {percent(highest)}.",
        x_range=(bins.low, bins.high),
        y_range=(0.0, ceiling(float(share.max()))),
        x_kind="share",
        thresholds=(Threshold(name=f"mean {percent(mean)}", value=mean, across="x"),),
    )


def ceiling(top: float) -> float:
    """Return the axis limit above the highest bar and threshold label."""
    return min(1.0, max(0.1, math.ceil(top * 11.5 - 1e-9) / 10)) if top <= 0.85 else 1.15
