import csv
import gzip
import io
import os
import re
import subprocess
import sys
import threading
from datetime import date, timedelta
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.refusals import MARKER, refusal
from unveil.data.files import _delimited_text
from unveil.data.files._delimited_text import csv_columns
from unveil.data.files.read import read_as_written, read_file, read_table
from unveil.data.files.settings import FileSettings
from unveil.data.files.source import open_source
from unveil.errors import InputError, did_you_mean

PARTITION = {"item": "item", "cluster": "cluster"}

Content = bytes | pl.DataFrame


def make(folder: Path, content: Content, name: str = "file.csv") -> Path:
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        content.write_parquet(path)
    return path


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("plain.csv", b"item,cluster\n01,a\n1,b\n", [("01", "a"), ("1", "b")]),
        ("no_last_line_end.csv", b"item,cluster\n01,a", [("01", "a")]),
        ("byte_order_mark.csv", b'\xef\xbb\xbf"item",cluster\n1,a\n', [("1", "a")]),
        ("windows.csv", b"item,cluster\r\n1,a\r\n2,b\r\n\r\n", [("1", "a"), ("2", "b")]),
        ("other_columns.csv", b"x,cluster,item,,\n9,a,1,,\n9,b,2,,\n", [("1", "a"), ("2", "b")]),
        ("tabs.tsv", b"item\tcluster\n1,5\ta\n", [("1,5", "a")]),
        ("tabs.TSV.gz", gzip.compress(b"item\tcluster\n1\ta\n", mtime=0), [("1", "a")]),
        (
            "zipped.csv",
            gzip.compress(b"item,cluster\n1,a\n", mtime=0) + gzip.compress(b"2,b\n", mtime=0),
            [("1", "a"), ("2", "b")],
        ),
        ("quotes.csv", b'item,cluster\n"say ""hi"", you","two\nlines"\n', [('say "hi", you', "two\nlines")]),
        ("html.csv", "item,cluster\n<script>,Zoë 🦊\n".encode(), [("<script>", "Zoë 🦊")]),
        ("words.csv", b"item,cluster\nNA,null\nnan, None\n", [("NA", "null"), ("nan", " None")]),
        ("w[ei]rd*?.csv", b"item,cluster\n1,a\n", [("1", "a")]),
    ],
)
def test_text_files_are_read_as_they_are_written(
    tmp_path: Path, name: str, content: bytes, rows: list[tuple[str, str]]
) -> None:
    frame = read_table(make(tmp_path, content, name), PARTITION)
    assert frame.schema == {"item": pl.String, "cluster": pl.String}
    assert frame.rows() == rows


def test_an_empty_cell_is_null_with_and_without_quotes(tmp_path: Path) -> None:
    path = make(tmp_path, b'item,cluster\n,a\n"",b\nc,\n')
    assert read_table(path, PARTITION).rows() == [(None, "a"), (None, "b"), ("c", None)]


def test_the_header_may_have_quotes_and_line_ends_in_names(tmp_path: Path) -> None:
    path = make(tmp_path, b'"the ""item""","clu\nster"\n1,a\n')
    assert read_table(path).columns == ['the "item"', "clu\nster"]


@pytest.mark.parametrize("extension", ["parquet", "csv", "gz"])
def test_parquet_is_known_by_its_content(tmp_path: Path, extension: str) -> None:
    table = pl.DataFrame(
        {"cluster": pl.Series(["b", "a"], dtype=pl.Categorical), "item": [10**17, -1], "x": [[1], [2]]}
    )
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    content = gzip.compress(buffer.getvalue()) if extension == "gz" else buffer.getvalue()
    frame = read_table(make(tmp_path, content, f"file.{extension}"), PARTITION)
    assert frame.rows() == [("100000000000000000", "b"), ("-1", "a")]


