"""What a private release may spend, and that nobody can write down less than the noise costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.data.ledger import Ledger, Query, check_epsilon
from unveil.errors import InputError


def query(cost: float, part: str | None = None, name: str = "q") -> Query:
    return Query(name=name, mechanism="Laplace", sensitivity=1, scale=1 / cost, cost=cost, part=part)


@given(st.lists(st.tuples(st.floats(0.01, 1), st.sampled_from([None, "a", "b"])), max_size=8))
def test_the_total_is_the_sum_over_parts_of_the_dearest(costs: list[tuple[float, str | None]]) -> None:
    ledger = Ledger(epsilon=100, queries=tuple(query(cost, part) for cost, part in costs))
    alone = sum(cost for cost, part in costs if part is None)
    shared = sum(max((cost for cost, part in costs if part == name), default=0) for name in ("a", "b"))
    assert ledger.total == pytest.approx(alone + shared)


def test_a_budget_that_is_exceeded_is_refused() -> None:
    assert Ledger(epsilon=1, queries=(query(0.5), query(0.5))).total == 1
    with pytest.raises(InputError, match=r"may cost at most epsilon = 1, but cost 1\.1"):
        Ledger(epsilon=1, queries=(query(0.5), query(0.6)))


def test_a_tenth_taken_ten_times_is_one() -> None:
    assert Ledger(epsilon=1, queries=tuple(query(0.1) for _ in range(10))).total == pytest.approx(1)


@pytest.mark.parametrize(("mechanism", "least"), [("Laplace", 0.5), ("geometric", 0.5), ("exponential", 1.0)])
def test_less_than_the_noise_costs_cannot_be_written_down(mechanism: str, least: float) -> None:
    facts = {"name": "q", "mechanism": mechanism, "sensitivity": 1, "scale": 2}
    assert Query(**facts, cost=least).cost == least  # type: ignore[arg-type]
    with pytest.raises(InputError, match="costs at least"):
        Query(**facts, cost=least * 0.99)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf")])
def test_numbers_of_a_query_must_be_finite_and_above_0(wrong: float) -> None:
    for field in ("sensitivity", "scale", "cost"):
        with pytest.raises(InputError, match="above 0 and finite"):
            Query(**({"name": "q", "mechanism": "Laplace", "sensitivity": 1, "scale": 1, "cost": 1} | {field: wrong}))  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), "1", True, None])
def test_an_epsilon_must_be_a_finite_number_above_0(wrong: object) -> None:
    with pytest.raises(InputError, match="epsilon must be a finite number above 0"):
        check_epsilon(wrong)
