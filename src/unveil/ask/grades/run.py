"""Which metrics in which cases are shown level by level: those that were asked for, or three that tell something."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil.ask.grades.findings import Detail, GradedStudy, GradesFindings
from unveil.ask.grades.words import zeros_of
from unveil.errors import InputError, did_you_mean
from unveil.grade.factors import Factors, explain, statistics_of, types_of
from unveil.grade.grades import Grades, Scores, SuiteGrade, Summary
from unveil.grade.replicated import Case
from unveil.grade.search import SuiteSearch
from unveil.measure import METRICS
from unveil.study import Results

if TYPE_CHECKING:
    import polars as pl


#: So many are drawn; what is left out is said.
MOST_DETAILS = 12

_BETWEEN = re.compile(r"[,;\s]+")
_PIECES = re.compile(r"[:,=\s]+")


def details_of(grades: Grades, wanted: Sequence[str]) -> tuple[tuple[Detail, ...], tuple[str, ...]]:
    """Return what is shown level by level, and notes on what is not.

    Each of ``wanted`` is a metric, or a metric, an ``@`` and words that are all in the parts of a case. A metric alone
    is shown where it scores highest and where it scores lowest. Without any, three are chosen; see :func:`telling`.

    Raises
    ------
    InputError
        If there is no such metric, or no case with these words.
    """
    if not wanted:
        return telling(grades), ()
    found: dict[tuple[str, int], Detail] = {}
    for text in wanted:
        metric, at, where = (part.strip() for part in text.partition("@"))
        metric = _metric(grades, metric)
        if at:
            every = [Detail(metric=metric, case=case, why="asked for") for case in _cases(grades, where)]
        else:
            every = _ends(grades, metric)
        for each in every:
            found.setdefault((each.metric, each.case), each)
    shown = tuple(found.values())[:MOST_DETAILS]
    over = len(found) - len(shown)
    note = f"{len(found):,} details match --detail; the first {MOST_DETAILS} are shown. Add words of a case for fewer."
    return shown, (note,) if over else ()


def telling(grades: Grades) -> tuple[Detail, ...]:
    """Return three details that show what scores mean; fewer where there are fewer metrics.

    The metric with the highest mean monotonicity in the case where it scores highest; the one with the lowest mean in
    the case where it scores lowest; and the one that is undecided most often, in a case where nothing is significant.
    Of cases that score the same, the one with the most significant tests is taken, and of these the first.
    """
    graded = [each for each in grades.metrics if each.monotonicity.cases]
    if not graded:
        return ()
    found = [
        Detail(
            metric=graded[0].metric,
            case=_place(grades, graded[0].metric, best=True),
            why="the highest mean monotonicity, in the case where it scores highest",
        )
    ]
    if len(graded) > 1:
        last = graded[-1].metric
        found.append(
            Detail(
                metric=last,
                case=_place(grades, last, best=False),
                why="the lowest mean monotonicity, in the case where it scores lowest",
            )
        )
    silent = max(graded, key=lambda each: each.undecided)
    if silent.undecided > 0 and silent.metric not in {each.metric for each in found}:
        column = grades.values.metrics.index(silent.metric)
        scores = grades.scores.monotonicity
        still = scores.undecided[:, column] & ~np.isnan(scores.score[:, column])
        found.append(
            Detail(
                metric=silent.metric,
                case=int(np.flatnonzero(still)[0]),
                why="most often without a significant change, in a case where there is none",
            )
        )
    return tuple(found)


def _ends(grades: Grades, metric: str) -> list[Detail]:
    column = grades.values.metrics.index(metric)
    if np.isnan(grades.scores.monotonicity.score[:, column]).all():
        return [Detail(metric=metric, case=0, why="the first case; none has a score")]
    best, worst = _place(grades, metric, best=True), _place(grades, metric, best=False)
    found = [Detail(metric=metric, case=best, why="the case where it scores highest")]
    return (
        found if worst == best else [*found, Detail(metric=metric, case=worst, why="the case where it scores lowest")]
    )


def _place(grades: Grades, metric: str, *, best: bool) -> int:
    column = grades.values.metrics.index(metric)
    score = grades.scores.monotonicity.score[:, column]
    number = grades.scores.monotonicity.significant[:, column]
    nothing = -np.inf if best else np.inf
    worth = np.where(np.isnan(score), nothing, score)
    level = worth.max() if best else worth.min()
    return int(np.argmax(np.where(worth == level, number, -1)))


def _metric(grades: Grades, name: str) -> str:
    have = grades.values.metrics
    wanted = name.replace(" ", "_").casefold()
    if wanted not in have:
        hint = did_you_mean(wanted, have) or f" Choose from {', '.join(have)}."
        raise InputError(f"--detail must begin with a metric that was graded, but there is no {name!r}.{hint}")
    return wanted


def _cases(grades: Grades, where: str) -> list[int]:
    cases = grades.values.cases
    wanted = [word.casefold() for word in _BETWEEN.split(where) if word]
    if not wanted:
        raise InputError(
            "words of a case must follow the @ in --detail, but there are none. Write METRIC@DATA,ATTACK or the metric "
            "alone"
        )
    fitting = list(range(len(cases)))
    for word in wanted:
        having = _having(cases, word)
        if not having:
            raise InputError(f"no case has the word {word!r} of --detail.{_hint(cases, word)}")
        fitting = [case for case in fitting if case in having]
    if not fitting:
        raise InputError(
            f"no case has all words of --detail together ({', '.join(wanted)}), though each is in some. Leave one out"
        )
    return fitting


def _having(cases: Sequence[Case], word: str) -> set[int]:
    """Return the cases with a word: as a whole piece of a part (NS of NS:theta=0.5) where any has it, else anywhere."""
    whole = {number for number, case in enumerate(cases) if word in _pieces(case)}
    return whole or {number for number, case in enumerate(cases) if any(word in part.casefold() for part in case)}


def _pieces(case: Case) -> set[str]:
    found = {part.casefold() for part in case}
    return found | {piece for part in found for piece in _PIECES.split(part)}


def _hint(cases: Sequence[Case], word: str) -> str:
    first = dict.fromkeys(part.partition(":")[0] for case in cases for part in case)
    near = did_you_mean(word, first)
    return near or f" Cases are made of {', '.join(first)}."


#: With fewer scores, nothing is said about what explains them.
_FEWEST_SCORES = 20


def factors_of(
    grades: Grades, studies: Sequence[Results], *, rng: np.random.Generator
) -> tuple[tuple[Factors, ...], tuple[str, ...]]:
    """Return what explains each of the three scores, and notes; nothing where too few scores differ."""
    scores = grades.scores
    wanted = {
        "monotonicity": scores.monotonicity.score,
        "evenness": scores.evenness,
        "shared_range": scores.shared_range,
    }
    varied = {name: score for name, score in wanted.items() if _varied(score)}
    if not varied:
        return (), ("Too few scores differ to tell what explains them.",)
    statistics: dict[str, dict[str, float]] = {}
    notes: list[str] = []
    for each in studies:
        own, said = statistics_of(each, rng=rng)
        statistics |= own
        notes += _shortened(said)
    types = {name: label for each in studies for name, label in types_of(each.study).items()}
    factors = tuple(explain(score, grades.values, statistics, types, response=name) for name, score in varied.items())
    return factors, tuple(dict.fromkeys([*notes, *(note for each in factors for note in each.notes)]))


def _shortened(said: Sequence[str]) -> list[str]:
    """Return the first of several sentences of the same kind, and how many more there are."""
    more = f" The same holds for {len(said) - 1} more of its data sets." if len(said) > 1 else ""
    return [f"{said[0]}{more}"] if said else []


def _varied(score: NDArray[np.float64]) -> bool:
    known = score[np.isfinite(score)]
    return known.size >= _FEWEST_SCORES and bool(np.ptp(known) > 0)


def figures(found: GradesFindings) -> dict[str, Any]:
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
