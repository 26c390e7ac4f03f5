"""A claimed epsilon, and whether a bound refutes it.

A bound never confirms a claim.
"""

from dataclasses import dataclass
from math import exp, inf, nextafter
from numbers import Real
from typing import Any

from unveil._figure import figure
from unveil.errors import InputError, share
from unveil.metrics.epsilon.bound import Adjacency, EpsilonBound, replaced_to_added


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of differential privacy with epsilon and delta.

    Examples
    --------
    >>> Claim(epsilon=0)
    Traceback (most recent call last):
    unveil.errors.InputError: epsilon is 0; it must be above 0 and finite. Write the claimed value, such as 1
    """

    COUNTS = "nothing private"

    epsilon: float = figure("Above 0 and finite.")
    delta: float = figure("From 0 to below 1.", default=0.0)
    adjacency: Adjacency = figure(
        "Adjacency: `add-remove` one person, or `replace` one by another.", default="add-remove"
    )

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon, "epsilon")
        share(self.delta, "delta", one=False, advice="Write the claimed value, such as 0.00001")
        if self.adjacency not in ("add-remove", "replace"):
            raise InputError(
                f"Unknown adjacency {self.adjacency!r}. Use 'replace' for claims on tables of one size, otherwise "
                "'add-remove'"
            )

    def delta_against(self, adjacency: Adjacency) -> float:
        """Return the delta that a bound needs to refute the claim.

        Who moves a release by (epsilon, delta) at most by adding or removing a person moves it by (2 epsilon, (1 +
        e^epsilon) delta) at most by replacing one.

        >>> Claim(epsilon=1, delta=0.001).delta_against("add-remove")
        0.001
        >>> round(Claim(epsilon=1, delta=0.001).delta_against("replace"), 6)
        0.003718
        """
        if self.adjacency == adjacency or self.delta == 0:
            return self.delta
        # Where it would be 1 or more nothing can be shown; as much below 1 nothing is.
        return min(self.delta * (1 + exp(min(self.epsilon, 700.0))), nextafter(1.0, 0.0))


def contradicted(claim: Claim, bound: EpsilonBound) -> bool:
    """Return whether a bound refutes a claim; False confirms nothing.

    A bound for replacing is halved for a claim about adding or removing; a bound for adding or removing says nothing
    of a claim about replacing. A bound with a smaller delta than :meth:`Claim.delta_against` says is refused.

    >>> from unveil.metrics.epsilon.coins import bound_of_pairs
    >>> import numpy as np
    >>> first, is_first = np.arange(100.0) - 49.5, np.arange(100) > 49
    >>> shown = bound_of_pairs([(first, 0 * first, is_first)], rng=np.random.default_rng(1))
    >>> round(shown.bound, 2)
    3.11
    >>> contradicted(Claim(epsilon=2, adjacency="replace"), shown), contradicted(Claim(epsilon=2), shown)
    (True, False)
    """
    if claim.adjacency == "replace" and bound.adjacency == "add-remove":
        return False
    least = claim.delta_against(bound.adjacency)
    if bound.delta < least:
        raise InputError(
            f"the delta of the bound is {bound.delta:g}; refuting the claim needs at least {least:g}. "
            "Compute the bound with that delta"
        )
    same = replaced_to_added(bound) if claim.adjacency == "add-remove" else bound
    return same.bound > claim.epsilon


def checked_epsilon(value: Any, what: str) -> float:
    """Return an epsilon that is above 0 and finite, or refuse it."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 < value < inf:
        seen = f"{float(value):g}" if number else repr(value)
        raise InputError(f"{what} is {seen}; it must be above 0 and finite. Write the claimed value, such as 1")
    return float(value)
