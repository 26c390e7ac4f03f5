"""Make one belief of several about the same target: acceptable rules first, the classical ones to compare with."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from unveil._kernels.mass.allocation import allocate
from unveil._kernels.mass.masses import Masks, join_pairs, merged, sizes_of, sums_at, transformed
from unveil._kernels.mass.program import least_nonspecific, lower_envelope
from unveil._kernels.mass.sets import Atoms, SetRows, entries_of, is_member
from unveil._kernels.types import FloatArray, IntArray
from unveil._specification import own_module
from unveil.errors import InputError, did_you_mean, mark_own, shortened
from unveil.guesses._mass_checks import ROUNDING, Probability, checked_probability
from unveil.guesses.mass_function import MassFunction
from unveil.guesses.mass_rules import COMBINATIONS, combination, intersections, on_common_atoms

__all__ = ["COMBINATIONS", "combine", "conflict"]


PAPER = (
    'Torra and Stokes, "A formalization of re-identification in terms of compatible probabilities", 2013, Definition 27'
)
#: The linear programme has a variable and a row for every union of atoms.
MOST_ATOMS = 10
# Two nonspecificities this near are equal.
_TIE = 1e-12


def combine(
    masses: Sequence[MassFunction],
    rule: str | Callable[[Sequence[MassFunction]], MassFunction] = "support_conditioning",
    *,
    probability: Probability | None = None,
    most_atoms: int = MOST_ATOMS,
) -> MassFunction:
    """Return what several beliefs about the same target amount to together.

    A rule is acceptable (Definition 27) if its result is compatible with every probability that all inputs are
    compatible with, and no less specific than any of them: `COMBINATIONS` says which ones are, and
    :func:`~unveil.guesses.mass_acceptance.acceptance` looks for a counterexample to any rule. All inputs are combined
    at once, because most rules are not associative.

    Parameters
    ----------
    masses
        The inputs, on frames of the same size.
    rule
        One of `COMBINATIONS`: ``support_conditioning``, ``min_nonspecificity``, ``pick_min``, which are acceptable;
        ``informed``, which is for the probability that it is told; ``conjunctive``, ``dempster``, ``yager``,
        ``dubois_prade``, ``pcr5``, ``disjunctive``, ``mean``, ``cautious``, which are not. Or a function of your own,
        or where it lies (``"package.module:name"``): it gets the masses and returns one on their frame.
    probability
        The true probability, for ``informed`` only: one for each element, or elements and their probabilities.
    most_atoms
        The most atoms that ``min_nonspecificity`` may solve its programme for, which has ``2**atoms`` variables.

    Examples
    --------
    >>> first = MassFunction.from_set(6, [0, 1, 2])
    >>> second = MassFunction.from_sets(6, {(1, 2): 0.5, (2, 3, 4): 0.5})
    >>> combine([first, second]).sets
    (array([2]), array([1, 2]))
    >>> COMBINATIONS["support_conditioning"].acceptable, COMBINATIONS["dempster"].acceptable
    (True, False)
    """
    several = _checked(masses)
    if isinstance(rule, str) and rule not in COMBINATIONS and ":" in rule:
        rule = own_rule(rule)
    if callable(rule):
        return _by_own_rule(several, rule, probability)
    if not isinstance(rule, str) or rule not in COMBINATIONS:
        seen, hint = (shortened(rule), did_you_mean(rule, COMBINATIONS)) if isinstance(rule, str) else (f"{rule!r}", "")
        raise InputError(
            f"{seen} is no rule of combination.{hint} Choose one of {', '.join(COMBINATIONS)}, or pass a function of "
            "your own, or package.module:name"
        )
    if (probability is not None) != (rule == "informed"):
        raise InputError(
            "the rule 'informed' needs the true probability, and no other rule takes it. "
            "Pass probability=, or choose another rule"
        )
    settings: dict[str, dict[str, Any]] = {
        "informed": {"probability": probability},
        "min_nonspecificity": {"most_atoms": most_atoms},
    }
    return COMBINATIONS[rule].rule(several, **settings.get(rule, {}))


def own_rule(text: str) -> Callable[[Sequence[MassFunction]], MassFunction]:
    """Return the function that is written ``package.module:name``; its module must be importable.

    >>> own_rule("unveil.guesses.mass_combination:pick_min").__name__
    'pick_min'
    """
    module, _, name = text.strip().partition(":")
    found = getattr(own_module(module, "rule of combination"), name, None)
    if not callable(found):
        raise InputError(
            f"a rule of combination must be a function, but {shortened(text)} is none. Write package.module:name of one"
        )
    mark_own(getattr(found, "__module__", module))
    return cast("Callable[[Sequence[MassFunction]], MassFunction]", found)


def _by_own_rule(
    several: tuple[MassFunction, ...],
    rule: Callable[[Sequence[MassFunction]], MassFunction],
    probability: Probability | None,
) -> MassFunction:
    if probability is not None:
        raise InputError(
            "a function of your own gets the masses only, and no probability. Leave out probability=, or let the "
            "function know it by itself"
        )
    found = rule(several)
    if not isinstance(found, MassFunction) or found.size != several[0].size:
        raise InputError(
            f"a function of your own must return a MassFunction on the frame of the inputs, which has "
            f"{several[0].size} elements, but returned {_described(found)}. Let it return one"
        )
    return found


def _described(value: object) -> str:
    return f"one on {value.size}" if isinstance(value, MassFunction) else f"a {type(value).__name__}"


def conflict(masses: Sequence[MassFunction]) -> float:
    """Return the product mass of disjoint focal sets, from 0 (none are) to 1 (all are).

    It says nothing about validity: two equal probabilities are in conflict, and both may be true. See
    :func:`~unveil.guesses.coherence.jointly_coherent`.

    >>> fair = MassFunction.from_probability(2, [0.5, 0.5])
    >>> conflict([fair, fair])
    0.5
    """
    return intersections(_checked(masses))[3]


def _checked(masses: Sequence[MassFunction]) -> tuple[MassFunction, ...]:
    several = tuple(masses)
    sizes = sorted({one.size for one in several})
    if not several:
        raise InputError("there must be at least one mass function to combine. Pass a list of them")
    if len(sizes) > 1:
        raise InputError(f"all mass functions must be on the same frame, but their sizes are {sizes}. Correct them")
    return several


@combination(acceptable_for="every probability", source=PAPER)
def support_conditioning(masses: Sequence[MassFunction]) -> MassFunction:
    """Return the least nonspecific input, once all are conditioned on what all hold possible.

    The target is certain to lie in the focal sets of each valid input, and conditioning on what is certain is always
    acceptable. Where several are equally specific, the first of them. Cheap also on large frames.
    """
    return _least(_narrowed(masses))


@combination(acceptable_for="every probability", source=PAPER)
def min_nonspecificity(masses: Sequence[MassFunction], *, most_atoms: int = MOST_ATOMS) -> MassFunction:
    """Return the least nonspecific belief that holds whichever probability is true that all inputs are compatible with.

    The best that is possible without knowing more, by linear programmes over all unions of atoms: refused where there
    are more than ``most_atoms``. Where several are least, the one with the most even masses.
    """
    narrowed = _narrowed(masses)
    atoms, masks = on_common_atoms(narrowed)
    if atoms.count > most_atoms:
        raise InputError(
            f"min_nonspecificity solves a programme over the 2**{atoms.count} unions of {atoms.count} atoms, and is "
            f"limited to {most_atoms} atoms. Use support_conditioning, or raise most_atoms if you can wait"
        )
    tables = [sums_at(sets, one.mass, 2**atoms.count) for sets, one in zip(masks, narrowed, strict=True)]
    bounds = np.max([transformed(table, "subsets") for table in tables], axis=0)
    envelope = lower_envelope(bounds)
    if envelope is None:
        raise InputError(_CONTRADICTION)
    sizes = sizes_of(np.arange(2**atoms.count), atoms.sizes)
    weights = least_nonspecific(envelope, sizes.astype(np.float64))
    found = np.flatnonzero(weights)
    return MassFunction.of_masks(masses[0].size, found, weights[found], atoms)


@combination(acceptable_for="every probability", source=PAPER)
def pick_min(masses: Sequence[MassFunction]) -> MassFunction:
    """Return the input with the least nonspecificity; where several have it, the first of them."""
    return _least(masses)


@combination(acceptable_for="the probability told", source=PAPER)
def informed(masses: Sequence[MassFunction], *, probability: Probability) -> MassFunction:
    """Return the combination for a known true probability: masses meet where they are shared out to the same element.

    Each mass is shared out among the elements of its set so that the totals are the probability; sets A and B then
    share ``sum over x of a(A, x) * b(B, x) / P(x)``, which goes to their intersection. Of the ways to share out, the
    one nearest to proportion is taken. An input that is not compatible with the probability is refused.

    The result is compatible with the probability that was told and at least as specific as each input, as Definition 27
    asks. It is no rule for an adversary, who does not know that probability: with another one that all inputs are
    compatible with, the result need not be: of 250 random pairs on four elements it was not for 226, each beside
    the probability that lies farthest in a direction drawn by lot among those that both inputs are compatible with.
    """
    elements, values = checked_probability(masses[0].size, probability)
    atoms, masks = on_common_atoms(masses)
    chance = _on_atoms(atoms, elements, values)
    state: list[tuple[Masks, FloatArray]] = []
    for k, (sets, one) in enumerate(zip(masks, masses, strict=True)):
        entry, shares = _shared_out(one, atoms, chance, k)
        owner = np.repeat(np.arange(one.mass.size), np.diff(entry.start))
        by_atom = [(entry.element == atom) & (shares > 0) for atom in range(atoms.count)]
        parts = [(sets[owner[here]], shares[here]) for here in by_atom]
        state = (
            [
                join_pairs(*had, part[0], part[1] / chance[atom], np.bitwise_and)
                if had[0].size and part[0].size
                else had
                for atom, (had, part) in enumerate(zip(state, parts, strict=True))
            ]
            if state
            else parts
        )
    found = merged(np.concatenate([sets for sets, _ in state]), np.concatenate([shares for _, shares in state]))
    return MassFunction.of_masks(masses[0].size, *found, atoms)


_CONTRADICTION = (
    "no probability is compatible with all inputs, so at least one of them is not valid, whatever the truth is: there "
    "is nothing to combine. See jointly_coherent for which pair and why"
)


def _least(masses: Sequence[MassFunction]) -> MassFunction:
    values = np.array([one.nonspecificity() for one in masses])
    return masses[int(np.flatnonzero(values <= values.min() + _TIE)[0])]


def _narrowed(masses: Sequence[MassFunction]) -> list[MassFunction]:
    """Return each input conditioned on the elements that every input holds possible."""
    shared = masses[0].support
    for one in masses[1:]:
        shared = shared[is_member(shared, one.support)]
    if shared.size == 0 or any(one.plausibility(shared) < 1 for one in masses):
        raise InputError(_CONTRADICTION)
    return [one if one.support.size == shared.size else one.conditioned(shared) for one in masses]


def _on_atoms(atoms: Atoms, elements: IntArray, values: FloatArray) -> FloatArray:
    """Return the probability of each atom; what lies in none is left out."""
    inside = is_member(elements, atoms.element)
    label = atoms.label[np.searchsorted(atoms.element, elements[inside])]
    return sums_at(label, values[inside], atoms.count)


def _shared_out(one: MassFunction, atoms: Atoms, chance: FloatArray, number: int) -> tuple[SetRows, FloatArray]:
    """Return the atoms of each focal set, and what it gives to each."""
    entry = entries_of(one.rows, atoms)
    shares, flow = allocate(entry.start, entry.element, one.mass, chance)
    if flow.missing > ROUNDING:
        raise InputError(
            f"every input must be compatible with the probability, but number {number} (counted from 0) is not: a set "
            f"has a belief that exceeds its probability by {flow.missing:.6g}. Leave it out, or correct the probability"
        )
    return entry, shares
