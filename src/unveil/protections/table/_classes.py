"""Released cells of a class of rows, for any column type."""

from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.table import Table
from unveil.data.table.cells import texts_of
from unveil.protections.table._levels import levels
from unveil.protections.table._numbers import group_means, numbers_of

if TYPE_CHECKING:
    import polars as pl


BETWEEN, ANYTHING = " | ", "*"


def shown_by_class(original: Table, name: str, group: IntArray, *, cells: bool = False) -> "pl.Series":
    """Return a column with one cell per class of rows.

    A number shows the mean of the values of its class, a date likewise, an ordered value the (lower) median, a
    category or text all different ones with a bar between them, a boolean itself if all are the same and else a
    missing value, because it could be either. Missing values of the class are passed over; a class without any
    value has a missing one.

    With ``cells`` it shows which values its members have: ``[30, 34]`` from the least to the greatest number or date,
    the different levels, categories or truth values with a bar between them, and ``*`` where some have a value and some
    none.

    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 34, 50], "town": ["Ulm", "Bonn", "Ulm"]}))
    >>> [shown_by_class(people, name, np.array([0, 0, 1])).to_list() for name in ("age", "town")]
    [[32.0, 32.0, 50.0], ['Bonn | Ulm', 'Bonn | Ulm', 'Ulm']]
    """
    kind = original.column(name).kind
    values = original.series(name)
    if cells:
        return _cells(original, name, group)
    if kind == "number":
        numbers = numbers_of(original, [name])
        return numbers.series(0, group_means(numbers.values[:, 0], group))
    if kind == "date":
        return _mean_moment(values, group)
    found = levels(original, name)
    there = np.flatnonzero(found.level >= 0)
    # One entry for each row that has a value, by class and then in the order of the values.
    entry = there[np.lexsort((found.level[there], group[there]))]
    if kind == "ordered":
        return _median(values, group, entry)
    return _sets(values, group, found.level, found.row, entry, is_boolean=kind == "boolean")


def _cells(original: Table, name: str, group: IntArray) -> "pl.Series":
    """Return the smallest cells that hold each class's values."""
    import polars as pl

    values, found = original.series(name), levels(original, name)
    texts = texts_of(values.alias("values").gather(pl.Series(found.row))).to_list()
    pairs = np.unique(np.column_stack([group, found.level]), axis=0)
    between = original.column(name).kind in ("number", "date") or values.dtype.is_numeric()
    label: list[str | None] = [None] * (int(group.max(initial=-1)) + 1)
    for part in np.split(pairs, np.flatnonzero(np.diff(pairs[:, 0])) + 1):
        held = [texts[level] for level in part[:, 1].tolist() if level >= 0]
        if held and part[0, 1] < 0:
            label[part[0, 0]] = ANYTHING
        elif len(held) > 1:
            label[part[0, 0]] = f"[{held[0]}, {held[-1]}]" if between else BETWEEN.join(held)
        elif held:
            label[part[0, 0]] = held[0]
    return pl.Series(label, dtype=pl.String).gather(pl.Series(group)).alias(values.name)


def _mean_moment(values: "pl.Series", group: IntArray) -> "pl.Series":
    """Return the mean moment of each class, to the microsecond."""
    import polars as pl

    mean = pl.DataFrame({"moment": values, "group": group}).select(
        # From the least on, because a sum of many moments may not fit.
        pl.col("moment").min().over("group")
        + (pl.col("moment") - pl.col("moment").min().over("group")).mean().over("group")
    )
    return mean.to_series().cast(values.dtype).alias(values.name)


def _median(values: "pl.Series", group: IntArray, entry: IntArray) -> "pl.Series":
    classes, start, size = np.unique(group[entry], return_index=True, return_counts=True)
    row = np.full(int(group.max(initial=-1)) + 1, -1)
    row[classes] = entry[start + (size - 1) // 2]
    return _gathered(values, row[group])


def _sets(
    values: "pl.Series", group: IntArray, level: IntArray, row_of: IntArray, entry: IntArray, *, is_boolean: bool
) -> "pl.Series":
    import polars as pl

    pairs = np.unique(np.column_stack([group[entry], level[entry]]), axis=0)
    classes, start, size = np.unique(pairs[:, 0], return_index=True, return_counts=True)
    alone = np.full(int(group.max(initial=-1)) + 1, -1)
    alone[classes[size == 1]] = row_of[pairs[start[size == 1], 1]]
    shown = _gathered(values, alone[group])
    if is_boolean or not (size > 1).any():
        return shown
    words = values.cast(pl.String).gather(pl.Series(row_of)).to_list()
    label: list[str | None] = [None] * alone.size
    for number, begin, count in zip(classes.tolist(), start.tolist(), size.tolist(), strict=True):
        if count > 1:
            label[number] = BETWEEN.join(words[each] for each in pairs[begin : begin + count, 1].tolist())
    sets = pl.Series(label, dtype=pl.String).gather(pl.Series(group))
    return sets.zip_with(sets.is_not_null(), shown).alias(values.name)


def _gathered(values: "pl.Series", row: IntArray) -> "pl.Series":
    """Return the values at some rows, missing for row -1."""
    import polars as pl

    index = pl.Series(row)
    # Renamed for a moment, because polars would read a name such as "^a.*$" as a pattern of names.
    return values.alias("values").gather(index.set(index < 0, None)).alias(values.name)
