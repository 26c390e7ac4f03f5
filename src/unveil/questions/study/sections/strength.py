"""Success by attacker strength: charts by data set and protection, and the means behind them."""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from unveil.questions.result import PageContext
from unveil.questions.study.findings import StudyFindings, bounds_of, is_share, words_of
from unveil.report.blocks import Chart, Section, Series, Side, Style, TableBlock
from unveil.report.scale import round_step, value_text
from unveil.report.text import AXES, UNDEFINED, count, labels, percent
from unveil.studies import Axis
from unveil.studies._parts import metric_of_column

#: One per attack, in the order of the study; an attack beyond the last is in the tables only.
STYLES: tuple[Style, ...] = ("first", "second", "third", "fourth", "fifth", "first-reference", "second-reference")
#: More charts than these are left to the tables.
MOST_CHARTS = 24

#: The axis on which the truth is known: a metric that found all who leaked, and no others, would lie on the diagonal.
LEAKED = "leaked_share"
_AS_MUCH = "as much as leaked"
_NOTHING = (math.nan, math.nan)
#: A share that is less negative than this is drawn below the axis as it is.
_SLIGHT = 0.03

Means = Mapping[tuple[str, str, str, float], tuple[float, float]]
#: Charts that are visible; the others are in the data.
_FEW_CHARTS = 6
#: All tables of means on one page have no more rows than these together, so that it stays below 1 MB.
MOST_ROWS_OF_MEANS = 600
#: Stands where a scenario failed or was not computed.
NOTHING = "–"
_LARGE = 100


def section(findings: StudyFindings, context: PageContext) -> Section | None:
    """Return the section on the strength of attackers; None without results."""
    del context
    if not findings.counts.fine:
        return None
    charts, possible = strength_charts(findings)
    tables, left_out = mean_tables(findings)
    main = _main_of(charts)
    others = tuple(each for each in charts if each is not main)
    cut = f" {count(possible - len(charts), 'more chart', 'more charts')} and" if possible > len(charts) else ""
    omitted = f"{cut} {count(left_out, 'more table', 'more tables')}".strip() if left_out or cut else ""
    return Section(
        heading="Attacks by strength",
        question="How does success grow with the strength of the attacker?",
        lead="Points are means over replications with their 95% CI; gaps have no results."
        + (f" Not shown here, but in the JSON: {omitted}." if omitted else ""),
        blocks=others[:_FEW_CHARTS],
        data=(*others[_FEW_CHARTS:], *tables),
    )


def main_chart(findings: StudyFindings) -> Chart | None:
    """Return the chart of the first screen: on the share of people in the release if there is one, else the first one.

    None where no strength has results at two levels.
    """
    main = _main_of(strength_charts(findings)[0])
    return main and replace(main, title=f"Success by attacker strength, {main.title}", small=False)


def _main_of(charts: tuple[Chart, ...]) -> Chart | None:
    known = [each for each in charts if each.x_label == AXES[LEAKED][0]] or list(charts)
    return known[0] if known else None


def strength_charts(findings: StudyFindings, *, at_most: int = MOST_CHARTS) -> tuple[tuple[Chart, ...], int]:
    """Return charts by data set, protection and axis, and their number.

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
        caption=f"{_direction(metric)}{more}",
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


def mean_tables(findings: StudyFindings, *, at_most: int = MOST_ROWS_OF_MEANS) -> tuple[tuple[TableBlock, ...], int]:
    """Return the means of each metric by level, a table per metric, axis and data set, and how many are left out.

    Tables are left out once those before have as many rows as a page may hold.
    """
    shown: list[TableBlock] = []
    rows = left_out = 0
    for metric, axis, data in product(findings.metrics, findings.study.axes, findings.study.data):
        table = mean_table(findings, metric, axis, data.name)
        if rows + len(table.rows) > at_most and shown:
            left_out += 1
            continue
        rows += len(table.rows)
        shown.append(table)
    return tuple(shown), left_out


def mean_table(findings: StudyFindings, metric: str, axis: Axis, data: str) -> TableBlock:
    """Return one row per protection and attack, one column per level: the mean and half the width of its interval."""
    study = findings.study
    means = findings.means(metric, axis.name)
    protections, attacks = labels(study.protections), labels(study.attacks)
    rows = tuple(
        (
            protections[protect],
            attacks[attack],
            *(mean_text(means.get((data, protect, attack, level)), metric) for level in axis.levels),
        )
        for protect in study.protections
        for attack in study.attacks
    )
    words, kind = AXES[axis.name]
    where = f" of {data}" if len(study.data) > 1 else ""
    return TableBlock(
        caption=f"{words_of(metric).capitalize()}{where}, by {words}",
        columns=("Protection", "Attack", *(value_text(level, kind) for level in axis.levels)),
        rows=rows,
        align=sides(2, len(axis.levels)),
    )


def mean_text(mean: tuple[float, float] | None, metric: str) -> str:
    """Return a mean and half the width of its 95 % interval; what was not computed is a dash.

    >>> mean_text((0.25, 0.03), "adversary_overall_success"), mean_text((3.25, float("nan")), "entropy")
    ('25.0% ± 3.0', '3.250')
    """
    if mean is None:
        return NOTHING
    value, half = mean
    if not math.isfinite(value):
        return UNDEFINED
    if is_share(metric):
        return percent(value) + (f" ± {100 * half:.1f}" if math.isfinite(half) else "")
    # As many decimals in both, so that they can be compared at a glance.
    places = 3 if abs(value) < _LARGE else 1
    return f"{value:,.{places}f}" + (f" ± {half:,.{places}f}" if math.isfinite(half) else "")


def effect_table(findings: StudyFindings) -> TableBlock:
    """Return each attack's success by protection, for the strongest attacker."""
    study, metric = findings.study, findings.metrics[0]
    protections, attacks = labels(study.protections), labels(study.attacks)
    cells = {
        (each.protect, each.attack): mean_text((each.mean, each.half), metric)
        for each in findings.effects
        if not math.isnan(each.mean)
    }
    words, kind = AXES[study.axes[0].name]
    return TableBlock(
        caption=f"{words_of(metric).capitalize()} at {words} {value_text(study.axes[0].levels[-1], kind)}",
        columns=("Protection", *(attacks[attack] for attack in study.attacks)),
        rows=tuple(
            (protections[protect], *(cells.get((protect, attack), NOTHING) for attack in study.attacks))
            for protect in study.protections
        ),
        align=sides(1, len(study.attacks)),
        note="Means over replications; ± is half the 95% CI.",
    )


def sides(names: int, numbers: int) -> tuple[Side, ...]:
    """Return where columns of names, and after them columns of numbers, are aligned."""
    return tuple("left" if place < names else "right" for place in range(names + numbers))
