"""Records that must exist, against the enumeration of every population, and their figures in an answer."""

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

import unveil
from tests.oracles.counts import Cell, worlds
from unveil._kernels.counts.propagate import propagate
from unveil._kernels.counts.solver import Budget
from unveil.attacks.counts.rank_records import worlds_by_lot
from unveil.data.counts import read_counts
from unveil.data.counts.system import system_of
from unveil.data.counts.tabulate import tabulate
from unveil.errors import InputError


def pairs_of(table: dict[tuple[int, ...], int]) -> list[dict[str, list[str]]]:
    """Return all two-way tables of yes/no variables."""
    made = []
    for one, other in combinations(range(3), 2):
        rows = list(product(range(2), repeat=2))
        counts = [
            sum(number for place, number in table.items() if (place[one], place[other]) == (a, b)) for a, b in rows
        ]
        made.append({"xyz"[one]: [str(a) for a, _ in rows], "xyz"[other]: [str(b) for _, b in rows],
                     "count": list(map(str, counts))})  # fmt: skip
    return made


@pytest.mark.parametrize("seed", range(12))
def test_records_are_those_of_every_population(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = list(product(range(2), repeat=3))
    truth = {place: int(rng.choice([0, 1, 1, 2])) for place in places}
    tables = pairs_of(truth)
    told: list[tuple[Cell, int]] = []
    for (one, other), table in zip(combinations(range(3), 2), tables, strict=True):
        for (a, b), text in zip(product(range(2), repeat=2), table["count"], strict=True):
            cell = [frozenset({0, 1})] * 3
            cell[one], cell[other] = frozenset({a}), frozenset({b})
            told.append((tuple(cell), int(text)))
    every = np.array(
        list(worlds((2, 2, 2), sum(truth.values()), [cell for cell, _ in told], [(n, n) for _, n in told]))
    )
    found = unveil.tables(tables, reconstruct=8).findings.records
    assert found is not None
    low, high = every.min(axis=0), every.max(axis=0)
    assert (found.possible, found.undecided) == (8, 0)
    assert found.certain == (low >= 1).sum()
    assert found.unique == ((low == 1) & (high == 1)).sum()
    assert found.absent == (high == 0).sum()
    # What is named: first what every population has, then by the share of those that were built; never what none has.
    named = [tuple(int(code) for code in each.record.split(", ")) for each in found.first]
    order = [places.index(place) for place in named]
    assert sorted(order) == np.flatnonzero(high > 0).tolist()
    assert [each.is_certain for each in found.first] == (low[order] >= 1).tolist()
    assert [(each.low, each.high) for each in found.first] == list(zip(low[order], high[order], strict=True))
    shares = [(each.is_certain, each.share) for each in found.first]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("seed", range(6))
def test_each_population_that_is_built_is_one_of_those_that_fit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = list(product(range(2), repeat=3))
    truth = {place: int(rng.choice([0, 1, 2])) for place in places}
    system = system_of(read_counts(pairs_of(truth)))
    low, high = system.told(())
    told = [(tuple(frozenset({int(code) - 1}) if code else frozenset({0, 1}) for code in codes), (low[at], high[at]))
            for at, codes in enumerate(system.arrays.codes.tolist()) if low[at] == high[at]]  # fmt: skip
    people = sum(truth.values())
    fitting = {
        tuple(count > 0 for count in world)
        for world in worlds((2, 2, 2), people, [cell for cell, _ in told], [ends for _, ends in told])
    }
    cells = system.arrays.locate(np.array(places) + 1)
    sums = propagate(system.arrays.rows, low, high)
    for draw in range(6):
        made = worlds_by_lot(
            system.arrays.rows, sums.low, sums.high, system.is_record, 1, Budget(10**6), np.random.default_rng(draw)
        )
        assert (made.found[cells] == 1).all()
        assert tuple((made.occupied[cells] > 0).tolist()) in fitting


def test_the_truth_says_how_often_ranked_records_exist() -> None:
    rng = np.random.default_rng(3)
    people = pl.DataFrame({name: rng.choice(list("pqrs"), 60, p=[0.6, 0.2, 0.1, 0.1]) for name in "xyz"})
    tables = [tabulate(people, pair) for pair in combinations("xyz", 2)]
    found = unveil.tables(tables, reconstruct=20, microdata=people).findings.records
    assert found is not None
    there = set(people.unique().rows())
    named = [tuple(each.record.split(", ")) in there for each in found.first]
    tens = {each.first: each for each in found.precision}
    assert tens[10].ranked == sum(named[:10]) / 10
    assert tens[None].ranked > tens[None].by_margins
    assert 100 not in tens  # 64 combinations


def test_whole_numbers_leave_each_record_open() -> None:
    found = unveil.tables(pairs_of(dict.fromkeys(product(range(2), repeat=3), 1)), reconstruct=8).findings.records
    assert found is not None
    assert (found.certain, found.absent) == (0, 0)


def test_tables_that_share_nothing_have_records_too_unless_these_are_too_many() -> None:
    apart = [{"a": ["x", "y"], "count": ["1", "2"]}, {"b": ["x", "y"], "count": ["3", "0"]}]
    found = unveil.tables(apart, reconstruct=8).findings.records
    assert found is not None
    assert [(each.record, each.low, each.high) for each in found.first] in (
        [("x, x", 1, 1), ("y, x", 2, 2)],
        [("y, x", 2, 2), ("x, x", 1, 1)],
    )
    with pytest.raises(InputError, match="max_cells"):
        unveil.tables(apart, reconstruct=8, max_cells=5)