def test_cells_of_parquet_become_text(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {"float": [0.1, float("nan")], "flag": [True, None], "day": [date(2020, 1, 2)] * 2, "text": ["", "x"]}
    )
    frame = read_table(make(tmp_path, table))
    assert frame.rows() == [("0.1", "true", "2020-01-02", None), (None, None, "2020-01-02", "x")]


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (pl.Series([[MARKER]]), "lists or records"),
        (pl.Series([{"a": MARKER}]), "lists or records"),
        (pl.Series([b"\xffSECRET"]), "cannot be turned into text"),
        (pl.Series([timedelta(1)]), "cannot be turned into text"),
    ],
)
def test_cells_of_parquet_that_are_no_names_are_refused(tmp_path: Path, column: pl.Series, says: str) -> None:
    path = make(tmp_path, pl.DataFrame({"item": column}))
    message = refusal(lambda: read_table(path))
    assert says in message
    assert "column 'item'" in message


def test_folders_above_a_parquet_file_are_no_columns(tmp_path: Path) -> None:
    folder = tmp_path / "item=9"
    folder.mkdir()
    assert read_table(make(folder, pl.DataFrame({"item": ["1"]}), "a.parquet")).rows() == [("1",)]


def test_numbers_are_told_from_codes_when_types_are_asked_for(tmp_path: Path) -> None:
    text = b"whole,share,code,word,empty,big\n1,0.5,01,a,,1\n-2,1e-3,2,,,12345678901234567890\n,.5,3,c,,2\n"
    frame = read_table(make(tmp_path, text), as_text=False)
    kinds = [pl.Int64, pl.Float64, pl.String, pl.String, pl.String, pl.Float64]
    assert list(frame.schema.values()) == kinds
    assert frame["whole"].to_list() == [1, -2, None]
    assert frame["share"].to_list() == [0.5, 0.001, 0.5]
    assert frame["code"].to_list() == ["01", "2", "3"]
    typed = pl.DataFrame({"n": [1, 2], "x": [0.5, float("nan")], "t": ["1", ""]})
    again = read_table(make(tmp_path, typed), as_text=False)
    assert again.rows() == [(1, 0.5, 1), (2, None, None)]


def test_one_column_may_serve_twice_and_optional_ones_may_be_missing(tmp_path: Path) -> None:
    path = make(tmp_path, b"name\n1\n2\n")
    frame = read_table(path, {"item": "name", "cluster": "name", "weight": "w"}, optional=["weight"])
    assert frame.rows() == [("1", "1"), ("2", "2")]


def test_a_slip_in_the_name_of_an_optional_column_is_refused(tmp_path: Path) -> None:
    path = make(tmp_path, b"subject,alfa\na,1\n")
    message = refusal(lambda: read_table(path, {"subject": "subject", "alpha": "alpha"}, optional=["alpha"]))
    assert "Did you mean 'alfa'?" in message


