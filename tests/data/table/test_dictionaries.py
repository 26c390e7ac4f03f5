import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.data.refusals import MARKER, refusal
from unveil.data.table import Dictionary, Marker, Table, dictionary_of_labels, read_dictionary, write_kinds
from unveil.data.table.dictionaries import DictionaryEntry
from unveil.errors import InputError

NIST = {
    "AGEP": {"description": "Person's age", "values": {"min": 0, "max": 99}},
    "SEX": {"description": "Sex", "values": {"1": "Male", "2": "Female"}},
    "MSP": {"description": "Status", "values": {"N": "N/A (child)", "1": "Married", "2": "Widowed", "3": "Single"}},
    "DVET": {
        "description": "Rating",
        "values": {"N": "N/A", "1": "0 percent", "2": "10 or 20 percent", "3": "30 percent", "6": "Not reported"},
    },
    "EDU": {"description": "Attainment", "values": {"1": "None", "2": "School", "3": "College"}},
    "Q1": {"description": "Kind of house", "values": {"a": "Flat", "b": "Hut", "c": "Tent"}},
    "Q2": {"description": "Something", "values": {"1": "Red", "2": "Green", "3": "Blue"}},
    "INDP": {"description": "Industry codes"},
    "NOC": {"description": "Children", "values": {"N": "N/A", "0": "None", "min": 1, "max": 19}},
    "GONE": {"description": "A column that is not there", "values": {"min": 0, "max": 1}},
}
COLUMNS = {
    "AGEP": [str(at % 50) for at in range(60)],
    "SEX": ["1", "2"] * 30,
    "MSP": ["N", "1", "2", "3"] * 15,
    "DVET": ["N", "1", "2", "3", "6"] * 12,
    "EDU": ["1", "2", "3"] * 20,
    "Q1": ["a", "b", "c"] * 20,
    "Q2": ["1", "2", "3"] * 20,
    "INDP": [str(100 + at % 25) for at in range(60)],
    "NOC": ["N", "0", "1", "2", "5"] * 12,
    "free": ["x", "y", "z"] * 20,
}


def written(folder: Path, told: Any, name: str = "dictionary.json") -> Path:
    path = folder / name
    path.write_text(told if isinstance(told, str) else json.dumps(told), encoding="utf-8")
    return path


def kinds(table: Table) -> dict[str, tuple[str, str]]:
    return {column.name: (column.kind, column.confidence) for column in table.columns}


def test_a_dictionary_of_codes_and_labels_goes_before_guesses(tmp_path: Path) -> None:
    table = Table.from_frame(pl.DataFrame(COLUMNS), dictionary=written(tmp_path, NIST))
    assert kinds(table) == {
        "AGEP": ("number", "dictionary"),
        "SEX": ("category", "dictionary"),
        "MSP": ("category", "dictionary"),
        "DVET": ("ordered", "dictionary"),
        "EDU": ("ordered", "dictionary"),
        "Q1": ("category", "dictionary"),
        "Q2": ("category", "uncertain"),
        "INDP": ("category", "dictionary"),
        "NOC": ("number", "dictionary"),
        "free": ("category", "sure"),
    }
    assert table.column("DVET").markers == (Marker("N", "not applicable"), Marker("6", "missing"))
    assert table.frame["DVET"].unique().sort().to_list() == [None, 1, 2, 3]
    assert table.frame["MSP"].null_count() == 0
    assert table.column("MSP").markers == (Marker("N", "not applicable"),)
    assert table.notes == ("dictionary.json names 1 columns that the table has not: 'GONE'",)
    assert "as dictionary.json says: the labels of its codes are numbers" in table.column("DVET").reason


def test_what_is_told_goes_before_the_dictionary(tmp_path: Path) -> None:
    frame = pl.DataFrame(COLUMNS)
    table = Table.from_frame(frame, dictionary=written(tmp_path, NIST), kinds={"SEX": "number", "DVET": "category"})
    assert kinds(table)["SEX"] == ("number", "given")
    assert kinds(table)["DVET"] == ("category", "given")


def test_codes_that_no_label_explains_and_numbers_out_of_range_are_noted(tmp_path: Path) -> None:
    path = written(tmp_path, {name: NIST[name] for name in ("EDU", "AGEP")})
    odd = {"EDU": ["1", "2", "3", "7"] * 25, "AGEP": [*map(str, range(98)), "150", "151"]}
    notes = Table.from_frame(pl.DataFrame(odd), dictionary=path).notes
    check = "check that dictionary.json belongs to this table"
    assert notes == (
        f"25.0 % of the rows have codes that it does not explain in 'EDU'; {check}",
        f"2.0 % of the rows have numbers out of the range that it gives in 'AGEP'; {check}",
    )
    few = {"EDU": ["1", "2", "3", "1"] * 25, "AGEP": [*map(str, range(98)), "99", "151"]}
    assert Table.from_frame(pl.DataFrame(few), dictionary=path).notes == ()


