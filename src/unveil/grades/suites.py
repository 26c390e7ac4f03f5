"""Metrics suites: weighted products, and whether they rank attackers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError
from unveil.grades.evenness import ROUNDING
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.grades.suite import SUITES, Suite, equal_suites

__all__ = ["SUITES", "Rankings", "Suite", "Zeros", "equal_suites", "rankings", "suite_values", "suite_zeros"]


# The weighted product model: metrics of different scales and directions, made comparable within a case.

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
    """Treatment of zeros and negative values in weighted products.

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
            "A weighted product cannot take zeros or negative values. Negative values count as zero. If a metric "
            f"has a zero in a case, {self.floor * 100:g}% of its largest value there is added to all its values of "
            "that case, which keeps their order. If all are zero, the metric does not distinguish the levels."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Rule for zeros and the number of affected values, in sentences."""
        counts = [
            f"{name.replace('_', ' ')} ({each.zeros + each.negative:,} of {each.values:,}, in {each.cases:,} "
            f"{'case' if each.cases == 1 else 'cases'})"
            for name, each in self.counts.items()
        ]
        said = f"Means that are zero or negative, among the metrics of suites: {', '.join(counts)}."
        return (self.rule, said) if counts else ()


def check_floor(floor: float) -> None:
    """Refuse a floor that is no part of the largest value."""
    if not 0 < floor <= 1:
        raise InputError(f"floor must be above 0 and at most 1, but is {floor:g}. Write it as 0.01 for one percent")


def log_quotients(
    values: FloatArray, rising: BoolArray, names: Sequence[str], floor: float
) -> tuple[FloatArray, Zeros]:
    """Return log quotients to each case's most private value, with zeros.

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
    """Return log weighted products by case, suite, and place.

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


def suite_values(values: ReplicatedMetrics, suites: Sequence[Suite], *, floor: float = FLOOR) -> ReplicatedMetrics:
    """Return suite values by case, level, and replication.

    Formula: ``Q = Π q ^ weight``, where the quotient q of a metric is the value over the highest of the case (more is
    more private) or the lowest of the case over the value (more is less private), among all levels and replications.
    1 means as private as this case gets, by every metric; near 0 that privacy is gone. NaN where a metric of the suite
    is undefined. Zeros and negative values are treated as :func:`suite_zeros` says.
    """
    logs, _ = quotients(values, suites, floor)
    products = np.exp(weighted(logs, _weights(suites)))
    shape = (len(values.cases), len(suites), *values.values.shape[2:])
    return ReplicatedMetrics(
        cases=values.cases,
        metrics=tuple(suite.name for suite in suites),
        levels=values.levels,
        values=products.reshape(shape),
        rising=np.zeros(len(suites), np.bool_),
    )


def suite_zeros(values: ReplicatedMetrics, suites: Sequence[Suite], *, floor: float = FLOOR) -> Zeros:
    """Return what :func:`suite_values` does about zeros and negative values of single replications."""
    return quotients(values, suites, floor)[1]


@dataclass(frozen=True, kw_only=True, eq=False)
class Rankings:
    """Rankings of attackers by suites, compared with their strength.

    Attributes
    ----------
    suites, cases
        What the first two axes of the arrays are.
    scores
        The number of each suite, by suite, case and level; NaN where a metric of the suite is undefined. More is more
        private, so it should fall from level to level.
    whole
        1 where the number falls with each level, 0 where it does not, by suite and case.
    pairs
        The share of neighbouring levels, among those with a number, between which it falls, by suite and case.
        Numbers that are equal apart from rounding (1e-12) are not in order. Both are NaN with fewer than two numbers.
    zeros
        What was done about zeros and negative values.
    """

    suites: tuple[Suite, ...]
    cases: tuple[GradedCase, ...]
    scores: FloatArray
    whole: FloatArray
    pairs: FloatArray
    zeros: Zeros

    @property
    def share(self) -> FloatArray:
        """Share of cases that each suite ranks in full order."""
        return mean_of_defined(self.whole)

    @property
    def pair_share(self) -> FloatArray:
        """Mean share of neighboring levels in order, per suite."""
        return mean_of_defined(self.pairs)

    @property
    def ranked(self) -> IntArray:
        """The number of cases with at least two levels to rank, per suite."""
        found: IntArray = (~np.isnan(self.whole)).sum(axis=1)
        return found


def rankings(values: ReplicatedMetrics, suites: Sequence[Suite], *, floor: float = FLOOR) -> Rankings:
    """Return each suite's ranking of levels, on means over replications.

    A level without a number is passed over: its neighbours are compared with one another.

    Parameters
    ----------
    values
        The metrics in their cases.
    suites
        The suites; all their metrics must be among those of ``values``.
    floor
        What is added to the values of a metric that has a zero in a case, as a part of its largest value there.
    """
    logs, zeros = quotients(values, suites, floor, means=True)
    products = np.ascontiguousarray(np.moveaxis(weighted(logs, _weights(suites)), 1, 0))
    whole, pairs = in_order(products)
    return Rankings(
        suites=tuple(suites), cases=values.cases, scores=np.exp(products), whole=whole, pairs=pairs, zeros=zeros
    )


def in_order(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return whether values fall along the last axis, and step shares."""
    fall = falls(logs)
    steps = (~np.isnan(fall)).sum(axis=-1)
    right = (fall > ROUNDING).sum(axis=-1)
    undefined = np.full(steps.shape, np.nan)
    pairs = np.divide(right, steps, out=undefined.copy(), where=steps > 0)
    return np.where(steps > 0, (right == steps).astype(float), undefined), pairs


