"""Report of an audit: page, data frame, and JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unveil._figure import derived, figure, figure_at, version_figure
from unveil._version import __version__
from unveil.errors import InputError
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.attacks.copies import WARNING, copied_records, records_section
from unveil.questions.audit.decision.evidence import meanings, quantities_of
from unveil.questions.audit.decision.templates import OPTIONS
from unveil.questions.audit.decision.text import tone
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.redaction import shared
from unveil.questions.audit.report_context import AuditContext, ReportContext, check_context
from unveil.questions.audit.sections import (
    changes,
    classes,
    control_options,
    copies,
    exposure,
    generator,
    inference,
    linkability,
    membership,
    methods,
    people_tables,
    population,
    siblings,
    singling_out,
    subgroups,
    suggestions,
    summary,
    utility,
)
from unveil.questions.audit.sections.changes import Changes
from unveil.questions.audit.sections.methods import (
    ProfileAnswers,
    clause_table,
    profile_answers,
    profile_sentence,
)
from unveil.questions.audit.sections.sign_off import sign_off
from unveil.questions.audit.sections.suggestions import MeasuredChange, measured_changes
from unveil.questions.audit.words import kind_text, of_all, safe
from unveil.questions.result import QuestionView
from unveil.report.blocks import NextStep, Page, Section
from unveil.report.editions import command_text, shareable
from unveil.report.figures import SEED, flat_row, frame_of_rows, json_of
from unveil.report.machine import dumps
from unveil.report.sign_off import record_tables, sheet
from unveil.report.text import count, name

if TYPE_CHECKING:
    import polars as pl

#: The sections of the report in their order; each returns None where it has nothing to show.
SECTIONS = (
    singling_out.section,
    linkability.section,
    inference.section,
    membership.section,
    siblings.section,
    copies.section,
    classes.section,
    utility.section,
    population.section,
    people_tables.section,
    exposure.section,
    subgroups.section,
    generator.section,
    suggestions.section,
    changes.section,
    control_options.section,
)


def page(audit: Audit, context: AuditContext = AuditContext()) -> Page:  # noqa: B008 - never changed
    """Return one edition of the report as data; nothing is measured here.

    It holds no row of the data unless ``context.show_records`` asks for some.
    """
    report = context.report
    check_context(audit, report)
    if context.redacted:
        if context.show_records:
            raise InputError("A redacted report holds no records. Leave out show_records, or make an internal report")
        # An earlier audit may hold small counts, so the comparison is in the internal report alone.
        own = replace(context, report=replace(report, previous=None, digest_key=None))
        audit_shown = shared(audit, key=report.digest_key)
        return shareable(_page(audit_shown, own), minimum_cell=audit.minimum_cell, paths=report.paths)
    if context.show_records and not context.releases:
        raise InputError("This result was made without the tables, so it has no records to show. Run the audit again")
    return _page(audit, context)


def _page(audit: Audit, context: AuditContext) -> Page:
    decision, report = audit.decision, context.report
    sections = [section for make in SECTIONS if (section := make(audit, context)) is not None]
    answers = profile_answers(audit)
    records: tuple[Section, ...] = ()
    if context.show_records:
        records = (records_section(copied_records(context.releases)),)
    signed = sign_off(audit, context)
    return Page(
        title=context.title or _title(audit),
        question=_question(audit),
        headline=decision.headline,
        explanation=tuple(filter(None, (decision.subline, *context.opening))),
        next_steps=(
            *(NextStep(step, option=OPTIONS.get(step, "")) for step in decision.next),
            *control_options.next_steps(audit, report),
            *generator.next_steps(audit),
        ),
        picture=summary.blocks(audit),
        tone=tone(decision),
        strip=summary.strip(decision),
        facts=tuple(summary.facts(audit, date=report.date, version=__version__)),
        command=command_text(("unveil", *report.written)) if report.written else "",
        sections=(*sections, *records),
        method=(*([] if answers is None else [profile_sentence(answers)]), *methods.methods(audit)),
        limitations=tuple(methods.limitations(audit)),
        method_data=(
            *([] if answers is None else [clause_table(answers.answers)]),
            *methods.tables(audit),
            *record_tables(signed),
        ),
        notes=(*([WARNING] if records else []), *methods.notes(audit)),
        cautions=methods.cautions(audit),
        seed=context.seed,
        holds_records=bool(records),
        edition="internal",
        sheet=sheet(signed),
    )


def _title(audit: Audit) -> str:
    if audit.way is not None:
        return "Audit of a generator"
    return "Audit of a release" if len(audit.releases) == 1 else f"Audit of {len(audit.releases)} releases"


def _question(audit: Audit) -> str:
    columns = count(len(audit.columns), "column", "columns")
    if audit.way is not None:
        return of_all(audit, f"What can an attacker do with releases of this generator, of {{}} in {columns}?")
    which = f"one of {len(audit.releases)} releases"
    if len(audit.releases) == 1:
        which = f"the release {name(audit.releases[0].name, 40)!r} ({kind_text(audit.releases[0])})"
    return of_all(audit, f"What can an attacker do with {safe(which)} of {{}} in {columns}?")


#: The fields of a finding that have no place in a table of single values.
_NOT_FLAT = ("attacker", "values", "reliability", "groups", "separation")


def attack_rows(audit: Audit) -> list[dict[str, Any]]:
    """Return one flat row for each release, attack and attacker."""
    distances = dict.fromkeys(figure for attack in ATTACKS.values() for figure in attack.distances)
    rows = []
    for release in audit.releases:
        for finding in release.findings:
            flat = {name: each for name, each in json_of(finding).items() if name not in _NOT_FLAT}
            further = {name: finding.figures.get(name) for name in distances}
            rows.append({"release": release.name, "type": release.kind, **flat_row(flat), **further})
    return rows


def frame(audit: Audit) -> "pl.DataFrame":
    """Return one row per release, attack, and attacker."""
    return frame_of_rows(attack_rows(audit))


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """Findings of an audit, with the context that affects results."""

    audit: Audit = figure(inline=True)
    profile: ProfileAnswers | None = figure(
        "The source of the threshold, with the answer to each of its clauses; null without one.", default=None
    )
    techniques: Mapping[str, str] = figure("The masking technique of each column, as given.")
    context: Mapping[str, str] = figure("The context of the release, as given.", optional=True)
    seed: int | None = figure(SEED)

    version = version_figure()

    changes: Changes | None = figure("Changes since the previous audit.", optional=True, default=None)

    @derived("Cautions above the headline, which prevent a wrong reading of the results.")
    def cautions(self) -> tuple[str, ...]:
        """The cautions above the headline."""
        return methods.cautions(self.audit)

    @derived("Suggested changes, each tested by a new audit.", optional=True)
    def suggestions(self) -> tuple[MeasuredChange, ...] | None:
        """Every change with its results before and after, best first."""
        return None if self.audit.suggestions is None else tuple(measured_changes(self.audit))

    way = figure_at("audit.way", "The generator and its runs.", name="generator", optional=True)
    epsilon = figure_at("audit.epsilon", "The empirical lower bound on ε.", optional=True)


def whole_json(audit: Audit, *, seed: int | None = None, context: ReportContext | None = None) -> Mapping[str, Any]:
    """Return the complete JSON of an audit."""
    given = context or ReportContext()
    check_context(audit, given)
    changed = None
    if given.previous is not None:
        changed = changes.changes(given.previous, present(audit, seed=seed, context=given))
    report = AuditReport(
        audit=audit,
        profile=profile_answers(audit),
        techniques=given.techniques,
        context=given.context,
        seed=seed,
        changes=changed,
    )
    return {"schema": SCHEMA, **json_of(report)}


def present(audit: Audit, *, seed: int | None, context: ReportContext) -> Mapping[str, Any]:
    """Return the JSON of this audit, to compare with a previous one."""
    own: Mapping[str, Any] = json.loads(dumps(whole_json(audit, seed=seed, context=replace(context, previous=None))))
    return own


SCHEMA = "unveil.audit/4"
VIEW: QuestionView[Audit] = QuestionView(
    schema=SCHEMA,
    quantities=quantities_of,
    frame=frame,
    page=page,
    context=AuditContext,
    findings=AuditReport,
    about=("Result of `unveil audit` and `unveil protect`: the disclosure risk of one or more releases of a table."),
    meanings=meanings,
    level=lambda audit: audit.decision.level,
    whole_json=whole_json,
)
