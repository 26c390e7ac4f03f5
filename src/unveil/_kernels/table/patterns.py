"""Agreement patterns of record pairs, by column."""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.types import FloatArray, IntArray

#: Stands for a missing value: agreement with it says nothing.
MISSING = np.iinfo(np.int64).min
# Pairs are compared in numpy up to this many, and by a compiled loop beyond.
_PLAIN_PAIRS = 2**18


class AgreementLevels(NamedTuple):
    """Agreement levels of values, by difference ``limits`` per column.

    The limits ascend, -1 filling up the line. Level 0 is a missing value, 1 a difference beyond the last limit, and so
    on to ``steps[c] + 1``, a difference within the first limit. ``stride[c]`` is what one level of the column adds to
    the number of a pattern.
    """

    limits: IntArray
    steps: IntArray
    stride: IntArray

    @property
    def patterns(self) -> int:
        """Number of possible patterns."""
        return int(self.stride[-1]) * int(self.steps[-1] + 2)

    def levels(self, pattern: IntArray) -> IntArray:
        """Return the level of each column, one line per pattern."""
        return pattern[:, None] // self.stride % (self.steps + 2)


def comparison(limits: list[list[int]]) -> AgreementLevels:
    """Return the comparison of columns with these ascending limits.

    >>> comparison([[0], [0, 5]]).patterns
    12
    """
    widest = max(map(len, limits))
    table = np.array([[*some, *[-1] * (widest - len(some))] for some in limits], np.int64)
    steps = np.array([len(some) for some in limits], np.int64)
    return AgreementLevels(table, steps, np.concatenate([[1], np.cumprod(steps[:-1] + 2)]).astype(np.int64))


def levels_of_pairs(
    released: IntArray,
    original: IntArray,
    compared: AgreementLevels,
    target: IntArray,
    candidate: IntArray,
    column: int,
) -> IntArray:
    """Return each pair's agreement level in a column.

    >>> ages = np.array([[10], [13], [MISSING]])
    >>> levels_of_pairs(ages, ages, comparison([[0, 5]]), np.array([0, 0, 0]), np.array([0, 1, 2]), 0)
    array([3, 2, 0])
    """
    steps = compared.steps[column]
    one, other = released[target, column], original[candidate, column]
    unknown = (one == MISSING) | (other == MISSING)
    apart = np.abs(np.where(unknown, 0, one) - np.where(unknown, 0, other))
    beyond = np.zeros(apart.size, np.int64)
    for limit in compared.limits[column, :steps]:
        beyond += apart > limit
    return np.where(unknown, 0, steps + 1 - beyond)


def patterns_of_pairs(
    released: IntArray, original: IntArray, compared: AgreementLevels, target: IntArray, candidate: IntArray
) -> IntArray:
    """Return the pattern of each pair."""
    pattern = np.zeros(target.size, np.int64)
    for column, stride in enumerate(compared.stride):
        pattern += levels_of_pairs(released, original, compared, target, candidate, column) * stride
    return pattern


def scores_of_pairs(
    released: IntArray,
    original: IntArray,
    compared: AgreementLevels,
    weight: FloatArray,
    target: IntArray,
    candidate: IntArray,
) -> FloatArray:
    """Return each pair's summed weights, ``weight[column, level]``."""
    score = np.zeros(target.size)
    for column in range(compared.steps.size):
        score += weight[column, levels_of_pairs(released, original, compared, target, candidate, column)]
    return score


def patterns_of_rows(released: IntArray, original: IntArray, compared: AgreementLevels, rows: IntArray) -> IntArray:
    """Return the patterns of released ``rows`` with all original rows.

    >>> values = np.array([[1], [1], [2]])
    >>> patterns_of_rows(values, values, comparison([[0]]), np.array([0, 2]))
    array([2, 2, 1, 1, 1, 2])
    """
    if rows.size * len(original) <= _PLAIN_PAIRS:
        pairs = np.divmod(np.arange(rows.size * len(original)), len(original))
        return patterns_of_pairs(released, original, compared, rows[pairs[0]], pairs[1])
    pattern = np.empty(rows.size * len(original), np.int64)
    compiled(_write_patterns)(released, original, *compared, rows, pattern)
    return pattern


def scores_of_rows(
    released: IntArray, original: IntArray, compared: AgreementLevels, weight: FloatArray, rows: IntArray
) -> FloatArray:
    """Return the scores of released ``rows`` with all original rows.

    >>> values = np.array([[1], [1], [2]])
    >>> scores_of_rows(values, values, comparison([[0]]), np.array([[0.0, -1.0, 3.0]]), np.array([2]))
    array([[-1., -1.,  3.]])
    """
    if rows.size * len(original) <= _PLAIN_PAIRS:
        pairs = np.divmod(np.arange(rows.size * len(original)), len(original))
        score = scores_of_pairs(released, original, compared, weight, rows[pairs[0]], pairs[1])
        return score.reshape(rows.size, len(original))
    score = np.empty((rows.size, len(original)))
    compiled(_write_scores)(released, original, compared.limits, compared.steps, weight, rows, score)
    return score


def _level(one: int, other: int, limits: IntArray, steps: int) -> int:
    if one == MISSING or other == MISSING:
        return 0
    apart = abs(one - other)
    for step in range(steps):
        if apart <= limits[step]:
            return steps + 1 - step
    return 1


@loop("i8[,], i8[,], i8[,], i8[], i8[], i8[], i8[]")
def _write_patterns(
    released: IntArray,
    original: IntArray,
    limits: IntArray,
    steps: IntArray,
    stride: IntArray,
    rows: IntArray,
    pattern: IntArray,
) -> None:
    place = 0
    for row in rows:
        for candidate in range(len(original)):
            code = 0
            for column in range(steps.size):
                level = _level(released[row, column], original[candidate, column], limits[column], steps[column])
                code += level * stride[column]
            pattern[place] = code
            place += 1


@loop("i8[,], i8[,], i8[,], i8[], f8[,], i8[], f8[,]")
def _write_scores(
    released: IntArray,
    original: IntArray,
    limits: IntArray,
    steps: IntArray,
    weight: FloatArray,
    rows: IntArray,
    score: FloatArray,
) -> None:
    for place in range(rows.size):
        row = rows[place]
        for candidate in range(len(original)):
            total = 0.0
            for column in range(steps.size):
                level = _level(released[row, column], original[candidate, column], limits[column], steps[column])
                total += weight[column, level]
            score[place, candidate] = total
