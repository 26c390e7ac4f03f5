"""Distance to the closest record: does the release keep nearer to people in the data than others of their kind do?"""

from unveil.questions.audit.attack_results import AttackResult
from unveil.questions.audit.attacks import _closeness
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.findings import AttackFinding


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how far released records are from the nearest original one, beside control records."""
    from unveil.metrics.releases.closeness import distance_to_closest

    return _closeness.measured(attacked, distance_to_closest)


def _sentence(finding: AttackFinding) -> str:
    return _closeness.sentence(
        finding,
        middle="lie within {median} of somebody in the data",
        edge="5% within {low}",
        scale="0 is a copy, 1 differs fully in every column",
    )


ATTACK = AuditAttack(
    name="closest_record",
    also_called=("dcr", "distance to closest record"),
    run=run,
    title="Distance to closest record",
    question="Closest records: does the release keep too close to people in the data?",
    lead=(
        "Records that keep closer to people in the data than to others of the same kind have learned these people by "
        "heart. It is shown and never accuses: harmless releases are often near."
    ),
    about="Distances add up over columns: numbers by their share of the range, categories by 0 or 1.",
    without_rate=_sentence,
    x_label="distance: 0 is a copy, 1 differs in every column",
    chart=_closeness.chart,
    distances=_closeness.DISTANCES,
)
