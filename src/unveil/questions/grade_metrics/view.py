"""How the findings about metrics are shown: JSON, limits, table, page, pictures, and LaTeX for a paper."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.metrics import METRICS
from unveil.questions.grade_metrics.charts import (
    SCORES,
    calibration_boxes,
    detail_boxes,
    first_boxes,
    heat_map,
    maxima_boxes,
    range_boxes,
    ranking_boxes,
    span_boxes,
    success_boxes,
    suite_boxes,
)
from unveil.questions.grade_metrics.findings import GradesFindings
from unveil.questions.grade_metrics.suite_tables import (
    case_table,
    example_table,
    found_table,
    held_out_table,
    suite_score_table,
    suite_table,
    sum_table,
)
from unveil.questions.grade_metrics.tables import (
    MOST_TERMS,
    calibration_table,
    factors_sentence,
    group_table,
    ranking_table,
    span_table,
    term_table,
    verdict_tables,
    why_table,
)
from unveil.questions.grade_metrics.words import (
    CALIBRATION,
    MEANINGS,
    SPANS,
    SUITES,
    UNTESTED,
    explanation,
    headline,
    honest_sentences,
    method,
    next_steps,
    question,
    reading,
    scores_in_words,
    search_conclusion,
    search_lead,
    sums_in_words,
    tone,
)
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import Block, Page, Section, TableBlock
from unveil.report.limits import Quantity
from unveil.report.terminal import Part, opening

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BEST_SUITE = "share_monotonic_best_suite"
_TRUSTED = "trusted_metrics"


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    return {
        _TRUSTED: "how many metrics have the verdict 'use'. Exceeded when less than VALUE: more is better",
        _BEST_SUITE: (
            "the largest share of cases that one of the suites ranks in order. Exceeded when less than VALUE: more is "
            "better; undefined, which is no pass, where no suite can be computed"
        ),
        **{
            f"monotonicity_{name}": (
                f"the mean monotonicity of {name} over cases. Exceeded when less than VALUE: more is better; "
                "undefined, which is no pass, where it has no grade"
            )
            for name in _metric_names()
        },
    }


def _metric_names() -> list[str]:
    return [metric.name for metric in METRICS.values() if metric.on == "Candidates" and metric.usual]


def quantities(findings: GradesFindings) -> dict[str, Quantity]:
    """Return the figures that a limit can be set for; more of each is better."""
    means = {each.metric: each.monotonicity.mean for each in findings.grades.metrics}
    shares = [each.whole.mean for each in findings.grades.suites if not np.isnan(each.whole.mean)]
    values = {
        _TRUSTED: float(len(findings.by_verdict("use"))),
        _BEST_SUITE: max(shares, default=float("nan")),
        **{f"monotonicity_{name}": means.get(name, float("nan")) for name in _metric_names()},
    }
    said = meanings()
    return {
        name: Quantity(name=name, value=value, meaning=said[name], exceeded_when_undefined=False, more_is_worse=False)
        for name, value in values.items()
    }


def plot(findings: GradesFindings) -> "NDArray[Any]":
    """Return matplotlib axes, side by side: the metrics by monotonicity, evenness and shared value range."""
    from unveil.report.draw import pyplot
    from unveil.report.draw.lines import draw

    height = 2.0 + 0.3 * len(findings.grades.metrics)
    _, axes = pyplot.subplots(1, len(SCORES), figsize=(6.6 * len(SCORES), height), layout="constrained")
    for score, place in zip(SCORES, axes, strict=True):
        draw(ranking_boxes(findings, score), place)
    row: NDArray[Any] = axes
    return row


def page(findings: GradesFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data; :func:`unveil.report.page.render` turns it into HTML."""
    return Page(
        title="Grades of privacy metrics",
        question=question(findings),
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=next_steps(findings),
        picture=(first_boxes(findings),) if findings.first else (),
        tone=tone(findings),
        sections=tuple(_sections(findings)),
        method=method(findings),
        limitations=UNTESTED,
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
        version=findings.version,
    )


def _sections(findings: GradesFindings) -> list[Section]:
    sections = [
        Section(heading="Every metric", lead=reading(findings), blocks=(ranking_table(findings), why_table(findings))),
        *_calibrated(findings),
        Section(
            heading="Monotonicity",
            lead="Does a metric show less privacy whenever the adversary is stronger?",
            blocks=(ranking_boxes(findings, "monotonicity"), heat_map(findings)),
        ),
    ]
    if findings.details:
        lead = "What is behind a score: the metric at each level of strength, over replications."
        drawn: tuple[Block, ...] = tuple(detail_boxes(findings, each) for each in findings.details)
        sections.append(Section(heading="Level by level", lead=lead, blocks=drawn))
    sections += [
        Section(
            heading="Evenness",
            lead=f"{MEANINGS['evenness']} Values that crowd in the middle score 0.75: a high score alone is no proof.",
            blocks=(ranking_boxes(findings, "evenness"),),
        ),
        Section(
            heading="Shared value range",
            lead=MEANINGS["shared_range"],
            blocks=(ranking_boxes(findings, "shared_range"), *range_boxes(findings)),
        ),
        *_spans(findings),
        *_by_attack(findings),
        *_suites(findings),
        *_explained(findings),
    ]
    return sections


def _calibrated(findings: GradesFindings) -> list[Section]:
    table, boxes = calibration_table(findings), calibration_boxes(findings)
    if table is None or boxes is None:
        return []
    return [Section(heading="Raw scores or calibrated probabilities", lead=CALIBRATION, blocks=(boxes, table))]


