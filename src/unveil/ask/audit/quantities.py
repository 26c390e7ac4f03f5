"""The figures of an audit that a limit can be set for: what each means, what it needs, and its worst value."""

from collections.abc import Iterable, Mapping
from math import isnan, nan
from types import MappingProxyType

from unveil.ask.audit.attacks import ATTACKS, AuditAttack
from unveil.ask.audit.findings import AuditedRelease
from unveil.show.limits import Quantity

_ENDS = {"": "", ".low": "; lower end of its 95% interval", ".high": "; upper end of its 95% interval"}
#: Figures of the release itself by part and name: what each means, and whether more of it is worse.
_OF_RELEASE: Mapping[str, tuple[str, bool]] = MappingProxyType(
    {
        "disclosure.k_anonymity": ("fewest released rows that look alike in the known columns", False),
        "disclosure.highest_risk": ("1 / fewest released rows that look alike", True),
        "disclosure.average_risk": ("mean over released rows of 1 / rows that look alike", True),
        "disclosure.sample_uniqueness": ("share of released rows that are the only one of their kind", True),
        "utility.loss": ("what the release has lost of what the original says, from 0 to 1", True),
    }
)


def meanings() -> dict[str, str]:
    """Return what each quantity that a limit can be set for means; each is the worst over releases and adversaries."""
    said: dict[str, str] = {}
    for attack in ATTACKS.values():
        for figure, meaning in attack.limited.items():
            if attack.distances:
                said[f"{attack.name}.{figure}"] = f"{meaning}; exceeded when less than VALUE"
            else:
                said |= {f"{attack.name}.{figure}{end}": f"{meaning}{which}" for end, which in _ENDS.items()}
    for name, (meaning, more_is_worse) in _OF_RELEASE.items():
        said[name] = meaning if more_is_worse else f"{meaning}; exceeded when less than VALUE"
    return said


def needs(quantity: str) -> tuple[str, ...]:
    """Return what a quantity cannot exist without: a control table, or a column of groups.

    >>> needs("linkability.excess_over_control.high"), needs("copies.attack_rate"), needs("membership.attack_rate")
    (('control',), (), ('control',))
    """
    part, figure = quantity.split(".")[:2]
    return ATTACKS[part].needs(figure) if part in ATTACKS else ()


def quantities_of(releases: Iterable[AuditedRelease]) -> dict[str, Quantity]:
    """Return each quantity at its worst over releases and adversaries; the mean over random splits does not count."""
    every = tuple(releases)
    found = {}
    for name, meaning in meanings().items():
        part, *figure = name.split(".")
        if name in _OF_RELEASE:
            more_is_worse, worst = _OF_RELEASE[name][1], max if _OF_RELEASE[name][1] else min
            parts = [measured for release in every if (measured := getattr(release, part)) is not None]
            value = worst((v for each in parts if not isnan(v := getattr(each, *figure))), default=nan)
        else:
            more_is_worse = not ATTACKS[part].distances
            value = _worst(every, ATTACKS[part], *figure)
        found[name] = Quantity(
            name=name, value=value, meaning=meaning, exceeded_when_undefined=False, more_is_worse=more_is_worse
        )
    return found


def _worst(releases: tuple[AuditedRelease, ...], attack: AuditAttack, figure: str, end: str = "value") -> float:
    found = [finding for release in releases for finding in release.of(attack.name) if not finding.is_mean]
    if attack.distances:
        return min((v for each in found if not isnan(v := each.figures.get(figure, nan))), default=nan)
    if figure == "worst_group":
        rates = [group.attack_rate for each in found if each.groups is not None for group in each.groups.groups]
    else:
        rates = [finding.rate(figure) for finding in found]
    return max((value for rate in rates if not isnan(value := getattr(rate, end))), default=nan)
