"""The true probability given the whole shuffled file: how often a random matching of all rows links each pair."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.guess import Candidates

if TYPE_CHECKING:
    from unveil._kernels.matching import Block, Edges


#: Rows of a block without structure whose marginals are computed exactly; each row more doubles the time.
LARGEST_BLOCK = 25
#: Entries of the matrix; beyond, it would not fit beside its scaled copy.
MOST_ENTRIES = 50_000_000
#: Weights below this, in a matrix whose rows and columns sum to 1, count as impossible.
NEGLIGIBLE = 1e-15
_ROUNDS = 200


@dataclass(frozen=True, kw_only=True)
class FileLevelTruth:
    """The true probabilities given the whole file, or why there are none.

    Attributes
    ----------
    truth
        One target per released row. A target without candidates lies in a block too large for exact marginals; None
        where no row has them.
    rows, without
        The number of released rows, and of those without a true probability.
    why
        Why some or all rows have none; empty where all have one.
    """

    truth: Candidates | None
    rows: int
    without: int
    why: str = ""


def file_level_truth(
    log_likelihood: ArrayLike, *, rng: np.random.Generator, largest_block: int = LARGEST_BLOCK
) -> FileLevelTruth:
    """Return the chance of each original row to have become each released one, given all released rows at once.

    Every original row became exactly one released row, so the chance of a pair is its marginal among perfect matchings
    drawn in proportion to the product of their likelihoods (the permanent of the matrix). Marginals that could only be
    sampled are left out: a verdict needs them exactly. Where likelihoods are constant on blocks (generalization,
    microaggregation) this is the record-level posterior; for noise it is not.

    Parameters
    ----------
    log_likelihood
        Logarithms with one line per released and one column per original row, as many of both; minus infinity where
        impossible. A constant may be added to any line or column.
    rng
        Handed on to the matching kernels; exact answers draw nothing.
    largest_block
        Rows of a block without structure that are still computed; time and memory double with each.

    Examples
    --------
    >>> found = file_level_truth(np.log([[0.5, 0.5], [0.9, 0.1]]), rng=np.random.default_rng(1))
    >>> found.truth.probability.round(3)
    array([0.1, 0.9, 0.9, 0.1])
    """
    from unveil._kernels.matching import NoPerfectMatchingError, as_edges, decompose, perfect_matching

    matrix = np.asarray(log_likelihood, np.float64)
    reason = _unusable(matrix)
    rows = int(matrix.shape[0])
    if reason:
        return FileLevelTruth(truth=None, rows=rows, without=rows, why=reason)
    try:
        perfect_matching(as_edges(np.isfinite(matrix)))
    except NoPerfectMatchingError:
        why = "no assignment of all released rows to original rows is possible, so this mechanism did not make the file"
        return FileLevelTruth(truth=None, rows=rows, without=rows, why=why)
    try:
        edges = as_edges(_balanced(matrix))
        blocks = decompose(edges)
    except NoPerfectMatchingError:  # what was left out as negligible was needed
        why = "the likelihoods differ too widely to be computed with: some rows are next to impossible"
        return FileLevelTruth(truth=None, rows=rows, without=rows, why=why)
    return _from_blocks(edges, blocks, rng, largest_block)


def _unusable(matrix: FloatArray) -> str:
    """Return why there can be no marginals, or nothing."""
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(
            f"log_likelihood must have one line per released and one column per original row, but has the shape "
            f"{matrix.shape}. Pass a matrix with at least one of both"
        )
    if np.isnan(matrix).any() or np.isposinf(matrix).any():
        raise InputError(
            "log_likelihood must be made of numbers, or minus infinity where a pair is impossible, but some are "
            "missing or plus infinity. Correct the mechanism"
        )
    released, original = matrix.shape
    if released != original:
        return (
            f"the file level needs every released row and every original row once, and there are {released:,} released "
            f"and {original:,} original ones"
        )
    if matrix.size > MOST_ENTRIES:
        return (
            f"a matrix of {released:,} rows is too large: the file level is computed for at most {MOST_ENTRIES:,} pairs"
        )
    if np.isneginf(matrix.max(axis=0)).any() or np.isneginf(matrix.max(axis=1)).any():
        return "some rows have no possible partner at all, so this mechanism did not make the file"
    return ""


def _balanced(matrix: FloatArray) -> FloatArray:
    """Return weights whose rows and columns sum nearly to 1: marginals stay the same, and nothing underflows."""
    log = matrix - matrix.max(axis=1, keepdims=True)
    for _ in range(_ROUNDS):
        log -= _log_sum(log, axis=0)
        off = _log_sum(log, axis=1)
        log -= off
        if np.abs(off).max() < 1e-3:
            break
    weight: FloatArray = np.exp(log)
    weight[weight < NEGLIGIBLE] = 0.0
    return weight


def _log_sum(log: FloatArray, *, axis: int) -> FloatArray:
    top = log.max(axis=axis, keepdims=True)
    found: FloatArray = top + np.log(np.exp(log - top).sum(axis=axis, keepdims=True))
    return found


def _from_blocks(edges: "Edges", blocks: "list[Block]", rng: np.random.Generator, largest_block: int) -> FileLevelTruth:
    """Return the marginals of the blocks that have exact ones; other rows get no candidates."""
    from unveil._kernels.matching import solve

    marginal, known, largest = np.zeros(edges.weight.size), np.zeros(edges.n, np.bool_), 0
    for block in blocks:
        if not _is_exact(block.edges, largest_block):
            largest = max(largest, block.edges.n)
            continue
        found = solve(block.edges, np.arange(block.edges.n), rng=rng, distribution=False)
        marginal[block.place] = found.marginal
        known[block.rows] = True
    without = int(np.count_nonzero(~known))
    why = (
        f"{without:,} of {edges.n:,} released rows lie in blocks of up to {largest:,} rows that must be assigned "
        "together, which is too many for exact probabilities"
    )
    if not known.any():
        return FileLevelTruth(truth=None, rows=edges.n, without=without, why=why)
    kept = known[edges.row] & (marginal > 0)
    row = edges.row[kept]
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=edges.n))])
    sums = np.bincount(row, marginal[kept], edges.n)
    truth = Candidates(start, edges.column[kept], marginal[kept] / sums[row])
    return FileLevelTruth(truth=truth, rows=edges.n, without=without, why=why if without else "")


def _is_exact(edges: "Edges", largest_block: int) -> bool:
    """Return whether the kernels answer this block without sampling, and without hours of work."""
    from unveil._kernels.matching.block_answer import feasible_plan
    from unveil._kernels.matching.closed_form import is_even

    return edges.n <= largest_block or is_even(edges) or feasible_plan(edges) is not None
