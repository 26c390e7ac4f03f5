"""Run re-identification attacks on growing sets of columns; check validity."""

from collections.abc import Callable
from dataclasses import is_dataclass, replace
from math import isnan, log, nan
from typing import Any

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks.specification import TableAttack
from unveil.data.table.release import Knowledge
from unveil.errors import InputError, NobodyFitsError
from unveil.guesses import Candidates
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.candidates import NOBODY
from unveil.metrics.beliefs.file_level import MATCHINGS
from unveil.metrics.candidates._truth import correct
from unveil.metrics.candidates.confusion import ROUNDING, confusion
from unveil.metrics.releases.utility import loss_summary
from unveil.metrics.trials.risk import Rate, wilson
from unveil.questions.reidentify.findings import AttackOutcome, KnowledgeStep, NotRun, ReidentifyFindings
from unveil.questions.reidentify.read import ReidentifyInputs, ReleaseCase
from unveil.questions.reidentify.verdicts import (
    NO_MECHANISM,
    NOT_SO_MADE,
    TrueProbabilities,
    ValidGuess,
    clashes_of,
    judged,
    nobody_witness,
    sampled_note,
    simulated_note,
    told_apart,
    truths_of,
)
from unveil.report.progress import Progress

# In so many rows an order is no coincidence.
_LONG = 5
#: With more columns than this, only so many numbers of known columns are tried.
MOST_STEPS = 12


def run(
    inputs: ReidentifyInputs,
    *,
    rng: np.random.Generator,
    progress: Progress,
    pairs: int | None = None,
    matchings: int = MATCHINGS,
) -> ReidentifyFindings:
    """Return how far the attacks get, and which of them are valid; see `reidentify`."""
    case, chosen = inputs.case, inputs.attacks
    progress("computing the true probability", 0.0)
    why = NOT_SO_MADE if inputs.against else NO_MECHANISM
    truths = truths_of(case, known=why, matchings=matchings, rng=rng)
    found, guesses, not_run = [], {}, list(inputs.not_run)
    for place, (name, attack) in enumerate(chosen.items()):
        try:
            attacked, guesses[name] = _attacked(
                name,
                attack,
                case,
                truths,
                rng,
                lambda share, at=place: progress("attacking", (at + share) / len(chosen)),
                pairs,
            )
        except InputError as error:
            if not inputs.against:
                raise
            nobody = "with the declared method, no record has a possible original"
            not_run.append(NotRun(name, nobody if isinstance(error, NobodyFitsError) else str(error)))
        else:
            found.append(attacked)
    progress("comparing the attacks", 0.0)
    apart = [note for name, guessed in guesses.items() for note in told_apart(name, guessed, case)]
    least = [each.confusion for each in found if not isnan(each.confusion)]
    return ReidentifyFindings(
        records=case.released.rows,
        originals=case.original.rows,
        somebody=int((case.truth != NOBODY).sum()),
        protect=inputs.protect,
        known=case.original.column_names,
        order=inputs.order,
        attacks=tuple(found),
        clashes=clashes_of(guesses, case.original.rows),
        keeps_order=_keeps_order(case.truth),
        confusion=min(least, default=nan),
        # A stream of its own, so that measuring it changes no other figure.
        loss=loss_summary(inputs.release, rng=rng.spawn(1)[0]).loss,
        declared=inputs.declared,
        against=inputs.against,
        refuting=inputs.refuting,
        not_run=tuple(not_run),
        notes=(*inputs.notes, *simulated_note(case.mechanism), *sampled_note(truths.file, matchings), *apart),
    )


def _attacked(
    name: str,
    attack: TableAttack,
    case: ReleaseCase,
    truths: TrueProbabilities,
    rng: np.random.Generator,
    report: Any,
    pairs: int | None,
) -> tuple[AttackOutcome, ValidGuess]:
    """Run one attack, with fewer columns too, and judge it."""
    seed = int(rng.integers(2**63))
    guessed = guess_of(attack, case, seed=seed)
    steps = steps_of(attack, case, guessed, seed=seed, report=report)
    report(0.9)
    record, file = judged(guessed, truths.record, "record", pairs), judged(guessed, truths.file, "file", pairs)
    alike = confusion(guessed.guess)
    alike = alike[~np.isnan(alike)]
    attacked = AttackOutcome(
        attack=name,
        summary=(type(attack).__doc__ or "").strip().partition("\n")[0],
        leaves="Beliefs" if isinstance(guessed.guess, Beliefs) else "Candidates",
        targets=guessed.aimed_at.size,
        attempted=int(alike.size),
        nobody=guessed.nobody.size,
        record_level=record.verdict,
        file_level=file.verdict,
        steps=steps,
        confusion=float(alike.min()) if alike.size else nan,
        typical_confusion=float(np.median(alike)) if alike.size else nan,
        witness=nobody_witness(guessed) or record.witness or file.witness,
    )
    return attacked, guessed


def _keeps_order(truth: IntArray) -> bool:
    """Return whether released rows are in original order, beyond coincidence."""
    some = truth[truth != NOBODY]
    return bool(some.size >= _LONG and (np.diff(some) > 0).all())


def guess_of(attack: TableAttack, case: ReleaseCase, *, seed: int) -> ValidGuess:
    """Run an attack; list the rows without a candidate separately.

    An attack that refuses the release for any other reason, or fits no row at all, raises its own error.
    """
    every = np.arange(case.released.rows)
    rows, knowledge = every, Knowledge(case.original)
    while True:
        released = case.released if rows.size == every.size else case.released.take(rows)
        try:
            guess = attack.run(released=released, knowledge=knowledge, rng=np.random.default_rng(seed))
        except NobodyFitsError as error:
            if not error.rows or len(set(error.rows)) >= rows.size:
                raise
            rows = np.delete(rows, error.rows)
        else:
            return replace(_checked(guess, rows, case), nobody=np.setdiff1d(every, rows))


