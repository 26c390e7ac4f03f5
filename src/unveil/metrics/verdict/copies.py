"""Exact copies, counted as people, and copies beyond chance."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan
from typing import NamedTuple

import numpy as np

from unveil._figure import figure
from unveil._kernels.table.pairs import code_counts
from unveil._kernels.threads import in_threads, worth
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil._kernels.verdict.hypergeometric import hypergeometric_p
from unveil._kernels.verdict.step_down import holm
from unveil._kernels.verdict.tree import coincidences
from unveil.metrics.verdict.groups import Division, divisions, people_with
from unveil.metrics.verdict.pooled_tables import PooledTables

#: A tree of columns misses rules of three and more columns: this many times more coincidences are allowed for.
FACTOR = 10
#: A record is rare if at most this many released rows are expected to equal it by coincidence.
RARE = 0.05
#: How often a leak-free release may have an unmistakable copy.
LEVEL = 0.005
#: How sure it is that copies gather in a group before that is named.
GROUP_LEVEL = 0.05
#: A column is coarser if the release has less than this share of the values that are usual. It takes this many rows to
#: tell, and values that repeat: so large a share of people must usually have one that is released.
_COARSE = 0.6
_LEAST_ROWS = 20
_LEAST_USUAL = 0.5


@dataclass(frozen=True, kw_only=True)
class CopiedGroup:
    """A subgroup with significantly many copies beyond chance.

    ``people`` of the data have the value, ``copies`` of them are unmistakable copies, and ``p`` is how often as many
    fall on them where copies fall on any person with an improbable record, after Holm's correction for all values that
    were looked at.
    """

    COUNTS = "people"

    column: str = figure("Column of the subgroup.")
    value: str | None = figure("Value that the subgroup shares; null where it is too small to be named.")
    people: int = figure("Number of people.")
    copies: int = figure("Number of people copied.")
    p: float = figure("Probability of at least as many copies without any leak.", counts="statistic")


@dataclass(frozen=True, kw_only=True, eq=False)
class CopiedPeople:
    """Who stands in the release unchanged.

    Attributes
    ----------
    people, control_people
        How many people are in the data, and how many in the control.
    people_unchanged, control_unchanged
        How many of them equal a released row in all columns, with at least one of their rows.
    control_share, expected
        The share of the control that does, by coincidence, and this many people of the data as that would be. NaN
        without a control.
    rows, rows_copied
        The number of released rows, and how many of them equal a row of a person in the data.
    unmistakable
        How many people in the data are alone in the pool with a record that is released and too improbable for
        coincidence, where there are more copies of rare records than twins explain.
    coincidences
        An upper limit of the expected number of such people in a leak-free release: ten times the E of the most
        probable unmistakable copy, or ``p`` if that is more; 0 where there is none.
    p
        How likely at least as many copies of rare records are if twins explain them.
    groups
        Values of a column among whose people unmistakable copies gather; from the surest.
    coarsened
        Columns of numbers or dates of which the release has far fewer values than usual, as after rounding: in them
        hardly any person can be equal.
    relabelled
        Categories of which most released rows have a value that no person in the pool has.
    copied, copied_alone
        Whether a released row equals one of each person's of the pool, or one that no other person in the pool has.
    chance
        For each member with a record that no other person in the pool has: how many coincidences are expected among all
        members whose records are at most as probable, by the tree alone. NaN for all others.
    is_unmistakable
        Which people of the pool are unmistakable copies.
    rare_copied
        Which people of the pool have a released record that no other person in the pool has and that at most 0.05
        released rows are expected to equal by coincidence.
    rare_copies, control_rare_copies
        How many people in the data are among them, and how many of the control.
    """

    people: int
    control_people: int
    people_unchanged: int
    control_unchanged: int
    control_share: float
    expected: float
    rows: int
    rows_copied: int
    unmistakable: int
    coincidences: float
    p: float
    groups: tuple[CopiedGroup, ...]
    coarsened: tuple[str, ...]
    relabelled: tuple[str, ...]
    copied: BoolArray = field(repr=False)
    copied_alone: BoolArray = field(repr=False)
    chance: FloatArray = field(repr=False)
    is_unmistakable: BoolArray = field(repr=False)
    rare_copied: BoolArray = field(repr=False)
    rare_copies: int
    control_rare_copies: int

    @property
    def rare_expected(self) -> float:
        """Expected rare copies by coincidence; NaN without a control."""
        return self.people * self.control_rare_copies / self.control_people if self.control_people else nan

    @property
    def rare_explained(self) -> float:
        """Return the share of rare copies that coincidence explains.

        It is (k_c + 1) N / (m k) for k rare copies among N people in the data and k_c among m people of the control.
        One more copy is counted for the control, so that none of few people does not prove that none is explained.
        NaN without a control or without rare copies.
        """
        if not (self.control_people and self.rare_copies):
            return nan
        return (self.control_rare_copies + 1) * self.people / (self.control_people * self.rare_copies)


def copied_people(pool: PooledTables, *, by: Division | None = None) -> CopiedPeople:
    """Return people copied exactly, compared with the control group.

    An unmistakable copy meets two conditions.

    First, its record is improbable. ``lambda(x)``, the expected number of released rows that equal x by coincidence, is
    the number of released rows times the probability of x by a tree of columns: of the pool or of the release,
    whichever gives more, because a value that a release often has is no surprise. ``E(x)`` is the sum of lambda over
    all members alone with their record who have at most that lambda, and ``10 E(x) <= 0.005``.

    Second, twins do not explain the copies. People of one dormitory, prison or family have equal records that no model
    of columns expects. Such twins also occur within the pool, and between the control and the release. Of all rare
    records (``lambda <= 0.05``) that are equal, the number that pairs a member with a released row is binomial if the
    release is leak-free, with the share of such pairs among all pairs. Its p-value must be at most 0.005. This is the
    conditional test of two Poisson rates (Przyborowski and Wilenski, 1940). Without a control the pool is the original
    alone.

    Parameters
    ----------
    pool
        The people and the released rows.
    by
        The column whose values are looked at for groups; by default each category with at most 30 values.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> from unveil.data.table.release import Release
    >>> from unveil.metrics.verdict.pooled_tables import pool_tables
    >>> original, released, control = (Table.from_frame(pl.DataFrame({"age": ages}))
    ...     for ages in ([30, 31, 31, 32], [30, 31, 35], [30, 40, 41, 42]))
    >>> found = copied_people(pool_tables(Release(original, released, control)))
    >>> found.people_unchanged, found.expected, found.rows_copied, found.copied_alone.sum()
    (3, 1.0, 2, np.int64(0))
    """
    released = np.zeros(pool.records, bool)
    released[pool.released_record] = True
    owned = np.zeros(pool.records, bool)
    owned[pool.record[pool.person < pool.members]] = True
    is_alone = pool.owners[pool.record] == 1
    copied = pool.of_people(released[pool.record])
    person, record, row = pool.owned
    single = np.flatnonzero(pool.owners[record] == 1)
    expected = np.full(person.size, nan)
    if pool.released_record.size:  # else every released row has a cell that stands for several values
        expected[single] = _expected_copies(pool, pool.rarity[row[single]], row[single])
    inside = person < pool.members
    chance = np.full(person.size, nan)
    judged = inside & ~np.isnan(expected)
    chance[judged] = coincidences(expected[judged])
    rare = released[record] & (expected <= RARE)
    p = _p_of_rare_copies(pool, int((rare & inside).sum()), int((rare & ~inside).sum()))
    certain = released[record] & (FACTOR * chance <= LEVEL) & (p <= LEVEL)
    coarse = set(pool.release.released.coarse(pool.columns))
    size = 1 + int(pool.codes.max())
    changed = in_threads(
        lambda place: _changed(pool, place, size), range(len(pool.columns)), threads=worth(pool.person.size)
    )
    unmistakable, rare_copied = np.zeros(pool.people, bool), np.zeros(pool.people, bool)
    unmistakable[person[certain]] = True
    rare_copied[person[rare]] = True
    of_person = np.full(pool.people, np.inf)
    np.fmin.at(of_person, person, chance)
    unchanged, outside = int(copied[: pool.members].sum()), int(copied[pool.members :].sum())
    share = outside / pool.others if pool.others else nan
    return CopiedPeople(
        people=pool.members,
        control_people=pool.others,
        people_unchanged=unchanged,
        control_unchanged=outside,
        control_share=share,
        expected=pool.members * share,
        rows=pool.released_record.size,
        rows_copied=int(np.count_nonzero(owned[pool.released_record])),
        unmistakable=int(unmistakable.sum()),
        coincidences=max(p, FACTOR * float(chance[certain].max())) if certain.any() else 0.0,
        p=p,
        groups=_gathered(pool, unmistakable, FACTOR * of_person <= LEVEL, divisions(pool) if by is None else [by]),
        coarsened=tuple(
            name for name, each in zip(pool.columns, changed, strict=True) if name in coarse or each.is_coarser
        ),
        relabelled=tuple(name for name, each in zip(pool.columns, changed, strict=True) if each.is_relabelled),
        copied=copied,
        copied_alone=pool.of_people(released[pool.record] & is_alone),
        chance=np.where(np.isinf(of_person), nan, of_person),
        is_unmistakable=unmistakable,
        rare_copied=rare_copied,
        rare_copies=int(rare_copied[: pool.members].sum()),
        control_rare_copies=int(rare_copied[pool.members :].sum()),
    )


def _expected_copies(pool: PooledTables, in_pool: FloatArray, rows: IntArray) -> FloatArray:
    """Return the expected number of coincident copies of rows of the pool.

    ``in_pool`` holds the logarithms of their probabilities by the tree of the pool.
    """
    in_release = pool.probabilities(pool.released_codes, pool.codes, rows)
    return pool.released_record.size * np.exp(np.maximum(in_pool, in_release))


def _p_of_rare_copies(pool: PooledTables, members: int, others: int) -> float:
    """Return the p-value of members' rare copies, against all possible pairs.

    ``members`` and ``others`` are the numbers of their rare copies.
    """
    from scipy.special import bdtrc

    if not members:
        return 1.0
    person = pool.owned[0]
    records = np.bincount(person, minlength=pool.people).astype(np.float64)
    inside = records[: pool.members].sum() * pool.released_record.size
    with_release = records.sum() * pool.released_record.size
    within_pool = (records.sum() ** 2 - (records**2).sum()) / 2
    coincidences = members + others + _rare_twins(pool)
    return float(bdtrc(members - 1, coincidences, inside / (with_release + within_pool)))


def _rare_twins(pool: PooledTables) -> int:
    """Return the number of rare records that several people share."""
    first = np.full(pool.records, -1)
    first[pool.record[::-1]] = np.arange(pool.record.size)[::-1]
    shared = first[pool.owners > 1]
    if not shared.size:
        return 0
    # Each record counts once, as that of a person without a twin does: twins would make one another probable.
    distinct = pool.probabilities(pool.codes[first[first >= 0]], pool.codes, shared)
    return int(np.count_nonzero(_expected_copies(pool, distinct, shared) <= RARE))


def _gathered(
    pool: PooledTables, copies: BoolArray, improbable: BoolArray, every: Sequence[Division]
) -> tuple[CopiedGroup, ...]:
    """Return subgroups with many copies, after Holm's correction.

    The chance is that of copies which fall on any person with an ``improbable`` record: no other record can be one.
    """
    number, possible = int(copies.sum()), int(improbable.sum())
    if number == 0:
        return ()
    seen = []
    for each in every:
        for place, value in enumerate(each.values):
            people = people_with(pool, each, place)
            size, hits = int(people[: pool.members].sum()), int((people & copies).sum())
            if 0 < size < pool.members:
                could = int((people & improbable).sum())
                chance = hypergeometric_p(hits, number - hits, could, possible - could)
                seen.append((chance, each.column, value, size, hits))
    seen.sort(key=lambda one: one[0])
    adjusted = holm(np.array([chance for chance, *_ in seen]))
    return tuple(
        CopiedGroup(column=column, value=value, people=size, copies=hits, p=p)
        for p, (_, column, value, size, hits) in zip(adjusted.tolist(), seen, strict=True)
        if p <= GROUP_LEVEL
    )


class _ColumnChange(NamedTuple):
    is_coarser: bool
    is_relabelled: bool


def _changed(pool: PooledTables, place: int, size: int) -> _ColumnChange:
    """Return whether a column was generalized, and whether it was relabeled.

    It has other labels if most released rows have one that no person in the pool has.
    """
    kind = pool.release.original.column(pool.columns[place]).kind
    here, there = (code_counts(codes[:, place], size) for codes in (pool.codes, pool.released_codes))
    if kind in ("category", "ordered", "boolean"):
        return _ColumnChange(False, bool(2 * there[: here.size][here > 0].sum() < there.sum()))
    here[0] = there[0] = 0
    return _ColumnChange(kind in ("number", "date") and _is_coarser(here, there), False)


def _is_coarser(here: IntArray, there: IntArray) -> bool:
    """Return whether the release has far fewer distinct values than expected.

    This many are those that rows drawn like the pool, or like the release, would have: rounding takes most of them, and
    a real number that was rounded is no person's at all. ``here`` and ``there`` are how many people, and how many
    released rows, have each.
    """
    people, rows = int(here.sum()), int(there.sum())
    if rows < _LEAST_ROWS or people == 0:
        return False
    usual = max(_usual_share(count, rows) for count in (here, there))
    released = int(here[there[: here.size] > 0].sum())
    return usual >= _LEAST_USUAL and released / people < _COARSE * usual


def _usual_share(count: IntArray, rows: int) -> float:
    """Return the expected share of people with a sampled value.

    Each person is left out of the counts: a value that no person shares is not expected among others.
    """
    others = (np.maximum(count, 1) - 1) / max(1, int(count.sum()) - 1)
    return float((count * (1 - (1 - others) ** rows)).sum()) / int(count.sum())


def fewest_copies_provable(members: int, others: int, *, p: float = LEVEL) -> int | None:
    """Return the smallest number of detectable copies, without control copies.

    k people, all of them members, have the probability N (N-1) ... / ((N+m) (N+m-1) ...) by chance, about (N /
    (N+m))^k. None where even all members would not be proved.

    >>> [fewest_copies_provable(100_000, m) for m in (100_000, 50_000, 25_000, 10_000)]
    [8, 14, 24, 56]
    """
    chance = 1.0
    for copied in range(members):
        chance *= (members - copied) / (members + others - copied)
        if chance <= p:
            return copied + 1
    return None
