"""Combination of beliefs about one target: acceptable and classical rules."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from unveil._kernels.mass.flow import Flow, largest_flow
from unveil._kernels.mass.masses import Masks, join_pairs, merged, sizes_of, sums_at, transformed
from unveil._kernels.mass.sets import Atoms, SetRows, entries_of, is_member
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil._specification import own_module
from unveil.errors import InputError, did_you_mean, mark_own, shortened
from unveil.guesses.mass_function import ROUNDING, MassFunction, Probability, checked_probability
from unveil.guesses.mass_rules import COMBINATIONS, combination, intersections, on_common_atoms

__all__ = ["COMBINATIONS", "combine", "conflict"]


PAPER = (
    'Torra and Stokes, "A formalization of re-identification in terms of compatible probabilities", 2013, Definition 27'
)
#: The linear program has a variable and a row for every union of atoms.
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
    """Return the combination of several beliefs about one target.

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
        ``informed``, which is for the probability that it is given; ``conjunctive``, ``dempster``, ``yager``,
        ``dubois_prade``, ``pcr5``, ``disjunctive``, ``mean``, ``cautious``, which are not. Or a function of your own,
        or where it lies (``"package.module:name"``): it gets the masses and returns one on their frame.
    probability
        The true probability, for ``informed`` only: one for each element, or elements and their probabilities.
    most_atoms
        The most atoms that ``min_nonspecificity`` may solve its program for, which has ``2**atoms`` variables.

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
            f"Unknown rule {seen}.{hint} Use one of {', '.join(COMBINATIONS)}, or pass a function of "
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
            "a function of your own gets the masses only, and no probability. Leave out probability=, or "
            "close over it in the function"
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
    """Return the product mass of focal sets without a common element, 0 to 1.

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
        raise InputError(f"all mass functions must be on the same frame, but their sizes are {sizes}. Use one frame")
    return several


@combination(acceptable_for="every probability", source=PAPER)
def support_conditioning(masses: Sequence[MassFunction]) -> MassFunction:
    """Return the least nonspecific input, conditioned on the common support.

    The target is certain to lie in the focal sets of each valid input, and conditioning on what is certain is always
    acceptable. Where several are equally specific, the first of them. Cheap also on large frames.
    """
    return _least(_narrowed(masses))


@combination(acceptable_for="every probability", source=PAPER)
def min_nonspecificity(masses: Sequence[MassFunction], *, most_atoms: int = MOST_ATOMS) -> MassFunction:
    """Return the least nonspecific belief valid for every compatible probability.

    The best that is possible without knowing more, by linear programmes over all unions of atoms: refused where there
    are more than ``most_atoms``. Where several are least, the one with the most even masses.
    """
    narrowed = _narrowed(masses)
    atoms, masks = on_common_atoms(narrowed)
    if atoms.count > most_atoms:
        raise InputError(
            f"min_nonspecificity solves a program over the 2**{atoms.count} unions of {atoms.count} atoms, above the "
            f"maximum of {most_atoms} atoms. Use support_conditioning, or raise most_atoms and wait longer"
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
    """Return the first input with the least nonspecificity."""
    return _least(masses)


@combination(acceptable_for="the given probability", source=PAPER)
def informed(masses: Sequence[MassFunction], *, probability: Probability) -> MassFunction:
    """Return the combination for a known true probability.

    Masses meet where they are allocated to the same element.

    Each mass is shared out among the elements of its set so that the totals are the probability; sets A and B then
    share ``sum over x of a(A, x) * b(B, x) / P(x)``, which goes to their intersection. Of the ways to share out, the
    one nearest to proportion is taken. An input that is not compatible with the probability is refused.

    The result is compatible with the probability that was told and at least as specific as each input, as Definition 27
    asks. It is no rule for an attacker, who does not know that probability: with another one that all inputs are
    compatible with, the result need not be: of 250 random pairs on four elements it was not for 226, each next to the
    probability that lies farthest in a direction drawn at random among those that both inputs are compatible with.
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
    "no probability is compatible with all inputs, so at least one input is invalid and they cannot be combined. "
    "See jointly_coherent for the pair and the reason"
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
    """Return the probability of each atom."""
    inside = is_member(elements, atoms.element)
    label = atoms.label[np.searchsorted(atoms.element, elements[inside])]
    return sums_at(label, values[inside], atoms.count)


