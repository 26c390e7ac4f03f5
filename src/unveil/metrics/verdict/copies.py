"""Exact copies, counted as people: who stands in the release word for word, and whom no coincidence explains."""

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

#: What a tree of columns cannot know: at least so many times more coincidences are allowed for.
FACTOR = 10
#: How often a harmless release may have an unmistakable copy.
LEVEL = 0.005
#: How sure it is that copies gather in a group before that is named.
GROUP_LEVEL = 0.05
#: A column is coarser if the release has less than this share of the values that are usual. It takes so many rows to
#: tell, and values that repeat: so large a share of people must usually have one that is released.
_COARSE = 0.6
_LEAST_ROWS = 20
_LEAST_USUAL = 0.5


@dataclass(frozen=True, kw_only=True)
class CopiedGroup:
    """People who share a value and among whom unmistakable copies gather.

    ``people`` of the data have the value, ``copies`` of them are unmistakable copies, and ``p`` is how often as many
    fall on them where copies fall on anybody, after Holm's correction for all values that were looked at.
    """

    COUNTS = "people"

    column: str = figure("The column that this is about.")
    value: str | None = figure("The value that the group shares; null where it is too small to be named.")
    people: int = figure("How many people there are.")
    copies: int = figure("How many of them are copied.")
    p: float = figure(
        "How likely at least as much would be if nobody were worse off for being in the data.", counts="statistic"
    )


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
        The share of the control that does, by coincidence, and so many people of the data as that would be. NaN
        without a control.
    rows, rows_copied
        The number of released rows, and how many of them equal a row of somebody in the data.
    unmistakable
        How many people in the data are alone in the pool with a record that is released and too improbable for
        coincidence.
    coincidences
        How many such people a harmless release would have at most, as expected for those whose records are at most as
        probable as the most probable unmistakable copy, with all that is allowed for; 0 where there is none.
    groups
        Values of a column among whose people unmistakable copies gather; from the surest.
    coarsened
        Columns of numbers or dates of which the release has far fewer values than usual, as after rounding: in them
        hardly anybody can be equal.
    relabelled
        Categories of which most released rows have a value that nobody in the pool has.
    copied, copied_alone
        Whether a released row equals one of each person's of the pool, or one that nobody else in the pool has.
    chance
        For each member with a record that nobody else in the pool has: how many coincidences are expected among all
        members whose records are at most as probable, by the tree alone. NaN for all others.
    is_unmistakable
        Which people of the pool are unmistakable copies.
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
    groups: tuple[CopiedGroup, ...]
    coarsened: tuple[str, ...]
    relabelled: tuple[str, ...]
    copied: BoolArray = field(repr=False)
    copied_alone: BoolArray = field(repr=False)
    chance: FloatArray = field(repr=False)
    is_unmistakable: BoolArray = field(repr=False)


