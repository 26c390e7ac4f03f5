"""Loops over contingency rows: one row per subject, cell per cluster."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels._compile import kernel
from unveil._kernels.types import FloatArray, IntArray

#: So many cells are ordered by insertion; longer rows are merged from such runs.
_RUN = 24


def order_cells(
    start: IntArray,
    own: NDArray[Any],
    foreign: NDArray[Any],
    own_total: NDArray[Any],
    price_missed: NDArray[Any],
    price_foreign: NDArray[Any],
    room: int,
) -> tuple[IntArray, IntArray]:
    """Return each row's cells by (cost, include, miss), and cost ties.

    Prices are whole numbers per row, so that equal costs are equal; where costs may exceed 64 bits, all numbers are
    Python integers. Fewer missed is more of one's own, so the third key is ``own`` descending. Cells that are equal in
    all three tie: they move the graphs of items alike, and other figures are averaged over their orders. ``room`` is
    above every number of items if a cost times it stays within 64 bits, so that short rows are ordered by one number
    per cell; else 0.
    """
    # Made by numpy, which asks for large pages: the loop would wait for thousands of small ones.
    order, tied = np.empty(own.size, np.int64), np.empty(start.size - 1, np.int64)
    _order(start, own, foreign, own_total, price_missed, price_foreign, room, order, tied)
    return order, tied


@kernel("i8[], i8[], i8[], i8[], i8[], i8[], i8, i8[], i8[]")
def _order(
    start: IntArray,
    own: NDArray[Any],
    foreign: NDArray[Any],
    own_total: NDArray[Any],
    price_missed: NDArray[Any],
    price_foreign: NDArray[Any],
    room: int,
    order: IntArray,
    tied: IntArray,
) -> None:
    cost, spare = np.empty(own.size, price_missed.dtype), np.empty(own.size, np.int64)
    keys, place = np.empty(_RUN, price_missed.dtype), np.empty(_RUN, np.int64)
    for r in range(start.size - 1):
        low, high = start[r], start[r + 1]
        missed, mixed, total = price_missed[r], price_foreign[r], own_total[r]
        same = 1
        if room > 0 and high - low <= _RUN:
            for k in range(low, high):
                # Two of the three settle the third; where missed items are free, the cost is that of the foreign ones.
                second = foreign[k] if missed > 0 else total - own[k]
                keys[k - low] = (missed * (total - own[k]) + mixed * foreign[k]) * room + second
            _order_keys(keys, place, order, low, high - low)
            least = keys[order[low] - low] // room
            while low + same < high and keys[order[low + same] - low] // room == least:
                same += 1
        else:
            for k in range(low, high):
                cost[k] = missed * (total - own[k]) + mixed * foreign[k]
            for begin in range(low, high, _RUN):
                _insert_run(order, begin, min(begin + _RUN, high), cost, foreign, own)
            _merge_runs(order, spare, low, high, cost, foreign, own)
            while low + same < high and cost[order[low + same]] == cost[order[low]]:
                same += 1
        tied[r] = same


def _comes_first(one: int, other: int, cost: NDArray[Any], foreign: NDArray[Any], own: NDArray[Any]) -> bool:
    """Return whether one cell precedes another; equal keys do not."""
    if cost[one] != cost[other]:
        return bool(cost[one] < cost[other])
    if foreign[one] != foreign[other]:
        return bool(foreign[one] < foreign[other])
    return bool(own[one] > own[other])


def _order_keys(keys: NDArray[Any], place: IntArray, order: IntArray, low: int, many: int) -> None:
    """Write the sorted positions of a few cells.

    All pairs are compared, which is more than needed, but no branch hangs on what comes out of it.
    """
    for k in range(many):
        before = 0
        for j in range(k):
            later = int(keys[j] > keys[k])
            place[j] += later
            before += 1 - later
        place[k] = before
    for k in range(many):
        order[low + place[k]] = low + k


def _insert_run(
    order: IntArray, low: int, high: int, cost: NDArray[Any], foreign: NDArray[Any], own: NDArray[Any]
) -> None:
    """Insertion-sort a few cells."""
    for k in range(low, high):
        j = k
        while j > low and _comes_first(k, order[j - 1], cost, foreign, own):
            order[j] = order[j - 1]
            j -= 1
        order[j] = k


def _merge_runs(
    order: IntArray,
    spare: IntArray,
    low: int,
    high: int,
    cost: NDArray[Any],
    foreign: NDArray[Any],
    own: NDArray[Any],
) -> None:
    """Merge adjacent sorted runs, faster to compile than numpy's sort."""
    run = _RUN
    while low + run < high:
        for begin in range(low, high, 2 * run):
            middle, end = min(begin + run, high), min(begin + 2 * run, high)
            left, right = begin, middle
            for place in range(begin, end):
                if right >= end or (left < middle and not _comes_first(order[right], order[left], cost, foreign, own)):
                    spare[place] = order[left]
                    left += 1
                else:
                    spare[place] = order[right]
                    right += 1
        for place in range(low, high):
            order[place] = spare[place]
        run *= 2


