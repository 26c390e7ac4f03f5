"""Permutation probabilities of sums over N people, without sampling."""

from math import erfc, sqrt

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray


def hypergeometric_p(member_hits: int, other_hits: int, members: int, others: int) -> float:
    """Return the probability of at least N successes among random members.

    ``P(H >= member_hits)`` for H ~ Hypergeometric(members + others, member_hits + other_hits, members). It lies above 0
    and is 1 where nobody of the members is hit.

    >>> hypergeometric_p(8, 0, 1000, 1000) < 0.004
    True
    >>> hypergeometric_p(0, 3, 10, 10)
    1.0
    """
    from scipy.special import gammaln

    hits, people = member_hits + other_hits, members + others
    least, most = max(0, hits - others), min(hits, members)
    if member_hits <= least:
        return 1.0
    k = np.arange(member_hits, most + 1, dtype=np.float64)

    def choose(n: float, r: FloatArray | float) -> FloatArray:
        return np.asarray(gammaln(n + 1) - gammaln(np.add(r, 1)) - gammaln(n - np.asarray(r) + 1))

    log = choose(members, k) + choose(others, hits - k) - choose(people, hits)
    return min(float(np.exp(log).sum()), 1.0)


def normal_p(scores: FloatArray, is_member: BoolArray) -> float:
    """Return the approximate p of the members' score sum.

    The sum over N of n people drawn without putting back has the variance N (1 - N / n) S², S² being that of the scores
    (divisor n - 1); for many people it is nearly normal. 1 where all scores are equal: labels then change nothing.

    >>> normal_p(np.array([0.5, 0.5, 0.5]), np.array([True, False, False]))
    1.0
    >>> round(normal_p(np.arange(4.0), np.array([True, False, False, True])), 4)
    0.5
    """
    members = int(np.count_nonzero(is_member))
    spread = members * (1 - members / scores.size) * float(np.var(scores, ddof=1)) if scores.size > 1 else 0.0
    if spread <= 0:
        return 1.0
    above = float(scores[is_member].sum()) - members * float(scores.mean())
    return erfc(above / sqrt(2 * spread)) / 2
