"""How people are divided for an adversary that learns: by lot, by what rows hold, nobody twice, whole people."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.data.table import Table
from unveil.questions.audit.people import LEAST_LEARNING, MOST_POPULATION, RowsByPerson, divide_people, draw_people


def rows(people: int, each: int = 1, first: int = 0) -> RowsByPerson:
    return RowsByPerson(first + np.arange(people * each), np.repeat(np.arange(people), each) + first)


@given(
    inside=st.integers(1, 900),
    outside=st.integers(0, 900),
    waiting=st.sampled_from([0, 0, 50, 4_000, 40_000]),
    each=st.integers(1, 3),
)
def test_nobody_is_in_two_parts_and_nobody_is_divided(inside: int, outside: int, waiting: int, each: int) -> None:
    own, other, more = rows(inside, each), rows(outside, each), rows(waiting, each, first=outside * each)
    parts = divide_people(own, other, more)
    if outside + waiting < 60:
        assert parts is None
        return
    assert parts is not None
    members = np.concatenate([parts.learning[0], parts.measured[0]])
    others = np.concatenate([parts.population, parts.learning[1], parts.measured[1]])
    assert sorted(members) == list(range(inside * each))
    assert np.unique(others).size == others.size
    assert set(range(outside * each)) <= set(others.tolist())
    for part in (*parts.learning, *parts.measured, parts.population):
        assert part.size % each == 0
    # Who is not attacked anyhow shows the population, and nobody else where these are enough.
    assert parts.population.size <= max((outside + waiting) // 3, MOST_POPULATION) * each
    assert 0 <= parts.measured[1].size - parts.learning[1].size <= each
    if parts.learns:
        assert min(parts.learning[0].size, parts.learning[1].size, parts.measured[1].size) >= LEAST_LEARNING * each
        assert parts.learning[0].size <= len(members) / 3
    else:
        assert min(inside // 3, (outside - max((outside + waiting) // 3 - waiting, 0)) // 2) < LEAST_LEARNING


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((300, 300, 0), (100, 100, 100, 200, 100)),
        ((299, 300, 0), (100, 0, 100, 299, 100)),
        ((1000, 60, 0), (20, 0, 20, 1000, 20)),
        ((2500, 2500, 7500), (3333, 833, 1250, 1667, 1250)),
        ((2500, 2500, 900_000), (5_000, 833, 1250, 1667, 1250)),
    ],
)
def test_sizes_of_the_parts(sizes: tuple[int, int, int], expected: tuple[int, ...]) -> None:
    parts = divide_people(rows(sizes[0]), rows(sizes[1]), rows(sizes[2], first=sizes[1]))
    assert parts is not None
    assert (parts.population.size, *(part.size for part in (*parts.learning, *parts.measured))) == expected


def test_the_order_by_lot_is_that_of_contents() -> None:
    table = pl.DataFrame({"age": np.random.default_rng(1).permutation(400)})
    order = np.random.default_rng(2).permutation(400)
    one, other = (
        each["age"].to_numpy()[draw_people(Table.from_frame(each), rng=np.random.default_rng(3)).rows]
        for each in (table, table[order])
    )
    np.testing.assert_array_equal(one, other)
