"""Frontier dynamic programming over columns and open rows.

A row is open from its first column to its last, in the order of the plan. Forward and backward sums over the sets of
taken rows give the permanent and all edge marginals, and polynomials in place of backward sums the distribution of
cracks. Numbers are only added and multiplied, never taken away, so nothing cancels; they are scaled at every step.
"""

from collections.abc import Callable, Iterator
from math import comb
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.matching.edges import Edges, edges_of, transposed
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray

#: States whose forward sums are kept at a time; others are made again from the nearest step that was kept.
_KEPT = 4_000_000
#: Transitions in all up to which plain Python is quicker than to wait for the compiler.
_PLAIN_WORK = 20_000
#: A chance that is dropped at each end of a polynomial at each step.
_DROPPED = 1e-18

States = tuple[Int32Array, FloatArray]


class SweepResult(NamedTuple):
    """Log-permanent, edge marginals, and optional crack distribution."""

    log_permanent: float
    marginal: FloatArray
    cracks: FloatArray | None


# In which order to go through the columns, so that few rows are open at a time: started and not yet finished.
#
# Where rows have their columns side by side in some order (frequency ranges), that order is found again from the
# slowest vibration of the graph (the Fiedler vector, which sorts such graphs), or from the middle of each row's
# columns.

#: Open rows are bits of a number that indexes a table.
WIDEST = 24
#: Transitions that cost less than to look for a better order.
_CHEAP = 2e8
_TRIES = 5


class Plan(NamedTuple):
    """Sweep plan: edges per step with row slots, and finishing rows.

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
    """Column order with its cost and each row's first and last step."""

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
    return None if best is None else _plan_of(best)


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
    """Return the columns reordered by mean row positions, iterated."""
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
    """Return the columns in Cuthill–McKee order."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n = edges.n
    row, column = edges.row.astype(np.int64), edges.column.astype(np.int64) + n
    both = edges_of(np.append(row, column), np.append(column, row), np.ones(2 * row.size), 2 * n)
    order = reverse_cuthill_mckee(csr_array((both.weight, both.column, both.start), shape=(2 * n, 2 * n)), True)
    return np.asarray(order[order >= n] - n, np.int32)


def _slowest(edges: Edges) -> Int32Array | None:
    """Return the columns by the Fiedler vector, or None."""
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
    """Return the cost of a column order, or None above the limit."""
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


def _plan_of(draft: _Draft) -> Plan:
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
    """Return a slot per row, and the slots freed per step."""
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
    """Return the limits of free rows after each step.

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


class _Sweep(NamedTuple):
    """Plan with weights and loop inputs."""

    plan: Plan
    weight: FloatArray
    cracked: BoolArray
    table: Int32Array
    forward: Callable[..., States]
    backward: Callable[..., tuple[FloatArray, FloatArray]]


def sweep(plan: Plan, weight: FloatArray, truth_edge: IntArray, *, cracks: bool) -> SweepResult:
    """Return the sweep results; ``truth_edge`` are the true edges.

    >>> from unveil._kernels.matching.edges import as_edges
    >>> from unveil._kernels.matching.frontier import plan
    >>> block = as_edges(np.array([[0.6, 0.4], [0.4, 0.6]]))
    >>> found = sweep(plan(block), block.weight, np.array([0, 3]), cracks=True)
    >>> found.marginal.round(3), found.cracks.round(3)
    (array([0.692, 0.308, 0.308, 0.692]), array([0.308, 0.   , 0.692]))
    """
    n = plan.closing.size
    mark = np.zeros(weight.size, np.bool_)
    mark[truth_edge] = True
    fast = plan.work > _PLAIN_WORK
    task = _Sweep(
        plan,
        weight[plan.place],
        mark[plan.place],
        np.full(1 << plan.width, -1, np.int32),
        compiled(_forward) if fast else _forward,
        compiled(_backward) if fast else _backward,
    )
    marginal, logs = np.empty(weight.size), list[float]()
    after: Int32Array = np.zeros(1, np.int32)
    back, low = np.ones((1, 1)), 0
    for step, (mask, value) in _from_the_end(task, logs):
        here = slice(plan.start[step], plan.start[step + 1])
        back, part = task.backward(
            mask, value, after, back, plan.slot[here], task.weight[here], task.cracked[here] & cracks,
            plan.closing[step], task.table,
        )  # fmt: skip
        marginal[plan.place[here]] = part / part.sum()
        after = mask
        back /= back.max()
        if cracks:
            back, left_out = _trimmed(back, value)
            low += left_out
    whole = None
    if cracks:
        whole = np.zeros(n + 1)
        whole[low : low + back.shape[1]] = back[0] / back[0].sum()
    return SweepResult(float(np.sum(logs)), marginal, whole)


