import gzip
import hashlib
import os
import threading
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import unveil.data
from tests.data.refusals import MARKER, refusal
from unveil.data.table import Table, agree
from unveil.data.table.encode import encode
from unveil.data.table.release import Knowledge, Release
from unveil.errors import InputError

PEOPLE = {
    "age": [39, None, 50],
    "income": [1.5, 2.25, None],
    "town": ["Ulm", None, "Bonn"],
    "smoker": [True, False, None],
    "born": [date(1980, 1, 1), None, date(1970, 12, 31)],
}
KINDS = ["number", "number", "category", "boolean", "date"]


def facts(table: Table) -> list[tuple[str, str, str, int]]:
    return [(column.name, column.kind, column.role, column.missing) for column in table.columns]


def pandas_nullable() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": pd.array([39, None, 50], dtype="Int64"),
            "income": [1.5, 2.25, np.nan],
            "town": ["Ulm", None, "Bonn"],
            "smoker": pd.array([True, False, None], dtype="boolean"),
            "born": pd.to_datetime(["1980-01-01", None, "1970-12-31"]),
        }
    )


@pytest.mark.parametrize(
    "frame",
    [pl.DataFrame(PEOPLE), pa.table(PEOPLE), pandas_nullable(), pa.table(PEOPLE).to_pandas()],
    ids=["polars", "pyarrow", "pandas", "pandas objects"],
)
def test_every_library_gives_the_same_table(frame: Any) -> None:
    table = Table.from_frame(frame)
    assert facts(table) == [(name, kind, "known", 1) for name, kind in zip(PEOPLE, KINDS, strict=True)]
    wanted = Table.from_frame(pl.DataFrame(PEOPLE))
    one, other = (encode([each], list(PEOPLE))[0] for each in (table, wanted))
    assert one.numbers.tolist() == other.numbers.tolist()
    assert one.codes.tolist() == other.codes.tolist()


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz", "people.parquet"])
def test_files_give_the_same_table(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    frame = pl.DataFrame(PEOPLE)
    if name.endswith("parquet"):
        frame.write_parquet(path)
    else:
        content = frame.write_csv().encode()
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    table = Table.read(path)
    wanted = Table.from_frame(frame)
    assert table.name == name
    assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert facts(table) == facts(wanted)
    assert table.frame.equals(wanted.frame)
    assert wanted.sha256 is None


def test_a_file_keeps_what_text_can_say(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("ward,long,mark\n007,9007199254740993,?\n012,12345678901234567890,3\n")
    table = Table.read(path, missing=["?"], name="original", roles={"mark": "sensitive"})
    assert table.frame.rows() == [("007", 2**53 + 1, None), ("012", 12345678901234567890, 3)]
    assert facts(table) == [
        ("ward", "category", "known", 0),
        ("long", "number", "known", 0),
        ("mark", "number", "sensitive", 1),
    ]
    reason = "number: every cell is a whole number, with 1 marker for missing values; sensitive: as given"
    assert table.column("mark").reason == reason
    assert table.column("mark").role_told
    assert not table.column("mark").kind_told


def test_some_rows_of_a_file_do_not_have_its_hash(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,town\n31,Ulm\n40,Bonn\n")
    table = Table.read(tmp_path / "people.csv")
    assert table.sha256 is not None
    assert table.take([1, 0]).sha256 is None
    assert table.extremes().sha256 is None


def test_a_pipe_is_read_once_and_has_no_hash(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("age,town\n30,Ulm\n",))
    writer.start()
    table = Table.read(pipe)
    writer.join()
    assert table.frame.rows() == [(30, "Ulm")]
    assert table.sha256 is None


def test_objects_of_several_types_are_compared_as_text() -> None:
    frame = pd.DataFrame(
        {
            "mixed": pd.Series([1, "a", None, True], dtype=object),
            "long": pd.Series([2**70, 1, None, -5], dtype=object),
            "gone": pd.Series([pd.NA, "x", 2.5, float("nan")], dtype=object),
            "span": pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3, 4]),
        }
    )
    table = Table.from_frame(frame)
    assert [kind for _, kind, _, _ in facts(table)] == ["category", "number", "category", "ordered"]
    assert table.frame["mixed"].to_list() == ["1", "a", None, "True"]
    assert table.frame["long"].to_list() == [2**70, 1, None, -5]
    assert table.frame["gone"].to_list() == [None, "x", "2.5", None]
    assert "several types (bool, int, str), compared as text" in table.column("mixed").reason
    objects = pl.DataFrame({"x": pl.Series([object, 1], dtype=pl.Object)})
    assert "several types" in Table.from_frame(objects).column("x").reason


def test_orders_and_categories_of_pandas_and_arrow_are_kept() -> None:
    sizes = ["small", "large", None, "small"]
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(sizes, categories=["small", "mid", "large"], ordered=True),
            "town": pd.Categorical(["b", "a", None, "b"]),
            "seen": pd.to_datetime(["2020-01-01 12:00"] * 4).tz_localize("Europe/Paris"),
        }
    )
    table = Table.from_frame(frame)
    assert [kind for _, kind, _, _ in facts(table)] == ["ordered", "category", "date"]
    assert encode([table], ["size"])[0].numbers[:, 0].tolist()[:2] == [0, 1]
    assert table.frame["seen"][0] == datetime(2020, 1, 1, 11)
    assert Table.from_frame(pa.table({"x": pa.array(["a", "b"]).dictionary_encode()})).column("x").kind == "category"


