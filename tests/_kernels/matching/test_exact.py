"""Exact methods against all permutations up to n = 7, and against one another where these are too many."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests._kernels.matching.examples import sparse
from tests.oracles import matchings as oracle
from unveil._kernels import threads
from unveil._kernels.matching import as_edges, edge_at, permanent, sinkhorn, solve
from unveil._kernels.matching.anneal import annealed
from unveil._kernels.matching.chains import sample
from unveil._kernels.matching.frontier import plan, sweep
from unveil._kernels.matching.glynn import _glynn_chunks, glynn
from unveil._kernels.matching.glynn_cracks import _complex_glynn, cracks_by_roots
from unveil._kernels.matching.glynn_marginals import _derivatives, glynn_marginals
from unveil._kernels.matching.integers import _ryser_last_bits, integer_permanent
from unveil._kernels.matching.subsets import cracks_by_subsets, marginals_by_subsets, permanent_by_subsets

Floats = NDArray[np.float64]


@st.composite
def small(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    """Return a matrix of small whole numbers with a perfect matching, and a truth."""
    n = draw(st.integers(1, 6))
    rows = draw(st.lists(st.lists(st.sampled_from([0, 0, 1, 1, 2, 5]), min_size=n, max_size=n), min_size=n, max_size=n))
    for row, column in enumerate(draw(st.permutations(range(n)))):
        rows[row][column] = max(1, rows[row][column])
    return rows, draw(st.permutations(range(n)))


@settings(deadline=None, max_examples=22)
@given(small())
def test_every_method_agrees_with_all_permutations(case: tuple[list[list[int]], list[int]]) -> None:
    matrix, truth = case
    full, columns, edges = np.array(matrix, np.float64), np.array(truth), as_edges(np.array(matrix, np.float64))
    value = float(oracle.permanent(matrix))
    marginal = np.array(oracle.marginals(matrix), np.float64)
    cracks = np.array(oracle.crack_distribution(matrix, truth), np.float64)
    scaled = full / full.sum(axis=1, keepdims=True)
    swept = sweep(plan(edges), edges.weight, _places(full, columns), cracks=True)  # type: ignore[arg-type]
    assert integer_permanent(full) == permanent_by_subsets(full) == permanent(full).exact == oracle.permanent(matrix)
    assert glynn(scaled)[0] * full.sum(axis=1).prod() == pytest.approx(value, rel=1e-13)
    assert swept.log_permanent == pytest.approx(np.log(value), abs=1e-13)
    np.testing.assert_allclose(glynn_marginals(scaled)[1], marginal, atol=1e-14)
    np.testing.assert_allclose(marginals_by_subsets(full)[1], marginal, rtol=1e-14)
    np.testing.assert_allclose(swept.marginal, marginal[edges.row, edges.column], rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(cracks_by_subsets(full, columns), cracks, rtol=1e-13)
    np.testing.assert_allclose(cracks_by_roots(scaled, columns), cracks, atol=1e-13)
    np.testing.assert_allclose(swept.cracks, cracks, rtol=1e-12, atol=1e-16)  # type: ignore[arg-type]
    found = solve(full, columns, rng=np.random.default_rng(0))
    np.testing.assert_allclose(found.marginals(), marginal, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(found.crack_distribution, cracks, rtol=1e-12, atol=1e-16)  # type: ignore[arg-type]
    assert found.expected_cracks == pytest.approx(float(oracle.expected_cracks(matrix, truth)), rel=1e-13)
    assert found.exact


def _places(full: Floats, truth: NDArray[np.int64]) -> NDArray[np.int64]:
    place = edge_at(as_edges(full), truth)
    return place[place >= 0]


@pytest.mark.unwatched
@pytest.mark.parametrize(("n", "density"), [(9, 1.0), (13, 0.5), (17, 1.0), (20, 0.35), (22, 1.0)])
def test_methods_agree_up_to_22_rows(n: int, density: float) -> None:
    rng = np.random.default_rng(n)
    matrix = sinkhorn(as_edges(_indecomposable(sparse(n, density, rng)))).edges.dense()
    truth = rng.permutation(n)
    value, marginal, error = glynn_marginals(matrix)
    assert glynn(matrix)[0] == pytest.approx(value, rel=1e-12)
    if n < 22:
        by_subsets, every = marginals_by_subsets(matrix)
        np.testing.assert_allclose(marginal, every, atol=1e-12)
        assert abs(value / by_subsets - 1) < max(error, 1e-14)
        np.testing.assert_allclose(cracks_by_roots(matrix, truth), cracks_by_subsets(matrix, truth), atol=1e-12)
    else:
        assert value == pytest.approx(float(permanent_by_subsets(matrix)), rel=1e-11)
    edges = as_edges(matrix)
    sweeping = plan(edges)
    assert sweeping is not None
    if sweeping.work < 1e6:
        swept = sweep(sweeping, edges.weight, _places(matrix, truth), cracks=True)
        np.testing.assert_allclose(swept.marginal, marginal[edges.row, edges.column], atol=1e-12)
        assert swept.log_permanent == pytest.approx(np.log(value), abs=1e-11)


def _indecomposable(matrix: Floats) -> Floats:
    """Return the matrix with a ring through all rows, so that it is one block."""
    n = len(matrix)
    return matrix + 0.1 * np.eye(n) + 0.1 * np.roll(np.eye(n), 1, axis=1)


def test_permanent_of_26_rows_by_an_independent_method() -> None:
    # Of a matrix of few distinct columns the permanent is a sum over how many of each a row takes: exact fractions.
    first, second = np.arange(1, 27) / 9, 1 + np.arange(26) % 5 / 7
    matrix = np.stack([first] * 12 + [second] * 14, axis=1)
    ways = [Fraction(1)]
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        after = [Fraction(0)] * (len(ways) + 1)
        for k, weight in enumerate(ways):
            after[k] += weight * Fraction(b)
            after[k + 1] += weight * Fraction(a)
        ways = after
    exact = ways[12] * Fraction(int(np.prod(np.arange(1, 13)))) * int(np.prod(np.arange(1, 15)))
    rows = matrix.sum(axis=1, keepdims=True)
    value = Fraction(glynn(matrix / rows)[0])
    for total in rows.ravel().tolist():
        value *= Fraction(total)
    assert abs(float(value / exact) - 1) < 1e-11


def test_whole_numbers_to_the_last_digit() -> None:
    assert permanent(np.ones((40, 40))).exact == 815915283247897734345611269596115894272000000000
    ring = np.eye(21) + np.roll(np.eye(21), 1, axis=1)
    assert integer_permanent(ring) == 2
    assert integer_permanent(np.ones((21, 21))) == 51090942171709440000
    assert integer_permanent(np.full((12, 12), 1e6)) == 479001600 * 10**72
    assert integer_permanent(np.full((13, 13), 1e6)) is None
    assert _ryser_last_bits(np.full((8, 8), 2**3)) == 40320 * 2**24
    assert _ryser_last_bits(np.arange(9).reshape(3, 3)) == 144
    assert integer_permanent(np.ones((29, 29))) is None


@pytest.mark.parametrize("n", [2, 5, 12])
def test_entries_of_any_size(n: int) -> None:
    rng = np.random.default_rng(n)
    matrix = rng.random((n, n)) + 0.1
    rows, columns = 10.0 ** rng.integers(-150, 150, n), 10.0 ** rng.integers(-150, 150, n)
    plain = solve(matrix, np.arange(n), rng=rng)
    wild = solve(matrix * rows[:, None] * columns, np.arange(n), rng=rng)
    np.testing.assert_allclose(wild.marginal, plain.marginal, rtol=1e-10)
    expected = plain.log_permanent.log + np.log(rows).sum() + np.log(columns).sum()
    assert wild.log_permanent.log == pytest.approx(expected, rel=1e-12)


def test_entries_like_1e_300_beside_1() -> None:
    tiny = np.full((3, 3), 1e-300) + np.diag([1.0, 1.0, 0.0])
    found = solve(tiny, [0, 1, 2], rng=np.random.default_rng(0))
    assert found.log_permanent.log == pytest.approx(np.log(1e-300), rel=1e-12)
    assert found.expected_cracks == pytest.approx(3.0)
    # Every matching has two entries of 1e-300, whose product no floating-point number holds.
    crossed = np.array([[1e-300, 1e-300, 1], [1e-300, 1e-300, 1], [1, 1, 0]])
    crossed[:2, 2] = 1e-300
    assert permanent(crossed).log == pytest.approx(np.log(4) + 2 * np.log(1e-300), rel=1e-12)


@pytest.mark.parametrize(("n", "lane_rows", "gray_rows"), [(7, 2, 1), (7, 3, 2), (8, 1, 3), (8, 2, 2)])
def test_every_split_of_rows_gives_the_same(n: int, lane_rows: int, gray_rows: int) -> None:
    matrix = np.random.default_rng(n).random((n, n))
    value, marginal = marginals_by_subsets(matrix)
    half = 2.0 ** (1 - n)
    chunks = 1 << (n - 2 - lane_rows - gray_rows)
    found = _glynn_chunks(matrix, lane_rows, gray_rows, 0, chunks)
    assert found.sum() * half == pytest.approx(value, rel=1e-12)
    np.testing.assert_array_equal(_glynn_chunks(matrix, lane_rows, gray_rows, chunks - 1, chunks), found[-1:])
    assert _complex_glynn(matrix, 0 * matrix, lane_rows, gray_rows) * half == pytest.approx(value, rel=1e-12)
    derivative = half * sum(_derivatives(matrix, lane_rows, gray_rows, chunk, chunk + 1) for chunk in range(2 * chunks))
    np.testing.assert_allclose(matrix * derivative / value, marginal, rtol=1e-11)


@pytest.mark.parametrize("seed", [1, 2])
def test_any_number_of_threads_gives_the_same_bytes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    matrix, edges = rng.random((18, 18)) / 9, as_edges(rng.random((40, 40)) / 20)
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(threads, "processors", lambda cores=cores: cores)
        drawn = sample(edges, np.arange(40), rng=np.random.default_rng(3), precision=0.2)
        crossed = annealed(edges, rng=np.random.default_rng(4), error=0.5, budget=300_000)
        value, marginal, _ = glynn_marginals(matrix)
        chances = cracks_by_roots(matrix, np.arange(18))
        found.append((glynn(matrix), value, marginal.tobytes(), chances.tobytes(), drawn.marginal.tobytes(), crossed))
    assert found[0] == found[1] == found[2]
    assert found[0][5] is not None


def test_complex_entries() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.random((5, 5)), rng.random((5, 5))
    value = _complex_glynn(first, second, 2, 1) / 16
    assert value == pytest.approx(complex(permanent_by_subsets(first + 1j * second)), rel=1e-12)
