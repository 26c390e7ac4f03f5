"""The embedded sample: the file of the source, split once."""

import csv
from collections import Counter

import polars as pl
import pytest

from unveil.data import samples
from unveil.data.samples import audit_sample


def rows() -> list[dict[str, str]]:
    with samples.path("anes96.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_file_has_the_people_of_the_source() -> None:
    people = rows()
    assert (len(people), len(people[0])) == (944, 10)
    # Counts as in the file that statsmodels carries.
    assert Counter(person["vote"] for person in people) == {"Clinton": 551, "Dole": 393}
    party = Counter(person["party"] for person in people)
    assert [party[code] for code in "0123456"] == [200, 180, 108, 37, 94, 150, 175]
    education = Counter(person["education"] for person in people)
    assert [education[code] for code in "1234567"] == [13, 52, 248, 187, 90, 227, 127]
    ages = [int(person["age"]) for person in people]
    assert (min(ages), max(ages)) == (19, 91)
    assert max(int(person["town_size"]) for person in people) == 7300
    assert list(people[0].values()) == ["36", "3", "1", "0", "7", "6", "7", "1", "6", "Dole"]
    assert len({tuple(person.values()) for person in people}) == 943


def test_the_note_on_its_source_stands_beside_it() -> None:
    note = samples.path("anes96.csv").with_name("README.md").read_text(encoding="utf-8")
    assert "This is public domain" in note
    for column in rows()[0]:
        assert f"| `{column}` |" in note


def test_the_two_tables_are_everybody_and_nobody_twice() -> None:
    original, control = audit_sample()
    assert (original.rows, control.rows) == (700, 244)
    together = Counter([*original.frame.rows(), *control.frame.rows()])
    everybody = pl.DataFrame(rows()).select(pl.exclude("vote").cast(pl.Int64), "vote")
    assert together == Counter(everybody.rows())


def test_the_split_is_the_same_every_time_and_fair() -> None:
    (original, control), again = audit_sample(), audit_sample()
    assert original.frame.equals(again[0].frame)
    assert control.frame.equals(again[1].frame)
    # The file is in the order of income, so a split by position would show here: one standard error is 0.45.
    assert original.frame["income"].to_numpy().mean() == pytest.approx(control.frame["income"].to_numpy().mean(), abs=1)


def test_kinds_and_roles_are_told() -> None:
    for people in audit_sample():
        kinds = {column.name: column.kind for column in people.columns}
        assert [name for name, kind in kinds.items() if kind == "number"] == ["age", "town_size", "news"]
        assert [name for name, kind in kinds.items() if kind == "category"] == ["vote"]
        assert sum(kind == "ordered" for kind in kinds.values()) == 6
        assert {column.role for column in people.columns[:5]} == {"known"}
        assert {column.role for column in people.columns[5:]} == {"sensitive"}
        assert sum(column.missing for column in people.columns) == 0
