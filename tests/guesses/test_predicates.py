"""Predicates: counted as the definition says, for every kind of column, any name and any value, and never shown."""

from dataclasses import FrozenInstanceError
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import predicates as oracle
from unveil._kernels.table import predicates as kernels
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guesses.predicates import RELATIONS, CodedTable, Condition, Predicates

LEVELS = ["low", "middle", "high"]
KINDS: dict[str, Any] = {
    "2 $ums\n'x' ^": "number",
    'the "real" one': "number",
    "grün": "category",
    "note": "text",
    "yes": "boolean",
    "born": "date",
    "level": LEVELS,
    "rank": "ordered",
    "empty": "category",
}
DAYS = [datetime(1999, 12, 31), datetime(2000, 1, 1), datetime(2000, 1, 1, 0, 0, 0, 1)]
CELLS: dict[str, list[Any]] = {
    "2 $ums\n'x' ^": [-2, 0, 1, 7],
    'the "real" one': [0.1, 0.30000000000000004, -5.5, 2.0],
    "grün": ["it's", 'say "no"', "$1\n", "ß"],
    "note": ["a b", "`", "col('x')", "null"],
    "yes": [True, False],
    "born": DAYS,
    "level": LEVELS,
    "rank": [1, 2, 5],
    "empty": [],
}
WITH_ORDER = [name for name, kind in KINDS.items() if kind in ("number", "date", "ordered", LEVELS)]


def table(columns: dict[str, list[Any]], name: str = "table", kinds: Any = None) -> Table:
    kinds = {column: kind for column, kind in KINDS.items() if column in columns} if kinds is None else kinds
    types: dict[str, Any] = {"empty": pl.String, "born": pl.Datetime("us")}
    series = [pl.Series(column, cells, dtype=types.get(column), strict=False) for column, cells in columns.items()]
    return Table.from_frame(pl.DataFrame(series), name=name, kinds=kinds)


@st.composite
def rows_and_predicates(draw: st.DrawFn) -> tuple[dict[str, list[Any]], list[list[oracle.Condition]]]:
    """Draw a table with a column of every kind, some cells missing, and predicates on it."""
    size = draw(st.integers(1, 7))
    columns = {
        name: draw(st.lists(st.sampled_from([*cells, None]), min_size=size, max_size=size))
        for name, cells in CELLS.items()
    }
    predicates = []
    for _ in range(draw(st.integers(1, 6))):
        predicate: list[oracle.Condition] = []
        for name in draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=4)):
            without = ("=", "!=", "in", *RELATIONS[-2:])
            relations = [each for each in RELATIONS if name in WITH_ORDER or each in without]
            relation = draw(st.sampled_from(relations))
            value = st.sampled_from(CELLS[name] or ["nobody has this"])
            told = st.lists(value, max_size=3).map(tuple) if relation == "in" else value
            predicate.append((name, relation, None if "missing" in relation else draw(told)))
        predicates.append(predicate)
    return columns, predicates


def guess(predicates: list[list[oracle.Condition]]) -> Predicates:
    return Predicates(tuple(tuple(Condition(*one) for one in predicate) for predicate in predicates))  # type: ignore[arg-type]


@settings(deadline=None, max_examples=22)
@given(rows_and_predicates())
def test_counts_are_those_of_the_definition(drawn: tuple[dict[str, list[Any]], list[list[oracle.Condition]]]) -> None:
    columns, predicates = drawn
    expected = [oracle.rows(columns, predicate, {"level": LEVELS}) for predicate in predicates]
    people, found = table(columns), guess(predicates)
    coded = CodedTable(people, found.columns)
    for counts, single in (found.matches(people), kernels._by_search(coded.index, coded.find(found), None)):
        assert counts.dtype == np.int64
        assert counts.tolist() == [len(rows) for rows in expected]
        assert single.tolist() == [rows[0] if len(rows) == 1 else -1 for rows in expected]
    for starts, rows in (found.fits(people), kernels._listed(coded.index, coded.find(found))):
        assert [part.tolist() for part in np.split(rows, starts[1:-1])] == expected


