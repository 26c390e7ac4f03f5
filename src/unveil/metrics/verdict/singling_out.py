"""Singling-out success, compared with predicates about the control group.

Both are at the size of the original, however small the control is: how often a guess fits exactly one of N control
people follows from the share of people it fits, of which a control of m people tells a part. With m >= N it is counted
among N of them; with fewer, what control people would give is bounded, and estimated where the control is large enough.
The verdict is not made here but by drawing labels again (:func:`unveil.metrics.verdict.family.singling_out_statistic`);
this is how large the effect is.
"""

from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.errors import InputError
from unveil.metrics.trials.risk import CONFIDENCE, NO_CONTROL, Rate, clopper_pearson, excess
from unveil.metrics.verdict.pool import ATTACKED_UP_TO, Pool

#: The first count of each bin of how many control people a guess fits.
BINS = (0, 1, 2, 3, 5, 10)
GRID = 70
LARGEST_SHARE = 0.6
BOOTSTRAPS = 200
STEPS = 60
#: Shares of guesses may be off by this many standard errors in the linear programs.
ERRORS = 2.0
FEWEST_TRIES = 5


@dataclass(frozen=True, kw_only=True)
class SinglingOutRate:
    """How often guesses fit exactly one person.

    Attributes
    ----------
    attack
        The share of guesses that fit exactly one of the N originals. Its interval allows for guesses about the same
        people, which are worth fewer than they are.
    strangers
        What guesses would give among N control people. From at least N control people it is a rate with its interval;
        from fewer, low and high bound it, and the value is an estimate between them, without attempts. NaN is the value
        without a control; the bounds are then 0 and what no guess can exceed.
    excess
        What the attack has more, as a share of what control people leave; undefined without a control.
    shown
        Whether the estimate for control people may be printed, which needs half as many control people as originals;
        else its bounds alone.
    most
        What no guess made without the data can exceed: (1 - 1/N)^(N-1), some 37 %.
    """

    attack: Rate
    strangers: Rate
    excess: Rate
    shown: bool
    most: float

    @property
    def beyond_any_guess(self) -> bool:
        """Whether the rate exceeds any guess made without the data."""
        return self.attack.low > self.most


def most_by_guessing(people: int) -> float:
    """Return the highest chance of singling out without the data.

    A guess that fits a share p of the population fits exactly one of N people with the chance N p (1 - p)^(N-1), which
    is highest for p = 1/N: 1 for one person, and about 1/e for many (Cohen and Nissim, 2020).

    >>> round(most_by_guessing(1000), 4)
    0.3681
    """
    return (1 - 1 / people) ** (people - 1)


def singling_out(
    pool: Pool, starts: IntArray, rows: IntArray, *, rng: np.random.Generator, confidence: float = CONFIDENCE
) -> SinglingOutRate:
    """Return the rate of singling out, its control, and the excess.

    Guess g fits the rows ``rows[starts[g]:starts[g + 1]]`` of the pool. From N control people or more, what control
    people give is the chance that a guess fits exactly one of N of them. With fewer, the share of people that guesses
    fit is a mixture over a grid; mixtures that agree with how many control people they fit, up to two standard errors
    in each bin of counts, bound what control people would give (two linear programs), and a likely one estimates it.
    ``rng`` draws control people again for these errors. In simulations the intervals hold the truth in 98 to 100 %:
    they are wide on purpose, because guesses about the same people depend on one another.

    >>> pool = Pool(is_member=np.arange(60) < 40, contents=np.arange(60))
    >>> found = singling_out(pool, np.arange(31), np.arange(30), rng=np.random.default_rng(0))
    >>> found.attack.value, found.excess.low > 0.5, found.beyond_any_guess
    (1.0, True, True)
    """
    if len(starts) < 2:
        raise InputError("there are no predicates. Make predicates first")
    if pool.members == 0:
        raise InputError("the pool has no member. Pass the original's people")
    fits = _fits(pool, starts, rows)
    members = np.asarray(fits[:, pool.labels].sum(axis=1)).ravel()
    together = fits @ fits.T
    together.data[:] = 1
    attack = _rate(np.asarray(members == 1, np.float64), together, confidence)
    most = most_by_guessing(pool.members)
    if pool.others == 0:
        nobody = Rate(nan, nan, nan, NO_CONTROL)
        return SinglingOutRate(
            attack=attack, strangers=Rate(nan, 0.0, most, NO_CONTROL), excess=nobody, shown=False, most=most
        )
    outside = fits[:, ~pool.labels]
    if pool.others >= pool.members:
        counted = _rate(_alone_among(outside, pool.members), together, confidence)
        value, low, high = (min(each, most) for each in (counted.value, counted.low, counted.high))
        strangers = replace(counted, value=value, low=low, high=high)
    else:
        strangers = _strangers(outside, pool.members, most, rng)
    return SinglingOutRate(
        attack=attack,
        strangers=strangers,
        excess=excess(attack, strangers),
        shown=2 * pool.others >= pool.members,
        most=most,
    )


