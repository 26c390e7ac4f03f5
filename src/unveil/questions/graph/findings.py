"""What was found when a released graph was attacked, once or several times, as data."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, ClassVar, Literal

import numpy as np

from unveil._figure import NOTES, derived, figure, figure_at, version_figure
from unveil._kernels.calibration import Reliability
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks.graph.resemblance import Resemblance
from unveil.guesses import Candidates
from unveil.metrics import EdgeDisclosure, Metric, ValueDisclosure
from unveil.metrics.candidates.matches import Matches
from unveil.metrics.trials.groups import MINIMUM
from unveil.report.text import name
from unveil.report.trust import AT_CAP, TRUST, WHY, trust_of

#: Histograms have this number of bins of equal width.
BINS = 100
#: Probabilities of the true node are counted in so many bars from 0 to 1.
TRUTH_BARS = 20
#: What claims are made from: the mapping alone, probabilities that the attack left, or learned ones.
ClaimSource = Literal["mapping", "chances", "calibrated"]


TARGETS = "How many were attacked."
STAND_FOR_NOBODY = "Released nodes or rows that stand for nobody of the original."
RANDOM_MAPPING = "How many a random mapping would find."
MOST_FOUND = "How many any adversary would find on average at the most."
WAY = "By what: the mapping, or the probabilities."
ACCURACY = "The share of values that are told right."
GUESSING = "The same by guessing."
GAIN = "What the attack adds to guessing."
PEOPLE = "How many people there are."
RELEASED = "How large the released graph is."


@dataclass(frozen=True, kw_only=True, eq=False)
class AveragedMetric:
    """The mean of one metric over all repetitions, with its 95 % confidence interval.

    ``values`` has one value per repetition (a metric of nodes has its mean over the nodes). Repetitions without a value
    are counted as ``undefined``, and ``why`` says why; with fewer than two values ``low`` and ``high`` are NaN.
    ``at_cap`` is the share of nodes at the cap of a metric that has one, the mean over the repetitions; else NaN.
    """

    JSON_DEFINITION: ClassVar[str] = "interval"

    metric: Metric
    values: FloatArray
    mean: float = figure("The mean over the repetitions.")
    low: float = figure("The lower end of the 95 % interval.")
    high: float = figure("The upper end of the 95 % interval.")
    undefined: int
    why: str
    at_cap: float = np.nan

    @property
    def agree(self) -> bool:
        """Whether all repetitions with a value have the same one, so that the interval has no width."""
        return bool(self.low == self.high)


@dataclass(frozen=True)
class AverageRow:
    """One metric with the facts of its listing and its mean over the repetitions."""

    average: AveragedMetric

    name = figure_at("average.metric.name")
    category = figure_at("average.metric.category")
    per = figure_at("average.metric.per")
    more_means = figure_at("average.metric.more_means")
    mean = figure_at("average.mean")
    low = figure_at(
        "average.low", "The lower end of the 95 % interval of the mean; null where there is one repetition."
    )
    high = figure_at(
        "average.high", "The upper end of the 95 % interval of the mean; null where there is one repetition."
    )
    undefined = figure_at("average.undefined", "How many repetitions have no value.")
    why = figure_at("average.why", WHY)
    at_cap = figure_at("average.at_cap", AT_CAP)


@dataclass(frozen=True)
class GradedAverageRow(AverageRow):
    """The same with the grade of the metric in attacks on graphs."""

    @derived(TRUST)
    def trust(self) -> Mapping[str, str | None]:
        """The grade of the metric."""
        return trust_of(self.average.metric.name, ["graphs"])


def mean_figure(path: str, meaning: str, **facts: Any) -> Any:
    """Return a property that is the mean of a figure over the repetitions."""

    def mean(findings: Any) -> float:
        value: float = findings.mean(attrgetter(path))
        return value

    return derived(meaning, **facts)(mean)


def whole(value: float) -> float:
    """Return a number as an int where it has no decimals, so that counts are printed as counts.

    >>> whole(3.0), whole(3.5)
    (3, 3.5)
    """
    return int(value) if value == np.floor(value) else value


@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram:
    """How many probabilities lie in each of the bins from 0 to 1, over all nodes that were attempted.

    ``every`` counts candidates with a probability above 0, those too that share what is left without being listed.
    """

    JSON_DEFINITION: ClassVar[str] = "histogram"

    every: FloatArray = figure(
        "How many candidates lie in each of a hundred bins of probability from 0 to 1, of all targets that were "
        "attempted."
    )
    likeliest: FloatArray = figure("How many targets have their likeliest candidate in each of these bins.")


@dataclass(frozen=True)
class MeanGraphSize:
    """The size of a graph, on average over repetitions."""

    JSON_DEFINITION: ClassVar[str] = "size"

    nodes: float = figure("How many nodes there are, on average.")
    edges: float = figure("How many edges there are, on average.")


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
    unknown: int = 0

    @derived(RELEASED)
    def released(self) -> MeanGraphSize:
        """The size of the released graph."""
        return MeanGraphSize(self.released_nodes, self.released_edges)

    targets = figure_at("matches.targets", TARGETS)
    stand_for_nobody = figure_at("matches.nobody", STAND_FOR_NOBODY)
    attempted = figure_at("matches.attempted")
    correct = figure_at("matches.correct")
    at_random: float = figure(RANDOM_MAPPING, name="correct_by_random_mapping")
    most: float = figure(MOST_FOUND, name="most_found_on_average")


@dataclass(frozen=True, kw_only=True)
class CutOff:
    """What is left of the adversary's doubt when small probabilities are not counted.

    Each figure is averaged over the repetitions.
    """

    least: float = figure("The least probability that counts.")
    entropy: float = figure("The mean entropy of a target with that cut-off, in bits.")
    low: float = figure("The 5 % quantile of the entropy over targets.")
    high: float = figure("The 95 % quantile of the entropy over targets.")
    candidates_left_out: float = figure("The share of candidates left out.")
    probability_left_out: float = figure("The probability left out.")


@dataclass(frozen=True, kw_only=True, eq=False)
class Nodes:
    """Each released node of the first repetition that stands for somebody and was not known before.

    Those with the most connections come first. ``probability`` is what the adversary gave to the true node, NaN where
    the node was not attempted; ``right`` is the chance that the adversary's choice is the true node.
    """

    degree: IntArray
    probability: FloatArray
    right: FloatArray


@dataclass(frozen=True)
class ReliabilityGroup:
    """Answers of which the adversary is about as sure."""

    JSON_DEFINITION: ClassVar[str] = "reliability"

    stated: float = figure("How sure the adversary is.")
    right: float = figure("How often that is right.")
    attempts: int = figure("Of how many answers.")


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibratedFindings:
    """What the same attacks find with probabilities that the attacker calibrated.

    ``metrics`` are in the order of the raw ones. ``raw`` and ``learned`` are the groups of attempts, over all
    repetitions, whose stated chances are compared with what came true.
    """

    GROUPS: ClassVar[Mapping[str, str]] = {"reliability": "How often answers are right, by how sure the adversary is."}

    metrics: tuple[AveragedMetric, ...]
    raw: Reliability
    learned: Reliability
    how: str = figure("How probabilities were learned.")
    labels: float = figure("From how many answers they were learned.")
    labels_right: float = figure("The share of these that were right.")
    attempted_there: float = figure("The share attempted where they were learned.")
    attempted_here: float = figure("The share attempted here.")
    expected_success: float = figure("The success that learned probabilities expect.")
    error_by_chance: float = figure(
        "How far off probabilities would be by chance alone.", name="calibration_error_by_chance"
    )

    @derived(
        "The same for the raw scores of the attack, from the least sure answers to the surest.", name="reliability.raw"
    )
    def raw_groups(self) -> tuple[ReliabilityGroup, ...]:
        """The groups by the raw scores."""
        return _groups(self.raw)

    @derived(
        "The same for the learned probabilities, from the least sure answers to the surest.",
        name="reliability.calibrated",
    )
    def learned_groups(self) -> tuple[ReliabilityGroup, ...]:
        """The groups by the learned probabilities."""
        return _groups(self.learned)

    @derived("One entry for each metric.", name="metrics")
    def metric_rows(self) -> tuple[AverageRow, ...]:
        """The metrics with the facts of their listing."""
        return tuple(map(AverageRow, self.metrics))

    histogram: Histogram = figure("How learned probabilities are spread, over all nodes.")

    def metric(self, name: str) -> AveragedMetric:
        """Return the metric with this name."""
        return next(each for each in self.metrics if each.metric.name == name)


def _groups(groups: Reliability) -> tuple[ReliabilityGroup, ...]:
    return tuple(map(ReliabilityGroup, *(each.tolist() for each in groups)))


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedEdges:
    """What claims about edges are worth over all repetitions, in one way of making them.

    The averages have the interval over the repetitions; with a single one, that of claims which share nodes. Where
    ``original_share`` is None, the adversary takes all edges for original; it matters to chances alone.
    """

    each: tuple[EdgeDisclosure, ...]
    way: ClaimSource = figure(WAY)
    precision: AveragedMetric = figure("The share of claimed edges that are true.")
    recall: AveragedMetric = figure("The share of hidden edges that are claimed.")
    guessing: AveragedMetric = figure(GUESSING)
    lift: AveragedMetric = figure("How many times better than guessing.")
    original_share: float | None = figure(
        "The share of released edges that are original, by the protection; null where it does not say."
    )
    claims = mean_figure("claims", "How many edges are claimed.")
    right = mean_figure("right", "How many of these are true.")
    hidden = mean_figure("hidden", "How many edges the adversary did not know.")
    by_common_neighbours = mean_figure("by_common_neighbours", "The share that would be right by common neighbours.")
    by_degrees = mean_figure("by_degrees", "The share that would be right by degrees.")
    expected = mean_figure("expected", "The share expected to be right; null where there are no probabilities.")
    people_with_hidden_edges = mean_figure("people", "People with an edge that was not known.")
    with_some_learned = mean_figure("some", "Those of whom some are learned.")
    with_all_learned = mean_figure("all_of", "Those of whom all are learned.")
    learned_per_person = mean_figure("mean", "The mean number learned per person with a hidden edge.")
    learned_of_worst_1_percent = mean_figure("worst", "The fewest learned of the worst one in a hundred.")

    def mean(self, of: Callable[[EdgeDisclosure], float]) -> float:
        """Return the mean of a figure over the repetitions that have it, as a whole number where it is one."""
        known = [value for value in map(of, self.each) if not np.isnan(value)]
        return whole(float(np.mean(known))) if known else np.nan

    @property
    def guessed_by(self) -> str:
        """By what guessing from the auxiliary graph alone was right more often."""
        return "common neighbours" if self.by_common_neighbours > self.by_degrees else "degrees"


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedValue:
    """How one value of a column fares: how many people have it, and how often it is told and guessed rightly.

    Means over the repetitions in which somebody has it; ``low`` and ``high`` are the ends of the interval of the gain.
    """

    label: str

    @derived("The value, or how it is called where it must not be told.", name="label")
    def shown_label(self) -> str:
        """The label, unless few people have it."""
        return name(self.label, 40) if self.people >= MINIMUM else f"a value of fewer than {MINIMUM}"

    people: float = figure(PEOPLE, counts="people")
    accuracy: float = figure(ACCURACY)
    guessing: float = figure(GUESSING)
    gain: float = figure(GAIN)
    low: float = figure("The lower end of the interval.")
    high: float = figure("The upper end of the interval.")


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedColumn:
    """What claims about the values of one column are worth over all repetitions, in one way of making them.

    ``values`` are by falling number of people, so that the rarest comes last.
    """

    each: tuple[ValueDisclosure, ...]
    column: str = figure("The column that this is about.")
    way: ClaimSource = figure(WAY)
    people = mean_figure("people", PEOPLE, counts="people")
    read_off_the_release = mean_figure("read", "People whose value is in the release itself.", counts="people")
    accuracy: AveragedMetric = figure(ACCURACY)
    guessing: AveragedMetric = figure(GUESSING)
    gain: AveragedMetric = figure(GAIN)
    values: tuple[LearnedValue, ...] = figure("One entry for each value.")

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
    of the true node, over every repetition. The settings are all that there are, those left as they are included.

    ``calibrated`` has the metrics of learned probabilities, None where that was not asked for. ``resemblance`` says
    whether the auxiliary graph looks like one of the released graph, None where that was not looked at.

    ``edges`` is what is learned about edges, first by the mapping, then by probabilities where there are such; empty
    where the original is not known. ``columns`` is what is learned about each column of values, the mapping first.
    ``drawn_anew`` says that edges of the release were drawn from a model, and none was taken over.

    ``guess`` and ``truth`` are those of the first repetition, without the nodes that the adversary knew before, for
    metrics of your own. ``notes`` say what a reader has to know.
    """

    GROUPS: ClassVar[Mapping[str, str]] = {"settings": "Every setting, as it is written."}

    graph: tuple[int, int] | None
    chunk: int | None
    given_seeds: bool
    paired_by_rank: bool
    metrics: tuple[AveragedMetric, ...]
    nodes: Nodes
    truth_counts: IntArray
    guess: Candidates = field(repr=False)
    truth: IntArray = field(repr=False)
    drawn_anew: bool = False

    version = version_figure()

    @derived("How large the original graph is; null where it is not known.", name="graph")
    def original_size(self) -> MeanGraphSize | None:
        """The size of the original graph."""
        return None if self.graph is None else MeanGraphSize(*self.graph)

    protect: str | None = figure("The protection as it is written in commands; null where the release was given.")
    attack: str = figure("The attack, as it is written in commands.")
    protect_settings: Mapping[str, str] = figure(
        "Those of the protection.", name="settings.protect", default_factory=dict
    )
    attack_settings: Mapping[str, str] = figure("Those of the attack.", name="settings.attack", default_factory=dict)
    scope: Literal["local", "global"] | None = figure(
        "Whether the attack grows from the nodes it knows (local) or compares all nodes (global); null where it does "
        "not say."
    )

    @derived(RELEASED)
    def released(self) -> MeanGraphSize:
        """The mean size of the released graphs."""
        return MeanGraphSize(self.mean(attrgetter("released_nodes")), self.mean(attrgetter("released_edges")))

    @derived("How large the graph is that the adversary knows.")
    def auxiliary(self) -> MeanGraphSize:
        """The mean size of the auxiliary graphs."""
        return MeanGraphSize(self.mean(attrgetter("auxiliary_nodes")), self.mean(attrgetter("auxiliary_edges")))

    seed_pairs = mean_figure("seeds", "How many people the adversary knows beforehand.", counts="people")
    overlap: float | None = figure(
        "The share of edges that the adversary knows; null where the auxiliary graph was given."
    )
    node_share: float | None = figure(
        "The share of nodes that the adversary knows; null where the auxiliary graph was given.", default=None
    )
    connected: bool = figure("Whether what the adversary knows hangs together.")

    @derived("How often all was repeated.")
    def repeat(self) -> int:
        """The number of repetitions."""
        return len(self.repetitions)

    targets = mean_figure("matches.targets", "How many released nodes are attacked.")
    stand_for_nobody = mean_figure("matches.nobody", STAND_FOR_NOBODY)
    truth_unknown = mean_figure("unknown", "Released nodes of which nobody knows who they are.")
    attempted = mean_figure("matches.attempted", "How many of them the attack gave an answer for.")
    correct = mean_figure("matches.correct", "How many are found, ties counted by lot.", counts="people")

    @derived("The share of nodes that stand for nobody and were given somebody; null where there are none.")
    def false_alarms(self) -> float:
        """The share of released nodes that stand for nobody whom the adversary named somebody for; NaN without any."""
        return self.mean_share(lambda each: each.matches.nobody_attempted, lambda each: each.matches.nobody)

    correct_by_chance = mean_figure("matches.by_chance", "How many blind chance would find.")
    correct_by_random_mapping = mean_figure("at_random", RANDOM_MAPPING)
    most_found_on_average = mean_figure("most", MOST_FOUND)

    @derived("The same as a share of nodes.", name="deanonymizability_bound")
    def bound(self) -> float:
        """The share of nodes that any adversary finds on average at the most; NaN where no node stands for somebody."""
        return self.mean_share(lambda each: each.most, lambda each: each.matches.somebody)

    @derived("How much of that bound was reached; a single draw may lie above 1.")
    def share_of_bound(self) -> float:
        """How much was found of what any adversary can find on average; NaN where nothing can be."""
        most = float(np.mean([each.most for each in self.repetitions]))
        return float(np.mean([each.matches.correct for each in self.repetitions])) / most if most else np.nan

    truth_not_considered = mean_figure(
        "matches.not_considered", "Targets whose true candidate the attack did not even consider."
    )

    @derived("One entry for each metric.", name="metrics")
    def metric_rows(self) -> tuple[GradedAverageRow, ...]:
        """The metrics with the facts of their listing and their grades."""
        return tuple(map(GradedAverageRow, self.metrics))

    calibrated: CalibratedFindings | None = figure(
        "Every metric again, of learned probabilities; null where that was not asked for.",
        name="calibration",
        default=None,
    )
    edges: tuple[LearnedEdges, ...] = figure(
        "What is learned about edges; empty where the original is not known.", default=()
    )
    columns: tuple[LearnedColumn, ...] = figure(
        "What is learned about columns of values.", name="attributes", default=()
    )
    resemblance: Resemblance | None = figure(
        "Whether the auxiliary graph looks like one of the released graph; null where that was not looked at.",
        default=None,
    )
    cut_offs: tuple[CutOff, ...] = figure(
        "How entropy depends on which small probabilities are left out.", name="entropy_cut_offs"
    )
    histogram: Histogram = figure("How many candidates have which probability.")
    repetitions: tuple[Repetition, ...] = figure("The counts of each repetition.")
    notes: tuple[str, ...] = figure(NOTES, default=())

    def mean(self, of: Callable[[Repetition], float]) -> float:
        """Return the mean of a figure over the repetitions, as a whole number where it is one."""
        return whole(float(np.mean([of(each) for each in self.repetitions])))

    def mean_share(self, part: Callable[[Repetition], float], whole: Callable[[Repetition], float]) -> float:
        """Return the mean over the repetitions of a share, NaN where none has a whole that is not 0."""
        shares = [part(each) / whole(each) for each in self.repetitions if whole(each)]
        return float(np.mean(shares)) if shares else np.nan

    def metric(self, name: str) -> AveragedMetric:
        """Return the metric with this name."""
        return next(each for each in self.metrics if each.metric.name == name)

    @property
    def repeated(self) -> bool:
        """Whether there is more than one repetition, and so an interval."""
        return len(self.repetitions) > 1


def of_nodes(sentence: str) -> str:
    """Return a sentence about targets as one about nodes.

    >>> of_nodes("The Shannon entropy of each target's candidates; targets have several.")
    "The Shannon entropy of each node's candidates; nodes have several."
    """
    return re.sub(r"\btarget(s?)\b", r"node\1", sentence)
