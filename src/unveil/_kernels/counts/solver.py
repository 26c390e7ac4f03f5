"""Linear programs on one block of cells, with a deterministic step budget."""

from dataclasses import dataclass, field

import numpy as np

from unveil._kernels.counts.rows import NO_END, SparseRows
from unveil._kernels.types import FloatArray, IntArray

#: How far the solver's numbers may be from whole ones.
TOLERANCE = 1e-6
#: What a solver does at each node of a search, in steps of the budget.
_NODE = 200
#: Nodes of one search for a whole-number table.
MOST_NODES = 100
#: Larger programs are not searched: the first node alone may take minutes, whatever the budget.
LARGEST_SEARCH = 1_500
#: With more cells no program is solved, which would take minutes: tables are found by walking, and show what cannot be
#: worked out. Ends that sums give are true, and perhaps too wide.
LARGEST_PROGRAM = 20_000


@dataclass
class Budget:
    """Remaining solver steps, and the number of programs solved.

    What a budget that is a part of another pays, the other pays too.
    """

    left: int
    linear: int = 0
    whole: int = 0
    spent: int = 0
    source: "Budget | None" = None

    @property
    def is_spent(self) -> bool:
        """True if no step is left."""
        return self.left <= 0

    def pay(self, steps: int) -> None:
        """Spend steps of the budget."""
        self.left -= steps
        self.spent += steps
        if self.source is not None:
            self.source.pay(steps)

    def part(self, number: int) -> "Budget":
        """Return one of N equal parts of the remaining budget.

        >>> budget = Budget(90)
        >>> budget.part(3).pay(10)
        >>> budget.left, budget.part(2).left
        (80, 40)
        """
        return Budget(max(0, self.left) // number, source=self)


@dataclass(frozen=True, eq=False)
class ProgramSolution:
    """The solver's result: its status, values, and the multiplier of each row."""

    state: str
    value: float = 0.0
    values: FloatArray = field(default_factory=lambda: np.zeros(0))
    multipliers: FloatArray = field(default_factory=lambda: np.zeros(0))


def linear(rows: SparseRows, low: IntArray, high: IntArray, cost: FloatArray, budget: Budget) -> ProgramSolution:
    """Return the least cost over fractional tables, with its status."""
    from scipy.optimize import linprog

    even = rows.least == rows.most
    left: dict[str, object] = {}
    upper, lower = np.flatnonzero(~even & rows.has_most), np.flatnonzero(~even & rows.has_least)
    if upper.size or lower.size:
        from scipy.sparse import vstack

        left = {
            "A_ub": vstack([rows.matrix[upper], -rows.matrix[lower]], format="csr"),
            "b_ub": np.concatenate([rows.most[upper], -rows.least[lower]]).astype(np.float64),
        }
    if even.any():
        left |= {"A_eq": rows.matrix[np.flatnonzero(even)], "b_eq": rows.least[even].astype(np.float64)}
    ends = np.column_stack([low.astype(np.float64), np.where(high >= NO_END, np.inf, high)])
    # No program takes more than what is left.
    most = max(1, budget.left // _weight(low.size))
    found = linprog(cost, bounds=ends, method="highs", options={"maxiter": most}, **left)
    budget.linear += 1
    budget.pay(program_steps(rows, low.size, int(found.nit)))
    if found.status != 0:
        return ProgramSolution({2: "none", 3: "endless"}.get(found.status, "unknown"))
    multipliers = np.zeros(rows.number)
    if even.any():
        multipliers[even] = found.eqlin.marginals
    if upper.size or lower.size:
        multipliers[upper] += found.ineqlin.marginals[: upper.size]
        multipliers[lower] -= found.ineqlin.marginals[upper.size :]
    return ProgramSolution("solved", float(found.fun), found.x, multipliers)


def program_steps(rows: SparseRows, size: int, steps: int) -> int:
    """Return the budget cost of a program with N unknowns."""
    return _weight(size) * steps + 1 + (rows.cell.size >> 4)


def _weight(size: int) -> int:
    return 1 + size // 1_000


def whole(
    rows: SparseRows, low: IntArray, high: IntArray, cost: FloatArray, budget: Budget, *, gap: float = 1e9
) -> ProgramSolution:
    """Return an integer table, with the status as in `linear`."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    if low.size > LARGEST_SEARCH:
        return ProgramSolution("unknown")
    ends = Bounds(low.astype(np.float64), np.where(high >= NO_END, np.inf, high))
    least, most = np.where(rows.has_least, rows.least, -np.inf), np.where(rows.has_most, rows.most, np.inf)
    sums = [LinearConstraint(rows.matrix, least, most)] if rows.number else []
    nodes = max(1, min(MOST_NODES, budget.left // _NODE))
    options = {"node_limit": nodes, "mip_rel_gap": gap}
    found = milp(cost, integrality=np.ones(low.size), bounds=ends, constraints=sums, options=options)
    budget.whole += 1
    # What is done at the first node grows with the program, and no limit of the solver binds it.
    budget.pay(_NODE * max(1, int(found.mip_node_count or 0)) + 8 * rows.cell.size)
    if found.x is not None:
        return ProgramSolution("solved", float(found.fun), found.x)
    return ProgramSolution({2: "none", 3: "endless"}.get(found.status, "unknown"))


def world_of(rows: SparseRows, low: IntArray, high: IntArray, values: FloatArray) -> IntArray | None:
    """Return a solution as integers if it satisfies every row, else None."""
    if not np.isfinite(values).all() or (np.abs(values) > float(NO_END)).any():
        return None
    rounded = np.round(values)
    if (np.abs(values - rounded) > 1e-4).any():
        return None
    world = rounded.astype(np.int64)
    fits = ((world >= low) & (world <= high)).all()
    return world if fits and rows.hold(world) else None


def certified(
    rows: SparseRows, low: IntArray, high: IntArray, cell: int, sign: int, multipliers: FloatArray
) -> int | None:
    """Return an exactly verified bound on ``sign`` · cell, or None.

    Any multipliers y give one: Σ y·row + the least of what is left of each cell. Those of the solver are rounded to
    twelfths first, so that nothing of it hangs on floats.
    """
    twelfths = np.round(multipliers * 12).astype(np.int64)
    left = np.zeros(low.size, np.int64)
    left[cell] = 12 * sign
    np.subtract.at(left, rows.cell, twelfths[rows.of_entry] * rows.coefficient)
    endless = ((twelfths > 0) & ~rows.has_least) | ((twelfths < 0) & ~rows.has_most)
    if ((left < 0) & (high >= NO_END)).any() or endless.any():
        return None
    of_rows = np.where(twelfths > 0, rows.least, rows.most)
    total = sum(int(y) * int(end) for y, end in zip(twelfths, of_rows, strict=True) if y)
    ends = np.where(left > 0, low, high)
    total += sum(int(left[at]) * int(ends[at]) for at in np.flatnonzero(left))
    return -(-total // 12)
