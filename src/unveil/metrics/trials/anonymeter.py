"""The risk that anonymeter 1.1.0 prints, for those who compare; nothing else loads it."""

from unveil._kernels.anonymeter.rates import residual, success
from unveil.guesses.trials import Trials
from unveil.metrics.trials.risk import CONFIDENCE, Rate, _quantile


def anonymeter_risk(trials: Trials, confidence: float = CONFIDENCE) -> Rate:
    """Return the risk as anonymeter 1.1.0 prints it, for comparison with its reports.

    Each rate is the middle of Wilson's interval, so that 0 of 500 gives 0.0038; the risk is
    ``(attack - control) / (1 - control)``, or the attack's rate without a control table. Half widths are propagated to
    first order and added in quadrature; value and limits are cut off at 0 and 1. It is never undefined.

    >>> from unveil.guesses.trials import Attempts
    >>> nobody = Attempts(tries=500, expected=0, low=0, high=0)
    >>> round(anonymeter_risk(Trials(attack=nobody, naive=nobody, control=None, what="a link")).value, 4)
    0.0038
    """
    _quantile(confidence)
    found = success(trials.attack.expected, trials.attack.tries, confidence)
    if trials.control is not None:
        found = residual(found, success(trials.control.expected, trials.control.tries, confidence))
    return Rate(*found.bounded())
