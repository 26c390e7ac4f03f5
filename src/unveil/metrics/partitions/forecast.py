"""Forecast of the risk slope as an attacker learns more evidence.

The paper merges the cheapest cluster first. That is one future; nothing says that evidence arrives in that order, and
some of it splits clusters. Here evidence is drawn: each piece corrects one thing that the attacker has wrong about
what it holds of the subject.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any, Literal, Unpack

import numpy as np

from unveil._figure import column, derived, figure
from unveil._kernels.partitions import forecast as kernel
from unveil._kernels.partitions.crowds import by_column
from unveil._kernels.types import FloatArray, IntArray
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.metrics.partitions._evaluate import ROUNDING, Policy, beta_point, rank, risk_slope
from unveil.metrics.partitions._mixing import MIXINGS
from unveil.metrics.partitions._tally import Tallies, Tally, tallies
from unveil.metrics.partitions._weights import item_weights
from unveil.metrics.partitions.unlinkability import (
    BREACHED,
    LINKED,
    MIXED,
    RISK_SLOPE,
    UnlinkabilitySettings,
    policy_of,
)
from unveil.metrics.partitions.views import (
    HIGH,
    LOW,
    RISK_SLOPE_HIGH,
    RISK_SLOPE_LOW,
    Range,
    describe,
    finite,
    quantile,
)

#: How the next merge is found: by the items of the subject in a cluster, all alike, the paper's order, or given.
Linkage = Literal["pairs", "any", "cheapest"] | Mapping[tuple[Any, Any], float]
_LINKAGES = {"cheapest": kernel.CHEAPEST, "any": kernel.ANY, "pairs": kernel.PAIRS}

DRAWS = 200
NEXT_BREACH = "Probability that the next piece of evidence is a breach."
EVIDENCE = "Number of pieces of evidence until beta is linked."
#: This many steps of all draws are kept at once; what is longer goes in several rounds.
_STEPS_AT_ONCE = 1 << 22
#: The pieces of evidence of which the curves are kept.
MOST_STEPS = 200


@dataclass(frozen=True, kw_only=True, eq=False)
class Forecast:
    """The futures of some subjects, and of their average.

    Per subject of ``subjects`` (indices): ``risk_slope`` is the mean over futures, nine tenths of which lie from
    ``risk_slope_low`` to ``risk_slope_high``; ``error`` is the standard error of that mean. ``evidence`` and its ends
    are the pieces of evidence until beta is linked. ``next_breach`` is the chance that the very next piece breaches the
    subject, ``breached`` the chance that it is breached without any. Risk slopes are NaN where it always is; an end
    that falls among futures that start breached is NaN.

    The average subject: ``overall`` and ``overall_evidence``, and curves over 0, 1, … pieces of evidence for each
    subject: the mean share ``linked``, the mixed graph, and the share of subjects that are breached by then
    (``breached_after``), with the ends between which nine tenths of the futures lie.
    """

    linkage: str = figure("Rule for the next merge.")
    split: float = figure("Odds of evidence that splits a cluster against evidence that merges two.")
    draws: int = figure("Number of random futures.")

    @derived("Number of subjects in the forecast.", name="subjects")
    def subject_count(self) -> int:
        """The number of subjects."""
        return self.subjects.size

    @derived(NEXT_BREACH, name="next_breach")
    def mean_next_breach(self) -> float:
        """Mean probability over subjects that the next evidence is a breach."""
        return float(self.next_breach.mean())

    subjects: IntArray
    risk_slope: FloatArray = column(RISK_SLOPE)
    risk_slope_low: FloatArray = column(RISK_SLOPE_LOW)
    risk_slope_median: FloatArray = column("Median risk slope; null where it falls among breaches.")
    risk_slope_high: FloatArray = column(RISK_SLOPE_HIGH)
    error: FloatArray = column("Standard error of the mean risk slope.")
    evidence: FloatArray = column(EVIDENCE)
    evidence_low: FloatArray = column("Lower end of the pieces of evidence.")
    evidence_high: FloatArray = column("Upper end of the pieces of evidence.")
    next_breach: FloatArray = column(NEXT_BREACH)
    breached: FloatArray = column(BREACHED)
    overall: Range = figure(RISK_SLOPE, name="risk_slope")
    overall_evidence: Range = figure(EVIDENCE, name="evidence")
    linked: FloatArray = figure(LINKED)
    mixed: FloatArray = figure(MIXED)
    breached_after: FloatArray = figure("Share of subjects breached after 0, 1, … pieces of evidence.")
    breached_after_low: FloatArray = figure("Lower end of this share.")
    breached_after_high: FloatArray = figure("Upper end of this share.")


def forecast(
    guess: Partition | View,
    truth: Partition,
    *,
    rng: np.random.Generator,
    linkage: Linkage = "pairs",
    split: float = 1.0,
    draws: int = DRAWS,
    subjects: Sequence[int] | None = None,
    **settings: Unpack[UnlinkabilitySettings],
) -> Forecast:
    """Return risk slope and evidence to a breach, over random futures.

    The attacker starts from what :func:`unlinkability` starts from, a subject's most relevant cluster, and gets pieces
    of evidence until all of the subject's items are linked. A piece either merges one of the related clusters that are
    left, or splits off the items of one other subject. Each future has a risk slope as the paper defines it, with
    pieces of evidence in the place of merges. Clusters that tie in cost, foreign and missed items are taken at random
    in each future, and draws follow the order of items: no name of a subject or cluster changes a value.

    Parameters
    ----------
    guess, truth
        As in :func:`unlinkability`. Of a view, each future starts from one partition, drawn by its probability.
    rng
        Where evidence is drawn from.
    linkage
        How likely each cluster is the next to be linked. ``"pairs"``: a piece of evidence is about two items that the
        attacker has wrong, all such pairs of what it holds of the subject and another item alike; a cluster is then as
        likely as it has items of the subject. ``"any"``: all related clusters that are left are alike. ``"cheapest"``:
        the paper's order, at random where it ties. Or rates by pairs of clusters of the guess,
        ``{(one, other): rate}``, such as the linkage probabilities of a record linkage; what is not named is never
        linked, and a merged cluster has the sum of the rates of its parts.
    split
        How likely evidence that two items do not belong together is against evidence that two do, per pair (per
        cluster and other subject with ``"any"``). 0 means that nothing is ever split, as in the paper.
    draws
        How many futures are drawn of each subject.
    subjects
        The indices of the subjects to look at; all by default. The average subject is the average of these.
    **settings
        Those of :func:`unlinkability`.

    Examples
    --------
    With the paper's order and nothing split, every future is the paper's, and so is the risk slope:

    >>> truth, guess = Partition.from_labels("ooooo" "xx"), Partition.from_labels("aaabc" "dd")
    >>> rng = np.random.default_rng(1)
    >>> found = forecast(guess, truth, rng=rng, linkage="cheapest", split=0, alpha=1, beta="9/10")
    >>> found.risk_slope.round(4)[0], found.risk_slope_low.round(4)[0], found.evidence[0]
    (np.float64(0.344), np.float64(0.344), np.float64(1.5))
    """
    if draws < 1:
        raise InputError(f"draws is {draws}; a forecast needs at least one. Pass 1 or more")
    if not (isfinite(split) and split >= 0):
        raise InputError(
            "split is not a number from 0 up. Pass the odds of splitting evidence: 0 for none, 1 for equal odds"
        )
    weights, policy = settings.get("weights"), policy_of(truth, settings)
    if split > 0 and weights is not None and item_weights(weights, truth).subject.size:
        raise InputError(
            "a forecast cannot split clusters if subjects have their own weights. Pass split=0, or weights "
            "of items alone"
        )
    chosen = _chosen(subjects, truth)
    # The draws follow the order of items and never that of names, so that new names change no figure.
    place = np.empty(truth.cluster_count, np.int64)
    place[truth.by_first_item] = np.arange(truth.cluster_count)
    drawn_at = np.argsort(place[chosen], kind="stable")
    ordered = truth.numbered_by_items()
    guess = _numbered_by_items(guess, truth)
    counted, own_policy = tallies(guess, ordered, weights), policy.take(truth.by_first_item)
    evidence, now = _evidence(linkage, split, policy, truth), place[chosen][drawn_at]
    parts = [
        _drawn(tally, counted, own_policy, evidence, linkage, guess, now, some, rng)
        for tally, some in zip(counted.guesses, _starts(counted, draws, rng), strict=True)
        if some.size
    ]
    named = linkage if isinstance(linkage, str) else "given"
    return _summary(parts, policy, chosen, drawn_at, linkage=named, split=float(split))


def _numbered_by_items(guess: Partition | View, truth: Partition) -> Partition | View:
    if isinstance(guess, View):
        each = [partition.aligned_to(truth).numbered_by_items() for partition in guess.partitions]
        return View(each, guess.probabilities)
    return guess.aligned_to(truth).numbered_by_items()


def _chosen(subjects: Sequence[int] | None, truth: Partition) -> IntArray:
    chosen = np.arange(truth.cluster_count) if subjects is None else np.asarray(subjects, np.int64)
    if chosen.size == 0 or chosen.min() < 0 or chosen.max() >= truth.cluster_count:
        raise InputError(
            f"subjects are not indices from 0 to {truth.cluster_count - 1}, or empty. Leave them out for all subjects"
        )
    return chosen


def _evidence(linkage: Linkage, split: float, policy: Policy, truth: Partition) -> kernel.EvidenceModel:
    kind = kernel.GIVEN
    if isinstance(linkage, str):
        if linkage not in _LINKAGES:
            raise InputError("Unknown linkage. Use 'pairs', 'any', 'cheapest', or rates by pairs of clusters")
        kind = _LINKAGES[linkage]
    return kernel.EvidenceModel(kind, float(split), MIXINGS.index(policy.mixing), truth.cluster_count)


def _starts(counted: Tallies, draws: int, rng: np.random.Generator) -> list[IntArray]:
    """Return, per tally, the guess from which each of its draws starts."""
    sizes = [tally.table.guesses for tally in counted.guesses]
    if sum(sizes) == 1:
        return [np.zeros(draws, np.int64)]
    chances = np.concatenate([tally.share() for tally in counted.guesses])
    drawn = np.sort(rng.choice(chances.size, draws, p=chances / chances.sum()))
    ends = np.cumsum(sizes)
    return [drawn[(drawn >= end - size) & (drawn < end)] - (end - size) for size, end in zip(sizes, ends, strict=True)]


def _links(linkage: Linkage, guess: Partition | View) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the given rates by column, and the other columns."""
    if isinstance(linkage, str):
        return np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0)
    if isinstance(guess, View):
        if len(guess.partitions) > 1:
            raise InputError(
                "rates by pairs of clusters need one partition, but the guess is a view of several. "
                "Pass a single partition, or 'pairs'"
            )
        guess = guess.partitions[0]
    place = {name: column for column, name in enumerate(guess.clusters.tolist())}
    unknown = sum(one not in place or other not in place or one == other for one, other in linkage)
    rates = np.array([float(rate) for rate in linkage.values()])
    if unknown or not (np.isfinite(rates) & (rates >= 0)).all():
        raise InputError(
            f"{unknown or int((~(np.isfinite(rates) & (rates >= 0))).sum())} of {rates.size} linkage rates are "
            "negative, not numbers, or not for two clusters of the guess. Correct their names or rates, or leave "
            "them out"
        )
    ends = np.array([(place[one], place[other]) for one, other in linkage], np.int64).reshape(-1, 2)
    one, other = np.concatenate([ends, ends[:, ::-1]]).T
    order = np.argsort(one, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(one, minlength=guess.cluster_count))])
    return start, other[order], np.concatenate([rates, rates])[order]


