"""Beliefs about every target, with indistinguishable candidates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError
from unveil.guesses._entries import frozen
from unveil.guesses.candidates import Candidates
from unveil.guesses.coherence import jointly_coherent
from unveil.guesses.mass_combination import combine
from unveil.guesses.mass_function import MassFunction

Answer = TypeVar("Answer")

#: Pignistic probabilities beyond this many would need gigabytes.
MOST_ENTRIES = 5 * 10**7


@dataclass(frozen=True, eq=False, repr=False)
class Beliefs:
    """One mass function per target.

    A target is a released record, an element of the frame an original one.

    Parameters
    ----------
    size
        The number of original records, which are the frame of every mass function.
    each
        The mass function of each target; targets may share one. What is not known of a target is the vacuous one.
    codes
        A number for each target, the same for released records with the same values. If given, their beliefs must be
        the same too (Definition 10): only what is released can tell them apart.

    Examples
    --------
    >>> pair, lone = MassFunction.from_set(3, [0, 1]), MassFunction.from_set(3, [2])
    >>> beliefs = Beliefs(3, (pair, pair, lone), codes=np.array([7, 7, 9]))
    >>> beliefs.nonspecificity()
    array([0.69314718, 0.69314718, 0.        ])
    >>> beliefs.to_candidates().probability
    array([0.5, 0.5, 0.5, 0.5, 1. ])
    """

    size: int
    each: tuple[MassFunction, ...]
    codes: IntArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "each", tuple(self.each))
        if not self.each:
            raise InputError("there must be at least one target. Pass one mass function for each")
        wrong = sum(one.size != self.size for one in self.each)
        if wrong:
            raise InputError(
                f"{wrong} of {len(self.each)} mass functions are not on the frame of the {self.size} original records. "
                "Correct the size or the mass functions"
            )
        if self.codes is not None:
            self.check_equal_records(self.codes)
            object.__setattr__(self, "codes", frozen(self.codes, np.int64, what="the codes of the released records"))

    @classmethod
    def from_codes(cls, size: int, codes: ArrayLike, distinct: Sequence[MassFunction]) -> "Beliefs":
        """Return beliefs where target ``j`` gets ``distinct[codes[j]]``.

        Equal released records share one belief.

        >>> Beliefs.from_codes(2, [0, 1, 0], [MassFunction.vacuous(2), MassFunction.from_set(2, [1])])
        Beliefs(3 targets on 2 elements)
        """
        numbers = frozen(codes, np.int64, what="the codes of the released records")
        if numbers.size and (numbers.min() < 0 or numbers.max() >= len(distinct)):
            raise InputError(f"Some codes are outside 0 to {len(distinct) - 1}. Pass the number of a belief per record")
        return cls(size, tuple(distinct[code] for code in numbers.tolist()), numbers)

    def check_equal_records(self, codes: ArrayLike) -> None:
        """Validate that released records of one code share one belief."""
        numbers = frozen(codes, np.int64, what="the codes of the released records")
        if numbers.size != len(self.each):
            raise InputError(f"there are {numbers.size} codes for {len(self.each)} targets. Pass one for each")
        first: dict[int, int] = {}
        known: set[tuple[int, int]] = set()
        for target, code in enumerate(numbers.tolist()):
            before = first.setdefault(code, target)
            pair = id(self.each[before]), id(self.each[target])
            if pair in known:
                continue
            if not self.each[before].same_as(self.each[target]):
                raise InputError(
                    f"Targets {before} and {target} (counted from 0) have equal released records but different beliefs "
                    "(Definition 10). The attack used something else, such as the order of the rows. Correct the attack"
                )
            known.add(pair)

    @property
    def target_count(self) -> int:
        """The number of targets."""
        return len(self.each)

    def nonspecificity(self) -> FloatArray:
        """Return the nonspecificity per target, in nats, 0 to ``log(size)``."""
        return np.array(_for_each(self.each, MassFunction.nonspecificity))

    def pignistic_entropy(self) -> FloatArray:
        """Return the pignistic entropy per target, in nats, 0 to ``log(size)``."""
        return np.array(_for_each(self.each, MassFunction.pignistic_entropy))

    def to_candidates(self, *, most_entries: int = MOST_ENTRIES) -> Candidates:
        """Return the pignistic probability of each target.

        Refused where there would be more than ``most_entries`` probabilities in all.
        """
        parts = _for_each(self.each, lambda one: one.support.size)
        if sum(parts) > most_entries:
            raise InputError(
                f"The pignistic probabilities of all targets have {sum(parts):,} elements, above the maximum of "
                f"{most_entries:,}. Pass fewer targets, or raise most_entries"
            )
        bets = _for_each(self.each, MassFunction.pignistic)
        start = np.concatenate([[0], np.cumsum(parts)])
        return Candidates(
            start,
            np.concatenate([elements for elements, _ in bets]).astype(np.int32),
            np.concatenate([probability for _, probability in bets]),
        )

    def combined(self, *others: "Beliefs", rule: Any = "support_conditioning", **settings: Any) -> "Beliefs":
        """Return the combination with other beliefs, target by target.

        ``rule`` and ``settings`` are those of :func:`~unveil.guesses.mass_combination.combine`: the name of a rule, a
        function of your own, or where it lies.

        >>> ages = Beliefs(4, (MassFunction.from_set(4, [0, 1, 2]),))
        >>> towns = Beliefs(4, (MassFunction.from_set(4, [2, 3]),))
        >>> ages.combined(towns).each[0].sets
        (array([2]),)
        """
        _check_alike((self, *others))
        lines = list(zip(self.each, *(other.each for other in others), strict=True))
        made: dict[tuple[int, ...], MassFunction] = {}
        for target, line in enumerate(lines):
            key = tuple(map(id, line))
            if key not in made:
                try:
                    made[key] = combine(line, rule, **settings)
                except InputError as error:
                    raise InputError(f"target {target} (counted from 0): {error}") from error
        return Beliefs(self.size, tuple(made[tuple(map(id, line))] for line in lines))

    def coherent_with(self, other: "Beliefs") -> BoolArray:
        """Return per target whether both beliefs can be valid.

        If not, at least one of the two attacks fails.

        >>> here, there = (Beliefs(3, (MassFunction.from_set(3, [k]),)) for k in (0, 1))
        >>> here.coherent_with(there)
        array([False])
        """
        _check_alike((self, other))
        known: dict[tuple[int, int], bool] = {}
        for one, two in zip(self.each, other.each, strict=True):
            if (id(one), id(two)) not in known:
                known[id(one), id(two)] = jointly_coherent(one, two).coherent
        return np.array([known[id(one), id(two)] for one, two in zip(self.each, other.each, strict=True)])

    def __repr__(self) -> str:
        return f"Beliefs({self.target_count} target{'s' * (self.target_count != 1)} on {self.size} elements)"


def _for_each(each: Sequence[MassFunction], ask: Callable[[MassFunction], Answer]) -> list[Answer]:
    """Return the value for each distinct mass function, per target."""
    known: dict[int, Answer] = {}
    for one in each:
        if id(one) not in known:
            known[id(one)] = ask(one)
    return [known[id(one)] for one in each]


def _check_alike(several: Sequence[Beliefs]) -> None:
    sizes, counts = {one.size for one in several}, {one.target_count for one in several}
    if len(sizes) > 1 or len(counts) > 1:
        raise InputError(
            f"The beliefs differ in targets or frame: {sorted(counts)} "
            f"targets and frames of {sorted(sizes)}. Pass beliefs about one release"
        )
