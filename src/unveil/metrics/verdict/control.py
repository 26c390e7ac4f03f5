"""Check of the control group: same population, different people."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import nan, sqrt
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._figure import derived, figure
from unveil._kernels.neighbours.matrix import all_distances
from unveil._kernels.neighbours.nearest import IntegerGrid, nearest_distances, nearest_rows
from unveil._kernels.threads import in_threads
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil._kernels.verdict.labels import labels_among, labels_of_units
from unveil.data.table import Table
from unveil.data.table.encode import encode
from unveil.errors import InputError, whole_number
from unveil.metrics.verdict.pooled_tables import PooledTables

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Outcome = Literal["usable", "other_people", "clustered", "overlap", "too_small", "none"]


# Are two tables draws of the same people, and do they share some? What is compared, for each draw of labels.
#
# Labels say who is a member: [draw, person], 1 or True for members. Every statistic is a whole number or a function of
# whole numbers, so that neither the order of people nor the way of adding up changes its last digit: draws that tie
# do.

Labels = NDArray[np.bool_] | NDArray[np.uint8]

#: Features are whole multiples of 1 / SCALE.
SCALE = 2**16
#: How many cells of labels are worked on at a time.
_AT_A_TIME = 2**22


def rank_features(codes: Int32Array) -> tuple[IntArray, IntArray]:
    """Return the scaled rank of each value, and its square.

    ``codes`` are in the order of the values; equal ones share the mean of their places. A missing value, 0, gets the
    mean of the others, as if nothing was to be seen of it.

    >>> place, square = rank_features(np.array([2, 1, 0, 3], np.int32))
    >>> place / SCALE, (square / SCALE).round(3)
    (array([ 0.        , -0.66667175,  0.        ,  0.66667175]), array([0.   , 0.444, 0.296, 0.444]))
    """
    count = np.bincount(codes, minlength=1)
    count[0] = 0
    known = max(1, int(count.sum()))
    place = (2 * (np.cumsum(count) - count) + count - known) / known
    square = place**2
    place[0], square[0] = 0.0, (square * count).sum() / known
    return tuple(np.rint(SCALE * each).astype(np.int64)[codes] for each in (place, square))  # type: ignore[return-value]


def differences(labels: Labels, features: IntArray) -> FloatArray:
    """Return standardized mean differences of members and controls, [draw, feature].

    The difference over the standard deviation of everyone over sqrt(1 / members + 1 / others); 0 for a feature that is
    the same for everyone. Entries are whole and below 2**53 in sum.

    >>> differences(np.array([[1, 1, 0, 0], [1, 0, 1, 0]], np.uint8), np.array([[0], [0], [2], [2]]))
    array([[-2.],
           [ 0.]])
    """
    members = int(np.count_nonzero(labels[0]))
    others = labels.shape[1] - members
    # Sorted, because the sum of floats depends on their order.
    deviation = np.sort(features, axis=0).std(axis=0)
    inside = labels.astype(np.float64) @ features.astype(np.float64)
    apart = inside / members - (features.sum(axis=0) - inside) / others
    found: FloatArray = apart / np.where(deviation > 0, deviation, 1.0) / np.sqrt(1 / members + 1 / others)
    return found


def shared_records(person: IntArray, record: IntArray, people: int) -> "csr_matrix":
    """Return people sharing records, [person, record], each pair once.

    >>> shared_records(np.array([0, 1, 2]), np.array([5, 7, 5]), 3).toarray()
    array([[1.],
           [0.],
           [1.]], dtype=float32)
    """
    from scipy.sparse import csr_matrix

    shared = np.bincount(record)[record] > 1
    found, column = np.unique(record[shared], return_inverse=True)
    ones = np.ones(column.size, np.float32)
    return csr_matrix((ones, (person[shared], column)), shape=(people, found.size))


def others_like_members(labels: Labels, shared: "csr_matrix") -> IntArray:
    """Return the controls with a member's record, per permutation.

    >>> shared = shared_records(np.array([0, 1, 2]), np.array([5, 7, 5]), 3)
    >>> others_like_members(np.array([[1, 1, 0], [1, 0, 1]], np.uint8), shared)
    array([1, 0])
    """
    some = np.flatnonzero(np.diff(shared.indptr))
    mine: Any = shared[some]
    found = np.zeros(len(labels), np.int64)
    step = max(1, _AT_A_TIME // max(1, some.size))
    for start in range(0, len(labels), step):
        inside = labels[start : start + step, some].T.astype(np.float32)
        is_like = mine @ ((mine.T @ inside) > 0).astype(np.float32) > 0
        found[start : start + step] = np.count_nonzero(is_like & (inside == 0), axis=0)
    return found


def near_pairs(people: IntegerGrid) -> IntArray:
    """Return pairs of mutual nearest people, [pair, 2].

    They are at most half as far apart as from the next person.

    Three who are equal are no pairs, because none of them has one nearest.

    >>> near_pairs(IntegerGrid(np.array([[10], [51], [50], [13]]), np.empty((4, 0), np.int32), np.array([1]), 50))
    array([[0, 3],
           [1, 2]])
    """
    # The nearest of all is the person, or an equal one.
    _, first, second = nearest_distances(people, people, 3).T
    lone = np.flatnonzero((first < second) & (2 * first <= second))
    if lone.size == 0:
        return np.empty((0, 2), np.int64)
    some = people._replace(numbers=people.numbers[lone], codes=people.codes[lone])
    start, row, _ = nearest_rows(people, some, 2)
    # Each has two, of which one is the person.
    nearest = np.full(len(people.numbers), -1)
    nearest[lone] = np.add.reduceat(row.astype(np.int64), start[:-1]) - lone
    is_pair = (nearest[nearest[lone]] == lone) & (lone < nearest[lone])
    return np.column_stack([lone[is_pair], nearest[lone][is_pair]])


def neighbors_at(
    people: IntegerGrid, some: IntArray, rank: int, *, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return people with their nearest and a ranked neighbor, [pair, 2] each.

    The nearest has rank 1; there must be more than ``rank`` people. Ties are broken at random.

    >>> people = IntegerGrid(np.array([[10], [51], [50], [13]]), np.empty((4, 0), np.int32), np.array([1]), 50)
    >>> [pairs.tolist() for pairs in neighbors_at(people, np.array([0, 2]), 3, rng=np.random.default_rng(1))]
    [[[0, 3], [2, 1]], [[0, 1], [2, 0]]]
    """
    found = np.empty((some.size, 2), np.int64)
    step = max(1, _AT_A_TIME // max(1, len(people.numbers)))
    for start in range(0, some.size, step):
        own = some[start : start + step]
        far = all_distances(people, people._replace(numbers=people.numbers[own], codes=people.codes[own]))
        # Distances are whole: less than one more decides among equal ones alone.
        mixed = far + 0.5 * rng.random(far.shape)
        mixed[np.arange(own.size), own] = -1.0
        found[start : start + step] = np.argpartition(mixed, (1, rank), axis=1)[:, [1, rank]]
    return np.column_stack([some, found[:, 0]]), np.column_stack([some, found[:, 1]])


def pairs_apart(labels: Labels, pairs: IntArray) -> IntArray:
    """Return the pairs of one member and one control, per permutation.

    >>> pairs_apart(np.array([[1, 1, 0], [1, 0, 1]], np.uint8), np.array([[0, 1], [1, 2]]))
    array([1, 2])
    """
    apart: BoolArray = labels[:, pairs[:, 0]] != labels[:, pairs[:, 1]]
    return np.asarray(np.count_nonzero(apart, axis=1))


#: From members, others, draws and a generator: what makes labels of people, in blocks of [draw, person].
DrawLabels = Callable[[int, int, int, np.random.Generator], Iterable[Callable[[], Labels]]]
#: From labels, one number for each draw.
Statistic = Callable[[Labels], FloatArray | IntArray]
Figure = Literal["share", "mean", "spread", "place", "place_spread"]

#: Each check fails so often where nothing is wrong.
LEVEL = 0.01
#: From this many standard errors on people are of another kind; a smaller difference that is significant is only noted.
OTHER_PEOPLE = 5.0
#: From this many standard errors on nearest neighbors are in one table too often for rows of separate people.
CLUSTERED = 4.0
#: Nearest neighbors of this many people are looked up, and compared with their neighbors of this rank.
_MOST_NEIGHBORS, _FARTHER = 1_000, 30
#: With fewer people no statistic has a test.
LEAST_PEOPLE = 20
#: With fewer, or with less than a tenth of the data, only many copies can be proved by counting.
FEW_PEOPLE = 60
#: In larger tables this many of each are compared: with enough people every difference is significant.
MOST_COMPARED = 2_500
DRAWS = 999
#: The share, and the number, of people who have a category that is compared.
_LEAST_SHARE = 0.01
_LEAST_NUMBER = 5
_MOST_NAMED = 3
_RANKED = ("number", "ordered", "date")


@dataclass(frozen=True, kw_only=True)
class ColumnDifference:
    """How members and control people differ in one column.

    Attributes
    ----------
    column
        The column.
    figure
        "share" of people with one value; "mean" or "spread" (the standard deviation) of numbers; for dates and ordered
        values "place" or "place_spread", of the place among all values, from 0 to 1.
    value
        The value that the share is of, None where it is missing; None for the other statistics.
    here, there
        The statistic of the members, and that of the control.
    z
        The difference in standard errors, at least 0; that of ranks where the statistic is of numbers.
    """

    COUNTS = "statistic"

    column: str
    figure: Figure
    value: str | None
    here: float
    there: float
    z: float


@dataclass(frozen=True, kw_only=True)
class ControlCheck:
    """Result of the control check, with the problems found.

    What was not tested is NaN.
    """

    COUNTS = "statistic"

    outcome: Outcome = figure(
        '"usable"; "other_people" if from another population. "clustered" if rows of one table are '
        'too similar, as if several belonged to one person. "overlap" if some controls are in the '
        'data or almost equal people in the data; "too_small" with fewer than 20 people; "none" without a '
        "control."
    )
    #: How many people are in the data, and how many in the control.
    members: int = figure(hidden=True, counts="people")
    others: int = figure(hidden=True, counts="people")
    #: Whether the control has fewer than 60 people, or fewer than a tenth of the data.
    is_small: bool = False
    p_same: float = figure(
        "Permutation p-value of the largest difference between people and control, from 0 to 1. At "
        "most 0.01 deserves a note.",
        default=nan,
    )
    largest_difference: float = figure(
        'Largest difference between people and control, in standard errors; from 5 on the outcome is "other_people".',
        default=nan,
    )
    #: The columns that differ most, each by its largest difference; up to three.
    differences: tuple[ColumnDifference, ...] = ()

    @derived("Column with the largest difference; null where nothing was compared.")
    def column(self) -> str | None:
        """The column that differs most."""
        return self.differences[0].column if self.differences else None

    clustering: float = figure(
        "Excess of nearest neighbors in the same table, over the 30th nearest and "
        "permuted labels, in standard errors. It is null where ids identify people. From 4 on the outcome is "
        '"clustered" unless it is "other_people".',
        default=nan,
    )
    p_overlap: float = figure(
        "Permutation p-value of the controls equal to a person in the data, from 0 to 1.", default=nan
    )
    overlap_estimate: float = figure(
        "Estimated number of controls in the data: those equal to a person, beyond permuted labels, over the chance "
        "that a permutation leaves a pair in one table.",
        default=nan,
        counts="people",
    )
    p_near: float = figure(
        "The same for pairs of one person of each table who are almost equal: mutually nearest, and at most half "
        "as far as the next; among the people compared.",
        default=nan,
    )
    #: How many control people are likely to be in the data, by pairs who are almost equal.
    near_estimate: float = figure(hidden=True, counts="people", default=nan)

    @property
    def is_clustered(self) -> bool:
        """Whether rows within one table are too similar for separate people."""
        return self.clustering >= CLUSTERED

    @property
    def is_noted(self) -> bool:
        """Whether a significant but negligible difference is worth a note."""
        return self.p_same <= LEVEL and self.largest_difference < OTHER_PEOPLE


def check_control(
    pool: PooledTables,
    *,
    labels: DrawLabels,
    rng: np.random.Generator,
    draws: int = DRAWS,
    separate: bool = False,
    attacked: IntArray | None = None,
) -> ControlCheck:
    """Check the control group: population, overlap, and size.

    Each check compares a statistic with what draws of labels give: as many people of the pool at random as if they were
    the members. So each fails in at most 1 % of audits where the control is a draw of the same population. Ranks,
    squared ranks (from the middle one) and categories are compared by their means: a shift of associations alone, with
    equal margins, is not seen. Several rows of one person are in one table, so that nearest neighbors share a table
    (Schilling, 1986) more often than people who are merely similar: labels of rows are then not exchangeable, and every
    p would be too small. Nothing depends on the order of rows.

    Parameters
    ----------
    pool
        The people.
    labels
        What draws labels, in blocks.
    rng
        Randomness for the draws.
    draws
        How many draws; at least 99, without which no p could be 1 %.
    separate
        Whether it is known who people are, so that rows are not compared for belonging to one person.
        Where the pool has households, these are drawn in place of people, whatever ``labels`` is.
    attacked
        The people of the pool who are attacked, for the population and for people who are almost equal; by default
        at most 2,500 of each, at random. Equal people are always looked for in all.

    Raises
    ------
    InputError
        If the control has the same records as the original, or all of these and more; if no person of one of the tables
        is attacked.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> from unveil.data.table.release import Release
    >>> from unveil.metrics.verdict.pooled_tables import pool_tables
    >>> young, old = (Table.from_frame(pl.DataFrame({"age": range(low, low + 50)})) for low in (20, 60))
    >>> from unveil._kernels.verdict.labels import labels
    >>> pool = pool_tables(Release(young, young, old), columns=["age"])
    >>> found = check_control(pool, labels=labels, rng=np.random.default_rng(1))
    >>> found.outcome, found.column, found.differences[0].here, found.differences[0].there
    ('other_people', 'age', 44.5, 84.5)
    """
    whole_number(draws, "draws", at_least=99, advice="Draw more, for a p of 1%")
    control = pool.release.control
    if control is None:
        return ControlCheck(outcome="none", members=pool.members, others=0)
    own, theirs = _multiplicities(pool)
    if np.array_equal(own, theirs):
        raise _refusal(pool.release.original, control)
    if pool.others < LEAST_PEOPLE:
        return ControlCheck(outcome="too_small", members=pool.members, others=pool.others, is_small=True)
    # Places in the labels go by content, so that the order of rows plays no part in who is drawn.
    everybody = pool.by_content
    people = everybody[np.isin(everybody, _compared(pool, rng) if attacked is None else attacked)]
    if not 0 < np.count_nonzero(pool.is_member[people]) < people.size:
        raise InputError("attacked has people of one table only. Draw some of each")
    features, named = _features(pool, people)
    grid = _grid(pool, people, control)
    pairs = near_pairs(grid)
    near, farther = _neighbors(grid, separate=separate, rng=rng.spawn(1)[0])
    place = np.empty(pool.people, np.int64)
    place[everybody] = np.arange(pool.people)
    alike = 1.0
    if pool.household is not None:
        homes = pool.household[people]
        labels = _labels_of_households(homes, pool.is_member[people])
        number = np.bincount(np.unique(homes, return_inverse=True)[1])
        # Relatives who are all alike make differences as large as fewer people would: the design effect.
        alike = sqrt(float((number**2).sum() / number.sum()))
    shared = shared_records(place[pool.owned[0]], pool.owned[1], pool.people)

    of_people: list[Statistic] = [
        lambda some: np.abs(differences(some, features)).max(axis=1, initial=0.0),
        lambda some: pairs_apart(some, pairs),
        lambda some: pairs_apart(some, farther) - pairs_apart(some, near),
    ]
    of_everybody: list[Statistic] = [lambda some: others_like_members(some, shared)]
    if people.size == everybody.size:
        tests = _tests([*of_people, *of_everybody], pool.is_member[people], labels, rng, draws)
    else:
        tests = _tests(of_people, pool.is_member[people], labels, rng, draws)
        # Few of many people are equal to another, and only these need labels.
        some = np.flatnonzero(np.diff(shared.indptr))
        shared = shared[some]
        among: DrawLabels = partial(labels_among, some.size)
        if pool.household is not None:
            among = _labels_of_households(pool.household[everybody], pool.is_member[everybody], some)
        tests += _tests(of_everybody, pool.is_member[everybody[some]], among, rng, draws, pool.is_member)
    same, almost, together, overlap = tests
    if overlap.p <= LEVEL and (theirs >= own).all():
        raise _refusal(pool.release.original, control)
    outcome: Outcome = "usable"
    if same.seen >= OTHER_PEOPLE * alike:
        outcome = "other_people"
    elif together.z >= CLUSTERED:
        outcome = "clustered"
    elif min(overlap.p, almost.p) <= LEVEL:
        outcome = "overlap"
    return ControlCheck(
        outcome=outcome,
        members=pool.members,
        others=pool.others,
        is_small=pool.others < FEW_PEOPLE or 10 * pool.others < pool.members,
        p_same=same.p,
        largest_difference=same.seen / alike,
        differences=_largest(pool, people, features, named),
        clustering=nan if separate else together.z,
        p_overlap=overlap.p,
        overlap_estimate=overlap.planted,
        p_near=almost.p,
        near_estimate=almost.planted,
    )


def _labels_of_households(household: IntArray, is_member: BoolArray, some: IntArray | None = None) -> DrawLabels:
    """Return household labels in place of people."""
    return lambda _members, _others, draws, rng: labels_of_units(household, is_member, draws, rng, some)


class _Test(NamedTuple):
    seen: float
    planted: float
    p: float
    #: How many standard deviations of the draws it lies above their mean; 0 where all draws are equal.
    z: float


class _Feature(NamedTuple):
    """A column position, its statistic, and the code of a share."""

    column: int
    figure: Literal["share", "place", "square"]
    code: int


def _tests(
    statistics: Sequence[Statistic],
    is_member: BoolArray,
    labels: DrawLabels,
    rng: np.random.Generator,
    draws: int,
    everybody: BoolArray | None = None,
) -> list[_Test]:
    """Return each statistic, with the permutations that reach it.

    Labels are of ``everybody``, where those looked at are some of them.

    Draws take also those pairs apart that stand in both tables, with the chance of any two people: what is seen beyond
    the mean of draws is what was planted times the chance to be left together.
    """
    everybody = is_member if everybody is None else everybody
    members, people = int(np.count_nonzero(everybody)), everybody.size
    together = 1 - 2 * members * (people - members) / (people * (people - 1))
    seen = [float(statistic(is_member[None])[0]) for statistic in statistics]

    def counted(make: Callable[[], Labels]) -> list[tuple[int, int, float, float]]:
        """Return draws, exceedances, sum, and sum of squares per statistic."""
        some = make()
        drawn = [statistic(some) for statistic in statistics]
        return [
            (each.size, int(np.count_nonzero(each >= value)), float(each.sum()), float(np.square(each).sum()))
            for each, value in zip(drawn, seen, strict=True)
        ]

    def test(value: float, planted_count: int, more: int, total: float, squares: float) -> _Test:
        mean = total / planted_count
        deviation = sqrt(max(0.0, squares / planted_count - mean**2))
        planted = min(max(0.0, (value - mean) / together), people - members)
        return _Test(value, planted, (1 + more) / (1 + planted_count), (value - mean) / deviation if deviation else 0.0)

    blocks = in_threads(counted, labels(members, people - members, draws, rng))
    each_of = (tuple(map(sum, zip(*own, strict=True))) for own in zip(*blocks, strict=True))
    return [test(value, *each) for value, each in zip(seen, each_of, strict=True)]


def _multiplicities(pool: PooledTables) -> tuple[IntArray, IntArray]:
    """Return the multiplicity of each record, in original and control."""
    own, theirs = np.split(pool.record, [pool.release.original.rows])
    return np.bincount(own, minlength=pool.records), np.bincount(theirs, minlength=pool.records)


def _refusal(original: Table, control: Table) -> InputError:
    return InputError(
        f"the {control.name} has all rows of the {original.name}. Pass held-out people, or no control table"
    )


def _compared(pool: PooledTables, rng: np.random.Generator) -> IntArray:
    sides = [pool.by_content[side[pool.by_content]] for side in (pool.is_member, ~pool.is_member)]
    return np.concatenate(
        [side if side.size <= MOST_COMPARED else rng.choice(side, MOST_COMPARED, replace=False) for side in sides]
    )


def _rows(pool: PooledTables, people: IntArray) -> tuple[IntArray, IntArray]:
    """Return these people's rows, and each row's person position."""
    place = np.full(pool.people, -1)
    place[people] = np.arange(people.size)
    rows = np.flatnonzero(place[pool.person] >= 0)
    return rows, place[pool.person[rows]]


def _features(pool: PooledTables, people: IntArray) -> tuple[IntArray, list[_Feature]]:
    """Return the integer features compared, [person, feature]; means over rows."""
    rows, owner = _rows(pool, people)
    many = np.bincount(owner, minlength=people.size)
    least = max(_LEAST_NUMBER, _LEAST_SHARE * rows.size)
    values: list[IntArray] = []
    named = []
    for column, name in enumerate(pool.columns):
        codes = pool.codes[rows, column]
        levels = np.flatnonzero(np.bincount(codes) >= least).tolist()
        if pool.release.original.column(name).kind in _RANKED:
            values += rank_features(codes)
            named += [_Feature(column, "place", 0), _Feature(column, "square", 0)]
            levels = [code for code in levels if code == 0]
        values += [np.where(codes == code, SCALE, 0) for code in levels]
        named += [_Feature(column, "share", code) for code in levels]
    means = [np.rint(np.bincount(owner, each, minlength=people.size) / many).astype(np.int64) for each in values]
    return np.column_stack([np.empty((people.size, 0), np.int64), *means]), named


def _grid(pool: PooledTables, people: IntArray, control: Table) -> IntegerGrid:
    """Return one scaled row per person."""
    original = pool.release.original
    is_member, rows = pool.is_member[people], pool.first_row[people]
    own, theirs = encode(
        [original.take(rows[is_member]), control.take(rows[~is_member] - original.rows)], pool.columns, span_of=(0, 1)
    )
    numbers = np.empty((people.size, own.numbers.shape[1]), np.int64)
    codes = np.empty((people.size, own.codes.shape[1]), np.int32)
    for side, part in ((is_member, own), (~is_member, theirs)):
        numbers[side], codes[side] = part.numbers, part.codes
    return IntegerGrid(numbers, codes, own.step_cost, own.mismatch_cost)


def _neighbors(people: IntegerGrid, *, separate: bool, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return people with a nearest and a farther neighbor."""
    number = len(people.numbers)
    some = np.sort(rng.choice(number, 0 if separate else min(number, _MOST_NEIGHBORS), replace=False))
    return neighbors_at(people, some, min(_FARTHER, number - 1), rng=rng)


def _largest(
    pool: PooledTables, people: IntArray, features: IntArray, named: Sequence[_Feature]
) -> tuple[ColumnDifference, ...]:
    """Return the columns that differ most, each by its largest difference."""
    z = np.abs(differences(pool.is_member[people][None], features))[0]
    best: dict[int, int] = {}
    # From the largest on, of equal ones the first.
    for place in np.argsort(-z, kind="stable").tolist():
        best.setdefault(named[place].column, place)
    rows, owner = _rows(pool, people)
    inside = pool.is_member[people][owner]
    return tuple(
        _difference(pool, named[place], rows, inside, float(z[place])) for place in list(best.values())[:_MOST_NAMED]
    )


def _difference(pool: PooledTables, feature: _Feature, rows: IntArray, inside: BoolArray, z: float) -> ColumnDifference:
    import polars as pl

    name = pool.columns[feature.column]
    codes = pool.codes[rows, feature.column]
    tables = [table for table in (pool.release.original, pool.release.control) if table is not None]
    cells = pl.concat([pl.DataFrame({"cell": table.series(name)}) for table in tables], how="vertical_relaxed")
    figure: Figure = "share"
    value = None
    if feature.figure == "share":
        values = (codes == feature.code).astype(np.float64)
        where = rows[codes == feature.code][0]
        value = cells["cell"].cast(pl.String)[int(where)]
    elif pool.release.original.column(name).kind == "number":
        figure = "mean" if feature.figure == "place" else "spread"
        values = cells["cell"].cast(pl.Float64).fill_null(nan).to_numpy()[rows]
    else:
        figure = "place" if feature.figure == "place" else "place_spread"
        values = np.where(codes > 0, (rank_features(codes)[0] / SCALE + 1) / 2, nan)
    sides = [np.sort(values[side & ~np.isnan(values)]) for side in (inside, ~inside)]
    spread = feature.figure == "square"
    # Sorted, because the sum of floats depends on their order.
    here, there = (nan if not side.size else float(side.std() if spread else side.mean()) for side in sides)
    return ColumnDifference(column=name, figure=figure, value=value, here=here, there=there, z=z)
