"""Copies counted as people: the definition, leaks that were planted, and harmless releases."""

from fractions import Fraction
from math import isnan

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.metrics.verdict.made_up import ISLE, REGIONS, draws, release
from tests.oracles import copied_people as oracle
from tests.oracles import verdict
from tests.oracles.records import Rows, rows_of_people, table
from unveil._kernels.verdict.tree import equal_parts, tree_of_columns
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.metrics.verdict import copies as rule
from unveil.metrics.verdict.copies import copied_people, fewest_copies_provable
from unveil.metrics.verdict.groups import division
from unveil.metrics.verdict.pooled_tables import pool_tables

KNOWN = ("age", "height", "town")


def parents(codes: "np.ndarray[tuple[int, int], np.dtype[np.int32]]") -> list[int]:
    levels = [equal_parts(codes[:, 0]), equal_parts(codes[:, 1]), codes[:, 2]]
    return [int(each) for each in tree_of_columns(np.column_stack(levels))]


def several(rows: Rows, ids: list[int]) -> list[oracle.Person]:
    """Return the rows of each person, in the order of the ids."""
    return [tuple(row for row, each in zip(rows, ids, strict=True) if each == one) for one in sorted(set(ids))]


@given(rows_of_people, rows_of_people, st.one_of(st.none(), rows_of_people), st.data())
def test_the_definition(original: Rows, released: Rows, control: Rows | None, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, 3), min_size=len(original), max_size=len(original)))
    outside = [] if control is None else control
    if sorted(map(repr, original)) == sorted(map(repr, outside)):
        return  # refused as a release
    pool = pool_tables(
        Release(table(original), table(released), None if control is None else table(control)), columns=KNOWN, ids=ids
    )
    # No record is rare among so few people unless this means something else; the number avoids ties.
    rare = data.draw(st.sampled_from([Fraction(rare, 1009) for rare in (101, 307, 701, 2003)]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule, "RARE", float(rare))
        found = copied_people(pool)
    members = several(original, ids)
    people = [*members, *((row,) for row in outside)]
    copied = [oracle.copied(person, released) for person in people]
    assert found.copied.tolist() == copied
    assert found.copied_alone.tolist() == [
        any(row in released and oracle.alone(row, place, people) for row in person)
        for place, person in enumerate(people)
    ]
    assert (found.people, found.control_people, found.rows) == (len(members), len(outside), len(released))
    assert found.people_unchanged == sum(copied[: len(members)])
    assert found.rows_copied == sum(row in original for row in released)
    if control is None:
        assert isnan(found.expected)
    else:
        share = sum(copied[len(members) :]) / len(outside)
        assert (found.control_share, found.expected) == (share, len(members) * share)
    chances = oracle.coincidences(members, people, released, parents(pool.codes), parents(pool.released_codes))
    least = [float(min(each.values())) if each else np.nan for each in chances] + [np.nan] * len(outside)
    # Several rows of one person stand among the counts, as they do in the pool.
    assert found.chance == pytest.approx(np.array(least), nan_ok=True)
    tree, distinct, of_release = map(parents, (pool.codes, np.unique(pool.codes, axis=0), pool.released_codes))
    p = oracle.p_of_rare_copies(len(members), people, released, tree, distinct, of_release, rare)
    assert found.p == pytest.approx(float(p))
    rare_copied = oracle.rare_copied(people, released, tree, of_release, rare)
    assert found.rare_copied.tolist() == rare_copied
    inside, beyond = sum(rare_copied[: len(members)]), sum(rare_copied[len(members) :])
    assert (found.rare_copies, found.control_rare_copies) == (inside, beyond)
    if control is None or inside == 0:
        assert isnan(found.rare_explained)
    else:
        explained = Fraction(beyond + 1, len(outside)) / Fraction(inside, len(members))
        assert found.rare_explained == pytest.approx(float(explained))


def unmistakable(original: pl.DataFrame, released: pl.DataFrame, control: pl.DataFrame | None = None) -> set[int]:
    found = copied_people(pool_tables(release(original, released, control)))
    return set(np.flatnonzero(found.is_unmistakable).tolist())


@given(st.integers(0, 10**6), st.integers(0, 20))
@settings(max_examples=10)
def test_names_of_values_and_the_order_of_rows_change_nothing(seed: int, leaked: int) -> None:
    original, control, fresh = draws(seed, 80, 60, 70)
    tables = (original, pl.concat([original[:leaked], fresh]), control)
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(each.height) for each in tables]
    other = [
        each[order].with_columns(pl.col("region").replace_strict(dict(zip(REGIONS, "dbeac", strict=True))))
        for each, order in zip(tables, orders, strict=True)
    ]
    one, two = (copied_people(pool_tables(release(*each))) for each in (tables, other))
    place = np.concatenate([orders[0], 80 + orders[2]])
    assert one.is_unmistakable[place].tolist() == two.is_unmistakable.tolist()
    assert one.rare_copied[place].tolist() == two.rare_copied.tolist()
    assert one.rare_explained == pytest.approx(two.rare_explained, nan_ok=True)
    assert (one.p, one.coincidences) == pytest.approx((two.p, two.coincidences))


