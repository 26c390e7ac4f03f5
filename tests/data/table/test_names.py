"""Names of columns across tables: other spellings are matched and said, near ones are asked about."""

import unicodedata
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.refusals import refusal
from unveil.data.table import Table, agree
from unveil.data.table._names import plain_name
from unveil.data.table.release import Release


def table(name: str, *columns: str) -> Table:
    return Table.from_frame(pl.DataFrame({column: [1, 2, 4] for column in columns}), name=name)


@pytest.mark.parametrize(
    ("own", "theirs"),
    [
        ("age", "Age "),
        ("marital status", "MARITAL_STATUS"),
        ("marital.status", "marital - status"),
        ("Größe", unicodedata.normalize("NFD", "GRÖßE")),
        ("Straße", "STRASSE"),
        ("size", "ｓｉｚｅ"),
    ],
)
def test_another_spelling_is_matched_and_said(own: str, theirs: str) -> None:
    original, released = agree(table("original", own, "x"), table("rel.csv", "x", theirs))
    assert original.column_names == released.column_names == (own, "x")
    assert released.frame.columns == [own, "x"]
    assert released.notes == (f"{theirs!r} of the rel.csv is read as {own!r}",)
    assert original.notes == ()
    again = agree(original, released)
    assert [each.notes for each in again] == [original.notes, released.notes]


def test_two_spellings_in_one_table_are_two_columns() -> None:
    original, released = agree(table("original", "Age", "age", "x"), table("rel.csv", "AGE", "x"))
    assert released.column_names == ("x",)
    original, released = agree(table("original", "age", "x"), table("rel.csv", "Age", "AGE", "x"))
    assert original.column_names == ("x",)
    original, released = agree(table("original", "Age", "age"), table("rel.csv", "age", "Age"))
    assert released.column_names == ("Age", "age")
    assert released.notes == ()
    original, released = agree(table("original", "age", "x"), table("rel.csv", "age", "Age", "x"))
    assert released.column_names == ("age", "x")


def test_a_near_name_is_asked_about_and_a_lost_column_is_said() -> None:
    release = Release(table("original", "income", "age", "town"), table("rel.csv", "incom", "age"))
    assert release.released.column_names == ("age",)
    assert release.notes == (
        "2 columns of the original left out, not being in all tables: 'income', 'town'",
        "'incom' of the rel.csv was left out; did you mean 'income'? Rename it: incom=income (in Python "
        "rename={'incom': 'income'})",
        "1 column of the rel.csv left out, not being in all tables: 'incom'",
    )
    told = Table.from_frame(pl.DataFrame({"incom": [1, 2], "age": [3, 4]}), rename={"incom": "income"}, name="rel.csv")
    assert agree(table("original", "income", "age"), told)[1].column_names == ("income", "age")


def test_a_file_is_renamed_before_anything_else_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("incom,age\n1,2\n3,4\n", encoding="utf-8")
    read = Table.read(tmp_path / "a.csv", rename={"incom": "income"}, kinds={"income": "category"})
    assert [(each.name, each.kind) for each in read.columns] == [("income", "category"), ("age", "number")]
    swapped = Table.read(tmp_path / "a.csv", rename={"incom": "age", "age": "incom"})
    assert swapped.frame.rows(named=True)[0] == {"age": 1, "incom": 2}
    assert "rename names column 'ag', which is not in the a.csv. Did you mean 'age'?" in refusal(
        lambda: Table.read(tmp_path / "a.csv", rename={"ag": "x"})
    )
    assert "after rename more than one is called 'age'" in refusal(
        lambda: Table.read(tmp_path / "a.csv", rename={"incom": "age"})
    )


@given(st.text(max_size=12))
def test_what_spellings_have_in_common_has_no_other_spelling(name: str) -> None:
    plain = plain_name(name)
    assert plain_name(plain) == plain
    assert plain_name(f" {name.upper()} ") == plain_name(name.upper())
    assert plain_name(name.replace(" ", "_")) == plain
