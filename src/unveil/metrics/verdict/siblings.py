"""Tests with sibling releases: the same generator and settings, other people of the same population.

Where nothing is disclosed, the release is exchangeable with its siblings, given its people. The unit is the release:
each p is a share of releases, or of assignments of people to releases.
"""

from collections.abc import Sequence
from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil._kernels.verdict.step_down import SAME
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table import Table

#: The test level without a control group, and the fewest siblings with which it can be reached.
LEVEL = 0.045
FEWEST_OF_TEST = 22
#: The fewest releases, this one included, of the test with their people.
FEWEST_OF_ASSIGNMENT = 4
#: All assignments of people to at most this many releases are tried; of more, this many are drawn.
ALL_ASSIGNED, DRAWN = 7, 10_000
#: Of each column, the shares of this many values are compared, and no margin counts for more.
_VALUES, _MOST_Z = 8, 8.0
#: A value counts if a release has it this many times on average.
_RARE = 1
_LEAST_SPREAD = 1e-9


#: The names of the test statistics, in the order of `sibling_figures`.
FIGURES = ("mean_rank", "first_share", "copies")


class SiblingTest(NamedTuple):
    """Whether people are nearer to their release than to its siblings.

    Attributes
    ----------
    z
        By how many standard deviations each figure of the release is above those of its siblings.
    p
        The share of releases whose largest z is at least that of the release, itself included.
    adjusted
        The p of each figure, corrected for all of them (step-down by the largest z, Westfall and Young).
    """

    z: FloatArray
    p: float
    adjusted: FloatArray


def sibling_figures(scores: FloatArray, copies: BoolArray | None = None) -> FloatArray:
    """Return the test statistics of each release, as if it were made from the people.

    ``mean_rank`` is the mean over people of the rank of the release among all, 1 being the farthest; ``first_share``
    the share of people to whom it is nearest, ties shared; ``copies`` how many people are in it unchanged.

    Parameters
    ----------
    scores
        How near each release is to each person, at [person, release]; the release itself comes first.
    copies
        Whether a row of each release equals the person; no such figure without it.

    Examples
    --------
    >>> sibling_figures(np.array([[9.0, 1.0, 1.0], [2.0, 2.0, 0.0]])).round(2)
    array([[2.75, 0.75],
           [2.  , 0.25],
           [1.25, 0.  ]])
    """
    from scipy.stats import rankdata

    rank = rankdata(scores, axis=1)
    figures: list[FloatArray] = [rank.mean(axis=0), _first_shares(scores).mean(axis=0)]
    if copies is not None:
        figures.append(copies.sum(axis=0).astype(np.float64))
    return np.column_stack(figures)


def sibling_test(figures: FloatArray) -> SiblingTest:
    """Return the exact test of a release among its siblings.

    Z of a figure is its distance from the mean of the other releases in their standard deviations. p is the share of
    releases whose largest Z is at least that of the first one: at least 1 / releases, and at most alpha with
    probability alpha where the releases are exchangeable. Step-down by the least p, as with a control group, has no
    power here: with 23 rows no figure could pass.

    Parameters
    ----------
    figures
        One row per release, the release itself first, and one column per figure; larger is worse.

    Examples
    --------
    >>> found = sibling_test(np.array([[9.0, 1.0], [1.0, 2.0], [2.0, 0.0], [3.0, 1.0]]))
    >>> found.p, found.adjusted
    (0.25, array([0.25, 0.75]))
    """
    if len(figures) < 2:
        raise InputError("a sibling test needs a release and at least one sibling. Pass more releases")
    z = _z(figures)
    seen, near = z[0], SAME * np.abs(z).max(initial=1.0)
    largest, adjusted = np.full(len(z), -np.inf), np.ones(seen.size)
    for figure in np.argsort(seen, kind="stable"):
        np.maximum(largest, z[:, figure], out=largest)
        adjusted[figure] = np.count_nonzero(largest >= seen[figure] - near) / len(z)
    for_all = np.argsort(-seen, kind="stable")
    adjusted[for_all] = np.maximum.accumulate(adjusted[for_all])
    return SiblingTest(seen, float(adjusted[for_all[0]]) if seen.size else 1.0, adjusted)


