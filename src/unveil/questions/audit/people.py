"""Targets of an audit: all people or a random sample, pooled."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.data.files.column_store import arrays_on_disk
from unveil.data.table import Table, stacked
from unveil.data.table.release import Knowledge, Release
from unveil.guesses.trials import Attempts, Trials, mean_of_rows
from unveil.metrics.verdict.pool import ATTACKED_UP_TO, Pool
from unveil.metrics.verdict.pooled_tables import PooledTables, number_people, pool_tables

if TYPE_CHECKING:
    import polars as pl

    from unveil.metrics.verdict.control import ControlCheck
    from unveil.metrics.verdict.groups import Division, PoolGroup

#: The group of each row of the original, None where it is missing, and the same of the control table.
Labels = tuple[tuple[str | None, ...], tuple[str | None, ...] | None]
#: How many people of each table are attacked: so many, everybody (None), or what the number of people allows.
Targets = int | None | Literal["auto"]
#: The pool of those who are attacked, and that of everybody, whom cheap attacks look at; the same where all are. What
#: was learned from some people is measured on others.
PeopleSelection = Literal["attacked", "everybody", "measured"]
#: An adversary learns from so many people of each table at least, and is measured on so many others.
LEAST_LEARNING = 100
#: With fewer people outside the data nobody can show how people lie anyhow.
LEAST_OUTSIDE = 60
#: More people than that show nothing new about how people lie, and take long to look through.
MOST_POPULATION = 5_000


class LearnMeasureSplit(NamedTuple):
    """A random split of people into population, learning set and measured set.

    Rows are those of the original or of the control; nobody is in two parts. Nothing that is chosen or learned may look
    at those who are measured, and who has been learned from is never measured.
    """

    #: Of the control: they show how people lie anyhow, and are not attacked.
    population: IntArray
    #: Of the original and of the control. With too few to learn from there are none of the original, and those of the
    #: control only show how high people score who are not in the data.
    learning: tuple[IntArray, IntArray]
    measured: tuple[IntArray, IntArray]

    @property
    def learns(self) -> bool:
        """Whether there are people to learn from."""
        return self.learning[0].size > 0


class RowsByPerson(NamedTuple):
    """Rows of one table sorted by person, with their people."""

    rows: IntArray
    person: IntArray

    @property
    def people(self) -> int:
        """How many people they are."""
        return self._starts.size - 1

    def people_of(self, rows: int) -> int:
        """Return how many first people have at most ``rows`` rows together."""
        return max(1, int(np.searchsorted(self._starts, rows, side="right")) - 1)

    @property
    def _starts(self) -> IntArray:
        return np.append(np.flatnonzero(np.diff(self.person, prepend=-1)), self.rows.size)

    def split(self, people: int) -> "tuple[RowsByPerson, RowsByPerson]":
        """Return the rows of the first people, and the remaining rows."""
        place = int(self._starts[people])
        # A few people are copied, so that they do not keep everybody.
        some = RowsByPerson(self.rows[:place].copy(), self.person[:place].copy())
        return some, RowsByPerson(self.rows[place:], self.person[place:])

    def divided(self, first: BoolArray) -> "tuple[RowsByPerson, RowsByPerson]":
        """Return these rows and the rest, without splitting a person."""
        return RowsByPerson(self.rows[first], self.person[first]), RowsByPerson(self.rows[~first], self.person[~first])


def draw_people(table: Table, *, rng: np.random.Generator, person: IntArray | None = None) -> RowsByPerson:
    """Return people in a random order that depends on content alone.

    Rows that are equal in all columns are interchangeable. ``person`` says whose each row is, where some have several.

    >>> import polars as pl
    >>> people = draw_people(Table.from_frame(pl.DataFrame({"age": range(9)})), rng=np.random.default_rng(1))
    >>> people.split(3)[0].rows.size
    3
    """
    content = table.content_order()
    if person is None:
        order = content[rng.permutation(content.size)]
        return RowsByPerson(order, order)
    # People are known by the first of their rows, in the order of what rows hold.
    _, first, own = np.unique(person[content], return_index=True, return_inverse=True)
    place = np.empty(first.size, np.int64)
    place[np.argsort(first)[rng.permutation(first.size)]] = np.arange(first.size)
    order = content[np.argsort(place[own], kind="stable")]
    return RowsByPerson(order, person[order])


def divide_people(inside: RowsByPerson, outside: RowsByPerson, waiting: RowsByPerson) -> LearnMeasureSplit | None:
    """Return the targets in folds; None without enough control people.

    A third of the people outside shows the population, those first who are not attacked anyhow; half of the others are
    there to learn from, with as many members, but at most a third of these, and no member where that would be fewer
    than 100 of either.
    """
    others = outside.people + waiting.people
    if others < LEAST_OUTSIDE:
        return None
    shown = waiting.split(min(others // 3, waiting.people, MOST_POPULATION))[0]
    attacked, more = outside.split(outside.people - max(others // 3 - waiting.people, 0))
    learning = attacked.people // 2
    known = min(learning, inside.people // 3)
    own, other = inside.split(known if known >= LEAST_LEARNING else 0), attacked.split(learning)
    population = np.concatenate([more.rows, shown.rows])
    return LearnMeasureSplit(population, (own[0].rows, other[0].rows), (own[1].rows, other[1].rows))


@dataclass(frozen=True, kw_only=True, eq=False)
class TargetPool:
    """Pool of original and control people, with targets and subgroups.

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
    parts
        Who is there to learn from, and who is measured then; None without a control that can be divided.
    by_lot
        Whether the two tables are known to be one that was divided by lot, so that they are of one kind.
    """

    everybody: PooledTables
    inside: IntArray
    outside: IntArray
    control: "ControlCheck"
    by: "Division | None" = None
    groups: "tuple[PoolGroup, ...]" = ()
    parts: LearnMeasureSplit | None = None
    by_lot: bool = False

    @property
    def compares(self) -> bool:
        """Whether there is a control that anything may be compared with."""
        return self.control.outcome in ("usable", "overlap")

    @property
    def all_attacked(self) -> bool:
        """Whether every person is a target, so that there is one pool."""
        return self.inside.size + self.outside.size == self.everybody.person.size

    @property
    def has_several_rows(self) -> bool:
        """Whether a person has more than one row."""
        return self.everybody.person.size > self.everybody.people

    def rows(self, which: PeopleSelection) -> IntArray:
        """Return pool rows, with control rows counted after the original's."""
        if which == "everybody":
            return np.arange(self.everybody.person.size)
        inside, outside = self.inside, self.outside
        if which == "measured" and self.parts is not None:
            inside, outside = self.parts.measured
        return np.concatenate([inside, self.everybody.release.original.rows + outside])

    def person(self, which: PeopleSelection) -> IntArray | None:
        """Return each pool row's person; None where each row is one."""
        return self.everybody.person[self.rows(which)] if self.has_several_rows else None

    def is_member(self, which: PeopleSelection) -> BoolArray:
        """Return which rows of a pool are of people in the data."""
        return self.rows(which) < self.everybody.release.original.rows

    def over_everybody(self, scores: FloatArray | BoolArray) -> FloatArray:
        """Return the targets' scores in the order of all people, else 0."""
        placed = np.zeros(self.everybody.person.size)
        placed[self.rows("attacked")] = scores
        return placed

    def of_small_groups(self) -> "TargetPool | None":
        """Return all people of small subgroups as targets, or None.

        Of many people few are drawn who belong to a small group, and what befalls it would go unseen.
        """
        from unveil.metrics.verdict.groups import small_groups

        small = small_groups(self.everybody, self.groups) if self.by is not None and not self.all_attacked else ()
        if not small:
            return None
        belongs = np.any([group.people for group in small], axis=0)[self.everybody.person]
        # By what rows hold, and not by where they stand.
        ordered = np.argsort(self.everybody.record, kind="stable")
        rows, members = ordered[belongs[ordered]], self.everybody.release.original.rows
        return replace(
            self, inside=rows[rows < members], outside=rows[rows >= members] - members, groups=small, parts=None
        )

    def pool(self, which: PeopleSelection) -> Pool:
        """Return a pool as labels are drawn of it."""
        rows = self.rows(which)
        contents = self.everybody.record[rows]
        if self.by is not None:
            # People who are equal but for the group must not swap places.
            contents = contents * (len(self.by.values) + 1) + self.by.of_row[rows] + 1
        household = self.everybody.household
        return Pool(
            is_member=self.is_member(which),
            contents=contents,
            person=self.person(which),
            household=None if household is None else household[self.everybody.person[rows]],
        )


