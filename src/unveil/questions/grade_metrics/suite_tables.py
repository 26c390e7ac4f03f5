"""Suites in rows: what they are made of, how they rank, their scores beside those of their metrics, and the search."""

import math

from unveil.grades.cross_validation import WAYS
from unveil.grades.grades import ScoreSummary
from unveil.grades.scores import Scores
from unveil.grades.search import SuiteSearch
from unveil.questions.grade_metrics.findings import GradesFindings, words
from unveil.questions.grade_metrics.tables import beside, interval, sides
from unveil.report.blocks import TableBlock
from unveil.report.text import UNDEFINED, fixed, percent, significant

#: The order of the columns on ranks that turn.
_TURNED = ("reversed", "reversed_product", "reversed_any", "reversed_product_any")
_SCORES = ("monotonicity", "evenness", "range")
_SUITES_NOTE = (
    "In order: each stronger adversary gets a lower number, on means over replications; of whole cases (with 95% "
    "intervals), and of pairs of adjacent levels. S1 to S5 are those of Zhao and Wagner (Table 7)."
)


def sum_table(findings: GradesFindings) -> TableBlock | None:
    """Return how suites rank by a sum of their metrics and by the product, and how often a level left out turns ranks.

    None without suites.
    """
    suites = findings.grades.suites
    if not suites:
        return None
    return TableBlock(
        caption="Metrics multiplied or added: cases in order, and cases in which a level left out turns others around",
        columns=(
            "suite",
            "in order: product",
            "in order: sum",
            *(f"turned, {which} left out: {model}" for which in ("worst", "any") for model in ("sum", "product")),
        ),
        rows=tuple(
            (
                each.suite.name,
                percent(each.whole.mean),
                percent(each.sum_whole.mean),
                *(percent(getattr(each.turned, name)) for name in _TURNED),
            )
            for each in suites
        ),
        align=sides(1, 6),
        note="The sum (WSM) adds the quotients that the product (WPM) multiplies. Left out: the level with the lowest "
        "number, or some one level. A product turns no ranks by itself; where it does, a metric has zeros, and what is "
        "added to them hangs on its largest value.",
    )


def suite_table(findings: GradesFindings) -> TableBlock | None:
    """Return what suites are made of, and the share of cases they rank in order (Table 7); None without suites."""
    suites = findings.grades.suites
    if not suites:
        return None
    return TableBlock(
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


def suite_score_table(findings: GradesFindings) -> TableBlock | None:
    """Return the three scores of suites, as those of metrics; None without suites."""
    suites = findings.grades.suites
    if not suites:
        return None
    return TableBlock(
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
        note=" ".join(findings.suite_notes),
    )


def shares(summary: ScoreSummary) -> str:
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


def example_table(findings: GradesFindings) -> TableBlock | None:
    """Return one case in which a suite stands beside the metrics it is made of (Table 8); None without suites.

    The case is that of the first detail.
    """
    cases = findings.grades.values.cases
    return case_table(findings, cases.index(findings.details[0].case)) if findings.details else None


def case_table(findings: GradesFindings, case: int) -> TableBlock | None:
    """Return all scores of a suite and its metrics in a case, of means and of nodes; None without suites.

    The suite is the one with the most metrics. It has no values of nodes: products of one node's values are not kept.
    """
    grades = findings.grades
    if grades.suite_scores is None or not grades.suites:
        return None
    suite = max(grades.suites, key=lambda each: len(each.suite.weights)).suite
    # Where verdicts are of nodes, their scores stand in the place of those of means.
    nodes = None if beside(findings) is None or grades.nodes is None else grades.nodes.scores
    rows = []
    for scores, name, called in (
        *((grades.scores, metric, words(metric)) for metric in suite.weights),
        (grades.suite_scores, suite.name, f"suite {suite.name}"),
    ):
        own = nodes is not None and name in nodes.values.metrics
        more = () if nodes is None else _three(nodes, case, name) if own else ("–",) * 3
        column, tested = scores.values.metrics.index(name), scores.monotonicity
        tests = f"{tested.significant[case, column]} of {tested.tests[case, column]}"
        score, *others = _three(scores, case, name)
        rows.append((called, score, tests, *others, *more))
    heads = ("metric", "monotonicity", "significant tests", "evenness", "range")
    more_heads = () if nodes is None else ("monotonicity (nodes)", "evenness (nodes)", "range (nodes)")
    return TableBlock(
        caption=(
            f"The suite {suite.name} beside its metrics in one case: {findings.case_words(grades.values.cases[case])}"
        ),
        columns=(*heads, *more_heads),
        rows=tuple(rows),
        align=sides(1, len(heads) + len(more_heads) - 1),
        note="" if nodes is None else "A dash: a number of the whole release, or a suite, which has means only.",
    )


def _three(scores: Scores, case: int, name: str) -> tuple[str, str, str]:
    """Return the three scores of a metric in a case; those of evenness and range may be very small."""
    column = scores.values.metrics.index(name)
    return (
        fixed(float(scores.monotonicity.score[case, column]), places=3),
        significant(float(scores.evenness[case, column])),
        significant(float(scores.shared_range[case, column])),
    )


#: So many of the suites with equal weights are shown.
MOST_EQUAL = 5


def found_table(name: str, search: SuiteSearch) -> TableBlock:
    """Return the best single metric, the best suites with equal weights and the optimised one."""
    shown = [("single metric", each) for each in search.singles[:2]]
    shown += [("equal weights", each) for each in search.equal[:MOST_EQUAL]]
    shown += [("optimised weights", search.optimised)] if search.optimised is not None else []
    return TableBlock(
        caption=f"Suites of {name}: those that do best in the cases that they were chosen by",
        columns=("way", "metrics and weights", "cases in order", "pairs in order"),
        rows=tuple(
            (way, weights_text(dict(each.suite.weights)), percent(each.whole), percent(each.pairs))
            for way, each in shown
        ),
        align=("left", "left", "right", "right"),
        note=" ".join(
            [f"{len(search.equal):,} suites with equal weights were tried, on {search.cases:,} cases.", *search.notes]
        ),
        prose=True,
    )


def held_out_table(searches: dict[str, SuiteSearch]) -> TableBlock | None:
    """Return the shares in cases that had no say, and the gains over the best single metric; None without any."""
    rows = []
    for name, search in searches.items():
        for validation in search.validations:
            for way in WAYS:
                gain = validation.gains.get(way)
                told = (
                    "" if gain is None else f"{100 * gain.mean:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"
                )
                rows.append(
                    (
                        name,
                        f"{validation.groups} {validation.grouping}s",
                        way,
                        percent(search.apparent[way]),
                        percent(validation.shares[way]),
                        told,
                    )
                )
    if not rows:
        return None
    return TableBlock(
        caption="Chosen by some cases, judged by others",
        columns=("suites of", "held out by", "way", "where chosen", "elsewhere", "gain over the best metric"),
        rows=tuple(rows),
        align=("left", "left", "left", "right", "right", "right"),
        note="The share of cases in order, and the gain in percentage points with its 95% interval. Elsewhere: in "
        "cases that had no say in the choice. All axes of an attack (or all of a data set) are held out together.",
    )
