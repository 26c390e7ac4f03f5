"""Whether a control is usable: harmless ones pass, planted faults are named, and numbers are those of plain loops."""

from collections.abc import Callable
from dataclasses import replace
from math import isnan

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.metrics.verdict.made_up import draws, lots, release
from tests.oracles import two_tables as oracle
from unveil._kernels.neighbours.matrix import all_distances
from unveil._kernels.neighbours.nearest import MISSING, IntegerGrid
from unveil._kernels.types import BoolArray
from unveil.errors import InputError
from unveil.metrics.verdict import control as checks
from unveil.metrics.verdict.control import (
    SCALE,
    ControlCheck,
    check_control,
    differences,
    near_pairs,
    neighbors_at,
    others_like_members,
    pairs_apart,
    rank_features,
    shared_records,
)
from unveil.metrics.verdict.pooled_tables import pool_tables


def check(original: pl.DataFrame, control: pl.DataFrame | None, seed: int = 1, **settings: object) -> ControlCheck:
    pool = pool_tables(release(original, original[:5], control))
    return check_control(pool, labels=lots, rng=np.random.default_rng(seed), draws=199, **settings)  # type: ignore[arg-type]


def nudged(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("age") + 1, pl.col("income") + 25)


@pytest.mark.unwatched
def test_harmless_controls_are_usable_and_planted_faults_are_found() -> None:
    tries = 6
    outcomes: dict[str, list[ControlCheck]] = {"harmless": [], "older": [], "both": [], "almost": []}
    for seed in range(tries):
        original, control, more = draws(seed, 200, 100, 300)
        outcomes["harmless"].append(check(original, control, seed))
        older = more.sort(pl.col("age") + 12 * pl.Series(np.random.default_rng(seed).normal(size=300)))[200:]
        outcomes["older"].append(check(original, older, seed))
        outcomes["both"].append(check(original, pl.concat([original[:20], control[20:]]), seed))
        outcomes["almost"].append(check(original, pl.concat([nudged(original[:30]), control[30:]]), seed))
    assert [each.outcome for each in outcomes["harmless"]].count("usable") >= tries - 1
    assert {each.outcome for each in outcomes["older"]} == {"other_people"}
    assert {each.column for each in outcomes["older"]} == {"age"}
    assert {each.outcome for each in outcomes["both"]} == {"overlap"}
    assert np.mean([each.overlap_estimate for each in outcomes["both"]]) == pytest.approx(20, abs=2)
    assert [each.outcome for each in outcomes["almost"]].count("overlap") >= tries - 1
    assert all(each.p_overlap > 0.01 for each in outcomes["almost"])