def test_labels_that_are_no_text_become_text() -> None:
    table = Table.from_frame(pd.DataFrame([[1, 2]], columns=[1, ("a", 2)]))
    assert table.column_names == ("1", "('a', 2)")
    assert table.rows == 1


def test_the_table_never_shows_a_row() -> None:
    table = Table.from_frame(pl.DataFrame({"x": [MARKER, "b"]}))
    assert MARKER not in repr(table)
    assert MARKER not in repr(Release(table, table))


def test_what_is_passed_stays_as_it_is() -> None:
    frame = pl.DataFrame({"x": ["1", "", "?"], "y": [1.5, float("nan"), 2.0]})
    before = frame.clone()
    Table.from_frame(frame, missing=["?"])
    assert frame.equals(before)


def test_select_and_take() -> None:
    table = Table.from_frame(pl.DataFrame(PEOPLE), roles={"age": "sensitive"})
    some = table.select(["town", "age"]).take(np.array([2, 0]))
    assert some.frame.rows() == [("Bonn", 50), ("Ulm", 39)]
    assert facts(some) == [("town", "category", "known", 0), ("age", "number", "sensitive", 0)]
    assert table.take([1, 1]).column("age").missing == 2
    assert "Did you mean 'age'?" in refusal(lambda: table.select(["Age "]))
    assert "has 'age', 'income'" in refusal(lambda: table.column("nothing"))


@pytest.mark.unwatched
def test_more_than_a_thousand_columns(tmp_path: Path) -> None:
    wide = pl.DataFrame({f"column {at}": ["1", f"w{at}" if at % 2 else "2"] for at in range(1_200)})
    path = tmp_path / "wide.csv"
    wide.write_csv(path)
    table = Table.read(path)
    assert len(table.columns) == 1_200
    assert [column.kind for column in table.columns[:2]] == ["number", "category"]
    (encoded,) = encode([table], table.column_names)
    assert (encoded.numbers.shape, encoded.codes.shape) == ((2, 600), (2, 600))
    assert encoded.exact
    assert agree(table, table)[1].column_names == table.column_names
    assert "and 1190 more" in refusal(lambda: table.column("x"))


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pl.DataFrame({"a": []}), "but has no row"),
        (pl.DataFrame(), "but has no column"),
        (pd.DataFrame({"a": []}), "but has no row"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), "more than one is called 'a'"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "more than one is called '1'"),
        (pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), "more than one is called 'a'"),
        ([[1, 2]], "but is a list"),
        ("people.csv", "but is a str. Read it with unveil.Table.read first"),
        (pl.DataFrame({"a": [[1], [2]]}), "lists or records"),
        (pl.DataFrame({"a": [{"b": 1}]}), "lists or records"),
        (pd.DataFrame({"a": pd.Series([(1, "x"), 2], dtype=object)}), "lists or records"),
        (pl.DataFrame({"a": [1.0, float("inf")]}), "1 infinite ones, the first in row 2"),
    ],
)
def test_what_is_no_table_is_refused(frame: Any, words: str) -> None:
    assert words in refusal(lambda: Table.from_frame(frame))


def test_what_is_told_of_a_column_that_is_not_there_is_refused() -> None:
    frame = pl.DataFrame({"age": [1]})
    assert "Did you mean 'age'?" in refusal(lambda: Table.from_frame(frame, kinds={"Age": "number"}))
    assert "roles names column 'x'" in refusal(lambda: Table.from_frame(frame, roles={"x": "known"}))
    wrong: Any = {"age": "secret"}
    assert "must be one of identifier, known" in refusal(lambda: Table.from_frame(frame, roles=wrong))


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    assert "does not exist" in refusal(lambda: Table.read(tmp_path / "nothing.csv"))


