"""Known columns as numbers that any model can learn from, the same for released rows and for people."""

from collections.abc import Sequence

import numpy as np

from unveil._kernels.neighbours.nearest import LAST_MARKER, Grid
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray

#: How many categories of a column have a feature of their own; all others share one.
MOST_CATEGORIES = 30
#: How many categories of a column are told apart by a learner that takes them as they are; all others are missing.
MOST_RANKED = 254


def features(released: Grid, people: Sequence[Grid]) -> list[FloatArray]:
    """Return one array for the released rows and one for each table of people, with a column per feature.

    Which features there are is told by the released rows alone. A number (a date, an ordered value) goes from 0 to 1
    over the span of the column; a missing one is the released median, and a further feature tells that it was missing
    where released rows have missing ones. A category has one feature for each of the 30 most frequent released values,
    1 where the row has it (a missing value is such a category), and one feature for all others.

    >>> from unveil._kernels.neighbours.nearest import MISSING
    >>> ages, sexes = np.array([[20], [40], [MISSING]]), np.array([[1], [2], [2]], np.int32)
    >>> features(Grid(ages - [[20], [20], [0]], sexes, np.array([1]), 20), [])[0]
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
    """Return each table's number from 0 to 1 with the gaps filled, and where they were."""
    known = parts[0][parts[0] > LAST_MARKER]
    middle = float(np.clip(np.median(known) * share, 0, 1)) if known.size else 0.0
    made = []
    for part in parts:
        missing = part <= LAST_MARKER
        value = np.where(missing, middle, np.clip(np.where(missing, 0, part) * share, 0, 1))
        made.append([value, missing.astype(np.float64)] if known.size < parts[0].size else [value])
    return made


def _of_codes(parts: Sequence[Int32Array]) -> list[list[FloatArray]]:
    """Return for each table one column per frequent code, and one for the rest."""
    frequent = _most_frequent(parts[0], MOST_CATEGORIES)
    made = []
    for part in parts:
        own = [(part == code).astype(np.float64) for code in frequent]
        made.append([*own, (~np.isin(part, frequent)).astype(np.float64)])
    return made


def ranked_features(released: Grid, people: Sequence[Grid]) -> tuple[list[FloatArray], BoolArray]:
    """Return one feature per column for the released rows and for each table of people, and which are categories.

    For learners that take categories and gaps as they are. A category is the rank of its code among the 254 most
    frequent released ones; all others, and missing numbers, are NaN.

    >>> from unveil._kernels.neighbours.nearest import MISSING
    >>> grid = Grid(np.array([[0], [20], [MISSING]]), np.array([[4], [7], [7]], np.int32), np.array([1]), 20)
    >>> other = grid._replace(codes=np.array([[7], [5], [4]], np.int32))
    >>> (own, theirs), categories = ranked_features(grid, [other])
    >>> own[:, 1], theirs[:, 1], categories
    (array([0., 1., 1.]), array([ 1., nan,  0.]), array([False,  True]))
    """
    tables = [released, *people]
    known = [np.where(table.numbers > LAST_MARKER, table.numbers, np.nan) for table in tables]
    ranks = [np.full(table.codes.shape, np.nan) for table in tables]
    for place in range(released.codes.shape[1]):
        frequent = np.sort(_most_frequent(released.codes[:, place], MOST_RANKED))
        for table, rank in zip(tables, ranks, strict=True):
            codes = table.codes[:, place]
            at = np.minimum(np.searchsorted(frequent, codes), frequent.size - 1)
            rank[:, place] = np.where(frequent[at] == codes, at, np.nan)
    categories = np.repeat([False, True], [released.numbers.shape[1], released.codes.shape[1]])
    return [np.column_stack(each) for each in zip(known, ranks, strict=True)], categories


def _most_frequent(codes: Int32Array, most: int) -> Int32Array:
    """Return the most frequent codes; equally frequent ones by their value, which does not depend on row order."""
    values, count = np.unique(codes, return_counts=True)
    return np.asarray(values[np.lexsort((values, -count))][:most])
