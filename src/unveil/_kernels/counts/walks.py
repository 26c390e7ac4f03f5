"""Integer tables found by random walks, one count at a time.

Corners of programs over three-way tables have fractions, and searches for whole numbers take minutes where thousands of
counts are hidden. A walk that seldom makes sums worse, and more seldom with every step (simulated annealing), finds a
table in seconds; whatever it finds is checked in whole numbers, and what it does not find says nothing.
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.counts.range_search import CellEnds, RangeQuery, lowest_world
from unveil._kernels.counts.rows import SparseRows
from unveil._kernels.counts.solver import Budget
from unveil._kernels.types import IntArray

#: So many steps of a walk are one step of the budget: about as much work as one of a program.
_STEPS_IN_ONE = 200
#: What a walk takes beside its steps, by the number of cells.
_CELLS_IN_ONE = 300
#: How far sums may become worse at the beginning and at the end of a walk: by about so many people.
_HOT, _WARM, _COLD = 0.5, 0.35, 0.13
#: Steps for each cell of a first walk, and of one that starts from a table with a few counts moved.
_FIRST, _AGAIN, _ONE = 4_000, 400, 20
#: No walk is shorter.
_LEAST = 20_000
_MOST_FIRST = 3


@dataclass(frozen=True, eq=False)
class _Walker:
    """The rows of a block, also by cell, as a walk needs them."""

    rows: SparseRows

    @cached_property
    def _by_cell(self) -> tuple[IntArray, IntArray, IntArray]:
        rows = self.rows
        order = np.argsort(rows.cell, kind="stable")
        start = np.searchsorted(rows.cell[order], np.arange(rows.cells + 1)).astype(np.int64)
        return start, rows.of_entry[order], rows.coefficient[order]

    def run(
        self,
        world: IntArray,
        low: IntArray,
        high: IntArray,
        *,
        steps: int,
        hot: float,
        budget: Budget,
        rng: np.random.Generator,
    ) -> IntArray | None:
        """Return a feasible table within N steps from this one, else None."""
        found = world.copy()
        most = min(steps, max(1, budget.left) * _STEPS_IN_ONE)
        rows = self.rows
        go = compiled(walk) if most > PLAIN_UP_TO else walk
        done = go(
            *self._by_cell, rows.start, rows.cell, rows.least, rows.most, low, high, found, most, hot, _COLD, rng
        )  # fmt: skip
        budget.pay(done // _STEPS_IN_ONE + 1 + low.size // _CELLS_IN_ONE)
        return found if done < most and rows.hold(found) else None


def find_by_walking(
    rows: SparseRows, ends: CellEnds, query: RangeQuery, budget: Budget, rng: np.random.Generator
) -> None:
    """Collect tables until the wanted cells show enough values."""
    walker, size = _Walker(rows), ends.low.size
    world = lowest_world(rows, ends)
    for _ in range(_MOST_FIRST):
        if budget.is_spent or world is not None:
            break
        start = np.minimum(ends.low + rng.integers(0, 3, size), ends.high)
        world = walker.run(start, ends.low, ends.high, steps=_FIRST * size, hot=_HOT, budget=budget, rng=rng)
    if world is None:
        return
    ends.take(world)
    enough = 1 if query.enough is None else query.enough
    tried = np.zeros(size, np.bool_)
    batch = size
    while not budget.is_spent:
        left = np.flatnonzero(query.of(ends) & ~tried & (ends.high - ends.low >= enough))
        if query.enough is None:
            left = left[(ends.seen_high == ends.seen_low)[left]]
        if not left.size:
            return
        batch = max(1, min(batch, left.size // 4))
        chosen = rng.choice(left, batch, replace=False)
        low, high = _beyond_seen(ends, chosen, enough, rng)
        start, few = np.clip(world, low, high), batch == 1
        steps = max(_LEAST, (_ONE if few else _AGAIN) * size)
        found = walker.run(start, low, high, steps=steps, hot=_WARM, budget=budget, rng=rng)
        if found is None:
            tried[chosen] = few
            batch //= 2
        else:
            ends.take(found)
            world, batch = found, 2 * batch


def _beyond_seen(ends: CellEnds, chosen: IntArray, enough: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return ends within which each cell shows enough values."""
    low, high = ends.low.copy(), ends.high.copy()
    up, down = ends.seen_low[chosen] + enough, ends.seen_high[chosen] - enough
    rises = (rng.random(chosen.size) < 0.5) | (down < ends.low[chosen])
    rises &= up <= ends.high[chosen]
    falls = ~rises & (down >= ends.low[chosen])
    low[chosen[rises]] = up[rises]
    high[chosen[falls]] = down[falls]
    return low, high


def beyond(value: int, at_least: int, at_most: int) -> int:
    """Return by how much a sum misses its ends."""
    if value < at_least:
        return at_least - value
    return value - at_most if value > at_most else 0


@loop("i8[], i8[], i8[], i8[], i8[], i8[], i8[], i8[], i8[], i8[], i8, f8, f8, rng")
def walk(
    cell_start: IntArray,
    cell_row: IntArray,
    cell_coefficient: IntArray,
    row_start: IntArray,
    row_cell: IntArray,
    at_least: IntArray,
    at_most: IntArray,
    low: IntArray,
    high: IntArray,
    world: IntArray,
    steps: int,
    hot: float,
    cold: float,
    rng: np.random.Generator,
) -> int:
    """Change the table until every sum holds, and return the steps."""
    sums = np.zeros(at_least.size, np.int64)
    for cell in range(world.size):
        for entry in range(cell_start[cell], cell_start[cell + 1]):
            sums[cell_row[entry]] += cell_coefficient[entry] * world[cell]
    # The rows that do not hold, and where each stands among them.
    broken, place, number = np.zeros(at_least.size, np.int64), np.full(at_least.size, -1, np.int64), 0
    for row in range(at_least.size):
        if beyond(sums[row], at_least[row], at_most[row]) > 0:
            broken[number], place[row] = row, number
            number += 1
    for step in range(steps):
        if number == 0:
            return step
        row = broken[int(rng.random() * number)]
        cell = row_cell[row_start[row] + int(rng.random() * (row_start[row + 1] - row_start[row]))]
        sign = 1 if rng.random() < 0.5 else -1
        if world[cell] + sign < low[cell] or world[cell] + sign > high[cell]:
            continue
        worse = 0
        for entry in range(cell_start[cell], cell_start[cell + 1]):
            own, change = cell_row[entry], sign * cell_coefficient[entry]
            worse += beyond(sums[own] + change, at_least[own], at_most[own]) - beyond(
                sums[own], at_least[own], at_most[own]
            )
        if worse > 0 and rng.random() >= exp(-worse / (hot * (cold / hot) ** (step / steps))):
            continue
        world[cell] += sign
        for entry in range(cell_start[cell], cell_start[cell + 1]):
            own = cell_row[entry]
            sums[own] += sign * cell_coefficient[entry]
            is_broken = beyond(sums[own], at_least[own], at_most[own]) > 0
            if is_broken and place[own] < 0:
                broken[number], place[own] = own, number
                number += 1
            elif not is_broken and place[own] >= 0:
                number -= 1
                last = broken[number]
                broken[place[own]], place[last] = last, place[own]
                place[own] = -1
    return steps
