"""Tables of counts read from files and frames: tidy, wide, percentages, totals, hierarchies, populations, refusals."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from unveil.data.counts import CountSettings, PublishedCounts, read_counts
from unveil.data.counts.system import system_of
from unveil.data.counts.tabulate import tabulate
from unveil.data.counts.truth import true_counts
from unveil.errors import InputError


def cells(told: PublishedCounts) -> dict[str, tuple[int, int]]:
    return {
        told.label(codes): (low, high)
        for codes, low, high in zip(told.codes.tolist(), told.low.tolist(), told.high.tolist(), strict=True)
    }


TIDY = {
    "ward": ["N", "N", "S", "S", "Total", "Total"],
    "sex": ["f", "m"] * 3,
    "count": ["3", "*", "7", "8", "10", "12"],
}
WIDE = {"ward": ["N", "S", "Total"], "f": ["3", "7", "10"], "m": ["*", "8", "12"]}


def test_wide_and_tidy_tell_the_same() -> None:
    assert cells(read_counts([TIDY])) == cells(read_counts([WIDE], CountSettings(wide="sex")))


def test_the_header_of_a_wide_table_is_found_by_another_table() -> None:
    told = read_counts([WIDE, TIDY])
    assert [variable.name for variable in told.variables] == ["ward", "sex"]
    assert "was read as the codes of 'sex'" in told.notes[0]


def test_a_code_that_is_called_like_counts_is_a_code_where_the_table_is_wide() -> None:
    wide = {"ward": ["a", "b", "Total"], "S": ["3", "7", "10"], "N": ["*", "8", "14"], "Total": ["9", "15", "24"]}
    told = read_counts([wide])
    assert told.tables[0].form == "wide"
    assert cells(told)["b, N"] == (8, 8)
    assert "name it as the column of counts" in told.notes[0]
    assert read_counts([{key: wide[key] for key in ("ward", "N")}]).tables[0].form == "tidy"
    years = {"ward": ["a", "a", "b", "b"], "year": ["2020", "2021"] * 2, "n": ["3", "*", "8", "9"]}
    assert cells(read_counts([years]))["b, 2021"] == (9, 9)
    assert read_counts([wide], CountSettings(count="N")).tables[0].variables == (0, 1, 2)


def test_bands_that_overlap_in_one_table_are_named() -> None:
    told = read_counts([{"age": ["0-10", "10-20", "Total"], "count": ["5", "7", "12"]}])
    assert any("'0-10' and '10-20' of 'age' overlap" in note for note in told.notes)
    apart = read_counts([{"age": ["0-9", "10-20", "0-20"], "count": ["5", "7", "12"]}])
    assert not any("overlap" in note for note in apart.notes)


def test_files_of_every_kind(tmp_path: Path) -> None:
    frame = pl.DataFrame(WIDE)
    frame.write_csv(tmp_path / "a.csv", separator=";")
    frame.write_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        told = read_counts([tmp_path / name], CountSettings(wide="sex"))
        assert told.tables[0].name == name
        assert cells(told)["N, f"] == (3, 3)


def test_names_that_differ_by_case_are_one_variable() -> None:
    told = read_counts([{"Ward": ["N", "S"], "count": ["1", "2"]}, {"ward ": ["n", "s"], "count": ["1", "2"]}])
    assert [variable.name for variable in told.variables] == ["Ward"]
    assert told.variables[0].codes == ("Total", "N", "S")


def test_what_is_called_like_a_total_and_is_less_than_another_is_a_category() -> None:
    told = read_counts([{"cause": ["heart", "lung", "All the rest"], "count": ["40", "30", "10"]}])
    assert told.variables[0].codes == ("Total", "heart", "lung", "All the rest")
    assert any("read as a category" in note for note in told.notes)


def test_hierarchies_of_both_forms(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("child,parent\nA,county\nB,county\nB,big\nC,big\n")
    lines = tmp_path / "lines.csv"
    lines.write_text("A;county\nB;county;big\nC;big\n")
    table = {"ward": ["A", "B", "C", "county", "big"], "count": ["1", "2", "3", "3", "5"]}
    for path in (pairs, lines):
        told = read_counts([table], CountSettings(hierarchies={"ward": path}))
        assert told.variables[0].leaves == (0b111, 0b001, 0b010, 0b100, 0b011, 0b110)


def test_nested_populations_are_a_variable() -> None:
    first, second = {"ward": ["N"], "count": ["20"]}, {"ward": ["N"], "count": ["22"]}
    told = read_counts([first, second], CountSettings(populations=("a", "b")), names=["a", "b"])
    assert told.variables[1].codes == ("Total", "a", "added by b")
    assert cells(told) == {"N, a": (20, 20), "N": (22, 22)}


def test_percentages_beside_counts_are_a_table_of_their_own() -> None:
    told = read_counts([{"ward": ["N"], "count": ["*"], "percent": ["2.1"], "base": ["240"]}])
    assert [table.name for table in told.tables] == ["table 1", "table 1 (percentages)"]
    assert told.low.tolist()[1] == told.high.tolist()[1] == 5


@pytest.mark.parametrize(
    ("table", "settings", "said"),
    [
        ({"ward": ["N", "N"], "count": ["1", "2"]}, {}, "must be there once, but row 2 has the codes of row 1"),
        ({"ward": ["N", ""], "count": ["1", "2"]}, {}, "has none in row 2"),
        ({"ward": ["N", "S"], "count": ["1", "-2"]}, {}, "not negative, but does not in row 2"),
        ({"ward": ["N", "S"], "count": ["1.5", "2"]}, {}, "whole numbers"),
        ({"ward": ["N", "S"], "count": ["1", "Zephyrine"]}, {}, "symbols that are known, but does not in row 2"),
        ({"ward": ["N", "S"], "percent": ["1", "2"]}, {}, "Add a column 'base'"),
        ({"ward": ["N", "S"], "percent": ["11", "2"], "base": ["9", "*"]}, {}, "does not in row 2"),
        ({"ward": ["N", "S"], "percent": ["37", "2"], "base": ["2", "2"]}, {}, "see row 1"),
        ({"count": ["1"]}, {}, "has counts but no variable"),
        ({"ward": ["N", "S"]}, {}, "must have a column of counts"),
        ({"ward": ["N"], "count": ["1"]}, {"totals": {"wart": ("N",)}}, "Did you mean 'ward'?"),
        ({"ward": ["N"], "count": ["1"]}, {"rest": ("wart",)}, "Did you mean 'ward'?"),
        ({"ward": ["N"], "count": ["1"]}, {"count": "cuont"}, "Did you mean 'count'?"),
        ({"ward": ["N"], "count": ["1"]}, {"populations": ("x", "y")}, "must be one of the tables"),
        ({"ward": ["N", "Total", "All"], "count": ["1", "2", "2"]}, {}, "must have one total"),
        ({f"v{at}": ["a"] for at in range(20)} | {"count": ["1"]}, {}, "may have at most 12"),
    ],
)
def test_bad_tables_are_refused(table: dict[str, list[str]], settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_counts([table], CountSettings(**settings))
    assert said in str(caught.value)
    assert "Zephyrine" not in str(caught.value)


def test_a_hierarchy_that_is_above_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text("child,parent\nA,B\nB,A\n")
    with pytest.raises(InputError, match="is its own ancestor"):
        read_counts([{"ward": ["A", "B"], "count": ["1", "2"]}], CountSettings(hierarchies={"ward": path}))


def test_counts_of_records_are_those_of_the_table() -> None:
    people = pl.DataFrame({"ward": ["N", "N", "S", "S", "S"], "age": ["3", "18", "19", "40", "18"]})
    table = tabulate(people.with_columns(pl.lit("0+").alias("age")), ["ward", "age"])
    system = system_of(read_counts([table, {"age": ["0-17", "18+"], "count": ["1", "4"]}]))
    found = true_counts(people, system)
    told, _ = system.told(())
    assert (found.counts[system.cell] == told[system.cell]).all()


def test_records_that_lack_a_variable_or_have_another_code_are_refused() -> None:
    system = system_of(read_counts([TIDY]))
    with pytest.raises(InputError, match="lack 'sex'"):
        true_counts(pl.DataFrame({"ward": ["N"]}), system)
    with pytest.raises(InputError, match="does not in row 2") as caught:
        true_counts(pl.DataFrame({"ward": ["N", "Zephyrine"], "sex": ["f", "f"]}), system)
    assert "Zephyrine" not in str(caught.value)


def test_percentages_beside_counts_hide_nothing_and_give_hidden_counts_away() -> None:
    table = {"ward": ["N", "S"], "count": ["*", "235"], "percent": ["2.1", "98"], "base": ["240", "240"]}
    system = system_of(read_counts([table]))
    assert [system.label(int(cell)) for cell in system.is_hidden.nonzero()[0]] == ["N"]


def test_headers_of_two_wide_tables_are_the_variables_that_they_are() -> None:
    wards = {"ward": ["N", "S"], "0-17": ["3", "12"], "18+": ["14", "4"], "Total": ["17", "16"]}
    by_age = {"age": ["0-17", "18+"], "F": ["10", "11"], "M": ["5", "7"]}
    by_stay = {"ward": ["N", "S"], "short": ["9", "8"], "long": ["8", "8"], "Total": ["17", "16"]}
    names = ["wards.csv", "by_age.csv", "by_stay.csv"]
    told = read_counts([wards, by_age, by_stay], names=names)
    # Ages are the rows of another table; F and M share no code with short and long.
    assert [variable.name for variable in told.variables] == ["ward", "age", "column", "column of by_stay.csv"]
    # Codes that stand in the rows and in the header of one table are two variables of it.
    moved = read_counts([{"from": ["East", "West"], "East": ["4", "5"], "West": ["6", "7"]}])
    assert [variable.name for variable in moved.variables] == ["from", "column"]


def test_a_file_of_several_tables_holds_one_population() -> None:
    wards = {"ward": ["N", "S", "Total"], "count": ["*", "9", "12"]}
    ages = {"age": ["y", "o", "Total"], "count": ["*", "8", "12"]}
    both = {
        "table": ["wards.csv"] * 3 + ["ages.csv"] * 3,
        "ward": [*wards["ward"], *["Total"] * 3],
        "age": [*["Total"] * 3, *ages["age"]],
        "count": [*wards["count"], *ages["count"]],
    }
    apart, together = read_counts([wards, ages], names=["wards.csv", "ages.csv"]), read_counts([both])
    assert [each.name for each in together.tables] == ["wards.csv", "ages.csv"]
    assert cells(together) == cells(apart)
    assert system_of(together).number == system_of(apart).number
