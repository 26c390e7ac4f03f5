"""The page that answers: if this table is released, what could an adversary do with it, and how sure is that?"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from unveil._figure import VERSION, derived, figure
from unveil._version import __version__
from unveil.errors import InputError
from unveil.questions.audit import overview, sentences, verdict, words
from unveil.questions.audit.attacks import ASKED, ATTACKS, LEADING
from unveil.questions.audit.attacks.copies import WARNING, copied_records, records_section
from unveil.questions.audit.cautions import cautions, unseen_notes
from unveil.questions.audit.charts import attack_chart, charts
from unveil.questions.audit.control_words import control_notes
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.generator.findings import EpsilonFinding, GeneratorSummary
from unveil.questions.audit.generator.words import epsilon_said, existing_said, way_section
from unveil.questions.audit.limit_outcome import LimitOutcome, headline, held, reasons, tone_of, word_of
from unveil.questions.audit.parts.candidates import candidate_table
from unveil.questions.audit.parts.changes import Changes, changes, changes_section
from unveil.questions.audit.parts.disclosure import disclosure_section
from unveil.questions.audit.parts.groups import GroupTable, group_section
from unveil.questions.audit.parts.identifiers import identifier_section
from unveil.questions.audit.parts.membership import exposed_section, separation_blocks
from unveil.questions.audit.parts.suggestions import MeasuredChange, measured_changes, suggestion_section
from unveil.questions.audit.parts.utility import utility_section
from unveil.questions.audit.quantities import meanings, quantities_of
from unveil.questions.audit.ranking import worst_of, worst_over
from unveil.questions.audit.report_context import ReportContext, check_context, exit_outcome, judged, sign_off
from unveil.questions.audit.shareable import shared
from unveil.questions.audit.tables import EXCESS, attack_table, column_table, weight_table
from unveil.questions.audit.verdict_text import of_all, safe
from unveil.questions.result import QuestionView
from unveil.report.blocks import Block, Page, Section, TableBlock
from unveil.report.editions import behind, internal, shareable
from unveil.report.figures import LIMITS, SEED, flat_row, frame_of_rows, json_of
from unveil.report.judgement import Judgement, judgement_section
from unveil.report.limits import CheckedLimit, shared_limits, with_limits
from unveil.report.machine import dumps
from unveil.report.sign_off import with_sign_off
from unveil.report.text import count, name

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from unveil.metrics.verdict.control import ControlCheck
    from unveil.questions.audit.attacks.attack import AttackerGoal
    from unveil.questions.audit.inputs import PreparedRelease


def page(
    audit: Audit, *, seed: int | None = None, version: str | None = None, held: LimitOutcome | None = None
) -> Page:
    """Return the whole report as data; :func:`unveil.report.page.render` turns it into HTML.

    Nothing is measured here, and no row or cell of the tables is in it: only figures and the names of columns. ``held``
    is what limits come to, whose answer is then the headline.
    """
    sections = [_identifiers(audit)]
    sections += [section for asked in (*ASKED, None) if (section := _attacks(audit, asked)) is not None]
    others = (_disclosure, _utility, _weights, _groups, exposed_section)
    sections += [section for part in others if (section := part(audit)) is not None]
    said, tone = verdict.said_of(audit), verdict.tone(audit)
    safest = "" if audit.way is not None else overview.safest(audit, held)
    explanation = (safest,) if safest else said.explanation[:1]
    if held is not None:
        # The answer to the limit comes first, and the finding right below it.
        is_said = len(held.of("kept")) == 1  # then the headline names it, and a section has the figures
        why = (safest,) if safest and not is_said else () if safest else reasons(audit, held)[:1]
        # Giving people away and exceeding a limit are two things: either may be without the other.
        explanation = (behind("Whatever the limit: ", said.headline), *why)
    explanation += tuple(filter(None, (*existing_said(audit), epsilon_said(audit))))
    more = [each for each in said.explanation if each not in explanation]
    made = way_section(audit)
    return Page(
        title=_title(audit),
        question=_question(audit),
        headline=said.headline if held is None else headline(audit, held),
        explanation=explanation,
        next_steps=overview.next_steps(audit, said, held),
        picture=overview.picture(audit, held),
        tone=tone if held is None else tone_of(held, tone),
        # Whether something is serious is for whoever sets a limit.
        tone_word=_TONES[audit.verdict.outcome, tone] if held is None else word_of(held),
        sections=(*sections, *([] if made is None else [made]), _sure(audit, more), _columns(audit)),
        method=_method(audit),
        untested=tuple(_untested(audit)),
        notes=(words.EVIDENCE, *control_notes(audit), *unseen_notes(audit), *audit.notes),
        cautions=cautions(audit),
        seed=seed,
        version=__version__ if version is None else version,
    )


def _title(audit: Audit) -> str:
    if audit.way is not None:
        return "Audit of a way of making releases"
    return "Audit of a release" if len(audit.releases) == 1 else f"Audit of {len(audit.releases)} releases"


def _question(audit: Audit) -> str:
    columns = count(len(audit.columns), "column", "columns")
    if audit.way is not None:
        return of_all(audit, f"What could an adversary do with releases that are made this way, of {{}} in {columns}?")
    which = f"one of {len(audit.releases)} releases"
    if len(audit.releases) == 1:
        which = f"the release {name(audit.releases[0].name, 40)!r}"
    return of_all(audit, f"What could an adversary do with {safe(which)} of {{}} in {columns}?")


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


def _sure(audit: Audit, more: Sequence[str]) -> Section:
    """Return what the verdict rests on: how many figures and draws, and whether the control passed its checks.

    ``more`` is what explains the verdict and has no room on the first screen.
    """
    judged, control = audit.verdict, audit.verdict.control
    facts: list[tuple[str, str]] = []
    if judged.figures:
        facts += [("Figures judged together", count(judged.figures))]
        facts += [("Draws of who is in the data", count(judged.draws))] if judged.draws else []
    if audit.has_control:
        facts += [
            ("The control", _CONTROLS[control.outcome]),
            *((label, sentences.p_text(p)) for label, p in _checks(control) if not isnan(p)),
        ]
    if judged.fewest_copies_provable:
        facts.append(("Fewest copied people that counting could prove", count(judged.fewest_copies_provable)))
    table = TableBlock(
        caption="What the verdict rests on", columns=("", ""), rows=tuple(facts), align=("left", "left"), prose=True
    )
    lead = [*more, *(() if audit.has_control else (words.NO_CONTROL,))]
    if not judged.figures and audit.has_control:
        lead.append("No figure was judged: the control says why, or there were too few tries.")
    return Section(heading="How sure is that?", lead=" ".join(lead), blocks=(table,) if facts else (), tells="sure")


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
#: What stands above the headline where no limit was set, by outcome and tone.
_TONES: Mapping[tuple[str, str], str] = {
    ("found", "bad"): "Most people",
    ("found", "warning"): "Proved",
    ("copies", "warning"): "People copied",
    **{(outcome, "warning"): "Claim contradicted" for outcome in ("nothing_found", "control_unusable", "no_control")},
    ("nothing_found", "neutral"): "Nothing proved",
    ("control_unusable", "neutral"): "No comparison",
    ("no_control", "neutral"): "No comparison",
}


def _columns(audit: Audit) -> Section:
    return Section(
        heading="What each column was taken for",
        lead=(
            "Kinds and roles were guessed where nobody told them. A wrong guess makes wrong figures: please look "
            "through them. Identifiers and sensitive columns are not among what an adversary knows beforehand."
        ),
        blocks=(column_table(audit),),
        tells="measured",
    )


def _method(audit: Audit) -> tuple[str, ...]:
    attacks = [ATTACKS[attack] for attack in audit.attacks]
    sentences = [each.about for each in attacks if each.about]
    sentences.append(
        "Each rate is the share of tries that succeed, with Clopper and Pearson's interval at a confidence of 95%."
    )
    if audit.verdict.figures:
        sentences.append(
            "Where nothing is given away, any choice of as many people of the original and the control together was "
            "equally likely to be the data: who is in it was drawn by lot, the same draws for all figures, and the "
            "adjusted p is how often luck makes any of them as clear as this one (step-down procedure of the least p, "
            f"Westfall and Young 1993). A figure is proved where it is at most {audit.verdict.alpha:g}; intervals that "
            "miss 0, distances and bare rates prove nothing."
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
    yield "Whether the clearest of the adversaries that were tried is the worst that exists."
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
    limits: Sequence[Mapping[str, Any]] = (),
    seed: int | None = None,
    context: ReportContext | None = None,
    edition: Literal["internal", "shareable"] = "internal",
    show_records: bool = False,
    releases: "Sequence[PreparedRelease]" = (),
) -> Page:
    """Return one edition of the report, with the sheet to sign; by itself it holds no row of the data.

    Parameters
    ----------
    limits
        Limits that were set beforehand, as JSON has them.
    seed
        What the randomness started from, to be stated.
    context
        What stands beside the figures for whoever signs: date, command, techniques, profile, an earlier audit.
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
        safe = shared(audit, key=given.digest_key)
        # What an earlier audit held may be as few people as the rest, and is in the internal edition.
        told = quantities_of(safe)
        beside = shared_limits(limits, told)
        signed = _signed(safe, replace(given, previous=None, digest_key=None), seed, beside)
        limited = with_limits(signed, beside, told)
        return shareable(limited, minimum_cell=audit.minimum_cell, paths=given.paths)
    if show_records and not releases:
        raise InputError("this answer was made without the tables, so it has no records to show. Ask anew")
    whole = internal(with_limits(_signed(audit, given, seed, limits), limits, quantities_of(audit)))
    if not show_records:
        return whole
    sections = (*whole.sections, records_section(copied_records(releases)))
    return replace(whole, sections=sections, notes=(WARNING, *whole.notes), holds_records=True)


