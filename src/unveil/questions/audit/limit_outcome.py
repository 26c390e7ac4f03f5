"""Compare each release with the limits, and say the outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, isfinite, isnan
from types import MappingProxyType
from typing import Any

from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.quantities import alone, meanings, quantities_of
from unveil.questions.audit.verdict_text import of_all, quoted, safe
from unveil.report.blocks import Tone
from unveil.report.judgement import Judgement, ReleaseOutcome
from unveil.report.limits import BETWEEN, NOT_TOLD, CheckedLimit, Quantity, check_limits, figures_held
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import decimal, significant

#: From the worst to the best.
_ORDER: tuple[ReleaseOutcome, ...] = ("exceeded", "not_shown", "kept")
TONES: Mapping[ReleaseOutcome, Tone] = MappingProxyType({"exceeded": "bad", "not_shown": "warning", "kept": "neutral"})
#: What stands above the headline, and below the name of a release.
WORDS: Mapping[ReleaseOutcome, str] = MappingProxyType(
    {"exceeded": "Limit exceeded", "not_shown": "Limit undecided", "kept": "Limit kept"}
)
_FIGURES = MappingProxyType(
    {
        "attack_rate": "the rate",
        "naive_rate": "the rate by blind chance",
        "control_rate": "the rate on others",
        "excess_over_control": "the excess over control",
        "worst_group": "the rate of the group that is hit most",
    }
)


@dataclass(frozen=True, kw_only=True)
class LimitOutcome:
    """The limits, the outcome of each release under them, and the reasons."""

    #: What is said of the limits in a sentence, such as "the limit of 0.09 by …".
    limit: str
    outcome: ReleaseOutcome
    #: By the name of the release, in the order of the audit.
    releases: Mapping[str, ReleaseOutcome]
    #: The answer in sentences, which name the figure that decides.
    reasons: tuple[str, ...] = field(default=())

    def of(self, outcome: ReleaseOutcome) -> list[str]:
        """Return the releases that come to this."""
        return [name for name, own in self.releases.items() if own == outcome]


def held(audit: Audit, limits: Sequence[Mapping[str, Any]], judgement: Judgement | None) -> LimitOutcome | None:
    """Return what limits come to, those of a profile and those on single figures together; None without any."""
    if not limits and judgement is None:
        return None
    profile = {} if judgement is None else judgement.releases
    own = _own(audit, limits)
    releases = {
        each.name: _worst([outcomes[each.name] for outcomes in (profile, own) if each.name in outcomes])
        for each in audit.releases
    }
    said = () if judgement is None else (judgement.headline,)
    limit = "" if judgement is None else f"the limit of {judgement.profile.written} by {judgement.profile.who}"
    together = [_outcome(each["exceeded"]) for each in limits] + ([] if judgement is None else [judgement.outcome])
    if limits:
        set_by_hand = "the limit that was set" if len(limits) == 1 else f"the {len(limits)} limits that were set"
        limit = f"{limit} and {set_by_hand}" if limit else set_by_hand
    return LimitOutcome(limit=limit, outcome=_worst(together), releases=releases, reasons=(*said, *_reasons(limits)))


def tone_of(held: LimitOutcome, otherwise: Tone) -> Tone:
    """Return how the answer should strike: ``otherwise`` where all keep the limits, care where some may go out."""
    if held.outcome == "kept":
        return otherwise
    return "warning" if held.of("kept") else TONES[held.outcome]


def word_of(held: LimitOutcome) -> str:
    """Return what stands above the headline."""
    kept, every = len(held.of("kept")), len(held.releases)
    return (
        WORDS[held.outcome]
        if every == 1
        else f"{kept or 'None'} of {every} {'keeps' if kept < 2 else 'keep'} the limit"
    )


def headline(audit: Audit, held: LimitOutcome) -> str:
    """Return the answer to the limits as one sentence with the number of people in it."""
    if len(audit.releases) == 1:
        first = safe(held.reasons[0].partition(". ")[0].rstrip("."))
        return of_all(audit, f"{first} ({{}} in the data).")
    kept, exceeded, opened = (held.of(outcome) for outcome in ("kept", "exceeded", "not_shown"))
    among, limit = f"{len(audit.releases)} releases of {{}}", safe(held.limit)
    rest = [
        *([f"{safe(quoted(exceeded))} {'exceeds' if len(exceeded) == 1 else 'exceed'} it"] if exceeded else []),
        *([f"for {safe(quoted(opened))} neither was shown"] if opened else []),
    ]
    if not rest:
        both = "both releases of {}" if len(kept) == 2 else f"all {among}"
        return of_all(audit, f"By the figures tested {both} keep {limit}.")
    if not kept:
        return of_all(audit, f"None of {among} is shown to keep {limit}: {'; '.join(rest)}.")
    only = "only " if len(kept) == 1 else ""
    keep = f"by the figures tested {only}{safe(quoted(kept))} {'keeps' if len(kept) == 1 else 'keep'} {limit}"
    return of_all(audit, f"Of {among} {'; '.join([keep, *rest])}.")


def reasons(audit: Audit, held: LimitOutcome) -> tuple[str, ...]:
    """Return what the headline leaves out of why."""
    if len(audit.releases) > 1:
        return held.reasons
    rest = held.reasons[0].partition(". ")[2]
    return (*([rest] if rest else []), *held.reasons[1:])


def _worst(outcomes: Sequence[ReleaseOutcome]) -> ReleaseOutcome:
    return next((each for each in _ORDER if each in outcomes), "not_shown")


def _outcome(exceeded: bool | None) -> ReleaseOutcome:
    return {True: "exceeded", False: "kept", None: "not_shown"}[exceeded]  # type: ignore[return-value]


def _own(audit: Audit, limits: Sequence[Mapping[str, Any]]) -> dict[str, ReleaseOutcome]:
    """Return what limits on single figures come to for each release; nothing without limits.

    A figure that a release cannot have, but another has, is not held against it unless it has none of them.
    """
    if not limits:
        return {}
    named = tuple((str(each["quantity"]), float(each["limit"])) for each in limits)
    figures = figures_held(quantities_of(audit), named)
    found = {}
    for release in audit.releases:
        own = quantities_of(alone(audit, release.name))
        checks = check_limits(own, named, figures=figures)
        decided = [_of_release(check, own[check.quantity]) for check in checks if not isnan(own[check.quantity].value)]
        found[release.name] = _worst([_outcome(each) for each in decided])
    return found


def _of_release(check: CheckedLimit, quantity: Quantity) -> bool | None:
    # A number of which only bounds are told is beyond a limit where these say so.
    if isinstance(quantity.value, SuppressedNumber) and quantity.evidence is None:
        return quantity.value.is_beyond(check.limit, more_is_worse=quantity.more_is_worse)
    return check.exceeded


def _reasons(limits: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return one sentence on the limits that were set on single figures: the worst of them, and how many are alike."""
    if not limits:
        return ()
    worst = _worst([_outcome(each["exceeded"]) for each in limits])
    alike = [each for each in limits if _outcome(each["exceeded"]) == worst]
    one, figure = alike[0], _spoken(str(alike[0]["quantity"]))
    limit = significant(float(one["limit"]))
    which = "The limit that was set" if len(limits) == 1 else f"Of {len(limits)} limits that were set {len(alike)}"
    verb = "is" if len(alike) == 1 else "are"
    low, high = (float(one.get(end, one["value"])) for end in ("low", "high"))
    if worst == "not_shown":
        why = one.get("why") or "is undefined here, which is no pass"
        if why.startswith(BETWEEN):
            more = why.partition("; ")[2]
            within = f"between {_down(low)} and {_up(high)}" if isfinite(low) else f"below {_up(high)}"
            why = "; ".join(filter(None, (f"lies {within}", more)))
        said = f"cannot be told in this edition ({figure})" if why == NOT_TOLD else f"{figure} {why}"
        return (f"{which} {verb} neither exceeded nor shown to be kept: {said}; the limit is {limit}.",)
    found = f"at least {_down(low)}" if worst == "exceeded" else f"at most {_up(high)}"
    found = found if "low" in one else decimal(one["value"])
    by = " by the figures tested" if worst == "kept" else ""
    return (f"{which} {verb} {worst}{by}: {figure} is {found}, the limit is {limit}.",)


def _down(value: float) -> str:
    # With fewer digits "at least" and "at most" must hold all the same.
    return decimal(floor(value * 100 + 1e-9) / 100)


def _up(value: float) -> str:
    return decimal(ceil(value * 100 - 1e-9) / 100)


def _spoken(quantity: str) -> str:
    """Return what a figure is called in a sentence.

    >>> _spoken("linkability.excess_over_control"), _spoken("disclosure.k_anonymity")
    ('the excess over control of linkability', 'the fewest released rows that look alike in the known columns')
    """
    part, figure, *end = quantity.split(".")
    if part not in ATTACKS:
        return f"the {meanings()[quantity].partition(';')[0].removeprefix('the ')}"
    called = _FIGURES.get(figure, f"the {figure.replace('_', ' ')}")
    return f"{f'the {end[0]} end of ' if end else ''}{called} of {ATTACKS[part].title.lower()}"
