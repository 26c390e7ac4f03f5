"""The least nonspecific belief function below all probabilities that several ones allow: two linear programmes.

Everything is a value for every set of atoms, at the position whose bits are the atoms.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.mass import transformed

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_SURE = 1e-12
_ACTIVE = 1e-8
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def lower_envelope(bound: Floats) -> Floats | None:
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
    envelope: Floats = np.maximum(least, bound)
    envelope[[0, -1]] = 0.0, 1.0
    return envelope


def _needed(bound: Floats, single: Integers) -> NDArray[np.bool_]:
    """Return the sets whose bound does not follow from that of a set with one atom less."""
    masks = np.arange(bound.size)
    needed = bound > 0
    needed[-1] = False
    for atom in single:
        needed &= ((masks & atom) == 0) | (bound > bound[masks & ~atom])
    return needed


def least_nonspecific(envelope: Floats, sizes: Floats) -> Floats:
    """Return the masses whose belief is nowhere above the envelope and whose mean logarithm of sizes is least.

    Where several are least, the one with the smallest sum of squares: there is only one such, so that the order of the
    atoms does not matter.

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
    masses: Floats = np.zeros(envelope.size)
    masses[free] = np.maximum(_smallest(rows, envelope[free], found), 0.0)
    masses[masses <= _SURE] = 0.0
    masses /= masses.sum()
    return masses


def _smallest(rows: Any, bounds: Floats, found: Any) -> Floats:
    """Return the point of least norm among the optimal ones, which share what the multipliers say.

    Where a multiplier is not 0, the row is tight or the mass is 0 in every optimal point. The rest is a least distance
    problem, solved by nonnegative least squares and then exactly for the constraints that turned out tight.
    """
    from scipy.optimize import nnls

    chosen: Floats = found.x
    tight = np.ones(bounds.size, np.bool_)
    tight[:-1] = np.abs(found.ineqlin.marginals) > _SURE if bounds.size > 1 else True
    open_ = np.flatnonzero(np.abs(found.lower.marginals) <= _SURE)
    if open_.size + int((~tight).sum()) <= bounds.size:
        return chosen
    part = rows[:, open_].toarray()
    # least |x| with sides @ x >= ends
    sides = np.vstack([-part, part[tight], np.eye(open_.size)])
    ends = np.concatenate([-bounds, bounds[tight], np.zeros(open_.size)])
    weights, _ = nnls(
        np.vstack([sides.T, ends]), np.concatenate([np.zeros(open_.size), [1.0]]), maxiter=100 * ends.size
    )
    left = np.append(sides.T @ weights, ends @ weights - 1.0)
    if left[-1] > -_SURE:
        return chosen
    rough = -left[:-1] / left[-1]
    kept = rough > _ACTIVE
    full = tight | (bounds - part @ rough < _ACTIVE)
    exact = np.zeros(open_.size)
    exact[kept] = np.linalg.lstsq(part[full][:, kept], bounds[full], rcond=None)[0]
    if exact.min() < 0 or (part @ exact - bounds).max() > _SURE or np.abs(exact - rough).max() > 1e-6:
        return chosen
    smallest = np.zeros(chosen.size)
    smallest[open_] = exact
    return smallest
