"""The weighted product model: metrics of different scales and directions, made comparable within a case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray
from unveil.errors import InputError
from unveil.grades.evenness import ROUNDING

#: What is added to all values of a metric in a case where one of them is zero, as a part of the largest of them.
FLOOR = 0.01


class UnusableValues(NamedTuple):
    """Values of one metric that a product cannot use."""

    #: Values that are zero, apart from rounding.
    zeros: int
    #: Values below zero.
    negative: int
    #: Cases in which there is such a value.
    cases: int
    #: All values, in all cases.
    values: int


@dataclass(frozen=True, kw_only=True)
class Zeros:
    """What was done about zeros and negative values, which a product of quotients cannot take as they are.

    Attributes
    ----------
    floor
        What was added, as a part of the largest value of the metric in the case.
    counts
        Zeros and negative values, for each metric that has some.
    """

    floor: float
    counts: Mapping[str, UnusableValues]

    @property
    def rule(self) -> str:
        """The rule, in sentences."""
        return (
            "A weighted product cannot take zeros or negative values. A negative value counts as zero; where a metric "
            f"has a zero in a case, {self.floor * 100:g} % of its largest value there is added to all its values of "
            "that case, which keeps their order; where all are zero, the metric does not tell the levels apart."
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """The rule, and how often it was applied to which metric; nothing was done where nothing is told."""
        told = [
            f"{name}: {each.zeros} zeros and {each.negative} negative values among {each.values}, in {each.cases} "
            f"{'case' if each.cases == 1 else 'cases'}."
            for name, each in self.counts.items()
        ]
        return (self.rule, *told) if told else ()


def check_floor(floor: float) -> None:
    """Refuse a floor that is no part of the largest value."""
    if not 0 < floor <= 1:
        raise InputError(f"floor must be above 0 and at most 1, but is {floor:g}. Write it as 0.01 for one percent")


def log_quotients(
    values: FloatArray, rising: BoolArray, names: Sequence[str], floor: float
) -> tuple[FloatArray, Zeros]:
    """Return the logarithm of each value's quotient with the most private one of its case, and what zeros there were.

    Parameters
    ----------
    values
        Numbers by case, metric, and place; undefined ones are NaN and stay so.
    rising
        Per metric, whether more of it means less private. Its quotient is then the lowest value over the value, and
        else the value over the highest one: always between 0 and 1, and 1 for the most private place.
    names
        The metrics, for counting.
    floor
        What is added where there is a zero, as a part of the largest value.
    """
    finite = np.isfinite(values)
    largest = np.max(values, axis=2, initial=0.0, where=finite)[:, :, None]
    scale = np.max(np.abs(values), axis=2, initial=0.0, where=finite)[:, :, None]
    negative = finite & (values < -ROUNDING * scale)
    zero = finite & ~negative & (values <= ROUNDING * scale)
    lifted = (zero | negative).any(axis=2, keepdims=True)
    positive = np.where(finite & ~zero & ~negative, values, 0.0)
    positive += np.where(lifted, floor * largest, 0.0)
    logs = np.log(np.where(positive > 0, positive, 1.0))
    toward = np.where(rising, -1.0, 1.0)[:, None]
    signed = toward * logs
    best = np.max(signed, axis=2, initial=-np.inf, where=finite)[:, :, None]
    quotients = np.where(finite, signed - np.where(np.isfinite(best), best, 0.0), np.nan)
    return quotients, Zeros(floor=floor, counts=_counts(zero, negative, finite, names))


def weighted(logs: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the logarithm of the weighted product, by case, suite and place; NaN where a metric of the suite is.

    Parameters
    ----------
    logs
        Logarithms of quotients, by case, metric and place.
    weights
        By suite and metric; 0 where the metric is not in the suite, so that it does not matter there.
    """
    missing = np.isnan(logs)
    products: FloatArray = np.matmul(weights, np.where(missing, 0.0, logs))
    if missing.any():
        products[np.matmul((weights > 0).astype(float), missing.astype(float)) > 0] = np.nan
    return products


def _counts(zero: BoolArray, negative: BoolArray, finite: BoolArray, names: Sequence[str]) -> dict[str, UnusableValues]:
    counts = {}
    for place, name in enumerate(names):
        here, below = zero[:, place], negative[:, place]
        cases = int((here | below).any(axis=1).sum())
        if cases:
            counts[name] = UnusableValues(int(here.sum()), int(below.sum()), cases, int(finite[:, place].sum()))
    return counts
