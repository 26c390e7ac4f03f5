"""Row order: a released row may stand where the same person stands in the original, whatever was done to its cells."""

from functools import partial

import numpy as np

from unveil._kernels.verdict.permutations import agreeing_cells
from unveil.ask.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.ask.audit.findings import Finding
from unveil.ask.audit.trials import Evidence, Tried, figure_of, finding_of, not_run, remarked
from unveil.ask.audit.words import percent_of
from unveil.measure.verdict.family import OwnDraws


def run(attacked: AttackedRelease) -> tuple[Tried, ...]:
    """Return how often a released row stands where the same person stands in the original."""
    from unveil.attack.table.row_order import RowOrder
    from unveil.data.table.release import Knowledge

    release = attacked.prepared.release
    if release.released.rows != release.original.rows:
        why = "Row order was left out: release and original differ in their number of rows."
        return (not_run(attacked.attack, why),)
    attack = RowOrder(columns=attacked.prepared.known, targets=attacked.targets)
    trials = attack.run(released=release.released, knowledge=Knowledge(release.original), rng=attacked.rng)
    finding = finding_of(attacked.attack, trials, remark=remarked(trials.notes))
    tables, rows = attacked.drawn.tables, np.sort(attacked.drawn.people.inside)
    draws = OwnDraws(partial(agreeing_cells, tables.codes[rows], tables.released_codes[rows]))
    return (Tried(finding=finding, evidence=(Evidence(figure=figure_of(finding), statistic=draws),)),)


def _meaning(finding: Finding) -> str:
    share = percent_of(finding.risk.attack_rate, "released rows")
    return f"{share} stand where the same person stands in the original."


ATTACK = AuditAttack(
    name="row_order",
    run=run,
    title="Row order",
    question="Row order: does the order of the rows give people away?",
    lead=(
        "If a release keeps the order of the original, everybody who has another table in that order can name its "
        "rows, whatever was done to the cells."
    ),
    about=(
        "Row order: row i of the release compared with row i of the original. The verdict counts the cells in which "
        "both agree, and again with the rows in other orders."
    ),
    meaning=_meaning,
    succeeds=(
        "Row order: {a} of released rows stand where the same person stands in the original, and {c} would by luck"
    ),
    x_label="share of rows that stand where their person stands",
    caption="People outside the data have no place in the order, so only blind chance stands beside it.",
    controlled=False,
    per_person=False,
)
