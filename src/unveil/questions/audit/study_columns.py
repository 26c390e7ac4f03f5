"""What an audit shows of each question beyond what anybody could reach without the data, with or without a control.

With a control that is what being in the data adds. Without one, only what no stranger explains counts: unmistakable
copies, secrets guessed better than by whoever was taught by other people of the data, descriptions that single out
more often than any made without the data, and links beyond chance. The other questions have no figure then.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan, nan

from unveil.metrics.trials.risk import CONFIDENCE, ExcessStatus, Rate, clopper_pearson, excess, measured
from unveil.questions.audit.attacks import ASKED, ATTACKS
from unveil.questions.audit.attacks.attack import AttackerGoal
from unveil.questions.audit.attacks.memorization import GUESSES, OTHERS, REMEMBERS
from unveil.questions.audit.findings import UNDEFINED, AttackFinding, Audit, AuditedRelease
from unveil.questions.audit.quantities import bounds_at, rate_at


@dataclass(frozen=True, kw_only=True)
class ExcessFigure:
    """One excess over the control group: the question it answers, and the two rates."""

    asked: AttackerGoal
    finding: AttackFinding
    #: What strangers reach; None where the finding has a control.
    strangers: Rate | None

    def rate(self, confidence: float) -> Rate:
        """Return the excess with its interval at a confidence."""
        if self.strangers is None:
            return rate_at(self.finding, "excess_over_control", confidence)
        (least, most), (fewest, all_of_them) = (
            bounds_at(each, confidence) for each in (self.finding.risk.attack_rate, self.strangers)
        )
        return Rate(excess(most, self.strangers).value, excess(least, all_of_them).low, excess(most, fewest).high)


def risks_of(audit: Audit, release: AuditedRelease) -> dict[AttackerGoal, Rate]:
    """Return the clearest excess of each question; undefined where nothing can be said.

    The clearest is the one with the highest lower end. Intervals are at a confidence of 1 - 0.05 / F for all F figures
    of the release together, so that choosing among them accuses nobody by luck. Figures that are too blunt to measure
    an excess do not count.
    """
    every = [*_beyond(audit, release)]
    confidence = 1 - (1 - CONFIDENCE) / max(len(every) + 1, 1)
    found: dict[AttackerGoal, Rate] = dict.fromkeys(ASKED, UNDEFINED)
    for each in every:
        rate = each.rate(confidence)
        if measured(rate, each.strangers or each.finding.risk.control_rate) is ExcessStatus.YES:
            found[each.asked] = _clearer(found[each.asked], rate)
    copies = next((each.copies for each in audit.verdict.releases if each.name == release.name), None)
    if copies is not None and not _compares(audit):
        found["copied"] = clopper_pearson(copies.unmistakable, copies.people, confidence=confidence)
    return found


def worst_risk(risks: Mapping[AttackerGoal, Rate]) -> Rate:
    """Return the clearest of several questions."""
    worst = UNDEFINED
    for rate in risks.values():
        worst = _clearer(worst, rate)
    return worst


def _clearer(one: Rate, other: Rate) -> Rate:
    if not one.defined or not other.defined:
        return other if other.defined else one
    return max(one, other, key=lambda each: (each.low, each.value))


def _compares(audit: Audit) -> bool:
    return audit.verdict.control.outcome in ("usable", "overlap")


def _beyond(audit: Audit, release: AuditedRelease) -> Iterator[ExcessFigure]:
    compares = _compares(audit)
    for finding in release.findings:
        attack = ATTACKS[finding.attack]
        if attack.asks is None or finding.is_mean or not finding.risk.attack_rate.defined:
            continue
        if compares and attack.controlled:
            if finding.risk.excess_over_control.defined:
                yield ExcessFigure(asked=attack.asks, finding=finding, strangers=None)
        else:
            strangers = _strangers(release, finding)
            if strangers.defined:
                yield ExcessFigure(asked=attack.asks, finding=finding, strangers=strangers)


def _strangers(release: AuditedRelease, finding: AttackFinding) -> Rate:
    """Return the most that anybody reaches without the data, where that is known without a control."""
    most = finding.figures.get("most_by_guessing", nan)
    if not isnan(most):
        return Rate(most, most, most)
    if not ATTACKS[finding.attack].controlled:
        return finding.risk.naive_rate
    if _role(finding) in (REMEMBERS, GUESSES):
        taught = (each for each in release.of(finding.attack) if _role(each) == OTHERS)
        return next((each.risk.attack_rate for each in taught if each.secret == finding.secret), UNDEFINED)
    return UNDEFINED


def _role(finding: AttackFinding) -> str:
    return "" if finding.scenario is None else finding.scenario.name.partition(":")[0]
