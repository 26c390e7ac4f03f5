"""Microaggregation: group means of at least k rows replace numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil._kernels.table.microaggregation import mdav_groups
from unveil._kernels.types import IntArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import whole_number
from unveil.protections._listing import protection
from unveil.protections.table._mechanism import MechanismPart, RecodedColumns, row_codes
from unveil.protections.table._numbers import group_means, numbers_of, refuse_missing, spreads
from unveil.protections.table._recognition import (
    DeclaredFile,
    RecognizedMechanism,
    Refutation,
    listed,
    recoded,
    small_groups,
)
from unveil.protections.table._release import (
    check_columns,
    check_enough_rows,
    check_group_size,
    masked_columns,
    masked_release,
    released_columns,
)

#: How far off a mean may be written, as a share of the column's spread.
_ROUNDED = 0.01


@protection(
    source='Domingo-Ferrer and Mateo-Sanz, "Practical data-oriented microaggregation", 2002',
    aka=("mdav", "multivariate-microaggregation"),
    suits=("number",),
    new_values=True,
    least_rows=3,
    gaps="refused",
    keeps=("means",),
)
@dataclass(frozen=True, kw_only=True)
class Microaggregation:
    """Replace numbers by means of k similar rows; then shuffle rows.

    The groups are made by MDAV (maximum distance to average vector) on the columns divided by their standard
    deviations. In the masked columns every row is then the same as at least k - 1 others, and the mean of every column
    is kept. With ``block_size`` the columns are masked in blocks of this many, in their order, each with groups of its
    own: less is lost, but who is in the same group in every block may be one person alone.

    Needs a value in every cell that is masked. Columns of other kinds stay as they are, with a note.

    The true probability is even over the group, or over all groups that have the same means; with several blocks, over
    those who are in the right group in each. Where equal rows were put in different groups, only lots tell which
    of them went where, and they share.

    Parameters
    ----------
    columns
        The columns to mask, all of the kind number; None masks all that are. Their order makes the blocks.
    k
        The least size of a group, from 2 to the number of rows.
    block_size
        How many columns are masked together; None masks all together.
    shuffle
        Whether the rows are put in random order. Without it, row numbers re-identify everyone.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 31, 32, 60, 61, 65]}))
    >>> Microaggregation(k=3).apply(people, rng=np.random.default_rng(1)).released.frame["age"].sort().to_list()
    [31.0, 31.0, 31.0, 62.0, 62.0, 62.0]
    """

    columns: tuple[str, ...] | None = None
    k: int = 3
    block_size: int | None = None
    shuffle: bool = True

    def __post_init__(self) -> None:
        check_columns(self.columns)
        check_group_size(self.k)
        if self.block_size is not None:
            whole_number(self.block_size, "block_size", advice="Leave it out for one block")

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the table with the means of groups, in random order."""
        names = masked_columns(original, self.columns, self)
        check_enough_rows(self.k, original)
        refuse_missing(
            original, names, mask="microaggregation", instead="univariate-microaggregation, where missing values stay"
        )
        return grouped_release(
            original,
            [(block, self._groups(original, block, rng)) for block in self._blocks(names)],
            "microaggregated",
            self.shuffle,
            rng,
        )

    def declared(self, file: DeclaredFile) -> RecognizedMechanism:
        """Return the mechanism recognized in a file masked elsewhere."""
        return declared_groups(file, self._blocks(masked_columns(file.original, self.columns, self)), self.k)

    def _blocks(self, names: list[str]) -> list[list[str]]:
        size = self.block_size or len(names)
        return [names[begin : begin + size] for begin in range(0, len(names), size)]

    def _groups(self, original: Table, names: list[str], rng: np.random.Generator) -> IntArray:
        values = numbers_of(original, names).values
        spread = spreads(values)
        group = np.empty(original.rows, np.int64)
        # Rows that are equal may have to part: at random, because their order would tell who went where.
        by_lot = rng.permutation(original.rows)
        group[by_lot] = mdav_groups(values[by_lot] / np.where(spread > 0, spread, 1.0), self.k)
        return group


def declared_groups(file: DeclaredFile, blocks: Sequence[list[str]], k: int) -> RecognizedMechanism:
    """Return the groups a file shows, per block, and violations."""
    import polars as pl

    against: tuple[Refutation, ...] = ()
    for names in blocks:
        gone = file.released.frame[names].select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy()
        against += small_groups(file, names, k, leave_out=gone) + _no_means(file, names)
    return RecognizedMechanism(tuple(recoded(file, names) for names in blocks), against)


def _no_means(file: DeclaredFile, names: list[str]) -> tuple[Refutation, ...]:
    """Return a refutation by columns without group means.

    Means may be off by a hundredth of the column's spread.
    """
    code = row_codes([file.texts(names)])[0]
    before, after = numbers_of(file.original, names), numbers_of(file.released, names).values
    values = before.values[file.truth]
    means = np.column_stack([group_means(values[:, place], code) for place in range(len(names))])
    off = np.abs(means - np.ldexp(after, -before.exponent)) > _ROUNDED * spreads(before.values)
    wrong = [name for name, column in zip(names, off.T, strict=True) if column.any()]
    if not wrong:
        return ()
    rows = np.flatnonzero(off.any(axis=1))
    sentence = (
        f"{listed(wrong)}: {rows.size} rows do not show the mean of their group, the first of them "
        f"released row {rows[0] + 1} (counted from 1)"
    )
    return (Refutation(sentence, rows),)


def grouped_release(
    original: Table,
    blocks: list[tuple[list[str], IntArray]],
    name: str,
    shuffle: bool,
    rng: np.random.Generator,
    notes: tuple[str, ...] = (),
) -> Release:
    """Return the release with group means, per block of columns."""
    frame = original.frame[released_columns(original)]
    parts: list[MechanismPart] = []
    for names, group in blocks:
        numbers = numbers_of(original, names)
        means = [numbers.series(place, group_means(numbers.values[:, place], group)) for place in range(len(names))]
        # A missing value is no member of any group.
        means = [mean.set(frame.get_column(mean.name).is_null(), None) for mean in means]
        before = frame[names]
        frame = frame.with_columns(means)
        parts.append(RecodedColumns(before, frame[names]))
    masked = [name for names, _ in blocks for name in names]
    return masked_release(original, frame, masked, parts, name=name, shuffle=shuffle, rng=rng, notes=notes)