def assignment_test(nearness: FloatArray, *, rng: np.random.Generator) -> float:
    """Return the p of the assignment of people to releases, for the generator.

    The statistic is the sum of the mean nearness of each group of people to its own release; p is the share of
    assignments with at least that sum: all of them up to seven releases, else 10,000 drawn and one. Effects of people
    and of releases cancel. The smallest p is 1 / 24 with four releases.

    Parameters
    ----------
    nearness
        The mean nearness of the people of data set a to release b, at [a, b]; own ones are on the diagonal.
    rng
        Draws assignments where there are too many.

    Examples
    --------
    >>> assignment_test(np.eye(4), rng=np.random.default_rng(0)) * 24
    1.0
    """
    number = len(nearness)
    if nearness.shape != (number, number) or number < 2:
        raise InputError(
            f"the distances of data sets to releases have the shape {nearness.shape}. Pass one data set for each of at "
            "least two releases"
        )
    rows = np.arange(number)
    own = float(np.trace(nearness))
    near = SAME * max(float(np.abs(nearness).sum()), 1.0)
    if number <= ALL_ASSIGNED:
        assigned = np.array(list(permutations(range(number))))
        return int((nearness[rows, assigned].sum(axis=1) >= own - near).sum()) / factorial(number)
    drawn = rng.permuted(np.tile(rows, (DRAWN, 1)), axis=1)
    return (1 + int((nearness[rows, drawn].sum(axis=1) >= own - near).sum())) / (DRAWN + 1)


def smallest_assignment_p(releases: int) -> float:
    """Return the smallest p of the test of assignments.

    >>> smallest_assignment_p(4) * 24, smallest_assignment_p(8) * 10_001
    (1.0, 1.0)
    """
    return 1 / factorial(releases) if releases <= ALL_ASSIGNED else 1 / (DRAWN + 1)


class PopulationCheck(NamedTuple):
    """Whether a release and its siblings are of one population.

    Attributes
    ----------
    p
        The share of releases that are at least as far from the others as the release, itself included.
    differs
        Whether the release is so far from its siblings that nothing is tested.
    column
        The column in which it differs most.
    """

    p: float
    differs: bool
    column: str


def population_check(releases: Sequence["Table"], columns: Sequence[str]) -> PopulationCheck:
    """Return whether the first release is the most outlying one by its margins.

    Margins are the means and spreads of numbers, and the shares of the eight values that are commonest in all releases
    together; taken from one release alone they would favor it. Q is the sum of squares of their Z, each at most 8.
    Rare values are passed over: each would make an outlier of the release that has it. With fewer than 22 siblings a
    release differs if it has the largest Q and a margin beyond 8; their spread is then at least the sampling error, as
    a few releases can be alike by chance.

    Examples
    --------
    >>> from unveil.data.table import Table
    >>> ages = [Table.from_frame({"age": [20 + 7 * k % 50 + shift for k in range(30)]}) for shift in (90, 0, 1, 2, 3)]
    >>> population_check(ages, ["age"])
    PopulationCheck(p=0.2, differs=True, column='age')
    """
    margins, errors, of_column = release_margins(releases, columns)
    is_few = len(releases) <= FEWEST_OF_TEST
    z = np.minimum(np.abs(_z(margins, errors if is_few else _LEAST_SPREAD)), _MOST_Z)
    outlying = (z**2).sum(axis=1)
    p = float(np.count_nonzero(outlying >= outlying[0] * (1 - SAME)) / len(outlying))
    differs = p <= LEVEL
    if is_few:
        # Of two releases none is farther from the other.
        is_farthest = p * len(outlying) < 1.5 or len(outlying) == 2
        differs = bool(is_farthest and z[0].max(initial=0.0) >= _MOST_Z)
    by_column = np.bincount(of_column, weights=z[0] ** 2, minlength=len(columns))
    return PopulationCheck(p, differs, sorted(columns)[int(by_column.argmax())])


def release_margins(releases: Sequence["Table"], columns: Sequence[str]) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the margins of each release, their sampling errors, and the place of each margin's column."""
    from unveil.data.table import agree

    names = sorted(columns)
    tables = agree(*(table.select(names) for table in releases))
    margins: list[FloatArray] = []
    errors: list[float] = []
    of_column: list[int] = []
    for place, name in enumerate(names):
        for margin, error in _margins_of([table.series(name) for table in tables]):
            margins.append(margin)
            errors.append(error)
            of_column.append(place)
    if not margins:
        return np.zeros((len(tables), 1)), np.ones(1), np.zeros(1, np.int64)
    return np.column_stack(margins), np.maximum(errors, _LEAST_SPREAD), np.array(of_column)


