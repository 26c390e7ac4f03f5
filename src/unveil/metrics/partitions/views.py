"""Variation of values over an attacker's or random partitions."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Unpack

import numpy as np

from unveil._figure import column, figure
from unveil._kernels.partitions.unlinkability import add_graphs, beta_points, divide_rows
from unveil._kernels.types import FloatArray
from unveil.guesses import Partition, View
from unveil.metrics.partitions._evaluate import ROUNDING, Policy, Ranking, beta_point, errors, rank, risk_slope
from unveil.metrics.partitions._mixing import gains
from unveil.metrics.partitions._overall import guess_graphs
from unveil.metrics.partitions._tally import Tallies, Tally, tallies
from unveil.metrics.partitions.distances import distances_of_each
from unveil.metrics.partitions.unlinkability import UnlinkabilitySettings, policy_of

RISK_SLOPE_LOW = "Lower end of the risk slope; null where it falls among breaches."
RISK_SLOPE_HIGH = "Upper end of the risk slope; null where it falls among breaches."
RANGES = "Range of each value that holds 90% of the probability."
#: Nine partitions of ten lie between these two.
LOW, HIGH = Fraction(1, 20), Fraction(19, 20)


@dataclass(frozen=True, kw_only=True)
class Range:
    """Range of a value over weighted partitions.

    A risk slope is undefined where the risk is highest, so partitions without a value count above all others: an end
    that falls among them is NaN.
    """

    JSON_DEFINITION: ClassVar[str] = "range"

    quantity: str = figure("Name of the value.")
    mean: float = figure("Mean by probability, without undefined values.")
    low: float = figure("Lower end: 90% of the probability lies between the ends.")
    median: float = figure("Median by probability.")
    high: float = figure("Upper end; null where it falls among partitions without a value.")
    undefined: float = figure("Probability of partitions without a value.")


@dataclass(frozen=True, kw_only=True, eq=False)
class ViewRanges:
    """Ranges of overall values over a view, and intervals per subject."""

    partitions: int = figure("Number of partitions in the view.")
    ranges: tuple[Range, ...] = figure(RANGES)
    breached_probability: FloatArray = column("Attacker's probability of a partition that breaches the subject.")
    linked0_low: FloatArray = column(
        "Lower end of the share linked now, over the partitions of a view: 90% of the probability lies "
        "between the ends."
    )
    linked0_high: FloatArray = column("Upper end of the share linked now, over the partitions of a view.")
    risk_slope_low: FloatArray = column(RISK_SLOPE_LOW)
    risk_slope_high: FloatArray = column(RISK_SLOPE_HIGH)

    def range_of(self, quantity: str) -> Range:
        """Return the range of a named value."""
        return next(each for each in self.ranges if each.quantity == quantity)


def over_views(guess: Partition | View, truth: Partition, **settings: Unpack[UnlinkabilitySettings]) -> ViewRanges:
    """Return the ranges of unlinkability and distances over a view.

    The paper averages the graphs of a view first; here every partition is measured alone, as if the attacker were sure
    of it. The settings are those of :func:`unlinkability`.

    >>> unsure = View([Partition.from_labels("xxxx"), Partition.from_labels("wxyz")], ["1/4", "3/4"])
    >>> found = over_views(unsure, Partition.from_labels("aaaa"))
    >>> found.breached_probability, found.range_of("breached_share").high
    (array([0.25]), 1.0)
    """
    counted = tallies(guess, truth, settings.get("weights"))
    policy = policy_of(truth, settings)
    whole, subjects = _each_guess(counted, policy)
    distances, probabilities = distances_of_each(guess, truth)
    shares = np.array([float(probability) for probability in probabilities])
    ranges = [describe(name, values, shares) for name, values in {**whole, **distances}.items()]
    slope, breached = subjects["risk_slope"], subjects["breached"]
    steepest = np.where(breached, np.inf, slope)
    ends = {
        "linked0_low": quantile(subjects["linked0"], shares, LOW),
        "linked0_high": quantile(subjects["linked0"], shares, HIGH),
        "risk_slope_low": finite(quantile(steepest, shares, LOW)),
        "risk_slope_high": finite(quantile(steepest, shares, HIGH)),
    }
    return ViewRanges(
        partitions=shares.size, ranges=tuple(ranges), breached_probability=np.minimum(1.0, shares @ breached), **ends
    )


def quantile(values: FloatArray, shares: FloatArray, level: Fraction) -> FloatArray:
    """Return each column's weighted quantile; rows are partitions.

    >>> quantile(np.array([[1.0], [3.0], [2.0]]), np.array([0.5, 0.25, 0.25]), Fraction(3, 4))
    array([2.])
    """
    order = np.argsort(values, axis=0, kind="stable")
    reached = np.cumsum(shares[order], axis=0) >= float(level) - ROUNDING
    place = np.argmax(reached, axis=0)
    found: FloatArray = np.take_along_axis(np.take_along_axis(values, order, axis=0), place[None], axis=0)[0]
    return found


def finite(values: FloatArray) -> FloatArray:
    """Return the values, with NaN for infinite ends."""
    return np.where(np.isinf(values), np.nan, values)


def describe(name: str, values: FloatArray, shares: FloatArray) -> Range:
    """Return the range of values, one per partition; NaN ranks highest."""
    known = ~np.isnan(values)
    column = np.where(known, values, np.inf)[:, None]
    mean = float("nan")
    if known.any():  # rounding must not carry a mean beyond the values it is of
        weighed = values[known] @ shares[known] / shares[known].sum()
        mean = float(np.clip(weighed, values[known].min(), values[known].max()))
    low, median, high = (float(finite(quantile(column, shares, q))[0]) for q in (LOW, Fraction(1, 2), HIGH))
    return Range(quantity=name, mean=mean, low=low, median=median, high=high, undefined=float(shares[~known].sum()))


def _each_guess(counted: Tallies, policy: Policy) -> tuple[dict[str, FloatArray], dict[str, Any]]:
    """Return overall and per-subject values of each guess."""
    whole: dict[str, list[FloatArray]] = {}
    single: dict[str, list[FloatArray]] = {}
    for tally in counted.guesses:
        ranking = rank(tally, counted, policy.alpha)
        subjects = _subjects_alone(tally, ranking, counted, policy)
        figures = _overall_alone(tally, ranking, counted, policy)
        figures["breached_share"] = subjects["breached"].mean(axis=1)
        for kept, found in ((whole, figures), (single, subjects)):
            for name, values in found.items():
                kept.setdefault(name, []).append(values)
    return tuple({name: np.concatenate(parts) for name, parts in kept.items()} for kept in (whole, single))  # type: ignore[return-value]


def _overall_alone(tally: Tally, ranking: Ranking, counted: Tallies, policy: Policy) -> dict[str, FloatArray]:
    guesses = tally.table.guesses
    missed, included = (each.reshape(guesses, -1) for each in errors(tally, ranking, counted))
    alpha_each, n = policy.alpha.value, counted.truth.n
    error = (alpha_each * missed + (1 - alpha_each) * included).mean(axis=1)
    graphs = guess_graphs(tally, ranking, counted, policy)
    alpha, beta = policy.overall()
    points = [beta_point(linked, mixed, np.array([beta])) for linked, mixed in zip(*graphs, strict=True)]
    merges, there = (np.array([point[k][0] for point in points]) for k in (0, 1))
    slope = np.where(graphs[0][:, 0] >= beta - ROUNDING, np.nan, risk_slope(alpha, beta, there, merges))
    return {
        "miss": missed.sum(axis=1),
        "include": included.sum(axis=1),
        "normalized_error": error / (n - 1) if n > 1 else np.full(guesses, np.nan),
        "risk_slope": slope,
    }


def _subjects_alone(tally: Tally, ranking: Ranking, counted: Tallies, policy: Policy) -> dict[str, Any]:
    start, guesses = tally.table.row_start, tally.table.guesses
    linked, mixed = np.zeros(start[-1]), np.zeros(start[-1])
    # Every row is a subject of its own here, so that no two guesses share a graph.
    gain = gains(tally, ranking.order, policy.mixing)
    add_graphs(linked, mixed, start, start, ranking.order, tally.own, gain, np.ones(1))
    whole = policy.wholes(counted)
    divide_rows(start, linked, tally.tiled(whole.base), tally.tiled(whole.own), 1.0)
    divide_rows(start, mixed, np.zeros(start.size - 1), tally.tiled(whole.foreign), 0.0)
    turned = np.repeat(tally.tiled(policy.contamination_desirable), np.diff(start))
    mixed = np.where(turned, 1 - mixed, mixed)
    alpha, beta = tally.tiled(policy.alpha.value), tally.tiled(policy.beta.value)
    merges, there = beta_points(start, linked, mixed, beta, 0.0)
    now = linked[start[:-1]]
    found = {"linked0": now, "breached": now >= beta, "risk_slope": risk_slope(alpha, beta, there, merges)}
    return {name: values.reshape(guesses, -1) for name, values in found.items()}
