"""Ten scores of membership: their formulas on mixed tables and coarse cells, no order plays a part, odd input."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tests.oracles.cells import Pool
from tests.oracles.membership_scores import OPEN, Definition, plain_distance
from unveil._kernels.cells import nearest_boxes
from unveil._kernels.neighbours import near_pairs, search, sketch
from unveil._kernels.threads import threads
from unveil.attacks.table import _membership_space
from unveil.attacks.table.membership_scores import (
    SCORES,
    LearnedCombination,
    RevealingRow,
    combine,
    features,
    given_away_by,
    grow_trees,
    score_people,
    unusual,
)
from unveil.data.table import Table, agree
from unveil.data.table.encode import encode
from unveil.errors import InputError
from unveil.metrics.trials.membership import area_under_curve

KINDS: dict[str, Any] = {"age": "number", "height": "number", "same": "number", "town": "category", "job": "category"}
VALUES: dict[str, list[Any]] = {
    "age": [20, 21, 23, 26, 40, None],
    "height": [1.5, 1.6, 1.9, None],
    "same": [7],
    "town": ["Ulm", "Bonn", None],
    "job": ["a", "b", "c", "d", "e"],
}
RANGES = {"20-22": (20, 22), "23+": (23, None), "*": "all"}
TYPES = {"age": pl.Int64, "height": pl.Float64, "same": pl.Int64, "town": pl.String, "job": pl.String}


def drawn(rows: int, names: tuple[str, ...], rng: np.random.Generator) -> list[tuple[Any, ...]]:
    return [tuple(VALUES[name][rng.integers(len(VALUES[name]))] for name in names) for _ in range(rows)]


def table(rows: list[tuple[Any, ...]], names: tuple[str, ...]) -> Table:
    frame = pl.DataFrame(rows, schema={name: TYPES[name] for name in names}, orient="row")
    return Table.from_frame(frame, kinds={name: KINDS[name] for name in names})


def found(tables: tuple[Table, ...], *, seed: int = 1) -> list[dict[str, Any]]:
    """Return the scores of two tables of people, who come first and third, beside the release and the population."""
    first, released, second, population = tables
    return score_people(
        released=released,
        population=population,
        people=[first, second],
        columns=first.column_names,
        rng=np.random.default_rng(seed),
    )


def same(scores: list[dict[str, Any]], definition: Definition) -> None:
    expected = definition.every()
    for name in SCORES:
        wanted = [each[name] for each in expected]
        np.testing.assert_allclose(np.concatenate([part[name] for part in scores]), wanted, atol=2e-8, err_msg=name)


sets_of_columns = st.lists(st.sampled_from(list(KINDS)), min_size=1, unique=True).map(tuple)


@contextmanager
def blocks_of(rows: int) -> Iterator[None]:
    """Let so many released rows be looked at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch, "BLOCK_ROWS", rows)
        yield


@settings(max_examples=40)
@given(st.integers(0, 2**32), sets_of_columns, st.integers(1, 40), st.integers(1, 9), st.sampled_from([1, 7, 2**20]))
def test_scores_are_those_of_the_formulas_in_blocks_of_any_size(
    seed: int, names: tuple[str, ...], rows: int, others: int, block: int
) -> None:
    rng = np.random.default_rng(seed)
    sizes = 4, rows, 3, others
    people, released, more, population = (drawn(size, names, rng) for size in sizes)
    far, unit = plain_distance([*people, *released, *more, *population])
    definition = Definition(
        released,
        population,
        people + more,
        lambda person, place: far(person, released[place]),
        far,
        unit,
        [at for at, name in enumerate(names) if KINDS[name] == "number"],
    )
    with blocks_of(block):
        scores = found(agree(*(table(each, names) for each in (people, released, more, population))))
    same(scores, definition)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(0, 24), st.booleans())
