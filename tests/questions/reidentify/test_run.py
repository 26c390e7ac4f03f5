"""How often the best bet of an attack is right, and with how many columns it is tried."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.guesses import Candidates
from unveil.questions.reidentify.run import chances, sizes_of

weights = st.lists(st.integers(0, 3), min_size=2, max_size=5).filter(any)


@given(rows=st.lists(weights, min_size=1, max_size=5), data=st.data())
@settings(deadline=None, max_examples=22)
def test_hits_are_the_mean_over_all_lots(rows: list[list[int]], data: st.DataObject) -> None:
    size = max(map(len, rows))
    matrix = np.array([[*row, *[0] * (size - len(row))] for row in rows], float)
    truth = np.array(data.draw(st.lists(st.integers(-1, size - 1), min_size=len(rows), max_size=len(rows))))
    found = chances(Candidates.from_matrix(matrix, normalize=True), truth)
    best = [[k for k in range(size) if row[k] == row.max()] for row in matrix]
    lots = [[bet == true for bet, true in zip(bets, truth, strict=True)] for bets in product(*best)]
    assert found == pytest.approx(np.mean(lots, axis=0))


def test_rounding_does_not_decide_between_bets_that_are_as_good() -> None:
    third = 1 / 3
    guess = Candidates.from_matrix([[third, third + 1e-13, third]])
    assert chances(guess, np.array([0])) == pytest.approx(1 / 3)


def test_many_columns_are_tried_in_a_dozen_steps() -> None:
    assert sizes_of(1) == [1]
    assert (len(sizes_of(40)), sizes_of(40)[0], sizes_of(40)[-1]) == (12, 1, 40)
