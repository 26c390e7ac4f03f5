"""Grades in rows: the ranking of metrics, suites, and one case in which a suite stands beside its metrics."""

import math

from unveil.grade.grades import MetricGrade, Summary
from unveil.show.blocks import Side, Table
from unveil.ask.grades.findings import VERDICTS, GradesFindings, interval, words
from unveil.ask.grades.notes import zeros_of
from unveil.show.text import UNDEFINED, fixed, percent, significant


def ranking_table(found: GradesFindings) -> Table:
    """Return the metrics by verdict, and of each the most monotonic first: all three scores, and the verdict."""
    order = _by_verdict(found)
    return Table(
        caption=f"{len(order)} metrics: those to use first, the most monotonic first",
        columns=("metric", "verdict", "monotonicity", "undecided", "wrong way", "evenness", "range"),
        rows=tuple(_metric_row(each) for each in order),
        align=sides(2, 5),
        note=_RANKING_NOTE,
    )


def verdict_tables(found: GradesFindings) -> tuple[Table, ...]:
    """Return the metrics with each verdict, narrow enough for a terminal; names are as they are written."""
    captions = {
        "use": "Use: they follow the adversary's strength",
        "with care": "With care",
        "do not rank by it": "Do not rank by them",
        "no grade": "No grade: nothing could be tested",
    }
    return tuple(
        Table(
            caption=captions[verdict],
            columns=("metric", "monotonicity", "undecided", "wrong", "even", "range"),
            rows=tuple(_short_row(each) for each in metrics),
            align=sides(1, 5),
        )
        for verdict in VERDICTS
        if (metrics := found.by_verdict(verdict))
    )


def _short_row(each: MetricGrade) -> tuple[str, ...]:
    return (
        each.metric,
        _score_text(each.monotonicity),
        percent(each.undecided, places=0),
        percent(each.against, places=0),
        fixed(each.evenness.mean),
        fixed(each.shared_range.mean),
    )


def _score_text(score: Summary) -> str:
    """Return a mean with three decimals, so that 0.667 is told from less, and its interval with two, for room."""
    return fixed(score.mean, places=3) + ("" if math.isnan(score.low) else f" ({fixed(score.low)}–{fixed(score.high)})")


def _by_verdict(found: GradesFindings) -> list[MetricGrade]:
    return [each for verdict in VERDICTS for each in found.by_verdict(verdict)]


def sides(names: int, numbers: int) -> tuple[Side, ...]:
    """Return where columns of names, and after them columns of numbers, are aligned."""
    return tuple("left" if place < names else "right" for place in range(names + numbers))


def why_table(found: GradesFindings) -> Table:
    """Return why each metric has its verdict, and its monotonicity by what makes the adversary stronger."""
    axes = list(dict.fromkeys(case.axis for case in found.grades.values.cases))
    shown = axes if len(axes) > 1 else []
    return Table(
        caption="Why, metric by metric" + (", and monotonicity by what makes the adversary stronger" if shown else ""),
        columns=("metric", "why", *(f"by {axis.replace('_', ' ')}" for axis in shown)),
        rows=tuple(
            (
                words(each.metric),
                f"{each.verdict}: {each.reason}",
                *(fixed(each.by_axis[axis].mean, places=3) for axis in shown),
            )
            for each in _by_verdict(found)
        ),
        align=sides(2, len(shown)),
        prose=True,
    )


_SCORES = ("monotonicity", "evenness", "range")
_SUITES_NOTE = (
    "In order: each stronger adversary gets a lower number, on means over replications; of whole cases (with 95% "
    "intervals), and of pairs of adjacent levels. S1 to S5 are those of Zhao and Wagner (Table 7)."
)
_RANKING_NOTE = (
    "Monotonicity is the mean over cases with its 95% interval. Undecided: the share of cases in which no test was "
    "significant, which score 0.667. Wrong way: the share in which a change in the wrong direction, or back "
    "and forth, was significant. Evenness and range are means over cases."
)


