"""True probabilities given the whole shuffled file, from random matchings."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil._kernels.types import BoolArray, FloatArray
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.metrics.beliefs.sampled_truth import SampledTruth

if TYPE_CHECKING:
    from unveil._kernels.matching import Edges, MatchingBlock


#: Rows of a block without structure whose marginals are computed exactly; each row more doubles the time.
LARGEST_BLOCK = 25
#: Entries of the matrix; beyond, it would not fit next to its scaled copy.
MOST_ENTRIES = 50_000_000
#: Weights below this, in a matrix whose rows and columns sum to 1, count as impossible.
NEGLIGIBLE = 1e-15
_ROUNDS = 200
#: Random assignments of all rows that are drawn by default, in this many chains of their own start.
MATCHINGS = 32_000
CHAINS = 32
#: Pairs of a block that is sampled: the estimates of each chain are kept.
MOST_SAMPLED = 1_000_000
#: Choices of a chain, in sweeps for each assignment that is wanted of it, before it stops whatever it has seen.
_PATIENCE = 4
_FORGET = 60


@dataclass(frozen=True, kw_only=True)
class FileLevelTruth:
    """The true probabilities given the whole file, or why there are none.

    Attributes
    ----------
    truth
        One target per released row. A target without candidates lies in a block too large for exact marginals; None
        where no row has them.
    sampled
        Estimates for rows in such blocks, with one target per released row too; None where none was sampled.
    rows, without
        The number of released rows, and of those without a true probability, exact or sampled.
    why
        Why some or all rows have none; empty where all have one.
    """

    truth: Candidates | None
    rows: int
    without: int
    why: str = ""
    sampled: SampledTruth | None = None


def file_level_truth(
    log_likelihood: ArrayLike,
    *,
    rng: np.random.Generator,
    largest_block: int = LARGEST_BLOCK,
    matchings: int = MATCHINGS,
) -> FileLevelTruth:
    """Return the probability of each original row for each released row.

    All released rows are known at once.

    Every original row became exactly one released row, so the chance of a pair is its marginal among perfect matchings
    drawn in proportion to the product of their likelihoods (the permanent of the matrix). Marginals that can only be
    sampled are kept apart, as estimates of independent chains. Where likelihoods are constant on blocks
    (generalization, microaggregation) this is the record-level posterior; for noise it is not.

    Parameters
    ----------
    log_likelihood
        Logarithms with one line per released and one column per original row, as many of both; minus infinity where
        impossible. A constant may be added to any line or column.
    rng
        For sampling; exact answers draw nothing.
    largest_block
        Rows of a block without structure that are still computed; time and memory double with each.
    matchings
        How many matchings are drawn where a block is larger; 0 leaves its rows without a true probability.

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
        why = "no assignment of all released to original rows is possible, so this mechanism did not make the file"
        return FileLevelTruth(truth=None, rows=rows, without=rows, why=why)
    try:
        edges = as_edges(_balanced(matrix))
        blocks = decompose(edges)
    except NoPerfectMatchingError:  # what was left out as negligible was needed
        why = "the likelihoods differ too widely to compute: some rows are almost impossible"
        return FileLevelTruth(truth=None, rows=rows, without=rows, why=why)
    return _from_blocks(edges, blocks, rng, largest_block, matchings)


def _unusable(matrix: FloatArray) -> str:
    """Return why there can be no marginals, or nothing."""
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(
            f"log_likelihood has the shape {matrix.shape}. Pass a matrix with one line per released and one column "
            "per original row, at least one of both"
        )
    if np.isnan(matrix).any() or np.isposinf(matrix).any():
        raise InputError(
            "log_likelihood has missing or plus infinite values. Correct the mechanism: it returns numbers, or minus "
            "infinity for an impossible pair"
        )
    released, original = matrix.shape
    if released != original:
        return (
            f"the file level needs every released and every original row once, but there are {released:,} released "
            f"and {original:,} original rows"
        )
    if matrix.size > MOST_ENTRIES:
        return f"a matrix of {released:,} rows is too large: the file level is limited to {MOST_ENTRIES:,} pairs"
    if np.isneginf(matrix.max(axis=0)).any() or np.isneginf(matrix.max(axis=1)).any():
        return "some rows have no possible partner, so this mechanism did not make the file"
    return ""