def _shared_out(one: MassFunction, atoms: Atoms, chance: FloatArray, number: int) -> tuple[SetRows, FloatArray]:
    """Return each focal set's atoms, and their shares."""
    entry = entries_of(one.rows, atoms)
    shares, flow = allocate(entry.start, entry.element, one.mass, chance)
    if flow.missing > ROUNDING:
        raise InputError(
            f"input {number} (counted from 0) is incompatible with the probability: the belief of a set exceeds its "
            f"probability by {flow.missing:.6g}. Leave it out, or correct the probability"
        )
    return entry, shares


# Share out each mass among the atoms of its set so that the totals are a given probability.

# What a flow carries below this is rounding.
_NOTHING = 1e-12
_CLOSE = 1e-14
_MOST_ROUNDS = 20_000


def allocate(start: IntArray, atom: IntArray, mass: FloatArray, probability: FloatArray) -> tuple[FloatArray, Flow]:
    """Return each set's allocation to atoms, and a feasibility flow.

    The atoms of set ``k`` are ``atom[start[k]:start[k + 1]]``. Of all ways to share out, this is the one nearest (in
    relative entropy) to giving in proportion to the probability: there is only one such, so neither the order of the
    sets nor that of the atoms matters. Where the flow is short, no way exists and what is returned means nothing.

    >>> allocate(np.array([0, 1, 3]), np.array([0, 0, 1]), np.array([0.25, 0.75]), np.array([0.5, 0.5]))[0]
    array([0.25, 0.25, 0.5 ])
    """
    flow = largest_flow(start, atom, mass, probability)
    owner = np.repeat(np.arange(mass.size), np.diff(start))
    possible = _possible(owner, atom, flow.carried > _NOTHING, mass.size, probability.size)
    shares: FloatArray = mass[owner] * probability[atom] * possible
    for _ in range(_MOST_ROUNDS):
        shares *= _ratio(probability, sums_at(atom, shares, probability.size))[atom]
        given = sums_at(owner, shares, mass.size)
        shares *= _ratio(mass, given)[owner]
        if np.abs(given - mass).max() <= _CLOSE:
            return shares, flow
    # So slow only where sets and atoms hang together by next to nothing: any way to share out then differs by little.
    return flow.carried, flow


def _ratio(wanted: FloatArray, have: FloatArray) -> FloatArray:
    return np.divide(wanted, have, out=np.zeros_like(wanted), where=have > 0)


