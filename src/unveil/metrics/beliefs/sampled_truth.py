"""Verdicts against sampled true probabilities: shown, refuted, or within the error.

The truth comes as several independent estimates, each from a chain of its own. A claim that is to be refuted is chosen
on one half of them and tested on the other, so that the search for it does not count as evidence: the belief in a set,
or what a guess expects of a score, against the mean of what is possible in each estimate (both are linear in the
truth). To show that a guess is valid, every probability above the lower ends of simultaneous intervals must bear it
out.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import FloatArray, IntArray
from unveil.guesses.mass_function import MassFunction
from unveil.metrics.beliefs._belief_flow import worst_set
from unveil.metrics.beliefs._coupling import TOLERANCE, decide, left_over, most_expected
from unveil.metrics.beliefs._finding import CompatibilityFinding, Level, judge_belief, judge_probability

#: Why there is no verdict where the sampled truth is not sharp enough for one.
NOT_SHOWN = "unknown: the error bars of the sampled truth overlap"
#: The chance of a wrong verdict on one record, either way.
LEVEL = 0.001
#: Records that may be possible for a target whose guess is to be shown valid; with more, intervals are too wide.
_MOST_POSSIBLE = 300


@dataclass(frozen=True, eq=False)
class SampledTruth:
    """Independent estimates of the true probability of targets, one line each.

    The candidates of target j are those from ``start[j]`` to ``start[j + 1]``: everyone who is possible, whether drawn
    or not. ``effective`` is how many independent draws the estimates of each target amount to, all together.
    """

    start: IntArray
    candidate: IntArray
    share: NDArray[np.float32]
    effective: FloatArray

    def row(self, target: int) -> tuple[IntArray, FloatArray, float]:
        """Return possible records, estimates, and number of draws of a target."""
        part = slice(int(self.start[target]), int(self.start[target + 1]))
        return self.candidate[part], self.share[:, part].astype(np.float64), float(self.effective[target])

    def error(self) -> FloatArray:
        """Largest standard error per target; NaN if not sampled."""
        spread = self.share.std(axis=0, ddof=1) / np.sqrt(len(self.share)) if self.share.size else np.zeros(0)
        return np.array(
            [spread[low:high].max(initial=-1.0) if high > low else np.nan for low, high in _bounds(self.start)]
        )

    def take(self, rows: IntArray) -> "SampledTruth":
        """Return the estimates of some targets."""
        size = np.diff(self.start)[rows]
        start = np.concatenate([[0], np.cumsum(size)])
        entry = np.arange(start[-1]) + np.repeat(self.start[:-1][rows] - start[:-1], size)
        return SampledTruth(start, self.candidate[entry], self.share[:, entry], self.effective[rows])


def _bounds(start: IntArray) -> list[tuple[int, int]]:
    return list(zip(start[:-1].tolist(), start[1:].tolist(), strict=True))


def judge_sampled_belief(
    mass: MassFunction, possible: IntArray, share: FloatArray, draws: float, level: Level
) -> CompatibilityFinding:
    """Return whether belief stays below a sampled probability.

    >>> share = np.tile([0.5, 0.5], (8, 1)) + np.linspace(-0.01, 0.01, 8)[:, None] * [1, -1]
    >>> sure, open_to_both = MassFunction.from_set(2, [0]), MassFunction.vacuous(2)
    >>> [judge_sampled_belief(one, np.arange(2), share, 800.0, "file").valid for one in (sure, open_to_both)]
    [False, True]
    """
    first, second = np.array_split(share, 2)
    tried = first.mean(axis=0)
    there = tried > 0
    worst = worst_set(mass.sets, mass.mass, possible[there], tried[there], mass.size)
    if worst.excess > TOLERANCE:
        of_set = second[:, np.isin(possible, worst.elements)].sum(axis=1)
        if worst.belief - _upper(of_set, draws / 2) > TOLERANCE:
            mean = float(of_set.mean())
            inside = np.isin(possible, worst.elements)
            refuted = judge_belief(mass, possible, _with_mean(second, inside, mean), level)
            shown = second[:, np.isin(possible, refuted.witness)].sum(axis=1)
            return _with_error(refuted, _error(shown[:, None], draws / 2)[0])
    if _holds_everywhere(mass, possible, _lower(share, draws)):
        why = f"No belief exceeds its probability: the guess is compatible with the {level}-level truth."
        return CompatibilityFinding(valid=True, level=level, method="beyond the error bars", why=why)
    return not_shown(level)


def _with_mean(share: FloatArray, inside: NDArray[np.bool_], mean: float) -> FloatArray:
    """Return mean estimates with exact sums, in and outside a tested set."""
    found: FloatArray = share.mean(axis=0)
    for part, total in ((inside, mean), (~inside, 1 - mean)):
        size = found[part].sum()
        if part.any():
            found[part] = found[part] * total / size if size > 0 else total / part.sum()
    return found


def _holds_everywhere(mass: MassFunction, possible: IntArray, lower: FloatArray) -> bool:
    """Return whether no belief exceeds the smallest possible probability.

    That is the sum of the lower ends, or 1 for a set that holds all who are possible. So what they leave open is given
    to one more element, which only focal sets that hold everyone possible have.
    """
    rest = max(0.0, 1.0 - float(lower.sum()))
    whole = [bool(np.isin(possible, one).all()) for one in mass.sets]
    sets = tuple(np.append(one, mass.size) if all_ else one for one, all_ in zip(mass.sets, whole, strict=True))
    elements, weight = np.append(possible, mass.size), np.append(lower, rest)
    return worst_set(sets, mass.mass, elements, weight, mass.size + 1).excess <= TOLERANCE


def judge_sampled_probability(
    guess: tuple[IntArray, FloatArray], possible: IntArray, share: FloatArray, draws: float, at_most: int, level: Level
) -> CompatibilityFinding:
    """Return whether the guess is compatible with a sampled truth."""
    records = np.union1d(guess[0], possible)
    q, place = np.zeros(records.size), np.searchsorted(records, possible)
    q[np.searchsorted(records, guess[0])] = guess[1]
    each = np.zeros((len(share), records.size))
    each[:, place] = share
    first, second = np.array_split(each, 2)
    tried = decide(first.mean(axis=0), q, at_most)
    if tried.valid is False:
        allowed = np.array([most_expected(tried.score, one, np.ones(records.size)) for one in second])
        # A score is at most 1 in size, so what it allows spans at most 2.
        if tried.expected - _upper(allowed / 2 + 0.5, draws / 2) * 2 + 1 > TOLERANCE:
            mean = second.mean(axis=0)
            there = np.flatnonzero(mean)
            refuted = judge_probability(guess, (records[there], mean[there] / mean.sum()), at_most, level)
            return _with_error(refuted, _error_of_score(refuted, second[:, np.isin(records, refuted.witness)], draws))
    if _fits_everywhere(q, _spread_out(_lower(share, draws), place, records.size), place):
        why = f"A compatible belief gives this probability: the guess is compatible with the {level}-level truth."
        return CompatibilityFinding(valid=True, level=level, method="beyond the error bars", why=why)
    return not_shown(level)


def _error_of_score(refuted: CompatibilityFinding, share: FloatArray, draws: float) -> float:
    """Return the standard error of the largest valid expected score."""
    if refuted.score is None:
        return 0.0
    allowed = np.array([most_expected(refuted.score, one, np.ones(one.size)) for one in share])
    return 2 * float(_error((allowed / 2 + 0.5)[:, None], draws / 2)[0])  # it spans at most 2, as a share spans 1


def _with_error(finding: CompatibilityFinding, error: float) -> CompatibilityFinding:
    """Return a refutation with the error of the sampled value."""
    if finding.valid is not False:
        return finding
    why = f"{finding.why.removesuffix('.')}. The possible value was sampled, with a standard error of {error:.2g}."
    return replace(finding, why=why)


def _spread_out(lower: FloatArray, place: IntArray, size: int) -> FloatArray:
    found = np.zeros(size)
    found[place] = lower
    return found


def _fits_everywhere(guess: FloatArray, lower: FloatArray, place: IntArray) -> bool:
    """Return whether the guess fits every probability above the lower ends.

    The probabilities that one guess is compatible with are convex, so that the corners decide: all that is left open
    goes to one of those who are possible.
    """
    if (guess[place] == 0).any():
        return False
    held = guess > 0
    if np.abs(guess[held] - 1 / held.sum()).max() <= TOLERANCE:
        return True
    if place.size > _MOST_POSSIBLE:
        return False
    rest = max(0.0, 1.0 - float(lower.sum()))
    for one in place[np.argsort(guess[place], kind="stable")].tolist():  # the least likely guess fails first
        corner = lower.copy()
        corner[one] += rest
        if left_over(corner, guess) > TOLERANCE:
            return False
    return True


def not_shown(level: Level) -> CompatibilityFinding:
    """Return that the sampled truth allows neither verdict."""
    why = f"Compatibility with the {level}-level truth is unknown: its error bars overlap."
    return CompatibilityFinding(valid=None, level=level, method=NOT_SHOWN, why=why)


def _upper(values: FloatArray, draws: float) -> float:
    """Return the upper end for the mean of independent estimates."""
    return float(values.mean() + _quantile(LEVEL, values.size - 1) * _error(values[:, None], draws)[0])


def _lower(share: FloatArray, draws: float) -> FloatArray:
    """Return simultaneous lower ends of a target's probabilities, at least 0."""
    far = _quantile(LEVEL / max(share.shape[1], 1), len(share) - 1)
    found: FloatArray = np.maximum(share.mean(axis=0) - far * _error(share, draws), 0.0)
    return found


def _error(share: FloatArray, draws: float) -> FloatArray:
    """Return standard errors of means, at least those of independent draws.

    What was never drawn is not impossible.
    """
    between = share.std(axis=0, ddof=1) / np.sqrt(len(share))
    likely = (share.mean(axis=0) * draws + 1.0) / (draws + 2.0)
    found: FloatArray = np.maximum(between, np.sqrt(likely * (1 - likely) / draws))
    return found


@cache
def _quantile(level: float, freedom: int) -> float:
    from scipy.special import stdtrit

    return float(-stdtrit(freedom, level))
