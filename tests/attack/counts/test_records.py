"""Records that must exist, against the enumeration of every population, and their figures in an answer."""

from itertools import combinations, product

import numpy as np
import pytest

import unveil
from tests.oracles.counts import Cell, worlds
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
    found = unveil.tables(tables, records=True).findings.records
    assert found is not None
    low, high = every.min(axis=0), every.max(axis=0)
    assert (found.possible, found.undecided) == (8, 0)
    assert found.certain == (low >= 1).sum()
    assert found.unique == ((low == 1) & (high == 1)).sum()
    assert found.absent == (high == 0).sum()


def test_whole_numbers_leave_each_record_open() -> None:
    found = unveil.tables(pairs_of(dict.fromkeys(product(range(2), repeat=3), 1)), records=True).findings.records
    assert found is not None
    assert (found.certain, found.absent) == (0, 0)


def test_tables_that_are_not_linked_have_no_records() -> None:
    apart = [{"a": ["x", "y"], "count": ["1", "2"]}, {"b": ["x", "y"], "count": ["1", "2"]}]
    with pytest.raises(InputError, match="Leave --records out"):
        unveil.tables(apart, records=True)
