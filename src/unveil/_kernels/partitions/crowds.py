"""Numbers of other subjects in the merged clusters, after each merge."""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.types import FloatArray, Int32Array, IntArray


def by_column(column: Int32Array, columns: int) -> tuple[IntArray, IntArray]:
    """Return the cells by column, with column starts.

    >>> by_column(np.array([0, 1, 0], np.int32), 2)
    (array([0, 2, 3]), array([0, 2, 1]))
    """
    start = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=columns))])
    return start, np.argsort(column, kind="stable")


@kernel("i8[], i8[], i4[], i8[], i8[], i8[], i4[], i8[], i8", cost=64)
def crowd_gains(
    start: IntArray,
    order: IntArray,
    column: Int32Array,
    own: IntArray,
    foreign: IntArray,
    column_start: IntArray,
    subject_in_column: Int32Array,
    items_in_column: IntArray,
    subjects: int,
) -> tuple[FloatArray, FloatArray]:
    """Return the subjects added by each merge, and effective numbers.

    The effective number is 2 to the entropy of the foreign items by subject: the number of others if all have equally
    many items there, less if few have most. It may fall when one joins with many. Cells of a row with equal ``own`` and
    ``foreign`` tie: their gains are means over all their orders (see :func:`tied_means`), by place and not by cell.
    """
    gain, effective_gain = np.zeros(order.size), np.zeros(order.size)
    columns = Columns(column_start, subject_in_column, items_in_column)
    crowd = Crowd(np.zeros(subjects, np.int64), np.empty(subjects, np.int64), np.zeros(subjects, np.int64), np.zeros(3))
    for subject in range(subjects):
        crowd.seen_in[subject] = -1
    # Means are rounded to multiples of this, so that sums of gains are exact.
    unit = 2.0 ** (np.ceil(np.log2(subjects)) - 52)
    for r in range(start.size - 1):
        for part in range(crowd.state.size):
            crowd.state[part] = 0.0
        number, even, first = 0.0, 0.0, start[r]
        while first < start[r + 1]:
            end = first + 1
            while end < start[r + 1] and _tie(order[first], order[end], own, foreign):
                end += 1
            if end > first + 1:
                tied = np.empty(end - first, np.int64)
                for k in range(first, end):
                    tied[k - first] = column[order[k]]
                numbers, evens = tied_means(columns, tied, r, crowd)
                for k in range(first, end - 1):
                    mean = np.rint(numbers[k - first] / unit) * unit
                    gain[order[k]], effective_gain[order[k]] = mean - number, evens[k - first] - even
                    number, even = mean, evens[k - first]
            for k in range(first, end):
                join(columns, column[order[k]], r, crowd, 1)
            now = effective(crowd)
            gain[order[end - 1]], effective_gain[order[end - 1]] = crowd.state[OTHERS] - number, now - even
            number, even, first = crowd.state[OTHERS], now, end
    return gain, effective_gain


def _tie(one: int, other: int, own: IntArray, foreign: IntArray) -> bool:
    return bool(own[one] == own[other] and foreign[one] == foreign[other])


# Average the other subjects over all orders of clusters that tie: helpers of a compiled loop.

#: Up to this many tied clusters every set of them is looked at; beyond, entropies are averaged.
ENUMERATED = 8
# Smaller chances are dropped: even a million of them change no digit.
_NO_CHANCE = 1e-24

# Where the state of a merged cluster has what: its foreign items, their sum of bits, and the number of others.
_ITEMS, _BITS, OTHERS = range(3)


class Columns(NamedTuple):
    """Table cells by column: starts, subjects, and items."""

    start: IntArray
    subject: Int32Array
    items: IntArray


class Crowd(NamedTuple):
    """State of merged subjects: items, last row, and sums."""

    held: IntArray
    seen_in: IntArray
    times: IntArray
    state: FloatArray


class SharedClusters(NamedTuple):
    """Subjects in some clusters, and their items in each."""

    who: IntArray
    begin: IntArray
    items: IntArray


def bits_of(items: float) -> float:
    """Return ``items * log2(items)``, which is 0 for none."""
    return items * np.log2(items) if items > 1 else 0.0


def effective(crowd: Crowd) -> float:
    """Return 2 to the entropy of included items by subject."""
    others, items = crowd.state[OTHERS], crowd.state[_ITEMS]
    if others == 0:
        return 0.0
    return float(min(others, max(1.0, 2.0 ** (np.log2(items) - crowd.state[_BITS] / items))))


