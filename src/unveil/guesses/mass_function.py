"""Mass functions: beliefs on sets of candidates for one target."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil._kernels.mass.masses import MOST_TABULATED, Masks, sums_at, transformed
from unveil._kernels.mass.sets import (
    Atoms,
    SetRows,
    atoms_of,
    canonical,
    chosen_rows,
    coarsened,
    is_member,
    masks_of,
    rows_of,
    shared_counts,
)
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError, whole_number
from unveil.guesses._entries import frozen

# Checks of frames, sets, masses and probabilities, with their messages.

#: Elements of the frame in any order, as any sequence or set of whole numbers.
Elements = Iterable[int] | IntArray
#: A probability for each element of the frame, or the elements that have one and their probabilities.
Probability = ArrayLike | tuple[ArrayLike, ArrayLike]
Quantity = Literal["mass", "belief", "plausibility", "commonality"]

#: Masses may sum to 1 within this plus half of it for each set, as far as rounding to six digits takes them.
TOLERANCE = 1e-6
#: Masses and beliefs that a computation leaves this little below 0 or above a bound are rounding.
ROUNDING = 1e-9


def checked_size(size: int) -> int:
    """Return the size of a frame, which must have an element."""
    return whole_number(size, "the size of a frame")


def checked_probability(size: int, probability: Probability) -> tuple[IntArray, FloatArray]:
    """Return the possible elements, ascending, and their probabilities.

    >>> checked_probability(3, [0.5, 0, 0.5])
    (array([0, 2]), array([0.5, 0.5]))
    """
    pair = isinstance(probability, tuple) and len(probability) == 2 and all(np.ndim(part) == 1 for part in probability)
    if pair:
        first, second = cast("tuple[Any, Any]", probability)
        elements, values = as_elements(first), frozen(second, np.float64, what="a probability")
        check_range(elements, checked_size(size))
    else:
        elements, values = np.arange(checked_size(size)), frozen(probability, np.float64, what="a probability")
    if elements.size != values.size:
        raise InputError(f"there are {values.size} probabilities for {elements.size} elements. Pass one for each")
    if np.unique(elements).size != elements.size:
        raise InputError("some elements have two probabilities. Keep one of them")
    check_masses(values, "probabilities")
    order = np.argsort(elements)[values[np.argsort(elements)] > 0]
    return elements[order], values[order] / values.sum()


def masses_behind(values: FloatArray, what: Quantity) -> FloatArray:
    """Return the masses behind the values, rounding residues set to 0."""
    if what == "mass":
        masses = values.copy()
    elif what == "commonality":
        masses = transformed(values, "supersets", back=True)
    else:
        beliefs = values if what == "belief" else 1.0 - values[::-1]
        masses = transformed(beliefs, "subsets", back=True)
    total = float(np.abs(masses).sum())
    if not np.isfinite(total) or masses.min() < -ROUNDING or abs(masses[0]) > ROUNDING or abs(total - 1) > TOLERANCE:
        raise InputError(
            f"the values are not a {what} of a mass function: masses are at least 0, 0 for the empty set, "
            "and sum to 1. Correct the values"
        )
    masses[np.abs(masses) <= 1e-15] = 0.0
    return np.maximum(masses, 0.0)


def as_elements(elements: Elements) -> IntArray:
    """Return the elements as integers, in the order given.

    >>> as_elements((4, 1))
    array([4, 1])
    """
    values = elements if isinstance(elements, np.ndarray) else list(elements)
    if isinstance(values, list) and not values:
        return np.zeros(0, np.int64)
    return frozen(values, np.int64, what="the elements of a set")


def check_range(elements: IntArray, size: int) -> None:
    """Refuse elements that the frame does not have."""
    outside = int(((elements < 0) | (elements >= size)).sum())
    if outside:
        raise InputError(
            f"{outside} elements are outside the frame of {size}, which has numbers 0 to {size - 1}. "
            "Leave them out, or enlarge the frame"
        )


def check_masses(values: FloatArray, what: str) -> None:
    """Validate that masses are nonnegative and sum to 1."""
    if not np.isfinite(values).all() or (values < 0).any():
        wrong = int((~np.isfinite(values) | (values < 0)).sum())
        raise InputError(f"{wrong} {what} are negative or not numbers. Pass numbers of at least 0")
    total = float(values.sum())
    if abs(total - 1) > TOLERANCE * (1 + 0.5 * values.size):
        raise InputError(f"{what} sum to {total:.9g}, not 1. Divide each by their sum")


def checked_rows(sets: Iterable[Elements], size: int) -> SetRows:
    """Return the sets as rows of ascending distinct elements."""
    given = [one if isinstance(one, np.ndarray) else list(one) for one in sets]
    lengths = np.array([len(one) for one in given], np.int64)
    empty = int((lengths == 0).sum())
    if empty:
        raise InputError(
            f"{empty} of the sets are empty, and the empty set can have no mass. "
            "Leave them out and divide the other masses by their sum"
        )
    if not given:
        raise InputError("no set has a mass. Use MassFunction.vacuous for total ignorance")
    if any(isinstance(one, np.ndarray) for one in given):
        element = np.concatenate([as_elements(one) for one in given])
    else:
        # Checked all at once: for a thousand small sets that is ten times faster than one by one.
        element = as_elements(list(chain.from_iterable(given)))
    rows = _ascending(element, lengths)
    check_range(rows.element, size)
    return rows


def _ascending(element: IntArray, lengths: IntArray) -> SetRows:
    """Return rows of distinct elements, ascending."""
    start = np.concatenate([[0], np.cumsum(lengths)])
    rises = element[1:] > element[:-1]
    rises[start[1:-1] - 1] = True
    if rises.all():
        return SetRows(start, element)
    row = np.repeat(np.arange(lengths.size), lengths)
    order = np.lexsort((element, row))
    element, row = element[order], row[order]
    new = np.concatenate([[True], (element[1:] != element[:-1]) | (row[1:] != row[:-1])])
    return SetRows(np.concatenate([[0], np.cumsum(np.bincount(row[new]))]), element[new])


@dataclass(frozen=True, eq=False, repr=False, init=False)
class MassFunction:
    """Masses on sets of candidates for one target.

    The frame is the ``size`` records of the original, numbered from 0. Belief, plausibility and commonality of a set A
    are the masses of the sets within A, of those that meet A and of those around A. A mass on single elements only is a
    probability; all mass on the whole frame is ignorance.

    Parameters
    ----------
    size
        How many elements the frame has; they are ``0`` to ``size - 1``.
    sets
        The sets with a mass, called focal: none empty. A set that is given twice gets the sum.
    mass
        A mass for each, at least 0. They sum to 1 within 1e-6, plus half of that for each set, and are divided by their
        sum; a set of mass 0 is left out.

    Attributes
    ----------
    sets
        The focal sets, each an ascending array, once; in ascending order of the number whose bits are the elements.
    mass
        Their masses, above 0, summing to 1. All arrays are read-only.

    Examples
    --------
    >>> guess = MassFunction(4, [[0, 1], [1, 2, 3]], [0.75, 0.25])
    >>> guess.belief([0, 1]), guess.plausibility([0]), round(guess.nonspecificity(), 4)
    (0.75, 0.75, 0.7945)
    """

    size: int
    mass: FloatArray

    def __init__(self, size: int, sets: Iterable[Elements], mass: ArrayLike) -> None:
        rows = checked_rows(sets, checked_size(size))
        weights = frozen(mass, np.float64, what="the masses")
        if weights.size != rows.start.size - 1:
            raise InputError(f"there are {weights.size} masses for {rows.start.size - 1} sets. Pass one for each")
        check_masses(weights, "masses")
        if not weights.all():
            kept = np.flatnonzero(weights)
            rows, weights = chosen_rows(rows, kept), weights[kept]
        self._fill(size, *canonical(rows, weights))

    def _fill(self, size: int, rows: SetRows, mass: FloatArray) -> None:
        vars(self).update(size=int(size), mass=_locked(mass / mass.sum()), rows=SetRows(*map(_locked, rows)))

    @classmethod
    def from_set(cls, size: int, elements: Elements) -> "MassFunction":
        """Return the belief in one set, with no preference inside.

        >>> MassFunction.from_set(5, {3, 1}).sets
        (array([1, 3]),)
        """
        return cls(size, [elements], [1.0])

    @classmethod
    def from_sets(cls, size: int, masses: Mapping[Any, float] | Iterable[tuple[Elements, float]]) -> "MassFunction":
        """Return the belief with these masses, from a mapping or pairs.

        >>> MassFunction.from_sets(3, {(0,): 0.5, (0, 1, 2): 0.5}).mass
        array([0.5, 0.5])
        """
        pairs = list(masses.items() if isinstance(masses, Mapping) else masses)
        return cls(size, [elements for elements, _ in pairs], [mass for _, mass in pairs])

    @classmethod
    def from_probability(cls, size: int, probability: Probability) -> "MassFunction":
        """Return the belief that is a probability: mass on single elements only.

        >>> MassFunction.from_probability(4, ([3, 0], [0.25, 0.75])).mass
        array([0.75, 0.25])
        """
        elements, values = checked_probability(size, probability)
        return cls.of_rows(size, SetRows(np.arange(elements.size + 1), elements), values)

    @classmethod
    def vacuous(cls, size: int) -> "MassFunction":
        """Return the vacuous belief: total ignorance.

        >>> MassFunction.vacuous(3)
        MassFunction(1 focal set on 3 elements)
        """
        return cls.of_rows(size, SetRows(np.array([0, checked_size(size)]), np.arange(size)), np.ones(1))

    @classmethod
    def of_rows(cls, size: int, rows: SetRows, mass: FloatArray) -> "MassFunction":
        """Return the belief with these valid, nonempty sets."""
        made = object.__new__(cls)
        made._fill(size, *canonical(rows, mass))
        return made

    @classmethod
    def of_masks(cls, size: int, masks: Masks, mass: FloatArray, atoms: Atoms) -> "MassFunction":
        """Return the belief on distinct, nonempty sets of atoms."""
        made = object.__new__(cls)
        if not mass.all():  # products of masses can vanish
            masks, mass = masks[mass > 0], mass[mass > 0]
        vars(made).update(size=int(size), mass=_locked(mass / mass.sum()), blocks=atoms, block_masks=_locked(masks))
        return made

    @cached_property
    def rows(self) -> SetRows:
        """Focal sets as one flat array, and set starts."""
        return SetRows(*map(_locked, rows_of(self.block_masks, self.blocks)))

    @cached_property
    def sets(self) -> tuple[IntArray, ...]:
        """The focal sets, each an ascending array of elements."""
        start, element = self.rows.start.tolist(), self.rows.element
        return tuple([element[low:high] for low, high in pairwise(start)])

    @cached_property
    def blocks(self) -> Atoms:
        """Blocks of elements that make up the focal sets."""
        return atoms_of(self.rows)

    @cached_property
    def block_masks(self) -> Masks:
        """The focal sets as whole numbers whose bits are ``blocks``."""
        return masks_of(self.rows, self.blocks)

    @cached_property
    def partition(self) -> Atoms:
        """The blocks of elements that no focal set tells apart."""
        return self.blocks if "block_masks" not in vars(self) else coarsened(self.block_masks, self.blocks)

    @cached_property
    def masks(self) -> Masks:
        """The focal sets as whole numbers whose bits are atoms of ``partition``."""
        return self.block_masks if self.partition is self.blocks else masks_of(self.rows, self.partition)

    @cached_property
    def lengths(self) -> IntArray:
        """The number of elements of each focal set."""
        return np.diff(self.rows.start)

    @cached_property
    def support(self) -> IntArray:
        """Union of all focal sets, ascending."""
        if self.mass.size == 1:
            return self.rows.element
        return np.unique(self.rows.element) if "rows" in vars(self) else self.partition.element

    def belief(self, event: Elements) -> float:
        """Return the belief in the event, 0 to 1."""
        return self._total(self._shared(event) == self.lengths)

    def plausibility(self, event: Elements) -> float:
        """Return the plausibility of the event, 0 to 1."""
        return self._total(self._shared(event) > 0)

    def commonality(self, event: Elements) -> float:
        """Return the commonality of the event, 0 to 1."""
        elements = self._event(event)
        return self._total(shared_counts(self.rows, elements) == elements.size)

    def _shared(self, event: Elements) -> IntArray:
        return shared_counts(self.rows, self._event(event))

    def _total(self, chosen: BoolArray) -> float:
        return 1.0 if chosen.all() else float(self.mass[chosen].sum())

    def _event(self, event: Elements) -> IntArray:
        elements = np.unique(as_elements(event))
        check_range(elements, self.size)
        return elements

    def pignistic(self) -> tuple[IntArray, FloatArray]:
        """Return the possible elements and their pignistic probabilities.

        >>> MassFunction.from_sets(3, {(0,): 0.5, (0, 2): 0.5}).pignistic()
        (array([0, 2]), array([0.75, 0.25]))
        """
        if self.mass.size == 1:
            return self.support, np.full(self.support.size, 1 / self.support.size)
        elements, at = np.unique(self.rows.element, return_inverse=True)
        return elements, sums_at(at, np.repeat(self.mass / self.lengths, self.lengths), elements.size)

    def pignistic_entropy(self) -> float:
        """Return the pignistic entropy, in nats, 0 to ``log(size)``.

        It can rise when the attacker learns something (Example 24); nonspecificity cannot.
        """
        probability = self.pignistic()[1]
        return max(0.0, float(-(probability * np.log(probability)).sum()))

    def nonspecificity(self) -> float:
        """Return the nonspecificity, in nats, 0 to ``log(size)``."""
        return float(self.mass @ np.log(self.lengths))

    def conditioned(self, event: Elements, *, conflict: Literal["refuse", "normalize"] = "refuse") -> "MassFunction":
        """Return the belief conditioned on the event.

        Mass on sets outside of the event means that the event cannot be certain if this belief is valid. It is refused,
        or with ``normalize`` left out and the rest divided by its sum (Dempster's conditioning, which need not stay
        compatible with the truth); with no set that meets the event nothing is left, and it is refused in any case.

        >>> MassFunction.from_sets(4, {(0, 1): 0.5, (1, 2, 3): 0.5}).conditioned([1, 2]).sets
        (array([1]), array([1, 2]))
        """
        elements = self._event(event)
        inside = is_member(self.rows.element, elements)
        lengths = np.add.reduceat(inside.astype(np.int64), self.rows.start[:-1])
        met = lengths > 0
        lost = 1.0 - self._total(met)
        if not met.any() or (conflict == "refuse" and not met.all()):
            cure = "" if not met.any() else ", or pass conflict='normalize' to leave it out"
            raise InputError(
                f"a mass of {lost:.6g} is on sets disjoint from the event: either the event is uncertain, or this "
                f"belief is invalid. Correct one of them{cure}"
            )
        rows = SetRows(np.concatenate([[0], np.cumsum(lengths[met])]), self.rows.element[inside])
        return MassFunction.of_rows(self.size, rows, self.mass[met])

    def transferred(self, larger: Elements, smaller: Elements, mass: float) -> "MassFunction":
        """Return the belief with mass moved to a part of a set.

        Nonspecificity never rises (Proposition 26), but the result need not be compatible with what this was.

        >>> MassFunction.vacuous(3).transferred([0, 1, 2], [1], 0.25).mass
        array([0.25, 0.75])
        """
        source, target = self._event(larger), self._event(smaller)
        if target.size == 0 or not is_member(target, source).all():
            raise InputError("mass can only move to a nonempty subset of its set. Correct the sets")
        at = [k for k, one in enumerate(self.sets) if np.array_equal(one, source)]
        held = float(self.mass[at[0]]) if at else 0.0
        if not 0 <= mass <= held + TOLERANCE:
            raise InputError(f"the mass to move is outside 0 to {held:.6g}, the mass of the set. Move less")
        masses = self.mass.copy()
        masses[at] = max(0.0, held - mass)
        return MassFunction(self.size, [*self.sets, target], [*masses, mass])

    def atoms(self) -> tuple[IntArray, ...]:
        """Return the blocks of elements that no focal set separates.

        They are in ascending order of their largest element.

        Elements that lie in no focal set are left out.

        >>> MassFunction.from_sets(9, {(0, 1, 4): 0.5, (4, 8): 0.5}).atoms()
        (array([0, 1]), array([4]), array([8]))
        """
        part = self.partition
        order = np.argsort(part.label, kind="stable")
        return tuple(np.split(part.element[order], np.cumsum(part.sizes)[:-1]))

    def on_atoms(self, what: Quantity = "belief") -> FloatArray:
        """Return the quantity for every union of atoms, by bits.

        At most 22 atoms are possible.

        >>> MassFunction.from_sets(2, {(0,): 0.25, (0, 1): 0.75}).on_atoms("plausibility")
        array([0.  , 1.  , 0.75, 1.  ])
        """
        count = self.partition.count
        if count > MOST_TABULATED:
            raise InputError(
                f"the table of all unions is limited to {MOST_TABULATED} atoms, but there are "
                f"{count}. Ask for single events with belief, plausibility or commonality"
            )
        values = sums_at(self.masks.astype(np.int64), self.mass, 2**count)
        if what != "mass":
            values = transformed(values, "supersets" if what == "commonality" else "subsets").clip(0.0, 1.0)
        return 1.0 - values[::-1] if what == "plausibility" else values

    @classmethod
    def from_atoms(
        cls, size: int, atoms: Sequence[Elements], values: ArrayLike, what: Quantity = "belief"
    ) -> "MassFunction":
        """Return the mass function with this quantity (Proposition 3).

        ``values`` are as :meth:`on_atoms` returns them. Those that no masses lead to are refused.

        >>> MassFunction.from_atoms(2, [[0], [1]], [0, 0.25, 0, 1], "belief").sets
        (array([0]), array([0, 1]))
        """
        blocks = [as_elements(block) for block in atoms]
        given = frozen(values, np.float64, what="the values")
        if not blocks or len(blocks) > MOST_TABULATED or given.size != 2 ** len(blocks):
            raise InputError(
                f"there must be one value for each of the 2**{len(blocks)} unions of 1 to {MOST_TABULATED} atoms, but "
                f"there are {given.size}. Pass them as on_atoms returns them"
            )
        if np.unique(np.concatenate(blocks)).size != sum(block.size for block in blocks):
            raise InputError("some elements are in two atoms, or twice in one. Correct the atoms")
        masses = masses_behind(given, what)
        sets = [[*(k for k in range(len(blocks)) if mask >> k & 1)] for mask in np.flatnonzero(masses).tolist()]
        return cls(size, [np.concatenate([blocks[k] for k in one]) for one in sets], masses[masses > 0])

    def same_as(self, other: "MassFunction", *, within: float = ROUNDING) -> bool:
        """Return whether both have the same masses, up to rounding."""
        return self is other or (
            self.size == other.size
            and self.mass.size == other.mass.size
            and np.array_equal(self.rows.start, other.rows.start)
            and np.array_equal(self.rows.element, other.rows.element)
            and bool(np.abs(self.mass - other.mass).max() <= within)
        )

    def __repr__(self) -> str:
        count = self.mass.size
        return f"MassFunction({count} focal set{'s' * (count != 1)} on {self.size} elements)"


def _locked(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