@kernel(
    "f8[], f8[], i8[], i8[], i8[], i8[], i8[], f8[]",
    "f8[], f8[], i8[], i8[], i8[], i8[], f8[], f8[]",
    "f8[], f8[], i8[], i8[], i8[], f8[], f8[], f8[]",
)
def add_graphs(
    linked: FloatArray,
    mixed: FloatArray,
    graph_start: IntArray,
    start: IntArray,
    order: IntArray,
    own: NDArray[Any],
    gain: NDArray[Any],
    share: FloatArray,
) -> None:
    """Add weighted linked and mixed graphs after each merge.

    ``own`` is what each cell links when it is merged, ``gain`` what it mixes in. The rows of guess p are those from
    ``p * subjects`` on; each subject has one pair of graphs for all guesses.
    """
    subjects = graph_start.size - 1
    for r in range(start.size - 1):
        part = share[r // subjects]
        subject = r % subjects
        taken_own = 0
        mixed_in = gain[start[r]] * 0  # whole numbers stay whole
        merges = start[r + 1] - start[r]
        for j in range(graph_start[subject + 1] - graph_start[subject]):
            if j < merges:
                cell = order[start[r] + j]
                taken_own += own[cell]
                mixed_in += gain[cell]
            linked[graph_start[subject] + j] += part * taken_own
            mixed[graph_start[subject] + j] += part * mixed_in


@kernel("i8[], f8[], f8[], f8[], f8")
def divide_rows(graph_start: IntArray, graph: FloatArray, base: FloatArray, whole: FloatArray, empty: float) -> None:
    """Convert rows to shares: add ``base``, divide by ``whole``."""
    for r in range(whole.size):
        for j in range(graph_start[r], graph_start[r + 1]):
            graph[j] = (graph[j] + base[r]) / whole[r] if whole[r] != 0 else empty


@kernel("i8[], f8[], f8[], f8[], f8")
def beta_points(
    graph_start: IntArray, linked: FloatArray, mixed: FloatArray, beta: FloatArray, slack: float
) -> tuple[FloatArray, FloatArray]:
    """Return merges to ``beta`` per row, and the mixed graph there.

    Both are interpolated linearly between whole merges. ``slack`` is what rounding may take from an average.
    """
    merges = np.empty(beta.size, np.float64)
    mixed_there = np.empty(beta.size, np.float64)
    for r in range(beta.size):
        low, last = graph_start[r], graph_start[r + 1] - 1
        j = low
        while j < last and linked[j] < beta[r] - slack:
            j += 1
        if j == low:
            merges[r] = 0.0
            mixed_there[r] = mixed[low]
        else:
            part = min(1.0, (beta[r] - linked[j - 1]) / (linked[j] - linked[j - 1]))
            merges[r] = j - 1 - low + part
            mixed_there[r] = mixed[j - 1] + part * (mixed[j] - mixed[j - 1])
    return merges, mixed_there


@kernel("i8[], f8[], i8")
def mean_graph(graph_start: IntArray, graph: FloatArray, length: int) -> FloatArray:
    """Return the mean graph of all rows, each constant after its end.

    Rows that are still moving and rows that have come to rest are summed apart, so that a mean of ones is one.
    """
    moving = np.zeros(length, np.float64)
    resting = np.zeros(length + 1, np.float64)
    rows = graph_start.size - 1
    for r in range(rows):
        steps = graph_start[r + 1] - graph_start[r]
        for j in range(steps):
            moving[j] += graph[graph_start[r] + j]
        resting[steps] += graph[graph_start[r + 1] - 1]
    settled = 0.0
    for j in range(length):
        settled += resting[j]
        moving[j] = (moving[j] + settled) / rows
    return moving


@kernel(
    "i8[], i8[], i8[], i8[], f8[], f8[], i8[], f8[], i8",
    "i8[], i8[], i8[], f8[], f8[], f8[], i8[], f8[], i8",
)
def overall_rises(
    start: IntArray,
    order: IntArray,
    own: NDArray[Any],
    gain: NDArray[Any],
    own_unit: FloatArray,
    foreign_unit: FloatArray,
    guess_of: IntArray,
    share: FloatArray,
    length: int,
) -> tuple[FloatArray, FloatArray]:
    """Return each merge's rise of the overall graphs, by guess group.

    Guess p counts with ``share[p]`` in group ``guess_of[p]``; an item of subject r lifts the linked graph by
    ``own_unit[r]``, and what a merging mixes in (``gain``, as in :func:`add_graphs`) lifts the mixed graph by
    ``foreign_unit[r]`` each. Sums of rises are the overall graphs, and
    no graph of a single subject is made.
    """
    groups = 0
    for p in range(guess_of.size):
        groups = max(groups, guess_of[p] + 1)
    linked = np.zeros((groups, length), np.float64)
    mixed = np.zeros((groups, length), np.float64)
    subjects = own_unit.size
    for r in range(start.size - 1):
        guess, subject = r // subjects, r % subjects
        own_part = share[guess] * own_unit[subject]
        foreign_part = share[guess] * foreign_unit[subject]
        group = guess_of[guess]
        for k in range(start[r], start[r + 1]):
            linked[group, k - start[r]] += own_part * own[order[k]]
            mixed[group, k - start[r]] += foreign_part * gain[order[k]]
    return linked, mixed
