"""Grades in rows: the ranking of metrics, suites, and one case in which a suite stands beside its metrics."""

import math
from collections.abc import Mapping

from unveil.grades.calibration_grades import CalibratedGrade
from unveil.grades.factors import Factors
from unveil.grades.grades import MetricGrade, ScoreSummary
from unveil.grades.scores import Reading
from unveil.questions.grade_metrics.findings import VERDICTS, GradesFindings, words
from unveil.report.blocks import Side, TableBlock
from unveil.report.text import UNDEFINED, fixed, percent, significant


def ranking_table(findings: GradesFindings) -> TableBlock:
    """Return the metrics by verdict, and of each the most monotonic first: all three scores, and the verdict."""
    order, nodes = _by_verdict(findings), beside(findings)
    more = () if nodes is None else ("evenness (nodes)", "range (nodes)")
    return TableBlock(
        caption=f"{len(order)} metrics: those to use first, the most monotonic first",
        columns=("metric", "verdict", "monotonicity", "undecided", "wrong way", "evenness", "range", *more),
        rows=tuple((*_metric_row(each), *_node_cells(nodes, each.metric)) for each in order),
        align=sides(2, 5 + len(more)),
        note=_RANKING_NOTE + (_NODES_NOTE if more else ""),
    )


def beside(findings: GradesFindings) -> Reading | None:
    """Return the scores of nodes that stand beside those of means; None where there are none or they are the main."""
    return findings.grades.nodes if findings.grades.of == "both" else None


def _node_cells(nodes: Reading | None, metric: str) -> tuple[str, ...]:
    """Return evenness and range of nodes; a dash where a metric has no values of nodes."""
    if nodes is None:
        return ()
    each = nodes.metric(metric)
    return ("–", "–") if each is None else (fixed(each.evenness.mean), fixed(each.shared_range.mean))


def verdict_tables(findings: GradesFindings) -> tuple[TableBlock, ...]:
    """Return the metrics with each verdict, narrow enough for a terminal; names are as they are written."""
    captions = {
        "use": "Use: they follow the adversary's strength",
        "with care": "With care",
        "do not rank by it": "Do not rank by them",
        "no grade": "No grade: nothing could be tested",
    }
    nodes = beside(findings)
    more = () if nodes is None else ("even (nodes)", "range (nodes)")
    return tuple(
        TableBlock(
            caption=captions[verdict],
            columns=("metric", "monotonicity", "undecided", "wrong", "even", "range", *more),
            rows=tuple((*_short_row(each), *_node_cells(nodes, each.metric)) for each in metrics),
            align=sides(1, 5 + len(more)),
        )
        for verdict in VERDICTS
        if (metrics := findings.by_verdict(verdict))
    )


def _short_row(each: MetricGrade) -> tuple[str, ...]:
    return (
        each.metric,
        score_text(each.monotonicity),
        percent(each.undecided, places=0),
        percent(each.against, places=0),
        fixed(each.evenness.mean),
        fixed(each.shared_range.mean),
    )


def score_text(score: ScoreSummary) -> str:
    """Return a mean with three decimals, so that 0.667 is told from less, and its interval with two, for room."""
    return fixed(score.mean, places=3) + ("" if math.isnan(score.low) else f" ({fixed(score.low)}–{fixed(score.high)})")


def _by_verdict(findings: GradesFindings) -> list[MetricGrade]:
    return [each for verdict in VERDICTS for each in findings.by_verdict(verdict)]


def sides(names: int, numbers: int) -> tuple[Side, ...]:
    """Return where columns of names, and after them columns of numbers, are aligned."""
    return tuple("left" if place < names else "right" for place in range(names + numbers))


def why_table(findings: GradesFindings) -> TableBlock:
    """Return why each metric has its verdict, and its monotonicity by what makes the adversary stronger."""
    axes = list(dict.fromkeys(case.axis for case in findings.grades.values.cases))
    shown = axes if len(axes) > 1 else []
    return TableBlock(
        caption="Why, metric by metric" + (", and monotonicity by what makes the adversary stronger" if shown else ""),
        columns=("metric", "why", *(f"by {axis.replace('_', ' ')}" for axis in shown)),
        rows=tuple(
            (
                words(each.metric),
                f"{each.verdict}: {each.reason}",
                *(fixed(each.by_axis[axis].mean, places=3) for axis in shown),
            )
            for each in _by_verdict(findings)
        ),
        align=sides(2, len(shown)),
        prose=True,
    )


