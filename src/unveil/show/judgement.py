"""Whether a release keeps the limits of a profile: which figure, at its upper end, or why nobody can say."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import isnan, nan
from types import MappingProxyType
from typing import Any, Literal, Protocol

from unveil.show.blocks import Section, Table, Tone
from unveil.show.bounded import Bounded
from unveil.show.profiles import Profile, ProfileLimit
from unveil.show.text import decimal, name

Outcome = Literal["kept", "exceeded", "not judged"]
#: What the figures are called in a sentence, and whether they are the upper end of an interval.
_SPOKEN = MappingProxyType(
    {
        "disclosure.highest_risk": "the highest chance by class size",
        "record_linkage.attack_rate.high": "the upper end of the rate of record linkage",
        "linkability.excess_over_control.high": "the upper end of the excess of linkability over control",
    }
)
#: What has to be done so that a figure exists.
_NEEDED = MappingProxyType(
    {
        "disclosure.highest_risk": "it was not measured",
        "record_linkage.attack_rate.high": "whose record each released row is was not told (--id), or it was not run",
        "linkability.excess_over_control.high": "it needs people who are not in the data (--control)",
    }
)
_UNKNOWN_KIND = "nobody said whether the release is masked or synthetic (--kind)"
_FEW_PEOPLE = "it rests on too few people to be told in this edition; the internal one has it"
_MIXED = "the figures are the worst over masked and synthetic releases together"
_OPEN = frozenset({_UNKNOWN_KIND, _MIXED})
_SLACK = 1e-12


class Measured(Protocol):
    """A figure of an answer that a limit can be held against."""

    @property
    def value(self) -> float:
        """The figure, or NaN where it is undefined."""

    @property
    def more_is_worse(self) -> bool:
        """Whether a greater value exceeds the limit; else a lesser one does."""


#: The kind of a release (None where nobody said) and its own figures by name.
Judged = tuple[str | None, Mapping[str, Measured]]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One figure of one release beside one limit of the profile."""

    release: str
    limit: ProfileLimit
    value: float
    outcome: Outcome
    #: Why it was not judged; empty otherwise.
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What was found beside each limit of a profile, and the answer to all of it in one sentence."""

    profile: Profile
    checks: tuple[Check, ...]
    headline: str
    outcome: Outcome

    @property
    def tone(self) -> Tone:
        """How the headline should strike: a limit that is kept clears nobody, so it is never good."""
        tones: dict[Outcome, Tone] = {"kept": "neutral", "exceeded": "bad", "not judged": "warning"}
        return tones[self.outcome]

    def to_dict(self) -> dict[str, Any]:
        """Return the judgement as JSON has it."""
        return {
            "profile": self.profile.name,
            "who": self.profile.who,
            "source": self.profile.source,
            "written": self.profile.written,
            "outcome": self.outcome,
            "headline": self.headline,
            "checks": [
                {
                    "release": check.release,
                    "quantity": check.limit.quantity,
                    "limit": check.limit.limit,
                    "value": check.value,
                    "outcome": check.outcome,
                    "why": check.why,
                }
                for check in self.checks
            ],
        }


def judge(
    profile: Profile, quantities: Mapping[str, Measured], kinds: Collection[str | None], *, release: str = ""
) -> Judgement:
    """Return whether figures keep the limits of a profile, for one release or for several of the same kind.

    A figure that equals its limit keeps it. Figures over releases of different kinds cannot be judged: give each its
    own (:func:`judge_releases`).

    >>> from types import SimpleNamespace
    >>> from unveil.show.profiles import profile
    >>> pairs = SimpleNamespace(value=0.5, more_is_worse=True)
    >>> print(judge(profile("cell-5"), {"disclosure.highest_risk": pairs}, ["masked"]).headline.split(":")[0])
    The limit of 5 people set by custom among data custodians is exceeded
    """
    different = set(kinds)
    if len(different) > 1:
        checks = tuple(
            Check(release=release, limit=limit, value=nan, outcome="not judged", why=_MIXED) for limit in profile.limits
        )
        return _judgement(profile, checks, {release})
    kind = different.pop() if different else None
    return judge_releases(profile, {release: (kind, quantities)})


def judge_releases(profile: Profile, releases: Mapping[str, Judged]) -> Judgement:
    """Return whether each release keeps the limits of a profile, by its own figures.

    The outcome is "exceeded" as soon as one figure of one release exceeds its limit, "not judged" where some release
    lacks the figure that the source speaks of (or, where it speaks of none, ours), else "kept".
    """
    checks = tuple(
        _check(limit, which, kind, quantities)
        for which, (kind, quantities) in releases.items()
        for limit in profile.limits
        if kind is None or limit.applies_to in ("any", kind)
    )
    return _judgement(profile, checks, set(releases))


def _judgement(profile: Profile, checks: tuple[Check, ...], releases: set[str]) -> Judgement:
    outcome = _outcome(checks, releases)
    return Judgement(profile=profile, checks=checks, headline=_headline(profile, checks, outcome), outcome=outcome)


def _check(limit: ProfileLimit, release: str, kind: str | None, quantities: Mapping[str, Measured]) -> Check:
    found = quantities.get(limit.quantity)
    value = nan if found is None else found.value
    if kind is None and limit.applies_to != "any":
        return Check(release=release, limit=limit, value=value, outcome="not judged", why=_UNKNOWN_KIND)
    if found is None or isnan(value):
        why = _NEEDED.get(limit.quantity, "it is undefined here")
        return Check(release=release, limit=limit, value=nan, outcome="not judged", why=why)
    if isinstance(value, Bounded):
        return _bounded_check(limit, release, value, more_is_worse=found.more_is_worse)
    over = value - limit.limit if found.more_is_worse else limit.limit - value
    # 1/11 and what a sum of other fractions makes of it are the same limit.
    return Check(release=release, limit=limit, value=value, outcome="exceeded" if over > _SLACK else "kept")


def _bounded_check(limit: ProfileLimit, release: str, value: Bounded, *, more_is_worse: bool) -> Check:
    """Return the outcome for a figure of which only the bounds are told: a verdict only if both are on one side."""
    exceeded = value.is_beyond(limit.limit, more_is_worse=more_is_worse)
    if exceeded is None:
        return Check(release=release, limit=limit, value=nan, outcome="not judged", why=_FEW_PEOPLE)
    return Check(release=release, limit=limit, value=value, outcome="exceeded" if exceeded else "kept")


def _outcome(checks: tuple[Check, ...], releases: set[str]) -> Outcome:
    if any(check.outcome == "exceeded" for check in checks):
        return "exceeded"
    return "kept" if releases and not releases - _cleared(checks) else "not judged"


def _cleared(checks: tuple[Check, ...]) -> set[str]:
    """Return the releases that keep the source's own limit, or ours where the source has none for their kind."""
    cleared = set()
    for release in {check.release for check in checks}:
        own = [check for check in checks if check.release == release]
        deciding = [check for check in own if not check.limit.ours] or own
        if all(check.outcome == "kept" for check in deciding):
            cleared.add(release)
    return cleared


