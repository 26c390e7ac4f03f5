"""Rates and risks as in anonymeter 1.1.0, with Wilson's intervals."""

import warnings
from math import nan, sqrt
from typing import NamedTuple, NoReturn

from unveil.errors import InputError, share


class PrivacyRisk(NamedTuple):
    """A risk and its confidence interval, clipped to 0 and 1."""

    value: float
    ci: tuple[float, float]


class SuccessRate(NamedTuple):
    """Success rate: center and half-width of Wilson's interval."""

    value: float
    error: float

    def to_risk(self) -> PrivacyRisk:
        """Return the rate and its interval, clipped to 0 and 1."""
        value, low, high = (
            min(max(number, 0.0), 1.0) for number in (self.value, self.value - self.error, self.value + self.error)
        )
        return PrivacyRisk(value, (low, high))


class EvaluationResults:
    """Compute the success rates and the risk from the successes of an attack.

    Parameters
    ----------
    n_attacks
        The number of attacks: one for all, or three for the original, the baseline and the control.
    n_success, n_baseline, n_control
        The successes of the attack, of the baseline, and on the control; ``n_control`` is None without a control. The
        baseline of linkability is an expectation and the control of singling out is rescaled, so that they need not
        be whole.
    confidence_level
        From 0 to below 1; at 0 each rate is the plain share of successes, and its error is 0.

    Attributes
    ----------
    attack_rate, baseline_rate, control_rate
        Each has ``value`` and ``error``; ``control_rate`` is None without a control.

    Examples
    --------
    >>> results = EvaluationResults(500, n_success=60, n_baseline=2, n_control=10)
    >>> [round(number, 4) for number in (*results.attack_rate, results.risk().value)]
    [0.1229, 0.0285, 0.1016]
    """

    def __init__(
        self,
        n_attacks: int | tuple[int, int, int],
        n_success: float,
        n_baseline: float,
        n_control: float | None = None,
        confidence_level: float = 0.95,
    ) -> None:
        tries = n_attacks if isinstance(n_attacks, tuple) else (n_attacks,) * 3
        self.n_attacks_ori, self.n_attacks_baseline, self.n_attacks_control = tries
        self.n_success, self.n_baseline, self.n_control = n_success, n_baseline, n_control
        self.attack_rate = _success_rate(tries[0], n_success, confidence_level)
        self.baseline_rate = _success_rate(tries[1], n_baseline, confidence_level)
        self.control_rate = None if n_control is None else _success_rate(tries[2], n_control, confidence_level)
        if self.baseline_rate.value >= self.attack_rate.value:
            warnings.warn(
                f"attack success is {self.attack_rate.value:.4f} and the baseline "
                f"{self.baseline_rate.value:.4f}: the attack was too weak. Use other columns",
                stacklevel=3,
            )
        if self.control_rate is not None and self.control_rate.value == 1:
            warnings.warn(
                "attack success on the control group is 1, so the risk is undefined. Attack more people",
                stacklevel=3,
            )

    def risk(self, baseline: bool = False) -> PrivacyRisk:
        """Return the excess risk over control, as a share of the rest.

        NaN where the attack is right about everybody in the control and the confidence level is 0.
        """
        if baseline:
            return self.baseline_rate.to_risk()
        if self.control_rate is None:
            return self.attack_rate.to_risk()
        left = 1 - self.control_rate.value
        if left == 0:
            return PrivacyRisk(nan, (nan, nan))
        missed = 1 - self.attack_rate.value
        error = sqrt((self.attack_rate.error / left) ** 2 + (self.control_rate.error * missed / left**2) ** 2)
        return SuccessRate((self.attack_rate.value - self.control_rate.value) / left, error).to_risk()


class Evaluator:
    """Hold the counts of an evaluated attack: the first four arguments of `EvaluationResults`."""

    _counts: tuple[tuple[int, int, int], float, float, float | None] | None = None

    def results(self, confidence_level: float = 0.95) -> EvaluationResults:
        """Return the success rates, after ``evaluate()``."""
        if self._counts is None:
            not_evaluated()
        return EvaluationResults(*self._counts, confidence_level)

    def risk(self, confidence_level: float = 0.95, baseline: bool = False) -> PrivacyRisk:
        """Return the risk with CI, or with ``baseline`` that of guessing."""
        return self.results(confidence_level).risk(baseline)


def not_evaluated() -> NoReturn:
    """Raise the package's kind of error for results before ``evaluate()``."""
    raise RuntimeError("there are no results before the attack was run. Call evaluate() first")


def _success_rate(tries: int, hits: float, confidence_level: float) -> SuccessRate:
    from scipy.special import ndtri

    share(confidence_level, "confidence_level", one=False)
    if not 0 <= hits <= tries or tries == 0:
        raise InputError(
            f"successes must lie between 0 and the number of attacks, at least 1, but are {hits:g} of {tries}. The "
            "package rescales those of a control of another size: use tables of the same size"
        )
    z = float(ndtri((1 + confidence_level) / 2))
    total = tries + z * z
    spread = hits * (tries - hits) / tries + z * z / 4
    return SuccessRate((hits + z * z / 2) / total, z / total * sqrt(spread))
