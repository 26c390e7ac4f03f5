"""The window attack on rank swapping never misses the right row, and an empty intersection gives a wrong p away."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.linkers import found, rank_candidates
from unveil._kernels.table import rank_windows
from unveil._kernels.table.rank_windows import Windows, rows_in_boxes
from unveil.attacks.table.rank_intersection import RankIntersection
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.posterior import record_level_truth
from unveil.protections import RankSwapping

RNG = np.random.default_rng(1)
cells = st.one_of(st.none(), st.integers(0, 9))


def table(columns: list[list[Any]], name: str = "table") -> Table:
    names = [f"{place} '$\n" for place in range(len(columns))]
    frame = pl.DataFrame({one: pl.Series(column, dtype=pl.Int64) for one, column in zip(names, columns, strict=True)})
    return Table.from_frame(frame, name=name, roles=dict.fromkeys(names, "known"), kinds=dict.fromkeys(names, "number"))


def sets(guess: Beliefs) -> list[set[int]]:
    assert all(len(mass.sets) == 1 for mass in guess.each)
    return [set(mass.sets[0].tolist()) for mass in guess.each]


@st.composite
def two_tables(draw: st.DrawFn) -> tuple[list[list[Any]], list[list[Any]]]:
    columns = draw(st.integers(1, 3))
    sizes = draw(st.tuples(st.integers(1, 8), st.integers(1, 8)))
    one, other = ([draw(st.lists(cells, min_size=size, max_size=size)) for _ in range(columns)] for size in sizes)
    return one, other


@given(two_tables(), st.sampled_from([5, 12.5, 30, 60, 100]))
def test_the_sets_are_those_of_the_definition(tables: tuple[list[list[Any]], list[list[Any]]], p: float) -> None:
    original, released = tables
    expected = rank_candidates(original, released, p)
    attack = RankIntersection(p=p)
    one, other = table(original, "original"), table(released, "released")
    if all(expected):
        assert sets(attack.run(released=other, knowledge=Knowledge(one), rng=RNG)) == expected
    else:
        empty = sum(not rows for rows in expected)
        with pytest.raises(
            InputError,
            match=rf"p = {p} is too small: the intersection is empty for {empty} of the {other.rows} released rows",
        ):
            attack.run(released=other, knowledge=Knowledge(one), rng=RNG)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=12), st.sampled_from([10, 25, 50]), st.integers(0, 99))
def test_the_right_row_is_never_missed(rows: list[tuple[Any, Any]], p: int, seed: int) -> None:
    release = RankSwapping(share=p / 100).apply(
        table([list(column) for column in zip(*rows, strict=True)]), rng=np.random.default_rng(seed)
    )
    assert release.truth is not None
    guess = RankIntersection(p=p).run(released=release.released, knowledge=Knowledge(release.original), rng=RNG)
    assert all(true in rows for true, rows in zip(release.truth.tolist(), sets(guess), strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_it_holds_every_row_that_the_swapping_makes_possible(seed: int) -> None:
    rng = np.random.default_rng(seed)
    release = RankSwapping(share=0.2).apply(table(rng.integers(0, 20, (2, 30)).tolist()), rng=rng)
    assert release.mechanism is not None
    truth = record_level_truth(release.mechanism, release.original, release.released)
    guess = RankIntersection(p=20).run(released=release.released, knowledge=Knowledge(release.original), rng=RNG)
    possible = [set(some) for some in found(truth)]
    assert all(one <= other for one, other in zip(possible, sets(guess), strict=True))
    assert sum(map(len, sets(guess))) < 30 * 30


def test_a_larger_window_only_adds_rows_and_the_order_of_rows_plays_no_part() -> None:
    rng = np.random.default_rng(3)
    people = table(rng.integers(0, 40, (3, 60)).tolist())
    release = RankSwapping(share=0.1).apply(people, rng=rng)
    narrow, wide = (
        sets(RankIntersection(p=p).run(released=release.released, knowledge=Knowledge(people), rng=RNG))
        for p in (10, 20)
    )
    assert all(one <= other for one, other in zip(narrow, wide, strict=True))
    assert sum(map(len, narrow)) < sum(map(len, wide))
    order = rng.permutation(60)
    mixed = RankIntersection(p=10).run(released=release.released, knowledge=Knowledge(people.take(order)), rng=RNG)
    assert [{int(order[row]) for row in rows} for rows in sets(mixed)] == narrow


def test_more_columns_leave_fewer_rows() -> None:
    rng = np.random.default_rng(4)
    people = table(rng.integers(0, 1000, (6, 200)).tolist())
    release = RankSwapping(share=0.1).apply(people, rng=rng)
    means = []
    for count in (1, 3, 6):
        attack = RankIntersection(p=10, columns=people.column_names[:count])
        guess = attack.run(released=release.released, knowledge=Knowledge(people), rng=RNG)
        means.append(float(guess.nonspecificity().mean()))
    assert means[0] > means[1] > means[2]


def test_the_point_guess_is_the_nearest_inside() -> None:
    original, released = table([[10, 20, 30, 40, 50], [1, 2, 3, 4, 5]]), table([[20, 50, 30], [2, 3, 3]])
    guess = RankIntersection(p=40).point_guess(released=released, knowledge=Knowledge(original), rng=RNG)
    # Row 50, 3: rows 3 (one away in both columns) and 4 (none and two away) and 2 (two and none) tie.
    assert found(guess) == [{1: 1.0}, dict.fromkeys((2, 3, 4), pytest.approx(1 / 3)), {2: 1.0}]


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_the_search_finds_what_comparing_all_finds(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(columns)
    levels = rng.integers(0, 30, (900, columns)).astype(np.int32)
    first = rng.integers(0, 30, (40, columns)).astype(np.int32)
    boxes = Windows(first, first + rng.integers(-1, 20, (40, columns)).astype(np.int32))
    plain = rows_in_boxes(levels, boxes, at_most=10**6)
    monkeypatch.setattr(rank_windows, "ALL_UP_TO", 0)
    searched = rows_in_boxes(levels, boxes, at_most=10**6)
    assert plain[0][-1] > 0
    for one, other in zip(plain, searched, strict=True):
        np.testing.assert_array_equal(one, other)
    start, rows = rows_in_boxes(levels, boxes, at_most=3)
    assert (start[-1] > 3, rows.size) == (True, 0)


def test_a_constant_column_says_nothing() -> None:
    people = table([[7] * 5, [1, 2, 3, 4, 5]])
    guess = RankIntersection(p=20).run(released=people, knowledge=Knowledge(people), rng=RNG)
    assert sets(guess) == [{0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4}]


def test_dates_truth_values_and_levels_have_ranks_and_words_have_none() -> None:
    frame = pl.DataFrame(
        {"old": [True, False, True, None], "town": list("abcd"), "grade": ["low", "high", "low", None]}
    )
    people = Table.from_frame(frame, kinds={"grade": ["low", "high"]}, name="original")
    guess = RankIntersection(p=10).run(released=people, knowledge=Knowledge(people), rng=RNG)
    assert sets(guess) == [{0, 2}, {1}, {0, 2}, {3}]
    with pytest.raises(InputError, match="column 'town' is of type category, which has no ranks"):
        RankIntersection(p=10, columns=("town",)).run(released=people, knowledge=Knowledge(people), rng=RNG)
    words = people.select(["town"])
    with pytest.raises(InputError, match="the original and the original share no quasi-identifier with an order"):
        RankIntersection(p=10).run(released=words, knowledge=Knowledge(words), rng=RNG)


def test_a_wrong_p_is_said_so() -> None:
    original, released = table([[1, 2, 3, 4], [1, 2, 3, 4]]), table([[1, 2, 3, 4], [4, 3, 2, 1]])
    with pytest.raises(InputError, match="p = 25 is too small: the intersection is empty for 2 of the 4 released"):
        RankIntersection(p=25).run(released=released, knowledge=Knowledge(original), rng=RNG)
    with pytest.raises(InputError, match="the rank intersection needs the window of the rank swapping, but p is"):
        RankIntersection().run(released=released, knowledge=Knowledge(original), rng=RNG)


@pytest.mark.parametrize("p", [0, -1, 100.5])
def test_p_is_checked(p: float) -> None:
    with pytest.raises(InputError, match="it must be above 0 and at most 100 percent"):
        RankIntersection(p=p)
