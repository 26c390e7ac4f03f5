"""Memorization: are sensitive values inferred better for people in the data?"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.threads import in_threads
from unveil.errors import InputError
from unveil.guesses.trials import Attempts, Trials
from unveil.metrics.trials.risk import risk_of_people
from unveil.metrics.verdict.effects import cross_fitted
from unveil.questions.audit.attack_results import (
    AttackResult,
    FigureEvidence,
    figure_of,
    finding_of,
    not_run,
    pair_of,
    remarked,
    withheld,
)
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.findings import AttackScenario
from unveil.questions.audit.people import per_person
from unveil.questions.audit.scenarios import FEWEST_TRIES
from unveil.questions.audit.words import listed

if TYPE_CHECKING:
    from unveil._kernels.types import FloatArray, IntArray
    from unveil.attacks.table._guessing_case import LearnMeasureRows
    from unveil.attacks.table._guessing_search import ChosenGuesser, SearchedGuesses
    from unveil.data.table.release import Knowledge

#: Where no column is said to be sensitive, so many are tried at most: each takes a search and two learners.
MOST_SECRETS = 6
#: In wide tables fewer, so that learners see at most so many columns in all.
MOST_FEATURES = 600
#: A learner sees at most so many rows here, so that a large release does not take minutes.
MOST_ROWS = 5_000
#: From so far above blind chance on, one column that tells a secret of everybody is worth a sentence.
FAR_ABOVE = 0.1

REMEMBERS, GUESSES, ALONE, OTHERS = "most memorization", "best inference", "one column", "trained on other people"
_BY = {
    "nearest": "the nearest record",
    "agreement": "the record with the rarest values in common",
    "counts": "counts",
    "forest": "a forest",
    "boosting": "boosting",
}


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return memorization of each sensitive column, and of all together."""
    from unveil.attacks.table._guessers import ADVERSARIES, LEARNERS
    from unveil.attacks.table.searched_inference import SearchedInference

    prepared, attack = attacked.prepared, attacked.attack
    found: list[AttackResult] = [
        not_run(attack, f"The release has no column {secret!r}, so there is nothing to infer.", secret=secret)
        for secret in prepared.withheld
    ]
    secrets = _secrets(attacked)
    if not secrets and not found:
        why = "Not run: inference needs two columns that an attacker may know; there is only one."
        return (not_run(attack, why),)
    knowledge, parts = _people(attacked)
    # Learners take most of the time: they are worth it where there are people to choose them on.
    has_learners = parts is not None and parts.learning[0].size > 0
    adversaries = tuple(who for who in ADVERSARIES if has_learners or who not in LEARNERS)

    def search(numbered: tuple[int, str]) -> "SearchedGuesses | str":
        """Return what was found, or why nothing was."""
        number, secret = numbered
        attacked.progress(f"measuring memorization of {secret}", number / len(secrets))
        known = _known(attacked, secret)
        if not known:
            return f"No attack scenario has a column besides {secret!r}."
        asked = SearchedInference(
            secret=secret,
            known=known,
            tolerance=attacked.settings.tolerance,
            adversaries=adversaries,
            most_rows=MOST_ROWS,
        )
        try:
            # Lots of its own, so that it does not matter which secret comes first.
            return asked.search(
                released=prepared.release.released,
                knowledge=knowledge,
                rng=prepared.rng(f"{attack} {secret}"),
                parts=parts,
                # Only stated columns are held to a threshold, which needs narrow limits.
                cross_fit=secret in prepared.sensitive,
            )
        except InputError as error:
            return remarked([str(error).partition(". ")[0]])

    every = dict(zip(secrets, in_threads(search, enumerate(secrets)), strict=True))
    found += [not_run(attack, why, secret=secret) for secret, why in every.items() if isinstance(why, str)]
    searched = {secret: each for secret, each in every.items() if not isinstance(each, str)}
    # Only people who are drawn by lot from a control that can be used prove anything.
    judged = None if parts is None or knowledge.control is None else parts
    for secret, each in searched.items():
        found += _tried(attacked, secret, each, judged)
    if len(searched) > 1:
        found.append(_overall(attacked, searched, judged))
    return tuple(found)


