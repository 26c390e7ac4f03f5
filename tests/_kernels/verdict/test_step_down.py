"""The step-down procedure is the one that is written down, and errs as rarely as it says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.oracles import verdict as oracle
from unveil._kernels.types import FloatArray
from unveil._kernels.verdict.step_down import holm, step_down

tables = st.tuples(st.integers(1, 12), st.integers(1, 5)).flatmap(
    lambda shape: arrays.arrays(np.float64, shape, elements=st.integers(0, 5).map(float))
)


@given(tables)
def test_it_is_the_procedure_as_written(statistics: FloatArray) -> None:
    found = step_down(statistics)
    p, adjusted = oracle.step_down(statistics.tolist())
    assert found.p.tolist() == pytest.approx(p)
    assert found.adjusted.tolist() == pytest.approx(adjusted)
    assert (found.adjusted >= found.p).all()


@given(tables)
def test_the_order_of_figures_does_not_matter(statistics: FloatArray) -> None:
    order = np.random.default_rng(statistics.size).permutation(statistics.shape[1])
    found, moved = step_down(statistics), step_down(statistics[:, order])
    assert moved.p.tolist() == found.p[order].tolist()
    assert moved.adjusted.tolist() == found.adjusted[order].tolist()


def test_sums_that_differ_by_rounding_are_ties() -> None:
    third = [1 / 3 + 1 / 3 + 1 / 3 + 100, 101.0, 101 - 1e-12, 100.5]
    assert step_down(np.array([third]).T).p.tolist() == [0.75]


def test_no_figure_is_no_error() -> None:
    assert step_down(np.zeros((4, 0))).adjusted.size == 0


def test_the_least_adjusted_p_is_at_most_alpha_as_rarely_as_alpha() -> None:
    """Exchangeable rows of dependent counts: every row is row 0 once, which is the whole distribution of row 0."""
    rng = np.random.default_rng(8)
    statistics = rng.poisson(rng.random((200, 1)) + np.array([0.3, 1, 4, 4, 9]), (200, 5)).astype(float)
    least = [step_down(np.roll(statistics, row, axis=0)).adjusted.min() for row in range(200)]
    for alpha in (0.01, 0.045, 0.2, 0.5):
        assert np.mean(np.array(least) <= alpha) <= alpha


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_holm(p: list[float]) -> None:
    assert holm(np.array(p)).tolist() == pytest.approx(oracle.holm(p))
