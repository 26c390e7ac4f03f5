"""The figures of an audit that a limit can be set for: what each means, what it needs, and its worst value."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from types import MappingProxyType
from typing import Any, Protocol

from unveil.metrics.releases.disclosure import Disclosure
from unveil.metrics.releases.utility import Utility
from unveil.metrics.trials.risk import CONFIDENCE, Rate, clopper_pearson, excess
from unveil.metrics.verdict.limits import people_needed, worth
from unveil.questions.audit.attacks import ATTACKS, AuditAttack
from unveil.questions.audit.findings import UNDEFINED, AttackFinding, Audit, CopyFindings
from unveil.report.figures import meanings_of, undefined_quantities
from unveil.report.figures import quantities_of as declared_quantities
from unveil.report.limits import LimitEvidence, Quantity
from unveil.report.profiles import COPIED
from unveil.report.suppressed_number import SuppressedNumber

_ENDS = {"": "", ".low": "; lower end of its 95% interval", ".high": "; upper end of its 95% interval"}
_EXCESS = "excess_over_control"
#: What says something of the release itself, without an attack.
_OF_RELEASE = (Disclosure, Utility, CopyFindings)
#: Why a control that failed a check cannot show that a limit is kept.
_DOUBTS: Mapping[str, str] = MappingProxyType(
    {
        "none": "there are no people who are not in the data to compare with (--control)",
        "other_people": "the control is of other people",
        "clustered": "rows of one table are too alike to be separate people",
        "overlap": "people of the control are in the data too, which makes the figure too low",
        "too_small": "the control has too few people",
    }
)


class _RateHolder(Protocol):
    """One attack, or one group of people, with its rates."""

    def rate(self, figure: str) -> Rate:
        """Return the rate of this name."""


def meanings() -> dict[str, str]:
    """Return what each quantity that a limit can be set for means; each is the worst over releases and adversaries."""
    said: dict[str, str] = {}
    for attack in ATTACKS.values():
        for figure, meaning in attack.limited.items():
            if attack.distances:
                said[f"{attack.name}.{figure}"] = f"{meaning}; exceeded when less than VALUE"
            else:
                said |= {f"{attack.name}.{figure}{end}": f"{meaning}{which}" for end, which in _ENDS.items()}
    return said | {name: meaning for kind in _OF_RELEASE for name, meaning in meanings_of(kind).items()}


def needs(quantity: str) -> tuple[str, ...]:
    """Return what a quantity cannot exist without: a control table, or a column of groups.

    >>> needs("linkability.excess_over_control.high"), needs("copies.attack_rate"), needs("membership.attack_rate")
    (('control',), (), ('control',))
    """
    part, figure = quantity.split(".")[:2]
    return ATTACKS[part].needs(figure) if part in ATTACKS else ()


def alone(audit: Audit, release: str) -> Audit:
    """Return the audit as if this were its only release; what was judged was judged together with the others."""
    verdict = replace(audit.verdict, releases=tuple(each for each in audit.verdict.releases if each.name == release))
    return replace(audit, releases=tuple(each for each in audit.releases if each.name == release), verdict=verdict)


def quantities_of(audit: Audit) -> dict[str, Quantity]:
    """Return each quantity at its worst over releases and adversaries; the mean over random splits does not count.

    Rates have evidence with them: an interval at any confidence, whose ends are the worst over all that are defined. A
    rate that needs a control which is not usable cannot show that a limit is kept, and where people of the control are
    of another kind or too few it is held to no limit.
    """
    found = {}
    for name, meaning in meanings().items():
        part, *figure = name.split(".")
        if part not in ATTACKS or name == COPIED:
            continue
        more_is_worse, evidence = True, None
        if ATTACKS[part].distances:
            more_is_worse = False
            own = (each.figures.get(figure[0], nan) for each in _findings(audit, ATTACKS[part]))
            value = min((v for v in own if not isnan(v)), default=nan)
        else:
            rated, figure_name = _rated(audit, ATTACKS[part], figure[0]), _RATE_OF.get(figure[0], figure[0])
            value = _worst([each.rate(figure_name) for each in rated], *figure[1:])
            if not figure[1:] and rated:
                evidence = _evidence(rated, figure_name, ATTACKS[part], _doubt(audit, name))
        found[name] = Quantity(
            name=name,
            value=value,
            meaning=meaning,
            exceeded_when_undefined=False,
            more_is_worse=more_is_worse,
            evidence=evidence,
        )
    return found | _of_releases(audit)


def _of_releases(audit: Audit) -> dict[str, Quantity]:
    """Return the figures of the releases themselves, each the worst that is defined."""
    parts: list[Any] = [part for each in audit.releases for part in (each.disclosure, each.utility)]
    parts += [each.copies for each in audit.verdict.releases]
    worst = {name: each for kind in _OF_RELEASE for name, each in undefined_quantities(kind).items()}
    for part in parts:
        for name, each in ({} if part is None else declared_quantities(part)).items():
            is_worse = each.value > worst[name].value if each.more_is_worse else each.value < worst[name].value
            if isnan(worst[name].value) or is_worse:
                worst[name] = each
    return worst


#: Groups of people are compared by the rate of those in the data.
_RATE_OF = MappingProxyType({"worst_group": "attack_rate"})


def _findings(audit: Audit, attack: AuditAttack) -> list[AttackFinding]:
    return [finding for release in audit.releases for finding in release.of(attack.name) if not finding.is_mean]


def _rated(audit: Audit, attack: AuditAttack, figure: str) -> list[_RateHolder]:
    """Return whoever has this figure."""
    found: list[_RateHolder] = [*_findings(audit, attack)]
    if figure in _RATE_OF:
        groups = [each.groups for each in _findings(audit, attack) if each.groups is not None]
        found = [group for each in groups for group in each.groups]
    return [each for each in found if each.rate(_RATE_OF.get(figure, figure)).defined]


def _worst(rates: Iterable[Rate], end: str = "value") -> float:
    return max((value for rate in rates if not isnan(value := getattr(rate, end))), default=nan)


def _doubt(audit: Audit, name: str) -> str:
    return _DOUBTS.get(audit.verdict.control.outcome, "") if "control" in needs(name) else ""


def _evidence(rated: Sequence[_RateHolder], figure: str, attack: AuditAttack, doubt: str) -> LimitEvidence:
    """Return how sure the worst of these rates is."""

    def interval(confidence: float) -> Rate:
        if doubt and doubt != _DOUBTS["overlap"]:
            return UNDEFINED
        rates = [rate_at(each, figure, confidence) for each in rated]
        return Rate(_worst(rates), _worst(rates, "low"), _worst(rates, "high"))

    highest = max(rated, key=lambda each: each.rate(figure).high)
    inside, outside = highest.rate("attack_rate").tries, highest.rate("control_rate").tries

    def needed(limit: float) -> int | None:
        people = people_needed(float(highest.rate("control_rate").value), limit) if limit <= 1 else None
        # As many were attacked already: then the truth lies near the limit, and nobody knows how many would do.
        return None if people is None or people <= worth(inside, outside) else people

    countable = figure == _EXCESS and attack.tries_are_people and inside and outside
    return LimitEvidence(interval=interval, figures=len(rated), needed=needed if countable else None, doubt=doubt)


def rate_at(each: _RateHolder, figure: str, confidence: float) -> Rate:
    """Return a rate with its interval at another confidence than 95 %; where bounds are told, that of the bounds."""
    rate = each.rate(figure)
    if confidence == CONFIDENCE:
        return rate
    if figure != _EXCESS:
        least, most = bounds_at(rate, confidence)
        return Rate(rate.value, least.low, most.high)
    (least, most), (fewest, all_of_them) = (
        bounds_at(each.rate(of), confidence) for of in ("attack_rate", "control_rate")
    )
    return Rate(rate.value, excess(least, all_of_them).low, excess(most, fewest).high)


def bounds_at(rate: Rate, confidence: float) -> tuple[Rate, Rate]:
    """Return the least and the greatest rate that this may be, which are the same where it is told exactly."""
    tries = rate.worth or rate.tries
    if not tries or not rate.defined:
        # Bounds of what strangers would give are the same at every confidence.
        return rate, rate
    ends = (rate.value.least, rate.value.most) if isinstance(rate.value, SuppressedNumber) else (rate.value, rate.value)
    least, most = (clopper_pearson(end * tries, tries, confidence=confidence) for end in ends)
    return least, most
