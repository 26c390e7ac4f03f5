"""Pooled members, controls, and released records, in common codes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil._kernels.verdict.tree import log_probabilities, tree_of_columns
from unveil.data.table import stacked
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics.releases._classes import column_codes, group
from unveil.metrics.releases._common_columns import compared_columns
from unveil.metrics.releases.closeness import exact_rows
from unveil.metrics.verdict.pool import Pool

if TYPE_CHECKING:
    import polars as pl

    Ids = Sequence[Any] | IntArray | pl.Series

#: Kinds of columns whose values are cut in parts where a tree of columns is chosen.
_CUT = ("number", "date")


@dataclass(frozen=True, kw_only=True, eq=False)
class PooledTables:
    """Pooled members, controls, and released records, in common codes.

    People are numbered from 0: first the members, who are in the data, then the others, who are not. Rows are numbered
    alike. Without ids each row is a person. Two rows have the same record if they are equal in all columns; a missing
    value equals a missing one and nothing else.

    Attributes
    ----------
    release
        The tables that were coded.
    columns
        The columns that count.
    codes, released_codes
        One column for each, of released rows those whose cells all stand for one value: the place of the value among
        all values of the three tables, from 1 on; 0 is missing.
    record, released_record
        The number of each row's record, in the order of what records hold.
    person
        Whose each row of the pool is.
    members, others
        How many people are in the data, and how many are not.
    household
        The household of each person; None where people were drawn one by one.
    """

    release: Release
    columns: tuple[str, ...]
    codes: Int32Array = field(repr=False)
    released_codes: Int32Array = field(repr=False)
    record: IntArray = field(repr=False)
    released_record: IntArray = field(repr=False)
    person: IntArray = field(repr=False)
    members: int
    others: int
    household: IntArray | None = field(default=None, repr=False)

    @property
    def people(self) -> int:
        """How many people there are in all."""
        return self.members + self.others

    @cached_property
    def is_member(self) -> BoolArray:
        """Whether each person is in the data."""
        return np.arange(self.people) < self.members

    @property
    def _has_single_rows(self) -> bool:
        """Whether each person has one row."""
        return self.person.size == self.people

    @cached_property
    def _are_rows(self) -> bool:
        """Whether people are numbered as their rows are."""
        return self._has_single_rows and bool((self.person == np.arange(self.people)).all())

    @cached_property
    def records(self) -> int:
        """How many different records there are in the pool and the release."""
        return 1 + int(max(self.record.max(), self.released_record.max(initial=-1)))

    @cached_property
    def owned(self) -> tuple[IntArray, IntArray, IntArray]:
        """Each person's distinct records: person, record, and a row."""
        if self._has_single_rows:
            return self.person, self.record, np.arange(self.person.size)
        _, row = np.unique(self.person * self.records + self.record, return_index=True)
        return self.person[row], self.record[row], row

    @cached_property
    def owners(self) -> IntArray:
        """How many people of the pool have each record."""
        return np.bincount(self.owned[1], minlength=self.records)

    @cached_property
    def first_row(self) -> IntArray:
        """One row of each person, first by content."""
        if self._has_single_rows:
            row = np.empty(self.people, np.int64)
            row[self.person] = np.arange(self.people)
            return row
        order = np.lexsort((self.record, self.person))
        return order[np.searchsorted(self.person[order], np.arange(self.people))]

    @cached_property
    def by_content(self) -> IntArray:
        """The people sorted by content, independent of row order.

        Those who are equal in it stand in any order; people of one household stand together.
        """
        if self.household is not None:
            place = np.empty(self.people, np.int64)
            place[self.person] = self.pool.places
            return np.argsort(place)
        return np.argsort(self.record[self.first_row], kind="stable")

    @cached_property
    def rarity(self) -> FloatArray:
        """Log-probability of each row, by a tree over the pool."""
        return self.probabilities(self.codes, self.codes)

    @cached_property
    def pool(self) -> Pool:
        """The people as labels are drawn of them."""
        return Pool(
            is_member=self.person < self.members,
            contents=self.record,
            person=self.person,
            household=None if self.household is None else self.household[self.person],
        )

    def probabilities(self, table: Int32Array, wanted: Int32Array, some: IntArray | None = None) -> FloatArray:
        """Return log-probabilities of wanted rows, by a table's tree."""
        kinds = [self.release.original.column(name).kind for name in self.columns]
        cut = [place for place, kind in enumerate(kinds) if kind in _CUT]
        return log_probabilities(table, tree_of_columns(table, cut=cut), wanted, some)

    def of_people(self, rows: BoolArray) -> BoolArray:
        """Return the people with at least one of these pool rows."""
        if self._are_rows:
            return rows
        found = np.zeros(self.people, bool)
        found[self.person[rows]] = True
        return found


def pool_tables(
    release: Release,
    *,
    columns: Sequence[str] | None = None,
    ids: "Ids | None" = None,
    control_ids: "Ids | None" = None,
) -> PooledTables:
    """Return the pooled people of a release and its control.

    Parameters
    ----------
    release
        The release with its original, and with control people where there are some.
    columns
        The columns in which rows are compared; by default all that are neither identifiers nor ignored.
    ids, control_ids
        Whose each row of the original and of the control table is, where people can have several; a row without an id
        is a person of its own. The two tables share no people, whatever their ids.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> original, released, control = (Table.from_frame(pl.DataFrame({"age": ages}))
    ...     for ages in ([30, None, 31, 31], [31, 50], [30, 40]))
    >>> pool = pool_tables(Release(original, released, control), ids=["a", "b", "c", "c"])
    >>> pool.codes[:, 0], pool.person, pool.members, pool.others, pool.owners
    (array([1, 0, 2, 2, 1, 3], dtype=int32), array([0, 1, 2, 2, 3, 4]), 3, 2, array([1, 2, 1, 1, 0]))
    """
    names = compared_columns(release, columns)
    released = exact_rows(release.released, names)
    codes = column_codes(
        stacked([release.original, *([] if release.control is None else [release.control]), released], names), names
    )
    record = group(codes).of_row
    rows = codes.shape[0] - released.rows
    member = number_people(ids, release.original.rows, "ids")
    other = number_people(control_ids, rows - release.original.rows, "control_ids")
    members, others = (int(each.max(initial=-1)) + 1 for each in (member, other))
    return PooledTables(
        release=release,
        columns=names,
        codes=codes[:rows],
        released_codes=codes[rows:],
        record=record[:rows],
        released_record=record[rows:],
        person=np.concatenate([member, members + other]),
        members=members,
        others=others,
    )


def number_people(ids: "Ids | None", rows: int, what: str) -> IntArray:
    """Return the person number of each row, in id order.

    A row without an id is a separate person.
    """
    import polars as pl

    if ids is None:
        return np.arange(rows)
    if len(ids) != rows:
        raise InputError(f"{what} has {len(ids):,} values for {rows:,} rows. Pass one person per row")
    number = pl.Series(ids).rank("dense").fill_null(0).to_numpy().astype(np.int64) - 1
    nobody = np.flatnonzero(number < 0)
    number[nobody] = number.max(initial=-1) + 1 + np.arange(nobody.size)
    return number