@given(
    st.lists(st.none() | st.integers(-5, 9) | st.sampled_from([-(2**62), 2**63 - 1]), min_size=1, max_size=30),
    st.sampled_from([pl.Int64, pl.Int8, pl.UInt64]),
)
def test_whole_numbers_have_codes_in_their_order(cells: list[int | None], dtype: Any) -> None:
    known = [cell for cell in cells if cell is not None and (dtype != pl.UInt64 or cell >= 0)]
    known = [cell for cell in known if dtype != pl.Int8 or abs(cell) < 100]
    kept = [cell if cell in known else None for cell in cells]
    coded = CodedTable(
        Table.from_frame(pl.DataFrame({"n": pl.Series(kept, dtype=dtype)}), kinds={"n": "number"}), ["n"]
    )
    values = sorted(set(known))
    assert coded.values == [values]
    assert coded.index.codes[0].tolist() == [0 if cell is None else 1 + values.index(cell) for cell in kept]


@pytest.mark.parametrize("rows", [500, 20_000])
def test_rows_by_code_are_those_of_a_stable_sort(rows: int) -> None:
    codes = np.random.default_rng(rows).integers(0, 90, (2, rows)).astype(np.int32)
    found = kernels.index(codes, [89, 95])
    np.testing.assert_array_equal(found.by_code, np.argsort(codes, axis=1, kind="stable"))
    assert found.rows_with(1).tolist() == np.bincount(codes[1], minlength=96).tolist()


def test_counting_may_stop_early() -> None:
    people = table({"rank": [1, 2, 2, 5]})
    coded = CodedTable(people, ["rank"])
    conditions = coded.find(
        ((Condition("rank", ">=", 1),), (Condition("rank", ">=", 5),), (Condition("rank", "<", 1),))
    )
    for count in (kernels._by_matrix(coded.index.codes, conditions, 2), kernels._by_search(coded.index, conditions, 2)):
        assert [part.tolist() for part in count] == [[2, 1, 0], [-1, 3, -1]]


def test_many_rows_are_counted_by_compiled_code_alike() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "number": rng.integers(0, 70_000, 40_000),  # more values than a short code has room for
            "word": rng.choice(list("abcdefg"), 40_000),
            "real": [None if lot < 0.1 else lot for lot in rng.random(40_000)],
        }
    )
    people = Table.from_frame(frame)
    expected, predicates = [], []
    for number, word, real in zip(
        rng.integers(0, 70_000, 40).tolist(), rng.choice(list("abcdefg"), 40).tolist(), rng.random(40), strict=True
    ):
        column = pl.col("number"), pl.col("word"), pl.col("real")
        expected += [
            frame.filter(column[0] >= number, column[1] == word, column[2].is_null()).height,
            frame.filter(column[0] < number, column[1] != word, column[2] <= real).height,
            frame.filter(column[1] != word, column[0] != number).height,
        ]
        predicates += [
            [("number", ">=", number), ("word", "=", word), ("real", "is missing", None)],
            [("number", "<", number), ("word", "!=", word), ("real", "<=", float(real))],
            [("word", "!=", word), ("number", "!=", number)],
        ]
    assert guess(predicates).counts(people).tolist() == expected
    assert len(set(expected)) > 50


def test_numbers_are_compared_exactly() -> None:
    large = 2**53
    people = Table.from_frame(pl.DataFrame({"a": [large, large + 1], "b": [0.1, 0.2]}))
    nearly = float(np.nextafter(0.1, 1))
    found = guess([[("a", "<=", float(large))], [("a", ">", large)], [("b", "=", nearly)], [("b", "<", nearly)]])
    assert found.counts(people).tolist() == [1, 1, 0, 1]
    huge = Table.from_frame(pl.DataFrame({"a": pl.Series([2**70, 2**70 + 1], dtype=pl.Int128)}), kinds={"a": "number"})
    assert guess([[("a", ">=", 2**70 + 1)], [("a", "=", 2**70)], [("a", "<", 0)]]).counts(huge).tolist() == [1, 1, 0]
    zeros = Table.from_frame(pl.DataFrame({"a": [0.0, -0.0, 1.5]}))
    assert guess([[("a", "=", 0)], [("a", "<=", -0.0)], [("a", ">", 0.0)]]).counts(zeros).tolist() == [2, 2, 1]


