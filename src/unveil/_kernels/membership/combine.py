"""Several scores made one, by weights learned from other people: ranks among outsiders, tails, logistic regression."""

from typing import NamedTuple

import numpy as np

from unveil._kernels import logistic
from unveil._kernels.types import FloatArray

_LEAST = 1e-4
#: Beyond these a high score counts for more, so that one very high score may decide.
_TAILS = (1.5, 2.5)
#: As scikit-learn's C = 0.1.
_RIDGE = 10.0


class LearnedWeights(NamedTuple):
    """The learned attacker: scores of outsiders, ascending per column, and the coefficients, intercept first."""

    outsiders: FloatArray
    coefficients: FloatArray

    def score(self, scores: FloatArray) -> FloatArray:
        """Return the combined score of each row of scores; equal rows have equal ones."""
        return logistic.score(features(scores, self.outsiders), self.coefficients)

    @property
    def weights(self) -> FloatArray:
        """The coefficients of each score: of its rank, and of what lies beyond the first and the second tail."""
        return self.coefficients[1:].reshape(1 + len(_TAILS), -1).T


def combine(members: FloatArray, outsiders: FloatArray) -> LearnedWeights:
    """Return what is learned from people known to be members and people known not to be, a row of scores each.

    Rows in another order give the same digits.

    >>> combine(np.array([[1.0], [2.0]]), np.array([[0.0], [1.0]])).score(np.array([[0.0], [2.0]])).round(3)
    array([-0.029,  0.066])
    """
    ascending = np.sort(outsiders, axis=0)
    labels = np.repeat([True, False], [len(members), len(outsiders)])
    every = np.concatenate([members, outsiders])
    # Sums of floats depend on their order, and rows must not.
    order = np.lexsort((*every.T, labels))
    return LearnedWeights(ascending, logistic.fit(features(every[order], ascending), labels[order], ridge=_RIDGE))


def features(scores: FloatArray, ascending: FloatArray) -> FloatArray:
    """Return the normal quantile of each score's place among the outsiders' ones, and how far it is in either tail."""
    from scipy.special import ndtri

    place = np.empty(scores.shape)
    for column, (mine, theirs) in enumerate(zip(scores.T, ascending.T, strict=True)):
        below, upto = (np.searchsorted(theirs, mine, side=side) for side in ("left", "right"))
        place[:, column] = ((below + upto) / 2 + 0.5) / (theirs.size + 1)
    quantile = ndtri(np.clip(place, _LEAST, 1 - _LEAST))
    return np.concatenate([quantile, *(np.maximum(quantile - tail, 0.0) for tail in _TAILS)], axis=1)
