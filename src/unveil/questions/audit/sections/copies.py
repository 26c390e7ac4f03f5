"""Copies and distances: are records copied, or too close?"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision.findings import ExposedIndividuals
from unveil.questions.audit.findings import AttackFinding, Audit, CopyFindings
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.membership import auc_text
from unveil.questions.audit.sections.results import charted, result_table
from unveil.questions.audit.words import LONGEST_NAME, listed, number_of
from unveil.report.blocks import Chart, Section, Series, Side, Style, TableBlock, Threshold
from unveil.report.scale import axis
from unveil.report.suppressed_number import SuppressedNumber
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
    """Return distance histograms of an attack, one per release."""
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
    """Return shares of records as bars, hatched where rounded up."""
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


def histogram_table(audit: Audit) -> TableBlock | None:
    """Return histogram statistics: medians, 5% quantiles, copies, closer records."""
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
        caption="Distances to the original data",
        columns=("Distance", "Median", "Median, control", "5% quantile", "5% quantile, control", "Closer (95% CI)"),
        rows=tuple(rows),
        align=("left", *(_RIGHT for _ in range(5))),
        note="Control: the same for control records. Closer: share of pairs of a released and a control record in "
        "which the released one is closer to the original; 50% is expected. Distances are descriptive: dense data "
        "have small distances without any leak.",
    )


def _cells(finding: AttackFinding, histogram: "DistanceHistogram") -> tuple[str, ...]:
    values = [finding.figures.get(each, float("nan")) for each in ("median", "control_median", "low", "control_low")]
    return (
        *("–" if isnan(each) else decimal(each) for each in values),
        "–" if histogram.nearer is None else auc_text(histogram.nearer),
    )


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return exact copies, copies beyond chance, and distances to the closest records."""
    found = [(each.name, each.copies) for each in audit.verdict.releases if each.copies is not None]
    tables = (
        result_table(audit, ("copies",), "Exact copies"),
        subgroup_table(audit),
        histogram_table(audit) or distance_table(audit),
    )
    data = tuple(each for each in tables if each is not None)
    if not found and not data:
        return None
    several = len(found) > 1
    # The decision has the numbers that the redacted report may show.
    exposed = {each.name: each.individuals for each in audit.decision.releases}
    lead = " ".join(
        copies_sentence(label, exposed.get(label, ExposedIndividuals()), each, several=several)
        for label, each in found[:3]
    )
    return Section(
        heading="Copies and distances",
        question="Are records copied or too close?",
        lead=lead or "Distances are descriptive; they do not affect the level.",
        blocks=tuple(
            replace(chart, small=True)
            for attack in ("closest_record", "neighbour_ratio")
            for chart in distance_charts(audit, attack, only=charted(audit))
        ),
        data=data,
    )


def copies_sentence(label: str, people: ExposedIndividuals, copies: CopyFindings, *, several: bool) -> str:
    """Return exact copies: observed, expected, and beyond chance."""
    where = f"{name(label, LONGEST_NAME)}: " if several else ""
    seen = number_of(people.copies_seen)
    if not people.copies_seen and not isinstance(people.copies_seen, SuppressedNumber):
        return f"{where}{'no' if where else 'No'} record is released unchanged."
    expected = ""
    if not isnan(people.copies_expected) and not isinstance(people.copies_expected, SuppressedNumber):
        chance = "fewer than 1" if 0 < people.copies_expected < 1 else f"{people.copies_expected:.0f}"
        expected = f"; {chance} expected by chance"
    beyond = f"; {number_of(people.unmistakable, '', '')} beyond chance" if people.unmistakable else ""
    changed = [f"{listed(copies.coarsened)} generalized" if copies.coarsened else ""]
    changed += [f"{listed(copies.relabelled)} renamed" if copies.relabelled else ""]
    after = " and ".join(filter(None, changed))
    said = f"{where}the records of {seen} are released unchanged{expected}{beyond}."
    said = said if where else f"{said[:1].upper()}{said[1:]}"
    return f"{said} Compared with {after}." if after else said


def subgroup_table(audit: Audit) -> TableBlock | None:
    """Return the subgroups with more copies, or None."""
    rows = [
        (
            name(release.name, LONGEST_NAME),
            f"{name(group.column, 30)}: {name(group.value or 'missing', 30)}",
            number_of(group.copies, "", ""),
            number_of(group.people, "", ""),
        )
        for release in audit.verdict.releases
        if release.copies is not None
        for group in release.copies.groups
    ]
    if not rows:
        return None
    return TableBlock(
        caption="Copies by subgroup",
        columns=("Release", "Subgroup", "Copies", "People"),
        rows=tuple(rows),
        align=("left", "left", "right", "right"),
    )


def distance_table(audit: Audit) -> TableBlock | None:
    """Return DCR and NNDR quantiles, compared with the control group."""
    rows = [
        (
            *([name(release.name, LONGEST_NAME)] if len(audit.releases) > 1 else []),
            ATTACKS[finding.attack].title,
            *(_number(finding.figures.get(end, nan)) for end in ("median", "low", "control_median", "control_low")),
        )
        for release in audit.releases
        for finding in release.findings
        if ATTACKS[finding.attack].distances and finding.figures.get("median") is not None
    ]
    if not rows:
        return None
    heads = ("Distance", "Median", "5% quantile", "Median, control", "5% quantile, control")
    columns = (*(["Release"] if len(audit.releases) > 1 else []), *heads)
    return TableBlock(
        caption="Distances to the original data",
        columns=columns,
        rows=tuple(rows),
        align=tuple("right" if "edian" in head or "quantile" in head else "left" for head in columns),
        note="Distances are descriptive: dense data have small distances without any leak.",
    )


def _number(value: float) -> str:
    return "–" if isnan(value) else decimal(value)