WRONG: dict[str, tuple[Content, list[str]]] = {
    "empty": (b"", ["is empty"]),
    "blank": (b"\xef\xbb\xbf \r\n\n", ["is empty"]),
    "header only": (b"item,cluster\n\n", ["header only"]),
    "parquet without rows": (pl.DataFrame({"item": [], "cluster": []}), ["header only"]),
    "first line empty": (b"\nitem,cluster\nSECRET,a\n", ["first line", "empty"]),
    "missing column": (b"items,x\nSECRET,4\n", ["'item', 'cluster'", "has 'items', 'x'", "'items'?", "--item"]),
    "missing in parquet": (pl.DataFrame({"item": [MARKER], "Cluster": ["a"]}), ["'Cluster'?", "--cluster"]),
    "many columns": (b"item," + ",".join(f"c{i}" for i in range(30)).encode() + b"\n", ["'c18' and 11 more"]),
    "long name": (b"item," + b"x" * 500 + b"\nSECRET,1\n", ["'" + "x" * 60 + "…'"]),
    "no header": (b"SECRET,Alice\nSECRET,Bob\n", ["none of its 2 columns", "first row names the columns"]),
    "duplicate": (b"item,cluster,item\nSECRET,a,2\n", ["different names", "columns 1 and 3 of its 3"]),
    "duplicate beside": (b"item,cluster,x,x\nSECRET,a,2,3\n", ["different names", "columns 3 and 4 of its 4"]),
    "too many fields": (b"item,cluster\n1,a\nSECRET,b,c\n", ["row 2 ", "it has 3 fields, the header has 2"]),
    "too few fields": (b"item,cluster,x\n1,a,2\n3,b,\nSECRET,c\n", ["row 3 ", "it has 2 fields, the header has 3"]),
    "empty line": (b"item,cluster\r\n1,a\r\n\r\nSECRET,b\r\n", ["row 2 ", "empty line"]),
    "unclosed quote": (b'item,cluster\n1,a\n2,"SECRET\n3,b\n', ["row 2 ", "quote is not closed"]),
    "unclosed at the end": (b'item,cluster\n1,a\n2,"SECRET""\n', ["row 2 ", "quote is not closed"]),
    "quote inside": (b'item,cluster\n1,5" SECRET\n2,b\n', ["row 1 ", "quote"]),
    "text after quote": (b'item,cluster\n1,a\n"2"SECRET,b\n', ["row 2 ", "quote"]),
    "quote in header": (b'"item"s,cluster\nSECRET,b\n', ["the header", "quote"]),
    "carriage returns": (b"item,cluster\r1,a\rSECRET,b\r", ["the header", "carriage return"]),
    "mixed": ("item,cluster\n1,é\n".encode() + "2,SECRETé\n".encode("cp1252"), ["row 2 ", "not in UTF-8"]),
    "mixed beside": ("item,cluster,x\né,a,SECRET".encode() + b"\xe9\n", ["row 1 ", "not in UTF-8"]),
    "mixed header": (b"it\xe9m,cluster\n" + "1,SECRETé\n".encode(), ["the header", "not in UTF-8"]),
    "cut utf-16": ("item,cluster\n1,SECRET\n".encode("utf-16")[:-1], ["must be in UTF-16", "line 2"]),
    "no letter": (b"item,cluster\n1,\x81\n2,SECRET\xfc\n3,\xfc\xfc\xfc\n", ["must be in Windows-1252", "line 2"]),
    "binary": (b"item,cluster\n1,a\0SECRET\n", ["binary file"]),
    "cut archive": (b"PK\x03\x04SECRET", ["archive", "cut short or damaged"]),
    "old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1SECRET", ["workbook", "is damaged"]),
    "not spss": (b"$FL2SECRET", ["SPSS file", "damaged"]),
    "not stata": (b"<stata_dta>SECRET", ["Stata file", "damaged"]),
    "not sas": (b"HEADER RECORD*******LIBRARY SECRET", ["SAS file", "damaged"]),
    "not feather": (b"ARROW1SECRET", ["Feather", "damaged"]),
    "old feather": (b"FEA1SECRET", ["first version", "later program"]),
    "half a record": (b'{"item": 1, "cluster": 2}\n{"item": "SECRET', ["NDJSON", "damaged"]),
    "a list of records": (b'[{"item": "SECRET", "cluster": 1}]', ["JSON of another form", "one record per line"]),
    "document": (b"%PDF-1.7\nSECRET", ["a PDF document", "CSV or Parquet"]),
    "zstandard": (b"\x28\xb5\x2f\xfdSECRET", ["zstandard", "gzip"]),
    "cut gzip": (gzip.compress(b"item,cluster\n" + b"SECRET,a\n" * 99)[:-9], ["cut short"]),
    "gzip in name only": (b"\x1f\x8bSECRET", ["cut short or damaged"]),
    "not parquet": (b"PAR1SECRETPAR1", ["Parquet", "damaged"]),
    "null item": (b"item,cluster\nSECRET,a\n,b\n,c\n", ["column 'item'", "row 2 ", "such rows: 2"]),
    "null cluster": (pl.DataFrame({"item": [MARKER, "b"], "cluster": [1, None]}), ["column 'cluster'", "row 2 "]),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_read_is_refused_with_the_file_and_what_to_do(tmp_path: Path, case: str) -> None:
    content, says = WRONG[case]
    path = make(tmp_path, content)
    options = {"item": "--item", "cluster": "--cluster"}
    message = refusal(lambda: read_table(path, PARTITION, complete=PARTITION, options=options))
    assert repr(str(path)) in message
    for part in says:
        assert part in message


def test_a_parquet_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"item": [f"{MARKER}{i}" for i in range(20)], "cluster": range(20)}).write_parquet(buffer)
    whole = buffer.getvalue()
    for length in range(4, len(whole), 7):
        assert "cut short" in refusal(partial(read_table, make(tmp_path, whole[:length])))


