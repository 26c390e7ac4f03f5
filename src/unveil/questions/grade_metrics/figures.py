"""The grades under their names in JSON, and as one table with a row per case and metric."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.grades.calibration_grades import CalibratedGrade
from unveil.grades.factors import Factors
from unveil.grades.grades import Grades, MetricGrade, Scores, SuiteGrade
from unveil.grades.scores import Reading
from unveil.grades.search import SuiteSearch
from unveil.metrics import METRICS
from unveil.questions.grade_metrics.findings import GradedStudy, GradesFindings, Span
from unveil.questions.grade_metrics.words import zeros_of

if TYPE_CHECKING:
    import polars as pl


def figures(findings: GradesFindings) -> Mapping[str, Any]:
    """Return all figures under their names in JSON; undefined ones are NaN, which becomes null."""
    grades = findings.grades
    return {
        "version": findings.version,
        "studies": [_study(each) for each in findings.studies],
        "settings": {"significance": grades.level, "strict": grades.strict, "of": grades.of},
        "metrics": [_figures_of_metric(grades, name) for name in (each.metric for each in grades.metrics)],
        "calibrated": [] if grades.calibrated is None else [_calibrated(each) for each in grades.calibrated.metrics],
        "spans": [_span(findings, each) for each in findings.spans],
        "suites": [_suite(each) for each in grades.suites],
        "searches": [_search(name, search) for name, search in grades.searches.items()],
        "factors": [_factors(each) for each in findings.factors],
        "details": [
            {"metric": each.metric, "case": grades.values.cases[each.case]._asdict(), "why": each.why}
            for each in findings.details
        ],
        "notes": list(findings.notes),
        "suite_notes": zeros_of(grades),
        "cases": _with_nodes(grades),
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


def _with_nodes(grades: Grades) -> "pl.DataFrame":
    """Return the scores of each case and metric, those of nodes and of calibrated probabilities beside them."""
    frame = _scores_frame(grades.scores, "metric")
    keys = ["data", "protect", "attack", "axis", "metric"]
    others = {
        "of_nodes": None if grades.nodes is None else grades.nodes.scores,
        "calibrated": None if grades.calibrated is None else grades.calibrated.calibrated.scores,
    }
    for name, scores in others.items():
        if scores is not None:
            more = _scores_frame(scores, "metric").select(*keys, *_THREE)
            more = more.rename({score: f"{score}_{name}" for score in _THREE})
            frame = frame.join(more, on=keys, how="left", maintain_order="left")
    return frame


_THREE = ("monotonicity", "evenness", "shared_range")


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
        "nodes": _figures_of_reading(grades.nodes, name),
    }


def _figures_of_reading(reading: Reading | None, name: str) -> dict[str, Any] | None:
    """Return the scores of one metric's values of nodes; null where it has none."""
    each = None if reading is None else reading.metric(name)
    return None if each is None else _of_grade(each)


def _of_grade(each: MetricGrade) -> dict[str, Any]:
    return {
        "verdict": each.verdict,
        "monotonicity": vars(each.monotonicity),
        "share_undecided": each.undecided,
        "share_wrong_way": each.against,
        "evenness": vars(each.evenness),
        "shared_range": vars(each.shared_range),
    }


def _calibrated(each: CalibratedGrade) -> dict[str, Any]:
    return {
        "name": each.metric,
        "raw": _of_grade(each.raw),
        "calibrated": _of_grade(each.calibrated),
        "gain": each.gain._asdict(),
        "effect": each.effect,
        "cases": each.cases,
    }


def _span(findings: GradesFindings, each: Span) -> dict[str, Any]:
    cases = findings.grades.values.cases
    ends = {"widest": each.widest, "narrowest": each.narrowest}
    told = {name: {**vars(one), "case": cases[one.case]._asdict()} for name, one in ends.items()}
    return {"metric": each.metric, "lowest": each.lowest, "highest": each.highest, **told}


def _suite(each: SuiteGrade) -> dict[str, Any]:
    return {
        "name": each.suite.name,
        "weights": dict(each.suite.weights),
        "share_in_order": vars(each.whole),
        "share_of_pairs_in_order": vars(each.pairs),
        "by_sum": {
            "share_in_order": vars(each.sum_whole),
            "share_of_pairs_in_order": vars(each.sum_pairs),
            "share_of_cases_turned": dict(each.turned),
        },
        "monotonicity": vars(each.monotonicity),
        "evenness": vars(each.evenness),
        "shared_range": vars(each.shared_range),
    }


def _search(name: str, search: SuiteSearch) -> dict[str, Any]:
    tried = {"singles": search.singles, "equal": search.equal}
    return {
        "among": name,
        "metrics": list(search.metrics),
        "needs": list(search.needs),
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


def frame(findings: GradesFindings) -> "pl.DataFrame":
    """Return one row per case and metric: the three scores, and the tests behind the first."""
    return _with_nodes(findings.grades).fill_nan(None)