def test_dates_in_any_form_and_zone() -> None:
    people = table({"born": [*DAYS, None]})
    east = datetime(2000, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    forms = (date(2000, 1, 1), datetime(2000, 1, 1, tzinfo=UTC), east, np.datetime64("2000-01-01", "ns"))
    for value in forms:
        assert Condition("born", "=", value) == Condition("born", "=", DAYS[1])  # type: ignore[arg-type]
        assert guess([[("born", "=", value)], [("born", ">", value)]]).counts(people).tolist() == [1, 1]
    far = Table.from_frame(pl.DataFrame({"day": pl.Series([0, 2**60]).cast(pl.Datetime("us"))}))  # year 38504
    coded = CodedTable(far, ["day"])
    assert Predicates(((coded.condition(0, ">=", 2),),)).counts(far).tolist() == [1]


def test_numbers_of_numpy_are_plain_numbers() -> None:
    for value, same in ((np.int8(3), 3), (np.float32(0.5), 0.5), (np.bool_(True), True), (np.str_("x"), "x")):
        condition = Condition("a", "=", value)  # type: ignore[arg-type]
        assert condition == Condition("a", "=", same)
        assert type(condition.value) is type(same)


def test_a_column_without_any_value_fits_only_what_is_missing() -> None:
    people = Table.from_frame(pl.DataFrame({"a": pl.Series([None, None], dtype=pl.Float64), "b": [1, 2]}))
    found = guess([[("a", "is missing", None)], [("a", "=", 3)], [("a", "!=", 3)], [("a", "is not missing", None)]])
    assert found.counts(people).tolist() == [2, 0, 0, 0]


def test_what_is_shown_holds_no_value_unless_asked_for() -> None:
    found = guess(
        [[("town", "=", "O'Brien"), ("age", ">=", 97)], [("a b", "is missing", None)], [("born", "<=", DAYS[1])]]
    )
    assert found.describe() == (
        "exactly one record has 'town' = … and 'age' >= …",
        "exactly one record has 'a b' is missing",
        "exactly one record has 'born' <= …",
    )
    assert found.describe(show_values=True)[0] == "exactly one record has 'town' = \"O'Brien\" and 'age' >= 97"
    assert "2000-01-01" in found.describe(show_values=True)[2]
    for text in (repr(found), str(found), *found.describe()):
        assert not any(value in text for value in ("Brien", "97", "2000"))
    assert found.columns == ("a b", "age", "born", "town")
    assert len(found) == len(list(found)) == 3


def test_they_are_frozen_and_equal_by_content() -> None:
    one, other = (guess([[("a", "=", 1)]]) for _ in range(2))
    assert one == other
    assert len({one, other}) == 1
    with pytest.raises(FrozenInstanceError):
        one.each = ()  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        one.each[0][0].value = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("column", "relation", "value", "says"),
    [
        (7, "=", 1, "name its column by a text"),
        ("a", "==", 1, "Unknown relation in a condition on column 'a'"),
        ("a", "in", "word", "only a condition 'in' takes a tuple, here on column 'a'"),
        ("a", "=", ("word",), "only a condition 'in' takes a tuple, here on column 'a'"),
        ("a", "=", None, "must have a value"),
        ("a", "is missing", 3, "must have no value"),
        ("a", "=", float("nan"), "Pass a finite number, text, truth value or date, or use the relation 'is"),
        ("a", "=", np.datetime64("NaT"), "Pass a finite number, text, truth value or date, or use the relation 'is"),
        ("a", ">=", float("inf"), "Pass a finite number, text, truth value or date, or use the relation 'is"),
        ("a", "=", [31337], "the value of a condition on column 'a' is of type list"),
    ],
)
def test_conditions_that_make_no_sense(column: Any, relation: Any, value: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        Condition(column, relation, value)


@pytest.mark.parametrize("each", [(), ((),), (("a", "=", 1),)])
def test_predicates_need_conditions(each: Any) -> None:
    with pytest.raises(InputError, match="a predicate is empty, or none is given"):
        Predicates(each)


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        (("ages", "=", 31337), "Did you mean 'age'"),
        (("town", ">=", "31337"), "a condition with >= needs a column of numbers, dates or ordered levels"),
        (("yes", "<", True), "a condition with < needs a column of numbers, dates or ordered levels, but"),
        (("age", "=", "31337"), "a value of type str"),
        (("age", "=", True), "a value of type bool"),
        (("yes", "=", 1), "a value of type int"),
        (("town", "=", 31337), "a value of type int"),
        (("born", ">=", 31337), "a value of type int"),
        (("level", ">=", "31337"), "a condition with >= on the ordered column 'level' names a level that the"),
    ],
)
def test_conditions_that_do_not_fit_the_table(condition: oracle.Condition, says: str) -> None:
    columns: dict[str, list[Any]] = {"age": [31], "town": ["Ulm"], "yes": [True], "born": DAYS[:1], "level": ["low"]}
    kinds = {"level": LEVELS, "town": "category"}
    with pytest.raises(InputError, match=says) as error:
        guess([[condition]]).counts(table(columns, "people", kinds))
    assert "31337" not in str(error.value)


