"""The matrix of an attack from everything it can be built from; bad ones are refused, and name no cell."""

import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.refusals import MARKER, refusal
from tests.oracles import matching_attacks as oracle
from unveil.data import samples
from unveil.data.matrices.matchings import read_ranges, read_transactions, read_truth
from unveil.guesses import Candidates
from unveil.guesses.matching import Matching, matching_truth

ENTRIES = ("Flu", "Viral Fever", "Cold", "Asthma", "Tuberculosis")
TOKENS = ("u", "v", "x", "y", "z")
FIGURE_2_2 = [[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]]
# M0 of the thesis: Flu x, Viral Fever y, Cold z, Asthma u, Tuberculosis v.
TRUTH = (2, 3, 4, 0, 1)


def by_rows(rows: Any) -> pl.DataFrame:
    return pl.DataFrame(rows, orient="row")


KINDS = [sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array, sp.csr_matrix, sp.bsr_array]


# --- the thesis -------------------------------------------------------------------------------------------------------


def test_figure_2_2_follows_from_the_printed_ranges_and_transactions() -> None:
    ranges = read_ranges(samples.path("matching_ranges.csv"))
    seen = read_transactions(samples.path("matching_transactions.csv"))
    attack = Matching.from_ranges(
        ranges.low, ranges.high, seen.frequency, items=ranges.items, pseudonyms=seen.pseudonyms
    )
    assert (attack.items, attack.pseudonyms) == (ENTRIES, TOKENS)
    assert seen.frequency.tolist() == [0.2, 0.3, 0.4, 0.6, 0.8]
    assert np.asarray(attack.matrix).tolist() == FIGURE_2_2
    assert attack.is_feasibility
    assert not attack.is_doubly_stochastic
    truth = read_truth(samples.path("matching_truth.csv"), attack)
    assert tuple(truth) == TRUTH
    # 18 matchings hold; the printed 28/18 expected cracks do not: they are 29/18.
    shares = oracle.shares([[Fraction(cell) for cell in row] for row in FIGURE_2_2])
    assert len(shares) == 18
    cracks = oracle.cracks(shares, TRUTH)
    assert {number: chance * 18 for number, chance in cracks.items()} == {0: 4, 1: 6, 2: 3, 3: 4, 5: 1}
    assert oracle.expected(cracks) == Fraction(29, 18)


def test_figure_3_5_the_flat_matrix_is_the_scaled_0_1_matrix() -> None:
    graph = [[1, 0, 1, 1, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 1], [0, 1, 0, 1, 0], [1, 0, 1, 0, 1]]
    a, b, c = (sqrt(5) - 1) / 2, (3 - sqrt(5)) / 2, sqrt(5) - 2
    flat = [[a, 0, b, 0, 0], [0, 0.5, 0, 0.5, 0], [0, 0, b, 0, a], [0, 0.5, 0, 0.5, 0], [b, 0, c, 0, b]]
    attack = Matching(graph)
    scaled = attack.sinkhorn()
    np.testing.assert_allclose(scaled.matrix, flat, rtol=0, atol=1e-11)
    assert scaled.is_doubly_stochastic
    assert np.asarray(scaled.matrix)[0, 3] == 0  # the edge Flu, y is in no matching
    assert np.asarray(attack.matrix).tolist() == graph


