"""Linkability: can two records of a person be connected?"""

from math import nan

import numpy as np

from unveil.metrics.trials.risk import Rate
from unveil.questions.audit.decision.text import is_hidden
from unveil.questions.audit.findings import Audit, AuditedRelease, ColumnImportance
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.results import attacker_text, result_sentence, result_table, strongest
from unveil.questions.audit.words import LONGEST_NAME, compact_rate
from unveil.report.blocks import Chart, Section, Series, TableBlock, Threshold, sides
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import name

#: At most so many column splits, and columns, are drawn.
MOST_SPLITS, MOST_COLUMNS = 5, 8


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return the linkability section: strongest column splits and column importance."""
    table = result_table(audit, ("linkability",), "Linkability: all column splits")
    if table is None:
        return None
    charts = (split_chart(audit), importance_chart(audit))
    data = (table, importance_table(audit))
    return Section(
        heading="Linkability",
        question="Can two records of a person be connected?",
        lead=result_sentence(audit, "linkability"),
        blocks=tuple(each for each in charts if each is not None),
        data=tuple(each for each in data if each is not None),
    )


def split_chart(audit: Audit) -> Chart | None:
    """Return the excess of the strongest column splits, or None."""
    found = strongest(audit, "linkability")
    if found is None:
        return None
    release, _ = found
    own = [
        each
        for each in release.effects
        if each.attack == "linkability" and each.excess.is_tested and not is_hidden(each) and each.blocks_pass
    ]
    own = sorted(own, key=lambda each: -each.excess.value)[:MOST_SPLITS]
    if len(own) < 2:
        return None
    values = [(each.excess.value, each.excess.low, each.excess.high) for each in own]
    excess, low, high = (np.clip(np.array(column, dtype=np.float64), 0, 1) for column in zip(*values, strict=True))
    threshold = audit.thresholds.of("linkability")
    best = attacker_text(audit, release.name, own[0])
    return Chart(
        title="Excess risk by column split",
        x_label="excess risk",
        y_label="",
        series=(
            Series(name="excess", x=excess, y=np.arange(len(own), dtype=np.float64), style="second", kind="points",
                   low=low, high=high),
        ),
        caption=f"The two sources that can be linked most often: {best}. Bars reach from the lower to the upper limit.",
        x_range=(0.0, max(0.1, float(high.max()))),
        x_kind="share",
        thresholds=() if threshold is None else (Threshold(name="threshold", value=threshold, across="x"),),
        rows=tuple(name(attacker_text(audit, release.name, each), 44) for each in own),
        small=True,
    )  # fmt: skip


def _weighed(audit: Audit) -> list[AuditedRelease]:
    return [release for release in audit.releases if release.weights]


def importance_chart(audit: Audit) -> Chart | None:
    """Return attack success without each column, most important first, or None."""
    found = strongest(audit, "linkability")
    releases = [each for each in _weighed(audit) if found is None or each.name == found[0].name]
    if not releases:
        return None
    weights = releases[0].weights[:MOST_COLUMNS]
    if not any(_is_drawn(weight.without) for weight in weights):
        return None
    whole, rates = weights[0].whole, [weight.without for weight in weights]
    high = np.array([rate.high for rate in rates])
    top = [each.high for each in (whole, *rates) if each.defined]
    return Chart(
        title="Column importance",
        x_label="linked people without the column",
        y_label="",
        series=(
            Series(name="without the column", x=np.array([_drawn(rate) for rate in rates]),
                   y=np.arange(len(rates), dtype=np.float64), style="first", kind="points",
                   low=np.array([rate.low for rate in rates]), high=high),
        ),
        caption=f"Without {name(weights[0].column, 40)} the strongest attacker loses most.",
        x_range=(0.0, min(1.0, max(0.05, *top)) if top else 1.0),
        x_kind="share",
        thresholds=(Threshold(name="all columns", value=whole.value, across="x"),) if _is_drawn(whole) else (),
        rows=tuple(name(weight.column, 40) for weight in weights),
        small=True,
    )  # fmt: skip


def _is_drawn(rate: Rate) -> bool:
    return rate.defined and not isinstance(rate.value, SuppressedNumber)


def _drawn(rate: Rate) -> float:
    return float(rate.value) if _is_drawn(rate) else nan


def importance_table(audit: Audit) -> TableBlock | None:
    """Return column importance on each release, or None."""
    releases = _weighed(audit)
    if not releases:
        return None
    several = len(releases) > 1
    return TableBlock(
        caption="Column importance",
        columns=(*(["Release"] if several else []), "Column", "With all columns", "Without it", "Change"),
        rows=tuple(
            (
                *([name(release.name, LONGEST_NAME)] if several else []),
                name(weight.column, LONGEST_NAME),
                compact_rate(weight.whole),
                compact_rate(weight.without),
                _change(weight),
            )
            for release in releases
            for weight in release.weights
        ),
        align=sides("llrrr" if several else "lrrr"),
    )


def _change(weight: ColumnImportance) -> str:
    if not _is_drawn(weight.whole) or not _is_drawn(weight.without):
        return "–"
    return f"{-100 * weight.loss:+.1f} points".replace("-", "−")
