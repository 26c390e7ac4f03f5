"""n-confusion: the number of records indistinguishable from the top-ranked candidate."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.candidates import Candidates
from unveil.metrics._listing import metric

#: Probabilities this near to the largest, as a share of it, are equal to it: what rounding may take.
ROUNDING = 1e-9


@metric(
    category="uncertainty",
    per="target",
    more_means="more private",
    bounds=(1, inf),
    source='Stokes and Torra, "n-Confusion: a generalization of k-anonymity", 2012',
)
def confusion(guess: Candidates | Beliefs) -> FloatArray:
    """Return for each target how many candidates share the largest probability.

    Formula: ``#{i: p_i = max p}``, equal within a billionth; of a belief on sets, p is the pignistic probability. 1
    means that one candidate stands out, which need not be the right one; k means that k look equally good, as in a
    release that is k-anonymous. NaN where the target was not attempted.

    >>> confusion(Candidates.from_matrix([[0.4, 0.4, 0.2], [0.9, 0.1, 0.0]]))
    array([2., 1.])
    """
    if isinstance(guess, Beliefs):
        known: dict[int, float] = {}
        for mass in guess.each:
            if id(mass) not in known:
                probability = mass.pignistic()[1]
                known[id(mass)] = float((probability >= probability.max() * (1 - ROUNDING)).sum())
        return np.array([known[id(mass)] for mass in guess.each])
    best = np.repeat(guess.summary.largest, guess.considered)
    alike = (guess.probability >= best * (1 - ROUNDING)) & (best > 0)
    owner = np.repeat(np.arange(guess.target_count), guess.considered)
    count = np.bincount(owner, alike, minlength=guess.target_count)
    count += np.where(guess.each_other >= guess.summary.largest * (1 - ROUNDING), guess.others, 0)
    return np.where(guess.believed, count, np.nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class Confusion:
    """The n-confusion of a release under several attacks.

    Attributes
    ----------
    each
        For each target the least number of candidates that share the largest probability, over the attacks; NaN where
        no attack attempted it.
    by_attack
        The least over the targets for each attack; NaN for one that attempted nothing.
    least
        The least of all: the n of n-confusion. NaN where nothing was attempted.
    """

    each: FloatArray
    by_attack: FloatArray
    least: float


def least_confusion(guesses: Sequence[Candidates | Beliefs]) -> Confusion:
    """Return the smallest confusion of each target over several attacks.

    >>> even, sure = Candidates.from_matrix([[0.5, 0.5]] * 2), Candidates.from_matrix([[0.5, 0.5], [0.9, 0.1]])
    >>> found = least_confusion([even, sure])
    >>> found.each, found.by_attack, found.least
    (array([2., 1.]), array([2., 1.]), 1.0)
    """
    if not guesses or len({guess.target_count for guess in guesses}) > 1:
        raise InputError(
            "the guesses are about different targets, or there are none. Pass guesses about the same targets"
        )
    every = np.array([confusion(guess) for guess in guesses])
    # fmin passes over NaN, and is NaN only where all are.
    each, by_attack = np.fmin.reduce(every, axis=0), np.fmin.reduce(every, axis=1)
    return Confusion(each=each, by_attack=by_attack, least=float(np.fmin.reduce(each)))
