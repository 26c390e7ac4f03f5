"""Attempts of an attack, its baseline, and its control."""

from dataclasses import dataclass
from math import fsum
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class Attempts:
    """Success probabilities of attempts, including ties.

    Attributes
    ----------
    tries
        How many targets were tried, at least 1.
    expected
        The hits to expect when ties are broken at random: between ``low`` and ``high``.
    low, high
        The hits that are certain however ties fall, and those that are possible.
    chances
        The probability of a hit for each try, read-only; None where only the totals are known.
    rows
        For each try the position, in the table that was attacked, of the row it is about, read-only; None where tries
        are about no row in particular. Rates of groups of people need it.

    Examples
    --------
    >>> attempts = Attempts.from_chances([1.0, 0.5, 0.0])
    >>> attempts.tries, attempts.low, attempts.expected, attempts.high
    (3, 1.0, 1.5, 2.0)
    """

    tries: int
    expected: float
    low: float
    high: float
    chances: FloatArray | None = None
    rows: IntArray | None = None

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise InputError(f"there are {self.tries} attempts. Attack at least one target")
        if not 0 <= self.low <= self.expected <= self.high <= self.tries:
            raise InputError(
                f"the successes are not between 0 and the {self.tries} attempts, or out of order: low, expected and "
                f"high are {self.low:g}, {self.expected:g} and {self.high:g}. Count them again"
            )
        if self.rows is not None:
            rows = np.array(self.rows, np.int64)
            if rows.shape != (self.tries,):
                raise InputError(
                    f"the rows differ in number from the {self.tries} attempts. Pass a flat array, one per attempt"
                )
            rows.flags.writeable = False
            object.__setattr__(self, "rows", rows)
        if self.chances is None:
            return
        chances = np.array(self.chances, np.float64)
        if chances.shape != (self.tries,) or not ((chances >= 0) & (chances <= 1)).all():
            raise InputError(
                f"some chances are outside 0 to 1, or they differ in number from the {self.tries} attempts. "
                "Pass a flat array with one probability per attempt"
            )
        chances.flags.writeable = False
        object.__setattr__(self, "chances", chances)

    @classmethod
    def from_chances(cls, chances: ArrayLike, *, rows: ArrayLike | None = None) -> Self:
        """Return attempts with these success probabilities, 0 to 1."""
        each = np.asarray(chances, np.float64)
        low, high = float((each == 1).sum()), float((each > 0).sum())
        # A sum of many chances just below 1 may round up to one more than is possible.
        expected = min(max(fsum(each.tolist()), low), high)
        about = None if rows is None else np.asarray(rows, np.int64)
        return cls(tries=each.size, expected=expected, low=low, high=high, chances=each, rows=about)


@dataclass(frozen=True, kw_only=True, eq=False)
class Trials:
    """Attempts of the attack, the baseline, and the control group.

    Attributes
    ----------
    attack
        The attack on people who are in the original.
    naive
        What guessing without the attacker's knowledge would hit, for as many targets.
    control
        The same attack on control people: what it hits there, it learned about everyone. None where no such people are
        known; then nothing can be said about what the release tells of those who are in it.
    what
        What counts as a hit, in words that follow "a target is a hit when".
    notes
        What a reader of the numbers should know, such as that fewer targets were there than asked for.

    Examples
    --------
    >>> hits = Attempts.from_chances([1.0, 0.5])
    >>> trials = Trials(attack=hits, naive=Attempts.from_chances([0.1, 0.1]), control=None, what="both halves meet")
    >>> trials.attack.expected / trials.attack.tries
    0.75
    """

    attack: Attempts
    naive: Attempts
    control: Attempts | None
    what: str
    notes: tuple[str, ...] = ()


def mean_of_rows(scores: FloatArray | BoolArray, person: IntArray) -> FloatArray:
    """Return each person's mean score, by person number.

    >>> mean_of_rows(np.array([1.0, 0.0, 0.5]), np.array([7, 7, 3])).tolist()
    [0.5, 0.5]
    """
    # Sorted, because the sum of floats depends on their order.
    order = np.lexsort((scores, person))
    _, own = np.unique(person[order], return_inverse=True)
    means = np.bincount(own, weights=scores[order]) / np.bincount(own)
    # A mean of equal chances may end next to them by its rounding.
    return np.clip(means, scores.min(initial=0), scores.max(initial=0))
