"""What was found about the cracks of a matching attack, as data."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from unveil._figure import NOTES, derived, figure, figure_at, version_figure
from unveil._kernels.types import FloatArray
from unveil.metrics.matchings.cracks import Cracks, EstimatedValue
from unveil.metrics.matchings.permanents import Ambiguity

if TYPE_CHECKING:
    import polars as pl

RELEASES = "Results of each release alone, if there are several."

#: The attacker's knowledge: whole matchings, or pairs of an item and a pseudonym: possible or not, with probabilities
#: that sum to 1 in each row and column, or with weights of any size.
KnowledgeKind = Literal["matchings", "possible pairs", "probabilities", "weights"]


@dataclass(frozen=True, kw_only=True)
class ReleaseAlone:
    """Results of one of several releases alone."""

    name: str = figure("Name of the release.")
    d: EstimatedValue = figure("Degree of anonymity of the release.")
    expected_cracks: EstimatedValue | None = figure(
        "Expected number of resolved pseudonyms from this release alone; null without a truth.", optional=True
    )


@dataclass(frozen=True, kw_only=True)
class ItemRow:
    """Columns of the table of items, with the truth."""

    name: str = figure("Name of the item.")
    pseudonym: str | None = figure("True pseudonym of the item; null if it has none.")
    crack_probability: float = figure("Probability that the attacker gives the item its true pseudonym.")
    error: float = figure("Standard error of the probability.")
    no_pseudonym: float | None = figure(
        "Probability that the attacker gives the item no pseudonym.", default=None, optional=True
    )


@dataclass(frozen=True, kw_only=True)
class AmbiguousItemRow:
    """Columns of the table of items, without the truth."""

    name: str = figure("Name of the item.")
    best_probability: float = figure("Probability of the attacker's top-ranked pseudonym.")
    error: float = figure("Standard error of the probability.")


@dataclass(frozen=True, kw_only=True, eq=False)
class AmbiguityFindings:
    """Ambiguity of an attack without the truth.

    Attributes
    ----------
    ambiguity
        The figures.
    holds, possible, items, notes, releases
        As in :class:`MatchingFindings`.
    """

    holds: KnowledgeKind
    possible: int
    items: tuple[str, ...] = field(repr=False)

    version = version_figure()
    ambiguity: Ambiguity = figure(inline=True)

    @derived("One item per item.", name="items", rows=AmbiguousItemRow)
    def item_frame(self) -> "pl.DataFrame":
        """The items as a data frame."""
        import polars as pl

        inner = self.ambiguity
        names = pl.Series(self.items, dtype=pl.String)
        return pl.DataFrame({"name": names, "best_probability": inner.best, "error": inner.best_error})

    releases: tuple[ReleaseAlone, ...] = figure(RELEASES, default=())
    notes: tuple[str, ...] = figure(NOTES, default=())


@dataclass(frozen=True, kw_only=True, eq=False)
class MatchingFindings:
    """Number of pseudonyms resolved by an attack.

    Attributes
    ----------
    cracks
        The figures, each with how it was found and how far it may be off.
    blind
        The probability of 0, 1, ..., n cracks for an adversary who knows nothing.
    holds, possible
        What the adversary holds, and how many matchings or pairs of it are possible.
    items, pseudonyms
        The names of rows and columns, numbers from 1 where the attack has none.
    notes
        What was left out or assumed on the way, and what to know of the figures.
    releases
        Where several releases were taken together, what each of them reaches alone.
    """

    blind: FloatArray = field(repr=False)
    holds: KnowledgeKind
    possible: int
    items: tuple[str, ...] = field(repr=False)
    pseudonyms: tuple[str, ...] = field(repr=False)

    version = version_figure()
    cracks: Cracks = figure(inline=True)

    @derived("One item per item.", name="items", rows=ItemRow)
    def item_frame(self) -> "pl.DataFrame":
        """The items with their pseudonyms as a data frame."""
        import polars as pl

        cracks = self.cracks
        pseudonyms = [self.pseudonyms[pseudonym] if pseudonym >= 0 else None for pseudonym in cracks.truth.tolist()]
        columns: dict[str, Any] = {
            "name": pl.Series(self.items, dtype=pl.String),
            "pseudonym": pl.Series(pseudonyms, dtype=pl.String),
            "crack_probability": cracks.crack_probability,
            "error": cracks.crack_probability_error,
        }
        return pl.DataFrame(columns | ({"no_pseudonym": cracks.no_pseudonym} if cracks.pairs < cracks.n else {}))

    groups = figure_at(
        "cracks.groups",
        "Results for categories of equivalent items; null if none are given.",
    )
    sets = figure_at("cracks.itemsets", "Results for sets of items; null if none are given.")
    releases: tuple[ReleaseAlone, ...] = figure(RELEASES, default=())
    notes: tuple[str, ...] = figure(NOTES, default=())
