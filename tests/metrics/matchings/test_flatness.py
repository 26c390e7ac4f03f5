"""Flat matrices against a list of all matchings, and the heuristic's error over all truths."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.oracles import cracks as oracle
from unveil.errors import InputError
from unveil.guesses.matching import Matching
from unveil.guesses.matching_distribution import MatchingDistribution
from unveil.metrics.matchings import _balance, flatness
from unveil.metrics.matchings._balance import balanced
from unveil.metrics.matchings.flatness import flat, is_flat, nmape

Whole = list[list[int]]


@st.composite
def supports(draw: st.DrawFn, largest: int = 6) -> Whole:
    """0/1 matrices with at least one matching."""
    n = draw(st.integers(1, largest))
    matrix = [[draw(st.integers(0, 1)) for _ in range(n)] for _ in range(n)]
    for row, column in enumerate(draw(st.permutations(range(n)))):
        matrix[row][column] = 1
    return matrix


def fractions(matrix: Whole) -> list[list[Fraction]]:
    return [[Fraction(cell) for cell in row] for row in matrix]


def bands(n: int, width: int) -> sp.csr_array:
    """A long thin 0/1 matrix, on which rounds of scaling hardly get from one end to the other."""
    matrix = sp.diags_array([np.ones(n - abs(k)) for k in range(-width, width + 1)], offsets=range(-width, width + 1))
    first = sp.csr_array(matrix).tolil()
    first[0, 1:width] = 0
    return sp.csr_array(first)


# --- is_flat ----------------------------------------------------------------------------------------------------------


@settings(max_examples=22, deadline=None)
@given(supports(), st.data())
def test_flat_is_when_all_matchings_are_equally_likely(matrix: Whole, data: st.DataObject) -> None:
    n = len(matrix)
    factors = st.lists(st.integers(1, 9), min_size=n, max_size=n)
    row, column = data.draw(factors), data.draw(factors)
    scaled = [[matrix[i][j] * row[i] * column[j] for j in range(n)] for i in range(n)]
    assert is_flat(scaled)
    i, j = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    scaled[i][j] *= 2
    assert is_flat(scaled) == oracle.is_flat(oracle.chances(scaled))
    assert is_flat(sp.csr_array(np.array(scaled, float))) == is_flat(scaled)


def test_what_is_in_no_matching_does_not_matter() -> None:
    assert is_flat([[1, 7, 5], [0, 1, 1], [0, 1, 1]])
    assert not is_flat([[1, 7, 5], [0, 2, 1], [0, 1, 1]])


def test_rounding_is_up_to_a_tolerance() -> None:
    near = [[0.333333, 0.333333, 0.333334]] * 2 + [[0.333334, 0.333334, 0.333332]]
    assert not is_flat(near)
    assert is_flat(near, tolerance=1e-4)


def test_tiny_and_huge_weights_are_told_apart() -> None:
    assert is_flat([[1e-300, 2e-300], [1e300, 2e300]])
    assert not is_flat([[1e-300, 2e-300], [1e300, 1e300]])


def test_a_distribution_is_flat_where_its_matchings_are_equally_likely() -> None:
    two = np.array([[0, 1, 2], [1, 2, 0]])
    assert is_flat(MatchingDistribution(two, np.array([0.5, 0.5])))
    assert not is_flat(MatchingDistribution(two, np.array([0.75, 0.25])))


def test_listed_matchings_have_no_matrix_to_scale() -> None:
    with pytest.raises(InputError, match="this metric needs a matrix, not listed matchings"):
        flat(MatchingDistribution(np.array([[0, 1]]), np.array([1.0])))


def test_one_entry_and_a_long_thin_graph() -> None:
    assert is_flat([[1e-300]])
    graph = bands(3000, 3)
    assert is_flat(graph)
    graph.data[4321] = 2
    assert not is_flat(graph)


# --- flat -------------------------------------------------------------------------------------------------------------


@settings(max_examples=22, deadline=None)
@given(supports())
def test_the_flat_matrix_makes_all_possible_matchings_equally_likely(matrix: Whole) -> None:
    names = [f"item {k}" for k in range(len(matrix))]
    given_ = Matching(matrix, items=names)  # type: ignore[arg-type]
    found = flat(given_)
    table = np.asarray(found.matrix)
    np.testing.assert_allclose(table.sum(axis=0), 1, atol=1e-9)
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-9)
    chances = oracle.chances(fractions(matrix))
    used = oracle.marginals(chances, len(matrix))
    assert ((table > 0) == (np.array(used, float) > 0)).all()
    weights = [np.prod([table[i, j] for i, j in enumerate(columns)]) for columns in chances]
    np.testing.assert_allclose(weights, weights[0], rtol=1e-8)
    assert is_flat(found, tolerance=1e-7)
    assert found.items == tuple(names)


def test_sparse_stays_sparse_and_weights_are_forgotten() -> None:
    found = flat(sp.csr_array([[5.0, 1.0], [0.0, 1e-300]]))
    assert sp.issparse(found.matrix)
    assert sp.csr_array(found.matrix).toarray().tolist() == [[1, 0], [0, 1]]


def test_long_thin_graphs_are_scaled_to_the_end() -> None:
    guess = Matching(bands(2000, 4))
    found = flat(guess)
    sums = np.asarray(found.matrix.sum(axis=0))
    assert np.abs(sums - 1).max() < 1e-10
    # Sinkhorn's rounds alone are not there yet: that is why there is another method.
    assert np.abs(np.asarray(guess.sinkhorn(rounds=200).matrix.sum(axis=0)) - 1).max() > 1e-5


def test_newtons_method_finds_what_rounds_find() -> None:
    rng = np.random.default_rng(4)
    guess = Matching(np.exp(rng.standard_normal((20, 20))) * (rng.random((20, 20)) < 0.5) + np.eye(20))
    by_rounds = balanced(guess)
    by_newton = _balance._by_newton(guess.edges, np.zeros(20))
    assert by_newton is not None
    assert by_rounds.error < 1e-10
    assert by_newton.error < 1e-10
    np.testing.assert_allclose(by_newton.edges.weight, by_rounds.on(guess.edges), atol=1e-9)
    assert by_newton.log_factor == pytest.approx(by_rounds.log_factor, rel=1e-9)


def test_what_cannot_be_scaled_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_balance, "_system", lambda _: None)
    monkeypatch.setattr(_balance, "_MORE_ROUNDS", 3)
    with pytest.raises(InputError, match="the flat matrix could not be found"):
        flat(bands(300, 4))


# --- nmape ------------------------------------------------------------------------------------------------------------


@st.composite
def doubly_stochastic(draw: st.DrawFn, largest: int = 5) -> list[list[Fraction]]:
    """Mixtures of a few matchings, in fractions."""
    n = draw(st.integers(1, largest))
    parts = draw(st.lists(st.tuples(st.permutations(range(n)), st.integers(1, 9)), min_size=1, max_size=4))
    matrix = [[Fraction(0)] * n for _ in range(n)]
    for columns, weight in parts:
        for row, column in enumerate(columns):
            matrix[row][column] += Fraction(weight, sum(part for _, part in parts))
    return matrix


def floats(matrix: list[list[Fraction]]) -> NDArray[np.float64]:
    return np.array([[float(cell) for cell in row] for row in matrix])


@settings(max_examples=22, deadline=None)
@given(doubly_stochastic())
def test_nmape_is_the_mean_over_all_truths(matrix: list[list[Fraction]]) -> None:
    n = len(matrix)
    found = nmape(floats(matrix), rng=np.random.default_rng(1))
    assert found.value == pytest.approx(float(oracle.nmape(matrix, oracle.chances(matrix))), abs=1e-10)
    assert found.exact
    assert n == 1 or found.value <= 100 * sqrt(2 / (n * (n - 1)))


def test_drawn_truths_agree_with_all_truths(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    matrix = np.exp(2 * rng.standard_normal((8, 8)))
    exact = nmape(matrix, rng=rng)
    assert exact.method == "all 40320 truths"
    monkeypatch.setattr(flatness, "LARGEST_EXACT", 3)
    for dense in (100, 0):
        monkeypatch.setattr(flatness, "_DENSE", dense)
        monkeypatch.setattr(flatness, "_BATCH", 8000 if dense == 0 else 40000)
        monkeypatch.setattr(flatness, "_PRECISION", 0.03)
        drawn = [nmape(matrix, rng=np.random.default_rng(seed)) for seed in range(8)]
        assert {each.kind for each in drawn} == {"sampled"}
        far = [(each.value - exact.value) / each.error for each in drawn]
        assert max(map(abs, far)) < 3.5
        assert np.std(far) > 0.2


def test_sampled_pairs_widen_the_error() -> None:
    rng = np.random.default_rng(3)
    found = nmape(np.exp(rng.standard_normal((40, 40))), rng=rng)
    assert found.method.endswith("pairs: worm")
    assert found.r_hat < 1.05
    assert 0 < found.value <= 100 * sqrt(2 / (40 * 39))
    assert found.error > 0.005 * found.value
