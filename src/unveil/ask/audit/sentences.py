"""An audit in plain sentences: what a finding means to somebody who has to decide, and what it does not say."""

import math
from types import MappingProxyType

from unveil.measure.risk import Rate
from unveil.ask.audit.attacks.texts import ATTACK_TEXTS
from unveil.ask.audit.findings import Finding
from unveil.ask.audit.words import percent, rate_text
from unveil.show.text import decimal


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
