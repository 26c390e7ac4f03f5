"""The sum of the fewest known cells that gives another one."""

import numpy as np

from unveil._kernels.counts.rows import SparseRows
from unveil._kernels.counts.solver import Budget, program_steps
from unveil._kernels.types import BoolArray, IntArray


def fewest_terms(rows: SparseRows, known: BoolArray, cell: int, budget: Budget) -> tuple[IntArray, IntArray] | None:
    """Return known cells and whole weights whose sum is the cell, as light as can be, None if no sum gives it.

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
