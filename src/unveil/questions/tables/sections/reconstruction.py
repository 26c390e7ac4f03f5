"""Reconstruction: the records that the tables imply."""

from unveil.questions.result import PageContext
from unveil.questions.tables.findings import RecordFindings, TablesFindings
from unveil.questions.tables.sections.derivations import people_text
from unveil.report.blocks import Section, TableBlock
from unveil.report.text import count, percent


def section(findings: TablesFindings, context: PageContext) -> Section | None:
    """Return the records that must exist, and those that may; None where they were not reconstructed."""
    del context
    records = findings.records
    if records is None:
        return None
    once = f", {count(records.unique)} of them exactly once" if records.unique else ""
    doubt = f"; {count(records.undecided)} are not settled" if records.undecided else ""
    lead = (
        f"Of {count(records.possible)} combinations of all variables, {count(records.certain)} must exist{once}, and "
        f"{count(records.absent)} cannot{doubt}."
    )
    known = [each for each in records.precision if each.first is not None and each.ranked == each.ranked]
    if known:
        lead += (
            f" Of the {known[-1].first} top-ranked records {percent(known[-1].ranked)} exist (by margins alone: "
            f"{percent(known[-1].by_margins)})."
        )
    return Section(
        heading="Reconstruction",
        question="Which records must exist?",
        lead=lead,
        blocks=(records_table(records),),
        data=(precision_table(records),) if records.precision else (),
    )


def records_table(records: RecordFindings) -> TableBlock:
    """Return the records that are most likely to exist, those that must exist first."""
    rows = tuple(
        (
            each.record,
            "must exist" if each.is_certain else "may exist",
            f"{round(each.share * records.worlds)} of {records.worlds}",
            people_text(each),
        )
        for each in records.first
    )
    left = records.possible - records.absent - len(rows)
    more = f" {count(left)} more may exist." if left > 0 else ""
    return TableBlock(
        caption="Reconstructed records",
        columns=("Record", "Status", "Populations with it", "People"),
        rows=rows,
        align=("left", "left", "right", "right"),
        note=f"Ranked by {records.worlds} populations that fit all counts; their share is no probability.{more}",
    )


def precision_table(records: RecordFindings) -> TableBlock:
    """Return the share of top-ranked records that exist, compared with a ranking by margins alone."""
    rows = tuple(
        (
            "as many as exist" if each.first is None else f"first {each.first}",
            percent(each.ranked),
            percent(each.by_margins),
        )
        for each in records.precision
    )
    return TableBlock(
        caption="Top-ranked records that exist",
        columns=("Records", "By all counts", "By margins alone"),
        rows=rows,
        align=("left", "right", "right"),
    )
