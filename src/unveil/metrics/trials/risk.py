"""Attack success, baseline, control, and excess risk, with CIs.

Every rate is the plain share of attempts that hit, with an interval around it: 0 of 500 reads as 0, at most 0.7 %. Hits
may be expectations (ties broken at random), so they need not be whole. A chance between 0 and 1 varies less than a hit
or miss, which makes intervals from expected hits too wide rather than too narrow. Intervals are Clopper and Pearson's,
which never miss too often.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import inf, isnan, nan, sqrt
from statistics import NormalDist
from typing import Any

from unveil._figure import figure
from unveil.errors import InputError, share
from unveil.guesses.trials import Attempts, Trials
from unveil.metrics._listing import metric

CONFIDENCE = 0.95
NO_CONTROL = "there is no control group, so the excess risk is unknown"
ALWAYS = "the control group is hit as surely, so this attack has no excess risk to measure"
#: With less than this left to win on control people, or a wider interval, an excess is not worth a number.
LEAST_LEFT = 0.1
WIDEST = 0.5

#: What the rates mean, wherever they stand.
ATTACK_RATE = "Attack success: share of attempts that succeed on people in the data, from 0 to 1."
CONTROL_RATE = "Share of attempts that succeed on the control group, from 0 to 1; its ends are null without a control."
EXCESS = "Excess risk as a share of the possible excess: (attack - control) / (1 - control), at most 1."

FACTS: dict[str, Any] = {"category": "risk", "per": "release", "more_means": "less private"}
EXACT = "Clopper and Pearson (1934); Giomi et al. (2023)"
MOVER = "Giomi et al. (2023); interval after Donner and Zou (2012)"


class ExcessStatus(StrEnum):
    """Whether the excess risk can be estimated; otherwise show both rates."""

    YES = "measured"
    TOO_BLUNT = "too few failures to measure an excess"
    AS_SURELY = ALWAYS
    NO_CONTROL = NO_CONTROL


@dataclass(frozen=True)
class Rate:
    """A rate with its CI; NaN with ``why``.

    >>> Rate(0.02, 0.01, 0.04).high
    0.04
    """

    COUNTS = "statistic"
    JSON_DEFINITION = "rate"

    value: float = figure("The rate; null where it is undefined.")
    low: float = figure("Lower end of its 95% CI.")
    high: float = figure("Upper end of its 95% CI.")
    why: str = ""
    #: Of how many attempts it is the share; 0 where it is no share of attempts.
    tries: int = field(default=0, compare=False, repr=False)
    #: Of how many independent tries it is worth, where these are not as many; 0 where it is no share of attempts.
    worth: float = field(default=0.0, compare=False, repr=False)

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return not isnan(self.value)

    @property
    def has_interval(self) -> bool:
        """Whether both ends of an interval are known."""
        return not (isnan(self.low) or isnan(self.high))


@dataclass(frozen=True, kw_only=True)
class Risk:
    """Attack success, baseline, control rate, and excess of an attack."""

    attack_rate: Rate = figure(ATTACK_RATE)
    naive_rate: Rate = figure("Share of attempts that succeed by random guessing, from 0 to 1.", name="baseline")
    control_rate: Rate = figure(CONTROL_RATE)
    excess_over_control: Rate = figure(EXCESS, name="normalized_excess")


def clopper_pearson(hits: float, tries: float, *, confidence: float = CONFIDENCE) -> Rate:
    """Return the share of successes, with the Clopper-Pearson CI.

    At 95 % the low end is the p for which this many hits or more have a probability of 2.5 %, the high end that for
    which this many or fewer have it; 0 and 1 where nothing or everything hit. Expected hits need not be whole, nor need
    tries that depend on one another and so are worth fewer: they are put in as they are.

    >>> rate = clopper_pearson(0, 500)
    >>> rate.value, rate.low, round(rate.high, 4)
    (0.0, 0.0, 0.0074)
    """
    from scipy.special import betaincinv

    share, tail = _share(hits, tries, confidence), (1 - confidence) / 2
    hits = share * tries
    low = 0.0 if share == 0 else float(betaincinv(hits, tries - hits + 1, tail))
    high = 1.0 if share == 1 else float(betaincinv(hits + 1, tries - hits, 1 - tail))
    return Rate(share, min(low, share), max(high, share), tries=int(tries), worth=float(tries))


def wilson(hits: float, tries: float, *, confidence: float = CONFIDENCE) -> Rate:
    """Return the share of successes, with Wilson's CI.

    The interval holds every p for which ``|hits - n p| <= z sqrt(n p (1 - p))``. The value is the share itself, not the
    middle of the interval. Neither hits nor tries need be whole.

    >>> rate = wilson(0, 500)
    >>> rate.value, rate.low, round(rate.high, 4)
    (0.0, 0.0, 0.0076)
    """
    share, z = _share(hits, tries, confidence), _quantile(confidence)
    return Rate(share, _least(share, z * z / tries), 1.0 - _least(1.0 - share, z * z / tries), tries=int(tries))


def _share(hits: float, tries: float, confidence: float) -> float:
    """Return successes over attempts, checked."""
    _quantile(confidence)
    if not tries >= 1 or not -1e-9 * tries <= hits <= tries * (1 + 1e-9):
        raise InputError(
            f"there are {hits:g} successes in {tries:g} attempts. "
            "Pass at least one attempt, and no more successes than attempts"
        )
    # A sum of chances may miss 0 or the number of attempts by its rounding.
    return min(max(hits / tries, 0.0), 1.0)


def _least(share: float, t: float) -> float:
    """Return Wilson's lower limit, exactly 0 for a share of 0."""
    return share * share / (share + t / 2 + sqrt(t * share * (1 - share) + t * t / 4))


