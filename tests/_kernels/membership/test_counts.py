"""Sets of columns drawn by lot are different ones of the right size, and all of them where they are few."""

from math import comb

import numpy as np
import pytest

from unveil._kernels.membership.counts import column_sets


@pytest.mark.parametrize(("columns", "size", "most"), [(33, 2, 400), (9, 5, 100), (9, 4, 126), (3, 5, 100), (0, 2, 9)])
def test_sets_are_different_and_of_the_right_size(columns: int, size: int, most: int) -> None:
    sets = column_sets(columns, size, most, np.random.default_rng(1))
    every = comb(columns, min(size, columns)) if columns else 0
    assert len(sets) == len(set(sets)) == min(every, most)
    assert all(len(set(each)) == min(size, columns) and each == tuple(sorted(each)) for each in sets)
    if every > most:
        assert sets != column_sets(columns, size, most, np.random.default_rng(2))
        assert {column for each in sets for column in each} == set(range(columns))
