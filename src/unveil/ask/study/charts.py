"""How far attacks get at each level of an adversary's strength: pictures as data."""

import math
from collections.abc import Mapping

import numpy as np

from unveil.ask.study.findings import StudyFindings, is_share
from unveil.measure import METRICS
from unveil.show.blocks import Chart, Series, Style
from unveil.show.scale import round_step
from unveil.show.studies import AXES, labels
from unveil.show.text import count
from unveil.study import Axis

#: One per attack, in the order of the study; an attack beyond the last is in the tables only.
STYLES: tuple[Style, ...] = ("first", "second", "third", "fourth", "fifth", "first-reference", "second-reference")
#: More pictures than these say less; the tables hold the rest.
MOST_CHARTS = 24

Means = Mapping[tuple[str, str, str, float], tuple[float, float]]


def strength_charts(found: StudyFindings, *, most: int = MOST_CHARTS) -> tuple[tuple[Chart, ...], int]:
    """Return a picture per data set, protection and axis, and how many there would be without the bound.

    The first metric goes up, the level goes across, and each attack is a line; it has a gap where a scenario failed or
    is missing. All pictures have the same scale, so that they can be compared. An axis with one level has no picture.
    """
    study, metric = found.study, found.metrics[0]
    means = {axis.name: found.means(metric, axis.name) for axis in study.axes}
    places = [
        (data.name, protect, axis)
        for data in study.data
        for protect in study.protections
        for axis in study.axes
        if len(axis.levels) > 1 and _drawable(means[axis.name], data.name, protect)
    ]
    scale = _scale(metric, means)
    charts = [_chart(found, metric, *place, means=means[place[2].name], scale=scale) for place in places[:most]]
    return tuple(charts), len(places)


def _drawable(means: Means, data: str, protect: str) -> bool:
    return any(key[:2] == (data, protect) and math.isfinite(mean) for key, (mean, _) in means.items())


def _chart(
    found: StudyFindings, metric: str, data: str, protect: str, axis: Axis, *, means: Means, scale: tuple[float, float]
) -> Chart:
    study = found.study
    called = labels(study.attacks)
    levels = np.array(axis.levels)
    nothing = (math.nan, math.nan)
    series = tuple(
        Series(
            name=called[attack],
            x=levels,
            y=np.array([means.get((data, protect, attack, level), nothing)[0] for level in axis.levels]),
            style=style,
        )
        for attack, style in zip(study.attacks, STYLES, strict=False)
    )
    words, kind = AXES[axis.name]
    over = len(study.attacks) - len(STYLES)
    more = f" {count(over, 'more attack is', 'more attacks are')} in the tables." if over > 0 else ""
    where = f"{data}, " if len(study.data) > 1 else ""
    return Chart(
        title=f"{where}{labels(study.protections)[protect]}",
        x_label=words,
        y_label=metric.replace("_", " "),
        series=series,
        caption=f"{_direction(metric)}{more}",
        x_range=(0.0 if kind == "count" else axis.levels[0], axis.levels[-1]),
        y_range=scale,
        x_kind=kind,
        y_kind="share" if is_share(metric) else "number",
        small=True,
    )


def _direction(metric: str) -> str:
    return f"Higher is {METRICS[metric].more_means}." if metric in METRICS else ""


def _scale(metric: str, means: Mapping[str, Means]) -> tuple[float, float]:
    """Return a round range that holds every mean."""
    values = [mean for every in means.values() for mean, _ in every.values() if math.isfinite(mean)]
    low, high = min([0.0, *values]), max([0.0, *values])
    if high <= low:
        return low, low + 1.0
    step = round_step((high - low) / 5)
    top = math.ceil(high / step - 1e-9) * step
    return math.floor(low / step + 1e-9) * step, min(top, 1.0) if is_share(metric) else top
