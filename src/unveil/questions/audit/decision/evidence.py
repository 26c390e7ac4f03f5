"""Collect the evidence for the decision on an audit, and decide."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isnan, nan
from types import MappingProxyType
from typing import Any, Literal

from unveil.errors import InputError
from unveil.metrics.releases.disclosure import Disclosure
from unveil.metrics.releases.population_risk import RegisterRisk
from unveil.metrics.releases.utility import Utility
from unveil.metrics.verdict.effects import EffectSize, counted
from unveil.metrics.verdict.levels import ALPHA
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.attacks.copies import RARE
from unveil.questions.audit.decision.findings import (
    EFFECTS,
    MAX_RISK,
    RISKS,
    SIBLINGS,
    WORST,
    AttackEffect,
    AuditDecision,
    AuditEvidence,
    DecisionBasis,
    ExposedIndividuals,
    ReleaseEvidence,
    Status,
    Thresholds,
)
from unveil.questions.audit.decision.rule import decide, worst_attacker
from unveil.questions.audit.decision.text import with_text
from unveil.questions.audit.findings import Audit, AuditedRelease, CopyFindings, ReleaseVerdict
from unveil.report.figures import meanings_of, undefined_quantities
from unveil.report.figures import quantities_of as declared_quantities
from unveil.report.limits import Quantity
from unveil.report.profiles import profile
from unveil.report.suppressed_number import SuppressedNumber

#: What says something of the release itself, without an attack.
_OF_RELEASE = (Disclosure, Utility, CopyFindings, RegisterRisk)
#: Limits on the risk against a population file, which studies have none of.
OF_POPULATION = frozenset(meanings_of(RegisterRisk))
_EXCESS = "excess risk of {}: attack success minus baseline, 0 to 1"


def meanings() -> dict[str, str]:
    """Return what each limit means, by its name."""
    said = {each: _EXCESS.format(each.replace("_", " ")) for each in EFFECTS}
    said |= {f"{each}.normalized": f"normalized {said[each].partition(':')[0]} (anonymeter)" for each in EFFECTS}
    said[SIBLINGS] = "share of people nearest to the release, minus that of a sibling release, 0 to 1"
    said[WORST] = "the largest excess risk of all attacks"
    said[MAX_RISK] = "largest risk of one person, 1/k on the stated quasi-identifiers"
    for attack in ATTACKS.values():
        for figure, meaning in attack.distances.items():
            said[f"{attack.name}.{figure}"] = f"{meaning}; fails below VALUE"
    return said | {name: meaning for kind in _OF_RELEASE for name, meaning in meanings_of(kind).items()}


def alone(audit: Audit, release: str) -> Audit:
    """Return the audit with one release only, its tests unchanged."""
    verdict = replace(audit.verdict, releases=tuple(each for each in audit.verdict.releases if each.name == release))
    return replace(audit, releases=tuple(each for each in audit.releases if each.name == release), verdict=verdict)


def quantities_of(audit: Audit) -> dict[str, Quantity]:
    """Return each limitable value at its worst over releases and attackers."""
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
    """Return the worst defined value of each release measure."""
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
    parts += [] if audit.population is None else [audit.population.risk]
    worst = {name: each for kind in _OF_RELEASE for name, each in undefined_quantities(kind).items()}
    for part in parts:
        declared: Mapping[str, Quantity] = {} if part is None else declared_quantities(part)
        for name, each in declared.items():
            is_worse = each.value > worst[name].value if each.more_is_worse else each.value < worst[name].value
            if isnan(worst[name].value) or is_worse:
                worst[name] = each
    return worst


#: Rare copies count where chance explains at most this share of them.
MOST_EXPLAINED = 0.2
#: Class sizes bound the risk of every masked release: a mean risk of at most this is counted whatever was masked.
SMALL_RISK = 0.05
REIDENTIFICATION = "reidentification"


def thresholds_of(
    threshold: float | None = None, profile_name: str = "", limits: Mapping[str, float] | None = None
) -> Thresholds:
    """Return the thresholds of a decision.

    >>> thresholds_of(profile_name="ema").threshold, thresholds_of(limits={"linkability": 0.1}).of("linkability")
    (0.09, 0.1)
    """
    if threshold is not None and profile_name:
        raise InputError(
            "A threshold and a profile are given. Choose one of them: a profile has a threshold of its own"
        )
    own = dict(limits or {})
    for name, value in own.items():
        if is_excess(name) and not 0 <= value <= 1:
            advice = f" For {value:g}%, write {value / 100:g}." if 1 < value <= 100 else ""
            raise InputError(f"The limit on {name} is {value:g}, but an excess risk is a share from 0 to 1.{advice}")
    if not profile_name:
        return Thresholds(threshold=threshold, limits=own)
    found = profile(profile_name)
    return Thresholds(
        threshold=found.threshold,
        limits=own,
        profile=found.name,
        source=found.who,
        max_risk=found.max_risk,
        needs_quasi_identifiers=found.threshold is not None,
    )


def is_excess(name: str) -> bool:
    """Return whether a limit bounds an excess or one person's risk."""
    return name.removesuffix(".normalized") in (*EFFECTS, WORST, MAX_RISK)


