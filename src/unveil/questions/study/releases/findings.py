"""What a study of given releases found, as data: each release, techniques with their spread, and grades of figures."""

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

_LOW, _HIGH = "The lower end of its 95 % interval.", "The upper end of its 95 % interval."
_TECHNIQUE = "How it was made, as told."
_EPSILON = "The epsilon that is told; null where there is none, or where all are meant."
_RISK = "The clearest excess beyond what anybody reaches without the data; of a technique, that of its worst release."
_LINKED = "How often records of one person are linked, in the data or not."
_COPIED = "The share of people who stand in it word for word; of a grade, how a figure orders releases by that."
_LOSS = "What was lost, from 0 to 1."
_PROVED = "Whether the audit accuses the release, or how many it accuses."
_SAFER = (
    "Than which share of the other releases with the same columns of the same people it is safer, by how often records "
    "are linked."
)
_USEFUL = "Than which share of them it is more useful, by what was lost."
_BEATEN = "Which share of them is both safer and more useful."
_SAVES = "How much less it lost than others with the same columns that link as much"
_RELEASES = "How many releases, or every release with what its audit found."


@dataclass(frozen=True, kw_only=True)
class MeanInterval:
    """A mean over releases with its bootstrap 95 % interval; NaN where undefined."""

    mean: float = figure("The mean over releases.")
    low: float = figure(_LOW)
    high: float = figure(_HIGH)


@dataclass(frozen=True)
class ShareInterval:
    """A share of people with its 95 % interval; NaN where undefined."""

    value: float = figure("The share itself, null where undefined.")
    low: float = figure(_LOW)
    high: float = figure(_HIGH)

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return not isnan(self.value)


@dataclass(frozen=True, kw_only=True)
class AuditedFile:
    """One release with what its audit found.

    Attributes
    ----------
    risk, asked
        The clearest excess beyond what anybody reaches without the data, and the question it answers.
    linked
        How often records of one person are linked: how far anybody gets, in the data or not.
    copied, unmistakable
        The share of people who stand in it word for word, and how many of them beyond coincidence.
    loss
        What it has lost, from 0 to 1.
    proved, compared
        Whether the audit accuses it, and whether it had a control.
    safer, more_useful
        Than which share of the other releases with the same columns of the same people: by ``linked`` and by ``loss``.
    beaten
        Which share of those is both safer and more useful. The most useful release is never beaten in both, nor is the
        safest, however bad they are otherwise.
    saves
        How much less it has lost than others with the same columns that link as much would: what a line through loss
        and the logarithm of what is linked says, within the same columns. NaN where there are no others.
    """

    name: str = figure("What it is called.")
    original: str = figure("The people it was made from.")
    technique: str = figure(_TECHNIQUE)
    library: str = figure("By which library, as told.")
    epsilon: float = figure(_EPSILON)
    features: str = figure("The feature set, as told.")
    columns: int = figure("How many columns of the original it holds.")
    risk: ShareInterval = figure(_RISK)
    asked: str = figure("Which question the clearest risk answers.")
    linked: ShareInterval = figure(_LINKED)
    copied: float = figure(_COPIED)
    unmistakable: int = figure("How many people are copied beyond coincidence.")
    loss: float = figure(_LOSS)
    proved: bool = figure(_PROVED)
    compared: bool = figure("Whether there was a control.")
    safer: float = figure(_SAFER)
    more_useful: float = figure(_USEFUL)
    beaten: float = figure(_BEATEN)
    saves: float = figure(f"{_SAVES}; null where there are none.")


@dataclass(frozen=True, kw_only=True)
class TechniqueFindings:
    """The releases of one technique, or of one technique with one epsilon (NaN: all), and their spread."""

    technique: str = figure(_TECHNIQUE)
    epsilon: float = figure(_EPSILON)
    releases: int = figure(_RELEASES)
    proved: int = figure(_PROVED)
    linked: MeanInterval = figure(_LINKED)
    copied: MeanInterval = figure(_COPIED)
    loss: MeanInterval = figure(_LOSS)
    safer: MeanInterval = figure(_SAFER)
    more_useful: MeanInterval = figure(_USEFUL)
    beaten: MeanInterval = figure(_BEATEN)
    saves: MeanInterval = figure(f"{_SAVES}.")
    worst: AuditedFile
    worst_name = figure_at("worst.name", "The release with the clearest risk.", name="worst")
    risk = figure_at("worst.risk", _RISK)


@dataclass(frozen=True, kw_only=True)
class EpsilonSeries:
    """One technique at growing epsilon, with the same columns and people at each value."""

    technique: str = figure(_TECHNIQUE)
    epsilons: tuple[float, ...] = figure("The epsilons, from low to high.")
    groups: int = figure("How many groups of comparable releases there are.")
    linked: tuple[MeanInterval, ...] = figure(_LINKED)
    loss: tuple[MeanInterval, ...] = figure(_LOSS)
    #: What changes from the first epsilon to the last.
    more_linked: MeanInterval = figure("How much more is linked at the last epsilon than at the first.")
    less_loss: MeanInterval = figure("How much less is lost.")


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasesFindings:
    """Everything that a report on a study of given releases shows."""

    version: str = figure(VERSION)
    study: Study = figure(
        "The study that was reported.",
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
    families: tuple[TechniqueFindings, ...] = figure("All releases of each technique.", name="techniques")
    cells: tuple[TechniqueFindings, ...] = figure("All releases of each technique and epsilon.")
    levels: tuple[EpsilonSeries, ...] = figure("Techniques at growing epsilon.")
    grades: tuple[FigureGrade, ...] = figure("How well each figure orders releases.")
    frame: "pl.DataFrame" = field(repr=False)
    spent: tuple[AttackCost, ...] = ()
    is_summary: bool = False

    def ranked(self) -> Iterator[TechniqueFindings]:
        """Yield the techniques with enough releases, those first that keep most for the least risk.

        That is who loses least in comparison with others that link as much.
        """
        known = [each for each in self.families if each.releases >= FEWEST and not isnan(each.saves.mean)]
        yield from sorted(known, key=lambda each: (-each.saves.mean, each.loss.mean))
