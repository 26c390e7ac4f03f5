"""A claim is contradicted by a bound of its own kind above it, and never confirmed."""

from dataclasses import replace
from math import exp, inf, nan
from typing import Any

import pytest

from unveil.errors import InputError
from unveil.metrics.epsilon.bound import Adjacency, EpsilonBound
from unveil.metrics.epsilon.claim import Claim, contradicted

SHOWN = EpsilonBound(
    bound=2.0,
    right=9,
    guesses=9,
    share=1.0,
    coins=9,
    runs=1,
    most=4.0,
    adjacency="add-remove",
    confidence=0.95,
    delta=0.0,
)


@pytest.mark.parametrize(
    ("of_bound", "of_claim", "epsilon", "expected"),
    [
        ("add-remove", "add-remove", 1.9, True),
        ("add-remove", "add-remove", 2.0, False),
        ("replace", "replace", 1.9, True),
        ("replace", "replace", 2.1, False),
        ("replace", "add-remove", 0.9, True),
        ("replace", "add-remove", 1.1, False),
        ("add-remove", "replace", 0.1, False),
    ],
)
def test_a_bound_above_the_claim_contradicts_it(
    of_bound: Adjacency, of_claim: Adjacency, epsilon: float, expected: bool
) -> None:
    claim = Claim(epsilon=epsilon, adjacency=of_claim)
    assert contradicted(claim, replace(SHOWN, adjacency=of_bound)) is expected


def test_a_delta_must_be_in_the_bound_too() -> None:
    claim = Claim(epsilon=0.5, delta=0.01)
    with pytest.raises(InputError, match=r"the delta of the bound is 0; refuting the claim needs at least 0\.01"):
        contradicted(claim, SHOWN)
    assert contradicted(claim, replace(SHOWN, delta=0.01))
    against = claim.delta_against("replace")
    assert against == pytest.approx(0.01 * (1 + exp(0.5)))
    with pytest.raises(
        InputError, match=r"the delta of the bound is 0\.01; refuting the claim needs at least 0\.0264872"
    ):
        contradicted(claim, replace(SHOWN, adjacency="replace", delta=0.01))
    assert contradicted(claim, replace(SHOWN, adjacency="replace", delta=against))
    assert 0.99 < Claim(epsilon=1000, delta=0.01).delta_against("replace") < 1


@pytest.mark.parametrize("epsilon", [0, -1, inf, -inf, nan, "1", None, True])
def test_an_epsilon_that_is_none_is_refused(epsilon: Any) -> None:
    with pytest.raises(InputError, match="it must be above 0 and finite"):
        Claim(epsilon=epsilon)


@pytest.mark.parametrize("told", [{"delta": 1.0}, {"delta": -0.1}, {"delta": nan}, {"adjacency": "swap"}])
def test_other_claims_that_cannot_be_are_refused(told: Any) -> None:
    with pytest.raises(InputError, match=next(iter(told))):
        Claim(epsilon=1.0, **told)
