"""Results of grading: grades, studies, explanations, and details."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from unveil._figure import NOTES, VERSION, derived, figure, figure_at
from unveil.grades.calibration_grades import CalibratedGrade
from unveil.grades.factors import Factors
from unveil.grades.grades import Grades, MetricGrade, Verdict
from unveil.grades.replicated_metrics import GradedCase
from unveil.grades.search import SuiteSearch
from unveil.grades.verdict import EVENNESS, MONOTONICITY, OF_METRIC, SHARED_RANGE
from unveil.studies import Study
from unveil.studies.results import Counts

if TYPE_CHECKING:
    import polars as pl

#: So many metrics are named as those to use first.
MOST_FIRST = 5
VERDICTS: Sequence[Verdict] = ("use", "with care", "do not rank by it", "no grade")


@dataclass(frozen=True, kw_only=True)
class GradedStudy:
    """A graded study, with its progress."""

    study: Study
    name = figure_at("study.name", "Name of the study.")

    @derived("Type of the data sets: tables or graphs.")
    def kind(self) -> str:
        """The kind of its data."""
        kind: str = self.study.kind
        return kind

    version: str = figure("Version of unveil that computed it.")
    counts: Counts = figure("Number of scenarios, in total and computed.", name="scenarios")
    running: bool = figure("Whether a process is computing it now.", default=False)
    #: The hash of each data set that it began with, by name.
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Detail:
    """A metric in a case that is shown level by level, and why this one."""

    metric: str = figure("Name of the metric.")
    case: GradedCase = figure("Case in which it fails.")
    why: str = figure("Reason, in words.")


@dataclass(frozen=True, kw_only=True)
class NodeSpan:
    """Distribution of node values in one case, relative to the range.

    ``quartiles`` and ``whiskers`` (the outermost within 1.5 times the length of the box) come from blocks of the sorted
    values; the ends, the mean and the count are exact.
    """

    JSON_DEFINITION: ClassVar = "box"
    case: GradedCase = figure("Case of these nodes.")
    lowest: float = figure("Smallest value of any node.")
    quartiles: tuple[float, float, float] = figure("Quartiles over nodes, ascending.")
    whiskers: tuple[float, float] = figure("Ends of the whiskers of a box plot.")
    highest: float = figure("Largest value of any node.")
    mean: float = figure("Mean over nodes.")
    count: int = figure("Number of nodes with a value.")


@dataclass(frozen=True, kw_only=True)
class Span:
    """Spans of node values in the widest and narrowest case."""

    metric: str = figure("Name of the metric.")
    #: Its range over all cases, which is 0 to 1 below.
    lowest: float = figure("Smallest value over all cases.")
    highest: float = figure("Largest value over all cases.")
    widest: NodeSpan = figure("Case with the widest spread of values.")
    narrowest: NodeSpan = figure("Case with the narrowest spread of values.")


@dataclass(frozen=True, kw_only=True)
class MetricReadings:
    """The grades of a metric, and those from its values of nodes."""

    grade: MetricGrade = figure(inline=True)
    nodes: MetricGrade | None = figure(
        "The same for values of single nodes; null if the study kept none.", without=OF_METRIC
    )


@dataclass(frozen=True, kw_only=True)
class NamedSearch:
    """A search for better suites with the name of its metrics."""

    among: str = figure("Metrics of the search, in words.")
    search: SuiteSearch = figure(inline=True)


@dataclass(frozen=True)
class CaseColumns(GradedCase):
    """The columns that the tables of metrics and of suites share."""

    levels: int = figure("Number of levels of attacker strength.")
    monotonicity: float = figure(MONOTONICITY.format("metric"))
    significant: int = figure("Number of significant changes between levels.")
    tests: int = figure("Number of tested changes between levels.")
    right: int = figure("Number of significant changes in the expected direction.")
    wrong: int = figure("Number of significant changes in the wrong direction.")
    turns: int = figure("Number of reversals of direction.")
    evenness: float = figure(EVENNESS)
    shared_range: float = figure(SHARED_RANGE)


@dataclass(frozen=True)
class CaseScores(CaseColumns):
    """The columns of the table of cases and metrics."""

    metric: str = figure("Name of the metric.", after="axis")
    monotonicity_of_nodes: float = figure("Monotonicity of node values.", optional=True)
    evenness_of_nodes: float = figure("Evenness of node values in this case.", optional=True)
    shared_range_of_nodes: float = figure("Shared range of node values.", optional=True)
    monotonicity_calibrated: float = figure("Monotonicity with calibrated probabilities.", optional=True)
    evenness_calibrated: float = figure("Evenness with calibrated probabilities in this case.", optional=True)
    shared_range_calibrated: float = figure("Shared range with calibrated probabilities.", optional=True)


@dataclass(frozen=True)
class SuiteCaseScores(CaseColumns):
    """The columns of the table of cases and suites."""

    suite: str = figure("Name of the suite.", after="axis")
    monotonicity: float = figure(MONOTONICITY.format("suite"), after="levels")
    in_order: float = figure("Whether the case is in order throughout.")
    pairs_in_order: float = figure("Share of pairs of levels in the right order.")


@dataclass(frozen=True, kw_only=True)
class AttackFacts:
    """Facts about an attack for reports: name, scope, and chunks."""

    called: str
    scope: str | None = None
    chunk: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class GradesFindings:
    """Grades of privacy metrics.

    Attributes
    ----------
    grades
        The scores, summaries, suites and the search.
    studies
        Where the values come from.
    factors
        What explains each of the three scores; empty where nothing could be fitted.
    details
        Which metrics in which cases are shown level by level.
    attacks
        Facts of each attack, by how it is written.
    protections
        How each protection is called, by how it is written.
    notes
        What a reader has to know, in sentences.
    version
        That of the package that graded.
    asked
        The cases that were asked for, to be shown with all scores of a suite and its metrics.
    spans
        Of each metric with values of nodes, where these lie in two cases.
    """

    version: str = figure(VERSION)
    studies: tuple[GradedStudy, ...] = figure("The studies that were graded.")
    grades: Grades = figure("Rules of the grading.", name="settings", repr=False)
    attacks: Mapping[str, AttackFacts]
    protections: Mapping[str, str]
    asked: tuple[int, ...] = ()

    @derived("One entry per metric.")
    def metrics(self) -> tuple[MetricReadings, ...]:
        """The grades of each metric, also those from its values of nodes."""
        nodes = self.grades.nodes
        return tuple(
            MetricReadings(grade=each, nodes=None if nodes is None else nodes.metric(each.metric))
            for each in self.grades.metrics
        )

    @derived("Each metric with raw and calibrated probabilities; empty if the study has none.")
    def calibrated(self) -> tuple[CalibratedGrade, ...]:
        """Metrics of raw scores and of calibrated probabilities."""
        return () if self.grades.calibrated is None else self.grades.calibrated.metrics

    spans: tuple[Span, ...] = figure("Spread of node values.", default=())
    suites = figure_at("grades.suites", "Suites: several metrics combined into one.")

    @derived("Best suites found by a search.")
    def searches(self) -> tuple[NamedSearch, ...]:
        """The searches for better suites."""
        return tuple(NamedSearch(among=name, search=each) for name, each in self.grades.searches.items())

    factors: tuple[Factors, ...] = figure("Factors that explain the scores.")
    details: tuple[Detail, ...] = figure("Reasons why a metric fails in a case.")
    notes: tuple[str, ...] = figure(NOTES)

    @derived("Notes on the suites.")
    def suite_notes(self) -> tuple[str, ...]:
        """How suites treat zeros and negative values, and how many there are."""
        return () if self.grades.rankings is None else self.grades.rankings.zeros.notes

    @derived("One row per case and metric.", name="cases", rows=CaseScores)
    def case_frame(self) -> "pl.DataFrame":
        """The scores of each case and metric, also of nodes and of calibrated probabilities."""
        grades = self.grades
        frame = grades.scores.frame("metric")
        keys, scores = ["data", "protect", "attack", "axis", "metric"], ("monotonicity", "evenness", "shared_range")
        others = {
            "of_nodes": grades.nodes,
            "calibrated": None if grades.calibrated is None else grades.calibrated.calibrated,
        }
        for name, reading in others.items():
            if reading is not None:
                more = reading.scores.frame("metric").select(*keys, *scores)
                more = more.rename({score: f"{score}_{name}" for score in scores})
                frame = frame.join(more, on=keys, how="left", maintain_order="left")
        return frame

    @derived("One row per case and suite.", name="suite_cases", rows=SuiteCaseScores)
    def suite_frame(self) -> "pl.DataFrame | tuple[()]":
        """Scores per case and suite; empty without suites."""
        import polars as pl

        scores, ranked = self.grades.suite_scores, self.grades.rankings
        if scores is None or ranked is None:
            return ()
        return scores.frame("suite").with_columns(
            pl.Series("in_order", ranked.whole.T.ravel()), pl.Series("pairs_in_order", ranked.pairs.T.ravel())
        )

    def by_verdict(self, verdict: Verdict) -> tuple[MetricGrade, ...]:
        """Return the metrics with a verdict, the best first."""
        return tuple(each for each in self.grades.metrics if each.verdict == verdict)

    @property
    def first(self) -> tuple[MetricGrade, ...]:
        """Metrics to use first: reliable ones, else limited ones, best first."""
        # What counts targets moves with their number, whatever is found.
        able = self.by_verdict("use") or sorted(self.by_verdict("with care"), key=lambda each: each.counts_targets)
        return tuple(able[:MOST_FIRST])

    def case_words(self, case: GradedCase) -> str:
        """Return a short name of a case, unique among all."""
        attack = self.attacks[case.attack].called if case.attack in self.attacks else case.attack
        axis = case.axis.replace("_", " ")
        return f"{case.data}, {self.protections.get(case.protect, case.protect)}, {attack}, by {axis}"


def words(metric: str) -> str:
    """Return the name of a metric as people write it.

    >>> words("pearson_correlation")
    'pearson correlation'
    """
    return metric.replace("_", " ")


def named(metrics: Sequence[str], at_most: int) -> str:
    """Return the names of metrics in a row, shortened if many.

    >>> named(["entropy", "min_entropy", "incorrectness"], 5), named(["entropy", "min_entropy", "incorrectness"], 1)
    ('entropy, min entropy and incorrectness', 'entropy and 2 more')
    """
    every = [words(metric) for metric in metrics]
    last = f"{len(every) - at_most} more" if len(every) > at_most else every[-1]
    first = every[:at_most] if len(every) > at_most else every[:-1]
    return f"{', '.join(first)} and {last}" if first else last
