"""The first screen of an audit: questions and releases side by side, which release is the safest, and what to do."""

from collections.abc import Mapping, Sequence
from math import isnan
from types import MappingProxyType

import numpy as np

from unveil.metrics.trials.risk import Rate, Risk
from unveil.questions.audit.attacks import ASKED, ATTACKS, LEADING
from unveil.questions.audit.attacks.attack import AttackerGoal
from unveil.questions.audit.control_words import ADVICE
from unveil.questions.audit.findings import (
    UNDEFINED,
    AttackFinding,
    Audit,
    AuditedRelease,
    JudgedFigure,
    Outcome,
    ReleaseVerdict,
)
from unveil.questions.audit.limit_outcome import TONES, WORDS, LimitOutcome
from unveil.questions.audit.parts.utility import lost
from unveil.questions.audit.quantities import alone
from unveil.questions.audit.ranking import remarks_on, severity, worst_of
from unveil.questions.audit.verdict import hits_most
from unveil.questions.audit.verdict_text import VerdictText, quoted
from unveil.questions.audit.words import compact_rate, finer, listed, percent
from unveil.report.blocks import AnswerCell, AnswerRow, Answers, Block, Chart, Mark, Series, Style, Tone
from unveil.report.judgement import ReleaseOutcome as JudgedOutcome
from unveil.report.sign_off import NO_LIMIT
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, name, shorten

#: More releases than these are in no picture that can be read at a glance.
MOST_RELEASES = 6
_STYLES: tuple[Style, ...] = ("first", "second", "third", "fourth", "fifth")
_VERDICTS: Mapping[Outcome, str] = MappingProxyType(
    {
        "found": "gives people away",
        "copies": "copies people",
        "nothing_found": "nothing proved",
        "control_unusable": "could not be compared",
        "no_control": "could not be compared",
    }
)
_NOTHING = ReleaseVerdict(name="", outcome="no_control")


def picture(audit: Audit, held: LimitOutcome | None) -> tuple[Block, ...]:
    """Return what answers at a glance: the releases side by side, and with several of them risk against usefulness."""
    chart = risk_against_loss(audit)
    return (answers(audit, held), *([] if chart is None else [chart]))


def answers(audit: Audit, held: LimitOutcome | None) -> Answers:
    """Return each release with the clearest figure on each question, its verdict, and what it has lost."""
    releases = _shown(audit, held)
    verdicts = {each.name: each for each in audit.verdict.releases}
    own = [verdicts.get(each.name, _NOTHING) for each in releases]
    ends = [("Verdict", tuple(map(_verdict, own, [_outcome(held, each) for each in releases])))]
    if any(each.utility is not None for each in releases):
        ends.append(("What was lost", tuple(_lost(each) for each in releases)))
    rows = tuple(
        AnswerRow(
            question=question,
            answers=tuple(_answered(audit, each, verdict, key) for each, verdict in zip(releases, own, strict=True)),
        )
        for key, question in ASKED.items()
    )
    cut = len(audit.releases) - len(releases)
    more = f" {count(cut, 'more release is', 'more releases are')} in the tables below." if cut else ""
    return Answers(
        caption="What an adversary reaches, question by question",
        columns=tuple(name(each.name, 40) for each in releases),
        rows=rows,
        tones=tuple(_tone(verdict, _outcome(held, each)) for each, verdict in zip(releases, own, strict=True)),
        ends=tuple(ends),
        note=f"{_NOTE if audit.has_control else _ALONE}{more}",
        brief_note=_BRIEF if audit.has_control else "",
    )


_NOTE = (
    "The clearest figure of each question: how often it succeeds on people in the data (in brackets where the true "
    "share lies, at 95% confidence), on others who are not in it, and by blind chance. Proved: luck alone rarely makes "
    "any of the figures as clear."
)
_ALONE = (
    "How often each attack succeeds on people in the data (in brackets where the true share lies, at 95% confidence), "
    "beside blind chance. Without people who are not in the data nothing is tested."
)
_BRIEF = "people in the data / others"


def _shown(audit: Audit, held: LimitOutcome | None) -> Sequence[AuditedRelease]:
    """Return the releases of the picture; of many those that may go out first, so that none of them is missed."""
    if len(audit.releases) <= MOST_RELEASES:
        return audit.releases
    fit = safe_releases(audit, held)
    return sorted(audit.releases, key=lambda each: each.name not in fit)[:MOST_RELEASES]


def _outcome(held: LimitOutcome | None, release: AuditedRelease) -> JudgedOutcome | None:
    return None if held is None else held.releases.get(release.name)


def _verdict(verdict: ReleaseVerdict, limit: JudgedOutcome | None) -> str:
    said = "gives most people away" if _hits_most(verdict) else _VERDICTS[verdict.outcome]
    return f"{said[:1].upper()}{said[1:]}" if limit is None else f"{WORDS[limit]}; {said}"


