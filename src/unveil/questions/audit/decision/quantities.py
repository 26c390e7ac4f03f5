"""The values of an audit that a limit can be set for: excess risks, and values of the release itself."""

from collections.abc import Mapping
from dataclasses import replace
from math import isnan, nan
from typing import Any

from unveil.metrics.releases.disclosure import Disclosure
from unveil.metrics.releases.utility import Utility
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision.findings import EFFECTS, MAX_RISK, WORST
from unveil.questions.audit.decision.rule import worst_attacker
from unveil.questions.audit.findings import Audit, CopyFindings
from unveil.report.figures import meanings_of, undefined_quantities
from unveil.report.figures import quantities_of as declared_quantities
from unveil.report.limits import Quantity

#: What says something of the release itself, without an attack.
_OF_RELEASE = (Disclosure, Utility, CopyFindings)
_EXCESS = "excess risk of {}: attack success minus baseline, 0 to 1"


def meanings() -> dict[str, str]:
    """Return what each limit means; NAME.normalized is the excess as a share of what the baseline leaves."""
    said = {each: _EXCESS.format(each.replace("_", " ")) for each in EFFECTS}
    said |= {f"{each}.normalized": f"normalized {said[each].partition(':')[0]} (anonymeter)" for each in EFFECTS}
    said[WORST] = "the largest excess risk of all attacks"
    said[MAX_RISK] = "largest risk of one person, 1/k on the stated quasi-identifiers"
    for attack in ATTACKS.values():
        for figure, meaning in attack.distances.items():
            said[f"{attack.name}.{figure}"] = f"{meaning}; exceeded when less than VALUE"
    return said | {name: meaning for kind in _OF_RELEASE for name, meaning in meanings_of(kind).items()}


def alone(audit: Audit, release: str) -> Audit:
    """Return the audit as if this were its only release; what was judged was judged together with the others."""
    verdict = replace(audit.verdict, releases=tuple(each for each in audit.verdict.releases if each.name == release))
    return replace(audit, releases=tuple(each for each in audit.releases if each.name == release), verdict=verdict)


def quantities_of(audit: Audit) -> dict[str, Quantity]:
    """Return each value that a limit can be set for, at its worst over releases and attackers."""
    found, own = release_quantities(audit), meanings()
    largest = nan
    for name in EFFECTS:
        every = [worst_attacker([e for e in each.effects if e.attack == name]) for each in audit.verdict.releases]
        effects = [each for each in every if each is not None]
        worst = max(effects, key=lambda each: each.excess.value, default=None)
        values = {name: nan if worst is None else worst.excess.value}
        values[f"{name}.normalized"] = nan if worst is None else worst.excess.normalized_excess
        largest = values[name] if isnan(largest) else max(largest, values[name] if worst else largest)
        found |= {each: _quantity(each, value, own[each]) for each, value in values.items()}
    classes = [each.individuals.smallest_class for each in audit.decision.releases]
    smallest = min((each for each in classes if each), default=None)
    found[WORST] = _quantity(WORST, largest, own[WORST])
    found[MAX_RISK] = _quantity(MAX_RISK, 1 / smallest if smallest else nan, own[MAX_RISK])
    return {name: found[name] for name in own}


def _quantity(name: str, value: float, meaning: str) -> Quantity:
    return Quantity(name=name, value=value, meaning=meaning, exceeded_when_undefined=False)


def release_quantities(audit: Audit) -> dict[str, Quantity]:
    """Return the values of the releases themselves, each the worst that is defined."""
    found: dict[str, Quantity] = {}
    for attack in ATTACKS.values():
        for figure, meaning in attack.distances.items():
            findings = [each for release in audit.releases for each in release.of(attack.name) if not each.is_mean]
            values = [each.figures.get(figure, nan) for each in findings]
            name = f"{attack.name}.{figure}"
            found[name] = Quantity(
                name=name,
                value=min((value for value in values if not isnan(value)), default=nan),
                meaning=meaning,
                exceeded_when_undefined=False,
                more_is_worse=False,
            )
    return found | _of_releases(audit)


def _of_releases(audit: Audit) -> dict[str, Quantity]:
    parts: list[Any] = [part for each in audit.releases for part in (each.disclosure, each.utility)]
    parts += [each.copies for each in audit.verdict.releases]
    worst = {name: each for kind in _OF_RELEASE for name, each in undefined_quantities(kind).items()}
    for part in parts:
        declared: Mapping[str, Quantity] = {} if part is None else declared_quantities(part)
        for name, each in declared.items():
            is_worse = each.value > worst[name].value if each.more_is_worse else each.value < worst[name].value
            if isnan(worst[name].value) or is_worse:
                worst[name] = each
    return worst