@pytest.mark.unwatched
def test_harmless_releases_have_no_unmistakable_copy_and_leaks_do() -> None:
    harmless, alone, few, ten = 0, 0, 0, 0
    for seed in range(20):
        original, control, fresh = draws(seed, 400, 400, 400)
        harmless += bool(unmistakable(original, fresh, control))
        alone += bool(unmistakable(original, fresh))
        # One pair in four is a member and a released row: at 0.005 three such pairs prove nothing.
        few += bool(unmistakable(original, pl.concat([original[:3], fresh[3:]]), control))
        ten += bool(unmistakable(original, pl.concat([original[:10], fresh[10:]]), control))
    assert (harmless, alone, few) == (0, 0, 0)
    assert ten >= 15


def test_the_control_explains_few_rare_copies_of_a_leak() -> None:
    original, control, fresh = draws(2, 400, 200, 400)
    leak = copied_people(pool_tables(release(original, pl.concat([original[:40], fresh[40:]]), control)))
    assert leak.rare_copies >= 20
    assert leak.rare_explained == (leak.control_rare_copies + 1) * 400 / (200 * leak.rare_copies) <= 0.2
    assert leak.rare_expected == 2 * leak.control_rare_copies
    # Every unmistakable copy is a rare one.
    assert leak.rare_copied[leak.is_unmistakable].all()


def test_a_large_control_proves_one_copy() -> None:
    original, control, fresh = draws(2, 100, 3000, 200)
    assert not unmistakable(original, fresh, control)
    rare = int(np.nanargmin(copied_people(pool_tables(release(original, fresh, control))).chance))
    one = pl.concat([original[[rare]], fresh[1:]])
    assert unmistakable(original, one, control) == {rare}
    assert not unmistakable(original, one, control[:300])


def group_quarters(seed: int, columns: int) -> pl.DataFrame:
    """Return 6,000 people in random order; one in ten has a double in the same home, whatever the record is."""
    (people,) = draws(seed, 5400)
    people = people.with_columns(
        [pl.Series(f"more {each}", np.random.default_rng([seed, each]).integers(0, 5, 5400)) for each in range(columns)]
    )
    return pl.concat([people, people[:600]]).sample(fraction=1, shuffle=True, seed=seed)


@pytest.mark.unwatched
@pytest.mark.parametrize("columns", [10, 15])
def test_group_quarters_explain_copies_until_people_leak(columns: int) -> None:
    by_tree = accused = leaked = 0
    for seed in range(20):
        people = group_quarters(seed, columns - 9)
        original, control, fresh = people[:600], people[600:1200], people[1200:1800]
        found = copied_people(pool_tables(release(original, fresh, control)))
        by_tree += bool(((found.copied_alone[:600] == 1) & (10 * found.chance[:600] <= 0.005)).any())
        accused += found.unmistakable > 0
        leaked += bool(unmistakable(original, pl.concat([original[:30], fresh[30:]]), control))
    assert by_tree >= 12
    assert accused == 0
    assert leaked >= 18


def test_a_minority_that_is_released_word_for_word_is_named() -> None:
    original, control, fresh = draws(0, 600, 600, 600)
    minority = original.filter(pl.col("region") == ISLE)
    leak = pl.concat([minority, fresh[minority.height :]])
    pool = pool_tables(release(original, leak, control))
    copies = copied_people(pool)
    assert 0 < minority.height < 30
    named = copies.groups[0]
    assert (named.column, named.value, named.people) == ("region", ISLE, minority.height)
    assert named.copies >= minority.height / 2
    assert named.p < 1e-4
    assert copies.coincidences <= 0.005
    by = division(pool, "region", pool.release.original, pool.release.control)
    # Fewer values were looked at, so that it is surer still.
    assert copied_people(pool, by=by).groups[0].p < named.p
    assert copied_people(pool_tables(release(original, fresh, control))).groups == ()