@metric(bounds=(0, 1), source=EXACT, **FACTS)
def attack_rate(trials: Trials, *, confidence: float = CONFIDENCE) -> Rate:
    """Return the attack success on people in the data, with CI.

    Formula: ``hits / tries``; low and high are Clopper and Pearson's. 0 means the attack never succeeded, 1 that it
    always did. The interval is about all people of whom those attacked are a sample. It says little by itself: part of
    it is chance (:func:`naive_rate`) and part of it is what the data says about everyone (:func:`control_rate`). It is
    never undefined.

    >>> hits, luck = Attempts.from_chances([1, 0.5, 0, 0]), Attempts.from_chances([0.25] * 4)
    >>> attack_rate(Trials(attack=hits, naive=luck, control=None, what="a link")).value
    0.375
    """
    return _rate(trials.attack, confidence)


@metric(bounds=(0, 1), source=EXACT, **FACTS)
def naive_rate(trials: Trials, *, confidence: float = CONFIDENCE) -> Rate:
    """Return the baseline of guessing without the release, with CI.

    Formula: ``hits / tries``; low and high are Clopper and Pearson's, which is how far as many attempts may stray from
    it by chance. 0 means that guessing never succeeds, 1 that it always does. An attack that is not better than this
    shows nothing, and may only have been a poor one. It is never undefined.

    >>> hits, luck = Attempts.from_chances([1, 0.5, 0, 0]), Attempts.from_chances([0.25] * 4)
    >>> naive_rate(Trials(attack=hits, naive=luck, control=None, what="a link")).value
    0.25
    """
    return _rate(trials.naive, confidence)


@metric(bounds=(0, 1), source=EXACT, **FACTS)
def control_rate(trials: Trials, *, confidence: float = CONFIDENCE) -> Rate:
    """Return the attack success on the control group, with CI.

    Formula: ``hits / tries`` on the control table; low and high are Clopper and Pearson's. 0 means the attack gets
    nothing from what is true of everyone, 1 that being in the data makes no difference. NaN without a control table.

    >>> hits, luck = Attempts.from_chances([1, 0.5, 0, 0]), Attempts.from_chances([0.25] * 4)
    >>> control_rate(Trials(attack=hits, naive=luck, control=None, what="a link")).why.split(",")[0]
    'there is no control group'
    """
    return _undefined(NO_CONTROL) if trials.control is None else _rate(trials.control, confidence)


@metric(bounds=(-inf, 1), source=MOVER, **FACTS)
def excess_over_control(trials: Trials, *, confidence: float = CONFIDENCE) -> Rate:
    """Return the excess as a share of the possible excess.

    Formula: ``(attack - control) / (1 - control)``, which is ``1 - (1 - attack) / (1 - control)``; low and high come
    from a method of variance estimates recovery for that ratio of two miss rates, whose limits are exact. 0 means being
    in the data adds nothing, 1 that the attack succeeds on everyone in it. Below 0 it did worse than outside, which is
    chance, or a sign that the control table is of other people. NaN without a control table, and where the attack
    succeeds on all of it.

    Computed over all outcomes on a grid of 5,929 pairs of control rate and excess from 0 to 0.95, for seven pairs of
    sizes from 50 and 50 tries to 50 and 1,000 and to 1,000 and 60, the 95 % interval holds the true excess with a
    probability of at least 95.2 %, and lies wholly above it with at most 2.5 %.

    >>> some, few = (Attempts(tries=500, expected=hits, low=hits, high=hits) for hits in (60, 10))
    >>> excess = excess_over_control(Trials(attack=some, naive=few, control=few, what="a link"))
    >>> round(excess.value, 4), round(excess.low, 4), round(excess.high, 4)
    (0.102, 0.0702, 0.1357)
    """
    return excess(attack_rate(trials, confidence=confidence), control_rate(trials, confidence=confidence))


