"""Households: the chance that at least one member is found, by the product over members."""

import math
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import disclosure as oracle
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.metrics.releases.households import household_risk
from unveil.metrics.releases.population import METHODS, population_risk

members = st.lists(st.tuples(st.integers(20, 23), st.sampled_from(["a", "b", "c", None])), min_size=1, max_size=10)


def people(rows: list[tuple[int, str | None]]) -> Table:
    frame = pl.DataFrame(rows, schema={"age": pl.Int64, "home": pl.String}, orient="row")
    return Table.from_frame(frame, roles={"age": "known", "home": "known"})


def chances(rows: list[tuple[int, str | None]], risk: list[Fraction]) -> list[Fraction]:
    """The chance of each household; a row without one is a household of its own."""
    homes: dict[Any, Fraction] = {}
    for place, (_, home) in enumerate(rows):
        key = place if home is None else home
        homes[key] = homes.get(key, Fraction(1)) * (1 - risk[place])
    return [1 - missed for missed in homes.values()]


@given(members)
def test_the_chance_is_the_product_over_members(rows: list[tuple[int, str | None]]) -> None:
    risk = [Fraction(1, size) for size in oracle.class_sizes([row[:1] for row in rows])]
    expected = chances(rows, risk)
    found = household_risk(people(rows), household="home", limit=0.6)
    assert found.households == len(expected)
    assert found.apart == sum(home is None for _, home in rows)
    assert found.expected == pytest.approx(float(sum(expected)))
    assert found.average == pytest.approx(float(sum(expected) / len(expected)))
    assert found.highest == pytest.approx(float(max(expected)))
    assert found.share_above == pytest.approx(sum(each > Fraction(6, 10) for each in expected) / len(expected))
    assert all(own <= all_ + 1e-12 for own, all_ in zip(map(float, risk), found.risk, strict=True))
    assert found.expected_people == pytest.approx(math.fsum(found.risk))


def test_seven_members_of_little_risk_add_up() -> None:
    rows: list[tuple[int, str | None]] = [(20 + k, "home") for k in range(7)]
    rows += [(20 + k, None) for k in range(7) for _ in range(9)]
    found = household_risk(people(rows), household="home")
    assert found.highest == pytest.approx(1 - 0.9**7)
    assert (found.largest, found.households) == (7, 64)
    assert math.isnan(found.share_above)


@pytest.mark.parametrize("method", METHODS)
def test_the_risk_of_a_person_may_come_from_the_population(method: Any) -> None:
    frame = pl.DataFrame({"age": [30, 30, 41, 52], "home": [1, 1, 2, 2], "w": [5.0, 9.0, 10.0, 4.0]})
    table = Table.from_frame(frame)
    person = population_risk(table, method=method, columns=["age"], weights="w").risk
    found = household_risk(table, household="home", method=method, weights="w")
    assert found.expected == pytest.approx(2 - (1 - person[0]) * (1 - person[1]) - (1 - person[2]) * (1 - person[3]))
    assert found.method == method


def test_a_model_without_an_answer_says_why() -> None:
    found = household_risk(people([(30, "a"), (31, "b")]), household="home", method="pitman", limit=0.2)
    assert "neither weights nor the population size" in found.why
    assert all(map(math.isnan, (found.expected, found.highest, found.average, found.share_above)))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"household": "hom"}, "Did you mean 'home'"),
        ({"household": "home", "columns": ["age", "home"]}, "because it is the household"),
        ({"household": "home", "limit": 3}, "between 0 and 1"),
        ({"household": "home", "method": "magic"}, "Unknown method 'magic'"),
    ],
)
def test_bad_input_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        household_risk(people([(30, "a")]), **options)