def test_the_embedded_matrix_is_q_of_figure_3_4_with_the_erratum_corrected() -> None:
    attack = Matching.read(samples.path("matching_matrix.csv"))
    assert (attack.items, attack.pseudonyms) == (ENTRIES, TOKENS)
    assert attack.is_doubly_stochastic  # with the printed 1/20 for Tuberculosis, y it would not be
    assert not attack.is_feasibility
    matrix = [[Fraction(cell).limit_denominator(100) for cell in row] for row in np.asarray(attack.matrix).tolist()]
    assert matrix[4][3] == Fraction(1, 50)
    assert all(sum(row) == 1 for row in matrix)
    weights = oracle.weights(matrix)
    assert len(weights) == 36  # printed as 72
    permanent = sum(weights.values())
    assert permanent == Fraction(4750747, 78125000)
    assert weights[(2, 4, 3, 1, 0)] / permanent == Fraction(19328985, 76011952)
    cracks = oracle.cracks(oracle.shares(matrix), TRUTH)
    assert oracle.expected(cracks) == Fraction(204860909, 152023904)
    np.testing.assert_allclose(
        [float(cracks.get(k, 0)) for k in range(6)], [0.217437, 0.406658, 0.196320, 0.174834, 0, 0.004752], atol=5e-7
    )
    assert sum(matrix[row][column] for row, column in enumerate(TRUTH)) == Fraction(33, 25)


@pytest.mark.parametrize(
    ("matrix", "permanent", "cracks"),
    [
        ([[0, 0, 1, 1, 1], [0, 1, 0, 1, 1], [0, 1, 0, 0, 1], [1, 0, 1, 0, 0], [1, 1, 0, 0, 0]], 4, Fraction(7, 4)),
        ([[1, 1, 1, 1, 0], [1, 0, 0, 1, 0], [1, 0, 0, 0, 1], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0]], 7, 3),
    ],
)
def test_the_two_graphs_of_figure_2_4(matrix: Any, permanent: int, cracks: Fraction) -> None:
    assert Matching(matrix).is_feasibility
    shares = oracle.shares(matrix)
    assert len(shares) == permanent
    assert oracle.expected(oracle.cracks(shares, TRUTH)) == cracks


