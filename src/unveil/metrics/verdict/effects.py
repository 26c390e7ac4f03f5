"""Effect sizes: excess attack success per 100 people because of the release.

The effect is the risk difference, success rate minus baseline. Its limits are Newcombe's method 10 (Statistics in
Medicine 17, 1998): the distances of the two rates from their Wilson limits, combined as squares. The upper limit is
one-sided with an error of 5 %, because a pass needs every upper limit below the threshold and one that errs must err
alone (Berger, 1982). The lower limit has an error of 2.5 % divided by the number of effects in the audit, because one
lower limit above the threshold fails a release.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import fsum, hypot, inf, isnan, nan
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from unveil._figure import figure
from unveil._kernels.neighbours.density import chance_of_highest
from unveil._kernels.types import FloatArray
from unveil.errors import InputError, share, whole_number
from unveil.guesses.trials import Attempts
from unveil.metrics.trials.membership import _checked
from unveil.metrics.trials.risk import Rate, wilson
from unveil.metrics.verdict.singling_out import SinglingOutRate

#: The error of an upper limit, and that of all lower limits of an audit together.
UPPER_ERROR, LOWER_ERROR = 0.05, 0.025
#: With fewer attempts on either side an attack is not tested.
FEWEST_ATTEMPTS = 20
#: Membership is measured at the cutoff that calls this share of people outside the data members.
FALSE_POSITIVE_RATE = Fraction(1, 20)
#: People of chance 0, and as many of chance 1, that are added when the variance of chances is estimated.
UNSEEN = 2
#: Estimates scatter more than the effects, so the selection bias at the estimates is about this part too small.
BIAS_CORRECTION = 1.6
#: The correlation of effects in two folds whose attackers are chosen on one another's people: 0.32 for two equally good
#: attackers, 0.34 for five, and less for more of them, or if they are alike, or if one is best.
FOLD_CORRELATION = 1 / 3
#: A selection bias above this share of the effect is removed from the printed estimate.
NOTABLE_BIAS = 0.1


@dataclass(frozen=True)
class EffectSize:
    """A risk difference with its limits.

    All three are NaN where it was not tested, and ``why_not_tested`` gives the reason. ``low`` and ``high`` are no 95 %
    interval: their errors are 2.5 % over the number of effects, and 5 %.

    >>> effect = EffectSize(0.64, 0.58, 0.66, attack_rate=0.84, baseline=0.2)
    >>> round(effect.normalized_excess, 2)
    0.8
    """

    COUNTS = "statistic"

    value: float = figure("Attack success minus baseline; null where it was not tested.")
    low: float = figure("Lower limit, with an error of 2.5% for all effects of the audit together.")
    high: float = figure("Upper limit, one-sided with an error of 5%.")
    attack_rate: float = nan
    baseline: float = nan
    why_not_tested: str = ""

    @property
    def is_tested(self) -> bool:
        """Whether there is a value."""
        return not isnan(self.value)

    @property
    def normalized_excess(self) -> float:
        """Excess as a share of the possible excess (Giomi et al., 2023).

        It is NaN where the baseline leaves nothing.
        """
        return self.value / (1 - self.baseline) if self.baseline < 1 else nan


@dataclass(frozen=True, kw_only=True)
class RatePair:
    """Two rates of an effect, with the attempts behind them.

    ``attack_attempts`` and ``baseline_attempts`` are effective attempts (:func:`effective_attempts`); infinitely many
    make a rate that is known. ``bounds`` replace the limits of a baseline that is only known to lie between them.
    ``is_theoretical`` marks the highest baseline without a control group, where the true one may be 0. An attacker
    that does not ``blocks_pass`` can raise the level and fail a release, but its upper limit need not be low.
    """

    attack_rate: float
    attack_attempts: float
    baseline: float
    baseline_attempts: float = inf
    bounds: tuple[float, float] | None = None
    is_theoretical: bool = False
    people: int = 0
    control_people: int = 0
    why_not_tested: str = ""
    blocks_pass: bool = True

    @classmethod
    def of(cls, attack: Attempts, baseline: Attempts | float, *, fewest: int = FEWEST_ATTEMPTS) -> "RatePair":
        """Return the rates of attack and of control or baseline."""
        sides = (attack, "people in the data"), (baseline, "the control group")
        few = [who for side, who in sides if isinstance(side, Attempts) and side.tries < fewest]
        (attack_rate, attack_attempts), (known, attempts) = (_rate_and_attempts(side) for side, _ in sides)
        return cls(
            attack_rate=attack_rate,
            attack_attempts=attack_attempts,
            baseline=known,
            baseline_attempts=attempts,
            people=attack.tries,
            control_people=baseline.tries if isinstance(baseline, Attempts) else 0,
            why_not_tested=f"there are fewer than {fewest} attempts on {few[0]}" if few else "",
        )

    @property
    def variance(self) -> float:
        """Variance of one control person's chance; NaN without any."""
        if not self.control_people or not self.baseline_attempts:
            return nan
        return self.baseline * (1 - self.baseline) * self.control_people / self.baseline_attempts

    def effect(self, effects: int = 1) -> EffectSize:
        """Return the difference of the rates, with its limits.

        ``effects`` share the error of lower limits.
        """
        if self.why_not_tested:
            return replace(_not_tested(self.why_not_tested), attack_rate=self.attack_rate, baseline=self.baseline)
        known = self.bounds or (self.baseline, self.baseline) if self.baseline_attempts == inf else None
        baseline = (
            _wilson_of(self.baseline, self.baseline_attempts)
            if known is None
            else lambda _: Rate(self.baseline, *known)
        )
        made = _newcombe(_wilson_of(self.attack_rate, self.attack_attempts), baseline, effects)
        if not self.is_theoretical:
            return made
        if made.low <= 0:
            return replace(
                _not_tested("without a control group, a rate this low is not evidence"), attack_rate=self.attack_rate
            )
        return replace(made, high=made.high + self.baseline)


