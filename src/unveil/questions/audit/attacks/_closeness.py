"""How near released records are to people in the data, beside people who are not: figures, sentence and picture."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from unveil.metrics.trials.risk import Rate
from unveil.questions.audit.attack_results import NOTHING, AttackResult
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.charts import LONGEST_ROW, points
from unveil.questions.audit.findings import AttackFinding, Audit
from unveil.report.blocks import Chart, Style
from unveil.report.text import decimal, name

if TYPE_CHECKING:
    from unveil.metrics.releases.closeness import Closeness

#: The figures that a limit can be set for.
DISTANCES: Mapping[str, str] = MappingProxyType(
    {"median": "median over released rows", "low": "5% quantile over released rows"}
)
_DRAWN: tuple[tuple[str, str, Style], ...] = (
    ("released records", "", "first"),
    ("people not in the data", "control_", "second"),
)


def measured(attacked: AttackedRelease, measure: "Callable[..., Closeness]") -> tuple[AttackResult, ...]:
    """Return the quantiles of a distance of released records, beside those of control records."""
    found = measure(attacked.prepared.release, targets=attacked.targets, rng=attacked.rng)
    figures = {"median": found.released.median, "low": found.released.low}
    if found.control is not None:
        figures |= {"control_median": found.control.median, "control_low": found.control.low}
    if found.released.undefined:
        figures["undefined"] = float(found.released.undefined)
    blunt = "More than a fifth of the released cells stand for several values, so these figures are blunt."
    remark = blunt if found.blunt else ""
    finding = AttackFinding(
        attack=attacked.attack,
        targets=found.released.rows,
        risk=NOTHING,
        figures=figures,
        remark=remark,
        distances=found.histogram,
    )
    return (AttackResult(finding=finding),)


def sentence(finding: AttackFinding, *, middle: str, edge: str, scale: str) -> str:
    """Return how near released records are, beside people who are not in the data; never that all is well.

    ``middle`` and ``edge`` say what half and 5% of the records do, ``scale`` what the extremes mean.
    """
    figures = finding.figures
    if "median" not in figures:
        return ""
    if math.isnan(figures["median"]):
        return "No record has such a figure here: each equals several people, or there are too few."
    text = middle.format(median=decimal(figures["median"]))
    # A shareable report has no quantile with few people on one side of it.
    has_edge = not math.isnan(figures["low"])
    text = f"{text}, and {edge.format(low=decimal(figures['low']))}" if has_edge else text
    said = f"Half of the released records {text} ({scale})."
    outside = figures.get("control_median", math.nan)
    if math.isnan(outside):
        return f"{said} Without a control table nobody can say whether that is near."
    others = [decimal(each) for each in (outside, figures["control_low"]) if not math.isnan(each)]
    other = f"For people who are not in the data {'these are' if has_edge else 'it is'} {' and '.join(others)}:"
    nearer = "nearer to the data" if _is_near(figures) else "no nearer to the data"
    return f"{said} {other} the release keeps {nearer} than such people do. A distance accuses and clears nobody."


def _is_near(figures: Mapping[str, float]) -> bool:
    """Return whether released records keep nearer to the data than others do, in the middle and at the edge."""
    pairs = [("median", "control_median")]
    if not math.isnan(figures.get("low", math.nan)):
        pairs.append(("low", "control_low"))
    return all(figures.get(own, math.nan) < figures.get(outside, math.nan) for own, outside in pairs)


def chart(audit: Audit, attack: AuditAttack) -> Chart | None:
    """Return how near released records are, one row per release, beside people who are not in the data."""
    found = [(each.name, finding) for each in audit.releases for finding in each.of(attack.name) if finding.figures]
    near = [(label, finding) for label, finding in found if math.isfinite(finding.figures.get("median", math.nan))]
    if not near:
        return None
    series = []
    for label, prefix, style in _DRAWN:
        own = [[finding.figures.get(f"{prefix}{end}", math.nan) for _, finding in near] for end in ("median", "low")]
        rates = [Rate(median, median if math.isnan(low) else low, median) for median, low in zip(*own, strict=True)]
        if any(rate.defined for rate in rates):
            series.append(points(label, rates, style))
    top = max(float(np.nanmax(each.x)) for each in series)
    return Chart(
        title=attack.title,
        x_label=attack.x_label,
        y_label="",
        series=tuple(series),
        caption=(
            "The dot is the record in the middle, the bar reaches to the nearest 5%. Released records to the left of "
            "people who are not in the data keep too near to those who are. A release that passes is not thereby safe."
        ),
        x_range=(0.0, max(0.05, math.ceil(top * 20 - 1e-9) / 20)),
        rows=tuple(name(label, LONGEST_ROW) for label, _ in near),
    )
