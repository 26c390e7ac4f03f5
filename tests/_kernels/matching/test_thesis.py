"""Every number that the thesis prints, or its erratum, through the dispatcher; the oracle agrees in fractions."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from tests._kernels.matching import examples
from tests._kernels.matching.examples import TRUTH, as_floats
from tests.oracles import matchings as oracle
from unveil._kernels.matching import MatchingAnswer, as_edges, bethe, decompose, permanent, sinkhorn, solve


def solved(matrix: object, truth: list[int] = TRUTH) -> MatchingAnswer:
    return solve(as_floats(matrix), truth, rng=np.random.default_rng(1))


def test_hospital_has_18_matchings_and_29_cracks_among_them_not_28() -> None:
    found = solved(examples.HOSPITAL)
    assert found.log_permanent.exact == 18
    assert found.log_permanent.log / np.log(120.0) == pytest.approx(0.603734, abs=1e-6)
    assert found.expected_cracks == pytest.approx(29 / 18, rel=1e-14)
    assert found.crack_distribution is not None
    np.testing.assert_allclose(found.crack_distribution * 18, [4, 6, 3, 4, 0, 1], atol=1e-13)
    assert oracle.crack_distribution(examples.HOSPITAL, TRUTH) == [Fraction(k, 18) for k in (4, 6, 3, 4, 0, 1)]


@pytest.mark.parametrize(
    ("matrix", "count", "cracks"), [(examples.FIGURE_2_4_B, 4, 1.75), (examples.FIGURE_2_4_C, 7, 3.0)]
)
def test_two_graphs_on_which_the_metrics_disagree(matrix: list[list[int]], count: int, cracks: float) -> None:
    found = solved(matrix)
    assert found.log_permanent.exact == count
    assert found.expected_cracks == pytest.approx(cracks, rel=1e-14)


def test_flat_matrix_tells_no_more_than_its_zeros() -> None:
    flat, support = solved(examples.FLAT), solved(examples.SUPPORT)
    assert np.exp(flat.log_permanent.log) == pytest.approx(4 / 81, rel=1e-14)
    assert flat.expected_cracks == pytest.approx(13 / 9, rel=1e-14)
    assert support.expected_cracks == pytest.approx(13 / 9, rel=1e-14)
    assert support.log_permanent.exact == 36  # feasible matchings; the thesis says 72 in one place, 36 in another
    assert set(oracle.weights(examples.FLAT).values()) == {Fraction(4, 81) / 36}


def test_uneven_matrix_with_its_corrected_entry() -> None:
    assert {sum(row) for row in examples.UNEVEN} | {sum(line) for line in zip(*examples.UNEVEN, strict=True)} == {1}
    assert oracle.permanent(examples.UNEVEN) == Fraction(4750747, 78125000)
    assert oracle.expected_cracks(examples.UNEVEN, TRUTH) == Fraction(204860909, 152023904)
    found = solved(examples.UNEVEN)
    assert np.exp(found.log_permanent.log) == pytest.approx(4750747 / 78125000, rel=1e-13)
    assert found.expected_cracks == pytest.approx(204860909 / 152023904, rel=1e-13)
    assert found.expected_cracks < 13 / 9
    assert found.crack_distribution is not None
    np.testing.assert_allclose(
        found.crack_distribution, [0.217437, 0.406658, 0.196320, 0.174834, 0, 0.004752], atol=5e-7
    )


def test_weights_of_three_matchings_under_their_corrected_labels() -> None:
    total = oracle.permanent(examples.UNEVEN)
    share = {columns: weight / total for columns, weight in oracle.weights(examples.UNEVEN).items()}
    # u→x, v→y, x→z, y→u, z→v: the printed products belong to these matchings.
    assert share[2, 4, 3, 1, 0] == Fraction(19328985, 76011952) == max(share.values())
    assert share[3, 2, 1, 0, 4] == Fraction(315375, 4750747)
    assert share[4, 3, 2, 0, 1] == Fraction(114057, 608095616) == min(share.values())
    assert len(share) == 36


def test_error_of_the_heuristic_over_all_truths() -> None:
    matrix = as_floats(examples.UNEVEN)
    gap = matrix - solved(examples.UNEVEN).marginals()
    error = [abs(gap[np.arange(5), columns].sum()) for columns in permutations(range(5))]
    assert 100 * np.mean(error) / 5 == pytest.approx(1.6173, abs=5e-5)


def test_flat_matrix_of_a_graph_has_golden_entries() -> None:
    # Edges in no perfect matching go to 0 in the limit of Sinkhorn's scaling, so blocks are scaled one by one.
    flat = np.zeros((5, 5))
    for block in decompose(as_edges(as_floats(examples.GRAPH_3_5))):
        flat[np.ix_(block.rows, block.columns)] = sinkhorn(block.edges).edges.dense()
    golden = (np.sqrt(5) - 1) / 2
    assert {round(x, 9) for x in flat.ravel()} == {
        0.0,
        0.5,
        *(round(x, 9) for x in (golden, 1 - golden, np.sqrt(5) - 2)),
    }


def test_four_cracks_more_than_the_heuristic_says() -> None:
    n, a = 4, 2 / 3
    matrix = a * np.eye(n) + (1 - a) * np.roll(np.eye(n), 1, axis=1)
    gap = matrix - solve(matrix, np.arange(n), rng=np.random.default_rng(1)).marginals()
    error = [abs(gap[np.arange(n), columns].sum()) for columns in permutations(range(n))]
    assert 100 * np.mean(error) / n == pytest.approx(1400 / 153, rel=1e-12)


def test_a_ring_of_100_is_cracked_whole_where_the_heuristic_says_55() -> None:
    matrix = 0.55 * np.eye(100) + 0.45 * np.roll(np.eye(100), 1, axis=1)
    found = solve(matrix, np.arange(100), rng=np.random.default_rng(1))
    assert found.methods["marginals"] == "frontier"
    assert found.expected_cracks == pytest.approx(100 / (1 + (9 / 11) ** 100), rel=1e-12)
    assert found.log_permanent.log == pytest.approx(100 * np.log(0.55) + np.log1p((9 / 11) ** 100), rel=1e-13)


def test_belief_propagation_is_wrong_on_a_block_of_two() -> None:
    pair = as_edges(np.array([[0.6, 0.4], [0.4, 0.6]]))
    assert solve(pair, [0, 1], rng=np.random.default_rng(1)).marginal[0] == pytest.approx(0.36 / 0.52)
    assert bethe(pair).marginal[0] == pytest.approx(1.0, abs=1e-6)


def test_a_matrix_without_a_perfect_matching_has_permanent_0() -> None:
    assert permanent(np.array([[1.0, 0.0], [1.0, 0.0]])).exact == 0
