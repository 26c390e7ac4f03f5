"""Candidates: all 26 metrics at once, beside a loop over targets that calls scipy, scikit-learn and numpy."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, side_by_side
from unveil.guesses import Candidates
from unveil.metrics import all_metrics

Floats = NDArray[np.float64]


def probabilities(targets: int, candidates: int, rng: np.random.Generator) -> Floats:
    """Return one random distribution per target."""
    scores = rng.random((targets, candidates))
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def ours(matrix: Floats, truth: NDArray[np.int64]) -> None:
    """Measure everything from a plain matrix, as a user would."""
    all_metrics(Candidates.from_matrix(matrix), truth)


def row_by_row(matrix: Floats, truth: NDArray[np.int64]) -> None:
    """Compute eight of the metrics for each target with the functions that libraries offer."""
    from scipy.stats import entropy
    from sklearn.metrics import mean_squared_error, mutual_info_score

    for p, true in zip(matrix, truth, strict=True):
        match = np.zeros(p.size)
        match[true] = 1.0
        entropy(p, base=2)
        entropy(match, p)
        np.log2(np.count_nonzero(p))
        -np.log2(p.max())
        -np.log2(np.sum(p**2))
        np.corrcoef(match, p)
        mean_squared_error(match, p)
        mutual_info_score(match, np.unique(p, return_inverse=True)[1])


def rows() -> Iterator[Row]:
    for targets, candidates, sample in ((4_039, 4_039, 200), (1_000_000, 20, 2_000)):
        rng = np.random.default_rng(1)
        matrix = probabilities(targets, candidates, rng)
        truth = rng.integers(0, candidates, targets)
        ours(matrix, truth)  # the compiler is warm
        case = f"{targets:,} targets x {candidates:,} candidates"
        mine = side_by_side(case, {"unveil, all 26": partial(ours, matrix, truth)}, repeat=3)[0]
        # The loop is linear in targets and would take minutes: it gets the first ones, and its time is scaled up.
        few = {"loop": partial(row_by_row, matrix[:sample], truth[:sample])}
        loop = side_by_side(case, few, repeat=2)[0].seconds * targets / sample
        yield mine
        yield Row(
            case, f"scipy and scikit-learn, 8 of 26 (scaled up from {sample:,} targets)", loop, loop / mine.seconds
        )
