"""Profiles of items: counts of values and sums of normal scores."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.data.histories import ReleasedHistory

#: Columns that this share of items lacks are scored alone.
_MISSING = 0.2
#: Above this share of repeated pairs within items, exact numbers are compared as values too.
_REPEATED = 0.05


class ValueColumn(NamedTuple):
    """Counts of values by item, and the frequencies of values.

    Item ``i`` has ``repeats[k]`` records with ``value[k]`` for ``k`` from ``start[i]`` to ``start[i + 1] - 1``.
    """

    name: str
    start: IntArray
    value: Int32Array
    repeats: Int32Array
    frequency: FloatArray

    @property
    def total(self) -> IntArray:
        """Number of records of each item that have a value."""
        return np.diff(np.concatenate([[0], np.cumsum(self.repeats)])[self.start])

    def take(self, items: IntArray) -> "ValueColumn":
        """Return the counts of some items, in this order."""
        length = np.diff(self.start)[items]
        start = np.concatenate([[0], np.cumsum(length)])
        entry = np.repeat(self.start[items] - start[:-1], length) + np.arange(start[-1])
        return self._replace(start=start, value=self.value[entry], repeats=self.repeats[entry])

    def merged(self, label: IntArray, groups: int) -> "ValueColumn":
        """Return the counts of groups of items; ``label`` is the group of each item."""
        owner = np.repeat(label, np.diff(self.start))
        return counted(self.name, owner, self.value, groups, self.frequency, self.repeats)


def counted(
    name: str,
    item: IntArray,
    value: Int32Array,
    items: int,
    frequency: FloatArray,
    repeats: Int32Array | None = None,
) -> ValueColumn:
    """Return the column of counts of (item, value) pairs."""
    key = item.astype(np.int64) * frequency.size + value
    pair, place = np.unique(key, return_inverse=True)
    number = np.bincount(place, weights=repeats, minlength=pair.size).astype(np.int32)
    start = np.searchsorted(pair, np.arange(items + 1) * frequency.size)
    return ValueColumn(name, start, (pair % frequency.size).astype(np.int32), number, frequency)


class NumberBlock(NamedTuple):
    """Sums of normal scores of correlated numbers, and records per item.

    ``scatter`` is the covariance of records within items, None where too few items have three records.
    """

    name: str
    columns: tuple[str, ...]
    sums: FloatArray
    records: IntArray
    scatter: FloatArray | None

    @property
    def means(self) -> FloatArray:
        """Mean of each item; 0 where it has no record."""
        means: FloatArray = self.sums / np.maximum(self.records, 1)[:, None]
        return means

    def take(self, items: IntArray) -> "NumberBlock":
        """Return the sums of some items, in this order."""
        return self._replace(sums=self.sums[items], records=self.records[items])

    def merged(self, label: IntArray, groups: int) -> "NumberBlock":
        """Return the sums of groups of items; ``label`` is the group of each item."""
        sums = np.zeros((groups, self.sums.shape[1]))
        np.add.at(sums, label, self.sums)
        records = np.bincount(label, weights=self.records, minlength=groups).astype(np.int64)
        return self._replace(sums=sums, records=records)


@dataclass(frozen=True, kw_only=True, eq=False)
class Profiles:
    """What an attacker knows of each item: values, and numbers."""

    values: tuple[ValueColumn, ...]
    numbers: tuple[NumberBlock, ...]
    items: int

    @property
    def names(self) -> tuple[str, ...]:
        """The scored parts, in the order of their scores."""
        return (*(each.name for each in self.values), *(each.name for each in self.numbers))

    def take(self, items: IntArray) -> "Profiles":
        """Return the profiles of some items, in this order."""
        return replace(
            self,
            values=tuple(each.take(items) for each in self.values),
            numbers=tuple(each.take(items) for each in self.numbers),
            items=items.size,
        )

    def merged(self, label: IntArray) -> "Profiles":
        """Return the profiles of clusters: counts and sums of their items."""
        groups = int(label.max()) + 1
        return replace(
            self,
            values=tuple(each.merged(label, groups) for each in self.values),
            numbers=tuple(each.merged(label, groups) for each in self.numbers),
            items=groups,
        )


def profiles_of(released: ReleasedHistory, *, activity: bool = True, exact: bool = True) -> Profiles:
    """Return the profiles of all items of a release.

    Numbers become normal scores within their period, so that what all people share goes away. Numbers that repeat
    exactly within items are compared as values too, if ``exact``. With ``activity`` the number of records is a number
    of its own.
    """
    values: list[ValueColumn] = []
    numbers: list[tuple[str, FloatArray]] = []
    for column in released.columns:
        if column.codes is not None:
            values.append(_values(column.name, column.codes, released))
        if column.numbers is not None:
            numbers.append((column.name, column.numbers))
            repeated = _exact_values(column.name, column.numbers, released) if exact else None
            if repeated is not None:
                values.append(repeated)
    blocks = _blocks(numbers, released)
    if activity and released.sizes.max() > 1:
        scores = normal_scores(np.log(released.sizes), released.period)
        blocks.append(NumberBlock("records", ("records",), scores[:, None], np.ones(released.items, np.int64), None))
    return Profiles(values=tuple(values), numbers=tuple(blocks), items=released.items)


def normal_scores(numbers: FloatArray, group: IntArray) -> FloatArray:
    """Return normal scores of mid-ranks within groups; NaN stays.

    >>> normal_scores(np.array([10.0, 30, 30, 10]), np.array([0, 0, 1, 1])).round(3)
    array([-0.674,  0.674,  0.674, -0.674])
    """
    from scipy.special import ndtri

    seen = np.flatnonzero(~np.isnan(numbers))
    value = np.unique(numbers[seen], return_inverse=True)[1]
    width = int(value.max(initial=0)) + 1
    key, place, ties = np.unique(group[seen] * width + value, return_inverse=True, return_counts=True)
    of_key = key // width
    below = np.cumsum(ties) - ties
    first = np.searchsorted(of_key, of_key)
    size = np.bincount(group[seen])[of_key]
    result = np.full(numbers.size, np.nan)
    result[seen] = ndtri((below - below[first] + ties / 2) / size)[place]
    return result


def _values(name: str, codes: Int32Array, released: ReleasedHistory) -> ValueColumn:
    seen = codes >= 0
    frequency = np.bincount(codes[seen]) / seen.sum()
    return counted(name, released.item[seen], codes[seen], released.items, frequency)


def _exact_values(name: str, numbers: FloatArray, released: ReleasedHistory) -> ValueColumn | None:
    """Return exact numbers as values, if enough pairs within items repeat."""
    seen = ~np.isnan(numbers)
    codes = np.full(seen.size, -1, np.int32)
    codes[seen] = np.unique(numbers[seen], return_inverse=True)[1]
    found = _values(f"{name} (exact)", codes, released)
    pairs = found.total * (found.total - 1)
    repeated = found.repeats.astype(np.int64) * (found.repeats - 1)
    return found if pairs.sum() > 0 and repeated.sum() > _REPEATED * pairs.sum() else None


class _NumberPart(NamedTuple):
    """A number's normal scores, which records have one, and how many each item has."""

    name: str
    score: FloatArray
    seen: BoolArray
    here: IntArray


