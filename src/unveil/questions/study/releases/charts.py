"""Risk against usefulness, and both against epsilon: pictures as data."""

from collections.abc import Callable
from math import isnan

import numpy as np

from unveil.questions.study.charts import STYLES
from unveil.questions.study.releases.findings import (
    FEWEST,
    EpsilonSeries,
    MeanInterval,
    ReleasesFindings,
    TechniqueFindings,
)
from unveil.report.blocks import Chart, Series, Threshold

_LINKED = "records of one person that are linked"
_LOST = "lost of what the original says"


def trade_chart(findings: ReleasesFindings) -> Chart | None:
    """Return how far linking gets against what was lost, a mark for each technique; None where there are not two."""
    known = [each for each in findings.families if each.releases >= FEWEST and not isnan(each.loss.mean)]
    if len(known) < 2:
        return None
    rows = sorted(known, key=lambda each: each.linked.mean)
    return Chart(
        title="Risk against usefulness, by technique",
        x_label=_LOST,
        y_label=_LINKED,
        series=tuple(
            Series(
                name=each.technique,
                x=np.array([each.loss.mean]),
                y=np.array([each.linked.mean]),
                low=np.array([_end(each.linked, "low")]),
                high=np.array([_end(each.linked, "high")]),
                style=STYLES[_kind(findings, each)],
                kind="points",
            )
            for each in rows
        ),
        caption="Means over the releases of a technique, with 95% intervals from drawing them anew. Further down is "
        f"safer, further left more useful. Circles: with an epsilon; others without. Of {FEWEST} releases and more.",
        x_range=(0.0, max(0.1, *(each.loss.mean for each in known)) * 1.25),
        y_range=(0.0, min(1.0, max(0.1, *(_end(each.linked, "high") for each in known)) * 1.1)),
        x_kind="share",
    )


def safety_chart(findings: ReleasesFindings) -> Chart | None:
    """Return how much less each technique loses than others that link as much; None where there are not two."""
    ranked = list(findings.ranked())
    if len(ranked) < 2:
        return None
    ends = [_end(each.saves, end) for each in ranked for end in ("low", "high")]
    return Chart(
        title="Who keeps most for the least risk",
        x_label="lost less than by others at the same risk",
        y_label="",
        series=(
            Series(
                name="mean over releases",
                x=np.array([each.saves.mean for each in ranked]),
                y=np.arange(len(ranked), dtype=float),
                low=np.array([_end(each.saves, "low") for each in ranked]),
                high=np.array([_end(each.saves, "high") for each in ranked]),
                style=STYLES[0],
                kind="points",
            ),
        ),
        caption="With 95% intervals from drawing releases anew. Further right is better; left of 0% more is lost than "
        "by others at the same risk.",
        x_range=(min(-0.01, *ends), max(0.01, *ends)),
        x_kind="share",
        rows=tuple(each.technique for each in ranked),
        thresholds=(Threshold(name="as others", value=0.0, across="x"),),
    )


def epsilon_charts(findings: ReleasesFindings) -> tuple[Chart, ...]:
    """Return risk and loss against epsilon, a line for each technique that has several."""
    if not findings.levels:
        return ()
    shown = findings.levels[: len(STYLES)]
    ends = [level for each in shown for level in each.epsilons]

    def chart(
        title: str, label: str, values: Callable[[EpsilonSeries], tuple[MeanInterval, ...]], caption: str
    ) -> Chart:
        highs = [_end(value, "high") for each in shown for value in values(each)]
        return Chart(
            title=title,
            x_label="epsilon",
            y_label=label,
            series=tuple(
                Series(
                    name=each.technique,
                    x=np.array(each.epsilons),
                    y=np.array([value.mean for value in values(each)]),
                    low=np.array([_end(value, "low") for value in values(each)]),
                    high=np.array([_end(value, "high") for value in values(each)]),
                    style=style,
                )
                for each, style in zip(shown, STYLES, strict=False)
            ),
            caption=caption,
            x_range=(0.0, max(ends)),
            y_range=(0.0, min(1.0, max(0.05, *highs) * 1.1)),
            small=True,
        )

    same = "Over groups of releases that have each epsilon with the same columns of the same people."
    return (
        chart("Risk against epsilon", _LINKED, lambda each: each.linked, same),
        chart("Loss against epsilon", _LOST, lambda each: each.loss, same),
    )


def _kind(findings: ReleasesFindings, family: TechniqueFindings) -> int:
    own = [each for each in findings.releases if each.technique == family.technique]
    return 0 if any(not isnan(each.epsilon) for each in own) else 1


def _end(spread: MeanInterval, end: str) -> float:
    value: float = getattr(spread, end)
    return spread.mean if isnan(value) else value
