"""Transitions between consecutive values of a person's rows, in the original and in the release."""

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from unveil._figure import figure

if TYPE_CHECKING:
    import polars as pl

    from unveil._kernels.types import IntArray
    from unveil.data.table.child_tables import ChildRelease
    from unveil.data.table.table import Table

#: With more values most transitions are rare, and their shares say little.
MOST_VALUES = 50


@dataclass(frozen=True, kw_only=True)
class TransitionDistance:
    """How far the transitions of one column lie from those of the original."""

    COUNTS = "statistic"

    column: str = figure("The column whose values follow one another.")
    distance: float = figure(
        "Total variation distance between the shares of all pairs of consecutive values: 0 is the same, 1 is nothing "
        "in common."
    )
    control: float = figure(
        "The same between the original and the control group, which differ by chance alone; null without one.",
        default=nan,
    )


def transition_distances(child: "ChildRelease") -> tuple[TransitionDistance, ...]:
    """Return the distance of each column with few values; none where rows have no order.

    A missing value is a value of its own.

    >>> from unveil.data.table import Table
    >>> from unveil.data.table.child_tables import ChildRelease, ChildTable
    >>> rows = Table.from_frame({"year": [1, 2, 1, 2], "ward": ["a", "b", "a", "a"]}, name="original")
    >>> other = Table.from_frame({"year": [1, 2], "ward": ["a", "b"]}, name="release")
    >>> own = ChildTable("visits", rows, np.array([0, 0, 1, 1]), 2, "year")
    >>> found = transition_distances(ChildRelease.of(own, ChildTable("visits", other, np.array([0, 0]), 1, "year")))
    >>> [(each.column, each.distance) for each in found]
    [('ward', 0.5)]
    """
    if child.time is None:
        return ()
    release, found = child.release, []
    for column in release.original.columns:
        if column.kind not in ("category", "boolean", "ordered") or not column.is_used:
            continue
        if release.original.values(column.name).n_unique() > MOST_VALUES:
            continue
        own, released = (
            _shares(table, column.name, person)
            for table, person in ((release.original, child.person), (release.released, child.released_person))
        )
        control = nan
        if release.control is not None and child.control_person is not None:
            control = _distance(own, _shares(release.control, column.name, child.control_person))
        distance = _distance(own, released)
        if not np.isnan(distance):
            found.append(TransitionDistance(column=column.name, distance=distance, control=control))
    return tuple(found)


def _shares(table: "Table", column: str, person: "IntArray") -> "pl.DataFrame":
    """Return the share of each pair of consecutive values of a person."""
    import polars as pl

    values = table.single_values().series(column).cast(pl.String)
    same = pl.Series(person[1:] == person[:-1])
    pairs = pl.DataFrame({"before": values[:-1], "after": values[1:]}).filter(same)
    return pairs.group_by("before", "after").len().with_columns(share=pl.col("len") / max(pairs.height, 1))


def _distance(one: "pl.DataFrame", other: "pl.DataFrame") -> float:
    """Return the total variation distance; NaN where one has no transition."""
    import polars as pl

    if one.is_empty() or other.is_empty():
        return nan
    both = one.join(other, on=["before", "after"], how="full", nulls_equal=True, suffix="_other")
    apart = both.select((pl.col("share").fill_null(0) - pl.col("share_other").fill_null(0)).abs().sort().sum())
    return float(apart.item()) / 2
