"""Solve a matrix block by block, by frontier, formula, or sampling."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.matching.answers import BlockAnswer, LogPermanent, MatchingAnswer, joined, product
from unveil._kernels.matching.block_answer import BlockSettings, answer, block_permanent
from unveil._kernels.matching.blocks import MatchingBlock, convolve, decompose
from unveil._kernels.matching.edges import Edges, TooLargeError, as_edges, edge_at
from unveil._kernels.matching.hall import NoPerfectMatchingError
from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: Whether a block can be done is judged by its work; above so many rows even to find the blocks takes minutes.
MOST_ROWS = 1_000_000
BUDGET = 100_000_000


def permanent(
    matrix: Any, *, rng: np.random.Generator | None = None, precision: float = 0.01, budget: int = BUDGET
) -> LogPermanent:
    """Return the log-permanent of a nonnegative matrix, with method and error.

    ``matrix`` is a square array or a sparse matrix of scipy. Blocks that no exact method can do get the Bethe bracket,
    and with ``rng`` a sampled value in it, whose standard error is about ``precision`` / 10 times log(n!).

    >>> hospital = np.array([[0.0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]])
    >>> found = permanent(hospital)
    >>> found.exact, found.method, round(found.log, 6)
    (18, 'subsets', 2.890372)
    """
    edges = _checked(matrix)
    try:
        blocks = decompose(edges)
    except NoPerfectMatchingError:
        return LogPermanent(-np.inf, "no perfect matching", 0.0, -np.inf, -np.inf, 0)
    settings = BlockSettings(distribution=False, precision=precision, budget=budget)
    return product([block_permanent(block.edges, settings, rng) for block in blocks])


def solve(
    matrix: Any,
    truth: ArrayLike,
    *,
    rng: np.random.Generator,
    distribution: bool = True,
    precision: float = 0.01,
    budget: int = BUDGET,
    sample_permanent: bool = False,
) -> MatchingAnswer:
    """Return permanent, marginals, and cracks, each with method and error.

    Parameters
    ----------
    matrix
        Square and nonnegative, dense or a sparse matrix of scipy; a matching's chance is in proportion to the product
        of its entries. Raises ``NoPerfectMatchingError`` with the rows that make one impossible.
    truth
        The true column of each row, no column twice; -1 for rows that have none. Its entries may be 0; then those rows
        are never cracked, as rows without a column never are.
    rng
        Used by worms only: exact answers draw nothing.
    distribution
        Whether the chance of each number of cracks is wanted too; where nothing else needs worms, it may.
    precision, budget
        Worms stop when the standard error of a block's expected cracks is below ``precision`` times them (of one crack
        if they are fewer), or after ``budget`` choices.
    sample_permanent
        Whether the permanent of blocks that no exact method can do is sampled too, beside its bracket.

    >>> hospital = np.array([[0.0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]])
    >>> found = solve(hospital, [2, 3, 4, 0, 1], rng=np.random.default_rng(1))
    >>> (found.crack_distribution * 18).round(9).tolist(), round(found.expected_cracks * 18, 9)
    ([4.0, 6.0, 3.0, 4.0, 0.0, 1.0], 29.0)
    """
    edges = _checked(matrix)
    true_column = _checked_truth(truth, edges.n)
    blocks = decompose(edges)
    settings = BlockSettings(distribution, precision, budget, sample_permanent)
    answers = []
    within = np.full(edges.n, -1, np.int64)
    for block in blocks:
        within[block.columns] = np.arange(block.columns.size)
        local = np.where(true_column[block.rows] < 0, -1, within[true_column[block.rows]])
        within[block.columns] = -1
        answers.append(answer(block.edges, local, settings, rng))
    return _together(edges, true_column, blocks, answers, settings)


def _checked(matrix: Any) -> Edges:
    edges = as_edges(matrix)
    if edges.n > MOST_ROWS:
        raise TooLargeError(
            f"the matrix may have at most {MOST_ROWS:,} rows, and it has {edges.n:,}. "
            "Measure a part of the rows with its columns, or groups of rows at a time"
        )
    return edges


def _checked_truth(truth: ArrayLike, n: int) -> IntArray:
    columns = np.asarray(truth)
    known = columns[columns != -1] if columns.shape == (n,) else columns
    if columns.shape != (n,) or not np.isin(known, np.arange(n)).all() or np.unique(known).size < known.size:
        raise ValueError(f"the truth must name columns of the {n:,}, none twice, one per row; this one does not")
    return columns.astype(np.int64)


def _together(
    edges: Edges, truth: IntArray, blocks: list[MatchingBlock], answers: list[BlockAnswer], settings: BlockSettings
) -> MatchingAnswer:
    """Return the answers of all blocks as one."""
    marginal, error = np.zeros(edges.weight.size), np.zeros(edges.n)
    inside = np.zeros(edges.weight.size, np.bool_)
    variance, of_weights = 0.0, 0.0
    for block, part in zip(blocks, answers, strict=True):
        marginal[block.place] = part.marginal
        inside[block.place] = True
        if part.method == "worm" and part.sampled is not None:
            error[block.rows] = part.sampled.crack_probability_error
            variance += part.sampled.expected_cracks_error**2
            of_weights += part.sampled.log_weight_error**2
    place = edge_at(edges, truth)
    probability = np.where(place >= 0, marginal[np.maximum(place, 0)], 0.0)
    drawn = [part.sampled for part in answers if part.sampled is not None]
    chances, chances_error = _distribution(answers) if settings.distribution else (None, None)
    return MatchingAnswer(
        log_permanent=product([part.log_permanent for part in answers]),
        edges=edges,
        marginal=marginal,
        crack_probability=probability,
        crack_probability_error=error,
        expected_cracks=float(probability.sum()),
        expected_cracks_error=float(np.sqrt(variance)),
        log_weight_error=float(np.sqrt(of_weights)),
        crack_distribution=chances,
        crack_distribution_error=chances_error,
        methods={
            "permanent": joined([part.log_permanent.method for part in answers]),
            "marginals": joined([part.method for part in answers]),
            "crack_distribution": joined([part.cracks_method for part in answers]) if settings.distribution else "none",
        },
        r_hat=max((one.r_hat for one in drawn), default=float("nan")),
        effective_samples=min((one.effective for one in drawn), default=float("nan")),
        block_sizes=tuple((block.rows.size, part.method) for block, part in zip(blocks, answers, strict=True)),
        notes=tuple(_notes(place[truth >= 0], inside, answers)),
    )


def _distribution(answers: Sequence[BlockAnswer]) -> tuple[FloatArray, FloatArray]:
    """Return the distribution of all cracks with standard errors, from those of independent blocks."""
    parts = [part.cracks for part in answers if part.cracks is not None]
    whole = convolve(parts)
    variance = np.zeros(whole.size)
    for k, part in enumerate(answers):
        if part.cracks_error is not None:
            others = convolve(other for number, other in enumerate(parts) if number != k)
            variance += np.convolve(part.cracks_error**2, others**2)
    return whole, np.sqrt(variance)


def _notes(place: IntArray, inside: BoolArray, answers: Sequence[BlockAnswer]) -> list[str]:
    """Return notes for the reader."""
    notes = []
    absent, never = int((place < 0).sum()), int((~inside[place[place >= 0]]).sum())
    if absent:
        notes.append(f"{absent} true matches have the value 0 in the matrix: the attacker rules out the truth.")
    if never:
        notes.append(f"{never} true matches are positive but in no perfect matching, so they are never resolved.")
    worst = max((part.sampled.r_hat for part in answers if part.sampled is not None), default=1.0)
    if worst > 1.05:
        notes.append(f"The chains have not converged (R-hat {worst:.2f}): sampled numbers and errors are unreliable.")
    if any(part.sampled is not None and not part.sampled.settled for part in answers):
        notes.append(
            "Sampling stopped at its budget before the wanted precision; the standard errors say how far it got."
        )
    return notes
