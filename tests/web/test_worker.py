"""The first look at a dropped file: columns and counts, never a cell; and what is wrong with it in one sentence."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from unveil.data import samples
from unveil.web.worker import MOST_COLUMNS, look


def test_columns_kinds_missing_values_and_roles(tmp_path: Path) -> None:
    file = tmp_path / "0123.csv"
    frame = pl.DataFrame(
        {
            "patient_id": range(100, 130),
            "age": [None, *range(1, 30)],
            "town": ["Ulm", "Bonn", None] * 10,
            "born": ["1980-01-31", "1990-12-01", "1985-06-30"] * 10,
            "contact": [f"person{n}@example.org" for n in range(15)] * 2,
        }
    )
    frame.write_csv(file)
    seen = look(file, "people.csv")
    columns = {each["name"]: each for each in seen["columns"]}
    assert seen["rows"] == 30
    assert [each["kind"] for each in columns.values()] == ["number", "number", "category", "date", "category"]
    assert [each["missing"] for each in columns.values()] == [0, 1, 10, 0, 0]
    assert [each["distinct"] for each in columns.values()] == [30, 29, 2, 3, 15]
    assert [each["suggestion"] for each in columns.values()] == ["identifier", "known", "known", "known", "known"]
    assert columns["contact"]["warning"].startswith("Looks like an email.")
    assert columns["town"]["warning"] == ""
    assert json.loads(json.dumps(seen)) == seen


def test_no_cell_is_told(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text("town,note\n" + "Zephyrine,Quillfeather of Ulm\n" * 40, encoding="utf-8")
    told = json.dumps(look(file, "people.csv"))
    assert "Zephyrine" not in told
    assert "Quillfeather" not in told


def test_the_roles_are_those_that_an_audit_supposes() -> None:
    from unveil.data.table import Table

    path = samples.path("anes96.csv")
    seen = look(path, "people.csv")
    assert [(each["name"], each["suggestion"], each["kind"]) for each in seen["columns"]] == [
        (each.name, each.role, each.kind) for each in Table.read(path).columns
    ]


def test_compressed_and_parquet_files_are_seen_too(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]})
    packed, parquet = tmp_path / "a.csv.gz", tmp_path / "a.parquet"
    packed.write_bytes(gzip.compress(frame.write_csv().encode()))
    frame.write_parquet(parquet)
    assert look(packed, "a.csv.gz") == look(parquet, "a.parquet")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"a,b\n", "header only"),
        (b"a,b\n1,2,3\n", "row 1"),
        (b"PK\x03\x04rest of a spreadsheet", "cut short or damaged"),
        (b"a\0b\n1\n", "binary file"),
        (b"a,a\n1,2\n", "different names"),
        (b"PAR1nonsense", "'people.csv'"),
        (b"\xff\xfea\x00\x00\xd8", "UTF-16"),
        (b"\x1f\x8bnonsense", "damaged"),
        (",".join(f"c{n}" for n in range(MOST_COLUMNS + 1)).encode() + b"\n1\n", "at most 1,000"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_the_name_its_owner_gave_it(
    tmp_path: Path, content: bytes, words: str
) -> None:
    file = tmp_path / "89ab.csv"
    file.write_bytes(content)
    seen = look(file, "people.csv")
    assert list(seen) == ["error"]
    assert words in seen["error"]
    assert "'people.csv'" in seen["error"]
    assert str(tmp_path) not in seen["error"]


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_other_signs_between_columns_are_read(tmp_path: Path, sign: str) -> None:
    file = tmp_path / "89ab.csv"
    file.write_text(f"age{sign}income\n1{sign}2,5\n2{sign}3,25\n", encoding="utf-8")
    seen = look(file, "people.csv")
    assert [(each["name"], each["kind"]) for each in seen["columns"]] == [("age", "number"), ("income", "number")]


def test_a_table_may_have_one_column(tmp_path: Path) -> None:
    file = tmp_path / "89ab.csv"
    file.write_text("age\n1\n2\n", encoding="utf-8")
    assert [each["name"] for each in look(file, "people.csv")["columns"]] == ["age"]
