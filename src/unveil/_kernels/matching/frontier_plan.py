"""In which order to go through the columns, so that few rows are open at a time: started and not yet finished.

Where rows have their columns side by side in some order (frequency ranges), that order is found again from the slowest
vibration of the graph (the Fiedler vector, which sorts such graphs), or from the middle of each row's columns.
"""

from collections.abc import Iterator
from math import comb
from typing import NamedTuple

import numpy as np

from unveil._kernels.matching.edges import Edges, edges_of, transposed
from unveil._kernels.types import Int32Array, IntArray

#: Open rows are bits of a number that indexes a table.
WIDEST = 24
#: Transitions that cost less than to look for a better order.
_CHEAP = 2e8
_TRIES = 5


class Plan(NamedTuple):
    """How to sweep: the edges of the column at each step, with the slot of their row; rows that finish there as bits.

    After step t, at most ``due_room[k]`` of the rows in the slots ``due[k]`` may still be free, for k from
    ``due_start[t]`` to ``due_start[t + 1]``: these rows all finish before there are columns for more. ``place`` says
    where each edge stands among the given ones, ``bound`` the most states at each step, ``width`` the most open rows,
    ``work`` the most transitions in all.
    """

    start: IntArray
    slot: Int32Array
    place: IntArray
    closing: IntArray
    due_start: IntArray
    due: IntArray
    due_room: IntArray
    bound: list[int]
    width: int
    work: float


class _Draft(NamedTuple):
    """An order of the columns with its cost: what each row's first and last step is."""

    edges: Edges
    origin: IntArray
    step: IntArray
    first: IntArray
    last: IntArray
    bound: list[int]
    width: int
    work: float


def plan(edges: Edges) -> Plan | None:
    """Return the cheapest plan found; None where always too many rows are open.

    >>> from unveil._kernels.matching.edges import as_edges
    >>> band = np.abs(np.subtract.outer(np.arange(9), np.arange(9))) <= 1
    >>> plan(as_edges(band.astype(float))).width
    3
    """
    best = None
    sides = (edges, np.arange(edges.weight.size)), (transposed(edges), np.argsort(edges.column, kind="stable"))
    tried = [(side, _orders(side[0])) for side in sides]
    for _ in range(_TRIES):
        for (given, origin), orders in tried:
            order = next(orders, None)
            draft = None if order is None else _drafted(given, order, origin)
            if draft is not None and (best is None or draft.work < best.work):
                best = draft
        if best is not None and best.work <= _CHEAP:
            break
    return None if best is None else _finished(best)


def _orders(edges: Edges) -> Iterator[Int32Array]:
    """Yield orders of the columns worth a try."""
    n = edges.n
    yield np.arange(n, dtype=np.int32)
    slow = _slowest(edges)
    if slow is not None:
        yield slow
        yield _refined(edges, slow, 3)
    near = _near_ends(edges)
    yield near
    yield _refined(edges, near, 20)


def _refined(edges: Edges, order: Int32Array, rounds: int) -> Int32Array:
    """Return the columns sorted again and again by the mean place of their rows, and rows by that of their columns."""
    n, row_of = edges.n, edges.row
    place = np.empty(n)
    place[order] = np.arange(n)
    of_rows, of_columns = np.bincount(row_of, minlength=n), np.bincount(edges.column, minlength=n)
    for _ in range(rounds):
        row_place = np.argsort(np.argsort(np.bincount(row_of, place[edges.column], n) / of_rows, kind="stable"))
        mean = np.bincount(edges.column, row_place[row_of].astype(np.float64), n) / of_columns
        place = np.argsort(np.argsort(mean, kind="stable")).astype(np.float64)
    return np.argsort(place, kind="stable").astype(np.int32)


