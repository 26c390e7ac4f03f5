"""The rates and the risk that anonymeter 1.1.0 prints: middles of Wilson's intervals, errors to first order."""

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple


class Success(NamedTuple):
    """A rate as the package gives it: the middle of Wilson's interval, and half its width."""

    value: float
    error: float

    def bounded(self) -> tuple[float, float, float]:
        """Return the value and its limits, cut off at 0 and 1."""
        value, low, high = (
            min(max(number, 0.0), 1.0) for number in (self.value, self.value - self.error, self.value + self.error)
        )
        return value, low, high


def success(hits: float, tries: int, confidence: float) -> Success:
    """Return the rate of so many hits.

    >>> round(success(0, 500, 0.95).value, 4)
    0.0038
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    all_ = tries + z * z
    return Success((hits + z * z / 2) / all_, z / all_ * sqrt(hits * (tries - hits) / tries + z * z / 4))


def residual(attack: Success, control: Success) -> Success:
    """Return what the attack has beyond the control, as a share of what the control leaves to win."""
    left = 1 - control.value
    error = sqrt((attack.error / left) ** 2 + (control.error * (1 - attack.value) / left**2) ** 2)
    return Success((attack.value - control.value) / left, error)