def _fits(pool: Pool, starts: IntArray, rows: IntArray) -> Any:
    """Return the sparse matrix of fits, at [guess, place]."""
    from scipy.sparse import csr_array

    begin, places = pool.fitted(starts, rows)
    return csr_array((np.ones(places.size, np.int32), places, begin), shape=(begin.size - 1, pool.people))


def _rate(alone: FloatArray, together: Any, confidence: float) -> Rate:
    """Return the mean chance of singling out, with its CI.

    ``together`` is 1 for two guesses that fit a person in common, whose luck is shared.
    """
    guesses = alone.size
    share = float(alone.mean())
    spread = share * (1 - share)
    worth = float(guesses)
    if spread > 0:
        off = alone - share
        worth = spread / max(spread / guesses, float(off @ (together @ off)) / guesses**2)
    worth = min(max(worth, FEWEST_TRIES), guesses)
    return replace(clopper_pearson(share * worth, worth, confidence=confidence), tries=guesses)


def _alone_among(fits: Any, members: int) -> FloatArray:
    """Return each predicate's chance of fitting one of drawn people (hypergeometric distribution)."""
    people = fits.shape[1]
    counts, which = np.unique(np.asarray(fits.sum(axis=1)).ravel(), return_inverse=True)
    # One of those who fit is drawn, and then none of the others who fit.
    others = np.arange(int(counts.max(initial=1)) - 1)
    none_of = np.concatenate([[1.0], np.cumprod((people - members - others) / (people - 1 - others))])
    chances: FloatArray = (counts * members / people * none_of[np.maximum(counts - 1, 0)])[which]
    return chances


def _strangers(fits: Any, members: int, at_most: float, rng: np.random.Generator) -> Rate:
    """Return the expected rate on controls, extrapolated to another number."""
    shares = np.concatenate([[0.0], np.geomspace(0.01 / members, LARGEST_SHARE, GRID)])
    alone = members * shares * (1 - shares) ** (members - 1)
    binned = _binned(fits.sum(axis=1)[:, None])[:, 0]
    chance = _chance_of_bins(fits.shape[1], shares)
    low, high = _bounds(alone, chance, binned, ERRORS * _errors(fits, binned, rng), at_most)
    weights = np.full(shares.size, 1 / shares.size)
    for _ in range(STEPS):
        likely = chance @ weights
        weights = weights * (np.divide(binned, likely, out=np.zeros(len(BINS)), where=likely > 0) @ chance)
    return Rate(min(max(float(weights @ alone), low), high), low, high)


def _errors(fits: Any, binned: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return standard errors of bin shares, from the controls."""
    from scipy.sparse import csr_array, hstack

    guesses, others = fits.shape
    chances = np.full(others, 1 / others)
    if others > ATTACKED_UP_TO:
        # Those whom no guess fits need no numbers of their own.
        fitted = np.unique(fits.indices)
        fits, chances = fits[:, fitted], np.append(chances[fitted], 1 - fitted.size / others)
        fits = hstack([fits, csr_array((guesses, 1), dtype=fits.dtype)], format="csr")
    # People are drawn again as well as guesses: guesses that fit the same people vary together.
    again = _binned(fits @ rng.multinomial(others, chances, BOOTSTRAPS).T)
    error: FloatArray = np.sqrt(again.var(axis=1) + binned * (1 - binned) / guesses + 1 / (4 * guesses**2))
    return error


def _binned(counts: IntArray) -> FloatArray:
    """Return the binned shares of fits, at [bin, column]."""
    which = np.searchsorted(BINS, counts, side="right") - 1
    return np.stack([(which == each).mean(axis=0) for each in range(len(BINS))])


def _chance_of_bins(people: int, shares: FloatArray) -> FloatArray:
    """Return the probability of each bin, at [bin, share]."""
    from scipy.special import bdtr

    below = [bdtr(min(first - 1, people), people, shares) for first in BINS[1:]]
    return np.diff(np.stack([np.zeros(shares.size), *below, np.ones(shares.size)]), axis=0)


def _bounds(
    alone: FloatArray, chance: FloatArray, binned: FloatArray, error: FloatArray, at_most: float
) -> tuple[float, float]:
    """Return the bounds of mean ``alone`` over mixtures agreeing with counts."""
    from scipy.optimize import linprog

    ends = []
    for sign in (1.0, -1.0):
        found = linprog(
            sign * alone,
            A_ub=np.concatenate([chance, -chance]),
            b_ub=np.concatenate([binned + error, error - binned]),
            A_eq=np.ones((1, alone.size)),
            b_eq=[1.0],
            method="highs",
        )
        if not found.success:
            # No mixture on the grid agrees with the counts: then nothing is known but what holds for every guess.
            return 0.0, at_most
        ends.append(min(max(sign * float(found.fun), 0.0), at_most))
    return ends[0], max(ends)
