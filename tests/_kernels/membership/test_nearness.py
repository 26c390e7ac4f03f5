"""Distances from a crowd are those of the matrix of all distances, markers and all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil._kernels.membership.nearness import crowd_distances, log_crowd
from unveil._kernels.neighbours.index import MISSING, IntegerGrid
from unveil._kernels.neighbours.matrix import all_distances


def grid(size: int, columns: tuple[int, int], marked: float, rng: np.random.Generator) -> IntegerGrid:
    """Return rows of numbers, of which some are markers, and of codes."""
    numbers = rng.integers(-50, 50, (size, columns[0]))
    numbers = np.where(rng.random(numbers.shape) < marked, MISSING + rng.integers(0, 3, numbers.shape), numbers)
    return IntegerGrid(
        numbers, rng.integers(0, 3, (size, columns[1])).astype(np.int32), np.arange(columns[0]) * 3, 1000
    )


@given(
    st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 9), st.integers(0, 3), st.integers(0, 3),
    st.sampled_from([0.0, 0.4]), st.sampled_from([0.0, 0.4]),
)  # fmt: skip
def test_each_row_is_as_far_as_the_matrix_says(
    seed: int, size: int, rows: int, numbers: int, codes: int, marked: float, also: float
) -> None:
    rng = np.random.default_rng(seed)
    crowd, some = grid(size, (numbers, codes), marked, rng), grid(rows, (numbers, codes), also, rng)
    np.testing.assert_array_equal(crowd_distances(crowd, some), all_distances(crowd, some))


def test_the_compiled_way_says_the_same() -> None:
    rng = np.random.default_rng(1)
    crowd, some = grid(3_000, (4, 5), 0.1, rng), grid(40, (4, 5), 0.1, rng)
    crowd = crowd._replace(numbers=np.asfortranarray(crowd.numbers))
    np.testing.assert_array_equal(crowd_distances(crowd, some), all_distances(crowd, some))


def test_copies_count_as_often() -> None:
    distance = np.array([[4, 7, 7], [0, 2, 2]])
    once = log_crowd(distance[:, :2], np.array([1, 2]), 3.0)
    assert once == pytest.approx(log_crowd(distance, None, 3.0))
    assert once == pytest.approx(np.log(np.exp(-distance / 3).sum(axis=1)))