_RANKING_NOTE = (
    "Monotonicity is the mean over cases with its 95% interval. Undecided: the share of cases in which no test was "
    "significant, which score 0.667. Wrong way: the share in which a change in the wrong direction, or back "
    "and forth, was significant. Evenness and range are means over cases."
)


_NODES_NOTE = (
    " Those of nodes are of the values of single nodes at all levels, on the range of all cases; a dash: a number of "
    "the whole release, which has means only."
)


def _metric_row(each: MetricGrade) -> tuple[str, ...]:
    return (
        words(each.metric),
        each.verdict,
        score_text(each.monotonicity),
        percent(each.undecided),
        percent(each.against),
        fixed(each.evenness.mean),
        fixed(each.shared_range.mean),
    )


def interval(mean: float, low: float, high: float, *, places: int = 3) -> str:
    """Return a mean with its interval.

    >>> interval(0.71234, 0.7, 0.75), interval(float("nan"), 0, 0), interval(0.5, float("nan"), float("nan"))
    ('0.712 (0.700–0.750)', 'undefined', '0.500')
    """
    if math.isnan(mean):
        return UNDEFINED
    if math.isnan(low):
        return fixed(mean, places=places)
    return f"{fixed(mean, places=places)} ({fixed(low, places=places)}–{fixed(high, places=places)})"


#: The groups of factors in words, in the order of the table.
GROUPS: Mapping[str, str] = {
    "metric": "the metric",
    "data": "the data set",
    "protection": "the protection",
    "attack": "the attack",
    "type": "the type of data",
    "setting": "data, protection, attack and type together",
    "statistics": "statistics of the data",
    "scope": "whether the attack is local or global",
    "axis": "what makes the adversary stronger",
    "everything but the metric": "everything but the metric",
    "metric, given the rest": "what the metric adds to that",
    "everything": "everything",
}
#: More terms than these are left to JSON and LaTeX.
MOST_TERMS = 15


def group_table(findings: GradesFindings) -> TableBlock | None:
    """Return how much of the variance of each score a group of factors explains; None where nothing was fitted."""
    if not findings.factors:
        return None
    have = [group for group in GROUPS if any(group in each.shares for each in findings.factors)]
    return TableBlock(
        caption="Share of the variance that is explained (linear R²)",
        columns=("explained by", *(words(each.response) for each in findings.factors), "by chance"),
        rows=tuple(
            (GROUPS[group], *(_share(each, group) for each in findings.factors), _chance(findings.factors[0], group))
            for group in have
        ),
        align=sides(1, len(findings.factors) + 1),
        note="By chance: what so many factors would explain on average if they had nothing to do with the score.",
    )


def _share(factors: Factors, group: str) -> str:
    return percent(factors.shares[group].r_squared) if group in factors.shares else UNDEFINED


def _chance(factors: Factors, group: str) -> str:
    return percent(factors.shares[group].chance) if group in factors.shares else UNDEFINED


def term_table(findings: GradesFindings, factors: Factors, *, at_most: int | None = None) -> TableBlock:
    """Return the fitted model of a score, the most important terms first (Tables 4, 5 and 6)."""
    terms = factors.mars.terms[:at_most]
    over = len(factors.mars.terms) - len(terms)
    more = f" {over} more terms are in JSON and LaTeX." if over else ""
    return TableBlock(
        caption=f"What {words(factors.response)} depends on: a model of {len(factors.mars.terms)} terms that explains "
        f"{percent(factors.mars.r_squared)} of the variance",
        columns=("factor", "adds", "importance"),
        rows=(
            ("(always)", f"{factors.mars.intercept:.3g}", ""),
            *(
                (_named(findings, term.text), f"{term.coefficient:+.2g}", significant(term.importance, digits=2))
                for term in terms
            ),
        ),
        align=("left", "right", "right"),
        note="Importance: by how much R² falls without the factor. max(0, …) is a hinge: nothing up to a value, "
        f"and from there on a straight line.{more}",
    )