def test_the_p_are_shares_of_draws_by_plain_loops() -> None:
    original, control = draws(3, 30, 25)
    original = original.select("age", "job", "hours").with_columns(pl.col("age") // 10, pl.lit("job 1").alias("job"))
    control = control.select("age", "job", "hours").with_columns(pl.col("age") // 10, pl.lit("job 1").alias("job"))
    pool = pool_tables(release(original, original[:2], control))
    seen: list[BoolArray] = []

    def watched(members: int, others: int, draws: int, rng: np.random.Generator) -> list[Callable[[], BoolArray]]:
        made = lots(members, others, draws, rng)
        seen.extend(make() for make in made)
        return made

    found = check_control(pool, labels=watched, rng=np.random.default_rng(1), draws=99)
    rows = [row for frame in (original, control) for row in frame.rows()]
    ordered = [rows[person] for person in pool.by_content]
    own = [int(person < 30) for person in pool.by_content]
    drawn = [own, *np.concatenate(seen).astype(int).tolist()]
    records = [{sorted(set(map(repr, rows))).index(repr(row))} for row in ordered]
    overlap = [oracle.others_like_members(labels, records) for labels in drawn]
    assert found.p_overlap == np.mean([each >= overlap[0] for each in overlap])
    together = 1 - 2 * 30 * 25 / (55 * 54)
    assert found.overlap_estimate == pytest.approx(max(0, (overlap[0] - np.mean(overlap[1:])) / together))
    features: list[list[float]] = []
    for place in (0, 2):
        places = [float(each) for each in oracle.places([row[place] for row in ordered])]
        known = [each**2 for each, row in zip(places, ordered, strict=True) if row[place] is not None]
        squares = [
            each**2 if row[place] is not None else float(np.mean(known))
            for each, row in zip(places, ordered, strict=True)
        ]
        features += [places, squares]
    largest = [max(abs(oracle.difference(labels, each)) for each in features) for labels in drawn]
    assert found.largest_difference == pytest.approx(largest[0], abs=1e-3)
    assert found.p_same == pytest.approx(np.mean([each >= largest[0] - 1e-6 for each in largest]), abs=0.011)


def test_differences_are_told_in_numbers_that_people_know() -> None:
    original, control = draws(2, 300, 300)
    found = check(original, control.with_columns(pl.lit("north").alias("region"))).differences[0]
    share = (original["region"] == "north").mean()
    assert (found.column, found.value, found.figure) == ("region", "north", "share")
    assert [found.here, found.there] == pytest.approx([share, 1.0])
    found = check(original, control.with_columns(pl.col("age") + 20)).differences[0]
    assert (found.column, found.figure) == ("age", "mean")
    assert (found.here, found.there) == pytest.approx((original["age"].mean(), control["age"].mean() + 20))  # type: ignore[operator]
    wide = control.with_columns(pl.when(pl.col("age") > 45).then(90).otherwise(18).alias("age"))
    ages = check(original, wide).differences[0]
    assert (ages.column, ages.figure) == ("age", "spread")
    assert ages.here == pytest.approx(original["age"].std(ddof=0))
    late = check(original, control.with_columns(moved=pl.lit("2030-01-01"))).differences[0]
    assert (late.column, late.figure) == ("moved", "place")
    assert late.here < late.there <= 1
    gone = check(original, control.with_columns(hours=pl.lit(None, pl.Int64))).differences[0]
    assert (gone.column, gone.figure, gone.value, gone.there) == ("hours", "share", None, 1.0)


def test_a_control_that_is_the_original_or_holds_it_is_refused() -> None:
    original, control = draws(4, 100, 60)
    pool = pool_tables(release(original, original, control))
    same = replace(pool, release=replace(pool.release, control=None))
    assert check_control(same, labels=lots, rng=np.random.default_rng(1)).outcome == "none"
    identified = [
        frame.with_columns(number=pl.Series(range(len(frame))) + more)
        for frame, more in ((original, 0), (original, 500))
    ]
    with pytest.raises(InputError, match="the control has all rows of the original"):
        check(identified[0], identified[1])
    with pytest.raises(InputError, match="the control has all rows of the original") as refused:
        check(original, pl.concat([control, original]))
    assert str(refused.value).endswith("or no control table")


def test_coarse_tables_hold_one_another_by_coincidence() -> None:
    few, many = (
        frame.select("married", (pl.col("age") > 50).cast(pl.Int64).alias("age")) for frame in draws(4, 25, 300)
    )
    assert check(few, many).outcome == "usable"


def test_size() -> None:
    original, control = draws(5, 300, 70)
    small = check(original, control[:19])
    assert (small.outcome, small.members, small.others) == ("too_small", 300, 19)
    assert isnan(small.p_same)
    assert small.column is None
    assert [check(original, control[:size]).is_small for size in (20, 59, 60)] == [True, True, False]
    assert check(pl.concat([original] * 3), control).is_small
    nobody = check(original, None)
    assert (nobody.outcome, nobody.others, nobody.is_noted) == ("none", 0, False)
    with pytest.raises(InputError, match="draws must be a whole number of at least 99"):
        check_control(pool_tables(release(original, original)), labels=lots, rng=np.random.default_rng(1), draws=10)


def test_the_order_of_rows_plays_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MOST_COMPARED", 60)
    original, control = draws(6, 100, 80)
    control = pl.concat([original[:9], control])
    ids = np.random.default_rng(1).integers(0, 70, 100)
    order, other_order = (np.random.default_rng(2).permutation(size) for size in (100, 89))

    def found(own: pl.DataFrame, theirs: pl.DataFrame, whose: object) -> ControlCheck:
        pool = pool_tables(release(own, own[:1], theirs), ids=whose)  # type: ignore[arg-type]
        return check_control(pool, labels=lots, rng=np.random.default_rng(3), draws=199)

    one, other = found(original, control, ids), found(original[order], control[other_order], ids[order])
    assert one == other
    assert one.members == len(set(ids.tolist()))


def test_whoever_is_attacked_is_compared() -> None:
    original, control = draws(6, 100, 80)
    pool = pool_tables(release(original, original[:1], control.with_columns(pl.col("age") - 30)))
    old = np.flatnonzero(np.array([*original["age"], *control["age"]]) > 45)
    few = check_control(pool, labels=lots, rng=np.random.default_rng(3), draws=99, attacked=old)
    assert few.differences[0].here == pytest.approx(original["age"].filter(original["age"] > 45).mean())
    with pytest.raises(InputError, match="attacked has people of one table only"):
        check_control(pool, labels=lots, rng=np.random.default_rng(3), draws=99, attacked=np.arange(9))


def test_people_with_several_rows_count_once() -> None:
    original, control = draws(7, 60, 60)
    often = pl.concat([original] * 4)
    several = pool_tables(release(often, original[:2], control), ids=[*range(60)] * 4)
    once = pool_tables(release(original, original[:2], control))
    found, plain = (
        check_control(each, labels=lots, rng=np.random.default_rng(1), draws=199) for each in (several, once)
    )
    assert (found.outcome, found.members, found.p_near) == ("usable", 60, plain.p_near)
    assert found.largest_difference == pytest.approx(plain.largest_difference, rel=0.2)
    # Rows that were taken for people would overlap with nobody of the control, and be four times as sure of it.
    assert (found.p_overlap, found.overlap_estimate) == (plain.p_overlap, plain.overlap_estimate)


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
