"""How far two records agree, column by column, as one number per pair; and how often each pattern of agreement occurs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels._compile import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Pairs are compared in numpy up to this many, and by a compiled loop beyond.
_PLAIN_PAIRS = 2**18
#: Stands for a missing value: agreement with it says nothing.
MISSING = np.iinfo(np.int64).min


class Comparison(NamedTuple):
    """How values are compared: in column c two values agree the better, the more of ``limits[c]`` they keep within.

    The limits ascend, ``NO_LIMIT`` filling up the line. Level 0 is a missing value, 1 a difference beyond the last
    limit, and so on to ``steps[c] + 1``, a difference within the first limit. ``stride[c]`` is what one level of
    the column adds to the number of a pattern.
    """

    limits: Integers
    steps: Integers
    stride: Integers

    @property
    def patterns(self) -> int:
        """How many patterns there could be."""
        return int(self.stride[-1] * (self.steps[-1] + 2))

    def levels(self, pattern: Integers) -> Integers:
        """Return the level of each column, one line per pattern."""
        return pattern[:, None] // self.stride % (self.steps + 2)


NO_LIMIT = -1


def comparison(limits: list[list[int]]) -> Comparison:
    """Return how columns are compared whose differences have these limits, ascending.

    >>> comparison([[0], [0, 5]]).patterns
    12
    """
    widest = max(map(len, limits))
    table = np.array([[*some, *[NO_LIMIT] * (widest - len(some))] for some in limits], np.int64)
    steps = np.array([len(some) for some in limits], np.int64)
    return Comparison(table, steps, np.concatenate([[1], np.cumprod(steps[:-1] + 2)]).astype(np.int64))


def patterns_of_pairs(
    released: Integers, original: Integers, compared: Comparison, target: Integers, candidate: Integers
) -> Integers:
    """Return the pattern of each pair of a released row (``target``) and an original one (``candidate``).

    >>> values = np.array([[1, 10], [1, 13], [2, MISSING]])
    >>> rule = comparison([[0], [0, 5]])
    >>> rule.levels(patterns_of_pairs(values, values, rule, np.array([0, 0, 0]), np.array([0, 1, 2])))
    array([[2, 3],
           [2, 2],
           [1, 0]])
    """
    pattern = np.zeros(target.size, np.int64)
    for column, (steps, stride) in enumerate(zip(compared.steps, compared.stride, strict=True)):
        one, other = released[target, column], original[candidate, column]
        unknown = (one == MISSING) | (other == MISSING)
        apart = np.abs(np.where(unknown, 0, one) - np.where(unknown, 0, other))
        beyond = (apart[:, None] > compared.limits[column, :steps]).sum(axis=1)
        pattern += np.where(unknown, 0, steps + 1 - beyond) * stride
    return pattern


def count_patterns(released: Integers, original: Integers, compared: Comparison) -> Integers:
    """Return how many of all pairs of a released and an original row have each pattern.

    >>> values = np.array([[1], [1], [2]])
    >>> count_patterns(values, values, comparison([[0]]))
    array([0, 4, 5])
    """
    if len(released) * len(original) <= _PLAIN_PAIRS:
        target, candidate = np.divmod(np.arange(len(released) * len(original)), len(original))
        pattern = patterns_of_pairs(released, original, compared, target, candidate)
        return np.bincount(pattern, minlength=compared.patterns).astype(np.int64)
    count = np.zeros(compared.patterns, np.int64)
    compiled(_count, _pattern)(released, original, *compared, count)
    return count


def scores_of_rows(
    released: Integers, original: Integers, compared: Comparison, score: Floats, rows: Integers
) -> Floats:
    """Return the score of the pattern of each released row in ``rows`` with each original one, one line per row.

    >>> values = np.array([[1], [1], [2]])
    >>> scores_of_rows(values, values, comparison([[0]]), np.array([0.0, -1.0, 3.0]), np.array([2]))
    array([[-1., -1.,  3.]])
    """
    if rows.size * len(original) <= _PLAIN_PAIRS:
        target, candidate = np.divmod(np.arange(rows.size * len(original)), len(original))
        pattern = patterns_of_pairs(released, original, compared, rows[target], candidate)
        return score[pattern].reshape(rows.size, len(original))
    found = np.empty((rows.size, len(original)))
    compiled(_score, _pattern)(released, original, *compared, score, rows, found)
    return found


def _pattern(one: Integers, other: Integers, limits: Integers, steps: Integers, stride: Integers) -> int:
    pattern = 0
    for column in range(steps.size):
        if one[column] != MISSING and other[column] != MISSING:
            apart = abs(one[column] - other[column])
            level = steps[column] + 1
            for step in range(steps[column]):
                if apart <= limits[column, step]:
                    break
                level -= 1
            pattern += level * stride[column]
    return pattern


def _count(
    released: Integers, original: Integers, limits: Integers, steps: Integers, stride: Integers, count: Integers
) -> None:
    for target in range(len(released)):
        for candidate in range(len(original)):
            count[_pattern(released[target], original[candidate], limits, steps, stride)] += 1


def _score(
    released: Integers,
    original: Integers,
    limits: Integers,
    steps: Integers,
    stride: Integers,
    score: Floats,
    rows: Integers,
    found: Floats,
) -> None:
    for place in range(rows.size):
        for candidate in range(len(original)):
            pattern = _pattern(released[rows[place]], original[candidate], limits, steps, stride)
            found[place, candidate] = score[pattern]
