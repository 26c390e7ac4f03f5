"""The page that answers: if this table is released, what could an adversary do with it, and how sure is that?"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from unveil._figure import derived, figure, figure_at, version_figure
from unveil._version import __version__
from unveil.errors import InputError
from unveil.questions.audit import sentences, words
from unveil.questions.audit.attacks import ASKED, ATTACKS, LEADING
from unveil.questions.audit.attacks.copies import WARNING, copied_records, records_section
from unveil.questions.audit.cautions import cautions, unseen_notes
from unveil.questions.audit.charts import attack_chart, charts, risk_and_utility
from unveil.questions.audit.control_words import control_notes
from unveil.questions.audit.decision_text import DECISION_WORDS, LEVEL_WORDS, summary_table, tone
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.generator.words import epsilon_said, existing_said, way_section
from unveil.questions.audit.parts.candidates import candidate_table
from unveil.questions.audit.parts.changes import Changes, changes, changes_section
from unveil.questions.audit.parts.disclosure import disclosure_section
from unveil.questions.audit.parts.groups import GroupTable, group_section
from unveil.questions.audit.parts.identifiers import identifier_section
from unveil.questions.audit.parts.membership import exposed_section, separation_blocks
from unveil.questions.audit.parts.suggestions import MeasuredChange, measured_changes, suggestion_section
from unveil.questions.audit.parts.utility import utility_section
from unveil.questions.audit.quantities import alone, meanings, quantities_of
from unveil.questions.audit.ranking import worst_of, worst_over
from unveil.questions.audit.report_context import ReportContext, check_context, sign_off
from unveil.questions.audit.shareable import shared
from unveil.questions.audit.tables import EXCESS, attack_table, column_table, weight_table
from unveil.questions.audit.verdict_text import of_all, safe
from unveil.questions.result import QuestionView
from unveil.report.blocks import Block, Page, Section, TableBlock
from unveil.report.clauses import ProfileAnswers, answers_to, profile_section
from unveil.report.editions import internal, shareable
from unveil.report.figures import SEED, flat_row, frame_of_rows, json_of
from unveil.report.machine import dumps
from unveil.report.profiles import profile
from unveil.report.sign_off import with_sign_off
from unveil.report.text import count, name

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from unveil.metrics.verdict.control import ControlCheck
    from unveil.questions.audit.attacks.attack import AttackerGoal
    from unveil.questions.audit.decision_findings import AuditDecision
    from unveil.questions.audit.inputs import PreparedRelease


def page(audit: Audit, *, seed: int | None = None, version: str | None = None) -> Page:
    """Return the whole report as data; :func:`unveil.report.page.render` turns it into HTML.

    Nothing is measured here, and no row or cell of the tables is in it: only figures and the names of columns.
    """
    sections = [_identifiers(audit)]
    sections += [section for asked in (*ASKED, None) if (section := _attacks(audit, asked)) is not None]
    others = (_disclosure, _utility, _weights, _groups, exposed_section)
    sections += [section for part in others if (section := part(audit)) is not None]
    decision, made, chart = audit.decision, way_section(audit), risk_and_utility(audit)
    explanation = (*control_notes(audit), *existing_said(audit), epsilon_said(audit))
    return Page(
        title=_title(audit),
        question=_question(audit),
        headline=decision.headline,
        explanation=tuple(filter(None, (decision.subline, *explanation))),
        next_steps=decision.next,
        picture=(summary_table(decision), *([] if chart is None else [chart])),
        tone=tone(decision),
        tone_word=_word(decision),
        sections=(*sections, *([] if made is None else [made]), _sure(audit), _columns(audit)),
        method=_method(audit),
        limitations=tuple(_untested(audit)),
        notes=(words.EVIDENCE, *unseen_notes(audit), *audit.notes),
        cautions=cautions(audit),
        seed=seed,
        version=__version__ if version is None else version,
    )


def _word(decision: "AuditDecision") -> str:
    """Return what stands above the headline: the decision, or the level where no threshold is set."""
    if decision.decision != "none":
        return DECISION_WORDS[decision.decision]
    return f"Level: {LEVEL_WORDS[decision.level]}"


def _title(audit: Audit) -> str:
    if audit.way is not None:
        return "Audit of a way of making releases"
    return "Audit of a release" if len(audit.releases) == 1 else f"Audit of {len(audit.releases)} releases"


def _question(audit: Audit) -> str:
    columns = count(len(audit.columns), "column", "columns")
    if audit.way is not None:
        return of_all(audit, f"What could an attacker do with releases that are made this way, of {{}} in {columns}?")
    which = f"one of {len(audit.releases)} releases"
    if len(audit.releases) == 1:
        which = f"the release {name(audit.releases[0].name, 40)!r} ({words.kind_text(audit.releases[0])})"
    return of_all(audit, f"What could an attacker do with {safe(which)} of {{}} in {columns}?")


def _attacks(audit: Audit, asked: "AttackerGoal | None") -> Section | None:
    """Return the figures of all attacks that answer a question; None stands for those that only illustrate."""
    own = [ATTACKS[each] for each in audit.attacks if ATTACKS[each].asks == asked]
    own = [each for each in own if any(release.of(each.name) for release in audit.releases)]
    if not own:
        return None
    blocks: list[Block] = []
    for attack in own:
        # A picture of one adversary for each release, or beside a table like that of another attack, says nothing new.
        rows = sum(len(release.of(attack.name)) for release in audit.releases)
        chart = attack_chart(audit, attack) if attack.answers and rows > len(audit.releases) else None
        known = candidate_table(audit, attack.name)
        blocks += [each for each in (chart, attack_table(audit, attack.name), known) if each is not None]
        blocks += separation_blocks(audit, attack.name)
    titles = ", ".join([own[0].title, *(each.title.lower() for each in own[1:])])
    has_excess = any(worst_over(audit, each.name) is not None and each.controlled for each in own) and audit.has_control
    return Section(
        heading=f"{'How near is the release to people?' if asked is None else ASKED[asked]} {titles}",
        lead=" ".join((*(each.lead for each in own), *([EXCESS] if has_excess else []))),
        blocks=tuple(blocks),
    )


def _identifiers(audit: Audit) -> Section:
    """Return the columns that look like direct identifiers."""
    return identifier_section(
        {each.table: each.flags for each in audit.flags}, released=[release.name for release in audit.releases]
    )


def _groups(audit: Audit) -> Section | None:
    """Return the rates of groups under the worst adversary of each attack; None without groups."""
    several = len(audit.releases) > 1
    found = [
        GroupTable(
            column=audit.by,
            attack=ATTACKS[attack].title,
            groups=finding.groups,
            release=release.name if several else "",
        )
        for release in audit.releases
        for attack in audit.attacks
        if audit.by is not None and (finding := worst_of(release, attack)) is not None and finding.groups
    ]
    return group_section(found) if found else None


def _disclosure(audit: Audit) -> Section | None:
    """Return how many released rows look alike, compared with the original; None if not measured."""
    found = [(release.name, release.disclosure) for release in audit.releases if release.disclosure is not None]
    if not found:
        return None
    if audit.before is not None and audit.before.disclosure is not None:
        found.insert(0, (audit.before.name, audit.before.disclosure))
    return disclosure_section(found)


def _utility(audit: Audit) -> Section | None:
    """Return the usefulness of the releases; None if not measured."""
    found = [(release.name, release.utility) for release in audit.releases if release.utility is not None]
    if not found:
        return None
    return utility_section(found)


def _weights(audit: Audit) -> Section | None:
    """Return the columns that help the worst adversary most; None without links."""
    weighed = [release for release in audit.releases if release.weights]
    if not weighed:
        return None
    return Section(
        heading="The columns that matter most",
        lead=(
            "Each column of the worst adversary is taken away in turn, and the attack repeated on the same people. The "
            "more that loses, the more would coarsening the column or leaving it out help."
        ),
        blocks=(weight_table(weighed),),
    )


def _sure(audit: Audit) -> Section:
    """Return what the decision rests on: tests, permutations, and the checks of the control group."""
    judged, control = audit.verdict, audit.verdict.control
    facts: list[tuple[str, str]] = []
    if judged.figures:
        facts += [("Tests", count(judged.figures))]
        facts += [("Permutations of who is in the data", count(judged.draws))] if judged.draws else []
    if audit.has_control:
        facts += [
            ("The control", _CONTROLS[control.outcome]),
            *((label, sentences.p_text(p)) for label, p in _checks(control) if not isnan(p)),
        ]
    if judged.fewest_copies_provable:
        facts.append(("Smallest number of copies that counting can detect", count(judged.fewest_copies_provable)))
    table = TableBlock(
        caption="What the decision rests on", columns=("", ""), rows=tuple(facts), align=("left", "left"), prose=True
    )
    lead = [_LEVELS, *(() if audit.has_control else (words.NO_CONTROL,))]
    if not judged.figures and audit.has_control:
        lead.append("Nothing was tested: the control group cannot be used, or there were too few attempts.")
    return Section(heading="How sure is that?", lead=" ".join(lead), blocks=(table,) if facts else ())


def _checks(control: "ControlCheck") -> Iterator[tuple[str, float]]:
    yield "p: people of both tables are of one kind", control.p_same
    yield "p: nobody is in both tables", control.p_overlap
    yield "p: nobody of one table is almost in the other", control.p_near


_CONTROLS = {
    "usable": "usable",
    "other_people": "of other people, so that nothing is compared",
    "clustered": "not usable: rows of one table are too alike to be separate people, so that nothing is compared",
    "overlap": "has people of the original, so that figures are too low",
    "too_small": "too small, so that nothing is compared",
    "none": "none",
}
_LEVELS = (
    "The excess risk of an attack is its success on people in the data minus its success on the control group: more "
    "people per 100 because of the release. A significant excess of at most 5 points is a very low risk, of at most 9 "
    "points low, of at most 33 points medium, above that high. These bounds are published for re-identification; "
    "applying them to other risks is a convention of this product."
)


def _columns(audit: Audit) -> Section:
    return Section(
        heading="What each column was taken for",
        lead=(
            "Kinds and roles were guessed where nobody told them. A wrong guess makes wrong figures: please look "
            "through them. Identifiers and sensitive columns are not among what an adversary knows beforehand."
        ),
        blocks=(column_table(audit),),
    )


def _method(audit: Audit) -> tuple[str, ...]:
    attacks = [ATTACKS[attack] for attack in audit.attacks]
    sentences = [each.about for each in attacks if each.about]
    sentences.append(
        "Each rate is the share of tries that succeed, with Clopper and Pearson's interval at a confidence of 95%."
    )
    if audit.verdict.figures:
        sentences.append(
            "If the release discloses nothing, every choice of as many people from the data and the control group "
            "together is equally likely to be the data. The p-value of a test is its rank among random permutations; "
            "adjusted p allows for all tests of the audit (step-down min-p, Westfall and Young 1993). An excess is "
            f"significant where adjusted p is at most {audit.verdict.alpha:g}. Lower limits of all excesses together "
            "err in at most 2.5% of audits, each upper limit in 5% (Newcombe 1998, method 10). The largest of several "
            "excesses is too large on average; where that bias exceeds a tenth, it is subtracted, and the attack "
            "success with it."
        )
    return (*sentences, _BY_CONTENT)


_BY_CONTENT = (
    "Targets are drawn by content, not by position: shuffling the rows of any table changes no figure but that on row "
    "order."
)


def _untested(audit: Audit) -> Iterator[str]:
    """Yield what nobody looked at, in sentences."""
    left_out = [each.title.lower() for each in ATTACKS.values() if each.name not in audit.attacks]
    if left_out:
        yield f"Attacks that were not asked for: {', '.join(left_out)}."
    yield (
        "Adversaries with other knowledge: other columns, other tables, repeated releases, or the means by which the "
        "release was made."
    )
    yield "Whether a stronger attacker exists than those that were tried."
    if audit.by is None:
        yield "Groups of people: a rate over everybody can hide a group that is hit much more often (--by)."
    else:
        fewer = f"groups of fewer than {audit.minimum_cell} people"
        yield f"Groups by other columns than {name(audit.by, 40)}, and {fewer}."
    if all(release.utility is None for release in audit.releases):
        yield "Whether the release is still useful for what it was made for."
    else:
        yield "Whether the release is good enough for one purpose: usefulness was measured in general."
    if not any(each.role == "sensitive" for each in audit.columns):
        yield "What is sensitive: no column was named (--sensitive), so every column was tried in turn."


#: The figures of a finding that have no place in a table of single values.
_NOT_FLAT = ("adversary", "figures", "trust", "groups", "separation")


def attack_rows(audit: Audit) -> list[dict[str, Any]]:
    """Return one flat row for each release, attack and adversary."""
    distances = dict.fromkeys(figure for attack in ATTACKS.values() for figure in attack.distances)
    rows = []
    for release in audit.releases:
        for finding in release.findings:
            told = {name: each for name, each in json_of(finding).items() if name not in _NOT_FLAT}
            sentence = told.pop("sentence")
            further = {name: finding.figures.get(name) for name in distances}
            rows.append(
                {"release": release.name, "kind": release.kind, **flat_row(told), **further, "sentence": sentence}
            )
    return rows


def frame(audit: Audit) -> "pl.DataFrame":
    """Return all figures, one row for each release, attack and adversary; undefined ones are null."""
    return frame_of_rows(attack_rows(audit))


def plot(audit: Audit) -> "NDArray[Any]":
    """Return matplotlib axes: the worst adversary on each release, and what it loses without each column."""
    from unveil.report.draw.lines import draw_all

    return draw_all(charts(audit, [ATTACKS[attack] for attack in audit.attacks], leading=LEADING))


def whole_page(
    audit: Audit,
    *,
    seed: int | None = None,
    context: ReportContext | None = None,
    edition: Literal["internal", "shareable"] = "internal",
    show_records: bool = False,
    releases: "Sequence[PreparedRelease]" = (),
) -> Page:
    """Return one edition of the report, with the sheet to sign; by itself it holds no row of the data.

    Parameters
    ----------
    seed
        What the randomness started from, to be stated.
    context
        What stands beside the figures for whoever signs: date, command, techniques, an earlier audit.
    edition
        "shareable" keeps small counts, folders and values of the data out.
    show_records
        Whether to show a few records of the original that are released unchanged, in the known columns. Such a page
        must not be shared.
    releases
        The tables themselves, for these records; nothing else looks at them.
    """
    given = context or ReportContext()
    if edition == "shareable":
        if show_records:
            raise InputError("a shareable report holds no records. Leave out show_records, or make an internal one")
        # What an earlier audit held may be as few people as the rest, and is in the internal edition.
        signed = _signed(shared(audit, key=given.digest_key), replace(given, previous=None, digest_key=None), seed)
        return shareable(signed, minimum_cell=audit.minimum_cell, paths=given.paths)
    if show_records and not releases:
        raise InputError("this answer was made without the tables, so it has no records to show. Ask anew")
    whole = internal(_signed(audit, given, seed))
    if not show_records:
        return whole
    sections = (*whole.sections, records_section(copied_records(releases)))
    return replace(whole, sections=sections, notes=(WARNING, *whole.notes), holds_records=True)


def _signed(audit: Audit, context: ReportContext, seed: int | None) -> Page:
    """Return the report with the source of the threshold, what changed since an earlier audit, and the sheet."""
    check_context(audit, context)
    whole = page(audit, seed=seed)
    answers = _profile_answers(audit)
    if answers is not None:
        whole = replace(whole, sections=(whole.sections[0], profile_section(answers), *whole.sections[1:]))
    if (suggested := suggestion_section(audit)) is not None:
        whole = replace(whole, sections=(*whole.sections, suggested))
    if (changed := _changed(audit, context, seed)) is not None:
        whole = replace(whole, sections=(*whole.sections, changes_section(changed)))
    return with_sign_off(whole, sign_off(audit, context, untested=whole.limitations, seed=seed, version=__version__))


def _profile_answers(audit: Audit) -> ProfileAnswers | None:
    """Return what answers each clause of the source of the threshold; None where the user chose it."""
    if not audit.thresholds.profile:
        return None
    return answers_to(
        profile(audit.thresholds.profile),
        {each.name: quantities_of(alone(audit, each.name)) for each in audit.releases},
    )


def _changed(audit: Audit, context: ReportContext, seed: int | None) -> Changes | None:
    if context.previous is None:
        return None
    now = json.loads(dumps(whole_json(audit, seed=seed, context=replace(context, previous=None))))
    return changes(context.previous, now)


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """The findings of an audit, and of its context what bears on figures."""

    audit: Audit = figure(inline=True)
    profile: ProfileAnswers | None = figure(
        "The source of the threshold, and what answers each of its clauses; null where none is named.", default=None
    )
    techniques: Mapping[str, str] = figure("What was done to each column before the release, as it was told.")
    context: Mapping[str, str] = figure("For whom the release is identifiable, as it was told.", optional=True)
    seed: int | None = figure(SEED)

    version = version_figure()

    changes: Changes | None = figure(
        "What changed since the audit that was named as the previous one.", optional=True, default=None
    )

    @derived("What to change, each measured by auditing again.", optional=True)
    def suggestions(self) -> tuple[MeasuredChange, ...] | None:
        """Every change with its figures before and after, the best first."""
        return None if self.audit.suggestions is None else tuple(measured_changes(self.audit))

    way = figure_at("audit.way", "How releases were made by the generator.", optional=True)
    epsilon = figure_at("audit.epsilon", "What was bounded of epsilon.", optional=True)


def whole_json(audit: Audit, *, seed: int | None = None, context: ReportContext | None = None) -> Mapping[str, Any]:
    """Return everything that JSON holds: the findings, and of the ``context`` what bears on figures."""
    given = context or ReportContext()
    check_context(audit, given)
    report = AuditReport(
        audit=audit,
        profile=_profile_answers(audit),
        techniques=given.techniques,
        context=given.context,
        seed=seed,
        changes=_changed(audit, given, seed),
    )
    return {"schema": SCHEMA, **json_of(report)}


SCHEMA = "unveil.audit/4"
VIEW: QuestionView[Audit] = QuestionView(
    schema=SCHEMA,
    quantities=quantities_of,
    frame=frame,
    page=page,
    plot=plot,
    findings=AuditReport,
    about=(
        "The answer of `unveil audit` and `unveil protect`: what an adversary could do with one or more releases of a "
        "table."
    ),
    meanings=meanings,
    level=lambda audit: audit.decision.level,
    whole_page=whole_page,
    whole_json=whole_json,
)
