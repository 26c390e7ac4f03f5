"""Files that hold one table inside something else: archives with one file, workbooks with one sheet."""

import gzip
import re
import sys
from datetime import date
from functools import partial
from pathlib import Path

import pytest

from tests.data.files.workbooks import Cells, archive, ods, xlsx
from tests.data.refusals import MARKER, refusal
from unveil.data.files import source as _source
from unveil.data.files.read import read_file, read_table
from unveil.data.files.settings import FileSettings
from unveil.data.table import Table
from unveil.errors import MissingExtraError

TABLE = b"age,town\n31,Ulm\n40,Ulm\n"
PEOPLE: Cells = [("age", "ward", "note"), (31, "007", 'say "hi", you'), (40.5, "012", "two\nlines"), (7, "012", None)]


def file(folder: Path, content: bytes, name: str = "people") -> Path:
    (folder / name).write_bytes(content)
    return folder / name


SMALL: Cells = [("age", "town"), (31, "Ulm"), (40, "Ulm")]
PACKED = {
    "gzip": gzip.compress(TABLE),
    "zip": archive({"people.csv": TABLE}),
    "zip of a Mac": archive({"in/": b"", "in/people.csv": TABLE, "__MACOSX/in/._people.csv": b"x", ".DS_Store": b"x"}),
    "gzip in zip": archive({"people.csv.gz": gzip.compress(TABLE)}),
    "zip in gzip": gzip.compress(archive({"people.csv": TABLE})),
    "another spelling": archive({"people.csv": TABLE.decode().replace(",", ";").encode("utf-16")}),
    "workbook": xlsx({"People": SMALL}),
    "workbook in zip": archive({"book.xlsx": xlsx({"People": SMALL})}),
}


@pytest.mark.parametrize("case", PACKED)
def test_one_table_inside_is_that_table(tmp_path: Path, case: str) -> None:
    table = Table.read(file(tmp_path, PACKED[case]))
    assert table.frame.rows() == [(31, "Ulm"), (40, "Ulm")]


def test_what_was_read_inside_is_said(tmp_path: Path) -> None:
    assert Table.read(file(tmp_path, archive({"in/a.csv": TABLE}))).notes == ("people: the file 'a.csv' of it",)
    book = xlsx({"Data": [("age", "town"), (31, "Ulm"), (40, "Ulm")], "Empty": []})
    assert Table.read(file(tmp_path, book)).notes == ("people: the sheet 'Data' of it",)


@pytest.mark.parametrize("kind", ["xlsx", "ods"])
def test_cells_of_a_sheet_are_read_as_text(tmp_path: Path, kind: str) -> None:
    path = file(tmp_path, xlsx({"People": PEOPLE}) if kind == "xlsx" else ods(PEOPLE))
    frame = read_file(path).frame
    assert [tuple(frame.columns), *frame.rows()] == [tuple(v if v is None else str(v) for v in row) for row in PEOPLE]
    assert read_table(path, {"item": "ward"})["item"].to_list() == ["007", "012", "012"]
    assert Table.read(path, header="no").rows == len(PEOPLE)


def test_an_old_workbook_is_read(tmp_path: Path) -> None:
    table = Table.read(Path(__file__).with_name("people.xls"))
    assert [column.kind for column in table.columns] == ["number", "category", "number", "date"]
    assert table.frame.drop("born").rows() == [(31, "007", 1.75), (40, "012", 1.83)]
    assert table.frame["born"].dt.date().to_list() == [date(1990, 5, 17), date(1981, 1, 2)]


def test_empty_rows_and_columns_around_a_sheet_are_no_cells(tmp_path: Path) -> None:
    rows: Cells = [("age", "town", None), (31, "Ulm", None), (40, "Ulm", None), (None, None, None)]
    assert Table.read(file(tmp_path, xlsx({"People": rows}))).frame.rows() == [(31, "Ulm"), (40, "Ulm")]


def locked(content: bytes) -> bytes:
    """Return an archive whose entries say that they need a password."""
    changed = bytearray(content)
    for sign, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        changed[content.find(sign) + place] |= 1
    return bytes(changed)


WRONG = {
    "two files": (archive({f"{MARKER}.csv": TABLE, "b.csv": TABLE}), "must hold one table, but holds 2 files. Unpack"),
    "no file": (archive({"folder/": b""}), "must hold one table, but holds no files"),
    "a password": (locked(archive({f"{MARKER}.csv": TABLE})), "is locked with a password. Unpack it first"),
    "a cut archive": (archive({"a.csv": TABLE * 99})[:-30], "cut short or damaged"),
    "packed too often": (gzip.compress(gzip.compress(gzip.compress(gzip.compress(TABLE)))), "binary file"),
    "two sheets": (xlsx({"A": PEOPLE, MARKER: PEOPLE}), "must hold one sheet with cells, but has 2. Keep the sheet"),
    "no cells": (xlsx({"A": [], MARKER: []}), "must hold one sheet with cells, but has none"),
    "a damaged workbook": (archive({"xl/workbook.xml": MARKER}), "the workbook .* is damaged, locked"),
    "merged names": (
        xlsx({"A": [("Ann", None, "town"), ("age", "size", "town"), (31, 2, "Ulm")]}),
        "must name every column, but leaves column 2 without a name, as a title or merged cells do. Name each column",
    ),
    "a title": (xlsx({"A": [(MARKER, None), ("age", "town"), (31, "Ulm")]}), "leaves column 2 without a name"),
    "no header": (xlsx({"A": [(31, MARKER), (40, MARKER), (7, "Ulm")]}), "looks like data"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_holds_no_single_table_is_refused_without_a_cell(tmp_path: Path, case: str) -> None:
    content, says = WRONG[case]
    path = file(tmp_path, content)
    said = refusal(lambda: Table.read(path))
    assert re.search(says, said)
    assert repr(str(path)) in said


def test_an_archive_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_source, "LARGEST", 10_000)
    for content in (archive({"a.csv": b"1,2\n" * 10_000}), xlsx({"A": [("a",)] * 10_000})):
        path = file(tmp_path, content)
        assert "at most 10,000 bytes, but holds more" in refusal(partial(Table.read, path))


def test_without_the_extra_one_sentence_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    for content in (xlsx({"A": PEOPLE}), b"$FL2" + bytes(200)):
        path = file(tmp_path, content)
        with pytest.raises(MissingExtraError, match=r"pip install 'unveil\[files\]'"):
            Table.read(path)
    assert read_file(file(tmp_path, TABLE), FileSettings()).frame.height == 2
