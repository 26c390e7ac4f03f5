"""Which rules of combination are acceptable, counted on beliefs that are valid by construction."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.guesses.belief_cases import as_masses
from tests.oracles import beliefs as oracle
from unveil.errors import InputError
from unveil.guesses.mass_acceptance import acceptance, excess, valid_pairs
from unveil.guesses.mass_combination import COMBINATIONS, combine
from unveil.guesses.mass_function import MassFunction

PAIRS = 24


@pytest.mark.parametrize("rule", COMBINATIONS)
def test_rules_keep_definition_27_or_have_a_counterexample(rule: str) -> None:
    found = acceptance(rule, pairs=PAIRS, rng=np.random.default_rng(1))
    assert found.pairs == PAIRS
    if COMBINATIONS[rule].acceptable_for != "none":
        assert (found.failed, found.undefined, found.counterexample) == (0, 0, None)
        assert found.acceptable
        return
    assert not found.acceptable
    assert found.failed + found.undefined > PAIRS / 2
    case = found.counterexample
    if case is None:  # nearly always undefined; test_mass_combination has a counterexample
        assert found.undefined > 0.9 * PAIRS
        return
    probability = case.probability.tolist()
    assert all(oracle.excess(as_masses(one), probability) <= 1e-9 for one in case.masses)
    vaguer = case.result.nonspecificity() > min(one.nonspecificity() for one in case.masses)
    assert vaguer or oracle.excess(as_masses(case.result), probability) > 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_the_excess_is_the_greatest_over_all_sets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for (mass, _), _ in valid_pairs(8, 4, rng):
        probability = rng.dirichlet(np.ones(4))
        wanted = max(0.0, float(oracle.excess(as_masses(mass), probability.tolist())))
        assert excess(mass, probability) == pytest.approx(wanted, abs=1e-8)


def another_truth(masses: Sequence[MassFunction], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return a probability that all inputs are compatible with, the farthest of them in a direction drawn by lot."""
    from scipy.optimize import linprog

    size = masses[0].size
    events = oracle.subsets(size)[1:]
    inside = np.array([[float(x in event) for x in range(size)] for event in events])
    least = np.array([max(one.belief(event) for one in masses) for event in events])
    found = linprog(
        rng.normal(size=size), A_ub=-inside, b_ub=-least, A_eq=np.ones((1, size)), b_eq=[1.0], bounds=(0, 1)
    )
    inner = np.clip(found.x, 0.0, 1.0)
    probability: NDArray[np.float64] = inner / inner.sum()
    return probability


def test_informed_is_acceptable_for_the_probability_it_is_told_and_for_no_other() -> None:
    rng = np.random.default_rng(4)
    wrong = 0
    for masses, probability in valid_pairs(PAIRS, 4, rng):
        other = another_truth(masses, rng)
        assert max(excess(one, other) for one in masses) <= 1e-7
        result = combine(masses, "informed", probability=probability)
        assert excess(result, probability) <= 1e-9
        wrong += excess(result, other) > 1e-6
    assert wrong > PAIRS / 2


def first_of_all(masses: Sequence[MassFunction]) -> MassFunction:
    return masses[0]


def test_a_rule_of_ones_own_is_counted_by_its_name() -> None:
    found = acceptance(f"{__name__}:first_of_all", pairs=20, rng=np.random.default_rng(1))
    assert (found.not_valid, found.undefined) == (0, 0)
    assert found.less_specific == found.failed > 0
    with pytest.raises(InputError, match="pairs must be"):
        acceptance("mean", pairs=0, rng=np.random.default_rng(1))
