"""The least nonspecific belief function below all probabilities that several ones allow: two linear programmes.

Everything is a value for every set of atoms, at the position whose bits are the atoms.
"""

from typing import Any

import numpy as np

from unveil._kernels.mass.masses import transformed
from unveil._kernels.types import BoolArray, FloatArray, IntArray

_SURE = 1e-12
_PRESSED = 1e-9
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def lower_envelope(bound: FloatArray) -> FloatArray | None:
    """Return the least probability of every set among the probabilities that are nowhere below the bound.

    None if there is no such probability. A programme is solved only for sets where none of the probabilities found so
    far is as low as the bound: there the bound itself is the answer.

    >>> lower_envelope(np.array([0, 0.5, 0.25, 1]))
    array([0.  , 0.5 , 0.25, 1.  ])
    """
    from scipy.optimize import linprog

    atoms = bound.size.bit_length() - 1
    single = 1 << np.arange(atoms)
    needed = np.flatnonzero(_needed(bound, single))
    rows = -((needed[:, None] & single) > 0).astype(np.float64)
    least = np.full(bound.size, np.inf)
    # Large sets first: what makes them least probable makes many small ones so as well.
    for mask in range(bound.size - 2, -1, -1):
        if least[mask] - bound[mask] <= _SURE:
            continue
        cost = ((mask & single) > 0).astype(np.float64)
        found = linprog(
            cost, rows, -bound[needed], np.ones((1, atoms)), [1.0], bounds=(0, 1), method="highs", options=_OPTIONS
        )
        if found.status != 0:
            return None
        probability = np.zeros(bound.size)
        probability[single] = np.maximum(found.x, 0.0)
        least = np.minimum(least, transformed(probability, "subsets"))
        least[mask] = max(float(found.fun), float(bound[mask]))
    envelope: FloatArray = np.maximum(least, bound)
    envelope[[0, -1]] = 0.0, 1.0
    return envelope


def _needed(bound: FloatArray, single: IntArray) -> BoolArray:
    """Return the sets whose bound does not follow from that of a set with one atom less."""
    masks = np.arange(bound.size)
    needed = bound > 0
    needed[-1] = False
    for atom in single:
        needed &= ((masks & atom) == 0) | (bound > bound[masks & ~atom])
    return needed


def least_nonspecific(envelope: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return the masses whose belief is nowhere above the envelope and whose mean logarithm of sizes is least.

    Where several are least, the most even one: its largest mass is as small as can be, then its second largest, and so
    on. There is only one such, so that the order of the atoms does not matter.

    >>> least_nonspecific(np.array([0, 0.5, 0.25, 1]), np.array([1.0, 1, 1, 2]))
    array([0.  , 0.5 , 0.25, 0.25])
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix, kron

    within = csr_matrix(np.ones((1, 1)))
    for _ in range(envelope.size.bit_length() - 1):
        within = kron(np.array([[1, 0], [1, 1]]), within, format="csr")
    free = np.flatnonzero(envelope > _SURE)
    rows = within[free][:, free]
    # The whole set is last; its row says that the masses sum to 1.
    found = linprog(
        np.log(sizes[free]),
        rows[:-1] if free.size > 1 else None,
        envelope[free][:-1] if free.size > 1 else None,
        np.ones((1, free.size)),
        [1.0],
        method="highs",
        options=_OPTIONS,
    )
    masses: FloatArray = np.zeros(envelope.size)
    masses[free] = np.maximum(_most_even(rows, envelope[free], found), 0.0)
    masses[masses <= _SURE] = 0.0
    masses /= masses.sum()
    return masses


def _most_even(rows: Any, bounds: FloatArray, solution: Any) -> FloatArray:
    """Return the most even one of the optimal points, which share what the multipliers say.

    Where a multiplier is not 0, the row is tight or the mass is 0 in every optimal point. Among those left, the largest
    mass is made as small as can be; the masses that keep it from being smaller are settled, and so on with the others.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix, eye, hstack, vstack

    tight = np.ones(bounds.size, np.bool_)
    tight[:-1] = np.abs(solution.ineqlin.marginals) > _SURE if bounds.size > 1 else True
    left = np.flatnonzero(np.abs(solution.lower.marginals) <= _SURE)
    if left.size + int((~tight).sum()) <= bounds.size:
        return np.asarray(solution.x)
    part = hstack([rows[:, left], csr_matrix((bounds.size, 1))], format="csr")
    ceiling = hstack([eye(left.size), csr_matrix(-np.ones((left.size, 1)))], format="csr")
    low, high = np.zeros(left.size + 1), np.full(left.size + 1, np.inf)
    values, waiting = solution.x[left], np.arange(left.size)
    while waiting.size:
        answer = linprog(
            np.append(np.zeros(left.size), 1.0),
            vstack([part[~tight], ceiling[waiting]], format="csr"),
            np.concatenate([bounds[~tight], np.zeros(waiting.size)]),
            part[tight],
            bounds[tight],
            np.column_stack([low, high]),
            method="highs",
            options=_OPTIONS,
        )
        if answer.status != 0:  # rounding of what was settled leaves no room: what is left to even out is rounding too
            break
        values, most = answer.x[:-1], float(answer.x[-1])
        settled = waiting[-answer.ineqlin.marginals[-waiting.size :] > _PRESSED] if most > _SURE else waiting
        low[settled] = high[settled] = most
        waiting = np.setdiff1d(waiting, settled)
    even = np.zeros(solution.x.size)
    even[left] = values
    return even
