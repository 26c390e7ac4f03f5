"""Nearest-neighbour distance ratio: does a released record stand by one person in the data and away from the next?"""

from unveil.questions.audit.attack_results import AttackResult
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.attacks.closest_record import DISTANCES, measured


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how much nearer the nearest original record is than the second, beside control records."""
    from unveil.metrics.releases.closeness import nearest_distance_ratio

    return measured(attacked, nearest_distance_ratio)


ATTACK = AuditAttack(
    name="neighbour_ratio",
    also_called=("nndr", "neighbor ratio", "nearest neighbor distance ratio", "nearest neighbour distance ratio"),
    run=run,
    title="Nearest-neighbor distance ratio (NNDR)",
    distances=DISTANCES,
)
