"""The nearest boxes and people are found alike by comparing all and by searching, compiled or not."""

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

from unveil._kernels import _compile
from unveil._kernels.cells import nearest_boxes as kernels
from unveil._kernels.cells.neighbours import boxes_around, by_weight, compatible_people, people_around
from unveil._kernels.neighbours.nearest import distances_around, rows_around
from unveil._kernels.neighbours.search import NearRows, Neighbourhood, nearest_in_parts
from unveil.data.table import Table, agree
from unveil.data.table.encode import EncodedTable, encode


def tables(people: int, rows: int, seed: int) -> tuple[EncodedTable, EncodedTable]:
    """Return people, and rows with ranges, sets, stars and single values, on one scale."""
    rng = np.random.default_rng(seed)

    def persons(size: int) -> dict[str, Any]:
        ages: list[int | None] = [None if lot < 0.05 else int(100 * lot) for lot in rng.random(size)]
        return {"age": ages, "town": rng.choice(list("abcdef"), size), "pay": rng.integers(0, 50, size)}

    original = Table.from_frame(pl.DataFrame(persons(people)), name="original")
    shown = persons(rows)
    shown["age"] = [None if age is None else _shown(age, rng.random()) for age in shown["age"]]
    shown["town"] = [_shown_town(town, rng) for town in shown["town"]]
    one, other = agree(original, Table.from_frame(pl.DataFrame(shown), name="released"))
    found = encode([one, other], ["age", "town", "pay"])
    return found[0], found[1]


def _shown(age: int, lot: float) -> str:
    return "*" if lot < 0.1 else f"{age // 10 * 10}-{age // 10 * 10 + 9}" if lot < 0.8 else str(age)


def _shown_town(town: str, rng: np.random.Generator) -> str:
    return f"{{{town},{rng.choice(list('abcdef'))}}}" if rng.random() < 0.4 else town


def sorted_near(around: Neighbourhood, k: int) -> list[tuple[int, list[tuple[int, int]]]]:
    """Return the limit of each target and its near rows, whatever their order."""
    found = []
    for _, near in nearest_in_parts(around, k):
        for at, limit in enumerate(near.limit.tolist()):
            part = slice(near.start[at], near.start[at + 1])
            found.append((limit, sorted(zip(near.row[part].tolist(), near.distance[part].tolist(), strict=True))))
    return found


@pytest.mark.parametrize("k", [1, 3, 25])
@pytest.mark.parametrize("compiled", [False, True])
def test_search_and_comparison_agree(k: int, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    people, released = tables(30, 40, seed=k)
    assert released.cells is not None
    both = boxes_around(released.cells, people.grid())[0], people_around(released.cells, people.grid())
    expected = [sorted_near(around, k) for around in both]
    monkeypatch.setattr(kernels, "ALL_UP_TO", 0)
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", lambda function: function)
    assert [sorted_near(around, k) for around in both] == expected


def test_parts_for_which_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    people, released = tables(40, 60, seed=9)
    assert released.cells is not None
    around = boxes_around(released.cells, people.grid())[0]
    expected = sorted_near(around, 5)
    monkeypatch.setattr(kernels, "ALL_UP_TO", 0)
    monkeypatch.setattr(kernels, "ROOM", 1)
    assert sum(1 for _ in nearest_in_parts(around, 5)) > 1
    assert sorted_near(around, 5) == expected


@pytest.mark.unwatched
def test_many_rows_are_searched_alike() -> None:
    people, released = tables(3_000, 4_000, seed=3)
    assert released.cells is not None
    assert len(people.numbers) * len(released.numbers) > kernels.ALL_UP_TO > _compile.PLAIN_UP_TO
    around = people_around(released.cells, people.grid(), np.arange(200))
    few = people_around(released.cells, people.grid(), np.arange(100))
    start, row, distance = rows_around(around, 2)
    other = rows_around(few, 2)
    assert other[0].tolist() == start[:101].tolist()
    assert other[1].tolist() == row[: start[100]].tolist()
    two = distances_around(around, 2)
    assert two[:, 0].tolist() == distance[start[:-1]].tolist()
    inside = [int((distance[low:high] == 0).sum()) for low, high in pairwise(start.tolist())]
    assert compatible_people(released.cells, people.grid())[:200].tolist() == inside


def test_ties_are_broken_by_weight() -> None:
    near = NearRows(np.array([0, 4]), np.array([0, 1, 2, 3], np.int32), np.array([5, 5, 1, 5]), np.array([5]))
    copies, rank = np.array([2, 1, 1, 3]), np.array([1, 0, 2, 1])
    # One row is nearer, one of those that tie is heaviest, and five share the third place.
    found = by_weight(near, copies, rank, 3)
    assert dict(zip(found.row.tolist(), found.distance.tolist(), strict=True)) == {2: 0, 1: 0, 0: 1, 3: 1}
    found = by_weight(near, copies, rank, 2)
    assert dict(zip(found.row.tolist(), found.distance.tolist(), strict=True)) == {2: 0, 1: 1}