def test_a_dictionary_that_contradicts_the_data_is_refused_without_a_cell(tmp_path: Path) -> None:
    path = written(tmp_path, {"AGEP": NIST["AGEP"]})
    message = refusal(lambda: Table.from_frame(pl.DataFrame({"AGEP": ["1", MARKER, "2"]}), dictionary=path))
    assert "'AGEP' of the table must hold numbers (by dictionary.json)" in message
    assert "1 cell does not fit, the first in row 2" in message


@pytest.mark.parametrize(
    ("told", "name", "words"),
    [
        ({"AGEP": {"values": {"min": 99, "max": 0}}}, "d.json", "two numbers, the lower one first"),
        ({"AGEP": {"values": {"min": "low", "max": 0}}}, "d.json", "two numbers, the lower one first"),
        ({"AGEP": {"values": {"min": 1}}}, "d.json", "two numbers, the lower one first"),
        ({"AGEP": 3}, "d.json", "is not a data dictionary"),
        ([1], "d.json", "is not a data dictionary"),
        ({}, "d.json", "is not a data dictionary"),
        ({"fields": [{"type": "integer"}]}, "d.json", "number 1 has none"),
        ({"fields": [3]}, "d.json", "number 1 has none"),
        ("not JSON", "d.json", "must be JSON"),
        (
            "[columns.age]\nkind = 'amount'",
            "d.toml",
            "The type of column 'age' in d.toml is unknown. Available: number",
        ),
        (
            "[columns.age]\nrole = 'secret'",
            "d.toml",
            "The role of column 'age' in d.toml is unknown. Available: identifier",
        ),
        ("[columns.age]\nkinds = 'number'", "d.toml", "Unknown key 'kinds' of column 'age'"),
        ("[columns.age]\nmarkers = ['N']", "d.toml", 'Write markers = {"N" = "not applicable"}'),
        (
            "[columns.age]\nmarkers = {N = 'gone'}",
            "d.toml",
            "A marker of column 'age' in d.toml is unknown. Available: ",
        ),
        ("[columns]\nage = 'number'", "d.toml", 'Write [columns."age"] above it'),
        ("kinds = 3", "d.toml", "one table [columns.NAME] for each column"),
        ("[columns", "d.toml", "must be TOML"),
    ],
)
def test_a_dictionary_that_cannot_be_read_is_refused(tmp_path: Path, told: Any, name: str, words: str) -> None:
    assert words in refusal(lambda: read_dictionary(written(tmp_path, told, name)))


def test_a_frictionless_schema_is_read(tmp_path: Path) -> None:
    schema = {
        "missingValues": ["", "-7"],
        "fields": [
            {"name": "age", "type": "integer"},
            {"name": "born", "type": "date"},
            {"name": "sex", "type": "integer", "constraints": {"enum": [1, 2, 3]}},
            {"name": "health", "type": "string", "categories": ["bad", "fair", "good"], "categoriesOrdered": True},
            {
                "name": "job",
                "type": "integer",
                "categories": [{"value": 1, "label": "Cook"}, {"value": 9, "label": "Refused"}],
                "missingValues": ["-1"],
            },
            {"name": "free", "type": "any"},
        ],
    }
    frame = pl.DataFrame(
        {
            "age": ["30", "-7", "31"],
            "born": ["1990-01-01", "", "1991-01-01"],
            "sex": [1, 2, 3],
            "health": ["good", "bad", "-7"],
            "job": [1, 9, -1],
            "free": ["a", "b", "c"],
        }
    )
    for told in (schema, {"resources": [{"name": "people", "schema": schema}]}):
        table = Table.from_frame(frame, dictionary=written(tmp_path, told))
        assert [kind for kind, _ in kinds(table).values()] == [
            "number",
            "date",
            "category",
            "ordered",
            "category",
            "category",
        ]
        assert table.frame["age"].to_list() == [30, None, 31]
        assert table.frame["health"].to_physical().to_list() == [2, 0, None]
        assert table.frame["job"].to_list() == ["1", None, None]
        assert table.column("free").confidence == "sure"


def test_csv_on_the_web_is_read(tmp_path: Path) -> None:
    columns = [
        {"name": "age", "datatype": "integer", "null": ["?", "-1"]},
        {"titles": "sex", "datatype": {"base": "string", "format": "f|m|x"}},
        {"titles": ["seen", "Gesehen"], "datatype": "date"},
        {"name": "ok", "datatype": "boolean"},
        {"name": "free", "datatype": "string"},
    ]
    frame = pl.DataFrame(
        {
            "age": ["-1", "2"],
            "sex": ["f", "m"],
            "seen": ["2020-01-01", "2020-01-02"],
            "ok": ["1", "0"],
            "free": ["7", "8"],
        }
    )
    for told in ({"tableSchema": {"columns": columns}}, {"tables": [{"tableSchema": {"columns": columns}}]}):
        table = Table.from_frame(frame, dictionary=written(tmp_path, told))
        assert [kind for kind, _ in kinds(table).values()] == ["number", "category", "date", "boolean", "number"]
        assert table.frame["age"].to_list() == [None, 2]


