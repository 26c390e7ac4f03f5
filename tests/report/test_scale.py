import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from unveil.report.scale import MOST_POINTS, Kind, axis, thin


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.sampled_from(["number", "count"]))
def test_ticks_lie_inside_the_axis_and_are_few(low: float, width: float, kind: Kind) -> None:
    made = axis(low, low + width, kind)
    at = [place for place, _ in made.ticks]
    slack = 1e-6 * width + 1e-9
    assert all(made.low - slack <= place <= made.high + slack for place in at)
    assert len(at) <= 7
    assert at == sorted(set(at))
    if kind == "count":
        assert all(place == int(place) for place in at)


@pytest.mark.parametrize(
    ("high", "texts"),
    [
        (1, ["0", "1"]),
        (3, ["0", "1", "2", "3"]),
        (40_000, ["0", "10k", "20k", "30k", "40k"]),
        (5_000_000, ["0", "1M", "2M", "3M", "4M", "5M"]),
    ],
)
def test_whole_numbers_are_labelled_shortly(high: int, texts: list[str]) -> None:
    assert [text for _, text in axis(0, high, "count").ticks] == texts


def test_an_axis_without_extent_gets_one() -> None:
    assert axis(2, 2).high == 3


curves = st.integers(201, 900).flatmap(lambda n: arrays(np.float64, n, elements=st.floats(0, 1)))


@given(curves)
def test_a_thinned_curve_keeps_its_ends_its_steepest_step_and_invents_nothing(y: np.ndarray) -> None:
    x = np.arange(y.size, dtype=np.float64)
    kept_x, kept_y = thin(x, y)
    assert kept_x.size <= MOST_POINTS
    assert (np.diff(kept_x) > 0).all()
    assert (y[kept_x.astype(int)] == kept_y).all()
    steepest = int(np.abs(np.diff(y)).argmax())
    must = {0, y.size - 1} | ({steepest, steepest + 1} if np.ptp(y) > 0 else set())
    assert must <= set(kept_x.astype(int).tolist())


def test_a_thinned_curve_stays_close_to_the_whole_one() -> None:
    x = np.arange(100_000, dtype=np.float64)
    y = 1 - 0.9 * np.exp(-x / 20)
    assert np.abs(np.interp(x, *thin(x, y)) - y).max() < 0.02


def test_a_short_curve_is_left_alone() -> None:
    x = np.arange(200.0)
    assert thin(x, x)[0] is x


def test_a_gap_stays_a_gap() -> None:
    x = np.arange(1000.0)
    y = np.where((x > 400) & (x < 600), np.nan, x / 1000)
    kept_x, kept_y = thin(x, y)
    gap = np.flatnonzero(np.isnan(kept_y))
    assert gap.size == 1
    assert (kept_x[gap[0] - 1], kept_x[gap[0] + 1]) == (400, 600)
    assert kept_x.size <= MOST_POINTS


def test_a_curve_that_is_nowhere_defined_is_empty() -> None:
    assert thin(np.arange(300.0), np.full(300, np.nan))[0].size == 0
