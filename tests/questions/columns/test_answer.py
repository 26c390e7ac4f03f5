import json
from pathlib import Path

import polars as pl
from click.testing import CliRunner

from tests.approved.sentences import Approved
from unveil.cli import main
from unveil.data.table import read_dictionary
from unveil.questions.columns.answer import columns
from unveil.report.blocks import Chart, NextStep, TableBlock

CSV = "id,q7,age,town\n" + "".join(
    f"{3 * at * at},{at % 4 + 1},{'N' if at % 9 == 0 else at},{'ab'[at % 2]}\n" for at in range(40)
)


def test_a_file_is_told_column_by_column_and_written_for_editing(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(CSV, encoding="utf-8")
    run = CliRunner().invoke(main, ["columns", str(path), "--write", str(tmp_path / "kinds.toml")])
    assert (run.exit_code, run.stderr) == (0, "")
    assert "--dictionary" in run.stdout
    answer = columns(path)
    told = json.loads(answer.to_json())
    assert (told["schema"], told["table"], told["rows"]) == ("unveil.columns/2", "people.csv", 40)
    assert [column["name"] for column in told["columns"]] == ["q7", "id", "age", "town"]
    assert [column["confidence"] for column in told["columns"]] == ["uncertain", "sure", "likely", "sure"]
    assert told["columns"][2]["markers"] == [{"text": "N", "class": "not applicable", "cells": 5}]
    assert told["columns"][2]["missing"] == 5
    assert told["columns"][2]["different"] == 35
    assert told["notes"][0].startswith("The types of 1 of 3 columns ('q7')")
    assert answer.quantities["uncertain_columns"].value == 1
    assert read_dictionary(tmp_path / "kinds.toml").columns["age"].markers == {"N": "not applicable"}
    settled = columns(path, kinds={"q7": "ordered"})
    assert settled.quantities["uncertain_columns"].value == 0
    assert "All 4 columns were recognized, 1 of them as likely." in repr(settled)


def test_the_page_the_table_and_the_picture_say_the_same(approved: Approved) -> None:
    answer = columns(pl.DataFrame({"q7": [1, 2, 3, 4] * 10, "pay": ["1.5", "2.5", "?", "7"] * 10}))
    page = answer.page()
    approved(page.headline)
    approved(page.explanation)
    (step,) = page.next_steps
    assert isinstance(step, NextStep)
    assert "--dictionary" in step.option
    chart, table = page.picture
    assert isinstance(chart, Chart)
    assert isinstance(table, TableBlock)
    assert (chart.rows, chart.series[0].x.tolist()) == (("sure", "needs a check"), [1, 1])
    assert [row[:4] for row in table.rows] == [
        ("q7", "category", "quasi-identifier", "needs a check"),
        ("pay", "number", "quasi-identifier", "sure"),
    ]
    assert page.tone == "warning"
    frame = answer.to_polars()
    assert frame["name"].to_list() == ["q7", "pay"]
    assert frame["markers"].to_list() == ["", "? (missing, 10)"]
    assert "? (missing, 10)" in answer.to_html()
    axes = answer.plot()
    assert axes.size == 1


def test_many_columns_are_shown_once_those_first_that_are_unsure() -> None:
    page = columns(pl.DataFrame({f"c{at}": [f"{at}{letter}" for letter in "ab"] for at in range(30)})).page()
    first, rest = page.picture[1], page.sections[0].blocks[0]
    assert isinstance(first, TableBlock)
    assert isinstance(rest, TableBlock)
    assert (len(first.rows), len(rest.rows)) == (12, 18)
    assert sorted(row[0] for row in (*first.rows, *rest.rows)) == sorted(f"c{at}" for at in range(30))