def _checked(guess: Any, rows: IntArray, case: ReleaseCase) -> ValidGuess:
    """Return a guess with its released rows."""
    if not isinstance(guess, Beliefs | Candidates):
        raise InputError(
            f"The attack returns a {type(guess).__name__}, not Beliefs or Candidates. Choose another, or "
            "correct its method run"
        )
    size = guess.size if isinstance(guess, Beliefs) else int(guess.candidate.max(initial=-1)) + 1
    wrong = size > case.original.rows or (isinstance(guess, Beliefs) and size != case.original.rows)
    if isinstance(guess, Candidates) and guess.targets is not None:  # only some were drawn
        drawn = np.asarray(guess.targets)
        wrong |= drawn.dtype.kind not in "iu" or bool(((drawn < 0) | (drawn >= rows.size)).any())
        about = np.empty(0, np.int64) if wrong else rows[drawn.astype(np.int64)]
        wrong |= np.unique(about).size < drawn.size
    else:
        about = rows
        wrong |= guess.target_count != rows.size
    if wrong:
        raise InputError(
            f"The guess does not fit {rows.size} released and {case.original.rows} original rows, both "
            "numbered from 0. Correct the attack"
        )
    return ValidGuess(rows=about, guess=guess, nobody=np.empty(0, np.int64))


def steps_of(
    attack: TableAttack, case: ReleaseCase, final: ValidGuess, *, seed: int, report: Callable[[float], None]
) -> tuple[KnowledgeStep, ...]:
    """Return the attack success with no, some, and all columns known."""
    names = case.original.column_names
    found = [_nothing_known(case)]
    sizes = sizes_of(len(names))
    for place, size in enumerate(sizes[:-1]):
        report(place / len(sizes))
        found.append(_step(attack, case, size, seed))
    return (*found, _measured(final, case, len(names), names[-1]))


def sizes_of(columns: int) -> list[int]:
    """Return the tested numbers of quasi-identifiers: all, or evenly spread ones.

    >>> sizes_of(3), len(sizes_of(100)), sizes_of(100)[-1]
    ([1, 2, 3], 12, 100)
    """
    return sorted({int(size) for size in np.linspace(1, columns, min(columns, MOST_STEPS)).round()})


def _step(attack: TableAttack, case: ReleaseCase, size: int, seed: int) -> KnowledgeStep:
    names = case.original.column_names[:size]
    own = getattr(attack, "columns", None)
    if own is not None and is_dataclass(attack):
        used = tuple(name for name in own if name in names)
        if not used:
            return replace(_nothing_known(case), known=size, column=names[-1])
        attack = replace(attack, columns=used)
    few = case.with_columns(names)
    try:
        return _measured(guess_of(attack, few, seed=seed), few, size, names[-1])
    except InputError as error:
        none = Rate(nan, nan, nan, str(error))
        return KnowledgeStep(
            known=size, column=names[-1], attack_rate=none, nonspecificity=nan, entropy=nan, why=str(error)
        )


def _nothing_known(case: ReleaseCase) -> KnowledgeStep:
    blind, doubt = 1 / case.original.rows, log(case.original.rows)
    return KnowledgeStep(known=0, column="", attack_rate=Rate(blind, blind, blind), nonspecificity=doubt, entropy=doubt)


def _measured(valid_guess: ValidGuess, case: ReleaseCase, known: int, column: str) -> KnowledgeStep:
    """Return the results of a guess."""
    bets = valid_guess.bets
    if isinstance(valid_guess.guess, Beliefs):
        open_sets, doubt = valid_guess.guess.nonspecificity(), valid_guess.guess.pignistic_entropy()
    else:
        doubt = bets.summary.entropy[bets.attempted] * log(2)  # from bits
        open_sets = np.zeros(doubt.size)
    return KnowledgeStep(
        known=known,
        column=column,
        attack_rate=attack_rate(valid_guess, bets, case.truth),
        nonspecificity=float(open_sets.mean()) if open_sets.size else nan,
        entropy=float(doubt.mean()) if doubt.size else nan,
        nobody=valid_guess.nobody.size,
    )


def attack_rate(valid_guess: ValidGuess, bets: Candidates, truth: IntArray) -> Rate:
    """Return the attack success over attacked rows with an original.

    Where several bets are as good, one is drawn by lot: the rate is what to expect of that, exactly. A row that was
    given up, or that nobody fits, is a miss.
    """
    tries = int((truth[valid_guess.aimed_at] != NOBODY).sum())
    if not tries:
        return Rate(nan, nan, nan, "none of the rows comes from an original one")
    return wilson(float(chances(bets, truth[valid_guess.rows]).sum()), tries)


def chances(bets: Candidates, truth: IntArray) -> FloatArray:
    """Return each target's probability of a correct top candidate, ties random.

    >>> chances(Candidates.from_matrix([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]]), np.array([1, 1]))
    array([0.5, 0. ])
    """
    if bets.chosen is not None:
        return correct(bets, truth)
    owner = np.repeat(np.arange(bets.target_count), bets.considered)
    # Rounding must not decide between bets that are as good; n-confusion counts them in the same way.
    best = bets.probability >= (bets.summary.largest * (1 - ROUNDING))[owner]
    best &= bets.probability > 0
    ties = np.bincount(owner, best, minlength=bets.target_count)
    right = np.bincount(owner, best & (bets.candidate == truth[owner]), minlength=bets.target_count)
    return np.where(bets.attempted & (ties > 0), right / np.maximum(ties, 1), 0.0)
