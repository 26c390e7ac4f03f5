"""Mondrian: k-anonymous classes by median cuts."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.protections._listing import protection
from unveil.protections.table._classes import shown_by_class
from unveil.protections.table._levels import levels
from unveil.protections.table._mechanism import RecodedColumns
from unveil.protections.table._recognition import DeclaredFile, RecognizedMechanism, recoded, small_groups
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
    """Cut the table at medians into classes of k rows; shuffle.

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
        Whether the rows are put in random order. Without it, row numbers re-identify everyone.
    cells
        Whether a class shows which values it has instead of their mean: ``[30, 39]``, ``a | b``, or ``*`` where values
        are missing too. Everyone's values are then inside the cells of their own row.

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

    def declared(self, file: DeclaredFile) -> RecognizedMechanism:
        """Return the mechanism recognized in a file masked elsewhere."""
        names = self._names(file.original)
        return RecognizedMechanism((recoded(file, names),), small_groups(file, names, self.k))

    def _names(self, original: Table) -> list[str]:
        known = tuple(name for name in released_columns(original) if original.column(name).role == "known")
        return masked_columns(original, self.columns or known or None, self)


def _positions(original: Table, name: str) -> FloatArray:
    """Return scaled values per column, 0 to 1; missing is below 0."""
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


# Classes of at least k rows by cutting at medians again and again, all classes of one depth at once.


def mondrian_classes(position: FloatArray, k: int) -> IntArray:
    """Return the class of each row, numbered from 0.

    ``position`` has one line per row, with where its value lies in each column on a scale common to all columns. A
    class is cut in the column in which its rows lie farthest apart: those up to the median and those above it, or,
    where that leaves fewer than k on a side, those below the median and the others. Where neither will do the column of
    the next widest span is tried, and where none will, the class is left as it is. Rows with equal positions are never
    parted, and nothing depends on the order of rows.

    >>> mondrian_classes(np.array([[0.0], [0.1], [0.9], [0.2], [1.0], [0.8]]), 3)
    array([0, 0, 1, 0, 1, 1])
    """
    rows = np.arange(len(position))
    group = np.zeros(rows.size, np.int64)
    found = np.zeros(rows.size, np.int64)
    made = 0
    while rows.size:
        # Sorted by group, so that each is one run.
        order = np.argsort(group, kind="stable")
        rows, group = rows[order], group[order]
        is_cut, is_above = _cuts(position[rows], group, k)
        done = ~is_cut[group]
        _, number = np.unique(group[done], return_inverse=True)
        found[rows[done]] = made + number
        made += int(number.max(initial=-1)) + 1
        rows, both = rows[~done], 2 * group[~done] + is_above[~done]
        group = np.unique(both, return_inverse=True)[1].astype(np.int64)
    # Numbered by where their first rows lie, so that equal classes always have equal numbers.
    first = np.full(made, len(position))
    np.minimum.at(first, found, np.arange(len(position)))
    return np.argsort(np.argsort(first))[found].astype(np.int64)


def _cuts(position: FloatArray, group: IntArray, k: int) -> tuple[BoolArray, BoolArray]:
    """Return the groups to cut, and the rows of upper sides."""
    start = np.flatnonzero(np.diff(group, prepend=-1))
    size = np.diff(start, append=group.size)
    span = np.maximum.reduceat(position, start, axis=0) - np.minimum.reduceat(position, start, axis=0)
    by_span = np.argsort(-span, axis=1, kind="stable")
    is_cut = np.zeros(start.size, bool)
    is_above = np.zeros(group.size, bool)
    may = size >= 2 * k
    for column in by_span.T:
        may &= ~is_cut & (span[np.arange(start.size), column] > 0)
        rows = np.flatnonzero(may[group])
        if not rows.size:
            break
        value = position[rows, column[group[rows]]]
        median, at_most, below = _medians(value, group[rows], size[may])
        upper = (at_most >= k) & (size[may] - at_most >= k)
        lower = ~upper & (below >= k) & (size[may] - below >= k)
        number = np.cumsum(may)[group[rows]] - 1
        is_above[rows] = np.where(upper[number], value > median[number], value >= median[number])
        is_cut[np.flatnonzero(may)[upper | lower]] = True
    return is_cut, is_above


def _medians(value: FloatArray, group: IntArray, size: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return each group's lower median, counts at most and below it."""
    ordered = value[np.lexsort((value, group))]
    start = np.cumsum(size) - size
    median = ordered[start + (size - 1) // 2]
    at = np.repeat(median, size)
    return (
        median,
        np.add.reduceat(ordered <= at, start, dtype=np.int64),
        np.add.reduceat(ordered < at, start, dtype=np.int64),
    )