def decided(audit: Audit, thresholds: Thresholds) -> Audit:
    """Return the audit with its decision."""
    return replace(
        audit, thresholds=thresholds, decision=with_text(decide(evidence_of(audit, thresholds), thresholds), audit)
    )


def decision_of(audit: Audit, thresholds: Thresholds | None = None) -> AuditDecision:
    """Return the level and decision of an audit."""
    return decided(audit, thresholds or Thresholds()).decision


def evidence_of(audit: Audit, thresholds: Thresholds) -> AuditEvidence:
    """Return everything that the decision on an audit rests on."""
    # Siblings are no attack that can be left out.
    ran = {SIBLINGS, *(ATTACKS[each].effect for each in audit.attacks)}
    releases = tuple(
        _evidence_of(audit, release, verdict, thresholds)
        for release, verdict in zip(audit.releases, audit.verdict.releases, strict=True)
    )
    # Only masked releases can be re-identified, and class sizes test it too.
    if all(_is_reidentification_tested(each) for each in releases if each.kind == "masked"):
        ran.add(REIDENTIFICATION)
    sensitive = tuple(each.name for each in audit.columns if each.role == "sensitive")
    control, siblings = audit.verdict.control, audit.siblings
    return AuditEvidence(
        releases=releases,
        people=audit.people or audit.rows,
        control_people=control.others,
        control=control.outcome,
        sensitive=sensitive if sensitive or audit.sensitive_stated else None,
        quasi_identifiers_stated=bool(audit.quasi_identifiers),
        basis=basis_of(audit),
        siblings_number=siblings.number if siblings is not None and siblings.is_evidence else 0,
        siblings=_UNUSED.get(siblings.check, "") if siblings is not None and control.outcome != "usable" else "",
        siblings_test_release=siblings is not None and siblings.is_evidence and siblings.test == "release",
        not_run=tuple(each for attacks in RISKS.values() for each in attacks if each not in ran),
        refuted_claim=audit.epsilon is not None and audit.epsilon.contradicted,
    )


_UNUSED: Mapping[str, Literal["siblings differ", "siblings overlap"]] = MappingProxyType(
    {"siblings_differ": "siblings differ", "siblings_overlap": "siblings overlap"}
)


def basis_of(audit: Audit) -> DecisionBasis | None:
    """Return what the tests of an audit compare with."""
    if audit.way is not None:
        return "generator"
    if audit.verdict.control.outcome == "usable":
        return "control"
    if audit.siblings is not None and audit.siblings.is_evidence:
        return "siblings"
    return "own_draws" if audit.verdict.figures else None


def _sibling_effects(audit: Audit) -> Iterator[AttackEffect]:
    """Yield the effect of siblings; with a usable control group they only describe."""
    siblings = audit.siblings
    if siblings is not None and siblings.is_evidence:
        yield AttackEffect(
            attack=SIBLINGS,
            attacker="generator" if siblings.test == "assignment" else "",
            baseline_kind="siblings",
            attempts=siblings.people - siblings.left_out,
            excess=siblings.excess_risk,
            p_adjusted=siblings.p,
            by=siblings.test,
            blocks_pass=siblings.test == "release",
        )


