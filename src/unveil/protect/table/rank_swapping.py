"""Rank swapping: every value changes places with one that has nearly the same rank."""

from dataclasses import dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.rank_swapping import partners
from unveil.data.release import Release
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guess.partition import exact_fraction
from unveil.protect._listing import protection
from unveil.protect.table._levels import WITH_ORDER, levels
from unveil.protect.table._release import release_of, released_columns


@protection(
    on="table",
    kind="masked",
    source='Moore, "Controlled data-swapping techniques for masking public use microdata sets", 1996',
    aka=("rank-swap", "data-swapping"),
)
@dataclass(frozen=True, kw_only=True)
class RankSwapping:
    """Swap each value with another of its column whose rank is near, column by column; then shuffle the rows.

    In a column with n values, the value of lowest rank swaps with one of the next ``floor(share * n)`` ranks by lot,
    then the lowest one left swaps with one of those left, and so on; a value near the top may find none left and
    stays. So no value moves by more than that many ranks, and every column keeps its values and how often each
    occurs. Columns are swapped independently, which loosens what holds them together.

    Our reading, where the source leaves it open: equal values are ranked by lot, so that a value may swap with its
    equal and look unchanged. Columns without an order (category, text) get one by lot each time: then values swap
    with those of the categories next to theirs, and most members of a large category keep it. A missing
    value stays where it is.

    Parameters
    ----------
    columns
        The columns to swap; None swaps all. Columns that identify people are left out of the release and cannot be
        named here; the others that are not named stay as they are.
    share
        How far a value may move, as a share of the column's values that are not missing, above 0 and at most 1.
        Where that is less than one rank nothing can move: the release then says so in its notes.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"income": range(0, 600, 10)}))
    >>> release = RankSwapping(share=0.05).apply(people, rng=np.random.default_rng(1))
    >>> moved = release.released.frame["income"].to_numpy() - people.frame["income"].to_numpy()[release.truth]
    >>> int(abs(moved).max())
    30
    """

    columns: tuple[str, ...] | None = None
    share: float = 0.05

    def __post_init__(self) -> None:
        if isinstance(self.columns, str) or (self.columns is not None and not self.columns):
            raise InputError(f"columns must be a tuple of column names, or None for all, but is {self.columns!r}")
        if not 0 < exact_fraction(self.share, what="share") <= 1:
            raise InputError(
                f"share must be above 0 and at most 1, but is {self.share}. Write 5 % of the ranks as 0.05"
            )

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the table with swapped values, in random order."""
        kept = released_columns(original)
        frame = original.frame[kept]
        notes = []
        for name in self._swapped(original, kept):
            source, window = self._sources(original, name, rng)
            if window == 0:
                notes.append(f"column {name!r} is as in the original: {self.share} of its values is less than one rank")
            # Renamed for a moment, because polars would read a name such as "^a.*$" as a pattern of names.
            frame = frame.with_columns(frame[name].alias("values").gather(source).alias(name))
        return release_of(original, frame, name="rank-swapped", kind="masked", rng=rng, notes=tuple(notes))

    def _swapped(self, original: Table, kept: list[str]) -> list[str]:
        if self.columns is None:
            return kept
        for name in self.columns:
            if original.column(name).role == "identifier":
                raise InputError(
                    f"column {name!r} identifies people and is left out of the release, so it cannot be swapped. "
                    "Take it out of columns, or give it another role"
                )
        return list(dict.fromkeys(self.columns))

    def _sources(self, original: Table, name: str, rng: np.random.Generator) -> tuple[NDArray[np.int64], int]:
        """Return for each row the row whose value it gets, and how many ranks a value may move."""
        found = levels(original, name)
        level = found.level
        if original.column(name).kind not in WITH_ORDER:
            level = np.append(rng.permutation(found.row.size), -1)[level]
        by_lot = rng.permutation(np.flatnonzero(~found.missing))
        ranked = by_lot[np.argsort(level[by_lot], kind="stable")]
        window = floor(exact_fraction(self.share, what="share") * ranked.size)
        source = np.arange(level.size)
        source[ranked] = ranked[partners(rng.random(ranked.size), window)]
        return source, window
