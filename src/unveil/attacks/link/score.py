"""Log Bayes factor that two profiles come from one person.

Values are draws from an urn with a concentration (Dirichlet-multinomial), values that nobody has twice link by
exclusion, and numbers are Gaussian within and between people (two-covariance model). The parts are added, weighted, and
tempered: dependent columns say the same thing twice.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.attacks.link._profiles import NumberBlock, Profiles, ValueColumn

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Directions that tell people apart less than this are left out.
_LEAST_RATIO, _MOST_RATIO = 0.02, 0.99
#: Smaller variances than this share of the largest are noise.
_FLOOR = 0.001


@dataclass(frozen=True, eq=False)
class Urn:
    """Values of a person as draws from an urn of their own.

    ``alpha`` is 0 where each person has one value and infinite where people do not differ.
    """

    alpha: float

    def add(self, ones: ValueColumn, others: ValueColumn, owner: IntArray, scores: FloatArray) -> None:
        """Add the scores of all pairs; ``owner`` is the cluster of each column item."""
        table_start, table = self._table(ones, others)
        start, item, count = postings(others)
        totals = np.bincount(owner, weights=others.total, minlength=scores.shape[1]).astype(np.int64)
        size = self._sizes(int(ones.total.max(initial=0)) + int(totals.max(initial=0)))
        _add_values(
            ones.start,
            ones.value,
            ones.repeats,
            ones.total,
            start,
            owner[item],
            count,
            totals,
            table_start,
            table,
            size,
            scores,
        )

    def add_pairs(
        self, ones: ValueColumn, others: ValueColumn, row: IntArray, column: IntArray, scores: FloatArray
    ) -> None:
        """Add the scores of some pairs."""
        table_start, table = self._table(ones, others)
        size = self._sizes(int(ones.total.max(initial=0)) + int(others.total.max(initial=0)))
        one, other = (
            (ones.start, ones.value, ones.repeats, ones.total),
            (others.start, others.value, others.repeats, others.total),
        )
        _add_value_pairs(*one, *other, row, column, table_start, table, size, scores)

    def _table(self, ones: ValueColumn, others: ValueColumn) -> tuple[IntArray, FloatArray]:
        """Return lnΓ(αq + k) for each value and all k that occur."""
        from scipy.special import gammaln

        room = np.zeros(ones.frequency.size, np.int64)
        for each in (ones, others):
            # Merged clusters have sums of counts, so that only their total is a bound.
            room += np.bincount(each.value, weights=each.repeats, minlength=room.size).astype(np.int64)
        start = np.concatenate([[0], np.cumsum(room + 1)])
        place = np.arange(start[-1]) - np.repeat(start[:-1], room + 1)
        return start, gammaln(self.alpha * np.repeat(ones.frequency, room + 1) + place)

    def _sizes(self, largest: int) -> FloatArray:
        from scipy.special import gammaln

        sizes: FloatArray = gammaln(self.alpha + np.arange(largest + 1))
        return sizes


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Values that a person never has twice: what two profiles fail to share.

    ``rate`` is each value's rate per record, ``error`` the share of pairs that repeat all the same.
    """

    rate: FloatArray
    error: float

    def add(self, ones: ValueColumn, others: ValueColumn, owner: IntArray, scores: FloatArray) -> None:
        """Add the scores of all pairs; ``owner`` is the cluster of each column item."""
        if others.start.size - 1 != scores.shape[1] or (owner != np.arange(owner.size)).any():
            others = others.merged(owner, scores.shape[1])
        left, right = _sparse(ones), _sparse(others)
        expected = (self._expected(ones, others.total) + self._expected(others, ones.total).T) / 2
        scores += (1 - self.error) * expected
        scores += np.log(self.error) * (left @ right.T).toarray()

    def add_pairs(
        self, ones: ValueColumn, others: ValueColumn, row: IntArray, column: IntArray, scores: FloatArray
    ) -> None:
        """Add the scores of some pairs."""
        for first in range(0, row.size, 4096):
            some = slice(first, first + 4096)
            left, right = ones.take(row[some]), others.take(column[some])
            one, other = _sparse(left), _sparse(right)
            for lone, total in ((one, right.total), (other, left.total)):
                weights = lone.copy()
                size = np.repeat(total, np.diff(lone.indptr))
                weights.data = -np.expm1(-self.rate[lone.indices] * size)
                scores[some] += (1 - self.error) / 2 * np.asarray(weights.sum(axis=1)).ravel()
            scores[some] += np.log(self.error) * np.asarray(one.multiply(other).sum(axis=1)).ravel()

    def _expected(self, ones: ValueColumn, total: IntArray) -> FloatArray:
        """Return the number of shared values expected of two people."""
        size, place = np.unique(total, return_inverse=True)
        rate, code = np.unique(self.rate, return_inverse=True)  # values of as many items have the same rate
        chance = -np.expm1(-rate[:, None] * size)
        left = _sparse(ones._replace(value=code[ones.value].astype(np.int32), frequency=rate))
        expected: FloatArray = np.asarray(left @ chance)[:, place]
        return expected


