"""Exact-match attribute disclosure: the definition, who matches, planted and absent leaks, bad input."""

from datetime import date
from fractions import Fraction
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.oracles import inference as oracle
from unveil._kernels import value_numbers as numbers
from unveil._kernels.neighbours.index import MISSING
from unveil._kernels.types import IntArray
from unveil.attacks.table import attribute_disclosure as kernels
from unveil.attacks.table.attribute_disclosure import AttributeDisclosure, ExactMatches, equal_rows
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses.trials import Attempts
from unveil.metrics import excess_over_control, risk

RNG = np.random.default_rng


def table(columns: dict[str, Any], name: str = "table", **told: Any) -> Table:
    return Table.from_frame(pl.DataFrame(columns, strict=False), name=name, **told)


def look_up(
    people: dict[str, Any],
    released: dict[str, Any],
    secret: str,
    *known: str,
    control: dict[str, Any] | None = None,
    kinds: dict[str, Any] | None = None,
    seed: int = 1,
    **setting: Any,
) -> ExactMatches:
    attack = AttributeDisclosure(secret=secret, known=known, **{"targets": None, **setting})
    outside = None if control is None else table(control, "control", kinds=kinds)
    knowledge = Knowledge(table(people, "original", kinds=kinds), outside)
    found = attack.details(released=table(released, "released", kinds=kinds), knowledge=knowledge, rng=RNG(seed))
    again = attack.run(released=table(released, "released", kinds=kinds), knowledge=knowledge, rng=RNG(seed))
    np.testing.assert_array_equal(found.trials.attack.chances, again.attack.chances)
    return found


def by_row(attempts: Attempts | None) -> list[float]:
    assert attempts is not None
    assert attempts.rows is not None
    assert attempts.chances is not None
    return [float(attempts.chances[place]) for place in np.argsort(attempts.rows)]


SECRETS = [-20, -19, 0, 19, 20, 21, 0.1, 0.105]
#: So many values that some people match rows whose secrets are all lower than what is right about others.
ROWS = st.tuples(
    st.none() | st.integers(0, 9),
    st.none() | st.sampled_from("xy"),
    st.none() | st.sampled_from([date(2024, 1, 1), date(2024, 1, 2)]),
    st.none() | st.sampled_from(SECRETS),
)


@settings(deadline=None, max_examples=24)
@given(st.lists(ROWS, max_size=5), st.lists(ROWS, max_size=12), st.permutations(SECRETS))
@example([(0, "x", None, 21)], [(5, "y", None, secret) for secret in (0, 19, 20, 21)], [-20, -19])
def test_chances_are_those_of_the_definition(people: list[Any], released: list[Any], two: list[Any]) -> None:
    people, released = ([*rows, (0, "x", None, two[0]), (1, None, None, two[1])] for rows in (people, released))
    kinds = {"a": "number", "b": "category", "c": "date", "s": "number"}
    columns = [dict(zip("abcs", map(list, zip(*rows, strict=True)), strict=True)) for rows in (people, released)]
    secrets, tolerance = [row[3] for row in released], Fraction(1, 20)
    attacked = [person for person in people if person[3] is not None]
    expected = [
        oracle.disclosed(person[:3], [row[:3] for row in released], secrets, person[3], "number", tolerance)
        for person in attacked
    ]
    blind = [oracle.share(secrets, person[3], "number", tolerance) for person in attacked]
    found = look_up(columns[0], columns[1], "s", "c", "a", "b", kinds=kinds)
    assert by_row(found.trials.attack) == [float(chance or 0) for chance in expected]
    assert by_row(found.matched) == [chance is not None for chance in expected]
    assert by_row(found.sure) == [chance == 1 for chance in expected]
    blindly = [float(chance) * (other is not None) for chance, other in zip(blind, expected, strict=True)]
    assert by_row(found.trials.naive) == pytest.approx(blindly)


PEOPLE = {"age": [20, 20, 30, 40, None], "ill": ["flu", "none", "flu", "flu", "none"]}
RELEASED = {"age": [20, 20, 20, 30, 50, None], "ill": ["flu", "flu", "none", "flu", "none", None]}


