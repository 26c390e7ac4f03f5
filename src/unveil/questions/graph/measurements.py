"""Measure one guess about a released graph: all metrics and histograms."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from unveil._kernels.calibration import error_by_chance, reliability
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks import GraphAttack
from unveil.data.graph import Graph
from unveil.data.graph.files import UNKNOWN
from unveil.data.graph.release import NOBODY, GraphKnowledge
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.metrics import Metric, all_metrics, quantiles_on_entropy
from unveil.metrics.candidates._truth import choice_probability, correct
from unveil.metrics.candidates.matches import matches
from unveil.questions.graph.findings import (
    BINS,
    TRUTH_BARS,
    AveragedMetric,
    CalibratedFindings,
    CutOff,
    Histogram,
    Nodes,
    Repetition,
)

#: The probabilities below which the paper cuts off, and none at all first.
CUT_OFFS = (0.0, 0.0001, 0.001, 0.01)
_NOTHING = "no target was attempted"


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurements:
    """Results of one repetition, without the guess itself."""

    repetition: Repetition
    values: tuple[float, ...]
    why: tuple[str, ...]
    at_cap: tuple[float, ...]
    cut_offs: tuple[CutOff, ...]
    truth_counts: IntArray
    histogram: Histogram


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibratedMeasurements:
    """What is kept of the calibrated guess of one repetition.

    ``stated`` has what was said of each attempt, raw and learned, and ``right`` whether it was right.
    """

    values: tuple[float, ...]
    why: tuple[str, ...]
    at_cap: tuple[float, ...]
    histogram: Histogram
    facts: Mapping[str, float]
    expected_success: float
    error_by_chance: float
    stated: tuple[FloatArray, FloatArray]
    right: FloatArray


def run_attack(
    attack: GraphAttack, released: Graph, knowledge: GraphKnowledge, truth: IntArray, rng: np.random.Generator
) -> tuple[Candidates, IntArray, IntArray]:
    """Return the guess, the truth of the nodes that count, and their numbers.

    Those that the adversary knew do not count, nor those of which the truth is not known.
    """
    guess = attack.run(released=released, knowledge=knowledge, rng=rng)
    if not isinstance(guess, Candidates) or guess.target_count != released.nodes:
        raise InputError(
            f"Attack {type(attack).__name__} does not return Candidates with one target for each of the "
            f"{released.nodes} released nodes. Correct its method run"
        )
    targets = knowledge.targets(released)
    if targets.size == 0:
        raise InputError(f"All {released.nodes} released nodes are in seed pairs. Give fewer seed pairs")
    targets = targets[truth[targets] != UNKNOWN]
    if targets.size == 0:
        raise InputError(
            "The true matches name no released node outside the seed pairs. Add rows, or give fewer seed pairs"
        )
    return guess, truth[targets], targets


def measure(
    guess: Candidates, truth: IntArray, released: Graph, knowledge: GraphKnowledge, *, at_most: float, unknown: int = 0
) -> Measurements:
    """Return all metrics of a guess, and its histograms.

    ``at_most`` is how many can be found on average, whatever the attack.
    """
    measured, found = all_metrics(guess, truth), matches(guess, truth)
    likely = next(each.values for each in measured if each.metric.name == "incorrectness")
    kept = np.repeat(guess.attempted, guess.considered)
    probability = guess.probability[kept]
    probability = probability[probability > 0]
    return Measurements(
        repetition=Repetition(
            released_nodes=released.nodes,
            released_edges=released.edges,
            auxiliary_nodes=knowledge.auxiliary.nodes,
            auxiliary_edges=knowledge.auxiliary.edges,
            seeds=len(knowledge.seeds),
            unknown=unknown,
            matches=found,
            at_random=_at_random(guess, truth, knowledge),
            most=at_most,
        ),
        values=tuple(each.mean for each in measured),
        why=tuple(each.why for each in measured),
        at_cap=tuple(each.at_cap for each in measured),
        cut_offs=tuple(_cut_off(guess, probability, least) for least in CUT_OFFS),
        truth_counts=_counted(1 - likely[~np.isnan(likely)]),
        histogram=histogram_of(guess),
    )


def measure_calibrated(
    guess: Candidates, learned: Candidates, truth: IntArray, facts: Mapping[str, float], rng: np.random.Generator
) -> CalibratedMeasurements:
    """Return all metrics of a guess with raw and calibrated probabilities.

    ``rng`` draws what would come true if learned chances were just what they say.
    """
    measured, tried = all_metrics(learned, truth), guess.attempted
    raw, stated = choice_probability(guess)[tried], choice_probability(learned)[tried]
    somebody = int((truth != NOBODY).sum())
    return CalibratedMeasurements(
        values=tuple(each.mean for each in measured),
        why=tuple(each.why for each in measured),
        at_cap=tuple(each.at_cap for each in measured),
        histogram=histogram_of(learned),
        facts=facts,
        expected_success=float(stated.sum()) / somebody if somebody else np.nan,
        error_by_chance=error_by_chance(stated, rng=rng),
        stated=(raw, stated),
        right=correct(guess, truth)[tried],
    )


def calibrated_of(how: str, every: Sequence[CalibratedMeasurements], raw: Sequence[Measurements]) -> CalibratedFindings:
    """Return what learned probabilities say over all repetitions."""

    def mean(values: Iterable[float]) -> float:
        known = [value for value in values if not np.isnan(value)]
        return float(np.mean(known)) if known else np.nan

    right = np.concatenate([each.right for each in every])
    groups = [reliability(np.concatenate([each.stated[at] for each in every]), right) for at in (0, 1)]
    return CalibratedFindings(
        how=how,
        metrics=averages(every, [each.repetition.matches.attempted == 0 for each in raw]),
        histogram=together([each.histogram for each in every]),
        labels=mean(each.facts["labels"] for each in every),
        labels_correct=mean(each.facts["right"] for each in every),
        attempted_there=mean(each.facts["attempted"] for each in every),
        attempted_here=mean(each.facts["attempted_here"] for each in every),
        expected_success=mean(each.expected_success for each in every),
        error_by_chance=mean(each.error_by_chance for each in every),
        raw=groups[0],
        learned=groups[1],
    )


def nodes_of(guess: Candidates, truth: IntArray, degrees: IntArray) -> Nodes:
    """Return the probability of the true match per node, by degree.

    Nodes with as many connections are in the order of what is believed of them: their numbers decide nothing.
    """
    from unveil.metrics import incorrectness

    somebody = np.flatnonzero(truth != NOBODY)
    probability = 1 - incorrectness(guess, truth)[somebody]
    right, degree = correct(guess, truth)[somebody], degrees[somebody]
    order = np.lexsort((-right, -np.nan_to_num(probability, nan=-1.0), -degree))
    return Nodes(degree=degree[order], probability=probability[order], right=right[order])


def averages(
    every: Sequence[Measurements | CalibratedMeasurements], idle: Sequence[bool]
) -> tuple[AveragedMetric, ...]:
    """Return each metric over all repetitions, in the order of the listing; ``idle`` ones attempted nothing.

    A repetition without an attempt has no rate of attempts: as a 0 it would hide how often attempts are right. Where
    nothing was ever attempted, that nobody was found has no interval either, because it was never put to the test.
    """
    from unveil.metrics import METRICS

    listed = [metric for metric in METRICS.values() if metric.on == "Candidates" and metric.usual]
    made = []
    for at, metric in enumerate(listed):
        values, why = [each.values[at] for each in every], [each.why[at] for each in every]
        if metric.name == "adversary_success_rate":
            values = [np.nan if nothing else value for value, nothing in zip(values, idle, strict=True)]
            why = [_NOTHING if nothing else reason for reason, nothing in zip(why, idle, strict=True)]
        found = averaged(metric, values, why)
        if metric.name == "adversary_overall_success" and all(idle):
            found = replace(found, low=np.nan, high=np.nan)
        made.append(replace(found, at_cap=_mean_of_known([each.at_cap[at] for each in every])))
    return tuple(made)


def cut_offs(every: Sequence[Measurements]) -> tuple[CutOff, ...]:
    """Return what each cut-off leaves, averaged over the repetitions in which anything was attempted."""
    made = []
    for at in range(len(CUT_OFFS)):
        kept: dict[str, Any] = {}
        for field in fields(CutOff):
            kept[field.name] = _mean_of_known([getattr(each.cut_offs[at], field.name) for each in every])
        made.append(CutOff(**kept))
    return tuple(made)


def _mean_of_known(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else np.nan


def _counted(probability: FloatArray) -> IntArray:
    bar = np.clip(np.floor(probability * TRUTH_BARS + 1e-9), 0, TRUTH_BARS - 1).astype(np.int64)
    return np.bincount(bar, minlength=TRUTH_BARS)


def _at_random(guess: Candidates, truth: IntArray, knowledge: GraphKnowledge) -> float:
    """Return the expected number correct for random matches of all attempts."""
    nodes = knowledge.auxiliary.nodes
    left = nodes - len(knowledge.seeds)
    findable = guess.attempted & (truth != NOBODY) & (truth < nodes) & ~np.isin(truth, knowledge.seeds[:, 1])
    return float(findable.sum() / left) if left else 0.0


def _cut_off(guess: Candidates, probability: FloatArray, at_least: float) -> CutOff:
    bits = quantiles_on_entropy(guess, at_least=at_least)
    bits = bits[~np.isnan(bits)]
    if bits.size == 0:
        return CutOff(**dict.fromkeys((each.name for each in fields(CutOff)), np.nan) | {"least": at_least})
    low, high = np.quantile(bits, [0.05, 0.95])
    small = probability[probability < at_least]
    return CutOff(
        least=at_least,
        entropy=float(bits.mean()),
        low=float(low),
        high=float(high),
        candidates_left_out=small.size / probability.size,
        probability_left_out=float(small.sum() / probability.sum()),
    )


def averaged(metric: Metric, values: Sequence[float], why: Sequence[str]) -> AveragedMetric:
    """Return the mean with its 95% CI (Student's t), cut at the metric's range.

    >>> from unveil.metrics import METRICS
    >>> found = averaged(METRICS["entropy"], [1.0, 2.0, 3.0], ["", "", ""])
    >>> found.mean, round(found.low, 3), round(found.high, 3)
    (2.0, 0.0, 4.484)
    """
    from scipy.special import stdtrit

    array = np.asarray(values, np.float64)
    known = array[~np.isnan(array)]
    mean = float(known.mean()) if known.size else np.nan
    low = high = np.nan
    if known.size > 1 and np.ptp(known) == 0:
        # As it is: rounding would give an interval where there is none.
        mean = low = high = float(known[0])
    elif known.size > 1:
        reach = float(stdtrit(known.size - 1, 0.975)) * float(known.std(ddof=1)) / known.size**0.5
        low, high = max(mean - reach, float(metric.bounds[0])), min(mean + reach, float(metric.bounds[1]))
    reasons = dict.fromkeys(each for each, value in zip(why, array, strict=True) if each and np.isnan(value))
    return AveragedMetric(
        metric=metric,
        values=array,
        mean=mean,
        low=low,
        high=high,
        undefined=int(array.size - known.size),
        why="; ".join(reasons),
    )


def histogram_of(guess: Candidates) -> Histogram:
    """Return how the probabilities of a guess are spread.

    >>> found = histogram_of(Candidates.from_matrix([[0.995, 0.005], [0.5, 0.5]]))
    >>> found.every[[0, 50, 99]], found.likeliest[[0, 50, 99]]
    (array([1., 2., 1.]), array([0., 1., 1.]))
    """
    tried = guess.believed
    listed = guess.probability[np.repeat(tried, guess.considered)]
    rest, others = guess.each_other[tried], np.asarray(guess.others[tried], np.float64)
    shared = (rest > 0) & (others > 0)
    every = _binned(listed[listed > 0]) + _binned(rest[shared], others[shared])
    largest = np.maximum(guess.summary.largest[tried], np.where(shared, rest, 0.0))
    return Histogram(every=every, likeliest=_binned(largest))


def _binned(values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    place = np.clip(np.floor(values * BINS + 1e-9), 0, BINS - 1).astype(np.int64)
    return np.bincount(place, weights, BINS).astype(np.float64)


def together(every: Sequence[Histogram]) -> Histogram:
    """Return the histogram of several guesses together."""
    return Histogram(
        every=np.sum([each.every for each in every], axis=0),
        likeliest=np.sum([each.likeliest for each in every], axis=0),
    )
