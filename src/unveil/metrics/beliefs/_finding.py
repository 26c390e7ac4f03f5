"""Finding about one guess: compatible or not, the witness, and a sentence."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.guesses.mass_function import MassFunction
from unveil.metrics.beliefs._belief_flow import worst_set
from unveil.metrics.beliefs._coupling import RULED_OUT, TOLERANCE, Decision, decide

Level = Literal["record", "file"]

_SHOWN = 5
_NOTHING: IntArray = np.zeros(0, np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class CompatibilityFinding:
    """Compatibility of one guess with the truth; a witness if it fails.

    Attributes
    ----------
    valid
        True, False, or None where it is undecided, the target was not attempted or has no true probability.
    level
        Whose truth: that of the record by itself, or that of the whole file.
    method
        The way it was decided, or why it was not.
    witness, score
        For a belief function that is not compatible: the set A with ``Bel(A) > P(A)`` and no score. For a probability:
        the records of either, and a score of each (at most 1 in size) of which the guess expects too much.
    claimed, possible
        ``Bel(A)`` and ``P(A)``; or what the guess expects of the score, and the most that a compatible guess could.
    why
        One plain sentence, which names the level; records in it are counted from 1, as in a file.
    """

    valid: bool | None
    level: Level
    method: str
    why: str
    witness: IntArray = field(default_factory=_NOTHING.copy)
    score: FloatArray | None = None
    claimed: float = 0.0
    possible: float = 0.0

    @property
    def excess(self) -> float:
        """Excess of the claim over the possible value, at least 0."""
        return self.claimed - self.possible


def judge_belief(mass: MassFunction, elements: IntArray, probability: FloatArray, level: Level) -> CompatibilityFinding:
    """Return whether ``Bel(A) <= P(A)`` for every A.

    ``elements`` are those of positive probability.
    """
    worst = worst_set(mass.sets, mass.mass, elements, probability, mass.size)
    if worst.excess <= TOLERANCE:
        why = f"No belief exceeds its probability: the guess is compatible with the {level}-level truth."
        return CompatibilityFinding(valid=True, level=level, method=worst.method, why=why)
    why = (
        f"The belief that the record is {_numbers(worst.elements)} is {worst.belief:.6g}, but its probability "
        f"is {worst.probability:.6g}: the guess is incompatible with the {level}-level truth."
    )
    return CompatibilityFinding(
        valid=False,
        level=level,
        method=worst.method,
        why=why,
        witness=worst.elements,
        claimed=worst.belief,
        possible=worst.probability,
    )


def judge_probability(
    guess: tuple[IntArray, FloatArray], truth: tuple[IntArray, FloatArray], at_most: int, level: Level
) -> CompatibilityFinding:
    """Return whether the guess is the pignistic of a compatible belief.

    Both have elements and probabilities.
    """
    records = np.union1d(guess[0], truth[0])
    q, p = np.zeros(records.size), np.zeros(records.size)
    q[np.searchsorted(records, guess[0])] = guess[1]
    p[np.searchsorted(records, truth[0])] = truth[1]
    found = decide(p, q, at_most)
    if found.valid is None:
        why = f"Compatibility with the {level}-level truth is unknown: {found.method}."
        return CompatibilityFinding(valid=None, level=level, method=found.method, why=why)
    if found.valid:
        why = f"A compatible belief gives this probability: the guess is compatible with the {level}-level truth."
        return CompatibilityFinding(valid=True, level=level, method=found.method, why=why)
    return CompatibilityFinding(
        valid=False,
        level=level,
        method=found.method,
        why=f"{_refutation(records, p, q, found)}: the guess is incompatible with the {level}-level truth.",
        witness=records,
        score=found.score,
        claimed=found.expected,
        possible=found.possible,
    )


def _refutation(records: IntArray, p: FloatArray, q: FloatArray, decision: Decision) -> str:
    """Return the claim of a refuted guess q and the possible value."""
    if decision.method == RULED_OUT:
        out = (q == 0) & (p > 0)
        return f"The guess excludes that the record is {_numbers(records[out])}, of probability {p[out].sum():.6g}"
    if p.max() >= 1 - TOLERANCE:
        true, likely = int(np.argmax(p)), int(np.argmax(q))
        certain, held = records[true] + 1, records[likely] + 1
        return (
            f"The record is number {certain} (counted from 1) for certain, but number {held} has a higher probability"
        )
    digits = 6 if f"{decision.expected:.6g}" != f"{decision.possible:.6g}" else 13
    claimed, possible = f"{decision.expected:.{digits}g}", f"{decision.possible:.{digits}g}"
    return f"The expected score of the guess is {claimed}, but that of any valid guess is at most {possible}"


def _numbers(elements: IntArray) -> str:
    """Return the first few record numbers, counted from 1."""
    if elements.size == 1:
        return f"number {elements[0] + 1} (counted from 1)"
    shown = ", ".join(str(element + 1) for element in elements[:_SHOWN])
    more = f" and {elements.size - _SHOWN:,} more" if elements.size > _SHOWN else ""
    return f"one of {elements.size:,} (numbers {shown}{more}, counted from 1)"


def without_truth(level: Level) -> CompatibilityFinding:
    """Return that there is nothing to compare the guess with."""
    why = f"Compatibility is unknown: this target has no {level}-level truth."
    return CompatibilityFinding(valid=None, level=level, method=f"no {level}-level truth", why=why)
