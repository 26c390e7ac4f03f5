"""Unicity: whether a few known points of a person single out the person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, nan
from typing import NamedTuple

import numpy as np

from unveil._figure import figure
from unveil._kernels._compile import kernel
from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.data.histories import History
from unveil.errors import InputError, whole_number
from unveil.metrics._listing import metric

_SOURCE = "de Montjoye, Hidalgo, Verleysen and Blondel, Unique in the crowd, 2013"
#: People measured, and subsets of a person: all up to here, else as many as the last number.
PEOPLE, SUBSETS, DRAWN_SUBSETS = 2_000, 200, 10
_NORMAL_QUANTILE = 1.96


class PointIndex(NamedTuple):
    """Distinct points of each person, and the people who have each point.

    Person ``i`` has ``point[start[i]:start[i + 1]]``; point ``v`` is had by ``person[posting[v]:posting[v + 1]]``,
    ascending.
    """

    start: IntArray
    point: Int32Array
    posting: IntArray
    person: Int32Array

    @classmethod
    def of(cls, person: IntArray, point: IntArray) -> "PointIndex":
        """Return the index of records, each a person and a point; -1 is no point."""
        seen = point >= 0
        if not seen.any():
            raise InputError("No record has a point. Name columns with values")
        people, points = int(person.max()) + 1, int(point.max()) + 1
        key = np.unique(person[seen] * points + point[seen])
        owner, value = (key // points).astype(np.int32), (key % points).astype(np.int32)
        order = np.argsort(value, kind="stable")
        start = np.searchsorted(owner, np.arange(people + 1))
        return cls(start, value, np.searchsorted(value[order], np.arange(points + 1)), owner[order])


@dataclass(frozen=True, kw_only=True, eq=False)
class Unicity:
    """Unicity of people with some known points.

    Attributes
    ----------
    unique, guessing
        By measured person: the share of the person's subsets of points that no other person has, and the mean of one
        over the number of people who have them all.
    """

    unique: FloatArray = field(repr=False)
    guessing: FloatArray = field(repr=False)
    points_known: int = figure("Number of known points.")
    unicity: float = figure("Unicity: share of subsets of points that only one person has, mean over people.")
    unicity_error: float = figure("Half width of the 95% CI of the unicity.")
    right_guesses: float = figure("Chance of the right guess among all people who have the known points.")
    by_chance: float = figure("Unicity of the same people with points exchanged between all records.")
    people: int = figure("Number of people measured.", counts="people")
    too_few_points: int = figure("Number of people with fewer points, who are left out.", counts="people")
    subsets: int = figure("Number of subsets of points measured.")


def unicity_of(
    person: IntArray,
    point: IntArray,
    known: Sequence[int] = (1, 2, 4),
    *,
    people: int = PEOPLE,
    chance: bool = True,
    rng: np.random.Generator,
) -> tuple[Unicity, ...]:
    """Return the unicity for each number of known points.

    Parameters
    ----------
    person, point
        The person and the point (place and time, product, ...) of each record; a point of -1 is missing.
    known
        Numbers of points that the attacker knows.
    people
        At most so many people are measured, drawn at random, against all.
    chance
        Whether the unicity is measured with exchanged points too.
    rng
        Draws people and subsets of points.

    Examples
    --------
    >>> people = np.repeat([0, 1, 2, 3], [3, 2, 2, 3])
    >>> points = np.array([0, 1, 2, 0, 1, 0, 3, 1, 2, 3])
    >>> one, two = unicity_of(people, points, [1, 2], rng=np.random.default_rng(1))
    >>> one.unicity, two.unique.round(3)
    (0.0, array([0.333, 0.   , 1.   , 0.667]))
    """
    for each in known:
        whole_number(each, "the number of known points")
    index = PointIndex.of(person, point)
    shuffled = PointIndex.of(person, rng.permutation(point)) if chance else None
    count = np.diff(index.start)
    if max(known) > count.max():
        raise InputError(
            f"No person has {max(known)} points: the largest number is {count.max()}. Lower the number of known points"
        )
    found = []
    for size in known:
        enough = np.flatnonzero(count >= size)
        some = enough if enough.size <= people else np.sort(rng.choice(enough, people, replace=False))
        unique, guessing, subsets = _measured(index, some, size, rng)
        found.append(
            Unicity(
                unique=unique,
                guessing=guessing,
                points_known=size,
                unicity=float(unique.mean()),
                unicity_error=_half_width(unique),
                right_guesses=float(guessing.mean()),
                by_chance=_chance(shuffled, some, size, rng),
                people=some.size,
                too_few_points=int((np.diff(index.start)[np.unique(person)] < size).sum()),
                subsets=subsets,
            )
        )
    return tuple(found)


@metric(category="similarity", per="subject", more_means="less private", bounds=(0, 1), source=_SOURCE)
def unicity(history: History, *, known: int = 4, columns: Sequence[str] = (), rng: np.random.Generator) -> FloatArray:
    """Return the share of each person's subsets of points that no other person has.

    Formula: the mean over subsets of ``known`` of the person's points of 1 if no other person has them all, else 0. 1
    means that these points always single out the person. People with fewer points are left out. It is never undefined.
    """
    point = points_of(history, dict.fromkeys(columns or [each.name for each in history.compared], ""))
    return unicity_of(history.person, point, [known], chance=False, rng=rng)[0].unique


# Generalization


def points_of(history: History, steps: Mapping[str, str]) -> IntArray:
    """Return the point of each record: the values of columns, each generalized by a step.

    Parameters
    ----------
    history
        The records.
    steps
        A step for each column: empty for its values as they are; ``6h``, ``1d`` or ``2w`` for the time, whose name is
        ``time``; ``2digits`` for the first characters of values; a width such as ``10`` for numbers.
    """
    from unveil.data.histories import Lifetime

    point = np.zeros(history.person.size, np.int64)
    for name, step in steps.items():
        if name == "time":
            if history.time is None:
                raise InputError("The points need times, but the history has none. Name a time column")
            days = Lifetime.of(step or "1h").days
            if days == 0:
                raise InputError(f"The time step {step!r} is no length of time. Write one such as 6h")
            codes = np.floor(history.time / days + 1e-9).astype(np.int64)
        else:
            codes = _coarse(history, name, step)
        missing = (codes < 0) | (point < 0)
        point = np.unique(point * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
        point[missing] = -1
    return point


def _coarse(history: History, name: str, step: str) -> IntArray:
    import polars as pl

    if name in ("hour", "weekday") and name not in history.records.column_names:
        column = next((each for each in history.compared if each.name == name), None)
        if column is not None and column.codes is not None:
            return column.codes.astype(np.int64)
    values = history.records.series(history.records.column(name).name)
    if step.endswith("digits"):
        length = whole_number(_number(step.removesuffix("digits"), name, step), "the number of digits")
        values = values.cast(pl.String).str.slice(0, length)
    elif step:
        width = _number(step, name, step)
        if not values.dtype.is_numeric() or not width > 0:
            raise InputError(f"The step {step!r} of column {name!r} needs numbers and a width above 0. Write 2digits")
        values = (values / width).floor()
    ranks = values.cast(pl.String).rank("dense") if values.dtype == pl.Boolean else values.rank("dense")
    return ranks.cast(pl.Int64).fill_null(0).to_numpy() - 1


def _number(text: str, name: str, step: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise InputError(f"The step {step!r} of column {name!r} is no number. Write a width, or 2digits") from None
    return int(number) if number.is_integer() else number


class SurfaceCell(NamedTuple):
    """Unicity after generalization of time and of a second column."""

    time: str
    step: str
    unicity: Unicity


def unicity_surface(
    history: History,
    column: str,
    *,
    times: Sequence[str],
    steps: Sequence[str],
    known: Sequence[int] = (1, 2, 4),
    people: int = PEOPLE,
    rng: np.random.Generator,
) -> tuple[SurfaceCell, ...]:
    """Return the unicity for each time step, each step of a column, and each number of points."""
    found = []
    for time in times:
        for step in steps:
            point = points_of(history, {"time": time, column: step})
            cells = unicity_of(history.person, point, known, people=people, chance=False, rng=rng)
            found += [SurfaceCell(time, step, each) for each in cells]
    return tuple(found)


def decay_exponent(unicities: Sequence[float], coarseness: Sequence[float]) -> float:
    """Return b of the best fit U = a - (v h)^b; NaN with fewer than three cells.

    Parameters
    ----------
    unicities
        The unicity of each cell, for one number of points.
    coarseness
        The product of both resolutions of each cell, each in units of the finest.

    Examples
    --------
    >>> round(decay_exponent([0.5, 1.5 - 2**0.1, 1.5 - 8**0.1], [1, 2, 8]), 3)
    0.1
    """
    from scipy.optimize import minimize_scalar

    value, size = np.asarray(unicities, np.float64), np.asarray(coarseness, np.float64)
    if value.size < 3 or np.unique(size).size < 2:
        return nan

    def loss(exponent: float) -> float:
        fall = size**exponent
        return float(((value + fall - (value + fall).mean()) ** 2).sum())

    return float(minimize_scalar(loss, bounds=(0.0, 2.0), method="bounded", options={"xatol": 1e-8}).x)


# Measuring


def _measured(
    index: PointIndex, people: IntArray, size: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, int]:
    """Return unicity and chance of the right guess by person, and the number of subsets."""
    owner, subset = _subsets(index, people, size, rng)
    candidates = _candidates(subset, index.posting, index.person)
    number = np.bincount(owner, minlength=people.size)
    unique = np.bincount(owner, weights=candidates == 1, minlength=people.size) / number
    guessing = np.bincount(owner, weights=1 / candidates, minlength=people.size) / number
    return unique, np.minimum(guessing, 1.0), owner.size


def _chance(index: PointIndex | None, people: IntArray, size: int, rng: np.random.Generator) -> float:
    if index is None:
        return nan
    people = people[np.diff(index.start)[people] >= size]
    return float(_measured(index, people, size, rng)[0].mean()) if people.size else nan


def _subsets(
    index: PointIndex, people: IntArray, size: int, rng: np.random.Generator
) -> tuple[IntArray, "np.ndarray[tuple[int, int], np.dtype[np.int32]]"]:
    """Return subsets of points of people, all or some at random, with their owner's place."""
    count = np.diff(index.start)[people]
    owners, places = [], []
    for number in np.unique(count):
        group = np.flatnonzero(count == number)
        if comb(int(number), size) <= SUBSETS:
            each = np.array(list(combinations(range(int(number)), size)), np.int64)
            drawn = np.tile(each, (group.size, 1))
            owner = np.repeat(group, len(each))
        else:
            owner = np.repeat(group, DRAWN_SUBSETS)
            drawn = _drawn(owner.size, int(number), size, rng)
        owners.append(owner)
        places.append(index.start[people[owner]][:, None] + drawn)
    return np.concatenate(owners), np.ascontiguousarray(index.point[np.concatenate(places)])


