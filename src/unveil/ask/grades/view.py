"""How the findings about metrics are shown: JSON, limits, table, page, pictures, and LaTeX for a paper."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.ask.answer import View
from unveil.ask.grades.charts import (
    SCORES,
    detail_boxes,
    heat_map,
    maxima_boxes,
    range_boxes,
    ranking_boxes,
    success_boxes,
    suite_boxes,
)
from unveil.ask.grades.findings import GradedStudy, GradesFindings
from unveil.ask.grades.tables import (
    MOST_TERMS,
    example_table,
    factors_sentence,
    found_table,
    group_table,
    held_out_table,
    ranking_table,
    suite_score_table,
    suite_table,
    term_table,
    verdict_tables,
    why_table,
)
from unveil.ask.grades.words import (
    MEANINGS,
    SUITES,
    TRUST,
    UNTESTED,
    headline,
    honest_sentences,
    key_numbers,
    method,
    question,
    reading,
    scores_in_words,
    search_conclusion,
    search_lead,
    tone,
    zeros_of,
)
from unveil.grade.factors import Factors
from unveil.grade.grades import Grades, Scores, SuiteGrade
from unveil.grade.search import SuiteSearch
from unveil.measure import METRICS
from unveil.show.blocks import Block, Page, Section, Table
from unveil.show.limits import Quantity
from unveil.show.terminal import Headline, Part

if TYPE_CHECKING:
    import polars as pl
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
    return [metric.name for metric in METRICS.values() if metric.on == "Candidates"]


def quantities(found: GradesFindings) -> dict[str, Quantity]:
    """Return the figures that a limit can be set for; more of each is better."""
    means = {each.metric: each.monotonicity.mean for each in found.grades.metrics}
    shares = [each.whole.mean for each in found.grades.suites if not np.isnan(each.whole.mean)]
    values = {
        _TRUSTED: float(len(found.by_verdict("use"))),
        _BEST_SUITE: max(shares, default=float("nan")),
        **{f"monotonicity_{name}": means.get(name, float("nan")) for name in _metric_names()},
    }
    said = meanings()
    return {
        name: Quantity(name=name, value=value, meaning=said[name], exceeded_when_undefined=False, more_is_worse=False)
        for name, value in values.items()
    }


def figures(found: GradesFindings) -> Mapping[str, Any]:
    """Return all figures under their names in JSON; undefined ones are NaN, which becomes null."""
    grades = found.grades
    return {
        "version": found.version,
        "studies": [_study(each) for each in found.studies],
        "settings": {"significance": grades.level, "strict": grades.strict},
        "metrics": [_figures_of_metric(grades, name) for name in (each.metric for each in grades.metrics)],
        "suites": [_suite(each) for each in grades.suites],
        "searches": [_search(name, search) for name, search in grades.searches.items()],
        "factors": [_factors(each) for each in found.factors],
        "details": [
            {"metric": each.metric, "case": grades.values.cases[each.case]._asdict(), "why": each.why}
            for each in found.details
        ],
        "notes": list(found.notes),
        "suite_notes": zeros_of(grades),
        "cases": _scores_frame(grades.scores, "metric"),
        "suite_cases": [] if grades.suite_scores is None else _suite_frame(grades),
    }


def _scores_frame(scores: Scores, what: str) -> "pl.DataFrame":
    """Return one row per case and metric (or suite): the three scores, and the tests behind the first."""
    import polars as pl

    values, found = scores.values, scores.monotonicity
    cases, metrics = len(values.cases), len(values.metrics)
    row, column = np.repeat(np.arange(cases), metrics), np.tile(np.arange(metrics), cases)
    # Counted once: that looks at each value.
    levels = (values.replications > 0).sum(axis=2)
    parts = {
        name: [getattr(values.cases[case], name) for case in row] for name in ("data", "protect", "attack", "axis")
    }
    arrays = {
        "monotonicity": found.score,
        "significant": found.significant,
        "tests": found.tests,
        "right": found.right,
        "wrong": found.wrong,
        "turns": found.turns,
        "evenness": scores.evenness,
        "shared_range": scores.shared_range,
    }
    return pl.DataFrame(
        {
            **parts,
            what: [values.metrics[at] for at in column],
            "levels": levels.ravel(),
            **{name: array.ravel() for name, array in arrays.items()},
        }
    )


def _suite_frame(grades: Grades) -> "pl.DataFrame":
    """Return one row per case and suite: the scores, and whether the case is in order."""
    import polars as pl

    if grades.suite_scores is None or grades.rankings is None:
        raise ValueError("there are no suites")
    frame = _scores_frame(grades.suite_scores, "suite")
    return frame.with_columns(
        pl.Series("in_order", grades.rankings.whole.T.ravel()),
        pl.Series("pairs_in_order", grades.rankings.pairs.T.ravel()),
    )


def _study(each: GradedStudy) -> dict[str, Any]:
    return {
        "name": each.study.name,
        "kind": each.study.kind,
        "version": each.version,
        "scenarios": dict(vars(each.counts)),
        "running": each.running,
    }


def _figures_of_metric(grades: Grades, name: str) -> dict[str, Any]:
    each = grades.metric(name)
    listed = METRICS[name]
    return {
        "name": name,
        "category": listed.category,
        "per": listed.per,
        "more_means": listed.more_means,
        "verdict": each.verdict,
        "reason": each.reason,
        "monotonicity": vars(each.monotonicity),
        "by_axis": {axis: vars(score) for axis, score in each.by_axis.items()},
        "share_undecided": each.undecided,
        "share_wrong_way": each.against,
        "evenness": vars(each.evenness),
        "shared_range": vars(each.shared_range),
    }


def _suite(each: SuiteGrade) -> dict[str, Any]:
    return {
        "name": each.suite.name,
        "weights": dict(each.suite.weights),
        "share_in_order": vars(each.whole),
        "share_of_pairs_in_order": vars(each.pairs),
        "monotonicity": vars(each.monotonicity),
        "evenness": vars(each.evenness),
        "shared_range": vars(each.shared_range),
    }


def _search(name: str, search: SuiteSearch) -> dict[str, Any]:
    tried = {"singles": search.singles, "equal": search.equal}
    return {
        "among": name,
        "metrics": list(search.metrics),
        "cases": search.cases,
        **{
            way: [{"weights": dict(each.suite.weights), "whole": each.whole, "pairs": each.pairs} for each in every]
            for way, every in tried.items()
        },
        "optimised": None
        if search.optimised is None
        else {
            "weights": dict(search.optimised.suite.weights),
            "whole": search.optimised.whole,
            "pairs": search.optimised.pairs,
        },
        "held_out": [
            {
                "by": each.grouping,
                "cases": each.cases,
                "groups": each.groups,
                "folds": each.folds,
                "shares": dict(each.shares),
                "by_fold": {way: list(shares) for way, shares in each.by_fold.items()},
                "gains": {way: gain._asdict() for way, gain in each.gains.items()},
                "chosen": [{way: dict(suite.weights) for way, suite in fold.items()} for fold in each.chosen],
            }
            for each in search.validations
        ],
        "notes": list(search.notes),
    }


def _factors(each: Factors) -> dict[str, Any]:
    return {
        "score": each.response,
        "rows": each.rows,
        "undefined": each.undefined,
        "shares": {name: dict(vars(share)) for name, share in each.shares.items()},
        "model": {
            "intercept": each.mars.intercept,
            "r_squared": each.mars.r_squared,
            "gcv": each.mars.gcv,
            "terms": [
                {"factor": term.text, "coefficient": term.coefficient, "importance": term.importance}
                for term in each.mars.terms
            ],
        },
        "notes": list(each.notes),
    }


def frame(found: GradesFindings) -> "pl.DataFrame":
    """Return one row per case and metric: the three scores, and the tests behind the first."""
    return _scores_frame(found.grades.scores, "metric").fill_nan(None)


def plot(found: GradesFindings) -> "NDArray[Any]":
    """Return matplotlib axes, side by side: the metrics by monotonicity, evenness and shared value range."""
    from matplotlib import pyplot

    from unveil.show.draw.lines import draw

    height = 2.0 + 0.3 * len(found.grades.metrics)
    _, axes = pyplot.subplots(1, len(SCORES), figsize=(6.6 * len(SCORES), height), layout="constrained")
    for score, place in zip(SCORES, axes, strict=True):
        draw(ranking_boxes(found, score), place)
    row: NDArray[Any] = axes
    return row


def page(found: GradesFindings, *, seed: int | None = None) -> Page:
    """Return the whole report as data; :func:`unveil.show.page.render` turns it into HTML."""
    return Page(
        title="Grades of privacy metrics",
        question=question(found),
        headline=headline(found),
        tone=tone(found),
        sections=tuple(_sections(found)),
        method=method(found),
        untested=UNTESTED,
        notes=found.notes,
        seed=seed,
        version=found.version,
    )


def _sections(found: GradesFindings) -> list[Section]:
    sections = [
        Section(heading="Which metrics can be trusted", lead=TRUST, blocks=key_numbers(found)),
        Section(heading="Every metric", lead=reading(), blocks=(ranking_table(found), why_table(found))),
        Section(
            heading="Monotonicity",
            lead="Does a metric show less privacy whenever the adversary is stronger?",
            blocks=(ranking_boxes(found, "monotonicity"), heat_map(found)),
        ),
    ]
    if found.details:
        lead = "What is behind a score: the metric at each level of strength, over replications."
        drawn: tuple[Block, ...] = tuple(detail_boxes(found, each) for each in found.details)
        sections.append(Section(heading="Level by level", lead=lead, blocks=drawn))
    sections += [
        Section(
            heading="Evenness",
            lead=f"{MEANINGS['evenness']} Values that crowd in the middle score 0.75: a high score alone is no proof.",
            blocks=(ranking_boxes(found, "evenness"),),
        ),
        Section(
            heading="Shared value range",
            lead=MEANINGS["shared_range"],
            blocks=(ranking_boxes(found, "shared_range"), *range_boxes(found)),
        ),
        *_by_attack(found),
        *_suites(found),
        *_explained(found),
    ]
    return sections


def _by_attack(found: GradesFindings) -> list[Section]:
    """Return what metrics do by attack: what chunks cap, and what leaving out hard targets inflates."""
    sections = []
    success, maxima = success_boxes(found), maxima_boxes(found)
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


def _suites(found: GradesFindings) -> list[Section]:
    sections = []
    table = suite_table(found)
    if table is not None:
        drawn = (suite_boxes(found, "evenness"), suite_boxes(found, "shared_range"))
        more = (suite_score_table(found), *drawn, example_table(found))
        blocks = (table, *(each for each in more if each is not None))
        sections.append(Section(heading="Suites of metrics", lead=SUITES, blocks=blocks))
    searches = dict(found.grades.searches)
    if searches:
        held_out = held_out_table(searches)
        tables = tuple(found_table(name, search) for name, search in searches.items())
        sections.append(
            Section(
                heading="Better suites",
                lead=f"{search_lead(found)} {search_conclusion(found)}",
                blocks=(*([held_out] if held_out else []), *tables),
            )
        )
    return sections


def _explained(found: GradesFindings) -> list[Section]:
    table = group_table(found)
    if table is None:
        return []
    lead = (
        f"Does a score belong to the metric, or to the data, the protection and the attack? {factors_sentence(found)}"
    )
    terms = tuple(term_table(found, each, most=MOST_TERMS) for each in found.factors)
    return [Section(heading="What explains the scores", lead=lead, blocks=(table, *terms))]


def to_latex(found: GradesFindings) -> str:
    """Return all tables, each as a ``table`` environment with a label that begins with ``tab:``."""
    from unveil.show.latex import document

    names = ", ".join(each.study.name for each in found.studies)
    told: list[tuple[str, Table | None]] = [
        ("tab:ranking", ranking_table(found)),
        *((f"tab:factors-{each.response.replace('_', '-')}", term_table(found, each)) for each in found.factors),
        ("tab:variance", group_table(found)),
        ("tab:suites", suite_table(found)),
        ("tab:suite-scores", suite_score_table(found)),
        ("tab:suite-example", example_table(found)),
        ("tab:held-out", held_out_table(dict(found.grades.searches))),
        *(
            (f"tab:search-{number}", found_table(name, search))
            for number, (name, search) in enumerate(found.grades.searches.items(), start=1)
        ),
    ]
    return document(
        [(label, table) for label, table in told if table is not None],
        comment=(
            f"Grades of privacy metrics, judged by: {names}.",
            f"Made by unveil {found.version}. Read it with \\input; it needs no package.",
        ),
    )


def brief(found: GradesFindings, *, with_details: bool) -> Iterator[Part]:
    """Yield what a terminal shows: the headline, the ranking, suites, what explains the scores, and notes."""
    yield Headline(headline(found), tone(found))
    for table in verdict_tables(found):
        yield ""
        yield table
    yield scores_in_words()
    for each in found.details if with_details else ():
        picture = detail_boxes(found, each)
        yield ""
        yield picture
        yield picture.caption
    suites = suite_table(found)
    if suites is not None:
        yield ""
        yield suites
        yield from zeros_of(found.grades)
    if found.grades.searches:
        yield from ("", "Are there better suites?", *honest_sentences(found))
    explained = group_table(found)
    if explained is not None:
        yield ""
        yield explained
    if found.notes:
        yield from ("", *(f"Note: {note}" for note in found.notes))


VIEW = View(
    schema="unveil.grades/1",
    figures=figures,
    quantities=quantities,
    frame=frame,
    page=page,
    plot=plot,
    meanings=meanings,
)