def _spans(findings: GradesFindings) -> list[Section]:
    boxes, table = span_boxes(findings), span_table(findings)
    if boxes is None or table is None:
        return []
    return [Section(heading="Spans of nodes", lead=SPANS, blocks=(boxes, table))]


def _asked(findings: GradesFindings) -> tuple[TableBlock, ...]:
    """Return the cases that were asked for, or else one case, with all scores of a suite and its metrics."""
    tables = [case_table(findings, case) for case in findings.asked] or [example_table(findings)]
    return tuple(table for table in tables if table is not None)


def _by_attack(findings: GradesFindings) -> list[Section]:
    """Return what metrics do by attack: what chunks cap, and what leaving out hard targets inflates."""
    sections = []
    success, maxima = success_boxes(findings), maxima_boxes(findings)
    if success is not None:
        lead = "The success rate counts right attempts among the attempts, overall success among all targets."
        sections.append(Section(heading="Success by attack", lead=lead, blocks=(success,)))
    if maxima:
        lead = (
            "Some attacks compare a fixed number of nodes at a time. No node then has more candidates than that, and "
            "metrics that grow with their number have a ceiling, which says nothing about privacy. What is drawn is "
            "the largest mean over targets that any replication has."
        )
        sections.append(Section(heading="What chunks cap", lead=lead, blocks=maxima))
    return sections


def _suites(findings: GradesFindings) -> list[Section]:
    sections = []
    table = suite_table(findings)
    if table is not None:
        drawn = (suite_boxes(findings, "evenness"), suite_boxes(findings, "shared_range"))
        more = (sum_table(findings), suite_score_table(findings), *drawn, *_asked(findings))
        blocks = (table, *(each for each in more if each is not None))
        sections.append(Section(heading="Suites of metrics", lead=SUITES, blocks=blocks))
    searches = dict(findings.grades.searches)
    if searches:
        held_out = held_out_table(searches)
        tables = tuple(found_table(name, search) for name, search in searches.items())
        sections.append(
            Section(
                heading="Better suites",
                lead=f"{search_lead(findings)} {search_conclusion(findings)}",
                blocks=(*([held_out] if held_out else []), *tables),
            )
        )
    return sections


def _explained(findings: GradesFindings) -> list[Section]:
    table = group_table(findings)
    if table is None:
        return []
    lead = (
        f"Does a score belong to the metric, or to the data, the protection and the attack? "
        f"{factors_sentence(findings)}"
    )
    terms = tuple(term_table(findings, each, at_most=MOST_TERMS) for each in findings.factors)
    return [Section(heading="What explains the scores", lead=lead, blocks=(table, *terms))]


def to_latex(findings: GradesFindings) -> str:
    """Return all tables, each as a ``table`` environment with a label that begins with ``tab:``."""
    from unveil.report.latex import document

    names = ", ".join(each.study.name for each in findings.studies)
    told: list[tuple[str, TableBlock | None]] = [
        ("tab:ranking", ranking_table(findings)),
        ("tab:calibrated", calibration_table(findings)),
        ("tab:spans", span_table(findings)),
        *((f"tab:factors-{each.response.replace('_', '-')}", term_table(findings, each)) for each in findings.factors),
        ("tab:variance", group_table(findings)),
        ("tab:suites", suite_table(findings)),
        ("tab:suite-sums", sum_table(findings)),
        ("tab:suite-scores", suite_score_table(findings)),
        *(
            (f"tab:suite-example{f'-{number}' if findings.asked else ''}", table)
            for number, table in enumerate(_asked(findings), start=1)
        ),
        ("tab:held-out", held_out_table(dict(findings.grades.searches))),
        *(
            (f"tab:search-{number}", found_table(name, search))
            for number, (name, search) in enumerate(findings.grades.searches.items(), start=1)
        ),
    ]
    return document(
        [(label, table) for label, table in told if table is not None],
        comment=(
            f"Grades of privacy metrics, judged by: {names}.",
            f"Made by unveil {findings.version}. Read it with \\input; it needs no package.",
        ),
    )


def brief(findings: GradesFindings, *, with_details: bool) -> Iterator[Part]:
    """Yield what a terminal shows: the metrics to use first, the ranking, suites, and what explains the scores."""
    yield from opening(page(findings))
    for table in _asked(findings) if findings.asked else ():
        yield ""
        yield table
    for table in verdict_tables(findings):
        yield ""
        yield table
    yield scores_in_words(findings)
    calibrated = calibration_table(findings, short=True)
    if calibrated is not None:
        yield ""
        yield calibrated
    for each in findings.details if with_details else ():
        picture = detail_boxes(findings, each)
        yield ""
        yield picture
        yield picture.caption
    suites = suite_table(findings)
    if suites is not None:
        yield ""
        yield suites
        yield from sums_in_words(findings)
        yield from findings.suite_notes
    if findings.grades.searches:
        yield from ("", "Are there better suites?", *honest_sentences(findings))
    explained = group_table(findings)
    if explained is not None:
        yield ""
        yield explained


VIEW = QuestionView(
    schema="unveil.grades/1",
    findings=GradesFindings,
    about="The answer of `unveil grade-metrics`: which privacy metrics can be trusted.",
    quantities=quantities,
    frame=lambda findings: findings.case_frame.fill_nan(None),
    page=page,
    plot=plot,
    meanings=meanings,
)
