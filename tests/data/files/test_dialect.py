"""A table is the same table in whatever spelling it was written, and what could not be told is said."""

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.files import SPELLINGS, Spelling, write
from tests.data.refusals import MARKER, refusal
from unveil.data import samples
from unveil.data.files._encoding import encoding_of
from unveil.data.files.dialect import LOOKED_AT, Dialect, dialect_of
from unveil.data.files.read import read_file, read_table
from unveil.data.files.settings import FileSettings
from unveil.data.matrices.matchings import read_frequencies, read_matrix
from unveil.data.partitions import read_partition, read_weights
from unveil.data.table import Table
from unveil.questions.attack_metrics.read import read_candidates

MORE = (Spelling("\t", ".", "utf-16-le"), Spelling("|", ",", "utf-8-sig"), Spelling(";", ",", "utf-32"))


@pytest.mark.parametrize("name", ["anes96.csv", "partition_truth.csv", "matching_ranges.csv"])
@pytest.mark.parametrize("spelling", SPELLINGS + MORE)
def test_the_tables_inside_unveil_are_the_same_in_every_spelling(tmp_path: Path, name: str, spelling: Spelling) -> None:
    with samples.path(name).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert write(tmp_path / "other.csv", rows, spelling)
    one, other = Table.read(samples.path(name)), Table.read(tmp_path / "other.csv")
    assert other.frame.equals(one.frame)
    assert [(each.kind, each.role) for each in other.columns] == [(each.kind, each.role) for each in one.columns]
    assert bool(other.notes) == (spelling.separator != "," or spelling.encoding not in ("utf-8", "mac-roman"))


WORDS = st.text("abcäöüéß ,;|\t\"'\n-", min_size=1, max_size=8).filter(lambda text: text.strip() != "")
NUMBERS = st.decimals(-99, 99, places=2).map(str)
TABLES = st.lists(st.tuples(NUMBERS, WORDS, st.integers(-9999, 9999).map(str)), min_size=1, max_size=9)


@settings(deadline=None, max_examples=60)
@given(rows=TABLES, spelling=st.sampled_from(SPELLINGS + MORE), quoted=st.booleans(), end=st.booleans())
def test_what_is_written_in_one_of_the_spellings_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]], spelling: Spelling, quoted: bool, end: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "spelling.csv"
    cells = [[number.replace(".", spelling.decimal), *others] for number, *others in rows]
    text = io.StringIO(newline="")
    writer = csv.writer(
        text,
        delimiter=spelling.separator,
        quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL,
        lineterminator="\r\n" if end else "\n",
    )
    writer.writerows([("income", "town", "age"), *cells])
    path.write_bytes(text.getvalue().encode(spelling.encoding))
    # What three words say about an encoding of one byte a sign is little; that is not asked here.
    one_byte = spelling.encoding in ("cp1252", "mac-roman")
    found = read_file(path, FileSettings(header="yes", encoding=spelling.encoding if one_byte else "detect"))
    assert found.frame.rows() == rows


