"""Who the adversary is: scenarios as they are written, random splits, and the climb to the worst one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.ask.audit.findings import Scenario
from unveil.ask.audit.scenarios import (
    Split,
    random_splits,
    read_link,
    read_scenario,
    read_scenarios,
    settle,
    worst_split,
)
from unveil.errors import InputError

COLUMNS = ("age", "sex", "region", "income", "name")
LEFT_OUT = {"name": "an identifier"}
KNOWN = COLUMNS[:4]


def settled(scenario: Scenario) -> Scenario:
    return settle(scenario, KNOWN, columns=COLUMNS, left_out=LEFT_OUT)


def test_a_named_scenario_links_its_columns_to_all_other_known_ones() -> None:
    found = settled(read_scenario("neighbour= age ,sex"))
    assert (found.name, found.first, found.second) == ("neighbour", ("age", "sex"), ("region", "income"))
    assert found.reason
    assert found.origin == "told"


def test_a_link_names_both_groups_and_ignores_the_rest() -> None:
    found = settled(read_link("age,sex:income"))
    assert (found.first, found.second) == (("age", "sex"), ("income",))


def test_names_with_commas_stand_in_quotes() -> None:
    assert read_scenario('x="a,b",c').first == ("a,b", "c")
    assert read_link('"a,b":c').first == ("a,b",)


def test_scenarios_come_as_texts_mappings_or_themselves() -> None:
    own = Scenario(name="mine", first=("age",), reason="because")
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
        (Scenario(name="n", first=("regoin",)), "Did you mean 'region'"),
        (Scenario(name="n", first=("age",), second=("zzz",)), "'zzz'"),
        (Scenario(name="n", first=("age", "sex"), second=("sex", "income")), "'sex' is in both groups"),
        (Scenario(name="n", first=("age", "age")), "'age' stands twice"),
        (Scenario(name="n", first=KNOWN), "knows all columns"),
        (Scenario(name="n", first=("name",)), "an identifier"),
    ],
)
def test_a_scenario_that_cannot_be_is_refused(scenario: Scenario, naming: str) -> None:
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
    assert len(splits) == min(20, 2 ** max(number - 1, 0) - 1)
    assert len({frozenset(map(frozenset, split)) for split in splits}) == len(splits)
    for first, second in splits:
        assert first
        assert second
        assert sorted(first + second) == sorted(columns)
    assert splits == random_splits(columns, rng=np.random.default_rng(seed))


def one_column_elsewhere(split: Split, columns: str) -> list[Split]:
    """Return every split in which exactly one column stands elsewhere, by going through all that there are."""
    homes = product((0, 1, 2), repeat=len(columns))
    every = [
        tuple(tuple(name for name, home in zip(columns, place, strict=True) if home == side) for side in (0, 1))
        for place in homes
    ]
    old = [0 if name in split[0] else 1 if name in split[1] else 2 for name in columns]

    def moved(other: tuple[tuple[str, ...], ...]) -> int:
        new = [0 if name in other[0] else 1 if name in other[1] else 2 for name in columns]
        return sum(one != two for one, two in zip(old, new, strict=True))

    return [(other[0], other[1]) for other in every if all(other) and moved(other) == 1]


@given(st.integers(0, 2**32 - 1))
def test_the_climb_ends_where_no_single_column_helps(seed: int) -> None:
    def score(split: Split) -> float:
        # Any number that does not depend on which group is called first.
        return float(np.random.default_rng([seed, *(hash_of(group) for group in sorted(split))]).random())

    def hash_of(group: tuple[str, ...]) -> int:
        return sum(1 << "abcde".index(name) for name in group)

    start = {split: score(split) for split in random_splits("abcde", most=2, rng=np.random.default_rng(seed))}
    found = worst_split("abcde", start, score, most=10_000, rng=np.random.default_rng(seed))
    assert found.score == score(found.split) >= max(start.values())
    assert max(score(other) for other in one_column_elsewhere(found.split, "abcde")) <= found.score


def test_a_column_that_only_disturbs_is_left_out() -> None:
    def score(split: Split) -> float:
        return 1.0 - ("noise" in split[0] + split[1])

    columns = ("a", "b", "noise")
    start: dict[Split, float] = {(("a", "noise"), ("b",)): 0.0}
    found = worst_split(columns, start, score, rng=np.random.default_rng(1))
    assert found.score == 1.0
    assert set(found.split[0] + found.split[1]) == {"a", "b"}


def test_the_climb_keeps_to_its_budget() -> None:
    calls = []

    def score(split: Split) -> float:
        calls.append(split)
        return float(len(calls))

    columns = tuple(f"c{at}" for at in range(30))
    start = dict.fromkeys(random_splits(columns, rng=np.random.default_rng(0)), 0.0)
    found = worst_split(columns, start, score, most=15, rng=np.random.default_rng(0))
    assert found.tried == len(calls) == 15
    assert found.score == 15.0
