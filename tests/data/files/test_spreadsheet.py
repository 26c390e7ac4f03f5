import csv
import io
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.refusals import refusal
from unveil.data.files._spreadsheet import as_meant, formula_warning, neutral_csv, shown_as_text
from unveil.data.graph import Graph
from unveil.data.graph.files import edges_text, read_seed_pairs, read_truth, truth_text, write_edges, write_truth
from unveil.data.graph.read import read_graph
from unveil.data.graph.release import GraphRelease

HOSTILE = [
    "=cmd|' /C calc'!A0",
    "@alice",
    "+SUM(1)",
    "-1+1",
    "\uff1d1",
    "'=x",
    "''@y",
    " =z",
    "=HYPERLINK(1)",
    "'quoted'",
]
NUMBERS = ["-5", "+3", "-1.5", "-.5e-3", "'-7", "12"]
TEXTS = st.text(st.sampled_from("'=+-@ a1.eé\uff20"), max_size=6)


def is_formula(cell: str) -> bool:
    """Return what a spreadsheet is taken to do with a cell: the slow and obvious answer."""
    try:
        float(cell)
    except ValueError:
        return cell.lstrip(" ")[:1] in tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")
    return False


@given(st.lists(st.none() | TEXTS, max_size=8))
@settings(deadline=None)
def test_no_text_is_a_formula_and_each_is_read_as_it_was(texts: list[str | None]) -> None:
    column = pl.Series("name", texts, pl.String)
    written = shown_as_text(column, "names")
    assert written.name == "name"
    assert as_meant(written).to_list() == texts
    for before, after in zip(texts, written.to_list(), strict=True):
        assert after is None or not is_formula(after)
        assert before is None or after in (before, f"'{before}")


def test_numbers_and_plain_names_stay_as_they_are() -> None:
    plain = [*NUMBERS, "Ada", "a=b", "x@y", "O'Neil", "'quoted'", "", "2024-01-01"]
    assert shown_as_text(pl.Series(plain), "names").to_list() == plain


@given(st.lists(TEXTS | st.sampled_from(["\tx", "\rx", "\t=1"]), min_size=1, max_size=8))
@settings(deadline=None)
def test_a_derived_table_holds_no_formula_and_its_numbers_stay(texts: list[str]) -> None:
    frame = pl.DataFrame({"=name": pl.Series(texts, dtype=pl.String), "count": list(range(-1, len(texts) - 1))})
    header, *rows = csv.reader(io.StringIO(neutral_csv(frame), newline=""))
    assert header == ["'=name", "count"]
    assert not any(is_formula(cell) for row in (header, *rows) for cell in row)
    assert [int(row[1]) for row in rows] == frame["count"].to_list()
    assert as_meant(pl.Series([row[0] for row in rows], dtype=pl.String)).to_list() == texts


@given(st.lists(TEXTS | st.sampled_from(["\tx", "\rx"]), min_size=1, max_size=8))
@settings(deadline=None)
def test_columns_with_formulas_are_named_and_their_cells_are_not(texts: list[str]) -> None:
    column = pl.Series("note {0}", texts, pl.String)
    said = formula_warning(pl.DataFrame([column, pl.Series("count", [-1] * len(texts))]))
    # Who writes an apostrophe before a formula would find two of them in a derived file.
    assert bool(said) == any(is_formula(text.lstrip("'")) for text in texts)
    start = "A spreadsheet would run cells of out.csv as formulas, in the column 'note {0}': they begin with"
    assert not said or said.format("out.csv").startswith(start)


def test_a_name_of_a_column_can_be_a_formula_too() -> None:
    assert "in the columns '=a', 'b'" in formula_warning(pl.DataFrame({"=a": [1], "b": ["@x"], "c": ["-1"]}))


@pytest.mark.parametrize("character", ["\t", "\r", "\n", "\x00", "\x1b", "\x7f", "\x85"])
def test_a_control_character_is_refused_with_its_row_and_without_the_cell(character: str) -> None:
    column = pl.Series("original", ["Ada", f"SECRET{character}1", "Eve"])
    message = refusal(lambda: shown_as_text(column, "the name of a node"))
    assert re.search(r"row 2 .*'original'", message)
    assert "SECRET" not in message


def test_files_that_people_open_in_a_spreadsheet_hold_no_formula_and_are_read_again(tmp_path: Path) -> None:
    names = [*HOSTILE, *NUMBERS]
    nodes = len(names)
    graph = Graph.from_edges(range(nodes - 1), range(1, nodes), names=names, name="original graph")
    truth = np.arange(nodes)[::-1].copy()
    release = GraphRelease(graph, graph, truth)
    for text in (edges_text(graph), truth_text(release)):
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        assert [cell for cell in cells if is_formula(cell)] == []
        assert {"-5", "+3", "-1.5"} <= set(cells)
    file = write_truth(tmp_path / "truth.csv", release)
    assert read_truth(file, released=graph, original=graph)[0].tolist() == truth.tolist()
    assert read_seed_pairs(file, released=graph, auxiliary=graph).tolist() == [list(pair) for pair in enumerate(truth)]
    again = read_graph(write_edges(tmp_path / "edges.csv", graph))
    assert {again.name_of(node) for node in range(again.nodes)} == {name.strip() for name in names}
    assert again.edges == graph.edges


def test_an_apostrophe_that_is_a_part_of_a_name_is_found_in_a_foreign_file(tmp_path: Path) -> None:
    graph = Graph.from_edges([0], [1], names=["'=x", "Ada"], name="original graph")
    (tmp_path / "truth.csv").write_text("released,original\n0,'=x\n1,Ada\n")
    released = Graph.from_edges([0], [1])
    assert read_truth(tmp_path / "truth.csv", released=released, original=graph)[0].tolist() == [0, 1]


@pytest.mark.parametrize("name", ["a\tb", "=1\r"])
def test_a_graph_whose_names_hold_control_characters_is_not_written(tmp_path: Path, name: str) -> None:
    graph = Graph.from_edges([0], [1], names=["Ada", name])
    release = GraphRelease(graph, Graph.from_edges([0], [1]), np.array([0, 1]))
    assert "row 2" in refusal(lambda: write_truth(tmp_path / "truth.csv", release))
    assert "row 1" in refusal(lambda: write_edges(tmp_path / "edges.csv", graph))
    assert list(tmp_path.iterdir()) == []
