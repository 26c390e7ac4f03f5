"""Generalization (global recoding): each column's levels have k rows."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.protections._listing import protection
from unveil.protections.table._classes import shown_by_class
from unveil.protections.table._levels import WITH_ORDER, levels
from unveil.protections.table._mechanism import MechanismPart, RecodedColumns
from unveil.protections.table._recognition import DeclaredFile, RecognizedMechanism, Refutation, recoded, small_groups
from unveil.protections.table._release import (
    check_columns,
    check_enough_rows,
    check_group_size,
    masked_columns,
    masked_release,
    released_columns,
)


@protection(
    source='Torra and Stokes, "A formalization of re-identification in terms of compatible probabilities", 2013',
    aka=("global-recoding", "recoding"),
    new_values=True,
    least_rows=3,
)
@dataclass(frozen=True, kw_only=True)
class Generalization:
    """Merge each column's values until k rows share each; then shuffle.

    Global recoding: all rows with one value show the same. The values of a column with an order (number, ordered,
    date, boolean) are taken from the lowest up, and a group is closed as soon as k rows have it; what is left at the
    end joins the last group. Of a column without an order (category, text), the values with fewer than k rows
    become one group; if that is still too small, the next rarest joins them. A group shows the mean of a number or
    date, the median of an ordered column, all its categories with a bar between them, and a missing value for a
    boolean that could be either. A missing value stays missing.

    Each column alone is k-anonymous; several together need not be. That is what attacks by intersection use.

    The true probability is even over those whose values are in the right group in every column.

    Parameters
    ----------
    columns
        The columns to mask; None masks all.
    k
        The least number of rows that share a value, from 2 on; one for all columns, or one for each of ``columns``.
    shuffle
        Whether the rows are put in random order. Without it, row numbers re-identify everyone.
    cells
        Whether a group shows which values it has instead of their mean: ``[16, 19]``, ``b | c``.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [18, 16, 19, 22, 24, 24], "town": list("aaabcc")}))
    >>> release = Generalization(k=3).apply(people, rng=np.random.default_rng(1))
    >>> sorted(set(release.released.frame["age"].round(2))), sorted(set(release.released.frame["town"]))
    ([17.67, 23.33], ['a', 'b | c'])
    """

    columns: tuple[str, ...] | None = None
    k: int | tuple[int, ...] = 3
    shuffle: bool = True
    cells: bool = False

    def __post_init__(self) -> None:
        check_columns(self.columns)
        for k in self.k if isinstance(self.k, tuple) else (self.k,):
            check_group_size(k)
        if isinstance(self.k, tuple) and len(self.k) != len(self.columns or ()):
            raise InputError(
                f"k has {len(self.k)} numbers for {len(self.columns or ())} named columns. Pass one number, or one per "
                "column, as in columns=age,town,k=3,5"
            )

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the table with generalized values, in random order."""
        names = masked_columns(original, self.columns, self)
        frame = original.frame[released_columns(original)]
        parts: list[MechanismPart] = []
        notes: tuple[str, ...] = ()
        for name in names:
            k = self._size(name)
            check_enough_rows(k, original)
            gone = original.series(name).is_null()
            groups = _groups(original, name, k)
            if self.cells:
                # What is missing stays so, and is no member of a group, which would have to leave that open.
                groups = np.where(gone.to_numpy(), original.rows, groups)
            shown = shown_by_class(original, name, groups, cells=self.cells).set(gone, None)
            before = frame[[name]]
            frame = frame.with_columns(shown)
            parts.append(RecodedColumns(before, frame[[name]]))
            notes += _said(original, name, k)
        return masked_release(
            original, frame, names, parts, name="generalized", shuffle=self.shuffle, rng=rng, notes=notes
        )

    def declared(self, file: DeclaredFile) -> RecognizedMechanism:
        """Return the mechanism recognized in a file masked elsewhere."""
        names = masked_columns(file.original, self.columns, self)
        against: tuple[Refutation, ...] = ()
        for name in names:
            gone = file.released.series(name).is_null().to_numpy()
            against += small_groups(file, [name], self._size(name), leave_out=gone)
        return RecognizedMechanism(tuple(recoded(file, [name]) for name in names), against)

    def _size(self, name: str) -> int:
        return self.k if isinstance(self.k, int) else dict(zip(self.columns or (), self.k, strict=True))[name]


def _said(original: Table, name: str, k: int) -> tuple[str, ...]:
    missing = original.column(name).missing
    notes: tuple[str, ...] = ()
    if 0 < missing < k:
        notes += (f"column {name!r} has fewer than {k} missing values, which stay missing",)
    if 0 < original.rows - missing < k:
        notes += (f"column {name!r} has fewer than {k} values, which all show the same",)
    return notes


def _groups(original: Table, name: str, k: int) -> IntArray:
    """Return the group of each row; ignore rows without a value."""
    found = levels(original, name)
    if not found.row.size:
        return np.zeros(original.rows, np.int64)
    together = _runs if original.column(name).kind in WITH_ORDER else _rare_together
    return together(found.counts, k)[found.level]


def _runs(counts: IntArray, k: int) -> IntArray:
    """Return the group of each value of an ordered column.

    >>> _runs(np.array([1, 1, 1, 1, 2]), 3)
    array([0, 0, 0, 1, 1])
    """
    group = np.empty(counts.size, np.int64)
    number, rows = 0, 0
    for place, count in enumerate(counts.tolist()):
        group[place] = number
        rows += count
        if rows >= k:
            number, rows = number + 1, 0
    if rows:
        group[group == number] = max(number - 1, 0)
    return group


def _rare_together(counts: IntArray, k: int) -> IntArray:
    """Return the group of each value of a column without an order.

    >>> _rare_together(np.array([5, 1, 3, 4]), 3)
    array([1, 0, 0, 2])
    """
    # By count and then in the order of the values, which does not depend on the order of rows.
    order = np.argsort(counts, kind="stable")
    before = np.concatenate([[0], np.cumsum(counts[order])[:-1]])
    together = order[(counts[order] < k) | ((before > 0) & (before < k))]
    group = np.arange(1, counts.size + 1)
    group[together] = 0
    return np.unique(group, return_inverse=True)[1].astype(np.int64)
