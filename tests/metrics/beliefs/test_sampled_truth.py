"""Verdicts beside a sampled truth: never against the exact ones, and open where error bars overlap."""

import numpy as np
import pytest
from numpy.typing import NDArray

from unveil.guesses import Candidates
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.mass_function import MassFunction
from unveil.metrics.beliefs.compatibility import compatibility
from unveil.metrics.beliefs.file_level import CHAINS, FileLevelTruth, file_level_truth
from unveil.metrics.beliefs.sampled_truth import NOT_SHOWN, judge_sampled_belief, judge_sampled_probability

Floats = NDArray[np.float64]
N = 13
NOTHING = Candidates(np.zeros(N + 1, np.int64), np.zeros(0, np.int32), np.zeros(0))


def noisy(seed: int, noise: float = 0.5) -> Floats:
    """Return log-likelihoods of noise that nearly everybody overlaps under."""
    rng = np.random.default_rng(seed)
    before = rng.normal(size=N)
    after = before + noise * rng.normal(size=N)
    return -((after[:, None] - before) ** 2) / (2 * noise**2)


@pytest.fixture(scope="module")
def case() -> tuple[Floats, FileLevelTruth, FileLevelTruth]:
    log = noisy(1)
    sampled = file_level_truth(log, rng=np.random.default_rng(1), largest_block=2, matchings=12_800)
    return log, file_level_truth(log, rng=np.random.default_rng(1)), sampled


def test_estimates_lie_within_their_error_bars_of_the_exact_marginals(
    case: tuple[Floats, FileLevelTruth, FileLevelTruth],
) -> None:
    _, exact, found = case
    assert exact.truth is not None
    assert found.sampled is not None
    assert (found.truth, found.without, found.why) == (None, 0, "")
    far = []
    for row in range(N):
        possible, share, draws = found.sampled.row(row)
        assert share.shape == (CHAINS, possible.size)
        assert draws > 500
        np.testing.assert_allclose(share.sum(axis=1), 1.0, atol=1e-5)
        part = slice(exact.truth.start[row], exact.truth.start[row + 1])
        wanted = np.zeros(N)
        wanted[exact.truth.candidate[part]] = exact.truth.probability[part]
        error = np.maximum(share.std(axis=0, ddof=1) / np.sqrt(CHAINS), 1 / draws)
        far += ((share.mean(axis=0) - wanted[possible]) / error).tolist()
    assert np.abs(far).max() < 5
    assert 0.5 < np.std(far) < 1.5
    assert np.isfinite(found.sampled.error()).all()


def test_no_verdict_contradicts_the_exact_one(case: tuple[Floats, FileLevelTruth, FileLevelTruth]) -> None:
    log, exact, found = case
    assert exact.truth is not None
    weights = np.exp(log)
    record = weights / weights.sum(axis=1, keepdims=True)
    sharp = weights**4 / (weights**4).sum(axis=1, keepdims=True)
    wide = 0.5 * record + 0.5 / N
    counts = {True: 0, False: 0, None: 0}
    for guess in (record, sharp, wide, np.full((N, N), 1 / N)):
        bets = Candidates.from_matrix(guess)
        judged = compatibility(bets, NOTHING, level="file", sampled=found.sampled)
        known = compatibility(bets, exact.truth, level="file")
        for mine, true in zip(judged.findings, known.findings, strict=True):
            assert mine.valid in (None, true.valid)
            counts[mine.valid] += 1
        assert judged.not_shown == judged.undecided == sum(each.method == NOT_SHOWN for each in judged.findings)
    assert min(counts.values()) > 0


def test_sets_are_judged_beyond_the_error_bars(case: tuple[Floats, FileLevelTruth, FileLevelTruth]) -> None:
    _, exact, found = case
    assert exact.truth is not None
    best = exact.truth.candidate[exact.truth.start[:-1] + [
        int(np.argmax(exact.truth.probability[low:high]))
        for low, high in zip(exact.truth.start[:-1], exact.truth.start[1:], strict=True)
    ]]  # fmt: skip
    sure = Beliefs(N, tuple(MassFunction.from_set(N, [int(one)]) for one in best))
    judged = compatibility(sure, NOTHING, level="file", sampled=found.sampled)
    assert judged.invalid == N
    assert "the guess is incompatible with the file-level truth" in judged.findings[0].why
    everybody = Beliefs(N, (MassFunction.vacuous(N),) * N)
    assert compatibility(everybody, NOTHING, level="file", sampled=found.sampled).valid == N


def test_a_planted_truth_at_the_border_is_not_shown() -> None:
    rng = np.random.default_rng(2)
    share = np.clip(0.5 + 0.02 * rng.normal(size=(32, 1)), 0, 1) * [1, -1] + [0, 1]
    half = MassFunction.from_sets(2, {(0,): 0.5, (1,): 0.5})
    assert judge_sampled_belief(half, np.arange(2), share, 6000.0, "file").method == NOT_SHOWN
    less = MassFunction.from_sets(2, {(0,): 0.4, (0, 1): 0.6})
    assert judge_sampled_belief(less, np.arange(2), share, 6000.0, "file").valid is True
    more = MassFunction.from_sets(2, {(0,): 0.6, (0, 1): 0.4})
    refuted = judge_sampled_belief(more, np.arange(2), share, 6000.0, "file")
    assert refuted.valid is False
    error = max(share[16:, 0].std(ddof=1) / 4, 0.5 / np.sqrt(3000))
    assert refuted.why.endswith(f"The possible value was sampled, with a standard error of {error:.2g}.")
    guess = (np.arange(2), np.array([0.5, 0.5]))
    assert judge_sampled_probability(guess, np.arange(2), share, 6000.0, 100, "file").valid is True
    tilted = (np.arange(2), np.array([0.8, 0.2]))
    assert judge_sampled_probability(tilted, np.arange(2), share, 6000.0, 100, "file").valid is False
    out = (np.arange(1), np.ones(1))
    assert judge_sampled_probability(out, np.arange(2), share, 6000.0, 100, "file").valid is False


def test_what_was_never_drawn_is_not_impossible() -> None:
    share = np.tile([1.0, 0.0], (32, 1))
    sure = MassFunction.from_set(2, [0])
    assert judge_sampled_belief(sure, np.arange(2), share, 6000.0, "file").method == NOT_SHOWN
    other = MassFunction.from_set(2, [1])
    assert judge_sampled_belief(other, np.arange(2), share, 6000.0, "file").valid is False
