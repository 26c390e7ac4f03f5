"""Whether the first line of a table names its columns: a person's record must never be taken for names."""

from pathlib import Path

import polars as pl
import pytest

from tests.end_to_end.commands import MARKER, Command
from unveil.data import samples
from unveil.data.files._delimited_text import csv_columns
from unveil.data.files.header import is_surely_header, made_names
from unveil.data.files.read import read_table
from unveil.data.files.source import open_source
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.web.worker import look

PEOPLE = [
    f"{MARKER} {row},m{row}@example.org,{20 + row % 40},{('Ulm', 'Bonn')[row % 2]},{row % 3}" for row in range(40)
]
HEADER = "who,contact,age,town,score"
#: First lines over rows that are data, and first lines that are names.
DATA = {
    "a whole record": PEOPLE,
    "numbers over numbers": ["1,2.5", "3,4.5", "5,6.5"],
    "a word that occurs below": ["Ulm,flu", "Bonn,flu", "Ulm,gout", "Bonn,flu"],
    "an email address": ["ann@example.org,word", "bea@example.org,other", "eve@example.org,third"],
    "dates over dates": ["2001-02-03,x", "2002-03-04,y", "2003-04-05,x"],
    "codes over codes": ["P001,a", "P002,b", "P003,a", "P004,b"],
    "a missing cell over numbers": ["31,NA", "40,7", "52,8"],
    "years over numbers": ["1996,1997", "10,20", "30,40"],
    "one column of numbers": ["17", "18", "19"],
    "one column of words": ["Ann", "Bea", "Eve"],
    "full names": ["Ann Smith", "Bea Jones", "Eve Brown"],
    "one rare word": ["31,Xanten", "40,Ulm", "52,Ulm", "61,Bonn", "33,Bonn"],
}
NAMES = {
    "words over numbers": ["age,income", "31,2000", "40,3000"],
    "a word over repeated words": ["town", "Ulm", "Bonn", "Ulm", "Bonn"],
    "an index without a name": [",age,town", "0,31,Ulm", "1,40,Ulm"],
    "one hot": ["town_Ulm,town_Bonn", "1,0", "0,1", "1,0"],
    "one year among names": [
        "age,sex,town,income,2020",
        "31,f,Ulm,5,9",
        "40,m,Ulm,6,8",
        "31,f,Bonn,5,7",
        "40,m,Bonn,6,6",
    ],
    "identifiers": ["patient_id,name", "P001,Ann Smith", "P002,Bea Jones"],
    "empty below": ["a,b", ",", ",", ","],
    "no row": ["age,town"],
}


def written(folder: Path, lines: list[str]) -> Path:
    path = folder / "people.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("case", DATA)
def test_a_first_line_that_looks_like_data_is_refused_without_a_cell(tmp_path: Path, case: str) -> None:
    path = written(tmp_path, DATA[case])
    with pytest.raises(InputError, match="looks like data") as refused:
        Table.read(path)
    assert "--read header=yes" in str(refused.value)
    assert "--read header=no" in str(refused.value)
    message = str(refused.value).replace(str(path), "")
    cells = [cell for cell in DATA[case][0].split(",") if len(cell) > 2]
    assert not [cell for cell in cells if cell in message]


@pytest.mark.parametrize("case", NAMES)
def test_names_are_not_accused(tmp_path: Path, case: str) -> None:
    source = open_source(written(tmp_path, NAMES[case]))
    assert is_surely_header(source, csv_columns(source))


def test_the_tables_inside_unveil_are_not_accused_and_are_seen_without_their_header(tmp_path: Path) -> None:
    for name in ("anes96.csv", "partition_truth.csv"):
        lines = samples.path(name).read_text(encoding="utf-8").splitlines()
        source = open_source(samples.path(name))
        assert is_surely_header(source, csv_columns(source))
        cut = open_source(written(tmp_path, lines[1:]))
        assert not is_surely_header(cut, csv_columns(cut))


def test_what_is_told_is_done(tmp_path: Path) -> None:
    path = written(tmp_path, PEOPLE)
    table = Table.read(path, header="no")
    assert table.column_names == ("column_1", "column_2", "column_3", "column_4", "column_5")
    assert table.rows == 40
    assert table.frame["column_3"].to_list()[:2] == [20, 21]
    assert Table.read(path, header="yes").rows == 39
    with pytest.raises(InputError, match="detect, yes, no"):
        Table.read(path, header="maybe")  # type: ignore[arg-type]


def test_parquet_always_has_names(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pl.DataFrame({"1": [2, 3], "4": [5, 6]}).write_parquet(path)
    assert Table.read(path).column_names == ("1", "4")
    assert Table.read(path, header="no").column_names == ("1", "4")


@pytest.mark.parametrize("lines", [PEOPLE, [f"{MARKER},items", "a,b"], [f"{MARKER},{MARKER}", "a,b"]])
def test_no_message_about_columns_shows_a_first_line_that_may_be_data(tmp_path: Path, lines: list[str]) -> None:
    path = written(tmp_path, lines)
    for wanted in ({"item": "item", "cluster": "cluster"}, {"item": f"{MARKER} 1x", "cluster": "cluster"}):
        with pytest.raises(InputError) as refused:
            read_table(path, wanted)
        said = str(refused.value).replace(str(path), "").replace(f"{MARKER} 1x", "")
        assert MARKER not in said
        assert "example.org" not in said


def test_made_names_count_from_one() -> None:
    assert made_names(3) == ["column_1", "column_2", "column_3"]


def test_the_first_look_of_the_page_shows_no_record(tmp_path: Path) -> None:
    seen = look(written(tmp_path, PEOPLE), "people.csv")
    assert list(seen) == ["error"]
    assert "looks like data" in seen["error"]
    assert MARKER not in seen["error"]
    assert [each["name"] for each in look(written(tmp_path, [HEADER, *PEOPLE]), "p.csv")["columns"]] == HEADER.split(
        ","
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("\n".join(PEOPLE) + "\n", encoding="utf-8")
    (tmp_path / "masked.csv").write_text("\n".join(reversed(PEOPLE)) + "\n", encoding="utf-8")
    return tmp_path


def test_the_commands_stop_or_do_as_told(folder: Path) -> None:
    audit = Command("audit").ask
    pages = ("--html", "i.html", "--shareable", "s.html", "--attacks", "copies,disclosure", "--json")
    stopped = audit("people.csv", "masked.csv", *pages)
    assert stopped.exit_code == 2
    assert stopped.stdout == ""
    assert "looks like data" in stopped.stderr
    assert MARKER not in stopped.stderr
    assert not (folder / "s.html").exists()
    for how in ((*pages, "--header", "no"), (*pages, "--config", "told.toml")):
        (folder / "told.toml").write_text('header = "no"\n', encoding="utf-8")
        run = audit("people.csv", "masked.csv", *how)
        assert run.exit_code == 0, run.stderr
        for output in (run.stdout, run.stderr, *((folder / page).read_text() for page in ("i.html", "s.html"))):
            assert MARKER not in output
            assert "example.org" not in output
        assert "column_3" in run.stdout
    again = Command("reidentify").ask
    asked = ("people.csv", "--protect", "rank-swapping:p=10", "--attack", "intersection", "--known", "column_3")
    assert again(*asked).exit_code == 2
    assert again(*asked, "--header", "no").exit_code == 0
