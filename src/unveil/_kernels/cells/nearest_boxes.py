"""Nearest boxes of people, and nearest people of boxes, by one search.

The distance of a person from a cell is 0 inside. Outside it is the gap to the nearer end in steps, a mismatch at most,
and a mismatch where there is no order.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.cells.boxes import ANY, CellBoxes, CellColumns
from unveil._kernels.neighbours.index import LAST_MARKER, IntegerGrid, content_rank
from unveil._kernels.neighbours.search import ROOM, NearRows
from unveil._kernels.types import BoolArray, Int32Array, IntArray

#: Up to this many distances all are computed: quick enough, and nobody waits for a compiler.
ALL_UP_TO = 2**20
_FAR = int(np.iinfo(np.int64).max)
_LAST_MARKER, _ANY = int(LAST_MARKER), ANY


class ComparedItems(NamedTuple):
    """People or boxes by their distinct items in each column: values, or cells.

    ``low`` and ``high`` are the ends of the items of number columns, one column after the other from ``offset`` on; for
    the other columns ``offset`` goes on.
    """

    item: Int32Array  # [columns, rows]
    copies: IntArray
    offset: IntArray
    low: IntArray
    high: IntArray


class BoxComparison(NamedTuple):
    """Targets and rows to search, with compatible items of unordered columns.

    Those of target item i, counted on over these columns, are the row items ``fit[fit_start[i] : fit_start[i + 1]]``.
    """

    targets: ComparedItems
    rows: ComparedItems
    fit_start: IntArray
    fit: Int32Array
    step: IntArray
    span: IntArray
    mismatch: int


class DistinctPeople(NamedTuple):
    """Distinct people: the number of each row, and the items of each person."""

    of_row: IntArray
    side: ComparedItems


def distinct_people(people: IntegerGrid, codes: IntArray) -> DistinctPeople:
    """Return distinct people; ``codes`` are the numbers of codes by column."""
    of_row = content_rank(people)
    copies = np.bincount(of_row)
    example = np.empty(copies.size, np.int64)
    example[of_row] = np.arange(of_row.size)
    items, ends, sizes = [], [np.empty(0, np.int64)], []
    for column in people.numbers[example].T:
        value, item = np.unique(column, return_inverse=True)
        items.append(item.astype(np.int32))
        ends.append(value)
        sizes.append(value.size)
    low = np.concatenate(ends)
    every = np.array([*items, *people.codes[example].T], np.int32).reshape(len(items) + codes.size, copies.size)
    return DistinctPeople(
        of_row, ComparedItems(every, copies, np.concatenate([[0], np.cumsum([*sizes, *codes])]), low, low)
    )


def side_of_boxes(boxes: CellBoxes, cells: CellColumns) -> ComparedItems:
    """Return boxes as one side of a comparison."""
    return ComparedItems(boxes.cell, boxes.copies, cells.offset, cells.low, cells.high)


def people_to_boxes(
    people: ComparedItems, boxes: ComparedItems, cells: CellColumns, step: IntArray, mismatch: int
) -> BoxComparison:
    """Return people as targets, and boxes as the rows that are searched."""
    # The lists of codes by cell turned round: cells by code.
    first = cells.offset[cells.numbers]
    cell = np.repeat(np.arange(cells.start.size - 1), np.diff(cells.start))
    column = np.searchsorted(cells.offset[cells.numbers :] - first, cell, side="right") - 1
    begins = np.concatenate([[0], np.cumsum(cells.codes)])
    code = begins[column] + cells.member
    order = np.argsort(code, kind="stable")
    fit_start = np.concatenate([[0], np.cumsum(np.bincount(code, minlength=int(begins[-1])))])
    local = (cell - (cells.offset[cells.numbers :] - first)[column]).astype(np.int32)
    return BoxComparison(people, boxes, fit_start, local[order], step, cells.span, mismatch)


def boxes_to_people(
    boxes: ComparedItems, people: ComparedItems, cells: CellColumns, step: IntArray, mismatch: int
) -> BoxComparison:
    """Return boxes as targets, and people as the rows that are searched."""
    return BoxComparison(boxes, people, cells.start, cells.member, step, cells.span, mismatch)


def near_of(comparison: BoxComparison, some: IntArray, k: int) -> NearRows | None:
    """Return the rows within each target's k-th distance, or None if full.

    Rows count as often as there are copies of them. There is always room for one target.
    """
    rows = comparison.rows.copies
    k = min(k, int(rows.sum()))
    if some.size * rows.size <= ALL_UP_TO:
        return _by_matrix(all_distances(comparison, some), rows, k)
    return _by_search(comparison, some, k)


def all_distances(comparison: BoxComparison, some: IntArray) -> IntArray:
    """Return the distances of targets (rows) to rows (columns)."""
    distance = np.zeros((some.size, comparison.rows.copies.size), np.int64)
    for column in range(len(comparison.targets.item)):
        mine, line = np.unique(comparison.targets.item[column][some], return_inverse=True)
        theirs, place = np.unique(comparison.rows.item[column], return_inverse=True)
        distance += item_distances(comparison, column, mine, theirs)[line][:, place]
    return distance


def item_distances(comparison: BoxComparison, column: int, mine: Int32Array, theirs: Int32Array) -> IntArray:
    """Return the distances between target and row items of one column."""
    gap, never = item_gaps(comparison, column, mine, theirs)
    if column >= comparison.span.size:
        return np.where(never, comparison.mismatch, 0)
    step, span, mismatch = comparison.step[column], comparison.span[column], comparison.mismatch
    far = never | ((gap >= span) & (gap > 0))
    return np.where(far, mismatch, np.minimum(np.minimum(gap, span) * step, mismatch))


def item_gaps(
    comparison: BoxComparison, column: int, mine: Int32Array, theirs: Int32Array
) -> tuple[IntArray, BoolArray]:
    """Return the item gaps in steps, and incompatible pairs."""
    targets, rows, numbers = comparison.targets, comparison.rows, comparison.span.size
    gap = np.zeros((mine.size, theirs.size), np.int64)
    own = mine + targets.offset[column]
    if column >= numbers:
        fits = np.zeros((mine.size, int(rows.offset[column + 1] - rows.offset[column])), bool)
        for line, each in enumerate((own - targets.offset[numbers]).tolist()):
            fits[line, comparison.fit[comparison.fit_start[each] : comparison.fit_start[each + 1]]] = True
        return gap, ~fits[:, theirs]
    low, high = targets.low[own][:, None], targets.high[own][:, None]
    other_low, other_high = rows.low[theirs + rows.offset[column]], rows.high[theirs + rows.offset[column]]
    wild = (low == ANY) | (other_low == ANY)
    gone, lost = low <= LAST_MARKER, other_low <= LAST_MARKER
    never = ~wild & (((gone | lost) & (low != other_low)) | (low > high) | (other_low > other_high))
    # Only where one begins above the end of the other, so that no difference is too large.
    there = ~wild & ~gone & ~lost & ~never
    np.subtract(other_low, high, out=gap, where=there & (other_low > high))
    np.subtract(low, other_high, out=gap, where=there & (low > other_high))
    return gap, never


def _by_matrix(distance: IntArray, copies: IntArray, k: int) -> NearRows:
    order = np.argsort(distance, axis=1, kind="stable")
    enough = np.argmax(np.cumsum(copies[order], axis=1) >= k, axis=1)
    each = np.arange(len(distance))
    limit = distance[each, order[each, enough]]
    target, row = np.nonzero(distance <= limit[:, None])
    start = np.searchsorted(target, np.arange(len(distance) + 1))
    return NearRows(start, row.astype(np.int32), distance[target, row], limit)


def _by_search(comparison: BoxComparison, some: IntArray, k: int) -> NearRows | None:
    targets, rows, numbers = comparison.targets, comparison.rows, comparison.span.size
    order = _telling_first(rows)
    size = np.diff(rows.offset)[order]
    arranged = np.argsort(rows.item[order[0]], kind="stable")
    lead = np.searchsorted(rows.item[order[0]][arranged], np.arange(size[0] + 1))
    room = min(max(ROOM, rows.copies.size), some.size * rows.copies.size)
    row, distance, limit = np.empty(room, np.int32), np.empty(room, np.int64), np.empty(some.size, np.int64)
    start = np.zeros(some.size + 1, np.int64)
    step, span = (np.append(each, 0)[np.minimum(order, numbers)] for each in (comparison.step, comparison.span))
    found = compiled(_search)(
        np.ascontiguousarray(targets.item[order][:, some].T),
        targets.offset[order],
        np.ascontiguousarray(rows.item[order][:, arranged].T),
        rows.offset[order],
        size,
        order < numbers,
        rows.copies[arranged],
        lead,
        targets.low,
        targets.high,
        rows.low,
        rows.high,
        comparison.fit_start,
        comparison.fit,
        int(targets.offset[numbers]),
        step,
        span,
        comparison.mismatch,
        k,
        start,
        row,
        distance,
        limit,
    )
    if not found:
        return None
    return NearRows(start, arranged[row[: start[-1]]].astype(np.int32), distance[: start[-1]].copy(), limit)


def _telling_first(rows: ComparedItems) -> IntArray:
    """Return the columns, the one that tells rows apart best first."""

    def alike(column: int) -> float:
        share = np.bincount(rows.item[column]) / rows.item.shape[1]
        return float(share @ share)

    return np.array(sorted(range(len(rows.item)), key=alike), np.int64)


@loop(
    "i4[,], i8[], i4[,], i8[], i8[], b1[], i8[], i8[], i8[], i8[], i8[], i8[], i8[], i4[], i8, i8[], i8[], i8, "
    "i8, i8[], i4[], i8[], i8[]",
)
def _search(
    target: Int32Array,
    target_offset: IntArray,
    item: Int32Array,
    row_offset: IntArray,
    size: IntArray,
    is_number: BoolArray,
    copies: IntArray,
    lead: IntArray,
    low: IntArray,
    high: IntArray,
    row_low: IntArray,
    row_high: IntArray,
    fit_start: IntArray,
    fit: Int32Array,
    first_code: int,
    step: IntArray,
    span: IntArray,
    mismatch: int,
    k: int,
    start: IntArray,
    row: Int32Array,
    distance: IntArray,
    limit: IntArray,
) -> bool:
    """Fill in the near rows of all targets, if there is room.

    For each target the distances from all items of each column are computed first. Rows stand by their item in the
    first column: those with items at distance 0 are visited first, which mostly leaves no others near enough.
    """
    columns, rows = size.size, copies.size
    begin = np.zeros(columns + 1, np.int64)
    for c in range(columns):
        begin[c + 1] = begin[c] + size[c]
    apart = np.zeros(begin[columns], np.int64)
    seen, seen_distance = np.empty(rows, np.int32), np.empty(rows, np.int64)
    far, many = np.empty(k + 1, np.int64), np.empty(k + 1, np.int64)
    filled = 0
    for t in range(len(target)):
        for c in range(columns):
            if t > 0 and target[t, c] == target[t - 1, c]:
                continue
            own = target_offset[c] + target[t, c]
            if not is_number[c]:
                for i in range(begin[c], begin[c + 1]):
                    apart[i] = mismatch
                for at in range(fit_start[own - first_code], fit_start[own - first_code + 1]):
                    apart[begin[c] + fit[at]] = 0
                continue
            for i in range(size[c]):
                one, other = row_low[row_offset[c] + i], row_high[row_offset[c] + i]
                gap = 0
                if low[own] == _ANY or one == _ANY:
                    gap = 0
                elif low[own] <= _LAST_MARKER or one <= _LAST_MARKER:
                    gap = 0 if low[own] == one else -1
                elif low[own] > high[own] or one > other:
                    gap = -1
                elif one > high[own]:
                    gap = one - high[own]
                elif low[own] > other:
                    gap = low[own] - other
                if gap < 0 or (gap > 0 and gap >= span[c]):
                    apart[begin[c] + i] = mismatch
                else:
                    apart[begin[c] + i] = min(gap * step[c], mismatch)
        visited, entries, held, bound = 0, 0, 0, _FAR
        for beyond in range(2):
            for g in range(size[0]):
                if (apart[g] > 0) != (beyond == 1) or apart[g] > bound:
                    continue
                for r in range(lead[g], lead[g + 1]):
                    d = apart[g]
                    for c in range(1, columns):
                        d += apart[begin[c] + item[r, c]]
                        if d > bound:
                            break
                    if d > bound:
                        continue
                    seen[visited], seen_distance[visited] = r, d
                    visited += 1
                    if d == bound:
                        continue
                    # The distances of the nearest k so far, ascending, each with as many rows as it stands for.
                    place = entries
                    while place > 0 and far[place - 1] > d:
                        far[place], many[place] = far[place - 1], many[place - 1]
                        place -= 1
                    far[place], many[place] = d, min(copies[r], k)
                    entries += 1
                    held += many[place]
                    while held - many[entries - 1] >= k:
                        entries -= 1
                        held -= many[entries]
                    if held >= k:
                        bound = far[entries - 1]
        for v in range(visited):
            if seen_distance[v] <= bound:
                if filled == row.size:
                    return False
                row[filled], distance[filled] = seen[v], seen_distance[v]
                filled += 1
        start[t + 1] = filled
        limit[t] = bound
    return True