def test_a_small_case_worked_by_hand() -> None:
    control = {"age": [30, 30, 60], "ill": ["flu", "none", "flu"]}
    found = look_up(PEOPLE, RELEASED, "ill", "age", control=control)
    assert by_row(found.trials.attack) == pytest.approx([2 / 3, 1 / 3, 1, 0, 0])
    assert by_row(found.matched) == [1, 1, 1, 0, 1]  # a missing age equals a missing age
    assert by_row(found.sure) == [0, 0, 1, 0, 0]
    assert by_row(found.control_matched) == [1, 1, 0]
    assert by_row(found.control_sure) == [1, 0, 0]
    assert by_row(found.trials.naive) == pytest.approx([3 / 6, 2 / 6, 3 / 6, 0, 2 / 6])
    assert found.rate_among_matched == pytest.approx(2 / 4)
    assert found.control_rate_among_matched == pytest.approx(1 / 2)
    assert found.trials.notes == ("80.0% of the targets match a released row exactly",)
    assert found.trials.what == "a released row has the same age, and its ill is the true one"


def test_where_nobody_matches_nothing_is_attempted() -> None:
    found = look_up(PEOPLE, {**RELEASED, "age": list(range(60, 66))}, "ill", "age")
    assert (found.trials.attack.expected, found.trials.naive.expected, found.matched.expected) == (0, 0, 0)
    assert isnan(found.rate_among_matched)
    assert isnan(found.control_rate_among_matched)
    assert found.control_matched is None
    assert found.trials.control is None


def test_numbers_match_only_if_they_are_equal_however_near_they_are() -> None:
    people = {"size": [0.1, 0.2, 1e9], "who": [1, 2, 3], "ill": ["a", "b", "a"]}
    released = {"size": [0.1, 0.2 + 1e-16 * 2, 1e9], "who": [1.0, 2.0, 3.5], "ill": ["a", "b", "a"]}
    assert by_row(look_up(people, released, "ill", "size").matched) == [1, 0, 1]
    assert by_row(look_up(people, released, "ill", "who").matched) == [1, 1, 0]
    control = {"size": [7.0], "who": [1], "ill": ["a"]}
    same = {**people, "size": [5.0] * 3}
    assert by_row(look_up(same, same, "ill", "size", control=control).control_matched) == [0]


def many(rows: int, seed: int) -> dict[str, Any]:
    rng = RNG(seed)
    return {
        "age": rng.integers(18, 30, rows).tolist(),
        "town": [("Ulm", "Bonn", "Jena", None)[place] for place in rng.integers(0, 4, rows)],
        "ill": [("flu", "none", "none", None)[place] for place in rng.integers(0, 4, rows)],
        "pay": rng.integers(100, 9000, rows).tolist(),
    }


def test_a_release_of_the_original_discloses_and_the_control_gets_the_base_rate() -> None:
    people = many(200, 1) | {"zip": [str(number) for number in range(200)]}
    rates = risk(look_up(people, people, "pay", "age", "zip", control=many(200, 2) | {"zip": ["none"] * 200}).trials)
    assert (rates.attack_rate.value, rates.control_rate.value) == (1, 0)
    coarse = look_up(people, people, "ill", "age", "town", control=many(200, 2))
    found = risk(coarse.trials)
    assert found.excess_over_control.low > 0
    assert coarse.sure.expected > 5
    assert coarse.control_rate_among_matched == pytest.approx(found.naive_rate.value, abs=0.15)


@pytest.mark.unwatched
def test_where_there_is_nothing_the_excess_covers_0_about_as_often_as_it_says() -> None:
    covered = 0
    for seed in range(100):
        people, control, released = (many(60, 3 * seed + number) for number in range(3))
        excess = excess_over_control(look_up(people, released, "ill", "age", "town", control=control).trials)
        covered += excess.low <= 0 <= excess.high
    assert 90 <= covered <= 100


