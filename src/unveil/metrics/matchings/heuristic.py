"""The heuristic for expected cracks, and its error.

It lets every item draw a pseudonym independently.
"""

from math import hypot, inf, sqrt
from typing import Any

import numpy as np

from unveil._kernels.matching import edge_at
from unveil.guesses.matching import Matching, matching_truth
from unveil.metrics._listing import metric
from unveil.metrics.matchings._balance import DoublyStochasticMatrix, balanced
from unveil.metrics.matchings._random_matchings import ROUNDING, EstimatedValue, RandomMatching, random_matching

GIVEN, SCALED = "matrix as given", "matrix scaled to be doubly stochastic"


@metric(
    category="cracks",
    per="release",
    more_means="less private",
    bounds=(0, inf),
    source="Bagai, Malik & Jadliwala (2017)",
)
def heuristic_cracks(guess: Matching, truth: Any) -> EstimatedValue:
    """Return the heuristic H for the expected cracks; it is unreliable.

    Formula: ``sum(P[i, truth[i]])`` of the doubly stochastic matrix P, or of the doubly stochastic scaling where the
    matrix is another. It is the mean number of cracks when every item draws a pseudonym from its row by itself, so that
    several may have the same. 0 means no true pair is possible, n that the matrix names the truth. It is too low mostly
    where the attacker is correct, and can be off by nearly half of all items: see :func:`matched_bias`. It is never
    undefined.

    >>> heuristic_cracks(Matching([[0.75, 0.25], [0.25, 0.75]]), [0, 1]).value
    1.5
    """
    scaled = balanced(guess)
    return heuristic(guess, edge_at(guess.edges, matching_truth(guess, truth)), scaled)


def heuristic(
    guess: Matching, at_truth: np.ndarray[Any, np.dtype[np.int64]], scaled: DoublyStochasticMatrix
) -> EstimatedValue:
    """Return the heuristic.

    ``at_truth`` is the position of each true pair among the edges, -1 where there is none.
    """
    weight = scaled.on(guess.edges)[at_truth[at_truth >= 0]]
    value = float(weight.sum())
    error = ROUNDING * guess.n * value + scaled.error * value
    return EstimatedValue(value, error, GIVEN if scaled.given else SCALED)


def matched_bias(guess: Matching, *, rng: np.random.Generator) -> EstimatedValue:
    """Return the heuristic's relative error for a best-informed attacker.

    Formula: ``(sum(P * M) - sum(M * M)) / sum(M * M)`` with the doubly stochastic matrix P and the chances M of its
    pairs. The truth is drawn from the attacker's own matchings; the first sum is what H then gives on average, the
    second the expected cracks. 0 means that H is correct, -0.1 that it is too low by a tenth. Averaged over all truths
    alike H is correct, which says nothing: an attacker has reasons for the matrix.

    >>> round(matched_bias(Matching([[0.6, 0.4], [0.4, 0.6]]), rng=np.random.default_rng(1)).value, 3)
    -0.062
    """
    return bias(guess, random_matching(guess, np.arange(guess.n), rng=rng), balanced(guess))


def bias(guess: Matching, random_matching: RandomMatching, scaled: DoublyStochasticMatrix) -> EstimatedValue:
    """Return the matched bias of a matrix that was solved."""
    weight, chance = scaled.on(guess.edges)[random_matching.real], random_matching.marginal[random_matching.real]
    squares = float((chance * chance).sum())
    noise = 0.0
    if random_matching.sampled:  # the square of a sampled chance is too large by the variance of that chance
        drawn = random_matching.drawn[random_matching.edges.row[random_matching.real]]
        noise = float((chance * (1 - chance))[drawn].sum()) / max(random_matching.effective - 1, 1)
    truly = squares - noise
    value = float((weight * chance).sum()) / truly
    score = np.zeros(random_matching.marginal.size)
    score[random_matching.real] = (weight - 2 * value * chance) / truly
    _, error = random_matching.mean(score)
    spread = sqrt(2 * squares) / random_matching.effective if random_matching.sampled else 0.0
    # Such scores were seen to vary together more than cracks do, and only cracks were followed: hence the factor.
    figure = random_matching.figure(value - 1, 1.5 * hypot(error, value * spread / truly, value * noise / truly / 2))
    return EstimatedValue(figure.value, figure.error + scaled.error, figure.method, figure.r_hat, figure.kind)
