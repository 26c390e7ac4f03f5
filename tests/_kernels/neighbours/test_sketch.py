"""Nearest rows by blocks: whatever the blocks are, and on however many threads, the numbers are those of the whole."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests._kernels.neighbours.test_nearest import Case, cases, halves, large
from unveil._kernels.neighbours import near_pairs, sketch
from unveil._kernels.neighbours.density import rows_within
from unveil._kernels.neighbours.index import IntegerGrid
from unveil._kernels.neighbours.matrix import all_distances
from unveil._kernels.neighbours.near_pairs import near_kinds
from unveil._kernels.neighbours.nearest import _chances_by_blocks, link_chances, nearest_distances
from unveil._kernels.neighbours.search import FAR
from unveil._kernels.neighbours.secret_chances import right_chances
from unveil._kernels.neighbours.sketch import (
    DistanceSketch,
    blocks_of,
    empty_sketch,
    merged,
    nearest_sketch,
    sketch_block,
)
from unveil._kernels.threads import threads


def in_blocks(rows: int, of: Callable[[], Any]) -> Any:
    """Return what a function gives with blocks of so many rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch, "BLOCK_ROWS", rows)
        return of()


def held(case: Case, k: int) -> list[list[tuple[int, int]]]:
    """Return the definition: of each target all distances with fewer than k rows nearer, and the rows at each."""
    every = [sorted(int(far) for far in case.distances(t)) for t in range(len(case.targets))]
    return [[(d, each.count(d)) for d in sorted(set(each)) if sum(x < d for x in each) < k] for each in every]


@given(cases(), st.integers(1, 5), st.integers(1, 8))
def test_a_sketch_holds_the_nearest_distances_whatever_the_blocks(case: Case, k: int, rows: int) -> None:
    made = in_blocks(rows, lambda: nearest_sketch(*case.grids, k))
    pairs = [
        [(int(d), int(n)) for d, n in zip(*each, strict=True) if n]
        for each in zip(made.distance, made.rows, strict=True)
    ]
    assert pairs == held(case, k)


@given(cases(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_blocks_can_be_put_together_in_any_order(case: Case, k: int, random: Any) -> None:
    released, targets = case.grids
    unbounded = np.full(targets.size, FAR)
    parts = in_blocks(2, lambda: [sketch_block(grids[0], targets, k, unbounded) for _, grids in blocks_of(released)])
    whole = sketch_block(released, targets, k, unbounded)
    parts.append(empty_sketch(len(targets.numbers), k))
    while len(parts) > 1:
        random.shuffle(parts)
        parts.append(merged(parts.pop(), parts.pop()))
    for one, other in zip(parts[0], whole, strict=True):
        np.testing.assert_array_equal(one, other)


@given(halves(), st.integers(1, 8), st.sampled_from([0, 3, 12, 2**22]))
def test_links_by_blocks_are_those_of_the_whole(both: tuple[Case, Case, int], rows: int, room: int) -> None:
    one, other, k = both
    (first, first_targets), (second, second_targets) = one.grids, other.grids
    ks = sorted({1, k})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near_pairs, "ROOM", room)  # for all near rows, for those of one half, or for none
        found = in_blocks(rows, lambda: _chances_by_blocks(first, second, first_targets, second_targets, ks))
    np.testing.assert_array_equal(found, link_chances(first, second, first_targets, second_targets, ks))


def kinds_near(case: Case, k: int) -> list[list[tuple[int, int, int]]]:
    """Return the definition: of each target the first row, the distance and the number of each kind that is near."""
    found = []
    lines = [
        tuple(map(tuple, line))
        for line in zip(case.grids[0].numbers.tolist(), case.grids[0].codes.tolist(), strict=True)
    ]
    for target in range(len(case.targets)):
        far = [int(each) for each in case.distances(target)]
        limit = sorted(far)[:k][-1]
        near = {line: far[row] for row, line in enumerate(lines) if far[row] <= limit}
        found.append(sorted((lines.index(line), distance, lines.count(line)) for line, distance in near.items()))
    return found


@given(cases(), st.integers(1, 5), st.integers(1, 8), st.sampled_from([0, 3, 12, 2**22]))
def test_kinds_of_rows_that_are_near_are_listed_once_whatever_the_blocks(
    case: Case, k: int, rows: int, room: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near_pairs, "ROOM", room)  # for all targets at once, or for one at a time
        parts = in_blocks(rows, lambda: list(near_kinds(*case.grids, k)))
    assert np.concatenate([each.targets for each in parts]).tolist() == list(range(len(case.targets)))
    listed = [
        list(zip(*(column[low:high].tolist() for column in each[2:]), strict=True))
        for each in parts
        for low, high in zip(each.start, each.start[1:], strict=False)
    ]
    assert listed == kinds_near(case, k)


@settings(max_examples=40)
@given(cases(), st.data())
def test_secrets_by_blocks_are_those_of_the_whole(case: Case, data: st.DataObject) -> None:
    size, people = len(case.released), len(case.targets)
    rank = np.array(data.draw(st.lists(st.integers(-1, 4), min_size=size, max_size=size)))
    low = np.array(data.draw(st.lists(st.integers(0, 5), min_size=people, max_size=people)))
    high = np.minimum(low + np.array(data.draw(st.lists(st.integers(0, 2), min_size=people, max_size=people))), 6)
    k, rows = data.draw(st.integers(1, size)), data.draw(st.integers(1, size))
    released, targets = case.grids
    distance = np.array([[int(far) for far in case.distances(t)] for t in range(people)])
    found = in_blocks(rows, lambda: right_chances(released, rank, targets, low, high, k))
    for t in range(people):
        limit = np.sort(distance[t])[k - 1]
        is_right = (rank >= low[t]) & (rank < high[t])
        sure, tied = distance[t] < limit, distance[t] == limit
        chance = is_right[sure].sum() / k + (k - sure.sum()) / k * is_right[tied].mean()
        assert found[t] == pytest.approx(chance)


def many_codes(rows: int, rng: np.random.Generator) -> IntegerGrid:
    """Return rows with more categories than a byte or a bag can tell apart."""
    codes = np.column_stack([rng.integers(0, 700, rows), rng.integers(0, 300, rows), rng.integers(0, 3, rows)])
    return IntegerGrid(rng.integers(0, 50, (rows, 1)), codes.astype(np.int32), np.array([2]), 60)


@pytest.mark.parametrize("make", [large, many_codes])
def test_large_tables_are_searched_right_by_blocks_and_on_threads(
    make: Callable[[int, np.random.Generator], IntegerGrid], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    released, targets = make(12_000, rng), make(150, rng)
    distance = np.sort(all_distances(released, targets), axis=1)
    for rows, number in ((2**20, 1), (2**20, 2), (5_000, 2)):
        monkeypatch.setattr(sketch, "BLOCK_ROWS", rows)
        with threads(number):
            np.testing.assert_array_equal(nearest_distances(released, targets, 7), distance[:, :7])
            radius, count = rows_within(released, targets, 7)
        np.testing.assert_array_equal(radius, distance[:, 6])
        np.testing.assert_array_equal(count, (distance <= radius[:, None]).sum(axis=1))


def test_no_rows_tell_nothing() -> None:
    nothing = empty_sketch(1, 2)
    some = DistanceSketch(np.array([[3, FAR]]), np.array([[1, 0]]), np.array([[1, 0]]))
    for one, other in zip(merged(nothing, some), some, strict=True):
        np.testing.assert_array_equal(one, other)
