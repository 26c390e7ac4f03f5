"""The nearest rows and the chance of a link: both ways of finding them, against the definition."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import linkability as oracle
from unveil._kernels.neighbours import nearest as neighbours
from unveil._kernels.neighbours import search as neighbour_search
from unveil._kernels.neighbours.index import content_rank, prepare
from unveil._kernels.neighbours.link_chances import chances_by_search, link_chance
from unveil._kernels.neighbours.matrix import all_distances, chances_by_matrix
from unveil._kernels.neighbours.nearest import MISSING, IntegerGrid, link_chances, nearest_distances, nearest_rows


@dataclass(frozen=True)
class Case:
    """Released rows and targets in one group of columns."""

    released: list[oracle.Row]
    targets: list[oracle.Row]
    steps: list[int]
    mismatch: int

    def grid(self, rows: list[oracle.Row]) -> IntegerGrid:
        numbers = [[MISSING if x is None else x for x in row[0]] for row in rows]
        codes = [row[1] for row in rows]
        width = len((self.released + self.targets)[0][1])
        return IntegerGrid(
            np.array(numbers, np.int64).reshape(len(rows), len(self.steps)),
            np.array(codes, np.int32).reshape(len(rows), width),
            np.array(self.steps, np.int64),
            self.mismatch,
        )

    @property
    def grids(self) -> tuple[IntegerGrid, IntegerGrid]:
        return self.grid(self.released), self.grid(self.targets)

    def distances(self, target: int) -> list[Fraction]:
        return [oracle.distance(row, self.targets[target], self.steps, self.mismatch) for row in self.released]


@st.composite
def cases(draw: st.DrawFn, released: int | None = None, targets: int | None = None) -> Case:
    """Draw small tables of few values, so that there are ties; some numbers are missing, some columns cost nothing."""
    width, columns = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    numbers = st.tuples(*[st.one_of(st.none(), st.integers(-2, 3)) for _ in range(width)])
    row = st.tuples(numbers, st.tuples(*[st.integers(0, 2) for _ in range(columns)]))
    many = draw(st.integers(1, 7)) if released is None else released
    some = draw(st.integers(1, 4)) if targets is None else targets
    return Case(
        draw(st.lists(row, min_size=many, max_size=many)),
        draw(st.lists(row, min_size=some, max_size=some)),
        draw(st.lists(st.integers(0, 4), min_size=width, max_size=width)),
        draw(st.integers(1, 9)),
    )


@st.composite
def halves(draw: st.DrawFn) -> tuple[Case, Case, int]:
    released, targets = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    one, other = (draw(cases(released, targets)) for _ in range(2))
    return one, other, draw(st.integers(1, released))


def large(rows: int, rng: np.random.Generator, spread: int = 40) -> IntegerGrid:
    """Return rows with ties, copies and missing numbers, enough of them to be compiled."""
    numbers = rng.integers(0, spread, (rows, 3))
    numbers[rng.random((rows, 3)) < 0.05] = MISSING
    codes = rng.integers(0, 6, (rows, 3)).astype(np.int32)
    return IntegerGrid(numbers, codes, np.array([3, 1, 0]), 90)


def shuffled(grid: IntegerGrid, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> IntegerGrid:
    return grid._replace(numbers=grid.numbers[order], codes=grid.codes[order])


@given(cases(), st.integers(1, 9))
def test_the_smallest_distances_are_those_of_the_definition(case: Case, k: int) -> None:
    expected = [sorted(case.distances(t))[:k] for t in range(len(case.targets))]
    padded = [[int(far) for far in each] + [-1] * (k - len(each)) for each in expected]
    np.testing.assert_array_equal(nearest_distances(*case.grids, k), padded)
    np.testing.assert_array_equal(neighbours.distances_around(prepare(*case.grids), k), padded)


@given(cases(), st.integers(1, 9))
def test_the_nearest_rows_are_those_of_the_definition_with_all_ties(case: Case, k: int) -> None:
    expected = [oracle.nearest(case.distances(t), k) for t in range(len(case.targets))]
    for start, row, distance in (nearest_rows(*case.grids, k), neighbours.rows_around(prepare(*case.grids), k)):
        assert start.dtype == distance.dtype == np.int64
        assert row.dtype == np.int32
        found = list(zip(distance.tolist(), row.tolist(), strict=True))
        assert [found[start[t] : start[t + 1]] for t in range(len(case.targets))] == expected
        assert start[0] == 0
        assert start[-1] == row.size


@given(cases(), st.integers(1, 9), st.one_of(st.none(), st.integers(0, 20)))
def test_numpy_finds_the_same_near_rows_as_the_loop(case: Case, k: int, limit: int | None) -> None:
    prepared = prepare(*case.grids)
    some = np.arange(prepared.targets)
    limits = None if limit is None else np.full(some.size, limit)
    found = []
    for way in (neighbour_search._search.__wrapped__, neighbour_search._compare_all):  # type: ignore[attr-defined]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(neighbour_search, "_search", way)
            near = neighbour_search._searched(prepared, some, k, limits)
        assert near is not None
        ends = zip(near.start[:-1], near.start[1:], strict=True)
        each = [sorted(zip(near.row[a:b].tolist(), near.distance[a:b].tolist(), strict=True)) for a, b in ends]
        found.append((each, near.limit.tolist(), near.start.tolist()))
    assert found[0] == found[1]


@given(halves())
def test_the_chance_of_a_link_is_the_share_of_all_ways_to_break_ties(drawn: tuple[Case, Case, int]) -> None:
    one, other, k = drawn
    exact = [oracle.chance(one.distances(t), other.distances(t), k) for t in range(len(one.targets))]
    (first, first_targets), (second, second_targets) = one.grids, other.grids
    (by_matrix,) = link_chances(first, second, first_targets, second_targets, [k])
    (by_search,) = chances_by_search(prepare(first, first_targets), prepare(second, second_targets), [k])
    np.testing.assert_allclose(by_matrix, np.array(exact, float), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(by_search, by_matrix)
    assert [value in (0, 1) for value in exact] == [value in (0.0, 1.0) for value in by_matrix.tolist()]


@given(halves())
def test_one_search_serves_every_number_of_neighbours(drawn: tuple[Case, Case, int]) -> None:
    one, other, largest = drawn
    (first, first_targets), (second, second_targets) = one.grids, other.grids
    ks = range(1, largest + 1)
    alone = [link_chances(first, second, first_targets, second_targets, [k])[0] for k in ks]
    by_search = chances_by_search(prepare(first, first_targets), prepare(second, second_targets), ks)
    np.testing.assert_array_equal(by_search, alone)
    np.testing.assert_array_equal(link_chances(first, second, first_targets, second_targets, ks), alone)


@given(halves(), st.randoms(use_true_random=False))
def test_shuffling_rows_changes_nothing(drawn: tuple[Case, Case, int], random: object) -> None:
    one, other, k = drawn
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    rows, people = rng.permutation(len(one.released)), rng.permutation(len(one.targets))
    (first, first_targets), (second, second_targets) = one.grids, other.grids
    (plain,) = link_chances(first, second, first_targets, second_targets, [k])
    mixed = (shuffled(first, rows), shuffled(second, rows))
    mixed_targets = (shuffled(first_targets, people), shuffled(second_targets, people))
    np.testing.assert_array_equal(link_chances(*mixed, *mixed_targets, [k])[0], plain[people])
    (by_search,) = chances_by_search(prepare(mixed[0], mixed_targets[0]), prepare(mixed[1], mixed_targets[1]), [k])
    np.testing.assert_array_equal(by_search, plain[people])


@pytest.mark.parametrize(("k", "common"), [(1, 3), (10, 1), (70, 0)])
def test_large_tables_are_searched_and_give_the_same(k: int, common: int) -> None:
    rng = np.random.default_rng(k)
    first, first_targets = large(3000, rng), large(700, rng, spread=60)
    second, second_targets = large(3000, rng, spread=4), large(700, rng, spread=4)
    # Columns that the halves have in common make links with few neighbours; small numbers make ties.
    second.codes[:, :common] = first.codes[:, :common]
    second_targets.codes[:, :common] = first_targets.codes[:, :common]
    assert neighbours.ALL_UP_TO < 3000 * 700
    ks = sorted({1, k})
    every_chance = link_chances(first, second, first_targets, second_targets, ks)
    np.testing.assert_array_equal(every_chance, chances_by_matrix(first, second, first_targets, second_targets, ks))
    assert len(set(every_chance[-1].tolist())) > 10
    for released, targets in ((first, first_targets), (second, second_targets)):
        every = all_distances(released, targets)
        np.testing.assert_array_equal(nearest_distances(released, targets, k), np.sort(every, axis=1)[:, :k])
        for found, expected in zip(
            nearest_rows(released, targets, k), neighbours._rows_by_matrix(every, k), strict=True
        ):
            np.testing.assert_array_equal(found, expected)


def test_near_rows_for_which_there_is_no_room_are_found_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    first, second, first_targets, second_targets = (large(rows, rng) for rows in (60, 60, 20, 20))
    monkeypatch.setattr(neighbour_search, "ROOM", 1)
    prepared = prepare(first, first_targets)
    assert sum(1 for _ in neighbour_search.nearest_in_parts(prepared, 30)) > 1
    chances = chances_by_search(prepared, prepare(second, second_targets), [2, 30])
    expected = chances_by_matrix(first, second, first_targets, second_targets, [2, 30])
    np.testing.assert_array_equal(chances, expected)
    rows = neighbours.rows_around(prepare(first, first_targets), 30)
    for found, right in zip(rows, neighbours._rows_by_matrix(all_distances(first, first_targets), 30), strict=True):
        np.testing.assert_array_equal(found, right)


COUNTS = st.integers(0, 400)


@given(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, st.data())
def test_the_chance_from_counts_is_exact_far_beyond_what_can_be_enumerated(
    a: int, b: int, both: int, rest: int, other_rest: int, data: st.DataObject
) -> None:
    tied, other_tied = max(1, a + both + rest), max(1, b + both + other_rest)
    drawn, other_drawn = data.draw(st.integers(1, tied)), data.draw(st.integers(1, other_tied))
    exact = oracle.chance_by_formula((a, b, both), tied, drawn, other_tied, other_drawn)
    counts = np.array([[tied], [drawn], [other_tied], [other_drawn]])
    (found,) = link_chance(np.array([[0, a, b, both]]), *counts)
    assert abs(found - float(exact)) < 1e-12
    assert (found == 1, found == 0) == (exact == 1, exact == 0)


@pytest.mark.parametrize(("rows", "k"), [(39_040, 10), (10**6, 10), (10**6, 700), (2_000, 999), (9, 4), (9, 5)])
def test_rows_that_all_tie_meet_as_often_as_random_sets(rows: int, k: int) -> None:
    counts = np.array([[rows], [k], [rows], [k]])
    (found,) = link_chance(np.array([[0, 0, 0, rows]]), *counts)
    assert abs(found - float(oracle.naive_chance(rows, k))) < 1e-12
    assert (found == 1) == (2 * k > rows)


def test_a_row_that_is_sure_in_both_is_a_link() -> None:
    np.testing.assert_array_equal(link_chance(np.array([[1, 0, 0, 0]]), *np.array([[5], [1], [5], [1]])), [1.0])


def test_categories_that_only_one_side_has_are_alike() -> None:
    # Otherwise rows with pseudonyms in place of names would all stay apart, and all tie.
    names, pseudonyms = np.arange(50, dtype=np.int32)[:, None], np.arange(100, 180, dtype=np.int32)[:, None]
    prepared = prepare(
        IntegerGrid(np.empty((80, 0), np.int64), pseudonyms, np.empty(0, np.int64), 1),
        IntegerGrid(np.empty((50, 0), np.int64), names, np.empty(0, np.int64), 1),
    )
    assert prepared.copies.tolist() == [80]
    assert prepared.tuple_of.tolist() == [0]


def test_numbers_too_wide_to_be_combined_are_ranked() -> None:
    numbers = np.array([[2**61, 5], [-(2**61), 5], [2**61, 5], [MISSING, 4]])
    rows = IntegerGrid(numbers, np.empty((4, 0), np.int32), np.array([1, 1]), 2**61)
    assert content_rank(rows).tolist() == [2, 1, 2, 0]
    assert prepare(rows, rows).copies.tolist() in ([1, 1, 2], [2, 1, 1], [1, 2, 1])


@pytest.mark.parametrize("columns", [40, 70])
def test_many_columns_are_compared_one_by_one_when_a_key_cannot_hold_them(columns: int) -> None:
    codes = np.random.default_rng(2).integers(0, 3, (30, columns)).astype(np.int32)
    twice = np.concatenate([codes, codes[:7]])
    rows = IntegerGrid(np.empty((37, 0), np.int64), twice, np.empty(0, np.int64), 1)
    np.testing.assert_array_equal(content_rank(rows), np.unique(twice, axis=0, return_inverse=True)[1].ravel())
    np.testing.assert_array_equal(nearest_distances(rows, rows, 2), neighbours.distances_around(prepare(rows, rows), 2))


def test_no_targets_and_no_rows_give_nothing() -> None:
    some = IntegerGrid(np.array([[1]]), np.empty((1, 0), np.int32), np.array([1]), 1)
    empty = some._replace(numbers=np.empty((0, 1), np.int64), codes=np.empty((0, 0), np.int32))
    assert nearest_distances(some, empty, 2).shape == (0, 2)
    np.testing.assert_array_equal(nearest_distances(empty, some, 2), [[-1, -1]])
    assert [part.size for part in nearest_rows(empty, some, 2)] == [2, 0, 0]
    np.testing.assert_array_equal(link_chances(empty, empty, some, some, [1]), [[0.0]])


def test_more_neighbours_than_rows_are_all_rows() -> None:
    rows = IntegerGrid(np.array([[1], [2], [5]]), np.empty((3, 0), np.int32), np.array([1]), 4)
    np.testing.assert_array_equal(link_chances(rows, rows, rows, rows, [9]), [[1.0, 1.0, 1.0]])


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 10]), st.sampled_from([1, 300, 900]), st.sampled_from([1, 40]))
def test_of_many_columns_the_nearest_rows_are_those_of_all_distances(seed: int, k: int, rows: int, room: int) -> None:
    rng = np.random.default_rng(seed)

    def grid(size: int) -> IntegerGrid:
        numbers = np.where(rng.random((size, 2)) < 0.1, MISSING + rng.integers(0, 2, (size, 2)), rng.integers(-3, 5))
        # Codes that share their lowest byte are different ones all the same.
        return IntegerGrid(numbers, rng.choice([0, 1, 256], (size, 6)).astype(np.int32), np.array([2, 3]), 10)

    released, targets = grid(rows), grid(20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbour_search, "MANY_COLUMNS", 0)
        patch.setattr(neighbour_search, "ROOM", room)  # too little for all targets at once, or nearly
        start, row, distance = neighbours.rows_around(prepare(released, targets), k)
    every = all_distances(released, targets)
    for target in range(20):
        near = np.flatnonzero(every[target] <= np.sort(every[target])[:k][-1])
        assert sorted(row[start[target] : start[target + 1]]) == near.tolist()
        np.testing.assert_array_equal(distance[start[target] : start[target + 1]], np.sort(every[target][near]))


@pytest.mark.parametrize("same", [0, 3, 40])
def test_more_differing_categories_than_a_byte_counts_hide_no_row(same: int) -> None:
    rng = np.random.default_rng(same)
    released, targets = rng.integers(0, 60, (150, 300)), rng.integers(60, 64, (3, 300))
    released[:, :same] = targets[0, :same]
    rows, some = (
        IntegerGrid(np.empty((len(codes), 0), np.int64), codes.astype(np.int32), np.empty(0, np.int64), 1)
        for codes in (released, targets)
    )
    every = all_distances(rows, some)
    assert every.min() > 255
    start, row, distance = neighbours.rows_around(prepare(rows, some), 100)
    for target, expected in enumerate(every):
        near = np.flatnonzero(expected <= np.sort(expected)[:100][-1])
        assert sorted(row[start[target] : start[target + 1]]) == near.tolist()
        np.testing.assert_array_equal(distance[start[target] : start[target + 1]], np.sort(expected[near]))
