"""The part of a report on utility: figures as they were measured, sentences that say them, and nothing that is run."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from unveil.questions.audit.parts.utility import (
    changed_columns,
    changed_pairs,
    lost,
    plain_words,
    utility_section,
    utility_table,
)

from tests.approved.sentences import Approved
from unveil.data.table import Role, Table
from unveil.data.table.release import Release
from unveil.metrics.releases.utility import Utility, loss_summary
from unveil.report.blocks import Page
from unveil.report.blocks import TableBlock as Shown
from unveil.report.page import render
from unveil.report.text import name

BAD = "<script>alert('x')</script>$y$\n"
rng = np.random.default_rng(1)
AGE = rng.integers(18, 80, 200)
ORIGINAL = {"age": AGE, BAD: 100 * AGE + rng.integers(0, 900, 200), "town": np.where(AGE > 40, "Ulm", "Bonn")}
KNOWN: dict[str, Role] = dict.fromkeys(ORIGINAL, "known")


def measured(frame: pl.DataFrame) -> Utility:
    original, released = (Table.from_frame(each, roles=KNOWN) for each in (pl.DataFrame(ORIGINAL), frame))
    return loss_summary(Release(original, released), rng=np.random.default_rng(1))


SAME = measured(pl.DataFrame(ORIGINAL))
TORN = measured(pl.DataFrame({**ORIGINAL, BAD: ORIGINAL[BAD][::-1]}))
FEWER = measured(pl.DataFrame({**ORIGINAL, "age": AGE + 10, "town": [None, *ORIGINAL["town"][1:]]}).slice(0, 150))
RELEASES = (("same", SAME), ("torn", TORN), (BAD, FEWER))


def test_the_table_holds_a_row_for_each_release() -> None:
    table = utility_table(RELEASES)
    assert table.rows[0] == ("same", "100%", "0%", "0%", "0.000", "0%", "0%")
    assert table.rows[1][:4] == ("torn", "100%", "0%", "0%")
    assert float(table.rows[1][4]) == pytest.approx(TORN.association_loss, abs=5e-4)
    assert table.rows[2][1:3] == ("75%", "0.2%")
    assert all(len(row) == len(table.columns) == len(table.align) for row in table.rows)
    assert "drawn by lot" not in table.note
    assert "left out" not in table.note


def test_what_was_drawn_left_out_or_undefined_is_said(approved: Approved) -> None:
    few = replace(
        SAME,
        columns_left_out=2,
        pairs_total=40,
        missing_released=0.0,
        cells_suppressed=-0.25,
        discrimination=math.nan,
        propensity=replace(SAME.propensity, rows_original=90, columns=7, why="too few rows", area=math.nan),
    )
    (row,) = utility_table([("some", few)]).rows
    assert row[2] == "−25%"
    assert row[5] == "undefined"
    note = utility_table([("some", few)]).note
    approved(note)
    assert "90 original and 200 released rows" in note
    assert "3 of 7 columns" in note
    assert "told apart: too few rows" in note
    assert "some: Columns changed counts" in utility_table([("some", few), ("same", SAME)]).note
    assert "model" not in plain_words(few)


def test_sentences_say_what_is_kept_and_what_is_lost(approved: Approved) -> None:
    approved(plain_words(SAME))
    torn = plain_words(TORN, who="It")
    assert torn.startswith(
        "It keeps the distribution of every column. What columns have to do with one another changes"
    )
    assert "most between age and <script>" in torn
    assert f"{TORN.propensity.area * 100:.0f}% of cases (50% is guessing)" in torn
    fewer = plain_words(FEWER)
    assert fewer.startswith("The release has 75% as many rows as the original and keeps ")
    worst = max(FEWER.columns, key=lambda column: column.distance)
    assert f"(the least in {worst.name}: {100 - worst.distance * 100:.0f}%)" in fewer
    assert "keeps 50% of the distribution" in plain_words(replace(SAME, columns_left_out=3, column_loss=0.5))


def test_what_was_lost_is_named_with_both_values() -> None:
    assert lost(SAME) == "nothing that was measured"
    worst = max(TORN.pairs, key=lambda pair: pair.association_change)
    both = f" {worst.original:.2f} → {worst.released:.2f}".replace("-", "−")
    assert lost(TORN) == f"{worst.first} with {name(worst.second, 24)}{both}"
    assert lost(replace(FEWER, columns_left_out=2)).startswith("2 columns left out, 25% of rows, ")


def test_what_changed_most_comes_first() -> None:
    assert changed_columns([("same", SAME)]) is None
    assert changed_pairs([("same", SAME)]) is None
    columns, pairs = changed_columns([("fewer", FEWER)], at_most=2), changed_pairs([("torn", TORN)], at_most=1)
    assert columns is not None
    assert pairs is not None
    assert columns.rows[0][0] == "age"
    assert len(columns.rows) == 2
    age = next(column for column in FEWER.columns if column.name == "age")
    assert columns.rows[0][2] == f"+{age.mean_change:.2f} sd"
    worst = max(TORN.pairs, key=lambda pair: pair.association_change)
    assert pairs.rows[0][1:4] == ("Pearson", f"{worst.original:.2f}", f"{worst.released:.2f}".replace("-", "−"))
    for table in (changed_columns(RELEASES), changed_pairs(RELEASES)):
        assert table is not None
        assert table.columns[0] == "Release"
        assert "same" not in [row[0] for row in table.rows]
        assert all(len(row) == len(table.columns) == len(table.align) for row in table.rows)


def test_the_section_is_a_page_that_runs_nothing() -> None:
    section = utility_section(RELEASES)
    assert [type(block) for block in section.blocks] == [Shown, Shown, Shown, Shown]
    page = Page(
        title="T",
        question="Q",
        headline="H",
        tone="neutral",
        sections=(section, utility_section(RELEASES[1:2])),
    )
    html = render(page)
    assert "<script>alert" not in html
    assert "What the releases keep" in html


def test_one_release_is_told_in_words_above_the_table() -> None:
    section = utility_section([("torn", TORN)])
    assert section.lead.startswith(plain_words(TORN))
    assert [type(block) for block in section.blocks] == [Shown, Shown]
