"""Evenness of pooled values by its definition, and sketches by cutting the sorted values."""

from itertools import pairwise

import numpy as np

from unveil._kernels.types import FloatArray


def evenness(values: FloatArray, lowest: float, highest: float) -> float:
    """Return ``1 - 3 E`` with E the Cramér-von Mises criterion over n of the values on the scale of the range."""
    if highest == lowest:
        return 0.0
    n = len(values)
    total = 1 / (12 * n)
    for i, value in enumerate(sorted(values.tolist()), 1):
        total += ((2 * i - 1) / (2 * n) - (value - lowest) / (highest - lowest)) ** 2
    return 1 - 3 * total / n


def blocks(values: FloatArray, runs: int) -> list[float]:
    """Return the means of runs of the sorted values, cut where the definition says."""
    ordered, n = sorted(values.tolist()), len(values)
    runs = min(runs, n)
    cuts = [round(n * j / runs) for j in range(runs + 1)]  # Python rounds halves to even, as rint does
    return [float(np.mean(ordered[one:other])) for one, other in pairwise(cuts)]