def test_people_in_a_release_that_repeats_records() -> None:
    original, control, fresh = draws(5, 300, 300, 300)
    chance = copied_people(pool_tables(release(original, fresh, control))).chance[:300]
    rare = np.argsort(chance)[:6].tolist()  # NaN comes last
    few = pl.concat([original[rare], fresh[:60].sample(294, with_replacement=True, seed=1)])
    assert unmistakable(original, few, control) == set(rare)
    # The same records, repeated in every second row: frequent records of a release are no surprise.
    often = pl.concat([original[rare * 25], fresh[:150]])
    assert unmistakable(original, often, control) == set()


def test_duplicates_and_people_who_stand_in_both_tables_are_not_alone() -> None:
    original, control = draws(8, 60, 60)
    twice = pl.concat([original, original[:1]])
    pool = pool_tables(release(twice, twice, pl.concat([control, original[1:2]])))
    copies = copied_people(pool)
    assert copies.people_unchanged == 61
    assert copies.control_unchanged >= 1
    assert copies.copied_alone[[0, 1, 60, 121]].tolist() == [0, 0, 0, 0]
    assert copies.copied_alone[2:60].sum() > 40
    assert np.isnan(copies.chance[[0, 1, 60]]).all()
    # One person with two equal rows is one person, and alone.
    same = copied_people(pool_tables(release(twice, twice, control), ids=[*range(60), 0]))
    assert (same.people, same.people_unchanged, same.copied_alone[0]) == (60, 60, 1)
    # A row without an id is a person of its own.
    assert copied_people(pool_tables(release(twice, twice, control), ids=[*range(59), None, None])).people == 61


def test_the_order_of_rows_plays_no_part() -> None:
    original, control, fresh = draws(3, 200, 150, 180)
    leak = pl.concat([original[:30], fresh])
    one = copied_people(pool_tables(release(original, leak, control)))
    rng = np.random.default_rng(1)
    order, other_order = rng.permutation(200), rng.permutation(150)
    shuffled = pool_tables(
        release(original[order], leak.sample(fraction=1, shuffle=True, seed=2), control[other_order])
    )
    other = copied_people(shuffled)
    place = np.concatenate([order, 200 + other_order])
    for name in ("copied", "copied_alone", "is_unmistakable", "rare_copied", "chance"):
        np.testing.assert_array_equal(getattr(one, name)[place], getattr(other, name))
    assert repr(one) == repr(other)
    # Of those who are released and alone, the improbable ones: the factor decides on some.
    sure = (one.copied_alone == 1) & (10 * one.chance <= 0.005)
    assert one.is_unmistakable.tolist() == sure.tolist()
    assert 5 < one.unmistakable < ((one.copied_alone == 1) & (one.chance <= 0.005)).sum()


def test_columns_in_which_nobody_can_be_equal_are_named() -> None:
    original, control, fresh = draws(9, 300, 200, 250)
    assert not copied_people(pool_tables(release(original, fresh, control))).coarsened
    coarse = fresh.with_columns(
        pl.col("age") // 10 * 10 + 5,
        pl.col("moved").str.head(5) + "01-01",
        ("a" + pl.col("job")).alias("job"),
        hours=pl.lit(40),
    )
    copies = copied_people(pool_tables(release(original, coarse, control)))
    # Most people work 40 hours, so that everybody's working 40 hours makes nobody unequal.
    assert (copies.coarsened, copies.relabelled) == (("age", "moved"), ("job",))
    # Two rows cannot tell.
    assert not copied_people(pool_tables(release(original, coarse[:2], control))).coarsened


@pytest.mark.parametrize("decimals", [1, 12])
def test_real_numbers_that_were_rounded(decimals: int) -> None:
    real = pl.Series("x", np.random.default_rng(1).normal(size=400))
    frames = (pl.DataFrame({"x": each}) for each in (real[:200], real[200:].round(decimals)))
    original, released = (Table.from_frame(each, kinds={"x": "number"}, roles={"x": "known"}) for each in frames)
    assert copied_people(pool_tables(Release(original, released))).coarsened == (("x",) if decimals == 1 else ())


@given(st.integers(1, 60), st.integers(1, 60))
def test_the_fewest_copies_are_just_proved(members: int, others: int) -> None:
    fewest = fewest_copies_provable(members, others)
    p = [verdict.hypergeometric_p(copied, 0, members, others) for copied in range(members + 1)]
    assert fewest == next((copied for copied in range(1, members + 1) if p[copied] <= 0.005), None)
