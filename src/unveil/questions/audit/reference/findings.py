"""Findings with sibling releases and with a population file."""

from dataclasses import dataclass
from math import nan
from typing import Literal

from unveil._figure import figure
from unveil.metrics.releases.population_risk import RegisterRisk
from unveil.metrics.trials.risk import Rate
from unveil.metrics.verdict.effects import EffectSize

SiblingCheck = Literal["usable", "siblings_differ", "siblings_overlap", "too_few"]
#: Which test the siblings allow: of this release, or of the way of making releases.
SiblingTestName = Literal["release", "assignment", "none"]


@dataclass(frozen=True, kw_only=True)
class SiblingStatistic:
    """One test statistic of the release among its siblings."""

    COUNTS = "statistic"

    name: str = figure("The statistic: mean_rank, first_share or copies.")
    z: float = figure("Its distance from the mean of the siblings, in their standard deviations.")
    p_adjusted: float = figure("Its p-value, adjusted for all statistics.")


@dataclass(frozen=True, kw_only=True)
class SiblingFinding:
    """How close the release is to its people, compared with sibling releases."""

    COUNTS = "statistic"

    number: int = figure("Number of sibling releases.", counts="nothing private")
    check: SiblingCheck = figure("Whether the siblings can be used, and else why not.")
    column: str = figure(
        "The column in which the release differs most from its siblings; null where they can be used.",
        blank=True,
        default="",
    )
    test: SiblingTestName = figure(
        "release: is this release nearer to its people than its siblings are? assignment: is each release nearer to "
        "its own people? none: described only."
    )
    smallest_p: float = figure(
        "The smallest p that this number of releases allows; null without a test.",
        default=nan,
        counts="nothing private",
    )
    p: float = figure("The p-value; null without a test.", default=nan)
    is_evidence: bool = figure(
        "Whether the test enters the decision: it does without a usable control group.", default=False
    )
    people: int = figure("Number of people who were compared.", counts="people", default=0)
    left_out: int = figure(
        "Number of people excluded, because they were used for a sibling too.", counts="people", default=0
    )
    attack_rate: Rate = figure("Share of people with the release as the nearest of all.")
    baseline_rate: Rate = figure("The same for a sibling release, on average.")
    excess_risk: EffectSize = figure("Attack success minus baseline.")
    normalized_excess: float = figure("The excess as a share of what the baseline leaves.", default=nan)
    statistics: tuple[SiblingStatistic, ...] = figure("The test statistics of the release.", default=())
    auc: float = figure(
        "AUC of the DCR score, people in the data against the control group; null without one.",
        default=nan,
    )
    auc_calibrated: float = figure(
        "The same for the DCR score minus its mean over siblings that did not see the person.", default=nan
    )
    #: The share of people with each sibling as the nearest, ascending; empty in a redacted report.
    sibling_rates: tuple[float, ...] = ()
    #: The row of each person who was compared, with the z of the DCR score; empty in a redacted report.
    people_z: tuple[tuple[int, float], ...] = ()


#: Which table the risk against the population is counted on.
RiskOf = Literal["release", "original"]


@dataclass(frozen=True, kw_only=True)
class PopulationFinding:
    """The risk against a population file."""

    COUNTS = "nothing private"

    of: RiskOf = figure(
        "release: the equivalence classes of a masked release. original: the risk of releasing the original with these "
        "quasi-identifiers, a baseline for a synthetic release."
    )
    risk: RegisterRisk = figure(inline=True)
    control_people: int = figure(
        "Number of rows that are the control group: their identifier is not in the original.", counts="rows", default=0
    )
    reference_people: int = figure(
        "Number of rows that are the reference set of membership scores; 0 where the control group provides it.",
        counts="rows",
        default=0,
    )