def test_a_coarse_cell_is_as_far_as_its_gap_and_equals_nothing(seed: int, rows: int, towns_too: bool) -> None:
    rng = np.random.default_rng(seed)
    names = ("age", "town")
    people, more, population = (
        [(20, "Ulm"), (26, "Bonn"), *((age or 21, town or "Ulm") for age, town in drawn(size, names, rng))]
        for size in (3, 2, 6)
    )
    ages = [["20-22", "23+", "*", "23", "26"][place] for place in rng.integers(0, 5, rows)]
    towns = [["*", "{Ulm,Bonn}", "Bonn"][place] for place in rng.integers(0, 3, rows)]
    written = [("20-22", "*"), ("23+", "Ulm"), ("20-22", "{Ulm,Bonn}"), *zip(ages, towns, strict=True)]
    if towns_too:  # no town is shown, and no age
        written = [(age if age in RANGES else "*", "*" if town == "*" else "{Ulm,Bonn}") for age, town in written]
    frame = pl.DataFrame(written, schema=list(names), orient="row")
    tables = agree(
        table(people, names),
        Table.from_frame(frame, name="released"),
        *(table(each, names) for each in (more, population)),
    )
    pool = Pool(people + more + population)
    held = [
        (RANGES.get(age) or (int(age), int(age)), "all" if town == "*" else frozenset(town.strip("{}").split(",")))
        for age, town in written
    ]
    shown = [
        (OPEN if age in RANGES else int(age), OPEN if town in ("*", "{Ulm,Bonn}") else town) for age, town in written
    ]
    cost = encode(tables, names)[0].mismatch_cost
    span = max(pool.values(0)) - min(pool.values(0))
    definition = Definition(
        shown,
        population,
        people + more,
        lambda person, place: pool.apart(person, held[place]),
        lambda one, other: Fraction(abs(one[0] - other[0]), span) + (one[1] != other[1]),
        Fraction(1, cost),
        [0],
    )
    scores = found(tables)
    same(scores, definition)
    if towns_too:
        assert not any(part[name].any() for part in scores for name in ("values", "pairs", "agreement", "cells"))


