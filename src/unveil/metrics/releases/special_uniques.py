"""Special uniques: rows that a few columns already single out (SUDA)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, prod

import numpy as np

from unveil._kernels.table.special_uniques import minimal_uniques, visits
from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError, whole_number
from unveil.metrics._listing import metric
from unveil.metrics.releases._classes import column_codes, quasi_identifiers, released_table

SIZE = 3
#: How often a row may be looked at in a set of columns: about half a minute.
MOST_VISITS = 5 * 10**8


@dataclass(frozen=True, kw_only=True, eq=False)
class SpecialUniques:
    """Minimal sample uniques of a table: sets of columns that single out a row and of which no part does.

    Attributes
    ----------
    columns, size
        The columns, and the most of them that a set may have.
    rows, special
        The number of rows, and how many have at least one such set.
    by_size
        The number of sets (of all rows) with 1, 2, … ``size`` columns.
    rows_by_size
        The number of rows whose smallest set has 1, 2, … ``size`` columns.
    by_column
        The number of sets that hold each column, in the order of ``columns``: what to coarsen first.
    found, score
        For each row its number of sets by size, and its SUDA score; private, as they are about people.
    """

    columns: tuple[str, ...]
    size: int
    rows: int
    special: int
    by_size: tuple[int, ...]
    rows_by_size: tuple[int, ...]
    by_column: tuple[int, ...]
    found: IntArray = field(repr=False)
    score: FloatArray = field(repr=False)

    @property
    def share(self) -> float:
        """The share of rows that up to ``size`` columns single out."""
        return self.special / self.rows


@metric(
    category="disclosure",
    per="release",
    more_means="less private",
    bounds=(0, inf),
    source="Elliot, Manning and Ford (2002), SUDA; score after Elliot et al. (2005)",
)
def special_uniques(
    release: Release | Table, *, columns: Sequence[str] | None = None, size: int = SIZE
) -> SpecialUniques:
    """Return which rows few columns single out: their minimal sample uniques and SUDA scores.

    Formula: a set of at most ``size`` columns counts for a row if no other row has the same values in it and this is
    true of no part of the set; the score of a row is the sum over its sets of ``product(a - i for i = k, …, m)``, where
    a is the number of columns, k the number of columns in the set and m the smaller of ``size`` and a - 1 (the source
    needs m < a); the sum for no set is 0. 0 means that no set of up to ``size`` columns singles the row out. Larger
    scores mean more and smaller sets; they rank the rows of one table and are no probabilities, and they do not compare
    tables with other numbers of columns. A missing value is a value of its own. It is never undefined, but refused
    where there are too many sets: all are searched, none sampled.

    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"sex": list("ffmf"), "town": ["Ulm", "Ulm", "Ulm", "Bonn"]}))
    >>> found = special_uniques(people, size=2)
    >>> found.special, found.by_size, found.by_column, found.score
    (2, (2, 0), (1, 1), array([0., 0., 1., 1.]))
    """
    table = released_table(release)
    names = quasi_identifiers(table, columns)
    size = min(whole_number(size, "size", advice=f"Write size={SIZE}"), len(names))
    needed = visits(table.rows, len(names), size)
    if needed > MOST_VISITS:
        raise InputError(
            f"sets of up to {size} of {len(names)} columns in {table.rows} rows take {needed:.1e} looks at a row, more "
            f"than the {MOST_VISITS:.0e} that are done. Name fewer columns, or use size={size - 1}"
        )
    return uniques_of(column_codes(table, names), names, size)


def uniques_of(codes: Int32Array, names: tuple[str, ...], size: int) -> SpecialUniques:
    """Return the same of coded columns, of which at most so many are taken at once."""
    found, by_column = minimal_uniques(codes, size)
    smallest = np.where(found.any(axis=1), (found > 0).argmax(axis=1), -1)
    return SpecialUniques(
        columns=names,
        size=size,
        rows=len(codes),
        special=int(np.count_nonzero(smallest >= 0)),
        by_size=tuple(found.sum(axis=0).tolist()),
        rows_by_size=tuple(int(np.count_nonzero(smallest == place)) for place in range(size)),
        by_column=tuple(by_column.tolist()),
        found=found,
        score=found @ _weights(len(names), size),
    )


def _weights(columns: int, size: int) -> FloatArray:
    """Return what one set of 1, 2, … ``size`` columns adds to a score.

    >>> _weights(4, 3)
    array([6., 2., 1.])
    """
    most = min(size, columns - 1)
    return np.array([float(prod(columns - i for i in range(k, most + 1))) for k in range(1, size + 1)])


def affordable_size(rows: int, columns: int, *, at_most: int) -> int:
    """Return the largest size up to ``SIZE`` with at most so many visits, or 0.

    >>> affordable_size(40_000, 12, at_most=10**8), affordable_size(10**6, 200, at_most=10**8)
    (3, 0)
    """
    sizes = range(min(SIZE, columns), 0, -1)
    return next((size for size in sizes if visits(rows, columns, size) <= at_most), 0)
