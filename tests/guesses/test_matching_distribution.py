"""Explicit matchings and their probabilities: any distribution, in one form; bad ones are refused."""

import re
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.refusals import MARKER, refusal
from tests.oracles import matching_attacks as oracle
from unveil.data import samples
from unveil.guesses.dataflow import Dataflow
from unveil.guesses.matching import Matching, matching_truth
from unveil.guesses.matching_distribution import MatchingDistribution

FIGURE_2_2 = [[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]]
FIGURE_3_4 = [[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1]]
TRUTH = np.array([2, 3, 4, 0, 1])


def make(matchings: Any, probability: Any, **names: Any) -> MatchingDistribution:
    return MatchingDistribution(matchings, probability, **names)


def expected_cracks(guess: MatchingDistribution) -> float:
    return float(guess.probability @ (guess.matchings == TRUTH).sum(axis=1))


def test_the_order_repeats_and_zeros_of_what_is_given_do_not_matter() -> None:
    guess = make([[1, 0, 2], [0, 1, 2], [2, 1, 0], [1, 0, 2]], [0.25, 0.5, 0, 0.25])
    assert guess.matchings.tolist() == [[0, 1, 2], [1, 0, 2]]
    assert guess.probability.tolist() == [0.5, 0.5]
    assert (guess.n, guess.count, repr(guess)) == (3, 2, "MatchingDistribution(2 matchings of 3 items and pseudonyms)")
    assert guess.marginals.tolist() == [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]]
    for array in (guess.matchings, guess.probability, guess.marginals):
        assert not array.flags.writeable
        assert array.dtype in (np.int64, np.float64)


def test_nothing_given_is_changed() -> None:
    matchings, probability = np.array([[1, 0], [0, 1]]), np.array([0.25, 0.75])
    make(matchings, probability)
    assert matchings.tolist() == [[1, 0], [0, 1]]
    assert probability.tolist() == [0.25, 0.75]
    assert matchings.flags.writeable


def test_one_entry_and_rounded_probabilities() -> None:
    assert make([[0]], [1]).marginals.tolist() == [[1.0]]
    guess = make([[0, 1, 2], [1, 2, 0], [2, 0, 1]], [0.333333] * 3)
    assert guess.probability.sum() == pytest.approx(1, abs=1e-15)


def test_names_and_truth_are_those_of_a_matching() -> None:
    guess = make([[0, 1], [1, 0]], [0.5, 0.5], items=["Flu", "Cold"], pseudonyms=["u", "v"])
    assert matching_truth(guess, {"Cold": "u", "Flu": "v"}).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("matchings", "probability", "message"),
    [
        ([], [], "at least one"),
        ([[]], [1], "at least one"),
        ([0, 1], [1], "rows of whole numbers"),
        ([[0, 1], [0]], [0.5, 0.5], "one length"),
        ([[0.0, 1.0]], [1], "not whole numbers"),
        ([[MARKER, "b"]], [1], "not whole numbers"),
        ([[0, 1], [0, 0]], [0.5, 0.5], r"Matching 2 \(counted from 1\)"),
        ([[0, 2]], [1], "Matching 1"),
        ([[0, -1]], [1], "Matching 1"),
        ([[0, 1], [1, 0]], [0.5, 0.4], "sum to 0.9, not 1"),
        ([[0, 1], [1, 0]], [0, 0], "sum to 0"),
        ([[0, 1], [1, 0]], [0.5, 0.50001], "not 1"),
        ([[0, 1], [1, 0]], [1.5, -0.5], "probability of matching 2"),
        ([[0, 1], [1, 0]], [nan, 1], "probability of matching 1"),
        ([[0, 1], [1, 0]], [inf, 0], "probability of matching 1"),
        ([[0, 1], [1, 0]], [1e308, 1e308], "sum to inf"),
        ([[0, 1], [1, 0]], [1], "1 probabilities for 2"),
        ([[0, 1], [1, 0]], ["a", "b"], "must be numbers"),
    ],
)
def test_what_is_no_distribution_over_matchings_is_refused(matchings: Any, probability: Any, message: str) -> None:
    assert re.search(message, refusal(lambda: make(matchings, probability)))


