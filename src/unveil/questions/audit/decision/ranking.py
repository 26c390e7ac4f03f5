"""Which findings of an audit are the clearest: proved first, then how sure, then how much."""

from math import inf, isnan

from unveil.questions.audit.findings import AttackFinding, AuditedRelease

#: Below this adjusted p it is how much that counts, and no longer how sure.
BEYOND_DOUBT = 0.005


def is_significant(finding: AttackFinding) -> bool:
    """Return whether chance does not explain what the attack reaches."""
    return finding.proved


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
