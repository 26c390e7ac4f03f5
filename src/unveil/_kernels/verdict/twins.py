"""How much oftener people equal one another than a tree of columns expects, learned from the people themselves.

Siblings, dormitories and rules of three columns make twins where a tree sees none. How many there are among records
that it calls improbable says how far it may be trusted.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray

#: A record of which the tree expects e twins has a e**b, b among these: 1 is a tree that is right but for a factor.
EXPONENTS = np.linspace(0.0, 1.0, 21)
_STEPS = 80
#: Beyond what is looked for: e to the power of this is more than any number of people.
_FAR = 200.0


class TwinCurve(NamedTuple):
    """How many twins records have, by how many the tree expects.

    Attributes
    ----------
    log_factor, exponent
        log(a) and b of the likeliest curve a e**b; minus infinity and 1 where nobody has a twin.
    anyhow
        The share of records with twins among those that the tree calls impossible: so many any record has, however
        improbable it is.
    """

    log_factor: float
    exponent: float
    anyhow: float

    def number(self, expected: FloatArray) -> FloatArray:
        """Return how many twins records have of which the tree expects so many."""
        curve = np.exp(np.minimum(self.log_factor + self.exponent * np.log(expected), _FAR))
        return np.asarray(curve + self.anyhow, np.float64)


def twin_curve(expected: FloatArray, has_twin: BoolArray, impossible: BoolArray) -> TwinCurve:
    """Return how many twins people have, by different records of which the tree expects so many twins each.

    A record has none with the probability exp(-a e**b); a and b are the likeliest. ``impossible`` marks the records
    that the tree calls so.

    >>> found = twin_curve(np.array([0.5, 0.5, 1e-6, 1e-6]), np.array([1, 0, 0, 1]) > 0, np.array([0, 0, 1, 1]) > 0)
    >>> found.exponent, found.anyhow, found.number(np.array([1e-9])).round(2)
    (0.0, 0.5, array([1.19]))
    """
    if not has_twin.any():
        return TwinCurve(-np.inf, 1.0, 0.0)
    logs, place = np.unique(np.log(expected).round(2), return_inverse=True)
    twins, single = np.bincount(place, has_twin, logs.size), np.bincount(place, ~has_twin, logs.size)
    sloped = EXPONENTS[:, None] * logs
    low, high = np.full(EXPONENTS.size, -_FAR), np.full(EXPONENTS.size, _FAR)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        number = np.exp(np.minimum(middle[:, None] + sloped, _FAR))
        # The slope of the log-likelihood in log(a), which falls: x / (e**x - 1) is 1 at 0.
        slope = (twins * number / np.maximum(np.expm1(np.minimum(number, _FAR)), 1e-300)).sum(axis=1)
        rises = slope > (single * number).sum(axis=1)
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    number = np.exp(np.minimum(low[:, None] + sloped, _FAR))
    likely = (twins * np.log(np.maximum(-np.expm1(-number), 1e-300))).sum(axis=1) - (single * number).sum(axis=1)
    # Of curves as likely as each other the one that falls most.
    best = EXPONENTS.size - 1 - int(np.argmax(likely[::-1]))
    anyhow = float(has_twin[impossible].mean()) if impossible.any() else 0.0
    return TwinCurve(float(low[best]), float(EXPONENTS[best]), anyhow)
