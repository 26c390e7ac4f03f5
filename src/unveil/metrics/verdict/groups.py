"""Subgroups for tests, made from the pool before any attack."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np

from unveil._kernels.table.pairs import code_counts
from unveil._kernels.threads import in_threads, worth
from unveil._kernels.types import BoolArray, IntArray
from unveil.data.files.column_store import arrays_on_disk
from unveil.data.table import Table, stacked
from unveil.data.table.coded_columns import codes_of
from unveil.metrics.trials._bands import band_lookup
from unveil.metrics.verdict.pooled_tables import PooledTables

#: A category of more values makes no groups unless it was asked for.
MOST_VALUES = 30
#: A group has a value of its own if this many of it would be members at random, and this many control people. Who is a
#: member must not decide which groups are judged, so that its own numbers do not count.
LEAST_MEMBERS = 5
LEAST_OTHERS = 2
MOST_GROUPS = 60
#: The rarest people of the pool, by the probability of their records.
RAREST = (0.05, 0.01)
#: A group of which this many would be members at random is attacked as a whole, beyond those who are attacked anyhow.
MOST_ATTACKED = 100
_CATEGORIES = ("category", "ordered", "boolean")


@dataclass(frozen=True, kw_only=True, eq=False)
class Division:
    """The people of the pool by the values of one column.

    Attributes
    ----------
    column
        The column.
    values
        Its values or bands as text, sorted; None, where the value is missing, is the last.
    of_row
        The place among them of the value of each row of the pool, -1 where the column is not there.
    """

    column: str
    values: tuple[str | None, ...]
    of_row: IntArray = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class PoolGroup:
    """People who share a value, or whose records are the rarest.

    Attributes
    ----------
    column, value
        What they share; the value is None where it is missing. Column and value are None for the rarest people.
    rarest
        The share of the pool that the rarest people are taken from; NaN for people who share a value.
    members, others
        How many of them are in the data, and how many are not.
    people
        Whether each person of the pool belongs to it.
    """

    column: str | None
    value: str | None
    rarest: float = nan
    members: int
    others: int
    people: BoolArray = field(repr=False)


def division(pool: PooledTables, column: str, original: Table, control: Table | None = None) -> Division:
    """Return the pooled people's subgroups by one column.

    The release need not have the column.

    Numbers and dates of many values are put into bands that the whole pool makes, so that they tell nothing of who is
    in the data. Where the control lacks the column its people belong to no group.

    >>> import polars as pl
    >>> from unveil.data.table.release import Release
    >>> from unveil.metrics.verdict.pooled_tables import pool_tables
    >>> original, control = (Table.from_frame(pl.DataFrame({"sex": sex})) for sex in (["m", "f", None], ["f"]))
    >>> found = division(pool_tables(Release(original, original, control)), "sex", original, control)
    >>> found.values, found.of_row
    (('f', 'm', None), array([1, 0, 2, 0]))
    """
    own = original.select([column])
    if control is not None and column in control.column_names:
        own = stacked([own, control], [column])
    labels, rows = band_lookup(own, column)
    codes, present = codes_of(labels)
    place = np.where(codes > 0, codes.astype(np.int64), len(present) + 1)[rows] - 1
    absent = np.full(pool.person.size - place.size, -1)
    return Division(
        column=column,
        values=(*present, *([None] if (place == len(present)).any() else [])),
        of_row=np.concatenate([place, absent]),
    )


def divisions(pool: PooledTables) -> tuple[Division, ...]:
    """Return the subgroups by each category of at most 30 values."""
    original, control = pool.release.original, pool.release.control
    few = [
        name
        for place, name in enumerate(pool.columns)
        if original.column(name).kind in _CATEGORIES
        and np.count_nonzero(code_counts(pool.codes[:, place])) <= MOST_VALUES
    ]

    def made(name: str) -> Division:
        return arrays_on_disk(division(pool, name, original, control), original.store)

    return tuple(in_threads(made, few, threads=worth(original.rows)))


def pool_groups(pool: PooledTables, *, by: Division | None = None) -> tuple[PoolGroup, ...]:
    """Return the subgroups tested: shared values, and rare people.

    Values are those of ``by``, or of each category with at most 30 of them. A group has as many people as would at
    random be 5 members and 2 others, and at most half of the pool, so that without a control there is none. There are
    at most 60: columns with the most values are left out first (of two alike the later one), and of one that is left
    alone the smallest groups. The rarest people are the 5 % and the 1 % with the least probable records
    (:attr:`PooledTables.rarity`), of people with several rows the rarest one; those who tie at the edge are left out,
    because only the order of rows could divide them.
    """
    rarest = [each for each in _rarest(pool) if _enters(each, pool)]
    found = [
        (-len(each.values), place, groups)
        for place, each in enumerate(divisions(pool) if by is None else [by])
        if (groups := [group for group in _values(pool, each) if _enters(group, pool)])
    ]
    room = MOST_GROUPS - len(rarest)
    # Most values first, of two alike the later column.
    found.sort(key=lambda each: (each[0], -each[1]))
    while len(found) > 1 and sum(len(groups) for *_, groups in found) > room:
        found.pop(0)
    found.sort(key=lambda each: each[1])
    kept = [group for *_, groups in found for group in groups]
    if len(kept) > room:
        largest = sorted(kept, key=lambda group: (-_size(group), group.value is None, group.value))
        kept = [group for group in kept if group in largest[:room]]
    return (*kept, *rarest)


def small_groups(pool: PooledTables, groups: Sequence[PoolGroup]) -> tuple[PoolGroup, ...]:
    """Return the subgroups small enough to attack everyone.

    Such a group has at most 100 expected members. The expectation decides: who is a member must not.
    """
    return tuple(group for group in groups if _size(group) * pool.members <= MOST_ATTACKED * pool.people)


def people_with(pool: PooledTables, division: Division, place: int) -> BoolArray:
    """Return the people with that value in at least one row."""
    return pool.of_people(division.of_row == place)


def _values(pool: PooledTables, division: Division) -> list[PoolGroup]:
    if (division.of_row < 0).any():
        # A group of which only people in the data can be tells who is in it.
        return []
    store = pool.release.original.store
    return [
        arrays_on_disk(_group(pool, people_with(pool, division, place), column=division.column, value=value), store)
        for place, value in enumerate(division.values)
    ]


def _rarest(pool: PooledTables) -> list[PoolGroup]:
    least = np.full(pool.people, np.inf)
    np.minimum.at(least, pool.person, pool.rarity)
    # Below the first who has no room: a person who ties with one beyond the edge is beyond it too.
    first = [min(int(share * pool.people), pool.people - 1) for share in RAREST]
    beyond = np.partition(least, first)[first]
    return [_group(pool, least < edge, rarest=share) for share, edge in zip(RAREST, beyond, strict=True)]


def _group(
    pool: PooledTables, people: BoolArray, *, column: str | None = None, value: str | None = None, rarest: float = nan
) -> PoolGroup:
    members = int(np.count_nonzero(people[: pool.members]))
    return PoolGroup(
        column=column,
        value=value,
        rarest=rarest,
        members=members,
        others=int(np.count_nonzero(people)) - members,
        people=people,
    )


def _size(group: PoolGroup) -> int:
    return group.members + group.others


def _enters(group: PoolGroup, pool: PooledTables) -> bool:
    expected = _size(group) / pool.people
    return expected * pool.members >= LEAST_MEMBERS and expected * pool.others >= LEAST_OTHERS and expected <= 0.5
