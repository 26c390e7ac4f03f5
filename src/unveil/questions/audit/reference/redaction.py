"""Redaction of the findings with siblings and with a population file."""

from dataclasses import replace
from math import isnan, nan

from unveil.metrics.releases.population_risk import RegisterRisk
from unveil.metrics.verdict.effects import EffectSize
from unveil.questions.audit.generator.findings import RunSiblings
from unveil.questions.audit.redaction_rates import SmallNumbers
from unveil.questions.audit.reference.findings import PopulationFinding, SiblingFinding
from unveil.report.suppressed_number import SuppressedNumber


def shared_siblings(small: SmallNumbers, finding: SiblingFinding) -> SiblingFinding:
    """Return the comparison with siblings without numbers that rest on few people."""
    rate = small.rate(finding.attack_rate, small.attacked)
    made = replace(
        finding,
        attack_rate=rate,
        sibling_rates=(),
        people_z=(),
        auc=_round(finding.auc),
        auc_calibrated=_round(finding.auc_calibrated),
    )
    is_few = not rate.defined or isinstance(rate.value, SuppressedNumber)
    if small.is_small(finding.left_out) or small.is_small(finding.people - finding.left_out) or is_few:
        # What is left of all people would tell how many were left out.
        gone = SuppressedNumber.withheld()
        excess = finding.excess_risk
        if excess.is_tested:
            excess = EffectSize(gone, gone, gone, gone, gone, excess.why_not_tested)
        made = replace(
            made,
            attack_rate=replace(rate, tries=finding.people),
            baseline_rate=replace(finding.baseline_rate, value=gone, low=gone, high=gone),
            excess_risk=excess,
            normalized_excess=gone,
            p=nan,
            statistics=(),
        )
    return made


def shared_runs(siblings: RunSiblings) -> RunSiblings:
    """Return runs as sibling releases with rounded AUCs."""
    return replace(siblings, auc=_round(siblings.auc), auc_calibrated=_round(siblings.auc_calibrated), people_z=())


def _round(area: float) -> float:
    return area if isnan(area) else round(area, 2)


def shared_population(small: SmallNumbers, finding: PopulationFinding) -> PopulationFinding:
    """Return the risk against a population file without small classes and small numbers of unique records."""
    return replace(finding, risk=_risk(small, finding.risk))


def _risk(small: SmallNumbers, risk: RegisterRisk) -> RegisterRisk:
    gone, records = SuppressedNumber.withheld(), risk.records
    bound = SuppressedNumber(1 / (small.minimum - 1), 1.0, words=f"at least {1 / (small.minimum - 1):.3g}")

    def largest(value: float) -> float:
        return bound if value * (small.minimum - 1) >= 1 else value

    def ratio(value: float, *counts: float) -> float:
        is_few = any(not isnan(each) and small.is_small(each) for each in counts)
        return gone if is_few and not isnan(value) else value

    uniques, alone = risk.sample_uniques, risk.population_uniques
    is_small_class = risk.prosecutor_max * (small.minimum - 1) >= 1
    return replace(
        risk,
        prosecutor_max=largest(risk.prosecutor_max),
        prosecutor_above=small.share(risk.prosecutor_above, records),
        journalist_max=largest(risk.journalist_max) if not isnan(risk.journalist_max) else nan,
        journalist_above=small.share(risk.journalist_above, records),
        sample_uniques=uniques,
        population_uniqueness=ratio(risk.population_uniqueness, uniques, alone, uniques - alone),
        unique_match_correct=ratio(risk.unique_match_correct, uniques),
        # The presence in the class with the largest one is a share of that class.
        delta_max=gone if is_small_class and not isnan(risk.delta_max) else risk.delta_max,
        delta_min=gone if is_small_class and risk.delta_min > 0 else risk.delta_min,
        delta_above=small.share(risk.delta_above, risk.people),
    )