def test_a_parquet_file_with_damaged_pages_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"item": [f"{MARKER}{i}" for i in range(99)]}).write_parquet(buffer)
    whole = buffer.getvalue()
    path = make(tmp_path, whole[:4] + bytes(100) + whole[104:])
    assert "damaged" in refusal(lambda: read_table(path))


def test_repeated_names_in_parquet_are_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    path = tmp_path / "twice.parquet"
    pyarrow.parquet.write_table(pa.table([[1], [2]], names=["item", "item"]), path)
    assert "different names" in refusal(lambda: read_table(path))


def test_paths_that_are_no_readable_file_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "does not exist" in refusal(lambda: read_table(tmp_path / "none.csv"))
    assert "is a folder" in refusal(lambda: read_table(tmp_path))
    assert "cannot be read" in refusal(lambda: read_table("bad\0name.csv"))
    assert "cannot be read" in refusal(lambda: read_table(tmp_path / ("x" * 300)))
    path = make(tmp_path, b"item\nSECRET\n")

    def forbidden(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    assert "may not be read" in refusal(lambda: read_table(path))


def test_a_file_that_disappears_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = make(tmp_path, b"item\nSECRET\n")
    source = open_source(path)
    path.unlink()
    assert "does not exist" in refusal(lambda: csv_columns(source))


def test_a_pipe_is_read_once_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"item,cluster\n" + b"1,a\n" * 50_000))
    writer.start()
    frame = read_table(pipe, PARTITION)
    writer.join()
    assert frame.height == 50_000


def test_an_endless_row_is_refused_before_it_fills_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_delimited_text, "_BLOCK", 64)
    monkeypatch.setattr(_delimited_text, "_LONGEST_ROW", 256)
    path = make(tmp_path, b'item,cluster\n1,a\n2,"' + b"SECRET\n" * 1000 + b'"\n')
    assert "row 2 " in refusal(lambda: read_table(path))
    monkeypatch.setattr(_delimited_text, "_LONGEST_HEADER", 16)
    path = make(tmp_path, b"x" * 99 + b"\n1\n")
    assert "the header" in refusal(lambda: read_table(path))


def test_polars_refusing_after_all_is_one_clear_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path, b"item\n1\n2\n")
    monkeypatch.setattr(_delimited_text, "csv_height", lambda *_: 3)
    assert "cannot be read as a table" in refusal(lambda: read_table(path))

    def broken(*_: object, **__: object) -> None:
        raise pl.exceptions.ComputeError(MARKER)

    monkeypatch.setattr(pl, "scan_csv", broken)
    assert "cannot be read as a table" in refusal(lambda: read_table(path))


# The grammar of RFC 4180, with either line end; small enough to be read and trusted.
CELL = r'(?:"(?:[^"]|"")*"|[^",\r\n]*)'
ROW = rf"{CELL}(?:,{CELL})*"
GRAMMAR = re.compile(rf"{ROW}(?:\r?\n{ROW})*\r?")


def oracle(text: str, fields: int) -> list[tuple[str | None, ...]] | None:
    """Return the rows below the header as the csv module reads them, or None where the text is no table."""
    if not GRAMMAR.fullmatch(text):
        return None
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))[1:]
    if fields == 1:
        rows = [row or [""] for row in rows]
    while rows and not rows[-1]:
        rows.pop()
    if not rows or any(len(row) != fields for row in rows):
        return None
    return [tuple(cell or None for cell in row) for row in rows]


LOOSE = st.lists(st.sampled_from(["a", ",", '"', "\n", "\r\n", "\r", '""', '","', "é"]), max_size=14).map("".join)
CELLS = st.sampled_from(["a", "", '""', '"x,y"', '"\n"', '"\r\n"', '"q""q"', " b", '"é"', '"""x"""', '"a\r"'])
NEAT = st.lists(st.lists(CELLS, min_size=1, max_size=3).map(",".join), max_size=6).map("\n".join)


