"""Grades of metrics and suites: scores, reliability, and performance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal

import numpy as np

from unveil._figure import figure, figure_at
from unveil._kernels.types import IntArray
from unveil.errors import InputError, did_you_mean
from unveil.grades.calibration_grades import CalibrationGrades
from unveil.grades.needs import checked_needs, lacking
from unveil.grades.nodes import NodeSketches
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.grades.scores import Reading, Scores, falling
from unveil.grades.search import SuiteSearch, best_suites
from unveil.grades.suite import available
from unveil.grades.suites import SUITES, Rankings, Suite, rankings, suite_values
from unveil.grades.verdict import (
    EVENNESS,
    LEAST,
    MONOTONICITY,
    NOTHING_SIGNIFICANT,
    SHARED_RANGE,
    MetricGrade,
    ScoreSummary,
    Verdict,
    groups_of,
    summarize,
)
from unveil.grades.weighted_sum import RankReversals, SumRankings, sum_rankings

__all__ = [
    "HERE",
    "LEAST",
    "NOTHING_SIGNIFICANT",
    "PAPER",
    "GradedValues",
    "Grades",
    "MetricGrade",
    "Reading",
    "ScoreSummary",
    "Scores",
    "SuiteGrade",
    "Verdict",
    "grade",
    "groups_of",
    "recommended",
    "summarize",
]

#: So many metrics, at most, are tried with one another in suites: all subsets of seven are 120.
MOST_IN_SEARCH = 7
#: What is graded: one mean over targets per replication, the values of single nodes, or both beside each other.
GradedValues = Literal["means", "nodes", "both"]
#: What is searched for suites.
PAPER, HERE = "the seven metrics of Zhao and Wagner", "the best metrics here"


@dataclass(frozen=True, kw_only=True)
class SuiteGrade:
    """Performance of a suite: ordered cases and levels, and its scores.

    ``sum_whole`` and ``sum_pairs`` are the same shares where its metrics are added and not multiplied. ``turned`` are
    the shares of cases in which leaving out the worst level, and in which leaving out some one level, turns two others
    around, by the sum (and by the product, where that can be zeros only).
    """

    GROUPS: ClassVar = {"by_sum": "The same where values are added up and not multiplied."}
    suite: Suite
    name = figure_at("suite.name", "Name of the suite.")
    weights = figure_at("suite.weights", "Weight of each metric.")
    whole: ScoreSummary = figure("Share of cases in which it is monotone in attacker strength.", name="share_in_order")
    pairs: ScoreSummary = figure("Share of pairs of levels in the right order.", name="share_of_pairs_in_order")
    sum_whole: ScoreSummary = figure("Share of cases in order.", name="by_sum.share_in_order")
    sum_pairs: ScoreSummary = figure("Share of pairs in order.", name="by_sum.share_of_pairs_in_order")
    turned: RankReversals = figure(
        "Share of cases with a rank reversal if a level is left out.", name="by_sum.share_of_cases_turned"
    )
    monotonicity: ScoreSummary = figure(MONOTONICITY.format("suite"))
    evenness: ScoreSummary = figure(EVENNESS)
    shared_range: ScoreSummary = figure(SHARED_RANGE)


@dataclass(frozen=True, kw_only=True, eq=False)
class Grades:
    """Grades and reliability of metrics.

    Attributes
    ----------
    scores
        Everything by case and metric.
    metrics
        The grades of the metrics, the highest mean monotonicity first and those without one last.
    suites, suite_scores, rankings
        The same of suites, the highest share of cases in order first; ``suite_scores`` and ``rankings`` have the suites
        in the order of ``suite_scores.values.metrics``. None where no suite could be computed.
    searches
        Which suites do best, and how much of that holds in cases that they were not chosen by: of the seven metrics of
        Zhao and Wagner, and of the best seven here, as far as there are any. What is searched is the key.
    level, strict
        When a test is significant, and whether changes in the wrong direction count without being so.
    of
        What ``scores`` and ``metrics`` are of: means, or with "nodes" the values of nodes for metrics that have some.
    nodes
        The scores of the values of nodes, for metrics that have some; None where no study kept them.
    calibrated, calibrated_nodes
        What calibrated probabilities change, in the cases that have both; and the scores of their values of nodes.
    left_out
        Suites that were not computed, and why, in sentences.
    """

    scores: Scores = field(repr=False)
    metrics: tuple[MetricGrade, ...]
    suites: tuple[SuiteGrade, ...]
    suite_scores: Scores | None = field(repr=False)
    rankings: Rankings | None = field(repr=False)
    searches: Mapping[str, SuiteSearch] = field(repr=False)
    level: float = figure("Significance level of a change between two levels, from 0 to 1.", name="significance")
    strict: bool = figure("Whether non-significant changes in the wrong direction count.")
    of: GradedValues = figure(
        'Unit of `scores` and `metrics`: means, or "nodes" for node values if available.',
        default="means",
    )
    nodes: Reading | None = field(default=None, repr=False)
    calibrated: CalibrationGrades | None = field(default=None, repr=False)
    calibrated_nodes: Reading | None = field(default=None, repr=False)
    left_out: tuple[str, ...] = ()

    @property
    def values(self) -> ReplicatedMetrics:
        """Graded values."""
        return self.scores.values

    def metric(self, name: str) -> MetricGrade:
        """Return the grades of one metric."""
        for each in self.metrics:
            if each.metric == name:
                return each
        raise InputError(
            f"no metric {name!r} was graded.{did_you_mean(name, self.values.metrics)} There are "
            f"{', '.join(self.values.metrics)}"
        )


def grade(
    values: ReplicatedMetrics,
    *,
    nodes: NodeSketches | None = None,
    calibrated: ReplicatedMetrics | None = None,
    calibrated_nodes: NodeSketches | None = None,
    of: GradedValues = "both",
    level: float = 0.05,
    strict: bool = False,
    suites: Sequence[Suite] = (),
    needs: Sequence[str] = (),
    rng: np.random.Generator,
) -> Grades:
    """Return the grades of all metrics and suites in all cases.

    Parameters
    ----------
    values
        What is graded.
    nodes
        The values of nodes of these metrics, as far as there are any.
    calibrated, calibrated_nodes
        The same metrics of the calibrated adversary, in some or all of the cases.
    of
        Whether verdicts come from means ("means" and "both") or from values of nodes, where there are any ("nodes").
        Suites are of means always: what a product of one node's values would be is not kept.
    level
        A test is significant where its p value is below this.
    strict
        Whether a change in the wrong direction counts against a metric even where it is not significant.
    suites
        Suites of your own, beside those of Zhao and Wagner (as far as their metrics are there).
    needs
        What suites must tell that the search tries: "chance", "level", "resources" or "aspects" (see
        :mod:`unveil.grades.needs`). The best metrics here then include one for each, if there is any.
    rng
        Where the search for better suites, and its folds, begin.

    Raises
    ------
    InputError
        If the level is not between 0 and 1, or two suites have the same name, or one has a metric that is not there.

    Examples
    --------
    Two metrics in one case: one falls with each stronger attacker as it should, the other one never changes. One case
    is too few to trust the first of them elsewhere.

    >>> from unveil.grades.replicated_metrics import GradedCase
    >>> case = GradedCase("mail", "id-removal", "NS", "overlap")
    >>> levels = np.arange(6.0)[:, None] + np.linspace(0, 0.1, 8)
    >>> values = ReplicatedMetrics(cases=(case,), metrics=("entropy", "min_entropy"), levels=(tuple(range(6)),),
    ...                     values=np.stack([9 - levels, np.ones((6, 8))])[None], rising=np.array([False, False]))
    >>> for each in grade(values, rng=np.random.default_rng(1)).metrics:
    ...     print(each.metric, round(each.monotonicity.mean, 3), each.undecided, "->", each.verdict)
    entropy 1.0 0.0 -> with care
    min_entropy 0.667 1.0 -> do not rank by it
    """
    chosen, left_out = available(values.metrics, suites)
    of_nodes = None if nodes is None or of == "means" else Reading.of(nodes.scores(level=level, strict=strict))
    whole = Reading.of(_chosen(Scores.of(values, level=level, strict=strict), of_nodes, of))
    groups = groups_of(values.cases)
    suite_scores = Scores.of(suite_values(values, chosen), level=level, strict=strict) if chosen else None
    ranked = rankings(values, chosen) if chosen else None
    graded: tuple[SuiteGrade, ...] = ()
    if suite_scores is not None and ranked is not None:
        graded = tuple(
            sorted(
                _suite_grades(chosen, suite_scores, ranked, sum_rankings(values, chosen), groups),
                key=lambda each: falling(each.whole.mean),
            )
        )
    both, both_nodes = _calibrated(values, nodes, calibrated, calibrated_nodes, of, level=level, strict=strict)
    searches, lacked = _searches(values, whole.metrics, checked_needs(needs), rng)
    return Grades(
        scores=whole.scores,
        metrics=whole.metrics,
        suites=graded,
        suite_scores=suite_scores,
        rankings=ranked,
        searches=searches,
        level=level,
        strict=strict,
        of=of,
        nodes=of_nodes,
        calibrated=both,
        calibrated_nodes=both_nodes,
        left_out=(*left_out, *lacked),
    )


def _chosen(means: Scores, nodes: Reading | None, of: GradedValues) -> Scores:
    return means.with_columns(nodes.scores) if of == "nodes" and nodes is not None else means


def _calibrated(
    values: ReplicatedMetrics,
    nodes: NodeSketches | None,
    calibrated: ReplicatedMetrics | None,
    calibrated_nodes: NodeSketches | None,
    of: GradedValues,
    *,
    level: float,
    strict: bool,
) -> tuple[CalibrationGrades | None, Reading | None]:
    """Return raw and calibrated metrics, and calibrated node values."""
    if calibrated is None:
        return None, None
    names = [name for name in calibrated.metrics if name in values.metrics]
    rows = np.array([values.cases.index(case) for case in calibrated.cases])
    raw, calibrated = values.only(cases=rows, metrics=names), calibrated.only(metrics=names)
    readings: list[Scores] = []
    last: Reading | None = None
    for each, own in ((raw, None if nodes is None else nodes.only(rows)), (calibrated, calibrated_nodes)):
        last = None if own is None or of == "means" else Reading.of(own.scores(level=level, strict=strict))
        readings.append(_chosen(Scores.of(each, level=level, strict=strict), last, of))
    return CalibrationGrades.of(*readings), last


def recommended(grades: Grades) -> tuple[MetricGrade, ...]:
    """Return metrics with mean monotonicity of at least 0.5 (Zhao & Wagner, 7.2).

    That is a weak rule, since a metric that never changes scores 0.667; one that changes nowhere is left out. The
    verdict of each is stricter.
    """
    return tuple(each for each in grades.metrics if each.monotonicity.mean >= LEAST and each.undecided < 1)


def _searches(
    values: ReplicatedMetrics, metrics: Sequence[MetricGrade], needs: tuple[str, ...], rng: np.random.Generator
) -> tuple[dict[str, SuiteSearch], tuple[str, ...]]:
    """Return the searches among the paper's seven metrics and the best seven.

    Also, in sentences, which of them was not made because no suite of its metrics tells what is needed.
    """
    paper = SUITES["S5"].metrics
    best = _best_for(metrics, needs)
    wanted = {PAPER: paper} if set(paper) <= set(values.metrics) else {}
    if len(best) > 1 and set(best) != set(paper):
        wanted[HERE] = best
    found, lacked = {}, []
    # Each has random numbers of its own, so that neither depends on whether the other is there.
    for (name, own), own_rng in zip({PAPER: paper, HERE: best}.items(), rng.spawn(2), strict=True):
        if name not in wanted:
            continue
        missing = lacking(own, needs)
        if missing:
            lacked.append(f"No suite of {name} was sought: none of them tells {', '.join(missing)}.")
        else:
            found[name] = best_suites(values, own, needs=needs, rng=own_rng)
    # Without a case that has two levels there is nothing to search.
    return {name: search for name, search in found.items() if search.cases}, tuple(lacked)


def _best_for(metrics: Sequence[MetricGrade], needs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the best metrics, including the best for each criterion."""
    ranked = sorted(metrics, key=lambda each: ("use", "with care", "do not rank by it", "no grade").index(each.verdict))
    names = [each.metric for each in ranked if each.verdict != "no grade"]
    needed = dict.fromkeys(first for need in needs for first in [n for n in names if not lacking([n], [need])][:1])
    best = [each.metric for each in ranked if each.verdict in ("use", "with care") and each.metric not in needed]
    return tuple(sorted([*needed, *best[: MOST_IN_SEARCH - len(needed)]], key=names.index))


def _suite_grades(
    suites: Sequence[Suite], scores: Scores, ranked: Rankings, sums: SumRankings, groups: IntArray
) -> list[SuiteGrade]:
    turned = {each.name: getattr(sums, each.name) for each in fields(RankReversals)}
    return [
        SuiteGrade(
            suite=suite,
            whole=summarize(ranked.whole[row], groups),
            pairs=summarize(ranked.pairs[row], groups),
            sum_whole=summarize(sums.whole[row], groups),
            sum_pairs=summarize(sums.pairs[row], groups),
            turned=RankReversals(**{name: summarize(each[row], groups).mean for name, each in turned.items()}),
            monotonicity=summarize(scores.monotonicity.score[:, row], groups),
            evenness=summarize(scores.evenness[:, row], groups),
            shared_range=summarize(scores.shared_range[:, row], groups),
        )
        for row, suite in enumerate(suites)
    ]
