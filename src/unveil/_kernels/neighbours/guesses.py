"""Probability of a correct guess from weighted nearest rows.

Secrets come as ranks, as in `secret_chances`. Of k places the rows that are surely among the nearest have one each; the
places that are left go to those that tie for them, in proportion to their weights.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unveil._kernels.neighbours.search import NearRows, Neighbourhood, nearest_in_parts
from unveil._kernels.neighbours.secret_chances import parts_of
from unveil._kernels.types import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Masses that differ by less than this share are equal: they are sums that round differently.
_SAME_MASS = 1e-12


class ReleasedSecrets(NamedTuple):
    """Sensitive values of released rows: a value or a cell each.

    ``rank`` is the number of each row's value or cell, -1 where it is missing. With ``draws``, line c has the chance of
    each value for cell c; a line without any stands for a cell that is never right.
    """

    rank: IntArray
    values: int
    draws: "csr_array | None" = None

    def masses(self, row_of: Any, rows: int) -> "tuple[csr_array, FloatArray]":
        """Return the value counts of distinct rows, and missing counts."""
        from scipy.sparse import csr_array

        there = self.rank >= 0
        kinds = self.values if self.draws is None else self.draws.shape[0]
        where = row_of[there], self.rank[there]
        held = csr_array((np.ones(where[0].size), where), shape=(rows, kinds))
        lost = np.bincount(row_of[~there], minlength=rows).astype(np.float64)
        if self.draws is None:
            return held, lost
        never = np.diff(self.draws.indptr) == 0
        return csr_array(held @ self.draws), lost + held @ never.astype(np.float64)


class GuessChances(NamedTuple):
    """Probability of a correct guess, and the k-th nearest distance."""

    chance: FloatArray
    distance: IntArray


def guess_chances(
    around: Neighbourhood,
    log_weight: FloatArray,
    secrets: ReleasedSecrets,
    low: IntArray,
    high: IntArray,
    k: int,
    *,
    likeliest: bool = False,
) -> GuessChances:
    """Return correct-guess probabilities, by weighted draw or likeliest value.

    Parameters
    ----------
    around
        The targets among the released rows.
    log_weight
        The logarithm of each distinct row's weight; minus infinity leaves it out.
    secrets
        Those of the released rows.
    low, high
        For each target, which ranks are right: from ``low`` up to, but not, ``high``.
    k
        From 1 to the number of released rows.
    likeliest
        Whether the guess is the value with the largest mass instead of one drawn.
    """
    held, lost = secrets.masses(around.row_of, around.copies.size)
    end = secrets.values + 1
    key = (around.target_of.astype(np.int64) * end + low) * end + high
    pair, pair_of = np.unique(key, return_inverse=True)
    rest, last = np.divmod(pair, end)
    target, first = np.divmod(rest, end)
    chance, limit = np.zeros(pair.size), np.zeros(around.targets, np.int64)
    for some, near in nearest_in_parts(around, k):
        limit[some] = near.limit
        weight = _weights(near, around.copies, log_weight, k)
        begin, stop = np.searchsorted(target, [some[0], some[-1] + 1])
        mass, gone = weight @ held, weight @ lost
        for part in parts_of(np.diff(mass.indptr)[target[begin:stop] - some[0]], int(begin)):
            chance[part] = _right(mass, gone, target[part] - some[0], first[part], last[part], likeliest)
    return GuessChances(chance[pair_of], limit[around.target_of])


def _weights(near: NearRows, copies: IntArray, log_weight: FloatArray, k: int) -> "csr_array":
    """Return the weight of each row (column) for each target (row)."""
    from scipy.sparse import csr_array

    owner = np.repeat(np.arange(near.limit.size), np.diff(near.start))
    sure = near.distance < near.limit[owner]
    tied = np.where(sure, -np.inf, log_weight[near.row])
    most = np.maximum.reduceat(tied, near.start[:-1])
    with np.errstate(invalid="ignore"):
        weight = np.where(tied > -np.inf, np.exp(tied - most[owner]), 0.0)
    nearer = np.add.reduceat(np.where(sure, copies[near.row], 0), near.start[:-1])
    if nearer.any():
        total = np.add.reduceat(weight * copies[near.row], near.start[:-1])
        weight = np.where(sure, np.where(total > 0, total, 1.0)[owner], weight * (k - nearer)[owner])
    return csr_array((weight, near.row, near.start), shape=(near.limit.size, copies.size))


def _right(
    mass: "csr_array", lost: FloatArray, target: IntArray, low: IntArray, high: IntArray, likeliest: bool
) -> FloatArray:
    """Return the probability of the correct ranks by target."""
    count = np.diff(mass.indptr)[target]
    owner = np.repeat(np.arange(target.size), count)
    entry = np.arange(owner.size) + (mass.indptr[target] - np.cumsum(count) + count)[owner]
    value, weight = mass.indices[entry], mass.data[entry]
    inside = (value >= low[owner]) & (value < high[owner])
    if likeliest:
        best = np.zeros(target.size)
        np.maximum.at(best, owner, weight)
        weight = ((weight >= best[owner] * (1 - _SAME_MASS)) & (weight > 0)).astype(np.float64)
        lost = np.zeros_like(lost)
    # Both sums apart, because a difference of them would hardly ever be exactly nothing.
    right = np.bincount(owner[inside], weight[inside], target.size)
    wrong = np.bincount(owner[~inside], weight[~inside], target.size) + lost[target]
    total = right + wrong
    return np.asarray(right / np.where(total > 0, total, 1.0))
