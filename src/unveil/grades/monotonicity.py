"""Monotonicity score of metrics (Zhao & Wagner, Section 2.4.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.two_samples import NeighbourTests, neighbour_tests
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError, share
from unveil.grades.replicated_metrics import ReplicatedMetrics

#: What a test of two neighbouring levels adds to a score.
RIGHT, WRONG, TURN = 1, -1, -2


@dataclass(frozen=True, kw_only=True, eq=False)
class Monotonicity:
    """Monotonicity of each metric in attacker strength; arrays are [case, metric].

    Attributes
    ----------
    score
        From 0 to 1. 1: each stronger attacker significantly lowers measured privacy, by both tests. 2/3: nothing is
        significant (or right and wrong changes cancel out: see ``significant``). Below: significant changes in the
        wrong direction, or back and forth. n pairs cannot score below 1 / (3 n). NaN: fewer than two levels have at
        least two replications, so that nothing could be tested.
    pairs
        The pairs of neighbouring levels.
    tests, significant
        The tests of both kinds (two per pair), and those that were significant.
    right, wrong, turns
        The tests that count 1 (right direction), -1 (wrong direction) and -2 (opposite to the direction before); the
        score is (right - wrong - 2 turns + 4 pairs) / (6 pairs).
    """

    score: FloatArray
    significant: IntArray
    tests: IntArray
    right: IntArray
    wrong: IntArray
    turns: IntArray
    pairs: IntArray

    @property
    def undecided(self) -> BoolArray:
        """Tested cells without any significant difference."""
        return np.asarray((self.pairs > 0) & (self.significant == 0))


class CaseMonotonicity(NamedTuple):
    """Monotonicity of one metric in one case; see `Monotonicity`.

    ``welch`` and ``rank_sum`` hold what each pair of neighbouring levels counted, from the weakest attackers on:
    1, -1, -2 or 0.
    """

    score: float
    significant: int
    tests: int
    right: int
    wrong: int
    turns: int
    pairs: int
    welch: tuple[int, ...]
    rank_sum: tuple[int, ...]

    def __float__(self) -> float:
        """Return the score."""
        return self.score


def monotonicity(values: ReplicatedMetrics, *, level: float = 0.05, strict: bool = False) -> Monotonicity:
    """Return the monotonicity of each metric in each case, 0 to 1.

    Neighbouring levels of strength are compared by two tests of the values of their replications: Welch's t-test and
    the rank-sum test. A significant change (p below ``level``) in the right direction counts 1, in the wrong one -1;
    if it is opposite to the last change that counted, it counts -2 instead. The sum s of a test over n pairs becomes
    (s + 2 n) / (3 n), and the score is the mean of both tests.

    Values that are NaN are left out. A level with fewer than two values counts as missing: its neighbours are compared
    with one another. Samples of together at most 40 values are compared by the exact rank-sum test, which has to see
    more than 3 values of each: 3 against 3 cannot be told apart at 0.05 (p is 0.1 or more), so that with three
    replications no score is above 5/6. Larger samples are compared by the normal distribution, corrected for ties and
    for continuity.

    Parameters
    ----------
    values
        The replications of each metric in each case and level.
    level
        The significance level of each test, above 0 and below 1.
    strict
        Whether a change in the wrong direction counts as wrong even where it is not significant. It is then a direction
        as well: it counts -2 after a significant change in the right direction, and a significant right change after it
        counts -2. A change in the right direction has to be significant in any case.

    Notes
    -----
    Where no sample has any spread, Welch's test takes different values for significantly different ones. Values that
    differ by less than 1e-12 of the largest are the same. Infinite values leave Welch's test without a decision.

    Examples
    --------
    >>> from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
    >>> levels = 10.0 * np.arange(4)[:, None] + np.arange(5)
    >>> given = ReplicatedMetrics(
    ...     cases=(GradedCase("mail", "switch", "NS", "overlap"),), metrics=("adversary_success_rate",),
    ...     levels=((0.6, 0.7, 0.8, 0.9),), values=levels[None, None], rising=np.array([True]))
    >>> found = monotonicity(given)
    >>> found.score, found.significant, found.tests
    (array([[1.]]), array([[6]]), array([[6]]))
    """
    cases, metrics, levels, replications = values.values.shape
    tests = neighbour_tests(values.values.reshape(cases * metrics, levels, replications))
    return monotonicity_of_tests(tests, values.rising, cases=cases, level=level, strict=strict)


def monotonicity_of_tests(
    tests: NeighbourTests, rising: BoolArray, *, cases: int, level: float = 0.05, strict: bool = False
) -> Monotonicity:
    """Return the monotonicity of each metric from neighbor tests, 0 to 1.

    ``tests`` has a row per case and metric, case by case; ``rising`` tells per metric whether it should rise with the
    adversary's strength. See `monotonicity`.
    """
    _check_level(level)
    return _summed(*_marked(tests, np.tile(rising, cases), level, strict=strict), (cases, len(rising)))


def monotonicity_of(
    samples: Sequence[ArrayLike], *, rising: bool, level: float = 0.05, strict: bool = False
) -> CaseMonotonicity:
    """Return one metric's monotonicity in one case, from its replications.

    ``samples`` go from the weakest attacker to the strongest; ``rising`` tells whether the metric should rise on that
    way. See `monotonicity`.

    Zhao & Wagner, Figure 2a: each stronger attacker has more success. Table 8: 0.467, for three changes in the wrong
    direction and none in the right one.

    >>> noise = np.linspace(-1, 1, 20)
    >>> monotonicity_of([noise + 10 * mean for mean in (1, 2, 3, 4, 5, 6)], rising=True).score
    1.0
    >>> found = monotonicity_of([noise + 10 * mean for mean in (4, 3, 3, 2, 1, 1)], rising=True)
    >>> round(found.score, 3), found.significant, found.welch
    (0.467, 6, (-1, 0, -1, -1, 0))
    """
    _check_level(level)
    arrays = [_sample(sample, number) for number, sample in enumerate(samples, 1)]
    flat = np.full((1, len(arrays), max((each.size for each in arrays), default=0)), np.nan)
    for place, each in enumerate(arrays):
        flat[0, place, : each.size] = each
    marks, significant, pairs = _marked(neighbour_tests(flat), np.array([rising]), level, strict=strict)
    found = _summed(marks, significant, pairs, (1, 1))
    welch, rank_sum = (tuple(test[: pairs[0]].tolist()) for test in marks[0])
    return CaseMonotonicity(
        score=float(found.score[0, 0]),
        significant=int(significant[0]),
        tests=int(found.tests[0, 0]),
        right=int(found.right[0, 0]),
        wrong=int(found.wrong[0, 0]),
        turns=int(found.turns[0, 0]),
        pairs=int(pairs[0]),
        welch=welch,
        rank_sum=rank_sum,
    )


def _marked(
    tests: NeighbourTests, rising: BoolArray, level: float, *, strict: bool
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the points, significant tests, and pairs of each row."""
    expected = np.where(rising, 1, -1)[:, None, None]
    significant = np.stack([tests.welch, tests.rank_sum], axis=1) < level
    sign = np.stack([tests.welch_sign, tests.rank_sum_sign], axis=1) * expected
    return _marks(significant, sign, strict=strict), significant.sum(axis=(1, 2)), tests.pairs


