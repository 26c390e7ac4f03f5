"""What rows score for people: compiled or not, and for sets of columns as for these columns alone."""

from typing import Any

import numpy as np
import pytest

from unveil._kernels.neighbours import best_rows
from unveil._kernels.neighbours.nearest import MISSING, Grid


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
                released.on_columns(np.delete(every, column)),
                people.on_columns(np.delete(every, column)),
            )
            alone = best_rows.best_row_chances(score(*some), right, every[:2], every[2:3])[:, 0]
            np.testing.assert_array_equal(plain[0][:, column], alone)


@pytest.mark.parametrize("score", [best_rows.by_distance, best_rows.by_agreement])
def test_the_best_of_many_rows_is_that_of_all_of_them(score: Any) -> None:
    rng = np.random.default_rng(2)
    rows, people = 2 * best_rows._AT_A_TIME + 300, 12

    def grid(size: int) -> Grid:
        numbers = np.where(rng.random((size, 2)) < 0.1, MISSING, rng.integers(0, 9, (size, 2)))
        return Grid(numbers, rng.integers(0, 4, (size, 2)).astype(np.int32), np.array([3, 4]), 30)

    released, told = grid(rows), grid(people)
    rank, low = rng.integers(-1, 5, rows), rng.integers(0, 5, people)
    scores, held, tried = score(released, told), np.array([0]), np.array([1, 2, 3])
    found = best_rows.best_row_chances(scores, best_rows.RightRanks(rank, low, low + 1), held, tried)
    for person, place in np.ndindex(found.shape):
        total = _scored(scores, person, 0) + _scored(scores, person, int(tried[place]))
        tied = total == total.max()
        right = tied & (rank == low[person])
        assert found[person, place] == right.sum() / tied.sum()


def _scored(scores: best_rows.RowScores, person: int, column: int) -> Any:
    """Return what each row scores in one column, by the definition."""
    old, new = scores.rows[:, column], scores.people[person, column]
    if column < scores.numbers and new != MISSING:
        apart = np.where(old != MISSING, np.abs(np.where(old != MISSING, old, 0) - new) * scores.step[column], 0)
        cost = np.where(old != MISSING, apart, scores.mismatch)
    else:
        cost = np.full(old.shape, scores.mismatch)
    return np.where(old == new, scores.weight[person, column], -cost)