def test_shuffling_the_rows_of_any_table_changes_no_number() -> None:
    rng = RNG(4)
    tables = [many(60, 1), many(80, 2), many(50, 3)]
    mixed = [
        {name: [cells[place] for place in order] for name, cells in each.items()}
        for each in tables
        for order in (rng.permutation(len(each["age"])),)
    ]
    one, other = (
        look_up(each[0], each[1], "ill", "town", "age", control=each[2], targets=20) for each in (tables, mixed)
    )
    for name in ("attack", "naive", "control"):
        np.testing.assert_array_equal(getattr(one.trials, name).chances, getattr(other.trials, name).chances)
    np.testing.assert_array_equal(one.matched.chances, other.matched.chances)
    assert one.trials.attack.tries == 20
    assert 0 < one.matched.expected < 20


def test_people_without_a_secret_are_left_out_with_a_note() -> None:
    found = look_up(many(40, 1), many(40, 2), "ill", "age", control={**many(3, 3), "ill": [None] * 3}, targets=500)
    missing = many(40, 1)["ill"].count(None)
    assert found.trials.attack.tries == 40 - missing
    assert found.trials.control is None
    assert found.trials.notes[:3] == (
        f"{missing / 40:.1%} of the rows of the original lack 'ill' and are left out",
        f"all {40 - missing} targets of the original were attacked, fewer than the 500 requested",
        "100.0% of the rows of the control lack 'ill' and are left out",
    )


def test_names_and_values_of_any_kind_are_taken_as_they_are() -> None:
    names = ["a \"b' c", "2nd\ncolumn", "$pay", "ärger{}"]
    cells = [["x y", "q'\"", None], [True, None, False], ["$1", "\n", "ü"], [1, 2, None]]
    people = dict(zip(names, cells, strict=True))
    for secret in names:
        found = look_up(people, people, secret, *(name for name in names if name != secret))
        assert found.sure.expected == found.trials.attack.tries
    levels = {"grade": ["low", "mid", "high"], "ill": ["a", "b", "a"]}
    kinds = {"grade": ["low", "mid", "high"]}
    assert look_up(levels, levels, "ill", "grade", kinds=kinds).sure.expected == 3


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"known": ("ill",)}, "column 'ill' is both sensitive and a quasi-identifier"),
        ({"known": []}, "known must name at least one column"),
        ({"tolerance": 2}, "tolerance must lie between 0 and 1, 1 excluded"),
        ({"targets": 0}, "targets must be a whole number of at least 1"),
    ],
)
def test_settings_are_checked(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        AttributeDisclosure(**{"secret": "ill", "known": ("age",), **setting})


def test_a_constant_secret_is_refused() -> None:
    with pytest.raises(InputError, match="the sensitive attribute 'ill' needs two different values in the released"):
        look_up(PEOPLE, {**RELEASED, "ill": ["flu"] * 6}, "ill", "age")


#: Close together and far apart, so that both ways of looking up are taken.
VALUES = st.sampled_from([0, 1, 2, 5, -3, 2**40, 2**40 + 1, int(MISSING), int(MISSING) + 2])


class Column(NamedTuple):
    cells: IntArray

    def of(self, rows: IntArray | slice) -> IntArray:
        return self.cells[rows]


@given(st.integers(1, 4), st.data(), st.integers(1, 9))
def test_rows_are_in_the_group_of_those_who_are_equal(width: int, data: st.DataObject, block: int) -> None:
    line = st.tuples(*[VALUES] * width)
    people = data.draw(st.lists(line, min_size=1, max_size=8))
    rows = data.draw(st.lists(st.one_of(line, st.sampled_from(people)), max_size=12))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "BLOCK_ROWS", block)
        patch.setattr(numbers, "_CLOSE", data.draw(st.sampled_from([0, 4, 2**12])))
        columns = [Column(np.array([row[place] for row in rows], np.int64)) for place in range(width)]
        told = [np.array([person[place] for person in people]) for place in range(width)]
        found = equal_rows(told, columns, len(rows))
    ordered = sorted(set(people))
    assert found.groups == len(ordered)
    assert found.of_person.tolist() == [ordered.index(person) for person in people]
    assert found.of_row.tolist() == [ordered.index(row) if row in ordered else -1 for row in rows]
