"""Compatibility of a probability, decided by couplings and refuting scores.

A probability is compatible if it is the pignistic of a belief function below the true probability.

A guess ``q`` is compatible with the truth ``p`` exactly when some ``f(z, x) >= 0`` has row sums p, column sums q and
``f(z, x) <= f(z, z)``: whatever the true record z is, z is a most likely guess given z. The dual says the same with a
score ``c`` of the records: whoever is sure of a set that holds z expects at most the greatest mean of c over such sets,
so a guess that expects more than the mean of that over p is not compatible. Records with equal (p, q) may be treated
alike, because the mean of couplings over all ways to exchange them is a coupling; and mass that such records exchange
may as well stay in place. So one variable per pair of groups will do; where these are many, what each record keeps
is searched for instead (`_keeping`), with as many variables as groups.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.metrics.beliefs._keeping import RESOLUTIONS, RecordShares, search

#: How a guess is refuted by Proposition 16.
RULED_OUT = "a true record ruled out"
#: How a guess is decided by what each record keeps.
KEEPING = "mass kept by each record"
#: Differences of probability up to this are rounding.
TOLERANCE = 1e-9
#: Sums of scores are exact up to this.
_EXACT = 1e-13
#: How far off a solution of the linear program may be and still count as one.
_SOLVED = 1e-7
#: Pairs of a program that takes a few ms; where there are more, what each record keeps is searched for first.
_QUICK = 400


class Decision(NamedTuple):
    """Decision on compatibility (None: unknown), its method, and the refuting score.

    ``score`` has one value per record, at most 1 in size; the guess expects ``expected`` of it, and no compatible guess
    more than ``possible``. All three are empty or 0 unless the guess is refuted.
    """

    valid: bool | None
    method: str
    score: FloatArray = np.zeros(0)
    expected: float = 0.0
    possible: float = 0.0


class RecordGroups(NamedTuple):
    """Records with nearly equal (p, q), merged into groups."""

    members: FloatArray
    truth: FloatArray
    guess: FloatArray
    label: IntArray

    @property
    def pairs(self) -> int:
        """Return the number of variables of the program."""
        return int(np.count_nonzero(self.truth > 0)) * self.members.size


class Program(NamedTuple):
    """Lower bound on the distance to a compatible guess, with its score."""

    distance: float
    score: FloatArray


def grouped(truth: FloatArray, guess: FloatArray) -> RecordGroups:
    """Return groups of records whose p and q agree to 12 digits.

    >>> grouped(np.array([0.5, 0.25, 0.25]), np.array([0.5, 0.25, 0.25])).members
    array([2., 1.])
    """
    return _by_keys(truth, guess, _rounded(truth), _rounded(guess))


def _by_keys(truth: FloatArray, guess: FloatArray, first: FloatArray, second: FloatArray) -> RecordGroups:
    label = np.unique(np.stack([first, second], axis=1), axis=0, return_inverse=True)[1].ravel()
    members, total, guessed = (np.bincount(label, weights) for weights in (None, truth, guess))
    return RecordGroups(members.astype(np.float64), total.astype(np.float64), guessed.astype(np.float64), label)


def _rounded(values: FloatArray) -> FloatArray:
    fraction, power = np.frexp(values)
    return np.ldexp(np.round(fraction, 12), power)


def most_expected(score: FloatArray, truth: FloatArray, count: FloatArray) -> float:
    """Return the largest expected score of any compatible guess.

    This is ``sum of p(z) * max over sets A with z of the mean of c over A``.

    The best set for z is z with the records of highest score, as long as the next one lies above the mean so far.

    >>> most_expected(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([3.0, 1.0]))
    0.75
    """
    order = np.argsort(-score, kind="stable")
    high, many = score[order], count[order]
    members = np.concatenate([[0.0], np.cumsum(many)])
    sums = np.concatenate([[0.0], np.cumsum(many * high)])
    # A group joins as long as its score exceeds the mean of z and those above it: this bound on the score of z falls.
    bound = (1 + members[:-1]) * high - sums[:-1]
    joined = np.searchsorted(-np.minimum.accumulate(bound), -score, side="left")
    return float(np.sum(truth * (score + sums[joined]) / (1 + members[joined])))


def left_over(truth: FloatArray, guess: FloatArray) -> float:
    """Return the true mass left after each record keeps ``min(p, q)``.

    A record with p above q must place the rest with records that have q above p, at most q with each. By the theorem of
    Gale and Ryser it all fits if no number t of the neediest records needs more than ``sum of min(p - q, t * q)``. 0
    therefore proves the guess compatible; more than 0 proves nothing.

    >>> left_over(np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.25, 0.5]))
    0.0
    >>> left_over(np.array([1.0, 0.0]), np.array([0.25, 0.75]))
    0.5
    """
    difference = guess - truth
    needs = np.cumsum(-np.sort(-difference[difference > 0]))
    giving = difference < 0
    spare, most = -difference[giving], guess[giving]
    with np.errstate(divide="ignore"):
        enough = spare / most  # to this many records the rest can go
    order = np.argsort(enough, kind="stable")
    done = np.concatenate([[0.0], np.cumsum(spare[order])])
    going = np.concatenate([np.cumsum(most[order][::-1])[::-1], [0.0]])
    many = np.arange(1, needs.size + 1)
    place = np.searchsorted(enough[order], many, side="right")
    return float(np.max(needs - done[place] - many * going[place], initial=0.0))


def program(groups: RecordGroups) -> Program:
    """Return the distance to compatible guesses and the best score.

    It is a linear program over pairs of groups.

    Columns may miss q at a price of 1, so that there is always a solution; the prices of the columns are the score.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    rows = np.flatnonzero(groups.truth > 0)
    many, columns = rows.size, groups.members.size
    pairs = many * columns
    row, column = np.repeat(np.arange(many), columns), np.tile(np.arange(columns), many)
    variable = np.arange(pairs)
    own = column == rows[row]
    home = variable[own]
    other, each = np.flatnonzero(~own), np.arange(pairs - many)
    # What z gives to one record of another group is at most what it keeps.
    values = np.concatenate([np.ones(other.size), -groups.members[column[other]]])
    entries = np.concatenate([each, each]), np.concatenate([other, home[row[other]]])
    below = coo_array((values, entries), shape=(other.size, pairs + 2 * columns)).tocsr()
    missing = np.arange(columns)
    values = np.concatenate([np.ones(2 * pairs + columns), -np.ones(columns)])
    entries = (
        np.concatenate([row, many + column, many + missing, many + missing]),
        np.concatenate([variable, variable, pairs + missing, pairs + columns + missing]),
    )
    sums = coo_array((values, entries), shape=(many + columns, pairs + 2 * columns)).tocsr()
    found = linprog(
        np.concatenate([np.zeros(pairs), np.ones(2 * columns)]),
        A_ub=below,
        b_ub=np.zeros(other.size),
        A_eq=sums,
        b_eq=np.concatenate([groups.truth[rows], groups.guess]),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.status != 0:
        return Program(float("nan"), np.zeros(columns))
    return Program(float(found.fun), np.asarray(found.eqlin.marginals[many:], np.float64))


def decide(truth: FloatArray, guess: FloatArray, at_most: int) -> Decision:
    """Return whether the guess q is compatible with the truth p.

    A program with more than ``at_most`` pairs of groups is not solved: undecided, unless a coarser one refutes the
    guess.

    >>> decide(np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.25, 0.5]), 100).valid
    True
    >>> refuted = decide(np.array([1.0, 0.0]), np.array([0.25, 0.75]), 100)
    >>> refuted.valid, refuted.method, refuted.score, refuted.expected
    (False, 'the truth is one record', array([-1.,  1.]), 0.5)
    """
    held = guess > 0
    if float(np.sum(truth[~held])) > TOLERANCE:
        return _refuted(np.where(held, 1 / np.count_nonzero(held), -1.0), truth, guess, RULED_OUT)
    p, q = truth[held] / np.sum(truth[held]), guess[held]
    if np.abs(p - q).sum() <= TOLERANCE:
        return Decision(True, "equal to the truth")
    if np.abs(q - 1 / q.size).sum() <= TOLERANCE:
        return Decision(True, "uniform guess")
    if p.max() >= 1 - TOLERANCE:
        return _of_certain(truth, guess)
    if left_over(p, q) <= TOLERANCE:
        return Decision(True, "each record keeps its possible mass")
    found = _of_program(p, q, at_most)
    if found.valid is not False:
        return found
    score = np.zeros(held.size)
    score[held] = found.score
    return found._replace(score=score)


def _of_certain(truth: FloatArray, guess: FloatArray) -> Decision:
    """Return the decision for a certain true record (Proposition 18, with ties)."""
    true, likely = int(np.argmax(truth)), int(np.argmax(guess))
    if guess[true] >= guess[likely] - TOLERANCE:
        return Decision(True, "the truth is one record")
    score = np.zeros(guess.size)
    score[true], score[likely] = -1.0, 1.0
    return _refuted(score, truth, guess, "the truth is one record")


def _of_program(truth: FloatArray, guess: FloatArray, at_most: int) -> Decision:
    """Return the decision over groups, by keeping or by a coupling."""
    groups = grouped(truth, guess)
    if groups.pairs > _QUICK:
        found = _of_keeping(groups, truth, guess)
        if found.valid is not None:
            return found
    if groups.pairs > at_most:
        return Decision(None, f"{groups.pairs:,} pairs of groups exceed the maximum of {at_most:,}")
    solved = program(groups)
    tried = _refuted(solved.score[groups.label], truth, guess, "coupling")
    if tried.valid is False:
        return tried
    if solved.distance <= _SOLVED:
        return Decision(True, "coupling")
    return Decision(None, "the linear program was not solved precisely enough")


def _of_keeping(groups: RecordGroups, truth: FloatArray, guess: FloatArray) -> Decision:
    """Return the decision by keeping, at ever finer groups."""
    shares = RecordShares(groups.members, groups.truth / groups.members, groups.guess / groups.members)
    for resolution in RESOLUTIONS:
        found = search(shares, resolution)
        if found is None:
            continue
        if found.fits:
            return Decision(True, KEEPING)
        if found.score is not None:
            tried = _refuted(found.score[groups.label], truth, guess, KEEPING)
            if tried.valid is False:
                return tried
    return Decision(None, KEEPING)


def _refuted(score: FloatArray, truth: FloatArray, guess: FloatArray, method: str) -> Decision:
    """Return the checked refutation by a score, else None."""
    high = float(np.abs(score).max())
    scaled = score / high if high > 0 else score
    possible = most_expected(scaled, truth, np.ones(score.size))
    expected = float(np.sum(guess * scaled))
    # A score that singles out a record ruled out is exact, but small where many records are left.
    least = TOLERANCE / np.count_nonzero(guess) if method == RULED_OUT else TOLERANCE
    if method == KEEPING:  # prices of conditions lack in units of probability, which one record may dwarf
        least = max(TOLERANCE / max(high, 1.0), _EXACT)
    if expected - possible <= least:
        return Decision(None, "a score refutes the guess, but only within rounding")
    return Decision(False, method, scaled, expected, possible)
