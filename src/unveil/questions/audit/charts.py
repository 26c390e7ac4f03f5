"""What to draw of an audit: rates with their intervals, one row for each release or adversary."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unveil.errors import InputError
from unveil.metrics.trials.risk import Rate
from unveil.questions.audit.findings import AttackFinding, Audit, AuditedRelease
from unveil.questions.audit.ranking import clearest_over, worst_of
from unveil.questions.audit.words import FIGURE_NAMES, row_name
from unveil.report.blocks import Chart, Series, Style, Threshold
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import name, percent

if TYPE_CHECKING:
    from unveil.questions.audit.attacks import AuditAttack

#: A picture with more rows than this is too long to be compared at a glance; the table has all.
MOST_ROWS = 12
LONGEST_ROW = 44
#: The rates of a picture and how they look; each has a shape of its own.
_STYLES: tuple[tuple[str, Style], ...] = (
    ("attack_rate", "first"),
    ("control_rate", "second"),
    ("naive_rate", "fifth"),
)
#: More releases than these are in no picture that can be read at a glance.
_RELEASES: tuple[Style, ...] = ("first", "second", "third", "fourth", "fifth")
_READ = (
    "A dot is the share that was measured; the bar around it shows where the true share lies with a confidence of 95%."
)


def comparison_chart(audit: Audit, attack: "AuditAttack") -> Chart | None:
    """Return the worst of an attack on each release beside control and chance, or None where none was measured."""
    found = [(release.name, worst_of(release, attack.name)) for release in audit.releases]
    rows = [(label, finding) for label, finding in found if finding is not None]
    if not rows:
        return None
    return rate_chart(
        rows,
        title="The clearest adversary, on each release" if len(rows) > 1 else "The clearest adversary",
        x_label=attack.x_label,
        caption=f"{_READ} {_BESIDE if audit.has_control else _ALONE}",
    )


_BESIDE = "What matters is how far people in the data lie to the right of people who are not in it."
_ALONE = "Without a control table it can only be compared with blind chance."


def attack_chart(audit: Audit, attack: "AuditAttack") -> Chart | None:
    """Return the rates of one attack, a row for each adversary and release, or None where none was measured."""
    if attack.chart is not None:
        return attack.chart(audit, attack)
    found = clearest_over(audit, attack.name)
    rows = [
        (row_name(release, finding, several=len(audit.releases) > 1, longest=LONGEST_ROW), finding)
        for release, finding in found
        if finding.risk.attack_rate.defined
    ]
    if not rows:
        return None
    caption = attack.caption or _READ
    return rate_chart(rows[:MOST_ROWS], title=attack.title, x_label=attack.x_label, caption=caption)


def rate_chart(rows: Sequence[tuple[str, AttackFinding]], *, title: str, x_label: str, caption: str) -> Chart:
    """Return attack, control and chance of the named findings, each with its interval."""
    rates = {figure: [finding.rate(figure) for _, finding in rows] for figure, _ in _STYLES}
    shown = [(figure, style) for figure, style in _STYLES if any(map(_has_place, rates[figure]))] or [_STYLES[0]]
    return Chart(
        title=title,
        x_label=x_label,
        y_label="",
        series=tuple(points(FIGURE_NAMES[figure], rates[figure], style) for figure, style in shown),
        caption=caption,
        x_range=(0.0, _reach([rate for each in rates.values() for rate in each])),
        x_kind="share",
        rows=tuple(name(label, LONGEST_ROW) for label, _ in rows),
    )


def weight_chart(release: AuditedRelease, attack: "AuditAttack") -> Chart | None:
    """Return what is left of the worst adversary when one column is taken away, the most telling column first."""
    weights = release.weights[:MOST_ROWS]
    if not weights:
        return None
    whole = weights[0].whole
    return Chart(
        title="What is left of the worst adversary without a column",
        x_label=attack.x_label,
        y_label="",
        series=(points("without this column", [weight.without for weight in weights], "first"),),
        caption=(
            "The further a dot lies to the left of the dashed line, the more the worst adversary depends on that "
            "column: coarsening it or leaving it out would help most. A dot to the right of the line belongs to a "
            "column that only disturbs the adversary. Each is measured on the same people."
        ),
        x_range=(0.0, _reach([weight.without for weight in weights] + [whole])),
        x_kind="share",
        thresholds=line_at("with all columns", whole),
        rows=tuple(name(weight.column, LONGEST_ROW) for weight in weights),
    )


def line_at(label: str, rate: Rate) -> tuple[Threshold, ...]:
    """Return the line across a picture at a rate, or none where the rate has no place."""
    if not _has_place(rate):
        return ()
    return (Threshold(name=f"{label}: {percent(rate.value)}", value=rate.value, across="x"),)


def _has_place(rate: Rate) -> bool:
    # What is told by its bounds has no place of its own.
    return rate.defined and not isinstance(rate.value, SuppressedNumber)


def points(label: str, rates: Sequence[Rate], style: Style) -> Series:
    """Return rates as dots with their intervals; what is told by its bounds has no dot."""
    return Series(
        name=label,
        x=np.array([rate.value if _has_place(rate) else math.nan for rate in rates]),
        y=np.arange(len(rates), dtype=np.float64),
        style=style,
        kind="points",
        low=np.array([rate.low for rate in rates]),
        high=np.array([rate.high for rate in rates]),
    )


def _reach(rates: Sequence[Rate]) -> float:
    """Return where the axis ends: a round share above all intervals, with room for a value behind the last."""
    top = max((rate.high for rate in rates if rate.defined), default=1.0)
    step = 0.1 if top > 0.2 else 0.02
    return min(1.0, max(0.05, math.ceil(top / step - 1e-9) * step))


def charts(audit: Audit, attacks: "Sequence[AuditAttack]", *, leading: "AuditAttack") -> list[Chart]:
    """Return what a picture of the audit shows: the worst adversary on each release, and what its columns are worth."""
    found = [comparison_chart(audit, leading)]
    weighed = [release for release in audit.releases if release.weights]
    if weighed:
        found.append(weight_chart(max(weighed, key=lambda release: release.weights[0].whole.value), leading))
    drawn = [chart for chart in found if chart is not None]
    for attack in attacks:
        if not drawn and (chart := attack_chart(audit, attack)) is not None:
            drawn.append(chart)
    if not drawn:
        raise InputError("nothing that was measured has a rate to draw. Choose other attacks, such as linkability")
    return drawn


def risk_and_utility(audit: Audit) -> Chart | None:
    """Return the worst excess and the utility loss of each release; None where fewer than two have both."""
    rows = []
    for release in audit.decision.releases:
        worst, loss = release.worst, release.utility_loss
        if worst is None or any(isinstance(each, SuppressedNumber) for each in (worst.excess.value, loss)):
            continue
        if worst.excess.is_tested and not math.isnan(loss):
            rows.append((release.name, worst.excess, loss))
    if not 2 <= len(rows) <= len(_RELEASES):
        return None
    threshold = audit.thresholds.threshold
    return Chart(
        title="Risk and utility",
        x_label="utility loss",
        y_label="worst excess risk of all attacks",
        series=tuple(
            Series(
                name=name(label, 40),
                x=np.array([loss]),
                y=np.array([max(excess.value, 0.0)]),
                low=np.array([max(excess.low, 0.0)]),
                high=np.array([min(max(excess.high, 0.0), 1.0)]),
                style=style,
                kind="points",
            )
            for (label, excess, loss), style in zip(rows, _RELEASES, strict=False)
        ),
        caption="Lower is safer, further left is more useful. A bar reaches from the lower to the upper limit.",
        x_range=(0.0, max(0.1, *(loss for _, _, loss in rows)) * 1.1),
        x_kind="share",
        thresholds=()
        if threshold is None
        else (Threshold(name=f"threshold: {percent(threshold)}", value=threshold, across="y"),),
        small=True,
    )
