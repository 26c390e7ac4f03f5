"""Propositions, lemma and theorems of the thesis on matchings, by enumeration in fractions, and its future work 3.

Slices are functions from items to pseudonyms (the set T^R), diagonals are those that are one to one.
"""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import factorial

import numpy as np
import pytest

from tests._kernels.matching.examples import FLAT, HOSPITAL, TRUTH, UNEVEN, as_floats
from tests.oracles.matchings import expected_cracks as enumerated_cracks
from tests.oracles.matchings import permanent as enumerated_permanent
from tests.oracles.matchings import weights
from unveil._kernels.matching import permanent
from unveil.data import samples
from unveil.guesses import Dataflow, Matching, MatchingDistribution
from unveil.metrics.matchings.cracks import cracks, expected_cracks
from unveil.metrics.matchings.flatness import nmape
from unveil.metrics.matchings.heuristic import heuristic_cracks

MATRICES = {"Q": UNEVEN, "P": FLAT}
N = 5


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def slices(matrix: list[list[Fraction]], rows: int = N) -> dict[tuple[int, ...], Fraction]:
    """Return each function from the first rows to columns with the product of its cells."""
    found = {}
    for columns in product(range(N), repeat=rows):
        weight = Fraction(1)
        for row, column in enumerate(columns):
            weight *= matrix[row][column]
        found[columns] = weight
    return found


@pytest.mark.parametrize("name", MATRICES)
def test_proposition_3_2_1_slices_weigh_1_and_diagonals_the_permanent(name: str) -> None:
    found = slices(MATRICES[name])
    assert len(found) == N**N
    assert sum(found.values()) == 1
    diagonals = {columns: weight for columns, weight in found.items() if len(set(columns)) == N}
    assert len(diagonals) == factorial(N)
    total = sum(diagonals.values())
    assert total == enumerated_permanent(MATRICES[name])
    assert np.exp(permanent(as_floats(MATRICES[name])).log) == pytest.approx(float(total), rel=1e-12)
    assert Fraction(factorial(N), N**N) <= total <= 1  # the corollary, and Egorychev's least value


def test_the_extremes_of_the_permanent_are_reached() -> None:
    assert np.exp(permanent(np.full((N, N), 1 / N)).log) == pytest.approx(factorial(N) / N**N)
    assert permanent(np.eye(N)).exact == 1


@pytest.mark.parametrize("name", MATRICES)
def test_proposition_3_2_2_normalized_weights_of_diagonals_sum_to_1(name: str) -> None:
    listed = MatchingDistribution.from_matching(Matching(as_floats(MATRICES[name])))
    found = weights(MATRICES[name])
    total = sum(found.values())
    assert listed.probability.sum() == pytest.approx(1)
    for columns, chance in zip(listed.matchings.tolist(), listed.probability.tolist(), strict=True):
        assert chance == pytest.approx(float(found[tuple(columns)] / total), rel=1e-12)


def test_equation_2_3_by_its_subsets_is_the_mean_number_of_cracks() -> None:
    # The matchings that crack exactly S: those of the graph without S, its pseudonyms and all other true edges.
    total = Fraction(0)
    for size in range(N + 1):
        for cracked in combinations(range(N), size):
            rows = [i for i in range(N) if i not in cracked]
            columns = [j for j in range(N) if j not in {TRUTH[i] for i in cracked}]
            rest = [[0 if TRUTH[i] == j else HOSPITAL[i][j] for j in columns] for i in rows]
            if all(HOSPITAL[i][TRUTH[i]] for i in cracked):
                total += size * enumerated_permanent(rest)
    assert total / enumerated_permanent(HOSPITAL) == Fraction(29, 18)
    assert expected_cracks(Matching(HOSPITAL), TRUTH, rng=rng()).value == pytest.approx(29 / 18)


