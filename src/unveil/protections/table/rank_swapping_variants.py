"""Rank swapping without a sharp window: normal distances, or buckets."""

from dataclasses import dataclass
from math import floor

import numpy as np

from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import whole_number
from unveil.guesses.partition import exact_fraction
from unveil.protections._listing import protection
from unveil.protections.table._rank_schemes import Buckets, Offsets
from unveil.protections.table._recognition import DeclaredFile, RecognizedMechanism
from unveil.protections.table._release import check_columns
from unveil.protections.table.rank_swapping import check_percent, check_simulation, declared_swaps, swapped_release

_SOURCE = 'Nin, Herranz and Torra, "Rethinking rank swapping to decrease disclosure risk", 2008'

# Seven standard deviations above the mean, in windows: farther than that nothing is ever drawn.
_REACH = 4


@protection(source=_SOURCE, aka=("rank-swapping-p-distribution", "p-distribution"), keeps=("values",))
@dataclass(frozen=True, kw_only=True)
class RankSwappingDistribution:
    """Swap values at normally distributed rank distances; then shuffle the rows.

    Rank swapping p-distribution. With w = floor(p * n / 100) in a column with n values: from the lowest rank up, a
    value that has not swapped yet swaps with one above that has not either, and the one d ranks above has a weight in
    proportion to the normal density at d with the mean w/2 and the standard deviation w/2. So values move by w/2 most
    often, and some by much more than w: an attack that trusts a window of w is not valid.

    Our reading, where the source leaves it open: what is drawn is the distance to a value that is free, and nothing
    beyond 4w, which is seven standard deviations above the mean, is drawn at all. Ties, columns without an order and
    missing values are treated as in `RankSwapping`, and so is the true probability.

    Parameters
    ----------
    columns
        The columns to swap; None swaps all.
    p
        The size of the moves, in percent of the column's values that are not missing, above 0 and at most 100.
    shuffle
        Whether the rows are put in random order. Without it, row numbers re-identify everyone.
    draws, seed
        Simulations of the true probability; see `RankSwapping`.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"income": range(0, 6000, 10)}))
    >>> release = RankSwappingDistribution(p=5).apply(people, rng=np.random.default_rng(1))
    >>> moved = release.released.frame["income"].to_numpy() - people.frame["income"].to_numpy()[release.truth]
    >>> bool(300 < abs(moved).max() <= 1200)
    True
    """

    columns: tuple[str, ...] | None = None
    p: float = 5
    shuffle: bool = True
    draws: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_columns(self.columns)
        check_percent(self.p)
        check_simulation(self.draws, self.seed)

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the table with swapped values, in random order."""
        return swapped_release(
            original,
            self.columns,
            self._scheme,
            text=f"{self.p} % of its values",
            name="rank-swapped by distribution",
            shuffle=self.shuffle,
            draws=self.draws,
            seed=self.seed,
            rng=rng,
        )

    def declared(self, file: DeclaredFile) -> RecognizedMechanism:
        """Return the mechanism recognized in a file masked elsewhere."""
        return declared_swaps(file, self.columns, self._scheme, draws=self.draws, seed=self.seed)

    def _scheme(self, n: int) -> Offsets | None:
        window = floor(exact_fraction(self.p, what="p") * n / 100)
        if not window:
            return None
        distance = np.arange(1, _REACH * window + 1)
        return Offsets(np.exp(-(((distance - window / 2) / (window / 2)) ** 2) / 2))


@protection(source=_SOURCE, aka=("rank-swapping-p-buckets", "p-buckets"), keeps=("values",))
@dataclass(frozen=True, kw_only=True)
class RankSwappingBuckets:
    """Swap values within their rank bucket or above; then shuffle.

    Rank swapping p-buckets. The ranks of a column are cut into buckets of one size. From the lowest rank up, a value
    that has not swapped yet chooses its own bucket or one above among those that still have such a value, each with
    half the weight of the one before, and swaps with one of them at random. So values can move from one end to the
    other, if rarely: an attack that trusts a window is not valid.

    Ties, columns without an order and missing values are treated as in `RankSwapping`, and so is the true probability,
    which is exact for small tables.

    Parameters
    ----------
    columns
        The columns to swap; None swaps all.
    buckets
        How many buckets there are, from 1; a column with fewer values has one for each.
    shuffle
        Whether the rows are put in random order. Without it, row numbers re-identify everyone.
    draws, seed
        Simulations of the true probability; see `RankSwapping`.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"income": range(0, 600, 10)}))
    >>> release = RankSwappingBuckets(buckets=6).apply(people, rng=np.random.default_rng(1))
    >>> moved = release.released.frame["income"].to_numpy() - people.frame["income"].to_numpy()[release.truth]
    >>> float(np.median(abs(moved))), int(abs(moved).max())
    (40.0, 270)
    """

    columns: tuple[str, ...] | None = None
    buckets: int = 20
    shuffle: bool = True
    draws: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_columns(self.columns)
        check_simulation(self.draws, self.seed)
        whole_number(self.buckets, "buckets")

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the table with swapped values, in random order."""
        return swapped_release(
            original,
            self.columns,
            self._scheme,
            text="the number of its values",
            name="rank-swapped by buckets",
            shuffle=self.shuffle,
            draws=self.draws,
            seed=self.seed,
            rng=rng,
        )

    def declared(self, file: DeclaredFile) -> RecognizedMechanism:
        """Return the mechanism recognized in a file masked elsewhere."""
        return declared_swaps(file, self.columns, self._scheme, draws=self.draws, seed=self.seed)

    def _scheme(self, n: int) -> Buckets | None:
        return Buckets(self.buckets) if n else None