# --- matrices of every kind -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrap",
    [list, np.array, np.asfortranarray, pd.DataFrame, by_rows, lambda rows: np.array(rows, np.float32)],
    ids=["lists", "array", "fortran", "pandas", "polars", "float32"],
)
def test_a_dense_matrix_stays_dense_and_cannot_be_changed(wrap: Callable[[Any], Any]) -> None:
    given = wrap([[0.0, 0.5], [2.0, 1.0]])
    attack = Matching.from_matrix(given, items=["Flu", "Cold"], pseudonyms=[1, 2])
    assert isinstance(attack.matrix, np.ndarray)
    assert attack.matrix.dtype == np.float64
    assert attack.matrix.tolist() == [[0.0, 0.5], [2.0, 1.0]]
    assert (attack.n, attack.items, attack.pseudonyms) == (2, ("Flu", "Cold"), ("1", "2"))
    with pytest.raises(ValueError, match="read-only"):
        attack.matrix[0, 0] = 7
    if isinstance(given, np.ndarray):
        given[0, 0] = 7
        assert attack.matrix[0, 0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_sparse_matrix_stays_sparse_and_is_not_changed(kind: Callable[[Any], Any]) -> None:
    given = kind(np.array([[0.0, 0.5], [2.0, 1.0]]))
    attack = Matching(given)
    assert isinstance(attack.matrix, sp.csr_array)
    assert attack.matrix.toarray().tolist() == [[0.0, 0.5], [2.0, 1.0]]
    assert not attack.matrix.data.flags.writeable
    assert given.dtype == np.float64
    assert attack.edges.weight.tolist() == [0.5, 2.0, 1.0]
    assert attack.edges.column.tolist() == [1, 0, 1]


def test_stored_zeros_are_no_pairs_and_entries_stored_twice_are_added() -> None:
    value, row, column = [0.0, 0.25, 0.25, 1.0], [0, 0, 0, 1], [0, 1, 1, 0]
    attack = Matching(sp.coo_array((value, (row, column)), shape=(2, 2)))
    assert isinstance(attack.matrix, sp.csr_array)
    assert attack.matrix.nnz == 2
    assert attack.matrix.toarray().tolist() == [[0.0, 0.5], [1.0, 0.0]]


def test_a_sparse_matrix_of_read_only_arrays_is_checked_like_any_other() -> None:
    given = sp.csr_array(np.array([[1.0, -1.0], [1.0, 1.0]]))
    given.data.flags.writeable = False
    assert "is negative" in refusal(lambda: Matching(given))


def test_dense_and_sparse_say_the_same() -> None:
    rng = np.random.default_rng(5)
    matrix = np.where(rng.random((40, 40)) < 0.3, rng.random((40, 40)), 0) + np.eye(40)
    dense, sparse = Matching(matrix), Matching(sp.csr_array(matrix))
    for mine, other in zip(dense.edges, sparse.edges, strict=True):
        np.testing.assert_array_equal(mine, other)
        assert np.asarray(mine).dtype == np.asarray(other).dtype
    assert (dense.support != sparse.support).nnz == 0
    scaled = sparse.sinkhorn().matrix
    assert isinstance(scaled, sp.csr_array)
    np.testing.assert_allclose(dense.sinkhorn().matrix, scaled.toarray())
    assert Matching(dense.support).is_feasibility
    assert (
        repr(dense)
        == repr(sparse)
        == f"Matching(40 items and pseudonyms, {np.count_nonzero(matrix)} of 1600 pairs possible)"
    )


def test_one_row_and_very_small_and_large_numbers_are_fine() -> None:
    assert Matching([[1e-300]]).n == 1
    tiny = Matching([[1e-300, 5e-324], [1e-300, 1e308]])
    assert tiny.edges.weight.size == 4
    assert not tiny.is_doubly_stochastic
    assert not Matching([[1e308, 1e308], [1e308, 1e308]]).is_doubly_stochastic  # the sum is infinite
    scaled = Matching([[1e-300, 1e-300], [2e-300, 1e-300]]).sinkhorn()
    share = sqrt(2) / (1 + sqrt(2))
    np.testing.assert_allclose(scaled.matrix, [[1 - share, share], [share, 1 - share]])


@pytest.mark.parametrize("off", [0.0, 9e-7, -9e-7, 2e-6, -2e-6])
def test_doubly_stochastic_has_a_tolerance(off: float) -> None:
    assert Matching([[0.5 + off, 0.5], [0.5, 0.5]]).is_doubly_stochastic == (abs(off) < 1e-6)
    assert Matching(sp.csr_array([[0.5 + off, 0.5], [0.5, 0.5]])).is_doubly_stochastic == (abs(off) < 1e-6)


def test_rows_that_sum_to_1_are_not_enough() -> None:
    assert not Matching([[1.0, 0.0], [0.5, 0.5]]).is_doubly_stochastic


@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=22)
def test_scaling_keeps_how_likely_each_matching_is(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = (
        np.where(rng.random((n, n)) < 0.6, rng.integers(1, 4, (n, n)), 0) + np.eye(n, dtype=int)[rng.permutation(n)]
    )
    scaled = Matching(matrix).sinkhorn()
    assert scaled.is_doubly_stochastic
    before = oracle.shares(matrix.tolist())
    after = oracle.shares([[Fraction(cell) for cell in row] for row in np.asarray(scaled.matrix).tolist()])
    assert set(before) == set(after)
    for columns, share in before.items():
        assert float(after[columns]) == pytest.approx(float(share), rel=1e-9)


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([], "empty"),
        (np.empty((0, 0)), "empty"),
        (3, "single number"),
        ([[1, 2]], "1 x 2"),
        ([1, 2], "square.*is 2"),
        (np.ones((2, 2, 2)), "2 x 2 x 2"),
        ([[1, 1], [1]], "equal length"),
        ([[MARKER, "1"], ["1", "1"]], "real numbers"),
        ([[1j, 1], [1, 1]], "real numbers"),
        (sp.csr_array(np.array([[1j]])), "real numbers"),
        ([[1, 1], [-1, 1]], r"row 2, column 1 \(counted from 1.* is negative; such cells: 1"),
        ([[1, nan], [1, nan]], "row 1, column 2 .* missing or infinite; such cells: 2"),
        ([[1, inf], [1, 1]], "row 1, column 2 .* missing or infinite"),
        ([[1, -inf], [1, 1]], "missing or infinite"),
        (sp.csr_array([[1.0, 1.0], [0.0, -1.0]]), "row 2, column 2 .* is negative"),
        (sp.csr_array([[1.0, nan], [0.0, 1.0]]), "row 1, column 2 .* missing"),
        (sp.csr_array(np.ones((2, 3))), "2 x 3"),
        (np.broadcast_to(0.0, (10_001, 10_001)), "at most 10,000 rows .* 10,001. Pass a sparse"),
    ],
)  # fmt: skip
def test_what_is_no_square_matrix_of_such_numbers_is_refused(matrix: Any, message: str) -> None:
    assert re.search(message, refusal(lambda: Matching(matrix)))


