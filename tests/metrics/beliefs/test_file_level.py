"""Probabilities given the whole file, against all permutations; and why there are none."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.oracles import compatibility as oracle
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.metrics.beliefs import file_level
from unveil.metrics.beliefs.compatibility import compatibility
from unveil.metrics.beliefs.file_level import FileLevelTruth, file_level_truth

Floats = NDArray[np.float64]


def found_in(weights: Floats, **settings: int) -> FileLevelTruth:
    with np.errstate(divide="ignore"):
        return file_level_truth(np.log(weights), rng=np.random.default_rng(1), **settings)


def dense(truth: Candidates, columns: int) -> Floats:
    full = np.zeros((truth.target_count, columns))
    full[np.repeat(np.arange(truth.target_count), truth.considered), truth.candidate] = truth.probability
    return full


def record_level(weights: Floats) -> Floats:
    rows: Floats = weights / weights.sum(axis=1, keepdims=True)
    return rows


@settings(deadline=None, max_examples=22)
@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_marginals_are_those_over_all_permutations(weights: list[list[int]]) -> None:
    expected = oracle.marginals([[Fraction(value) for value in row] for row in weights])
    found = found_in(np.array(weights, float))
    if not expected:
        assert found.truth is None
        assert "did not make the file" in found.why
        assert found.without == found.rows == len(weights)
        return
    assert found.truth is not None
    assert (found.why, found.without) == ("", 0)
    np.testing.assert_allclose(dense(found.truth, len(weights)), np.array(expected, float), atol=1e-9)


def test_scaling_rows_and_columns_changes_nothing_however_far() -> None:
    rng = np.random.default_rng(5)
    log = rng.normal(size=(6, 6))
    plain = file_level_truth(log, rng=rng).truth
    far = file_level_truth(log + 900 * rng.normal(size=(6, 1)) + 900 * rng.normal(size=6), rng=rng).truth
    assert plain is not None
    assert far is not None
    np.testing.assert_allclose(dense(far, 6), dense(plain, 6), atol=1e-9)


def test_where_likelihoods_are_constant_on_blocks_both_levels_agree() -> None:
    weights = np.kron(np.eye(4), np.full((10, 10), 0.3))
    found = found_in(weights)
    assert found.truth is not None
    np.testing.assert_allclose(dense(found.truth, 40), record_level(weights), atol=1e-12)


def test_for_noise_the_record_level_posterior_need_not_be_valid_at_the_file_level() -> None:
    rng = np.random.default_rng(2)
    records, per_file, wrong = 0, 8, 0
    for _ in range(40):
        x = rng.normal(size=per_file)
        y = x + 0.5 * rng.normal(size=per_file)
        weights = np.exp(-(((y[:, None] - x[None, :]) / 0.5) ** 2) / 2)
        truth = found_in(weights).truth
        assert truth is not None
        found = compatibility(Candidates.from_matrix(record_level(weights)), truth, level="file")
        assert found.undecided == 0
        records += per_file
        wrong += found.invalid
        assert "file-level truth" in found.sentence
    assert 0.02 < wrong / records < 0.3  # about one in ten


def test_rows_of_a_large_block_are_left_out_and_the_others_stay() -> None:
    rng = np.random.default_rng(1)
    weights = np.zeros((34, 34))
    weights[:30, :30] = rng.random((30, 30)) + 0.1
    weights[30:, 30:] = 1.0
    found = found_in(weights, matchings=0)
    assert found.truth is not None
    assert (found.rows, found.without) == (34, 30)
    assert found.why.startswith("30 of 34 released rows are in blocks of up to 30 rows")
    np.testing.assert_allclose(dense(found.truth, 34)[30:, 30:], 0.25)
    judged = compatibility(Candidates.from_matrix(record_level(weights)), found.truth, level="file")
    assert (judged.valid, judged.undecided) == (4, 30)
    assert judged.findings[0].method == "no file-level truth"


def test_nothing_is_left_where_all_rows_must_be_assigned_together() -> None:
    found = found_in(np.random.default_rng(1).random((30, 30)) + 0.1, matchings=0)
    assert (found.truth, found.without) == (None, 30)
    assert "too many for exact probabilities" in found.why


def test_neighbours_in_a_long_file_are_exact() -> None:
    near = np.abs(np.subtract.outer(np.arange(200), np.arange(200))) <= 2
    found = found_in(np.where(near, np.random.default_rng(1).random((200, 200)) + 0.1, 0.0))
    assert found.truth is not None
    assert found.without == 0
    sums = dense(found.truth, 200).sum(axis=0)
    np.testing.assert_allclose(sums, 1.0, atol=1e-9)


def test_a_file_of_part_of_the_rows_has_no_file_level() -> None:
    found = found_in(np.ones((2, 3)))
    assert found.truth is None
    assert found.why.endswith("there are 2 released and 3 original rows")


def test_a_row_without_partner_is_no_file_of_this_mechanism() -> None:
    assert "no possible partner" in found_in(np.array([[1.0, 1.0], [0.0, 0.0]])).why


def test_rows_that_share_too_few_partners_are_no_file_of_this_mechanism() -> None:
    found = found_in(np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]))
    assert found.why.startswith("no assignment of all released to original rows")


def test_a_file_too_large_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_level, "MOST_ENTRIES", 8)
    assert found_in(np.ones((3, 3))).why.startswith("a matrix of 3 rows is too large")


def test_likelihoods_far_apart_are_balanced_first(monkeypatch: pytest.MonkeyPatch) -> None:
    log = np.array([[0.0, -1e5, -1e9], [0.0, 0.0, -np.inf], [0.0, -np.inf, -np.inf]])  # only one matching is possible
    found = file_level_truth(log, rng=np.random.default_rng(1))
    assert found.truth is not None
    assert found.truth.candidate.tolist() == [2, 1, 0]
    monkeypatch.setattr(file_level, "_ROUNDS", 0)
    assert "differ too widely" in file_level_truth(log, rng=np.random.default_rng(1)).why


@pytest.mark.parametrize("wrong", [np.ones(3), np.ones((0, 0)), np.array([[np.nan]]), np.array([[np.inf]])])
def test_what_is_no_matrix_of_likelihoods_is_refused(wrong: Floats) -> None:
    with pytest.raises(InputError, match="log_likelihood has"):
        file_level_truth(wrong, rng=np.random.default_rng(1))
