"""Grades as pictures: rankings, scores by case, a metric level by level, and what metrics do by attack and data set."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.grades.grades import LEAST, NOTHING_SIGNIFICANT, MetricGrade
from unveil.grades.scores import Reading
from unveil.grades.suites import mean_of_defined
from unveil.metrics import METRICS
from unveil.questions.grade_metrics.findings import Detail, GradesFindings, NodeSpan, words
from unveil.questions.grade_metrics.tables import beside
from unveil.report.blocks import Threshold
from unveil.report.blocks_spread import BoxRow, BoxRows, BoxStatistics, HeatMap, box_of, spread_of
from unveil.report.scale import round_step, value_text
from unveil.report.text import AXES, fixed, percent
from unveil.studies.precision import half_width

#: What the page calls each score.
SCORES = {"monotonicity": "Monotonicity", "evenness": "Evenness", "shared_range": "Shared value range"}
#: What a name in bold means.
BOLD = "metrics of a whole release, which tell nothing about a single target"


def score_of(findings: GradesFindings, score: str) -> FloatArray:
    """Return a score by case and metric."""
    scores = findings.grades.scores
    by_name = {
        "monotonicity": scores.monotonicity.score,
        "evenness": scores.evenness,
        "shared_range": scores.shared_range,
    }
    return by_name[score]


def first_boxes(findings: GradesFindings) -> BoxRows:
    """Return the metrics to use first by their monotonicity, how often each is significant and how often wrong."""
    whole = ranking_boxes(findings, "monotonicity")
    row = {each.name: each for each in whole.rows}
    return replace(
        whole,
        title="The metrics to use first",
        rows=tuple(replace(row[words(each.metric)], note=_why(each)) for each in findings.first),
        bold_meaning=whole.bold_meaning if any(row[words(each.metric)].bold for each in findings.first) else "",
        caption="Each box holds the middle half of the cases; the mean has its 95% interval. 1 means that each "
        "stronger adversary significantly lowers measured privacy. Below a name: in how many of the cases anything is "
        "significant, and in how many something goes the wrong way.",
    )


def _why(grade: MetricGrade) -> str:
    return f"{percent(1 - grade.undecided, places=0)} significant, {percent(grade.against, places=0)} wrong"


def ranking_boxes(findings: GradesFindings, score: str) -> BoxRows:
    """Return the metrics ranked by the mean of a score, as boxes over cases (Figs 4, 10 and 12)."""
    values, every = findings.grades.values, score_of(findings, score)
    means = {each.metric: getattr(each, score) for each in findings.grades.metrics}
    order = sorted(means, key=lambda name: math.inf if math.isnan(means[name].mean) else -means[name].mean)
    # Monotonicity of nodes is no second opinion: their tests find the least change significant.
    nodes = beside(findings) if score != "monotonicity" else None
    rows = tuple(
        box_of(
            words(name),
            spread_of(every[:, values.metrics.index(name)], interval=interval_of(means[name].low, means[name].high)),
            *(() if nodes is None else (_box_of_nodes(nodes, name, score),)),
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
        series=("",) if nodes is None else ("means over targets", "values of nodes"),
        rows=rows,
        thresholds=lines,
        bold_meaning=BOLD if any(row.bold for row in rows) else "",
        caption="Each box holds the middle half of the cases, its line is the median; the mean has its 95% interval.",
    )


def _box_of_nodes(nodes: Reading, name: str, score: str) -> BoxStatistics | None:
    """Return a score of a metric's values of nodes over cases; None where it has none."""
    each = nodes.metric(name)
    if each is None:
        return None
    every = nodes.scores.evenness if score == "evenness" else nodes.scores.shared_range
    summary = getattr(each, score)
    column = nodes.scores.values.metrics.index(name)
    return spread_of(every[:, column], interval=interval_of(summary.low, summary.high))


def interval_of(low: float, high: float) -> tuple[float, float] | None:
    """Return the interval of a mean, or None where it has none."""
    return (low, high) if math.isfinite(low) else None


