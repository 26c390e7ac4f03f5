"""Monotonicity, word by word: every split of two samples is tried, and scores are counted pair by pair."""

import warnings
from collections.abc import Sequence
from itertools import combinations, pairwise
from math import isnan, nan

import numpy as np
from scipy import stats

SAME = 1e-12


def snapped(first: Sequence[float], second: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the samples, with values that differ by rounding only replaced by the lowest of them."""
    near = SAME * max(abs(value) for value in (*first, *second))
    instead: dict[float, float] = {}
    before = lowest = -np.inf
    for value in sorted({*first, *second}):
        if value - before > near:
            lowest = value
        instead[value] = lowest
        before = value
    return [instead[value] for value in first], [instead[value] for value in second]


def welch(first: Sequence[float], second: Sequence[float]) -> tuple[float, int]:
    """Return the p-value and the direction of Welch's t-test of finite values."""
    one, other = snapped(first, second)
    if len({*one}) == 1 and len({*other}) == 1:
        return (1.0, 0) if one[0] == other[0] else (0.0, int(np.sign(other[0] - one[0])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # about one sample without any spread
        found = stats.ttest_ind(other, one, equal_var=False)
    difference = float(np.mean(other) - np.mean(one))
    if abs(difference) <= SAME * max(abs(value) for value in (*first, *second)):
        return 1.0, 0
    return float(found.pvalue), int(np.sign(difference))


def rank_sum(first: Sequence[float], second: Sequence[float]) -> tuple[float, int]:
    """Return the p-value and the direction of the rank-sum test: of all splits, those that are as far from the middle.

    Only samples of up to 12 values together are split in all ways; those of more than 40 have scipy's approximation.
    """
    one, other = snapped(first, second)
    pooled = [*one, *other]
    middle = len(other) * (len(pooled) + 1) / 2
    ranks = stats.rankdata(pooled)
    away = float(ranks[len(one) :].sum()) - middle
    if len(pooled) > 40:
        found = 1.0 if len({*pooled}) == 1 else float(stats.mannwhitneyu(other, one, method="asymptotic").pvalue)
        return found, int(np.sign(away))
    splits = [sum(chosen) - middle for chosen in combinations(ranks.tolist(), len(other))]
    return sum(abs(each) >= abs(away) for each in splits) / len(splits), int(np.sign(away))


def marks(changes: Sequence[tuple[bool, int]], *, strict: bool) -> list[int]:
    """Return what each change counts, told whether it is significant and whether it is right (1) or wrong (-1)."""
    found, last = [], 0
    for significant, direction in changes:
        if not significant and not (strict and direction == -1):
            found.append(0)
            continue
        found.append(-2 if direction == -last and last != 0 else direction)
        last = direction or last
    return found


def monotonicity(
    samples: Sequence[Sequence[float]], *, rising: bool, level: float = 0.05, strict: bool = False
) -> tuple[float, list[list[int]], int]:
    """Return the score, what each pair counts in Welch's test and in the rank-sum test, and the significant tests."""
    known = [[value for value in sample if not isnan(value)] for sample in samples]
    there = [sample for sample in known if len(sample) >= 2]
    pairs = list(pairwise(there))
    if not pairs:
        return nan, [[], []], 0
    counted, scores, significant = [], [], 0
    for test in (welch, rank_sum):
        told = [test(*pair) for pair in pairs]
        changes = [(p < level, sign if rising else -sign) for p, sign in told]
        significant += sum(change[0] for change in changes)
        counted.append(marks(changes, strict=strict))
        scores.append((sum(counted[-1]) + 2 * len(pairs)) / (3 * len(pairs)))
    return sum(scores) / 2, counted, significant