def test_a_sparse_matrix_that_points_outside_itself_is_refused() -> None:
    broken = sp.csr_array(np.eye(3))
    broken.indices[0] = 9
    assert "outside" in refusal(lambda: Matching(broken))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0]], r"row 1 \(counted from 1\) has positive weights in no column\."),
        (
            [[1, 1, 1], [1, 0, 0], [1, 0, 0]],
            r"2 rows \(2, 3, counted from 1\) have positive weights in only 1 column\.",
        ),
        (
            [[1, 1, 0], [1, 1, 0], [1, 1, 0]],
            r"3 rows .* only 2 columns, because column 3 .* has positive weights in no row",
        ),
    ],
)
@pytest.mark.parametrize("wrap", [np.array, lambda rows: sp.csr_array(np.array(rows, float))], ids=["dense", "sparse"])
def test_rows_with_too_few_columns_are_named(wrap: Callable[[Any], Any], matrix: Any, message: str) -> None:
    assert re.search(message, refusal(lambda: Matching(wrap(matrix))))


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
@settings(deadline=None, max_examples=22)
def test_the_rows_named_violate_halls_condition_and_are_named_only_then(rows: list[list[bool]]) -> None:
    matrix = [[float(cell) for cell in row] for row in rows]
    if not oracle.has_violating_rows(matrix):
        assert Matching(matrix).n == len(rows)
        return
    message = refusal(lambda: Matching(matrix))
    assert message == refusal(lambda: Matching(sp.csr_array(matrix)))
    numbers = re.search(r"each item: (?:\d+ rows \(([\d, ]+), counted|row (\d+))", message)
    assert numbers is not None
    named = [int(number) - 1 for number in re.findall(r"\d+", numbers[1] or numbers[2])]
    assert oracle.lacks_columns(matrix, named)


@pytest.mark.unwatched
def test_a_hundred_thousand_sparse_rows_are_checked() -> None:
    n = 100_000
    shuffled = np.random.default_rng(3).permutation(n)
    rows, columns = np.tile(np.arange(n), 3), np.concatenate([shuffled, np.arange(n), np.roll(np.arange(n), 5)])
    matrix = sp.coo_array((np.ones(3 * n), (rows, columns)), shape=(n, n)).tocsr()
    assert Matching(matrix).n == n
    # Many rows left over: the search stays short, and the lack is shown from its easier side too.
    lacking = sp.hstack([sp.csr_array((n, 60)), matrix[:, 60:]]).tocsr()
    assert re.search(r"because column \d+ .* in no row", refusal(lambda: Matching(lacking)))
    matrix.data[matrix.indptr[7] : matrix.indptr[8]] = 0
    assert "row 8 (counted from 1) has positive weights in no column" in refusal(lambda: Matching(matrix))