def mixed(rows: int, columns: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return many columns: real and whole numbers, and words."""
    made: dict[str, Any] = {}
    for place in range(columns):
        kind = place % 3
        values = rng.normal(size=rows) if kind == 0 else rng.integers(0, 4 + place, rows)
        made[f"c{place:02}"] = [f"w{value}" for value in values] if kind == 2 else values
    return pl.DataFrame(made)


@pytest.mark.parametrize("columns", [7, 33])
def test_no_order_of_rows_columns_or_people_plays_a_part(columns: int) -> None:
    rng = np.random.default_rng(columns)
    tables = agree(*(Table.from_frame(mixed(rows, columns, rng)) for rows in (40, 150, 30, 60)))
    lots = [rng.permutation(each.rows) for each in tables]
    names = rng.permutation(tables[0].column_names).tolist()
    other = tuple(each.take(lot).select(names) for each, lot in zip(tables, lots, strict=True))
    plain, again = found(tables), found(other)
    for name in SCORES:
        for one, two, lot in zip(plain, again, (lots[0], lots[2]), strict=True):
            np.testing.assert_array_equal(one[name][lot], two[name], err_msg=name)
    swapped = found((tables[2], tables[1], tables[0], tables[3]))
    alone = score_people(
        released=tables[1],
        population=tables[3],
        people=[tables[0], tables[2]],
        columns=tables[0].column_names,
        names=("cells", "pairs"),
        rng=np.random.default_rng(1),
    )
    for name in SCORES:
        np.testing.assert_array_equal(plain[0][name], swapped[1][name], err_msg=name)
    for name in alone[0]:
        np.testing.assert_array_equal(plain[0][name], alone[0][name], err_msg=name)


@pytest.mark.parametrize("coarse", [False, True])
def test_neither_blocks_nor_threads_change_a_byte(coarse: bool) -> None:
    rng = np.random.default_rng(5)
    people, released, more, population = (mixed(rows, 9, rng) for rows in (30, 150, 25, 60))
    # Some rows are there several times, in blocks near and far.
    released = released[rng.integers(0, 110, 150)]
    if coarse:
        released = released.with_columns(c01=pl.Series([["0-2", "3+", "1"][at] for at in rng.integers(0, 3, 150)]))
    tables = agree(*(Table.from_frame(each) for each in (people, released, more, population)))
    whole = found(tables)
    about: dict[str, Any] = {"people": tables[0], "columns": tables[0].column_names, "rows": np.arange(20)}
    given = given_away_by(released=tables[1], population=tables[3], **about)
    for block, number in ((1, 1), (7, 2), (149, 2), (150, 1)):
        with blocks_of(block), threads(number):
            scores = found(tables)
            again = given_away_by(released=tables[1], population=tables[3], **about)
        assert again == given
        for one, two in zip(whole, scores, strict=True):
            for name in SCORES:
                np.testing.assert_array_equal(one[name], two[name], err_msg=f"{name}, blocks of {block}")
    assert np.unique(whole[0]["influence"]).size > 20


@pytest.mark.parametrize("coarse", [False, True])
def test_neither_parts_nor_a_thinner_crowd_change_who_is_near(coarse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    names = ("age", "job", "town")
    people, more, population = (table(drawn(size, names, rng), names) for size in (9, 8, 60))
    frame = table(drawn(70, names, rng), names).frame
    if coarse:
        frame = frame.with_columns(age=pl.Series([["20-22", "23+", "40"][at] for at in rng.integers(0, 3, 70)]))
    tables = agree(people, Table.from_frame(frame, name="released"), more, population)
    whole = found(tables)
    smaller = (
        (near_pairs, "ROOM", 3),
        (search, "ROOM", 40),
        (nearest_boxes, "ROOM", 40),
        (_membership_space, "_AT_ONCE", 100),
    )
    for module, name, value in (*smaller, (nearest_boxes, "ALL_UP_TO", 0)):
        monkeypatch.setattr(module, name, value)
    for one, two in zip(whole, found(tables), strict=True):
        for name in SCORES:
            np.testing.assert_array_equal(one[name], two[name], err_msg=name)
    monkeypatch.setattr(_membership_space, "_MOST_CROWD", 40)
    thinner = found(tables)
    for name in SCORES:
        assert np.array_equal(whole[0][name], thinner[0][name]) == (name != "influence")
    assert (thinner[0]["influence"] >= whole[0]["influence"]).all()


@settings(max_examples=30)
@given(st.integers(0, 2**32), sets_of_columns)
def test_who_gives_people_away_shares_their_rarest_values(seed: int, names: tuple[str, ...]) -> None:
    rng = np.random.default_rng(seed)
    people, released, population = (drawn(size, names, rng) for size in (6, 12, 9))
    tables = agree(*(table(each, names) for each in (people, released, population)))
    some = np.array([4, 1])
    given = given_away_by(released=tables[1], population=tables[2], people=tables[0], rows=some, columns=names)
    far, _ = plain_distance([people[4], people[1], *released, *population])

    def weight(person: Any, at: int) -> int:
        count = sum(row[at] == person[at] for row in population)
        return round(-(2**20) * math.log((count + 0.5) / (len(population) + 1)))

    for place, each in zip(some.tolist(), given, strict=True):
        person = people[place]
        shared = [[at for at in range(len(names)) if row[at] == person[at]] for row in released]
        agreement = [sum(weight(person, at) for at in columns) for columns in shared]
        rank = [(-agreement[row], far(person, released[row])) for row in range(len(released))]
        assert rank[each.row] == min(rank)
        told = sorted(shared[each.row], key=lambda at: (-weight(person, at), names[at]))
        assert list(each.columns) == [names[at] for at in told]
        np.testing.assert_allclose(each.weights, [weight(person, at) / 2**20 / math.log(2) for at in told])
        own = [at for at in range(len(names)) if not any(row[at] == person[at] for row in population)]
        assert set(each.unheard) == {names[at] for at in own if any(row[at] == person[at] for row in released)}
    # The lowest by content is the same by what it holds, whatever the order of rows.
    lot = rng.permutation(len(released))
    mixed = given_away_by(
        released=tables[1].take(lot), population=tables[2], people=tables[0], rows=some, columns=names[::-1]
    )
    assert [released[lot[each.row]] for each in mixed] == [released[each.row] for each in given]


def test_nobody_is_given_away_where_nobody_is_asked_for_or_nothing_is_shown() -> None:
    original, control = (table([(20, "Ulm"), (26, "Bonn"), (40, None)], ("age", "town")) for _ in range(2))
    released = Table.from_frame(pl.DataFrame({"age": ["20-22", "23+"], "town": ["*", "{Ulm,Bonn}"]}), name="released")
    tables = agree(original, released, control)
    about: dict[str, Any] = {"released": tables[1], "population": tables[2], "people": tables[0]}
    assert given_away_by(**about, rows=np.array([], np.int64), columns=("age", "town")) == []
    assert given_away_by(**about, rows=np.array([1]), columns=("age", "town")) == [RevealingRow(1, (), ())]


@settings(max_examples=20)
@given(st.integers(0, 2**32), sets_of_columns, st.integers(1, 8))
def test_the_unusual_are_far_from_the_fifth_nearest(seed: int, names: tuple[str, ...], others: int) -> None:
    rng = np.random.default_rng(seed)
    people, more, population, wide = (drawn(size, names, rng) for size in (4, 3, others, 5))
    tables = agree(*(table(each, names) for each in (people, more, population, wide)))
    one, two = unusual(population=tables[2], people=tables[:2], columns=names, scale=tables[3])
    far, _ = plain_distance([*people, *more, *population, *wide])
    wanted = [float(sorted(far(person, other) for other in population)[:5][-1]) for person in people + more]
    np.testing.assert_allclose(np.concatenate([one, two]), wanted, atol=1e-12)


@pytest.mark.parametrize("cells", [["*"] * 4, [None] * 4, ["7"] * 4])
def test_odd_releases_are_scored_and_never_refused(cells: list[str | None]) -> None:
    people = [table([(20, "Ulm"), (26, None)] * 2, ("age", "town")) for _ in range(2)]
    released = Table.from_frame(pl.DataFrame({"age": cells, "town": ["Ulm"] * 4}), name="released")
    one, _ = found(agree(people[0], released, people[1], table([(30, "Bonn")], ("age", "town"))))
    assert all(np.isfinite(one[name]).all() for name in SCORES)
    assert one["agreement"][0] > one["agreement"][1]


def test_a_name_that_is_no_score_is_refused() -> None:
    people = table([(20,)], ("age",))
    with pytest.raises(InputError, match="Unknown score 'luck'"):
        score_people(
            released=people,
            population=people,
            people=[people],
            columns=("age",),
            names=("luck",),
            rng=np.random.default_rng(1),
        )


# --- the learned combination ------------------------------------------------------------------------------------------


def test_a_place_is_a_quantile_with_two_tails() -> None:
    outsiders = np.sort(np.random.default_rng(1).integers(0, 30, (400, 1)).astype(float), axis=0)
    scores = np.array([-1.0, 3.0, 28.5, 29.0, 99.0])
    for score, found in zip(scores, features(scores[:, None], outsiders), strict=True):
        below, alike = int((outsiders < score).sum()), int((outsiders == score).sum())
        quantile = NormalDist().inv_cdf((below + alike / 2 + 0.5) / 401)
        assert found == pytest.approx([quantile, max(quantile - 1.5, 0), max(quantile - 2.5, 0)])
    many = np.arange(20_000.0)[:, None]
    assert features(np.array([[-1.0], [1e9]]), many)[:, 0] == pytest.approx([-3.719016, 3.719016], abs=1e-5)


def test_weights_minimise_the_loss_with_a_ridge_and_rows_in_any_order_give_them() -> None:
    rng = np.random.default_rng(2)
    members, outsiders = rng.normal([0.5, 0.0, 0.2], 1.2, (150, 3)), rng.normal(size=(120, 3)).round(1)
    found = combine(members, outsiders)
    every = features(np.concatenate([members, outsiders]), np.sort(outsiders, axis=0))
    signs = np.repeat([1.0, -1.0], [150, 120])

    def loss(w: np.ndarray) -> float:
        return float(np.logaddexp(0, -signs * (every @ w[1:] + w[0])).sum() + 5 * (w[1:] ** 2).sum())

    best = minimize(loss, np.zeros(10), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(found.coefficients, best.x, atol=1e-5)
    np.testing.assert_allclose(found.score(members), (every @ best.x[1:])[:150], atol=1e-4)
    assert found.weights[1].tolist() == found.coefficients[[2, 5, 8]].tolist()
    again = combine(rng.permutation(members), rng.permutation(outsiders))
    np.testing.assert_array_equal(found.coefficients, again.coefficients)
    assert np.unique(found.score(np.repeat(members[:1], 50, axis=0))).size == 1


def test_trees_see_what_no_weights_see_and_rows_in_any_order_grow_them() -> None:
    rng = np.random.default_rng(3)
    inside, outside = (rng.integers(-9, 10, (1_500, 2)).astype(float) for _ in range(2))
    # Members have two scores of one sign, non-members have not: each score alone says nothing.
    members, outsiders = inside[inside.prod(axis=1) > 0], outside[outside.prod(axis=1) <= 0]
    alone, trees = combine(members, outsiders), grow_trees(members, outsiders)
    fresh = rng.integers(-9, 10, (1_500, 2)).astype(float)
    is_member = fresh.prod(axis=1) > 0
    assert area_under_curve(*halves(alone.score(fresh), is_member)).value == pytest.approx(0.5, abs=0.1)
    assert area_under_curve(*halves(trees.score(fresh), is_member)).value > 0.9
    again = grow_trees(rng.permutation(members), rng.permutation(outsiders))
    np.testing.assert_array_equal(trees.score(fresh), again.score(fresh))
    assert np.unique(trees.score(np.repeat(fresh[:1], 50, axis=0))).size == 1
    both = [{"one": each[:, 0], "other": each[:, 1]} for each in (members, outsiders)]
    added = LearnedCombination.learned(*both, trees=True)({"one": fresh[:, 0], "other": fresh[:, 1]})
    np.testing.assert_array_equal(added, alone.score(fresh) + trees.score(fresh))


def halves(scores: np.ndarray, is_member: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of members and of non-members."""
    return scores[is_member], scores[~is_member]
