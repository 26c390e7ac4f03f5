"""Bayes' rule with the known mechanism: the posterior by its definition, and no attack on one row does better."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.linkers import found
from unveil.attacks.table.bayes import Bayes
from unveil.attacks.table.nearest import Softmax
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.metrics import adversary_success_rate

RNG = np.random.default_rng(1)


class Dice:
    """A mechanism of any chances, from original ages to released ones."""

    def __init__(self, chances: np.ndarray[Any, Any]) -> None:
        self.chances = chances

    def log_likelihood(self, original: Table, released: Table, rows: Any) -> Any:
        before, after = (table.frame["age"].to_numpy() for table in (original, released))
        with np.errstate(divide="ignore"):
            return np.log(self.chances[before][:, after[rows]].T)


def ages(values: list[int], name: str = "original") -> Table:
    return Table.from_frame(pl.DataFrame({"age": values}), name=name, kinds={"age": "number"}, roles={"age": "known"})


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=6),
    st.lists(st.integers(0, 2), min_size=1, max_size=6),
    st.lists(st.integers(1, 5), min_size=9, max_size=9),
)
def test_the_posterior_is_that_of_the_definition(original: list[int], released: list[int], odds: list[int]) -> None:
    chances = np.array(odds, float).reshape(3, 3)
    chances /= chances.sum(axis=1, keepdims=True)
    chances[0, 2] = 0
    expected = []
    for y in released:
        weights = {i: float(chances[x, y]) for i, x in enumerate(original) if chances[x, y] > 0}
        expected.append({i: pytest.approx(weight / sum(weights.values())) for i, weight in weights.items()})
    attack = Bayes(mechanism=Dice(chances))
    one, other = ages(original), ages(released, "released")
    if all(expected):
        assert found(attack.run(released=other, knowledge=Knowledge(one), rng=RNG)) == expected
    else:
        with pytest.raises(InputError, match="impossible for every original row"):
            attack.run(released=other, knowledge=Knowledge(one), rng=RNG)


def test_nothing_does_better_on_average() -> None:
    rng = np.random.default_rng(8)
    chances = np.array([[0.2, 0.7, 0.1], [0.6, 0.1, 0.3], [0.1, 0.3, 0.6]])
    rates = []
    for _ in range(40):
        values = rng.integers(0, 3, 20)
        released = np.array([rng.choice(3, p=chances[x]) for x in values])
        order = rng.permutation(20)
        known, masked = Knowledge(ages(values.tolist())), ages(released[order].tolist(), "released")
        guesses = [
            attack.run(released=masked, knowledge=known, rng=rng)
            for attack in (Bayes(mechanism=Dice(chances)), Softmax())
        ]
        rates.append([adversary_success_rate(guess, order) for guess in guesses])
    bayes, softmax = np.mean(rates, axis=0)
    assert bayes > softmax + 0.01


def test_some_rows_can_be_drawn() -> None:
    mechanism = Dice(np.eye(3))
    people = ages([0, 1, 2, 0])
    every = found(Bayes(mechanism=mechanism).run(released=people, knowledge=Knowledge(people), rng=RNG))
    assert every == [{0: 0.5, 3: 0.5}, {1: 1.0}, {2: 1.0}, {0: 0.5, 3: 0.5}]
    some = Bayes(mechanism=mechanism, targets=2).run(released=people, knowledge=Knowledge(people), rng=RNG)
    assert some.targets is not None
    assert found(some) == [every[row] for row in some.targets.tolist()]


def test_without_a_mechanism_it_says_so() -> None:
    people = ages([0, 1])
    with pytest.raises(InputError, match="no mechanism was passed"):
        Bayes().run(released=people, knowledge=Knowledge(people), rng=RNG)
    with pytest.raises(InputError, match="column 'aeg' is not in the original"):
        Bayes(mechanism=Dice(np.eye(3)), columns=("aeg",)).run(released=people, knowledge=Knowledge(people), rng=RNG)
    with pytest.raises(InputError, match="the mechanism is a str without the method log_likelihood"):
        Bayes(mechanism="noise")  # type: ignore[arg-type]


def test_the_mechanism_is_not_shown() -> None:
    """It may hold values of the original."""
    assert "mechanism" not in repr(Bayes(mechanism=Dice(np.eye(3))))
