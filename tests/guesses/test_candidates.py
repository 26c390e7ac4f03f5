"""Candidates from every kind of matrix, score and table; bad ones are named, and nothing can be changed afterwards."""

from collections.abc import Callable
from contextlib import suppress
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tests.candidate_strategies import Case, cases
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.metrics import adversary_success_rate

Rows = list[dict[Any, float]]


def rows(guess: Candidates) -> Rows:
    """What each target's candidates are and how probable: what a guess means, whatever its arrays."""
    names = range(1000) if guess.candidates is None else guess.candidates.tolist()
    entries = [(names[k], p) for k, p in zip(guess.candidate.tolist(), guess.probability.tolist(), strict=True)]
    return [dict(entries[low:high]) for low, high in zip(guess.start[:-1], guess.start[1:], strict=True)]


DENSE = [[0.5, 0.0, 0.5], [0.0, 0.25, 0.75]]


@pytest.mark.parametrize(
    "matrix",
    [DENSE, np.array(DENSE), np.asfortranarray(DENSE), np.array(DENSE, np.float32), pd.DataFrame(DENSE)],
    ids=["lists", "array", "fortran", "float32", "pandas"],
)
def test_every_column_of_a_dense_matrix_was_considered(matrix: Any) -> None:
    guess = Candidates.from_matrix(matrix)
    assert rows(guess) == [{0: 0.5, 1: 0.0, 2: 0.5}, {0: 0.0, 1: 0.25, 2: 0.75}]
    dtypes = [array.dtype.name for array in (guess.start, guess.candidate, guess.probability)]
    assert dtypes == ["int64", "int32", "float64"]
    assert guess.considered.tolist() == [3, 3]
    assert guess.summary.support.tolist() == [2, 2]
    assert (guess.target_count, repr(guess)) == (2, "Candidates(2 targets, 6 entries)")


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.csr_matrix, sp.dok_array])
def test_what_a_sparse_matrix_stores_was_considered(kind: Callable[[Any], Any]) -> None:
    assert rows(Candidates.from_matrix(kind(np.array(DENSE)))) == [{0: 0.5, 2: 0.5}, {1: 0.25, 2: 0.75}]


def test_a_zero_that_a_sparse_matrix_stores_was_considered_too() -> None:
    stored = sp.csr_array((np.array([0.0, 1.0]), np.array([1, 2]), np.array([0, 2])), shape=(1, 4))
    assert rows(Candidates.from_matrix(stored)) == [{1: 0.0, 2: 1.0}]


def test_a_sparse_matrix_in_any_order_and_with_duplicates() -> None:
    value, column = np.array([0.25, 0.5, 0.25, 0.5, 0.5]), np.array([2, 0, 2, 1, 0])
    coordinates = sp.coo_array((value, (np.array([0, 0, 0, 1, 1]), column)), shape=(2, 3))
    unsorted = sp.csr_array((value.copy(), column.copy(), np.array([0, 3, 5])), shape=(2, 3))
    for matrix in (coordinates, unsorted):
        assert rows(Candidates.from_matrix(matrix)) == [{0: 0.5, 2: 0.5}, {0: 0.5, 1: 0.5}]
    assert unsorted.data.tolist() == value.tolist()
    assert unsorted.indices.tolist() == column.tolist()


@pytest.mark.parametrize("wrap", [list, np.array, sp.csr_array], ids=["lists", "array", "sparse"])
def test_scores_are_divided_by_their_sum_and_no_score_is_no_attempt(wrap: Callable[[Any], Any]) -> None:
    scores = wrap([[3, 1, 4], [0, 0, 0], [7, 0, 7]])
    guess = Candidates.from_scores(scores)
    assert [{k: p for k, p in row.items() if p} for row in rows(guess)] == [
        {0: 0.375, 1: 0.125, 2: 0.5},
        {},
        {0: 0.5, 2: 0.5},
    ]
    assert guess.attempted.tolist() == [True, False, True]
    again = Candidates.from_matrix(scores, normalize=True)
    np.testing.assert_array_equal(again.probability, guess.probability)