def _near_ends(edges: Edges) -> Int32Array:
    """Return the columns by the method of Cuthill and McKee: from one end of the graph to the other."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n = edges.n
    row, column = edges.row.astype(np.int64), edges.column.astype(np.int64) + n
    both = edges_of(np.append(row, column), np.append(column, row), np.ones(2 * row.size), 2 * n)
    order = reverse_cuthill_mckee(csr_array((both.weight, both.column, both.start), shape=(2 * n, 2 * n)), True)
    return np.asarray(order[order >= n] - n, np.int32)


def _slowest(edges: Edges) -> Int32Array | None:
    """Return the columns by the Fiedler vector of the graph that joins columns with a common row; None if not found."""
    n = edges.n
    if n < 4 or np.square(np.diff(edges.start)).sum() > 5_000_000:
        return None
    from scipy.sparse import csc_array, csr_array, diags_array
    from scipy.sparse.linalg import ArpackError, eigsh

    marks = csr_array((np.ones(edges.column.size), edges.column, edges.start), shape=(n, n))
    common = marks.T @ marks
    total = np.asarray(common.sum(axis=1)).ravel()
    laplacian = csc_array(diags_array(total) - common)
    try:
        # The shift below 0 makes the matrix regular; the start is fixed so that nothing is left to chance.
        _, vectors = eigsh(laplacian, k=2, sigma=-1e-6, v0=np.cos(np.arange(n) + 1.0), tol=1e-12, maxiter=200)
    except (ArpackError, RuntimeError):
        return None
    return np.argsort(vectors[:, 1], kind="stable").astype(np.int32)


def _drafted(edges: Edges, order: Int32Array, origin: IntArray) -> _Draft | None:
    """Return the cost of an order of the columns, or None where too many rows are open at a time."""
    n = edges.n
    step = np.empty(n, np.int64)
    step[order] = np.arange(n)
    at = step[edges.column]
    last = np.maximum.reduceat(at, edges.start[:-1])
    first = np.minimum.reduceat(at, edges.start[:-1])
    closed = np.concatenate([[0], np.cumsum(np.bincount(last, minlength=n))])[:-1]
    is_open = np.cumsum(np.bincount(first, minlength=n)) - closed  # when the step's column is matched
    width = int(is_open.max())
    if width > WIDEST:
        return None
    used = np.arange(n) - closed
    bound = [comb(int(o), int(u)) if 0 <= u <= o else 0 for o, u in zip(is_open, used, strict=True)]
    work = float(np.dot(np.array(bound, np.float64), is_open - used))
    return _Draft(edges, origin, step, first, last, bound, width, work)


def _finished(draft: _Draft) -> Plan:
    """Return the plan of an order."""
    edges, n = draft.edges, draft.edges.n
    at, row_of = draft.step[edges.column], edges.row
    slot, closing = _slots(draft.first, draft.last, draft.width)
    by_step = np.lexsort((row_of, at))
    start = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=n))]).astype(np.int64)
    due = _due(draft.first, draft.last, slot)
    return Plan(
        start, slot[row_of[by_step]], draft.origin[by_step], closing, *due, draft.bound, draft.width, draft.work
    )


def _slots(first: IntArray, last: IntArray, width: int) -> tuple[Int32Array, IntArray]:
    """Return a slot for each row, free again after its last step, and at each step the slots freed as bits."""
    n = first.size
    slot = np.zeros(n, np.int32)
    closing = np.zeros(n, np.int64)
    free = list(range(width))[::-1]
    opens = np.split(np.argsort(first, kind="stable"), np.cumsum(np.bincount(first, minlength=n))[:-1])
    closes = np.split(np.argsort(last, kind="stable"), np.cumsum(np.bincount(last, minlength=n))[:-1])
    for step in range(n):
        for row in opens[step].tolist():
            slot[row] = free.pop()
        for row in closes[step].tolist():
            free.append(int(slot[row]))
            closing[step] |= 1 << int(slot[row])
    return slot, closing


def _due(first: IntArray, last: IntArray, slot: Int32Array) -> tuple[IntArray, IntArray, IntArray]:
    """Return the limits of free rows after each step: where they start, their slots as bits and how many may be free.

    Of the open rows that finish up to some later step, no more can be free than there are columns until then.
    """
    n = first.size
    length = last - first
    row = np.repeat(np.arange(n), length)
    step = np.arange(row.size) - np.repeat(np.cumsum(length) - length, length) + first[row]
    order = np.lexsort((last[row], step))
    row, step = row[order], step[order]
    begin = np.searchsorted(step, np.arange(n + 1))
    rank = np.arange(row.size) - begin[step] + 1
    bits = np.concatenate([[0], np.cumsum(np.int64(1) << slot[row].astype(np.int64))])
    room = last[row] - step
    # Only the last of several rows that finish together says how many they are.
    final = np.append((step[1:] != step[:-1]) | (last[row[1:]] != last[row[:-1]]), True)[: row.size]
    binding = np.flatnonzero(final & (rank > room))
    due = bits[binding + 1] - bits[begin[step[binding]]]
    return np.searchsorted(step[binding], np.arange(n + 1)).astype(np.int64), due, room[binding]
