"""Run a matching attack: knowledge and perhaps truth in, findings out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from unveil._kernels.matching import TooLargeError
from unveil._kernels.matching.closed_form import cracks_of_pairings
from unveil.errors import InputError
from unveil.guesses import Matching, MatchingDistribution, UnequalMatching
from unveil.guesses.unequal_matching import truth_of
from unveil.metrics.matchings._random_matchings import Attack, random_matching
from unveil.metrics.matchings.cracks import cracks
from unveil.metrics.matchings.itemsets import Sets
from unveil.metrics.matchings.permanents import ambiguity, attack_degree
from unveil.questions.matching.findings import AmbiguityFindings, KnowledgeKind, MatchingFindings, ReleaseAlone
from unveil.report.progress import Progress

Measure = TypeVar("Measure")

TOGETHER = (
    "The weights of all releases were multiplied. This is valid if the releases are independent, or only "
    "rule pairs out. Shared evidence counts twice and overstates the attacker's certainty."
)


def run(
    guess: Attack,
    truth: Any,
    *,
    groups: Sequence[Any] | Mapping[Any, Any] | None,
    sets: Sets | None,
    precision: float,
    rng: np.random.Generator,
    progress: Progress,
    notes: Sequence[str],
    releases: Sequence[tuple[str, Attack]] = (),
) -> MatchingFindings:
    """Return the number of resolved pseudonyms; see :func:`unveil.matching`."""
    _refuse_more_pairs(guess, truth)
    progress("counting cracks", 0.0)
    found = _measured(lambda: cracks(guess, truth, groups=groups, sets=sets, rng=rng, precision=precision))
    true_pairs = int((found.truth >= 0).sum())
    return MatchingFindings(
        cracks=found,
        blind=cracks_of_pairings(found.n, found.pseudonym_count, found.pairs, true_pairs),
        holds=_holds(guess),
        possible=_possible(guess),
        items=guess.items or _numbers(guess.n),
        pseudonyms=guess.pseudonyms or _numbers(found.pseudonym_count),
        notes=(*notes, *((TOGETHER,) if releases else ()), *found.notes),
        releases=tuple(_alone(name, one, found.truth, precision, rng) for name, one in releases),
    )


def run_without_truth(
    guess: Attack,
    *,
    precision: float,
    rng: np.random.Generator,
    progress: Progress,
    notes: Sequence[str],
    releases: Sequence[tuple[str, Attack]] = (),
) -> AmbiguityFindings:
    """Return what an attack leaves open; see :func:`unveil.matching`."""
    progress("counting matchings", 0.0)
    found = _measured(lambda: ambiguity(guess, rng=rng, precision=precision))
    return AmbiguityFindings(
        ambiguity=found,
        holds=_holds(guess),
        possible=_possible(guess),
        items=guess.items or _numbers(guess.n),
        notes=(*notes, *((TOGETHER,) if releases else ()), *found.notes),
        releases=tuple(_alone(name, one, None, precision, rng) for name, one in releases),
    )


def _refuse_more_pairs(guess: Attack, truth: Any) -> None:
    """Reject a truth with more pairs than the attacker makes."""
    if not isinstance(guess, UnequalMatching):
        return
    true_pairs = int((truth_of(guess, truth) >= 0).sum())
    if true_pairs > guess.pair_count:
        raise InputError(
            f"truth has {true_pairs} pairs of an item and a pseudonym, but pairs is {guess.pair_count}. Set "
            f"pairs to {true_pairs}, or remove pairs from the truth"
        )


def _measured(measure: Callable[[], Measure]) -> Measure:
    try:
        return measure()
    except TooLargeError as error:
        raise InputError(str(error)) from error


def _alone(name: str, guess: Attack, truth: Any, precision: float, rng: np.random.Generator) -> ReleaseAlone:
    """Return what one release reaches alone."""
    expected = None
    if truth is not None:
        found = _measured(lambda: random_matching(guess, truth_of(guess, truth), rng=rng, precision=precision))
        expected = found.figure(float(found.probability.sum()), found.expected_error)
    return ReleaseAlone(name=name, expected_cracks=expected, d=attack_degree(guess, rng=rng, precision=precision))


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, count + 1))


def _possible(guess: Attack) -> int:
    if isinstance(guess, MatchingDistribution):
        return guess.count
    return guess.edges.weight.size if isinstance(guess, Matching) else int(guess.real().sum())


def _holds(guess: Attack) -> KnowledgeKind:
    if isinstance(guess, MatchingDistribution):
        return "matchings"
    if isinstance(guess, UnequalMatching):
        return "possible pairs" if guess.padded.is_feasibility else "weights"
    if guess.is_feasibility:
        return "possible pairs"
    return "probabilities" if guess.is_doubly_stochastic else "weights"