def test_very_small_scores_keep_their_proportion() -> None:
    assert Candidates.from_scores([[5e-324, 5e-324, 0.0]]).probability.tolist() == [0.5, 0.5, 0.0]


TARGET, CANDIDATE, PROBABILITY = ["u", "t", "t", "u"], ["x", "y", "x", "z"], [0.25, 0.5, 0.5, 0.75]
LONG = {"t": {"x": 0.5, "y": 0.5}, "u": {"x": 0.25, "z": 0.75}}
FRAME = {"target": TARGET, "candidate": CANDIDATE, "probability": PROBABILITY}


@pytest.mark.parametrize(
    "columns",
    [
        (TARGET, CANDIDATE, PROBABILITY),
        (np.array(TARGET), np.array(CANDIDATE), np.array(PROBABILITY)),
        tuple(pd.DataFrame(FRAME)[name] for name in FRAME),
        tuple(pd.DataFrame(FRAME, index=[5, 5, 1, 0])[name] for name in FRAME),
        tuple(pl.DataFrame(FRAME)[name] for name in FRAME),
    ],
    ids=["lists", "arrays", "pandas", "pandas-index", "polars"],
)
def test_a_long_table_of_every_kind(columns: Any) -> None:
    guess = Candidates.from_table(*columns)
    assert guess.targets is not None
    assert dict(zip(guess.targets.tolist(), rows(guess), strict=True)) == LONG
    assert guess.chosen is None


@given(cases(least=1), st.randoms(use_true_random=False))
def test_a_matrix_and_a_shuffled_table_are_the_same_guess(case: Case, random: Any) -> None:
    guess = case.guess
    table = [(row, k, float(p)) for row, target in enumerate(case.targets) for k, p in target.probability.items()]
    random.shuffle(table)
    long = Candidates.from_table(*(np.array(column) for column in zip(*table, strict=True)))
    assert rows(long) == rows(guess)
    stored = ([float(p) for t in case.targets for p in t.vector], guess.candidate.copy(), guess.start.copy())
    assert rows(Candidates.from_matrix(sp.csr_array(stored, shape=(guess.target_count, 9)))) == rows(guess)


def test_a_long_table_of_scores() -> None:
    guess = Candidates.from_table(["t", "u", "t"], [4, 4, 2], [6, 0, 2], normalize=True)
    assert rows(guess) == [{2: 0.25, 4: 0.75}, {}]


def test_a_long_table_with_choices_by_name() -> None:
    guess = Candidates.from_table(TARGET, CANDIDATE, PROBABILITY, chosen={"u": "x", "t": None})
    assert guess.chosen is not None
    assert guess.chosen.tolist() == [-1, 0]
    assert guess.attempted.tolist() == [False, True]


def test_sums_that_rounding_left_off_are_made_exact() -> None:
    guess = Candidates([0, 3, 4], [0, 1, 2, 0], [0.333333, 0.333333, 0.333333, 1.0])  # type: ignore[arg-type]
    np.testing.assert_allclose(guess.probability, [1 / 3, 1 / 3, 1 / 3, 1.0], rtol=1e-12)
    assert guess.probability[0] == guess.probability[1] == guess.probability[2]
    assert not guess.probability.flags.writeable


# ---- bad input ------------------------------------------------------------------------------------------------------

SUM = r"the candidates of target 1 \(counted from 0\) have probabilities that do not"
FINITE = r"the candidates of target 1 \(counted from 0\) have probabilities that are"
NOT_SCORES = "scores must be finite and at least 0"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.5, 0.4], SUM),
        ([0.5, 0.50001], SUM),
        ([0.0, 0.0], SUM),
        ([1.5, -0.5], r"the candidates of target 1 \(counted from 0\) have negative probabilities"),
        ([nan, 1.0], FINITE),
        ([inf, 0.0], FINITE),
        ([-inf, inf], FINITE),
    ],
)
def test_a_row_that_is_no_distribution_is_refused(row: list[float], message: str) -> None:
    for matrix in (np.array([[0.5, 0.5], row]), sp.csr_array(([0.5, 0.5, *row], [0, 1, 0, 1], [0, 2, 4]))):
        with pytest.raises(InputError, match=message):
            Candidates.from_matrix(matrix)
    with pytest.raises(InputError, match=message):
        Candidates.from_table(["a", "a", "b", "b"], [0, 1, 0, 1], [0.5, 0.5, *row])