def join(columns: Columns, cluster: int, row: int, crowd: Crowd, sign: int) -> None:
    """Add or remove (``sign`` -1) the subjects of a cluster."""
    held, state = crowd.held, crowd.state
    subject = row % held.size
    for place in range(columns.start[cluster], columns.start[cluster + 1]):
        other = columns.subject[place]
        if other == subject:
            continue
        if crowd.seen_in[other] != row:
            crowd.seen_in[other] = row
            held[other] = 0
        before = held[other]
        after = before + sign * columns.items[place]
        held[other] = after
        state[_ITEMS] += sign * columns.items[place]
        if before > 1:
            state[_BITS] -= before * np.log2(before)
        if after > 1:
            state[_BITS] += after * np.log2(after)
        state[OTHERS] += int(before == 0) - int(after == 0)


def tied_means(columns: Columns, tied: IntArray, row: int, crowd: Crowd) -> tuple[FloatArray, FloatArray]:
    """Return mean subject numbers after each tied merge, over all orders.

    Both are exact up to 8 tied clusters. Beyond, the number still is, and so is the effective number after the first
    cluster; after others it is 2 to the mean entropy, a few percent below the mean, which has no closed form.
    """
    if tied.size <= ENUMERATED:
        return _over_all_sets(columns, tied, row, crowd)
    number, even = _over_entropies(columns, tied, row, crowd)
    items, bits, others = crowd.state[_ITEMS], crowd.state[_BITS], crowd.state[OTHERS]
    even[0] = 0.0
    for k in range(tied.size):
        join(columns, tied[k], row, crowd, 1)
        even[0] += effective(crowd) / tied.size
        join(columns, tied[k], row, crowd, -1)
        crowd.state[_ITEMS], crowd.state[_BITS], crowd.state[OTHERS] = items, bits, others
    return number, even


def _over_all_sets(columns: Columns, tied: IntArray, row: int, crowd: Crowd) -> tuple[FloatArray, FloatArray]:
    """Visit every cluster set in Gray code order."""
    many = tied.size
    number, even, sets = np.zeros(many), np.zeros(many), np.zeros(many)
    items, bits, others = crowd.state[_ITEMS], crowd.state[_BITS], crowd.state[OTHERS]
    inside, size = np.zeros(many, np.int64), 0
    for step in range(1, 2**many):
        k = 0
        while (step >> k) % 2 == 0:
            k += 1
        sign = 1 - 2 * inside[k]
        join(columns, tied[k], row, crowd, sign)
        inside[k] += sign
        size += sign
        number[size - 1] += crowd.state[OTHERS]
        even[size - 1] += effective(crowd)
        sets[size - 1] += 1
    join(columns, tied[many - 1], row, crowd, -1)  # the code ends with the last cluster alone
    crowd.state[_ITEMS], crowd.state[_BITS], crowd.state[OTHERS] = items, bits, others
    for j in range(many):
        number[j] /= sets[j]
        even[j] /= sets[j]
    return number, even


def _over_entropies(columns: Columns, tied: IntArray, row: int, crowd: Crowd) -> tuple[FloatArray, FloatArray]:
    shared, sizes = _share(columns, tied, row, crowd)
    many, most, foreign = tied.size, 0, crowd.state[_ITEMS]
    for s in range(shared.who.size):
        most = max(most, shared.begin[s + 1] - shared.begin[s])
    number, even, total, empty = np.zeros(many), np.zeros(many), np.zeros(many + 1), 0
    for j in range(many):
        number[j], even[j] = crowd.state[OTHERS], crowd.state[_BITS]
        empty += int(sizes[j] == 0)
    ordered, first = _by_clusters(shared.begin, most)
    for k in range(1, most + 1):
        if first[k] == first[k + 1]:
            continue
        mean, fresh = np.zeros(k + 1), 0
        for at in range(first[k], first[k + 1]):
            s = ordered[at]
            fresh += int(crowd.held[shared.who[s]] == 0)
            _add_bits(mean, float(crowd.held[shared.who[s]]), shared.items[shared.begin[s] : shared.begin[s + 1]])
        _add_drawn(number, even, mean, fresh)
    _add_bits(total, foreign, sizes)
    without, each = 1.0, sizes.sum() / many
    for j in range(many):
        # The chance that no cluster so far has foreign items.
        without = without * max(0, empty - j) / (many - j) if foreign == 0 else 0.0
        expected, bits = foreign + (j + 1) * each, even[j]
        even[j] = 0.0
        if expected > 0:
            even[j] = min(number[j], (1 - without) * max(1.0, 2.0 ** ((total[j + 1] - bits) / expected)))
    return number, even


