"""Microaggregation: groups of at least k similar rows."""

import numpy as np

from unveil._kernels.types import FloatArray, IntArray


def mdav_groups(values: FloatArray, k: int) -> IntArray:
    """Return the MDAV group of each row.

    While at least 3k rows are left: the row farthest from the mean of those left and its k - 1 nearest make a group,
    and so do the row farthest from that one and its k - 1 nearest. With 2k to 3k - 1 left, one group is made around
    the row farthest from the mean, and the others are the last group; with fewer, all are.

    Rows are put in the order of their values first, so that nothing depends on the order they come in; rows at equal
    distance are taken in an order that only depends on the values.

    >>> mdav_groups(np.array([[0.0], [10.0], [1.0], [11.0], [2.0], [12.0]]), 3)
    array([0, 1, 0, 1, 0, 1])
    """
    order = np.lexsort(values.T[::-1]) if values.shape[1] else np.arange(len(values))
    # One line per column: distances then run along memory.
    left = _UngroupedRows(np.ascontiguousarray(values[order].T), order)
    group = np.empty(len(values), np.int64)
    made = 0
    while left.size >= 3 * k:
        from_first = left.distances(left.column(int(left.distances(left.mean).argmax())))
        near = nearest(from_first, k)
        from_first[near] = -1.0
        second = left.column(int(from_first.argmax()))
        group[left.take(near)] = made
        group[left.take(nearest(left.distances(second), k))] = made + 1
        made += 2
    if left.size >= 2 * k:
        first = left.column(int(left.distances(left.mean).argmax()))
        group[left.take(nearest(left.distances(first), k))] = made
        made += 1
    group[left.rows[: left.size]] = made
    return group


class _UngroupedRows:
    """Ungrouped rows at the front of arrays."""

    def __init__(self, values: FloatArray, rows: IntArray) -> None:
        self.values, self.rows, self.size = values, rows.copy(), rows.size
        self.total = values.sum(axis=1)

    @property
    def mean(self) -> FloatArray:
        found: FloatArray = self.total / self.size
        return found

    def column(self, place: int) -> FloatArray:
        return self.values[:, place].copy()

    def distances(self, point: FloatArray) -> FloatArray:
        """Return the squared distance of each row from a point."""
        found, step = np.zeros(self.size), np.empty(self.size)
        for line, middle in zip(self.values, point, strict=True):
            np.subtract(line[: self.size], middle, out=step)
            np.multiply(step, step, out=step)
            found += step
        return found

    def take(self, places: IntArray) -> IntArray:
        """Return the rows at these places, and leave them out from now on."""
        taken = self.rows[places]
        self.total -= self.values[:, places].sum(axis=1)
        end = self.size - places.size
        last = np.arange(end, self.size)
        gaps = np.sort(places[places < end])
        fill = last[~np.isin(last, places)]
        self.rows[gaps] = self.rows[fill]
        self.values[:, gaps] = self.values[:, fill]
        self.size = end
        return taken


def nearest(distance: FloatArray, k: int) -> IntArray:
    """Return the positions of the k smallest distances, first among ties."""
    if distance.size <= k:
        return np.arange(distance.size)
    limit = np.partition(distance, k - 1)[k - 1]
    surely = np.flatnonzero(distance < limit)
    return np.concatenate([surely, np.flatnonzero(distance == limit)[: k - surely.size]])


def best_groups(values: FloatArray, k: int) -> IntArray:
    """Return optimal one-column groups of at least k, by squares.

    Best groups hold neighbours in order and have at most 2k - 1 numbers (Hansen and Mukherjee, 2003): the shortest
    way from cut to cut is found in time proportional to n times k. Which of equally good ways is taken depends on the
    values alone.

    >>> best_groups(np.array([5.0, 1.0, 1.2, 5.2, 1.1, 5.1]), 2)
    array([1, 0, 0, 1, 0, 1])
    """
    n = values.size
    order = np.argsort(values, kind="stable")
    # Around the middle the squares lose the least by rounding.
    ranked = values[order] - values.mean()
    sums, squares = (np.concatenate([[0.0], np.cumsum(part)]) for part in (ranked, ranked**2))
    cost = np.full(n + 1, np.inf)
    cost[0] = 0.0
    before = np.zeros(n + 1, np.int64)
    for end in range(k, n + 1):
        begin = np.arange(max(0, end - 2 * k + 1), end - k + 1)
        total = sums[end] - sums[begin]
        way = cost[begin] + np.maximum(squares[end] - squares[begin] - total * total / (end - begin), 0.0)
        best = int(way.argmin())
        cost[end], before[end] = way[best], begin[best]
    group = np.empty(n, np.int64)
    cuts = [n]
    while cuts[-1]:
        cuts.append(int(before[cuts[-1]]))
    for number, (first, last) in enumerate(zip(cuts[:0:-1], cuts[-2::-1], strict=True)):
        group[order[first:last]] = number
    return group