@pytest.mark.parametrize("row", [[-1.0, 2.0], [nan, 1.0], [inf, 1.0], [inf, -inf]])
def test_scores_that_have_no_proportion_are_refused(row: list[float]) -> None:
    with pytest.raises(InputError, match=NOT_SCORES):
        Candidates.from_scores([[1.0, 1.0], row])
    with pytest.raises(InputError, match=NOT_SCORES):
        Candidates.from_table(["a", "a"], [0, 1], row, normalize=True)


def test_scores_too_large_to_be_summed_are_divided_or_refused() -> None:
    with suppress(InputError):
        assert Candidates.from_scores([[1e308, 1e308]]).probability.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("normalize", [False, True])
def test_a_candidate_twice_is_refused(normalize: bool) -> None:
    with pytest.raises(InputError, match="1 rows repeat the target and candidate of an earlier row"):
        Candidates.from_table(["t", "t", "t"], ["x", "y", "x"], [0.25, 0.5, 0.25], normalize=normalize)
    for numbers in ([0, 0], [1, 0]):
        with pytest.raises(
            InputError, match=r"the candidates of target 0 \(counted from 0\) are not distinct and ascending"
        ):
            Candidates([0, 2], numbers, [0.5, 0.5])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [], []), "start must rise from 0 to the number of entries, 0"),
        (([1, 2], [0, 1], [0.5, 0.5]), "start must rise from 0"),
        (([0, 1], [0, 1], [0.5, 0.5]), "start must rise from 0 to the number of entries, 2"),
        (([0, 2, 1, 2], [0, 1], [0.5, 0.5]), "start must rise from 0"),
        (([0, 2], [0, 1], [1.0]), "1 probabilities for 2 candidates"),
        (([0, 1], [-1], [1.0]), "Some candidate numbers are negative"),
        (([0, 1], [0], [1.0], [0, 0]), "2 choices for 1 targets"),
        (([0, 1, 1], [0], [1.0], [0, 0]), "1 choices are not among the target's candidates"),
        (([0, 1], [0], [1.0], None, ["a", "b"]), "2 names for 1 targets"),
        (([0, 1], [3], [1.0], None, None, ["a", "b"]), "candidate number 3 has no name: there are 2 names"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Candidates(*arguments)


@pytest.mark.parametrize("choice", [-2, -100])
def test_a_choice_below_minus_1_is_refused(choice: int) -> None:
    with pytest.raises(InputError):
        Candidates.from_matrix([[1.0]], chosen=[choice])


def test_matrices_and_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="The matrix has 1 dimensions"):
        Candidates.from_matrix([0.5, 0.5])
    with pytest.raises(InputError, match="2 targets, 1 candidates and 3 probabilities"):
        Candidates.from_table(["a", "b"], ["x"], [1.0, 1.0, 1.0])
    for what in ([None, "b"], ["a", nan]):
        with pytest.raises(InputError, match="1 target labels are missing, the first at position"):
            Candidates.from_table(what, ["x", "x"], [1.0, 1.0])
    with pytest.raises(InputError):
        Candidates.from_table([], [], [])
    with pytest.raises(InputError):
        Candidates.from_matrix(np.zeros((0, 3)))


@pytest.mark.parametrize("matrix", [[["secret"]], [[1.0], [0.5, 0.5]]], ids=["text", "ragged"])
def test_a_matrix_of_no_numbers_is_refused(matrix: Any) -> None:
    with pytest.raises(InputError) as refusal:
        Candidates.from_matrix(matrix)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("wrap", [list, np.array, pl.Series, pd.Series])
def test_a_table_of_no_numbers_is_refused_without_showing_them(wrap: Callable[[Any], Any]) -> None:
    with pytest.raises(InputError) as refusal:
        Candidates.from_table(["t"], ["x"], wrap(["secret"]))
    assert "secret" not in str(refusal.value)