def effective_attempts(attempts: Attempts) -> float:
    """Return the effective number of attempts with the same variance.

    Ties, and several rows of one person, give people chances between 0 and 1, which vary less than hits. So n chances
    are worth ``n p (1 - p) / s²`` attempts, at least n; p is their mean and s² their variance. Two people of chance 0
    and two of chance 1 are added to the sum of squares of s²: where nearly all chances are alike, the sample easily
    misses the few people of chance 1, and without these four the limits miss the truth in up to a quarter of draws
    (``benchmarks/effect_coverage.py``). With chances 0 and 1 alone, or unknown ones, the result is n.

    >>> effective_attempts(Attempts.from_chances([0.0, 1.0] * 50))
    100.0
    >>> round(effective_attempts(Attempts.from_chances([0.4, 0.6] * 50)))
    1238
    """
    n, p = attempts.tries, attempts.expected / attempts.tries
    if attempts.chances is None or not 0 < p < 1:
        return float(n)
    squares = fsum(((attempts.chances - p) ** 2).tolist()) + UNSEEN * (p * p + (1 - p) ** 2)
    return max(n * p * (1 - p) * (n - 1) / squares, float(n))


def household_effect(chances: ArrayLike, household: ArrayLike) -> float:
    """Return the household design effect of a mean, at least 1.

    It is the design effect of drawing households: the variance of the sum within households over that of people.

    >>> household_effect([1, 1, 0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 2, 2, 3, 3]), household_effect([1, 0, 1], [0, 1, 2])
    (2.0, 1.0)
    """
    values = np.asarray(chances, np.float64)
    if not values.size:
        return 1.0
    deviations = values - values.mean()
    single = fsum((deviations**2).tolist())
    _, home = np.unique(np.asarray(household), return_inverse=True)
    together = fsum((np.bincount(home, deviations) ** 2).tolist())
    # Rounded, so that the order of people does not change the last digit.
    return max(round(together / single, 9), 1.0) if single > 0 else 1.0


def risk_difference(
    attack: Attempts, baseline: Attempts | float, *, effects: int = 1, fewest: int = FEWEST_ATTEMPTS
) -> EffectSize:
    """Return the success rate minus the baseline, with limits.

    Parameters
    ----------
    attack
        Attempts on people in the data. The unit is a person: take the mean over the rows of each
        (:func:`unveil.guesses.trials.mean_of_rows`).
    baseline
        Attempts on the control group, or a rate that is known exactly: 1/N for re-identification and row order.
    effects
        The number of effects in the audit, which share the error of lower limits.
    fewest
        With fewer attempts on either side nothing is tested; groups, of whom few are enough, need a smaller number.

    Examples
    --------
    >>> attack, control = (Attempts(tries=500, expected=hits, low=hits, high=hits) for hits in (26, 3))
    >>> copies = risk_difference(attack, control)
    >>> round(copies.value, 3), round(copies.low, 3), round(copies.high, 3)
    (0.046, 0.026, 0.065)
    """
    return RatePair.of(attack, baseline, fewest=fewest).effect(effects)


