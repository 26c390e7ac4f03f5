"""What was found when a released graph was attacked, once or several times, as data."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from unveil._kernels.calibration import Reliability
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks.graph.resemblance import Resemblance
from unveil.guesses import Candidates
from unveil.metrics import EdgeDisclosure, Metric, ValueDisclosure
from unveil.metrics.candidates.matches import Matches
from unveil.questions.graph.histograms import Histogram

#: Probabilities are counted in bars of half a power of ten, from this one up to 1; smaller ones are in the first bar.
LEAST_POWER = -8
BARS_PER_POWER = 2
#: Probabilities of the true node are counted in so many bars from 0 to 1.
TRUTH_BARS = 20
#: What claims are made from: the mapping alone, probabilities that the attack left, or learned ones.
ClaimSource = Literal["mapping", "chances", "calibrated"]


@dataclass(frozen=True, kw_only=True)
class Repetition:
    """One release, one adversary and one attack.

    ``seeds`` are the nodes that the adversary knew, ``unknown`` others of which the truth says nothing; both are no
    targets, and ``matches`` leaves them out. ``at_random`` is how many matches would be right if each attempted node
    were given any auxiliary node that is no seed; ``most`` how many any adversary finds on average at the most, because
    nodes with the same neighbours cannot be told apart.
    """

    released_nodes: int
    released_edges: int
    auxiliary_nodes: int
    auxiliary_edges: int
    seeds: int
    matches: Matches
    at_random: float
    most: float
    unknown: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class AveragedMetric:
    """The mean of one metric over all repetitions, with its 95 % confidence interval.

    ``values`` has one value per repetition (a metric of nodes has its mean over the nodes). Repetitions without a value
    are counted as ``undefined``, and ``why`` says why; with fewer than two values ``low`` and ``high`` are NaN.
    ``at_cap`` is the share of nodes at the cap of a metric that has one, the mean over the repetitions; else NaN.
    """

    metric: Metric
    values: FloatArray
    mean: float
    low: float
    high: float
    undefined: int
    why: str
    at_cap: float = np.nan

    @property
    def agree(self) -> bool:
        """Whether all repetitions with a value have the same one, so that the interval has no width."""
        return bool(self.low == self.high)


@dataclass(frozen=True, kw_only=True)
class CutOff:
    """What is left of the adversary's doubt when probabilities below ``least`` are not counted.

    ``entropy`` is the mean over the attempted nodes, ``low`` and ``high`` are the 5 % and 95 % quantiles over them, in
    bits; the other two are shares of all candidates with a probability, and of all probability. Each is averaged over
    the repetitions.
    """

    least: float
    entropy: float
    low: float
    high: float
    candidates_left_out: float
    probability_left_out: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Nodes:
    """Each released node of the first repetition that stands for somebody and was not known before.

    Those with the most connections come first. ``probability`` is what the adversary gave to the true node, NaN where
    the node was not attempted; ``right`` is the chance that the adversary's choice is the true node.
    """

    degree: IntArray
    probability: FloatArray
    right: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibratedFindings:
    """What the same attacks find with probabilities that the attacker calibrated, in one of two ways (``how``).

    ``metrics`` are in the order of the raw ones. ``labels`` choices were learned from (mean over the repetitions), the
    share ``labels_right`` of them; ``attempted_there`` is the share of nodes that was attempted in the experiment and
    ``attempted_here`` in the attack. ``expected_success`` is the share of nodes that the adversary expects to have
    found: the mean over all nodes of the chance of its choice. ``error_by_chance`` is the calibration error that
    learned chances would have with so few attempts if they were just what they say. ``raw`` and ``learned`` are the
    groups of attempts, over all repetitions, whose stated chances are compared with what came true.
    """

    how: str
    metrics: tuple[AveragedMetric, ...]
    #: How learned probabilities are spread, over all nodes.
    histogram: Histogram
    labels: float
    labels_right: float
    attempted_there: float
    attempted_here: float
    expected_success: float
    error_by_chance: float
    raw: Reliability
    learned: Reliability

    def metric(self, name: str) -> AveragedMetric:
        """Return the metric with this name."""
        return next(each for each in self.metrics if each.metric.name == name)


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedEdges:
    """What claims about edges are worth over all repetitions, in one way of making them.

    The averages have the interval over the repetitions; with a single one, that of claims which share nodes.
    ``original_share`` is the share of released edges that are original as the adversary knows it, None where the
    protection does not tell (then it takes all for original); it matters to chances alone.
    """

    way: ClaimSource
    each: tuple[EdgeDisclosure, ...]
    precision: AveragedMetric
    recall: AveragedMetric
    guessing: AveragedMetric
    lift: AveragedMetric
    original_share: float | None

    def mean(self, of: Callable[[EdgeDisclosure], float]) -> float:
        """Return the mean of a figure over the repetitions that have it, as a whole number where it is one."""
        known = [value for value in map(of, self.each) if not np.isnan(value)]
        return whole(float(np.mean(known))) if known else np.nan

    @property
    def guessed_by(self) -> str:
        """By what guessing from the auxiliary graph alone was right more often."""
        common = self.mean(lambda each: each.by_common_neighbours)
        degrees = self.mean(lambda each: each.by_degrees)
        return "common neighbours" if common > degrees else "degrees"


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedValue:
    """How one value of a column fares: how many people have it, and how often it is told and guessed rightly.

    Means over the repetitions in which somebody has it; ``low`` and ``high`` are the ends of the interval of the gain.
    """

    label: str
    people: float
    accuracy: float
    guessing: float
    gain: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedColumn:
    """What claims about the values of one column are worth over all repetitions, in one way of making them.

    ``values`` are by falling number of people, so that the rarest comes last.
    """

    column: str
    way: ClaimSource
    each: tuple[ValueDisclosure, ...]
    accuracy: AveragedMetric
    guessing: AveragedMetric
    gain: AveragedMetric
    values: tuple[LearnedValue, ...]

    def mean(self, of: Callable[[ValueDisclosure], float]) -> float:
        """Return the mean of a figure over the repetitions, as a whole number where it is one."""
        return whole(float(np.mean([of(each) for each in self.each])))


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphFindings:
    """What an adversary finds in a released graph.

    ``graph`` has the nodes and edges of the original, None where it is not known because the release was made
    elsewhere; then there is neither ``protect`` nor ``overlap`` nor ``node_share``, the share of original nodes that
    the adversary has heard of. ``given_seeds`` says whether seed pairs were given rather than drawn, ``chunk`` how
    many nodes the attack compares at a time (None for all), ``paired_by_rank`` that released nodes are nobody's and
    were paired with originals by the rank of their degrees. ``truth_counts`` counts attempted nodes by the probability
    of the true node, ``candidate_counts`` and ``candidate_mass`` candidates and their probability by powers of ten,
    all over every repetition. The settings are all that there are, those that were left as they are included.

    ``calibrated`` has the metrics of learned probabilities, None where that was not asked for. ``resemblance`` says
    whether the auxiliary graph looks like one of the released graph, None where that was not looked at.

    ``edges`` is what is learned about edges, first by the mapping, then by probabilities where there are such; empty
    where the original is not known. ``columns`` is what is learned about each column of values, the mapping first.
    ``drawn_anew`` says that edges of the release were drawn from a model, and none was taken over.

    ``guess`` and ``truth`` are those of the first repetition, without the nodes that the adversary knew before, for
    metrics of your own. ``notes`` say what a reader has to know.
    """

    graph: tuple[int, int] | None
    protect: str | None
    attack: str
    scope: Literal["local", "global"] | None
    chunk: int | None
    overlap: float | None
    node_share: float | None = None
    connected: bool
    given_seeds: bool
    paired_by_rank: bool
    repetitions: tuple[Repetition, ...]
    metrics: tuple[AveragedMetric, ...]
    cut_offs: tuple[CutOff, ...]
    nodes: Nodes
    truth_counts: IntArray
    candidate_counts: IntArray
    candidate_mass: FloatArray
    #: The same probabilities in a hundred bins of equal width.
    histogram: Histogram
    attack_settings: Mapping[str, str] = field(default_factory=dict)
    protect_settings: Mapping[str, str] = field(default_factory=dict)
    guess: Candidates = field(repr=False)
    truth: IntArray = field(repr=False)
    calibrated: CalibratedFindings | None = None
    edges: tuple[LearnedEdges, ...] = ()
    columns: tuple[LearnedColumn, ...] = ()
    drawn_anew: bool = False
    resemblance: Resemblance | None = None
    notes: tuple[str, ...] = ()

    def mean(self, of: Callable[[Repetition], float]) -> float:
        """Return the mean of a figure over the repetitions, as a whole number where it is one."""
        return whole(float(np.mean([of(each) for each in self.repetitions])))

    def mean_share(self, part: Callable[[Repetition], float], whole: Callable[[Repetition], float]) -> float:
        """Return the mean over the repetitions of a share, NaN where none has a whole that is not 0."""
        shares = [part(each) / whole(each) for each in self.repetitions if whole(each)]
        return float(np.mean(shares)) if shares else np.nan

    @property
    def bound(self) -> float:
        """The share of nodes that any adversary finds on average at the most; NaN where no node stands for somebody."""
        return self.mean_share(lambda each: each.most, lambda each: each.matches.somebody)

    @property
    def share_of_bound(self) -> float:
        """How much was found of what any adversary can find on average; NaN where nothing can be."""
        most = float(np.mean([each.most for each in self.repetitions]))
        return float(np.mean([each.matches.correct for each in self.repetitions])) / most if most else np.nan

    def metric(self, name: str) -> AveragedMetric:
        """Return the metric with this name."""
        return next(each for each in self.metrics if each.metric.name == name)

    @property
    def false_alarms(self) -> float:
        """The share of released nodes that stand for nobody whom the adversary named somebody for; NaN without any."""
        return self.mean_share(lambda each: each.matches.nobody_attempted, lambda each: each.matches.nobody)

    @property
    def repeated(self) -> bool:
        """Whether there is more than one repetition, and so an interval."""
        return len(self.repetitions) > 1


def whole(value: float) -> float:
    """Return a number as an int where it has no decimals, so that counts are printed as counts.

    >>> whole(3.0), whole(3.5)
    (3, 3.5)
    """
    return int(value) if value == np.floor(value) else value


def of_nodes(sentence: str) -> str:
    """Return a sentence about targets as one about nodes.

    >>> of_nodes("The Shannon entropy of each target's candidates; targets have several.")
    "The Shannon entropy of each node's candidates; nodes have several."
    """
    return re.sub(r"\btarget(s?)\b", r"node\1", sentence)


def averaged(metric: Metric, values: Sequence[float], why: Sequence[str]) -> AveragedMetric:
    """Return the mean over repetitions with the 95 % interval of Student's t, cut where the metric's range ends.

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