# ---- nothing changes ------------------------------------------------------------------------------------------------


def test_everything_is_read_only_and_what_was_passed_is_left_alone() -> None:
    passed = {
        "start": np.array([0, 1]),
        "candidate": np.array([0], np.int32),
        "probability": np.array([1.0]),
        "chosen": np.array([0], np.int32),
        "targets": np.array(["t"]),
        "candidates": np.array(["x"]),
    }
    guess = Candidates(**passed)
    for name, array in passed.items():
        with pytest.raises(ValueError, match="read-only"):
            getattr(guess, name)[0] = array[0]
        with pytest.raises(AttributeError):
            setattr(guess, name, array)
        assert array.flags.writeable


def test_scores_are_left_alone() -> None:
    dense, sparse = np.array([[3.0, 1.0]]), sp.csr_array([[3.0, 1.0]])
    for scores in (dense, sparse):
        Candidates.from_scores(scores)
    assert dense.tolist() == sparse.toarray().tolist() == [[3.0, 1.0]]
    assert dense.flags.writeable


# ---- truth ----------------------------------------------------------------------------------------------------------

NAMED = Candidates.from_table(TARGET, CANDIDATE, PROBABILITY)
NUMBERED = Candidates.from_matrix(DENSE)


@pytest.mark.parametrize(
    "truth", [[2, -1], np.array([2, -1], np.int8), pd.Series([2, -1], index=[1, 0]), pl.Series([2, -1]), (2, -1)]
)
def test_truth_as_numbers(truth: Any) -> None:
    for guess in (NAMED, NUMBERED):
        numbers = guess.truth_from(truth)
        assert numbers.tolist() == [2, -1]
        assert numbers.dtype == np.int64


def test_truth_as_names() -> None:
    assert NAMED.truth_from({"u": "z", "t": None, "somebody else": "x"}).tolist() == [-1, 2]
    assert NUMBERED.truth_from({1: None, 0: 2}).tolist() == [2, -1]


def test_a_true_candidate_that_nobody_was_given_was_not_considered() -> None:
    numbers = NAMED.truth_from({"t": "new", "u": "newer"})
    assert (numbers >= 3).all()
    assert NAMED.entry_of(numbers).tolist() == [-1, -1]


def test_a_choice_that_nobody_was_given_is_not_every_truth_that_nobody_was_given() -> None:
    with suppress(InputError):  # refusing such a choice is fine as well
        guess = Candidates.from_table(["t"], ["x"], [1.0], chosen={"t": "new"})
        assert adversary_success_rate(guess, guess.truth_from({"t": "newer"})) == 0


@pytest.mark.parametrize("truth", [[0], [0, 0, 0], [[0, 0]], [0.0, 1.0], ["x", "y"], [True, False], 0])
def test_truth_of_the_wrong_kind_is_refused(truth: Any) -> None:
    with pytest.raises(InputError, match="one candidate number for each of the 2 targets"):
        NAMED.truth_from(truth)


def test_truth_that_leaves_targets_out_is_refused() -> None:
    with pytest.raises(InputError, match="the truth lacks 1 of 2 targets"):
        NAMED.truth_from({"t": "x"})


@pytest.mark.parametrize("name", ["secret", 1.5])
def test_a_name_where_there_are_only_numbers_is_refused(name: Any) -> None:
    with pytest.raises(InputError) as refusal:
        NUMBERED.truth_from({0: 0, 1: name})
    assert "secret" not in str(refusal.value)


@given(cases(), st.lists(st.integers(-1, 8), min_size=8, max_size=8))
def test_entries_are_found(case: Case, wanted: list[int]) -> None:
    guess = case.guess
    entries = guess.entry_of(wanted[: guess.target_count])
    for target, number, entry in zip(case.targets, wanted, entries.tolist(), strict=False):
        assert (entry >= 0) == (number in target.probability)
        assert entry < 0 or (guess.candidate[entry], guess.probability[entry]) == (
            number,
            float(target.probability[number]),
        )