def _signed(audit: Audit, context: ReportContext, seed: int | None, limits: Sequence[Mapping[str, Any]]) -> Page:
    """Return the report with the answer to the chosen limit, what changed since an earlier audit, and the sheet."""
    check_context(audit, context)
    judgement = None if context.profile is None else judged(audit, context.profile)
    whole = page(audit, seed=seed, held=held(audit, limits, judgement))
    if judgement is not None:
        whole = replace(whole, sections=(whole.sections[0], judgement_section(judgement), *whole.sections[1:]))
    if (suggested := suggestion_section(audit, limits=limits)) is not None:
        whole = replace(whole, sections=(*whole.sections, suggested))
    if (changed := _changed(audit, context, seed)) is not None:
        whole = replace(whole, sections=(*whole.sections, changes_section(changed)))
    sheet = sign_off(audit, context, untested=whole.untested, seed=seed, version=__version__, limits=limits)
    return with_sign_off(whole, sheet)


def _changed(audit: Audit, context: ReportContext, seed: int | None) -> Changes | None:
    if context.previous is None:
        return None
    now = json.loads(dumps(whole_json(audit, seed=seed, context=replace(context, previous=None))))
    return changes(context.previous, now)


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """The findings of an audit, and of its context what bears on figures."""

    audit: Audit = figure(inline=True)
    limits: Sequence[Mapping[str, Any]] = figure(LIMITS, rows=CheckedLimit)
    profile: Judgement | None = figure(
        "How the releases stand to published limits; null where none are named.", default=None
    )
    techniques: Mapping[str, str] = figure("What was done to each column before the release, as it was told.")
    context: Mapping[str, str] = figure("For whom the release is identifiable, as it was told.", optional=True)
    seed: int | None = figure(SEED)

    @derived(VERSION)
    def version(self) -> str:
        """The version of unveil."""
        return __version__

    changes: Changes | None = figure(
        "What changed since the audit that was named as the previous one.", optional=True, default=None
    )

    @derived("What to change, each measured by auditing again.", optional=True)
    def suggestions(self) -> tuple[MeasuredChange, ...] | None:
        """Every change with its figures before and after, the best first."""
        return None if self.audit.suggestions is None else tuple(measured_changes(self.audit))

    @derived("How releases were made by the generator.", optional=True)
    def way(self) -> GeneratorSummary | None:
        """How releases were made by the generator."""
        return self.audit.way

    @derived("What was bounded of epsilon.", optional=True)
    def epsilon(self) -> EpsilonFinding | None:
        """What was bounded of epsilon."""
        return self.audit.epsilon


def whole_json(
    audit: Audit,
    *,
    limits: Sequence[Mapping[str, Any]] = (),
    seed: int | None = None,
    context: ReportContext | None = None,
) -> Mapping[str, Any]:
    """Return everything that JSON holds: the figures, the limits, and of the ``context`` what bears on figures."""
    given = context or ReportContext()
    check_context(audit, given)
    judgement = None if given.profile is None else judged(audit, given.profile)
    exit_word = exit_outcome(limits, judgement)
    report = AuditReport(
        audit=replace(audit, verdict=replace(audit.verdict, headline=verdict.said_of(audit).whole, exit=exit_word)),
        limits=limits,
        profile=judgement,
        techniques=given.techniques,
        context=given.context,
        seed=seed,
        changes=_changed(audit, given, seed),
    )
    return {"schema": SCHEMA, **json_of(report)}


SCHEMA = "unveil.audit/3"
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
    level=lambda audit: audit.verdict.outcome,
    whole_page=whole_page,
    whole_json=whole_json,
)
