"""How probabilities are spread over a hundred bins of equal width: all of them, and the likeliest of each node."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unveil._figure import figure
from unveil._kernels.types import FloatArray
from unveil.guesses import Candidates

#: So many as the source draws.
BINS = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram:
    """How many probabilities lie in each of the bins from 0 to 1, over all nodes that were attempted.

    ``every`` counts candidates with a probability above 0, those too that share what is left without being listed.
    """

    JSON_DEFINITION: ClassVar[str] = "histogram"

    every: FloatArray = figure(
        "How many candidates lie in each of a hundred bins of probability from 0 to 1, of all targets that were "
        "attempted."
    )
    likeliest: FloatArray = figure("How many targets have their likeliest candidate in each of these bins.")


def histogram_of(guess: Candidates) -> Histogram:
    """Return how the probabilities of a guess are spread.

    >>> found = histogram_of(Candidates.from_matrix([[0.995, 0.005], [0.5, 0.5]]))
    >>> found.every[[0, 50, 99]], found.likeliest[[0, 50, 99]]
    (array([1., 2., 1.]), array([0., 1., 1.]))
    """
    tried = guess.believed
    listed = guess.probability[np.repeat(tried, guess.considered)]
    rest, others = guess.each_other[tried], np.asarray(guess.others[tried], np.float64)
    shared = (rest > 0) & (others > 0)
    every = _binned(listed[listed > 0]) + _binned(rest[shared], others[shared])
    largest = np.maximum(guess.summary.largest[tried], np.where(shared, rest, 0.0))
    return Histogram(every=every, likeliest=_binned(largest))


def _binned(values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    place = np.clip(np.floor(values * BINS + 1e-9), 0, BINS - 1).astype(np.int64)
    return np.bincount(place, weights, BINS).astype(np.float64)


def together(every: Sequence[Histogram]) -> Histogram:
    """Return the histogram of several guesses together."""
    return Histogram(
        every=np.sum([each.every for each in every], axis=0),
        likeliest=np.sum([each.likeliest for each in every], axis=0),
    )
