"""Draw associations of pairs of columns in the original and in the release, and how much they changed."""

from collections.abc import Collection, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from unveil.questions.audit.findings import Audit
from unveil.report.blocks import Side, TableBlock
from unveil.report.blocks_spread import Triangle, Triangles
from unveil.report.svg.panels import number_text
from unveil.report.text import count, fixed, name

if TYPE_CHECKING:
    from unveil._kernels.types import FloatArray
    from unveil.metrics.releases.utility import PairDistance, Utility

#: The most columns of a chart, and rows of the table.
MOST_COLUMNS, MOST_PAIRS = 20, 20
_LONGEST_NAME = 24
_LEFT: Side = "left"
_RIGHT: Side = "right"


def association_charts(audit: Audit, *, only: Collection[str] = ()) -> tuple[Triangles, ...]:
    """Return the associations of the columns of each release, or of some, whose associations changed most."""
    return tuple(
        _chart(release.utility, f": {name(release.name, _LONGEST_NAME)}" if len(audit.releases) > 1 else "")
        for release in audit.releases
        if release.utility is not None and _known(release.utility.pairs) and release.name in (only or (release.name,))
    )


def association_table(audit: Audit, *, at_most: int = MOST_PAIRS) -> TableBlock | None:
    """Return the pairs of columns of each release whose association changed most."""
    several = len(audit.releases) > 1
    rows = [
        (
            *([name(release.name, _LONGEST_NAME)] if several else []),
            name(pair.first, _LONGEST_NAME),
            name(pair.second, _LONGEST_NAME),
            pair.measure,
            number_text(pair.original),
            number_text(pair.released),
            number_text(_change(pair)),
        )
        for release in audit.releases
        if release.utility is not None
        for pair in _known(release.utility.pairs)[:at_most]
    ]
    if not rows:
        return None
    heads = ["Release"] if several else []
    return TableBlock(
        caption="Associations that changed most",
        columns=(*heads, "Column", "Column", "Measure", "Original", "Released", "Change"),
        rows=tuple(rows),
        align=(*((_LEFT,) if several else ()), _LEFT, _LEFT, _LEFT, _RIGHT, _RIGHT, _RIGHT),
        note="0: no association. 1 or −1: one column follows from the other.",
    )


def _known(pairs: "Sequence[PairDistance]") -> "list[PairDistance]":
    """Return the pairs that have an association in one of the tables, the most changed first."""
    known = [pair for pair in pairs if not isnan(pair.association_change)]
    return sorted(known, key=lambda pair: -pair.association_change)


def _change(pair: "PairDistance") -> float:
    """Return the released association minus the original one; one that is undefined counts as none."""
    if isnan(pair.original) and isnan(pair.released):
        return nan
    original, released = (0.0 if isnan(each) else each for each in (pair.original, pair.released))
    return released - original


def _chart(utility: "Utility", label: str) -> Triangles:
    pairs = _known(utility.pairs)
    chosen = list(dict.fromkeys(column for pair in pairs for column in (pair.first, pair.second)))[:MOST_COLUMNS]
    columns = [each.name for each in utility.columns if each.name in chosen]
    cut = f" The {len(columns)} columns that changed most are shown." if len(columns) < len(utility.columns) else ""
    worst = pairs[0]
    largest = (
        f"{name(worst.first, _LONGEST_NAME)} and {name(worst.second, _LONGEST_NAME)} changed most: from "
        f"{_said(worst.original)} to {_said(worst.released)} ({worst.measure}). "
        if worst.association_change > 0
        else ""
    )
    mean = (
        f"Associations changed by {fixed(utility.association_loss)} on average over {count(len(utility.pairs))} pairs."
    )
    return Triangles(
        title=f"Change in association{label}",
        columns=tuple(columns),
        triangles=(
            Triangle(name="original", values=_matrix(columns, {_key(each): each.original for each in pairs})),
            Triangle(name="released", values=_matrix(columns, {_key(each): each.released for each in pairs})),
            Triangle(
                name="difference", values=_matrix(columns, {_key(each): _change(each) for each in pairs}), limit=0.5
            ),
        ),
        caption=f"{largest}{mean}{cut}",
    )


def _said(association: float) -> str:
    return "none" if isnan(association) else number_text(association)


def _key(pair: "PairDistance") -> frozenset[str]:
    return frozenset((pair.first, pair.second))


def _matrix(columns: Sequence[str], values: dict[frozenset[str], float]) -> "FloatArray":
    """Return the values below the diagonal."""
    found = np.full((len(columns), len(columns)), nan)
    for row, one in enumerate(columns):
        for column, other in enumerate(columns[:row]):
            found[row, column] = values.get(frozenset((one, other)), nan)
    return found
