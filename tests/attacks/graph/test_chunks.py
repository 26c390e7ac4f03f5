"""Shipping units costs what assigning as many rows and columns costs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import unveil.attacks.graph._chunks as kernels
from unveil.attacks.graph._chunks import transport


def check(cost: np.ndarray, supply: np.ndarray, demand: np.ndarray) -> None:
    shipped = transport(cost, supply, demand)
    assert (shipped >= 0).all()
    np.testing.assert_array_equal(shipped.sum(axis=1), supply)
    assert (shipped.sum(axis=0) <= demand).all()
    repeated = np.repeat(np.repeat(cost, supply, axis=0), demand, axis=1)
    best = repeated[linear_sum_assignment(repeated)].sum()
    assert (shipped * cost).sum() == pytest.approx(best, abs=1e-9)


def instance(rng: np.random.Generator, most: int, ties: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sources, sinks = rng.integers(1, most, 2)
    cost = rng.normal(size=(sources, sinks)) if not ties else rng.integers(-3, 3, (sources, sinks)).astype(float)
    supply, demand = rng.integers(0, 4, sources), rng.integers(0, 4, sinks)
    demand[rng.integers(sinks)] += max(0, supply.sum() - demand.sum())
    return cost, supply, demand


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_it_costs_what_the_assignment_of_all_units_costs(seed: int, ties: bool) -> None:
    check(*instance(np.random.default_rng(seed), 7, ties))


@pytest.mark.parametrize("seed", range(4))
def test_compiled_it_is_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given_ = instance(np.random.default_rng(seed), 12, ties=bool(seed % 2))
    plain = transport(*given_)
    monkeypatch.setattr(kernels, "PLAIN_COSTS", 0)
    np.testing.assert_array_equal(transport(*given_), plain)
    check(*instance(np.random.default_rng(seed), 60, ties=bool(seed % 2)))


def test_nothing_given_is_changed() -> None:
    supply, demand = np.array([1, 2]), np.array([3])
    transport(np.array([[1.0], [2.0]]), supply, demand)
    assert (supply.tolist(), demand.tolist()) == ([1, 2], [3])
