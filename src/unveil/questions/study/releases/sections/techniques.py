"""Techniques compared: risk against utility, technique and epsilon, and every release."""

from math import isnan

import numpy as np

from unveil.questions.result import PageContext
from unveil.questions.study.releases.findings import (
    FEWEST,
    AuditedFile,
    MeanInterval,
    ReleasesFindings,
    ShareInterval,
    TechniqueFindings,
)
from unveil.questions.study.sections.strength import STYLES
from unveil.report.blocks import Chart, Section, Series, Side, TableBlock, Threshold
from unveil.report.text import percent

#: What each attack measures, in words that follow "by".
ATTACKS = {
    "who": "singling out",
    "together": "linkability",
    "secret": "inference",
    "member": "membership",
    "copied": "copies",
}
LINKED = "linked records of one person"
LOST = "utility loss"
_MOST_ROWS = 250


def section(findings: ReleasesFindings, context: PageContext) -> Section | None:
    """Return the section on techniques; None without releases."""
    del context
    if not findings.releases:
        return None
    safety = safety_chart(findings)
    return Section(
        heading="Techniques",
        question="Which technique keeps most utility at the same risk?",
        lead=f"Nothing is concluded from techniques with fewer than {FEWEST} releases; the tables have them.",
        blocks=(safety,) if safety else (),
        data=(comparison_table(findings), cell_table(findings), release_table(findings)),
    )


def trade_chart(findings: ReleasesFindings) -> Chart | None:
    """Return linkability by utility loss, one mark per technique."""
    known = [each for each in findings.families if each.releases >= FEWEST and not isnan(each.loss.mean)]
    if len(known) < 2:
        return None
    rows = sorted(known, key=lambda each: each.linked.mean)
    return Chart(
        title="Risk and utility by technique",
        x_label=LOST,
        y_label=LINKED,
        series=tuple(
            Series(
                name=each.technique,
                x=np.array([each.loss.mean]),
                y=np.array([each.linked.mean]),
                low=np.array([interval_end(each.linked, "low")]),
                high=np.array([interval_end(each.linked, "high")]),
                style=STYLES[_kind(findings, each)],
                kind="points",
            )
            for each in rows
        ),
        caption=f"Means with 95% CI, for techniques with at least {FEWEST} releases. Lower is safer, further left more "
        "useful. Circles: differentially private techniques.",
        x_range=(0.0, max(0.1, *(each.loss.mean for each in known)) * 1.25),
        y_range=(0.0, min(1.0, max(0.1, *(interval_end(each.linked, "high") for each in known)) * 1.1)),
        x_kind="share",
    )


def safety_chart(findings: ReleasesFindings) -> Chart | None:
    """Return each technique's utility loss below comparable releases."""
    ranked = list(findings.ranked())
    if len(ranked) < 2:
        return None
    ends = [interval_end(each.saves, end) for each in ranked for end in ("low", "high")]
    return Chart(
        title="Utility kept at the same risk",
        x_label="utility loss below that of other techniques at the same risk",
        y_label="",
        series=(
            Series(
                name="mean over releases",
                x=np.array([each.saves.mean for each in ranked]),
                y=np.arange(len(ranked), dtype=float),
                low=np.array([interval_end(each.saves, "low") for each in ranked]),
                high=np.array([interval_end(each.saves, "high") for each in ranked]),
                style=STYLES[0],
                kind="points",
            ),
        ),
        caption=f"{ranked[0].technique} keeps most: {points(ranked[0].saves)} less utility loss than other techniques "
        "at the same risk. Lines are 95% CI over releases.",
        x_range=(min(-0.01, *ends), max(0.01, *ends)),
        x_kind="share",
        rows=tuple(each.technique for each in ranked),
        thresholds=(Threshold(name="same as other techniques", value=0.0, across="x"),),
    )


def cell_table(findings: ReleasesFindings) -> TableBlock:
    """Return technique and ε with risk and utility loss."""
    return TableBlock(
        caption="Technique and epsilon",
        columns=(
            "Technique",
            "Epsilon",
            "Releases",
            "Significant",
            "Strongest risk",
            "Linked",
            "Copied",
            "Utility loss",
        ),
        rows=tuple(
            (
                each.technique,
                "–" if isnan(each.epsilon) else f"{each.epsilon:g}",
                f"{each.releases:,}",
                f"{each.proved:,}",
                risk_text(each.worst),
                spread_text(each.linked),
                percent(each.copied.mean),
                spread_text(each.loss),
            )
            for each in findings.cells
        ),
        align=sides("llrrlrrr"),
        note="Strongest risk: excess of the worst release, with a simultaneous 95% CI. Linked, copied, and utility "
        "loss: means with 95% CI over releases.",
    )


