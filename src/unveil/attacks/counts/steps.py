"""Derivations of suppressed cells, as sums that a reader can check."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unveil._kernels.counts.rows import SparseRows
from unveil._kernels.counts.solve import Solution
from unveil._kernels.counts.solver import Budget, program_steps
from unveil._kernels.types import BoolArray, IntArray
from unveil.data.counts.system import CountSystem

#: How a count follows: another table shows it; one sum; sums whose ends meet; one sum made of several; all together.
StepKind = Literal["shown", "sum", "ends", "combined", "together"]
#: In larger systems a shortest sum is not looked for.
_LARGEST = 6_000


@dataclass(frozen=True)
class SumTerm:
    """A cell in a sum, its count, and whether it is derived."""

    sign: int
    cell: int
    count: int
    is_hidden: bool


@dataclass(frozen=True)
class DerivationStep:
    """Derivation of one count: its terms and round."""

    cell: int
    count: int
    kind: StepKind
    terms: tuple[SumTerm, ...] = ()
    round: int = -1


def steps(
    released: CountSystem, solution: Solution, low: IntArray, high: IntArray, cells: IntArray, budget: Budget
) -> list[DerivationStep]:
    """Return the derivation of each cell, direct ones first.

    ``low`` and ``high`` are what is told of each cell by itself. When the budget is spent, no shortest sum is looked
    for any more.
    """
    shown = low == high
    made = [_step(released, solution, shown, int(cell), budget) for cell in cells]
    rank = {"shown": 0, "sum": 1, "ends": 2, "combined": 3, "together": 4}
    return sorted(made, key=lambda step: (step.round, rank[step.kind], len(step.terms), step.cell))


def _step(released: CountSystem, solution: Solution, shown: BoolArray, cell: int, budget: Budget) -> DerivationStep:
    value, sums, rows = int(solution.low[cell]), solution.sums, released.arrays.rows
    if shown[cell]:
        return DerivationStep(cell, value, "shown")
    if sums.low[cell] != sums.high[cell]:
        return _combined(released, solution, shown, cell, value, budget)
    done = int(max(sums.low_round[cell], sums.high_round[cell]))
    for row in (int(sums.low_row[cell]), int(sums.high_row[cell])):
        if row < 0:
            continue
        entries = slice(rows.start[row], rows.start[row + 1])
        own, signs = rows.cell[entries], rows.coefficient[entries]
        others = own != cell
        before = np.maximum(sums.low_round, sums.high_round)[own[others]]
        fixed = (sums.low == sums.high)[own[others]] & (shown[own[others]] | (before < done))
        if fixed.all() and abs(int(signs[~others][0])) == 1 and rows.least[row] == rows.most[row] == 0:
            turn = -int(signs[~others][0])
            terms = tuple(
                SumTerm(turn * int(sign), int(other), int(sums.low[other]), not bool(shown[other]))
                for other, sign in zip(own[others], signs[others], strict=True)
            )
            return DerivationStep(cell, value, "sum", _positive_first(terms), done)
    row = int(sums.high_row[cell] if sums.high_round[cell] >= sums.low_round[cell] else sums.low_row[cell])
    return DerivationStep(cell, value, "ends", _in_row(released, solution, shown, row, cell), done)


def _in_row(released: CountSystem, solution: Solution, shown: BoolArray, row: int, cell: int) -> tuple[SumTerm, ...]:
    rows = released.arrays.rows
    own = rows.cell[rows.start[row] : rows.start[row + 1]]
    signs = rows.coefficient[rows.start[row] : rows.start[row + 1]]
    return tuple(
        SumTerm(int(sign), int(other), int(solution.low[other]), not bool(shown[other]))
        for other, sign in zip(own, signs, strict=True)
        if other != cell
    )


def _combined(
    released: CountSystem, solution: Solution, shown: BoolArray, cell: int, value: int, budget: Budget
) -> DerivationStep:
    """Return the shortest sum of shown counts for a cell, or None."""
    late = 1 + solution.sums.rounds
    found = None
    if released.number <= _LARGEST and not budget.is_spent:
        fixed = solution.sums.low == solution.sums.high
        found = fewest_terms(released.arrays.rows, fixed, cell, budget)
    if found is None:
        return DerivationStep(cell, value, "together", round=late)
    terms = tuple(
        SumTerm(int(weight), int(other), int(solution.low[other]), not bool(shown[other]))
        for other, weight in zip(*found, strict=True)
    )
    if sum(term.sign * term.count for term in terms) != value:
        return DerivationStep(cell, value, "together", round=late)
    return DerivationStep(cell, value, "combined", _positive_first(terms), late)


def _positive_first(terms: tuple[SumTerm, ...]) -> tuple[SumTerm, ...]:
    return tuple(sorted(terms, key=lambda term: (term.sign < 0, -term.count)))


# The sum of the fewest known cells that gives another one.


def fewest_terms(rows: SparseRows, known: BoolArray, cell: int, budget: Budget) -> tuple[IntArray, IntArray] | None:
    """Return the lightest integer combination of known cells for a cell.

    It returns None if there is none.

    Only rows that sum to 0 are used. A linear program over the multipliers of rows: what they leave of unknown cells
    must vanish, and what they leave of known ones costs its absolute weight.

    >>> from unveil._kernels.counts.rows import rows_of
    >>> rows = rows_of([(np.array([[0, 1, 2]]), np.array([1, -1, -1]))], 3)
    >>> [each.tolist() for each in fewest_terms(rows, np.array([True, True, False]), 2, Budget(99))]
    [[0, 1], [1, -1]]
    """
    from scipy.optimize import linprog
    from scipy.sparse import csc_array, eye_array, hstack

    zero = (rows.least == 0) & (rows.most == 0)
    across = csc_array(rows.matrix.T)[:, np.flatnonzero(zero)]
    unknown = np.flatnonzero(~known)
    cells = np.flatnonzero(known)
    target = (unknown == cell).astype(np.float64)
    # Known cells: weights of both signs take up what the rows leave there.
    both = hstack([across[cells], eye_array(cells.size), -eye_array(cells.size)], format="csr")
    none = hstack([across[unknown], csc_array((unknown.size, 2 * cells.size))], format="csr")
    from scipy.sparse import vstack

    number = across.shape[1]
    found = linprog(
        np.concatenate([np.zeros(number), np.ones(2 * cells.size)]),
        A_eq=vstack([none, both], format="csr"),
        b_eq=np.concatenate([target, np.zeros(cells.size)]),
        bounds=[(None, None)] * number + [(0, None)] * (2 * cells.size),
        method="highs",
        options={"maxiter": max(1, budget.left)},
    )
    budget.pay(program_steps(rows, number + 2 * cells.size, int(found.nit)))
    if found.status != 0:
        return None
    weights = found.x[number : number + cells.size] - found.x[number + cells.size :]
    whole = np.round(weights).astype(np.int64)
    if np.abs(weights - whole).max(initial=0.0) > 1e-6:
        return None
    used = np.flatnonzero(whole)
    return cells[used], whole[used]
