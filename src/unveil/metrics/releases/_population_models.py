"""Models of how large the population class of a released row is, and the weights that one of them needs."""

from collections.abc import Callable, Sequence
from math import nan
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.table import population as kernels
from unveil._kernels.types import FloatArray, Int32Array
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.metrics.releases._classes import RowClasses

Method = Literal["weights", "pitman", "poisson"]
Weights = str | Sequence[float] | NDArray[Any]
#: More than were ever born, and few enough to be counted exactly in a float.
_MOST_PEOPLE = 10**15


class Posterior(NamedTuple):
    """What a model says of the population class F of each row: the mean of 1 / F, and the chance that F < k."""

    reciprocal: Callable[[], FloatArray]
    below: Callable[[int], FloatArray]


def _from_weights(_: Int32Array, classes: RowClasses, weights: FloatArray, __: int) -> Posterior:
    # Summed in order of size within each class, so that the order of rows plays no part in the rounding.
    order = np.lexsort((weights, classes.of_row))
    people = np.add.reduceat(weights[order], np.cumsum(classes.size) - classes.size)
    chance = np.minimum(classes.size / people, 1.0)
    return Posterior(
        lambda: kernels.reciprocal_negative_binomial(classes.size, chance)[classes.of_row],
        lambda k: kernels.below_negative_binomial(classes.size, chance, k)[classes.of_row],
    )


def _from_partition(_: Int32Array, classes: RowClasses, __: FloatArray, people: int) -> Posterior:
    size, times = np.unique(classes.size, return_counts=True)
    of_class = np.searchsorted(size, classes.size)
    outside = people - int(classes.size.sum())
    fitted = kernels.fit_partition(size, times.astype(np.int64)) if outside else kernels.RandomPartition(1.0, 0.5)
    everything = fitted.theta + people - outside

    def spread(function: Callable[..., float], *more: int) -> FloatArray:
        first = [(int(f), f - fitted.alpha) for f in size]
        each = [function(f, a, everything - a, outside, *more) for f, a in first]
        return np.array(each)[of_class][classes.of_row]

    return Posterior(lambda: spread(kernels.reciprocal_beta_binomial), lambda k: spread(kernels.below_beta_binomial, k))


def _from_margins(codes: Int32Array, classes: RowClasses, __: FloatArray, people: int) -> Posterior:
    rows = len(codes)
    _, first = np.unique(classes.of_row, return_index=True)
    rate = np.full(first.size, float(people - rows))
    for code in codes.T:
        rate *= np.bincount(code)[code[first]] / rows
    return Posterior(
        lambda: kernels.reciprocal_poisson(classes.size, rate)[classes.of_row],
        lambda k: kernels.below_poisson(classes.size, rate, k)[classes.of_row],
    )


POSTERIORS: dict[Method, Callable[[Int32Array, RowClasses, FloatArray, int], Posterior]] = {
    "weights": _from_weights,
    "pitman": _from_partition,
    "poisson": _from_margins,
}


def checked_weights(table: Table, weights: Weights | None) -> FloatArray | None:
    """Return one weight per row, all above 0, or say which row has none."""
    if weights is None:
        return None
    if isinstance(weights, str):
        import polars as pl

        where, column = f"column {weights!r} of the {table.name}", table.column(weights)
        cells = table.series(weights)
        if table.coarse([weights]) and not cells.dtype.is_numeric():
            # Of ranges nobody knows the weight.
            cells = table.select([weights]).single_values().series(weights)
        # A column of one or two numbers, or one that is named like a group, is read as a category.
        numbers = cells.cast(pl.String).cast(pl.Float64, strict=False)
        if column.kind in ("date", "boolean") or numbers.null_count() > cells.null_count():
            raise InputError(f"{where} must hold numbers to be weights, but its kind is {column.kind}. Name another")
        values = numbers.fill_null(nan).to_numpy()
    else:
        where = "the weights"
        try:
            values = np.asarray(weights, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("the weights must be numbers, one per row. Correct them") from None
        if values.shape != (table.rows,):
            raise InputError(
                f"there must be one weight for each of the {table.rows} rows of the {table.name}, but the weights have "
                f"the shape {values.shape}. Pass one per row"
            )
    wrong = np.flatnonzero(~((values > 0) & np.isfinite(values)))
    if wrong.size:
        value = values[wrong[0]]
        seen = "missing" if np.isnan(value) else "infinite" if np.isinf(value) else "0" if value == 0 else "negative"
        raise InputError(
            f"{where} must hold a weight above 0 in every row, but does not in row "
            f"{wrong[0] + 1} (counted from 1 below the header), where it is {seen}; such rows: {wrong.size}. "
            "Correct the weights, or leave those rows out"
        )
    if values.sum() > _MOST_PEOPLE:
        raise InputError(
            f"{where} must sum to at most {_MOST_PEOPLE:,} people, but sum to more. Check that it holds weights: how "
            "many people each row stands for"
        )
    return values


def checked_size(table: Table, size: float | None) -> float | None:
    """Return the size of the population, at least that of the sample, or None where it is not told."""
    if size is not None and size > _MOST_PEOPLE:
        raise InputError(
            f"the population must have at most {_MOST_PEOPLE:,} people, but is told to have more. Write its true size"
        )
    if size is not None and not table.rows <= size:
        raise InputError(
            f"the population must have at least as many people as the {table.name} has rows ({table.rows}), but its "
            f"size is told to be {size:g}. Correct population_size"
        )
    return size
