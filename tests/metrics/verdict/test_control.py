"""Whether a control is usable: harmless ones pass, planted faults are named, and numbers are those of plain loops."""

from collections.abc import Callable
from dataclasses import replace
from math import isnan

import numpy as np
import polars as pl
import pytest

from tests.metrics.verdict.made_up import draws, lots, release
from tests.oracles import two_tables as oracle
from unveil._kernels.types import BoolArray
from unveil.errors import InputError
from unveil.metrics.verdict import control as checks
from unveil.metrics.verdict.control import ControlCheck, check_control
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
    with pytest.raises(InputError, match="has all of its rows"):
        check(identified[0], identified[1])
    with pytest.raises(InputError, match="must hold people who are not in the original") as refused:
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
    with pytest.raises(InputError, match="attacked must hold people of both tables"):
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
