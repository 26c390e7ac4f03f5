"""Who the adversary is: scenarios as they are written, and random splits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.errors import InputError
from unveil.questions.audit.findings import AttackScenario
from unveil.questions.audit.scenarios import (
    random_splits,
    read_link,
    read_scenario,
    read_scenarios,
    settle,
)

COLUMNS = ("age", "sex", "region", "income", "name")
LEFT_OUT = {"name": "an identifier"}
KNOWN = COLUMNS[:4]


def settled(scenario: AttackScenario) -> AttackScenario:
    return settle(scenario, KNOWN, columns=COLUMNS, left_out=LEFT_OUT)


def test_a_named_scenario_links_its_columns_to_all_other_known_ones() -> None:
    found = settled(read_scenario("neighbour= age ,sex"))
    assert (found.name, found.first, found.second) == ("neighbour", ("age", "sex"), ("region", "income"))
    assert found.reason
    assert found.origin == "given"


def test_a_link_names_both_groups_and_ignores_the_rest() -> None:
    found = settled(read_link("age,sex:income"))
    assert (found.first, found.second) == (("age", "sex"), ("income",))


def test_names_with_commas_stand_in_quotes() -> None:
    assert read_scenario('x="a,b",c').first == ("a,b", "c")
    assert read_link('"a,b":c').first == ("a,b",)


def test_scenarios_come_as_texts_mappings_or_themselves() -> None:
    own = AttackScenario(name="mine", first=("age",), reason="because")
    assert [each.name for each in read_scenarios(["n=age", "age:sex", own])] == ["n", "age | sex", "mine"]
    assert read_scenarios([own]) == (own,)
    mapped = read_scenarios({"n": ["age", "sex"], "m": (["age"], ["sex"]), "o": "age,sex"})
    assert [(each.first, each.second) for each in mapped] == [
        (("age", "sex"), ()),
        (("age",), ("sex",)),
        (("age", "sex"), ()),
    ]
    assert read_scenarios("n=age")[0].first == ("age",)


@pytest.mark.parametrize(
    ("text", "read", "naming"),
    [
        ("age,sex", read_scenario, "NAME=COLUMN"),
        ("=age", read_scenario, "NAME=COLUMN"),
        ("n=", read_scenario, "NAME=COLUMN"),
        ("n= , ", read_scenario, "NAME=COLUMN"),
        ("age,sex", read_link, "COLUMN:COLUMN"),
        ("age:", read_link, "COLUMN:COLUMN"),
        (":age", read_link, "COLUMN:COLUMN"),
    ],
)
def test_a_text_that_is_no_scenario_is_refused(text: str, read: object, naming: str) -> None:
    with pytest.raises(InputError, match=naming):
        read(text)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("scenario", "naming"),
    [
        (AttackScenario(name="n", first=("regoin",)), "Did you mean 'region'"),
        (AttackScenario(name="n", first=("age",), second=("zzz",)), "'zzz'"),
        (AttackScenario(name="n", first=("age", "sex"), second=("sex", "income")), "'sex' is in both groups"),
        (AttackScenario(name="n", first=("age", "age")), "'age' is listed twice"),
        (AttackScenario(name="n", first=KNOWN), "has all columns"),
        (AttackScenario(name="n", first=("name",)), "an identifier"),
    ],
)
def test_a_scenario_that_cannot_be_is_refused(scenario: AttackScenario, naming: str) -> None:
    with pytest.raises(InputError, match=naming):
        settled(scenario)


def test_two_scenarios_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two are called 'n'"):
        read_scenarios(["n=age", "n=sex"])
    with pytest.raises(InputError, match="is a int"):
        read_scenarios([3])


@given(st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_random_splits_are_different_and_divide_all_columns(number: int, seed: int) -> None:
    columns = tuple(f"c{at}" for at in range(number))
    splits = random_splits(columns, rng=np.random.default_rng(seed))
    assert len(splits) == min(10, 2 ** max(number - 1, 0) - 1)
    assert len({frozenset(map(frozenset, split)) for split in splits}) == len(splits)
    for first, second in splits:
        assert first
        assert second
        assert sorted(first + second) == sorted(columns)
    assert splits == random_splits(columns, rng=np.random.default_rng(seed))


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_a_line_end_separates_names_as_a_comma_does(end: str) -> None:
    assert read_scenario(f"neighbour=age{end}sex").first == ("age", "sex")
    assert read_link(f"age{end}sex:income").first == ("age", "sex")
