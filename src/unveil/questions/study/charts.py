"""How far attacks get after each protection, and at each level of an adversary's strength: pictures as data."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from unveil.questions.study.findings import StudyFindings, bounds_of, is_share, words_of
from unveil.report.blocks import Chart, Series, Style
from unveil.report.scale import round_step, value_text
from unveil.report.text import AXES, count, labels
from unveil.studies import Axis
from unveil.studies._parts import metric_of_column

#: One per attack, in the order of the study; an attack beyond the last is in the tables only.
STYLES: tuple[Style, ...] = ("first", "second", "third", "fourth", "fifth", "first-reference", "second-reference")
#: More pictures than these say less; the tables hold the rest.
MOST_CHARTS = 24

#: The axis on which the truth is known: a metric that found all who leaked, and nobody else, would lie on the diagonal.
LEAKED = "leaked_share"
_AS_MUCH = "as much as leaked"
_EQUAL = f" On the line '{_AS_MUCH}' everybody who leaked would be found, and nobody else."
_NOTHING = (math.nan, math.nan)
#: A share that is less negative than this is drawn below the axis as it is.
_SLIGHT = 0.03

Means = Mapping[tuple[str, str, str, float], tuple[float, float]]


#: A picture with more marks, or more in a row than there are shapes, is a table instead.
_MOST_MARKS, _MOST_SHAPES = 24, 5


def effect_chart(findings: StudyFindings) -> Chart | None:
    """Return what each attack reaches after each protection, with intervals; None where that is too much to draw."""
    study, metric = findings.study, findings.metrics[0]
    number = len(study.protections) * len(study.attacks)
    if number > _MOST_MARKS or len(study.attacks) > _MOST_SHAPES or all(math.isnan(e.mean) for e in findings.effects):
        return None
    protections, attacks = labels(study.protections), labels(study.attacks)
    row = {protect: float(at) for at, protect in enumerate(study.protections)}
    low, high = bounds_of(metric)
    series = []
    for attack, style in zip(study.attacks, STYLES, strict=False):
        own = [each for each in findings.effects if each.attack == attack]
        series.append(
            Series(
                name=attacks[attack],
                x=np.array([each.mean for each in own]),
                y=np.array([row[each.protect] for each in own]),
                style=style,
                kind="points",
                low=np.array([max(each.low, low) for each in own]),
                high=np.array([min(each.high, high) for each in own]),
            )
        )
    ends = [min(max(end, low), high) for each in findings.effects for end in (each.mean, each.high)]
    words, kind = AXES[study.axes[0].name]
    facts = metric_of_column(metric)
    over = f" Means over {len(study.data)} data sets." if len(study.data) > 1 else ""
    return Chart(
        title="What each attack reaches after each protection",
        x_label=f"{words_of(metric)} (further right is {facts.more_means})" if facts else words_of(metric),
        y_label="",
        series=tuple(series),
        caption=f"Means with their 95% intervals, at {value_text(study.axes[0].levels[-1], kind)} {words}.{over}",
        x_range=(float(np.nanmin([0.0, *ends])), float(np.nanmax([0.01, *ends]))),
        x_kind="share" if is_share(metric) else "number",
        rows=tuple(protections[protect] for protect in study.protections),
    )


def leak_chart(findings: StudyFindings) -> Chart | None:
    """Return what is found as more people leak, beside what there is to be found; None where that axis is missing."""
    charts, _ = strength_charts(findings)
    chart = next((each for each in charts if each.x_label == AXES[LEAKED][0]), None)
    return chart and replace(chart, small=False)


def strength_charts(findings: StudyFindings, *, at_most: int = MOST_CHARTS) -> tuple[tuple[Chart, ...], int]:
    """Return a picture per data set, protection and axis, and how many there would be without the bound.

    The first metric goes up, the level goes across, and each attack is a line; it has a gap where a scenario failed or
    is missing. All pictures have the same scale, so that they can be compared. An axis with one level has no picture.
    """
    study, metric = findings.study, findings.metrics[0]
    means = {axis.name: findings.means(metric, axis.name) for axis in study.axes}
    places = [
        (data.name, protect, axis)
        for data in study.data
        for protect in study.protections
        for axis in study.axes
        if len(axis.levels) > 1 and _drawable(means[axis.name], data.name, protect)
    ]
    scale = _scale(metric, means)
    charts = [_chart(findings, metric, *place, means=means[place[2].name], scale=scale) for place in places[:at_most]]
    return tuple(charts), len(places)


def _drawable(means: Means, data: str, protect: str) -> bool:
    return any(key[:2] == (data, protect) and math.isfinite(mean) for key, (mean, _) in means.items())


def _chart(
    findings: StudyFindings,
    metric: str,
    data: str,
    protect: str,
    axis: Axis,
    *,
    means: Means,
    scale: tuple[float, float],
) -> Chart:
    study = findings.study
    called = labels(study.attacks)
    levels = np.array(axis.levels)
    series = []
    for attack, style in zip(study.attacks, STYLES, strict=False):
        mean, half = np.array([means.get((data, protect, attack, level), _NOTHING) for level in axis.levels]).T
        low, high = (np.clip(end, *bounds_of(metric)) for end in (mean - half, mean + half))
        series.append(Series(name=called[attack], x=levels, y=mean, style=style, low=low, high=high))
    equal = axis.name == LEAKED and is_share(metric)
    if equal:
        series.append(Series(name=_AS_MUCH, x=levels, y=levels, style=STYLES[-1]))
    words, kind = AXES[axis.name]
    over = len(study.attacks) - len(STYLES)
    more = f" {count(over, 'more attack is', 'more attacks are')} in the tables." if over > 0 else ""
    where = f"{data}, " if len(study.data) > 1 else ""
    return Chart(
        title=f"{where}{labels(study.protections)[protect]}",
        x_label=words,
        y_label=words_of(metric),
        series=tuple(series),
        caption=f"{_direction(metric)}{_EQUAL if equal else ''}{more}",
        x_range=(0.0 if kind == "count" else axis.levels[0], axis.levels[-1]),
        y_range=scale,
        x_kind=kind,
        y_kind="share" if is_share(metric) else "number",
        small=True,
    )


def _direction(metric: str) -> str:
    facts = metric_of_column(metric)
    return f"Higher is {facts.more_means}." if facts else ""


def _scale(metric: str, means: Mapping[str, Means]) -> tuple[float, float]:
    """Return a round range that holds every mean."""
    values = [mean for every in means.values() for mean, _ in every.values() if math.isfinite(mean)]
    low, high = min([0.0, *values]), max([0.0, *values])
    if is_share(metric) and low > -_SLIGHT:
        low = 0.0  # a point just below the axis needs no scale of its own
    if high <= low:
        return low, low + 1.0
    step = round_step((high - low) / 5)
    top = math.ceil(high / step - 1e-9) * step
    return math.floor(low / step + 1e-9) * step, min(top, 1.0) if is_share(metric) else top