def _blocks(columns: list[tuple[str, FloatArray]], released: ReleasedHistory) -> list[NumberBlock]:
    """Return the numbers together, and those that many items lack alone."""
    together: list[_NumberPart] = []
    alone: list[_NumberPart] = []
    of_record = released.period[released.item]
    for name, numbers in columns:
        scores = normal_scores(numbers, of_record)
        seen = ~np.isnan(scores)
        here = np.bincount(released.item[seen], minlength=released.items)
        part = _NumberPart(name, np.where(seen, scores, 0.0), seen, here)
        (alone if (here == 0).mean() >= _MISSING else together).append(part)
    blocks = []
    if together:
        # A missing number has the mean of its item, and without any the mean of all.
        size = released.sizes
        scores = np.column_stack([_filled(part, released.item) for part in together])
        names = tuple(part.name for part in together)
        blocks.append(_block("numbers" if len(names) > 1 else names[0], names, scores, released.item, size))
    for name, score, seen, here in alone:
        blocks.append(_block(name, (name,), score[seen][:, None], released.item[seen], here))
    return blocks


def _filled(part: _NumberPart, item: IntArray) -> FloatArray:
    mean = np.bincount(item, weights=part.score, minlength=part.here.size) / np.maximum(part.here, 1)
    return np.where(part.seen, part.score, mean[item])


def _block(name: str, columns: tuple[str, ...], scores: FloatArray, item: IntArray, records: IntArray) -> NumberBlock:
    sums = np.zeros((records.size, scores.shape[1]))
    np.add.at(sums, item, scores)
    if np.median(records[records > 0]) < 3:  # too few to tell the spread within items: each mean is one record
        sums = sums / np.maximum(records, 1)[:, None]
        return NumberBlock(name, columns, sums, np.minimum(records, 1), None)
    rest = scores - (sums / np.maximum(records, 1)[:, None])[item]
    scatter = rest.T @ rest / max(1, int((records[records > 0] - 1).sum()))
    return NumberBlock(name, columns, sums, records, scatter)
