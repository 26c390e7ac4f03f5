"""The part of a report on rows that look alike: figures as they were measured, gaps said, few people marked as few."""

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.questions.audit.example import audit_of
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.metrics.releases.disclosure import Disclosure, disclosure
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.classes import (
    class_table,
    diversity_table,
    household_table,
    population_table,
    section,
    special_unique_table,
)
from unveil.report.blocks import Count, Page, Section
from unveil.report.blocks import TableBlock as Shown
from unveil.report.editions import shareable
from unveil.report.page import render

BAD = "<script>alert('x')</script>$y$\n"
rng = np.random.default_rng(1)
#: 60 people of 20 kinds, and one who is like nobody.
PEOPLE = pl.DataFrame(
    {
        "age": [*np.repeat(np.arange(20, 40), 3).tolist(), 77],
        "sex": ["f"] * 61,
        BAD: [*(["flu", "flu", "gout"] * 10), *(["flu"] * 30), "gout"],
        "weight": [25.0] * 61,
        "home": [*np.repeat(np.arange(30), 2).tolist(), 99],
    }
)
KNOWN = ("age", "sex")


def measured(frame: pl.DataFrame = PEOPLE, *, kind: Any = "masked", **settings: Any) -> Disclosure:
    table = Table.from_frame(frame)
    return disclosure(Release(table, table, kind=kind), **({"columns": KNOWN} | settings))


PLAIN = measured()
FULL = measured(sensitive=[BAD], weights="weight", household="home", minimum_cell=4)
COARSE = measured(PEOPLE.head(60).with_columns(age=pl.col("age") // 10), kind="synthetic")


def section_of(*releases: tuple[str, Disclosure]) -> Section:
    """Return the section of an audit of these releases."""
    made = section(audit_of(*({"name": name, "disclosure": found} for name, found in releases)), AuditContext())
    assert made is not None
    return made


def by_name(table: Shown | None) -> dict[str, dict[str, str]]:
    """Return the rows of a table by their first cell, each by the heads of its columns."""
    assert table is not None
    assert all(len(row) == len(table.columns) == len(table.align) for row in table.rows)
    return {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}


def test_classes_are_shown_as_they_were_measured() -> None:
    rows = by_name(class_table([("one", PLAIN), ("coarse", COARSE)]))
    assert rows["one"]["k"] == "1"
    assert rows["one"]["Prosecutor risk"] == "1"
    assert rows["one"]["Marketer risk"] == f"{21 / 61:.3f}"
    assert rows["one"]["Sample unique"] == "1.6%"
    assert rows["one"]["Class below 5"] == "100%"
    assert rows["coarse"]["k"] == "30"
    assert rows["coarse"]["Class below 20"] == "0%"


def test_a_minimum_of_ones_own_is_among_the_sizes() -> None:
    rows = by_name(class_table([("full", FULL), ("plain", PLAIN)]))
    assert rows["full"]["Class below 4"] == "100%"
    assert rows["plain"]["Class below 4"] == "–"


def test_that_figures_of_synthetic_data_mislead_is_said(approved: Approved) -> None:
    lead = section_of(("coarse", COARSE)).lead
    assert "do not measure risk" in lead
    approved(lead)
    assert "mislead" not in section_of(("plain", PLAIN)).lead


def test_what_is_odd_about_weights_is_said() -> None:
    odd = measured(PEOPLE.with_columns(weight=pl.lit(0.5)), weights="weight")
    assert odd.notes
    note = class_table([("odd", odd)]).note
    assert all(text[1:].rstrip(".") in note for text in odd.notes)
    assert note.startswith("odd: ")


def test_sensitive_values_have_a_row_for_each_column_and_release() -> None:
    (row,) = by_name(diversity_table([("full", FULL), ("plain", PLAIN)])).values()
    (found,) = FULL.diversity
    assert row["Distinct l"] == "1"
    assert row["t"] == f"{found.closeness:.3f}".rstrip("0")
    # The last ten kinds and the one who is like nobody give away what they have.
    assert row["Disclosed"] == f"{31 / 61:.0%}"
    assert diversity_table([("plain", PLAIN)]) is None


def test_rows_that_few_columns_single_out_are_counted_as_people() -> None:
    table = special_unique_table([("plain", PLAIN), ("coarse", COARSE)])
    rows = by_name(table)
    assert rows["plain"]["On 1 column"] == "1"
    assert rows["plain"]["Most often on"] == "age"
    assert rows["coarse"]["Most often on"] == "–"
    assert table is not None
    (count,) = (cell for cell in table.rows[0][1:2])
    assert isinstance(count, Count)


def test_the_population_has_a_row_for_each_model_that_has_an_answer() -> None:
    table = population_table([("full", FULL), ("plain", PLAIN)])
    assert table is not None
    told = {each.method: each for each in FULL.population if not each.why}
    assert "weights" in told
    assert len(table.rows) == len(told)
    (row,) = (row for row in table.rows if row[1] == "weights (Benedetti & Franconi)")
    assert row[2] == f"{told['weights'].uniqueness:.1%}" or row[2].startswith("<")
    assert table.columns[-1] == "Below 4 people"
    assert "Not estimated: " in table.note
    assert all(each.why in table.note for each in PLAIN.population)
    assert population_table([("plain", PLAIN)]) is None


def test_households_are_shown_where_they_are_told() -> None:
    (row,) = by_name(household_table([("full", FULL), ("plain", PLAIN)])).values()
    assert FULL.household is not None
    assert (row["Households"], row["Largest risk"]) == ("31", "100%")
    assert row["Mean risk"] == f"{FULL.household.average:.0%}"
    assert household_table([("plain", PLAIN)]) is None


@pytest.mark.parametrize(
    "releases",
    [
        [("one", PLAIN)],
        [(BAD, FULL)],
        [("one", PLAIN), (BAD, FULL), ("coarse", COARSE)],
        [(f"release {number}", PLAIN) for number in range(8)],
    ],
)
def test_the_section_is_safe_for_any_number_of_releases(releases: list[tuple[str, Disclosure]]) -> None:
    made = section_of(*releases)
    assert made.lead.count("k = ") == min(3, len(releases))
    page = Page(title="T", question="Q", headline="H", tone="neutral", sections=(made,))
    html = render(page)
    assert "<script>alert('x')" not in html
    assert "nan" not in re.sub(r"<[^>]*>", " ", html).split()


def test_few_people_are_not_counted_in_the_shareable_edition() -> None:
    page = Page(title="T", question="Q", headline="H", tone="neutral", sections=(section_of(("full", FULL)),))
    shared = shareable(page, minimum_cell=50).sections[0]
    special, households = (
        next(block for block in shared.data if isinstance(block, Shown) and block.caption.startswith(start))
        for start in ("Special uniques", "Household risk")
    )
    assert special.rows[0][1] == "fewer than 50"
    assert households.rows[0][1] == "fewer than 50"
