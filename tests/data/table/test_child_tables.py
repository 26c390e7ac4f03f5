"""Child tables: their keys, the order of their rows, and one row per person."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.child_summaries import summary_of_person
from unveil.data.table import Table
from unveil.data.table.child_keys import key_texts, people_keys, time_column
from unveil.data.table.child_summaries import sorted_rows, summaries, with_summaries
from unveil.data.table.child_tables import ChildRelease, ChildTable
from unveil.errors import InputError

KINDS: dict[str, Any] = {"date": "date", "cost": "number", "ward": "category", "seen": "date"}
START = datetime(2020, 1, 1)
moments = st.one_of(st.none(), st.integers(0, 50).map(lambda days: START + timedelta(days=days)))
visits = st.fixed_dictionaries(
    {
        "person": st.integers(0, 5),
        "date": moments,
        "cost": st.one_of(st.none(), st.sampled_from([0.1, 0.2, 0.3, 7.0, -2.5])),
        "ward": st.one_of(st.none(), st.sampled_from(["a", "b", "c"])),
        "seen": moments,
    }
)
histories = st.lists(visits, min_size=1, max_size=30)


def table(rows: list[dict[str, Any]], name: str = "visits") -> Table:
    schema: dict[str, Any] = {"person": pl.Int64, "date": pl.Datetime("us"), "cost": pl.Float64, "ward": pl.String}
    frame = pl.DataFrame(rows, schema={**schema, "seen": pl.Datetime("us")})
    return Table.from_frame(frame, name=name, kinds={**KINDS, "person": "number"})


def flat(rows: list[dict[str, Any]], time: str | None = "date") -> dict[str, dict[str, Any]]:
    """Return the summaries of each person, by key."""
    read = table(rows)
    keys = people_keys(None, {"visits": read}, "person", where="original")
    ordered, person = sorted_rows(read.select(list(KINDS)), keys.persons["visits"], time)
    made = summaries(ChildTable("visits", ordered, person, keys.people, time))
    whole = with_summaries(None, made, name="original", keys=keys.keys.alias("person"))
    return {row.pop("person"): row for row in whole.frame.to_dicts()}


@given(histories, st.sampled_from(["date", None]))
def test_summaries_are_those_of_each_person(rows: list[dict[str, Any]], time: str | None) -> None:
    found = flat(rows, time)
    assert found.keys() == {str(row["person"]) for row in rows}
    for key, made in found.items():
        own = summary_of_person([row for row in rows if str(row["person"]) == key], KINDS, time)
        assert made.keys() == {f"visits: {name}" for name in own}
        for name, value in own.items():
            seen = made[f"visits: {name}"]
            assert seen == pytest.approx(value) if isinstance(value, float) else seen == value, name


@given(histories, st.randoms(use_true_random=False))
def test_new_keys_and_another_order_change_nothing(rows: list[dict[str, Any]], random: Any) -> None:
    anew = [{**row, "person": 90 - 7 * row["person"]} for row in rows]
    random.shuffle(anew)
    first, second = flat(rows), flat(anew)
    assert {str(90 - 7 * int(key)): made for key, made in first.items()} == second


@given(histories)
def test_rows_are_sorted_by_person_and_time(rows: list[dict[str, Any]]) -> None:
    read = table(rows)
    person = read.series("person").to_numpy() - 1  # the first one has no person
    if (person < 0).all():
        return
    ordered, own = sorted_rows(read, person, "date")
    kept = [row for row in rows if row["person"] > 0]
    assert (own == np.sort([row["person"] - 1 for row in kept])).all()
    least = datetime.min
    assert [(row["person"], row["date"] or least) for row in ordered.frame.to_dicts()] == sorted(
        (row["person"], row["date"] or least) for row in kept
    )


def test_the_start_of_each_person() -> None:
    rows = Table.from_frame({"cost": [1, 2, 3]}, name="visits")
    assert ChildTable("visits", rows, np.array([0, 0, 2]), 4).start.tolist() == [0, 2, 2, 3, 3]


def test_a_release_of_child_tables_agrees() -> None:
    own = Table.from_frame({"cost": [1, 2, 3], "ward": ["a", "b", "b"]}, name="original")
    release = Table.from_frame({"cost": [4.5, 2.0]}, name="release")
    child = ChildRelease.of(
        ChildTable("visits", own, np.array([0, 0, 1]), 2), ChildTable("visits", release, np.array([0, 1]), 2)
    )
    assert child.release.original.column_names == child.release.released.column_names == ("cost",)
    assert child.person.tolist() == [0, 0, 1]


def test_people_come_in_the_order_of_their_table() -> None:
    people = Table.from_frame({"id": [7, 3, 5], "age": [31, 40, 50]}, name="people")
    own = Table.from_frame({"id": ["3", "7", None, "9", "7"], "cost": [1, 2, 3, 4, 5]}, name="visits")
    keys = people_keys(people, {"visits": own}, "id", where="release")
    assert keys.keys.to_list() == ["7", "3", "5"]
    assert keys.persons["visits"].tolist() == [1, 0, -1, -1, 0]
    assert (keys.empty["visits"], keys.orphans["visits"], keys.with_rows("visits")) == (1, 1, 2)


def test_keys_read_alike_however_they_are_written() -> None:
    large = 2**60 + 1
    whole = Table.from_frame({"id": [large, 12], "x": [1, 2]}, name="a")
    text = Table.from_frame({"id": [str(large), "12"], "x": [1, 2]}, name="b", kinds={"id": "category"})
    assert key_texts(whole, "id").to_list() == key_texts(text, "id").to_list()


PEOPLE = Table.from_frame({"id": ["a", "b"], "age": [31, 40]}, name="people")
VISITS = Table.from_frame({"id": ["a", "b", "b"], "cost": [1, 2, 3]}, name="visits")


@pytest.mark.parametrize(
    ("people", "child", "sentence"),
    [
        (PEOPLE, VISITS.select(["cost"]), "The table 'visits' of the original lacks the person key 'id'"),
        (PEOPLE.select(["age"]), VISITS, "The people table of the original lacks the person key 'id'"),
        (
            Table.from_frame({"id": ["a", "a", "b"], "age": [1, 2, 3]}, name="people"), VISITS,
            "several rows for one person: 1 repeat a key",
        ),
        (
            Table.from_frame({"id": ["a", None, "b"], "age": [1, 2, 3]}, name="people"), VISITS,
            "1 rows of the people table of the original have an empty person key",
        ),
        (
            PEOPLE, Table.from_frame({"id": ["a", None], "cost": [1, 2]}, name="visits"),
            "1 row of the table 'visits' of the original have an empty person key",
        ),
        (
            PEOPLE, Table.from_frame({"id": ["a", "c", "d"], "cost": [1, 2, 3]}, name="visits"),
            "2 rows of the table 'visits' of the original without a person",
        ),
        (
            PEOPLE, Table.from_frame({"id": ["c", "d"], "cost": [1, 2]}, name="visits"),
            "No row of the table 'visits' of the original has the key of a person",
        ),
        (None, Table.from_frame({"id": [None, None], "cost": [1, 2]}, name="visits"), "is empty in all rows"),
    ],
)  # fmt: skip
def test_keys_that_do_not_fit_are_refused(people: Table | None, child: Table, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        people_keys(people, {"visits": child}, "id", where="original").refuse_problems("original")


def test_a_summary_must_not_have_the_name_of_a_column() -> None:
    people = Table.from_frame({"id": ["a", "b"], "visits: number of rows": [1, 2]}, name="people")
    child = ChildTable("visits", VISITS.select(["cost"]), np.array([0, 1, 1]), 2)
    with pytest.raises(InputError, match="is the name of a summary"):
        with_summaries(people, summaries(child), name="original", keys=None)


def test_the_only_date_is_the_time() -> None:
    day = [datetime(2020, 1, 1), datetime(2021, 2, 3)]
    one = Table.from_frame({"day": day, "year": [1, 2], "cost": [3, 4]}, name="visits", kinds={"day": "date"})
    assert time_column(one) == ("day", ("day",))
    assert time_column(one, ignore=["day"]) == ("year", ("year",))
    two = Table.from_frame({"day": day, "end": day}, name="visits", kinds={"day": "date", "end": "date"})
    assert time_column(two) == (None, ("day", "end"))
    assert time_column(one.select(["cost"])) == (None, ())


def test_identifiers_and_free_text_have_no_summary() -> None:
    rows = Table.from_frame(
        {"nr": ["x1", "x2"], "note": ["so", "it was"]},
        name="visits",
        kinds={"note": "text"},
        roles={"nr": "identifier"},
    )
    made = [each.column.name for each in summaries(ChildTable("visits", rows, np.array([0, 1]), 2))]
    assert made == ["visits: number of rows"]


def test_a_range_counts_as_its_middle() -> None:
    rows = Table.from_frame(
        {"cost": [12.5, 40.0, 7.25, 30.5], "day": ["2020-01-01", "2020-01-31", "2020-03-01", "2020-06-30"]},
        name="original",
        kinds={"day": "date"},
    )
    masked = Table.from_frame({"cost": ["10-20", "*", "0-10", "30-50"], "day": ["2020-01", "*", "2020-03", "2020-06"]})
    person = np.array([0, 0, 1, 1])
    child = ChildRelease.of(
        ChildTable("visits", rows, person, 2, "day"), ChildTable("visits", masked, person, 2, "day"), masked=True
    )
    made = {
        each.column.name: each.values
        for each in summaries(ChildTable("visits", child.release.released, person, 2, "day"))
    }
    assert made["visits: mean cost"].to_list() == pytest.approx([15.0, 22.5], abs=0.01)
    first = made["visits: first day"].dt.strftime("%Y-%m").to_list()
    assert first == ["2020-01", "2020-03"]
    gap = made["visits: mean gap of day in days"].to_list()
    assert gap[0] is None
    assert gap[1] == pytest.approx(91.5, abs=1)