def counted(attack_rate: float, baseline: float = 0.0) -> EffectSize:
    """Return an effect that is counted rather than estimated.

    Both limits equal it. Such are 1/k of the smallest equivalence class, and re-identification where all matches are
    known.

    >>> counted(1 / 20).high
    0.05
    """
    value = share(attack_rate, "attack_rate") - share(baseline, "baseline")
    return EffectSize(value, value, value, attack_rate, baseline)


def singling_out_pair(rate: SinglingOutRate) -> RatePair:
    """Return the success rate of singling-out predicates, and its baseline.

    The limits of the rate are Wilson's; so are those of its baseline from a control group that is at least as large as
    the data, and from a smaller one they are the bounds that it gives. Without one
    the baseline is the highest rate that predicates can have which do not depend on the data, some 37 %: the effect is
    tested only if the lower limit exceeds it, and the true baseline may be 0, so the upper limit is that of the rate.

    >>> attack, strangers = Rate(0.71, nan, nan, tries=300, worth=300.0), Rate(nan, 0.0, 0.37)
    >>> rate = SinglingOutRate(attack=attack, strangers=strangers, excess=strangers, shown=False, most=0.37)
    >>> effect = singling_out_pair(rate).effect()
    >>> round(effect.value, 2), round(effect.low, 2), round(effect.high, 2)
    (0.34, 0.29, 0.75)
    """
    attack, baseline = rate.attack, rate.strangers
    is_bounded = baseline.defined and not baseline.worth
    return RatePair(
        attack_rate=attack.value,
        attack_attempts=attack.worth,
        baseline=baseline.value if baseline.defined else rate.most,
        baseline_attempts=baseline.worth or inf,
        bounds=(baseline.low, baseline.high) if is_bounded else None,
        is_theoretical=not baseline.defined,
        people=attack.tries,
        control_people=baseline.tries,
        why_not_tested=f"there are fewer than {FEWEST_ATTEMPTS} predicates" if attack.tries < FEWEST_ATTEMPTS else "",
    )


def membership_pair(members: ArrayLike, control: ArrayLike, calibration: ArrayLike) -> RatePair:
    """Return TPR and FPR at 5% false positives.

    The cutoff is the 95th percentile of the calibration scores, with ties broken at random: both rates are expected
    values. It does not depend on the people measured, so the two rates are those of independent people, and the effect
    is the one at this cutoff; the baseline is the measured false positive rate.

    Parameters
    ----------
    members, control
        Scores of the people measured, one per person; higher means more likely a member.
    calibration
        Scores of other people of the control group, at least 19.

    Examples
    --------
    >>> effect = membership_pair(range(60, 160), range(100), range(100)).effect()
    >>> round(effect.attack_rate, 2), round(effect.baseline, 2), effect.low > 0.45
    (0.65, 0.05, True)
    """
    inside, outside = _checked(members, "members"), _checked(control, "control")
    reference = _checked(calibration, "calibration")
    few = ""
    if FALSE_POSITIVE_RATE * (reference.size + 1) < 1:
        few = f"fewer than {1 / FALSE_POSITIVE_RATE - 1} people of the control group set the cutoff"
    elif min(inside.size, outside.size) == 0:
        few = "there are no people to measure"
    if few:
        return RatePair(attack_rate=nan, attack_attempts=0, baseline=nan, why_not_tested=few)
    called = (chance_of_highest(each, reference, FALSE_POSITIVE_RATE) for each in (inside, outside))
    return RatePair.of(*(Attempts.from_chances(each) for each in called))