def _share(columns: Columns, tied: IntArray, row: int, crowd: Crowd) -> tuple[SharedClusters, IntArray]:
    """Return the subjects in tied columns, and included items by column."""
    most, subject, sizes, times = 0, row % crowd.held.size, np.zeros(tied.size, np.int64), crowd.times
    for k in range(tied.size):
        most += columns.start[tied[k] + 1] - columns.start[tied[k]] - 1
    who, items, distinct = np.empty(most, np.int64), np.empty(most, np.int64), 0
    for k in range(tied.size):
        for place in range(columns.start[tied[k]], columns.start[tied[k] + 1]):
            other = columns.subject[place]
            if other == subject:
                continue
            if crowd.seen_in[other] != row:
                crowd.seen_in[other] = row
                crowd.held[other] = 0
            if times[other] == 0:
                who[distinct] = other
                distinct += 1
            times[other] += 1
            sizes[k] += columns.items[place]
    begin = np.zeros(distinct + 1, np.int64)
    for s in range(distinct):
        begin[s + 1] = begin[s] + times[who[s]]
        times[who[s]] = begin[s]
    for k in range(tied.size):
        for place in range(columns.start[tied[k]], columns.start[tied[k] + 1]):
            other = columns.subject[place]
            if other != subject:
                items[times[other]] = columns.items[place]
                times[other] += 1
    for s in range(distinct):
        times[who[s]] = 0
    return SharedClusters(who[:distinct], begin, items), sizes


def _by_clusters(begin: IntArray, at_most: int) -> tuple[IntArray, IntArray]:
    """Return the subjects by number of clusters, with group starts."""
    first, ordered = np.zeros(at_most + 2, np.int64), np.empty(begin.size - 1, np.int64)
    for s in range(begin.size - 1):
        first[begin[s + 1] - begin[s] + 1] += 1
    for k in range(1, first.size):
        first[k] += first[k - 1]
    place = first.copy()
    for s in range(begin.size - 1):
        k = begin[s + 1] - begin[s]
        ordered[place[k]] = s
        place[k] += 1
    return ordered, first


def _add_bits(mean: FloatArray, held: float, items: IntArray) -> None:
    """Add the mean :func:`bits_of` over all ways to add i counts.

    It is exact where the counts are equal; else the variance of a sum of i of them gives it to the second order.
    """
    many, total, squares = items.size, 0.0, 0.0
    for t in range(many):
        total += items[t]
        squares += float(items[t]) ** 2
    spread = max(0.0, squares - total * total / many) / max(1, many - 1)
    for i in range(many + 1):
        middle = held + i * total / many
        mean[i] += bits_of(middle)
        if middle > 0:  # half the variance times the second derivative of x log2 x
            mean[i] += spread * i * (many - i) / many / (2 * middle * np.log(2.0))


def _add_drawn(number: FloatArray, bits: FloatArray, mean: FloatArray, fresh: int) -> None:
    """Add subjects in k tied clusters, drawn without replacement.

    ``fresh`` of them are new as soon as one of their k clusters is drawn; ``mean[i]`` is their sum of bits once i are.
    """
    many, k = number.size, mean.size - 1
    chance = np.zeros(k + 1)  # of having drawn i of the k
    chance[0] = 1.0
    low, high = 0, 0
    for j in range(many):
        high = min(high + 1, k)
        for i in range(high, low - 1, -1):
            chance[i] *= 1 - (k - i) / (many - j)
            if i > low:
                chance[i] += chance[i - 1] * (k - i + 1) / (many - j)
        while low < high and chance[low] < _NO_CHANCE:
            chance[low] = 0.0
            low += 1
        while high > low and chance[high] < _NO_CHANCE:
            chance[high] = 0.0
            high -= 1
        number[j] += fresh * (1 - chance[0])
        for i in range(low, high + 1):
            bits[j] += chance[i] * (mean[i] - mean[0])
