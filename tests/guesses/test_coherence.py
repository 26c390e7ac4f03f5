"""Two beliefs can both be valid if and only if some probability is compatible with both: beside the programme."""

import numpy as np
import pytest
from hypothesis import given, settings

from tests.guesses.belief_cases import all_made, as_masses, compatible, several
from tests.oracles import beliefs as oracle
from unveil.errors import InputError
from unveil.guesses.coherence import jointly_coherent
from unveil.guesses.mass_combination import combine, conflict
from unveil.guesses.mass_function import MassFunction


@settings(max_examples=22)
@given(several(most_inputs=2))
def test_coherent_if_and_only_if_a_probability_exists(case: tuple[int, list[oracle.Masses]]) -> None:
    n, many = case
    one, other = all_made(n, [many[0], many[-1]])
    found = jointly_coherent(one, other)
    assert found.coherent == (oracle.least_probability(many, n, frozenset()) is not None)
    # The same as: nobody believes in a set more than the other finds it plausible.
    wider = max(oracle.belief(many[0], a) - oracle.plausibility(many[-1], a) for a in oracle.subsets(n))
    assert found.coherent == (wider <= 0)
    if found.coherent:
        assert found.probability is not None
        chance = np.zeros(n)
        chance[found.probability[0]] = found.probability[1]
        assert max(oracle.excess(as_masses(m), chance.tolist()) for m in (one, other)) <= 1e-9
        assert found.witness.size == 0
        assert np.isnan(found.belief)
    else:
        assert found.belief - found.plausibility == pytest.approx(float(wider), abs=1e-9)
        assert found.belief == pytest.approx(one.belief(found.witness))
        assert "At least one of the two is invalid" in found.why
    assert jointly_coherent(other, one).coherent == found.coherent


@given(compatible(most_inputs=2))
def test_beliefs_that_are_compatible_with_the_same_probability_are_coherent(
    case: tuple[list[object], list[oracle.Masses]],
) -> None:
    probability, many = case
    one, *_, other = all_made(len(probability), [many[0], *many])
    found = jointly_coherent(one, other)
    assert found.coherent
    assert found.why.startswith("Both can be valid")


def test_conflict_is_no_contradiction() -> None:
    fair = MassFunction.from_probability(2, [0.5, 0.5])
    assert conflict([fair, fair]) == 0.5
    assert jointly_coherent(fair, fair).coherent


def test_a_contradiction_without_total_conflict() -> None:
    # Dempster's rule sees nothing wrong: it combines them.
    one = MassFunction.from_sets(3, {(0,): 0.75, (0, 1, 2): 0.25})
    other = MassFunction.from_sets(3, {(1, 2): 0.5, (0, 1, 2): 0.5})
    assert combine([one, other], "dempster").belief([0]) > 0.5
    found = jointly_coherent(one, other)
    assert not found.coherent
    assert found.witness.tolist() == [0]
    assert (found.belief, found.plausibility) == (0.75, 0.5)
    assert "the plausibility of the second is at most 0.5" in found.why


def test_large_frames() -> None:
    size = 100_000
    one = MassFunction.from_sets(size, [(range(50_000), 0.5), (range(25_000, 75_000), 0.5)])
    other = MassFunction.from_probability(size, np.full(size, 1 / size))
    # Exactly half of the probability lies among the first half, and a quarter beyond 75,000 where nothing may be.
    found = jointly_coherent(other, one)
    assert found.witness.tolist() == list(range(75_000, size))
    assert found.belief == pytest.approx(0.25)
    assert found.plausibility == 0


def test_frames_must_agree() -> None:
    with pytest.raises(InputError, match="The beliefs are on frames of different sizes, 2 and 3"):
        jointly_coherent(MassFunction.vacuous(2), MassFunction.vacuous(3))