def _evidence_of(
    audit: Audit, release: AuditedRelease, verdict: ReleaseVerdict, thresholds: Thresholds
) -> ReleaseEvidence:
    return ReleaseEvidence(
        name=release.name,
        kind=release.kind,
        type_source=release.type_source,
        effects=(*verdict.effects, *_sibling_effects(audit), *_reidentification(release, verdict, audit)),
        individuals=_individuals(release, verdict, audit),
        utility_loss=nan if release.utility is None else float(release.utility.loss),
        values=dict(_statuses(audit, release, thresholds)),
        is_example=audit.way is not None and release.name != audit.way.release,
        is_reference=release.name in audit.references,
    )


def _statuses(audit: Audit, release: AuditedRelease, thresholds: Thresholds) -> Iterator[tuple[str, Status]]:
    """Yield the status of each limit on a release's value."""
    is_usable, siblings = audit.verdict.control.outcome == "usable", audit.siblings
    if SIBLINGS in thresholds.limits and is_usable and siblings is not None and siblings.excess_risk.is_tested:
        # With a control group siblings describe: a large difference is no failure.
        yield SIBLINGS, "pass" if siblings.excess_risk.high <= thresholds.limits[SIBLINGS] else "inconclusive"
    named = [name for name in thresholds.limits if not is_excess(name)]
    if not named:
        return
    own = release_quantities(alone(audit, release.name))
    for name in named:
        quantity, limit = own[name], thresholds.limits[name]
        value = quantity.value
        if isinstance(value, SuppressedNumber):
            beyond = value.is_beyond(limit, more_is_worse=quantity.more_is_worse)
            is_open = beyond is None or (not beyond and not is_usable and name in OF_POPULATION)
            yield name, "inconclusive" if is_open else "fail" if beyond else "pass"
        elif isnan(value):
            yield name, "fail" if quantity.exceeded_when_undefined else "inconclusive"
        else:
            is_exceeded = value > limit if quantity.more_is_worse else value < limit
            # A population file alone never passes a release.
            passes = is_usable or name not in OF_POPULATION
            yield name, "fail" if is_exceeded else "pass" if passes else "inconclusive"


def _individuals(release: AuditedRelease, verdict: ReleaseVerdict, audit: Audit) -> ExposedIndividuals:
    copies, classes = verdict.copies, release.class_sizes
    rare = next((each.p_adjusted for each in verdict.findings if each.adversary == RARE), nan)
    figures = next((each.figures for each in release.of("copies")), {})
    separations = [each.separation for each in release.findings if each.separation is not None]
    return ExposedIndividuals(
        unmistakable=verdict.unmistakable,
        copies_seen=0 if copies is None else copies.people_unchanged,
        copies_expected=nan if copies is None else copies.expected,
        rare_copies=round(figures.get("rare_copies", 0)),
        rare_copies_expected=figures.get("rare_copies_expected", nan),
        rare_beyond_chance=rare <= ALPHA and figures.get("rare_explained", nan) <= MOST_EXPLAINED,
        flagged=round(max((each.flagged for each in separations), default=0)),
        smallest_class=None if classes is None else classes.smallest,
        people_in_classes_below={} if classes is None else classes.people_below,
        truthful=bool(release.truthful),
        is_sample=audit.is_sample,
        groups=verdict.group_effects,
    )


def _reidentification(release: AuditedRelease, verdict: ReleaseVerdict, audit: Audit) -> Iterator[AttackEffect]:
    """Yield the re-identification effect of class sizes, without true matches.

    The mean of 1 / class size is the risk itself if the release is truthful, and else an upper bound.
    """
    if release.kind != "masked" or any(each.attack == REIDENTIFICATION for each in verdict.effects):
        return
    classes = release.class_sizes
    if classes is not None and (release.truthful or classes.average_risk <= SMALL_RISK):
        excess = counted(classes.average_risk, 1 / (audit.people or audit.rows))
        if not release.truthful:
            excess = EffectSize(excess.value, 0.0, excess.high, excess.attack_rate, excess.baseline)
        yield AttackEffect(attack=REIDENTIFICATION, baseline_kind="chance", excess=excess, counted=True)
        return
    why = "the true matches are not known"
    if classes is None:
        why += ", and the quasi-identifiers are not stated"
    not_tested = EffectSize(nan, nan, nan, why_not_tested=why)
    yield AttackEffect(attack=REIDENTIFICATION, baseline_kind="chance", excess=not_tested)


def _is_reidentification_tested(release: ReleaseEvidence) -> bool:
    return any(each.attack == REIDENTIFICATION and each.excess.is_tested for each in release.effects)
