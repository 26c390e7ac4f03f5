"""Frontier dynamic programming: columns are matched one by one, and only which of the open rows are taken matters.

A row is open from its first column to its last, in the order of the plan. Forward and backward sums over the sets of
taken rows give the permanent and all edge marginals, and polynomials in place of backward sums the distribution of
cracks. Numbers are only added and multiplied, never taken away, so nothing cancels; they are scaled at every step.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.matching.frontier_plan import Plan
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray

#: States whose forward sums are kept at a time; others are made again from the nearest step that was kept.
_KEPT = 4_000_000
#: Transitions in all up to which plain Python is quicker than to wait for the compiler.
_PLAIN_WORK = 20_000
#: A chance that is dropped at each end of a polynomial at each step.
_DROPPED = 1e-18

States = tuple[Int32Array, FloatArray]


class SweepResult(NamedTuple):
    """The log-permanent, the marginal of each edge and, if requested, the distribution of cracks."""

    log_permanent: float
    marginal: FloatArray
    cracks: FloatArray | None


class _Sweep(NamedTuple):
    """A plan with weights, and what the loops need."""

    plan: Plan
    weight: FloatArray
    cracked: BoolArray
    table: Int32Array
    forward: Callable[..., States]
    backward: Callable[..., tuple[FloatArray, FloatArray]]


def sweep(plan: Plan, weight: FloatArray, truth_edge: IntArray, *, cracks: bool) -> SweepResult:
    """Return what there is to know of a block; ``truth_edge`` are the places of the truth's edges among the weights.

    >>> from unveil._kernels.matching.edges import as_edges
    >>> from unveil._kernels.matching.frontier_plan import plan
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
    """Return the polynomials without what has next to no chance at either end, and how many low terms are left out."""
    chance = value @ back
    least = _DROPPED * chance.sum()
    keep = np.flatnonzero((np.cumsum(chance) > least) & (np.cumsum(chance[::-1])[::-1] > least))
    return np.ascontiguousarray(back[:, keep[0] : keep[-1] + 1]), int(keep[0])


def _steps(task: _Sweep, states: States, first: int, stop: int) -> Iterator[tuple[States, float]]:
    """Yield the states after each step from ``first`` on, scaled to the sum 1, with the logarithm of the scale."""
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
    """Yield each step, the last one first, with the states before it; writes the logarithms of all scales first."""
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
    """Return the sets of taken rows after one more column, with their sums; rows that close must be taken.

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
    """Return the polynomial of later cracks of each set before a column, and the chance of each of its edges."""
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
