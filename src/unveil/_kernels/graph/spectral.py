"""The largest eigenvalues of an undirected graph's adjacency matrix."""

import inspect
from typing import Any, NamedTuple

import numpy as np

from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: Up to so many nodes all eigenvalues are computed from the full matrix.
DENSE_UP_TO = 400
#: Relative errors to settle for, and the restarts that each is worth; only long chains and lattices need the later.
_TOLERANCES = ((1e-10, 60), (1e-3, 300), (1e-1, 3000))


class Eigenvalues(NamedTuple):
    """Eigenvalues, largest first, with relative error bounds."""

    values: FloatArray
    tolerance: float


def largest_eigenvalues(start: IntArray, neighbour: Int32Array, count: int) -> Eigenvalues:
    """Return the ``count`` largest eigenvalues of the adjacency matrix.

    The iteration begins from a fixed vector: the same graph gives the same values to the last bit, and one with other
    numbers for its nodes the same to about ten digits.

    >>> largest_eigenvalues(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32), 1).values.round(4)
    array([1.4142])
    """
    nodes = start.size - 1
    count = min(count, nodes)
    if neighbour.size == 0 or count == 0:
        return Eigenvalues(np.zeros(count), 0.0)
    if nodes <= max(DENSE_UP_TO, 3 * count):
        matrix = np.zeros((nodes, nodes))
        matrix[np.repeat(np.arange(nodes), np.diff(start)), neighbour] = 1.0
        return Eigenvalues(np.linalg.eigvalsh(matrix)[::-1][:count].astype(np.float64), 1e-12)
    return _iterate(start, neighbour, count)


def spectral_norm(start: IntArray, neighbour: Int32Array) -> Eigenvalues:
    """Return the largest absolute eigenvalue of the adjacency matrix.

    No entry is negative, hence the largest eigenvalue is also the largest in size (Perron and Frobenius).

    >>> spectral_norm(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)).values.round(4)
    array([1.4142])
    """
    found = largest_eigenvalues(start, neighbour, 1)
    return found if found.values.size else Eigenvalues(np.zeros(1), 0.0)


def _iterate(start: IntArray, neighbour: Int32Array, count: int) -> Eigenvalues:
    """Return the largest eigenvalues by implicitly restarted Lanczos iteration."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    nodes = start.size - 1
    matrix = csr_array((np.ones(neighbour.size), neighbour, start), shape=(nodes, nodes))
    # Positive everywhere, like the eigenvector sought, and without a symmetry that could hide others from it.
    first = 1 + np.modf(np.arange(nodes) * 0.6180339887498949)[0]
    settings: dict[str, Any] = {"which": "LA", "v0": first, "ncv": 2 * count + 38, "return_eigenvectors": False}
    for tolerance, restarts in _TOLERANCES:
        # Where the iteration has seen all that the vector leads to, newer versions draw another: by a fixed lot.
        if "rng" in inspect.signature(eigsh).parameters:
            settings["rng"] = np.random.default_rng(0)
        try:
            values = eigsh(matrix, k=count, tol=tolerance, maxiter=restarts, **settings)
        except ArpackNoConvergence:
            continue
        return Eigenvalues(np.sort(values)[::-1], tolerance)
    return Eigenvalues(np.full(count, np.nan), np.nan)