def _drawn(
    tally: Tally,
    counted: Tallies,
    policy: Policy,
    evidence: kernel.EvidenceModel,
    linkage: Linkage,
    guess: Partition | View,
    chosen: IntArray,
    starts: IntArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, ...]:
    """Return random futures: evidence, mixed graph, first step, and graphs."""
    table, order = tally.table, rank(tally, counted, policy.alpha).order
    by = by_column(table.column, table.column_total.size)
    links = _links(linkage, guess)
    cells = kernel.ContingencyCells(
        start=table.row_start,
        order=order,
        column=table.column,
        items=table.count,
        own=tally.own,
        foreign=tally.foreign,
        row_of=table.row,
        column_start=by[0],
        cell_in_column=by[1],
        link_start=links[0],
        link_column=links[1],
        link_rate=links[2],
    )
    whole = policy.wholes(counted)
    shares = kernel.ShareBases(*whole, policy.contamination_desirable, policy.beta.value)
    # Each merge is one piece, and so is each splitting of a person whom a merge brought.
    pieces = np.diff(by[0])[table.column] if evidence.split > 0 else np.ones(table.column.size, np.int64)
    length = int(np.add.reduceat(pieces, table.row_start[:-1]).max()) + 1
    rounds = np.array_split(starts, -(-starts.size * length // _STEPS_AT_ONCE))
    found = [_kept(*kernel.futures(rng, some, chosen, cells, evidence, shares, length), policy) for some in rounds]
    return tuple(np.concatenate([part[k] for part in found]) for k in range(len(found[0])))


def _kept(
    needed: FloatArray, there: FloatArray, reached: IntArray, linked: FloatArray, mixed: FloatArray, policy: Policy
) -> tuple[FloatArray, ...]:
    """Return the graphs kept of some futures, cut after the average breach."""
    subjects = needed.shape[1]
    alpha, beta = policy.overall()
    graphs = [np.clip(np.cumsum(rise, axis=1) / subjects, 0.0, 1.0) for rise in (linked, mixed)]
    points = [_overall_point(one, other, beta) for one, other in zip(*graphs, strict=True)]
    x, y = (np.array([point[k] for point in points]) for k in (0, 1))
    slope = np.where(graphs[0][:, 0] >= beta - ROUNDING, np.nan, risk_slope(alpha, beta, y, x))
    cut = [np.pad(graph, ((0, 0), (0, MOST_STEPS)), mode="edge")[:, :MOST_STEPS] for graph in graphs]
    return needed, there, reached.astype(np.float64), *cut, slope, x


def _overall_point(linked: FloatArray, mixed: FloatArray, beta: float) -> tuple[float, float]:
    if linked[-1] < beta - 1e-9:  # some subjects are never linked, and with them the average one is not
        return np.inf, float(mixed[-1])
    x, y = beta_point(linked, mixed, np.array([beta]))
    return float(x[0]), float(y[0])


def _summary(
    parts: list[tuple[FloatArray, ...]], policy: Policy, chosen: IntArray, drawn_at: IntArray, **evidence: Any
) -> Forecast:
    needed, there, reached, linked, mixed, overall, overall_needed = (
        np.concatenate([part[k] for part in parts]) for k in range(len(parts[0]))
    )
    needed, there, reached = (drawn[:, np.argsort(drawn_at)] for drawn in (needed, there, reached))
    draws = needed.shape[0]
    equal = np.full(draws, 1 / draws)
    alpha, beta = policy.alpha.value[chosen], policy.beta.value[chosen]
    breached = reached == 0
    slopes = np.where(breached, np.nan, risk_slope(alpha, beta, there, needed))
    defined = np.maximum(1, (~breached).sum(axis=0))
    mean = np.where(breached.all(axis=0), np.nan, np.nansum(slopes, axis=0) / defined)
    apart = np.nansum((slopes - mean) ** 2, axis=0) / np.maximum(1, defined - 1)
    steepest = np.where(breached, np.inf, slopes)
    low, median, high = (finite(quantile(steepest, equal, q)) for q in (LOW, Fraction(1, 2), HIGH))
    steps = np.arange(MOST_STEPS)
    by_then = np.array([((reached >= 0) & (reached <= step)).mean(axis=1) for step in steps]).T
    last = _settled(linked, by_then)
    return Forecast(
        **evidence,
        draws=draws,
        subjects=chosen,
        risk_slope=mean,
        risk_slope_low=low,
        risk_slope_median=median,
        risk_slope_high=high,
        error=np.sqrt(apart / defined),
        evidence=needed.mean(axis=0),
        evidence_low=quantile(needed, equal, LOW),
        evidence_high=quantile(needed, equal, HIGH),
        next_breach=(reached == 1).mean(axis=0),
        breached=breached.mean(axis=0),
        overall=describe("risk_slope", overall, equal),
        overall_evidence=describe("evidence", overall_needed, equal),
        linked=linked.mean(axis=0)[:last],
        mixed=mixed.mean(axis=0)[:last],
        breached_after=by_then.mean(axis=0)[:last],
        breached_after_low=quantile(by_then, equal, LOW)[:last],
        breached_after_high=quantile(by_then, equal, HIGH)[:last],
    )


def _settled(linked: FloatArray, by_then: FloatArray) -> int:
    """Return the number of evidence pieces until nothing changes."""
    moves = np.flatnonzero((np.diff(linked, axis=1) > 0).any(axis=0) | (np.diff(by_then, axis=1) > 0).any(axis=0))
    return int(moves[-1]) + 2 if moves.size else 1
