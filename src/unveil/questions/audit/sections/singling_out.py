"""Singling out and re-identification: can a record be isolated or named?"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from unveil.data.identifiers.direct import Flag
from unveil.metrics import METRICS
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.inference import attack_maps
from unveil.questions.audit.sections.results import charted, result_sentence, result_table
from unveil.questions.audit.words import LONGEST_NAME, listed
from unveil.report.blocks import Section, TableBlock, sides
from unveil.report.text import decimal, name
from unveil.report.trust import mark, title_of, trust_note

_RISK = "singling out and re-identification"
_ATTACKS = ("singling_out", "reidentification", "row_order")
_EVIDENCE: Mapping[str, int] = MappingProxyType({"by name and content": 0, "by content": 1, "by name": 2})


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return the section on predicates, record linkage, and row order."""
    table = result_table(audit, _ATTACKS, "Singling out, re-identification and row order: all attackers")
    identifiers = identifier_table(audit)
    if table is None and identifiers is None:
        return None
    released = {release.name for release in audit.releases}
    flagged = list(dict.fromkeys(flag.column for each in audit.flags if each.table in released for flag in each.flags))
    lead = result_sentence(audit, _RISK)
    if flagged:
        lead = f"The release has columns that look like direct identifiers: {listed(flagged)}. {lead}"
    maps = attack_maps(audit, _ATTACKS, rows="attacker", only=charted(audit))
    data = (table, candidate_table(audit), identifiers)
    return Section(
        heading="Singling out and re-identification",
        question="Can a record be isolated or named?",
        lead=lead,
        # One attacker has its numbers in the lead.
        blocks=tuple(each for each in maps if len(each.rows) > 1),
        data=tuple(each for each in data if each is not None),
    )


def candidate_table(audit: Audit) -> TableBlock | None:
    """Return candidate metrics of record linkage, by release."""
    found = [
        {
            figure: value
            for finding in release.findings
            for figure, value in finding.figures.items()
            if figure in METRICS and METRICS[figure].on == "Candidates"
        }
        for release in audit.releases
    ]
    shown = [METRICS[each] for each in dict.fromkeys(each for values in found for each in values)]
    if not shown:
        return None
    several = len(audit.releases) > 1
    heads = [name(release.name, LONGEST_NAME) for release in audit.releases] if several else ["Value"]
    return TableBlock(
        caption="Candidates of each released record",
        columns=("Metric", *heads, "More private", "Reliability in tables"),
        rows=tuple(
            (
                title_of(metric),
                *(decimal(values[metric.name]) if metric.name in values else "–" for values in found),
                "if high" if metric.more_means == "more private" else "if low",
                mark(metric.name, "tables"),
            )
            for metric in shown
        ),
        align=sides("l" + "r" * len(heads) + "ll"),
        note=f"Metrics of single records are means. {trust_note(['tables'])}",
    )


def identifier_table(audit: Audit) -> TableBlock | None:
    """Return columns that look like direct identifiers, released ones first."""
    released = {release.name for release in audit.releases}
    places: dict[tuple[str, str], list[tuple[str, Flag]]] = {}
    for each in audit.flags:
        for flag in each.flags:
            places.setdefault((flag.column, flag.looks_like), []).append((each.table, flag))
    if not places:
        return None
    rows = [_identifier(own, released) for own in places.values()]
    return TableBlock(
        caption="Columns that look like direct identifiers",
        columns=("Column", "Looks like", "In", "Released", "Reason"),
        rows=tuple(sorted(rows, key=lambda row: row[3] == "no")),
        align=("left",) * 5,
        note="unveil judges columns by their names and by the shape and number of their values.",
        prose=True,
    )


def _identifier(places: Sequence[tuple[str, Flag]], released: set[str]) -> tuple[str, ...]:
    flag = min((flag for _, flag in places), key=lambda each: (_EVIDENCE[each.sure], -each.share))
    tables = ", ".join(name(table, 30) for table, _ in places)
    is_released = "yes" if any(table in released for table, _ in places) else "no"
    return name(flag.column, 60), flag.looks_like, tables, is_released, flag.reason