def copied_people(pool: PooledTables, *, by: Division | None = None) -> CopiedPeople:
    """Return who stands in the release unchanged, beside people who are not in the data.

    Counting can prove no single copy: of two people of the pool who could have been copied, one in the data and one
    not, either is as likely. What can is the record. ``lambda(x)``, the released rows that equal x by coincidence, is
    the number of released rows times the probability of x by a tree of columns: of the pool or of the release,
    whichever gives more, because what a release says often is no surprise. What a tree cannot know, as siblings or
    rules of three columns, is allowed for: lambda is taken ten times, and as often as people of the pool equal one
    another who should not (:func:`unveil.metrics.verdict.copies.twin_curve`), whichever is more. ``E(x)`` is the sum of
    that over all members alone with their record who have at most that lambda, and x is unmistakable if it is released
    and ``E(x) <= 0.005``. Without a control the pool is the original alone.

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
    chance, allowed = _chances(pool)
    coarse = set(pool.release.released.coarse(pool.columns))
    size = 1 + int(pool.codes.max())
    changed = in_threads(
        lambda place: _changed(pool, place, size), range(len(pool.columns)), threads=worth(pool.person.size)
    )
    certain = allowed <= LEVEL
    person, record, _ = pool.owned
    unmistakable = np.zeros(pool.people, bool)
    unmistakable[person[certain & released[record]]] = True
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
        coincidences=float(allowed[certain & released[record]].max(initial=0.0)),
        groups=_gathered(pool, unmistakable, divisions(pool) if by is None else [by]),
        coarsened=tuple(
            name for name, each in zip(pool.columns, changed, strict=True) if name in coarse or each.is_coarser
        ),
        relabelled=tuple(name for name, each in zip(pool.columns, changed, strict=True) if each.is_relabelled),
        copied=copied,
        copied_alone=pool.of_people(released[pool.record] & is_alone),
        chance=np.where(np.isinf(of_person), nan, of_person),
        is_unmistakable=unmistakable,
    )


def _chances(pool: PooledTables) -> tuple[FloatArray, FloatArray]:
    """Return E of each record of each person (see `PooledTables.owned`), by the tree alone, and with all allowances.

    It is NaN for whoever is no member, and for one who is not alone.
    """
    person, record, row = pool.owned
    found = np.full((2, person.size), nan)
    counts = np.flatnonzero((person < pool.members) & (pool.owners[record] == 1))
    rows, released = row[counts], pool.released_record.size
    if not released:  # every released row has a cell that stands for several values
        return found[0], found[1]
    by_tree = released * np.exp(
        np.maximum(pool.rarity[rows], pool.probabilities(pool.released_codes, pool.codes, rows))
    )
    others = max(pool.people - 1, 1)
    # Each record once, as if it had no twin: twins would vouch for one another.
    first = _one_of_each(pool.record, pool.records)
    no_twins = first.size == pool.record.size
    each = np.exp(pool.rarity[first] if no_twins else _rarity_of(pool, first))
    impossible = FACTOR * released * each <= LEVEL
    curve = twin_curve(others * each, pool.owners[pool.record[first]] > 1, impossible)
    by_twins = curve.number(by_tree * others / released) * released / others
    every = by_tree, np.maximum(FACTOR * by_tree, by_twins)
    for line, each in zip(found, in_threads(coincidences, every, threads=worth(counts.size)), strict=True):
        line[counts] = each
    return found[0], found[1]


def _one_of_each(record: IntArray, records: int) -> IntArray:
    """Return the first row of each record that is there, in the order of the records."""
    row = np.full(records, -1)
    row[record[::-1]] = np.arange(record.size)[::-1]
    return row[row >= 0]


def _rarity_of(pool: PooledTables, rows: IntArray) -> FloatArray:
    some = pool.codes[rows]
    return pool.probabilities(some, some)


def _gathered(pool: PooledTables, copies: BoolArray, every: Sequence[Division]) -> tuple[CopiedGroup, ...]:
    """Return the values among whose people copies gather, after Holm's correction for all of them."""
    number = int(copies.sum())
    if number == 0:
        return ()
    seen = []
    for each in every:
        for place, value in enumerate(each.values):
            people = people_with(pool, each, place)[: pool.members]
            size, hits = int(people.sum()), int((people & copies[: pool.members]).sum())
            if 0 < size < pool.members:
                chance = hypergeometric_p(hits, number - hits, size, pool.members - size)
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
    """Return whether a column, of codes below ``size`` in the pool, was made coarser, and whether it has other labels.

    It has other labels if most released rows have one that nobody in the pool has.
    """
    kind = pool.release.original.column(pool.columns[place]).kind
    here, there = (code_counts(codes[:, place], size) for codes in (pool.codes, pool.released_codes))
    if kind in ("category", "ordered", "boolean"):
        return _ColumnChange(False, bool(2 * there[: here.size][here > 0].sum() < there.sum()))
    here[0] = there[0] = 0
    return _ColumnChange(kind in ("number", "date") and _is_coarser(here, there), False)