def _secrets(attacked: AttackedRelease) -> tuple[str, ...]:
    prepared = attacked.prepared
    if prepared.sensitive or prepared.withheld or len(prepared.known) < 2:
        return prepared.sensitive
    # What a learner takes grows with the columns that it learns from.
    most = min(MOST_SECRETS, len(prepared.known), max(FEWEST_TRIES, MOST_FEATURES // len(prepared.known)))
    drawn = attacked.rng.choice(len(prepared.known), most, replace=False, shuffle=False)
    return tuple(prepared.known[place] for place in np.sort(drawn))


def _known(attacked: AttackedRelease, secret: str) -> tuple[str, ...]:
    """Return the quasi-identifiers: stated ones, or all columns not sensitive."""
    told = [name for each in attacked.settings.scenarios or () for name in (*each.first, *each.second)]
    return tuple(name for name in attacked.prepared.known if name != secret and (not told or name in told))


def _people(attacked: AttackedRelease) -> "tuple[Knowledge, LearnMeasureRows | None]":
    """Return training and measured people; without usable control, all members."""
    from unveil.attacks.table._guessing_case import LearnMeasureRows
    from unveil.data.table.release import Knowledge

    drawn, release = attacked.drawn, attacked.prepared.release
    if drawn.parts is None or release.control is None:
        return Knowledge(release.original, scale=drawn.scale), None
    both = _rows(attacked)
    measured = [side.size for side in drawn.parts.measured]
    places = [np.split(np.arange(side.size), [side.size - own]) for side, own in zip(both, measured, strict=True)]
    parts = LearnMeasureRows((places[0][0], places[1][0]), (places[0][1], places[1][1]))
    return Knowledge(release.original.take(both[0]), release.control.take(both[1]), scale=drawn.scale), parts


def _rows(attacked: AttackedRelease) -> "tuple[IntArray, IntArray]":
    """Return the training and measured rows of original and control."""
    parts = attacked.drawn.parts
    if parts is None or attacked.prepared.release.control is None:
        return np.arange(attacked.prepared.release.original.rows), np.empty(0, np.int64)
    # People who show the population are not measured either, and help to choose.
    members, outsiders = parts.learning
    learning = members, np.concatenate([outsiders, parts.population[: outsiders.size]])
    inside, outside = (np.concatenate(side) for side in zip(learning, parts.measured, strict=True))
    return inside, outside


def _per_person(attacked: AttackedRelease, trials: Trials) -> Trials:
    return per_person(trials, attacked.drawn.people, rows=_rows(attacked))


def _tried(
    attacked: AttackedRelease, secret: str, searched: "SearchedGuesses", parts: "LearnMeasureRows | None"
) -> list[AttackResult]:
    """Return the attacker with most memorization, its test, and comparisons."""
    remark = remarked(searched.notes)
    made = [_finding(attacked, secret, searched.remembered, REMEMBERS, remark)]
    if parts is not None:
        made[0] = _judged(attacked, made[0], searched.remembered.trials, parts, searched.folds)
    best = searched.taught
    if best is not None and best.others is not None:
        taught = replace(best.trials, attack=best.others)
        made.append(_finding(attacked, secret, replace(best, trials=taught), OTHERS, ""))
    if (searched.guessed.adversary, searched.guessed.known) != (
        searched.remembered.adversary,
        searched.remembered.known,
    ):
        made.append(_finding(attacked, secret, searched.guessed, GUESSES, ""))
    if searched.alone is not None and searched.alone.trials.control is not None:
        alone = _finding(attacked, secret, searched.alone, ALONE, "")
        risk = alone.finding.risk
        if risk.control_rate.low - risk.naive_rate.value >= FAR_ABOVE:
            made.append(alone)
    return made


def _finding(attacked: AttackedRelease, secret: str, who: "ChosenGuesser", role: str, remark: str) -> AttackResult:
    every = len(who.known) == len(_known(attacked, secret))
    columns = "all columns" if every and role != ALONE else listed(who.known)
    if len(who.known) > 2 and not every:
        columns = f"{len(who.known)} columns"
    scenario = AttackScenario(
        name=f"{role}: {who.adversary}, {columns}",
        first=who.known,
        reason=f"infers by {_BY[who.adversary]}",
        origin="all",
    )
    own = _per_person(attacked, who.trials)
    found = finding_of(attacked.attack, own, scenario=scenario, secret=secret, remark=remark)
    return AttackResult(finding=withheld(attacked.drawn.people, found))


def _judged(
    attacked: AttackedRelease,
    result: AttackResult,
    trials: Trials,
    parts: "LearnMeasureRows",
    folds: Sequence[Trials],
) -> AttackResult:
    """Return attempts with their test: success per person, else 0.

    The rates of the effect are those of all folds together, where there are some. The test cannot use them: who is
    measured in one fold was learned from in the other.
    """
    if trials.control is None:
        return result
    scores = np.concatenate(
        [_placed(each, of) for each, of in zip((trials.attack, trials.control), parts.measured, strict=True)]
    )
    own = _per_person(attacked, trials)
    figure = figure_of(result.finding, control_tries=0 if own.control is None else own.control.tries)
    evidence = FigureEvidence(figure=figure, statistic=scores, pool="measured")
    pairs = [pair_of(_per_person(attacked, each)) for each in folds]
    whole = cross_fitted([each for each in pairs if each is not None])
    return replace(result, evidence=(evidence,), effect=pair_of(own) if whole is None else whole)


def _placed(attempts: Attempts, people: "IntArray") -> "FloatArray":
    rows, chances = _each(attempts)
    scores = np.zeros(people.size)
    scores[rows - people[:1].sum()] = chances
    return scores


def _each(attempts: Attempts) -> "tuple[IntArray, FloatArray]":
    if attempts.rows is None or attempts.chances is None:  # a search leaves both
        raise ValueError("nothing is known about single tries")
    return attempts.rows, attempts.chances


def _overall(
    attacked: AttackedRelease, searched: "dict[str, SearchedGuesses]", parts: "LearnMeasureRows | None"
) -> AttackResult:
    """Return all sensitive columns together, as the mean per person."""
    every = [each.remembered.trials for each in searched.values()]
    trials, numbers = _mean_trials(every), {len(each.folds) for each in searched.values()}
    folds = zip(*(each.folds for each in searched.values()), strict=True) if len(numbers) == 1 else ()
    mean = AttackScenario(
        name=f"{REMEMBERS}: mean of {len(every)} columns", first=(), reason="all sensitive columns", origin="mean"
    )
    own = _per_person(attacked, trials)
    found = replace(finding_of(attacked.attack, own, scenario=mean), risk=risk_of_people(own))
    made = AttackResult(finding=withheld(attacked.drawn.people, found))
    return made if parts is None else _judged(attacked, made, trials, parts, [_mean_trials(each) for each in folds])


def _mean_trials(every: Sequence[Trials]) -> Trials:
    controls = [each.control for each in every if each.control is not None]
    return Trials(
        attack=_mean([each.attack for each in every]),
        naive=_mean([each.naive for each in every]),
        control=_mean(controls) if controls else None,
        what=every[0].what,
    )


def _mean(attempts: Sequence[Attempts]) -> Attempts:
    """Return one attempt per person: its mean success over sensitive columns."""
    every = [_each(each) for each in attempts]
    rows = np.unique(np.concatenate([own for own, _ in every]))
    total, count = np.zeros(rows.size), np.zeros(rows.size)
    for own, chances in every:
        total[np.searchsorted(rows, own)] += chances
        count[np.searchsorted(rows, own)] += 1
    return Attempts.from_chances(total / count, rows=rows)


ATTACK = AuditAttack(
    name="memory",
    effect_name="memorization",
    also_called=("memorization", "memorisation", "remembered secrets"),
    run=run,
    title="Memorization",
    about=(
        "Memorization: attackers are chosen on one half of the people and measured on the other, and the "
        "halves trade places. The excess is what the release reveals beyond what the population predicts."
    ),
    asks="secret",
    guesses_sensitive=True,
    per_person=False,
    learns=True,
    takes_memory=True,
)
