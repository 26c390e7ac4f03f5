"""The question about matchings measured: what the adversary holds and the truth in, findings out."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unveil._kernels.matching import TooLargeError
from unveil._kernels.matching.closed_form import cracks_of_even
from unveil.ask.matching.findings import Holds, MatchingFindings
from unveil.errors import InputError
from unveil.guess import Matching, MatchingDistribution
from unveil.measure.matchings.cracks import cracks
from unveil.show.progress import Progress


def run(
    guess: Matching | MatchingDistribution,
    truth: Any,
    *,
    groups: Sequence[Any] | Mapping[Any, Any] | None,
    rng: np.random.Generator,
    progress: Progress,
    notes: Sequence[str],
) -> MatchingFindings:
    """Return how many entries an adversary cracks; see :func:`unveil.matching`."""
    progress("counting cracks", 0.0)
    try:
        found = cracks(guess, truth, groups=groups, rng=rng)
    except TooLargeError as error:
        raise InputError(str(error)) from error
    numbers = tuple(str(number) for number in range(1, guess.n + 1))
    return MatchingFindings(
        cracks=found,
        blind=cracks_of_even(guess.n, np.arange(guess.n)),
        holds=_holds(guess),
        possible=guess.count if isinstance(guess, MatchingDistribution) else guess.edges.weight.size,
        entries=guess.entries or numbers,
        tokens=guess.tokens or numbers,
        notes=(*notes, *found.notes),
    )


def _holds(guess: Matching | MatchingDistribution) -> Holds:
    if isinstance(guess, MatchingDistribution):
        return "matchings"
    if guess.is_feasibility:
        return "possible pairs"
    return "probabilities" if guess.is_doubly_stochastic else "weights"
