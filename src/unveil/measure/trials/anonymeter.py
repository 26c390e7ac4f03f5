"""The risk that anonymeter 1.1.0 prints, for those who compare; nothing else loads it."""

from math import sqrt

from unveil.guess.trials import Trials
from unveil.measure.trials.risk import CONFIDENCE, Rate, wilson


def anonymeter_risk(trials: Trials, confidence: float = CONFIDENCE) -> Rate:
    """Return the risk as anonymeter 1.1.0 prints it, for comparison with its reports.

    Each rate is the middle of Wilson's interval, so that 0 of 500 gives 0.0038; the risk is
    ``(attack - control) / (1 - control)``, or the attack's rate without a control table. Half widths are propagated to
    first order and added in quadrature; value and limits are cut off at 0 and 1. It is never undefined.

    >>> from unveil.guess.trials import Attempts
    >>> nobody = Attempts(tries=500, expected=0, low=0, high=0)
    >>> round(anonymeter_risk(Trials(attack=nobody, naive=nobody, control=None, what="a link")).value, 4)
    0.0038
    """
    attack, control = (
        Rate(0, 0, 0) if each is None else wilson(each.expected, each.tries, confidence=confidence)
        for each in (trials.attack, trials.control)
    )
    hit, outside = (attack.low + attack.high) / 2, (control.low + control.high) / 2
    width, outside_width = (attack.high - attack.low) / 2, (control.high - control.low) / 2
    value = (hit - outside) / (1 - outside)
    error = sqrt((width / (1 - outside)) ** 2 + (outside_width * (1 - hit) / (1 - outside) ** 2) ** 2)
    value, low, high = (min(max(number, 0.0), 1.0) for number in (value, value - error, value + error))
    return Rate(value, low, high)
