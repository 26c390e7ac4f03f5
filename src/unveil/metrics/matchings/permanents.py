"""Ambiguity of an attack without the truth: permanent, bounds, and possible cracks."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import factorial, lgamma, nan, sqrt
from typing import Any, ClassVar

import numpy as np

from unveil._figure import figure
from unveil._kernels.matching import Edges, LogPermanent, edge_at, perfect_matching
from unveil._kernels.types import FloatArray, IntArray
from unveil.guesses.matching_distribution import MatchingDistribution
from unveil.guesses.unequal_matching import UnequalMatching
from unveil.metrics.matchings._balance import balanced
from unveil.metrics.matchings._random_matchings import (
    LISTED,
    Attack,
    EstimatedValue,
    Kind,
    MatchingSpace,
    RandomMatching,
    random_matching,
)
from unveil.metrics.matchings.degree_of_anonymity import degree, degree_of_listed
from unveil.metrics.matchings.flatness import is_flat


@dataclass(frozen=True, kw_only=True, eq=False)
class Ambiguity(MatchingSpace):
    """Ambiguity of an attack without the truth.

    Attributes
    ----------
    n, pseudonym_count, pairs
        How many items and pseudonyms there are, and how many items the attacker gives a pseudonym.
    log_permanent, permanent, d
        As in :class:`~unveil.metrics.matchings.cracks.Cracks`.
    flat
        Whether all matchings that are possible are equally likely, so that weights say no more than their zeros.
    believed_cracks
        The expected cracks if the truth is as the attacker believes: the mean over its own matchings.
    least_cracks, most_cracks
        The expected cracks of the truth that is least and most favorable to the attacker, of all it holds possible.
        Where pairs were sampled these are brackets: the truth that looks best is one that luck favoured, so it is also
        chosen by one half of the samples and measured by the other.
    best, best_error
        Of each item, the chance of its likeliest pseudonym, and its standard error (0 where exact).
    r_hat, notes
        As in ``Cracks``.
    """

    GROUPS: ClassVar[Mapping[str, str]] = {"expected_cracks": "Expected number of items given their true pseudonym."}

    flat: bool = figure("Whether all possible matchings are equally likely.")
    believed_cracks: EstimatedValue = figure("By the attacker's own probabilities.", name="expected_cracks.believed")
    least_cracks: EstimatedValue = figure("For the truth that is hardest to resolve.", name="expected_cracks.least")
    most_cracks: EstimatedValue = figure("For the truth that is easiest to resolve.", name="expected_cracks.most")
    best: FloatArray
    best_error: FloatArray


def ambiguity(guess: Attack, *, rng: np.random.Generator, precision: float = 0.01) -> Ambiguity:
    """Return the ambiguity of an attack: number of matchings and crack bounds.

    Parameters
    ----------
    guess
        The attack.
    rng
        Used where the matrix is too large for exact methods only.
    precision
        As in :func:`~unveil.metrics.matchings.cracks.cracks`.

    Examples
    --------
    >>> from unveil.guesses.matching import Matching
    >>> found = ambiguity(Matching([[1, 1, 0], [1, 1, 1], [0, 1, 1]]), rng=np.random.default_rng(1))
    >>> found.permanent, found.flat, round(found.least_cracks.value, 3), round(found.most_cracks.value, 3)
    (3, True, 1.333, 1.667)
    """
    start = _some_truth(guess)
    found = random_matching(guess, start, rng=rng, precision=precision, sample_permanent=True)
    other = random_matching(guess, start, rng=rng, precision=precision) if found.sampled else None
    real = found.real
    chance = found.marginal[real]
    noise = 0.0
    if found.sampled:  # the square of a sampled chance is too large by the variance of that chance
        noise = float((chance * (1 - chance))[found.drawn[found.edges.row[real]]].sum()) / max(found.effective - 1, 1)
    score = np.where(real, 2 * found.marginal, 0.0)
    believed = found.figure(float((chance**2).sum()) - noise, 1.5 * found.mean(score)[1])
    best = np.zeros(found.n)
    np.maximum.at(best, found.edges.row[real], chance)
    value, exact = _permanent(guess, found)
    drawn = found.drawn[: found.n]
    likely = (best * found.effective + 1) / (found.effective + 2) if found.sampled else best
    return Ambiguity(
        n=found.n,
        pseudonym_count=found.pseudonym_count,
        pairs=guess.pair_count if isinstance(guess, UnequalMatching) else found.n,
        log_permanent=value,
        permanent=exact,
        d=_degree(guess, found),
        flat=is_flat(guess.padded if isinstance(guess, UnequalMatching) else guess),
        believed_cracks=believed,
        least_cracks=_favourable(found, other, largest=False),
        most_cracks=_favourable(found, other, largest=True),
        best=best,
        best_error=np.where(drawn, np.sqrt(likely * (1 - likely) / found.effective), 0.0),
        r_hat=found.r_hat,
        notes=tuple(note for note in found.notes if "truth" not in note and "true" not in note),
    )


def permanent_figure(guess: Attack, number: LogPermanent) -> tuple[EstimatedValue, int | None]:
    """Return the log weight sum of all pairings, and the exact sum.

    A padded matrix counts each pairing as often as its added rows and columns can be exchanged.
    """
    kind: Kind = "bracket" if number.is_bracket else "sampled" if number.sampled else "exact"
    repeats, times = 0.0, 1
    if isinstance(guess, UnequalMatching):
        repeats = lgamma(guess.spare_pseudonyms + 1) + lgamma(guess.spare_items + 1)
        if number.exact is not None:
            times = factorial(guess.spare_pseudonyms) * factorial(guess.spare_items)
    ends = (number.low - repeats, number.high - repeats) if kind == "sampled" else (nan, nan)
    exact = None if number.exact is None else number.exact // times
    return EstimatedValue(number.log - repeats, number.error, number.method, nan, kind, *ends), exact


def _permanent(guess: Attack, random_matching: RandomMatching) -> tuple[EstimatedValue, int | None]:
    if isinstance(guess, MatchingDistribution):
        return EstimatedValue(nan, nan, LISTED), None
    return permanent_figure(guess, random_matching.permanent)


def attack_degree(guess: Attack, *, rng: np.random.Generator, precision: float = 0.01) -> EstimatedValue:
    """Return the degree of anonymity of any attack, also with unequal sizes.

    >>> round(attack_degree(UnequalMatching([[1, 1], [1, 0], [0, 1]]), rng=np.random.default_rng(1)).value, 3)
    0.613
    """
    if isinstance(guess, MatchingDistribution):
        return degree_of_listed(guess)
    found = random_matching(guess, _some_truth(guess), rng=rng, precision=precision, sample_permanent=True)
    return _degree(guess, found)


def _degree(guess: Attack, random_matching: RandomMatching) -> EstimatedValue:
    if isinstance(guess, MatchingDistribution):
        return degree_of_listed(guess)
    return degree(guess, random_matching, balanced(guess.padded if isinstance(guess, UnequalMatching) else guess))


def _some_truth(guess: Attack) -> Any:
    """Return one possible truth; chains are searched by pair frequency."""
    if isinstance(guess, MatchingDistribution):
        return guess.matchings[0]
    if not isinstance(guess, UnequalMatching):
        return perfect_matching(guess.edges).astype(np.int64)
    columns = perfect_matching(guess.padded.edges).astype(np.int64)[: guess.n]
    return np.where(columns < guess.pseudonym_count, columns, -1)


def _favourable(random_matching: RandomMatching, other: RandomMatching | None, *, largest: bool) -> EstimatedValue:
    """Return the expected cracks of the most or least favorable truth.

    ``other`` was sampled independently.

    The best truth of both samples together looks better than the best truth is; one that was chosen by one sample and
    measured by the other is at most as good. The best truth lies between these, up to three standard errors.
    """
    if other is None:
        score = np.where(random_matching.real, random_matching.marginal, 0.0)
        return random_matching.figure(
            float(score[_best_pairs(random_matching.edges, random_matching.marginal, score, largest)].sum()), 0.0
        )
    scores = [np.where(one.real, one.marginal, 0.0) for one in (random_matching, other)]
    both, possible = (scores[0] + scores[1]) / 2, random_matching.marginal + other.marginal
    chosen = _best_pairs(random_matching.edges, possible, both, largest)
    crossed = [_best_pairs(random_matching.edges, possible, score, largest) for score in scores]
    flattered = float(both[chosen].sum())
    fair = float(scores[1][crossed[0]].sum() + scores[0][crossed[1]].sum()) / 2
    chance = both[chosen]
    noise = 3 * random_matching.togetherness * sqrt(float((chance * (1 - chance)).sum()) / random_matching.effective)
    low, high = min(fair, flattered) - noise, max(fair, flattered) + noise
    low, high = max(low, 0.0), min(high, float(random_matching.n))
    return EstimatedValue(
        low, high - low, random_matching.methods["marginals"], max(random_matching.r_hat, other.r_hat), "bracket"
    )


def _best_pairs(edges: Edges, possible: FloatArray, score: FloatArray, largest: bool) -> IntArray:
    """Return the matching of possible edges with the extreme score sum."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    there = possible > 0
    start = np.concatenate([[0], np.cumsum(np.bincount(edges.row[there], minlength=edges.n))]).astype(np.int64)
    # Every matching has the same number of pairs, so 1 more for each changes nothing, and no pair weighs nothing.
    matrix = csr_array((score[there] + 1.0, edges.column[there], start), shape=(edges.n, edges.n))
    row, column = min_weight_full_bipartite_matching(matrix, maximize=largest)
    chosen = np.full(edges.n, -1, np.int64)
    chosen[row] = column
    return edge_at(edges, chosen)
