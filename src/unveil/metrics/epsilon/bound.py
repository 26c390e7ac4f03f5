"""Lower bound on epsilon from correct guesses of canaries.

Fair coins decide who is in the data. An attacker sees what is released, guesses some of the coins and is silent about
the others. If each coin moves the release by no more than (epsilon, delta), the guesses that are correct are hardly
more than those of a coin with the probability e^epsilon / (1 + e^epsilon) (Steinke, Nasr and Jagielski, "Privacy
auditing with one (1) training run", NeurIPS 2023, theorem 5.2). This many correct guesses refute a small epsilon; few
confirm none.
"""

from dataclasses import dataclass, replace
from math import ceil, exp, floor, log
from typing import Literal

import numpy as np

from unveil._figure import figure
from unveil.errors import InputError, share, whole_number

#: What one coin decides: whether a person is in, or which of two is in.
Adjacency = Literal["add-remove", "replace"]
#: How the coins lie: two people to each coin, one of whom is in; or one who is in or not.
Design = Literal["pairs", "coins"]

#: The shares of all coins that are guessed, the surest ones of each run, smallest first; all are tried, so each has
#: its part of the error.
SHARES: dict[Design, tuple[float, ...]] = {
    "pairs": (1 / 64, 1 / 16, 1 / 4, 1.0),
    "coins": (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2),
}
ADJACENCY: dict[Design, Adjacency] = {"pairs": "replace", "coins": "add-remove"}
CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class EpsilonBound:
    """A lower bound on epsilon and the guesses behind it."""

    COUNTS = "statistic"

    bound: float = figure("Empirical lower bound on epsilon, in nats; 0 is no evidence, not a guarantee.")
    right: int = figure("Number of correct guesses at the share of canaries with the highest bound.", counts="people")
    guesses: int = figure("Number of guesses at that share.", counts="people")
    share: float = figure(
        "Share of canaries guessed, from 0 to 1: the smallest share with the highest bound, or the largest tried "
        "if no bound is above 0."
    )
    coins: int = figure("Number of canaries over all runs: people or rows included at random.")
    runs: int = figure("Number of runs with these canaries.")
    most: float = figure("Bound if every guess were correct, in nats: the largest possible result.")
    adjacency: Adjacency = figure("Adjacency of epsilon: adding or removing one person, or replacing one by another.")
    confidence: float = figure("Joint confidence of the bound over all shares tried, from 0 to 1.")
    delta: float = figure("Delta of the bound, from 0 to below 1.")


def least_epsilon(right: int, guesses: int, *, alpha: float, delta: float = 0.0, coins: int | None = None) -> float:
    """Return the lower bound on epsilon from correct guesses, at error alpha.

    Formula: the smallest epsilon of at least 0 for which :func:`refuting_probability` is above alpha. With delta 0 it
    is ``log(q / (1 - q))``, q being the lower end of the interval of Clopper and Pearson for ``right`` of ``guesses``.
    0 means that nothing is shown, for example by half of the guesses being right; it is finite even if all are, and 0
    where there is no guess.

    Parameters
    ----------
    right, guesses
        How many guesses were right, and how many there were.
    alpha
        How likely the bound may be wrong.
    delta, coins
        The delta next to epsilon, and of how many coins those that were guessed are some: all of them if None. Without
        a delta their number does not matter.

    Examples
    --------
    >>> round(least_epsilon(21, 21, alpha=0.05 / 4), 2), round(least_epsilon(1333, 1333, alpha=0.05 / 4), 1)
    (1.46, 5.7)
    >>> least_epsilon(10, 21, alpha=0.05 / 4)
    0.0
    """
    from scipy.special import betainccinv, betaincinv

    coins = _checked(right, guesses, coins, delta)
    share(alpha, "alpha", zero=False, one=False)
    if 2 * right <= guesses:
        return 0.0
    # Each end of the interval by its own inverse: 1 - q would lose the digits of a q near 1.
    wrong = guesses - right + 1
    high = max(0.0, log(betaincinv(right, wrong, alpha) / betainccinv(wrong, right, alpha)))
    if delta == 0 or high == 0 or refuting_probability(0.0, right, guesses, delta=delta, coins=coins) > alpha:
        return high if delta == 0 else 0.0
    # A delta only lowers the bound. Below that without one the probability rises with epsilon, so halving finds it.
    low = 0.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        refuted = refuting_probability(middle, right, guesses, delta=delta, coins=coins) <= alpha
        low, high = (middle, high) if refuted else (low, middle)
    return low