def test_a_level_that_the_table_lacks_is_nobodys() -> None:
    people = table({"level": ["low", "high", None]})
    assert guess([[("level", "=", "unheard of")], [("level", "!=", "unheard of")]]).counts(people).tolist() == [0, 2]


@pytest.mark.parametrize(("size", "drawn"), [(size, drawn) for size in range(1, 8) for drawn in range(1, size + 1)])
def test_the_chance_that_exactly_one_is_drawn(size: int, drawn: int) -> None:
    found = kernels.chance_of_one(np.arange(size + 1), size, drawn)
    for count, chance in enumerate(found):
        exact = oracle.chance_of_one(count, size, drawn)
        assert chance == pytest.approx(float(exact), rel=1e-13)
        assert (chance == 0) == (exact == 0)
        assert (chance == 1) == (exact == 1)


def test_the_chance_is_right_for_many_rows_too() -> None:
    from math import exp, lgamma, log

    def log_ways(of: int, some: int) -> float:
        return lgamma(of + 1) - lgamma(some + 1) - lgamma(of - some + 1)

    size, drawn = 39_032, 9_758
    counts = np.array([1, 2, 3, 10, 50, 1000])
    for count, chance in zip(counts.tolist(), kernels.chance_of_one(counts, size, drawn), strict=True):
        expected = exp(log(count) + log_ways(size - count, drawn - 1) - log_ways(size, drawn))
        assert chance == pytest.approx(expected, rel=1e-6)
    assert kernels.chance_of_one(np.array([1]), size, drawn)[0] == drawn / size
    assert kernels.chance_of_one(np.array([1, 2]), size, size).tolist() == [1.0, 0.0]


def test_every_relation_on_every_kind_is_counted_or_refused() -> None:
    people = table({name: [cells[0] if cells else None] * 2 for name, cells in CELLS.items()})
    for (name, cells), relation in product(CELLS.items(), RELATIONS[:6]):
        one = Predicates(((Condition(name, relation, cells[0] if cells else "x"),),))
        if name in WITH_ORDER or relation in ("=", "!=") or not cells:
            assert one.counts(people).tolist() == [2 if cells and relation in ("=", ">=", "<=") else 0]
        else:
            with pytest.raises(InputError, match="needs a column of numbers"):
                one.counts(people)