@dataclass(frozen=True, eq=False)
class TwoCovariance:
    """Numbers as a person's mean plus noise, in directions that are independent.

    ``ratio`` is the share of each direction's variance that lies between people.
    """

    transform: FloatArray
    ratio: FloatArray

    @classmethod
    def of(cls, between: FloatArray, total: FloatArray) -> "TwoCovariance":
        """Return the model with this covariance between people, and in total."""
        scale, axes = np.linalg.eigh((total + total.T) / 2)
        whiten = axes / np.sqrt(np.maximum(scale, max(_FLOOR * scale[-1], 1e-12)))
        ratio, turn = np.linalg.eigh(whiten.T @ (between + between.T) @ whiten / 2)
        kept = ratio >= _LEAST_RATIO
        return cls((whiten @ turn)[:, kept], np.minimum(ratio[kept], _MOST_RATIO))

    def add(self, ones: NumberBlock, others: NumberBlock, owner: IntArray, scores: FloatArray) -> None:
        """Add the scores of all pairs; ``owner`` is the cluster of each column item."""
        if others.records.size != scores.shape[1] or (owner != np.arange(owner.size)).any():
            others = others.merged(owner, scores.shape[1])
        if self.ratio.size:
            size, code = np.unique(others.records, return_inverse=True)
            x, y = ones.means @ self.transform, others.means @ self.transform
            _add_numbers(x, ones.records, y, size, code, self.ratio, scores)

    def add_pairs(
        self, ones: NumberBlock, others: NumberBlock, row: IntArray, column: IntArray, scores: FloatArray
    ) -> None:
        """Add the scores of some pairs."""
        if self.ratio.size:
            x, y = ones.means @ self.transform, others.means @ self.transform
            _add_number_pairs(x, ones.records, y, others.records, row, column, self.ratio, scores)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreModel:
    """The models of all parts, their weights, and the temperature.

    Attributes
    ----------
    values, numbers
        A model for each value column and each block of numbers of the profiles.
    temperature
        The factor on the sum of all parts, at most 1.
    weights
        A factor on each part; None for 1.
    """

    values: tuple[Urn | Exclusion, ...]
    numbers: tuple[TwoCovariance, ...]
    temperature: float = 1.0
    weights: FloatArray | None = field(default=None, repr=False)

    @cached_property
    def parts(self) -> tuple[Urn | Exclusion | TwoCovariance, ...]:
        """All models, in the order of the profiles' names."""
        return (*self.values, *self.numbers)

    def scores(self, ones: Profiles, others: Profiles, *, owner: IntArray | None = None) -> FloatArray:
        """Return the tempered scores of all pairs.

        With ``owner`` the column items are joined to clusters, and a column is the score with a cluster.
        """
        return (
            self.weighted(self.each(ones, others, owner=owner))
            if self.weights is not None
            else (self.temperature * self._sum(ones, others, owner))
        )

    def each(self, ones: Profiles, others: Profiles, *, owner: IntArray | None = None) -> list[FloatArray]:
        """Return the untempered scores of all pairs by part."""
        owner, clusters = _owner(owner, others.items)
        found = []
        for model, one, other in self._paired(ones, others):
            found.append(np.zeros((ones.items, clusters)))
            model.add(one, other, owner, found[-1])  # type: ignore[arg-type]
        return found

    def weighted(self, parts: list[FloatArray]) -> FloatArray:
        """Return the tempered and weighted sum of parts."""
        weights = np.ones(len(parts)) if self.weights is None else self.weights
        total = np.zeros_like(parts[0])
        for weight, part in zip(weights, parts, strict=True):
            total += self.temperature * weight * part
        return total

    def pair_scores(self, ones: Profiles, others: Profiles, row: IntArray, column: IntArray) -> FloatArray:
        """Return the tempered scores of some pairs."""
        total = np.zeros(row.size)
        weights = np.ones(len(self.parts)) if self.weights is None else self.weights
        for weight, (model, one, other) in zip(weights, self._paired(ones, others), strict=True):
            part = np.zeros(row.size)
            model.add_pairs(one, other, row, column, part)  # type: ignore[arg-type]
            total += weight * part
        return self.temperature * total

    def _sum(self, ones: Profiles, others: Profiles, owner: IntArray | None) -> FloatArray:
        owner, clusters = _owner(owner, others.items)
        total = np.zeros((ones.items, clusters))
        for model, one, other in self._paired(ones, others):
            model.add(one, other, owner, total)  # type: ignore[arg-type]
        return total

    def _paired(
        self, ones: Profiles, others: Profiles
    ) -> "list[tuple[Urn | Exclusion | TwoCovariance, ValueColumn | NumberBlock, ValueColumn | NumberBlock]]":
        return list(zip(self.parts, (*ones.values, *ones.numbers), (*others.values, *others.numbers), strict=True))


