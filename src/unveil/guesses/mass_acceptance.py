"""Acceptance tests of combination rules on random valid beliefs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unveil._kernels.mass.flow import largest_flow
from unveil._kernels.mass.sets import entries_of
from unveil._kernels.types import FloatArray
from unveil.errors import InputError, whole_number
from unveil.guesses.mass_combination import combine
from unveil.guesses.mass_function import MassFunction
from unveil.guesses.mass_rules import on_common_atoms

#: Differences of belief and nonspecificity up to this are rounding.
_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Counterexample:
    """Valid inputs for which a rule gives an unacceptable result.

    The result is invalid, or less specific than an input.
    """

    masses: tuple[MassFunction, ...]
    probability: FloatArray
    result: MassFunction


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """How often a rule kept Definition 27.

    Attributes
    ----------
    pairs
        How many pairs of beliefs were combined, each pair compatible with one probability.
    not_valid, less_specific
        Results that are not compatible with it, and results with more nonspecificity than one of the inputs.
    undefined
        Pairs that the rule refused to combine.
    counterexample
        The first pair whose result fails; None where none does.
    """

    pairs: int
    not_valid: int
    less_specific: int
    failed: int
    undefined: int
    counterexample: Counterexample | None

    @property
    def acceptable(self) -> bool:
        """Whether no counterexample was found; this is not certain."""
        return not self.failed and not self.undefined


def acceptance(
    rule: str | Callable[[Sequence[MassFunction]], MassFunction],
    *,
    pairs: int = 400,
    elements: int = 4,
    rng: np.random.Generator,
) -> Acceptance:
    """Return how often a rule gives invalid or less specific results.

    The beliefs are made from a probability: each element gives its share to random sets that hold it, so that the
    probability is an allocation of the masses. Every valid belief can come up so.

    Parameters
    ----------
    rule
        As in :func:`~unveil.guesses.mass_combination.combine`; ``informed`` is given the probability.
    pairs, elements
        How many pairs are drawn, on frames of this many elements.
    rng
        Where they come from.

    Examples
    --------
    >>> found = acceptance("dempster", pairs=50, rng=np.random.default_rng(1))
    >>> found.acceptable, found.counterexample is None
    (False, False)
    >>> acceptance("support_conditioning", pairs=50, rng=np.random.default_rng(1)).failed
    0
    """
    whole_number(pairs, "pairs")
    whole_number(elements, "elements", at_least=2)
    invalid, vague, failed, undefined, first = 0, 0, 0, 0, None
    for masses, probability in valid_pairs(pairs, elements, rng):
        told = {"probability": probability} if rule == "informed" else {}
        try:
            result = combine(masses, rule, **told)  # type: ignore[arg-type]
        except InputError:
            undefined += 1
            continue
        wrong = excess(result, probability) > _TOLERANCE
        less = result.nonspecificity() > min(one.nonspecificity() for one in masses) + _TOLERANCE
        invalid, vague, failed = invalid + wrong, vague + less, failed + (wrong or less)
        if first is None and (wrong or less):
            first = Counterexample(masses=masses, probability=probability, result=result)
    return Acceptance(
        pairs=pairs,
        not_valid=invalid,
        less_specific=vague,
        failed=failed,
        undefined=undefined,
        counterexample=first,
    )


def valid_pairs(
    pairs: int, elements: int, rng: np.random.Generator
) -> Iterator[tuple[tuple[MassFunction, MassFunction], FloatArray]]:
    """Yield pairs of beliefs that are compatible with a probability, and it."""
    for _ in range(pairs):
        probability = rng.dirichlet(np.ones(elements))
        yield (_valid(probability, rng), _valid(probability, rng)), probability


def _valid(probability: FloatArray, rng: np.random.Generator) -> MassFunction:
    """Return a valid belief: elements share mass over random sets."""
    size = probability.size
    masses: dict[tuple[int, ...], float] = {}
    for element, share in enumerate(probability.tolist()):
        parts = rng.dirichlet(np.ones(rng.integers(1, 3)))
        for part in parts.tolist():
            inside = rng.random(size) < 0.4
            inside[element] = True
            key = tuple(np.flatnonzero(inside).tolist())
            masses[key] = masses.get(key, 0.0) + share * part
    return MassFunction.from_sets(size, masses)


def excess(mass: MassFunction, probability: FloatArray) -> float:
    """Return the mass beyond the probability; 0 for a valid belief.

    >>> excess(MassFunction.from_set(2, [0]), np.array([0.25, 0.75]))
    0.75
    """
    atoms, _ = on_common_atoms([mass, MassFunction.from_probability(mass.size, probability)])
    entry = entries_of(mass.rows, atoms)
    chance = np.bincount(atoms.label, probability[atoms.element], atoms.count).astype(np.float64)
    return largest_flow(entry.start, entry.element, mass.mass, chance).missing
