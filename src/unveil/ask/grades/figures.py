"""Grades for machines: everything that the page shows, and every score."""

from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.grade.factors import Factors
from unveil.grade.grades import Grades, Scores, SuiteGrade, Summary
from unveil.grade.search import SuiteSearch
from unveil.measure import METRICS
from unveil.ask.grades.findings import GradedStudy, GradesFindings
from unveil.ask.grades.notes import zeros_of

if TYPE_CHECKING:
    import polars as pl


def figures(found: GradesFindings) -> dict[str, Any]:
    """Return all figures under their names in JSON; undefined ones are NaN, which becomes null."""
    grades = found.grades
    return {
        "version": found.version,
        "studies": [_study(each) for each in found.studies],
        "settings": {"significance": grades.level, "strict": grades.strict},
        "metrics": [_metric(grades, name) for name in (each.metric for each in grades.metrics)],
        "suites": [_suite(each) for each in grades.suites],
        "searches": [_search(name, search) for name, search in grades.searches.items()],
        "factors": [_factors(each) for each in found.factors],
        "details": [
            {"metric": each.metric, "case": grades.values.cases[each.case]._asdict(), "why": each.why}
            for each in found.details
        ],
        "notes": list(found.notes),
        "suite_notes": zeros_of(grades),
        "cases": scores_frame(grades.scores, "metric"),
        "suite_cases": [] if grades.suite_scores is None else suite_frame(grades),
    }


def scores_frame(scores: Scores, what: str) -> "pl.DataFrame":
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


def suite_frame(grades: Grades) -> "pl.DataFrame":
    """Return one row per case and suite: the scores, and whether the case is in order."""
    import polars as pl

    if grades.suite_scores is None or grades.rankings is None:
        raise ValueError("there are no suites")
    frame = scores_frame(grades.suite_scores, "suite")
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


def _metric(grades: Grades, name: str) -> dict[str, Any]:
    each = grades.metric(name)
    listed = METRICS[name]
    return {
        "name": name,
        "category": listed.category,
        "per": listed.per,
        "more_means": listed.more_means,
        "verdict": each.verdict,
        "reason": each.reason,
        "monotonicity": _summary(each.monotonicity),
        "by_axis": {axis: _summary(score) for axis, score in each.by_axis.items()},
        "share_undecided": each.undecided,
        "share_wrong_way": each.against,
        "evenness": _summary(each.evenness),
        "shared_range": _summary(each.shared_range),
    }


def _summary(summary: Summary) -> dict[str, Any]:
    return dict(vars(summary))


def _suite(each: SuiteGrade) -> dict[str, Any]:
    return {
        "name": each.suite.name,
        "weights": dict(each.suite.weights),
        "share_in_order": _summary(each.whole),
        "share_of_pairs_in_order": _summary(each.pairs),
        "monotonicity": _summary(each.monotonicity),
        "evenness": _summary(each.evenness),
        "shared_range": _summary(each.shared_range),
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
