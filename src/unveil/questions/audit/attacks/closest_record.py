"""Distance to the closest record: does the release keep nearer to people in the data than others of their kind do?"""

from unveil.questions.audit.attack_results import AttackResult
from unveil.questions.audit.attacks._closeness import DISTANCES, measured
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how far released records are from the nearest original one, beside control records."""
    from unveil.metrics.releases.closeness import distance_to_closest

    return measured(attacked, distance_to_closest)


ATTACK = AuditAttack(
    name="closest_record",
    also_called=("dcr", "distance to closest record"),
    run=run,
    title="Distance to closest record (DCR)",
    about=("Distances sum over columns: numbers by their share of the range, categories 0 or 1."),
    distances=DISTANCES,
)