def _tone(verdict: ReleaseVerdict, limit: JudgedOutcome | None) -> Tone:
    if limit is not None:
        return TONES[limit]
    if verdict.outcome in ("found", "copies"):
        return "bad" if _hits_most(verdict) else "warning"
    return "neutral"


def _hits_most(verdict: ReleaseVerdict) -> bool:
    return any(map(hits_most, verdict.proved))


def _lost(release: AuditedRelease) -> str:
    return "not measured" if release.utility is None else lost(release.utility)


def _answered(audit: Audit, release: AuditedRelease, verdict: ReleaseVerdict, asked: AttackerGoal) -> AnswerCell:
    """Return the clearest figure of one question for one release: a proved one first, then the least adjusted p."""
    own = [each for each in ATTACKS.values() if each.asks == asked]
    tried = [each.name for each in own if each.name in audit.attacks]
    if not tried:
        return AnswerCell(mark="not tested", beside="not asked for (--attacks)")
    found = [finding for each in tried if (finding := worst_of(release, each)) is not None]
    figures = [each for each in verdict.proved if each.attack in tried]
    if not found and not figures:
        why = [remark for each in tried for remark in remarks_on(alone(audit, release.name), each)]
        return AnswerCell(mark="not tested", beside=shorten(why[0], 100) if why else "cannot be run on these tables")
    # What has nobody to compare with, such as the order of rows, comes after what has, unless it is proved.
    clearest = max(found, key=lambda each: (each.proved, ATTACKS[each.attack].controlled, severity(each)), default=None)
    if figures and (clearest is None or not clearest.proved):
        return _of_figure(figures[0])
    if clearest is None:
        raise AssertionError("a question that was answered has a figure")
    copied = verdict.unmistakable if asked == "copied" else 0
    return _of_finding(clearest, copied)


def _of_finding(finding: AttackFinding, copied: float) -> AnswerCell:
    mark: Mark = "proved" if finding.proved or copied else "not tested" if isnan(finding.p_adjusted) else "not proved"
    attack = ATTACKS[finding.attack]
    beyond = ""
    if copied:
        many = copied.words if isinstance(copied, SuppressedNumber) else count(copied)
        beyond = f"{many} beyond coincidence"
    # Of a question that one attack answers everybody knows by which.
    is_only = sum(each.asks == attack.asks for each in ATTACKS.values()) == 1
    by = f"{attack.title} of {listed([finding.secret])}" if finding.secret else "" if is_only else attack.title
    return _cell(
        mark,
        finding.risk,
        by=", ".join(filter(None, (f"{by[:1].lower()}{by[1:]}", beyond))),
        why=finding.why_not_judged,
    )


def _of_figure(figure: JudgedFigure) -> AnswerCell:
    """Return a figure that the verdict proves and that is the rate of no adversary, such as one of a group."""
    rates = (figure.attack_rate, figure.control_rate, figure.excess_over_control)
    risk = Risk(attack_rate=rates[0], naive_rate=UNDEFINED, control_rate=rates[1], excess_over_control=rates[2])
    about = figure.group or figure.adversary or (listed([figure.secret]) if figure.secret else "")
    return _cell("proved", risk, by=f"{ATTACKS[figure.attack].title}{f' ({name(about, 40)})' if about else ''}")


def _cell(mark: Mark, risk: Risk, *, by: str, why: str = "") -> AnswerCell:
    more = finer(risk)
    # First why a rate that is high may mean nothing.
    beside = [why or "nobody to compare with"] if mark == "not tested" else []
    if risk.control_rate.defined:
        beside.append(f"others {_short(risk.control_rate, more)}")
    if risk.naive_rate.defined:
        beside.append(f"chance {percent(risk.naive_rate.value)}")
    rate = risk.attack_rate
    other = f" / {_short(risk.control_rate, more)}" if risk.control_rate.defined else ""
    return AnswerCell(
        mark=mark,
        value=compact_rate(rate, more=more) if rate.defined else "",
        beside=", ".join(beside),
        by=by,
        brief=f"{_short(rate, more)}{other}" if rate.defined else "",
    )


def _short(rate: Rate, more: int) -> str:
    """Return a rate without its interval; of one told by its bounds, these."""
    return percent(rate.value, more=more).replace("between ", "").replace("% and ", "–")


