"""How likely it is that these records have twins and those have none, by the definition."""

from collections.abc import Sequence
from math import exp, expm1, log


def log_likelihood(expected: Sequence[float], has_twin: Sequence[bool], log_factor: float, exponent: float) -> float:
    """Return the logarithm of the probability where a record has a e**b twins on average."""
    total = 0.0
    for each, twin in zip(expected, has_twin, strict=True):
        number = exp(log_factor + exponent * log(each))
        total += log(max(-expm1(-number), 1e-300)) if twin else -number
    return total


def best(expected: Sequence[float], has_twin: Sequence[bool]) -> float:
    """Return the greatest of all, on a grid of curves."""
    curves = ((a / 4, b / 20) for a in range(-60, 61) for b in range(21))
    return max(log_likelihood(expected, has_twin, *curve) for curve in curves)
