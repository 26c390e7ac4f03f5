"""Targets attempted and matched correctly, compared with random guessing."""

from dataclasses import dataclass
from math import nan

from unveil._figure import derived, figure
from unveil._kernels.types import IntArray
from unveil.guesses import Candidates
from unveil.guesses.candidates import NOBODY
from unveil.metrics.candidates._truth import considered_count, considered_truth
from unveil.metrics.candidates.information import amount_of_leaked_information
from unveil.metrics.candidates.success import adversary_overall_success, adversary_success_rate


@dataclass(frozen=True, kw_only=True)
class Matches:
    """Counts behind the attack success; NaN or 0 without a truth.

    ``correct`` may be a fraction: where the most likely candidates tie, each counts by its chance. ``by_chance`` is how
    many matches would be right if one of the candidates considered for each attempted target were picked blindly.
    ``not_considered`` counts the attempted targets whose true candidate was not among those considered.
    """

    targets: int = figure("Number of targets.", counts="people")
    attempted: int = figure("Number of targets attempted.", counts="people")
    has_truth: bool
    nobody: int = 0
    nobody_attempted: int = 0
    not_considered: int = 0
    correct: float = figure(
        "Expected number re-identified, ties at random: null without a truth.", default=nan, counts="people"
    )
    by_chance: float = figure(
        "Expected number by random guessing; null without a truth.",
        default=nan,
        name="correct_by_chance",
        counts="people",
    )
    success_rate: float = nan
    overall_success: float = nan

    @derived("Targets without a true match; null without a truth.", counts="people")
    def without_original(self) -> int | None:
        """Number of targets without a true match, or None without a truth."""
        return self.nobody if self.has_truth else None

    @derived(
        "Targets whose true candidate is not among the candidates; null without a truth.",
        counts="people",
    )
    def truth_not_considered(self) -> int | None:
        """Number of targets whose true candidate was not considered, or None."""
        return self.not_considered if self.has_truth else None

    @property
    def somebody(self) -> int:
        """Number of targets with a true match."""
        return self.targets - self.nobody

    @property
    def missed(self) -> int:
        """Number of targets with a true match that were not attempted."""
        return self.somebody - (self.attempted - self.nobody_attempted)


def matches(guess: Candidates, truth: IntArray | None = None) -> Matches:
    """Return the numbers of targets attempted and matched correctly.

    ``truth`` has one candidate number per target.

    >>> import numpy as np
    >>> found = matches(Candidates.from_matrix([[0.75, 0.25], [0.5, 0.5]]), np.array([0, 0]))
    >>> found.correct, found.by_chance
    (1.5, 1.0)
    """
    attempted = guess.attempted
    if truth is None:
        return Matches(targets=guess.target_count, attempted=int(attempted.sum()), has_truth=False)
    nobody = truth == NOBODY
    considered = considered_truth(guess, truth)
    tried = attempted & ~nobody
    return Matches(
        targets=guess.target_count,
        attempted=int(attempted.sum()),
        has_truth=True,
        nobody=int(nobody.sum()),
        nobody_attempted=int((attempted & nobody).sum()),
        not_considered=int((tried & ~considered).sum()),
        correct=amount_of_leaked_information(guess, truth),
        by_chance=float((1 / considered_count(guess)[tried & considered]).sum()),
        success_rate=adversary_success_rate(guess, truth),
        overall_success=adversary_overall_success(guess, truth),
    )
