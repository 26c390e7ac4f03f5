"""An audit in plain sentences: what a finding means to somebody who has to decide, and what it does not say."""

import math
from types import MappingProxyType

from unveil.ask.audit.attacks.texts import ATTACK_TEXTS
from unveil.ask.audit.findings import Audit, Audited, Finding
from unveil.ask.audit.words import LONGEST_NAME, percent, rate_text
from unveil.measure.trials.risk import Rate
from unveil.show.blocks import Tone
from unveil.show.text import decimal, name


def sentence(finding: Finding) -> str:
    """Return what the finding means: one attack, one adversary, in words for somebody who never saw such a figure."""
    if finding.attack in _DISTANCES and "median" in finding.figures:
        return _closeness(finding)
    if finding.attack == "record_linkage" and not finding.risk.attack_rate.defined and "sure" in finding.figures:
        return (
            f"For {percent(finding.figures['sure'])} of released records a single person is nearest. {finding.remark}"
        )
    if not finding.risk.attack_rate.defined:
        return finding.remark or f"{ATTACK_TEXTS[finding.attack].title} could not be measured here."
    meaning = ATTACK_TEXTS[finding.attack].meaning
    said = "" if meaning is None else meaning(finding)
    said = f"{said[:1].upper()}{said[1:]}"
    return f"{said} {comparison(finding)}".strip()


#: What is measured, and what its extremes mean.
_DISTANCES = MappingProxyType(
    {
        "closest_record": (
            "lie within {median} of somebody in the data",
            "5% within {low}",
            "0 is a copy, 1 differs fully in every column",
        ),
        "neighbour_ratio": (
            "have a distance ratio of at most {median}",
            "5% of at most {low}",
            "0 stands by one person alone, 1 is as near to a second",
        ),
    }
)


def _closeness(finding: Finding) -> str:
    """Return how near released records are, beside people who are not in the data; never that all is well."""
    middle, edge, scale = _DISTANCES[finding.attack]
    figures = finding.figures
    if math.isnan(figures["median"]):
        return "No record has such a figure here: each equals several people, or there are too few."
    text = middle.format(median=decimal(figures["median"]))
    # A shareable report has no quantile with few people on one side of it.
    has_edge = not math.isnan(figures["low"])
    text = f"{text}, and {edge.format(low=decimal(figures['low']))}" if has_edge else text
    said = f"Half of the released records {text} ({scale})."
    outside = figures.get("control_median", math.nan)
    if math.isnan(outside):
        return f"{said} Without a control table nobody can say whether that is near."
    others = [decimal(each) for each in (outside, figures["control_low"]) if not math.isnan(each)]
    other = f"For people who are not in the data {'these are' if has_edge else 'it is'} {' and '.join(others)}:"
    if is_near(finding):
        return f"{said} {other} the release keeps nearer to the data than such people do, which is a warning."
    return f"{said} {other} the release keeps no nearer than such people do, which raises no alarm and clears nobody."


def is_near(finding: Finding) -> bool:
    """Return whether released records keep nearer to the data than others do, in the middle and at the edge."""
    figures = finding.figures
    pairs = [("median", "control_median")]
    if not math.isnan(figures.get("low", math.nan)):
        pairs.append(("low", "control_low"))
    return all(figures.get(own, math.nan) < figures.get(outside, math.nan) for own, outside in pairs)


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


def is_proved(finding: Finding) -> bool:
    """Return whether the attack did measurably better than what it must be compared with."""
    risk = finding.risk
    if risk.excess_over_control.defined:
        return risk.excess_over_control.low > 0
    if risk.control_rate.defined:
        return False
    base = risk.naive_rate.value if risk.naive_rate.defined else 0.0
    return risk.attack_rate.defined and risk.attack_rate.low > base


def worst(audit: Audit) -> tuple[Audited, Finding] | None:
    """Return the finding that the headline is about, with its release: the highest that is proved, else the highest."""
    found = [
        (release, finding)
        for release in audit.releases
        for attack in audit.attacks
        if (finding := worst_of(release, attack)) is not None
    ]
    # Where nothing is proved, what could still be there counts, not what luck made of it.
    return max(found, key=lambda each: (proved := is_proved(each[1]), _height(each[1], proved=proved)), default=None)


def _height(finding: Finding, *, proved: bool) -> float:
    return finding.worse.value if proved else finding.worse.high


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
    words = ATTACK_TEXTS[finding.attack]
    said = "" if words.headline is None else words.headline(finding, which)
    text = f"{words.title}: {said}"
    if risk.control_rate.defined:
        return f"{text}, against {percent(risk.control_rate.value)} for people who are not in the data."
    chance = f", against {percent(risk.naive_rate.value)} by blind chance" if risk.naive_rate.defined else ""
    if not words.controlled or audit.has_control:
        return f"{text}{chance}."
    return f"{text}{chance}; without a control table nobody can say how much of that comes from being in the data."


def _nothing_proved(finding: Finding, which: str) -> str:
    attack = f"{ATTACK_TEXTS[finding.attack].title.lower()}{which}"
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


def search_sentence(audit: Audit) -> str:
    """Return what the worst split seemed to reach where it was searched for, and what it reaches on fresh people.

    With several releases it is about the one where it reaches most. Empty where nothing was searched for, and where a
    single person is both those who were searched and those who are fresh.
    """
    found = [
        (release, release.search, finding)
        for release in audit.releases
        if release.search is not None
        and release.search.seemed.defined
        and (finding := worst_of(release, "linkability")) is not None
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
    if found is None or not is_proved(found[1]):
        return "neutral"
    return "bad" if found[1].worse.low >= 0.5 else "warning"


def worst_of(release: Audited, attack: str) -> Finding | None:
    """Return the finding of an attack with the highest figure, or None where it was not measured.

    The mean over random splits does not count: it is there to be compared with.
    """
    found = [
        finding
        for finding in release.of(attack)
        if finding.worse.defined and (finding.scenario is None or finding.scenario.origin != "random")
    ]
    return max(found, key=severity, default=None)


def severity(finding: Finding) -> tuple[bool, bool, float, float]:
    """Return what findings of one attack are ranked by: proved first, then what can be compared, then how sure it is.

    A single try that succeeded is 100%, but says less than 490 of 500: the lower end of the interval counts, not the
    rate. An excess and a bare rate are different figures, so where some have an excess those without come last.
    """
    worse = finding.worse
    return is_proved(finding), finding.risk.excess_over_control.defined, worse.low, worse.value
