"""Linkability: the page's worked example, the definition on small tables, and what must not change a number."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import linkability as oracle
from unveil.attacks import Linkability
from unveil.data.table import Table
from unveil.data.table.release import Knowledge, Release
from unveil.errors import InputError
from unveil.guesses import Trials

PEOPLE = {"age": [25, 30, 28], "gender": ["Male", "Female", "Male"], "income": [50_000, 60_000, 55_000]}
RELEASED = {"age": [24, 31, 29], "gender": ["Male", "Female", "Male"], "income": [52_000, 62_000, 53_000]}


def table(columns: dict[str, Any], name: str = "table", **settings: Any) -> Table:
    return Table.from_frame(pl.DataFrame(columns), name=name, **settings)


def run(
    people: dict[str, Any],
    released: dict[str, Any],
    first: tuple[str, ...],
    second: tuple[str, ...],
    *,
    control: dict[str, Any] | None = None,
    seed: int = 1,
    **settings: Any,
) -> Trials:
    attack = Linkability(first=first, second=second, **settings)
    knowledge = Knowledge(table(people, "original"), None if control is None else table(control, "control"))
    return attack.run(released=table(released, "released"), knowledge=knowledge, rng=np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("first", "low", "expected", "high"), [(("age",), 2.0, 2.5, 3.0), (("age", "gender"), 3.0, 3.0, 3.0)]
)
def test_the_three_people_of_the_page(first: tuple[str, ...], low: float, expected: float, high: float) -> None:
    # Age 30 is as near to 31 as to 29, and only gender tells which.
    trials = run(PEOPLE, RELEASED, first, ("income",), neighbours=1, targets=None)
    attack = trials.attack
    assert (attack.tries, attack.low, attack.expected, attack.high) == (3, low, expected, high)
    assert trials.naive.expected == pytest.approx(1.0)
    assert trials.control is None
    assert trials.notes == ()


NUMBERS = st.integers(0, 6)
CODES = st.sampled_from("xyz")


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], int]:
    """Draw an original and a released table with two numbers and two categories, and a number of neighbours."""
    both = []
    for rows in (draw(st.integers(1, 4)), draw(st.integers(1, 6))):
        kinds = {"a": NUMBERS, "b": NUMBERS, "c": CODES, "d": CODES}
        both.append({name: draw(st.lists(kind, min_size=rows, max_size=rows)) for name, kind in kinds.items()})
    return both[0], both[1], draw(st.integers(1, len(both[1]["a"])))


def distances(people: dict[str, Any], released: dict[str, Any], number: str, code: str, person: int) -> list[Fraction]:
    values = people[number] + released[number]
    span = max(values) - min(values)
    step = Fraction(1, span) if span else Fraction(0)
    target: oracle.Row = ((people[number][person],), (ord(people[code][person]),))
    rows = zip(released[number], released[code], strict=True)
    return [oracle.distance(((x,), (ord(y),)), target, [step], 1) for x, y in rows]


@given(tables())
def test_links_are_those_of_the_definition(drawn: tuple[dict[str, Any], dict[str, Any], int]) -> None:
    people, released, k = drawn
    exact = [
        oracle.chance(distances(people, released, "a", "c", person), distances(people, released, "b", "d", person), k)
        for person in range(len(people["a"]))
    ]
    kinds = {"a": "number", "b": "number", "c": "category", "d": "category"}
    trials = Linkability(first=("a", "c"), second=("d", "b"), neighbours=k, targets=None).run(
        released=table(released, kinds=kinds),
        knowledge=Knowledge(table(people, kinds=kinds)),
        rng=np.random.default_rng(0),
    )
    assert trials.attack.expected == pytest.approx(float(sum(exact)), abs=1e-12)
    assert (trials.attack.low, trials.attack.high) == (sum(x == 1 for x in exact), sum(x > 0 for x in exact))
    naive = oracle.naive_chance(len(released["a"]), k)
    assert trials.naive.chances is not None
    np.testing.assert_allclose(trials.naive.chances, [float(naive)] * len(exact), rtol=0, atol=1e-12)


def many(rows: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(18, 90, rows).tolist(),
        "weight": [None if rng.random() < 0.1 else float(x) for x in rng.normal(70, 12, rows).round(1)],
        "town": [("Ulm", "Bonn", "Jena", None)[place] for place in rng.integers(0, 4, rows)],
        "job": rng.choice(["baker", "nurse", "clerk"], rows).tolist(),
        "constant": [1] * rows,
        "same": ["x"] * rows,
    }


def in_order(columns: dict[str, Any], order: Any) -> dict[str, Any]:
    return {name: [values[place] for place in order] for name, values in columns.items()}


FIRST, SECOND = ("age", "town"), ("weight", "job")


@pytest.mark.parametrize("targets", [20, None])
def test_shuffling_the_rows_of_any_table_changes_no_number(targets: int | None) -> None:
    people, released, control = many(60, 1), many(50, 2), many(40, 3)
    rng = np.random.default_rng(9)
    plain = run(people, released, FIRST, SECOND, control=control, targets=targets)
    mixed = run(
        in_order(people, rng.permutation(60)),
        in_order(released, rng.permutation(50)),
        FIRST,
        SECOND,
        control=in_order(control, rng.permutation(40)),
        targets=targets,
    )
    for name in ("attack", "naive", "control"):
        one, other = getattr(plain, name), getattr(mixed, name)
        assert one.tries == (targets or {"control": 40}.get(name, 60))
        assert (one.tries, one.expected, one.low, one.high) == (other.tries, other.expected, other.low, other.high)
        np.testing.assert_array_equal(one.chances, other.chances)
    assert 0 < plain.attack.expected < plain.attack.tries


def test_another_seed_draws_other_targets_and_the_same_seed_the_same() -> None:
    people, released = many(400, 1), many(50, 2)
    drawn = [run(people, released, FIRST, SECOND, targets=20, seed=seed).attack.chances for seed in (1, 1, 2)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert drawn[0] is not None
    assert drawn[2] is not None
    assert drawn[0].tolist() != drawn[2].tolist()


@pytest.mark.parametrize(("first", "second"), [(("constant",), ("same",)), (("same",), ("constant",))])
def test_columns_that_say_nothing_link_as_often_as_blind_guessing(
    first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    trials = run(many(300, 1), many(300, 2), first, second, control=many(100, 3), targets=None)
    assert trials.attack.expected == trials.naive.expected
    assert trials.attack.expected / 300 == pytest.approx(float(oracle.naive_chance(300, 10)), abs=1e-12)
    assert trials.control is not None
    assert trials.control.expected / 100 == pytest.approx(trials.attack.expected / 300, abs=1e-12)
    assert (trials.attack.low, trials.attack.high) == (0, 300)


def test_names_and_pseudonyms_that_never_match_say_nothing_either() -> None:
    names = {"name": [f"person {i}" for i in range(100)], "job": ["x"] * 100}
    pseudonyms = {"name": [f"code {i}" for i in range(90)], "job": ["x"] * 90}
    trials = run(names, pseudonyms, ("name",), ("job",), targets=None)
    assert trials.attack.expected == trials.naive.expected


def test_a_release_of_the_original_itself_links_everybody_who_is_unlike_the_others() -> None:
    people = {"age": list(range(20, 40)), "income": list(range(100, 2100, 100))}
    trials = run(people, people, ("age",), ("income",), neighbours=1, targets=None)
    assert (trials.attack.low, trials.attack.expected) == (20, 20)


def test_one_row_is_always_shared() -> None:
    trials = run({"a": [1], "b": [2]}, {"a": [7], "b": [None]}, ("a",), ("b",), neighbours=1)
    assert trials.attack.expected == trials.naive.expected == 1.0
    assert trials.attack.low == trials.naive.low == 1.0


def test_a_kind_told_for_one_table_counts_for_all() -> None:
    people, released = {"code": [1, 2], "b": [1, 2]}, {"code": [2, 9], "b": [1, 2]}
    attack = Linkability(first=("code",), second=("b",), neighbours=1, targets=None)
    told = Knowledge(table(people, "original", kinds={"code": "category"}))
    trials = attack.run(released=table(released, "released"), knowledge=told, rng=np.random.default_rng(1))
    # As a category, code 1 is as far from 2 as from 9; as a number it would be nearer to 2 and link both people.
    assert (trials.attack.low, trials.attack.expected, trials.attack.high) == (0, 0.5, 1)


def test_fewer_rows_than_targets_are_all_attacked_with_a_note() -> None:
    trials = run(PEOPLE, RELEASED, ("age",), ("income",), neighbours=1, control=RELEASED, targets=500)
    assert trials.attack.tries == 3
    assert trials.notes == (
        "all 3 targets of the original were attacked, fewer than the 500 requested",
        "all 3 targets of the control were attacked, fewer than the 500 requested",
    )


@pytest.mark.parametrize(
    ("neighbours", "what"),
    [
        (1, "its nearest released row by age, gender and by income is the same"),
        (2, "its 2 nearest released rows by age, gender and by income have a row in common"),
    ],
)
def test_what_counts_as_a_link_is_said_in_words(neighbours: int, what: str) -> None:
    assert run(PEOPLE, RELEASED, ("age", "gender"), ("income",), neighbours=neighbours).what == what


def test_more_neighbours_than_released_rows_are_refused() -> None:
    with pytest.raises(InputError, match="neighbours is 4, but the released has 3 rows"):
        run(PEOPLE, RELEASED, ("age",), ("income",), neighbours=4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"first": ("age", "income")}, "'income' is named more often"),
        ({"first": ("age", "age")}, "'age' is named more often"),
        ({"first": ()}, "first must name at least one column"),
        ({"second": []}, "second must name at least one column"),
        ({"first": "age"}, "first must be a sequence of column names"),
        ({"first": (3,)}, "first must be a sequence of column names"),
        ({"neighbours": 0}, "neighbours must be a whole number of at least 1, but is 0"),
        ({"neighbours": 2.5}, "neighbours must be a whole number of at least 1, but is 2.5"),
        ({"targets": 0}, "targets must be a whole number of at least 1, but is 0"),
        ({"targets": True}, "targets must be a whole number"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Linkability(**{"first": ("age",), "second": ("income",), **settings})


def test_an_unknown_column_is_named_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match=r"column 'incom' is not in the original.*'income'"):
        run(PEOPLE, RELEASED, ("age",), ("incom",), neighbours=1)


def test_lists_of_names_are_as_good_as_tuples() -> None:
    attack = Linkability(first=["age"], second=["income"])  # type: ignore[arg-type]
    assert (attack.first, attack.second) == (("age",), ("income",))
    assert attack == Linkability(first=("age",), second=("income",))


@pytest.mark.parametrize("is_coarse", [False, True])
def test_several_numbers_of_neighbors_give_what_each_gives_alone(is_coarse: bool) -> None:
    rng = np.random.default_rng(8)
    ages, codes = rng.integers(20, 60, 90), rng.choice(list("abc"), 90)
    released = [f"{age // 10 * 10}-{age // 10 * 10 + 9}" for age in ages] if is_coarse else list(ages)
    income = rng.integers(0, 30, 90)
    people = Table.from_frame(pl.DataFrame({"age": ages, "code": codes, "income": income}))
    masked = Table.from_frame(pl.DataFrame({"age": released, "code": codes, "income": income}), name="released")
    release = Release(people, masked, kind="masked")
    assert bool(release.released.coarse(["age"])) == is_coarse
    attack = Linkability(first=("age", "code"), second=("income",), targets=None)
    given: dict[str, Any] = {"released": release.released, "knowledge": Knowledge(release.original), "rng": rng}
    together = attack.run_at((1, 3, 10), **given)
    for k, trials in zip((1, 3, 10), together, strict=True):
        alone = replace(attack, neighbours=k).run(**given)
        assert trials.what == alone.what
        assert trials.naive.expected == alone.naive.expected
        np.testing.assert_array_equal(trials.attack.chances, alone.attack.chances)
