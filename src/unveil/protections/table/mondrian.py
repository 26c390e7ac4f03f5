"""Mondrian: classes of at least k rows by cutting at medians, each row shown as its class."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.table.mondrian import mondrian_classes
from unveil._kernels.types import FloatArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.protections._listing import protection
from unveil.protections.table._classes import shown_by_class
from unveil.protections.table._levels import levels
from unveil.protections.table._mechanism import RecodedColumns
from unveil.protections.table._recognition import DeclaredFile, RecognisedMechanism, recoded, small_groups
from unveil.protections.table._release import (
    check_columns,
    check_enough_rows,
    check_group_size,
    masked_columns,
    masked_release,
    released_columns,
)


@protection(
    source='LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006',
    aka=("strict-mondrian", "k-anonymity", "multidimensional-recoding"),
    new_values=True,
    least_rows=3,
)
@dataclass(frozen=True, kw_only=True)
class Mondrian:
    """Cut the table at medians into classes of at least k rows, and show each row as its class; then shuffle the rows.

    Strict Mondrian: a class is cut in the column in which its rows lie farthest apart, as a share of the span of the
    whole table, at the median, as long as both sides have at least k rows; rows with equal values stay together. In
    the masked columns every row is then the same as at least k - 1 others.

    Works for all kinds. Our reading, where the source leaves it open: values of an ordered column, and of one without
    an order (category, text) in the order of their text, lie one step apart; a missing value lies half a step below
    all. A class shows the mean of a number or date, the median of an ordered column, all its different
    categories with a bar between them, and a missing value for a boolean that could be either; members without
    a value are passed over.

    The true probability is even over the class (over all classes that look the same, should there be such), and 0
    for those who differ in a column that was left as it is.

    Parameters
    ----------
    columns
        The columns to mask; None masks those with the role known, or all if none has it.
    k
        The least size of a class, from 2 to the number of rows.
    shuffle
        Whether the rows are put in random order. Without it, everybody is found by their row number.
    cells
        Whether a class shows which values it has instead of their mean: ``[30, 39]``, ``a | b``, or ``*`` where values
        are missing too. Everybody's values are then inside the cells of their own row.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 31, 32, 60, 61, 65], "town": list("aabbcc")}))
    >>> Mondrian(k=3).apply(people, rng=np.random.default_rng(1)).released.frame.unique().sort("age").rows()
    [(31.0, 'a | b'), (62.0, 'b | c')]
    >>> Mondrian(k=3, cells=True).apply(people, rng=np.random.default_rng(1)).released.frame.unique().sort("age").rows()
    [('[30, 32]', 'a | b'), ('[60, 65]', 'b | c')]
    """

    columns: tuple[str, ...] | None = None
    k: int = 3
    shuffle: bool = True
    cells: bool = False

    def __post_init__(self) -> None:
        check_columns(self.columns)
        check_group_size(self.k)

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the table of classes, in random order."""
        kept, names = released_columns(original), self._names(original)
        check_enough_rows(self.k, original)
        group = mondrian_classes(np.column_stack([_positions(original, name) for name in names]), self.k)
        before = original.frame[names]
        shown = [shown_by_class(original, name, group, cells=self.cells) for name in names]
        frame = original.frame[kept].with_columns(shown)
        parts = [RecodedColumns(before, frame[names])]
        return masked_release(original, frame, names, parts, name="mondrian", shuffle=self.shuffle, rng=rng)

    def declared(self, file: DeclaredFile) -> RecognisedMechanism:
        """Return what it means for a file to have been made so elsewhere."""
        names = self._names(file.original)
        return RecognisedMechanism((recoded(file, names),), small_groups(file, names, self.k))

    def _names(self, original: Table) -> list[str]:
        known = tuple(name for name in released_columns(original) if original.column(name).role == "known")
        return masked_columns(original, self.columns or known or None, self)


def _positions(original: Table, name: str) -> FloatArray:
    """Return where each value lies between the least and the greatest of its column: 0 to 1, missing below 0."""
    found = levels(original, name)
    steps = found.row.size - 1
    if steps < 1:
        return np.where(found.missing, -1.0, 0.0)
    place = np.arange(steps + 1) / steps
    if original.column(name).kind in ("number", "date"):
        import polars as pl

        values = original.series(name).gather(pl.Series(found.row))
        number = (
            values.to_physical().cast(pl.Float64).to_numpy()
            if values.dtype == pl.Datetime
            else values.cast(pl.Float64).to_numpy()
        )
        # In halves, because the difference of two numbers may be too large for a float.
        half = number / 2
        place = (half - half[0]) / (half[-1] - half[0]) if half[-1] > half[0] else place
    return np.append(place, -0.5 / steps)[found.level]
