"""An audit in plain sentences: what a figure means to somebody who has to decide, and what it does not say."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from unveil.metrics.trials.risk import Rate, Risk
from unveil.questions.audit.findings import AttackFinding, AuditedRelease
from unveil.report.blocks import Count
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import UNDEFINED, count, decimal, name
from unveil.report.text import percent as unsigned_percent

LONGEST_NAME = 40
#: The most decimals that are added to rates to make them agree with what is computed from them.
_MOST_MORE = 3

FIGURE_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "attack_rate": "people in the data",
        "naive_rate": "blind chance",
        "control_rate": "people not in the data",
        "excess_over_control": "excess over control",
    }
)
EVIDENCE = (
    "This report is evidence for the decision of whoever is responsible for the data; it is no finding of anonymity."
)
NO_CONTROL = (
    "There is no control table. A successful attack may then rest on what is true of everybody, so nobody can say how "
    "much of it comes from being in the data, and no figure here can show that being in the data makes no difference."
)


def listed(names: Sequence[str], *, at_most: int = 5) -> str:
    """Return names as a sentence lists them, cut where there are many.

    >>> listed(["age"]), listed(["age", "sex"]), listed(list("abcdefgh"))
    ('age', 'age and sex', 'a, b, c, d and 4 more columns')
    """
    shown = [name(each, LONGEST_NAME) for each in names]
    if len(shown) > at_most:
        return f"{', '.join(shown[: at_most - 1])} and {len(shown) - at_most + 1} more columns"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def percent(share: float, *, more: int = 0) -> str:
    """Return a share in percent with two digits: whole from 10% on, with one decimal below; ``more`` adds decimals.

    An excess may be below 0, and what rounds to nothing has no sign. Bounds are rounded outwards, so that they hold.

    >>> percent(0.375), percent(-0.025), percent(-0.00004), percent(0.0002), percent(0.998), percent(0.375, more=1)
    ('38%', '-2.5%', '0%', '<0.1%', '>99%', '37.5%')
    """
    if isinstance(share, SuppressedNumber):
        return share.within(0.0, 1.0, (_floor(share.least), _ceiling(share.most)))
    if share in (0.0, 1.0) or -0.0005 < share < 0:
        return f"{round(share) + 0:.0%}"
    return unsigned_percent(share, places=_places(share) + more)


def _places(share: float) -> int:
    return 0 if abs(share) >= 0.0995 else 1


def _ceiling(share: float) -> str:
    # "At most" must hold: what rounding would push below the limit is rounded up, and below "at least" down.
    step = 10.0 ** (2 + _places(share))
    return percent(math.ceil(share * step - 1e-9) / step) if math.isfinite(share) else UNDEFINED


def _floor(share: float) -> str:
    step = 10.0 ** (2 + _places(share))
    return percent(math.floor(share * step + 1e-9) / step) if math.isfinite(share) else UNDEFINED


def finer(risk: Risk) -> int:
    """Return how many decimals more the rates need so that whoever computes the excess from them finds the one shown.

    >>> inside, outside, excess = Rate(0.544, 0.5, 0.6), Rate(0.502, 0.4, 0.6), Rate(0.0843, 0.01, 0.15)
    >>> risk = Risk(attack_rate=inside, naive_rate=outside, control_rate=outside, excess_over_control=excess)
    >>> finer(risk), percent(0.544, more=1), percent(0.502, more=1), percent(0.0843)
    (1, '54.4%', '50.2%', '8.4%')
    """
    rates = (risk.attack_rate, risk.control_rate, risk.excess_over_control)
    if any(not rate.defined or isinstance(rate.value, SuppressedNumber) for rate in rates):
        return 0
    excess = round(rates[2].value, 2 + _places(rates[2].value))
    unit = 10.0 ** -(2 + _places(rates[2].value))

    def agrees(more: int) -> bool:
        inside, outside = (round(rate.value, 2 + _places(rate.value) + more) for rate in rates[:2])
        return outside < 1 and abs((inside - outside) / (1 - outside) - excess) <= unit + 1e-9

    return next((more for more in range(_MOST_MORE) if agrees(more)), _MOST_MORE)


def excess_text(risk: Risk) -> str:
    """Return what being in the data adds, with its interval, and from which figures that follows.

    What strangers would give may be known by its bounds alone; then so is what is added.
    """
    excess, more = risk.excess_over_control, finer(risk)
    if _between(risk):
        return f"between {percent(excess.low)} and {percent(excess.high)}"
    if isinstance(risk.control_rate.value, SuppressedNumber) or isinstance(excess.value, SuppressedNumber):
        return rate_text(excess)
    inside, outside = (percent(rate.value, more=more) for rate in (risk.attack_rate, risk.control_rate))
    return f"{rate_text(excess)} of what was left: ({inside} − {outside}) / (100% − {outside})"


def _between(risk: Risk) -> bool:
    exact = not isinstance(risk.excess_over_control.value, SuppressedNumber) and risk.attack_rate.value < 1
    return exact and isinstance(risk.control_rate.value, SuppressedNumber)


def rate_text(rate: Rate, *, more: int = 0) -> str:
    """Return a rate with its interval, as a person says it.

    >>> rate_text(Rate(0.0, 0.0, 0.0076)), rate_text(Rate(0.312, 0.273, 0.354)), rate_text(Rate(1.0, 0.992, 1.0))
    ('0% (at most 0.8%)', '31% (27% to 35%)', '100% (at least 99%)')
    """
    if not rate.defined:
        return UNDEFINED
    if isinstance(rate.value, SuppressedNumber):
        return _bounded_text(rate, rate.value)
    value, high = percent(rate.value, more=more), percent(rate.high)
    if rate.value == 0 and rate.low == 0:
        return f"0% (at most {_ceiling(rate.high)})"
    if rate.value == rate.high == 1 or (value == high and high.startswith(">")):
        return f"{value} (at least {_floor(rate.low)})"
    return f"{value} ({percent(rate.low)} to {high})"


def _bounded_text(rate: Rate, value: SuppressedNumber) -> str:
    """Return a rate that is told by its bounds; so is its interval, of which the outer ends are shown."""
    low, high = float(rate.low), float(rate.high)
    if (value.least, value.most) == (low, high):  # nothing more is known of it
        return percent(value)
    if value.least == 0 and low == 0:
        return f"{percent(value)} (at most {_ceiling(high)})"
    if value.most == 1 and high == 1:
        return f"{percent(value)} (at least {_floor(low)})"
    return f"{percent(value)} ({_floor(low)} to {_ceiling(high)})"


def percent_of(rate: Rate, whom: str) -> str:
    """Return a share of people with its interval behind them.

    >>> percent_of(Rate(0.312, 0.273, 0.354), "people")
    '31% of people (27% to 35%)'
    """
    share, _, interval = rate_text(rate).partition(" (")
    return f"{share} of {whom} ({interval}" if interval else f"{share} of {whom}"


def compact_rate(rate: Rate, *, more: int = 0) -> str:
    """Return a rate with its interval as briefly as a table needs it.

    >>> compact_rate(Rate(0.312, 0.273, 0.354)), compact_rate(Rate(0.0, 0.0, 0.0076))
    ('31% (27–35%)', '0% (≤ 0.8%)')
    """
    text = rate_text(rate, more=more).replace("at most", "≤").replace("at least", "≥")
    # A minus or an arrow beside the dash would be hard to read.
    return text if rate.low < 0 or "<" in text or ">" in text else text.replace("% to ", "–")


def compact_excess(risk: Risk) -> str:
    """Return what being in the data adds as briefly as a table needs it."""
    excess = risk.excess_over_control
    return f"{percent(excess.low)} to {percent(excess.high)}" if _between(risk) else compact_rate(excess)


def kind_text(release: AuditedRelease) -> str:
    """Return the type of a release: masked or synthetic, stated or detected."""
    return f"{release.kind}, detected" if release.type_source == "detected" else release.kind or "type not stated"


def links_text(finding: AttackFinding) -> str:
    """Return the hits: expected under random tie-breaking, with the least and the most where ties leave a choice.

    A shareable report does not show a few hits as a number: they are people.
    """
    links = finding.links
    if math.isnan(links.expected):
        return ""
    if isinstance(links.expected, SuppressedNumber):
        few = "all but fewer" if links.expected.most == 1 else "fewer"
        share = 1 - links.expected.least if links.expected.most == 1 else links.expected.most
        return f"{few} than {count(round(share * finding.targets))} of {count(finding.targets)}"
    ties = f" ({decimal(links.low, places=1)}–{decimal(links.high, places=1)})" if links.low < links.high else ""
    tries = count(finding.targets)
    hits = f"{decimal(links.expected, places=1)}{ties} of {tries}"
    return Count(hits, people=math.ceil(links.expected), pattern="{}")


def row_name(release: AuditedRelease, finding: AttackFinding, *, several: bool, longest: int = 60) -> str:
    """Return what a row of figures is about: the adversary, the column it guesses, the release if there are more."""
    who = "" if finding.scenario is None else name(finding.scenario.name, longest)
    if finding.secret:
        who = f"{name(finding.secret, LONGEST_NAME)}, {who}" if who else name(finding.secret, LONGEST_NAME)
    if not several:
        return who or name(release.name, longest)
    return f"{name(release.name, 30)}: {who}" if who else name(release.name, longest)
