"""The report on the reliability of metrics: first screen, sections, limits, and LaTeX for a paper."""

from collections.abc import Iterator

import numpy as np

from unveil.grades.grades import Grades
from unveil.metrics import METRICS
from unveil.questions.grade_metrics.findings import VERDICTS, GradesFindings, named, words
from unveil.questions.grade_metrics.sections import calibration, cases, metrics, suites
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import NextStep, Page, TableBlock
from unveil.report.limits import Quantity
from unveil.report.text import count, fixed, together
from unveil.report.trust import RELIABILITY

_SECTIONS = (metrics.section, calibration.section, cases.section, suites.section)


def page(findings: GradesFindings, context: PageContext = PLAIN) -> Page:
    """Return the report as data."""
    return Page(
        title="Reliability of privacy metrics",
        question="Which privacy metrics rank attacks correctly?",
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=tuple(_next_steps(findings)),
        picture=(cases.heat_map(findings), summary_table(findings)),
        facts=tuple(_facts(findings)),
        tone="neutral" if findings.by_verdict("use") else "warning",
        sections=tuple(each for make in _SECTIONS if (each := make(findings, context)) is not None),
        method=tuple(_method(findings)),
        limitations=LIMITATIONS,
        notes=(*findings.notes, *findings.suite_notes),
        seed=context.seed,
        strip=context.strip,
        version=findings.version,
    )


# The first screen.


def headline(findings: GradesFindings) -> str:
    """Return how many metrics are reliable, and the best one."""
    every, reliable = findings.grades.metrics, findings.by_verdict("use")
    in_cases = count(len(findings.grades.values.cases), "case", "cases")
    if all(each.verdict == "no grade" for each in every):
        return "No metric can be graded: no case has two levels with two replications each."
    if len(every) == 1:
        name = words(every[0].metric)
        return f"{name[:1].upper()}{name[1:]} is {RELIABILITY[every[0].verdict]} in {in_cases}: {every[0].reason}."
    if not reliable:
        best = f"; best: {words(findings.first[0].metric)}" if findings.first else ""
        return f"No metric is reliable ({in_cases}{best})."
    verb = "is" if len(reliable) == 1 else "are"
    return f"{len(reliable)} of {len(every)} metrics {verb} reliable in {in_cases}; best: {words(reliable[0].metric)}."


def explanation(findings: GradesFindings) -> tuple[str, ...]:
    """Return what calibration changes for entropy, and the unreliable metrics."""
    unreliable = [each.metric for each in findings.by_verdict("do not rank by it")]
    sentences = list(calibration.calibration_answer(findings)[:1])
    if unreliable:
        sentences.append(f"Unreliable: {named(unreliable, 3)}. They can make a weak protection look strong.")
    return tuple(sentences)


def _next_steps(findings: GradesFindings) -> Iterator[NextStep]:
    if findings.by_verdict("use"):
        yield NextStep("Rank protections by the best metric, and check that other reliable ones agree.")
    elif findings.first:
        yield NextStep("Rank by several metrics of limited reliability, and check that they agree.")
    both = findings.grades.calibrated
    if both is not None and any(each.mended and each.raw.verdict != "use" for each in both.changed):
        yield NextStep("Compute entropy from calibrated probabilities.", option="unveil graph --calibrate simulate")
    sets = {(case.data, case.protect, case.attack) for case in findings.grades.values.cases}
    combinations = count(len(sets), "combination", "combinations")
    yield NextStep(f"Study more data sets, protections, and attacks (now {combinations}).", option="unveil study run")


def summary_table(findings: GradesFindings) -> TableBlock:
    """Return the number of metrics by reliability, and the best of each."""
    return TableBlock(
        caption="Metrics by reliability",
        columns=("Reliability", "Metrics", "Best metric", "Monotonicity (95% CI)", "Evenness", "Range"),
        rows=tuple(
            (
                RELIABILITY[verdict],
                str(len(graded)),
                words(graded[0].metric),
                metrics.score_text(graded[0].monotonicity),
                *(fixed(score.mean) for score in (graded[0].evenness, graded[0].shared_range)),
            )
            for verdict in VERDICTS
            if (graded := findings.by_verdict(verdict))
        ),
        align=("left", "right", "left", "right", "right", "right"),
        terminal_columns=(0, 1, 2, 3),
    )


def _facts(findings: GradesFindings) -> Iterator[str]:
    names = [f"'{each.study.name}'" for each in findings.studies]
    yield f"{'study' if len(names) == 1 else 'studies'} {together(names)}"
    yield f"{count(len(findings.grades.values.cases), 'case', 'cases')} ({', '.join(_sizes(findings))})"
    yield f"up to {findings.grades.values.values.shape[3]:,} replications"


def _sizes(findings: GradesFindings) -> Iterator[str]:
    graded = findings.grades.values.cases
    yield count(len({case.data for case in graded}), "data set", "data sets")
    yield count(len({case.protect for case in graded}), "protection", "protections")
    yield count(len({case.attack for case in graded}), "attack", "attacks")


# Methods and limitations.

LIMITATIONS = (
    "A reliable metric decreases with the attacker's strength; it may still miss what matters to people.",
    "Other data, protections, attacks, and kinds of strength than those of the studies are not covered.",
    "Scores describe means over targets, or the spread of their values; they do not show whether a metric orders "
    "single targets correctly.",
)


