"""The split into people to release and a control group: an oracle of who stays together, files, and clear errors."""

import hashlib
import json
import os
from fractions import Fraction
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import unveil
from tests.oracles.splits import groups_of_rows
from unveil.cli import main
from unveil.errors import InputError
from unveil.questions import question
from unveil.questions.split.answer import FEWEST_PEOPLE, drawn, linked
from unveil.web import NamedFile
from unveil.web.questions import answer, check

PEOPLE = pl.DataFrame({"age": [20 + row % 60 for row in range(200)], "pay": [row * 37 % 4001 for row in range(200)]})
#: Four rows of each person, two people in each household; the last person has none.
VISITS = pl.DataFrame(
    {
        "person": [f"p{row // 4}" for row in range(400)],
        "home": [None if row >= 396 else f"h{row // 8}" for row in range(400)],
        "born": [1930 + row // 4 * 7 % 71 for row in range(400)],
        "cost": [row * 31 % 997 for row in range(400)],
    }
)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=14))
def test_people_and_households_that_share_a_row_stay_together(rows: list[tuple[int, int]]) -> None:
    person, household = (np.array(column) for column in zip(*rows, strict=True))
    groups = linked(person, household)
    expected = groups_of_rows(person.tolist(), household.tolist())
    assert {frozenset(np.flatnonzero(groups == each).tolist()) for each in np.unique(groups)} == set(
        map(frozenset, expected)
    )


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.fractions(0, 1), st.integers(0, 99))
def test_units_are_drawn_whole_and_in_the_number_of_the_share(units: list[int], share: Fraction, seed: int) -> None:
    unit = np.array(units)
    aside = drawn(unit, share, rng=np.random.default_rng(seed))
    assert set(unit[aside]) & set(unit[~aside]) == set()
    assert len(set(unit[aside])) == round(share * len(set(units)))


def test_every_pair_of_units_is_drawn_equally_often() -> None:
    unit, rng = np.array([0, 0, 0, 1, 2, 2, 3, 4]), np.random.default_rng(5)
    pairs = [tuple(np.unique(unit[drawn(unit, Fraction(2, 5), rng=rng)]).tolist()) for _ in range(3000)]
    counts = np.unique(np.array(pairs), axis=0, return_counts=True)[1]
    assert counts.size == 10
    # Ten pairs, 300 expected of each: 27.9 is exceeded by chance in 1 of 1,000 runs.
    assert ((counts - 300) ** 2 / 300).sum() < 27.9


def test_both_parts_hold_every_row_once_and_in_order() -> None:
    parts = unveil.split(PEOPLE, seed=1)
    assert (parts.release_part.height, parts.control.height) == (160, 40)
    both = pl.concat([parts.release_part, parts.control])
    assert both.sort(both.columns).equals(PEOPLE.sort(PEOPLE.columns))
    places = [PEOPLE.rows().index(row) for row in parts.control.rows()]
    assert places == sorted(places)
    assert parts.findings.control_share == 0.2


def test_people_and_households_are_not_divided() -> None:
    by_person = unveil.split(VISITS, id="person", seed=2)
    assert set(by_person.release_part["person"]) & set(by_person.control["person"]) == set()
    assert (by_person.findings.control.people, by_person.findings.control.rows) == (20, 80)
    by_home = unveil.split(VISITS, 0.4, "home", "person", 3)
    homes = by_home.control["home"].drop_nulls(), by_home.release_part["home"].drop_nulls()
    assert set(homes[0]) & set(homes[1]) == set()
    groups = groups_of_rows(VISITS["person"].to_list(), VISITS["home"].to_list())
    assert by_home.findings.unit == "household"
    units = by_home.findings.control.households, by_home.findings.release_part.households
    assert sum(each or 0 for each in units) == len(groups) + 3  # each of its four rows without a home is one
    assert "4 rows have no 'home'" in by_home.findings.notes[-1]


def test_each_row_is_another_person_if_that_is_stated() -> None:
    findings = unveil.split(VISITS, id="none").findings
    assert (findings.unit, findings.control.people, findings.control.rows) == ("row", 80, 80)


def test_the_seed_is_secret_unless_given() -> None:
    same = [unveil.split(PEOPLE, seed=4).control for _ in range(2)]
    assert same[0].equals(same[1])
    assert not unveil.split(PEOPLE).control.equals(unveil.split(PEOPLE).control)
    assert unveil.split(PEOPLE).to_dict()["seed"] is None


def test_parts_come_in_the_library_of_the_table() -> None:
    frame = pd.DataFrame({"age": range(100)}, index=range(500, 600))
    parts = unveil.split(frame, 0.3)
    assert isinstance(parts.control, pd.DataFrame)
    assert list(parts.control.index) == list(range(30))
    assert len(unveil.split({"age": list(range(100))}).release_part["age"]) == 80
    assert unveil.split(unveil.Table.from_frame(frame)).control.shape == (20, 1)