def _drawn(rows: int, number: int, size: int, rng: np.random.Generator) -> IntArray:
    """Return rows of distinct places, each subset as likely as any other."""
    drawn = np.empty((rows, size), np.int64)
    for place in range(size):  # the next of those that are left, counted past those drawn before
        new = rng.integers(0, number - place, rows)
        for before in np.sort(drawn[:, :place], axis=1).T:
            new += new >= before
        drawn[:, place] = new
    return drawn


@kernel("i4[,], i8[], i4[]", cost=50)
def _candidates(subset: Int32Array, posting: IntArray, person: Int32Array) -> IntArray:
    """Return how many people have all points of each subset."""
    found = np.zeros(subset.shape[0], np.int64)
    for row in range(subset.shape[0]):
        shortest = 0
        length = posting[subset[row, 0] + 1] - posting[subset[row, 0]]
        for k in range(1, subset.shape[1]):
            other = posting[subset[row, k] + 1] - posting[subset[row, k]]
            if other < length:
                shortest, length = k, other
        first = posting[subset[row, shortest]]
        for place in range(first, first + length):
            everywhere = True
            for k in range(subset.shape[1]):
                if k != shortest:
                    low, high = posting[subset[row, k]], posting[subset[row, k] + 1]
                    end = high
                    while low < high:
                        middle = (low + high) // 2
                        if person[middle] < person[place]:
                            low = middle + 1
                        else:
                            high = middle
                    if low == end or person[low] != person[place]:
                        everywhere = False
                        break
            if everywhere:
                found[row] += 1
    return found


def _half_width(values: FloatArray) -> float:
    return _NORMAL_QUANTILE * float(values.std(ddof=1)) / values.size**0.5 if values.size > 1 else nan
