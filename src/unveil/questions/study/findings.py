"""What a study found, as data: how much of it is there, means with their intervals, failures by kind, and time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot, inf, isnan
from typing import TYPE_CHECKING

from unveil._figure import derived, figure
from unveil.studies import Results, Study
from unveil.studies._parts import CALIBRATED, metric_of_column
from unveil.studies.results import Counts

if TYPE_CHECKING:
    import polars as pl

#: Protections that leave all there is to find.
UNPROTECTED = ("id-removal", "shuffle")
#: The metric of trials that says what a release tells of those who are in it.
EXCESS = "excess_over_control"
#: Shown of a study unless others are asked for, where it has them.
USUAL_METRICS = ("adversary_overall_success", "adversary_success_rate", "entropy")
USUAL_RATES = (EXCESS, "attack_rate", "control_rate")

_DATA = "The data set, by the name that the study gives it."
_ATTACK = "Attack, as written in commands."
_REPLICATIONS = "How many replications were computed."
SCENARIOS = "How many scenarios there are, and how many are done."
FAILURES = "The errors by kind, the most frequent first."
SECONDS = "The CPU seconds of all scenarios together."


@dataclass(frozen=True, kw_only=True)
class Failures:
    """Scenarios that failed in the same way: the sentence of the first of them, and where that happened."""

    error: str = figure("Error, in one sentence.")
    scenarios: int = figure("Number of scenarios that ended with it.")
    data: tuple[str, ...] = figure("Data sets of these scenarios.")
    protections: tuple[str, ...] = figure("Protections of these scenarios.")
    attacks: tuple[str, ...] = figure("Attacks of these scenarios.")


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Success of one attack after one protection, by the strongest attacker.

    ``mean`` is that of the first metric over replications, and over data sets where there are several; its 95 %
    interval is ``half`` wide to either side. Both are NaN where nothing says so.
    """

    protect: str
    attack: str
    mean: float
    half: float

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean + self.half

    def differs_from(self, other: "Effect") -> bool:
        """Return whether two means differ by more than both intervals allow together; where one has none, they do."""
        return not abs(self.mean - other.mean) <= hypot(self.half, other.half)


@dataclass(frozen=True, kw_only=True)
class AttackCost:
    """CPU seconds of one attack on one data set over all scenarios and replications, with parts."""

    data: str = figure(_DATA)
    attack: str = figure(_ATTACK)
    replications: int = figure(_REPLICATIONS)
    seconds: float = figure("CPU time in seconds.")
    parts: Mapping[str, float] = figure("CPU time by step.")

    @property
    def each(self) -> float:
        """Seconds per replication; NaN where there is none."""
        return self.seconds / self.replications if self.replications else float("nan")


@dataclass(frozen=True, kw_only=True)
class MetricMean:
    """The columns of the table of means."""

    data: str = figure(_DATA)
    protect: str = figure("Protection, as written in commands; null if the release was given.")
    attack: str = figure(_ATTACK)
    axis: str = figure("Axis of attacker strength.")
    level: float = figure("Level of attacker strength on that axis.")
    metric: str = figure("Name of the metric.")
    replications: int = figure(_REPLICATIONS)
    undefined: int = figure("Number of replications without a value.")
    mean: float = figure("Mean over replications.")
    standard_error: float = figure("Standard error of the mean.")
    low: float = figure("Lower end of the 95% CI of the mean.")
    high: float = figure("Upper end of the 95% CI of the mean.")
    relative_error: float = figure("Half the width of the CI as a share of the mean; null if no target is set.")