@pytest.mark.parametrize(
    ("table", "more", "sentence"),
    [
        (PEOPLE, {"share": 0}, "share is 0; it must be in"),
        (PEOPLE, {"share": 1}, "share is 1; it must be in"),
        (PEOPLE, {"share": "5"}, "share is '5'; it must be in"),
        (PEOPLE, {"share": 0.01}, "198 are left to release and 2 are the control group"),
        (PEOPLE, {"share": 0.99}, "2 are left to release and 198 are the control group"),
        (PEOPLE, {"household": "home"}, "column 'home' is not in the table"),
        (PEOPLE, {"id": "person"}, "column 'person' is not in the table"),
        (PEOPLE, {"seeds": 1}, "Unknown setting 'seeds'"),
        (VISITS, {"id": ""}, "Column 'person' of table seems to identify people with several rows"),
    ],
)
def test_bad_input_gets_one_sentence(table: pl.DataFrame, more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        unveil.split(table, **more)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_smallest_control_group_is_accepted_and_said_to_be_small() -> None:
    least = unveil.split(PEOPLE, FEWEST_PEOPLE / 200)
    assert least.findings.control.people == FEWEST_PEOPLE
    assert least.page().tone == "warning"
    assert unveil.split({"age": list(range(400))}, 0.5).page().tone == "good"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(main, ["split", *arguments])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # Semicolons, decimal commas and a code with a leading zero must stay as they are.
    (tmp_path / "people.csv").write_text(
        "age;zip;pay\n" + "".join(f"{20 + row % 60};0{row};{row},5\n" for row in range(200)), encoding="utf-8"
    )
    return tmp_path


def test_the_command_writes_both_parts_as_they_were_written(folder: Path) -> None:
    done = run("people.csv", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    lines = (folder / "people.csv").read_text().splitlines()
    written = []
    for part, name in (("release_part", "people-to-release.csv"), ("control", "control-group.csv")):
        content = (folder / name).read_bytes()
        assert told[part]["file"] == name
        assert told[part]["sha256"] == hashlib.sha256(content).hexdigest()
        assert content.decode().splitlines()[0] == lines[0]
        written += content.decode().splitlines()[1:]
    assert sorted(written) == sorted(lines[1:])
    assert told["sha256"] == hashlib.sha256((folder / "people.csv").read_bytes()).hexdigest()


def test_a_pipe_is_read_once(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    writer = Thread(target=lambda: (folder / "pipe").write_bytes((folder / "people.csv").read_bytes()))
    writer.start()
    done = run("pipe", "--seed", "1", "--json")
    writer.join()
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["sha256"] is None
    assert json.loads(done.stdout)["control"]["people"] == 40


def test_parquet_by_name(folder: Path) -> None:
    done = run("people.csv", "--out", "a.parquet", "--write-control", "b.parquet")
    assert done.exit_code == 0, done.output
    assert pl.read_parquet("a.parquet").height + pl.read_parquet("b.parquet").height == 200


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--out", "people.csv"], "'people.csv' is an input"),
        (["--write-control", "people.csv"], "'people.csv' is an input"),
        (["--out", "a.csv", "--write-control", "a.csv"], "name the same file"),
        (["--share", "2"], "it must be in [0, 1]"),
        (["--household", "home"], "column 'home' is not in the people.csv"),
        (["--limit", "split.control_people=100"], "it must be at least 100"),
    ],
)
def test_the_command_refuses_and_writes_nothing(folder: Path, arguments: list[str], sentence: str) -> None:
    done = run("people.csv", *arguments)
    assert done.exit_code == (3 if "--limit" in arguments else 2)
    assert sentence in done.output
    assert [path.name for path in folder.iterdir()] == ["people.csv"]


def test_a_file_that_exists_is_not_replaced(folder: Path) -> None:
    (folder / "control-group.csv").write_text("mine")
    done = run("people.csv")
    assert done.exit_code == 2
    assert "'control-group.csv' exists already" in done.output
    assert (folder / "control-group.csv").read_text() == "mine"
    assert not (folder / "people-to-release.csv").exists()


def test_the_example_writes_nothing_by_itself(folder: Path) -> None:
    done = run("--example")
    assert done.exit_code == 0, done.output
    assert [path.name for path in folder.iterdir()] == ["people.csv"]
    run("--example", "--out", "mine.csv")
    assert sorted(path.name for path in folder.iterdir()) == ["mine.csv", "people.csv"]


def test_the_page_offers_both_files_and_gives_the_same_json(folder: Path) -> None:
    settings, file = {"share": "0.25", "seed": "8"}, NamedFile(path=folder / "people.csv", name="people.csv")
    assert check(question("split"), {"file": file}, settings) == {}
    served = answer("split", {"file": file}, settings)
    assert sorted(served.outputs) == ["control-group.csv", "people-to-release.csv"]
    done = run("people.csv", "--share", "0.25", "--seed", "8", "--json")
    told = [json.loads(each) for each in (served.json, done.stdout, unveil.split("people.csv", 0.25, seed=8).to_json())]
    for each in told:
        each.pop("seed")  # Python states none: the seed undoes the release
    assert told[0] == told[1] == told[2]
    assert served.outputs["control-group.csv"] == (folder / "control-group.csv").read_bytes()
