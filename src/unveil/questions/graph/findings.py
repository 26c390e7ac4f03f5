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
from unveil.report.trust import AT_CAP, RELIABILITY_MEANING, WHY, trust_of

#: Histograms have this number of bins of equal width.
BINS = 100
#: Probabilities of the true node are counted in so many bars from 0 to 1.
TRUTH_BARS = 20
#: What claims are made from: the mapping alone, probabilities that the attack left, or learned ones.
ClaimSource = Literal["mapping", "chances", "calibrated"]


TARGETS = "Number of attacked nodes."
WITHOUT_ORIGINAL = "Number of released nodes or rows without an original."
RANDOM_MAPPING = "Expected number that a random mapping re-identifies."
MOST_FOUND = "Largest expected number of correct re-identifications of any attacker."
SOURCE = "Source of the claims: the mapping, or the probabilities."
ACCURACY = "Share of values inferred correctly."
GUESSING = "The same rate for guessing."
GAIN = "Accuracy minus the accuracy of guessing."
PEOPLE = "Number of people."
RELEASED = "Size of the released graph."


@dataclass(frozen=True, kw_only=True, eq=False)
class AveragedMetric:
    """The mean of one metric over all repetitions, with its 95% CI.

    ``values`` has one value per repetition (a metric of nodes has its mean over the nodes). Repetitions without a value
    are counted as ``undefined``, and ``why`` says why; with fewer than two values ``low`` and ``high`` are NaN.
    ``at_cap`` is the share of nodes at the cap of a metric that has one, the mean over the repetitions; else NaN.
    """

    JSON_DEFINITION: ClassVar[str] = "interval"

    metric: Metric
    values: FloatArray
    mean: float = figure("Mean over the repetitions.")
    low: float = figure("Lower end of the 95% CI.")
    high: float = figure("Upper end of the 95% CI.")
    undefined: int
    why: str
    at_cap: float = np.nan

    @property
    def agree(self) -> bool:
        """Whether all repetitions have the same value, so the interval is empty."""
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
    low = figure_at("average.low", "Lower end of the 95% CI of the mean; null with one repetition.")
    high = figure_at("average.high", "Upper end of the 95% CI of the mean; null with one repetition.")
    undefined = figure_at("average.undefined", "Number of repetitions without a value.")
    why = figure_at("average.why", WHY)
    at_cap = figure_at("average.at_cap", AT_CAP)


@dataclass(frozen=True)
class GradedAverageRow(AverageRow):
    """The same with the grade of the metric in attacks on graphs."""

    @derived(RELIABILITY_MEANING)
    def reliability(self) -> Mapping[str, str | None]:
        """Reliability of the metric."""
        return trust_of(self.average.metric.name, ["graphs"])


def mean_figure(path: str, meaning: str, **facts: Any) -> Any:
    """Return a property that averages a value over the repetitions."""

    def mean(findings: Any) -> float:
        value: float = findings.mean(attrgetter(path))
        return value

    return derived(meaning, **facts)(mean)


def whole(value: float) -> float:
    """Return a whole number as an int, so that counts print as counts.

    >>> whole(3.0), whole(3.5)
    (3, 3.5)
    """
    return int(value) if value == np.floor(value) else value


@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram:
    """Histograms of candidate probabilities over the attempted nodes.

    ``every`` counts candidates with a probability above 0, those too that share what is left without being listed.
    """

    JSON_DEFINITION: ClassVar[str] = "histogram"

    every: FloatArray = figure(
        "Number of candidates in each of a hundred bins of probability from 0 to 1, over all attempted targets."
    )
    likeliest: FloatArray = figure("Number of targets whose top-ranked candidate lies in each of these bins.")


@dataclass(frozen=True)
class MeanGraphSize:
    """The size of a graph, on average over repetitions."""

    JSON_DEFINITION: ClassVar[str] = "size"

    nodes: float = figure("Mean number of nodes.")
    edges: float = figure("Mean number of edges.")


