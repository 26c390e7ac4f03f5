"""Groups of the pool against plain loops; which are left out, and who is attacked for them."""

import numpy as np
import polars as pl
import pytest

from tests.metrics.verdict.made_up import ISLE, REGIONS, draws, release, table
from unveil.metrics.verdict.groups import MOST_GROUPS, PoolGroup, division, divisions, pool_groups, small_groups
from unveil.metrics.verdict.pooled_tables import PooledTables, pool_tables


def pool(seed: int = 1, members: int = 400, others: int = 120) -> tuple[PooledTables, pl.DataFrame, pl.DataFrame]:
    original, control, released = draws(seed, members, others, 50)
    return pool_tables(release(original, released, control)), original, control


def named(groups: tuple[PoolGroup, ...]) -> dict[tuple[str | None, str | None], tuple[int, int]]:
    return {(group.column, group.value): (group.members, group.others) for group in groups if group.column}


def test_groups_are_values_of_categories_that_enough_people_have() -> None:
    people, original, control = pool()
    expected = {}
    for column in ("job", "degree", "region", "married"):
        for value in original[column].unique():
            sizes = tuple((frame[column] == value).sum() for frame in (original, control))
            # By lot 400 of 520 people are members.
            if sum(sizes) * 400 / 520 >= 5 and sum(sizes) * 120 / 520 >= 2 and sum(sizes) <= 260:
                expected[column, str(value).lower() if column == "married" else value] = sizes
    found = pool_groups(people)
    assert named(found) == expected
    assert len(expected) > 10
    for group in found:
        if group.column == "region":
            cells = pl.concat([original, control])["region"]
            assert group.people.tolist() == (cells == group.value).to_list()


def test_the_rarest_are_those_with_the_least_probable_records() -> None:
    people, *_ = pool()
    found = {group.rarest: group for group in pool_groups(people) if group.column is None}
    assert set(found) == {0.05}  # 1 % of 520 are 5 people, of whom not all are members
    ordered = sorted(people.rarity.tolist())
    assert people.rarity[found[0.05].people].tolist() == [each for each in people.rarity if each < ordered[26]]
    large = pool(2, 1500, 1500)[0]
    sizes = {group.rarest: group.members + group.others for group in pool_groups(large) if group.column is None}
    assert sizes == {0.05: 150, 0.01: 30}


def test_people_who_tie_at_the_edge_are_left_out() -> None:
    original, released = draws(1, 2, 20)
    usual, rare = original[:1], original[1:2].with_columns(region=pl.lit(ISLE))
    members = pl.concat([usual] * 90 + [rare] * 10)
    others = pl.concat([usual] * 98 + [rare] * 2)
    # Twelve are equally rare, and 5 % of 200 are ten.
    people = pool_tables(release(members, released, others))
    assert all(group.column for group in pool_groups(people))


def test_at_most_sixty_groups_and_those_of_the_most_values_go_first() -> None:
    original, control, released = (
        frame.with_columns(
            pl.Series("job", np.arange(frame.height) % 30).cast(pl.String),
            pl.Series("degree", np.arange(frame.height) % 29).cast(pl.String),
            pl.Series("region", np.arange(frame.height) % 5).cast(pl.String),
        )
        for frame in draws(1, 600, 300, 30)
    )
    people = pool_tables(release(original, released, control))
    # 30 + 29 + 5 values, one of two of the boolean one (the other is more than half) and the rarest 5 % and 1 %.
    columns = {group.column for group in pool_groups(people)}
    assert columns == {"degree", "region", "married", None}
    frames = [
        frame.with_columns(pl.Series("town", np.minimum(np.arange(frame.height) % 80, 74)).cast(pl.String))
        for frame in (original, control)
    ]
    by = division(people, "town", *(table(frame, town="category") for frame in frames))
    few = pool_groups(people, by=by)
    assert len(few) == MOST_GROUPS
    assert {group.column for group in few} == {"town", None}
    assert "74" in {group.value for group in few}  # the largest one stays


def test_without_a_control_there_are_no_groups_but_values() -> None:
    original, released = draws(1, 100, 30)
    people = pool_tables(release(original, released))
    assert pool_groups(people) == ()
    assert [each.column for each in divisions(people)] == ["job", "degree", "region", "married"]


def test_a_column_that_the_release_lacks_and_bands_of_the_whole_pool() -> None:
    people, original, control = pool()
    ages = [frame.select(years=pl.col("age")) for frame in (original, control)]
    own, theirs = (table(frame, years="number") for frame in ages)
    by = division(people, "years", own, theirs)
    swapped = pool_tables(release(control, original[:50], original))
    # Who is in the data and who is not makes no difference to the bands.
    assert set(division(swapped, "years", theirs, own).values) == set(by.values)
    assert 3 <= len(by.values) <= 5
    lacking = division(people, "years", own)
    assert set(lacking.of_row[400:].tolist()) == {-1}
    assert [group for group in pool_groups(people, by=lacking) if group.column] == []


def test_which_groups_are_small() -> None:
    original, control, released = draws(4, 900, 4000, 30)
    people = pool_tables(release(original, released, control))
    region = division(people, "region", table(original), table(control))
    groups = [group for group in pool_groups(people, by=region) if group.column]
    assert {group.value for group in groups} == set(REGIONS)
    # By lot 900 of 4,900 people are members.
    every = [*original["region"], *control["region"]]
    small = {value for value in REGIONS if every.count(value) * 900 / 4900 <= 100}
    assert {group.value for group in small_groups(people, groups)} == small == {"west", ISLE}


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_rows_plays_no_part(seed: int) -> None:
    original, control, released = draws(seed, 300, 200, 30)
    rng = np.random.default_rng(seed)
    order, other_order = rng.permutation(300), rng.permutation(200)
    place = np.concatenate([order, 300 + other_order])
    one = pool_tables(release(original, released, control))
    other = pool_tables(release(original[order], released, control[other_order]))
    for mine, theirs in zip(pool_groups(one), pool_groups(other), strict=True):
        assert repr(mine) == repr(theirs)
        assert mine.people[place].tolist() == theirs.people.tolist()


def test_a_person_belongs_to_each_value_that_one_of_their_rows_has() -> None:
    original, control, released = draws(6, 60, 60, 20)
    ids = np.arange(60) // 2
    people = pool_tables(release(original, released, control), ids=ids)
    groups = {group.value: group for group in pool_groups(people) if group.column == "region"}
    regions = original["region"].to_list()
    south = sum("south" in (regions[2 * each], regions[2 * each + 1]) for each in range(30))
    assert groups["south"].members == south