def per_release(metric: str) -> bool:
    """Return whether a metric is one number for a whole release, and so tells nothing about a single target."""
    return metric in METRICS and METRICS[metric].per == "release"


def heat_map(findings: GradesFindings) -> HeatMap:
    """Return the monotonicity of each metric in each case, averaged over the axes (Fig. 3)."""
    values = findings.grades.values
    names = [each.metric for each in findings.grades.metrics]
    attacks, protections = attack_names(findings), findings.protections
    order: dict[tuple[str, str, str], list[int]] = {}
    for number, case in enumerate(values.cases):
        order.setdefault((attacks[case.attack], protections[case.protect], case.data), []).append(number)
    # Columns with the same first name stand beside one another, each in the order of the study.
    first = {name: at for at, name in enumerate(dict.fromkeys(key[0] for key in order))}
    second = {name: at for at, name in enumerate(dict.fromkeys(key[1] for key in order))}
    third = {name: at for at, name in enumerate(dict.fromkeys(key[2] for key in order))}
    columns = sorted(order, key=lambda key: (first[key[0]], second[key[1]], third[key[2]]))
    score = findings.grades.scores.monotonicity.score[:, [values.metrics.index(name) for name in names]]
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
        bold_meaning=BOLD if any(bold) else "",
        undefined="no pair of levels could be tested",
    )


def detail_boxes(findings: GradesFindings, detail: Detail) -> BoxRows:
    """Return a metric in a case, level by level from the weakest adversary, with its score (Fig. 2)."""
    grades, values = findings.grades, findings.grades.values
    column = values.metrics.index(detail.metric)
    at = values.cases.index(detail.case)
    own = values.values[at, column]
    axis, kind = AXES[detail.case.axis]
    rows = tuple(_level_row(value_text(level, kind), own[place]) for place, level in enumerate(values.levels[at]))
    found_score = grades.scores.monotonicity
    score = float(found_score.score[at, column])
    number = int(found_score.significant[at, column])
    tests = int(found_score.tests[at, column])
    said = f"Monotonicity {fixed(score, places=3)}: {number} of {tests} tests are significant." if tests else _UNTESTED
    if grades.of == "nodes" and grades.nodes is not None and grades.nodes.metric(detail.metric) is not None:
        said += " They are tests of the values of nodes, where boxes are of means over targets."
    shown = detail.why[:1].upper() + detail.why[1:]
    return BoxRows(
        title=f"{words(detail.metric)}: {findings.case_words(detail.case)}",
        x_label=words(detail.metric),
        row_label=axis[:1].upper() + axis[1:],
        number_label="Replications",
        rows=rows,
        x_range=value_range(own),
        more_private="left" if values.rising[column] else "right",
        caption=f"{said} {shown}. Adversaries grow stronger from top to bottom.",
    )


_UNTESTED = "No pair of levels could be tested, so there is no monotonicity."


def _level_row(name: str, values: FloatArray) -> BoxRow:
    there = values[~np.isnan(values)]
    if there.size < 2:
        return box_of(name, values)
    mean, half = float(there.mean()), float(half_width(there.std(ddof=1), there.size))
    return box_of(name, spread_of(there, interval=(mean - half, mean + half)))


def value_range(values: FloatArray) -> tuple[float, float]:
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


def suite_boxes(findings: GradesFindings, score: str) -> BoxRows | None:
    """Return evenness or shared value range of the suites, as boxes over cases (Fig. 13); None without suites."""
    scores = findings.grades.suite_scores
    if scores is None:
        return None
    every = scores.evenness if score == "evenness" else scores.shared_range
    order = {name: at for at, name in enumerate(scores.values.metrics)}
    rows = tuple(
        box_of(
            each.suite.name,
            spread_of(
                every[:, order[each.suite.name]],
                interval=interval_of(getattr(each, score).low, getattr(each, score).high),
            ),
        )
        for each in findings.grades.suites
    )
    return BoxRows(
        title=f"Suites by {SCORES[score].lower()}",
        x_label=SCORES[score],
        row_label="Suite",
        number_label="Cases",
        rows=rows,
        caption="Each box holds the middle half of the cases.",
    )