@dataclass(frozen=True, kw_only=True)
class TargetSample:
    """Targets of one release, with as many controls and their subgroups."""

    release: Release
    people: TargetPool
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
        """Rows that set the column ranges of all people."""
        names = self.release.original.column_names
        tables = [table for table in (self.release.original, self.release.control) if table is not None]
        # Of each table first, so that nobody has to be put below everybody else.
        return stacked([table.select(names).extremes() for table in tables], names).extremes()

    def knowledge(self, at_most: int | None = None) -> Knowledge:
        """Return the attacker's columns of targets and of control people."""
        control = self.release.control
        return Knowledge(
            self.release.original.take(self.people.inside[:at_most]),
            None if control is None else control.take(self.people.outside[:at_most]),
            scale=self.scale,
        )

    @property
    def parts(self) -> LearnMeasureSplit | None:
        """Training and measured people; None without a divisible control group."""
        return self.people.parts

    @property
    def whole(self) -> Knowledge:
        """Everyone in the original and in the control table."""
        return Knowledge(self.release.original, self.release.control)


def number_households(pool: PooledTables, columns: "Sequence[pl.Series]") -> IntArray:
    """Return each pool person's household.

    The two tables share no household, whatever they are called: a household that stands in both was not drawn as a
    whole. A person without one lives alone; one with several rows lives in the household of the first of them.
    """
    numbers: list[IntArray] = []
    for column in columns:
        own = number_people(column, len(column), "the household column")
        numbers.append(own + (numbers[-1].max(initial=-1) + 1 if numbers else 0))
    _, first = np.unique(pool.person, return_index=True)
    return np.concatenate(numbers)[first]