def _headline(profile: Profile, checks: tuple[Check, ...], outcome: Outcome) -> str:
    """Return the answer: the limit, who set it, the figure that decides, and on which side it lies."""
    limit = f"The limit of {profile.written} set by {profile.who}"
    several = len({check.release for check in checks}) > 1
    cleared = _cleared(checks)
    missing = [check for check in checks if check.outcome == "not judged"]
    if outcome == "not judged":
        undecided = [check for check in missing if check.release not in cleared]
        why = dict.fromkeys(_missing(check, several=several) for check in undecided)
        return f"{limit} could not be judged: {'; '.join(why) or 'there is no release'}."
    deciding = [check for check in checks if check.outcome == outcome]
    # The source's own figure speaks first, whatever our reading adds.
    worst = max(deciding, key=lambda check: (not check.limit.ours, check.value / check.limit.limit))
    where = f" of release {name(worst.release, 40)!r}" if several and worst.release else ""
    figure = f"{_SPOKEN.get(worst.limit.quantity, worst.limit.quantity)}{where} is {decimal(worst.value)}"
    side = "above" if outcome == "exceeded" else _side(worst)
    reading = " (held to it by our reading, not the source's)" if worst.limit.ours else ""
    said = f"{limit} is {outcome}: {figure}, {side} {_share(worst.limit.limit)}{reading}."
    rest = dict.fromkeys(_missing(check, several=several) for check in missing)
    return f"{said} Not judged: {'; '.join(rest)}." if rest else said


def _share(limit: float) -> str:
    """Return a limit as it is meant: one in so many people, or the number that was written."""
    people = round(1 / limit)
    return f"1/{people}" if abs(limit * people - 1) < _SLACK else decimal(limit)


def _side(check: Check) -> str:
    return "which equals" if abs(check.value - check.limit.limit) <= _SLACK else "below"


def _missing(check: Check, *, several: bool) -> str:
    if check.why in _OPEN:
        return check.why
    where = f" of {name(check.release, 40)!r}" if several and check.release else ""
    return f"{_SPOKEN.get(check.limit.quantity, check.limit.quantity)}{where} ({check.why})"


def judgement_section(judgement: Judgement) -> Section:
    """Return the limits of the profile as a part of a page: the answer, every figure, and what the source says."""
    profile = judgement.profile
    rows = [
        (
            name(check.release, 60) if check.release else "all",
            check.limit.quantity,
            _share(check.limit.limit),
            decimal(check.value),
            f"{check.outcome}: {check.why}" if check.why else check.outcome,
        )
        for check in judgement.checks
    ]
    return Section(
        heading=f"The limit that was chosen: {profile.title}",
        lead=f"{judgement.headline} {profile.text} Source: {profile.source} ({profile.standing}).",
        blocks=(
            Table(
                caption="Each figure beside its limit",
                columns=("Release", "Figure", "At most", "Found", "Outcome"),
                rows=tuple(rows),
                align=("left", "left", "right", "right", "left"),
                note=(
                    "Where a figure has an interval, its upper end is held against the limit. The limit was chosen by "
                    "whoever ran the audit; keeping it is no finding of anonymity."
                ),
                prose=True,
            ),
            Table(
                caption="Why these figures are held to it",
                columns=("Figure", "Why"),
                rows=tuple(dict.fromkeys((check.limit.quantity, check.limit.why) for check in judgement.checks)),
                align=("left", "left"),
                prose=True,
            ),
        ),
    )
