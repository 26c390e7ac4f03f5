"""Counts of codes in one column, and of pairs in two."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.types import CodeArray, IntArray

Scalar = TypeVar("Scalar", bound=np.generic)

#: So many codes are looked up at a time: numpy makes wide numbers of them, which must not be there for all rows.
_AT_ONCE = 1 << 16


def code_counts(codes: CodeArray, size: int = 0) -> IntArray:
    """Return the rows per code, from 0 to maximum or ``size``.

    >>> code_counts(np.array([0, 2, 2], np.int32)), code_counts(np.array([1], np.int32), 3)
    (array([1, 0, 2]), array([0, 1, 0]))
    """
    if codes.size <= PLAIN_UP_TO:
        return np.bincount(codes, minlength=size)
    count = np.zeros(max(size, 1 + int(codes.max())), np.int64)
    compiled(_count_codes)(_plain(codes), count)
    return count


def narrow_codes(codes: CodeArray) -> CodeArray:
    """Return codes in two bytes if possible, else four.

    >>> narrow_codes(np.array([3, 70])).dtype, narrow_codes(np.array([3, 70_000])).dtype
    (dtype('int16'), dtype('int32'))
    """
    return codes.astype(np.int16 if codes.max(initial=0) < 2**15 else np.int32, copy=False)


def looked_up(table: NDArray[Scalar], codes: CodeArray) -> NDArray[Scalar]:
    """Return the table value of each code.

    >>> looked_up(np.array([7.5, 8.5]), np.array([1, 0, 1], np.int32))
    array([8.5, 7.5, 8.5])
    """
    found = np.empty(codes.size, table.dtype)
    for start in range(0, codes.size, _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        found[some] = table[codes[some]]
    return found


def pair_counts(a: CodeArray, b: CodeArray, a_size: int, b_size: int) -> IntArray:
    """Return the rows per code pair; pair (i, j) at i * b_size + j.

    >>> pair_counts(np.array([0, 1, 1], np.int32), np.array([2, 0, 0], np.int32), 2, 3)
    array([0, 0, 1, 2, 0, 0])
    """
    if a.size <= PLAIN_UP_TO:
        return np.bincount(pair_keys(a, b, b_size), minlength=a_size * b_size)
    count = np.zeros(a_size * b_size, np.int64)
    kind = np.promote_types(a.dtype, b.dtype)
    compiled(_count_pairs)(_plain(a.astype(kind, copy=False)), _plain(b.astype(kind, copy=False)), b_size, count)
    return count


def pair_keys(a: CodeArray, b: CodeArray, b_size: int) -> IntArray:
    """Return i * b_size + j for each pair (i, j) of codes."""
    key = a.astype(np.int64)
    key *= b_size
    key += b
    return key


def _plain(codes: CodeArray) -> CodeArray:
    """Return codes as loops are compiled for."""
    return np.ascontiguousarray(codes if codes.dtype in (np.int16, np.int32) else codes.astype(np.int32))


@loop("i2[], i8[]", "i4[], i8[]")
def _count_codes(codes: CodeArray, count: IntArray) -> None:
    for row in range(codes.size):
        count[codes[row]] += 1


@loop("i2[], i2[], i8, i8[]", "i4[], i4[], i8, i8[]")
def _count_pairs(a: CodeArray, b: CodeArray, b_size: int, count: IntArray) -> None:
    for row in range(a.size):
        count[a[row] * b_size + b[row]] += 1
