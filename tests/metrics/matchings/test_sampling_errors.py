"""Standard errors of sampled figures against exact values, on matrices whose matchings mix slowly or rarely crack."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from unveil._kernels.matching import block_answer
from unveil.guesses import Matching
from unveil.metrics.matchings._balance import balanced
from unveil.metrics.matchings._random_matchings import EstimatedValue, random_matching
from unveil.metrics.matchings.degree_of_anonymity import degree

RUNS, N = 100, 12
ROWS = np.arange(N)
OTHER = np.random.default_rng(5).permutation(N)


def menage() -> NDArray[np.float64]:
    """Return 1 everywhere but at (i, i) and (i, i + 1)."""
    matrix = np.ones((N, N))
    matrix[ROWS, ROWS] = matrix[ROWS, (ROWS + 1) % N] = 0.0
    return matrix


def steep(base: float, *, round_trip: bool = False) -> NDArray[np.float64]:
    """Return powers of the distance of row and column, on a line or on a circle."""
    distance = np.abs(ROWS[:, None] - ROWS).astype(np.float64)
    return np.asarray(base ** (np.minimum(distance, N - distance) if round_trip else distance))


def uneven(spread: float) -> NDArray[np.float64]:
    return np.asarray(np.exp(spread * np.random.default_rng(3).normal(size=(N, N))))


CASES = {
    "ménage": (menage(), (ROWS + 2) % N),
    "steep, true": (steep(0.5), ROWS),
    "steep, another truth": (steep(0.5), OTHER),
    "steeper, another truth": (steep(0.2), OTHER),
    "cracks that are rare": (steep(0.05), (ROWS + 1) % N),
    "round and steep": (steep(0.3, round_trip=True), (ROWS + 1) % N),
    "lognormal": (uneven(3.0), OTHER),
    "lognormal, steep": (uneven(6.0), OTHER),
}


@pytest.fixture
def only_worms() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def measured(guess: Matching, truth: NDArray[np.int64], seed: int) -> tuple[EstimatedValue, EstimatedValue]:
    """Return the expected cracks and the degree of anonymity."""
    found = random_matching(guess, truth, rng=np.random.default_rng(seed))
    return found.figure(float(found.probability.sum()), found.expected_error), degree(guess, found, balanced(guess))


@pytest.mark.unwatched
@pytest.mark.parametrize("case", CASES)
def test_standard_errors_of_expected_cracks_and_d_hold(case: str, only_worms: pytest.MonkeyPatch) -> None:
    matrix, truth = CASES[case]
    guess = Matching(matrix)
    exact = measured(guess, truth, 0)
    assert all(figure.exact for figure in exact)
    # The permanent stays exact, so that the error of d is that of the weights of the matchings drawn.
    for name in ("BY_SUBSETS", "LARGEST_MARGINALS"):
        only_worms.setattr(block_answer, name, 1)
    only_worms.setattr(block_answer, "feasible_plan", lambda _: None)
    only_worms.setattr(block_answer, "LARGEST_GLYNN", 30)
    drawn = [measured(guess, truth, seed) for seed in range(RUNS)]
    for name, truly, each in zip(("cracks", "d"), exact, zip(*drawn, strict=True), strict=True):
        if name == "d" and guess.is_feasibility:
            continue  # it is the permanent's alone
        assert {figure.kind for figure in each} == {"sampled"}
        assert min(figure.error for figure in each) > 0
        far = np.array([(figure.value - truly.value) / figure.error for figure in each])
        assert np.mean(np.abs(far) > 2) <= 0.09, f"{name}: {np.mean(np.abs(far) > 2):.2f} beyond two standard errors"
        assert np.abs(far).max() < 4.5, f"{name}: {np.abs(far).max():.1f} standard errors off"
        assert abs(far.mean()) < 0.35, f"{name}: the mean is {far.mean():.2f} standard errors off"
        # Where an event is hardly ever seen, the error leaves room for more of them.
        assert far.std() > 0.25, f"{name}: the standard errors are too large"