def _method(findings: GradesFindings) -> Iterator[str]:
    grades = findings.grades
    strict = "also if not significant" if grades.strict else "only if significant"
    yield (
        f"Monotonicity: each pair of adjacent levels is compared by Welch's t-test and the rank-sum test (exact for "
        f"small samples). A change significant at {grades.level:g} in the right direction counts 1, in the wrong one "
        f"-1 ({strict}), opposite to the direction before -2, otherwise 0. The sum s of n pairs becomes "
        "(s + 2n) / 3n; the score is the mean of both tests."
    )
    yield (
        "Evenness: 1 - 3E, where E is the Cramér-von Mises distance of the scaled values of a case from even ones, "
        "divided by their number. Range: the range of a case as a share of the range over all cases."
    )
    yield (
        "95% CI: Student's t over cases; all strengths of one attack on one protected data set count as one draw. "
        "They do not cover other data sets, protections, or attacks."
    )
    yield (
        "Reliable: the CI lies above 0.667, half of the cases are significant, at most a fifth go the wrong way, and "
        "there are four combinations of data, protection, and attack. Unreliable: on average not above 0.667, or the "
        "wrong way in more than a third of the cases."
    )
    yield from _values(grades)
    if grades.suites:
        yield (
            "Suites: the product of the metrics, each divided by its most private value in the case (or the reverse), "
            "to the power of its weight. The search tries all suites with equal weights and optimizes weights; each "
            "selection is tested on held-out cases."
        )
    if findings.factors:
        yield (
            "Models of the scores: multivariate adaptive regression splines, pruned by generalized cross-validation; "
            "shares of groups come from linear regressions."
        )
    yield "Definitions: Zhao and Wagner, 'Using metrics suites to improve the measurement of privacy in graphs'."


def _values(grades: Grades) -> Iterator[str]:
    if grades.nodes is None:
        yield "Scores compare means over targets, one per replication."
        return
    yield (
        "Values of nodes are kept as sketches: count, ends, sum, sum of squares, and the means of 64 runs of equal "
        "count. Welch's test and ranges are exact; the rank-sum test, and evenness to about 0.002, use the runs. "
        + (
            "Scores compare values of nodes, pooled over replications; metrics of a whole release and suites use means."
            if grades.of == "nodes"
            else "Monotonicity compares means over targets, one per replication."
        )
    )


def to_latex(findings: GradesFindings) -> str:
    """Return all tables, each as a ``table`` environment with a label that begins with ``tab:``."""
    from unveil.report.latex import document

    names = ", ".join(each.study.name for each in findings.studies)
    tables: list[tuple[str, TableBlock | None]] = [
        ("tab:ranking", metrics.ranking_table(findings)),
        ("tab:calibrated", calibration.calibration_table(findings)),
        ("tab:nodes", metrics.node_table(findings)),
        ("tab:spans", metrics.span_table(findings)),
        *(
            (f"tab:factors-{each.response.replace('_', '-')}", cases.term_table(findings, each))
            for each in findings.factors
        ),
        ("tab:variance", cases.group_table(findings)),
        ("tab:suites", suites.suite_table(findings)),
        ("tab:suite-sums", suites.sum_table(findings)),
        ("tab:suite-scores", suites.suite_score_table(findings)),
        *(
            (f"tab:suite-example{f'-{number}' if findings.asked else ''}", table)
            for number, table in enumerate(suites.case_tables(findings), start=1)
        ),
        ("tab:held-out", suites.held_out_table(dict(findings.grades.searches))),
        *(
            (f"tab:search-{number}", suites.found_table(name, search))
            for number, (name, search) in enumerate(findings.grades.searches.items(), start=1)
        ),
    ]
    return document(
        [(label, table) for label, table in tables if table is not None],
        comment=(
            f"Reliability of privacy metrics, graded by: {names}.",
            f"Made by unveil {findings.version}. Read it with \\input; it needs no package.",
        ),
    )


# Limits.

_BEST_SUITE = "share_monotonic_best_suite"
_TRUSTED = "reliable_metrics"


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    return {
        _TRUSTED: "how many metrics have the verdict 'use'. Fails below VALUE: more is better",
        _BEST_SUITE: (
            "the largest share of cases that one of the suites ranks in order. Fails below VALUE: more is "
            "better; undefined, which is no pass, where no suite can be computed"
        ),
        **{
            f"monotonicity_{name}": (
                f"the mean monotonicity of {name} over cases. Fails below VALUE: more is better; "
                "undefined, which is no pass, where it has no grade"
            )
            for name in _metric_names()
        },
    }


def _metric_names() -> list[str]:
    return [metric.name for metric in METRICS.values() if metric.on == "Candidates" and metric.usual]


def quantities(findings: GradesFindings) -> dict[str, Quantity]:
    """Return the quantities that accept a limit; more is better."""
    means = {each.metric: each.monotonicity.mean for each in findings.grades.metrics}
    shares = [each.whole.mean for each in findings.grades.suites if not np.isnan(each.whole.mean)]
    values = {
        _TRUSTED: float(len(findings.by_verdict("use"))),
        _BEST_SUITE: max(shares, default=float("nan")),
        **{f"monotonicity_{name}": means.get(name, float("nan")) for name in _metric_names()},
    }
    texts = meanings()
    return {
        name: Quantity(name=name, value=value, meaning=texts[name], exceeded_when_undefined=False, more_is_worse=False)
        for name, value in values.items()
    }


VIEW = QuestionView(
    schema="unveil.grades/2",
    findings=GradesFindings,
    about="Result of `unveil grade-metrics`: reliability of privacy metrics.",
    quantities=quantities,
    frame=lambda findings: findings.case_frame.fill_nan(None),
    page=page,
    meanings=meanings,
)