def _possible(owner: IntArray, atom: IntArray, carries: BoolArray, sets: int, atoms: int) -> BoolArray:
    """Return which shares are positive in some allocation.

    Proportional fitting to what has to be 0 would never end.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    source = np.concatenate([owner, sets + atom[carries]])
    target = np.concatenate([sets + atom, owner[carries]])
    graph = csr_matrix((np.ones(source.size, np.int8), (source, target)), (sets + atoms, sets + atoms))
    part = connected_components(graph, connection="strong")[1]
    together: BoolArray = carries | (part[owner] == part[sets + atom])
    return together


# The least nonspecific belief function below all probabilities that several ones allow: two linear programmes.
#
# Everything is a value for every set of atoms, at the position whose bits are the atoms.

_SURE = 1e-12
_PRESSED = 1e-9
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def lower_envelope(bound: FloatArray) -> FloatArray | None:
    """Return the least probability of every set, above the bound.

    None if there is no such probability. A program is solved only for sets where none of the probabilities found so
    far is as low as the bound: there the bound itself is the answer.

    >>> lower_envelope(np.array([0, 0.5, 0.25, 1]))
    array([0.  , 0.5 , 0.25, 1.  ])
    """
    from scipy.optimize import linprog

    atoms = bound.size.bit_length() - 1
    single = 1 << np.arange(atoms)
    needed = np.flatnonzero(_needed(bound, single))
    rows = -((needed[:, None] & single) > 0).astype(np.float64)
    least = np.full(bound.size, np.inf)
    # Large sets first: what makes them least probable makes many small ones so as well.
    for mask in range(bound.size - 2, -1, -1):
        if least[mask] - bound[mask] <= _SURE:
            continue
        cost = ((mask & single) > 0).astype(np.float64)
        found = linprog(
            cost, rows, -bound[needed], np.ones((1, atoms)), [1.0], bounds=(0, 1), method="highs", options=_OPTIONS
        )
        if found.status != 0:
            return None
        probability = np.zeros(bound.size)
        probability[single] = np.maximum(found.x, 0.0)
        least = np.minimum(least, transformed(probability, "subsets"))
        least[mask] = max(float(found.fun), float(bound[mask]))
    envelope: FloatArray = np.maximum(least, bound)
    envelope[[0, -1]] = 0.0, 1.0
    return envelope


def _needed(bound: FloatArray, single: IntArray) -> BoolArray:
    """Return the sets with a bound not implied by smaller sets."""
    masks = np.arange(bound.size)
    needed = bound > 0
    needed[-1] = False
    for atom in single:
        needed &= ((masks & atom) == 0) | (bound > bound[masks & ~atom])
    return needed


def least_nonspecific(envelope: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return the least nonspecific masses below the envelope.

    Where several are least, the most even one: its largest mass is as small as can be, then its second largest, and so
    on. There is only one such, so that the order of the atoms does not matter.

    >>> least_nonspecific(np.array([0, 0.5, 0.25, 1]), np.array([1.0, 1, 1, 2]))
    array([0.  , 0.5 , 0.25, 0.25])
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix, kron

    within = csr_matrix(np.ones((1, 1)))
    for _ in range(envelope.size.bit_length() - 1):
        within = kron(np.array([[1, 0], [1, 1]]), within, format="csr")
    free = np.flatnonzero(envelope > _SURE)
    rows = within[free][:, free]
    # The whole set is last; its row says that the masses sum to 1.
    found = linprog(
        np.log(sizes[free]),
        rows[:-1] if free.size > 1 else None,
        envelope[free][:-1] if free.size > 1 else None,
        np.ones((1, free.size)),
        [1.0],
        method="highs",
        options=_OPTIONS,
    )
    masses: FloatArray = np.zeros(envelope.size)
    masses[free] = np.maximum(_most_even(rows, envelope[free], found), 0.0)
    masses[masses <= _SURE] = 0.0
    masses /= masses.sum()
    return masses


def _most_even(rows: Any, bounds: FloatArray, solution: Any) -> FloatArray:
    """Return the most even of the optimal points.

    Where a multiplier is not 0, the row is tight or the mass is 0 in every optimal point. Among those left, the largest
    mass is made as small as can be; the masses that keep it from being smaller are settled, and so on with the others.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix, eye, hstack, vstack

    tight = np.ones(bounds.size, np.bool_)
    tight[:-1] = np.abs(solution.ineqlin.marginals) > _SURE if bounds.size > 1 else True
    left = np.flatnonzero(np.abs(solution.lower.marginals) <= _SURE)
    if left.size + int((~tight).sum()) <= bounds.size:
        return np.asarray(solution.x)
    part = hstack([rows[:, left], csr_matrix((bounds.size, 1))], format="csr")
    ceiling = hstack([eye(left.size), csr_matrix(-np.ones((left.size, 1)))], format="csr")
    low, high = np.zeros(left.size + 1), np.full(left.size + 1, np.inf)
    values, waiting = solution.x[left], np.arange(left.size)
    while waiting.size:
        answer = linprog(
            np.append(np.zeros(left.size), 1.0),
            vstack([part[~tight], ceiling[waiting]], format="csr"),
            np.concatenate([bounds[~tight], np.zeros(waiting.size)]),
            part[tight],
            bounds[tight],
            np.column_stack([low, high]),
            method="highs",
            options=_OPTIONS,
        )
        if answer.status != 0:  # rounding of what was settled leaves no room: what is left to even out is rounding too
            break
        values, most = answer.x[:-1], float(answer.x[-1])
        settled = waiting[-answer.ineqlin.marginals[-waiting.size :] > _PRESSED] if most > _SURE else waiting
        low[settled] = high[settled] = most
        waiting = np.setdiff1d(waiting, settled)
    even = np.zeros(solution.x.size)
    even[left] = values
    return even