def made(name: str, /, *, kinds: Any = None, roles: Any = None, **columns: Any) -> Table:
    return Table.from_frame(pl.DataFrame(columns), name=name, kinds=kinds, roles=roles)


def test_agreeing_tables_have_the_same_columns_in_the_order_of_the_original() -> None:
    original = made("original", name=["Ann", "Bea"], age=[1, 2], town=["a", "b"])
    released = made("released", town=["a", "c"], age=[1.5, 2.5], weight=[1, 1])
    one, other = agree(original, released)
    assert one.column_names == other.column_names == ("age", "town")
    assert one.notes == ("1 column of the original left out, not being in all tables: 'name'",)
    assert other.notes == ("1 column of the released left out, not being in all tables: 'weight'",)
    assert [column.kind for column in other.columns] == ["number", "category"]
    assert other.frame.rows() == [(1.5, "a"), (2.5, "c")]
    assert original.notes == ()


def test_a_kind_or_role_told_for_one_counts_for_all() -> None:
    original = made("original", x=[1, 2], y=[1, 2])
    released = made("released", x=[1.0, 2.5], y=[1, 1], kinds={"x": "category"})
    control = made("control", x=["1", "no"], y=[0, 0], roles={"y": "sensitive"})
    tables = agree(original, released, control)
    assert [table.frame["x"].to_list() for table in tables] == [["1", "2"], ["1", "2.5"], ["1", "no"]]
    assert {table.column("x").kind for table in tables} == {"category"}
    assert {table.column("y").role for table in tables} == {"sensitive"}
    assert tables[0].column("x").reason == "category: as in the released; known: as in the original"


def test_the_original_says_what_is_an_identifier() -> None:
    tables = agree(made("original", id=[1, 2]), made("released", id=[1, 1]))
    assert [table.column("id").role for table in tables] == ["identifier", "identifier"]


def test_other_kinds_in_two_tables_are_refused() -> None:
    original, released = made("original", age=[1, 2]), made("released", age=[MARKER, "20-30", MARKER])
    message = refusal(lambda: agree(original, released))
    assert "'age' holds numbers in the original, but 67 % of the cells of the released are no such values" in message
    assert "Tell its kind with kinds={'age': 'category'}" in message
    told = made("original", age=[1, 2], kinds={"age": "number"})
    assert "67 % of the cells" in refusal(lambda: agree(told, released))
    other = made("released", age=["1", "2"], kinds={"age": "category"})
    assert "declared number in the original and category in the released" in refusal(lambda: agree(told, other))
    words = made("original", age=["old", MARKER])
    message = refusal(lambda: agree(words, made("released", age=[1, 2], kinds={"age": "number"})))
    assert "'age' of the original must hold numbers" in message
    assert "2 cells do not fit, the first in row 1" in message


def test_a_column_without_values_takes_the_kind_of_the_others() -> None:
    empty = pl.Series([None, None], dtype=pl.String)
    for tables in (
        agree(made("original", x=[1, 2]), made("released", x=empty)),
        agree(made("original", x=empty), made("released", x=[1, 2])),
    ):
        assert [table.column("x").kind for table in tables] == ["number", "number"]
        assert encode(tables, ["x"])[0].numbers.shape == (2, 1)
    assert agree(made("original", x=empty), made("released", x=empty))[0].column("x").kind == "category"


def test_long_text_and_category_agree() -> None:
    long = [f"A long opinion in many words about {at}" for at in range(4)]
    tables = agree(made("original", x=long), made("released", x=["short"] * 4))
    assert [table.column("x").kind for table in tables] == ["text", "text"]


def test_orders_of_two_tables_are_brought_together() -> None:
    original = made("original", x=pl.Series(["low", "high"], dtype=pl.Enum(["low", "high"])))
    wider = made("released", x=pl.Series(["mid"], dtype=pl.Enum(["low", "mid", "high"])))
    words = made("control", x=["high", "low", "low"])
    tables = agree(original, wider, words)
    assert {table.column("x").kind for table in tables} == {"ordered"}
    assert [each.numbers[:, 0].tolist() for each in encode(tables, ["x"])] == [[0, 2], [1], [2, 0, 0]]
    turned = made("released", x=pl.Series(["low"], dtype=pl.Enum(["high", "low"])))
    assert "its levels differ" in refusal(lambda: agree(original, turned))
    strange = made("released", x=["low", MARKER, MARKER])
    assert "67 % of the cells of the released are no such values" in refusal(lambda: agree(original, strange))
    places = agree(made("original", x=[1, 5], kinds={"x": "ordered"}), made("released", x=[1, 9]))
    assert [each.numbers[:, 0].tolist() for each in encode(places, ["x"])] == [[0, 1], [0, 2]]


