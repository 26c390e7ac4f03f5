"""Singling out and re-identification: direct identifiers by column, never by value, and the metrics of candidates."""

import math
from dataclasses import replace
from typing import Any

import polars as pl

from unveil.data.identifiers.direct import Flag, direct_identifiers
from unveil.data.table import Table
from unveil.metrics.trials.risk import Risk
from unveil.questions.audit.findings import UNDEFINED, AttackFinding, Audit, AuditedRelease, TableFlags
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.singling_out import candidate_table, identifier_table, section
from unveil.report.blocks import Page
from unveil.report.page import render
from unveil.report.trust import mark, trust_note

HOSTILE = "<script>alert(1)</script>"
MAIL = Flag(column="contact", looks_like="email", reason="They hold an @.", sure="by content", share=0.9)
SURER = Flag(column="contact", looks_like="email", reason="All hold an @.", sure="by name and content", share=1.0)
NAME = Flag(column=HOSTILE, looks_like="name", reason="The name says so.", sure="by name", share=0.0)
NOTHING = Risk(attack_rate=UNDEFINED, naive_rate=UNDEFINED, control_rate=UNDEFINED, excess_over_control=UNDEFINED)
LINKED = AttackFinding(
    attack="record_linkage", targets=500, risk=NOTHING,
    figures={"entropy": 0.25, "adversary_success_rate": 0.875, "incorrectness": math.nan, "sure": 0.5},
)  # fmt: skip


def flagged(flags: dict[str, list[Flag]], *findings: AttackFinding, names: tuple[str, ...] = ("masked.csv",)) -> Audit:
    return Audit(
        rows=700, columns=(), sha256=None, control_rows=None, control_sha256=None, attacks=(),
        releases=tuple(
            AuditedRelease(
                name=name, rows=700, kind=None, columns=("age",), sha256=None, findings=findings[at : at + 1]
            )
            for at, name in enumerate(names)
        ),
        flags=tuple(TableFlags(table=table, flags=tuple(each)) for table, each in flags.items()),
    )  # fmt: skip


def test_flagged_columns_stand_first_in_the_lead() -> None:
    made = section(flagged({"masked.csv": [MAIL]}), AuditContext())
    assert made is not None
    assert "direct identifiers: contact." in made.lead.partition("Not tested")[0]
    table = identifier_table(flagged({"masked.csv": [MAIL]}))
    assert table is not None
    assert table.rows == (("contact", "email", "masked.csv", "yes", "They hold an @."),)


def test_a_column_of_several_tables_stands_once_and_what_is_released_first() -> None:
    both = flagged({"original": [NAME, SURER], "masked.csv": [MAIL]})
    table = identifier_table(both)
    assert table is not None
    assert [row[0] for row in table.rows] == ["contact", HOSTILE]
    assert table.rows[0][2:] == ("original, masked.csv", "yes", "All hold an @.")
    assert table.rows[1][3] == "no"
    made = section(both, AuditContext())
    assert made is not None
    assert HOSTILE not in made.lead
    assert HOSTILE not in render(Page(title="T", question="", headline="", tone="bad", sections=(made,)))


def test_what_is_only_in_the_original_is_no_alarm() -> None:
    made = section(flagged({"original": [MAIL], "masked.csv": []}), AuditContext())
    assert made is not None
    assert "contact" not in made.lead
    assert identifier_table(flagged({"masked.csv": []})) is None


def test_no_value_of_the_table_is_on_the_page() -> None:
    mails = [f"secret{at}@example.org" for at in range(30)]
    table = Table.from_frame(
        pl.DataFrame({"e-mail": mails, "note": [f"hidden text number {at} here" for at in range(30)]})
    )
    made = section(flagged({"masked.csv": list(direct_identifiers(table))}), AuditContext())
    assert made is not None
    text = render(Page(title="T", question="", headline="", tone="bad", sections=(made,)))
    assert "e-mail" in text
    assert not any(word in text for word in ("secret", "hidden text"))


def test_metrics_of_candidates_stand_next_to_their_reliability_in_tables() -> None:
    table = candidate_table(flagged({}, LINKED))
    assert table is not None
    assert table.columns == ("Metric", "Value", "More private", "Reliability in tables")
    assert table.rows == (
        ("Entropy", "0.25", "if high", mark("entropy", "tables")),
        ("Adversary success rate", "0.875", "if low", mark("adversary_success_rate", "tables")),
        ("Incorrectness", "undefined", "if high", mark("incorrectness", "tables")),
    )
    assert table.note.endswith(trust_note(["tables"]))


def test_each_release_has_its_column_of_metrics_and_a_dash_where_there_are_none() -> None:
    blind = replace(LINKED, figures={"entropy": 1.5, "sure": 0.1})
    found: Any = flagged({}, LINKED, blind, replace(LINKED, figures={}), names=("a", "b", HOSTILE))
    table = candidate_table(found)
    assert table is not None
    assert table.columns[1:4] == ("a", "b", HOSTILE)
    assert len(table.align) == len(table.columns)
    assert [row[1:4] for row in table.rows] == [("0.25", "1.5", "–"), ("0.875", "–", "–"), ("undefined", "–", "–")]
    assert candidate_table(flagged({}, replace(LINKED, figures={"sure": 0.5}))) is None
