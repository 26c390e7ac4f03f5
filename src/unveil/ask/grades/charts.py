"""Grades as pictures: rankings, scores by case, a metric level by level, and what metrics do by attack and data set."""

import math

import numpy as np

from unveil.grade.grades import LEAST, NOTHING_SIGNIFICANT
from unveil.grade.replicated import Floats
from unveil.grade.suites import mean_of_defined
from unveil.show.blocks import Threshold
from unveil.show.blocks_spread import BoxRow, BoxRows, HeatMap, box_of, spread_of
from unveil.ask.grades.findings import Detail, GradesFindings, per_release, words
from unveil.show.scale import round_step, value_text
from unveil.ask.study.findings import AXES
from unveil.show.text import fixed
from unveil.study.precision import half_width

#: What the page calls each score.
SCORES = {"monotonicity": "Monotonicity", "evenness": "Evenness", "shared_range": "Shared value range"}
_BOLD = "metrics of a whole release, which tell nothing about a single target"


def score_of(found: GradesFindings, score: str) -> Floats:
    """Return a score by case and metric."""
    scores = found.grades.scores
    by_name = {
        "monotonicity": scores.monotonicity.score,
        "evenness": scores.evenness,
        "shared_range": scores.shared_range,
    }
    return by_name[score]


def ranking_boxes(found: GradesFindings, score: str) -> BoxRows:
    """Return the metrics ranked by the mean of a score, as boxes over cases (Figs 4, 10 and 12)."""
    values, every = found.grades.values, score_of(found, score)
    means = {each.metric: getattr(each, score) for each in found.grades.metrics}
    order = sorted(means, key=lambda name: math.inf if math.isnan(means[name].mean) else -means[name].mean)
    rows = tuple(
        box_of(
            words(name),
            spread_of(every[:, values.metrics.index(name)], interval=_interval(means[name].low, means[name].high)),
            bold=per_release(name),
        )
        for name in order
    )
    lines: tuple[Threshold, ...] = ()
    if score == "monotonicity":
        lines = (
            Threshold(name="0.667, nothing significant", value=NOTHING_SIGNIFICANT, across="x"),
            Threshold(name=f"{LEAST:g}, the rule of Zhao and Wagner", value=LEAST, across="x"),
        )
    return BoxRows(
        title=f"Metrics by {SCORES[score].lower()}",
        x_label=SCORES[score],
        row_label="Metric",
        number_label="Cases",
        rows=rows,
        thresholds=lines,
        bold_meaning=_BOLD if any(row.bold for row in rows) else "",
        caption="Each box holds the middle half of the cases, its line is the median; the mean has its 95% interval.",
    )


def _interval(low: float, high: float) -> tuple[float, float] | None:
    return (low, high) if math.isfinite(low) else None


def heat_map(found: GradesFindings) -> HeatMap:
    """Return the monotonicity of each metric in each case, averaged over the axes (Fig. 3)."""
    values = found.grades.values
    names = [each.metric for each in found.grades.metrics]
    attacks, protections = attack_names(found), found.protections
    order: dict[tuple[str, str, str], list[int]] = {}
    for number, case in enumerate(values.cases):
        order.setdefault((attacks[case.attack], protections[case.protect], case.data), []).append(number)
    # Columns with the same first name stand beside one another, each in the order of the study.
    first = {name: at for at, name in enumerate(dict.fromkeys(key[0] for key in order))}
    second = {name: at for at, name in enumerate(dict.fromkeys(key[1] for key in order))}
    third = {name: at for at, name in enumerate(dict.fromkeys(key[2] for key in order))}
    columns = sorted(order, key=lambda key: (first[key[0]], second[key[1]], third[key[2]]))
    score = found.grades.scores.monotonicity.score[:, [values.metrics.index(name) for name in names]]
    cells = np.stack([mean_of_defined(score[order[key]].T) for key in columns], axis=1)
    axes = dict.fromkeys(case.axis.replace("_", " ") for case in values.cases)
    both = f"Each cell is the mean over {' and '.join(axes)}." if len(axes) > 1 else "Each cell is one case."
    bold = tuple(per_release(name) for name in names)
    return HeatMap(
        title="Monotonicity, case by case",
        rows=tuple(words(name) for name in names),
        columns=tuple(columns),
        values=cells,
        levels=("attack", "protection", "data set"),
        value_label="Monotonicity",
        caption=f"Darker is higher. {both} A row that is dark throughout belongs to a metric that follows the "
        "adversary in all of these cases; a column that is light throughout to an attack and protection that mislead "
        "most metrics.",
        bold=bold,
        bold_meaning=_BOLD if any(bold) else "",
        undefined="no pair of levels could be tested",
    )


