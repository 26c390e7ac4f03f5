"""Copies and distances: are records copied, or too close?"""

from dataclasses import replace
from math import isnan, nan

from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision.findings import ExposedIndividuals
from unveil.questions.audit.findings import Audit, CopyFindings
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.distance_histograms import distance_charts
from unveil.questions.audit.sections.distance_histograms import distance_table as histogram_table
from unveil.questions.audit.sections.results import charted, result_table
from unveil.questions.audit.words import LONGEST_NAME, listed, number_of
from unveil.report.blocks import Section, TableBlock
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import decimal, name


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return exact copies, copies beyond chance, and distances to the closest records."""
    found = [(each.name, each.copies) for each in audit.verdict.releases if each.copies is not None]
    tables = (
        result_table(audit, ("copies",), "Exact copies"),
        subgroup_table(audit),
        distance_table(audit),
        histogram_table(audit),
    )
    data = tuple(each for each in tables if each is not None)
    if not found and not data:
        return None
    several = len(found) > 1
    # The decision has the numbers that the redacted report may show.
    exposed = {each.name: each.individuals for each in audit.decision.releases}
    lead = " ".join(
        copies_sentence(label, exposed.get(label, ExposedIndividuals()), each, several=several)
        for label, each in found[:3]
    )
    return Section(
        heading="Copies and distances",
        question="Are records copied or too close?",
        lead=lead or "Distances are descriptive; they do not affect the level.",
        blocks=tuple(
            replace(chart, small=True)
            for attack in ("closest_record", "neighbour_ratio")
            for chart in distance_charts(audit, attack, only=charted(audit))
        ),
        data=data,
    )


def copies_sentence(label: str, people: ExposedIndividuals, copies: CopyFindings, *, several: bool) -> str:
    """Return how many people's records are released unchanged, how many by chance, and how many beyond it."""
    where = f"{name(label, LONGEST_NAME)}: " if several else ""
    seen = number_of(people.copies_seen)
    if not people.copies_seen and not isinstance(people.copies_seen, SuppressedNumber):
        return f"{where}No record is released as an exact copy."
    expected = ""
    if not isnan(people.copies_expected) and not isinstance(people.copies_expected, SuppressedNumber):
        chance = "fewer than 1" if 0 < people.copies_expected < 1 else f"{people.copies_expected:.0f}"
        expected = f"; {chance} expected by chance"
    beyond = f"; {number_of(people.unmistakable, '', '')} beyond chance" if people.unmistakable else ""
    changed = [f"{listed(copies.coarsened)} generalized" if copies.coarsened else ""]
    changed += [f"{listed(copies.relabelled)} renamed" if copies.relabelled else ""]
    after = " and ".join(filter(None, changed))
    said = f"{where}{seen} with a record released as an exact copy{expected}{beyond}."
    return f"{said} Compared with {after}." if after else said


def subgroup_table(audit: Audit) -> TableBlock | None:
    """Return the subgroups in which copies are more frequent; None where there are none."""
    rows = [
        (
            name(release.name, LONGEST_NAME),
            f"{name(group.column, 30)}: {name(group.value or 'missing', 30)}",
            number_of(group.copies, "", ""),
            number_of(group.people, "", ""),
        )
        for release in audit.verdict.releases
        if release.copies is not None
        for group in release.copies.groups
    ]
    if not rows:
        return None
    return TableBlock(
        caption="Copies by subgroup",
        columns=("Release", "Subgroup", "Copies", "People"),
        rows=tuple(rows),
        align=("left", "left", "right", "right"),
    )


def distance_table(audit: Audit) -> TableBlock | None:
    """Return quantiles of DCR and NNDR, next to those of the control group; None where they were not measured."""
    rows = [
        (
            *([name(release.name, LONGEST_NAME)] if len(audit.releases) > 1 else []),
            ATTACKS[finding.attack].title,
            *(_number(finding.figures.get(end, nan)) for end in ("median", "low", "control_median", "control_low")),
        )
        for release in audit.releases
        for finding in release.findings
        if ATTACKS[finding.attack].distances and finding.figures.get("median") is not None
    ]
    if not rows:
        return None
    heads = ("Distance", "Median", "5% quantile", "Median, control", "5% quantile, control")
    columns = (*(["Release"] if len(audit.releases) > 1 else []), *heads)
    return TableBlock(
        caption="Distances to the original data",
        columns=columns,
        rows=tuple(rows),
        align=tuple("right" if "edian" in head or "quantile" in head else "left" for head in columns),
        note="Distances are descriptive: dense data have small distances without any leak.",
    )


def _number(value: float) -> str:
    return "–" if isnan(value) else decimal(value)
