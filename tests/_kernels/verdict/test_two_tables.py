"""What is compared of two tables, for each draw of labels, against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import two_tables as oracle
from unveil._kernels.neighbours.matrix import all_distances
from unveil._kernels.neighbours.nearest import MISSING, IntegerGrid
from unveil._kernels.verdict.two_tables import (
    SCALE,
    differences,
    near_pairs,
    neighbors_at,
    others_like_members,
    pairs_apart,
    rank_features,
    shared_records,
)


def labels(people: int, draws: int = 4) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    rng = np.random.default_rng(people)
    return np.array([rng.permutation(people) < max(1, people // 3) for _ in range(draws)], np.uint8)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 1)), min_size=2, max_size=9))
def test_differences(features: list[tuple[int, int]]) -> None:
    drawn = labels(len(features))
    expected = [[oracle.difference(row.tolist(), column) for column in zip(*features, strict=True)] for row in drawn]
    assert differences(drawn, np.array(features)) == pytest.approx(np.array(expected), abs=1e-9)
    assert differences(drawn, np.zeros((len(features), 0), np.int64)).shape == (4, 0)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9).filter(any))
def test_ranks_and_their_squares(values: list[int]) -> None:
    places = oracle.places([value or None for value in values])
    squares = [float(place**2) for place, value in zip(places, values, strict=True) if value]
    mean = sum(squares) / len(squares)
    place, square = rank_features(np.array(values, np.int32))
    assert place / SCALE == pytest.approx([float(each) for each in places], abs=1 / SCALE)
    expected = [float(each**2) if value else mean for each, value in zip(places, values, strict=True)]
    assert square / SCALE == pytest.approx(expected, abs=1 / SCALE)


@given(st.lists(st.sets(st.integers(0, 5), min_size=1, max_size=3), min_size=2, max_size=9))
def test_others_who_have_a_record_of_a_member(people: list[set[int]]) -> None:
    pairs = [(person, record) for person, records in enumerate(people) for record in records]
    person, record = np.array(pairs).T
    drawn = labels(len(people))
    found = others_like_members(drawn, shared_records(person, record, len(people)))
    assert found.tolist() == [oracle.others_like_members(row.tolist(), people) for row in drawn]


def test_many_draws_are_made_in_parts() -> None:
    rng = np.random.default_rng(3)
    record = rng.integers(0, 1500, 3000)
    drawn = np.array([rng.permutation(3000) < 1000 for _ in range(1500)])
    found = others_like_members(drawn, shared_records(np.arange(3000), record, 3000))
    for draw in (0, 1398, 1399, 1499):
        assert found[draw] == np.isin(record[~drawn[draw]], record[drawn[draw]]).sum()


@given(
    st.lists(
        st.tuples(st.one_of(st.just(MISSING), st.integers(0, 40)), st.integers(0, 30), st.integers(0, 1)),
        min_size=3,
        max_size=8,
    )
)
def test_pairs_of_nearest_people(rows: list[tuple[int, int, int]]) -> None:
    table = np.array(rows)
    grid = IntegerGrid(table[:, :2], table[:, 2:].astype(np.int32), np.array([3, 4]), 120)
    found = near_pairs(grid)
    assert set(map(tuple, found.tolist())) == oracle.near_pairs(all_distances(grid, grid).tolist())
    drawn = labels(len(rows))
    assert pairs_apart(drawn, found).tolist() == [sum(row[a] != row[b] for a, b in found.tolist()) for row in drawn]


def test_pairs_of_many_people_are_found_by_the_search() -> None:
    rng = np.random.default_rng(2)
    numbers = rng.integers(0, 10**6, (1100, 3))
    numbers[1000:] = numbers[:100] + 1
    grid = IntegerGrid(numbers, np.empty((1100, 0), np.int32), np.ones(3, np.int64), 10**6)
    planted = [[each, 1000 + each] for each in range(100)]
    assert near_pairs(grid)[:100].tolist() == planted
    order = rng.permutation(1100)
    moved = near_pairs(grid._replace(numbers=numbers[order], codes=grid.codes[order]))
    assert {frozenset(order[pair].tolist()) for pair in moved} == {
        frozenset(pair) for pair in near_pairs(grid).tolist()
    }


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=3, max_size=9), st.integers(2, 8))
def test_neighbors_have_their_rank_among_all_others(rows: list[tuple[int, int]], rank: int) -> None:
    numbers, codes = (np.array([[row[place]] for row in rows]) for place in (0, 1))
    grid = IntegerGrid(numbers, codes.astype(np.int32), np.array([1]), 4)
    rank = min(rank, len(rows) - 1)
    some = np.arange(0, len(rows), 2)
    near, farther = neighbors_at(grid, some, rank, rng=np.random.default_rng(len(rows)))
    distance = all_distances(grid, grid).tolist()
    for pairs, place in ((near, 1), (farther, rank)):
        assert pairs[:, 0].tolist() == some.tolist()
        for one, other in pairs.tolist():
            others = sorted(far for person, far in enumerate(distance[one]) if person != one)
            assert one != other
            assert distance[one][other] == others[place - 1]


def test_neighbors_who_are_equally_near_are_drawn_at_random() -> None:
    grid = IntegerGrid(np.zeros((4, 1), np.int64), np.empty((4, 0), np.int32), np.array([1]), 4)
    drawn = [neighbors_at(grid, np.array([0]), 2, rng=np.random.default_rng(seed))[0][0, 1] for seed in range(300)]
    assert np.bincount(drawn, minlength=4)[1:] == pytest.approx([100] * 3, abs=40)
    assert 0 not in drawn
