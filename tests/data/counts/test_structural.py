"""Combinations that nobody can have: they are 0 to everybody, also across tables, and groups they make are no news."""

from itertools import product

import numpy as np
import pytest

import unveil
from tests.oracles.counts import Cell, ranges
from unveil.errors import InputError

EVERY = frozenset({0, 1})


@pytest.mark.parametrize("seed", range(8))
def test_ranges_are_those_of_every_population_without_them(seed: int) -> None:
    """Tables A × B and B × C, and a combination of A and C, which no table has, that is impossible."""
    rng = np.random.default_rng(seed)
    world = {place: int(rng.choice([0, 1, 2])) for place in product(range(2), repeat=3)}
    for place in product(range(2), repeat=3):
        if place[0] == place[2] == 1:
            world[place] = 0
    tables, told, asked = [], [], []
    for one, other in ((0, 1), (1, 2)):
        texts = []
        for a, b in product(range(2), repeat=2):
            count = sum(number for place, number in world.items() if (place[one], place[other]) == (a, b))
            cell: list[frozenset[int]] = [EVERY] * 3
            cell[one], cell[other] = frozenset({a}), frozenset({b})
            hide = rng.random() < 0.5
            texts.append("<4" if hide and 0 < count < 4 else str(count))
            told.append((tuple(cell), (1, 3) if texts[-1] == "<4" else (count, count)))
            if texts[-1] == "<4":
                asked.append((tuple(cell), {"abc"[one]: str(a), "abc"[other]: str(b)}))
        tables.append({"abc"[one]: list("0011"), "abc"[other]: list("0101"), "count": texts})
    nobody: Cell = (frozenset({1}), EVERY, frozenset({1}))
    expected = ranges(
        (2, 2, 2), sum(world.values()) + 3, [*(cell for cell, _ in told), nobody], [*(t for _, t in told), (0, 0)],
        [cell for cell, _ in asked],
    )  # fmt: skip
    assert expected is not None
    found = unveil.tables(tables, structural_zeros={"a": ["1"], "c": ["1"]})
    frame = found.to_polars().to_dicts()
    for (_, codes), (low, high) in zip(asked, expected, strict=True):
        row = next(each for each in frame if all(each[name] == codes.get(name, "Total") for name in ("a", "b", "c")))
        assert (row["low"], row["high"]) == (low, high)


def test_groups_are_named_only_where_an_empty_part_is_possible() -> None:
    table = {
        "sex": ["f", "f", "f", "m", "m", "m"],
        "state": ["pregnant", "ill", "well"] * 2,
        "count": ["0", "9", "8", "0", "7", "6"],
    }
    impossible = {"sex": ["m"], "state": ["pregnant"]}
    assert unveil.tables(table).findings.single_code_groups == 0
    table["count"] = ["5", "9", "0", "0", "7", "0"]
    groups = unveil.tables(table).findings.groups
    assert {(each.group, each.code) for each in groups} == {("m", "ill"), ("pregnant", "f")}
    kept = unveil.tables(table, structural_zeros=impossible).findings.groups
    assert {(each.group, each.code) for each in kept} == {("m", "ill")}  # that no man is well is news


@pytest.mark.parametrize(
    ("impossible", "naming"),
    [
        ({"sx": ["m"]}, "'sx' is none. Did you mean 'sex'"),
        ({"sex": ["q"]}, "row 1"),
        ({"sex": ["f", ""]}, "row 2 names none"),
        ({"sex": ["f"]}, "row 1 of table 1"),
    ],
)
def test_impossible_combinations_that_cannot_be_are_refused(impossible: dict[str, list[str]], naming: str) -> None:
    with pytest.raises(InputError, match=naming):
        unveil.tables({"sex": ["f", "m"], "count": ["3", "4"]}, structural_zeros=impossible)
