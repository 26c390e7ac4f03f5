"""Effect sizes by their definitions: score tests inverted by halving, loops over people, and integrals."""

import math
from collections.abc import Sequence

from tests.oracles import risk

Limits = tuple[float, float, float]


def worth(chances: Sequence[float]) -> float:
    """Return the number of hits and misses whose mean varies as much, with two people more at either end."""
    n = len(chances)
    mean = sum(chances) / n
    if mean in (0, 1):
        return n
    squares = sum((chance - mean) ** 2 for chance in [*chances, 0, 0, 1, 1])
    variance_of_mean = squares / (n - 1) / n
    return max(n, mean * (1 - mean) / variance_of_mean)


def score_limits(rate: float, attempts: float, error: float) -> tuple[float, float]:
    """Return the least and the greatest p that a one-sided score test with this error does not reject."""
    z = risk.normal_quantile(1 - 2 * error)

    def accepted(p: float) -> bool:
        return attempts * (rate - p) ** 2 <= z * z * p * (1 - p) + 1e-15

    return risk.halve(accepted, rate, 0.0), risk.halve(accepted, rate, 1.0)


def risk_difference(attack: Sequence[float], control: Sequence[float], effects: int) -> Limits:
    """Return the difference of two means of chances with its lower and upper limit."""
    a, c = sum(attack) / len(attack), sum(control) / len(control)
    a_low, _ = score_limits(a, worth(attack), 0.025 / effects)
    _, c_high = score_limits(c, worth(control), 0.025 / effects)
    _, a_high = score_limits(a, worth(attack), 0.05)
    c_low, _ = score_limits(c, worth(control), 0.05)
    low = a - c - math.sqrt((a - a_low) ** 2 + (c_high - c) ** 2)
    high = a - c + math.sqrt((a_high - a) ** 2 + (c - c_low) ** 2)
    return a - c, low, high


def chance_above_cutoff(score: float, calibration: Sequence[float], rate: float) -> float:
    """Return the chance of a place among the highest ``rate`` of all, over the orders of equal scores."""
    above = sum(other > score for other in calibration)
    alike = 1 + sum(other == score for other in calibration)
    places = rate * (len(calibration) + 1)
    # A place is taken, free, or shared by what is left of a whole one.
    called = [min(max(places - place, 0.0), 1.0) for place in range(above, above + alike)]
    return sum(called) / alike


def expected_maximum(means: Sequence[float], errors: Sequence[float]) -> float:
    """Return the mean of the largest of independent normal numbers: each one's density where all others are lower."""
    from scipy.integrate import quad
    from scipy.stats import norm

    def density(t: float) -> float:
        return float(
            sum(
                norm.pdf(t, means[i], errors[i])
                * math.prod(norm.cdf(t, means[j], errors[j]) for j in range(len(means)) if j != i)
                for i in range(len(means))
            )
        )

    low, high = (sign * 9 * max(errors) + end for sign, end in ((-1, min(means)), (1, max(means))))
    return float(quad(lambda t: t * density(t), low, high, limit=400, epsabs=1e-10, points=sorted(means))[0])


def pass_chance(people: int, control: int, rate: float, threshold: float) -> float:
    """Return the probability that the upper limit is at most the threshold, over all pairs of numbers of hits."""
    uppers = [score_limits(hits / people, people, 0.05)[1] for hits in range(people + 1)]
    lowers = [score_limits(hits / control, control, 0.05)[0] for hits in range(control + 1)]
    chance = 0.0
    for hits, likely in enumerate(risk.binomial(people, rate)):
        for control_hits, likely_control in enumerate(risk.binomial(control, rate)):
            a, c = hits / people, control_hits / control
            high = a - c + math.sqrt((uppers[hits] - a) ** 2 + (c - lowers[control_hits]) ** 2)
            chance += likely * likely_control * (high <= threshold)
    return chance
