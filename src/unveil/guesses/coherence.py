"""Joint validity of two beliefs about one target, without ground truth."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.mass.flow import largest_flow
from unveil._kernels.mass.masses import sums_at
from unveil._kernels.mass.sets import chosen_rows, is_member
from unveil._kernels.types import FloatArray, IntArray
from unveil.errors import InputError
from unveil.guesses.mass_function import ROUNDING, MassFunction


@dataclass(frozen=True, eq=False)
class Coherence:
    """Whether a probability is compatible with two beliefs, with evidence.

    Attributes
    ----------
    coherent
        Whether there is such a probability. If not, at least one of the two beliefs is invalid, whatever is true.
    witness
        If not, a set of elements that the first believes in more than the second finds plausible; else empty.
    belief, plausibility
        The belief of the first and the plausibility of the second for the witness; NaN if coherent.
    probability
        If coherent, elements and their probabilities under one probability that is compatible with both; else None.
    """

    coherent: bool
    witness: IntArray
    belief: float
    plausibility: float
    probability: tuple[IntArray, FloatArray] | None

    @property
    def why(self) -> str:
        """The verdict in one sentence."""
        if self.coherent:
            return "Both can be valid: some probability is compatible with both."
        many = f"{self.witness.size} record{'s' * (self.witness.size != 1)}"
        return (
            f"At least one of the two is invalid, whatever the truth is. For the same {many}, the belief of the first "
            f"is at least {self.belief:.6g}, but the plausibility of the second is at most {self.plausibility:.6g}."
        )


def jointly_coherent(one: MassFunction, other: MassFunction) -> Coherence:
    """Return whether two beliefs can both be valid, with evidence.

    They can if and only if some probability is compatible with both, that is if the masses of the first can be carried
    to sets of the second that they share an element with. Conflict alone is no contradiction.

    >>> jointly_coherent(MassFunction.from_set(4, [0, 1]), MassFunction.from_set(4, [1, 2])).probability
    (array([1]), array([1.]))
    >>> print(jointly_coherent(MassFunction.from_set(4, [0, 1]), MassFunction.from_set(4, [2])).why)
    At least one of the two is invalid, whatever the truth is. For the same 2 records, the belief of the first is at least 1, but the plausibility of the second is at most 0.
    """  # noqa: E501
    if one.size != other.size:
        raise InputError(f"The beliefs are on frames of different sizes, {one.size} and {other.size}. Use one frame")
    start, column = _meeting(one, other)
    flow = largest_flow(start, column, one.mass, other.mass)
    if flow.missing <= ROUNDING:
        return Coherence(True, np.zeros(0, np.int64), np.nan, np.nan, _shared(one, other, start, column, flow.carried))
    witness = np.unique(chosen_rows(one.rows, np.flatnonzero(flow.reached)).element)
    return Coherence(False, witness, one.belief(witness), other.plausibility(witness), None)


def _meeting(one: MassFunction, other: MassFunction) -> tuple[IntArray, IntArray]:
    """Return the intersecting focal sets of the second, per first."""
    if one.mass.size == 1:
        met = np.flatnonzero(
            np.add.reduceat(is_member(other.rows.element, one.support).astype(np.int64), other.rows.start[:-1])
        )
        return np.array([0, met.size]), met
    from scipy.sparse import csr_matrix

    elements = np.union1d(one.support, other.support)
    left, right = (
        csr_matrix(
            (np.ones(part.rows.element.size, np.int64), np.searchsorted(elements, part.rows.element), part.rows.start),
            shape=(part.mass.size, elements.size),
        )
        for part in (one, other)
    )
    shared = (left @ right.T).tocsr()
    shared.sort_indices()
    return shared.indptr.astype(np.int64), shared.indices.astype(np.int64)


def _shared(
    one: MassFunction, other: MassFunction, start: IntArray, column: IntArray, carried: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return a probability compatible with both beliefs.

    Each set of the first gives all its mass to its elements, and each of the second gets all its mass from its own.
    """
    owner = np.repeat(np.arange(one.mass.size), np.diff(start))
    elements, shares = [], []
    for edge in np.flatnonzero(carried > 0).tolist():
        first = one.sets[owner[edge]]
        both = first[is_member(first, other.sets[column[edge]])]
        elements.append(both)
        shares.append(np.full(both.size, carried[edge] / both.size))
    found, at = np.unique(np.concatenate(elements), return_inverse=True)
    sums = sums_at(at, np.concatenate(shares), found.size)
    return found, sums / sums.sum()
