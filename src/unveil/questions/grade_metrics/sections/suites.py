"""Suites of metrics: their weights, how they rank cases, and the search for better ones."""

import math

from unveil.grades.cross_validation import WAYS
from unveil.grades.grades import ScoreSummary
from unveil.grades.scores import Scores
from unveil.grades.search import SuiteSearch
from unveil.questions.grade_metrics.findings import GradesFindings, words
from unveil.questions.grade_metrics.sections.metrics import node_reading, sides
from unveil.questions.result import PageContext
from unveil.report.blocks import Section, TableBlock
from unveil.report.text import UNDEFINED, count, fixed, percent, significant

#: The order of the columns on ranks that turn.
_TURNED = ("reversed", "reversed_product", "reversed_any", "reversed_product_any")
_SCORES = ("Monotonicity", "Evenness", "Range")
_SUITES_NOTE = (
    "In order: each stronger attacker gets a lower number, in whole cases (95% CI) and in pairs of adjacent levels. "
    "S1 to S5: Zhao and Wagner, Table 7."
)


def section(findings: GradesFindings, context: PageContext) -> Section | None:
    """Return the section on suites and on the search for better ones; None without suites."""
    del context
    table, searches = suite_table(findings), dict(findings.grades.searches)
    if table is None and not searches:
        return None
    tables = (sum_table(findings), suite_score_table(findings), *case_tables(findings), held_out_table(searches))
    found = (found_table(name, search) for name, search in searches.items())
    lead = "A suite combines several metrics into one number."
    return Section(
        heading="Suites",
        question="Do several metrics rank better than one?",
        lead=f"{lead} {search_conclusion(findings)}" if searches else lead,
        blocks=(table,) if table is not None else (),
        data=(*(each for each in tables if each is not None), *found),
    )


def case_tables(findings: GradesFindings) -> tuple[TableBlock, ...]:
    """Return the requested cases with all scores of a suite."""
    tables = [case_table(findings, case) for case in findings.asked] or [example_table(findings)]
    return tuple(table for table in tables if table is not None)


def sum_table(findings: GradesFindings) -> TableBlock | None:
    """Return rankings by sum and by product, and rank reversals.

    None without suites.
    """
    suites = findings.grades.suites
    if not suites:
        return None
    return TableBlock(
        caption="Product and sum of the metrics",
        columns=(
            "Suite",
            "In order: product",
            "In order: sum",
            *(f"Reversed, {which} left out: {model}" for which in ("worst", "any") for model in ("sum", "product")),
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
        note="Reversed: leaving out the lowest level (worst), or any level, reverses the order of the remaining "
        "levels. A product does so only if a metric has zeros.",
    )


def suite_table(findings: GradesFindings) -> TableBlock | None:
    """Return suites and the share of cases in order (Table 7)."""
    suites = findings.grades.suites
    if not suites:
        return None
    return TableBlock(
        caption="Suites of metrics",
        columns=("Suite", "Cases in order", "Pairs in order", "Metrics and weights"),
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
        caption="Scores of the suites",
        columns=("Suite", *_SCORES),
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
    """Return metrics with their weights; equal weights appear once.

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
    """Return one case of a suite and its metrics (Table 8).

    The case is that of the first detail.
    """
    cases = findings.grades.values.cases
    return case_table(findings, cases.index(findings.details[0].case)) if findings.details else None


def case_table(findings: GradesFindings, case: int) -> TableBlock | None:
    """Return all scores of a suite and its metrics in a case.

    The suite is the one with the most metrics. It has no values of nodes: products of one node's values are not kept.
    """
    grades = findings.grades
    if grades.suite_scores is None or not grades.suites:
        return None
    suite = max(grades.suites, key=lambda each: len(each.suite.weights)).suite
    # Where verdicts are of nodes, their scores stand in the place of those of means.
    nodes = None if node_reading(findings) is None or grades.nodes is None else grades.nodes.scores
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
    heads = ("Metric", "Monotonicity", "Significant tests", "Evenness", "Range")
    more_heads = () if nodes is None else ("Monotonicity (nodes)", "Evenness (nodes)", "Range (nodes)")
    return TableBlock(
        caption=(f"Suite {suite.name} and its metrics in one case: {findings.case_words(grades.values.cases[case])}"),
        columns=(*heads, *more_heads),
        rows=tuple(rows),
        align=sides(1, len(heads) + len(more_heads) - 1),
        note="" if nodes is None else "A dash: a metric of the whole release, or a suite, has no values of nodes.",
    )


def _three(scores: Scores, case: int, name: str) -> tuple[str, str, str]:
    """Return the three scores of a metric in a case."""
    column = scores.values.metrics.index(name)
    return (
        fixed(float(scores.monotonicity.score[case, column]), places=3),
        significant(float(scores.evenness[case, column])),
        significant(float(scores.shared_range[case, column])),
    )


#: So many of the suites with equal weights are shown.
MOST_EQUAL = 5


def found_table(name: str, search: SuiteSearch) -> TableBlock:
    """Return the best single metric, the best suites with equal weights and the optimized one."""
    shown = [("single metric", each) for each in search.singles[:2]]
    shown += [("equal weights", each) for each in search.equal[:MOST_EQUAL]]
    shown += [("optimized weights", search.optimized)] if search.optimized is not None else []
    return TableBlock(
        caption=f"Best suites of {name}, in the cases that selected them",
        columns=("Selection", "Metrics and weights", "Cases in order", "Pairs in order"),
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
    """Return shares in held-out cases, and gains over the best metric."""
    rows = []
    for name, search in searches.items():
        for validation in search.validations:
            for way in WAYS:
                gain = validation.gains.get(way)
                text = (
                    "" if gain is None else f"{100 * gain.mean:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"
                )
                rows.append(
                    (
                        name,
                        f"{validation.groups} {validation.grouping}s",
                        way,
                        percent(search.apparent[way]),
                        percent(validation.shares[way]),
                        text,
                    )
                )
    if not rows:
        return None
    return TableBlock(
        caption="Cross-validation of the search",
        columns=(
            "Suites of",
            "Held out",
            "Selection",
            "Selecting cases",
            "Held-out cases",
            "Gain over the best metric",
        ),
        rows=tuple(rows),
        align=("left", "left", "left", "right", "right", "right"),
        note="Share of cases in order; gain in percentage points, with 95% CI.",
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


def search_conclusion(findings: GradesFindings) -> str:
    """Return in how many comparisons with the best single metric suites are better, in one sentence."""
    gains = [
        gain
        for search in findings.grades.searches.values()
        for validation in search.validations
        for gain in validation.gains.values()
    ]
    if not gains:
        return "Too few attacks to cross-validate a search for better suites."
    shown, worse = sum(gain.shown for gain in gains), sum(gain.high < 0 for gain in gains)
    against = f"Of {count(len(gains), 'held-out comparison', 'held-out comparisons')} with the best single metric, "
    if not shown and not worse:
        return against + "none is significant."
    return (
        against
        + f"{shown or 'none'} {'show' if shown > 1 else 'shows'} a significant gain and {worse or 'none'} a loss."
    )