def _trimmed(back: FloatArray, value: FloatArray) -> tuple[FloatArray, int]:
    """Return the polynomials without negligible ends, and the cut terms."""
    chance = value @ back
    least = _DROPPED * chance.sum()
    keep = np.flatnonzero((np.cumsum(chance) > least) & (np.cumsum(chance[::-1])[::-1] > least))
    return np.ascontiguousarray(back[:, keep[0] : keep[-1] + 1]), int(keep[0])


def _steps(task: _Sweep, states: States, first: int, stop: int) -> Iterator[tuple[States, float]]:
    """Yield the normalized states after each step, with log scale."""
    for step in range(first, stop):
        here = slice(task.plan.start[step], task.plan.start[step + 1])
        due = slice(task.plan.due_start[step], task.plan.due_start[step + 1])
        room = task.plan.bound[step + 1] if step + 1 < len(task.plan.bound) else 1
        # The rows opened at the next step are free there, so the bound holds for the states after this step too.
        room = min(room, states[0].size * (here.stop - here.start)) if room else 1
        mask, value = task.forward(
            *states, task.plan.slot[here], task.weight[here], task.plan.closing[step],
            task.plan.due[due], task.plan.due_room[due], task.table, room,
        )  # fmt: skip
        total = float(value.sum())
        states = mask, value / total
        yield states, float(np.log(total))


_FIRST: States = (np.zeros(1, np.int32), np.ones(1))


def _from_the_end(task: _Sweep, logs: list[float]) -> Iterator[tuple[int, States]]:
    """Yield each step backward with its states; log scales come first."""
    n = task.plan.closing.size
    kept = {0: [_FIRST]}
    since, first = 1, 0
    for step, (states, log) in enumerate(_steps(task, _FIRST, 0, n), start=1):
        logs.append(log)
        since += states[0].size
        if since > _KEPT:
            kept[first] = kept[first][:1]
            first, since = step, states[0].size
            kept[first] = []
        kept[first].append(states)
    stop = n
    for first, part in reversed(kept.items()):
        if len(part) == 1:
            part += (found for found, _ in _steps(task, part[0], first, stop - 1))
        for offset in reversed(range(stop - first)):
            yield first + offset, part[offset]
        part.clear()
        stop = first


@loop("i4[], f8[], i4[], f8[], i8, i8[], i8[], i4[], i8")
def _forward(
    mask: Int32Array,
    value: FloatArray,
    slot: Int32Array,
    weight: FloatArray,
    closing: int,
    due: IntArray,
    due_room: IntArray,
    table: Int32Array,
    room: int,
) -> States:
    """Return the taken-row sets after one more column, with sums.

    A set that leaves more rows free than there are columns for is marked with -2 in the table when first met.
    """
    next_mask, next_value = np.empty(room, np.int32), np.empty(room)
    dead = np.empty(room * (slot.size + 1) if due.size else 0, np.int32)
    size, lost = 0, 0
    for k in range(mask.size):
        for e in range(slot.size):
            bit = 1 << slot[e]
            taken = mask[k] | bit
            if mask[k] & bit or taken & closing != closing:
                continue
            taken ^= closing
            at = table[taken]
            if at == -1:
                at = size
                for d in range(due.size):
                    free, count = due[d] & ~taken, 0
                    while free:
                        free &= free - 1
                        count += 1
                    if count > due_room[d]:
                        at = -2
                        break
                table[taken] = at
                if at == -2:
                    dead[lost] = taken
                    lost += 1
                else:
                    next_mask[at] = taken
                    next_value[at] = 0.0
                    size += 1
            if at >= 0:
                next_value[at] += value[k] * weight[e]
    for k in range(size):
        table[next_mask[k]] = -1
    for k in range(lost):
        table[dead[k]] = -1
    return next_mask[:size].copy(), next_value[:size].copy()


@loop("i4[], f8[], i4[], f8[,], i4[], f8[], b1[], i8, i4[]")
def _backward(
    mask: Int32Array,
    value: FloatArray,
    after: Int32Array,
    back: FloatArray,
    slot: Int32Array,
    weight: FloatArray,
    cracked: BoolArray,
    closing: int,
    table: Int32Array,
) -> tuple[FloatArray, FloatArray]:
    """Return backward crack polynomials, and each edge's probability."""
    terms = back.shape[1]
    result = np.zeros((mask.size, terms + int(cracked.any())))
    part = np.zeros(slot.size)
    for k in range(after.size):
        table[after[k]] = k
    for k in range(mask.size):
        for e in range(slot.size):
            bit = 1 << slot[e]
            taken = mask[k] | bit
            if mask[k] & bit or taken & closing != closing:
                continue
            at = table[taken ^ closing]
            if at < 0:
                continue
            shift = int(cracked[e])
            whole = back[at, 0]
            result[k, shift] += weight[e] * whole
            for c in range(1, terms):
                result[k, c + shift] += weight[e] * back[at, c]
                whole += back[at, c]
            part[e] += value[k] * weight[e] * whole
    for k in range(after.size):
        table[after[k]] = -1
    return result, part
