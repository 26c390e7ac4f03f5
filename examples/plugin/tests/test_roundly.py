import numpy as np
import polars as pl
import pytest
from roundly import Rounding, SameValues, sure_share

from unveil import InputError, Knowledge, Table

people = Table.from_frame(pl.DataFrame({"age": [21.0, 24.0, 38.0, 71.0], "town": ["Ulm", "Ulm", "Bonn", "Kiel"]}))


def test_numbers_are_rounded_and_the_truth_says_whose_each_row_is() -> None:
    release = Rounding(to=10).apply(people, rng=np.random.default_rng(1))
    assert release.truth is not None
    assert release.released.frame["age"].to_list() == [[20.0, 20.0, 40.0, 70.0][row] for row in release.truth]


def test_a_step_that_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="to must be a number above 0"):
        Rounding(to=0)


def test_the_attack_finds_all_who_are_rounded_to_the_same_and_no_others() -> None:
    release = Rounding(to=10).apply(people, rng=np.random.default_rng(1))
    attack = SameValues(columns=("age", "town"))
    guess = attack.run(released=release.released, knowledge=Knowledge(people), rng=np.random.default_rng(2))
    found = [set(guess.candidate[a:b]) for a, b in zip(guess.start, guess.start[1:], strict=False)]
    assert release.truth is not None
    assert found == [{0, 1} if row < 2 else {row} for row in release.truth]
    assert sure_share(guess) == 0.5