def detail_boxes(found: GradesFindings, detail: Detail) -> BoxRows:
    """Return a metric in a case, level by level from the weakest adversary, with its score (Fig. 2)."""
    grades, values = found.grades, found.grades.values
    column = values.metrics.index(detail.metric)
    case, own = values.cases[detail.case], values.values[detail.case, column]
    axis, kind = AXES[case.axis]
    rows = tuple(
        _level_row(value_text(level, kind), own[place]) for place, level in enumerate(values.levels[detail.case])
    )
    found_score = grades.scores.monotonicity
    score = float(found_score.score[detail.case, column])
    number = int(found_score.significant[detail.case, column])
    tests = int(found_score.tests[detail.case, column])
    said = f"Monotonicity {fixed(score, places=3)}: {number} of {tests} tests are significant." if tests else _UNTESTED
    shown = detail.why[:1].upper() + detail.why[1:]
    return BoxRows(
        title=f"{words(detail.metric)}: {found.case_words(case)}",
        x_label=words(detail.metric),
        row_label=axis[:1].upper() + axis[1:],
        number_label="Replications",
        rows=rows,
        x_range=value_range(own),
        more_private="left" if values.rising[column] else "right",
        caption=f"{said} {shown}. Adversaries grow stronger from top to bottom.",
    )


_UNTESTED = "No pair of levels could be tested, so there is no monotonicity."


def _level_row(name: str, values: Floats) -> BoxRow:
    there = values[~np.isnan(values)]
    if there.size < 2:
        return box_of(name, values)
    mean, half = float(there.mean()), float(half_width(there.std(ddof=1), there.size))
    return box_of(name, spread_of(there, interval=(mean - half, mean + half)))


def value_range(values: Floats) -> tuple[float, float]:
    """Return a round range that holds all values; never of no width."""
    there = values[np.isfinite(values)]
    if not there.size:
        return 0.0, 1.0
    low, high = float(there.min()), float(there.max())
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-12):
        room = max(abs(low), 1.0) / 2
        return (0.0, high + room) if low >= 0 and low - room < 0 else (low - room, high + room)
    step = round_step((high - low) / 5)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def suite_boxes(found: GradesFindings, score: str) -> BoxRows | None:
    """Return evenness or shared value range of the suites, as boxes over cases (Fig. 13); None without suites."""
    scores = found.grades.suite_scores
    if scores is None:
        return None
    every = scores.evenness if score == "evenness" else scores.shared_range
    order = {name: at for at, name in enumerate(scores.values.metrics)}
    rows = tuple(
        box_of(
            each.suite.name,
            spread_of(
                every[:, order[each.suite.name]],
                interval=_interval(getattr(each, score).low, getattr(each, score).high),
            ),
        )
        for each in found.grades.suites
    )
    return BoxRows(
        title=f"Suites by {SCORES[score].lower()}",
        x_label=SCORES[score],
        row_label="Suite",
        number_label="Cases",
        rows=rows,
        caption="Each box holds the middle half of the cases.",
    )


def attack_names(found: GradesFindings) -> dict[str, str]:
    """Return how each attack is called."""
    return {attack: facts.called for attack, facts in found.attacks.items()}
