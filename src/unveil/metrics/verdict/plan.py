"""Power of an audit of a given size, before it runs.

An audit with few people can neither pass a leak-free release nor find a small leak. Both chances follow from the sizes
of the two tables, the threshold, the number of attackers and the success rate on control people. Ties give people
chances between 0 and 1, which vary less than hits: then an audit shows more than is promised here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, nan, sqrt
from statistics import NormalDist

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.errors import InputError, share, whole_number
from unveil.guesses.trials import Attempts
from unveil.metrics.verdict.effects import FEWEST_ATTEMPTS, UPPER_ERROR, risk_difference
from unveil.metrics.verdict.family import LEVEL

#: The power that is asked for.
POWER = 0.8
#: Numbers of hits farther than this many standard deviations from their mean are left out.
REACH = 7.0
NODES = 64


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """Power and smallest detectable effect of an audit.

    Attributes
    ----------
    pass_chance
        The probability that a leak-free release passes: every upper limit is at most the threshold.
    smallest_found
        The smallest effect of one attacker that is significant with a power of 80 %; NaN where none is.
    people_needed
        The number of people in each table with which a leak-free release passes with a power of 80 %.
    """

    pass_chance: float
    smallest_found: float
    people_needed: int


def plan(
    people: int,
    control: int,
    threshold: float,
    *,
    attackers: int = 10,
    baseline: float = 0.5,
    correlation: float = 0.0,
) -> AuditPlan:
    """Return the pass probability without a leak, and smallest detectable effect.

    For one attacker the chance of passing is exact: it is summed over all numbers of successes. Several attackers are
    taken as normal with one correlation between any two; 0 gives the smallest chance. A leak is found where its p, by a
    score test with Yates's correction, is at most 0.045 over the number of attackers. The step-down procedure of an
    audit allows for attackers that depend on one another, and finds slightly smaller leaks.

    Parameters
    ----------
    people, control
        The number of people in the data who are attacked, and of those in the control group; 20 or more.
    threshold
        The largest acceptable effect.
    attackers
        The number of effects that are held to the threshold.
    baseline
        The success rate on control people. One half is the hardest case.
    correlation
        The correlation between the effects of two attackers on a leak-free release.

    Examples
    --------
    >>> small, large = plan(300, 300, 0.09), plan(1000, 1000, 0.09)
    >>> round(small.pass_chance, 2), round(large.pass_chance, 2), large.people_needed
    (0.04, 0.92, 856)
    >>> round(small.smallest_found, 2), round(large.smallest_found, 2)
    (0.14, 0.08)
    """
    sizes = _checked(people, "people"), _checked(control, "control")
    whole_number(attackers, "attackers")
    needed = people_to_pass(baseline, threshold, attackers=attackers)
    share(correlation, "correlation", one=False)
    level = NormalDist().inv_cdf(1 - LEVEL / attackers)
    return AuditPlan(
        pass_chance=pass_chance(sizes, (baseline, baseline), threshold, attackers=attackers, correlation=correlation),
        smallest_found=_smallest_found(sizes, baseline, level),
        people_needed=needed,
    )


def people_to_pass(baseline: float, threshold: float, *, attackers: int = 1, variance: float | None = None) -> int:
    """Return the people per table for 80% power to pass.

    ``n = 2 (1.645 + z)² v / T² + 2.7 / T``, where T is the threshold, z the normal quantile of the 0.8^(1/F) that each
    of F attackers needs, and v the variance of a person's chance, ``baseline (1 - baseline)`` by default.

    >>> [people_to_pass(0.5, 0.09, attackers=number) for number in (1, 10)]
    [412, 856]
    """
    rate = share(baseline, "baseline")
    limit = share(threshold, "threshold", zero=False, advice="Write 9% as 0.09")
    spread = rate * (1 - rate) if variance is None else share(variance, "variance")
    normal = NormalDist()
    z = normal.inv_cdf(1 - UPPER_ERROR) + normal.inv_cdf(POWER ** (1 / whole_number(attackers, "attackers")))
    return ceil(2 * z * z * spread / limit**2 + 2.7 / limit)


def pass_chance(
    sizes: tuple[int, int],
    rates: tuple[float, float],
    threshold: float,
    *,
    attackers: int = 1,
    correlation: float = 0.0,
) -> float:
    """Return the probability that all upper limits are at most the threshold.

    ``sizes`` and ``rates`` are those of people in the data and of the control group. Where the rates differ by the
    threshold or more, it is the probability of a false pass.

    >>> round(pass_chance((500, 500), (0.19, 0.1), 0.09), 3)
    0.05
    """

    def passes(hits: int, control_hits: int) -> bool:
        attack, control = (
            Attempts(tries=tries, expected=number, low=number, high=number)
            for tries, number in zip(sizes, (hits, control_hits), strict=True)
        )
        return risk_difference(attack, control).high <= threshold

    one = _chance(sizes, rates, passes)
    return one if attackers == 1 else _all_of(one, attackers, correlation)


def _checked(number: int, name: str) -> int:
    if whole_number(number, name) < FEWEST_ATTEMPTS:
        raise InputError(f"{name} is {number}; nothing is tested below {FEWEST_ATTEMPTS}. Raise it")
    return number


def _not_found(sizes: tuple[int, int], z: float) -> Callable[[int, int], bool]:
    people, control = sizes
    unit = 1 / people + 1 / control

    def not_found(hits: int, control_hits: int) -> bool:
        pooled = (hits + control_hits) / (people + control)
        difference = hits / people - control_hits / control - unit / 2
        return difference <= 0 or difference < z * sqrt(pooled * (1 - pooled) * unit)

    return not_found


def _chance(sizes: tuple[int, int], rates: tuple[float, float], happens: Callable[[int, int], bool]) -> float:
    """Return the probability of few successes and many control successes."""
    from scipy.special import bdtrc

    hits, weights = _likely(sizes[0], rates[0])
    others, _ = _likely(sizes[1], rates[1])
    least, last = int(others[0]), int(others[-1])
    chance = 0.0
    for number, weight in zip(hits.tolist(), weights.tolist(), strict=True):
        # The fewest hits on the control group never fall when those on people in the data rise.
        while least <= last and not happens(number, least):
            least += 1
        chance += weight * (float(bdtrc(least - 1, sizes[1], rates[1])) if least > 0 else 1.0)
    return min(chance, 1.0)


def _likely(tries: int, rate: float) -> tuple[IntArray, FloatArray]:
    """Return the plausible numbers of successes, with probabilities."""
    from scipy.special import bdtr

    reach = REACH * sqrt(tries * rate * (1 - rate)) + REACH
    hits = np.arange(max(ceil(tries * rate - reach), 0), min(int(tries * rate + reach), tries) + 1)
    return hits, np.diff(bdtr(hits, tries, rate), prepend=0.0)


def _all_of(chance: float, number: int, correlation: float) -> float:
    """Return the probability of joint events, from equicorrelated normals."""
    from scipy.special import ndtr, ndtri

    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    below = ndtr((ndtri(chance) - sqrt(correlation) * nodes) / sqrt(1 - correlation))
    return min(float(weights @ below**number / weights.sum()), 1.0)


def _smallest_found(sizes: tuple[int, int], baseline: float, z: float) -> float:
    """Return the smallest detectable effect at this quantile, by halving."""
    low, high = 0.0, 1 - baseline

    def is_found(effect: float) -> bool:
        return 1 - _chance(sizes, (baseline + effect, baseline), _not_found(sizes, z)) >= POWER

    if not is_found(high):
        return nan
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if is_found(middle) else (middle, high)
    return high
