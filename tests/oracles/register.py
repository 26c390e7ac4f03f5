"""Risk against a register by the definitions, person by person; ``released`` has a set of values in each cell."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import nan

from tests.oracles.truthful import Cell, compatible


def register_risk(
    released: Sequence[Sequence[Cell]], people: Sequence[Sequence[object]], threshold: float
) -> dict[str, float]:
    f = Counter(tuple(row) for row in released)
    fits = {row: [at for at, person in enumerate(people) if compatible(row, person)] for row in f}
    big = {row: len(found) for row, found in fits.items()}
    n, unique = len(released), [row for row in f if f[row] == 1]
    found: dict[str, float] = {
        "contradictions": sum(big[row] < f[row] for row in f),
        "prosecutor_max": max(1 / f[row] for row in f),
        "prosecutor_mean": sum(1 / f[tuple(row)] for row in released) / n,
        "prosecutor_above": sum(1 / f[tuple(row)] > threshold for row in released) / n,
        "sample_uniques": len(unique),
    }
    if found["contradictions"]:
        return found
    presence = {
        at: max((Fraction(f[row], big[row]) for row in f if at in fits[row]), default=Fraction(0))
        for at in range(len(people))
    }
    both = sum(big[row] == 1 for row in unique)
    found |= {
        "journalist_max": 1 / min(big.values()),
        "journalist_above": sum(1 / big[tuple(row)] > threshold for row in released) / n,
        "k_map": min(big.values()),
        "marketer": sum(1 / big[tuple(row)] for row in released) / n,
        "population_uniques": both,
        "population_uniqueness": both / len(unique) if unique else nan,
        "unique_match_correct": len(unique) / sum(big[row] for row in unique) if unique else nan,
        "delta_max": max(f[row] / big[row] for row in f),
        "delta_min": 0.0 if 0 in presence.values() else min(f[row] / big[row] for row in f),
        "delta_above": sum(float(each) > threshold for each in presence.values()) / len(people),
    }
    return found
