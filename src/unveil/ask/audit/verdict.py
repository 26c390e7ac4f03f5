"""An audit in plain sentences: what a finding means to somebody who has to decide, and what it does not say."""

from unveil.ask.audit.attacks import ATTACKS
from unveil.ask.audit.findings import Audit, AuditedRelease, Finding, is_proved, severity, worst_of
from unveil.ask.audit.words import LONGEST_NAME, percent, rate_text
from unveil.measure.trials.risk import Rate
from unveil.show.blocks import Tone
from unveil.show.text import name


def sentence(finding: Finding) -> str:
    """Return what the finding means: one attack, one adversary, in words for somebody who never saw such a figure."""
    attack = ATTACKS[finding.attack]
    if not finding.risk.attack_rate.defined:
        said = "" if attack.without_rate is None else attack.without_rate(finding)
        return said or finding.remark or f"{attack.title} could not be measured here."
    said = "" if attack.meaning is None else attack.meaning(finding)
    said = f"{said[:1].upper()}{said[1:]}"
    return f"{said} {comparison(finding)}".strip()


def comparison(finding: Finding) -> str:
    """Return what the rate must be read beside: people who are not in the data, and blind chance."""
    risk = finding.risk
    chance = f"Blind chance gives {percent(risk.naive_rate.value)}." if risk.naive_rate.defined else ""
    if not risk.control_rate.defined:
        return chance
    outside = f"For people who are not in the data it is {rate_text(risk.control_rate)}."
    return " ".join(each for each in (outside, chance, excess_meaning(risk.excess_over_control)) if each)


def excess_meaning(excess: Rate) -> str:
    """Return what the excess over control says, or why there is none.

    >>> excess_meaning(Rate(0.25, 0.2, 0.3))
    'Of those on whom it would fail if they were not in the data, 25.0% (20.0% to 30.0%) are hit because they are.'
    >>> excess_meaning(Rate(0.01, -0.02, 0.04))
    'That is no measurable difference: the excess is 1.0% and could be up to 4.0%.'
    """
    if not excess.defined:
        return f"No excess can be given: {excess.why}." if excess.why else ""
    if excess.low > 0:
        hit = f"{rate_text(excess)} are hit because they are"
        return f"Of those on whom it would fail if they were not in the data, {hit}."
    return (
        f"That is no measurable difference: the excess is {percent(excess.value)} and could be up to "
        f"{percent(float(excess.high))}."
    )


def worst(audit: Audit) -> tuple[AuditedRelease, Finding] | None:
    """Return the finding that the headline is about, with its release: the highest that is proved, else the highest."""
    found = [
        (release, finding)
        for release in audit.releases
        for attack in audit.attacks
        if (finding := worst_of(release, attack)) is not None
    ]

    # Where nothing is proved, what could still be there counts, not what luck made of it.
    def height(each: tuple[AuditedRelease, Finding]) -> tuple[bool, float]:
        proved, worse = is_proved(each[1]), each[1].worse
        return proved, worse.value if proved else worse.high

    return max(found, key=height, default=None)


def headline(audit: Audit) -> str:
    """Return the answer in one sentence: the worst figure, by which attack, on which release, beside what."""
    found = worst(audit)
    if not audit.attacks:
        return "No attack was asked for: the figures are of the release itself and say nothing about adversaries."
    if found is None:
        return "Nothing could be measured: none of the attacks asked for can be run on these tables."
    release, finding = found
    which = f"release {name(release.name, LONGEST_NAME)!r}" if len(audit.releases) > 1 else "the release"
    if not is_proved(finding):
        return _nothing_proved(finding, f" on {which}" if len(audit.releases) > 1 else "")
    risk = finding.risk
    attack = ATTACKS[finding.attack]
    said = "" if attack.headline is None else attack.headline(finding, which)
    text = f"{attack.title}: {said}"
    if risk.control_rate.defined:
        return f"{text}, against {percent(risk.control_rate.value)} for people who are not in the data."
    chance = f", against {percent(risk.naive_rate.value)} by blind chance" if risk.naive_rate.defined else ""
    if not attack.controlled or audit.has_control:
        return f"{text}{chance}."
    return f"{text}{chance}; without a control table nobody can say how much of that comes from being in the data."


def _nothing_proved(finding: Finding, which: str) -> str:
    attack = f"{ATTACKS[finding.attack].title.lower()}{which}"
    rate = finding.worse
    if finding.risk.excess_over_control.defined:
        return (
            f"No attack succeeded measurably more often on people in the data than on others. What cannot be ruled out "
            f"is an excess of up to {percent(float(rate.high))}, by {attack} (measured: {percent(rate.value)})."
        )
    return (
        f"No attack did measurably better than blind chance; the highest rate, by {attack}, is {rate_text(rate)}. "
        "Without a control table that clears nobody."
    )


def search_sentence(audit: Audit, attack: str) -> str:
    """Return what the worst split seemed to reach where it was searched for, and what it reaches on fresh people.

    With several releases it is about the one where it reaches most. Empty where nothing was searched for, and where a
    single person is both those who were searched and those who are fresh.
    """
    found = [
        (release, finding.search, finding)
        for release in audit.releases
        if (finding := worst_of(release, attack)) is not None
        and finding.search is not None
        and finding.search.seemed.defined
    ]
    if not found or audit.rows < 2:
        return ""
    release, search, finding = max(found, key=lambda each: severity(each[2]))
    where = f" on {name(release.name, LONGEST_NAME)!r}" if len(audit.releases) > 1 else ""
    what = "an excess over control of " if search.figure == "excess_over_control" else ""
    return (
        f"The worst split found{where} seemed to reach {what}{rate_text(search.seemed)} on the half of the targets "
        f"where it was searched for; on fresh people it is {rate_text(finding.rate(search.figure))}."
    )


def tone(audit: Audit) -> Tone:
    """Return how the headline should strike: bad where every second person is hit, care where an attack is proved.

    Nothing proved is neutral, never good: other attacks and other adversaries were not tried.
    """
    found = worst(audit)
    return "neutral" if found is None else tone_of(found[1])


def tone_of(finding: Finding) -> Tone:
    """Return how one finding should strike."""
    if not is_proved(finding):
        return "neutral"
    return "bad" if finding.worse.low >= 0.5 else "warning"
