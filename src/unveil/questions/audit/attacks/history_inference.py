"""Inference of a child column: the most frequent value of a person."""

from typing import TYPE_CHECKING

import numpy as np

from unveil.questions.audit.attack_results import AttackResult, finding_of, grouped, not_run, tried
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.attacks.history_membership import (
    children_of,
    comparable_children,
    parent_columns,
    trials_of,
    views_of,
)
from unveil.questions.audit.findings import AttackScenario

if TYPE_CHECKING:
    from unveil.attacks.people.rows import PersonRows
    from unveil.attacks.people.views import PersonView

#: Without sensitive columns so many are tried at most in each child table; fewer where there are many pairs of people.
MOST_COLUMNS, MOST_PAIRS = 8, 10**9
#: Columns with more values are not inferred.
MOST_VALUES = 200
_KINDS = ("category", "ordered", "boolean")


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how often the most frequent value of each sensitive child column, or of each category, is inferred."""
    views = views_of(attacked)
    found: list[AttackResult] = []
    for child, rows in zip(comparable_children(attacked.prepared), children_of(attacked), strict=True):
        columns = child.release.original.columns
        possible = [name for name, codes in _codes(rows).items() if codes <= MOST_VALUES]
        sensitive = [column.name for column in columns if column.role == "sensitive"]
        found += [_refused(attacked, rows, name) for name in sensitive if name not in possible]
        if not sensitive:
            most = min(MOST_COLUMNS, max(1, MOST_PAIRS // max(1, rows.targets * rows.released)))
            kinds = {column.name for column in columns if column.kind in _KINDS}
            possible = [name for name in possible if name in kinds][:most]
        found += [_tried(attacked, views, rows, name) for name in possible if not sensitive or name in sensitive]
    return tuple(found) or (not_run(attacked.attack, "No child table has a category to infer."),)


def _codes(rows: "PersonRows") -> dict[str, int]:
    """Return the columns of values, and how many values each has."""
    both = zip(rows.columns, rows.all_codes, strict=True)
    return {column.name: int(codes.max(initial=-1)) + 1 for column, codes in both if column.numbers is None}


def _refused(attacked: AttackedRelease, rows: "PersonRows", column: str) -> AttackResult:
    why = f"Only child columns with at most {MOST_VALUES} values are inferred."
    return not_run(attacked.attack, why, secret=f"{rows.name}: {column}")


def _tried(attacked: AttackedRelease, views: "tuple[PersonView, ...]", rows: "PersonRows", column: str) -> AttackResult:
    from unveil.attacks.people.nearest import guess_values

    secret = f"{rows.name}: {column}"
    attacked.progress(f"inferring {secret}", 0.0)
    known = (*parent_columns(attacked.prepared), *(each.name for each in rows.columns if each.name != column))
    scenario = AttackScenario(
        name=f"{rows.name}, everything else",
        first=known,
        reason="knows the parent row and all other child columns",
        origin="all",
    )
    found = guess_values(views, rows, column)
    chances, baseline, has = (np.zeros(rows.targets) for _ in range(3))
    chances[found.targets], baseline[found.targets], has[found.targets] = found.chances, found.baseline, 1.0
    trials = trials_of(attacked, chances, baseline, "the most frequent value is inferred", some=has > 0)
    if trials is None:
        return not_run(attacked.attack, "No target has a value to infer.", scenario=scenario, secret=secret)
    groups = grouped(trials, attacked.drawn)
    finding = finding_of(attacked.attack, trials, scenario=scenario, secret=secret, groups=groups)
    return tried(attacked.drawn, finding, trials)


ATTACK = AuditAttack(
    name="history_inference",
    effect_name="inference",
    also_called=("inference of events",),
    run=run,
    title="Inference from histories",
    about=(
        "Inference from histories: the attacker predicts a person's most frequent value of a child column. The "
        "prediction is that of the nearest released person by the parent row and all other child columns."
    ),
    asks="secret",
    needs_children=True,
    takes_memory=True,
)
