"""Membership inference on people with several rows, by what the attacker compares."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil.questions.audit.attack_results import AttackResult, not_run
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.attacks.membership import tried_score
from unveil.questions.audit.findings import AttackScenario
from unveil.questions.audit.histories import half_by_lot, parent_columns, targets_of, views_of

if TYPE_CHECKING:
    from unveil._kernels.types import FloatArray

#: The shares of people who are flagged, next to that of the report.
_SHARES = (0.01,)
#: The lowest false-positive rate at which the TPR is stated.
_FPR = 0.01
_REASONS = {
    "parent row": "compares the parent row",
    "closest row": "compares single rows with all released rows",
    "set of rows": "compares all rows of a person, in any order",
    "order of rows": "compares the number of rows, the gaps, and the order",
    "all views": "compares the parent row and all child tables together",
}


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return the TPR and FPR of each view of a person."""
    if attacked.prepared.release.control is None:
        return (not_run(attacked.attack, "Not run: it needs a control group."),)
    return tuple(_tried(attacked, view, score) for view, score in _scores(attacked).items())


def _scores(attacked: AttackedRelease) -> "dict[str, FloatArray]":
    """Return the score of each target by view, in the order of the report."""
    from unveil.attacks.people.closeness import JOINED, nearest_people
    from unveil.attacks.people.closest_row import closest_rows

    views = views_of(attacked)
    found = nearest_people(views) if views else {}
    half = half_by_lot(attacked)
    joined = {JOINED: found.pop(JOINED)} if JOINED in found else {}
    for child in attacked.prepared.release.children:
        found[f"{child.name}: closest row"] = closest_rows(child, targets_of(attacked), half)
    return found | joined


def _tried(attacked: AttackedRelease, view: str, score: "FloatArray") -> AttackResult:
    from unveil.metrics.trials.membership import area_under_curve, called_at

    table, _, kind = view.rpartition(": ")
    child = next((each for each in attacked.prepared.release.children if each.name == table), None)
    columns = parent_columns(attacked.prepared) if child is None else child.release.original.column_names
    scenario = AttackScenario(name=view, first=columns, reason=_REASONS[kind], origin="all")
    made = tried_score(attacked, scenario, score, beside=_SHARES, tests_ranks=True)
    members, others = np.split(score, [attacked.drawn.people.inside.size])
    figures = {
        "auc": area_under_curve(members, others).value,
        "tpr_at_1_percent_fpr": called_at(members, others, _FPR).value,
    }
    return replace(made, finding=replace(made.finding, figures=figures))


ATTACK = AuditAttack(
    name="history_membership",
    effect_name="membership",
    also_called=("user-level membership", "person-level membership"),
    run=run,
    title="Membership inference on histories",
    about=(
        "Membership inference on histories: each person is compared with all released people by the parent row, the "
        "closest row, all rows as a set, their order, and all of these together. The score is the log Bayes factor "
        "of the nearest released person, minus that of the nearest other target."
    ),
    asks="member",
    needs_control=True,
    needs_children=True,
    takes_memory=True,
)
