"""Which findings of an audit are the clearest: proved first, then how sure, then how much."""

from math import inf, isnan

from unveil.metrics.trials.risk import ExcessStatus, measured
from unveil.questions.audit.findings import AttackFinding, Audit, AuditedRelease

#: Below this adjusted p it is how much that counts, and no longer how sure.
BEYOND_DOUBT = 0.005


def is_significant(finding: AttackFinding) -> bool:
    """Return whether chance does not explain what the attack reaches."""
    return finding.proved


def too_blunt(finding: AttackFinding) -> bool:
    """Return whether two rates say more than their excess, which is then in no headline."""
    return measured(finding.risk.excess_over_control, finding.risk.control_rate) is ExcessStatus.TOO_BLUNT


def clarity(p_adjusted: float) -> float:
    """Return how clear a figure is by its adjusted p, the lower the clearer; all that are beyond doubt alike.

    Among those it counts how much is given away, not how small a share of draws can be.

    >>> clarity(0.0001) == clarity(0.004), clarity(0.02)
    (True, 0.02)
    """
    return max(p_adjusted, BEYOND_DOUBT)


def severity(finding: AttackFinding) -> tuple[bool, float, bool, float, float]:
    """Return what findings of one attack are ranked by: proved first, then the least adjusted p, then the excess.

    Without any p, what can be compared comes first, and then how sure it is: a single try that succeeded is 100%, but
    says less than 490 of 500, so that the lower end of the interval counts and not the rate.
    """
    worse, has_p = finding.worse, not isnan(finding.p_adjusted)
    clear = -clarity(finding.p_adjusted) if has_p else -inf
    return (
        is_significant(finding),
        clear,
        finding.risk.excess_over_control.defined,
        0.0 if has_p else worse.low,
        worse.value,
    )


def worst_of(release: AuditedRelease, attack: str) -> AttackFinding | None:
    """Return the finding of an attack with the highest figure, means left out, or None where it was not measured."""
    found = [finding for finding in release.of(attack) if finding.worse.defined and not finding.is_mean]
    return max(found, key=severity, default=None)


def clearest_over(audit: Audit, attack: str, *, at_most: int = 9) -> list[tuple[AuditedRelease, AttackFinding]]:
    """Return the clearest findings of an attack, as many of each release, in the order in which they were made.

    The mean over many adversaries is always among them. At least three of each release are, and all of a few.
    """
    each_of = max(3, at_most // max(len(audit.releases), 1))
    chosen = []
    for release in audit.releases:
        own = release.of(attack)
        clear = sorted((each for each in own if not each.is_mean), key=severity, reverse=True)[:each_of]
        chosen += [(release, each) for each in own if each.is_mean or any(each is kept for kept in clear)]
    return chosen


def worst_over(audit: Audit, attack: str) -> tuple[AuditedRelease, AttackFinding] | None:
    """Return the worst finding of an attack over all releases, with its release, or None where none was measured."""
    found = [(release, finding) for release in audit.releases if (finding := worst_of(release, attack)) is not None]
    return max(found, key=lambda each: severity(each[1]), default=None)


def remarks_on(audit: Audit, attack: str) -> list[str]:
    """Return what limits what an attack says, or why it could not be run, each remark once."""
    return list(dict.fromkeys(each.remark for release in audit.releases for each in release.of(attack) if each.remark))
