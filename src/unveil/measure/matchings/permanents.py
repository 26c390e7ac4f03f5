"""What an attack leaves open when nobody says what is true: the permanent, its bounds, and what may be cracked."""

from dataclasses import dataclass
from math import factorial, lgamma, nan, sqrt
from typing import Any

import numpy as np

from unveil._kernels.matching import Edges, LogPermanent, perfect_matching
from unveil._kernels.types import FloatArray, IntArray
from unveil.guess.matching_distribution import MatchingDistribution
from unveil.guess.unequal_matching import UnequalMatching
from unveil.measure.matchings._balance import balanced
from unveil.measure.matchings._random_matchings import LISTED, Attack, Figure, Kind, RandomMatching, random_matching
from unveil.measure.matchings.degree_of_anonymity import degree, degree_of_listed
from unveil.measure.matchings.flatness import is_flat


@dataclass(frozen=True, kw_only=True, eq=False)
class Ambiguity:
    """What is known of an attack without the truth.

    Attributes
    ----------
    n, token_count, pairs
        How many entries and tokens there are, and how many entries the adversary gives a token.
    log_permanent, permanent, d
        As in :class:`~unveil.measure.matchings.cracks.Cracks`.
    flat
        Whether all matchings that are possible are equally likely, so that weights say no more than their zeros.
    believed_cracks
        The expected cracks if the truth is as the adversary believes: the mean over its own matchings.
    least_cracks, most_cracks
        The expected cracks of the truth that is least and most favourable to the adversary, of all it holds possible.
    best, best_error
        Of each entry, the chance of its likeliest token, and its standard error (0 where exact).
    r_hat, notes
        As in ``Cracks``.
    """

    n: int
    token_count: int
    pairs: int
    log_permanent: Figure
    permanent: int | None
    d: Figure
    flat: bool
    believed_cracks: Figure
    least_cracks: Figure
    most_cracks: Figure
    best: FloatArray
    best_error: FloatArray
    r_hat: float
    notes: tuple[str, ...]


def ambiguity(guess: Attack, *, rng: np.random.Generator, precision: float = 0.01) -> Ambiguity:
    """Return what an attack leaves open, whatever the truth is: matchings left, and bounds of the expected cracks.

    Parameters
    ----------
    guess
        The attack.
    rng
        Used where the matrix is too large for exact methods only.
    precision
        As in :func:`~unveil.measure.matchings.cracks.cracks`.

    Examples
    --------
    >>> from unveil.guess.matching import Matching
    >>> found = ambiguity(Matching([[1, 1, 0], [1, 1, 1], [0, 1, 1]]), rng=np.random.default_rng(1))
    >>> found.permanent, found.flat, round(found.least_cracks.value, 3), round(found.most_cracks.value, 3)
    (3, True, 1.333, 1.667)
    """
    start = _some_truth(guess)
    found = random_matching(guess, start, rng=rng, precision=precision, sample_permanent=True)
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
        token_count=found.token_count,
        pairs=guess.pair_count if isinstance(guess, UnequalMatching) else found.n,
        log_permanent=value,
        permanent=exact,
        d=_degree(guess, found),
        flat=is_flat(guess.padded if isinstance(guess, UnequalMatching) else guess),
        believed_cracks=believed,
        least_cracks=_favourable(found, most=False),
        most_cracks=_favourable(found, most=True),
        best=best,
        best_error=np.where(drawn, np.sqrt(likely * (1 - likely) / found.effective), 0.0),
        r_hat=found.r_hat,
        notes=tuple(note for note in found.notes if "truth" not in note and "true" not in note),
    )


def permanent_figure(guess: Attack, number: LogPermanent) -> tuple[Figure, int | None]:
    """Return the logarithm of the weights of all pairings added up, and the sum itself where it was counted.

    A padded matrix counts each pairing as often as its added rows and columns can be exchanged.
    """
    kind: Kind = "bracket" if number.is_bracket else "sampled" if number.sampled else "exact"
    repeats, times = 0.0, 1
    if isinstance(guess, UnequalMatching):
        repeats = lgamma(guess.spare_tokens + 1) + lgamma(guess.spare_entries + 1)
        if number.exact is not None:
            times = factorial(guess.spare_tokens) * factorial(guess.spare_entries)
    ends = (number.low - repeats, number.high - repeats) if kind == "sampled" else (nan, nan)
    exact = None if number.exact is None else number.exact // times
    return Figure(number.log - repeats, number.error, number.method, nan, kind, *ends), exact


def _permanent(guess: Attack, found: RandomMatching) -> tuple[Figure, int | None]:
    if isinstance(guess, MatchingDistribution):
        return Figure(nan, nan, LISTED), None
    return permanent_figure(guess, found.permanent)


def _degree(guess: Attack, found: RandomMatching) -> Figure:
    if isinstance(guess, MatchingDistribution):
        return degree_of_listed(guess)
    return degree(guess, found, balanced(guess.padded if isinstance(guess, UnequalMatching) else guess))


def _some_truth(guess: Attack) -> Any:
    """Return pairs that the attack allows: chains are followed by how often they have these."""
    if isinstance(guess, MatchingDistribution):
        return guess.matchings[0]
    if not isinstance(guess, UnequalMatching):
        return perfect_matching(guess.edges).astype(np.int64)
    columns = perfect_matching(guess.padded.edges).astype(np.int64)[: guess.n]
    return np.where(columns < guess.token_count, columns, -1)


def _favourable(found: RandomMatching, *, most: bool) -> Figure:
    """Return the expected cracks of the truth for which they are most or least, of those with a chance."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    edges, there = found.edges, found.marginal > 0
    score = np.where(found.real, found.marginal, 0.0)
    kept = _kept(edges, there)
    # Every matching has the same number of pairs, so 1 more for each changes nothing, and no pair weighs nothing.
    matrix = csr_array((score[there] + 1.0, edges.column[there], kept), shape=(edges.n, edges.n))
    row, column = min_weight_full_bipartite_matching(matrix, maximize=most)
    chosen = np.full(edges.n, -1, np.int64)
    chosen[row] = column
    have = edges.row.astype(np.int64) * edges.n + edges.column
    chance = score[np.searchsorted(have, np.arange(edges.n) * edges.n + chosen)]
    variance = float((chance * (1 - chance))[found.drawn].sum())
    error = found.togetherness * sqrt(variance / found.effective) if found.sampled else 0.0
    return found.figure(float(chance.sum()), error)


def _kept(edges: Edges, there: np.ndarray[Any, np.dtype[np.bool_]]) -> IntArray:
    return np.concatenate([[0], np.cumsum(np.bincount(edges.row[there], minlength=edges.n))]).astype(np.int64)
