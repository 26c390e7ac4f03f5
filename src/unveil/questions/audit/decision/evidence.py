"""Collect the evidence that the decision on an audit rests on, and decide."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isnan, nan

from unveil.errors import InputError
from unveil.metrics.verdict.effects import EffectSize, counted
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.attacks.copies import RARE
from unveil.questions.audit.decision.findings import (
    ALPHA,
    EFFECTS,
    MAX_RISK,
    RISKS,
    WORST,
    AttackEffect,
    AuditDecision,
    AuditEvidence,
    ExposedIndividuals,
    ReleaseEvidence,
    Status,
    Thresholds,
)
from unveil.questions.audit.decision.quantities import alone, release_quantities
from unveil.questions.audit.decision.rule import decide
from unveil.questions.audit.decision.text import with_text
from unveil.questions.audit.findings import Audit, AuditedRelease, ReleaseVerdict
from unveil.report.profiles import profile
from unveil.report.suppressed_number import SuppressedNumber

#: Rare copies count where chance explains at most this share of them.
MOST_EXPLAINED = 0.2
#: Class sizes bound the risk of every masked release: a mean risk of at most this is counted whatever was masked.
SMALL_RISK = 0.05
REIDENTIFICATION = "reidentification"


def thresholds_of(
    threshold: float | None = None, profile_name: str = "", limits: Mapping[str, float] | None = None
) -> Thresholds:
    """Return what a decision holds releases to, from a threshold or a profile, and limits on single values.

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
    """Return whether a limit is one on an excess risk, or on the risk of one person."""
    return name.removesuffix(".normalized") in (*EFFECTS, WORST, MAX_RISK)


def decided(audit: Audit, thresholds: Thresholds) -> Audit:
    """Return the audit with its decision."""
    return replace(
        audit, thresholds=thresholds, decision=with_text(decide(evidence_of(audit, thresholds), thresholds), audit)
    )


def decision_of(audit: Audit, thresholds: Thresholds | None = None) -> AuditDecision:
    """Return the level and the decision of an audit, from its effect sizes and the people who are exposed."""
    return decided(audit, thresholds or Thresholds()).decision


def evidence_of(audit: Audit, thresholds: Thresholds) -> AuditEvidence:
    """Return everything that the decision on an audit rests on."""
    ran = {ATTACKS[each].effect for each in audit.attacks}
    releases = tuple(
        _evidence_of(audit, release, verdict, thresholds)
        for release, verdict in zip(audit.releases, audit.verdict.releases, strict=True)
    )
    # Only masked releases can be re-identified, and class sizes test it too.
    if all(_is_reidentification_tested(each) for each in releases if each.kind == "masked"):
        ran.add(REIDENTIFICATION)
    sensitive = tuple(each.name for each in audit.columns if each.role == "sensitive")
    control = audit.verdict.control
    return AuditEvidence(
        releases=releases,
        people=audit.people or audit.rows,
        control_people=control.others,
        control=control.outcome,
        sensitive=sensitive if sensitive or audit.sensitive_stated else None,
        quasi_identifiers_stated=bool(audit.quasi_identifiers),
        not_run=tuple(each for attacks in RISKS.values() for each in attacks if each not in ran),
        refuted_claim=audit.epsilon is not None and audit.epsilon.contradicted,
    )


def _evidence_of(
    audit: Audit, release: AuditedRelease, verdict: ReleaseVerdict, thresholds: Thresholds
) -> ReleaseEvidence:
    return ReleaseEvidence(
        name=release.name,
        kind=release.kind,
        type_source=release.type_source,
        effects=(*verdict.effects, *_reidentification(release, verdict, audit)),
        individuals=_individuals(release, verdict, audit),
        utility_loss=nan if release.utility is None else float(release.utility.loss),
        values=dict(_statuses(audit, release, thresholds)),
        is_example=audit.way is not None and release.name != audit.way.release,
        is_reference=release.name in audit.references,
    )


def _statuses(audit: Audit, release: AuditedRelease, thresholds: Thresholds) -> Iterator[tuple[str, Status]]:
    """Yield the status of each limit on a value of the release itself, such as its utility loss."""
    named = [name for name in thresholds.limits if not is_excess(name)]
    if not named:
        return
    own = release_quantities(alone(audit, release.name))
    for name in named:
        quantity, limit = own[name], thresholds.limits[name]
        value = quantity.value
        if isinstance(value, SuppressedNumber):
            beyond = value.is_beyond(limit, more_is_worse=quantity.more_is_worse)
            yield name, "inconclusive" if beyond is None else "fail" if beyond else "pass"
        elif isnan(value):
            yield name, "fail" if quantity.exceeded_when_undefined else "inconclusive"
        else:
            yield name, "fail" if (value > limit if quantity.more_is_worse else value < limit) else "pass"


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
        flagged=round(max((each.pointed_out for each in separations), default=0)),
        smallest_class=None if classes is None else classes.smallest,
        people_in_classes_below={} if classes is None else classes.people_below,
        truthful=bool(release.truthful),
        is_sample=audit.is_sample,
        groups=verdict.group_effects,
    )


def _reidentification(release: AuditedRelease, verdict: ReleaseVerdict, audit: Audit) -> Iterator[AttackEffect]:
    """Yield the effect that class sizes give where the true matches are not known.

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
