"""Quasi-identifiers as model features, common to released rows and people."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unveil._kernels.neighbours.nearest import LAST_MARKER, IntegerGrid
from unveil._kernels.types import BoolArray, ByteArray, FloatArray, Int32Array, IntArray

#: How many categories of a column have a feature of their own; all others share one.
MOST_CATEGORIES = 30
#: How many numbers of a column are distinguished by a learner that takes columns as they are, and one category fewer.
MOST_BINS = 255


def features(released: IntegerGrid, people: Sequence[IntegerGrid]) -> list[FloatArray]:
    """Return one feature array per table, one column per feature.

    Which features there are is told by the released rows alone. A number (a date, an ordered value) goes from 0 to 1
    over the span of the column; a missing one is the released median, and a further feature tells that it was missing
    where released rows have missing ones. A category has one feature for each of the 30 most frequent released values,
    1 where the row has it (a missing value is such a category), and one feature for all others.

    >>> from unveil._kernels.neighbours.nearest import MISSING
    >>> ages, sexes = np.array([[20], [40], [MISSING]]), np.array([[1], [2], [2]], np.int32)
    >>> features(IntegerGrid(ages - [[20], [20], [0]], sexes, np.array([1]), 20), [])[0]
    array([[0. , 0. , 0. , 1. , 0. ],
           [1. , 0. , 1. , 0. , 0. ],
           [0.5, 1. , 1. , 0. , 0. ]])
    """
    tables = [released, *people]
    columns: list[list[FloatArray]] = [[] for _ in tables]
    for place in range(released.numbers.shape[1]):
        share = float(released.step_cost[place]) / max(1, released.mismatch_cost)
        for found, part in zip(columns, _of_number([table.numbers[:, place] for table in tables], share), strict=True):
            found.extend(part)
    for place in range(released.codes.shape[1]):
        for found, part in zip(columns, _of_codes([table.codes[:, place] for table in tables]), strict=True):
            found.extend(part)
    return [np.column_stack(found) for found in columns]


def _of_number(parts: Sequence[IntArray], share: float) -> list[list[FloatArray]]:
    """Return each table's scaled number, gaps filled, and gap indicators."""
    known = parts[0][parts[0] > LAST_MARKER]
    middle = float(np.clip(np.median(known) * share, 0, 1)) if known.size else 0.0
    made = []
    for part in parts:
        missing = part <= LAST_MARKER
        value = np.where(missing, middle, np.clip(np.where(missing, 0, part) * share, 0, 1))
        made.append([value, missing.astype(np.float64)] if known.size < parts[0].size else [value])
    return made


def _of_codes(parts: Sequence[Int32Array]) -> list[list[FloatArray]]:
    """Return one indicator per frequent code, and one for the rest."""
    frequent = _most_frequent(parts[0], MOST_CATEGORIES)
    made = []
    for part in parts:
        own = [(part == code).astype(np.float64) for code in frequent]
        made.append([*own, (~np.isin(part, frequent)).astype(np.float64)])
    return made


class BinnedColumns(NamedTuple):
    """Binned columns as integers 0 to 255, at [column, row]."""

    rows: ByteArray
    people: ByteArray
    is_category: BoolArray


def binned(released: IntegerGrid, people: IntegerGrid) -> BinnedColumns:
    """Return one binned feature per column, with categories and gaps.

    0 is what is missing. Of more different numbers than 255 as many are taken that divide the rows into equal parts,
    and each number is put to the nearest of them. A category is the rank of its code among the 254 most frequent
    released ones; all others are 0 too.

    >>> from unveil._kernels.neighbours.nearest import MISSING
    >>> grid = IntegerGrid(np.array([[0], [20], [MISSING]]), np.array([[4], [7], [7]], np.int32), np.array([1]), 20)
    >>> other = grid._replace(numbers=np.array([[9], [11], [70]]), codes=np.array([[7], [5], [4]], np.int32))
    >>> made = binned(grid, other)
    >>> made.rows.tolist(), made.people.tolist(), made.is_category.tolist()
    ([[1, 2, 0], [1, 2, 2]], [[1, 2, 2], [2, 0, 1]], [False, True])
    """
    tables = (released, people)
    numbers, codes = (part.shape[1] for part in (released.numbers, released.codes))
    columns = [_bins_of_number([each.numbers[:, place] for each in tables]) for place in range(numbers)]
    columns += [_bins_of_codes([each.codes[:, place] for each in tables]) for place in range(codes)]
    rows, others = (np.array([each[side] for each in columns], np.uint8) for side in (0, 1))
    return BinnedColumns(rows, others, np.repeat([False, True], [numbers, codes]))


def _bins_of_number(parts: Sequence[IntArray]) -> list[IntArray]:
    there = np.sort(parts[0][parts[0] > LAST_MARKER])
    chosen = np.unique(there)
    if chosen.size > MOST_BINS:
        chosen = np.unique(there[(np.arange(MOST_BINS) * there.size) // MOST_BINS])
    middle = (chosen[1:] + chosen[:-1]) / 2
    return [np.where(part > LAST_MARKER, np.searchsorted(middle, part, "right") + 1, 0) for part in parts]


def _bins_of_codes(parts: Sequence[Int32Array]) -> list[IntArray]:
    frequent = np.sort(_most_frequent(parts[0], MOST_BINS - 1))
    places = [np.minimum(np.searchsorted(frequent, part), frequent.size - 1) for part in parts]
    return [np.where(frequent[at] == part, at + 1, 0) for at, part in zip(places, parts, strict=True)]


def _most_frequent(codes: Int32Array, at_most: int) -> Int32Array:
    """Return the most frequent codes, ties by value."""
    values, count = np.unique(codes, return_counts=True)
    return np.asarray(values[np.lexsort((values, -count))][:at_most])