@settings(deadline=None, max_examples=24)
@given(
    body=LOOSE | NEAT, fields=st.integers(1, 3), block=st.sampled_from([1, 5, 1 << 20]), end=st.sampled_from(["\n", ""])
)
def test_any_text_is_read_as_the_csv_module_reads_it_or_refused(
    tmp_path_factory: pytest.TempPathFactory, body: str, fields: int, block: int, end: str
) -> None:
    text = ",".join("abc"[:fields]) + "\n" + body + end
    path = make(tmp_path_factory.getbasetemp(), text.encode(), "fuzz.csv")
    rows = oracle(text, fields)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_delimited_text, "_BLOCK", block)
        if rows is None:
            refusal(lambda: read_table(path))
        else:
            assert read_table(path).rows() == rows


@settings(deadline=None, max_examples=22)
@given(
    rows=st.integers(1, 40),
    data=st.data(),
    defect=st.sampled_from([b"a,b,c", b"a", b'"a"x,b', b'a,b"c', b"a\rb,c"]),
    block=st.sampled_from([3, 50, 1 << 20]),
)
def test_the_number_of_the_wrong_row_is_right(
    tmp_path_factory: pytest.TempPathFactory, rows: int, data: st.DataObject, defect: bytes, block: int
) -> None:
    row = data.draw(st.integers(1, rows))
    good = data.draw(st.lists(st.sampled_from([b"1,2", b'"1\n1","2"', b"\xc3\xa9,"]), min_size=rows, max_size=rows))
    lines = [b"item,cluster", *good]
    lines[row] = defect
    path = make(tmp_path_factory.getbasetemp(), b"\n".join(lines) + b"\n", "row.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_delimited_text, "_BLOCK", block)
        assert f"at row {row} (" in refusal(lambda: read_table(path))


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@settings(deadline=None)
@given(pairs=st.lists(st.tuples(NAMES, NAMES), min_size=1), all_quoted=st.booleans())
def test_names_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], all_quoted: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "names.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        # With "\n" between rows the csv module leaves a carriage return bare, and cannot read it back itself.
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n") if all_quoted else csv.writer(stream)
        writer.writerows([("item", "cluster"), *pairs])
    assert read_table(path, PARTITION).rows() == pairs


@settings(deadline=None, max_examples=24)
@given(
    content=st.binary(max_size=200)
    | st.builds(bytes.__add__, st.sampled_from([b"item,cluster\n", b"PAR1", b"\x1f\x8b\x08", b"a\n"]), st.binary())
)
def test_any_bytes_give_a_table_or_a_clear_refusal(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = make(tmp_path_factory.getbasetemp(), content, "bytes.csv")
    for as_text in (True, False):
        try:
            frame = read_table(path, as_text=as_text)
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017
        else:
            assert frame.height > 0


def test_suggestions_forgive_case_and_blanks() -> None:
    assert did_you_mean("cluster", ["item", " Cluster"]) == " Did you mean ' Cluster'?"
    assert did_you_mean("cluster", ["colour"]) == ""


def test_importing_the_readers_loads_no_polars() -> None:
    modules = "sys, unveil.data.partitions, unveil.data.samples, unveil.data.files.write"
    code = f"import {modules}; print('polars' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def test_a_file_can_be_written_again_as_its_owner_wrote_it(tmp_path: Path) -> None:
    text = 'código;income;"no;te"\n007;1.234,50;\n010;2.000,00;"a ""b"""\n'
    path = tmp_path / "people.csv"
    path.write_bytes(text.encode("cp1252"))
    written = read_as_written(path)
    assert written[1:] == (".csv", ";", "cp1252", True)
    assert written.frame.write_csv(separator=";") == text
    assert read_file(path).frame["income"].to_list() == ["1234.50", "2000.00"]
    assert read_as_written(path, FileSettings(header="no", encoding="cp1252")).header is False
    typed = pl.DataFrame({"code": ["007", None], "age": [1, 2]})
    typed.write_parquet(tmp_path / "people.parquet")
    typed.write_ipc(tmp_path / "people.feather")
    for name, suffix in (("people.parquet", ".parquet"), ("people.feather", ".csv")):
        again = read_as_written(tmp_path / name)
        assert again.suffix == suffix
        assert again.frame.equals(typed)
