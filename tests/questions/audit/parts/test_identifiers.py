"""The first section of a report: which columns name people, in which tables, and never a value of them."""

import polars as pl
from unveil.questions.audit.parts.identifiers import HEADING, identifier_section

from tests.approved.sentences import Approved
from unveil.data.identifiers.direct import Flag, direct_identifiers
from unveil.data.table import Table
from unveil.report.blocks import Number, Page, Section
from unveil.report.blocks import TableBlock as Rows
from unveil.report.page import render

HOSTILE = "<script>alert(1)</script>"
MAIL = Flag(column="contact", looks_like="email", reason="They hold an @.", sure="by content", share=0.9)
SURER = Flag(column="contact", looks_like="email", reason="All hold an @.", sure="by name and content", share=1.0)
NAME = Flag(column=HOSTILE, looks_like="name", reason="The name says so.", sure="by name", share=0.0)


def shown(section: Section) -> tuple[tuple[str, ...], ...]:
    (table,) = (block for block in section.blocks if isinstance(block, Rows))
    return table.rows


def test_flagged_columns_are_to_be_taken_out_first(approved: Approved) -> None:
    section = identifier_section({"masked.csv": [MAIL]})
    assert section.heading == HEADING
    approved(section.lead)
    assert shown(section) == (("contact", "email", "masked.csv", "yes", "They hold an @."),)
    (number,) = (block for block in section.blocks if isinstance(block, Number))
    assert (number.value, number.tone) == ("1 column", "bad")


def test_a_column_of_several_tables_stands_once_and_what_is_released_first() -> None:
    section = identifier_section({"original": [NAME, SURER], "masked.csv": [MAIL]}, released=["masked.csv"])
    rows = shown(section)
    assert [row[0] for row in rows] == ["contact", HOSTILE]
    assert rows[0][2:] == ("original, masked.csv", "yes", "All hold an @.")
    assert rows[1][3] == "no"
    assert section.lead.startswith("These columns look like direct identifiers: contact. ")
    assert HOSTILE not in render(Page(title="T", question="", headline="", tone="bad", sections=(section,)))


def test_what_is_only_in_the_original_is_no_alarm() -> None:
    section = identifier_section({"original": [MAIL], "masked.csv": []}, released=["masked.csv"])
    assert section.lead.startswith("No column that is released looks like a direct identifier.")
    (number,) = (block for block in section.blocks if isinstance(block, Number))
    assert (number.value, number.tone) == ("0 columns", "neutral")
    assert shown(section)[0][3] == "no"


def test_nothing_found_says_what_was_looked_for_and_promises_nothing() -> None:
    section = identifier_section({"masked.csv": (), "original": ()})
    assert section.blocks == ()
    for what in ("names", "emails", "dates of birth", "free text", "a glance at every column is still needed"):
        assert what in section.lead
    assert section.lead in render(Page(title="T", question="", headline="", tone="good", sections=(section,)))


def test_no_value_of_the_table_is_on_the_page() -> None:
    mails = [f"secret{at}@example.org" for at in range(30)]
    table = Table.from_frame(
        pl.DataFrame({"e-mail": mails, "note": [f"hidden text number {at} here" for at in range(30)]})
    )
    page = Page(
        title="T",
        question="",
        headline="",
        tone="bad",
        sections=(identifier_section({"a": direct_identifiers(table)}),),
    )
    text = render(page)
    assert "e-mail" in text
    assert not any(word in text for word in ("secret", "hidden text"))