def falls(logs: FloatArray) -> FloatArray:
    """Return the decrease from the previous defined number, else NaN."""
    found = np.full(logs.shape, np.nan)
    last = np.full(logs.shape[:-1], np.nan)
    for level in range(logs.shape[-1]):
        here = logs[..., level]
        found[..., level] = last - here
        last = np.where(np.isnan(here), last, here)
    return found


def mean_of_defined(rows: FloatArray) -> FloatArray:
    """Return the mean of each row's defined numbers, or NaN."""
    there = ~np.isnan(rows)
    number = there.sum(axis=-1)
    total = np.where(there, rows, 0.0).sum(axis=-1)
    means: FloatArray = np.divide(total, number, out=np.full(number.shape, np.nan), where=number > 0)
    return means


def quotients(
    values: ReplicatedMetrics, suites: Sequence[Suite], floor: float, *, means: bool = False
) -> tuple[FloatArray, Zeros]:
    """Return log quotients by case, metric, and place, with zeros."""
    check_floor(floor)
    if not suites:
        raise InputError("there must be at least one suite, but there is none. Name one, such as S3")
    names = _metrics_of(suites)
    lacking = [(suite.name, name) for suite in suites for name in suite.metrics if name not in values.metrics]
    if lacking:
        suite, metric = lacking[0]
        raise InputError(
            f"the suite {suite} needs the metric {metric}, which these results do not have. "
            f"They have {', '.join(values.metrics)}. Choose another suite, or run the study with this metric"
        )
    columns = np.array([values.metrics.index(name) for name in names])
    chosen = values.means[:, columns] if means else values.values[:, columns]
    flat = chosen.reshape(len(values.cases), len(names), -1)
    return log_quotients(flat, values.rising[columns], names, floor)


def _metrics_of(suites: Sequence[Suite]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for suite in suites for name in suite.metrics))


def _weights(suites: Sequence[Suite]) -> FloatArray:
    return weights_table(suites, _metrics_of(suites))


def weights_table(suites: Sequence[Suite], names: Sequence[str]) -> FloatArray:
    """Return the weights by suite and metric, 0 if absent."""
    return np.array([[suite.weights.get(name, 0.0) for name in names] for suite in suites])