def test_names_that_repeat_are_refused() -> None:
    assert "names of pseudonyms must differ" in refusal(lambda: make([[0, 1]], [1], pseudonyms=[MARKER, MARKER]))


# --- all matchings of a matrix ----------------------------------------------------------------------------------------


def test_figure_2_3_shows_18_matchings() -> None:
    guess = MatchingDistribution.from_matching(Matching(FIGURE_2_2))
    assert guess.count == 18
    assert guess.probability.tolist() == pytest.approx([1 / 18] * 18)
    # Printed as 28/18.
    assert expected_cracks(guess) == pytest.approx(29 / 18)


def test_figures_3_3_and_3_4_allow_36_matchings_of_120() -> None:
    even = MatchingDistribution.from_matching(Matching(FIGURE_3_4))
    third, ninth = [0, 0] + [1 / 3] * 3, [1 / 3] * 2 + [1 / 9] * 3
    flat = MatchingDistribution.from_matching(Matching([third, third, ninth, ninth, ninth]))
    for guess in (even, flat):
        assert guess.count == 36
        np.testing.assert_allclose(guess.probability, 1 / 36)
        assert expected_cracks(guess) == pytest.approx(13 / 9)
    uneven = MatchingDistribution.from_matching(Matching.read(samples.path("matching_matrix.csv")))
    assert uneven.count == 36  # printed as 72
    assert uneven.probability.max() == pytest.approx(float(Fraction(19328985, 76011952)))
    assert uneven.probability.min() == pytest.approx(float(Fraction(114057, 608095616)))
    assert np.isclose(uneven.probability, float(Fraction(315375, 4750747)), rtol=1e-12).any()
    assert expected_cracks(uneven) == pytest.approx(float(Fraction(204860909, 152023904)), rel=1e-12)  # printed .3144
    assert uneven.items == ("Flu", "Viral Fever", "Cold", "Asthma", "Tuberculosis")


@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=22)
def test_every_matching_is_as_likely_as_by_enumeration(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = (
        np.where(rng.random((n, n)) < 0.6, rng.integers(1, 5, (n, n)), 0) + np.eye(n, dtype=int)[rng.permutation(n)]
    )
    wanted = oracle.shares(matrix.tolist())
    for given_matrix in (matrix, sp.csr_array(matrix)):
        guess = MatchingDistribution.from_matching(Matching(given_matrix))
        assert [tuple(one) for one in guess.matchings.tolist()] == sorted(wanted)
        np.testing.assert_allclose(guess.probability, [float(wanted[one]) for one in sorted(wanted)], rtol=1e-12)


def test_very_small_weights_keep_their_proportion() -> None:
    guess = MatchingDistribution.from_matching(Matching([[1e-300, 1e-300], [3e-300, 1e-300]]))
    np.testing.assert_allclose(guess.probability, [0.25, 0.75])


@pytest.mark.unwatched
def test_too_many_matchings_are_refused() -> None:
    attack = Matching(np.ones((8, 8)))
    assert MatchingDistribution.from_matching(attack).count == 40320
    assert "at most 40,319" in refusal(lambda: MatchingDistribution.from_matching(attack, at_most=40_319))
    assert "at most 100,000" in refusal(lambda: MatchingDistribution.from_matching(Matching(np.ones((30, 30)))))


def test_the_network_of_figure_3_1_says_more_than_its_matrix() -> None:
    network = Dataflow.read(samples.path("matching_dataflow.csv"))
    whole, pairs = network.distribution(), MatchingDistribution.from_matching(Matching.from_dataflow(network))
    np.testing.assert_allclose(whole.marginals, network.matrix, atol=1e-12)
    assert not np.allclose(pairs.marginals, network.matrix, atol=1e-3)