RULES = {
    "decimal commas do not fool the separator": ("a;b\n3,5;4,1\n2,5;4,2\n", Dialect(separator=";", decimal=",")),
    "nor where there is no header": ("3,5;4,1;1,5\n2,5;4,2;1,25\n", Dialect(separator=";", decimal=",")),
    "most rows, then most cells": ("a|b|c,d\n1|2|x,y\n1|2|y,z\n", Dialect(separator="|")),
    "a sign in quotes is none": ('a;b\n"x,y";1\n"y,z";2\n', Dialect(separator=";")),
    "one column": ("town\nUlm\nBonn\n", Dialect()),
    "a line for a spreadsheet": ("sep=;\na;b\n1;2\n", Dialect(separator=";", skipped=1)),
    "remarks": ("# made, by; me\n# on monday\na,b\n1,2\n", Dialect(skipped=2)),
    "a header that looks like a remark": ("#id\tage\nx\t31\ny\t40\n", Dialect(separator="\t")),
    "a name that looks like a remark": ("# of children,age\n2,31\n3,40\n", Dialect()),
    "a remark with as many cells": ("# made, 2020\nage,town\n31,Ulm\n40,Ulm\n", Dialect(skipped=1)),
    "colours without a header": ("#fff\n#000\n#abc\n", Dialect()),
    "apostrophes": ("'a','b'\n'x,y',1\n'z',2\n", Dialect(quote="'")),
    "points between thousands": ("a;b\n1.234,5;1\n17,25;2\n", Dialect(separator=";", decimal=",")),
    "only points between thousands": ("a;b\n1.234.567;1\n2.345.678;2\n", Dialect(separator=";", decimal=",")),
    "thousands or decimals": ("a;b\n1,234;1\n2,345;2\n", Dialect(separator=";", grouped=True, doubt="thousands")),
    "thousands beside decimals": ('a,b\n"1,234",1.5\n"2,345",2.5\n', Dialect(grouped=True)),
    "surely thousands": ('a,b\n"1,234,567",1\n"2,345.5",2\n', Dialect(grouped=True)),
    "either mark": ("a;b\n1,25;1.5\n2,75;2.5\n", Dialect(separator=";", doubt="both")),
    "ten times as many": ("a;b\n" + "1,25;3\n" * 10 + "1,25;1.5\n", Dialect(separator=";", decimal=",")),
    "lists are no numbers": ("a;b\n1,2,3;x\n2,3;y\n1,2,3,4;z\n", Dialect(separator=";")),
    "dates are no numbers": ("a;b\n12.03.2020;1,5\n13.04.2021;2,5\n", Dialect(separator=";", decimal=",")),
    "Swiss numbers": ("a;b\n1'234.50;x\n2'345.75;y\n", Dialect(separator=";", grouped=True)),
}


@pytest.mark.parametrize("case", RULES)
def test_each_rule_decides_as_it_says(case: str) -> None:
    text, wanted = RULES[case]
    assert dialect_of(text.encode(), FileSettings()) == wanted
    assert dialect_of(b"\xef\xbb\xbf" + text.encode(), FileSettings()) == wanted


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("a;b\n1.234,5;x\n,5;y\n-17;z\nk.A.;u\n1,5e3;v\n", ["1234.5", ".5", "-17", "k.A.", "1.5e3"]),
        (
            'a;b\n<0,5;x\n0,5 - 1,5;y\n≥1.234,5;z\n"[2,5; 3,5)";u\n99,5+;v\n',
            ["<0.5", "0.5-1.5", "≥1234.5", "[2.5;3.5)", "99.5+"],
        ),
        ('a,b\n"1,234",x\n"12,345",y\n', ["1234", "12345"]),
        ("a;b\n1 234,5;x\n2\u00a0345,5;y\n", ["1234.5", "2345.5"]),
        ("a;b\n1 234;x,5\n2 345;y\n", ["1 234", "2 345"]),
        ("a;b\n12.5;1,5\n7.25;2,5\n" + "7.25;2,75\n" * 9, None),
    ],
)
def test_numbers_become_plain_and_nothing_else_does(tmp_path: Path, text: str, numbers: list[str] | None) -> None:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    column = read_file(tmp_path / "a.csv", FileSettings(header="yes")).frame["a"].to_list()
    written = [row[0] for row in list(csv.reader(io.StringIO(text), delimiter=";"))[1:]]
    assert column == (written if numbers is None else numbers)


