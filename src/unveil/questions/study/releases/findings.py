"""What a study of given releases found, as data: each release, techniques with their spread, and grades of figures."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from unveil.grades.releases import FigureGrade
from unveil.metrics.trials.risk import Rate
from unveil.questions.study.findings import AttackCost, Failures
from unveil.studies import Study
from unveil.studies.results import Counts

if TYPE_CHECKING:
    import polars as pl

#: A technique of fewer releases is in the tables, but nothing is concluded from it.
FEWEST = 3


@dataclass(frozen=True, kw_only=True)
class MeanInterval:
    """A mean over releases with its bootstrap 95 % interval; NaN where undefined."""

    mean: float
    low: float
    high: float


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

    name: str
    original: str
    technique: str
    library: str
    epsilon: float
    features: str
    columns: int
    risk: Rate
    asked: str
    linked: Rate
    copied: float
    unmistakable: int
    loss: float
    proved: bool
    compared: bool
    safer: float
    more_useful: float
    beaten: float
    saves: float


@dataclass(frozen=True, kw_only=True)
class TechniqueFindings:
    """The releases of one technique, or of one technique with one epsilon (NaN: all), and their spread."""

    technique: str
    epsilon: float
    releases: int
    proved: int
    worst: AuditedFile
    linked: MeanInterval
    copied: MeanInterval
    loss: MeanInterval
    safer: MeanInterval
    more_useful: MeanInterval
    beaten: MeanInterval
    saves: MeanInterval


@dataclass(frozen=True, kw_only=True)
class EpsilonSeries:
    """One technique at growing epsilon, with the same columns and people at each value."""

    technique: str
    epsilons: tuple[float, ...]
    groups: int
    linked: tuple[MeanInterval, ...]
    loss: tuple[MeanInterval, ...]
    #: What changes from the first epsilon to the last.
    more_linked: MeanInterval
    less_loss: MeanInterval


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasesFindings:
    """Everything that a report on a study of given releases shows."""

    study: Study
    folder: str
    version: str
    counts: Counts
    releases: tuple[AuditedFile, ...]
    families: tuple[TechniqueFindings, ...]
    cells: tuple[TechniqueFindings, ...]
    levels: tuple[EpsilonSeries, ...]
    grades: tuple[FigureGrade, ...]
    frame: "pl.DataFrame"
    failures: tuple[Failures, ...] = ()
    spent: tuple[AttackCost, ...] = ()
    is_summary: bool = False

    @property
    def seconds(self) -> float:
        """The CPU time of everything, in seconds."""
        return sum(each.seconds for each in self.spent)

    def ranked(self) -> Iterator[TechniqueFindings]:
        """Yield the techniques with enough releases, those first that keep most for the least risk.

        That is who loses least in comparison with others that link as much.
        """
        known = [each for each in self.families if each.releases >= FEWEST and not isnan(each.saves.mean)]
        yield from sorted(known, key=lambda each: (-each.saves.mean, each.loss.mean))
