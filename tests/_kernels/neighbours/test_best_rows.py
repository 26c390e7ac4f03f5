"""What rows score for people: compiled or not, and for sets of columns as for these columns alone."""

from typing import Any

import numpy as np
import pytest

from unveil._kernels.neighbours import best_rows
from unveil._kernels.neighbours.nearest import Grid
from unveil.attack.table import _guessers


def test_what_rows_score_is_the_same_compiled_and_for_sets_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)

    def grid(rows: int) -> Grid:
        codes = rng.integers(0, 4, (rows, 2)).astype(np.int32)
        return Grid(rng.integers(0, 9, (rows, 2)), codes, np.array([3, 4]), 30)

    released, people = grid(60), grid(20)
    low = rng.integers(0, 5, 20)
    right = best_rows.RightRanks(rng.integers(-1, 5, 60), low, low + 1)
    for score in (best_rows.by_distance, best_rows.by_agreement):
        scores, every = score(released, people), np.arange(4)
        plain: list[Any] = []
        fast: list[Any] = []
        for chances, up_to in ((plain, 10**9), (fast, 0)):
            monkeypatch.setattr(best_rows, "PLAIN_UP_TO", up_to)
            chances.append(best_rows.best_row_chances(scores, right, every, every, taken_away=True))
            for column in every:
                chances.append(best_rows.best_row_chances(scores, right, np.delete(every, column)[:2], every[-1:]))
        for one, other in zip(plain, fast, strict=True):
            np.testing.assert_array_equal(one, other)
        for column in every:
            some = (
                _guessers.on_columns(released, np.delete(every, column)),
                _guessers.on_columns(people, np.delete(every, column)),
            )
            alone = best_rows.best_row_chances(score(*some), right, every[:2], every[2:3])[:, 0]
            np.testing.assert_array_equal(plain[0][:, column], alone)