def _balanced(matrix: FloatArray) -> FloatArray:
    """Return scaled weights whose rows and columns sum nearly to 1.

    Marginals stay the same, and nothing underflows.
    """
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


def _from_blocks(
    edges: "Edges", blocks: "list[MatchingBlock]", rng: np.random.Generator, largest_block: int, matchings: int
) -> FileLevelTruth:
    """Return exact or estimated marginals per block; the largest get none."""
    from unveil._kernels.matching import solve

    marginal, known, largest = np.zeros(edges.weight.size), np.zeros(edges.n, np.bool_), 0
    drawn: list[tuple[MatchingBlock, NDArray[np.float32], float]] = []
    for block in blocks:
        if _is_exact(block.edges, largest_block):
            found = solve(block.edges, np.arange(block.edges.n), rng=rng, distribution=False)
            marginal[block.place] = found.marginal
            known[block.rows] = True
        elif matchings and block.edges.weight.size <= MOST_SAMPLED:
            drawn.append((block, *_estimates(block.edges, matchings, rng)))
        else:
            largest = max(largest, block.edges.n)
    sampled = _sampled(edges, drawn) if drawn else None
    without = int(np.count_nonzero(~known)) - sum(block.edges.n for block, _, _ in drawn)
    why = ""
    if without:
        why = (
            f"{without:,} of {edges.n:,} released rows are in blocks of up to {largest:,} rows, assigned "
            f"together, which is too many for {'sampling' if matchings else 'exact probabilities'}"
        )
    return FileLevelTruth(truth=_exact(edges, marginal, known), rows=edges.n, without=without, why=why, sampled=sampled)


def _exact(edges: "Edges", marginal: FloatArray, known: BoolArray) -> Candidates | None:
    """Return the rows with exact marginals as targets."""
    if not known.any():
        return None
    kept = known[edges.row] & (marginal > 0)
    row = edges.row[kept]
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=edges.n))])
    sums = np.bincount(row, marginal[kept], edges.n)
    return Candidates(start, edges.column[kept], marginal[kept] / sums[row])


def _estimates(edges: "Edges", matchings: int, rng: np.random.Generator) -> tuple[NDArray[np.float32], float]:
    """Return the share of matchings per edge and chain, and the sample size."""
    from unveil._kernels.matching.block_answer import scaled
    from unveil._kernels.matching.chains import sample

    each = -(-matchings // CHAINS)
    budget = 2 * (_FORGET + _PATIENCE * each) * edges.n
    matrix, truth = scaled(edges).edges, np.arange(edges.n)
    share, effective = np.empty((CHAINS, edges.weight.size), np.float32), 0.0
    for chain, own in enumerate(rng.spawn(CHAINS)):
        found = sample(matrix, truth, rng=own, precision=float("inf"), budget=budget, chains=1, samples=each)
        share[chain] = found.marginal
        effective += found.effective
    return share, effective


def _sampled(edges: "Edges", drawn: "list[tuple[MatchingBlock, NDArray[np.float32], float]]") -> SampledTruth:
    """Return the estimates of several blocks, one target per row."""
    size, effective = np.zeros(edges.n, np.int64), np.zeros(edges.n)
    place = np.sort(np.concatenate([block.place for block, _, _ in drawn]))
    share = np.zeros((CHAINS, place.size), np.float32)
    for block, found, worth in drawn:
        share[:, np.searchsorted(place, block.place)] = found
        effective[block.rows] = worth
    size += np.bincount(edges.row[place], minlength=edges.n)
    start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    return SampledTruth(start, edges.column[place].astype(np.int64), share, effective)


def _is_exact(edges: "Edges", largest_block: int) -> bool:
    """Return whether a block can be solved exactly in acceptable time."""
    from unveil._kernels.matching.block_answer import feasible_plan
    from unveil._kernels.matching.closed_form import is_even

    return edges.n <= largest_block or is_even(edges) or feasible_plan(edges) is not None
