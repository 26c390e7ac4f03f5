"""What was found about the cracks of a matching attack, as data."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from unveil._figure import NOTES, derived, figure, figure_at, version_figure
from unveil._kernels.types import FloatArray
from unveil.metrics.matchings.cracks import Cracks, EstimatedFigure
from unveil.metrics.matchings.permanents import Ambiguity

if TYPE_CHECKING:
    import polars as pl

RELEASES = "What each release gives away alone, where there are several."

#: What an adversary holds: whole matchings, or pairs of an entry and a token, possible or not, with probabilities that
#: sum to 1 in each row and column, or with weights of any size.
KnowledgeKind = Literal["matchings", "possible pairs", "probabilities", "weights"]


@dataclass(frozen=True, kw_only=True)
class ReleaseAlone:
    """What the adversary reaches with one of several releases alone; no cracks where the truth was not told."""

    name: str = figure("The name of the release.")
    d: EstimatedFigure = figure("Its degree of anonymity.")
    expected_cracks: EstimatedFigure | None = figure(
        "How many cracks are expected from it alone; null without a truth.", optional=True
    )


@dataclass(frozen=True, kw_only=True)
class EntryRow:
    """The columns of the table of entries, where the truth is known."""

    name: str = figure("The name of the entry.")
    token: str | None = figure("Its true token; null where it has none.")
    crack_probability: float = figure("How likely the adversary gives it its true token.")
    error: float = figure("The standard error of the probability.")
    no_token: float | None = figure("How likely the adversary gives it none.", default=None, optional=True)


@dataclass(frozen=True, kw_only=True)
class AmbiguousEntryRow:
    """The columns of the table of entries, where the truth is not known."""

    name: str = figure("The name of the entry.")
    best_probability: float = figure("How likely the adversary thinks its likeliest token.")
    error: float = figure("The standard error of the probability.")


@dataclass(frozen=True, kw_only=True, eq=False)
class AmbiguityFindings:
    """What an attack leaves open, where nobody said what is true.

    Attributes
    ----------
    ambiguity
        The figures.
    holds, possible, entries, notes, releases
        As in :class:`MatchingFindings`.
    """

    holds: KnowledgeKind
    possible: int
    entries: tuple[str, ...] = field(repr=False)

    version = version_figure()
    ambiguity: Ambiguity = figure(inline=True)

    @derived("One entry for each that the data owner has.", name="entries", rows=AmbiguousEntryRow)
    def entry_frame(self) -> "pl.DataFrame":
        """The entries as a data frame."""
        import polars as pl

        inner = self.ambiguity
        names = pl.Series(self.entries, dtype=pl.String)
        return pl.DataFrame({"name": names, "best_probability": inner.best, "error": inner.best_error})

    releases: tuple[ReleaseAlone, ...] = figure(RELEASES, default=())
    notes: tuple[str, ...] = figure(NOTES, default=())


@dataclass(frozen=True, kw_only=True, eq=False)
class MatchingFindings:
    """How many entries an adversary cracks.

    Attributes
    ----------
    cracks
        The figures, each with how it was found and how far it may be off.
    blind
        The probability of 0, 1, ..., n cracks for an adversary who knows nothing.
    holds, possible
        What the adversary holds, and how many matchings or pairs of it are possible.
    entries, tokens
        The names of rows and columns, numbers from 1 where the attack has none.
    notes
        What was left out or assumed on the way, and what to know of the figures.
    releases
        Where several releases were taken together, what each of them reaches alone.
    """

    blind: FloatArray = field(repr=False)
    holds: KnowledgeKind
    possible: int
    entries: tuple[str, ...] = field(repr=False)
    tokens: tuple[str, ...] = field(repr=False)

    version = version_figure()
    cracks: Cracks = figure(inline=True)

    @derived("One entry for each that the data owner has.", name="entries", rows=EntryRow)
    def entry_frame(self) -> "pl.DataFrame":
        """The entries with their tokens as a data frame."""
        import polars as pl

        cracks = self.cracks
        tokens = [self.tokens[token] if token >= 0 else None for token in cracks.truth.tolist()]
        columns: dict[str, Any] = {
            "name": pl.Series(self.entries, dtype=pl.String),
            "token": pl.Series(tokens, dtype=pl.String),
            "crack_probability": cracks.crack_probability,
            "error": cracks.crack_probability_error,
        }
        return pl.DataFrame(columns | ({"no_token": cracks.no_token} if cracks.pairs < cracks.n else {}))

    groups = figure_at(
        "cracks.groups",
        "What is found out about groups of entries that are as bad to mistake for one another; null where none are "
        "told.",
    )
    sets = figure_at("cracks.itemsets", "What is found out about sets of entries as a whole; null where none are told.")
    releases: tuple[ReleaseAlone, ...] = figure(RELEASES, default=())
    notes: tuple[str, ...] = figure(NOTES, default=())
