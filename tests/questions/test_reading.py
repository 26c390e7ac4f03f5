"""What is told of several tables at once: each takes what is about its own columns; what is about none is refused."""

import re
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from unveil.cli import main
from unveil.data.table import agree
from unveil.errors import InputError
from unveil.questions.reading import TableReading

PEOPLE = {"age": ["31", "-1", "40"], "town": ["Ulm", "Bonn", "Ulm"]}
MASKED = {"alter": ["30", "-1", "40"], "ill": ["flu", "?", "flu"]}


def test_each_table_takes_what_is_about_its_columns() -> None:
    reading = TableReading(
        kinds={"age": "number", "ill": "text"},
        markers={"?": "missing", "age": {"-1": "not applicable"}},
        rename={"alter": "age"},
    )
    tables = [reading.frame(PEOPLE, "original"), reading.frame(MASKED, "released")]
    reading.check(tables)
    assert [table.column_names for table in tables] == [("age", "town"), ("age", "ill")]
    assert [table.frame["age"].to_list() for table in tables] == [[31, None, 40], [30, None, 40]]
    assert tables[1].frame["ill"].to_list() == ["flu", None, "flu"]
    assert reading.frame(tables[0], "other") is tables[0]


@pytest.mark.parametrize(
    ("told", "what"),
    [
        ({"kinds": {"agee": "number"}}, "Unknown column 'agee' with a type. Did you mean 'age'?"),
        ({"missing": {"agee": ["?"]}}, "Unknown column 'agee' with a missing value"),
        ({"markers": {"agee": {"?": "missing"}}}, "Unknown column 'agee' with a marker"),
        ({"rename": {"alterr": "age2"}}, "Unknown column 'alterr' with a new name"),
    ],
)
def test_what_is_about_no_column_is_refused(told: dict[str, object], what: str) -> None:
    reading = TableReading(**told)  # type: ignore[arg-type]
    tables = [reading.frame(PEOPLE, "original"), reading.frame(MASKED, "released")]
    with pytest.raises(InputError, match=re.escape(what)):
        reading.check(tables)


def test_cells_of_one_column_can_be_told_on_the_command_line(tmp_path: Path) -> None:
    path = str(tmp_path / "people.csv")
    pl.DataFrame({"age": ["31", "-1", "40"] * 9, "pay": ["-1", "5", "7"] * 9}).write_csv(path)
    run = CliRunner().invoke(main, ["columns", path, "--missing", "age=-1", "--verbose"])
    assert re.search(r"age .*-1 \(missing, 9\)", run.stdout)
    assert re.search(r"pay +ordered +quasi-identifier +likely +0 *$", run.stdout, re.MULTILINE), run.stdout


@pytest.mark.parametrize(
    ("told", "what"),
    [
        (["--kinds", "age"], "Invalid value for '--kinds': it is not in the required form. Write COLUMN=TYPE"),
        (["--kinds", "age=nmber"], "Did you mean 'number'?"),
        (["--rename", "=age"], "Invalid value for '--rename': it is not in the required form. Write OLD=NEW"),
    ],
)
def test_what_is_written_wrong_is_said(tmp_path: Path, told: list[str], what: str) -> None:
    path = str(tmp_path / "people.csv")
    pl.DataFrame(PEOPLE).write_csv(path)
    run = CliRunner().invoke(main, ["columns", path, *told])
    assert run.exit_code == 2
    assert what in run.stderr


def test_a_release_may_be_coarser_than_what_is_told_of_its_columns(tmp_path: Path) -> None:
    (tmp_path / "kinds.toml").write_text('[columns.age]\nkind = "number"\n', encoding="utf-8")
    original = {"age": [31, 38, 44], "ill": ["flu", "flu", "gout"]}
    released = {"age": ["30-39", "30-39", "*"], "ill": ["flu", "flu", "gout"]}
    for reading in (TableReading(kinds={"age": "number"}), TableReading(dictionary=tmp_path / "kinds.toml")):
        tables = agree(reading.frame(original, "original"), reading.frame(released, "released", released=True))
        assert [table.column("age").kind for table in tables] == ["number", "number"]
        assert tables[1].coarse() == ("age",)