ENCODINGS = {
    "cp1252": "Größe;Straße\nMüller;für 5 €\nZoë;naïve façade\n",
    "cp1250": "miasto;imię\nŁódź;Żółć\nGdańsk;Świętosław\n",
    "mac-roman": "Größe;Straße\nMüller;für\nÄtna;öfter\n",
    "cp437": "Größe;Straße\nMüller;für\nÄtna;öfter\n",
    "utf-8": "Größe;Žluťoučký\n漢字;🦊\n",
    "utf-16": "Größe;Žluťoučký\n漢字;🦊\n",
    "utf-16-le": "Größe;Name\nMüller;Jörg\n",
    "utf-16-be": "Größe;Name\nMüller;Jörg\n",
    "utf-32": "Größe;Name\nMüller;Jörg\n",
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_encoding_is_told_by_its_bytes(tmp_path: Path, encoding: str) -> None:
    text = ENCODINGS[encoding]
    assert encoding_of(text.encode(encoding)) == encoding
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    found = read_file(tmp_path / "a.csv", FileSettings(header="yes"))
    assert [tuple(found.frame.columns), *found.frame.rows()] == [tuple(row.split(";")) for row in text.splitlines()]


@pytest.mark.parametrize("content", [b"\x00\x01\x02\x03" * 9, b"\x89PNG\r\n\x1a\n\xff\xfa\x01", b"\xe9\x01\xe9"])
def test_bytes_that_are_no_text_have_no_encoding(content: bytes) -> None:
    assert encoding_of(content) is None


def test_letters_that_come_late_are_read_and_a_mixture_is_not(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    early = "age,town\n" + "31,Ulm\n" * (LOOKED_AT // 6)
    path.write_bytes((early + "40,Köln\n").encode("cp1252"))
    table = Table.read(path)
    assert table.frame["town"][-1] == "Köln"
    assert "Windows-1252" in table.notes[0]
    assert read_table(path, {"town": "town"})["town"][-1] == "Köln"
    path.write_bytes((early + "40,Köln\n").encode() + f"41,{MARKER}ö\n".encode("cp1252"))
    assert "it is not in UTF-8, as the text before it. Save the file again as UTF-8" in refusal(
        lambda: Table.read(path)
    )
    assert Table.read(path, encoding="cp1252").rows == LOOKED_AT // 6 + 2


def test_a_sign_that_is_cut_where_the_look_ends_is_no_other_encoding(tmp_path: Path) -> None:
    path = tmp_path / "cut.csv"
    for shift in range(4):
        path.write_bytes(b"age,town\n" + b"1" * shift + "1,🦊🦊🦊🦊\n".encode() * (LOOKED_AT // 19 + 9))
        assert Table.read(path).notes == ()


def test_what_is_detected_is_said_in_one_line_and_plain_files_say_nothing(tmp_path: Path) -> None:
    path = tmp_path / "semi.csv"
    path.write_bytes("Größe;Ort\n1,75;Köln\n1,83;Köln\n".encode("cp1252"))
    assert Table.read(path).notes == (
        "semi.csv: read with semicolons, decimal commas, Windows-1252, header in line 1 (--separator, --decimal, "
        "--encoding, --header to overrule)",
    )
    path.write_bytes(b"# made by me\n12,town\n1,Ulm\n2,Bonn\n")
    assert Table.read(path, header="no", name="people").notes == (
        "people: read with no header, data from line 2 (--header to overrule)",
    )
    path.write_bytes(b"\xef\xbb\xbfage,town\n31,Ulm\n40,Ulm\n")
    assert Table.read(path).notes == ()
    path.rename(tmp_path / "semi.tsv")
    (tmp_path / "semi.tsv").write_bytes(b"age\ttown\n31\tUlm\n40\tUlm\n")
    assert Table.read(tmp_path / "semi.tsv").notes == ()
    assert "unless they are decimal commas" in Dialect(doubt="thousands", grouped=True).words()
    assert "many numbers seem to have decimal commas" in Dialect(doubt="both").words()


def test_what_is_told_overrules_what_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "told.csv"
    path.write_text("a;b\n1,234;x\n2,345;y\n", encoding="utf-8")
    assert Table.read(path).frame["a"].to_list() == [1234, 2345]
    assert Table.read(path, decimal="comma").frame["a"].to_list() == [1.234, 2.345]
    assert Table.read(path, separator="|", header="yes").column_names == ("a;b",)
    path.write_bytes("ort,n\nKöln,1\nKöln,2\n".encode("cp1252"))
    assert Table.read(path, encoding="cp437").frame["ort"][0] == "K÷ln"
    assert "must be in ascii, but is not in line 2" in refusal(lambda: Table.read(path, encoding="ascii"))
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    assert read_table(path, separator="semicolon").rows() == [("1,2",)]


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"separator": "x"}, "separator must be one of detect, comma, semicolon, tab, bar, pipe"),
        ({"decimal": ";"}, "decimal must be one of detect, comma, point"),
        ({"encoding": "klingon"}, "'klingon' is none"),
        ({"encoding": "punycode"}, "'punycode' is none"),
        ({"encoding": "utf-7"}, "'utf-7' is none"),
        ({"encoding": "unicode_escape"}, "'unicode_escape' is none"),
        ({"encoding": "base64"}, "'base64' is none"),
        ({"header": "maybe"}, "header must be one of detect, yes, no"),
        ({"separator": ",", "decimal": ","}, "both are commas"),
    ],
)
def test_settings_are_checked(told: dict[str, str], says: str) -> None:
    assert says in refusal(lambda: FileSettings(**told))  # type: ignore[arg-type]


def test_every_reader_reads_other_spellings(tmp_path: Path) -> None:
    def file(name: str, text: str) -> Path:
        (tmp_path / name).write_bytes(text.encode("utf-16"))
        return tmp_path / name

    assert read_partition(file("p.csv", "item;cluster\n1,5;x\nb;y\n")).rows() == [("1,5", "x"), ("b", "y")]
    guess = file("c.csv", "target\tcandidate\tprobability\n1,5\tAnn\t0,75\n1,5\tBea\t0,25\n")
    assert read_candidates(guess).rows() == [("1,5", "Ann", 0.75), ("1,5", "Bea", 0.25)]
    assert read_weights(file("w.csv", "item|weight\na|0,5\nb|1\n")).rows() == [("a", 0.5), ("b", 1.0)]
    assert read_frequencies(file("f.csv", "token;frequency\nu;0,5\nv;0,25\n")).frequency.tolist() == [0.5, 0.25]
    for text in ("0,5;0,5\n0,25;0,75\n", ";u;v\na;0,5;0,5\nb;0,25;0,75\n"):
        assert read_matrix(file("m.csv", text)).matrix.tolist() == [[0.5, 0.5], [0.25, 0.75]]


def test_columns_of_one_name_are_one_where_their_cells_are(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("age,town,age,\n31,Ulm,31,\n40,Ulm,40,\n", encoding="utf-8")
    table = Table.read(path)
    assert table.column_names == ("age", "town", "")
    assert table.notes == ("twice.csv: columns 1 and 3 have the same name and the same cells, and one of them is kept",)
    assert read_table(path, {"age": "age"})["age"].to_list() == ["31", "40"]
    path.write_text(f"{MARKER},town,{MARKER}\n31,Ulm,31\n40,Ulm,41\n", encoding="utf-8")
    assert "columns 1 and 3 of its 3 (counted from 1) have the same name and other cells" in refusal(
        lambda: read_table(path)
    )


@settings(deadline=None, max_examples=40)
@given(head=st.binary(max_size=60) | st.text(",;|\t\"'\n #1.ab", max_size=40).map(str.encode), cut=st.booleans())
def test_a_dialect_is_found_in_whatever_text(head: bytes, cut: bool) -> None:
    found = dialect_of(head, FileSettings(), cut=cut)
    assert found.separator in ",;\t|"
    assert found.decimal in ".,"
    assert head.count(b"\n") >= found.skipped
    assert isinstance(pl.Series([found.words()])[0], str)