@dataclass(frozen=True, kw_only=True)
class Repetition:
    """Results of one release, one attacker, and one attack.

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
    without_original = figure_at("matches.nobody", WITHOUT_ORIGINAL)
    attempted = figure_at("matches.attempted")
    correct = figure_at("matches.correct")
    at_random: float = figure(RANDOM_MAPPING, name="correct_by_random_mapping")
    most: float = figure(MOST_FOUND, name="max_expected_correct")


@dataclass(frozen=True, kw_only=True)
class CutOff:
    """Remaining uncertainty if small probabilities are left out.

    Each figure is averaged over the repetitions.
    """

    least: float = figure("Smallest probability that counts.")
    entropy: float = figure("Mean entropy of a target with that cut-off, in bits.")
    low: float = figure("5% quantile of the entropy over targets.")
    high: float = figure("95% quantile of the entropy over targets.")
    candidates_left_out: float = figure("Share of candidates left out.")
    probability_left_out: float = figure("Share of probability left out.")


@dataclass(frozen=True, kw_only=True, eq=False)
class Nodes:
    """Attacked nodes of the first repetition, one value per node.

    Those with the most connections come first. ``probability`` is what the adversary gave to the true node, NaN where
    the node was not attempted; ``right`` is the chance that the adversary's choice is the true node.
    """

    degree: IntArray
    probability: FloatArray
    right: FloatArray


@dataclass(frozen=True)
class ReliabilityGroup:
    """A group of answers with similar stated probability."""

    JSON_DEFINITION: ClassVar[str] = "reliability"

    stated: float = figure("Mean stated probability.")
    right: float = figure("Share of correct answers.", name="correct")
    attempts: int = figure("Number of answers.")


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibratedFindings:
    """What the same attacks find with probabilities that the attacker calibrated.

    ``metrics`` are in the order of the raw ones. ``raw`` and ``learned`` are the groups of attempts, over all
    repetitions, whose stated chances are compared with what came true.
    """

    GROUPS: ClassVar[Mapping[str, str]] = {"reliability": "Share of correct answers by stated probability."}

    metrics: tuple[AveragedMetric, ...]
    raw: Reliability
    learned: Reliability
    how: str = figure("How the probabilities were calibrated.")
    labels: float = figure("Number of answers used for calibration.")
    labels_correct: float = figure("Share of these that were correct.")
    attempted_there: float = figure("Share attempted in the calibration data.")
    attempted_here: float = figure("Share attempted in the attack.")
    expected_success: float = figure("Success that the calibrated probabilities expect.")
    error_by_chance: float = figure(
        "Calibration error that chance alone would give.", name="calibration_error_by_chance"
    )

    @derived("Reliability of the raw scores, from the least to the most confident answers.", name="reliability.raw")
    def raw_groups(self) -> tuple[ReliabilityGroup, ...]:
        """The groups by the raw scores."""
        return _groups(self.raw)

    @derived(
        "Reliability of the calibrated probabilities, from the least to the most confident answers.",
        name="reliability.calibrated",
    )
    def learned_groups(self) -> tuple[ReliabilityGroup, ...]:
        """The groups by the learned probabilities."""
        return _groups(self.learned)

    @derived("One entry per metric.", name="metrics")
    def metric_rows(self) -> tuple[AverageRow, ...]:
        """The metrics with the facts of their listing."""
        return tuple(map(AverageRow, self.metrics))

    histogram: Histogram = figure("Distribution of the calibrated probabilities, over all nodes.")

    def metric(self, name: str) -> AveragedMetric:
        """Return the metric with this name."""
        return next(each for each in self.metrics if each.metric.name == name)


def _groups(groups: Reliability) -> tuple[ReliabilityGroup, ...]:
    return tuple(map(ReliabilityGroup, *(each.tolist() for each in groups)))


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedEdges:
    """Edge disclosure over all repetitions, by one source of claims.

    The averages have the interval over the repetitions; with a single one, that of claims which share nodes. Where
    ``original_share`` is None, the adversary takes all edges for original; it matters to chances alone.
    """

    each: tuple[EdgeDisclosure, ...]
    way: ClaimSource = figure(SOURCE, name="source")
    precision: AveragedMetric = figure("Share of claimed edges that exist.")
    recall: AveragedMetric = figure("Share of unknown edges that are claimed.")
    guessing: AveragedMetric = figure(GUESSING)
    lift: AveragedMetric = figure("Precision divided by the precision of guessing.")
    original_share: float | None = figure(
        "Share of released edges that are original, by the protection; null if unknown."
    )
    claims = mean_figure("claims", "Number of claimed edges.")
    right = mean_figure("right", "Number of claimed edges that exist.", name="correct")
    hidden = mean_figure("hidden", "Number of edges unknown to the attacker.", name="unknown")
    by_common_neighbors = mean_figure("by_common_neighbors", "Share correct by common neighbors.")
    by_degrees = mean_figure("by_degrees", "Share correct by degrees.")
    expected = mean_figure("expected", "Expected share correct; null without probabilities.")
    people_with_unknown_edges = mean_figure("people", "Number of people with an unknown edge.")
    with_some_learned = mean_figure("some", "Number of people with at least one disclosed edge.")
    with_all_learned = mean_figure("all_of", "Number of people with all edges disclosed.")
    learned_per_person = mean_figure("mean", "Mean number of disclosed edges per person with an unknown edge.")
    learned_of_worst_1_percent = mean_figure("worst", "Fewest disclosed edges among the 1% most exposed people.")

    def mean(self, of: Callable[[EdgeDisclosure], float]) -> float:
        """Return the mean over the repetitions that have a value."""
        known = [value for value in map(of, self.each) if not np.isnan(value)]
        return whole(float(np.mean(known))) if known else np.nan

    @property
    def guessed_by(self) -> str:
        """Return the better baseline: common neighbors or degrees."""
        return "common neighbors" if self.by_common_neighbors > self.by_degrees else "degrees"


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedValue:
    """Attribute inference for one value of a column.

    Means over the repetitions in which somebody has it; ``low`` and ``high`` are the ends of the interval of the gain.
    """

    label: str

    @derived("The value, or its label if the value is withheld.", name="label")
    def shown_label(self) -> str:
        """The label, unless few people have it."""
        return name(self.label, 40) if self.people >= MINIMUM else f"a value of fewer than {MINIMUM}"

    people: float = figure(PEOPLE, counts="people")
    accuracy: float = figure(ACCURACY)
    guessing: float = figure(GUESSING)
    gain: float = figure(GAIN)
    low: float = figure("Lower end of the 95% CI.")
    high: float = figure("Upper end of the 95% CI.")


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedColumn:
    """Attribute inference over all repetitions, for one column and source.

    ``values`` are by falling number of people, so that the rarest comes last.
    """

    each: tuple[ValueDisclosure, ...]
    column: str = figure("Name of the column.")
    way: ClaimSource = figure(SOURCE, name="source")
    people = mean_figure("people", PEOPLE, counts="people")
    in_release = mean_figure("read", "Number of people whose value is in the release itself.", counts="people")
    accuracy: AveragedMetric = figure(ACCURACY)
    guessing: AveragedMetric = figure(GUESSING)
    gain: AveragedMetric = figure(GAIN)
    values: tuple[LearnedValue, ...] = figure("One entry per value.")

    def mean(self, of: Callable[[ValueDisclosure], float]) -> float:
        """Return the mean over the repetitions, whole numbers as int."""
        return whole(float(np.mean([of(each) for each in self.each])))


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphFindings:
    """Results of an attack on a released graph.

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

    GROUPS: ClassVar[Mapping[str, str]] = {"settings": "All settings, as written in commands."}

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

    @derived("Size of the original graph; null if unknown.", name="graph")
    def original_size(self) -> MeanGraphSize | None:
        """The size of the original graph."""
        return None if self.graph is None else MeanGraphSize(*self.graph)

    protect: str | None = figure("Protection, as written in commands; null if the release was given.")
    attack: str = figure("Attack, as written in commands.")
    protect_settings: Mapping[str, str] = figure(
        "Settings of the protection.", name="settings.protect", default_factory=dict
    )
    attack_settings: Mapping[str, str] = figure("Settings of the attack.", name="settings.attack", default_factory=dict)
    scope: Literal["local", "global"] | None = figure(
        "Whether the attack grows from the seed pairs (local) or compares all nodes (global); null if undeclared."
    )

    @derived(RELEASED)
    def released(self) -> MeanGraphSize:
        """The mean size of the released graphs."""
        return MeanGraphSize(self.mean(attrgetter("released_nodes")), self.mean(attrgetter("released_edges")))

    @derived("Size of the auxiliary graph.")
    def auxiliary(self) -> MeanGraphSize:
        """The mean size of the auxiliary graphs."""
        return MeanGraphSize(self.mean(attrgetter("auxiliary_nodes")), self.mean(attrgetter("auxiliary_edges")))

    seed_pairs = mean_figure("seeds", "Number of seed pairs.", counts="people")
    overlap: float | None = figure(
        "Share of edges that the attacker knows; null if the auxiliary graph was given.", name="edge_overlap"
    )
    node_share: float | None = figure(
        "Share of nodes that the attacker knows; null if the auxiliary graph was given.",
        default=None,
        name="node_overlap",
    )
    connected: bool = figure("Whether the auxiliary graph is connected.")

    @derived("Number of repetitions.", name="repeats")
    def repeat(self) -> int:
        """The number of repetitions."""
        return len(self.repetitions)

    targets = mean_figure("matches.targets", "Number of released nodes that are attacked.")
    without_original = mean_figure("matches.nobody", WITHOUT_ORIGINAL)
    truth_unknown = mean_figure("unknown", "Number of released nodes without a known true match.")
    attempted = mean_figure("matches.attempted", "Number of targets that the attack attempted.")
    correct = mean_figure("matches.correct", "Expected number of re-identified nodes, ties at random.", counts="people")

    @derived("Share of nodes without an original that got a match; null if there are none.")
    def false_alarms(self) -> float:
        """Share of nodes without an original that got a match."""
        return self.mean_share(lambda each: each.matches.nobody_attempted, lambda each: each.matches.nobody)

    correct_by_chance = mean_figure("matches.by_chance", "Expected number of correct matches by guessing.")
    correct_by_random_mapping = mean_figure("at_random", RANDOM_MAPPING)
    max_expected_correct = mean_figure("most", MOST_FOUND)

    @derived("Upper bound of the recall, as a share of nodes.", name="deanonymizability_bound")
    def bound(self) -> float:
        """Upper bound of the expected recall of any attacker; NaN without targets."""
        return self.mean_share(lambda each: each.most, lambda each: each.matches.somebody)

    @derived("Recall as a share of that bound; one repetition may exceed 1.")
    def share_of_bound(self) -> float:
        """Recall as a share of its upper bound; NaN if the bound is 0."""
        most = float(np.mean([each.most for each in self.repetitions]))
        return float(np.mean([each.matches.correct for each in self.repetitions])) / most if most else np.nan

    truth_not_considered = mean_figure(
        "matches.not_considered", "Number of targets whose true match is not a candidate."
    )

    @derived("One entry per metric.", name="metrics")
    def metric_rows(self) -> tuple[GradedAverageRow, ...]:
        """The metrics with the facts of their listing and their grades."""
        return tuple(map(GradedAverageRow, self.metrics))

    calibrated: CalibratedFindings | None = figure(
        "All metrics with calibrated probabilities; null if not requested.",
        name="calibration",
        default=None,
    )
    edges: tuple[LearnedEdges, ...] = figure("Edge disclosure; empty if the original is unknown.", default=())
    columns: tuple[LearnedColumn, ...] = figure("Attribute inference for each column.", name="attributes", default=())
    resemblance: Resemblance | None = figure(
        "Resemblance of the auxiliary graph and the released graph; null if not computed.",
        default=None,
    )
    cut_offs: tuple[CutOff, ...] = figure(
        "Mean entropy by the smallest probability that counts.", name="entropy_cut_offs"
    )
    histogram: Histogram = figure("Distribution of the candidates' probabilities.")
    repetitions: tuple[Repetition, ...] = figure("Counts of each repetition.")
    notes: tuple[str, ...] = figure(NOTES, default=())

    def mean(self, of: Callable[[Repetition], float]) -> float:
        """Return the mean over the repetitions, whole numbers as int."""
        return whole(float(np.mean([of(each) for each in self.repetitions])))

    def mean_share(self, part: Callable[[Repetition], float], whole: Callable[[Repetition], float]) -> float:
        """Return the mean share over the repetitions with a denominator."""
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
