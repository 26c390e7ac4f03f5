"""Rows told apart by what they hold, for draws that do not depend on where rows stand."""

from collections.abc import Iterable

import numpy as np

from unveil._kernels.types import BagArray, Int32Array, IntArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mixed(values: BagArray) -> BagArray:
    """Return 64 well mixed bits of each value, the finaliser of splitmix64; equal values have equal bits.

    >>> mixed(np.array([0, 1], np.uint64))
    array([16294208416658607535, 10451216379200822465], dtype=uint64)
    """
    with np.errstate(over="ignore"):
        bits = values + _GOLDEN
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))


def content_hash(columns: Iterable[IntArray | Int32Array], rows: int) -> BagArray:
    """Return 64 bits for each row: the same for rows that are equal, and other ones for all others, almost surely."""
    total = np.zeros(rows, np.uint64)
    for column in columns:
        total = mixed(total ^ column.astype(np.int64).view(np.uint64))
    return total


def drawn_by_content(bits: BagArray, number: int, seed: int) -> IntArray:
    """Return so many of the rows with these bits, each set of rows as likely as any other, in the order of their lots.

    Which of several equal rows is drawn does not matter, and each has a lot of its own. The first of a larger draw are
    a smaller one.

    >>> drawn_by_content(np.array([7, 5, 7, 9], np.uint64), 2, seed=1)
    array([2, 3])
    """
    order = np.argsort(bits, kind="stable")
    ascending = bits[order]
    first = np.searchsorted(ascending, ascending)
    copy = (np.arange(bits.size) - first).astype(np.uint64)
    lot = mixed(mixed(ascending ^ np.uint64(seed)) + copy)
    least = np.argpartition(lot, number)[:number] if number < lot.size else np.arange(lot.size)
    return order[least[np.argsort(lot[least], kind="stable")]]
