"""Draw the original and the released distribution of the columns that changed most."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from unveil.questions.audit.findings import Audit
from unveil.report.blocks import Side, TableBlock
from unveil.report.blocks_spread import DistributionPanel, DistributionPanels
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import fixed, name

if TYPE_CHECKING:
    from unveil.metrics.releases.distributions import ColumnDistribution
    from unveil.metrics.releases.utility import Utility

#: Columns that are always visible.
MOST_VISIBLE = 6
_LONGEST_NAME = 24
_LEFT: Side = "left"
_OTHER = "other"


def distribution_charts(
    audit: Audit, *, only: Collection[str] = (), rest: bool = False
) -> tuple[DistributionPanels, ...]:
    """Return the distributions of the six columns of each release that changed most, or with ``rest`` of the others.

    ``only`` names releases; all unless given.
    """
    made = []
    for release in audit.releases:
        if release.utility is None or release.name not in (only or (release.name,)):
            continue
        found = release.utility.distributions
        found = found[MOST_VISIBLE:] if rest else found[:MOST_VISIBLE]
        if found:
            label = f": {name(release.name, _LONGEST_NAME)}" if len(audit.releases) > 1 else ""
            made.append(
                DistributionPanels(
                    title=f"{'Other distributions' if rest else 'Original and released distributions'}{label}",
                    panels=tuple(_panel(each, audit.minimum_cell) for each in found),
                    names=("original records", "released records"),
                    caption="" if rest else _caption(release.utility),
                    hatched=f"about {audit.minimum_cell} records or fewer",
                )
            )
    return tuple(made)


def distribution_table(audit: Audit) -> TableBlock | None:
    """Return how far both distributions of each column in the charts are apart."""
    rows = [
        (*([name(release.name, _LONGEST_NAME)] if len(audit.releases) > 1 else []), *_cells(each))
        for release in audit.releases
        if release.utility is not None
        for each in release.utility.distributions
    ]
    if not rows:
        return None
    heads = ["Release"] if len(audit.releases) > 1 else []
    return TableBlock(
        caption="Distances of distributions",
        columns=(*heads, "Column", "Type", "Measure", "Distance"),
        rows=tuple(rows),
        align=(*((_LEFT,) if heads else ()), _LEFT, _LEFT, _LEFT, "right"),
        note="KS: largest difference of the shares of records up to some value, or of the missing share. TV: half the "
        "sum of the differences of all shares. 0 is the same distribution, 1 nothing in common.",
    )


def _cells(column: "ColumnDistribution") -> tuple[str, ...]:
    measure, distance = distance_text(column).split(" ", 1)
    return name(column.name, _LONGEST_NAME), column.kind, measure, distance


def distance_text(column: "ColumnDistribution") -> str:
    """Return the measure of a column with its distance, as in KS 0.12."""
    if isinstance(column.distance, SuppressedNumber):
        return f"{_measure(column)} at most {fixed(column.distance.most)}"
    return f"{_measure(column)} {fixed(column.distance)}"


def _measure(column: "ColumnDistribution") -> str:
    return "KS" if column.is_number else "TV"


def _panel(column: "ColumnDistribution", minimum: int) -> DistributionPanel:
    """Return the panel of a column; numbers of a few records are drawn as the smallest that may be shown."""
    column = column.merged(minimum)
    sides = []
    for counts, rows in zip((column.original, column.released), column.rows, strict=True):
        few = tuple(0 < number < minimum or (column.is_rounded and number == minimum) for number in counts)
        shares = tuple(
            (minimum if is_few else number) / max(rows, 1) for number, is_few in zip(counts, few, strict=True)
        )
        sides.append((shares, few))
    categories: tuple[str, ...] = ()
    if not column.is_number:
        # A report names no cell of the data.
        shown = tuple(f"value {place}" for place, _ in enumerate(column.labels, start=1))
        others = (_OTHER,) if column.original[-1] or column.released[-1] else ()
        categories = (*shown, *others)
        sides = [(shares[: len(categories)], few[: len(categories)]) for shares, few in sides]
    return DistributionPanel(
        name=name(column.name, _LONGEST_NAME),
        distance=distance_text(column),
        first=sides[0][0],
        second=sides[1][0],
        first_hatched=sides[0][1],
        second_hatched=sides[1][1],
        categories=categories,
        ends=(column.labels[0], column.labels[1]) if column.is_number and len(column.labels) == 2 else ("", ""),
    )


def _caption(utility: "Utility") -> str:
    worst = utility.distributions[0]
    if worst.distance == 0:
        return "The distributions of all columns are unchanged."
    many = len(utility.columns)
    return f"{name(worst.name, _LONGEST_NAME)} changed most: {distance_text(worst)}, of {many} columns."
