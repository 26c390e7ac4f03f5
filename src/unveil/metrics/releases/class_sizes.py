"""Equivalence class sizes of a masked release, in people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.table.release import Release
from unveil.metrics.releases._classes import column_codes, group
from unveil.metrics.releases.truthful import HeldValues, cells_of, compatible_rows

#: Class sizes of published rules, below which people are counted.
SMALL = (3, 11, 20)


@dataclass(frozen=True, kw_only=True)
class ClassSizes:
    """Sizes of equivalence classes, in people.

    Attributes
    ----------
    columns
        The quasi-identifiers.
    smallest
        The number of people in the smallest class.
    average_risk
        The mean over released rows of 1 / people in the class of the row.
    people_below
        How many people are in classes of fewer than 3, 11 and 20 people.
    """

    COUNTS = "people"

    columns: tuple[str, ...]
    smallest: int
    average_risk: float
    people_below: Mapping[int, int]


def class_sizes(
    release: Release, columns: Sequence[str], *, person: IntArray | None = None, truth: IntArray | None = None
) -> ClassSizes:
    """Return the equivalence class sizes of a masked release, in people.

    Where each person has one row, a class has as many people as rows. Otherwise the people of a class are the owners
    of its rows where ``truth`` names them. Else they are those with an original row that is compatible with the class;
    at most as many as the class has rows.

    Parameters
    ----------
    release
        The release.
    columns
        The quasi-identifiers.
    person
        Whose each row of the original is; left out, each row is a person.
    truth
        The original row of each released row, -1 for none.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 30, 41, 41, 41]}))
    >>> class_sizes(Release(people, people), ["age"]).people_below[3]
    2
    >>> visits = np.array([0, 0, 1, 2, 2])
    >>> class_sizes(Release(people, people), ["age"], person=visits).smallest
    1
    """
    names = tuple(columns)
    codes = column_codes(release.released, names)
    classes = group(codes)
    rows = classes.size
    if person is None:
        size, below = rows, {k: int(rows[rows < k].sum()) for k in SMALL}
    else:
        where, who = _owners(release, names, classes.of_row, person, truth)
        size = np.minimum(np.maximum(np.bincount(where, minlength=rows.size), 1), rows)
        below = {k: min(np.unique(who[(size < k)[where]]).size, int(rows[size < k].sum())) for k in SMALL}
    return ClassSizes(
        columns=names,
        smallest=int(size.min()),
        average_risk=fsum((rows / size).tolist()) / int(rows.sum()),
        people_below=below,
    )


def _owners(
    release: Release, names: tuple[str, ...], class_of_row: IntArray, person: IntArray, truth: IntArray | None
) -> tuple[IntArray, IntArray]:
    """Return the distinct pairs of class and person."""
    if truth is not None:
        nobody = person.max(initial=-1) + 1 + np.arange(truth.size)
        where, who = class_of_row, np.where(truth >= 0, person[truth], nobody)
    else:
        people, released = [release.original], release.released
        held = [HeldValues.of(cells_of(people, released, name)) for name in names]
        places = [each.cells.places(release.original.held(name)) for each, name in zip(held, names, strict=True)]
        _, first = np.unique(class_of_row, return_index=True)
        boxes = np.column_stack([each.cells.of_row for each in held])[first]
        found = [each for each in compatible_rows(held, places, boxes, release.original.rows + 1) if each is not None]
        where = np.repeat(np.arange(len(found)), [each.size for each in found])
        who = person[np.concatenate([np.empty(0, np.int64), *found])]
    pairs = np.unique(np.column_stack([where, who]), axis=0)
    return pairs[:, 0], pairs[:, 1]
