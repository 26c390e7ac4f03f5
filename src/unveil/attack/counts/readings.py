"""What a symbol in place of a count may mean to different people: nothing, or the rule by which counts are hidden."""

from dataclasses import dataclass

import numpy as np

from unveil.attack.counts.solve_counts import ContradictoryCountsError, SolveCounts, SolvedCounts
from unveil.data.counts.settings import Range
from unveil.data.counts.system import CountSystem

#: What whoever knows nothing reads: any number.
ANY: Range = (0, None)
#: What is left for whoever knows that zeros are shown where larger counts are hidden too.
NOT_ZERO: Range = (1, None)


@dataclass(frozen=True, eq=False)
class Read:
    """One way to read all symbols, and what it gives."""

    name: str
    reading: tuple[Range, ...]
    solved: SolvedCounts


def rule_reading(
    attack: SolveCounts, released: CountSystem, minimum: int, *, rng: np.random.Generator
) -> tuple[Range, ...]:
    """Return what whoever knows the rule reads: 1 to minimum - 1 where some population allows it, else not zero.

    A symbol that stands for larger counts too, as complementary suppression makes it, leaves no population where it is
    read as small: then it is 1 or more, and where even that fits nobody, anything.
    """
    small: Range = (1, minimum - 1)
    symbols = len(released.released.symbols)
    if _fits(attack, released, (small,) * symbols, rng):
        return (small,) * symbols
    if symbols > 1:
        own = [
            _fits(attack, released, tuple(small if at == one else ANY for at in range(symbols)), rng)
            for one in range(symbols)
        ]
        mixed = tuple(small if fits else NOT_ZERO for fits in own)
        if any(own) and _fits(attack, released, mixed, rng):
            return mixed
    return (NOT_ZERO if _fits(attack, released, (NOT_ZERO,) * symbols, rng) else ANY,) * symbols


def _fits(attack: SolveCounts, released: CountSystem, reading: tuple[Range, ...], rng: np.random.Generator) -> bool:
    """Return whether a reading leaves a population possible, as far as the budget tells."""
    low, high = released.told(reading)
    try:
        attack.worked_out(released=released, low=low, high=high, wanted=released.is_hidden, rng=rng)
    except ContradictoryCountsError:
        return False
    return True