def pool_people(release: Release, ids: "tuple[pl.Series | None, pl.Series | None]") -> PooledTables:
    """Return all people and released rows, coded together."""
    made = pool_tables(release, ids=ids[0], control_ids=ids[1])
    names = ("codes", "released_codes", "record", "released_record", "person")
    return replace(made, **{name: arrays_on_disk(getattr(made, name), release.original.store) for name in names})


def most_attacked(targets: Targets, members: int, others: int) -> int | None:
    """Return the number of targets per table; None for all.

    >>> most_attacked("auto", 3000, 2000), most_attacked("auto", 3000, 2001), most_attacked(500, 3000, 2001)
    (None, 2500, 500)
    """
    if targets != "auto":
        return targets
    return None if members + others <= ATTACKED_UP_TO else ATTACKED_UP_TO // 2


def per_person(
    trials: Trials,
    people: TargetPool,
    which: PeopleSelection = "attacked",
    *,
    rows: tuple[IntArray, IntArray] | None = None,
) -> Trials:
    """Return one try per person: the mean chance over the person's rows.

    Positions of tries are those of a pool, or of ``rows`` of the original and of the control. In what is returned each
    try is at the first position of its person. Where nobody has several rows, or tries are about no row, the trials are
    returned unchanged.
    """
    if not people.has_several_rows or trials.attack.rows is None or trials.attack.chances is None:
        return trials
    members = people.everybody.release.original.rows
    if rows is None:
        every, is_member = people.rows(which), people.is_member(which)
        rows = every[is_member], every[~is_member] - members
    inside, outside = people.everybody.person[rows[0]], people.everybody.person[members + rows[1]]
    attack = _mean(trials.attack, inside)
    return replace(
        trials,
        attack=attack,
        # Blind guesses need not be about a row: then their rate stays.
        naive=_as_many(trials.naive, attack.tries) if trials.naive.rows is None else _mean(trials.naive, inside),
        control=None if trials.control is None else _mean(trials.control, outside),
    )


def _mean(attempts: Attempts, person: IntArray) -> Attempts:
    if attempts.rows is None or attempts.chances is None:  # attacks on people leave both
        return attempts
    whose = person[attempts.rows]
    _, first = np.unique(whose, return_index=True)
    return Attempts.from_chances(mean_of_rows(attempts.chances, whose), rows=attempts.rows[first])


def _as_many(attempts: Attempts, tries: int) -> Attempts:
    """Return the same rate for another number of attempts."""
    low, expected, high = (tries * each / attempts.tries for each in (attempts.low, attempts.expected, attempts.high))
    return Attempts(tries=tries, low=low, expected=max(low, expected), high=min(max(expected, high), tries))
