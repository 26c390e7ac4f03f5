"""The list of rules that combine mass functions."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import Literal

import numpy as np

from unveil._kernels.mass.masses import (
    MOST_TABULATED,
    WORD,
    Masks,
    combine_pairs,
    common_part,
    join_pairs,
    merged,
    sums_at,
    transformed,
    tuples,
)
from unveil._kernels.mass.sets import Atoms, common_atoms, joined_rows, masks_of, moved_masks
from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.guesses.mass_function import MassFunction

Rule = Callable[..., MassFunction]
AcceptableFor = Literal["every probability", "the given probability", "none"]

# Sets of atoms beyond one word take memory: 2**31 bits are 256 MB.
_MOST_BITS = 2**31
_MOST_TUPLES = 2 * 10**7
# What is left of masses that cancel.
_CANCELLED = 1e-13


@dataclass(frozen=True, kw_only=True)
class CombinationRule:
    """The facts about one rule of combination."""

    name: str
    rule: Rule
    #: Which probabilities, of those that all inputs are compatible with, the result is compatible with too, while it is
    #: no less specific than any input (Definition 27): every one, the one that the rule was told, or not even that.
    acceptable_for: AcceptableFor
    source: str

    @property
    def acceptable(self) -> bool:
        """Whether the rule meets Definition 27 for every true probability."""
        return self.acceptable_for == "every probability"

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.rule) or "").partition("\n")[0]


_COMBINATIONS: dict[str, CombinationRule] = {}

#: Every rule by name.
COMBINATIONS: Mapping[str, CombinationRule] = MappingProxyType(_COMBINATIONS)


def combination(*, acceptable_for: AcceptableFor = "none", source: str) -> Callable[[Rule], Rule]:
    """List the decorated function as a combination rule."""

    def list_it(rule: Rule) -> Rule:
        name = rule.__name__
        _COMBINATIONS[name] = CombinationRule(name=name, rule=rule, acceptable_for=acceptable_for, source=source)
        return rule

    return list_it


def on_common_atoms(masses: Sequence[MassFunction]) -> tuple[Atoms, list[Masks]]:
    """Return the common atoms, and each input's sets of atoms."""
    atoms = common_atoms([one.blocks for one in masses])
    if atoms.count <= WORD:
        return atoms, [moved_masks(one.block_masks, one.blocks, atoms) for one in masses]
    bits = atoms.count * sum(one.mass.size for one in masses)
    if bits > _MOST_BITS:
        raise InputError(
            f"this rule needs {bits:,} focal sets times atoms at once, above the maximum of {_MOST_BITS:,}. "
            "Use support_conditioning or pick_min instead"
        )
    return atoms, [masks_of(one.rows, atoms) for one in masses]


def intersections(masses: Sequence[MassFunction]) -> tuple[Atoms, Masks, FloatArray, float]:
    """Return atoms, nonempty intersections, their masses, and the empty mass."""
    atoms, masks = on_common_atoms(masses)
    sets, weights = masks[0], masses[0].mass
    for other, one in zip(masks[1:], masses[1:], strict=True):
        sets, weights = combine_pairs(sets, weights, other, one.mass, atoms.count)
    if sets[0] == 0:
        return atoms, sets[1:], weights[1:], float(weights[0])
    return atoms, sets, weights, 0.0


@combination(source="Smets, Kennes 1994: The transferable belief model")
def conjunctive(masses: Sequence[MassFunction]) -> MassFunction:
    """Return the product masses on intersections, which must be nonempty.

    The mass of disjoint sets would stay on the empty set, which Definition 2 forbids: refused, with how much it is.
    """
    atoms, sets, weights, conflict = intersections(masses)
    if conflict > 0:
        raise InputError(
            f"the conjunctive rule leaves a mass of {conflict:.6g} on the empty set, which a belief function cannot "
            "have. Use dempster to normalize, or yager, dubois_prade or pcr5 to reassign it"
        )
    return MassFunction.of_masks(masses[0].size, sets, weights, atoms)


@combination(source="Dempster 1967; Shafer 1976: A mathematical theory of evidence")
def dempster(masses: Sequence[MassFunction]) -> MassFunction:
    """Return the product masses on intersections, normalized by non-conflict."""
    atoms, sets, weights, _ = intersections(masses)
    if sets.size == 0:
        raise InputError(
            "Dempster's rule is undefined: no focal sets of the inputs intersect (total conflict). "
            "At least one input is invalid: see jointly_coherent"
        )
    return MassFunction.of_masks(masses[0].size, sets, weights, atoms)


@combination(source="Yager 1987: On the Dempster-Shafer framework and new combination rules")
def yager(masses: Sequence[MassFunction]) -> MassFunction:
    """Return the product masses on intersections, conflict on the frame."""
    size = masses[0].size
    # The frame takes part so that elements of no focal set are an atom as well.
    atoms, sets, weights, conflict = intersections([*masses, MassFunction.vacuous(size)])
    if conflict > 0:
        whole = np.array([(1 << atoms.count) - 1], sets.dtype)
        sets, weights = merged(np.concatenate([sets, whole]), np.append(weights, conflict))
    return MassFunction.of_masks(size, sets, weights, atoms)