def test_a_large_dense_matrix_with_zeros_is_checked() -> None:
    n = 1200
    band = np.abs(np.arange(n)[:, None] - np.arange(n)) < 200
    assert Matching(band).n == n
    assert Matching(np.eye(n)[np.random.default_rng(1).permutation(n)]).edges.weight.size == n
    lacking = band.astype(float)
    lacking[400:460, :] = 0
    lacking[400:460, 7:66] = 1
    assert "60 rows (401, 402, " in refusal(lambda: Matching(lacking))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a"], "1 names for 2"),
        ([MARKER, MARKER], "number 2 has that of number 1"),
        ([1, "1"], "number 2 has that of number 1"),
    ],
)
def test_names_are_one_for_each_and_differ(names: list[Any], message: str) -> None:
    for which in ("items", "pseudonyms"):
        assert message in refusal(partial(Matching.from_matrix, np.ones((2, 2)), **{which: names}))


# --- candidates -------------------------------------------------------------------------------------------------------


def candidates(*arrays: Any, **more: Any) -> Candidates:
    return Candidates(*arrays, **more)


def test_candidates_are_transposed() -> None:
    guess = Candidates.from_table(["r1", "r1", "r2"], ["Bea", "Ann", "Bea"], [0.25, 0.75, 1.0])
    attack = Matching.from_candidates(guess)
    assert (attack.items, attack.pseudonyms) == (("Ann", "Bea"), ("r1", "r2"))
    assert np.asarray(attack.matrix).tolist() == [[0.75, 0.0], [0.25, 1.0]]


def test_candidates_not_attempted_are_refused_or_known_nothing_of() -> None:
    matrix = [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 0.25, 0.75]]
    for guess in (
        Candidates.from_scores(matrix),
        Candidates.from_matrix([matrix[0], [1, 0, 0], matrix[2]], chosen=[0, -1, 2]),
    ):
        assert "1 of 3 targets were not" in refusal(partial(Matching.from_candidates, guess))
        attack = Matching.from_candidates(guess, unattempted="uniform")
        third = 1 / 3
        np.testing.assert_allclose(attack.matrix, [[0.5, third, 0], [0.5, third, 0.25], [0, third, 0.75]])


def test_candidates_that_are_more_or_fewer_than_targets_are_refused() -> None:
    assert "3 x 2" in refusal(lambda: Matching.from_candidates(Candidates.from_matrix([[0.5, 0.5, 0], [0, 0, 1]])))
    named = candidates([0, 1, 2], [0, 0], [1.0, 1.0], candidates=np.array(["a"]))
    assert "1 x 2" in refusal(lambda: Matching.from_candidates(named))
    # Without names a candidate that nobody considered still exists, and has no pseudonym.
    assert "row 2" in refusal(lambda: Matching.from_candidates(candidates([0, 1, 2], [0, 0], [1.0, 1.0])))


def test_many_candidates_stay_sparse() -> None:
    n = 1500
    order = np.random.default_rng(2).permutation(n)
    attack = Matching.from_candidates(candidates(np.arange(n + 1), order, np.ones(n)))
    assert isinstance(attack.matrix, sp.csr_array)
    assert attack.matrix.indices.tolist() == np.argsort(order).tolist()


# --- ranges -----------------------------------------------------------------------------------------------------------


@given(st.data(), st.integers(1, 7))
@settings(deadline=None, max_examples=22)
def test_ranges_hold_both_ends_and_ties(data: st.DataObject, n: int) -> None:
    few = st.integers(0, 6)
    frequency = data.draw(st.lists(few, min_size=n, max_size=n))
    spans = [sorted((at - data.draw(few), at + data.draw(few))) for at in frequency]  # so that a matching exists
    spans = data.draw(st.permutations(spans))
    low, high = zip(*spans, strict=True)
    attack = Matching.from_ranges(low, high, frequency)
    assert np.asarray(attack.matrix).tolist() == [[float(a <= f <= b) for f in frequency] for a, b in spans]


