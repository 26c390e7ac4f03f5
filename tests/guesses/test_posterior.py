"""The true probability: Bayes' rule over what a mechanism says, kept sparse."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guesses import posterior
from unveil.guesses.posterior import record_level_truth


class Given:
    """A mechanism that was written down: the likelihood of released values, in lines, given original ones."""

    def __init__(self, likelihood: NDArray[np.float64], *, shift: float = 0.0) -> None:
        self.likelihood, self.shift, self.asked = likelihood, shift, 0

    def log_likelihood(self, original: Table, released: Table, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        self.asked += rows.size
        new, old = released.frame["value"].to_numpy()[rows], original.frame["value"].to_numpy()
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log(self.likelihood)[new][:, old] + self.shift * new[:, None]
        return logs


def rows(*values: int) -> Table:
    return Table.from_frame(pl.DataFrame({"value": values}), roles={"value": "known"})


@settings(max_examples=22)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32), st.sampled_from([0.0, 900.0, -900.0]))
def test_it_is_bayes_with_an_even_prior(old: int, new: int, seed: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    likelihood = rng.random((new, old)) * (rng.random((new, old)) < 0.7)
    likelihood[:, 0] += 0.1
    original, released = rows(*rng.integers(0, old, 6), 0), rows(*rng.integers(0, new, 5))
    truth = record_level_truth(Given(likelihood, shift=shift), original, released)
    for target in range(5):
        value = int(released.frame["value"][target])
        weight = likelihood[value][original.frame["value"].to_numpy()]
        entries = slice(truth.start[target], truth.start[target + 1])
        np.testing.assert_array_equal(truth.candidate[entries], np.flatnonzero(weight))
        np.testing.assert_allclose(truth.probability[entries], weight[weight > 0] / weight.sum())


def test_rows_that_look_alike_are_asked_once_and_parts_make_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    likelihood = np.random.default_rng(1).random((7, 4))
    original, released = rows(0, 1, 2, 3, 3), rows(*range(7), 3, 3, 0)
    mechanism = Given(likelihood)
    whole = record_level_truth(mechanism, original, released)
    assert mechanism.asked == 7
    monkeypatch.setattr(posterior, "_AT_ONCE", 11)
    parts = record_level_truth(Given(likelihood), original, released)
    for name in ("start", "candidate", "probability"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


def test_small_probabilities_can_be_left_out() -> None:
    truth = record_level_truth(Given(np.array([[1.0, 0.5, 1e-9]])), rows(0, 1, 2), rows(0), at_least=1e-6)
    np.testing.assert_array_equal(truth.candidate, [0, 1])
    np.testing.assert_allclose(truth.probability, [2 / 3, 1 / 3])


def test_a_row_that_nobody_can_be_behind_is_named() -> None:
    with pytest.raises(InputError, match="1 released rows are impossible for every original row, the first is row 2"):
        record_level_truth(Given(np.array([[1.0], [0.0]])), rows(0, 0), rows(0, 1))


def test_too_many_entries_are_refused() -> None:
    with pytest.raises(InputError, match="the true probabilities of 3 rows exceed the maximum of 10 elements"):
        record_level_truth(Given(np.ones((1, 1))), rows(*[0] * 5), rows(0, 0, 0), most_entries=10)


@pytest.mark.parametrize("least", [-0.1, 1.0, float("nan")])
def test_a_least_share_that_is_none_is_refused(least: float) -> None:
    with pytest.raises(InputError, match="least must lie between 0 and 1, 1 excluded"):
        record_level_truth(Given(np.ones((1, 1))), rows(0), rows(0), at_least=least)


def test_a_mechanism_must_answer_for_every_row() -> None:
    class Short(Given):
        def log_likelihood(self, original: Table, released: Table, rows: NDArray[np.int64]) -> NDArray[np.float64]:
            return super().log_likelihood(original, released, rows)[:1, :1]

    with pytest.raises(
        InputError, match=r"the mechanism gave an array of shape \(1, 1\) for 2 released and 2 original"
    ):
        record_level_truth(Short(np.ones((2, 2))), rows(0, 1), rows(0, 1))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_likelihood_that_is_no_number_is_refused(wrong: float) -> None:
    class Wrong(Given):
        def log_likelihood(self, original: Table, released: Table, rows: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.where(super().log_likelihood(original, released, rows) < 0, wrong, 0.0)

    with pytest.raises(InputError, match=r"gave NaN or infinity\. Correct its log_likelihood"):
        record_level_truth(Wrong(np.array([[0.5, 1.0]])), rows(0, 1), rows(0))