class Tempering(NamedTuple):
    """Scores of pairs that are known to be of two people."""

    scores: FloatArray

    def temperature(self) -> float:
        """Return the largest factor with a mean Bayes factor of at most 1.

        >>> Tempering(np.log(np.array([2.0, 0.5, 0.5]))).temperature()
        1.0
        >>> bool(0.4 < Tempering(2 * np.log(np.array([1.5, 0.5]))).temperature() < 0.6)
        True
        """
        from scipy.special import logsumexp

        def excess(factor: float) -> float:
            return float(logsumexp(factor * self.scores)) - float(np.log(self.scores.size))

        if self.scores.size == 0 or excess(1.0) <= 1e-12:
            return 1.0
        # The logarithm is convex and 0 at 0: below the largest root it is negative, above it positive.
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) <= 0 else (low, middle)
        return max(low, 1e-3)


def _owner(owner: IntArray | None, items: int) -> tuple[IntArray, int]:
    return (np.arange(items), items) if owner is None else (owner, int(owner.max()) + 1)


def postings(column: ValueColumn) -> tuple[IntArray, IntArray, Int32Array]:
    """Return the items that have each value, and how often."""
    order = np.argsort(column.value, kind="stable")
    item = np.repeat(np.arange(column.start.size - 1), np.diff(column.start))[order]
    start = np.searchsorted(column.value[order], np.arange(column.frequency.size + 1))
    return start, item, column.repeats[order]


def _sparse(column: ValueColumn) -> "csr_array":
    from scipy.sparse import csr_array

    shape = (column.start.size - 1, column.frequency.size)
    return csr_array((np.ones(column.value.size), column.value, column.start), shape=shape)


_COUNTS = "i8[], i4[], i4[], i8[]"


@kernel(f"{_COUNTS}, i8[], i8[], i4[], i8[], i8[], f8[], f8[], f8[,]", cost=20)
def _add_values(
    start: IntArray,
    value: Int32Array,
    count: Int32Array,
    total: IntArray,
    posting: IntArray,
    owner: IntArray,
    other_count: Int32Array,
    other_total: IntArray,
    table_start: IntArray,
    table: FloatArray,
    size: FloatArray,
    scores: FloatArray,
) -> None:
    """Add the log ratio of urns for all pairs, by the shared values alone."""
    clusters = other_total.size
    here = np.zeros(clusters, np.int64)
    touched = np.zeros(clusters, np.int64)
    for one in range(start.size - 1):
        if total[one] == 0:
            continue
        for other in range(clusters):
            if other_total[other] > 0:
                both = total[one] + other_total[other]
                scores[one, other] -= size[both] - size[total[one]] - size[other_total[other]] + size[0]
        for k in range(start[one], start[one + 1]):
            v, x = value[k], count[k]
            at = table_start[v]
            used = 0
            for j in range(posting[v], posting[v + 1]):
                cluster = owner[j]
                if here[cluster] == 0:
                    touched[used] = cluster
                    used += 1
                here[cluster] += other_count[j]
            base = table[at] - table[at + x]
            for j in range(used):
                cluster = touched[j]
                y = here[cluster]
                scores[one, cluster] += table[at + x + y] - table[at + y] + base
                here[cluster] = 0