def test_labels_in_a_file_are_believed_less_than_a_dictionary() -> None:
    labels: dict[str, dict[Any, str]] = {
        "sex": {1.0: "male", 2.0: "female"},
        "mood": {1.0: "bad", 2.0: "fair", 3.0: "good", 9.0: "Refused"},
        "pay": {0.0: "nothing", 99999.0: "Don't know"},
        "reason": {".a": "not asked", 1: "work", 2: "study", 3: "love"},
    }
    told = dictionary_of_labels(
        labels,
        {"mood": "ordinal", "sex": "nominal", "age": "scale", "pay": "unknown"},
        {"age": [(-9, -1), 999], "pay": [{"lo": 99999, "hi": 99999}], "reason": [".a"]},
        name="people.sav",
    )
    frame = pl.DataFrame(
        {
            "sex": [1.0, 2.0] * 30,
            "mood": [1.0, 2.0, 3.0, 9.0] * 15,
            "age": [float(at) for at in range(57)] + [-9.0, -4.0, 999.0],
            "pay": [float(37 * at) for at in range(58)] + [99999.0, 0.0],
            "reason": ["1", "2", "3", ".a"] * 15,
        }
    )
    table = Table.from_frame(frame, dictionary=told)
    assert kinds(table) == {
        "sex": ("category", "labels"),
        "mood": ("ordered", "labels"),
        "age": ("number", "labels"),
        "pay": ("number", "labels"),
        "reason": ("category", "labels"),
    }
    assert [marker.text for marker in table.column("age").markers] == ["-4", "-9", "999"]
    assert table.frame["age"].null_count() == 3
    assert table.frame["mood"].max() == 3
    assert table.frame["pay"].null_count() == 1
    assert table.frame["reason"].null_count() == 15
    words = "a range of column 'age' in the labels in the file must be two numbers"
    assert words in refusal(lambda: dictionary_of_labels({}, {}, {"age": [(5, 1)]}))


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ({"1": "0 to 9", "2": "10 to 19", "3": "20 and more"}, "ordered"),
        ({"1": "1,500 or more", "2": "800", "3": "10"}, "ordered"),
        ({"1": "5", "2": "3", "3": "4"}, "category"),
        ({"1": "none", "2": "one", "3": "10"}, "category"),
        ({"a": "3 rooms", "b": "4 rooms", "c": "5 rooms"}, "ordered"),
    ],
)
def test_labels_that_name_numbers_going_one_way_tell_an_order(labels: dict[str, str], kind: str) -> None:
    told = Dictionary("d.json", {"q": DictionaryEntry(kind="coded", labels=labels)})
    assert Table.from_frame(pl.DataFrame({"q": list(labels) * 10}), dictionary=told).column("q").kind == kind


def test_the_kinds_of_a_table_are_written_edited_and_read_again(tmp_path: Path) -> None:
    frame = pl.DataFrame(COLUMNS | {'odd "name"\\ü': ["20-29", "30+", "<20"] * 20, "id": range(60)})
    table = Table.from_frame(frame, name="people.csv")
    path = write_kinds(table, tmp_path / "kinds.toml")
    again = Table.from_frame(frame, dictionary=path)
    for one, other in zip(table.columns, again.columns, strict=True):
        assert (one.name, one.kind, one.role, one.markers) == (other.name, other.kind, other.role, other.markers)
    assert table.frame.equals(again.frame)
    assert {column.confidence for column in again.columns} == {"dictionary"}
    assert path.stat().st_mode & 0o077 == 0
    text = path.read_text(encoding="utf-8")
    assert "# uncertain: category: 3 codes that are whole numbers, and nothing tells whether they have an order" in text
    path.write_text(
        text.replace('[columns."Q2"]\ntype = "category"', '[columns."Q2"]\ntype = "ordered"'), encoding="utf-8"
    )
    edited = Table.from_frame(frame, dictionary=path)
    assert kinds(edited)["Q2"] == ("ordered", "dictionary")


def test_a_dictionary_holds_names_missing_values_exact_columns_and_hierarchies(tmp_path: Path) -> None:
    path = tmp_path / "columns.toml"
    path.write_text(
        '[columns.incom]\nname = "income"\ntype = "number"\nmissing = ["?", "-1"]\nexact = true\n'
        '[columns.job]\nhierarchy = "jobs.csv"\n',
        encoding="utf-8",
    )
    known = read_dictionary(path)
    assert (known.rename, known.missing) == ({"incom": "income"}, {"income": ("?", "-1")})
    assert (known.exact, known.hierarchies) == (("income",), {"job": tmp_path / "jobs.csv"})
    assert known.columns["income"].kind == "number"
    assert "job" not in known.columns


@pytest.mark.parametrize("name", ["../secret.csv", "/etc/hosts", "deep/other.csv", "link.csv", ".."])
def test_a_hierarchy_outside_the_folder_of_the_dictionary_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "elsewhere.csv")
    path = tmp_path / "types.toml"
    path.write_text(f'[columns.job]\nhierarchy = "{name}"\n')
    with pytest.raises(InputError, match="no plain file name"):
        read_dictionary(path)
