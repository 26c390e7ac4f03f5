"""Exposed people: in which groups most records are linked."""

import numpy as np

from unveil.questions.link.findings import GroupShare, LinkFindings
from unveil.questions.result import PageContext
from unveil.report.blocks import Chart, Section, Series, TableBlock, sides
from unveil.report.text import about, count, name, percent


def section(findings: LinkFindings, context: PageContext) -> Section | None:
    """Return the records linked by group; None if no group is large enough."""
    del context
    groups = findings.groups
    if not groups:
        return None
    worst = max(groups, key=lambda each: each.records_linked.value)
    lead = f"Most exposed: {_name(worst)}, with {about(worst.records_linked.value)} of records linked."
    place = np.arange(len(groups), dtype=np.float64)
    rates = [each.records_linked for each in groups]
    chart = Chart(
        title="Records linked by group",
        x_label="share of a person's records linked (95% CI)",
        y_label="",
        series=(
            Series(
                name="records linked",
                x=np.array([rate.value for rate in rates]),
                y=place,
                style="first",
                kind="points",
                low=np.array([rate.low for rate in rates]),
                high=np.array([rate.high for rate in rates]),
            ),
        ),
        rows=tuple(_name(each) for each in groups),
        caption=f"Gini index of records linked over people: {findings.linked_people.gini:.2f}.",
        x_kind="share",
    )
    return Section(
        heading="Exposed people",
        question="Who is most exposed?",
        lead=lead,
        blocks=(chart, _people_table(findings)) if findings.exposed else (chart,),
        data=(_table(groups),),
    )


def _name(group: GroupShare) -> str:
    if group.group_by == "number of records":
        return f"{group.group} records"
    return f"{name(group.group_by, 20)} {name(group.group, 20)}"


def _table(groups: tuple[GroupShare, ...]) -> TableBlock:
    rows = []
    for each in groups:
        rate = each.records_linked
        linked = f"{percent(rate.value)} ({percent(rate.low).removesuffix('%')}–{percent(rate.high)})"
        rows.append((_name(each), count(each.people), linked, percent(each.linked_alone)))
    return TableBlock(
        caption="Records linked by group",
        columns=("Group", "People", "Records linked (95% CI)", "Pseudonym alone"),
        rows=tuple(rows),
        align=sides("lrrr"),
        note="Groups of fewer than 10 people are left out.",
    )


def _people_table(findings: LinkFindings) -> TableBlock:
    return TableBlock(
        caption="Most exposed people",
        columns=("Person", "Records", "Records linked", "Own share"),
        rows=tuple(
            (name(each.person, 40), count(each.records), percent(each.records_linked), percent(each.own_share))
            for each in findings.exposed
        ),
        align=sides("lrrr"),
    )