def test_no_matching_has_all_cracks_but_one() -> None:
    for matrix in (HOSPITAL, as_floats(UNEVEN)):
        found = cracks(Matching(matrix), TRUTH, rng=rng())
        assert found.crack_distribution[N - 1] == 0


@pytest.mark.parametrize("name", MATRICES)
def test_lemma_1_holds_on_functions_of_the_first_k_entries(name: str) -> None:
    # Printed: partial functions of all n items. There are n^k only if the domain is the first k of them.
    matrix = MATRICES[name]
    for k in range(1, N + 1):
        found = slices(matrix, rows=k)
        assert len(found) == N**k
        mean = sum(w * sum(a == b for a, b in zip(columns, TRUTH, strict=False)) for columns, w in found.items())
        assert mean == sum(matrix[i][TRUTH[i]] for i in range(k))


@pytest.mark.parametrize("name", MATRICES)
def test_theorem_4_3_1_the_heuristic_is_the_mean_over_functions_from_entries_to_tokens(name: str) -> None:
    # Printed once as R^T, which is the functions from pseudonyms to items; these have the same mean by columns.
    matrix = MATRICES[name]
    mean = sum(w * sum(a == b for a, b in zip(columns, TRUTH, strict=True)) for columns, w in slices(matrix).items())
    assert heuristic_cracks(Matching(as_floats(matrix)), TRUTH).value == pytest.approx(float(mean), rel=1e-12)
    turned = [list(column) for column in zip(*matrix, strict=True)]
    owner = [TRUTH.index(pseudonym) for pseudonym in range(N)]
    other = sum(w * sum(a == b for a, b in zip(rows, owner, strict=True)) for rows, w in slices(turned).items())
    assert other == mean


def test_proposition_4_4_1_over_all_truths_each_function_has_n_factorial_cracks() -> None:
    for function in ((0, 0, 0, 0, 0), (2, 3, 4, 0, 1), (1, 1, 2, 3, 3)):
        total = sum(sum(a == b for a, b in zip(function, truth, strict=True)) for truth in permutations(range(N)))
        assert total == factorial(N)


@pytest.mark.parametrize("name", MATRICES)
def test_theorem_4_4_2_metric_and_heuristic_have_the_same_sum(name: str) -> None:
    matrix = MATRICES[name]
    marginals = cracks(Matching(as_floats(matrix)), TRUTH, rng=rng()).marginals().toarray()
    for cells in (as_floats(matrix), marginals):
        total = sum(cells[range(N), truth].sum() for truth in permutations(range(N)))
        assert total == pytest.approx(factorial(N))
    assert float(enumerated_cracks(matrix, TRUTH)) == pytest.approx(marginals[range(N), TRUTH].sum())


def test_nmape_is_0_at_both_extremes_of_the_permanent() -> None:
    for matrix in (np.full((N, N), 1 / N), np.eye(N)):
        assert nmape(matrix, rng=rng()).value == pytest.approx(0, abs=1e-9)


def test_future_work_3_for_any_distribution_the_heuristic_of_its_chances_of_pairs_is_the_metric() -> None:
    # So no other heuristic is needed: cracks add up over items, whatever the distribution of matchings is.
    network = Dataflow.read(samples.path("matching_dataflow.csv")).distribution()
    orders = list(permutations(range(N)))
    drawn = rng().dirichlet(np.ones(len(orders)) / 20)
    for guess in (network, MatchingDistribution(np.array(orders), drawn)):
        truth = list(guess.matchings[0])
        metric = float((guess.probability * (guess.matchings == truth).sum(axis=1)).sum())
        assert expected_cracks(guess, truth, rng=rng()).value == pytest.approx(metric)
        assert heuristic_cracks(Matching(guess.marginals), truth).value == pytest.approx(metric)
        # To take the chances of pairs for a matrix of weights, and count its matchings, is another distribution.
        assert abs(expected_cracks(Matching(guess.marginals), truth, rng=rng()).value - metric) > 1e-3
