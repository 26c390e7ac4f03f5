"""Re-identification: link each released record to its nearest original one."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.verdict.permutations import true_links
from unveil.guesses.trials import Attempts, Trials
from unveil.metrics.verdict.effects import RatePair
from unveil.metrics.verdict.family import OwnDraws
from unveil.questions.audit.attack_results import (
    NOTHING,
    AttackResult,
    FigureEvidence,
    figure_of,
    finding_of,
    grouped,
    not_run,
)
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.findings import AttackFinding
from unveil.questions.audit.people import TargetSample

if TYPE_CHECKING:
    from unveil._kernels.types import FloatArray, IntArray
    from unveil.data.table import Table
    from unveil.data.table.release import Release
    from unveil.guesses.candidates import Candidates
    from unveil.metrics.trials.groups import RatesByGroup

#: The candidate metrics that an audit carries along; all others are one call of `unveil.attack_metrics` away.
_SHOWN = ("anonymity_set_size", "entropy", "incorrectness", "adversary_success_rate", "adversary_overall_success")


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how often the nearest original record is the true one."""
    from unveil.attacks.table.record_linkage import RecordLinkage
    from unveil.data.table.release import Knowledge

    prepared, release = attacked.prepared, attacked.prepared.release
    if release.kind != "masked":
        why = "the records of a synthetic release belong to no person"
        if release.kind is None:
            why = "the release type is not stated as masked"
        left_out = f"Not run: {why}."
        return (not_run(attacked.attack, left_out),)
    attack = RecordLinkage(columns=prepared.known, targets=attacked.targets)
    guess = attack.run(released=release.released, knowledge=Knowledge(release.original), rng=attacked.rng)
    rows = np.arange(guess.target_count) if guess.targets is None else np.asarray(guess.targets, np.int64)
    truth = None if prepared.truth is None else prepared.truth[rows]
    figures = _metrics(guess, truth)
    figures["sure"] = float(np.mean(np.diff(guess.start) == 1))
    if truth is None:
        remark = (
            "The true matches are unknown, so attack success is not measured. Add the same identifier column to both "
            "tables."
        )
        targets = guess.target_count
        found = AttackFinding(attack=attacked.attack, targets=targets, risk=NOTHING, figures=figures, remark=remark)
        return (AttackResult(finding=found),)
    people = attacked.drawn.people
    # Where people have several rows, any of them names the right person.
    whose = people.everybody.person[: release.original.rows] if people.has_several_rows else _places(release.original)
    attempts = Attempts.from_chances(_chances(guess, truth, whose))
    own = np.where(truth >= 0, np.bincount(whose)[whose[truth]], 1)
    naive = Attempts.from_chances(own / release.original.rows)
    trials = Trials(attack=attempts, naive=naive, control=None, what="the nearest record is the true one")
    groups = _groups(attacked.drawn, attempts, truth)
    finding = finding_of(attacked.attack, trials, figures=figures, groups=groups)
    draws = OwnDraws(partial(true_links, *_by_content(guess, truth, release, rows, whose)))
    return (
        AttackResult(
            finding=finding,
            evidence=(FigureEvidence(figure=figure_of(finding), statistic=draws),),
            effect=RatePair.of(attempts, naive.expected / naive.tries),
        ),
    )


def _by_content(
    guess: "Candidates", truth: "IntArray", release: "Release", rows: "IntArray", whose: "IntArray"
) -> "tuple[IntArray, IntArray, FloatArray, IntArray]":
    """Return links and truth in an order that depends on content alone."""
    record = _places(release.released)
    # A row that is nobody's has the last place, which no candidate has.
    own = np.append(whose, -1)[truth]
    order = np.lexsort((own, record[rows]))
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    target = np.repeat(np.arange(guess.target_count), np.diff(guess.start))
    return place[target], whose[np.asarray(guess.candidate, np.int64)], np.asarray(guess.probability), own[order]


def _places(table: "Table") -> "IntArray":
    """Return the rank of each row in content order."""
    order = table.content_order()
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    return place


def _groups(drawn: TargetSample, attempts: Attempts, truth: "IntArray") -> "RatesByGroup | None":
    """Return the re-identification rates of subgroups."""
    someone = truth >= 0
    if attempts.chances is None or not someone.any():
        return None
    tried = Attempts.from_chances(attempts.chances[someone], rows=truth[someone])
    return grouped(Trials(attack=tried, naive=tried, control=None, what="linked"), drawn, "everybody")


def _chances(guess: "Candidates", truth: "IntArray", whose: "IntArray") -> "FloatArray":
    """Return the mean chance that a random candidate is the true person."""
    target = np.repeat(np.arange(guess.target_count), np.diff(guess.start))
    hit = whose[guess.candidate] == np.append(whose, -1)[truth[target]]
    chances = np.bincount(target[hit], weights=guess.probability[hit], minlength=guess.target_count)
    return np.minimum(chances, 1.0)


def _metrics(guess: "Candidates", truth: "IntArray | None") -> dict[str, float]:
    from unveil.metrics.candidates.candidate_metrics import all_metrics

    measured = {each.metric.name: each.mean for each in all_metrics(guess, truth)}
    return {name: measured[name] for name in _SHOWN if name in measured}


ATTACK = AuditAttack(
    name="record_linkage",
    effect_name="reidentification",
    also_called=("reidentification", "identity disclosure", "distance-based record linkage", "dbrl"),
    run=run,
    title="Re-identification",
    about=(
        "Re-identification (record linkage): the original record nearest to each released one, ties broken at random."
    ),
    asks="who",
    controlled=False,
    needs_masked=True,
)
