"""Models of the population class size of a released row."""

from collections.abc import Callable, Sequence
from functools import cache
from math import nan
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.metrics.releases._classes import RowClasses

Method = Literal["weights", "pitman", "poisson"]
Weights = str | Sequence[float] | NDArray[Any]
#: More than were ever born, and few enough to be counted exactly in a float.
_MOST_PEOPLE = 10**15


class Posterior(NamedTuple):
    """Posterior of the population class size F: mean 1 / F, P(F < k)."""

    reciprocal: Callable[[], FloatArray]
    below: Callable[[int], FloatArray]


def _from_weights(_: Int32Array, classes: RowClasses, weights: FloatArray, __: int) -> Posterior:
    # Summed in order of size within each class, so that the order of rows plays no part in the rounding.
    order = np.lexsort((weights, classes.of_row))
    people = np.add.reduceat(weights[order], np.cumsum(classes.size) - classes.size)
    chance = np.minimum(classes.size / people, 1.0)
    return Posterior(
        lambda: reciprocal_negative_binomial(classes.size, chance)[classes.of_row],
        lambda k: below_negative_binomial(classes.size, chance, k)[classes.of_row],
    )


def _from_partition(_: Int32Array, classes: RowClasses, __: FloatArray, people: int) -> Posterior:
    size, times = np.unique(classes.size, return_counts=True)
    of_class = np.searchsorted(size, classes.size)
    outside = people - int(classes.size.sum())
    fitted = fit_partition(size, times.astype(np.int64)) if outside else RandomPartition(1.0, 0.5)
    everything = fitted.theta + people - outside

    def spread(function: Callable[..., float], *more: int) -> FloatArray:
        first = [(int(f), f - fitted.alpha) for f in size]
        each = [function(f, a, everything - a, outside, *more) for f, a in first]
        return np.array(each)[of_class][classes.of_row]

    return Posterior(lambda: spread(reciprocal_beta_binomial), lambda k: spread(below_beta_binomial, k))


def _from_margins(codes: Int32Array, classes: RowClasses, __: FloatArray, people: int) -> Posterior:
    rows = len(codes)
    _, first = np.unique(classes.of_row, return_index=True)
    rate = np.full(first.size, float(people - rows))
    for code in codes.T:
        rate *= np.bincount(code)[code[first]] / rows
    return Posterior(
        lambda: reciprocal_poisson(classes.size, rate)[classes.of_row],
        lambda k: below_poisson(classes.size, rate, k)[classes.of_row],
    )


POSTERIORS: dict[Method, Callable[[Int32Array, RowClasses, FloatArray, int], Posterior]] = {
    "weights": _from_weights,
    "pitman": _from_partition,
    "poisson": _from_margins,
}


