"""What rows score for people: compiled or not, and for sets of columns as for these columns alone."""

from typing import Any

import numpy as np
import pytest

from unveil._kernels import _compile
from unveil._kernels.neighbours import best_rows
from unveil._kernels.neighbours.nearest import MISSING, IntegerGrid


def test_what_rows_score_is_the_same_compiled_and_for_sets_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    loop = best_rows._best_rows.__wrapped__  # type: ignore[attr-defined]

    def grid(rows: int) -> IntegerGrid:
        codes = rng.integers(0, 4, (rows, 2)).astype(np.int32)
        return IntegerGrid(rng.integers(0, 9, (rows, 2)), codes, np.array([3, 4]), 30)

    released, people = grid(60), grid(20)
    low = rng.integers(0, 5, 20)
    right = best_rows.RightRanks(rng.integers(-1, 5, 60), low, low + 1)
    for score in (best_rows.by_distance, best_rows.by_agreement):
        scores, every = score(released, people), np.arange(4)
        plain: list[Any] = []
        fast: list[Any] = []
        in_numpy: list[Any] = []
        for chances, way in ((plain, loop), (fast, _compile.compiled(loop)), (in_numpy, best_rows._compare_all)):
            monkeypatch.setattr(best_rows, "_best_rows", way)
            chances.append(best_rows.best_row_chances(scores, right, every, every, taken_away=True))
            for column in every:
                chances.append(best_rows.best_row_chances(scores, right, np.delete(every, column)[:2], every[-1:]))
        for one, *others in zip(plain, fast, in_numpy, strict=True):
            for other in others:
                np.testing.assert_array_equal(one, other)
        for column in every:
            some = (
                released.on_columns(np.delete(every, column)),
                people.on_columns(np.delete(every, column)),
            )
            alone = best_rows.best_row_chances(score(*some), right, every[:2], every[2:3])[:, 0]
            np.testing.assert_array_equal(plain[0][:, column], alone)


@pytest.mark.parametrize("score", [best_rows.by_distance, best_rows.by_agreement])
@pytest.mark.parametrize("taken_away", [False, True])
@pytest.mark.parametrize("way", ["loop", "numpy"])
def test_the_best_of_many_rows_is_that_of_all_of_them(
    score: Any, taken_away: bool, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = _compile.compiled(best_rows._best_rows.__wrapped__)  # type: ignore[attr-defined]
    monkeypatch.setattr(best_rows, "_best_rows", loop if way == "loop" else best_rows._compare_all)
    rng = np.random.default_rng(2)
    rows, people, widths = 2 * best_rows._AT_A_TIME + 300, 12, (3, 6)

    def grid(size: int) -> IntegerGrid:
        numbers = np.where(rng.random((size, widths[0])) < 0.1, MISSING, rng.integers(0, 9, (size, widths[0])))
        return IntegerGrid(numbers, rng.integers(0, 4, (size, widths[1])).astype(np.int32), np.array([3, 4, 5]), 30)

    released, told = grid(rows), grid(people)
    rank, low = rng.integers(-1, 5, rows), rng.integers(0, 5, people)
    right = best_rows.RightRanks(rank, low, low + 1)
    every = np.arange(sum(widths))
    for held in (every[:0], every[:1], every[2:7], every) if not taken_away else (every[1:4], every):
        tried = held if taken_away else np.setdiff1d(every, held[:-1])
        found = best_rows.best_row_chances(score(released, told), right, held, tried, taken_away=taken_away)
        for person, place in np.ndindex(found.shape):
            one = tried[[place]]
            columns = np.setdiff1d(held, one) if taken_away else np.concatenate([held, one])
            own = [_gained(score, released, told, person, column) for column in columns]
            total = np.sum(own, axis=0)
            tied = total == total.max()
            assert found[person, place] == (tied & (rank == low[person])).sum() / tied.sum()


def _gained(score: Any, released: IntegerGrid, told: IntegerGrid, person: int, column: int) -> Any:
    """Return what each row scores in one column, by the definition."""
    old = np.concatenate([released.numbers, released.codes], axis=1)[:, column]
    new = np.concatenate([told.numbers, told.codes], axis=1)[person, column]
    if score is best_rows.by_agreement:
        equal = old == new
        return np.where(equal, np.rint(-(2**20) * np.log((equal.sum() + 0.5) / (equal.size + 1))), 0)
    if column < released.numbers.shape[1] and new != MISSING:
        apart = np.abs(np.where(old == MISSING, new, old) - new) * released.step_cost[column]
        return -np.where(old == MISSING, released.mismatch_cost, apart)
    return np.where(old == new, 0, -released.mismatch_cost)
