"""Histograms of probabilities, as the rows written out give them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unveil.guesses import Candidates
from unveil.questions.graph.findings import BINS
from unveil.questions.graph.measurements import histogram_of, together

rows = st.lists(st.lists(st.integers(0, 9), min_size=6, max_size=6), min_size=1, max_size=5)


@given(rows)
def test_every_probability_above_zero_is_counted_in_its_bin(drawn: list[list[int]]) -> None:
    weights = np.array(drawn, float)
    guess = Candidates.from_matrix(weights, normalize=True)
    found = histogram_of(guess)
    tried = weights.sum(axis=1) > 0
    chance = weights[tried] / weights[tried].sum(axis=1, keepdims=True)
    every, likeliest = np.zeros(BINS), np.zeros(BINS)
    for row in chance:
        for value in row[row > 0]:
            every[min(int(value * BINS + 1e-9), BINS - 1)] += 1
        likeliest[min(int(row.max() * BINS + 1e-9), BINS - 1)] += 1
    assert found.every.tolist() == every.tolist()
    assert found.likeliest.tolist() == likeliest.tolist()
    assert together([found, found]).every.sum() == 2 * every.sum()


def test_what_lies_elsewhere_is_counted_once_for_each_who_shares_it() -> None:
    guess = Candidates(
        np.array([0, 2]),
        np.array([0, 1]),
        np.array([0.6, 0.2]),
        elsewhere=np.array([0.2]),
        pool=np.arange(6, dtype=np.int32),
    )
    found = histogram_of(guess)
    assert found.every[60] == found.every[20] == 1
    assert found.every[5] == 4  # 0.2 for four others
    assert found.every.sum() == 6
    assert found.likeliest[60] == found.likeliest.sum() == 1
