"""An audit in plain sentences: what a figure means to somebody who has to decide, and what it does not say."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from unveil.measure.risk import Rate
from unveil.report.audit_findings import Audited, Finding
from unveil.report.text import UNDEFINED, count, decimal, name
from unveil.report.text import percent as unsigned_percent

LONGEST_NAME = 40

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "linkability": "Linkability",
        "record_linkage": "Record linkage",
        "copies": "Exact copies",
        "closest_record": "Distance to closest record",
        "neighbour_ratio": "Nearest-neighbour distance ratio",
        "row_order": "Row order",
    }
)
QUESTIONS: Mapping[str, str] = MappingProxyType(
    {
        "linkability": "Linkability: can facts from two sources be put together?",
        "record_linkage": "Record linkage: whose record is it?",
        "copies": "Exact copies: are people released as they are?",
        "closest_record": "Closest records: does the release keep too close to people in the data?",
        "neighbour_ratio": "Distance ratios: does the release single out people in the data?",
        "row_order": "Row order: does the order of the rows give people away?",
    }
)
FIGURE_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "attack_rate": "people in the data",
        "naive_rate": "blind chance",
        "control_rate": "people not in the data",
        "excess_over_control": "excess over control",
    }
)
#: The attacks that people outside the data can be put through too.
CONTROLLED = frozenset({"linkability", "copies", "closest_record", "neighbour_ratio"})
EVIDENCE = (
    "This report is evidence for the decision of whoever is responsible for the data; it is no finding of anonymity."
)
NO_CONTROL = (
    "There is no control table. A successful attack may then rest on what is true of everybody, so nobody can say how "
    "much of it comes from being in the data, and no figure here can show that being in the data makes no difference."
)


def listed(names: Sequence[str], *, most: int = 5) -> str:
    """Return names as a sentence lists them, cut where there are many.

    >>> listed(["age"]), listed(["age", "sex"]), listed(list("abcdefgh"))
    ('age', 'age and sex', 'a, b, c, d and 4 more columns')
    """
    shown = [name(each, LONGEST_NAME) for each in names]
    if len(shown) > most:
        return f"{', '.join(shown[: most - 1])} and {len(shown) - most + 1} more columns"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def percent(share: float) -> str:
    """Return a share in percent; an excess may be below 0, and what rounds to nothing has no sign.

    >>> percent(0.375), percent(-0.025), percent(-0.00004), percent(0.0002)
    ('37.5%', '-2.5%', '0.0%', '<0.1%')
    """
    return unsigned_percent(0.0 if -0.0005 < share < 0 else share)


def rate_text(rate: Rate) -> str:
    """Return a rate with its interval, as a person says it.

    >>> rate_text(Rate(0.0, 0.0, 0.0076)), rate_text(Rate(0.312, 0.273, 0.354)), rate_text(Rate(1.0, 0.992, 1.0))
    ('0% (at most 0.8%)', '31.2% (27.3% to 35.4%)', '100% (at least 99.2%)')
    """
    if not rate.defined:
        return UNDEFINED
    if rate.value == 0 and rate.low == 0:
        return f"0% (at most {_over(rate.high)})"
    if rate.value == 1 and rate.high == 1:
        return f"100% (at least {percent(rate.low)})"
    return f"{percent(rate.value)} ({percent(rate.low)} to {percent(rate.high)})"


def percent_of(rate: Rate, whom: str) -> str:
    """Return a share of people with its interval behind them.

    >>> percent_of(Rate(0.312, 0.273, 0.354), "people")
    '31.2% of people (27.3% to 35.4%)'
    """
    share, _, interval = rate_text(rate).partition(" (")
    return f"{share} of {whom} ({interval}" if interval else f"{share} of {whom}"


def compact_rate(rate: Rate) -> str:
    """Return a rate with its interval as briefly as a table needs it.

    >>> compact_rate(Rate(0.312, 0.273, 0.354)), compact_rate(Rate(0.0, 0.0, 0.0076))
    ('31.2% (27.3–35.4%)', '0% (≤ 0.8%)')
    """
    text = rate_text(rate).replace("at most", "≤").replace("at least", "≥")
    # A minus or an arrow beside the dash would be hard to read.
    return text if rate.low < 0 or "<" in text or ">" in text else text.replace("% to ", "–")


def _over(share: float) -> str:
    # "At most" must hold: what rounding would push below the limit is rounded up.
    return percent(math.ceil(share * 1000 - 1e-9) / 1000)


def sentence(finding: Finding) -> str:
    """Return what the finding means: one attack, one adversary, in words for somebody who never saw such a figure."""
    if finding.attack in _DISTANCES and "median" in finding.figures:
        return _closeness(finding)
    if finding.attack == "record_linkage" and not finding.risk.attack_rate.defined and "sure" in finding.figures:
        return (
            f"For {percent(finding.figures['sure'])} of released records a single person is nearest. {finding.remark}"
        )
    if not finding.risk.attack_rate.defined:
        return finding.remark or f"{TITLES.get(finding.attack, finding.attack)} could not be measured here."
    said = _MEANINGS[finding.attack](finding)
    return f"{said} {comparison(finding)}".strip()


def _linkability(finding: Finding) -> str:
    rate = finding.risk.attack_rate
    scenario = finding.scenario
    same = f"can tell for {percent_of(rate, 'people')} that both are about the same person"
    if scenario is None or scenario.origin == "random":
        return (
            f"On average over divisions of the columns, whoever holds one part of them from each of two sources {same}."
        )
    return f"Whoever holds {listed(scenario.first)} from one source and {listed(scenario.second)} from another {same}."


def _record_linkage(finding: Finding) -> str:
    rate = percent_of(finding.risk.attack_rate, "released records")
    return f"Whoever compares released records with what is known of people names the right person for {rate}."


def _copies(finding: Finding) -> str:
    return f"{percent_of(finding.risk.attack_rate, 'released records')} are exact copies of a record in the data."


#: What is measured, and what its extremes mean.
_DISTANCES = MappingProxyType(
    {
        "closest_record": (
            "lie within {median} of somebody in the data, and 5% within {low}",
            "0 is a copy, 1 differs fully in every column",
        ),
        "neighbour_ratio": (
            "have a distance ratio of at most {median}, and 5% of at most {low}",
            "0 stands by one person alone, 1 is as near to a second",
        ),
    }
)


def _closeness(finding: Finding) -> str:
    """Return how near released records are, beside people who are not in the data; never that all is well."""
    pattern, scale = _DISTANCES[finding.attack]
    figures = finding.figures
    if math.isnan(figures["median"]):
        return "No record has such a figure here: each equals several people, or there are too few."
    text = pattern.format(median=decimal(figures["median"]), low=decimal(figures["low"]))
    said = f"Half of the released records {text} ({scale})."
    outside = figures.get("control_median", math.nan)
    if math.isnan(outside):
        return f"{said} Without a control table nobody can say whether that is near."
    other = f"For people who are not in the data these are {decimal(outside)} and {decimal(figures['control_low'])}:"
    if is_near(finding):
        return f"{said} {other} the release keeps nearer to the data than such people do, which is a warning."
    return f"{said} {other} the release keeps no nearer than such people do, which raises no alarm and clears nobody."


def is_near(finding: Finding) -> bool:
    """Return whether released records keep nearer to the data than others do, in the middle and at the edge."""
    figures = finding.figures
    pairs = (("median", "control_median"), ("low", "control_low"))
    return all(figures.get(own, math.nan) < figures.get(outside, math.nan) for own, outside in pairs)


def _row_order(finding: Finding) -> str:
    return (
        f"{percent_of(finding.risk.attack_rate, 'released rows')} stand where the same person stands in the original."
    )


_MEANINGS = MappingProxyType(
    {
        "linkability": _linkability,
        "record_linkage": _record_linkage,
        "copies": _copies,
        "row_order": _row_order,
    }
)


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
        f"{percent(excess.high)}."
    )


def kind_text(release: Audited) -> str:
    """Return whether the release is masked or synthetic, or that nobody said."""
    return release.kind or "not said"


def links_text(finding: Finding) -> str:
    """Return the hits: expected under random tie-breaking, with the least and the most where ties leave a choice."""
    links = finding.links
    if math.isnan(links.expected):
        return ""
    ties = f" ({decimal(links.low, places=1)}–{decimal(links.high, places=1)})" if links.low < links.high else ""
    return f"{decimal(links.expected, places=1)}{ties} of {count(finding.targets)}"
