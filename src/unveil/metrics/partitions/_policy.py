"""Policy of the subjects: alpha, beta, and contamination.

It is shared, or one per subject.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError
from unveil.guesses.partition import Number, exact_fraction

PerSubject = Number | Iterable[Number] | Mapping[Any, Number]
Flags = bool | Iterable[bool] | Mapping[Any, bool]

_FITS = 2**31


@dataclass(frozen=True, eq=False)
class ExactShares:
    """Exact shares from 0 to 1, one per subject, as integer fractions.

    Floats would break ties between clusters that cost the same, so the fractions are kept until costs are integers.
    """

    numerator: NDArray[Any]
    denominator: NDArray[Any]

    @property
    def value(self) -> FloatArray:
        """Each share as the float nearest to it."""
        return np.asarray(self.numerator / self.denominator, dtype=np.float64)

    def take(self, subjects: IntArray) -> "ExactShares":
        """Return the shares of these subjects, in this order."""
        return ExactShares(self.numerator[subjects], self.denominator[subjects])

    def mean(self) -> Fraction:
        """Return the exact mean over the subjects."""
        if (self.numerator == self.numerator[0]).all() and (self.denominator == self.denominator[0]).all():
            return Fraction(int(self.numerator[0]), int(self.denominator[0]))
        times = Counter(zip(self.numerator.tolist(), self.denominator.tolist(), strict=True))
        return sum((Fraction(p, q) * k for (p, q), k in times.items()), Fraction(0)) / self.numerator.size


def exact_share(value: Number, *, what: str) -> Fraction:
    """Return a number between 0 and 1 exactly as it was written."""
    fraction = exact_fraction(value, what=what)
    if not 0 <= fraction <= 1:
        seen = f"{float(fraction):g}" if abs(fraction) < _FITS else f"{'below' if fraction < 0 else 'above'} that"
        raise InputError(f"{what} is {seen}; it must be between 0 and 1. Write it as 0.5 or 1/2")
    return fraction


def exact_shares(value: PerSubject, subjects: NDArray[Any], *, what: str) -> ExactShares:
    """Return ``value`` as one exact share per subject."""
    if isinstance(value, (str, int, float, Fraction, np.number)):
        one = exact_share(value, what=what)
        dtype = np.int64 if one.denominator < _FITS else object
        return ExactShares(
            np.full(subjects.size, one.numerator, dtype=dtype), np.full(subjects.size, one.denominator, dtype=dtype)
        )
    if isinstance(value, np.ndarray):
        value = value.tolist()
    given = per_subject(value, subjects, what=what)
    try:
        known = {each: exact_share(each, what=what) for each in set(given)}
    except TypeError:
        raise InputError(f"some values of {what} are not numbers. Pass one number per subject") from None
    fractions = [known[each] for each in given]
    dtype = np.int64 if max(f.denominator for f in known.values()) < _FITS else object
    numerators, denominators = ([f.numerator for f in fractions], [f.denominator for f in fractions])
    return ExactShares(np.array(numerators, dtype=dtype), np.array(denominators, dtype=dtype))


def flags(value: Flags, subjects: NDArray[Any], *, what: str) -> BoolArray:
    """Return ``value`` as one truth value per subject."""
    if isinstance(value, (bool, np.bool_)):
        return np.full(subjects.size, bool(value))
    given = per_subject(value, subjects, what=what)
    if not all(isinstance(each, (bool, np.bool_)) for each in given):
        raise InputError(f"some values of {what} are not True or False. Pass one of the two per subject")
    return np.array(given, dtype=bool)


def per_subject(value: Any, subjects: NDArray[Any], *, what: str) -> list[Any]:
    """Return the values in subject order, from a sequence or mapping."""
    if isinstance(value, Mapping):
        known: set[Hashable] = set(subjects.tolist())
        missing = sum(subject not in value for subject in known)
        unknown = sum(subject not in known for subject in value)
        if missing or unknown:
            raise InputError(
                f"{what} must name every subject, but {missing} are missing and {unknown} are unknown. "
                "Name them all, or pass one common value"
            )
        return [value[subject] for subject in subjects.tolist()]
    try:
        given = list(value)
    except TypeError:
        raise InputError(f"the type of {what} is not supported. Pass one value, a sequence or a mapping") from None
    if len(given) != subjects.size:
        raise InputError(
            f"{what} has {len(given)} values for {subjects.size} subjects. Pass one per subject, or one common value"
        )
    return given