def _metric_row(each: MetricGrade) -> tuple[str, ...]:
    return (
        words(each.metric),
        each.verdict,
        _score_text(each.monotonicity),
        percent(each.undecided),
        percent(each.against),
        fixed(each.evenness.mean),
        fixed(each.shared_range.mean),
    )


def suite_table(found: GradesFindings) -> Table | None:
    """Return what suites are made of, and the share of cases they rank in order (Table 7); None without suites."""
    suites = found.grades.suites
    if not suites:
        return None
    return Table(
        caption="Suites, the highest share of monotonic rankings first",
        columns=("suite", "cases in order", "pairs in order", "metrics and weights"),
        rows=tuple(
            (each.suite.name, shares(each.whole), percent(each.pairs.mean), weights_text(dict(each.suite.weights)))
            for each in suites
        ),
        align=("left", "right", "right", "left"),
        note=_SUITES_NOTE,
        prose=True,
    )


def suite_score_table(found: GradesFindings) -> Table | None:
    """Return the three scores of suites, as those of metrics; None without suites."""
    suites = found.grades.suites
    if not suites:
        return None
    return Table(
        caption="The scores of suites",
        columns=("suite", *_SCORES),
        rows=tuple(
            (
                each.suite.name,
                *(
                    interval(one.mean, one.low, one.high)
                    for one in (each.monotonicity, each.evenness, each.shared_range)
                ),
            )
            for each in suites
        ),
        align=sides(1, 3),
        note=" ".join(zeros_of(found.grades)),
    )


def shares(summary: Summary) -> str:
    """Return a mean share in percent, with its interval."""
    if math.isnan(summary.mean):
        return UNDEFINED
    if math.isnan(summary.low):
        return percent(summary.mean)
    return f"{percent(summary.mean)} ({100 * summary.low:.1f}–{100 * summary.high:.1f})"


def weights_text(weights: dict[str, float]) -> str:
    """Return metrics with their weights; equal ones are said once.

    >>> weights_text({"entropy": 0.5, "min_entropy": 0.5}), weights_text({"entropy": 0.9, "min_entropy": 0.1})
    ('entropy, min entropy (equal)', 'entropy 0.9, min entropy 0.1')
    """
    names = {words(name): weight for name, weight in weights.items()}
    if len(names) > 1 and max(names.values()) - min(names.values()) < 1e-9:
        return f"{', '.join(names)} (equal)"
    if len(names) == 1:
        return next(iter(names))
    return ", ".join(f"{name} {weight:.2g}" for name, weight in names.items())


def example_table(found: GradesFindings) -> Table | None:
    """Return one case in which a suite stands beside the metrics it is made of (Table 8); None without suites.

    The suite is the one with the most metrics, and the case that of the first detail.
    """
    grades = found.grades
    if grades.suite_scores is None or not grades.suites or not found.details:
        return None
    suite = max(grades.suites, key=lambda each: len(each.suite.weights)).suite
    case = found.details[0].case
    rows = []
    for scores, name, called in (
        *((grades.scores, metric, words(metric)) for metric in suite.weights),
        (grades.suite_scores, suite.name, f"suite {suite.name}"),
    ):
        column = scores.values.metrics.index(name)
        tested = scores.monotonicity
        rows.append(
            (
                called,
                fixed(float(tested.score[case, column]), places=3),
                f"{tested.significant[case, column]} of {tested.tests[case, column]}",
                significant(float(scores.evenness[case, column])),
                significant(float(scores.shared_range[case, column])),
            )
        )
    return Table(
        caption=f"The suite {suite.name} beside its metrics in one case: {found.case_words(grades.values.cases[case])}",
        columns=("metric", "monotonicity", "significant tests", "evenness", "range"),
        rows=tuple(rows),
        align=("left", "right", "right", "right", "right"),
    )