def cross_fitted_membership(members: ArrayLike, control: ArrayLike) -> RatePair:
    """Return cross-fitted TPR and FPR at 5%.

    Each half of the control group sets the cutoff for the other half.

    Every control person is measured at a cutoff that does not depend on them; a member's chance is the mean over both
    cutoffs. The order of the control group must be random.
    """
    inside, outside = _checked(members, "members"), _checked(control, "control")
    halves = outside[0::2], outside[1::2]
    if FALSE_POSITIVE_RATE * (halves[1].size + 1) < 1 or not inside.size:
        return membership_pair(inside, [], outside[:0])
    chances = [chance_of_highest(inside, half, FALSE_POSITIVE_RATE) for half in halves]
    others = [chance_of_highest(own, half, FALSE_POSITIVE_RATE) for own, half in zip(halves, halves[::-1], strict=True)]
    return RatePair.of(Attempts.from_chances(sum(chances) / 2), Attempts.from_chances(np.concatenate(others)))


def cross_fitted(folds: Sequence[RatePair]) -> RatePair | None:
    """Return the rates over disjoint folds; None if any is missing.

    Attackers differ between folds, and so do their baselines: both rates are means over folds with the same weights,
    those that make the effect most precise. Attempts are those that would vary as much if folds had the same rate,
    which is never less than they do vary. Folds are correlated: where two attackers are equally good, the one that does
    well by chance in one fold is measured in the other, and chosen there too if it does well. Simulated, the limits of
    independent folds miss the effect of a leak-free release in 10 % of draws in place of 7.5 %.

    >>> even = {n: Attempts.from_chances([0.0, 1.0] * n) for n in (50, 100)}
    >>> one, other = RatePair.of(even[100], even[50]), RatePair.of(even[50], even[100])
    >>> both = cross_fitted([one, other])
    >>> both.attack_rate, round(both.attack_attempts), both.people
    (0.5, 203, 300)
    """
    if not folds or any(each.why_not_tested for each in folds):
        return None
    precision = np.array([1 / (1 / each.people + 1 / each.control_people) for each in folds])
    weights = precision / precision.sum()

    def attempts(each: Sequence[float]) -> float:
        errors = weights / np.sqrt(each)
        independent, together = float(errors @ errors), float(errors.sum()) ** 2
        return 1 / ((1 - FOLD_CORRELATION) * independent + FOLD_CORRELATION * together)

    return RatePair(
        attack_rate=fsum(weights * [each.attack_rate for each in folds]),
        attack_attempts=attempts([each.attack_attempts for each in folds]),
        baseline=fsum(weights * [each.baseline for each in folds]),
        baseline_attempts=attempts([each.baseline_attempts for each in folds]),
        people=sum(each.people for each in folds),
        control_people=sum(each.control_people for each in folds),
    )


def worst_effect(effects: Sequence[EffectSize], significant: Sequence[bool] | None = None) -> EffectSize:
    """Return the effect of the worst attack, with simultaneous limits.

    The estimate is that of the significant attacker with the largest effect, of the largest one if none is significant.
    The limits are the largest lower and the largest upper limit of all attackers. Effects that were not tested count
    for nothing.

    >>> worst = worst_effect([EffectSize(0.1, 0.02, 0.2), EffectSize(0.05, 0.03, 0.3)])
    >>> worst.value, worst.low, worst.high
    (0.1, 0.03, 0.3)
    """
    is_significant = [False] * len(effects) if significant is None else list(significant)
    tested = [pair for pair in zip(effects, is_significant, strict=True) if pair[0].is_tested]
    if not tested:
        return effects[0] if effects else _not_tested("no attacker was tested")
    # A lower limit above the estimate can only come from an attacker that is not significant.
    worst, _ = max(tested, key=lambda pair: (pair[1], pair[0].value))
    low = min(max(effect.low for effect, _ in tested), worst.value)
    return replace(worst, low=low, high=max(effect.high for effect, _ in tested))


