"""How probable a record is by a tree of columns, each of which depends on one other (Chow and Liu, 1968)."""

import numpy as np

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
    coded = [np.unique(column, return_inverse=True) for column in levels.T]
    sizes = [found.size for found, _ in coded]
    number = [inverse.astype(np.int64) for _, inverse in coded]
    parent = np.where(np.arange(columns) == 0, -1, 0)
    weight = np.full(columns, -np.inf)
    outside = np.arange(columns) > 0
    last = 0
    while outside.any():
        for column in np.flatnonzero(outside):
            # Always in the order of the columns, so that the last digit of a weight depends on nothing else.
            one, other = sorted((last, int(column)))
            freedom = (sizes[one] - 1) * (sizes[other] - 1)
            more = _mutual_information(number[one], number[other], sizes[one], sizes[other]) - freedom / (2 * rows)
            if more > weight[column]:
                weight[column], parent[column] = more, last
        last = int(np.argmax(np.where(outside, weight, -np.inf)))
        outside[last] = False
    return parent


def _mutual_information(a: IntArray, b: IntArray, a_size: int, b_size: int) -> float:
    key = a * b_size + b
    if a_size * b_size <= 4 * key.size + 1024:
        count = np.bincount(key, minlength=a_size * b_size)
        cell = np.flatnonzero(count)
        count = count[cell]
    else:
        cell, count = np.unique(key, return_counts=True)
    independent = np.bincount(a)[cell // b_size] * np.bincount(b)[cell % b_size] / key.size
    return float((count * np.log(count / independent)).sum()) / key.size


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
        mine, theirs = table[:, column].astype(np.int64), wanted[:, column].astype(np.int64)
        width = 1 + int(max(mine.max(initial=0), theirs.max(initial=0)))
        marginal = np.maximum(np.bincount(mine, minlength=width), 1)[theirs] / rows
        if above < 0:
            found += np.log(marginal)
            continue
        higher, their_higher = table[:, above].astype(np.int64), wanted[:, above].astype(np.int64)
        size = 1 + int(max(higher.max(initial=0), their_higher.max(initial=0)))
        both = _how_often(higher * width + mine, their_higher * width + theirs, size * width)
        found += np.log((both + marginal) / (np.bincount(higher, minlength=size)[their_higher] + 1))
    return found


def _how_often(keys: IntArray, wanted: IntArray, size: int) -> IntArray:
    """Return how many of the keys, which are below ``size``, each wanted one equals."""
    if size <= 4 * (keys.size + wanted.size) + 1024:
        return np.bincount(keys, minlength=size)[wanted]
    ascending = np.sort(keys)
    count: IntArray = np.searchsorted(ascending, wanted, side="right") - np.searchsorted(ascending, wanted)
    return count


def coincidences(expected: FloatArray) -> FloatArray:
    """Return for each row how many coincidences are to be expected in all rows that are at most as likely.

    ``expected`` is the number for each row alone. So the least likely of many rows is not judged as if it were the only
    one that had been looked at.

    >>> coincidences(np.array([0.5, 0.25, 2.0, 0.5]))
    array([1.25, 0.25, 3.25, 1.25])
    """
    ascending = np.sort(expected)
    total = np.concatenate([[0.0], np.cumsum(ascending)])
    # Equal probabilities may differ in the last digit: they are products of many factors.
    return total[np.searchsorted(ascending, expected * (1 + SAME), side="right")]