@kernel(f"{_COUNTS}, {_COUNTS}, i8[], i8[], i8[], f8[], f8[], f8[]", cost=20)
def _add_value_pairs(
    start: IntArray,
    value: Int32Array,
    count: Int32Array,
    total: IntArray,
    other_start: IntArray,
    other_value: Int32Array,
    other_count: Int32Array,
    other_total: IntArray,
    row: IntArray,
    column: IntArray,
    table_start: IntArray,
    table: FloatArray,
    size: FloatArray,
    scores: FloatArray,
) -> None:
    """Add the log ratio of urns for some pairs; values ascend within items."""
    for pair in range(row.size):
        one, other = row[pair], column[pair]
        if total[one] == 0 or other_total[other] == 0:
            continue
        both = total[one] + other_total[other]
        score = size[total[one]] + size[other_total[other]] - size[both] - size[0]
        k, j = start[one], other_start[other]
        while k < start[one + 1] and j < other_start[other + 1]:
            if value[k] < other_value[j]:
                k += 1
            elif value[k] > other_value[j]:
                j += 1
            else:
                at, x, y = table_start[value[k]], count[k], other_count[j]
                score += table[at + x + y] - table[at + x] - table[at + y] + table[at]
                k += 1
                j += 1
        scores[pair] += score


def _coefficients(ratio: float, n: int, m: int) -> tuple[float, float, float, float]:
    """Return the score of two means in one direction: constant, x², y² and xy."""
    one, other = ratio + (1 - ratio) / n, ratio + (1 - ratio) / m
    spread = one * other - ratio * ratio
    constant = -0.5 * (np.log(spread) - np.log(one) - np.log(other))
    return constant, -0.5 * (other / spread - 1 / one), -0.5 * (one / spread - 1 / other), ratio / spread


@kernel("f8[,], i8[], f8[,], i8[], i8[], f8[], f8[,]", cost=20)
def _add_numbers(
    x: FloatArray,
    records: IntArray,
    y: FloatArray,
    size: IntArray,
    code: IntArray,
    ratio: FloatArray,
    scores: FloatArray,
) -> None:
    """Add the log ratio of two means for all pairs; ``size[code]`` is a column's number of records."""
    directions = ratio.size
    factor = np.zeros((size.size, directions, 4))
    last = 0
    for one in range(records.size):
        n = records[one]
        if n == 0:
            continue
        if n != last:
            for code_of_size in range(size.size):
                if size[code_of_size] > 0:
                    for j in range(directions):
                        constant, xx, yy, xy = _coefficients(ratio[j], n, size[code_of_size])
                        factor[code_of_size, j, 0] = constant
                        factor[code_of_size, j, 1] = xx
                        factor[code_of_size, j, 2] = yy
                        factor[code_of_size, j, 3] = xy
            last = n
        for other in range(code.size):
            c = code[other]
            if size[c] > 0:
                score = 0.0
                for j in range(directions):
                    a, b = x[one, j], y[other, j]
                    score += factor[c, j, 0] + factor[c, j, 1] * a * a + (factor[c, j, 2] * b + factor[c, j, 3] * a) * b
                scores[one, other] += score


@kernel("f8[,], i8[], f8[,], i8[], i8[], i8[], f8[], f8[]", cost=20)
def _add_number_pairs(
    x: FloatArray,
    records: IntArray,
    y: FloatArray,
    other_records: IntArray,
    row: IntArray,
    column: IntArray,
    ratio: FloatArray,
    scores: FloatArray,
) -> None:
    """Add the log ratio of two means for some pairs."""
    for pair in range(row.size):
        one, other = row[pair], column[pair]
        if records[one] > 0 and other_records[other] > 0:
            for j in range(ratio.size):
                constant, xx, yy, xy = _coefficients(ratio[j], records[one], other_records[other])
                a, b = x[one, j], y[other, j]
                scores[pair] += constant + xx * a * a + yy * b * b + xy * a * b
