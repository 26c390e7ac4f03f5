"""Equivalence classes of the released table on its quasi-identifiers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Literal, NamedTuple, get_args

import numpy as np

from unveil._figure import figure
from unveil._kernels.neighbours.index import sorted_rows
from unveil._kernels.threads import in_threads, worth
from unveil._kernels.types import Int32Array, IntArray
from unveil.data.files.column_store import room_for
from unveil.data.table import Table
from unveil.data.table.cells import ABSENT, SUPPRESSED
from unveil.data.table.coded_columns import places
from unveil.data.table.release import Release
from unveil.errors import InputError

Missing = Literal["own", "any"]

# Every pair of patterns of missing cells is compared, and every class with every pattern: a few seconds at most.
_MOST_PATTERNS = 300
_MOST_COMPARED = 2 * 10**7


class RowClasses(NamedTuple):
    """Class of each row, numbered by content, and class sizes."""

    of_row: IntArray
    size: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class EquivalenceClasses:
    """How many rows share the values of each row, itself included."""

    COUNTS = "statistic"

    columns: tuple[str, ...] = figure("Columns compared (the quasi-identifiers).")
    missing: Missing = figure('"own" if a missing value is a separate value, "any" if it matches every value.')
    #: For each row the number of rows that match it; private, as it is about people.
    of_row: IntArray = field(repr=False)
    size: IntArray = figure("Distinct class sizes, ascending.")
    rows: IntArray = figure("Number of rows in classes of each size.")

    @property
    def smallest(self) -> int:
        """The number of rows in the smallest class."""
        return int(self.size[0])

    @property
    def largest(self) -> int:
        """The number of rows in the largest class."""
        return int(self.size[-1])

    @property
    def count(self) -> float:
        """Number of classes, or the sum over rows of 1 / size."""
        return fsum(self.rows / self.size)

    @property
    def average_risk(self) -> float:
        """Mean over rows of 1 / size (marketer risk)."""
        return self.count / self.of_row.size

    def share_below(self, k: int) -> float:
        """Return the share of rows that match fewer than ``k`` rows."""
        return int(self.rows[self.size < k].sum()) / self.of_row.size

    def share_above(self, limit: float) -> float:
        """Return the share of rows whose 1 / size is above ``limit``."""
        return int(self.rows[1 / self.size > limit].sum()) / self.of_row.size


def equivalence_classes(
    release: Release | Table, *, columns: Sequence[str] | None = None, missing: Missing = "own"
) -> EquivalenceClasses:
    """Return the equivalence classes of the release on its quasi-identifiers.

    Parameters
    ----------
    release
        A table, or a release, of which the released table is taken.
    columns
        The quasi-identifiers; by default all columns with the role "known".
    missing
        "own" (the default): a missing value is a value of its own, so missing equals missing and nothing else.
        "any": a missing value matches every value, as for cells that were suppressed; two rows match if they agree
        wherever both have a value. Rows then no longer fall into classes, but each still has a number of matches.
        A suppressed cell is treated likewise: "own" takes it for a value of its own, "any" for every value. Other cells
        match if they stand for the same values, however they are written.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 30, 30, 41], "sex": ["f", "f", None, "m"]}))
    >>> equivalence_classes(people).of_row, equivalence_classes(people, missing="any").of_row
    (array([2, 2, 1, 1]), array([3, 3, 3, 1]))
    """
    if missing not in get_args(Missing):
        raise InputError(f"Unknown value {missing!r} of missing. Use 'own' or 'any'")
    table = released_table(release)
    names = quasi_identifiers(table, columns)
    codes = column_codes(table, names, suppressed=missing)
    return matching_rows(names, missing, codes, group(codes))


def matching_rows(
    names: tuple[str, ...], missing: Missing, codes: Int32Array, classes: RowClasses
) -> EquivalenceClasses:
    """Return the number of rows matching each row, by codes and classes."""
    of_row = _matches(codes, classes) if missing == "any" and (codes == 0).any() else classes.size[classes.of_row]
    size, rows = np.unique(of_row, return_counts=True)
    return EquivalenceClasses(columns=names, missing=missing, of_row=of_row, size=size, rows=rows.astype(np.int64))


def released_table(release: Release | Table) -> Table:
    """Return the released table."""
    if isinstance(release, Release):
        return release.released
    if isinstance(release, Table):
        return release
    raise InputError(
        f"the release is a {type(release).__name__}, not a Release or a Table. Make one with Table.from_frame(frame)"
    )


def quasi_identifiers(
    table: Table, columns: Sequence[str] | None, *, apart: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the quasi-identifiers given, or all in that role.

    ``apart`` names columns that must not be among them, each with what it is ("the household"): they are left out of
    the default, and refused where they are given.
    """
    apart = apart or {}
    for name in apart:
        table.column(name)
    if columns is None:
        columns = [column.name for column in table.columns if column.role == "known" and column.name not in apart]
    if isinstance(columns, str) or not columns:
        raise InputError(f"the {table.name} has no quasi-identifiers. Name the columns, as in columns=['age', 'sex']")
    names = tuple(table.column(name).name for name in columns)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"column {twice!r} is named more than once. Name it once")
    both = next((name for name in names if name in apart), None)
    if both is not None:
        raise InputError(
            f"column {both!r} cannot be a quasi-identifier, because it is {apart[both]}. Leave it out of one of the two"
        )
    return names


