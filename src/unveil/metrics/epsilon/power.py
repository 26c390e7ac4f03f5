"""Power of canary audits, before they run."""

from bisect import bisect_left
from math import exp

from unveil.errors import share, whole_number
from unveil.metrics.epsilon.bound import (
    CONFIDENCE,
    SHARES,
    Design,
    alpha_of_each,
    guessed,
    least_epsilon,
    refuting_probability,
)
from unveil.metrics.epsilon.claim import checked_epsilon

#: All numbers up to 100, and above that those with two digits: more digits would promise more than a plan can keep.
_TRIED = (*range(1, 100), *(digits * 10**zeros for zeros in range(1, 6) for digits in range(10, 100)), 10**7)


def most_provable(coins: int, *, design: Design, confidence: float = CONFIDENCE, delta: float = 0.0) -> float:
    """Return the bound if every guess of the canaries is correct.

    >>> round(most_provable(1333, design="pairs"), 1), round(most_provable(200, design="coins"), 2)
    (5.7, 3.05)
    """
    whole_number(coins, "the number of canaries")
    alpha = alpha_of_each(design, confidence)
    guesses = [guessed(coins, part) for part in SHARES[design]]
    return max(least_epsilon(each, each, alpha=alpha, delta=delta, coins=coins) for each in guesses)


def coins_needed(
    claim: float,
    truth: float,
    *,
    design: Design,
    power: float = 0.8,
    confidence: float = CONFIDENCE,
    delta: float = 0.0,
) -> int | None:
    """Return the number of canaries that refutes a false claim with ``power``.

    The attacker is the best there can be: whoever is guessed is guessed right with the probability
    ``e^truth / (1 + e^truth)``. What an attack on a release gets may need many times as many. Counted is the chance
    that the largest share of coins refutes the claim, with the part of the error that it has.

    The number is the smallest that is enough, rounded up to two digits. None where none of up to 10^7 is: if the truth
    is not above the claim, or hardly, or the delta is too large for this many coins.

    >>> coins_needed(1.0, 2.0, design="pairs"), coins_needed(1.0, 2.0, design="coins")
    (69, 150)
    >>> coins_needed(1.0, 1.0, design="pairs") is None
    True
    """
    checked_epsilon(claim, "the claimed epsilon")
    checked_epsilon(truth, "the true epsilon")
    share(power, "power", zero=False, one=False, advice="Write 80% as 0.8")
    if truth <= claim:
        return None
    alpha = alpha_of_each(design, confidence)
    return next((each for each in _TRIED if _enough(each, claim, truth, design, power, alpha, delta)), None)


def _enough(coins: int, claim: float, truth: float, design: Design, power: float, alpha: float, delta: float) -> bool:
    """Return whether the expected correct guesses refute the claim."""
    from scipy.special import betainc

    guesses, q = guessed(coins, SHARES[design][-1]), 1 / (1 + exp(-truth))
    more = range(1, guesses + 1)
    right = bisect_left(more, True, key=lambda each: bool(betainc(each, guesses - each + 1, q) < power))
    return refuting_probability(claim, right, guesses, delta=delta, coins=coins) < alpha
