"""Every number about cracks that the thesis prints, or the correct one, through the public functions.

Where the thesis is in error the test holds the correct number, which the oracle finds by enumeration in fractions, and
a comment has the printed one.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.oracles import cracks as oracle
from unveil.data import samples
from unveil.data.matrices.matchings import read_ranges, read_transactions, read_truth
from unveil.guesses.dataflow import Dataflow, Node
from unveil.guesses.matching import Matching
from unveil.guesses.matching_distribution import MatchingDistribution
from unveil.metrics.matchings.cracks import Cracks, cracks
from unveil.metrics.matchings.degree_of_anonymity import degree_of_anonymity
from unveil.metrics.matchings.flatness import flat, is_flat, nmape
from unveil.metrics.matchings.heuristic import heuristic_cracks

# Rows Flu, Viral Fever, Cold, Asthma, Tuberculosis; columns u, v, x, y, z. M0 is Flu x, Viral Fever y, Cold z, ...
TRUTH = (2, 3, 4, 0, 1)
FIGURE_2_2 = [[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]]
FIGURE_2_4_B = [[0, 0, 1, 1, 1], [0, 1, 0, 1, 1], [0, 1, 0, 0, 1], [1, 0, 1, 0, 0], [1, 1, 0, 0, 0]]
FIGURE_2_4_C = [[1, 1, 1, 1, 0], [1, 0, 0, 1, 0], [1, 0, 0, 0, 1], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0]]
THIRD, NINTH = Fraction(1, 3), Fraction(1, 9)
P = [[Fraction(0)] * 2 + [THIRD] * 3] * 2 + [[THIRD] * 2 + [NINTH] * 3] * 3
A = [[0, 0, 1, 1, 1]] * 2 + [[1] * 5] * 3
# Printed: Q[Tuberculosis, y] = 1/20, with which that row and that column sum to 1.03.
Q = [
    [Fraction(part, 100) for part in row]
    for row in ([0, 0, 57, 40, 3], [0, 0, 30, 23, 47], [34, 29, 3, 30, 4], [29, 52, 8, 5, 6], [37, 19, 2, 2, 40])
]
FIGURE_3_5 = [[1, 0, 1, 1, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 1], [0, 1, 0, 1, 0], [1, 0, 1, 0, 1]]


def attack(matrix: Sequence[Sequence[Fraction | int]]) -> Matching:
    return Matching(np.array([[float(cell) for cell in row] for row in matrix]))


def measured(guess: Matching | MatchingDistribution, truth: Sequence[int] = TRUTH) -> Cracks:
    return cracks(guess, truth, rng=np.random.default_rng(1))


def ring(n: int, a: float) -> NDArray[np.float64]:
    """a I + (1 - a) C, with the cyclic shift C."""
    return a * np.eye(n) + (1 - a) * np.roll(np.eye(n), 1, axis=1)


def test_section_2_the_hospital_unit() -> None:
    ranges = read_ranges(samples.path("matching_ranges.csv"))
    seen = read_transactions(samples.path("matching_transactions.csv"))
    guess = Matching.from_ranges(
        ranges.low, ranges.high, seen.frequency, items=ranges.items, pseudonyms=seen.pseudonyms
    )
    assert np.asarray(guess.matrix).tolist() == FIGURE_2_2
    found = cracks(guess, read_truth(samples.path("matching_truth.csv"), guess), rng=np.random.default_rng(1))
    assert found.permanent == 18
    assert found.log_permanent.value == pytest.approx(np.log(18), rel=1e-14)
    assert found.d.value == pytest.approx(0.603734, abs=5e-7)
    # Printed: 28/18 = 1.56, from a list of 18 numbers of cracks that sums to 28.
    assert oracle.expected(oracle.chances(FIGURE_2_2), TRUTH) == Fraction(29, 18)
    assert found.expected_cracks.value == pytest.approx(29 / 18, rel=1e-14)
    np.testing.assert_allclose(found.crack_distribution * 18, [4, 6, 3, 4, 0, 1], atol=1e-12)
    assert (found.expected_cracks.exact, found.d.exact, found.expected_cracks.method) == (True, True, "subsets")
    # Printed: 0 <= C(M) < n. The truth itself has n cracks.
    assert found.crack_distribution[5] > 0


@pytest.mark.parametrize(
    ("matrix", "permanent", "expected"), [(FIGURE_2_4_B, 4, Fraction(7, 4)), (FIGURE_2_4_C, 7, Fraction(3))]
)
def test_figure_2_4_two_attacks_on_which_d_and_cracks_disagree(
    matrix: list[list[int]], permanent: int, expected: Fraction
) -> None:
    found = measured(attack(matrix))
    assert found.permanent == permanent
    assert found.expected_cracks.value == pytest.approx(float(expected), rel=1e-14)
    assert oracle.expected(oracle.chances(matrix), TRUTH) == expected


def test_figure_2_4_all_graphs_that_contain_the_truth() -> None:
    free = [(i, j) for i in range(5) for j in range(5) if i != j]
    graphs = np.arange(1 << 20)
    count, total = np.zeros(1 << 20, np.int16), np.zeros(1 << 20, np.int16)
    for columns in permutations(range(5)):
        needed = sum(1 << free.index((i, j)) for i, j in enumerate(columns) if i != j)
        there = graphs & needed == needed
        count += there
        total += there * np.int16(sum(i == j for i, j in enumerate(columns)))
    points = {(c, Fraction(t, c)) for c, t in set(zip(count.tolist(), total.tolist(), strict=True))}
    assert len(points) == 397
    at_five = [cracked for permanent, cracked in points if permanent == 5]
    assert (min(at_five), max(at_five)) == (Fraction(9, 5), Fraction(17, 5))  # printed: 1.8 to 3.5
    for wanted in (9, 17):  # cracks of a graph at either end
        graph = int(np.flatnonzero((count == 5) & (total == wanted))[0])
        matrix = np.eye(5)
        for bit, place in enumerate(free):
            matrix[place] = graph >> bit & 1
        found = measured(Matching(matrix), range(5))
        assert found.permanent == 5
        assert found.expected_cracks.value == pytest.approx(wanted / 5, rel=1e-14)


def test_figure_3_3_a_flat_matrix_from_a_network() -> None:
    second = Node(("Cold", "Asthma", "Tuberculosis"), ("u", "v", "2 to 1"))
    guess = Matching.from_dataflow(Dataflow((second, Node(("Flu", "Viral Fever", "2 to 1"), ("x", "y", "z")))))
    order = [(guess.items or ()).index(name) for name in ("Flu", "Viral Fever", "Cold", "Asthma", "Tuberculosis")]
    pseudonyms = [(guess.pseudonyms or ()).index(name) for name in "uvxyz"]
    np.testing.assert_allclose(np.asarray(guess.matrix)[np.ix_(order, pseudonyms)], attack(P).matrix, rtol=1e-15)
    assert oracle.permanent(P) == Fraction(4, 81)
    found, feasible = measured(attack(P)), measured(attack(A))
    assert np.exp(found.log_permanent.value) == pytest.approx(4 / 81, rel=1e-14)
    assert found.permanent is None
    # 84 matchings of weight 0 and 36 of 1/36. Printed in one place: "those 72 feasible matchings".
    assert list(oracle.chances(P).values()) == [Fraction(1, 36)] * 36
    assert feasible.permanent == 36
    assert is_flat(attack(P))
    np.testing.assert_allclose(flat(attack(A)).matrix, attack(P).matrix, atol=1e-12)


def test_section_4_1_a_flat_matrix_is_measured_as_its_zeros() -> None:
    assert oracle.expected(oracle.chances(A), TRUTH) == oracle.expected(oracle.chances(P), TRUTH) == Fraction(13, 9)
    found, feasible = measured(attack(P)), measured(attack(A))
    for each in (found, feasible, measured(flat(attack(A)))):
        assert each.expected_cracks.value == pytest.approx(13 / 9, rel=1e-12)
        assert each.d.value == pytest.approx(np.log(36) / np.log(120), rel=1e-12)
        # H of a 0/1 matrix is that of its flat matrix: 1/3 + 1/3 + 1/9 + 1/3 + 1/3.
        assert each.heuristic.value == pytest.approx(13 / 9, rel=1e-10)
    # By the permanent of the doubly stochastic matrix alone it would be another number: log 4/81 over log 120/3125.
    assert found.d_by_permanent.value == pytest.approx(np.log(4 / 81) / np.log(120 / 3125), rel=1e-12)


def test_figure_3_4_a_truly_uneven_matrix() -> None:
    assert {sum(row) for row in Q} | {sum(column) for column in zip(*Q, strict=True)} == {1}
    assert oracle.permanent(Q) == Fraction(4750747, 78125000)  # printed: 326/5361, a rounding
    share = oracle.chances(Q)
    # Printed: .254289, .066384, .000188 as 252/991, 815/12277, 79/421189, roundings too, with the pseudonyms permuted:
    # u for x, v for y, x for z, y for u, z for v.
    assert share[2, 4, 3, 1, 0] == Fraction(19328985, 76011952) == max(share.values())
    assert share[3, 2, 1, 0, 4] == Fraction(315375, 4750747)
    assert share[4, 3, 2, 0, 1] == Fraction(114057, 608095616) == min(share.values())
    listed = MatchingDistribution.from_matching(attack(Q))
    assert listed.count == 36  # printed: 72
    for columns, chance in zip(listed.matchings.tolist(), listed.probability, strict=True):
        assert chance == pytest.approx(float(share[tuple(columns)]), rel=1e-12)
    assert np.exp(measured(attack(Q)).log_permanent.value) == pytest.approx(4750747 / 78125000, rel=1e-13)
    assert not is_flat(attack(Q))
    assert not is_flat(listed)
    np.testing.assert_allclose(flat(attack(Q)).matrix, attack(P).matrix, atol=1e-12)


def test_section_4_1_expected_cracks_of_the_uneven_matrix() -> None:
    # Printed: 1369/4355 = .3144; its conclusion, that the uneven attack is the milder one, holds all the same.
    assert oracle.expected(oracle.chances(Q), TRUTH) == Fraction(204860909, 152023904)
    guess = attack(Q)
    for found in (measured(guess), measured(MatchingDistribution.from_matching(guess))):
        assert found.expected_cracks.value == pytest.approx(204860909 / 152023904, rel=1e-13)
        assert found.expected_cracks.value < 13 / 9
        chances = [0.217437, 0.406658, 0.196320, 0.174834, 0, 0.004752]
        np.testing.assert_allclose(found.crack_distribution, chances, atol=5e-7)
        assert found.d.value == pytest.approx(oracle.degree(oracle.chances(Q), 5), rel=1e-12)


def test_section_4_3_the_heuristic() -> None:
    assert oracle.heuristic(Q, TRUTH) == Fraction(33, 25)
    found = heuristic_cracks(attack(Q), TRUTH)
    assert found.value == pytest.approx(33 / 25, rel=1e-15)
    assert found.method == "matrix as given"
    assert measured(attack(Q)).heuristic == found


def test_figure_4_1_over_all_truths_heuristic_and_metric_have_the_same_sum() -> None:
    chance = measured(attack(Q)).marginals().toarray()
    matrix = np.asarray(attack(Q).matrix)
    truths = list(permutations(range(5)))
    sums = [sum(table[np.arange(5), list(truth)].sum() for truth in truths) for table in (matrix, chance)]
    assert sums == [pytest.approx(120), pytest.approx(120)]


def test_section_4_4_nmape() -> None:
    # Printed: below 6 % for 30,000 random matrices of 5 rows. That depends on how they are drawn: maxima of 3.95 to
    # 7.16 % were found with five generators, so a bound that always holds is tested instead.
    rng = np.random.default_rng(1)
    assert nmape(attack(Q), rng=rng).value == pytest.approx(1.6173, abs=5e-5)
    assert nmape(attack(Q), rng=rng).value == pytest.approx(float(oracle.nmape(Q, oracle.chances(Q))), rel=1e-12)
    for n in (2, 3, 5, 7):
        assert nmape(np.full((n, n), 1 / n), rng=rng).value == pytest.approx(0, abs=1e-12)
        assert nmape(np.eye(n), rng=rng).value == 0
        for a in (0.5, 0.6, 0.7, 0.9):
            assert nmape(ring(n, a), rng=rng).value <= 100 * sqrt(2 / (n * (n - 1)))


def test_future_work_2_the_largest_nmape_does_not_always_fall_with_n() -> None:
    rng = np.random.default_rng(1)
    found = nmape(ring(4, 2 / 3), rng=rng)
    assert found.value == pytest.approx(1400 / 153, rel=1e-12)  # 9.150 %
    assert found.exact
    two, one = Fraction(2, 3), Fraction(1, 3)
    exact = [[two if i == j else one if j == (i + 1) % 4 else Fraction(0) for j in range(4)] for i in range(4)]
    assert oracle.nmape(exact, oracle.chances(exact)) == Fraction(1400, 153)
    # The best found with 3 rows has 8.6255 %; no ring of 3 comes above that.
    assert max(nmape(ring(3, a), rng=rng).value for a in np.linspace(0.5, 1, 101)) < 8.6256


def test_a_small_nmape_hides_what_matters() -> None:
    guess = Matching(ring(100, 0.55))
    found = measured(guess, range(100))
    assert found.heuristic.value == pytest.approx(55)
    # Two matchings are possible, and one is (11/9) ** 100 times as likely as the other.
    assert found.expected_cracks.value == pytest.approx(100 / (1 + (9 / 11) ** 100), rel=1e-12)
    assert round(found.expected_cracks.value, 6) == 100
    assert found.matched_bias.value == pytest.approx(-0.45, abs=1e-6)
    assert [quantile.at_least for quantile in found.quantiles] == [100] * 4
    small = nmape(guess, rng=np.random.default_rng(1))
    assert small.value < 100 * sqrt(2 / (100 * 99))
    # H is 0.45 too low for each pair of I in the truth and too high for each of C; both numbers are nearly Poisson with
    # mean 1, and the mean absolute difference of two such is 1.04756.
    assert small.value == pytest.approx(0.45 * 1.04756, rel=0.02)


def test_figure_3_5_the_flat_matrix_has_golden_entries() -> None:
    golden, rest, least = (sqrt(5) - 1) / 2, (3 - sqrt(5)) / 2, sqrt(5) - 2
    expected = [
        [golden, 0, rest, 0, 0],
        [0, 0.5, 0, 0.5, 0],
        [0, 0, rest, 0, golden],
        [0, 0.5, 0, 0.5, 0],
        [rest, 0, least, 0, rest],
    ]
    found = flat(attack(FIGURE_3_5))
    np.testing.assert_allclose(found.matrix, expected, atol=1e-10)
    assert is_flat(found)
    assert is_flat(attack(FIGURE_3_5))
    rng = np.random.default_rng(1)
    assert degree_of_anonymity(found, rng=rng).value == pytest.approx(
        degree_of_anonymity(attack(FIGURE_3_5), rng=rng).value, rel=1e-9
    )
