"""Random design of generator runs: held-out records and canaries."""

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import BoolArray, IntArray
from unveil.errors import InputError
from unveil.metrics.verdict.pool import ATTACKED_UP_TO
from unveil.questions.audit.generator.settings import FEWEST_HELD_OUT, GeneratorSettings
from unveil.questions.audit.people import Targets, draw_people

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.metrics.epsilon.bound import Adjacency

#: More siblings of a person hardly calibrate better, and take long.
MOST_SIBLINGS = 10
#: Seeds that every program can take.
_SEEDS = 2**31 - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class GeneratorRun:
    """One run: people given to the generator, and people held out.

    Attributes
    ----------
    number, seed
        Its place among all runs, from 0 on, and where the generator's randomness may start.
    round
        Its round: each round divides the people anew.
    fold
        The part of the people who are held out.
    given
        All rows that the generator is given, planted ones among them.
    inside, outside
        Rows of people who are given to it and who are not; canaries are among neither.
    coins
        For each canary whether it was planted, or for each pair whether the first of the two was.
    """

    number: int
    seed: int
    round: int
    fold: int
    given: IntArray
    inside: IntArray
    outside: IntArray
    coins: BoolArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """All runs of a generator.

    Attributes
    ----------
    person
        Whose each row of the table is, from 0 on.
    fold
        In which part each person is, at [round, person]; -1 is never held out.
    folds
        How many parts are held out in turn in each round.
    attacked
        The people who are attacked, in an order by lot: the same in all runs.
    unit
        The household of each person, whose people are held out together; without households each person alone.
    canaries
        The rows of canaries: one column, or two where they are pairs.
    runs
        The runs, in their order.
    """

    person: IntArray
    unit: IntArray
    fold: IntArray
    folds: int
    attacked: IntArray
    canaries: IntArray
    runs: tuple[GeneratorRun, ...]

    @property
    def people(self) -> int:
        """How many people there are."""
        return len(self.fold[0])

    @property
    def siblings(self) -> int:
        """Number of runs that are sibling releases for a person: one of each other round that is complete."""
        return min(max(len(self.runs) // self.folds - 1, 0), MOST_SIBLINGS) if self.folds > 1 else 0

    def is_held_out(self, run: GeneratorRun) -> BoolArray:
        """Return which people are held out of a run."""
        held_out: BoolArray = self.fold[run.round] == run.fold
        return held_out

    def siblings_of(self, run: GeneratorRun) -> list[GeneratorRun]:
        """Return the runs of other rounds; of each round, one did not see the person.

        Everybody has equally many siblings, and which they are does not depend on who is held out of the run itself.
        """
        complete = len(self.runs) // self.folds
        others = [each for each in range(complete) if each != run.round]
        near = sorted(others, key=lambda each: (each - run.round) % len(self.fold))[: self.siblings]
        return [each for each in self.runs if each.round in near]


def draw_design(
    table: "Table",
    settings: GeneratorSettings,
    *,
    person: IntArray,
    adjacency: "Adjacency",
    unit: IntArray | None = None,
    targets: Targets = "auto",
    rng: np.random.Generator,
) -> Design:
    """Return random held-out records of each run, and random canaries.

    People are drawn by what their rows hold and not by where these stand. Rows above those of ``person`` are unusual
    ones, put together to be planted.

    Parameters
    ----------
    table
        Everybody, with rows that are only there to be planted at the end.
    settings
        How people are held out.
    person
        Whose each row is that is somebody's.
    adjacency
        What epsilon is about: pairs are planted where one person is replaced by another.
    unit
        The household of each person, if people of a household are held out together.
    targets
        How many people are attacked, as in an audit: with folds twice so many, the same in all of them.
    rng
        Where the lot comes from.
    """
    rows = person.size
    several = rows > np.unique(person).size
    own = table.take(np.arange(rows))
    own_unit = np.arange(int(person.max(initial=-1)) + 1) if unit is None else unit
    drawn = draw_people(own, rng=rng, person=own_unit[person] if several or unit is not None else None)
    order, units = (_in_order_of_rows(each[drawn.rows]) for each in (person, own_unit[person]))
    folds = settings.folds_of_round
    held = _number_held_out(units.size, settings, whose="people" if unit is None else "households")
    first_units = _attacked_units(units, np.bincount(own_unit), targets)
    attacked = order[np.isin(own_unit[order], units[:first_units])]
    place, of_unit = np.arange(units.size), np.empty(units.size, np.int64)
    of_unit[units] = place % folds if folds > 1 else np.where(place < held, 0, -1)
    fold = np.full((settings.rounds, order.size), -1, np.int64)
    fold[0] = of_unit[own_unit]
    if settings.canaries is not None and settings.canaries.kind == "people" and unit is not None:
        raise InputError(
            "Households are held out whole, so single people are no canaries. Use outlier canaries (N:outliers)"
        )
    canaries = _canaries(order[:held], person, table.rows, settings, pairs=adjacency == "replace", several=several)
    runs = []
    for number in range(settings.all_runs):
        part, now = number % folds, number // folds if folds > 1 else 0
        if now and not part:
            # Those who are attacked are divided apart from others, as in the first round.
            divided = [rng.permutation(some) for some in np.split(units, [first_units])]
            of_unit[np.concatenate(divided)] = place % folds
            fold[now] = of_unit[own_unit]
        coins = rng.random(len(canaries)) < 0.5
        is_out = np.isin(person, np.flatnonzero(fold[now] == part))
        given, inside, outside = _rows_of_run(is_out, canaries, coins)
        seed = int(rng.integers(_SEEDS))
        runs.append(
            GeneratorRun(
                number=number, seed=seed, round=now, fold=part, given=given, inside=inside, outside=outside, coins=coins
            )
        )
    return Design(
        person=person,
        unit=own_unit,
        fold=fold,
        folds=folds,
        attacked=attacked,
        canaries=canaries,
        runs=tuple(runs),
    )


def _rows_of_run(is_out: BoolArray, canaries: IntArray, coins: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the rows that a run is given, and those of people inside and outside, who are no canaries."""
    free = ~np.isin(np.arange(is_out.size), canaries)
    inside = np.flatnonzero(~is_out & free)
    planted = canaries[:, 0][coins] if canaries.shape[1] == 1 else canaries[np.arange(len(canaries)), 1 - coins]
    return np.sort(np.concatenate([inside, planted])), inside, np.flatnonzero(is_out & free)


def _in_order_of_rows(numbers: IntArray) -> IntArray:
    """Return distinct numbers in the order in which they occur first.

    >>> _in_order_of_rows(np.array([4, 2, 4, 0])).tolist()
    [4, 2, 0]
    """
    found: IntArray = numbers[np.sort(np.unique(numbers, return_index=True)[1])]
    return found


def _attacked_units(units: IntArray, sizes: IntArray, targets: Targets) -> int:
    """Return how many first units are attacked: whole households, of at most as many people as are attacked."""
    most = ATTACKED_UP_TO if targets == "auto" else targets if targets is None else 2 * targets
    if most is None:
        return units.size
    return max(1, int(np.searchsorted(np.cumsum(sizes[units]), most, side="right")))


def _number_held_out(people: int, settings: GeneratorSettings, *, whose: str = "people") -> int:
    """Return the number of people, or households, held out at a time."""
    folds = settings.folds_of_round
    held = people // folds if folds > 1 else round(people * settings.share_held_out)
    least = FEWEST_HELD_OUT
    if held < least or people - held < least:
        which = f"{settings.folds} folds" if settings.folds else f"a share of {settings.share_held_out:g}"
        more = "Take fewer folds" if settings.folds else f"Take another share, such as {_enough(least, people)}"
        hint = more if people >= 2 * least else f"Audit at least {2 * least} {whose}"
        raise InputError(
            f"With {which}, {held:,} of {people:,} {whose} are held out. At least {least} must be held out, and as "
            f"many given to the generator. {hint}"
        )
    return held


def _enough(needed: int, people: int) -> str:
    return f"{min(ceil(100 * needed / people) / 100, 0.5):g}"


def _canaries(
    held: IntArray, person: IntArray, rows: int, settings: GeneratorSettings, *, pairs: bool, several: bool
) -> IntArray:
    """Return the rows of canaries: held-out people, or synthetic outliers."""
    each = 2 if pairs else 1
    if settings.canaries is None:
        return np.empty((0, 1), np.int64)
    if settings.canaries.kind == "unusual":
        return np.arange(person.size, rows).reshape(-1, each)
    if several:
        raise InputError(
            "Canaries need one row per person, but some people have several. Use outlier canaries (N:outliers)"
        )
    needed = each * settings.canaries.number
    if held.size - needed < FEWEST_HELD_OUT:
        most = max(held.size - FEWEST_HELD_OUT, 0) // each
        raise InputError(
            f"{settings.canaries.number:,} canaries{' in pairs' if pairs else ''} need {needed:,} held-out people "
            f"and {FEWEST_HELD_OUT} more, but only {held.size:,} are held out. Use at most {most:,} canaries, "
            "hold out more people, run the generator more often, or use outlier canaries (N:outliers)"
        )
    # Each person has one row: whom the lot names is a row.
    row_of = np.argsort(person)
    return row_of[held[:needed]].reshape(-1, each)