def shrunk_estimate(effects: Sequence[EffectSize], *, correlation: float = 0.0) -> float:
    """Return the largest effect without its selection bias.

    The largest of several estimates is too large on average; a bias of at most a tenth stays. It is the expected
    maximum of normal estimates around those seen, less the largest of these, times 1.6: estimates scatter more than
    the effects, so that the first alone is too small. Shrinking all estimates towards their mean (James and Stein)
    instead halves the effect of one leak among 20 attackers. The largest effect is at least the mean one, so the
    result is never below the mean estimate, nor below the largest lower limit.

    ``correlation`` is that between the estimates of two attackers on the same people (:func:`mean_correlation`); they
    then vary together, and the bias is smaller.

    >>> alike = [EffectSize(value / 100, -0.03, value / 100 + 0.05) for value in range(11)]
    >>> round(shrunk_estimate(alike), 3), shrunk_estimate(alike[-1:])
    (0.067, 0.1)
    >>> shrunk_estimate([*alike, EffectSize(0.6, 0.5, 0.65)])
    0.6
    """
    tested = [effect for effect in effects if effect.is_tested]
    if not tested:
        return nan
    z, apart = NormalDist().inv_cdf(1 - UPPER_ERROR), 1 - share(correlation, "correlation")
    values = np.array([effect.value for effect in tested])
    errors = np.array([effect.high for effect in tested]) - values
    top = float(values.max())
    bias = BIAS_CORRECTION * (_expected_maximum(values, errors / z * apart**0.5) - top)
    if bias <= NOTABLE_BIAS * top:
        return top
    return max(top - bias, fsum(values.tolist()) / values.size, *(effect.low for effect in tested))


def mean_correlation(attack: ArrayLike, control: ArrayLike) -> float:
    """Return the mean correlation between attack effects on the same people.

    The effects are differences of the column means of ``attack`` and ``control``, which hold the chances of people (one
    row each) under attackers (one column each). 0 with fewer than two attackers whose effects vary; never negative.

    >>> chances = [[0, 0], [1, 1], [1, 0], [0, 1]] * 5 + [[0, 0], [1, 1]] * 10
    >>> round(mean_correlation(chances, chances), 3)
    0.5
    """
    inside, outside = (np.atleast_2d(np.asarray(each, np.float64)) for each in (attack, control))
    if min(len(inside), len(outside)) < 2 or inside.shape[1] != outside.shape[1]:
        raise InputError(
            f"the chances have the shapes {inside.shape} and {outside.shape}. Pass two people or more per table, one "
            "row per person and one column per attacker, the same for both"
        )
    parts = (np.atleast_2d(np.cov(each, rowvar=False)) / len(each) for each in (inside, outside))
    covariance = np.add(*parts)
    errors = np.sqrt(np.diag(covariance))
    pairs = np.triu(np.outer(errors, errors) > 0, k=1)
    correlations = covariance[pairs] / np.outer(errors, errors)[pairs]
    return min(max(float(correlations.mean()), 0.0), 1.0) if correlations.size else 0.0


def _expected_maximum(values: FloatArray, errors: FloatArray) -> float:
    """Return the expected maximum of independent normal estimates."""
    from scipy.special import ndtr

    top, reach = float(values.max()), 8 * float(errors.max())
    if reach == 0 or values.size == 1:
        return top
    above = np.linspace(0, reach, 1001)

    def largest_below(bound: FloatArray) -> FloatArray:
        below: FloatArray = ndtr((bound[:, None] - values) / np.maximum(errors, reach * 1e-9)).prod(axis=1)
        return below

    return top + float(np.trapezoid(1 - largest_below(top + above) - largest_below(top - above), above))


def _newcombe(attack: Callable[[float], Rate], baseline: Callable[[float], Rate], effects: int) -> EffectSize:
    """Return Newcombe's difference of two independent rates."""
    confidence = 1 - 2 * LOWER_ERROR / whole_number(effects, "effects")
    a, b = attack(confidence), baseline(confidence)
    low = a.value - b.value - hypot(a.value - a.low, b.high - b.value)
    a, b = attack(1 - 2 * UPPER_ERROR), baseline(1 - 2 * UPPER_ERROR)
    high = a.value - b.value + hypot(a.high - a.value, b.value - b.low)
    return EffectSize(a.value - b.value, low, high, a.value, b.value)


def _rate_and_attempts(side: Attempts | float) -> tuple[float, float]:
    """Return a rate and its effective attempts; infinite if known."""
    if not isinstance(side, Attempts):
        return share(side, "baseline"), inf
    return (side.expected / side.tries, effective_attempts(side)) if side.tries else (nan, 0.0)


def _wilson_of(rate: float, attempts: float) -> Callable[[float], Rate]:
    return lambda confidence: wilson(rate * attempts, attempts, confidence=confidence)


def _not_tested(why: str) -> EffectSize:
    return EffectSize(nan, nan, nan, why_not_tested=why)