def test_tables_without_a_common_column_are_refused() -> None:
    assert "have none in common" in refusal(lambda: agree(made("original", a=[1]), made("released", b=[1])))


def test_a_release_holds_tables_that_agree() -> None:
    original, released = made("original", id=[1, 2], x=[3, 4]), made("released", x=[4, 3])
    control = made("control", x=[5], y=[1])
    release = Release(original, released, control, kind="masked", name="first", notes=("told",))
    assert release.original.column_names == ("x",)
    assert release.control is not None
    assert release.control.frame.rows() == [(5,)]
    assert release.notes == (
        "told",
        "1 column of the original left out, not being in all tables: 'id'",
        "1 column of the control left out, not being in all tables: 'y'",
    )
    assert Release(original, original).released.rows == 2
    wrong: Any = "fake"
    assert "'masked', 'synthetic' or None" in refusal(lambda: Release(original, released, kind=wrong))
    assert Knowledge(original).control is None


def test_a_control_with_the_rows_of_the_original_is_refused() -> None:
    original, again = (
        made("original", x=[1, 2, 2], y=["a", "b", None]),
        made("control", x=[2, 1, 2], y=["b", "a", None]),
    )
    assert "has the same rows" in refusal(lambda: Release(original, original, again))
    other = made("control", x=[2, 1, 2], y=["a", "b", None])
    assert Release(original, original, other).control is not None


def test_the_package_gives_its_names_when_asked() -> None:
    assert unveil.data.Table is Table
    of_tables = {"Column", "ColumnStore", "Knowledge", "Release", "Table", "agree"}
    of_graphs = {"Graph", "GraphKnowledge", "GraphRelease", "draw_knowledge", "graph_from", "read_graph"}
    assert set(unveil.data.__all__) == of_tables | of_graphs | {"Ledger", "Query", "samples"}
    with pytest.raises(AttributeError, match="no attribute 'Tabel'"):
        _ = unveil.data.Tabel


def test_zones_of_files_and_frames_are_one_time(tmp_path: Path) -> None:
    path = tmp_path / "moments.csv"
    path.write_text("seen\n2020-06-01T14:00:00+02:00\n2020-06-01 12:00\n")
    frame = pl.DataFrame({"seen": [datetime(2020, 6, 1, 12, tzinfo=UTC)] * 2})
    one, other = agree(Table.read(path), Table.from_frame(frame))
    assert one.frame.equals(other.frame)


def test_extremes_reach_as_far_as_the_whole_table() -> None:
    table = Table.from_frame(
        pl.DataFrame({"a": [3, None, 1, 2], "b": ["x", None, "z", "y"], "": [True, False, None, None]})
    )
    assert table.extremes().frame.rows() == [(1, "x", False), (3, "z", True)]
    assert table.extremes().column_names == table.column_names


@pytest.mark.parametrize("pattern", ["^a.*$", "*", "^a\n$"])
def test_a_name_that_polars_takes_for_a_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match=r"column 2 of the table does\. Rename it"):
        Table.from_frame(pl.DataFrame({"a": [1], pattern: [2]}))


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([3, None, -1, 2]),
        pl.Series([0.5, None, -1.5]),
        pl.Series([True, None, False, True]),
        pl.Series([True, True]),
        pl.Series(["b", None, "ä", "a", "B"]),
        pl.Series(["high", None, "low"], dtype=pl.Enum(["low", "middle", "high"])),
        pl.Series([datetime(2020, 1, 2), None, datetime(2019, 1, 1)]),
        pl.Series([None, None], dtype=pl.String),
        pl.Series([5]),
        pl.Series([2**100, None, 1], dtype=pl.Int128),
    ],
    ids=lambda values: str(values.dtype),
)
def test_extremes_are_the_first_and_the_last_in_order(values: pl.Series) -> None:
    table = Table.from_frame(pl.DataFrame({"x": values}))
    held = table.frame["x"]
    found = table.extremes()
    # As an oracle: the ends of all values in order, missing only where all are.
    ordered = held.drop_nulls().sort()
    wanted = [ordered[0], ordered[-1]] if ordered.len() else [None, None]
    assert (found.frame["x"].to_list(), found.frame["x"].dtype) == (wanted, held.dtype)