def attack_names(findings: GradesFindings) -> dict[str, str]:
    """Return how each attack is called."""
    return {attack: facts.called for attack, facts in findings.attacks.items()}


#: The metrics of the figure on chunks, where they were computed; the last one is not affected and stands beside them.
CHUNKED = ("anonymity_set_size", "mutual_information", "entropy", "adversary_success_rate")
SUCCESS = ("adversary_success_rate", "adversary_overall_success")


def maxima_boxes(findings: GradesFindings) -> tuple[BoxRows, ...]:
    """Return the largest value of metrics by attack, a picture each (Fig. 7); none where no attack has chunks."""
    if not any(facts.chunk for facts in findings.attacks.values()):
        return ()
    values, rows_of = findings.grades.values, _cases_by_attack(findings)
    shown = [name for name in CHUNKED if name in values.metrics]
    pictures = []
    for name in shown:
        own = values.values[:, values.metrics.index(name)]
        flat = own.reshape(len(own), -1)
        most = np.where(np.isnan(flat), -np.inf, flat).max(axis=1, initial=-np.inf)
        most = np.where(np.isfinite(most), most, np.nan)
        affected = METRICS[name].affected_by_chunking
        pictures.append(
            BoxRows(
                title=f"Largest {words(name)} of each case",
                x_label=words(name),
                row_label="Attack",
                number_label="Cases",
                rows=tuple(
                    box_of(findings.attacks[attack].called, most[rows], note=_chunk(findings, attack))
                    for attack, rows in rows_of.items()
                ),
                x_range=(0.0, max(value_range(most)[1], 1e-9)),
                caption="Affected by chunks: attacks with chunks share a ceiling."
                if affected
                else "Not affected by chunks.",
            )
        )
    return tuple(pictures)


def _chunk(findings: GradesFindings, attack: str) -> str:
    chunk = findings.attacks[attack].chunk
    return f"chunks of {chunk}" if chunk else ""


def success_boxes(findings: GradesFindings) -> BoxRows | None:
    """Return the share of right attempts beside that of all targets found, by attack (Fig. 8); None without both."""
    values = findings.grades.values
    if any(name not in values.metrics for name in SUCCESS):
        return None
    rate, overall = (values.means[:, values.metrics.index(name)] for name in SUCCESS)
    rows = tuple(
        box_of(_with_scope(findings, attack), rate[rows].ravel(), overall[rows].ravel())
        for attack, rows in _cases_by_attack(findings).items()
    )
    return BoxRows(
        title="Success rate and overall success by attack",
        x_label="share that is right",
        row_label="Attack",
        number_label="Levels of cases",
        series=("success rate: of the attempts", "overall success: of all targets"),
        rows=rows,
        x_kind="share",
        more_private="left",
        caption="Means over replications, at every level of every case. Where the two differ, the attack leaves out "
        "what is hard: to compare attacks take overall success.",
    )


def _with_scope(findings: GradesFindings, attack: str) -> str:
    facts = findings.attacks[attack]
    return f"{facts.called} ({facts.scope})" if facts.scope else facts.called


def range_boxes(findings: GradesFindings) -> tuple[BoxRows, ...]:
    """Return where the values of two metrics lie, by data set, attack or protection (Fig. 11).

    The metrics are those with the highest and the lowest mean of the shared value range, of those that vary.
    """
    values = findings.grades.values
    ranked = sorted(
        (each for each in findings.grades.metrics if each.shared_range.mean > 0),
        key=lambda each: -each.shared_range.mean,
    )
    what, groups = _most_telling_groups(findings)
    if len(ranked) < 2 or len(groups) < 2:
        return ()
    pictures = []
    for each, which in ((ranked[0], "highest"), (ranked[-1], "lowest")):
        own = values.values[:, values.metrics.index(each.metric)]
        pictures.append(
            BoxRows(
                title=f"Where the values of {words(each.metric)} lie",
                x_label=words(each.metric),
                row_label=what,
                number_label="Replications",
                rows=tuple(box_of(name, own[rows].ravel()) for name, rows in groups.items()),
                x_range=value_range(own),
                more_private="left" if values.rising[values.metrics.index(each.metric)] else "right",
                caption=f"The {which} mean of the shared value range: {fixed(each.shared_range.mean, places=3)}.",
            )
        )
    return tuple(pictures)