def _named(findings: GradesFindings, text: str) -> str:
    """Return a factor as people write it: an attack or a protection without its settings, where that is enough."""
    group, _, name = text.partition(" ")
    if "max(0" in text or group not in ("metric", "attack", "protection", "data", "type", "scope", "axis"):
        return text
    called = findings.attacks[name].called if group == "attack" and name in findings.attacks else name
    if group == "protection":
        called = findings.protections.get(name, name)
    return f"{group}: {words(called) if group in ('metric', 'axis') else called}"


def factors_sentence(findings: GradesFindings) -> str:
    """Return whether the metric or its setting explains more, in one sentence; empty where nothing was fitted."""
    for each in findings.factors:
        if each.response == "monotonicity" and {"metric", "setting"} <= each.shares.keys():
            metric, rest = each.shares["metric"].r_squared, each.shares["setting"].r_squared
            which = "more than" if metric > rest else "less than"
            return (
                f"Which metric it is explains {percent(metric)} of the variance of monotonicity, {which} data, "
                f"protection, attack and type of data together ({percent(rest)})."
            )
    return ""


# Rows of other readings: raw scores compared with calibrated probabilities, and where values of nodes lie.


def calibration_table(findings: GradesFindings, *, short: bool = False) -> TableBlock | None:
    """Return each metric from raw scores and from calibrated probabilities; None where there is nothing calibrated.

    ``short`` is for a terminal: without intervals and verdicts, and with names as they are written.
    """
    both = findings.grades.calibrated
    if both is None or not both.changed:
        return None
    same = [words(each.metric) for each in both.metrics if each.same]
    cases = len(both.raw.scores.values.cases)
    heads = ("metric", "monotonicity", "gain", "wrong way") if short else (
        "metric", "raw", "calibrated", "gain", "wrong way", "raw: verdict", "calibrated: verdict"
    )  # fmt: skip
    return TableBlock(
        caption=f"Raw scores → calibrated probabilities, over {cases:,} {'case' if cases == 1 else 'cases'}",
        columns=heads,
        rows=tuple(_calibrated_row(each, short=short) for each in both.changed),
        align=sides(1, 3) if short else (*sides(1, 4), "left", "left"),
        note=(
            "Monotonicity, and the share of cases in which something significant goes the wrong way. Gain: the mean "
            "difference of monotonicity within a case, with its 95% interval."
            + (f" The same either way: {', '.join(same)}." if same else "")
        ),
    )


def _calibrated_row(each: CalibratedGrade, *, short: bool) -> tuple[str, ...]:
    before, after = each.raw.monotonicity, each.calibrated.monotonicity
    wrong = f"{percent(each.raw.against, places=0)} → {percent(each.calibrated.against, places=0)}"
    if short:
        told = f"{fixed(before.mean, places=3)} → {fixed(after.mean, places=3)}"
        return (each.metric, told, _gain_text(each, ends=False), wrong)
    verdicts = (each.raw.verdict, each.calibrated.verdict)
    return (words(each.metric), score_text(before), score_text(after), _gain_text(each, ends=True), wrong, *verdicts)


def _gain_text(each: CalibratedGrade, *, ends: bool) -> str:
    if math.isnan(each.gain.mean):
        return UNDEFINED
    interval = f" ({each.gain.low:+.2f} to {each.gain.high:+.2f})" if ends and not math.isnan(each.gain.low) else ""
    return f"{each.gain.mean:+.3f}{interval}"


def span_table(findings: GradesFindings) -> TableBlock | None:
    """Return the range of each metric over all nodes, and which cases use most and least of it; None without nodes."""
    if not findings.spans:
        return None
    return TableBlock(
        caption="Which part of the range of a metric's nodes a case uses",
        columns=("metric", "lowest", "highest", "widest", "in", "narrowest", "in"),
        rows=tuple(
            (
                words(each.metric),
                significant(each.lowest),
                significant(each.highest),
                *(
                    text
                    for one in (each.widest, each.narrowest)
                    for text in (percent(one.highest - one.lowest), findings.case_words(one.case))
                ),
            )
            for each in findings.spans
        ),
        align=("left", "right", "right", "right", "left", "right", "left"),
        prose=True,
    )