def column_codes(table: Table, names: Sequence[str], *, suppressed: Missing = "own") -> Int32Array:
    """Return the columns as ordered codes from 1; 0 is missing.

    A suppressed cell, and each other marker, has a number of its own; with "any" that of a missing value, if it is
    suppressed or missing.

    >>> import polars as pl
    >>> column_codes(Table.from_frame(pl.DataFrame({"age": [41, None, 30]})), ["age"])[:, 0]
    array([2, 0, 1], dtype=int32)
    """
    # All who use them go through one column after the other.
    codes = room_for(table.store, (len(names), table.rows), np.int32).T

    def put(place: int) -> None:
        if not table.coarse([names[place]]):
            values, rows = table.lookup(names[place])
            codes[:, place] = places(values)[rows]
            if codes[:, place].all():
                return
        code, gap = values_and_gaps(table, names[place], suppressed=suppressed)
        codes[:, place] = np.where(gap > 1, code.max(initial=0) + gap - 1, code) if gap.max(initial=0) > 1 else code

    in_threads(put, range(len(names)), threads=worth(table.rows))
    return codes


def values_and_gaps(table: Table, name: str, *, suppressed: Missing = "own") -> tuple[IntArray, IntArray]:
    """Return a column as codes from 1, and why values are missing.

    The second is 0 for a value, 1 for an empty cell and a number above for each marker: each equals itself only. With
    "any" what is missing or suppressed is 1, whatever marker says so.
    """
    held, cells = table.held(name), (table.cells or {}).get(name)
    either = suppressed == "any"
    numbers = range(len(held.markers) + 1)
    why = np.array([1 if either and (held.hides(each) or held.misses(each)) else each + 1 for each in numbers])
    if cells is None or not cells.coarse:
        code = places(held.values).astype(np.int64)
        marker = 0 if held.marked is None else held.marked.to_numpy()
        return code, np.where(code == 0, why[marker], 0)
    number = {held.key(each): each for each in numbers}
    gap = np.where(cells.state == ABSENT, why[[number.get(key, 0) for key in cells.marker]], 0)
    gap = np.where((cells.state == SUPPRESSED) & either, 1, gap)
    code = np.where(gap > 0, 0, np.arange(1, gap.size + 1))
    return code[cells.of_row], gap[cells.of_row]


def group(codes: Int32Array) -> RowClasses:
    """Return the classes of rows with equal codes.

    >>> group(np.array([[1, 2], [0, 2], [1, 2]], np.int32))
    RowClasses(of_row=array([1, 0, 1]), size=array([1, 2]))
    """
    rows = sorted_rows(codes.T, len(codes))
    return RowClasses(rows.numbered(np.int64), np.diff(rows.start, append=len(codes)))


def _matches(codes: Int32Array, classes: RowClasses) -> IntArray:
    """Return each row's number of matches; a missing value matches anything.

    Rows with the same cells missing are compared with those of every other such pattern, in the columns that both have.
    """
    _, first = np.unique(classes.of_row, return_index=True)
    distinct = codes[first]
    holes, pattern = np.unique(distinct == 0, axis=0, return_inverse=True)
    pattern = pattern.reshape(-1)
    if len(holes) > _MOST_PATTERNS or len(holes) * len(distinct) > _MOST_COMPARED:
        raise InputError(
            f"missing='any' compares {len(distinct)} distinct rows with {len(holes)} patterns of missing cells, which "
            "takes too long. Use missing='own', or name fewer columns"
        )
    member = [np.flatnonzero(pattern == each) for each in range(len(holes))]
    matches = np.zeros(len(distinct), np.int64)
    for one, mine in enumerate(member):
        for other in range(one, len(holes)):
            yours = member[other]
            both = ~(holes[one] | holes[other])
            key = group(distinct[np.concatenate([mine, yours])][:, both]).of_row
            kinds = int(key.max()) + 1
            here, there = key[: mine.size], key[mine.size :]
            matches[mine] += _tally(there, classes.size[yours], kinds)[here]
            if one != other:
                matches[yours] += _tally(here, classes.size[mine], kinds)[there]
    return matches[classes.of_row]


def _tally(key: IntArray, times: IntArray, kinds: int) -> IntArray:
    return np.bincount(key, weights=times, minlength=kinds).astype(np.int64)
