"""Histories: items and periods by each pseudonym rule, and what is refused."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.data.histories import History, Lifetime
from unveil.data.table import Table
from unveil.errors import InputError


def visits(**changes: Any) -> Table:
    frame: dict[str, Any] = {
        "who": ["a", "a", "b", "b", "c", "c", "a", "b"],
        "day": [0.4, 1.5, 0.2, 8.5, 9.5, 1.1, 9.9, 15.0],
        "place": ["x", "y", "x", "z", "x", "y", "x", "x"],
        "wave": [1, 1, 1, 2, 2, 1, 2, 2],
        "card": ["1", "1", "2", "3", "4", "5", "6", "3"],
    }
    return Table.from_frame(frame | changes, name="visits", kinds={"card": "category"})


def history(table: Table | None = None, **settings: Any) -> History:
    settings = {"person": "who", "columns": ["place"], **settings}
    return History.from_table(visits() if table is None else table, **settings)


def items(found: History) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(found.pseudonym == each).tolist()) for each in range(found.released.items)}


def test_a_length_of_time_changes_all_pseudonyms_at_once() -> None:
    found = history(time="day", lifetime="7d", table=visits(day=[0.4, 1.5, 0.2, 8.5, 9.5, 1.1, 9.9, 13.0]))
    assert found.periods == ("0d", "7d")
    assert items(found) == {frozenset(each) for each in ({0, 1}, {2}, {5}, {3, 7}, {4}, {6})}
    assert found.released.period.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.item_person.tolist() == [0, 1, 2, 0, 1, 2]
    assert found.partners().tolist() == [0, 1, 2]
    assert found.sizes.sum() == 8
    assert found.separate


def test_a_period_column_makes_an_item_of_each_person_and_period() -> None:
    found = history(period="wave")
    assert found.periods == ("1", "2")
    assert items(found) == {frozenset(each) for each in ({0, 1}, {2}, {5}, {3, 7}, {4}, {6})}


def test_a_number_of_records_makes_items_in_order_of_time() -> None:
    found = history(time="day", lifetime="2 records")
    assert items(found) == {frozenset(each) for each in ({0, 1}, {6}, {2, 3}, {7}, {5, 4})}
    assert not found.separate
    alone = history(time="day", lifetime="none")
    assert items(alone) == {frozenset({each}) for each in range(8)}


def test_pseudonyms_of_the_data_are_items() -> None:
    found = history(pseudonym="card")
    assert items(found) == {frozenset(each) for each in ({0, 1}, {2}, {3, 7}, {4}, {5}, {6})}
    assert not found.separate
    in_waves = history(pseudonym="card", period="wave")
    assert in_waves.separate
    twice = history(visits(card=["1", "8", "2", "3", "4", "5", "6", "3"]), pseudonym="card", period="wave")
    assert not twice.separate
    assert "two pseudonyms in one period" in twice.notes[0]


def test_tables_are_periods() -> None:
    one = Table.from_frame({"id": [1, 2, 3], "sex": ["f", "m", "f"], "only": [1, 2, 3]}, name="one.csv")
    two = Table.from_frame({"id": [3, 1, 4], "sex": ["f", "f", "m"]}, name="two.csv")
    found = History.from_tables([one, two], person="id")
    assert found.periods == ("one.csv", "two.csv")
    assert [each.name for each in found.compared] == ["sex"]
    assert found.partners().tolist() == [0, 2, -1]
    with pytest.raises(InputError, match="same rows"):
        History.from_tables([one, one], person="id")
    with pytest.raises(InputError, match="no common column"):
        History.from_tables([one, two.select(["id"])], person="id")
    with pytest.raises(InputError, match="Only one table"):
        History.from_tables([one], person="id")


@given(st.permutations(range(8)))
def test_the_order_of_rows_does_not_matter(order: list[int]) -> None:
    table = visits()
    plain, other = history(table, period="wave"), history(table.take(order), period="wave")
    assert {frozenset(order[row] for row in item) for item in items(other)} == items(plain)
    assert other.item_person.tolist() == plain.item_person.tolist()


def test_the_release_has_no_person() -> None:
    found = history(period="wave")
    assert not hasattr(found.released, "person")
    exchanged = found.exchanged(rng=np.random.default_rng(1))
    assert exchanged.released.item.tolist() == found.released.item.tolist()
    assert exchanged.pseudonym.tolist() == found.pseudonym.tolist()
    for wave in (0, 1):
        of_wave = found.released.period == wave
        assert sorted(exchanged.item_person[of_wave]) == sorted(found.item_person[of_wave])
    alone = found.exchanged(np.arange(found.released.items), rng=np.random.default_rng(1))
    assert alone.item_person.tolist() == found.item_person.tolist()


def test_parts_keep_their_items_together() -> None:
    found = history(period="wave")
    some = found.of_people(np.array([0, 2]))
    assert (some.people, some.released.items) == (2, 4)
    assert some.partners().tolist() == [0, 1]
    first = found.of_periods(1)
    assert first.periods == ("2",)
    assert found.stratum("place").tolist() == [0, 0, 1, 0, 0, 0]
    with pytest.raises(InputError, match="No record is left"):
        found.of_people(np.array([9]))


def test_columns_are_chosen() -> None:
    start = datetime(2024, 1, 1)
    frame = {
        "who": [f"p{i // 8}" for i in range(80)],
        "when": [start + timedelta(hours=31 * (i % 8)) for i in range(80)],
        "number": [i * 1.5 for i in range(80)],
        "few": [i % 7 for i in range(80)],
        "name": [f"name {i // 8}" for i in range(80)],
        "constant": ["x"] * 80,
        "own": [f"row {i}" for i in range(80)],
        "wave": [i % 8 // 4 for i in range(80)],
        "shift": ["day" if i % 8 < 4 else "night" for i in range(80)],
    }
    table = Table.from_frame(frame, kinds={"own": "category", "name": "category"})
    found = History.from_table(table, person="who", time="when", period="wave")
    assert {each.name: each.numbers is not None for each in found.compared} == {
        "number": True,
        "few": False,
        "hour": False,
        "weekday": False,
    }
    notes = " ".join(found.notes)
    for reason in (
        "it identifies each person",
        "it has one value only",
        "all its values are distinct",
        "one value in each period",
    ):
        assert reason in notes
    kept = History.from_table(table, person="who", period="wave", keep_identifiers=True)
    assert "name" in [each.name for each in kept.compared]
    # A pseudonym of a day fixes the weekday.
    daily = History.from_table(table, person="who", time="when", lifetime="2d")
    assert [each.name for each in daily.compared][-1] == "hour"


def test_free_text_and_dates_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    born = [datetime(1950, 1, 1) + timedelta(days=int(each)) for each in rng.integers(0, 9000, 60)]
    frame = {
        "who": [f"p{i // 2}" for i in range(120)],
        "wave": [i % 2 for i in range(120)],
        "born": [born[i // 2] if i % 2 else born[i // 3] for i in range(120)],
        "note": [f"seen at {rng.integers(20)}" for _ in range(120)],
    }
    found = History.from_table(Table.from_frame(frame, kinds={"note": "text"}), person="who", period="wave")
    assert [each.name for each in found.compared] == ["born"]
    assert found.compared[0].numbers is not None
    assert "it is free text" in found.notes[0]
    asked = History.from_table(
        Table.from_frame(frame, kinds={"note": "text"}), person="who", period="wave", columns=["note"]
    )
    assert asked.compared[0].codes is not None
    with pytest.raises(InputError, match="Name some of these columns"):
        asked.released.only(["born"])


def test_columns_of_two_kinds_are_compared_as_text() -> None:
    one = Table.from_frame({"id": [1, 2, 3, 4], "room": [1, 2, 3, 1]}, name="one")
    two = Table.from_frame({"id": [1, 2, 3, 4], "room": ["1", "2", "b", "1"]}, name="two", kinds={"room": "category"})
    found = History.from_tables([one, two], person="id")
    assert found.compared[0].codes is not None
    assert found.compared[0].codes.tolist() == [0, 1, 2, 0, 0, 1, 3, 0]


def test_records_without_a_person_are_left_out() -> None:
    found = history(visits(who=["a", "a", "b", None, "c", "c", "a", "b"]), period="wave")
    assert found.person.size == 7
    assert found.notes[0] == "1 records without a person were left out."


@pytest.mark.parametrize(
    ("changes", "settings", "message"),
    [
        ({}, {"person": "whom", "period": "wave"}, "column 'whom' is not in the visits"),
        ({"who": [None] * 8}, {"period": "wave"}, "no record has a person"),
        ({"who": list("abcdefgh")}, {"period": "wave"}, "Use unveil audit"),
        ({"who": ["a"] * 8}, {"period": "wave"}, "one person only"),
        ({}, {"period": "wave", "columns": ["place", "who"]}, "'who' is among the compared columns"),
        ({}, {}, "Nothing says how long a pseudonym lives"),
        ({}, {"lifetime": "7d"}, "no time column is named"),
        ({}, {"time": "day", "lifetime": "7d", "period": "wave"}, "State one of them"),
        ({}, {"time": "day", "lifetime": "30d"}, "longer than the data, which span 15 days"),
        ({}, {"time": "day", "lifetime": "0d"}, "not above 0"),
        ({}, {"time": "day", "lifetime": "7y"}, "no known unit"),
        ({}, {"time": "day", "lifetime": "-7d"}, "not above 0"),
        ({}, {"time": "place", "lifetime": "7d"}, "was read as"),
        ({"day": [0.1, None, *range(6)]}, {"time": "day", "lifetime": "2d"}, "1 missing cells"),
        ({"wave": [1, None, 1, 2, 2, 1, 2, 2]}, {"period": "wave"}, "1 missing cells"),
        ({"wave": [1] * 8}, {"period": "wave"}, "All records are of one period"),
        ({"wave": [1, 1, 1, 1, 1, 1, 1, 2]}, {"period": "wave"}, "1 of 2 periods have one person only"),
        ({"card": ["1", "1", "1", "3", "4", "5", "6", "3"]}, {"pseudonym": "card"}, "belong to two persons"),
        ({"card": ["1", None, "2", "3", "4", "5", "6", "3"]}, {"pseudonym": "card"}, "1 missing cells"),
        ({"place": ["x"] * 8}, {"period": "wave"}, "No column is left"),
    ],
)
def test_bad_input_is_refused(changes: dict[str, Any], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as refusal:
        history(visits(**changes), **settings)
    assert "\n" not in str(refusal.value)


def test_lifetimes_are_read() -> None:
    assert Lifetime.of("30min").days == pytest.approx(1 / 48)
    assert Lifetime.of("2w").days == 14
    assert Lifetime.of("1 record") == Lifetime.of("none")
