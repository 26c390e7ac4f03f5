"""Exhaustive nearest-row search for tables with many columns.

There no arrangement of rows tells which of them are near, so that all are looked at: some rows at a time, which stay
near the processor while every target is compared with them, several columns at a time. Categories are counted in two
bytes and numbers summed up in short floats, many rows at once; rows that may be near by these sums, which are known not
to be off by more than so much, are summed up in whole numbers.
"""

import numpy as np
from numpy.typing import NDArray

from unveil._kernels._compile import kernel
from unveil._kernels.neighbours.index import LAST_MARKER
from unveil._kernels.types import Int32Array, IntArray, NarrowArray

ShortFloats = NDArray[np.float32]

_LAST_MARKER = int(LAST_MARKER)
#: So many rows are compared with all targets in one go; no number depends on it.
_AT_A_TIME = 512
#: A short float is off by no more than this share of it.
_ROUNDED = 2.0**-24
_NOTHING = np.float32(0)


def in_few_bytes(codes: Int32Array, targets: Int32Array) -> tuple[NarrowArray, NarrowArray]:
    """Return both in two bytes if that holds all codes, else in four."""
    kind = np.uint16 if max(codes.max(initial=0), targets.max(initial=0)) < 2**16 else np.uint32
    return codes.astype(kind), targets.astype(kind)


def in_costs(numbers: IntArray, step: IntArray) -> IntArray:
    """Return numbers times step costs; markers stay."""
    return np.where(numbers > LAST_MARKER, numbers * step, numbers)


def in_mismatches(costs: IntArray, mismatch: int) -> ShortFloats:
    """Return numbers as fractions of a mismatch, NaN for markers."""
    return np.where(costs > LAST_MARKER, costs / mismatch, np.nan).astype(np.float32)


def off_by(rows: ShortFloats, targets: ShortFloats) -> float:
    """Return the rounding error bound of a sum over columns.

    Each difference is rounded as its numbers are, and each of the sums once more.
    """
    largest = max((float(np.nanmax(np.abs(each), initial=0)) for each in (rows, targets)), default=0.0)
    return 4 * _ROUNDED * (len(rows) + 1) * (largest + 1)


@kernel("u2[,], f4[,], i8[,], i8[], u2[,], f4[,], i8[,], i8, f8, i8, i8[], i4[], i4[], i8[]", cost=8)
def scan(
    codes: NarrowArray,
    shares: ShortFloats,
    costs: IntArray,
    copies: IntArray,
    target_codes: NarrowArray,
    target_shares: ShortFloats,
    target_costs: IntArray,
    mismatch: int,
    off: float,
    k: int,
    limit: IntArray,
    owner: Int32Array,
    row: Int32Array,
    distance: IntArray,
) -> int:
    """Fill in near rows and distances; return their number, -1 if full.

    ``codes`` and ``shares`` of rows come as columns, [column, row], all else as lines. Where one of two numbers is a
    marker they cost nothing here. ``limit`` says how far rows may be at most, and is lowered to the distance of the
    k-th nearest row.
    """
    targets, rows = len(target_codes), copies.size
    far, many = np.empty((targets, k + 2), np.int64), np.empty((targets, k + 2), np.int64)
    entries = np.zeros(targets, np.int64)

    def insert(t: int, new: int, count: int) -> None:
        """Insert rows among a target's nearest, and lower its limit."""
        place = entries[t]
        while place > 0 and far[t, place - 1] > new:
            far[t, place], many[t, place] = far[t, place - 1], many[t, place - 1]
            place -= 1
        far[t, place], many[t, place] = new, count
        entries[t] += 1
        held = 0
        for at in range(entries[t]):
            held += many[t, at]
            if held >= k:
                entries[t], limit[t] = at + 1, far[t, at]
                break

    def still_near(filled: int) -> int:
        """Remove rows beyond the limit, and return the rest's number."""
        kept = 0
        for at in range(filled):
            if distance[at] <= limit[owner[at]]:
                owner[kept], row[kept], distance[kept] = owner[at], row[at], distance[at]
                kept += 1
        return kept

    differ, apart = np.empty(_AT_A_TIME, np.uint16), np.empty(_AT_A_TIME, np.float32)
    filled = 0
    for first in range(0, rows, _AT_A_TIME):
        end = min(first + _AT_A_TIME, rows)
        for t in range(targets):
            _count_mismatches(codes, first, end, target_codes[t], differ)
            nearest = _add_numbers(shares, first, end, target_shares[t], differ, apart)
            if (nearest - off * (nearest + 1)) * mismatch > limit[t]:
                continue
            for i in range(end - first):
                if (apart[i] - off * (apart[i] + 1)) * mismatch > limit[t]:
                    continue
                exact = int(differ[i]) * mismatch + _cost(costs[first + i], target_costs[t])
                if exact > limit[t]:
                    continue
                if filled == row.size:
                    filled = still_near(filled)
                    if 2 * filled > row.size:
                        return -1
                owner[filled], row[filled], distance[filled] = t, first + i, exact
                filled += 1
                if exact < limit[t]:
                    insert(t, exact, copies[first + i])
    return still_near(filled)


def _count_mismatches(codes: NarrowArray, first: int, end: int, wanted: NarrowArray, differ: NarrowArray) -> None:
    """Write in how many columns rows differ from a target."""
    for i in range(end - first):
        differ[i] = 0
    column = len(codes) % 4
    for c in range(column):
        here, code = codes[c, first:end], wanted[c]
        for i in range(here.size):
            differ[i] += here[i] != code
    # Four columns at a time: otherwise the processor is mostly busy with fetching the counts and putting them back.
    while column < len(codes):
        one, two = codes[column, first:end], codes[column + 1, first:end]
        three, four = codes[column + 2, first:end], codes[column + 3, first:end]
        a, b, c, d = wanted[column], wanted[column + 1], wanted[column + 2], wanted[column + 3]
        for i in range(one.size):
            differ[i] += one[i] != a
            differ[i] += two[i] != b
            differ[i] += three[i] != c
            differ[i] += four[i] != d
        column += 4


def _add_numbers(
    shares: ShortFloats, first: int, end: int, wanted: ShortFloats, differ: NarrowArray, apart: ShortFloats
) -> float:
    """Write how far rows are, in mismatches, and return how far the nearest is."""
    size = end - first
    for i in range(size):
        apart[i] = differ[i]
    for c in range(len(shares)):
        here, number = shares[c, first:end], wanted[c]
        for i in range(size):
            far = abs(here[i] - number)
            # Nothing is equal to NaN, and that is what a marker leads to.
            apart[i] += far if far == far else _NOTHING
    nearest = apart[0]
    for i in range(size):
        nearest = min(nearest, apart[i])
    return float(nearest)


def _cost(line: IntArray, wanted: IntArray) -> int:
    """Return what two lines of numbers differ by."""
    total = 0
    for c in range(line.size):
        if line[c] > _LAST_MARKER and wanted[c] > _LAST_MARKER:
            total += abs(line[c] - wanted[c])
    return total