def _margins_of(series: "Sequence[pl.Series]") -> list[tuple[FloatArray, float]]:
    """Return the margins of one column in each release, with the sampling error of each margin."""
    import polars as pl

    margins, rows = list[tuple[FloatArray, float]](), max(min(each.len() for each in series), 1)
    if series[0].dtype.is_numeric():
        spreads = np.array([_or_zero(each.std(ddof=0)) for each in series])
        error = float(spreads.mean()) / rows**0.5
        margins += [(np.array([_or_zero(each.mean()) for each in series]), error), (spreads, error)]
    together = pl.concat([each.cast(pl.String) for each in series]).alias("value").to_frame()
    # Ties by value: the order of rows plays no part.
    common = together.group_by("value").len().sort("len", "value", descending=[True, False], nulls_last=True)
    # A rare value is in few releases, and would make each of these an outlier.
    for value in common.filter(pl.col("len") >= _RARE * len(series))["value"].head(_VALUES):
        same = [each.is_null() if value is None else each.cast(pl.String) == value for each in series]
        shares = np.array([float(each.fill_null(False).mean() or 0.0) for each in same])  # type: ignore[arg-type]
        share = float(shares.mean())
        margins.append((shares, (share * (1 - share) / rows) ** 0.5))
    return margins


def _or_zero(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


class SiblingEffect(NamedTuple):
    """How many people are nearest to the release, and how many to a sibling.

    Attributes
    ----------
    attack_rate
        The share of people to whom the release is the nearest of all.
    baseline_rate
        The mean of the same share over the siblings.
    excess_risk
        (attack_rate - baseline_rate) / (1 - baseline_rate), with the ends of its 95% bootstrap interval over people.
        The spread of releases is not in it.
    difference
        attack_rate - baseline_rate, with a lower limit of error 2.5% and an upper one of error 5%, in the same way.
    """

    attack_rate: float
    baseline_rate: float
    excess_risk: tuple[float, float, float]
    difference: tuple[float, float, float]


def sibling_effect(scores: FloatArray, *, rng: np.random.Generator, draws: int = 1_000) -> SiblingEffect:
    """Return the effect size of the nearest-release statistic, from scores at [person, release].

    >>> sibling_effect(np.array([[2.0, 1, 0]] * 3 + [[0.0, 1, 2]]), rng=np.random.default_rng(0))[:2]
    (0.75, 0.125)
    """
    first = _first_shares(scores)[:, 0]
    siblings = scores.shape[1] - 1

    def excess(rate: FloatArray) -> FloatArray:
        baseline = (1 - rate) / siblings
        found: FloatArray = np.divide(rate - baseline, 1 - baseline, out=np.zeros_like(rate), where=baseline < 1)
        return found

    weights = rng.multinomial(first.size, np.full(first.size, 1 / first.size), size=draws) / first.size
    drawn, rate = weights @ first, first.mean(keepdims=True)
    low, high = np.quantile(excess(drawn), [0.025, 0.975])
    least, most = np.quantile(drawn - (1 - drawn) / siblings, [0.025, 0.95])
    baseline = float((1 - rate[0]) / siblings)
    return SiblingEffect(
        float(rate[0]),
        baseline,
        (float(excess(rate)[0]), float(low), float(high)),
        (float(rate[0]) - baseline, float(least), float(most)),
    )


def _first_shares(scores: FloatArray) -> FloatArray:
    """Return for each person the share of each release in being the nearest; ties share it."""
    is_first = scores == scores.max(axis=1, keepdims=True)
    shares: FloatArray = is_first / is_first.sum(axis=1, keepdims=True)
    return shares


def _z(figures: FloatArray, least_spread: FloatArray | float = _LEAST_SPREAD) -> FloatArray:
    """Return the distance of each release from the mean of the other releases, in standard deviations."""
    z: FloatArray = np.empty(figures.shape)
    for place, own in enumerate(figures):
        others = np.delete(figures, place, axis=0)
        z[place] = (own - others.mean(axis=0)) / np.maximum(others.std(axis=0), least_spread)
    return z
