"""Weighted sums compared with weighted products for ranking by suites.

A sum of quotients hangs on what each metric is divided by, its most private value in the case. Where the level that
has it is left out, all quotients of that metric grow alike: a product keeps the order of the others, a sum need not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unveil._figure import figure
from unveil._kernels.types import FloatArray
from unveil.grades.evenness import ROUNDING
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.grades.suite import Suite
from unveil.grades.suites import FLOOR, in_order, log_quotients, quotients, weighted, weights_table

Model = Literal["product", "sum"]
MODELS: tuple[Model, ...] = ("product", "sum")


@dataclass(frozen=True, kw_only=True)
class RankReversals:
    """Shares of cases with a rank reversal when a level is omitted."""

    reversed: float = figure(
        "Share of cases, from 0 to 1, with a rank reversal of weighted sums when the lowest level is "
        "omitted; null with fewer than three numbers."
    )
    reversed_any: float = figure("The same for leaving out any one level.")
    reversed_product: float = figure(
        "Share of cases with a rank reversal of weighted products when the lowest level is omitted. A "
        "product has reversals only if the correction for zeros changes with the largest value."
    )
    reversed_product_any: float = figure("The same, of the product, for leaving out any one level.")


@dataclass(frozen=True, kw_only=True, eq=False)
class SumRankings:
    """Rankings of levels by a weighted sum; arrays are [suite, case].

    Attributes
    ----------
    scores
        The number of each suite, by suite, case and level; NaN where a metric of the suite is undefined.
    whole, pairs
        Whether it falls with each level (1 or 0), and the share of neighbouring levels between which it does; NaN with
        fewer than two numbers.
    reversed, reversed_any
        Whether leaving out the level with the lowest number turns two others around (1 or 0), and whether leaving out
        any one level does. NaN with fewer than three numbers.
    reversed_product, reversed_product_any
        The same of the weighted product. That has no reversals of its own: where it has, what is added to zeros
        depends on the largest value, and has changed with it.
    """

    scores: FloatArray
    whole: FloatArray
    pairs: FloatArray
    reversed: FloatArray
    reversed_any: FloatArray
    reversed_product: FloatArray
    reversed_product_any: FloatArray


def sum_rankings(values: ReplicatedMetrics, suites: Sequence[Suite], *, floor: float = FLOOR) -> SumRankings:
    """Return each suite's ranking by weighted sums of mean quotients.

    Formula: ``Q = Σ weight · q``, with the quotients q of :func:`unveil.grades.suites.suite_values`: 1 means as private
    as this case gets by every metric. Zeros and negative values are treated as for the product.

    Examples
    --------
    Of two metrics each level has the best value of one. Without the last level, which is worst, the first metric is
    divided by 5 instead of 10, and the order of the others turns.

    >>> from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
    >>> values = ReplicatedMetrics(
    ...     cases=(GradedCase("mail", "none", "NS", "overlap"),),
    ...     metrics=("entropy", "min_entropy"), levels=((1, 2, 3),),
    ...     values=np.array([[[[5.0], [2], [10]], [[6], [9], [0.1]]]]), rising=np.array([False, False]))
    >>> found = sum_rankings(values, [Suite.parse("mine:entropy,min_entropy")])
    >>> found.scores.round(2), found.reversed, found.reversed_product
    (array([[[0.58, 0.6 , 0.51]]]), array([[1.]]), array([[0.]]))
    """
    # Checks, and the metrics of all suites in their order.
    quotients(values, suites, floor, means=True)
    names = tuple(dict.fromkeys(name for suite in suites for name in suite.metrics))
    columns = np.array([values.metrics.index(name) for name in names])
    means, rising = values.means[:, columns], values.rising[columns]
    weights = weights_table(suites, names)

    def logs(kept: FloatArray) -> FloatArray:
        return log_quotients(kept, rising, names, floor)[0]

    whole = {model: _numbers(logs(means), weights, model) for model in MODELS}
    levels = means.shape[2]
    turned = {model: np.full((levels, *each.shape[:2]), np.nan) for model, each in whole.items()}
    for level in range(levels):
        kept = means.copy()
        kept[:, :, level] = np.nan
        fewer = logs(kept)
        for model, numbers in whole.items():
            turned[model][level] = _turned(numbers, _numbers(fewer, weights, model), level)
    order, pairs = in_order(whole["sum"])
    return SumRankings(
        scores=np.exp(whole["sum"]),
        whole=order,
        pairs=pairs,
        reversed=_of_worst(whole["sum"], turned["sum"]),
        reversed_any=_of_any(turned["sum"]),
        reversed_product=_of_worst(whole["product"], turned["product"]),
        reversed_product_any=_of_any(turned["product"]),
    )


def _numbers(logs: FloatArray, weights: FloatArray, model: Model) -> FloatArray:
    """Return log weighted sums at [suite, case, level]; NaN if undefined."""
    if model == "product":
        return np.moveaxis(weighted(logs, weights), 1, 0)
    missing = np.isnan(logs)
    sums = np.matmul(weights, np.where(missing, 0.0, np.exp(np.where(missing, 0.0, logs))))
    lacking = np.matmul((weights > 0).astype(float), missing.astype(float)) > 0
    return np.moveaxis(np.where(lacking, np.nan, np.log(np.where(sums > 0, sums, 1.0))), 1, 0)


def _turned(before: FloatArray, after: FloatArray, level: int) -> FloatArray:
    """Return whether two further levels are reversed (1, 0, or NaN)."""
    others = [place for place in range(before.shape[-1]) if place != level]
    one, other = (each[..., others] for each in (before, after))
    steps = [each[..., :, None] - each[..., None, :] for each in (one, other)]
    signs = [np.where(np.abs(step) > ROUNDING, np.sign(step), 0.0) for step in steps]
    opposite = (signs[0] * signs[1] < 0).any(axis=(-1, -2))
    enough = ((~np.isnan(one)) & (~np.isnan(other))).sum(axis=-1) >= 2
    return np.where(enough & ~np.isnan(before[..., level]), opposite.astype(float), np.nan)


def _of_worst(numbers: FloatArray, turned: FloatArray) -> FloatArray:
    worst = np.argmin(np.where(np.isnan(numbers), np.inf, numbers), axis=-1)
    found: FloatArray = np.take_along_axis(turned, worst[None], axis=0)[0]
    return found


def _of_any(turned: FloatArray) -> FloatArray:
    known = ~np.isnan(turned)
    return np.where(known.any(axis=0), (np.where(known, turned, 0.0) > 0).any(axis=0).astype(float), np.nan)
