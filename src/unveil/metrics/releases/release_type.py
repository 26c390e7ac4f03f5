"""Detect masked releases, whose rows match people one to one.

They match other people markedly worse.
"""

from collections.abc import Sequence

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil._kernels.verdict.labels import labels_among
from unveil.data.table.release import Release
from unveil.metrics.releases._classes import group
from unveil.metrics.releases.truthful import TRUTHFUL, HeldValues, cells_of, compatible_rows, truthful_share

#: At most this many equivalence classes are compared with people, and this many pairs of a class and a person.
MOST_CLASSES, MOST_PAIRS = 500, 10**7
#: How often the people of the original are drawn again.
DRAWS = 199
#: The people of the original leave at most this part of the rows unmatched that other people leave.
_PART = 0.1


def is_masked(release: Release, columns: Sequence[str]) -> bool:
    """Return whether the release can only be masked rows.

    Three conditions. At least 99 % of the released rows match compatible original rows one to one
    (:func:`truthful_share`). The people of the original leave fewer rows unmatched than each of 199 random choices of
    as many people from original and control, as if these had been the original. And they leave at most a tenth of the
    mean of those choices. Without a control group the number of people in each class is drawn instead, from a Poisson
    distribution with the observed number as its mean: as many as fresh people would be.

    Rows that are common combinations of few values match other people as well, so they prove nothing. Neither do very
    large classes, nor a control group so small that it replaces hardly any person: such releases are not detected. A
    synthetic table whose counts equal those of the original in all columns cannot be told from a masked one.

    The unmatched rows of an equivalence class of the release are those beyond the number of compatible people. At most
    500 classes are drawn. Nothing depends on the order of rows.

    Parameters
    ----------
    release
        The release, read as a masked one.
    columns
        The columns to compare: all but identifiers.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> rng = np.random.default_rng(1)
    >>> people, others = (Table.from_frame(pl.DataFrame({"x": rng.normal(size=80)})) for _ in range(2))
    >>> [is_masked(Release(people, each, kind="masked"), ["x"]) for each in (people, others)]
    [True, False]
    """
    original, released, control = release.original, release.released, release.control
    if not columns or not 0 < released.rows <= original.rows:
        return False
    people = [original, *([] if control is None else [control])]
    held = [HeldValues.of(cells_of(people, released, name)) for name in columns]
    places = [
        np.concatenate([each.cells.places(table.held(name)) for table in people])
        for each, name in zip(held, columns, strict=True)
    ]
    cells = np.column_stack([each.cells.of_row for each in held])
    classes = group(cells.astype(np.int32))
    rng = np.random.default_rng(0)
    some = np.sort(rng.permutation(classes.size.size)[:MOST_CLASSES])
    _, first = np.unique(classes.of_row, return_index=True)
    pairs = compatible_rows(held, places, cells[first[some]], max(MOST_PAIRS // some.size, 1))
    few = [(size, each) for size, each in zip(classes.size[some].tolist(), pairs, strict=True) if each is not None]
    if not few:
        return False
    rows, compatible = np.array([size for size, _ in few]), [each for _, each in few]
    seen = np.array([np.count_nonzero(each < original.rows) for each in compatible])
    unmatched = int(np.maximum(rows - seen, 0).sum())
    if unmatched > (1 - TRUTHFUL) * rows.sum():
        return False
    if control is None:
        fresh = rng.poisson(seen, (DRAWS, seen.size)).astype(np.float64)
    else:
        fresh = _of_other_people(compatible, places, original.rows, rng)
    others = np.maximum(rows - fresh, 0).sum(axis=1)
    if unmatched >= others.min() or unmatched > _PART * others.mean():
        return False
    return truthful_share(original, released, columns) >= TRUTHFUL


def _of_other_people(
    compatible: Sequence[IntArray], places: Sequence[IntArray], members: int, rng: np.random.Generator
) -> FloatArray:
    """Return counts of compatible random people, at [draw, class]."""
    from scipy.sparse import csr_array

    everybody = places[0].size
    # By what rows hold, so that the order of rows plays no part.
    rank = np.empty(everybody, np.int64)
    rank[np.lexsort(places)] = np.arange(everybody)
    ranks = rank[np.concatenate(compatible)]
    used, place = np.unique(ranks, return_inverse=True)
    start = np.concatenate([[0], np.cumsum([each.size for each in compatible])])
    holds = csr_array((np.ones(place.size, np.float32), place, start), shape=(len(compatible), used.size))
    blocks = labels_among(used.size, members, everybody - members, DRAWS, rng)
    return np.concatenate([(holds @ make().T.astype(np.float32)).T for make in blocks]).astype(np.float64)
