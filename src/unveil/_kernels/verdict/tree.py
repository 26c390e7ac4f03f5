"""How probable a record is by a tree of columns, each of which depends on one other (Chow and Liu, 1968)."""

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.key_set import key_table, slot_of
from unveil._kernels.table.pairs import pair_counts, pair_keys
from unveil._kernels.threads import in_threads
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: In how many parts a number column is cut where the tree is chosen: raw values would leave a few rows for each pair.
PARTS = 6
#: Numbers that differ by less than this share are equal but for rounding.
SAME = 1e-9


def equal_parts(codes: Int32Array, parts: int = PARTS) -> Int32Array:
    """Return in which of so many parts with about as many rows each value lies, from 1 on; 0, a missing one, stays 0.

    ``codes`` are in the order of the values. Equal values are in one part: that of the middle one of them.

    >>> equal_parts(np.array([3, 1, 2, 4, 0, 4, 4, 4], np.int32), 2)
    array([1, 1, 1, 2, 0, 2, 2, 2], dtype=int32)
    """
    count = np.bincount(codes, minlength=1)
    count[0] = 0
    below = np.cumsum(count) - count
    part = 1 + parts * (2 * below + count) // max(1, 2 * int(count.sum()))
    part[0] = 0
    return part[codes].astype(np.int32)


def tree_of_columns(levels: Int32Array) -> IntArray:
    """Return on which other column each one depends, -1 for the first, which depends on none.

    It is the tree with the most mutual information in all, of which (r - 1)(c - 1) / 2n is taken off for each pair of
    columns with r and c levels: so much n rows show where there is none. Of equal pairs the earlier column counts.

    >>> tree_of_columns(np.array([[1, 1, 1], [1, 2, 1], [2, 1, 2], [2, 2, 2], [2, 2, 2]], np.int32))
    array([-1,  0,  0])
    """
    rows, columns = levels.shape
    coded = [_without_gaps(column) for column in levels.T]
    parent = np.where(np.arange(columns) == 0, -1, 0)
    weight = np.full(columns, -np.inf)
    outside = np.arange(columns) > 0
    last = 0

    def more(column: int) -> float:
        # Always in the order of the columns, so that the last digit of a weight depends on nothing else.
        one, other = (coded[each] for each in sorted((last, column)))
        freedom = (one[1].size - 1) * (other[1].size - 1)
        return float(_mutual_information(*one, *other) - freedom / (2 * rows))

    while outside.any():
        others = np.flatnonzero(outside).tolist()
        for column, found in zip(others, in_threads(more, others), strict=True):
            if found > weight[column]:
                weight[column], parent[column] = found, last
        last = int(np.argmax(np.where(outside, weight, -np.inf)))
        outside[last] = False
    return parent


def _without_gaps(codes: Int32Array) -> tuple[Int32Array, IntArray]:
    """Return the codes, from 0 on, without those that nobody has, and how many have each of the others."""
    count = np.bincount(codes)
    number = (np.cumsum(count > 0) - 1).astype(np.int32)
    return number[codes], count[count > 0]


def _mutual_information(a: Int32Array, a_count: IntArray, b: Int32Array, b_count: IntArray) -> float:
    a_size, b_size = a_count.size, b_count.size
    if a_size * b_size <= 4 * a.size + 1024:
        count = pair_counts(a, b, a_size, b_size)
        cell = np.flatnonzero(count)
        count = count[cell]
    else:
        cell, count = np.unique(pair_keys(a, b, b_size), return_counts=True)
    independent = a_count[cell // b_size] * b_count[cell % b_size] / a.size
    return float((count * np.log(count / independent)).sum()) / a.size


def log_probabilities(table: Int32Array, parent: IntArray, wanted: Int32Array) -> FloatArray:
    """Return the logarithm of the probability of each wanted row, by the tree and the counts of the table.

    With n(v) rows of the n that have the value v, and m(v) = max(n(v), 1) / n::

        q(x) = m(x_root) * product over the other columns j of (n(x_j, x_parent) + m(x_j)) / (n(x_parent) + 1)

    A row of the table itself stays among the counts, which makes its probability too large and never too small. It is
    a logarithm because the product over hundreds of columns would be 0.

    >>> table = np.array([[1, 1], [1, 1], [2, 1], [2, 2]], np.int32)
    >>> np.exp(log_probabilities(table, np.array([-1, 0]), table[[0, 3]])).round(4)  # 1/2 2.75/3, 1/2 1.25/3
    array([0.4583, 0.2083])
    """
    rows = len(table)
    found = np.zeros(len(wanted))
    for column, above in enumerate(parent.tolist()):
        mine, theirs = table[:, column], wanted[:, column]
        width = 1 + int(max(mine.max(initial=0), theirs.max(initial=0)))
        marginal = (np.maximum(np.bincount(mine, minlength=width), 1) / rows)[theirs]
        if above < 0:
            found += np.log(marginal)
            continue
        higher, their_higher = table[:, above], wanted[:, above]
        size = 1 + int(max(higher.max(initial=0), their_higher.max(initial=0)))
        marginal += _how_often((higher, mine), (their_higher, theirs), size, width)
        marginal /= (np.bincount(higher, minlength=size) + 1)[their_higher]
        found += np.log(marginal, out=marginal)
    return found


def _how_often(
    pairs: tuple[Int32Array, Int32Array], wanted: tuple[Int32Array, Int32Array], size: int, width: int
) -> IntArray:
    """Return how many of the pairs, of codes below ``size`` and below ``width``, each wanted one equals."""
    rows, asked = pairs[0].size, pair_keys(*wanted, width)
    if size * width <= 4 * (rows + asked.size) + 1024:
        return pair_counts(*pairs, size, width)[asked]
    keys = pair_keys(*pairs, width)
    if rows <= PLAIN_UP_TO:
        ascending = np.sort(keys)
        count: IntArray = np.searchsorted(ascending, asked, side="right") - np.searchsorted(ascending, asked)
        return count
    table = key_table(rows)
    compiled(_count_keys)(keys, asked, table, np.zeros(table.size, np.int32))
    return asked


@loop("i8[], i8[], i8[], i4[]")
def _count_keys(keys: IntArray, asked: IntArray, table: IntArray, tally: Int32Array) -> None:
    """Put into the place of each key that is asked for how many of the keys equal it; the table is empty before."""
    for place in range(keys.size):
        slot = slot_of(table, keys[place])
        table[slot] = keys[place]
        tally[slot] += 1
    for place in range(asked.size):
        asked[place] = tally[slot_of(table, asked[place])]


def coincidences(expected: FloatArray) -> FloatArray:
    """Return for each row how many coincidences are to be expected in all rows that are at most as likely.

    ``expected`` is the number for each row alone. So the least likely of many rows is not judged as if it were the only
    one that had been looked at.

    >>> coincidences(np.array([0.5, 0.25, 2.0, 0.5]))
    array([1.25, 0.25, 3.25, 1.25])
    """
    order = np.argsort(expected)
    ascending = expected[order]
    total = np.concatenate([[0.0], np.cumsum(ascending)])
    found = np.empty(expected.size)
    # Equal probabilities may differ in the last digit: they are products of many factors.
    found[order] = total[np.searchsorted(ascending, ascending * (1 + SAME), side="right")]
    return found
