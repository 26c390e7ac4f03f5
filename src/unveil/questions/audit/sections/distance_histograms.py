"""Draw distances of released and of control records to the original, as mirrored histograms."""

from collections.abc import Collection, Sequence
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from unveil.questions.audit.findings import AttackFinding, Audit
from unveil.questions.audit.sections.membership import auc_text
from unveil.report.blocks import Chart, Series, Side, Style, TableBlock, Threshold
from unveil.report.scale import axis
from unveil.report.text import about, decimal, name

if TYPE_CHECKING:
    from unveil._kernels.types import FloatArray
    from unveil.metrics.releases.closeness import DistanceHistogram

#: The attacks with a histogram: the title of the chart, what its axis counts, and what 0 means.
CHARTS = {
    "closest_record": ("Distance to closest record (DCR)", "distance to the closest original record", "copies"),
    "neighbour_ratio": (
        "Nearest-neighbor distance ratio (NNDR)",
        "closest distance / second-closest distance",
        "copies",
    ),
}
#: The bar at 0 in bins: where it begins, how wide it is.
_ZERO_START, _ZERO_WIDTH = -4.0, 1.0
_SIDES: tuple[tuple[str, Style, str], ...] = (
    ("released records", "first", ""),
    ("control records", "fifth", "control_"),
)
_LONGEST_NAME = 40
_RIGHT: Side = "right"
#: Above that share the axis goes on to 100%.
_NEARLY_ALL = 0.85


def distance_charts(audit: Audit, attack: str, *, only: Collection[str] = ()) -> tuple[Chart, ...]:
    """Return the histograms of an attack, ``closest_record`` or ``neighbour_ratio``: one for each release, or some."""
    several = len(audit.releases) > 1
    return tuple(
        _chart(attack, name(release.name, _LONGEST_NAME) if several else "", finding, finding.distances, audit)
        for release in audit.releases
        for finding in release.of(attack)
        if finding.distances is not None and release.name in (only or (release.name,))
    )


def _chart(attack: str, label: str, finding: AttackFinding, histogram: "DistanceHistogram", audit: Audit) -> Chart:
    title, x_label, zero = CHARTS[attack]
    width = histogram.high / len(histogram.released)
    series = [
        _bars(side, sign * np.array(counts) / rows, width, histogram, audit.minimum_cell / rows)
        for side, counts, sign, rows in (
            (_SIDES[0], (histogram.released_zero, *histogram.released), 1.0, histogram.rows[0]),
            (_SIDES[1], (histogram.control_zero, *histogram.control), -1.0, histogram.rows[1]),
        )
        if rows
    ]
    ticks = [tick for tick in axis(0.0, histogram.high).ticks if tick[0] >= 0]
    return Chart(
        title=f"{title}: {label}" if label else title,
        x_label=x_label,
        y_label=f"share of records: {'released above, control below' if histogram.rows[1] else 'released'}",
        series=tuple(series),
        caption=_caption(attack, histogram),
        x_range=((_ZERO_START - 0.5) * width, histogram.high),
        y_range=(min(float(each.y.min()) for each in series), _top(series)),
        thresholds=tuple(_quantiles(finding, histogram.high)),
        x_names=(((_ZERO_START + _ZERO_WIDTH / 2) * width, zero), *ticks),
        mirrored=True,
        hatched=f"about {audit.minimum_cell} records or fewer",
    )


def _top(series: Sequence[Series]) -> float:
    highest = max(float(each.y.max()) for each in series)
    return 1.0 if highest > _NEARLY_ALL else highest


def _bars(
    side: tuple[str, Style, str], shares: "FloatArray", width: float, histogram: "DistanceHistogram", lowest: float
) -> Series:
    """Return shares of records as bars; those that were rounded up to the smallest number are hatched."""
    few = (np.abs(shares) > 0) & (np.abs(shares) <= lowest * (1 + 1e-9)) & histogram.is_rounded
    return Series(
        name=side[0],
        x=np.concatenate([[_ZERO_START * width], np.arange(shares.size - 1) * width]),
        y=shares,
        style=side[1],
        kind="bars",
        width=width,
        hatched=few if few.any() else None,
    )


def _quantiles(finding: AttackFinding, high: float) -> list[Threshold]:
    """Return a line at each 5% quantile that is known."""
    found = []
    for label, _, prefix in _SIDES:
        value = finding.figures.get(f"{prefix}low", float("nan"))
        if not isnan(value) and value <= high:
            found.append(Threshold(name=f"5% of {label}: {decimal(value)}", value=value, across="x"))
    return found


def _caption(attack: str, histogram: "DistanceHistogram") -> str:
    if histogram.nearer is None or not histogram.nearer.defined:
        return "Without a control group these distances have no reference."
    what = "closer to the original" if attack == "closest_record" else "closer to a single original record"
    share, low = histogram.nearer.value, histogram.nearer.low
    verdict = "Released records are" if low > 0.5 else "Released records are not significantly"
    return (
        f"{verdict} {what} than control records: in {about(share)} of pairs "
        f"(95% CI {100 * low:.0f}–{100 * histogram.nearer.high:.0f}%; 50% expected)."
    )


def distance_table(audit: Audit) -> TableBlock | None:
    """Return what the histograms show in numbers: medians, 5% quantiles, copies, and the share of closer records."""
    rows = []
    for release in audit.releases:
        for attack, (title, _, _) in CHARTS.items():
            for finding in release.of(attack):
                if finding.distances is not None:
                    label = f"{name(release.name, _LONGEST_NAME)}: {title}" if len(audit.releases) > 1 else title
                    rows.append((label, *_cells(finding, finding.distances)))
    if not rows:
        return None
    return TableBlock(
        caption="Distances to the original",
        columns=("Distance", "Median", "Control", "5% quantile", "Control", "Released closer (95% CI)"),
        rows=tuple(rows),
        align=("left", *(_RIGHT for _ in range(5))),
        note="Control: the same of control records. Released closer: share of pairs of a released and a control record "
        "in which the released one is closer to the original; 50% is expected.",
    )


def _cells(finding: AttackFinding, histogram: "DistanceHistogram") -> tuple[str, ...]:
    values = [finding.figures.get(each, float("nan")) for each in ("median", "control_median", "low", "control_low")]
    return (
        *("–" if isnan(each) else decimal(each) for each in values),
        "–" if histogram.nearer is None else auc_text(histogram.nearer),
    )