@combination(source="Dubois, Prade 1988: Representation and combination of uncertainty")
def dubois_prade(masses: Sequence[MassFunction]) -> MassFunction:
    """Return the product masses on intersections, or unions if empty."""
    _check_tuples(masses)
    atoms, masks = on_common_atoms(masses)
    parts = []
    for sets, weights in tuples(masks, [one.mass for one in masses]):
        inside = common_part(sets)
        parts.append(merged(np.where(inside == 0, reduce(or_, sets), inside), np.prod(weights, axis=0)))
    return MassFunction.of_masks(masses[0].size, *_together(parts), atoms)


@combination(source="Smarandache, Dezert 2005: proportional conflict redistribution rule no. 5")
def pcr5(masses: Sequence[MassFunction]) -> MassFunction:
    """Return the product masses on intersections, conflict redistributed by mass.

    A set that several of the inputs put in conflict counts once, with the product of their masses.
    """
    _check_tuples(masses)
    atoms, masks = on_common_atoms(masses)
    parts = []
    for sets, weights in tuples(masks, [one.mass for one in masses]):
        whole, inside = np.prod(weights, axis=0), common_part(sets)
        agree = inside != 0
        parts.append(merged(inside[agree], whole[agree]) if agree.any() else (inside[:0], whole[:0]))
        against = [one[~agree] for one in sets]
        shares = _shares(against, [one[~agree] for one in weights])
        total = np.sum(shares, axis=0)
        parts += [
            merged(one[share > 0], (whole[~agree] * share / total)[share > 0])
            for one, share in zip(against, shares, strict=True)
            if (share > 0).any()
        ]
    return MassFunction.of_masks(masses[0].size, *_together(parts), atoms)


def _shares(sets: Sequence[Masks], weights: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the product of equal sets' masses, for the first input."""
    shares = []
    for k, one in enumerate(sets):
        share = np.ones(one.size)
        for j, other in enumerate(sets):
            same = (one == other).astype(np.bool_)
            share *= np.where(same, weights[j] if j >= k else 0.0, 1.0)
        shares.append(share)
    return shares


def _check_tuples(masses: Sequence[MassFunction]) -> None:
    count = int(np.prod([float(one.mass.size) for one in masses]))
    if count > _MOST_TUPLES:
        raise InputError(
            f"this rule combines {count:,} tuples of focal sets, above the maximum of "
            f"{_MOST_TUPLES:,}. Combine fewer inputs, or use support_conditioning"
        )


def _together(parts: Sequence[tuple[Masks, FloatArray]]) -> tuple[Masks, FloatArray]:
    return merged(np.concatenate([sets for sets, _ in parts]), np.concatenate([weights for _, weights in parts]))


@combination(source="Dubois, Prade 1986; Smets 1993: the disjunctive rule of combination")
def disjunctive(masses: Sequence[MassFunction]) -> MassFunction:
    """Return the product masses on unions; valid if any input is."""
    atoms, masks = on_common_atoms(masses)
    sets, weights = masks[0], masses[0].mass
    for other, one in zip(masks[1:], masses[1:], strict=True):
        sets, weights = join_pairs(sets, weights, other, one.mass, np.bitwise_or)
    return MassFunction.of_masks(masses[0].size, sets, weights, atoms)


@combination(source="Murphy 2000: Combining belief functions when evidence conflicts (the mean only)")
def mean(masses: Sequence[MassFunction]) -> MassFunction:
    """Return the mean of the masses; valid if all inputs are."""
    weights = np.concatenate([one.mass for one in masses]) / len(masses)
    return MassFunction.of_rows(masses[0].size, joined_rows([one.rows for one in masses]), weights)


@combination(source="Denoeux 2008: Conjunctive and disjunctive combination of nondistinct evidence")
def cautious(masses: Sequence[MassFunction]) -> MassFunction:
    """Return the normalized combination of possibly dependent inputs.

    Each input is taken apart into simple pieces of evidence, and of each piece the strongest is kept. That needs some
    mass on the whole frame in each input; without, it is undefined.
    """
    size = masses[0].size
    certain = sum(int(one.lengths.max()) < size for one in masses)
    atoms, masks = on_common_atoms(masses)
    if certain or atoms.count > MOST_TABULATED:
        raise InputError(
            f"the cautious rule is undefined: {certain} inputs have no mass on the whole frame. Use another rule"
            if certain
            else f"the cautious rule needs at most {MOST_TABULATED} atoms, but there are {atoms.count}. "
            "Use support_conditioning"
        )
    # Weights of evidence, in logarithms: what a commonality owes to each set that holds it.
    pieces = []
    for sets, one in zip(masks, masses, strict=True):
        common = transformed(sums_at(sets, one.mass, 2**atoms.count), "supersets")
        pieces.append(-transformed(np.log(common), "supersets", back=True))
    evidence = np.min(pieces, axis=0)
    # The whole frame is no evidence, and what counts for the empty set only is divided out.
    evidence[[0, -1]] = 0.0
    common = np.exp(evidence.sum() - transformed(evidence, "supersets"))
    weights = transformed(common, "supersets", back=True)
    weights[0] = 0.0
    kept = np.flatnonzero(weights > _CANCELLED * weights.max())
    return MassFunction.of_masks(size, kept, weights[kept], atoms)
