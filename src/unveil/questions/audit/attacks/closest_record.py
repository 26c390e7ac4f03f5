"""Distance to the closest record (DCR), compared with the control group."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from unveil.questions.audit.attack_results import NOTHING, AttackResult
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.findings import AttackFinding

if TYPE_CHECKING:
    from unveil.metrics.releases.closeness import Closeness


#: The figures that a limit can be set for.
DISTANCES: Mapping[str, str] = MappingProxyType(
    {"median": "median over released rows", "low": "5% quantile over released rows"}
)


def measured(attacked: AttackedRelease, measure: "Callable[..., Closeness]") -> tuple[AttackResult, ...]:
    """Return distance quantiles of released records and of control records."""
    found = measure(attacked.prepared.release, targets=attacked.targets, rng=attacked.rng)
    figures = {"median": found.released.median, "low": found.released.low}
    if found.control is not None:
        figures |= {"control_median": found.control.median, "control_low": found.control.low}
    if found.released.undefined:
        figures["undefined"] = float(found.released.undefined)
    blunt = "More than a fifth of the released cells are generalized, so these distances are imprecise."
    remark = blunt if found.blunt else ""
    finding = AttackFinding(
        attack=attacked.attack,
        targets=found.released.rows,
        risk=NOTHING,
        figures=figures,
        remark=remark,
        distances=found.histogram,
    )
    return (AttackResult(finding=finding),)


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return the DCR of released records and of control records."""
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
