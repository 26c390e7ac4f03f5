"""What grows by sums alone grows by the definition, and all of it does where only cells without parts are bounded."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.counts import endless_cells
from unveil._kernels.counts.range_search import grow_together
from unveil._kernels.counts.rows import NO_END, OPEN, with_more
from unveil.data.counts.system import cell_arrays

SIDES = st.lists(st.integers(3, 4), min_size=1, max_size=3)


@settings(deadline=None, max_examples=60)
@given(SIDES, st.integers(0, 10**6), st.sampled_from([0.05, 0.3, 0.7]), st.booleans())
def test_every_cell_that_is_said_to_grow_does(sides: list[int], seed: int, bounded: float, shares: bool) -> None:
    rng = np.random.default_rng(seed)
    arrays = cell_arrays([tuple(range(len(sides)))], sides, [[(0, tuple(range(1, side)))] for side in sides])
    rows, number = arrays.rows, arrays.codes.shape[0]
    if shares:  # a percentage binds two cells in another way than a sum
        rows = with_more(rows, [((0, number - 1), (3, -7), 0, OPEN)])
    high = np.where(rng.random(number) < bounded, rng.integers(0, 9, number), NO_END)
    step = grow_together(rows, high, np.where(high >= NO_END, 1, 0))
    assert (step >= 0).all()
    assert not rows.sums(step).any()
    assert set(np.flatnonzero(step)) <= endless_cells(rows, high)
    leaf = (arrays.codes > 0).all(axis=1)
    if not shares and (high[~leaf] >= NO_END).all():
        assert set(np.flatnonzero(step)) == endless_cells(rows, high)


@settings(deadline=None, max_examples=60)
@given(SIDES, st.integers(0, 10**6))
def test_a_table_plus_what_it_grows_by_fits(sides: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = cell_arrays([tuple(range(len(sides)))], sides, [[(0, tuple(range(1, side)))] for side in sides])
    leaf = (arrays.codes > 0).all(axis=1)
    room = np.where(leaf, rng.integers(0, 5, leaf.size), 0)
    step = grow_together(arrays.rows, np.where(leaf, room, NO_END), room)
    assert (step[leaf] == room[leaf]).all()
    assert arrays.rows.hold(step)
