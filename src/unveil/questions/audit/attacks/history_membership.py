"""Membership inference on people with several rows, by what the attacker compares."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil.guesses.trials import Attempts, Trials
from unveil.questions.audit.attack_results import AttackResult, not_run
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.attacks.membership import tried_score
from unveil.questions.audit.findings import AttackScenario

if TYPE_CHECKING:
    from unveil._kernels.types import BoolArray, FloatArray, IntArray
    from unveil.attacks.people.rows import PersonRows, TargetRows
    from unveil.attacks.people.views import PersonView
    from unveil.data.table.child_tables import ChildRelease
    from unveil.questions.audit.inputs import PreparedRelease

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
    from unveil.attacks.people.closeness import JOINED, closest_rows, nearest_people

    views = views_of(attacked)
    found = nearest_people(views) if views else {}
    half = half_by_lot(attacked)
    joined = {JOINED: found.pop(JOINED)} if JOINED in found else {}
    for child in comparable_children(attacked.prepared):
        found[f"{child.name}, closest row"] = closest_rows(child, targets_of(attacked), half)
    return found | joined


def _tried(attacked: AttackedRelease, view: str, score: "FloatArray") -> AttackResult:
    from unveil.metrics.trials.membership import area_under_curve, called_at

    table, _, kind = view.rpartition(", ")
    child = next((each for each in attacked.prepared.release.children if each.name == table), None)
    columns = parent_columns(attacked.prepared) if child is None else child.release.original.column_names
    scenario = AttackScenario(name=view, first=columns, reason=_REASONS[kind], origin="all")
    is_whole = kind == "all views"
    made = tried_score(attacked, scenario, score, beside=_SHARES, tests_ranks=True, tests_groups=is_whole)
    members, others = np.split(score, [attacked.drawn.people.inside.size])
    figures = {
        "auc": area_under_curve(members, others).value,
        "tpr_at_1_percent_fpr": called_at(members, others, _FPR).value,
    }
    return replace(made, finding=replace(made.finding, figures=figures))


def parent_columns(prepared: "PreparedRelease") -> tuple[str, ...]:
    """Return the columns of the parent row, without summaries of child tables."""
    children = prepared.release.children
    left_out = {name for child in children for name in child.summaries} | {*prepared.release.released.coarse()}
    # Summaries are called by their table.
    starts = tuple(f"{child.name}: " for child in children)
    columns = prepared.known + prepared.sensitive
    return tuple(name for name in columns if name not in left_out and not name.startswith(starts))


def comparable_children(prepared: "PreparedRelease") -> "tuple[ChildRelease, ...]":
    """Return the child tables with a column to compare, and with rows of the control group if there is one."""
    from unveil.attacks.people.rows import child_columns

    release = prepared.release
    return tuple(
        child
        for child in release.children
        if child_columns(child) and (release.control is None or child.control_person is not None)
    )


def targets_of(attacked: "AttackedRelease") -> "TargetRows":
    """Return the rows of the targets, with one row per person."""
    from unveil.attacks.people.rows import TargetRows

    people = attacked.drawn.people
    return TargetRows(people.inside, people.outside)


def parent_of(attacked: "AttackedRelease") -> "PersonRows | None":
    """Return the parent rows of targets and released people; None without a column to compare."""
    from unveil.attacks.people.rows import parent_rows

    columns = parent_columns(attacked.prepared)
    return parent_rows(attacked.prepared.release, targets_of(attacked), columns) if columns else None


def children_of(attacked: "AttackedRelease") -> "tuple[PersonRows, ...]":
    """Return the child rows of targets and released people, by child table."""
    from unveil.attacks.people.rows import child_rows

    release, targets = attacked.prepared.release, targets_of(attacked)
    children = comparable_children(attacked.prepared)
    return tuple(child_rows(child, targets, release.released.rows) for child in children)


def views_of(attacked: "AttackedRelease") -> "tuple[PersonView, ...]":
    """Return the views that compare whole people: the parent row, and each child table as a set and in order."""
    from unveil.attacks.people.views import order_view, parent_view, set_view

    order = attacked.prepared.release.released.content_order()
    parent = parent_of(attacked)
    views = [] if parent is None else [parent_view(parent, order)]
    for rows in children_of(attacked):
        views += [set_view(rows, order), order_view(rows, order)]
    return tuple(view for view in views if not view.is_empty)


def by_lot(attacked: "AttackedRelease", which: str = "") -> "IntArray":
    """Return the targets in a random order that does not depend on who is a member."""
    people = attacked.drawn.people
    content = np.argsort(people.everybody.record[people.rows("attacked")], kind="stable")
    return content[attacked.prepared.rng(f"{attacked.attack} order{which}").permutation(content.size)]


def everybody_of(attacked: "AttackedRelease") -> "tuple[PersonRows, ...]":
    """Return the child rows of all people of the data and the control group, and of released people."""
    from unveil.attacks.people.rows import TargetRows, child_rows

    release = attacked.prepared.release
    others = 0 if release.control is None else release.control.rows
    everybody = TargetRows(np.arange(release.original.rows), np.arange(others))
    children = comparable_children(attacked.prepared)
    return tuple(child_rows(child, everybody, release.released.rows) for child in children)


def half_by_lot(attacked: "AttackedRelease") -> "BoolArray":
    """Return a random half of the targets."""
    lot = by_lot(attacked)
    half = np.zeros(lot.size, np.bool_)
    half[lot[: lot.size // 2]] = True
    return half


def trials_of(
    attacked: "AttackedRelease",
    chances: "FloatArray",
    baseline: "FloatArray",
    what: str,
    *,
    some: "BoolArray | None" = None,
) -> Trials | None:
    """Return the attempts on some of the targets; None without a target in the data.

    ``chances`` and ``baseline`` are those of all targets.
    """
    first = attacked.drawn.people.inside.size
    tried = np.ones(chances.size, np.bool_) if some is None else some
    inside, outside = (np.flatnonzero(side) for side in np.split(tried, [first]))
    if not inside.size:
        return None
    own, others = np.split(chances, [first])
    return Trials(
        attack=Attempts.from_chances(own[inside], rows=inside),
        naive=Attempts.from_chances(baseline[:first][inside], rows=inside),
        control=Attempts.from_chances(others[outside], rows=outside) if outside.size else None,
        what=what,
    )


ATTACK = AuditAttack(
    name="history_membership",
    effect_name="membership",
    also_called=("user-level membership", "person-level membership"),
    run=run,
    title="Membership inference on histories",
    about=(
        "Membership inference on histories: each person is compared with all released people. The views are the parent "
        "row, the closest row, all rows as a set, their order, and all views together. The score is the log Bayes "
        "factor of the nearest released person, minus that of the nearest other target."
    ),
    asks="member",
    needs_control=True,
    needs_children=True,
    takes_memory=True,
)
