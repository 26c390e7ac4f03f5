"""One attack on one masked release: what it guesses with more and more columns, and how often its best bet is right."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass, replace
from math import log, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.ask.reidentify.findings import Step
from unveil.attack.specification import Attacks
from unveil.data.mechanism import Mechanism
from unveil.data.release import Knowledge
from unveil.data.table import Table
from unveil.errors import InputError, NobodyFitsError
from unveil.guess import Candidates
from unveil.guess.beliefs import Beliefs
from unveil.guess.candidates import NOBODY
from unveil.measure._truth import correct
from unveil.measure.confusion import ROUNDING
from unveil.measure.risk import Rate, wilson

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Guess = Beliefs | Candidates

#: With more columns than this, only so many numbers of known columns are tried.
MOST_STEPS = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A release as the adversary meets it: both tables with the known columns only, in the order they are learnt.

    ``truth`` is the original row of each released one, -1 for those that come from nobody.
    """

    original: Table
    released: Table
    truth: Integers
    mechanism: Mechanism | None

    def with_columns(self, names: Sequence[str]) -> "Case":
        """Return the case of an adversary who knows these columns only."""
        return replace(self, original=self.original.select(names), released=self.released.select(names))


@dataclass(frozen=True, kw_only=True, eq=False)
class Guessed:
    """What an attack left: a guess about ``rows`` of the release, and the rows for which it leaves nobody possible."""

    rows: Integers
    guess: Guess
    nobody: Integers

    @property
    def bets(self) -> Candidates:
        """The guess as the probabilities to bet by."""
        return self.guess.to_candidates() if isinstance(self.guess, Beliefs) else self.guess

    @property
    def aimed_at(self) -> Integers:
        """The released rows that the attack was about, ascending."""
        return np.union1d(self.rows, self.nobody)


def guess_of(attack: Attacks, case: Case, *, seed: int) -> Guessed:
    """Return what an attack leaves; rows that nobody fits are told apart, because they prove it wrong.

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


def _checked(guess: Any, rows: Integers, case: Case) -> Guessed:
    """Return a guess with the released rows that it is about; ``rows`` are those that were shown to the attack."""
    if not isinstance(guess, Beliefs | Candidates):
        raise InputError(
            f"an attack must leave Beliefs or Candidates about the released rows, but left a {type(guess).__name__}. "
            "Choose another, or correct its method run"
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
            f"a guess must be about the {rows.size} released rows and name only the {case.original.rows} original "
            "ones, both numbered from 0, but one is not. Correct the attack"
        )
    return Guessed(rows=about, guess=guess, nobody=np.empty(0, np.int64))


def steps_of(
    attack: Attacks, case: Case, final: Guessed, *, seed: int, report: Callable[[float], None]
) -> tuple[Step, ...]:
    """Return what the attack reaches with nothing known, and with more and more columns up to all of them."""
    names = case.original.column_names
    found = [_nothing_known(case)]
    sizes = sizes_of(len(names))
    for place, size in enumerate(sizes[:-1]):
        report(place / len(sizes))
        found.append(_step(attack, case, size, seed))
    return (*found, _measured(final, case, len(names), names[-1]))


def sizes_of(columns: int) -> list[int]:
    """Return the numbers of known columns that are tried: all, or some that are spread evenly.

    >>> sizes_of(3), len(sizes_of(100)), sizes_of(100)[-1]
    ([1, 2, 3], 12, 100)
    """
    return sorted({int(size) for size in np.linspace(1, columns, min(columns, MOST_STEPS)).round()})


def _step(attack: Attacks, case: Case, size: int, seed: int) -> Step:
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
        return Step(known=size, column=names[-1], hit_rate=none, nonspecificity=nan, entropy=nan, why=str(error))


def _nothing_known(case: Case) -> Step:
    blind, doubt = 1 / case.original.rows, log(case.original.rows)
    return Step(known=0, column="", hit_rate=Rate(blind, blind, blind), nonspecificity=doubt, entropy=doubt)


def _measured(found: Guessed, case: Case, known: int, column: str) -> Step:
    """Return the figures of a guess."""
    bets = found.bets
    if isinstance(found.guess, Beliefs):
        open_sets, doubt = found.guess.nonspecificity(), found.guess.pignistic_entropy()
    else:
        doubt = bets.summary.entropy[bets.attempted] * log(2)  # from bits
        open_sets = np.zeros(doubt.size)
    return Step(
        known=known,
        column=column,
        hit_rate=hit_rate(found, bets, case.truth),
        nonspecificity=float(open_sets.mean()) if open_sets.size else nan,
        entropy=float(doubt.mean()) if doubt.size else nan,
        nobody=found.nobody.size,
    )


def hit_rate(found: Guessed, bets: Candidates, truth: Integers) -> Rate:
    """Return how often the best bet is right, of the rows that were aimed at and come from somebody.

    Where several bets are as good, one is drawn by lot: the rate is what to expect of that, exactly. A row that was
    given up, or that nobody fits, is a miss.
    """
    tries = int((truth[found.aimed_at] != NOBODY).sum())
    if not tries:
        return Rate(nan, nan, nan, "none of the rows comes from an original one")
    return wilson(float(chances(bets, truth[found.rows]).sum()), tries)


def chances(bets: Candidates, truth: Integers) -> Floats:
    """Return the chance of each target that its best bet, drawn by lot where several are as good, is right.

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