def excess(attack: Rate, control: Rate) -> Rate:
    """Return the excess of the first rate, as :func:`excess_over_control`.

    >>> excess(clopper_pearson(0, 500), clopper_pearson(250, 500)).value
    -1.0
    """
    if not control.defined or control.value == 1:
        return _undefined(control.why or ALWAYS)
    miss, outside = _missed(attack), _missed(control)
    low, high = _ratio_limits(miss, outside)
    return Rate(1 - miss.value / outside.value, 1 - high, 1 - low)


def measured(excess: Rate, control: Rate) -> ExcessStatus:
    """Return whether an excess over this control is worth a number.

    It is too blunt where control people are missed in less than a tenth of attempts, or where the interval is wider
    than one half: then both rates are shown, and the excess is in no headline.

    >>> for control in (clopper_pearson(1, 60), clopper_pearson(55, 60)):
    ...     print(measured(excess(clopper_pearson(60, 60), control), control))
    measured
    too few failures to measure an excess
    """
    if not control.defined:
        return ExcessStatus.NO_CONTROL
    if not excess.defined:
        return ExcessStatus.AS_SURELY
    blunt = 1 - control.value < LEAST_LEFT or excess.high - excess.low > WIDEST
    return ExcessStatus.TOO_BLUNT if blunt else ExcessStatus.YES


def _missed(rate: Rate) -> Rate:
    """Return the rate of failures."""
    return Rate(1 - rate.value, 1 - rate.high, 1 - rate.low)


def _ratio_limits(one: Rate, other: Rate) -> tuple[float, float]:
    """Return limits for the ratio of two independent rates.

    A ratio r is inside when 0 is inside the limits for ``one - r other``, whose half widths are the root of the sum of
    squares of those of ``one`` and of ``r other`` (Donner and Zou, Statistical Methods in Medical Research 21, 2012).
    That leads to one quadratic equation per limit: ``a r² - 2 b r + c = 0``.
    """
    b = one.value * other.value
    c = one.low * (2 * one.value - one.low)
    a = other.high * (2 * other.value - other.high)
    # Divided through by the other root: a may be 0 or negative, and this form does not mind.
    below = c / (b + sqrt(max(b * b - a * c, 0.0))) if c > 0 else 0.0
    c = one.high * (2 * one.value - one.high)
    a = other.low * (2 * other.value - other.low)
    # A second rate so near to 0 that its lower limit is rounded to 0 bounds nothing from above.
    return below, (b + sqrt(max(b * b - a * c, 0.0))) / a if a > 0 else inf


def risk(trials: Trials, *, confidence: float = CONFIDENCE) -> Risk:
    """Return the four rates of an attack together.

    >>> hits = Attempts.from_chances([1, 0.5, 0, 0])
    >>> risk(Trials(attack=hits, naive=hits, control=hits, what="a link")).excess_over_control.value
    0.0
    """
    rates: tuple[Callable[..., Rate], ...] = (attack_rate, naive_rate, control_rate, excess_over_control)
    return Risk(**{rate.__name__: rate(trials, confidence=confidence) for rate in rates})


def risk_of_people(trials: Trials, *, confidence: float = CONFIDENCE) -> Risk:
    """Return the four rates for attempts averaged per person.

    Tries are worth as many as would vary as much if each hit or missed: ``n p (1 - p) / s²``, where s² is the variance
    of the n means and p their mean, and at least n. Of 1,000 draws each of 100 to 1,000 people with two to six secrets
    that depend on one another the 95 % interval of the excess held the truth in 94 to 97 %.

    >>> half = Attempts.from_chances([0.5, 0.5, 0.25, 0.75] * 25)
    >>> trials = Trials(attack=half, naive=half, control=half, what="a mean")
    >>> [round(risk_of_people(trials).attack_rate.low, 2), round(risk(trials).attack_rate.low, 2)]
    [0.46, 0.4]
    """

    def rate(attempts: Attempts) -> Rate:
        chances, share = attempts.chances, attempts.expected / attempts.tries
        spread = 0.0 if chances is None or attempts.tries < 2 else float(chances.var(ddof=1))
        worth = attempts.tries * max(share * (1 - share) / spread, 1.0) if spread > 0 else float(attempts.tries)
        return replace(clopper_pearson(share * worth, worth, confidence=confidence), tries=attempts.tries)

    attack, naive = rate(trials.attack), rate(trials.naive)
    control = _undefined(NO_CONTROL) if trials.control is None else rate(trials.control)
    return Risk(attack_rate=attack, naive_rate=naive, control_rate=control, excess_over_control=excess(attack, control))


def _rate(attempts: Attempts, confidence: float) -> Rate:
    return clopper_pearson(attempts.expected, attempts.tries, confidence=confidence)


def _undefined(why: str) -> Rate:
    return Rate(nan, nan, nan, why)


def _quantile(confidence: float) -> float:
    share(confidence, "confidence", zero=False, one=False, advice="Write 95% as 0.95")
    return NormalDist().inv_cdf((1 + confidence) / 2)
