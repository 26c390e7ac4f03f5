"""Univariate microaggregation: optimal groups per column."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.table.microaggregation import best_groups
from unveil._kernels.types import IntArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.protections._listing import protection
from unveil.protections.table._numbers import numbers_of
from unveil.protections.table._recognition import DeclaredFile, RecognizedMechanism
from unveil.protections.table._release import check_columns, check_enough_rows, check_group_size, masked_columns
from unveil.protections.table.microaggregation import declared_groups, grouped_release


@protection(
    source='Hansen and Mukherjee, "A polynomial algorithm for optimal univariate microaggregation", 2003',
    aka=("optimal-microaggregation", "individual-ranking"),
    suits=("number",),
    new_values=True,
    least_rows=3,
    gaps="few",
    keeps=("means",),
)
@dataclass(frozen=True, kw_only=True)
class UnivariateMicroaggregation:
    """Replace numbers by means of k neighbors per column; then shuffle.

    In each column the values in order are cut into groups of k to 2k - 1 such that the squared differences from the
    group means sum to the least there can be. Every released number is then shared by at least k rows and the mean of
    every column is kept; but columns are masked independently, and who shares all of them may be one person alone.

    A missing value stays missing, and is in no group; so do columns of other kinds stay as they are, with a note.

    The true probability is even over those who are in the right group in every column.

    Parameters
    ----------
    columns
        The columns to mask, all of the kind number; None masks all that are.
    k
        The least size of a group, from 2 to the number of values of the column.
    shuffle
        Whether the rows are put in random order. Without it, row numbers re-identify everyone.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30.0, 31.0, 60.0, 61.0, 32.0, 60.5]}))
    >>> release = UnivariateMicroaggregation(k=2).apply(people, rng=np.random.default_rng(1))
    >>> release.released.frame["age"].sort().to_list()
    [31.0, 31.0, 31.0, 60.5, 60.5, 60.5]
    """

    columns: tuple[str, ...] | None = None
    k: int = 3
    shuffle: bool = True

    def __post_init__(self) -> None:
        check_columns(self.columns)
        check_group_size(self.k)

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the table with the means of groups, in random order."""
        names = masked_columns(original, self.columns, self)
        check_enough_rows(self.k, original)
        blocks = [([name], self._groups(original, name, rng)) for name in names]
        few = [name for name in names if 0 < original.column(name).missing < self.k]
        notes = tuple(f"column {name!r} has fewer than {self.k} missing values, which stay missing" for name in few)
        return grouped_release(original, blocks, "microaggregated by column", self.shuffle, rng, notes)

    def declared(self, file: DeclaredFile) -> RecognizedMechanism:
        """Return the mechanism recognized in a file masked elsewhere."""
        return declared_groups(file, [[name] for name in masked_columns(file.original, self.columns, self)], self.k)

    def _groups(self, original: Table, name: str, rng: np.random.Generator) -> IntArray:
        values = numbers_of(original, [name]).values[:, 0]
        # Values that are equal may have to part: at random, because their order would tell who went where.
        there = rng.permutation(np.flatnonzero(~np.isnan(values)))
        if 0 < there.size < self.k:
            raise InputError(
                f"k is {self.k}, but column {name!r} has {there.size} values. "
                "Take a smaller k, or leave the column out of columns"
            )
        group = np.zeros(values.size, np.int64)
        if there.size:
            group[there] = best_groups(values[there], self.k)
        return group
