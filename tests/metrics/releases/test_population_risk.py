"""Risk against a register: the definitions person by person, a worked example, and census records."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.metrics.releases.test_truthful import AGES, EVERYBODY, KINDS, PLACES, WRITTEN, masked, people, table
from tests.oracles import register as oracle
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.metrics.releases.population_risk import PopulationIs, RegisterRisk, register_risk

CENSUS = Path(os.environ.get("UNVEIL_DATA", "")) / "acs" / "tx2019.csv.gz"
REGISTER = ["a1"] * 6 + ["a2"] * 2 + ["b1"] * 4 + ["b2"] + ["c1"] * 3
RELEASE = ["a1"] * 3 + ["a2"] + ["b1"] * 2 + ["b2"]
#: Figures that need a register.
OF_REGISTER = ("journalist_max", "journalist_above", "k_map", "marketer", "population_uniques",
               "population_uniqueness", "unique_match_correct", "delta_max", "delta_min", "delta_above")  # fmt: skip


def keys(values: list[str]) -> Table:
    return Table.from_frame(
        pl.DataFrame({"letter": [each[0] for each in values], "digit": [each[1] for each in values]})
    )


def test_the_worked_example() -> None:
    found = register_risk(keys(RELEASE), keys(REGISTER), ["letter", "digit"], population_is="register")
    assert (found.prosecutor_max, found.prosecutor_mean, found.prosecutor_above) == (1, 4 / 7, 1)
    assert (found.journalist_max, found.journalist_above, found.k_map) == (1, 4 / 7, 1)
    assert found.marketer == pytest.approx(2.5 / 7)
    assert (found.sample_uniques, found.population_uniques, found.population_uniqueness) == (2, 1, 0.5)
    assert found.unique_match_correct == 2 / 3
    assert (found.delta_max, found.delta_min) == (1, 0)


def test_one_class_without_people_contradicts_the_register() -> None:
    without = [each for each in REGISTER if each != "b2"]
    claims: tuple[PopulationIs, ...] = ("register", "auto")
    for claim in claims:
        found = register_risk(keys(RELEASE), keys(without), population_is=claim)
        assert (found.contradictions, found.is_register) == (1, False)
        assert all(np.isnan(getattr(found, name)) for name in OF_REGISTER)
        assert found.prosecutor_mean == 4 / 7


def test_a_sample_and_a_smaller_file_are_no_register() -> None:
    assert np.isnan(register_risk(keys(RELEASE), keys(REGISTER), population_is="sample").marketer)
    assert register_risk(keys(RELEASE), keys(REGISTER)).is_register
    assert not register_risk(keys(["a1", "a1"]), keys(["a1"])).is_register
    with pytest.raises(InputError, match="population_is"):
        register_risk(keys(RELEASE), keys(REGISTER), population_is="all")  # type: ignore[arg-type]


def check(found: RegisterRisk, expected: dict[str, float]) -> None:
    told = {name: getattr(found, name) for name in (*expected, *OF_REGISTER)}
    for name, value in told.items():
        assert value == pytest.approx(expected.get(name, np.nan), nan_ok=True), name


@given(st.lists(people, max_size=25), st.lists(masked, max_size=8), st.sampled_from([0.2, 0.5, 0.05]))
def test_the_definition_with_bands_sets_and_stars(
    more: list[tuple[int, str]], rows: list[tuple[str, str]], threshold: float
) -> None:
    population, released = [*EVERYBODY, *more], [*WRITTEN, *rows]
    sets = [(AGES[age], PLACES[town]) for age, town in released]
    tables = table([*released], "released"), table([*population], "population", **KINDS)
    found = register_risk(*tables, list(KINDS), population_is="register", threshold=threshold)
    check(found, oracle.register_risk(sets, population, threshold))


@given(st.lists(people, min_size=1, max_size=12), st.lists(people, max_size=30), st.data())
def test_plain_values_of_people_in_the_register(
    rows: list[tuple[int, str]], more: list[tuple[int, str]], data: st.DataObject
) -> None:
    population = data.draw(st.permutations([*rows, *more]))
    sets = [tuple(frozenset({value}) for value in row) for row in rows]
    tables = table([*rows], "released", **KINDS), table([*population], "population", **KINDS)
    found = register_risk(*tables, population_is="register")
    assert found.contradictions == 0
    check(found, oracle.register_risk(sets, population, 0.2))
    # A record's risk is smaller for whoever does not know that the person is in the data.
    assert found.journalist_max <= found.prosecutor_max
    assert found.marketer <= found.prosecutor_mean + 1e-12
    assert 0 <= found.delta_min <= found.delta_max <= 1


def test_everybody_is_in_the_data_if_the_release_is_the_register() -> None:
    found = register_risk(keys(REGISTER), keys(REGISTER))
    assert (found.delta_min, found.delta_max, found.delta_above) == (1, 1, 1)
    assert found.marketer == found.prosecutor_mean


@pytest.mark.skipif(not CENSUS.is_file(), reason="needs UNVEIL_DATA")
def test_census_records() -> None:
    columns = ["PUMA", "AGEP", "SEX", "RAC1P"]
    register = Table.read(CENSUS).select(columns)
    found = [
        register_risk(
            register.take(np.random.default_rng(seed).choice(register.rows, register.rows // 10, replace=False)),
            register,
            columns,
            population_is="register",
        )
        for seed in range(20)
    ]
    # The figures of another random tenth, which are up to 13% from the mean of these.
    expected = {"prosecutor_mean": 0.70, "prosecutor_above": 0.988, "marketer": 0.23, "journalist_above": 0.210,
                "sample_uniques": 454, "population_uniques": 91, "unique_match_correct": 0.16}  # fmt: skip
    for name, value in expected.items():
        assert np.mean([getattr(each, name) for each in found]) == pytest.approx(value, rel=0.15), name
