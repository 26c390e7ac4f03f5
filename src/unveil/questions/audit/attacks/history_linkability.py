"""Linkability of people with several rows: between tables, and between early and late rows."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from unveil.questions.audit.attack_results import AttackResult, finding_of, grouped, not_run, tried
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.attacks.history_membership import by_lot, children_of, parent_columns, parent_of, trials_of
from unveil.questions.audit.findings import AttackScenario

if TYPE_CHECKING:
    from unveil._kernels.types import BoolArray, FloatArray
    from unveil.attacks.people.rows import PersonRows
    from unveil.attacks.people.views import PersonView


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how often two sources, or a parent row and its history, are linked."""
    from unveil.attacks.people.views import parent_view

    order = attacked.prepared.release.released.content_order()
    rows = parent_of(attacked)
    parent = None if rows is None else parent_view(rows, order)
    found = [
        result
        for child in children_of(attacked)
        for result in (
            *_links_of(attacked, parent, child),
            *_halves(attacked, child),
        )
    ]
    return tuple(found) or (not_run(attacked.attack, "There is nothing to link."),)


def _links_of(attacked: AttackedRelease, parent: "PersonView | None", child: "PersonRows") -> Iterator[AttackResult]:
    """Yield the links between the parent row and the child rows of each target."""
    from unveil.attacks.people.nearest import HISTORIES, own_history, same_person

    history = _views(attacked, child)
    if parent is None or parent.is_empty or not history:
        return
    first, second = parent_columns(attacked.prepared), tuple(column.name for column in child.columns)
    released = attacked.prepared.release.released.rows
    yield from _tried(
        attacked,
        AttackScenario(
            name=f"people | {child.name}",
            first=first,
            second=second,
            reason="knows the parent row from one source and the rows from another",
            origin="all",
        ),
        same_person([parent], history),
        1 / released,
        child.sizes[: child.targets] > 0,
    )
    number = min(HISTORIES, child.targets)
    yield from _tried(
        attacked,
        AttackScenario(
            name=f"people | {child.name}, own history",
            first=first,
            second=second,
            reason=f"knows the parent row and looks for its history among {number}",
            origin="all",
        ),
        own_history([parent], history, by_lot(attacked, child.name)),
        1 / number,
        child.sizes[: child.targets] > 0,
    )


def _halves(attacked: AttackedRelease, child: "PersonRows") -> Iterator[AttackResult]:
    """Yield the link between the early and the late rows of each target."""
    from unveil.attacks.people.nearest import early_and_late, has_halves, same_person

    if child.days is None:
        return
    early, late = (_views(attacked, half) for half in early_and_late(child))
    if not early or not late:
        return
    columns = tuple(column.name for column in child.columns)
    scenario = AttackScenario(
        name=f"{child.name}, early and late rows",
        first=columns,
        second=columns,
        reason="knows the first half of the rows from one source and the second half from another",
        origin="all",
    )
    chances = same_person(early, late)
    yield from _tried(attacked, scenario, chances, 1 / attacked.prepared.release.released.rows, has_halves(child))


def _views(attacked: AttackedRelease, rows: "PersonRows") -> "list[PersonView]":
    from unveil.attacks.people.views import order_view, set_view

    order = attacked.prepared.release.released.content_order()
    return [view for view in (set_view(rows, order), order_view(rows, order)) if not view.is_empty]


def _tried(
    attacked: AttackedRelease, scenario: AttackScenario, chances: "FloatArray", baseline: float, some: "BoolArray"
) -> Iterator[AttackResult]:
    """Yield the finding on the targets that can be linked; nothing without any."""
    trials = trials_of(attacked, chances, np.full(chances.size, baseline), "the sources are linked", some=some)
    if trials is not None:
        groups = grouped(trials, attacked.drawn)
        yield tried(attacked.drawn, finding_of(attacked.attack, trials, scenario=scenario, groups=groups), trials)


ATTACK = AuditAttack(
    name="history_linkability",
    effect_name="linkability",
    also_called=("linkage of tables", "link leakage"),
    run=run,
    title="Linkability of histories",
    about=(
        "Linkability of histories: two sources are linked if they point to the same released person. The sources are "
        "the parent row and the rows of a child table, or the first and the second half of these rows. The attacker "
        "also looks for the own history of a parent row among those of 19 other people, drawn at random from the "
        "people in the data and the control group."
    ),
    asks="together",
    needs_children=True,
    takes_memory=True,
)