def test_many_ranges_are_sparse_and_infinite_ends_know_nothing() -> None:
    n = 2000
    frequency = np.random.default_rng(4).permutation(n)
    attack = Matching.from_ranges(frequency - 2, frequency + 2, frequency)
    assert isinstance(attack.matrix, sp.csr_array)
    assert attack.matrix.has_sorted_indices
    assert attack.matrix.nnz == 5 * n - 6
    assert np.asarray(Matching.from_ranges([-inf, 0], [inf, 0], [0, 9]).matrix).tolist() == [[1, 1], [1, 0]]


@pytest.mark.parametrize(
    ("low", "high", "frequency", "message"),
    [
        ([0, 2], [1, 1], [1, 1], r"Item 2 \(counted from 1\)"),
        ([0, nan], [1, 1], [1, 1], "Item 2"),
        ([0, 0], [1, 1], [1, nan], "Pseudonym 2"),
        ([0, 0], [1, 1], [1, -1], "Pseudonym 2"),
        ([0, 0], [1, 1], [1, inf], "Pseudonym 2"),
        ([0, 0], [1, 1], [1], "2 x 1"),
        ([0], [1, 1], [1, 1], "1 lower and 2 upper"),
        ([], [], [], "empty"),
        ([40, 10], [90, 60], [0.2, 0.4], "same unit"),
        ([0.4, 0.4], [0.9, 0.9], [0.2, 0.4], r"2 rows \(1, 2, counted from 1\) have positive weights in only 1 column"),
        (["a"], [1], [1], "low must be numbers"),
    ],
)
def test_ranges_that_cannot_be_are_refused(low: Any, high: Any, frequency: Any, message: str) -> None:
    assert re.search(message, refusal(lambda: Matching.from_ranges(low, high, frequency)))


def test_ranges_with_more_pairs_than_memory_are_refused_before_memory_is_taken() -> None:
    n = 20_000
    assert "400,000,000" in refusal(lambda: Matching.from_ranges(np.zeros(n), np.ones(n), np.ones(n)))


# --- truth ------------------------------------------------------------------------------------------------------------

NAMED = Matching.from_matrix(np.ones((3, 3)), items=["a", "b", "c"], pseudonyms=["x", "y", "z"])


@pytest.mark.parametrize(
    "pairs",
    [[2, 0, 1], np.array([2, 0, 1]), {"c": "y", "a": "z", "b": "x"}, [("b", "x"), ("c", "y"), ("a", "z")], (2, 0, 1)],
)
def test_the_truth_by_number_or_name(pairs: Any) -> None:
    truth = matching_truth(NAMED, pairs)
    assert truth.tolist() == [2, 0, 1]
    assert truth.dtype == np.int64
    assert not truth.flags.writeable


def test_the_truth_of_a_matching_without_names() -> None:
    assert matching_truth(Matching(np.ones((2, 2))), {1: 0, 0: 1}).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([0, 1], "2 pairs for 3 items"),
        ([0, 1, 1], "1 of 3 pairs share the pseudonym of another"),
        ([0, 1, 3], "from 0 to 2"),
        ([0, 1, -1], "from 0 to 2"),
        ([0, 1, 1.5], "whole numbers"),
        ({"a": "x", "b": "y"}, "has 2 pairs"),
        ({"a": "x", "b": "y", MARKER: "z"}, "Pair 3"),
        ({"a": "x", "b": MARKER, "c": "z"}, "Pair 2"),
        ({"a": "x", "b": "y", "c": "y"}, "pseudonym of another"),
        ([("a", "x"), ("b", "y"), ("a", "z")], "item of another"),
        ([("a", "x"), ("b", "y"), ("c",)], "an item and a pseudonym"),
    ],
)
def test_a_truth_that_is_no_bijection_is_refused(pairs: Any, message: str) -> None:
    assert message in refusal(lambda: matching_truth(NAMED, pairs))
