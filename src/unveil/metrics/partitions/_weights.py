"""Sensitivity weights of items, 0 to 1, common or per subject."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from unveil._kernels.types import IntArray
from unveil.errors import InputError
from unveil.guesses import Partition

Weights = Iterable[float] | Mapping[Any, float]

_FINEST = 10**9


@dataclass(frozen=True, eq=False)
class ItemWeights:
    """Weights as whole multiples of ``1 / grid``, so that ties are exact.

    ``common`` is what everyone thinks of each item; subject ``subject[k]`` thinks ``value[k]`` of item ``item[k]``.
    Weights finer than nine decimals are rounded to nine.
    """

    grid: int
    common: IntArray
    subject: IntArray
    item: IntArray
    value: IntArray


def item_weights(weights: Weights, truth: Partition) -> ItemWeights:
    """Return the weights of the items of ``truth``.

    A sequence has one weight per item. A mapping names items, or (subject, item) pairs; what it does not name weighs 1.
    """
    none = np.empty(0, np.int64)
    if not isinstance(weights, Mapping):
        common = _on_finest_grid(weights)
        if common.size != truth.n:
            raise InputError(
                f"there are {common.size} weights for {truth.n} items. "
                "Pass one for each, or a mapping from item to weight"
            )
        return _coarsen(common, none, none, none)
    values = _on_finest_grid(weights.values())
    common = np.full(truth.n, _FINEST, np.int64)
    subjects = {subject: index for index, subject in enumerate(truth.clusters.tolist())}
    items = range(truth.n) if truth.items is None else truth.items.tolist()
    place = {item: index for index, item in enumerate(items)}
    if all(key in place for key in weights):
        common[[place[key] for key in weights]] = values
        return _coarsen(common, none, none, none)
    pairs = [key for key in weights if isinstance(key, tuple) and len(key) == 2]
    known = [(subjects[s], place[i]) for s, i in pairs if s in subjects and i in place]
    if len(known) != len(weights):
        raise InputError(
            f"{_unknown(weights, place, known)} of {len(weights)} weights are not for items, or (subject, item) "
            "pairs, of the truth. Correct their names, or leave them out"
        )
    subject, item = np.array(known, dtype=np.int64).T
    return _coarsen(common, subject, item, values)


def _unknown(weights: Mapping[Any, float], place: Mapping[Any, int], known: list[tuple[int, int]]) -> int:
    return len(weights) - max(len(known), sum(key in place for key in weights))


def _on_finest_grid(values: Any) -> IntArray:
    try:
        floats = np.array([float(Fraction(each) if isinstance(each, str) else each) for each in values], np.float64)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise InputError("some weights are not numbers. Write numbers between 0 and 1, such as 0.125 or 1/8") from None
    outside = ~((floats >= 0) & (floats <= 1))
    if outside.any():
        scalable = bool((floats >= 0).all()) and bool(np.isfinite(floats).all())
        advice = "Divide all by the largest" if scalable else "Write 0 for items to ignore, and 1 for items to count"
        raise InputError(
            f"{int(outside.sum())} weights are not between 0 and 1, the first at position "
            f"{int(np.flatnonzero(outside)[0])} (counted from 0). {advice}"
        )
    return np.rint(floats * _FINEST).astype(np.int64)


def _coarsen(common: IntArray, subject: IntArray, item: IntArray, value: IntArray) -> ItemWeights:
    """Divide weights by their common factor, to keep costs inside 64 bits."""
    step = int(np.gcd.reduce(np.concatenate([np.unique(common), np.unique(value), [_FINEST]])))
    return ItemWeights(_FINEST // step, common // step, subject, item, value // step)