@dataclass(frozen=True, kw_only=True, eq=False)
class StudyFindings:
    """Everything that a report on a study shows.

    Attributes
    ----------
    study, folder, version
        What was computed, where its results are, and with which version of the package.
    counts
        How much of it is there.
    replications
        How many rows of results there are.
    metrics
        The metrics that are shown; the first is also drawn.
    summary
        One row per scenario and shown metric: ``data``, ``protect``, ``attack``, ``axis``, ``level``, ``metric``,
        ``replications``, ``undefined``, ``mean``, ``standard_error``, ``low``, ``high``, ``relative_error``.
    effects
        The first metric by protection and attack, at the highest level of the first axis.
    targets
        How many people each replication of these attacks looks for, the fewest and the most; None where not known.
    failures
        The errors by kind, the most frequent first.
    spent
        What it took, by data set and attack.
    is_summary
        Whether ``folder`` is the file of a summary, from which nothing goes on.
    is_example
        Whether it is the example, whose folder is gone.
    results
        Every replication, for whoever wants more than means.
    """

    version: str = figure("Version of unveil that computed the study.")
    study: Study = figure("Settings of the study.")
    folder: str
    counts: Counts = figure(SCENARIOS, name="scenarios")
    replications: int = figure("Number of rows of results.")
    failures: tuple[Failures, ...] = figure(FAILURES, default=())

    @derived(SECONDS)
    def seconds(self) -> float:
        """The CPU seconds of all scenarios together."""
        return sum(each.seconds for each in self.spent)

    spent: tuple[AttackCost, ...] = figure("CPU time by data set and attack.", default=())
    metrics: tuple[str, ...] = figure("Metrics of the report; the chart shows the first.")
    summary: "pl.DataFrame" = figure(
        "One row per scenario and shown metric: `data`, `protect`, `attack`, `axis`, `level`, `metric`, "
        "`replications`, `undefined`, `mean`, `standard_error`, `low`, `high`, `relative_error`.",
        rows=MetricMean,
        repr=False,
    )
    effects: tuple[Effect, ...] = ()
    targets: tuple[int, int] | None = None
    is_summary: bool = False
    is_example: bool = False
    results: Results = field(repr=False)

    @property
    def unprotected(self) -> str | None:
        """The protection of the study that changes nothing but names and order, if it has one."""
        return next((text for text in self.study.protections if text.partition(":")[0] in UNPROTECTED), None)

    def strongest_attack(self, protect: str) -> Effect | None:
        """Return the attack that gets farthest after a protection; None where none has results."""
        known = [each for each in self.effects if each.protect == protect and not isnan(each.mean)]
        sign = -1 if self.more_is_private else 1
        return max(known, key=lambda each: sign * each.mean, default=None)

    @property
    def more_is_private(self) -> bool:
        """Whether more of the first metric is more private."""
        facts = metric_of_column(self.metrics[0])
        return facts is not None and facts.more_means == "more private"

    @property
    def of_people(self) -> bool:
        """Whether attacks compare members and non-members, not released rows."""
        facts = metric_of_column(self.metrics[0])
        return facts is not None and facts.on == "Trials"

    def means(self, metric: str, axis: str) -> dict[tuple[str, str, str, float], tuple[float, float]]:
        """Return the mean of a metric and half the width of its interval, by data, protection, attack and level."""
        import polars as pl

        chosen = self.summary.filter(pl.col("metric") == metric, pl.col("axis") == axis)
        wanted = chosen.select("data", "protect", "attack", "level", "mean", pl.col("high") - pl.col("mean"))
        nan = float("nan")
        return {
            (data, protect, attack, level): (nan if mean is None else mean, nan if half is None else half)
            for data, protect, attack, level, mean, half in wanted.iter_rows()
        }


def usual_metrics(have: Sequence[str]) -> tuple[str, ...]:
    """Return the default metrics of a study.

    >>> usual_metrics(["entropy", "min_entropy"]), usual_metrics(["min_entropy"])
    (('entropy',), ('min_entropy',))
    """
    return tuple(name for name in USUAL_METRICS + USUAL_RATES if name in have) or tuple(have[: len(USUAL_METRICS)])


def is_share(metric: str) -> bool:
    """Return whether a metric is a share of people, at most 1, and is shown in percent.

    >>> is_share("adversary_overall_success"), is_share("excess_over_control"), is_share("entropy")
    (True, True, False)
    """
    facts = metric_of_column(metric)
    return facts is not None and facts.category in ("success", "risk") and facts.bounds[1] == 1


def bounds_of(metric: str) -> tuple[float, float]:
    """Return between what an interval is cut off, as a share of people cannot be more than all of them."""
    facts = metric_of_column(metric)
    return facts.bounds if facts is not None and is_share(metric) else (-inf, inf)


def words_of(metric: str) -> str:
    """Return the name of a column of metrics as sentences have it.

    >>> words_of("min_entropy"), words_of("calibrated.min_entropy")
    ('min entropy', 'calibrated min entropy')
    """
    told = metric.removeprefix(CALIBRATED).replace("_", " ")
    return f"calibrated {told}" if metric.startswith(CALIBRATED) else told
