"""Nearest-neighbour distance ratio: does a released record stand by one person in the data and away from the next?"""

from unveil.questions.audit.attack_results import AttackResult
from unveil.questions.audit.attacks import _closeness
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.findings import AttackFinding


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how much nearer the nearest original record is than the second, beside control records."""
    from unveil.metrics.releases.closeness import nearest_distance_ratio

    return _closeness.measured(attacked, nearest_distance_ratio)


def _sentence(finding: AttackFinding) -> str:
    return _closeness.sentence(
        finding,
        middle="have a distance ratio of at most {median}",
        edge="5% of at most {low}",
        scale="0 stands by one person alone, 1 is as near to a second",
    )


ATTACK = AuditAttack(
    name="neighbour_ratio",
    also_called=("nndr", "neighbor ratio", "nearest neighbor distance ratio", "nearest neighbour distance ratio"),
    run=run,
    title="Nearest-neighbour distance ratio",
    question="Distance ratios: does the release single out people in the data?",
    lead=(
        "If one released record is much nearer to a person than the next, it may have been made from that person. It "
        "is shown and never accuses: harmless releases are often near."
    ),
    without_rate=_sentence,
    x_label="ratio: 0 stands by one person, 1 by two alike",
    chart=_closeness.chart,
    distances=_closeness.DISTANCES,
)
