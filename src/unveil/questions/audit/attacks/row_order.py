"""Row order: released rows may keep their people's original positions."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.verdict.permutations import agreeing_cells
from unveil.metrics.verdict.effects import RatePair
from unveil.metrics.verdict.family import OwnDraws
from unveil.questions.audit.attack_results import AttackResult, FigureEvidence, figure_of, finding_of, not_run, remarked
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.people import per_person

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unveil._kernels.types import BoolArray, Int32Array, IntArray
    from unveil.data.table.release import Release


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how often a released row keeps its person's original position."""
    from unveil.attacks.table.row_order import RowOrder
    from unveil.data.table.release import Knowledge
    from unveil.metrics.releases._common_columns import compared_columns

    release, people = attacked.prepared.release, attacked.drawn.people
    if release.released.rows != release.original.rows:
        why = "Row order was left out: release and original differ in their number of rows."
        return (not_run(attacked.attack, why),)
    attack = RowOrder(columns=attacked.prepared.known, targets=attacked.targets)
    trials = attack.run(released=release.released, knowledge=Knowledge(release.original), rng=attacked.rng)
    own = per_person(trials, people, "everybody")
    finding = finding_of(attacked.attack, own, remark=remarked(trials.notes))
    rows = np.sort(people.inside)
    person = people.everybody.person[rows] if people.has_several_rows else None
    compared = _compared(release, compared_columns(release, None), rows)
    draws = OwnDraws(partial(agreeing_cells, *compared, person=person))
    return (
        AttackResult(
            finding=finding,
            evidence=(FigureEvidence(figure=figure_of(finding), statistic=draws, one_row_each=True),),
            effect=RatePair.of(own.attack, own.naive.expected / own.naive.tries),
        ),
    )


def _compared(
    release: "Release", names: "Sequence[str]", rows: "IntArray"
) -> "tuple[Int32Array, Int32Array, dict[int, BoolArray]]":
    """Return rows as codes, and compatible original rows of generalized cells."""
    from unveil.data.table import stacked
    from unveil.metrics.releases._classes import column_codes

    original, released = release.original.take(rows), release.released.take(rows)
    coarse = set(released.coarse(names))
    before, after = (np.zeros((rows.size, len(names)), np.int32) for _ in range(2))
    fits = {}
    for place, name in enumerate(names):
        if name in coarse and released.cells is not None:
            cells = released.cells[name]
            after[:, place] = cells.of_row
            fits[place] = cells.compatible(cells.places(original.held(name)))
        else:
            codes = column_codes(stacked([original, released], [name]), [name])[:, 0]
            before[:, place], after[:, place] = np.split(codes, 2)
    return before, after, fits


ATTACK = AuditAttack(
    name="row_order",
    also_called=("order", "shuffling"),
    run=run,
    title="Row order",
    about=(
        "Row order: rows whose nearest original row has the same position, with permutations within five "
        "neighboring people."
    ),
    asks="who",
    controlled=False,
    per_person=False,
)