def _most_telling_groups(findings: GradesFindings) -> tuple[str, dict[str, IntArray]]:
    cases = findings.grades.values.cases
    attacks, protections = attack_names(findings), findings.protections
    ways: Sequence[tuple[str, list[str]]] = (
        ("Data set", [case.data for case in cases]),
        ("Attack", [attacks[case.attack] for case in cases]),
        ("Protection", [protections[case.protect] for case in cases]),
    )
    what, names = next((way for way in ways if len(set(way[1])) > 1), ways[0])
    every = np.array(names)
    return what, {name: np.flatnonzero(every == name) for name in dict.fromkeys(names)}


def _cases_by_attack(findings: GradesFindings) -> dict[str, IntArray]:
    cases = findings.grades.values.cases
    every = np.array([case.attack for case in cases])
    return {attack: np.flatnonzero(every == attack) for attack in dict.fromkeys(case.attack for case in cases)}


# Charts of other readings: raw scores compared with calibrated probabilities, and spans of nodes.


def calibration_boxes(findings: GradesFindings) -> BoxRows | None:
    """Return the monotonicity of each metric from raw scores and calibrated probabilities; None without the latter."""
    both = findings.grades.calibrated
    if both is None or not both.changed:
        return None
    every = both.raw.scores.values.metrics
    rows = []
    for each in both.changed:
        column = every.index(each.metric)
        boxes = [
            spread_of(
                side.scores.monotonicity.score[:, column],
                interval=interval_of(grade.monotonicity.low, grade.monotonicity.high),
            )
            for side, grade in ((both.raw, each.raw), (both.calibrated, each.calibrated))
        ]
        wrong = f"{percent(each.raw.against, places=0)} → {percent(each.calibrated.against, places=0)} wrong"
        rows.append(box_of(words(each.metric), *boxes, bold=per_release(each.metric), note=wrong))
    return BoxRows(
        title="Monotonicity from raw scores and from calibrated probabilities",
        x_label="Monotonicity",
        row_label="Metric",
        number_label="Cases",
        series=("raw scores, of those attempted", "calibrated probabilities, of all targets"),
        rows=tuple(rows),
        thresholds=(Threshold(name="0.667, nothing significant", value=NOTHING_SIGNIFICANT, across="x"),),
        bold_meaning=BOLD if any(row.bold for row in rows) else "",
        caption="The largest gain first. Below a name: the share of cases in which something significant goes the "
        "wrong way, raw and calibrated.",
    )


def span_boxes(findings: GradesFindings) -> BoxRows | None:
    """Return where the values of nodes of each metric lie in two cases, on one scale (Fig. 11); None without nodes."""
    if not findings.spans:
        return None
    return BoxRows(
        title="Spans of nodes",
        x_label="place in the range of the metric over all cases",
        row_label="Metric",
        number_label="Values",
        series=("the case that uses most of the range", "the case that uses least"),
        rows=tuple(
            box_of(words(each.metric), _node_box(each.widest), _node_box(each.narrowest)) for each in findings.spans
        ),
        caption="Each box holds the middle half of the values of nodes, at all levels and in all replications, from "
        "the means of 64 runs of equal count; beyond the whiskers only the lowest and the highest node are drawn. The "
        "metric whose narrowest case uses most of the range comes first.",
    )


def _node_box(span: NodeSpan) -> BoxStatistics:
    lower, median, upper = span.quartiles
    low, high = span.whiskers
    return BoxStatistics(
        low=low,
        lower=lower,
        median=median,
        upper=upper,
        high=high,
        mean=span.mean,
        number=span.count,
        beyond=(*((span.lowest,) if span.lowest < low else ()), *((span.highest,) if span.highest > high else ())),
    )