def summary_table(findings: ReleasesFindings) -> TableBlock:
    """Return the techniques with risk and utility, those first that keep most utility at the same risk."""
    return TableBlock(
        caption="Techniques",
        columns=("Technique", "Releases", "Significant", "Less utility loss", "Linked", "Utility loss"),
        rows=tuple(
            (
                each.technique,
                f"{each.releases:,}",
                f"{each.proved:,}",
                points(each.saves),
                *map(spread_text, (each.linked, each.loss)),
            )
            for each in findings.ranked()
        ),
        align=sides("lrrrrr"),
        note="Less utility loss: percentage points below releases with the same columns and the same linkability. "
        "95% CI over releases.",
        terminal_columns=(0, 1, 2, 3),
    )


def comparison_table(findings: ReleasesFindings) -> TableBlock:
    """Return how techniques compare with the other releases with the same columns of the same people."""
    return TableBlock(
        caption="Techniques compared with other releases of the same columns",
        columns=("Technique", "Safer than", "More useful than", "Worse in both than"),
        rows=tuple(
            (each.technique, *map(spread_text, (each.safer, each.more_useful, each.beaten)))
            for each in findings.ranked()
        ),
        align=sides("lrrr"),
        note="Share of the other releases, with 95% CI over releases. The most useful release is never worse in both.",
    )


def release_table(findings: ReleasesFindings) -> TableBlock:
    """Return every release, in the order of the study."""
    return TableBlock(
        caption="All releases",
        columns=(
            "Release",
            "Technique",
            "Epsilon",
            "Columns",
            "Significant",
            "Strongest risk",
            "Linked",
            "Copied",
            "Utility loss",
        ),
        rows=tuple(
            (
                each.name,
                each.technique,
                "–" if isnan(each.epsilon) else f"{each.epsilon:g}",
                f"{each.columns}",
                "yes" if each.proved else "no",
                risk_text(each),
                rate_text(each.linked),
                percent(each.copied),
                percent(each.loss),
            )
            for each in findings.releases[:_MOST_ROWS]
        ),
        align=sides("llrrllrrr"),
    )


def risk_text(file: AuditedFile) -> str:
    """Return the strongest excess of a release with its attack and interval."""
    if not file.risk.defined:
        return "–"
    return f"{rate_text(file.risk)} by {ATTACKS.get(file.asked, file.asked)}"


def rate_text(rate: ShareInterval) -> str:
    """Return a rate and its interval.

    >>> rate_text(ShareInterval(0.25, 0.2, 0.31))
    '25.0% (20.0% to 31.0%)'
    """
    if not rate.defined:
        return "–"
    return f"{percent(max(rate.value, 0.0))} ({percent(max(rate.low, 0.0))} to {percent(max(rate.high, 0.0))})"


def spread_text(spread: MeanInterval) -> str:
    """Return a mean and its interval over releases; a single release has none."""
    if isnan(spread.mean):
        return "–"
    return percent(spread.mean) + ("" if isnan(spread.low) else f" ({percent(spread.low)} to {percent(spread.high)})")


def points(spread: MeanInterval) -> str:
    """Return a difference of shares in percentage points, with its interval.

    >>> points(MeanInterval(mean=0.041, low=-0.001, high=0.08))
    '4 points (0 to 8)'
    """
    mean, low, high = (0 if isnan(each) else round(100 * each) for each in (spread.mean, spread.low, spread.high))
    text = "1 point" if mean == 1 else f"{mean} points"
    return text if isnan(spread.low) else f"{text} ({low} to {high})"


def sides(letters: str) -> tuple[Side, ...]:
    """Return where columns are aligned, a letter each.

    >>> sides("lr")
    ('left', 'right')
    """
    return tuple("left" if letter == "l" else "right" for letter in letters)


def _kind(findings: ReleasesFindings, family: TechniqueFindings) -> int:
    own = [each for each in findings.releases if each.technique == family.technique]
    return 0 if any(not isnan(each.epsilon) for each in own) else 1


def interval_end(spread: MeanInterval, end: str) -> float:
    """Return an end of the interval, or the mean where it has none."""
    value: float = getattr(spread, end)
    return spread.mean if isnan(value) else value
