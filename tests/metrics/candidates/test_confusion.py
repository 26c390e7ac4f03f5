"""n-confusion counts who shares the largest probability, and the best attack on each target counts."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from tests.candidate_strategies import Case, cases
from unveil.errors import InputError
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.candidates import Candidates
from unveil.guesses.mass_function import MassFunction
from unveil.metrics._listing import METRICS
from unveil.metrics.candidates.confusion import confusion, least_confusion


@given(cases())
def test_it_counts_who_is_as_likely_as_the_likeliest(case: Case) -> None:
    guess, expected = case.guess, []
    for target, (a, b) in enumerate(pairwise(guess.start.tolist())):
        shares = guess.probability[a:b].tolist()
        alike = sum(share >= max(shares) * (1 - 1e-9) for share in shares) if shares else 0
        expected.append(alike if guess.attempted[target] else float("nan"))
    np.testing.assert_array_equal(confusion(guess), expected)


def test_rounding_does_not_break_a_tie() -> None:
    third = 1 / 3
    shares = [third, third * (1 + 4e-16), third * (1 - 4e-16)]
    assert confusion(Candidates.from_matrix([shares])).tolist() == [3.0]


def test_of_beliefs_the_pignistic_probability_counts() -> None:
    two = MassFunction.from_set(5, [1, 3])
    mixed = MassFunction.from_sets(5, {(0, 1, 2): 0.6, (2,): 0.4})
    assert confusion(Beliefs(5, (two, mixed, two, MassFunction.vacuous(5)))).tolist() == [2.0, 1.0, 2.0, 5.0]


def test_the_least_over_attacks_counts_for_each_target() -> None:
    unsure = Beliefs(3, (MassFunction.vacuous(3), MassFunction.from_set(3, [0, 1]), MassFunction.vacuous(3)))
    some = Candidates.from_matrix([[0.9, 0.1, 0], [0, 0, 0], [0.4, 0.4, 0.2]], normalize=True)
    nothing = Candidates.from_matrix(np.zeros((3, 3)), normalize=True)
    found = least_confusion([unsure, some, nothing])
    assert found.each.tolist() == [1.0, 2.0, 2.0]
    np.testing.assert_array_equal(found.by_attack, [2.0, 1.0, np.nan])
    assert found.least == 1.0
    assert np.isnan(least_confusion([nothing]).least)


def test_guesses_must_be_about_the_same_targets() -> None:
    one, two = Candidates.from_matrix([[1.0]]), Candidates.from_matrix([[1.0]] * 2)
    for wrong in ([], [one, two]):
        with pytest.raises(InputError, match="the guesses are about different targets, or there are none"):
            least_confusion(wrong)


def test_it_is_listed() -> None:
    facts = METRICS["confusion"]
    assert (facts.on, facts.per, facts.more_means, facts.bounds[0]) == (
        "Candidates | Beliefs",
        "target",
        "more private",
        1,
    )
    assert facts.formula.startswith("``#{i: p_i = max p}``")
    assert facts.undefined == "NaN where the target was not attempted."
