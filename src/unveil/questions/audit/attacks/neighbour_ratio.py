"""Nearest-neighbor distance ratio (NNDR), compared with the control group."""

from unveil.questions.audit.attack_results import AttackResult
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.attacks.closest_record import DISTANCES, measured


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return the NNDR of released records and of control records."""
    from unveil.metrics.releases.closeness import nearest_distance_ratio

    return measured(attacked, nearest_distance_ratio)


ATTACK = AuditAttack(
    name="neighbour_ratio",
    also_called=("nndr", "neighbor ratio", "nearest neighbor distance ratio", "nearest neighbour distance ratio"),
    run=run,
    title="Nearest-neighbor distance ratio (NNDR)",
    distances=DISTANCES,
)