def checked_weights(table: Table, weights: Weights | None) -> FloatArray | None:
    """Return one positive weight per row; raise InputError on bad weights."""
    if weights is None:
        return None
    if isinstance(weights, str):
        import polars as pl

        where, column = f"column {weights!r} of the {table.name}", table.column(weights)
        cells = table.series(weights)
        if table.coarse([weights]) and not cells.dtype.is_numeric():
            # The weights of ranges are unknown.
            cells = table.select([weights]).single_values().series(weights)
        # A column of one or two numbers, or one that is named like a group, is read as a category.
        numbers = cells.cast(pl.String).cast(pl.Float64, strict=False)
        if column.kind in ("date", "boolean") or numbers.null_count() > cells.null_count():
            raise InputError(f"{where} cannot be weights: its type is {column.kind}. Name a column of numbers")
        values = numbers.fill_null(nan).to_numpy()
    else:
        where = "the weights"
        try:
            values = np.asarray(weights, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("some weights are not numbers. Name a column of numbers") from None
        if values.shape != (table.rows,):
            raise InputError(
                f"the weights have the shape {values.shape}, but the {table.name} has {table.rows} rows. "
                "Pass one weight per row"
            )
    wrong = np.flatnonzero(~((values > 0) & np.isfinite(values)))
    if wrong.size:
        value = values[wrong[0]]
        seen = "missing" if np.isnan(value) else "infinite" if np.isinf(value) else "0" if value == 0 else "negative"
        raise InputError(
            f"{where} must be above 0 in every row, but is {seen} in row "
            f"{wrong[0] + 1} (counted from 1 below the header); such rows: {wrong.size}. "
            "Correct the weights, or leave those rows out"
        )
    if values.sum() > _MOST_PEOPLE:
        raise InputError(
            f"{where} sums to more than {_MOST_PEOPLE:,} people. Check that it holds weights: "
            "the number of people that each row stands for"
        )
    return values


def checked_size(table: Table, size: float | None) -> float | None:
    """Return the population size, at least the sample size, or None."""
    if size is not None and size > _MOST_PEOPLE:
        raise InputError(f"the population is above the maximum of {_MOST_PEOPLE:,} people. Write its true size")
    if size is not None and not table.rows <= size:
        raise InputError(
            f"population_size is {size:g}, smaller than the {table.rows} rows of the {table.name}. "
            "Correct population_size"
        )
    return size


# How large the population class of a released row is, given how many released rows share its values.
#
# Three models of the population class F of a row whose sample class has f rows lead to a distribution of F - f:
# negative binomial (weights), beta-binomial (exchangeable random partitions) and Poisson (expected counts). For each
# there is the mean of 1 / F and the chance that F is below k.

# Up to here sums are taken term by term; beyond, the terms are so smooth that an integral replaces them.
_SUMMED = 4096
_NODES = 200
_FEW_NODES = 64
_NOTHING_LEFT = 45.0
_SERIES_FROM = 40
_TINY = 1e-17


class RandomPartition(NamedTuple):
    """The parameters of Pitman's random partition.

    After n rows in u classes, the next row opens a class of its own with the chance (theta + u alpha) / (theta + n) and
    joins a class of f rows with the chance (f - alpha) / (theta + n). With alpha = 0 it is Ewens's.
    """

    theta: float
    alpha: float


def reciprocal_negative_binomial(f: IntArray, p: FloatArray) -> FloatArray:
    """Return the mean of 1 / F for negative binomial F - f.

    It has f successes of probability p.

    Closed forms (with q = 1 - p): ``(p / q) log(1 / p)`` for f = 1, then ``r(f) = (p / q) (1 / (f - 1) - r(f - 1))``.
    That recurrence is stable while p < q; elsewhere, and for large f, the series
    ``(p / f) (1 + q / (f + 1) + 2 q² / ((f + 1) (f + 2)) + …)`` is short.

    >>> reciprocal_negative_binomial(np.array([1, 2, 3]), np.array([0.01, 0.01, 1.0])).round(5)
    array([0.04652, 0.00963, 0.33333])
    """
    mean = np.empty(f.size)
    slow = (p < 0.5) & (f < _SERIES_FROM)
    mean[~slow] = _series(f[~slow], p[~slow])
    odds = p[slow] / (1 - p[slow])
    current = odds * -np.log(p[slow])
    wanted = f[slow]
    found = current.copy()
    for size in range(2, _SERIES_FROM):
        current = odds * (1 / (size - 1) - current)
        found[wanted == size] = current[wanted == size]
    mean[slow] = found
    return mean


def _series(f: IntArray, p: FloatArray) -> FloatArray:
    term, total = np.ones(f.size), np.ones(f.size)
    step = 0
    while term.size and float(term.max()) > _TINY:
        step += 1
        term = term * (1 - p) * step / (f + step)
        total += term
    return p / f * total


def below_negative_binomial(f: IntArray, p: FloatArray, k: int) -> FloatArray:
    """Return P(F < k) for negative binomial F - f.

    >>> below_negative_binomial(np.array([1, 1, 3]), np.array([0.1, 1.0, 0.1]), 3).round(4)
    array([0.19, 1.  , 0.  ])
    """
    from scipy.special import betainc

    inside = f < k
    return np.where(inside, betainc(f, np.where(inside, k - f, 1), p), 0.0)


def reciprocal_poisson(f: IntArray, rate: FloatArray) -> FloatArray:
    """Return the mean of 1 / F for Poisson F - f.

    That is the integral of ``exp(-rate u) (1 - u)**(f - 1)`` for u from 0 to 1: ``(1 - exp(-rate)) / rate`` if f = 1.
    Its integrand has fallen to nothing where ``u (rate + f - 1)`` is 45, and is smooth up to there.

    >>> reciprocal_poisson(np.array([1, 1, 2]), np.array([0.0, 2.0, 2.0])).round(4)
    array([1.    , 0.4323, 0.2838])
    """
    node, weight = _gauss(_FEW_NODES)
    reach = np.minimum(1.0, _NOTHING_LEFT / np.maximum(rate + f - 1, 1e-300))
    total = np.zeros(f.size)
    for each, share in zip((node + 1) / 2, weight / 2, strict=True):
        u = each * reach
        total += share * np.exp((f - 1) * np.log1p(-u) - rate * u)
    return total * reach


def below_poisson(f: IntArray, rate: FloatArray, k: int) -> FloatArray:
    """Return P(F < k) for Poisson F - f.

    >>> below_poisson(np.array([1, 1, 2]), np.array([0.0, 1.0, 1.0]), 2).round(4)
    array([1.    , 0.3679, 0.    ])
    """
    from scipy.special import gammaincc

    inside = f < k
    return np.where(inside, gammaincc(np.where(inside, k - f, 1), rate), 0.0)


def reciprocal_beta_binomial(f: int, a: float, b: float, tries: int) -> float:
    """Return the mean of 1 / F for beta-binomial F - f.

    The probability is drawn from Beta(a, b).

    >>> round(reciprocal_beta_binomial(1, 1.0, 1.0, 1), 4)  # F is 1 or 2, each with chance 1/2
    0.75
    """
    last = min(tries, _SUMMED)
    extra = np.arange(last + 1, dtype=np.float64)
    mean = float(np.sum(np.exp(_log_beta_binomial(extra, a, b, tries)) / (f + extra)))
    if tries > last:
        # Midpoint rule backwards: the sum over whole numbers is the integral from half before to half behind.
        low, high = np.log(last + 0.5), np.log(tries + 0.5)
        node, weight = _gauss(_NODES)
        extra = np.exp(low + (high - low) * (node + 1) / 2)
        terms = np.exp(_log_beta_binomial(np.minimum(extra, tries), a, b, tries)) / (f + extra)
        mean += float(np.sum(weight * terms * extra)) * (high - low) / 2
    return mean


def below_beta_binomial(f: int, a: float, b: float, tries: int, k: int) -> float:
    """Return P(F < k) for beta-binomial F - f.

    >>> round(below_beta_binomial(1, 1.0, 1.0, 1, 2), 4)
    0.5
    """
    extra = np.arange(min(k - f, tries + 1), dtype=np.float64)
    return min(float(np.sum(np.exp(_log_beta_binomial(extra, a, b, tries)))), 1.0)


@cache
def _gauss(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return the cached Gauss-Legendre nodes on [-1, 1] and weights."""
    return np.polynomial.legendre.leggauss(nodes)


def _log_beta_binomial(x: FloatArray, a: float, b: float, tries: int) -> FloatArray:
    from scipy.special import betaln, gammaln

    choose = gammaln(tries + 1) - gammaln(x + 1) - gammaln(tries - x + 1)
    return np.asarray(choose + betaln(x + a, tries - x + b) - betaln(a, b), dtype=np.float64)


def fit_partition(size: IntArray, classes: IntArray) -> RandomPartition:
    """Return the maximum-likelihood parameters for ``classes`` of each ``size``.

    There must be a class of two rows or more, and two classes or more: else the likelihood grows without end. The
    search (Nelder and Mead's) starts at the best of a small grid and has no randomness.

    >>> fitted = fit_partition(np.array([1, 2, 5]), np.array([60, 10, 4]))
    >>> round(fitted.theta, 1), round(fitted.alpha, 3)
    (33.7, 0.627)
    """
    from scipy.optimize import minimize

    rows = float(np.sum(size * classes))

    def misfit(point: FloatArray) -> float:
        return -_log_likelihood(_partition(point), size, classes)

    starts = [np.array([a, t]) for a in (-4.0, 0.0, 2.0) for t in np.log(rows) * np.array([0.1, 0.4, 0.7, 1.0])]
    best = min(starts, key=misfit)
    found = minimize(misfit, best, method="Nelder-Mead", options={"xatol": 1e-5, "fatol": 1e-7, "maxiter": 1000})
    return _partition(found.x)


def _partition(point: FloatArray) -> RandomPartition:
    """Return the parameters of an unconstrained point.

    The point is (logit of alpha, log of theta + alpha).
    """
    alpha = 1 / (1 + float(np.exp(-np.clip(point[0], -30, 30))))
    return RandomPartition(float(np.exp(np.clip(point[1], -30, 30))) - alpha, alpha)


def _log_likelihood(partition: RandomPartition, size: IntArray, classes: IntArray) -> float:
    from scipy.special import gammaln

    theta, alpha = partition
    rows, count = int(np.sum(size * classes)), int(np.sum(classes))
    opened = np.sum(np.log(theta + alpha * np.arange(1, count)))
    came = gammaln(theta + rows) - gammaln(theta + 1)
    joined = np.sum(classes * (gammaln(size - alpha) - gammaln(1 - alpha)))
    return float(opened - came + joined)