def risk_against_loss(audit: Audit) -> Chart | None:
    """Return risk against loss with a mark for each release, or None where fewer than two have both."""
    rows = []
    for release in audit.releases:
        finding = worst_of(release, LEADING.name)
        if finding is None or release.utility is None:
            continue
        risk, loss = finding.risk.excess_over_control, release.utility.loss
        if (
            risk.defined
            and not isinstance(risk.value, SuppressedNumber)
            and not isinstance(loss, SuppressedNumber)
            and not isnan(loss)
        ):
            rows.append((release.name, risk, loss))
    if not 2 <= len(rows) <= len(_STYLES):
        return None
    return Chart(
        title="Risk against usefulness",
        x_label="lost of what the original says",
        y_label=f"{LEADING.title.lower()}: what being in the data adds",
        series=tuple(
            Series(
                name=name(label, 40),
                x=np.array([loss]),
                y=np.array([max(risk.value, 0.0)]),
                low=np.array([max(risk.low, 0.0)]),
                high=np.array([max(risk.high, 0.0)]),
                style=style,
                kind="points",
            )
            for (label, risk, loss), style in zip(rows, _STYLES, strict=False)
        ),
        caption="Further down is safer, further left more useful.",
        x_range=(0.0, max(0.1, *(loss for _, _, loss in rows)) * 1.1),
        x_kind="share",
        small=True,
    )


def safe_releases(audit: Audit, held: LimitOutcome | None) -> list[str]:
    """Return the releases that keep the limits, or where there are none those against which nothing is proved."""
    if held is not None:
        return held.of("kept")
    return [each.name for each in audit.verdict.releases if each.outcome == "nothing_found"]


def safest(audit: Audit, held: LimitOutcome | None) -> str:
    """Return which of several releases is the safest that is still useful, and why; nothing where there is one."""
    if len(audit.releases) < 2:
        return ""
    fit = safe_releases(audit, held)
    are = "keep the limit" if held is not None else "have nothing proved against them"
    if not fit:
        if held is None and all(each.outcome in ("no_control", "control_unusable") for each in audit.verdict.releases):
            return "Which of them is the safest cannot be told: there is nobody to compare with."
        return f"None of them is safe: none {'is shown to keep the limit' if held is not None else 'is free of proof'}."
    useful = {each.name: each.utility for each in audit.releases if each.name in fit and each.utility is not None}
    if not useful:
        return (
            f"Safest: {quoted(fit)}; what {'it is' if len(fit) == 1 else 'they are'} still good for was not measured."
        )
    best = min(useful, key=lambda each: useful[each].loss)
    why = f"of the {len(fit)} that {are} it loses least"
    if len(fit) == 1:
        why = f"the only one that {'keeps the limit' if held is not None else 'has nothing proved against it'}"
        return f"Safest that is still useful: {quoted([best])}, {why}."
    return f"Safest that is still useful: {quoted([best])}; {why} ({lost(useful[best])})."


def next_steps(audit: Audit, text: VerdictText, held: LimitOutcome | None) -> tuple[str, ...]:
    """Return what to do: with releases that may go out, with those that may not, with the control, with a limit."""
    several, out = len(audit.releases) > 1, {each.name for each in audit.releases}
    named = dict.fromkeys(flag.column for each in audit.flags if each.table in out for flag in each.flags)
    steps = (
        [f"Take out what looks like direct identifiers before anything else: {listed(list(named))}."] if named else []
    )
    if held is not None:
        kept, exceeded, opened = (held.of(each) for each in ("kept", "exceeded", "not_shown"))
        if kept:
            which = quoted(kept) if several else "the release"
            steps.append(f"By the limit {which} may go out; whoever is responsible for the data decides.")
        if opened:
            which = quoted(opened) if several else "it"
            steps.append(
                f"Do not release {which} on this evidence: decide it with more people, or with what is missing."
            )
    else:
        exceeded = [each.name for each in audit.verdict.releases if each.outcome in ("found", "copies")]
    if exceeded:
        which = quoted(exceeded) if several else "it as it is"
        if audit.way is not None and audit.way.release in exceeded:
            rest = [each for each in exceeded if each != audit.way.release]
            which = f"what is made this way{f', nor {quoted(rest)}' if rest else ''}"
        steps.append(f"Do not release {which}: {_protect(audit, exceeded)}, then audit again.")
    if held is None and audit.attacks:
        steps.append(f"{NO_LIMIT[:-1]} (--profile).")
    # Whatever was found: without people to compare with most questions stay open.
    advice = [each for each in ADVICE[:1] if not audit.has_control and audit.attacks and each not in text.steps]
    return (*steps, *text.steps, *advice)


def _protect(audit: Audit, releases: Sequence[str]) -> str:
    """Return what to change first: the columns without which the clearest adversary loses most."""
    for release in audit.releases:
        exact = [
            each
            for each in release.weights
            if not any(isinstance(rate.value, SuppressedNumber) for rate in (each.whole, each.without))
        ]
        proved = any(each.proved for each in release.of(LEADING.name))
        columns = [each.column for each in exact if each.loss > 0][:3] if proved else []
        if release.name in releases and columns:
            return f"coarsen {listed(columns)}"
    return "protect it more"
