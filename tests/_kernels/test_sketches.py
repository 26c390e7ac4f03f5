"""Sketches of values: what is exact is exact, and evenness of several together is nearly that of all their values."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.oracles import sketches as oracle
from unveil._kernels.sketches import BLOCKS, means_of_runs, merged_evenness, pooled, sketch_of, weights_of
from unveil._kernels.types import FloatArray

numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6))


@given(st.lists(numbers, min_size=1, max_size=200), st.integers(1, 70))
def test_a_sketch_is_that_of_its_definition(values: list[float], runs: int) -> None:
    array = np.array(values)
    found = sketch_of([*values, np.nan, np.inf], blocks=runs)
    assert (found.count, found.lowest, found.highest) == (len(values), min(values), max(values))
    assert found.sum == pytest.approx(array.sum(), abs=1e-6)
    assert found.squares == pytest.approx((array**2).sum(), rel=1e-12)
    assert found.blocks == pytest.approx(oracle.blocks(array, runs), rel=1e-6, abs=1e-3)
    assert weights_of(found.count, found.blocks.size).sum() == found.count


@given(st.lists(st.lists(numbers, max_size=90), min_size=1, max_size=4))
def test_count_extremes_mean_and_variance_of_several_are_exact(parts: list[list[float]]) -> None:
    every = np.array([value for part in parts for value in part])
    found = pooled([sketch_of(part) for part in parts])
    assert found.count == every.size
    if every.size == 0:
        assert np.isnan([found.lowest, found.highest, found.mean, found.variance]).all()
        return
    assert (found.lowest, found.highest) == (every.min(), every.max())
    scale = np.abs(every).max()
    assert found.mean == pytest.approx(every.mean(), abs=1e-12 * scale)
    if every.size > 1:
        assert found.variance == pytest.approx(every.var(ddof=1), rel=1e-9, abs=1e-12 * scale**2)


def levels_of_a_case(rng: np.random.Generator) -> list[FloatArray]:
    """Return values of nodes at a few levels: of one shape that moves, some of them tied, as metrics are."""
    shape, digits = rng.integers(5), rng.integers(0, 5)
    made = []
    for place in np.linspace(rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9), int(rng.integers(1, 7))):
        size = int(rng.integers(1, 3000))
        if shape == 0:  # found or not
            values = (rng.random(size) < place).astype(np.float64)
        elif shape == 1:
            values = rng.beta(8 * place, 8 * (1 - place), size)
        elif shape == 2:  # a few large ones
            values = rng.lognormal(place, 1.0, size)
        elif shape == 3:  # set sizes
            values = rng.poisson(30 * place, size).astype(np.float64)
        else:  # sure of some, unsure of the others
            values = np.where(rng.random(size) < place, rng.random(size), 1.0)
        made.append(values.round(digits + 1))
    return made


@settings(max_examples=150)
@given(st.integers(0, 2**32))
def test_evenness_of_merged_sketches_is_that_of_all_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = levels_of_a_case(rng)
    every = np.concatenate(levels)
    sketches = [sketch_of(level) for level in levels]
    own = every.min(), every.max()
    wider = own[0] - rng.uniform(0, 3), own[1] + rng.uniform(0, 3)
    for lowest, highest in (own, wider):
        exact = oracle.evenness(every, lowest, highest)
        assert merged_evenness(sketches, lowest, highest) == pytest.approx(exact, abs=0.002)


@given(st.lists(numbers, min_size=1, max_size=BLOCKS))
def test_evenness_of_few_values_is_exact(values: list[float]) -> None:
    array = np.array(values, np.float32).astype(np.float64)  # blocks have the digits of these
    lowest, highest = array.min() - 1.0, array.max() + 2.0
    exact = oracle.evenness(array, lowest, highest)
    assert merged_evenness([sketch_of(array)], lowest, highest) == pytest.approx(exact, abs=1e-6)


def test_evenness_of_sketches_made_to_be_bad_is_off_by_what_is_told() -> None:
    off = []
    for zeros in range(60, 70):
        ends, between = np.repeat([0.0, 1.0], [zeros, 128 - zeros]), np.full(128, 0.5)
        found = merged_evenness([sketch_of(ends), sketch_of(between)], 0.0, 1.0)
        off.append(abs(found - oracle.evenness(np.concatenate([ends, between]), 0.0, 1.0)))
    assert 0.005 < max(off) < 0.006


def test_evenness_without_a_range_or_a_value() -> None:
    assert merged_evenness([sketch_of([2.0, 2.0])], 2.0, 2.0) == 0.0
    assert np.isnan(merged_evenness([sketch_of([])], 0.0, 1.0))
    assert merged_evenness([sketch_of([]), sketch_of([0.0, 0.0])], 0.0, 1.0) == 0.0


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 9)), min_size=1, max_size=60), st.integers(1, 64))
@example([(-1.0, 9)] * 7 + [(0.0, 1)] * 13 + [(0.0, 6), (0.0, 9), (0.0, 9)], 24)  # 62.5 values in 15 runs
def test_weighted_runs_are_those_of_the_values_they_stand_for(pairs: list[tuple[float, int]], runs: int) -> None:
    value, number = (np.array(each, np.float64) for each in zip(*sorted(pairs), strict=True))
    means, sizes = means_of_runs(value, number, runs)
    written_out = np.repeat(value, number.astype(np.int64))
    assert means == pytest.approx(oracle.blocks(written_out, runs), abs=1e-9)
    assert sizes.sum() == written_out.size
