"""Compatibility of guesses with the true probability under the masking used.

A belief function is compatible with the true probability if nothing is believed beyond it (Definition 7); a
probability is if it is the pignistic one of a compatible belief function (Definition 14). An attack whose guesses are
not compatible proves nothing about the release. Never chain verdicts: a guess that is compatible with a second one,
which is compatible with the truth, need not be compatible with the truth.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.mass_function import MassFunction, Probability, checked_probability
from unveil.metrics._listing import metric
from unveil.metrics.beliefs._finding import CompatibilityFinding, Level, judge_belief, judge_probability, without_truth
from unveil.metrics.beliefs.sampled_truth import (
    NOT_SHOWN,
    SampledTruth,
    judge_sampled_belief,
    judge_sampled_probability,
)

_NOBODY: tuple[IntArray, FloatArray, float] = (np.zeros(0, np.int64), np.zeros((0, 0)), 0.0)
SOURCE = "Torra and Stokes (2013), Definitions 7 and 14"
#: Pairs of groups of equal records in one linear program, which then takes a second; beyond, the answer is "undecided".
MOST_PAIRS = 10_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Compatibility:
    """Findings per target and their summary.

    ``definition`` is 7 where the guesses are belief functions and 14 where they are probabilities.
    """

    level: Level
    definition: Literal[7, 14]
    findings: tuple[CompatibilityFinding, ...]
    #: Which targets the attacker attempted.
    attempted: BoolArray

    @cached_property
    def verdicts(self) -> FloatArray:
        """Verdict per guess: 1 valid, 0 invalid, NaN without a verdict."""
        return np.array([np.nan if found.valid is None else float(found.valid) for found in self.findings])

    @property
    def valid(self) -> int:
        """How many guesses are compatible with the truth."""
        return int(np.count_nonzero(self.verdicts == 1))

    @property
    def invalid(self) -> int:
        """How many guesses are not."""
        return int(np.count_nonzero(self.verdicts == 0))

    @property
    def undecided(self) -> int:
        """Number of attempted targets without a verdict.

        The program was too large, or there is no true probability.
        """
        return int(np.count_nonzero(self.attempted & np.isnan(self.verdicts)))

    @property
    def not_shown(self) -> int:
        """Number of unknown targets within the error of a sampled truth."""
        return sum(found.method == NOT_SHOWN for found in self.findings)

    @property
    def share(self) -> float:
        """Share of valid guesses, 0 to 1; NaN if unknown."""
        return float("nan") if self.undecided else self.between[0]

    @property
    def between(self) -> tuple[float, float]:
        """Bounds of the share of valid guesses; NaN without verdicts."""
        return share_between(self.valid, self.invalid, self.undecided)

    @property
    def worst(self) -> int | None:
        """Target with the largest excess claim, or None."""
        excess = [found.excess if found.valid is False else -1.0 for found in self.findings]
        return int(np.argmax(excess)) if self.invalid else None

    @property
    def sentence(self) -> str:
        """The finding in words."""
        decided = self.valid + self.invalid
        if not decided:
            reason = "no target was attempted" if not self.attempted.any() else _most_common(self.findings)
            return f"No guess could be compared with the {self.level}-level truth: {reason}."
        low, high = self.between
        share = f"{low:.1%} to {high:.1%}" if self.undecided else f"{low:.1%}"
        text = (
            f"{self.valid:,} of {decided + self.undecided:,} guesses ({share}) are compatible with the "
            f"{self.level}-level truth"
        )
        text += f"; {self.invalid:,} are not, and {self.undecided:,} are unknown." if self.undecided else "."
        if self.worst is None:
            return text
        return f"{text} The worst is target {self.worst + 1} (counted from 1): {self.findings[self.worst].why}"


def share_between(valid: int, invalid: int, undecided: int) -> tuple[float, float]:
    """Return bounds of the share of valid guesses, over unknown ones.

    Without any verdict both are NaN: nothing is known then.

    >>> share_between(0, 8, 52), share_between(0, 0, 60)
    ((0.0, 0.8666666666666667), (nan, nan))
    """
    if not valid + invalid:
        return float("nan"), float("nan")
    total = valid + invalid + undecided
    return valid / total, (valid + undecided) / total


def compatible_belief(mass: MassFunction, probability: Probability, *, level: Level = "record") -> CompatibilityFinding:
    """Return whether ``Bel(A) <= P(A)`` for every set A.

    Differences up to 1e-9 are rounding. With more than 12 focal sets that are neither nested nor disjoint, an excess
    below one in 2^30 for each focal set and atom may go unseen.

    Parameters
    ----------
    mass
        What the attacker believes.
    probability
        The true probability: one per element of the frame, or the pair of the elements that have one and theirs.
    level
        Whose truth that is, for the sentence.

    Examples
    --------
    >>> mass = MassFunction.from_sets(4, {(0, 1): 0.6, (2, 3): 0.4})
    >>> found = compatible_belief(mass, [0.1, 0.1, 0.4, 0.4])
    >>> found.valid, found.witness, found.claimed, found.possible
    (False, array([0, 1]), 0.6, 0.2)
    """
    _check_level(level)
    return judge_belief(mass, *checked_probability(mass.size, probability), level)


def compatible_probability(
    guess: Probability, truth: Probability, size: int, *, at_most: int = MOST_PAIRS, level: Level = "record"
) -> CompatibilityFinding:
    """Return whether a probability is the pignistic of a compatible belief.

    Differences up to 1e-9 are rounding, 1e-7 where a linear program decides.

    Parameters
    ----------
    guess, truth
        One probability per element of the frame, or the pair of the elements that have one and theirs.
    size
        The number of elements of the frame.
    at_most
        The most pairs of groups (records of equal guess and truth) that a linear program is solved for.
    level
        Whose truth that is, for the sentence.

    Examples
    --------
    >>> compatible_probability([0.25, 0.25, 0.5], [0.5, 0.5, 0.0], 3).valid  # the likeliest guess is impossible
    True
    >>> compatible_probability([0.25, 0.25, 0.5], [1.0, 0.0, 0.0], 3).why.partition(":")[2]
    ' the guess is incompatible with the record-level truth.'
    """
    _check_level(level)
    return judge_probability(checked_probability(size, guess), checked_probability(size, truth), at_most, level)


def compatibility(
    guess: Beliefs | Candidates,
    truth: Candidates,
    *,
    level: Level = "record",
    at_most: int = MOST_PAIRS,
    sampled: SampledTruth | None = None,
) -> Compatibility:
    """Return the compatibility of each target's guess with its true probability.

    Beliefs are judged by Definition 7, probabilities by Definition 14.

    Parameters
    ----------
    guess
        What an attack left.
    truth
        The true probability of each target, as a masking method or :func:`file_level_truth` gives it; a target without
        candidates has none.
    level
        Whose truth that is. A guess may be compatible at one level and not at the other.
    at_most
        As in :func:`compatible_probability`.
    sampled
        Estimates of the true probability for targets without an exact one. A verdict on them is beyond the error bars
        (99.9 % each), or None with the method ``NOT_SHOWN``.

    Examples
    --------
    >>> truth = Candidates.from_matrix([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    >>> found = compatibility(Candidates.from_matrix([[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]]), truth)
    >>> found.verdicts, found.share, found.worst
    (array([1., 0.]), 0.5, 1)
    """
    _check_level(level)
    targets = guess.target_count if isinstance(guess, Candidates) else len(guess.each)
    if targets != truth.target_count:
        raise InputError(
            f"the guess has {targets:,} targets and the truth {truth.target_count:,}. "
            "Pass the true probability of each released record, in the same order"
        )
    attempted = guess.attempted if isinstance(guess, Candidates) else np.ones(targets, np.bool_)
    if isinstance(guess, Beliefs):
        judged = _judged_beliefs(guess, truth, sampled, level)
    else:
        judged = _judged(guess, truth, sampled, at_most, level)
    return Compatibility(
        level=level,
        definition=7 if isinstance(guess, Beliefs) else 14,
        findings=tuple(judged),
        attempted=attempted,
    )


@metric(category="validity", per="release", more_means="less private", bounds=(0, 1), source=SOURCE)
def valid_guesses(
    guess: Beliefs | Candidates, truth: Candidates, *, level: Level = "record", at_most: int = MOST_PAIRS
) -> float:
    """Return the share of guesses compatible with their true probability, 0 to 1.

    Formula: ``#valid / #attempted``; a belief function is valid if ``Bel(A) <= P(A)`` for all sets A, and a
    probability if it is the pignistic one of such a belief function. 0 means that every guess claims what cannot be, so
    that its hits prove nothing; 1 means that none does. Here the truth is a probability per target, not its true
    record. NaN if guesses are not settled, or none was attempted: ``compatibility(...).between`` has the bounds.

    >>> truth = Candidates.from_matrix([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    >>> valid_guesses(Candidates.from_matrix([[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]]), truth)
    0.5
    """
    return compatibility(guess, truth, level=level, at_most=at_most).share


def _judged_beliefs(
    guess: Beliefs, truth: Candidates, sampled: SampledTruth | None, level: Level
) -> Iterator[CompatibilityFinding]:
    _check_range(truth, guess.size)
    known: dict[tuple[Any, ...], CompatibilityFinding] = {}
    for target, (mass, (elements, probability)) in enumerate(zip(guess.each, _rows(truth), strict=True)):
        if elements.size == 0:
            possible, share, draws = sampled.row(target) if sampled is not None else _NOBODY
            if possible.size:
                yield judge_sampled_belief(mass, possible, share, draws, level)
            else:
                yield without_truth(level)
            continue
        key = (id(mass), elements.tobytes(), probability.tobytes())  # equal released records share their beliefs
        if key not in known:
            known[key] = judge_belief(mass, elements, probability, level)
        yield known[key]


def _judged(
    guess: Candidates, truth: Candidates, sampled: SampledTruth | None, at_most: int, level: Level
) -> Iterator[CompatibilityFinding]:
    named = guess.candidates is not None and truth.candidates is not None
    if named and not np.array_equal(guess.candidates, truth.candidates):  # type: ignore[arg-type]
        raise InputError("guess and truth name the candidates differently. Number both the same way")
    known: dict[tuple[bytes, ...], CompatibilityFinding] = {}
    for target, (tried, mine, true) in enumerate(zip(guess.attempted, _rows(guess), _rows(truth), strict=True)):
        possible, share, draws = sampled.row(target) if sampled is not None else _NOBODY
        if not tried:
            yield CompatibilityFinding(
                valid=None, level=level, method="not attempted", why="The target was not attempted."
            )
        elif true[0].size == 0 and possible.size:
            yield judge_sampled_probability(mine, possible, share, draws, at_most, level)
        elif true[0].size == 0:
            yield without_truth(level)
        else:
            key = tuple(part.tobytes() for part in (*mine, *true))
            if key not in known:
                known[key] = judge_probability(mine, true, at_most, level)
            yield known[key]


def _rows(of: Candidates) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield the candidates of each target with a probability above 0."""
    for low, high in zip(of.start[:-1].tolist(), of.start[1:].tolist(), strict=True):
        probability = of.probability[low:high]
        kept = probability > 0
        yield of.candidate[low:high][kept].astype(np.int64), probability[kept]


def _most_common(findings: tuple[CompatibilityFinding, ...]) -> str:
    reasons = [found.method for found in findings if found.method != "not attempted"]
    return max(dict.fromkeys(reasons), key=reasons.count)


def _check_level(level: str) -> None:
    if level not in get_args(Level):
        raise InputError(f"Unknown level {level!r}. Use 'record' or 'file', as in the truth")


def _check_range(truth: Candidates, size: int) -> None:
    highest = int(truth.candidate.max(initial=-1))
    if highest >= size:
        raise InputError(
            f"the truth names candidate number {highest}, but the beliefs have {size} records numbered from 0. "
            "Pass the truth of the same original table"
        )
