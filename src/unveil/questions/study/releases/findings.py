"""Results of a study of releases: releases, techniques, and grades."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING

from unveil._figure import VERSION, derived, figure, figure_at
from unveil.grades.releases import FigureGrade
from unveil.questions.study.findings import FAILURES, SCENARIOS, SECONDS, AttackCost, Failures
from unveil.studies import Study
from unveil.studies.results import Counts

if TYPE_CHECKING:
    import polars as pl

#: A technique of fewer releases is in the tables, but nothing is concluded from it.
FEWEST = 3

_LOW, _HIGH = "Lower end of its 95% CI.", "Upper end of its 95% CI."
_TECHNIQUE = "Technique of the release, as stated."
_EPSILON = "Stated ε; null if there is none, or for all together."
_RISK = "Strongest excess risk; for a technique, that of its worst release."
_LINKED = "Linkability: share of people whose records are linked, in the data or not."
_COPIED = "Share of people with an exact copy; for a grade, the order of releases by that share."
_LOSS = "Utility loss, from 0 to 1."
_PROVED = "Whether the risk is significant, or the number of releases with a significant risk."
_SAFER = "Share of comparable releases (the same columns and people) with a higher linkability."
_USEFUL = "Share of comparable releases with a higher utility loss."
_BEATEN = "Share of them that is both safer and more useful."
_SAVES = "Utility loss below that of releases with the same columns and similar linkability"
_RELEASES = "Number of releases, or the results of each release."


@dataclass(frozen=True, kw_only=True)
class MeanInterval:
    """A mean over releases with its bootstrap 95% CI; NaN where undefined."""

    mean: float = figure("Mean over releases.")
    low: float = figure(_LOW)
    high: float = figure(_HIGH)


@dataclass(frozen=True)
class ShareInterval:
    """A share of people with its 95% CI; NaN where undefined."""

    value: float = figure("Value; null if undefined.")
    low: float = figure(_LOW)
    high: float = figure(_HIGH)

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return not isnan(self.value)


@dataclass(frozen=True, kw_only=True)
class AuditedFile:
    """One release with its audit results.

    Attributes
    ----------
    risk, asked
        The strongest excess risk, and its attack.
    linked
        Linkability: the share of people whose records are linked, in the data or not.
    copied, unmistakable
        The share of people with an exact copy, and the number of people with copies beyond chance.
    loss
        Utility loss, from 0 to 1.
    proved, compared
        Whether the risk is significant, and whether there was a control group.
    safer, more_useful
        Share of comparable releases (the same columns and people) with higher ``linked`` and with higher ``loss``.
    beaten
        Share of those that is both safer and more useful; 0 for the most useful and for the safest release.
    saves
        Utility loss below the value of a regression line on the logarithm of ``linked``, within the same columns. NaN
        without comparable releases.
    """

    name: str = figure("Name of the release.")
    original: str = figure("Original data of the release.")
    technique: str = figure(_TECHNIQUE)
    library: str = figure("Library of the release, as stated.")
    epsilon: float = figure(_EPSILON)
    features: str = figure("Feature set of the release, as stated.")
    columns: int = figure("Number of columns of the original in the release.")
    risk: ShareInterval = figure(_RISK)
    asked: str = figure("Attack with the strongest risk.", name="attack")
    linked: ShareInterval = figure(_LINKED)
    copied: float = figure(_COPIED, name="exact_copies")
    unmistakable: int = figure("Number of people with copies beyond chance.")
    loss: float = figure(_LOSS, name="utility_loss")
    proved: bool = figure(_PROVED, name="significant")
    compared: bool = figure("Whether there was a control group.")
    safer: float = figure(_SAFER)
    more_useful: float = figure(_USEFUL)
    beaten: float = figure(_BEATEN)
    saves: float = figure(f"{_SAVES}; null if there are none.")


@dataclass(frozen=True, kw_only=True)
class TechniqueFindings:
    """The releases of one technique, or of one technique with one epsilon (NaN: all), and their spread."""

    technique: str = figure(_TECHNIQUE)
    epsilon: float = figure(_EPSILON)
    releases: int = figure(_RELEASES)
    proved: int = figure(_PROVED, name="significant")
    linked: MeanInterval = figure(_LINKED)
    copied: MeanInterval = figure(_COPIED, name="exact_copies")
    loss: MeanInterval = figure(_LOSS, name="utility_loss")
    safer: MeanInterval = figure(_SAFER)
    more_useful: MeanInterval = figure(_USEFUL)
    beaten: MeanInterval = figure(_BEATEN)
    saves: MeanInterval = figure(f"{_SAVES}.")
    worst: AuditedFile
    worst_name = figure_at("worst.name", "Release with the strongest risk.", name="worst")
    risk = figure_at("worst.risk", _RISK)


@dataclass(frozen=True, kw_only=True)
class EpsilonSeries:
    """One technique at growing epsilon, with the same columns and people at each value."""

    technique: str = figure(_TECHNIQUE)
    epsilons: tuple[float, ...] = figure("Values of ε, ascending.")
    groups: int = figure("Number of groups of comparable releases.")
    linked: tuple[MeanInterval, ...] = figure(_LINKED)
    loss: tuple[MeanInterval, ...] = figure(_LOSS, name="utility_loss")
    #: What changes from the first epsilon to the last.
    more_linked: MeanInterval = figure("Increase in linkability from the first to the last ε.")
    less_loss: MeanInterval = figure("Decrease in utility loss.", name="less_utility_loss")


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasesFindings:
    """Everything that a report on a study of given releases shows."""

    version: str = figure(VERSION)
    study: Study = figure(
        "The reported study.",
        without=("kind", "data", "protections", "axes", "fixed", "releases", "replications"),
    )
    folder: str
    counts: Counts = figure(SCENARIOS, name="scenarios")
    failures: tuple[Failures, ...] = figure(FAILURES, default=())

    @derived(SECONDS)
    def seconds(self) -> float:
        """The CPU time of everything, in seconds."""
        return sum(each.seconds for each in self.spent)

    releases: tuple[AuditedFile, ...] = figure(_RELEASES)
    families: tuple[TechniqueFindings, ...] = figure("Results of each technique.", name="techniques")
    cells: tuple[TechniqueFindings, ...] = figure("Results per technique and ε.")
    levels: tuple[EpsilonSeries, ...] = figure("Techniques by increasing ε.")
    grades: tuple[FigureGrade, ...] = figure("Order of releases by each value.")
    frame: "pl.DataFrame" = field(repr=False)
    spent: tuple[AttackCost, ...] = ()
    is_summary: bool = False

    def ranked(self) -> Iterator[TechniqueFindings]:
        """Yield the techniques with enough releases, those first that keep most for the least risk.

        That is who loses least in comparison with others that link as much.
        """
        known = [each for each in self.families if each.releases >= FEWEST and not isnan(each.saves.mean)]
        yield from sorted(known, key=lambda each: (-each.saves.mean, each.loss.mean))
