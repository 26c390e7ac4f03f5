"""Canaries: rows that nobody could have, and scores by their definition; no order plays a part."""

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.canaries import broken_promises, levels, may_not_grow, plantable
from tests.oracles.membership_scores import Definition, plain_distance
from unveil.attacks.table.canaries import UnusualRows, score_canaries, unusual_rows
from unveil.attacks.table.membership_scores import LearnedCombination, score_people
from unveil.data.table import Table, agree
from unveil.errors import InputError

KINDS: dict[str, Any] = {"age": "number", "job": "category", "name": "category", "town": "category", "wage": "number"}
VALUES: dict[str, list[Any]] = {
    "age": [20, 21, 23, 26, 40, None],
    "job": ["a", "b", "c", None],
    "name": [None],
    "town": ["Ulm", "Bonn"],
    "wage": [1.5, 1.6, 1.9, 2.4],
}
TYPES = {"age": pl.Int64, "job": pl.String, "name": pl.String, "town": pl.String, "wage": pl.Float64}
NAMES = tuple(KINDS)
Rows = list[tuple[Any, ...]]


def drawn(rows: int, rng: np.random.Generator, names: tuple[str, ...] = NAMES) -> Rows:
    return [tuple(VALUES[name][rng.integers(len(VALUES[name]))] for name in names) for _ in range(rows)]


def table(rows: Rows, names: tuple[str, ...] = NAMES) -> Table:
    frame = pl.DataFrame(rows, schema={name: TYPES[name] for name in names}, orient="row")
    return Table.from_frame(frame, kinds={name: KINDS[name] for name in names})


def planted_places(found: UnusualRows, names: tuple[str, ...] = NAMES) -> list[tuple[int, int]]:
    places = (sorted(map(names.index, pair)) for pair in found.pairs)
    return [(one, two) for one, two in places]


