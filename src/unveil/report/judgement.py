"""Whether a release keeps the limits of a profile: exceeded, kept, or neither was shown, and by which figure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isnan, nan
from types import MappingProxyType
from typing import Literal

from unveil._figure import derived, figure
from unveil.metrics.trials.risk import CONFIDENCE, Rate
from unveil.report.blocks import Section, TableBlock, Tone
from unveil.report.limits import LimitEvidence, Quantity, undecided
from unveil.report.profiles import COPIED, Clause, Profile, ProfileLimit
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import decimal, name

ReleaseOutcome = Literal["exceeded", "kept", "not_shown"]
#: What the figures are called in a sentence, beside "the excess of … over control".
_SPOKEN = MappingProxyType(
    {
        "disclosure.highest_risk": "the highest chance by class size",
        "record_linkage.attack_rate": "the rate of record linkage",
        COPIED: "the number of people copied beyond doubt",
    }
)
#: What has to be done so that a figure exists, where that is not a control.
_NEEDED = MappingProxyType(
    {
        "disclosure.highest_risk": "it was not measured",
        "record_linkage.attack_rate": "it was not run, or nobody told whose record each released row is: --id",
        COPIED: "exact copies were not looked for",
    }
)
_NO_EXCESS = "it was not run, or has nobody to compare with: --control"
_UNKNOWN_KIND = "nobody said whether the release is masked or synthetic (--kind)"
_FEW_PEOPLE = "it rests on too few people to be told in this edition; the internal one has it"
_SLACK = 1e-12


@dataclass(frozen=True, kw_only=True)
class JudgedRelease:
    """A release as it is held to limits.

    Attributes
    ----------
    kind
        "masked" or "synthetic"; None where nobody said.
    figures
        Its own figures by name.
    against
        What was proved against it that a rate over everybody may not show, as the end of "it gives people away …"; then
        no limit is shown to be kept. Nothing where there is none.
    """

    kind: str | None
    figures: Mapping[str, Quantity]
    against: str = ""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One figure of one release beside one limit of the profile."""

    release: str = figure("The release, by its name.")
    limit: ProfileLimit = figure(inline=True)
    value: float = figure("The figure that was found, in its own unit; null where it is undefined.", default=nan)
    low: float = figure(
        "The lower end of the interval that decides, at the confidence for all figures together.", default=nan
    )
    high: float = figure(
        "The upper end of the interval that decides, at the confidence for all figures together.", default=nan
    )
    outcome: ReleaseOutcome = figure("Whether this limit is kept: kept, exceeded or not_shown.")
    why: str = figure("Why neither was shown; empty otherwise.", default="")
    #: Whether the figure was found by trying, so that an interval decides and not the value.
    tried: bool = False


# Clauses of a source, and what answers each: figures, a part of the report, or nothing here.

NOT_BY_THIS_TOOL = "not by this tool"


@dataclass(frozen=True, kw_only=True)
class ClauseAnswer:
    """One clause with the figure that answers it in each release; no figure where none fits."""

    clause: Clause = figure(inline=True)
    #: Empty where no figure fits.
    name: str

    @derived("The figure or part that answers it; null where this tool does not.")
    def answered_by(self) -> str | None:
        """The figure or part that answers it."""
        return self.name or self.clause.part or None

    found: Mapping[str, Rate] = figure("The figure of each release, by its name.")


def answers_to(profile: Profile, releases: Mapping[str, Mapping[str, Quantity]]) -> tuple[ClauseAnswer, ...]:
    """Return what answers each clause of a profile; a figure that was not measured is undefined.

    >>> from unveil.report.profiles import profile
    >>> [each.name for each in answers_to(profile("cell-3"), {})]
    ['disclosure.k_anonymity', 'disclosure.highest_risk', '']
    """
    return tuple(
        ClauseAnswer(
            clause=clause,
            name=figure,
            found={which: _rate(own.get(figure)) for which, own in releases.items()} if figure else {},
        )
        for clause in profile.clauses
        for figure in clause.figures or ("",)
    )


def _rate(quantity: Quantity | None) -> Rate:
    if quantity is None:
        return Rate(nan, nan, nan)
    if quantity.evidence is None:
        return Rate(quantity.value, quantity.value, quantity.value)
    ends = quantity.evidence.interval(CONFIDENCE)
    return Rate(quantity.value, ends.low, ends.high)