def _marks(significant: BoolArray, sign: IntArray, *, strict: bool) -> IntArray:
    """Return the points of each pair; sign 1 is correct."""
    counts = significant | (sign < 0) if strict else significant
    direction = np.where(counts, sign, 0)
    marks = direction.copy()
    before = np.zeros(sign.shape[:-1], np.int64)
    for pair in range(sign.shape[-1]):
        now = direction[..., pair]
        marks[..., pair] = np.where(now * before < 0, TURN, now)
        before = np.where(now == 0, before, now)
    return marks


def _summed(marks: IntArray, significant: IntArray, pairs: IntArray, shape: tuple[int, int]) -> Monotonicity:
    """Return the scores of marks at [row, test, pair]; rows are case by case."""
    right, wrong, turns = ((marks == mark).sum(axis=(1, 2)) for mark in (RIGHT, WRONG, TURN))
    points = right - wrong - 2 * turns + 4 * pairs
    score = np.divide(points, 6 * pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)
    return Monotonicity(
        score=score.reshape(shape),
        significant=significant.reshape(shape),
        tests=(2 * pairs).reshape(shape),
        right=right.reshape(shape),
        wrong=wrong.reshape(shape),
        turns=turns.reshape(shape),
        pairs=pairs.reshape(shape),
    )


def _check_level(level: float) -> None:
    share(level, "the significance level", zero=False, one=False)


def _sample(sample: ArrayLike, number: int) -> FloatArray:
    try:
        array = np.asarray(sample, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the values of level {number} must be numbers, but some are not. Leave them out") from error
    if array.ndim != 1:
        raise InputError(
            f"the values of level {number} must be a list of numbers, one per replication, but have "
            f"{array.ndim} dimensions. Pass one list per level"
        )
    return array