@settings(max_examples=60)
@given(
    st.integers(0, 2**32),
    st.integers(1, 14),
    st.integers(1, 40),
    st.lists(st.sampled_from(NAMES), min_size=1, unique=True),
)
def test_unusual_rows_keep_every_promise_or_there_are_no_more(seed: int, rows: int, number: int, names: Any) -> None:
    rng = np.random.default_rng(seed)
    people = drawn(rows, rng)
    columns = [NAMES.index(name) for name in names]
    whole = table(people)
    try:
        found = unusual_rows(whole, number, columns=tuple(names), rng=np.random.default_rng(seed))
        most = -(-number // 16)
    except InputError as problem:
        reached = int(str(problem).partition("only ")[2].partition(" ")[0].replace(",", ""))
        assert reached < number
        assert reached <= sum(map(len, plantable(people, columns).values()))
        if not reached:
            assert may_not_grow(people, columns, [], [], 1)
        return
    canaries = whole.composed(found.rows).frame.rows()
    places = planted_places(found)
    assert len(canaries) == number
    assert list(broken_promises(people, columns, canaries, places)) == []
    if max(Counter(places).values()) > most:
        assert may_not_grow(people, columns, canaries, places, most)
    again = unusual_rows(whole, number, columns=tuple(names[::-1]), rng=np.random.default_rng(seed))
    np.testing.assert_array_equal(found.rows, again.rows)


def mixed(rows: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return an identifier, four columns of words and four of numbers, two of which hardly repeat."""
    made: dict[str, Any] = {"id": [f"p{place}" for place in range(rows)]}
    made |= {f"w{place}": [f"v{value}" for value in rng.integers(0, 8, rows)] for place in range(4)}
    made |= {f"n{place}": rng.integers(0, 9, rows) for place in range(2)}
    return pl.DataFrame(made | {f"r{place}": rng.normal(size=rows).round(4) for place in range(2)})


def test_columns_whose_values_repeat_come_first_and_take_turns() -> None:
    people = Table.from_frame(mixed(60, np.random.default_rng(1)), roles={"id": "identifier"})
    names = people.column_names[1:]
    found = unusual_rows(people, 45, columns=names, rng=np.random.default_rng(2))
    assert set(Counter(map(frozenset, found.pairs)).values()) == {3}  # 45 of the 15 pairs of w and n
    assert not any(name.startswith("r") for pair in found.pairs for name in pair)
    assert len(set(found.rows[:, 0].tolist())) == 45
    many = unusual_rows(people, 480, columns=("w0", "w1", "r0", "r1"), rng=np.random.default_rng(2))
    have = Counter(map(frozenset, many.pairs))
    assert len(have) == 6
    assert have[frozenset(("w0", "w1"))] == len(plantable(people.frame.rows(), (1, 2))[1, 2])  # fewer than 30
    canaries = people.composed(many.rows).frame.rows()
    places = planted_places(many, people.column_names)
    assert list(broken_promises(people.frame.rows(), (1, 2, 7, 8), canaries, places)) == []
    lent = Counter(many.rows[:, 0].tolist()).values()
    assert len(lent) == 60
    assert max(lent) - min(lent) <= 2


def test_a_row_is_made_with_the_markers_and_the_cells_of_its_columns() -> None:
    people = Table.from_frame(
        {"age": ["31", "#", "40"], "town": ["Ulm", "Bonn", "?"]}, markers={"#": "suppressed"}, missing=["?"]
    )
    released = Table.from_frame({"age": ["30-39", "*", "40"], "town": ["Ulm", "*", "Ulm"]}, name="released")
    rows = np.array([[1, 2], [0, 1], [1, 1]])
    for original in agree(people, released):
        made = original.composed(rows)
        for place, name in enumerate(original.column_names):
            column = original.select([name]).take(rows[:, place])
            assert made.frame[name].to_list() == column.frame[name].to_list()
            assert made.held(name).gaps() == column.held(name).gaps()
            assert made.column(name).missing == column.column(name).missing
            assert made.coarse([name]) == column.coarse([name])
        assert made.agreement is original.agreement is not None
        assert made.sha256 is None


def scored(tables: tuple[Table, ...], **settings: Any) -> Any:
    canaries, released, population = tables
    return score_canaries(
        released=released,
        canaries=canaries,
        population=population,
        columns=settings.pop("columns", canaries.column_names),
        rng=np.random.default_rng(1),
        **settings,
    )


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 9), st.booleans())
def test_scores_are_in_the_order_of_the_definition(seed: int, rows: int, others: int, unusual: bool) -> None:
    rng = np.random.default_rng(seed)
    names = ("age", "job", "town")
    canaries, released, population = (drawn(size, rng, names) for size in (8, rows, others))
    released += canaries[:2]
    pairs = [tuple(rng.permutation(3)[:2].tolist()) for _ in canaries]
    far, unit = plain_distance([*canaries, *released, *population])
    near = Definition(
        released, population, canaries, lambda person, place: far(person, released[place]), far, unit, [0]
    )
    wanted = [
        levels(released, population, canary, pair if unusual else None, near.relative(canary))
        for canary, pair in zip(canaries, pairs, strict=True)
    ]
    told = [(names[one], names[two]) for one, two in pairs] if unusual else None
    scores = scored(agree(*(table(each, names) for each in (canaries, released, population))), pairs=told)
    for (one, first), (two, second) in product(zip(scores, wanted, strict=True), repeat=2):
        assert np.sign(one - two) == (first > second) - (first < second)
        assert abs(one - two) * 2**20 == pytest.approx(abs(first[0] - second[0]), abs=0.5)


@pytest.mark.parametrize("way", ["people", "unusual", "taught"])
def test_no_order_of_rows_or_columns_plays_a_part_and_equal_canaries_are_equal(way: str) -> None:
    rng = np.random.default_rng(5)
    sizes = 30, 120, 40, 110, 105
    frames = [mixed(size, rng).drop("id") for size in sizes]
    frames[0] = pl.concat([frames[0], frames[0][:7]])
    tables = agree(*(Table.from_frame(each) for each in frames))
    names = tables[0].column_names
    pairs = [(names[place % 8], names[(place % 8 + 1) % 8]) for place in [*range(30), *range(7)]]
    lots = [rng.permutation(each.rows) for each in tables]
    other = tuple(each.take(lot) for each, lot in zip(tables, lots, strict=True))
    turned = [pairs[place][::-1] for place in lots[0]]
    ways: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "people": ({}, {}),
        "unusual": ({"pairs": pairs}, {"pairs": turned}),
        "taught": ({"teachers": tables[3:]}, {"teachers": other[3:]}),
    }
    plain, again = scored(tables[:3], **ways[way][0]), scored(other[:3], columns=names[::-1], **ways[way][1])
    np.testing.assert_array_equal(plain[lots[0]], again)
    np.testing.assert_array_equal(plain[:7], plain[30:])
    assert np.unique(plain).size > 20
    if way == "taught":
        every = score_people(
            released=tables[1],
            population=tables[2],
            people=[tables[0], *tables[3:]],
            columns=names,
            rng=np.random.default_rng(1),
        )
        np.testing.assert_array_equal(plain, LearnedCombination.learned(*every[1:])(every[0]))


def test_a_cell_of_several_values_shows_no_planted_pair() -> None:
    people = Table.from_frame({"age": [31, 40, 40], "town": ["Ulm", "Bonn", "Ulm"], "job": ["a", "a", "b"]})
    rows = {"age": ["30-39", "40", "*"], "town": ["Ulm", "*", "Ulm"], "job": ["*", "*", "*"]}
    original, released = agree(people, Table.from_frame(rows, name="released"))
    tables = original, released, original.take([0])
    pairs = [("age", "town"), ("age", "town"), ("town", "job")]
    np.testing.assert_allclose(scored(tables, pairs=pairs), 0, atol=1e-6)
    shown = scored(tables, pairs=[("age", "age"), ("age", "age"), ("town", "town")])
    found = [0, 1 / (1 / 3 + 0.5), 2 / (4 / 3 + 0.5)]
    np.testing.assert_allclose(shown, np.log1p(found), atol=1e-6)


def test_what_cannot_be_done_is_said() -> None:
    people = Table.from_frame({"age": [31, 40], "town": ["Ulm", "Bonn"]}, name="people")
    with pytest.raises(InputError, match="only 2 of 3 outlier canaries can be made: each needs a pair of values that"):
        unusual_rows(people, 3, columns=("age", "town"), rng=np.random.default_rng(1))
    with pytest.raises(InputError, match="number must be a whole number of at least 1"):
        unusual_rows(people, 0, columns=("age", "town"), rng=np.random.default_rng(1))
    with pytest.raises(InputError, match="column 'wage' is not in the people"):
        unusual_rows(people, 1, columns=("age", "wage"), rng=np.random.default_rng(1))
    tables = people, people, people
    with pytest.raises(InputError, match="2 canaries have 1 pairs of columns"):
        scored(tables, pairs=[("age", "town")])
    with pytest.raises(InputError, match=r"the number of members to learn from must be .* at least 100, but is 2"):
        scored(tables, teachers=(people, people))
    with pytest.raises(InputError, match="pairs and teachers are given"):
        scored(tables, teachers=(people, people), pairs=[("age", "town")] * 2)
