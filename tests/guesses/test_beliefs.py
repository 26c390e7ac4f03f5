"""Beliefs of all targets: equal records, the way to candidates, and bringing several together."""

from typing import Any

import numpy as np
import pytest

from unveil.errors import InputError
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.mass_function import MassFunction

PAIR = MassFunction.from_set(4, [0, 1])
MIXED = MassFunction.from_sets(4, {(0,): 0.5, (0, 3): 0.5})
NOBODY_KNOWS = MassFunction.vacuous(4)


def test_candidates_are_the_pignistic_probabilities() -> None:
    guess = Beliefs(4, (PAIR, MIXED, NOBODY_KNOWS)).to_candidates()
    assert guess.start.tolist() == [0, 2, 4, 8]
    assert guess.candidate.tolist() == [0, 1, 0, 3, 0, 1, 2, 3]
    assert guess.probability == pytest.approx([0.5, 0.5, 0.75, 0.25, *[0.25] * 4])
    assert guess.chosen is None


def test_numbers_per_target() -> None:
    beliefs = Beliefs(4, (PAIR, MIXED, NOBODY_KNOWS))
    assert beliefs.nonspecificity() == pytest.approx([np.log(2), np.log(2) / 2, np.log(4)])
    assert beliefs.pignistic_entropy() == pytest.approx([one.pignistic_entropy() for one in beliefs.each])
    assert beliefs.target_count == 3


def test_equal_records_get_equal_beliefs() -> None:
    same = MassFunction.from_sets(4, [([3, 0], 0.5), ([0], 0.5)])
    assert Beliefs(4, (MIXED, PAIR, same, PAIR), codes=np.array([5, 2, 5, 2])).codes is not None
    with pytest.raises(
        InputError, match=r"Targets 0 and 2 \(counted from 0\) have equal released records but different"
    ):
        Beliefs(4, (MIXED, PAIR, PAIR), codes=np.array([5, 2, 5]))
    close = MassFunction.from_sets(4, {(0,): 0.5 + 1e-6, (0, 3): 0.5 - 1e-6})
    with pytest.raises(
        InputError, match=r"Targets 0 and 1 \(counted from 0\) have equal released records but different"
    ):
        Beliefs(4, (MIXED, close)).check_equal_records([0, 0])
    Beliefs(4, (MIXED, close)).check_equal_records([0, 1])
    with pytest.raises(InputError, match="1 codes for 2 targets"):
        Beliefs(4, (MIXED, close), codes=np.array([0]))


def test_from_codes() -> None:
    made = Beliefs.from_codes(4, [1, 0, 1], [PAIR, MIXED])
    assert made.each == (MIXED, PAIR, MIXED)
    with pytest.raises(InputError, match="Some codes are outside 0 to 1"):
        Beliefs.from_codes(4, [2], [PAIR, MIXED])


@pytest.mark.parametrize(
    ("size", "each", "message"),
    [
        (4, (), "at least one target"),
        (5, (PAIR,), "1 of 1 mass functions are not on the frame of the 5 original records"),
    ],
)
def test_bad_input(size: int, each: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Beliefs(size, each)


def test_too_many_candidates_are_refused_before_they_are_made() -> None:
    many = Beliefs(10**5, (MassFunction.vacuous(10**5),) * 10_000)
    with pytest.raises(InputError, match="The pignistic probabilities of all targets have 1,000,000,000 elements"):
        many.to_candidates()
    with pytest.raises(InputError, match="The pignistic probabilities of all targets have 4 elements, above the"):
        Beliefs(4, (NOBODY_KNOWS,)).to_candidates(most_entries=3)


def test_bringing_together() -> None:
    towns = Beliefs(4, (MassFunction.from_set(4, [1, 2]), NOBODY_KNOWS))
    ages = Beliefs(4, (PAIR, MIXED))
    both = ages.combined(towns)
    assert [one.sets[0].tolist() for one in both.each] == [[1], [0]]
    assert (both.nonspecificity() <= np.minimum(ages.nonspecificity(), towns.nonspecificity())).all()
    assert ages.combined(towns, rule="disjunctive").each[1].same_as(NOBODY_KNOWS)
    with pytest.raises(InputError, match=r"target 1 \(counted from 0\): no probability"):
        Beliefs(4, (PAIR, PAIR)).combined(Beliefs(4, (PAIR, MassFunction.from_set(4, [3]))))
    with pytest.raises(
        InputError, match=r"The beliefs differ in targets or frame: \[1, 2\] targets and frames of \[4\]"
    ):
        ages.combined(Beliefs(4, (PAIR,)))


def test_coherence_target_by_target() -> None:
    one = Beliefs(4, (PAIR, PAIR, MIXED))
    other = Beliefs(4, (MassFunction.from_set(4, [1, 2]), MassFunction.from_set(4, [3]), NOBODY_KNOWS))
    assert one.coherent_with(other).tolist() == [True, False, True]
