"""Whom an audit attacks: everybody, or people drawn once by what their rows hold, with the pool that they make."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.data.table import Table, stacked
from unveil.data.table.release import Knowledge, Release
from unveil.measure.verdict.pool import ATTACKED_UP_TO, Pool
from unveil.measure.verdict.pooled import PooledTables, pool_tables

if TYPE_CHECKING:
    import polars as pl

    from unveil.measure.verdict.control import ControlCheck
    from unveil.measure.verdict.groups import Division, PoolGroup

#: The group of each row of the original, None where it is missing, and the same of the control table.
Labels = tuple[tuple[str | None, ...], tuple[str | None, ...] | None]
#: How many people of each table are attacked: so many, everybody (None), or what the number of people allows.
Targets = int | None | Literal["auto"]
#: The pool of those who are attacked, and that of everybody, whom cheap attacks look at; the same where all are.
Which = Literal["attacked", "everybody"]


def draw_people(
    table: Table, most: int | None, *, rng: np.random.Generator, person: IntArray | None = None
) -> IntArray:
    """Return the rows of so many people, drawn by what the rows hold and not by where they stand, in an order by lot.

    Rows that are equal in all columns are interchangeable. ``person`` says whose each row is.

    >>> import polars as pl
    >>> draw_people(Table.from_frame(pl.DataFrame({"age": range(9)})), 3, rng=np.random.default_rng(1)).size
    3
    """
    import polars as pl

    content = table.frame.select(pl.arg_sort_by(table.frame.columns)).to_series().to_numpy().astype(np.int64)
    if person is None:
        return content[rng.permutation(content.size)][:most]
    # People are known by the first of their rows, in the order of what rows hold.
    _, first, whose = np.unique(person[content], return_index=True, return_inverse=True)
    place = np.empty(first.size, np.int64)
    place[np.argsort(first)[rng.permutation(first.size)]] = np.arange(first.size)
    order = np.argsort(place[whose], kind="stable")
    return content[order][: np.count_nonzero(place[whose] < (first.size if most is None else most))]


@dataclass(frozen=True, kw_only=True, eq=False)
class People:
    """Everybody of the original and of the control table, who of them is attacked, and in which groups they are.

    Attributes
    ----------
    everybody
        Both tables coded together, in the columns that they share.
    inside, outside
        The rows of the original that are attacked, and those of the control, in an order by lot; none without one.
    control
        What the checks of the control gave.
    by
        The people by the column whose groups were asked for.
    groups
        The groups that have figures of their own.
    """

    everybody: PooledTables
    inside: IntArray
    outside: IntArray
    control: "ControlCheck"
    by: "Division | None" = None
    groups: "tuple[PoolGroup, ...]" = ()

    @property
    def compares(self) -> bool:
        """Whether there is a control that anything may be compared with."""
        return self.control.outcome in ("usable", "overlap")

    @property
    def all_attacked(self) -> bool:
        """Whether nobody is left out, so that there is one pool."""
        return self.inside.size + self.outside.size == self.everybody.person.size

    @property
    def has_several_rows(self) -> bool:
        """Whether somebody has more than one row."""
        return self.everybody.person.size > self.everybody.people

    def rows(self, which: Which) -> IntArray:
        """Return the rows of a pool, those of the control counted on after the original's."""
        if which == "everybody":
            return np.arange(self.everybody.person.size)
        return np.concatenate([self.inside, self.everybody.release.original.rows + self.outside])

    def person(self, which: Which) -> IntArray | None:
        """Return whose each row of a pool is, or None where each row is a person."""
        return self.everybody.person[self.rows(which)] if self.has_several_rows else None

    def is_member(self, which: Which) -> BoolArray:
        """Return which rows of a pool are of people in the data."""
        return self.rows(which) < self.everybody.release.original.rows

    def over_everybody(self, scores: FloatArray) -> FloatArray:
        """Return scores of those attacked in the order of everybody, 0 for all others."""
        placed = np.zeros(self.everybody.person.size)
        placed[self.rows("attacked")] = scores
        return placed

    def of_small_groups(self) -> "People | None":
        """Return all people of the small groups that were asked for as those attacked; None where there are none.

        Of many people few are drawn who belong to a small group, and what befalls it would go unseen.
        """
        from unveil.measure.verdict.groups import small_groups

        small = small_groups(self.everybody, self.groups) if self.by is not None and not self.all_attacked else ()
        if not small:
            return None
        belongs = np.any([group.people for group in small], axis=0)[self.everybody.person]
        inside, outside = np.split(belongs, [self.everybody.release.original.rows])
        return replace(self, inside=np.flatnonzero(inside), outside=np.flatnonzero(outside), groups=small)

    def pool(self, which: Which) -> Pool:
        """Return a pool as labels are drawn of it."""
        rows = self.rows(which)
        contents = self.everybody.record[rows]
        if self.by is not None:
            # People who are equal but for the group must not swap places.
            contents = contents * (len(self.by.values) + 1) + self.by.of_row[rows] + 1
        return Pool(is_member=self.is_member(which), contents=contents, person=self.person(which))


@dataclass(frozen=True, kw_only=True)
class DrawnPeople:
    """The people of one release who are attacked, and as many others; for groups also what each belongs to."""

    release: Release
    people: People
    #: None where nobody asked for groups.
    groups: Labels | None = None
    #: Groups of fewer people are never shown.
    minimum_cell: int = 11
    #: How many tables of groups are read together, each of which could show a bad group by chance.
    looks: int = 1
    #: Whose each row of the original and of the control is, where people were told apart.
    ids: "tuple[pl.Series | None, pl.Series | None]" = (None, None)

    @cached_property
    def scale(self) -> Table:
        """Rows that reach as far as everybody: if the original alone did, distances would tell who is in it."""
        original, control = self.release.original, self.release.control
        return stacked([original, *([] if control is None else [control])], original.column_names).extremes()

    def knowledge(self, most: int | None = None) -> Knowledge:
        """Return what an adversary knows about those attacked and about as many others, or about so many of each."""
        control = self.release.control
        return Knowledge(
            self.release.original.take(self.people.inside[:most]),
            None if control is None else control.take(self.people.outside[:most]),
            scale=self.scale,
        )

    @property
    def whole(self) -> Knowledge:
        """Everybody in the original and in the control table."""
        return Knowledge(self.release.original, self.release.control)

    @cached_property
    def tables(self) -> PooledTables:
        """Everybody and the released rows, coded together."""
        return pool_tables(self.release, ids=self.ids[0], control_ids=self.ids[1])


def most_attacked(targets: Targets, members: int, others: int) -> int | None:
    """Return how many people of each table are attacked; None is everybody.

    >>> most_attacked("auto", 3000, 2000), most_attacked("auto", 3000, 2001), most_attacked(500, 3000, 2001)
    (None, 2500, 500)
    """
    if targets != "auto":
        return targets
    return None if members + others <= ATTACKED_UP_TO else ATTACKED_UP_TO // 2