def _is_coarser(here: IntArray, there: IntArray) -> bool:
    """Return whether the release has far fewer of people's numbers or dates than so many rows have if drawn at random.

    So many are those that rows drawn like the pool, or like the release, would have: rounding takes most of them, and
    a real number that was rounded is nobody's at all. ``here`` and ``there`` are how many people, and how many released
    rows, have each.
    """
    people, rows = int(here.sum()), int(there.sum())
    if rows < _LEAST_ROWS or people == 0:
        return False
    usual = max(_usual_share(count, rows) for count in (here, there))
    released = int(here[there[: here.size] > 0].sum())
    return usual >= _LEAST_USUAL and released / people < _COARSE * usual


def _usual_share(count: IntArray, rows: int) -> float:
    """Return the share of people whose value is among so many rows, where both are drawn from these counts.

    Each person is left out of the counts: a value that nobody shares is not expected among others.
    """
    others = (np.maximum(count, 1) - 1) / max(1, int(count.sum()) - 1)
    return float((count * (1 - (1 - others) ** rows)).sum()) / int(count.sum())


# How much oftener people equal one another than a tree of columns expects, learned from the people themselves.
#
# Siblings, dormitories and rules of three columns make twins where a tree sees none. How many there are among records
# that it calls improbable says how far it may be trusted.

#: A record of which the tree expects e twins has a e**b, b among these: 1 is a tree that is right but for a factor.
EXPONENTS = np.linspace(0.0, 1.0, 21)
_STEPS = 80
#: Beyond what is looked for: e to the power of this is more than any number of people.
_FAR = 200.0


class TwinCurve(NamedTuple):
    """How many twins records have, by how many the tree expects.

    Attributes
    ----------
    log_factor, exponent
        log(a) and b of the likeliest curve a e**b; minus infinity and 1 where nobody has a twin.
    anyhow
        The share of records with twins among those that the tree calls impossible: so many any record has, however
        improbable it is.
    """

    log_factor: float
    exponent: float
    anyhow: float

    def number(self, expected: FloatArray) -> FloatArray:
        """Return how many twins records have of which the tree expects so many."""
        curve = np.exp(np.minimum(self.log_factor + self.exponent * np.log(expected), _FAR))
        return np.asarray(curve + self.anyhow, np.float64)


def twin_curve(expected: FloatArray, has_twin: BoolArray, impossible: BoolArray) -> TwinCurve:
    """Return how many twins people have, by different records of which the tree expects so many twins each.

    A record has none with the probability exp(-a e**b); a and b are the likeliest. ``impossible`` marks the records
    that the tree calls so.

    >>> found = twin_curve(np.array([0.5, 0.5, 1e-6, 1e-6]), np.array([1, 0, 0, 1]) > 0, np.array([0, 0, 1, 1]) > 0)
    >>> found.exponent, found.anyhow, found.number(np.array([1e-9])).round(2)
    (0.0, 0.5, array([1.19]))
    """
    if not has_twin.any():
        return TwinCurve(-np.inf, 1.0, 0.0)
    logs, place = np.unique(np.log(expected).round(2), return_inverse=True)
    twins, single = np.bincount(place, has_twin, logs.size), np.bincount(place, ~has_twin, logs.size)
    sloped = EXPONENTS[:, None] * logs
    low, high = np.full(EXPONENTS.size, -_FAR), np.full(EXPONENTS.size, _FAR)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        number = np.exp(np.minimum(middle[:, None] + sloped, _FAR))
        # The slope of the log-likelihood in log(a), which falls: x / (e**x - 1) is 1 at 0.
        slope = (twins * number / np.maximum(np.expm1(np.minimum(number, _FAR)), 1e-300)).sum(axis=1)
        rises = slope > (single * number).sum(axis=1)
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    number = np.exp(np.minimum(low[:, None] + sloped, _FAR))
    likely = (twins * np.log(np.maximum(-np.expm1(-number), 1e-300))).sum(axis=1) - (single * number).sum(axis=1)
    # Of curves as likely as each other the one that falls most.
    best = EXPONENTS.size - 1 - int(np.argmax(likely[::-1]))
    anyhow = float(has_twin[impossible].mean()) if impossible.any() else 0.0
    return TwinCurve(float(low[best]), float(EXPONENTS[best]), anyhow)