def refuting_probability(
    epsilon: float, right: int, guesses: int, *, delta: float = 0.0, coins: int | None = None
) -> float:
    """Return the largest probability of this many correct guesses.

    Epsilon and delta are assumed to hold.

    Formula: ``b + 2 m delta max_i (1/i) P[v - i <= B < v]`` with ``b = P[B >= v]``, v correct guesses, m coins, and B
    binomial with the number of guesses and the probability ``e^epsilon / (1 + e^epsilon)``; at most 1.

    >>> round(refuting_probability(0.0, 3, 3), 3), round(refuting_probability(0.0, 3, 3, delta=0.1), 3)
    (0.125, 0.35)
    """
    from scipy.special import betainc, gammaln, xlog1py, xlogy

    coins = _checked(right, guesses, coins, delta)
    if right == 0:
        return 1.0
    q = 1 / (1 + exp(-epsilon))
    at_least = float(betainc(right, guesses - right + 1, q))
    if delta == 0:
        return at_least
    # From right - 1 down: once a probability is below the mean of those before it, the mean only falls, which it does
    # long before twelve standard deviations below the middle of the binomial; as far above it there is nothing to sum.
    middle, width = guesses * q, 12 * (guesses * q * (1 - q)) ** 0.5 + 2
    k = np.arange(min(right - 1, ceil(middle + width)), max(-1, min(floor(middle - width), right - 2)), -1)
    logs = gammaln(guesses + 1) - gammaln(k + 1) - gammaln(guesses - k + 1) + xlogy(k, q) + xlog1py(guesses - k, -q)
    largest_mean = float((np.cumsum(np.exp(logs)) / (right - k)).max())
    return min(1.0, at_least + 2 * coins * delta * largest_mean)


def replaced_to_added(bound: EpsilonBound) -> EpsilonBound:
    """Return the bound for add/remove that follows from one for replace.

    Replacing is removing and adding, so half of the bound holds: who moves a release by (epsilon, delta) at most by
    adding or removing a person moves it by (2 epsilon, (1 + e^epsilon) delta) at most by replacing one. The delta
    becomes smaller accordingly. A bound that is already about adding or removing is returned as it is.
    """
    if bound.adjacency == "add-remove":
        return bound
    half = bound.bound / 2
    return replace(bound, bound=half, most=bound.most / 2, adjacency="add-remove", delta=bound.delta / (1 + exp(half)))


def guessed(coins: int, part: float) -> int:
    """Return the number of canaries guessed at a share, at least one."""
    return max(1, int(part * coins))


def alpha_of_each(design: Design, confidence: float) -> float:
    """Return the error of each share's bound, for joint confidence."""
    if design not in SHARES:
        raise InputError(f"Unknown design {design!r}. Use 'pairs' or 'coins'")
    level = share(confidence, "confidence", zero=False, one=False, advice="Write 95% as 0.95")
    return (1 - level) / len(SHARES[design])


def _checked(right: int, guesses: int, coins: int | None, delta: float) -> int:
    """Return the number of canaries; raise InputError on impossible numbers."""
    whole_number(guesses, "the number of guesses", at_least=0)
    whole_number(right, "the number of correct guesses", at_least=0, at_most=guesses, advice="Count both again")
    share(delta, "delta", one=False, advice="Write it as 0.00001")
    if coins is not None and whole_number(coins, "the number of canaries") < guesses:
        raise InputError(f"there are {guesses:,} guesses for {coins:,} canaries. Pass at most one guess per canary")
    return guesses if coins is None else coins