def clause_table(answers: tuple[ClauseAnswer, ...]) -> TableBlock:
    """Return clause, what it asks, what answers it, and what was found in each release; repeated texts stand once."""
    several = len({which for each in answers for which in each.found}) > 1
    rows, before = [], None
    for each in answers:
        asked = (each.clause.where, each.clause.asks) if each.clause is not before else ("", "")
        texts = [f"{name(which, 40)}: {_text(rate)}" if several else _text(rate) for which, rate in each.found.items()]
        rows.append((*asked, each.answered_by or NOT_BY_THIS_TOOL, "; ".join(texts)))
        before = each.clause
    return TableBlock(
        caption="What the source asks, and what answers it",
        columns=("Where", "What it asks, in our words", "Answered by", "Found"),
        rows=tuple(rows),
        align=("left",) * 4,
        note="Figures have their 95% interval behind them. What is answered in words is as good as what was written.",
        prose=True,
    )


def _text(rate: Rate) -> str:
    if not rate.defined:
        return "not measured"
    if rate.low == rate.high or rate.low != rate.low:
        return decimal(rate.value)
    return f"{decimal(rate.value)} ({decimal(rate.low)} to {decimal(rate.high)})"


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What was found beside each limit of a profile, and the answer to all of it in one sentence."""

    profile: Profile = figure(inline=True)
    outcome: ReleaseOutcome = figure("Whether the releases keep them: kept, exceeded or not_shown.")
    headline: str = figure("The finding in one sentence.")
    checks: tuple[Check, ...] = figure("One entry for each figure that is held to a limit.")
    answers: tuple[ClauseAnswer, ...] = figure("What the source asks, and what answers it.", name="clauses", default=())
    #: What each release comes to, by its name.
    releases: Mapping[str, ReleaseOutcome] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def tone(self) -> Tone:
        """How the headline should strike: a limit that is kept clears nobody, so it is never good."""
        tones: dict[ReleaseOutcome, Tone] = {"kept": "neutral", "exceeded": "bad", "not_shown": "warning"}
        return tones[self.outcome]


def judge(profile: Profile, releases: Mapping[str, JudgedRelease]) -> Judgement:
    """Return whether each release keeps the limits of a profile, by its own figures.

    The outcome is "exceeded" as soon as one figure of one release exceeds its limit, at a confidence that allows for
    all figures of all releases, and "kept" where the source names a figure, all figures of all releases keep theirs and
    nothing else was proved against a release. Else neither was shown. A figure that is our reading of the source and
    that is undefined does not count where the source has a figure of its own for that kind of release. A figure that
    equals its limit keeps it.

    >>> from unveil.report.profiles import profile
    >>> pairs = Quantity(name="disclosure.highest_risk", value=0.5, meaning="", exceeded_when_undefined=False)
    >>> masked = JudgedRelease(kind="masked", figures={pairs.name: pairs})
    >>> print(judge(profile("cell-5"), {"a": masked}).headline.partition(": ")[0])
    The limit of 5 people by custom among data custodians is exceeded
    """
    held = {
        which: {limit: release.figures.get(limit.quantity) for limit in profile.limits if _applies(limit, release.kind)}
        for which, release in releases.items()
    }
    sure = [each.evidence for own in held.values() for each in own.values() if each is not None]
    figures = sum(evidence.figures for evidence in sure if evidence is not None)
    judged = [_judged(which, release, held[which], figures) for which, release in releases.items()]
    if not profile.names_figure:
        judged = [replace(each, outcome="not_shown") if each.outcome == "kept" else each for each in judged]
    outcomes = [each.outcome for each in judged]
    outcome: ReleaseOutcome = "kept" if outcomes and set(outcomes) == {"kept"} else "not_shown"
    if "exceeded" in outcomes:
        outcome = "exceeded"
    return Judgement(
        profile=profile,
        checks=tuple(check for each in judged for check in each.checks),
        headline=_headline(profile, judged, outcome),
        outcome=outcome,
        answers=answers_to(profile, {which: release.figures for which, release in releases.items()}),
        releases={each.release: each.outcome for each in judged},
    )


@dataclass(frozen=True, kw_only=True)
class _ReleaseChecks:
    """The checks of one release against the limits."""

    release: str
    checks: tuple[Check, ...]
    outcome: ReleaseOutcome
    against: str

    @property
    def counting(self) -> list[Check]:
        """The checks that must be kept: all but undefined ones of ours where the source has a figure of its own."""
        has_own = any(not check.limit.ours for check in self.checks)
        return [check for check in self.checks if not (has_own and check.limit.ours and isnan(check.value))]


def _applies(limit: ProfileLimit, kind: str | None) -> bool:
    return kind is None or limit.applies_to in ("any", kind)


def _judged(
    which: str, release: JudgedRelease, held: Mapping[ProfileLimit, Quantity | None], figures: int
) -> _ReleaseChecks:
    checks = tuple(_check(limit, which, release.kind, found, figures) for limit, found in held.items())
    judged = _ReleaseChecks(release=which, checks=checks, outcome="not_shown", against=release.against)
    outcomes = {check.outcome for check in judged.counting}
    if any(check.outcome == "exceeded" for check in checks):
        return replace(judged, outcome="exceeded")
    return replace(judged, outcome="kept") if outcomes == {"kept"} and not release.against else judged


def _check(limit: ProfileLimit, release: str, kind: str | None, quantity: Quantity | None, figures: int) -> Check:
    if kind is None and limit.applies_to != "any":
        return Check(release=release, limit=limit, outcome="not_shown", why=_UNKNOWN_KIND)
    if quantity is None or isnan(quantity.value):
        is_withheld = quantity is not None and isinstance(quantity.value, SuppressedNumber)
        why = _FEW_PEOPLE if is_withheld else _NEEDED.get(limit.quantity, _NO_EXCESS)
        return Check(release=release, limit=limit, outcome="not_shown", why=why)
    value = quantity.value
    ends = (value.least, value.most) if isinstance(value, SuppressedNumber) else (value, value)
    evidence = quantity.evidence or LimitEvidence(interval=lambda _: Rate(value, *ends), figures=0)
    outcome, low, high = evidence.held_to(limit.limit, figures)
    why = ""
    if outcome == "not_shown":
        bounded = any(isinstance(each, SuppressedNumber) for each in (value, low, high)) and not evidence.doubt
        why = _FEW_PEOPLE if bounded else undecided(evidence, limit.limit, decimal(low), decimal(high))
    return Check(
        release=release,
        limit=limit,
        outcome=outcome.value,
        value=value,
        low=low,
        high=high,
        why=why,
        tried=quantity.evidence is not None,
    )


def _headline(profile: Profile, judged: Sequence[_ReleaseChecks], outcome: ReleaseOutcome) -> str:
    """Return the answer: the limit, who set it, the figure that decides, and on which side it lies."""
    limit, several = f"the limit of {profile.written} by {profile.who}", len(judged) > 1
    if outcome == "not_shown":
        why = dict.fromkeys(text for each in judged if each.outcome == "not_shown" for text in _open(each, several))
        if not profile.names_figure:
            named = f"{profile.who} asks for {profile.written} and names no figure: no audit can show that it is kept"
            besides = f" Besides: {'; '.join(why)}." if why else ""
            return (
                f"{named}. Say with --limit what is low enough, or decide by what each of its clauses found.{besides}"
            )
        said = f"Whether {limit} is exceeded or kept is open. Neither was shown"
        return f"{said}: {'; '.join(why) or 'there is no release'}."
    checks = [check for each in judged for check in each.checks]
    # The source's own figure speaks first, whatever our reading adds.
    worst = max(
        (check for check in checks if check.outcome == outcome),
        key=lambda check: (not check.limit.ours, _height(check)),
    )
    reading = " (held to it by our reading, not the source's)" if worst.limit.ours else ""
    by = " by the figures tested" if outcome == "kept" else ""
    said = f"T{limit[1:]} is {outcome}{by}: {_spoken([worst], several)} is {_found(worst, outcome)}{reading}."
    # What is open beside a limit that is exceeded changes nothing.
    rest = list(_reasons(checks, several)) if outcome == "kept" else []
    return f"{said} Not judged: {'; '.join(rest)}." if rest else said


def _open(judged: _ReleaseChecks, several: bool) -> Iterator[str]:
    """Yield why neither was shown for one release."""
    yield from _reasons(judged.counting, several)
    if judged.against:
        yield f"{_where(judged.release, several, 'release') or 'the release'} gives people away {judged.against}"


def _reasons(checks: Sequence[Check], several: bool) -> Iterator[str]:
    """Yield each reason for which figures were not judged, with these figures."""
    grouped: dict[tuple[str, str], list[Check]] = {}
    for check in checks:
        if check.outcome == "not_shown":
            grouped.setdefault(("" if check.why == _UNKNOWN_KIND else check.release, check.why), []).append(check)
    for (_, why), own in grouped.items():
        is_whole = own[0].tried and why != _FEW_PEOPLE
        yield why if why == _UNKNOWN_KIND else f"{_spoken(own, several)} {why if is_whole else f'({why})'}"


def _height(check: Check) -> float:
    """Return how near to its limit a figure comes, or how far beyond."""
    end = check.low if check.outcome == "exceeded" else check.high
    return end / check.limit.limit if check.limit.limit else (inf if end > 0 else 0.0)


def _found(check: Check, outcome: ReleaseOutcome) -> str:
    """Return where a figure lies: the end of its interval, or the figure itself and its side of the limit."""
    limit = _share(check.limit.limit)
    if check.tried:
        return (
            f"at least {decimal(check.low)}, above {limit}"
            if outcome == "exceeded"
            else f"at most {decimal(check.high)}, of {limit}"
        )
    if outcome == "exceeded":
        chance = ", and the chance of each is 1" if check.limit.quantity == COPIED else f", above {limit}"
        return f"{decimal(check.value)}{chance}"
    side = "which equals" if abs(check.value - check.limit.limit) <= _SLACK else "below"
    return f"{decimal(check.value)}, {side} {limit}"


def _share(limit: float) -> str:
    """Return a limit as it is meant: one in so many people, or the number that was written."""
    people = round(1 / limit) if limit else 0
    return f"1/{people}" if people and abs(limit * people - 1) < _SLACK else decimal(limit)


def _spoken(checks: Sequence[Check], several: bool) -> str:
    """Return what figures of one release are called in a sentence."""
    figures = [check.limit.quantity for check in checks]
    attacks = [figure.partition(".")[0].replace("_", " ") for figure in figures if figure not in _SPOKEN]
    said = [_SPOKEN[figure] for figure in figures if figure in _SPOKEN]
    if attacks:
        said.append(f"the excess of {' and '.join(filter(None, (', '.join(attacks[:-1]), attacks[-1])))} over control")
    return f"{' and '.join(said)}{_where(checks[0].release, several, ' of release')}"


def _where(release: str, several: bool, before: str) -> str:
    return f"{before} {name(release, 40)!r}" if several and release else ""


def judgement_section(judgement: Judgement) -> Section:
    """Return the limits of the profile as a part of a page: the answer, every figure, and what the source says."""
    profile = judgement.profile
    rows = [
        (
            name(check.release, 60) if check.release else "all",
            check.limit.quantity,
            _share(check.limit.limit),
            f"{decimal(check.value)} ({decimal(check.low)} to {decimal(check.high)})"
            if check.tried
            else decimal(check.value),
            f"not shown: {check.why}" if check.why else check.outcome,
        )
        for check in judgement.checks
    ]
    return Section(
        heading=f"The limit that was chosen: {profile.title}",
        lead=f"{judgement.headline} {profile.text} Source: {profile.cited} ({profile.standing}).",
        blocks=(
            TableBlock(
                caption="Each figure beside its limit",
                columns=("Release", "Figure", "At most", "Found", "Outcome"),
                rows=tuple(rows),
                align=("left", "left", "right", "right", "left"),
                note=(
                    "Where a figure has an interval, its low end shows that the limit is exceeded, at a confidence for "
                    "all figures of this table together, and its high end at 95% that it is kept. The limit was chosen "
                    "by whoever ran the audit; keeping it is no finding of anonymity."
                ),
                prose=True,
            ),
            TableBlock(
                caption="Why these figures are held to it",
                columns=("Figure", "Why"),
                rows=tuple(dict.fromkeys((check.limit.quantity, check.limit.why) for check in judgement.checks)),
                align=("left", "left"),
                prose=True,
            ),
            clause_table(judgement.answers),
        ),
        on_file=True,
    )
