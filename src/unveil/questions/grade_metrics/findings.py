"""What grading found, as data: the grades, the studies behind them, what explains them, and what to look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from unveil.grades.factors import Factors
from unveil.grades.grades import Grades, MetricGrade, Verdict
from unveil.grades.replicated_metrics import GradedCase
from unveil.studies import Study
from unveil.studies.results import Counts

#: So many metrics are named as those to use first.
MOST_FIRST = 5
VERDICTS: Sequence[Verdict] = ("use", "with care", "do not rank by it", "no grade")


@dataclass(frozen=True, kw_only=True)
class GradedStudy:
    """A study whose results were graded: what it is, how much of it is there, and whether it is being computed."""

    study: Study
    version: str
    counts: Counts
    running: bool = False
    #: The hash of each data set that it began with, by name.
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Detail:
    """A metric in a case that is shown level by level, and why this one."""

    metric: str
    #: Its number among the cases.
    case: int
    why: str


@dataclass(frozen=True, kw_only=True)
class NodeSpan:
    """Where the values of nodes of a metric lie in one case, as shares of its range over all cases.

    ``quartiles`` and ``whiskers`` (the outermost within 1.5 times the length of the box) come from blocks of the sorted
    values; the ends, the mean and the count are exact.
    """

    case: int
    lowest: float
    quartiles: tuple[float, float, float]
    whiskers: tuple[float, float]
    highest: float
    mean: float
    count: int


@dataclass(frozen=True, kw_only=True)
class Span:
    """Where the values of nodes of a metric lie in the case that uses most of its range, and where least is used."""

    metric: str
    #: Its range over all cases, which is 0 to 1 below.
    lowest: float
    highest: float
    widest: NodeSpan
    narrowest: NodeSpan


@dataclass(frozen=True, kw_only=True)
class AttackFacts:
    """What a report has to know of an attack: how it is called, whether it looks at all nodes, and its chunks."""

    called: str
    scope: str | None = None
    chunk: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class GradesFindings:
    """Which metrics can be trusted, and how far.

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

    grades: Grades = field(repr=False)
    studies: tuple[GradedStudy, ...]
    factors: tuple[Factors, ...]
    details: tuple[Detail, ...]
    attacks: Mapping[str, AttackFacts]
    protections: Mapping[str, str]
    notes: tuple[str, ...]
    version: str
    asked: tuple[int, ...] = ()
    spans: tuple[Span, ...] = ()

    def by_verdict(self, verdict: Verdict) -> tuple[MetricGrade, ...]:
        """Return the metrics with a verdict, the best first."""
        return tuple(each for each in self.grades.metrics if each.verdict == verdict)

    @property
    def first(self) -> tuple[MetricGrade, ...]:
        """The metrics to use first, the best of them first: those that can be trusted, else those to use with care."""
        # What counts targets moves with their number, whatever is found.
        able = self.by_verdict("use") or sorted(self.by_verdict("with care"), key=lambda each: each.counts_targets)
        return tuple(able[:MOST_FIRST])

    def case_words(self, case: GradedCase) -> str:
        """Return a case without the settings of its protection and attack, unless two would be called the same."""
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
    """Return the names of metrics in a row; of many, the first ones and how many more there are.

    >>> named(["entropy", "min_entropy", "incorrectness"], 5), named(["entropy", "min_entropy", "incorrectness"], 1)
    ('entropy, min entropy and incorrectness', 'entropy and 2 more')
    """
    every = [words(metric) for metric in metrics]
    last = f"{len(every) - at_most} more" if len(every) > at_most else every[-1]
    first = every[:at_most] if len(every) > at_most else every[:-1]
    return f"{', '.join(first)} and {last}" if first else last
