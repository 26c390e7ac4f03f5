"""What a symbol in place of a count may mean to different people: nothing, or the rule by which counts are hidden."""

from collections.abc import Sequence

import numpy as np

from unveil._kernels.counts.solver import Budget
from unveil.attacks.counts.solve_counts import SolveCounts
from unveil.data.counts.knowledge import ANY
from unveil.data.counts.settings import Range
from unveil.data.counts.system import CountSystem

#: What is left for whoever knows that zeros are shown where larger counts are hidden too.
NOT_ZERO: Range = (1, None)


def rule_reading(
    attack: SolveCounts, released: CountSystem, minimum: int, *, rng: np.random.Generator, budget: Budget | None = None
) -> tuple[Range, ...]:
    """Return what whoever knows the rule reads: 1 to minimum - 1 where some population allows it, else not zero.

    A symbol that stands for larger counts too, as complementary suppression makes it, leaves no population where it is
    read as small: then it is 1 or more, and where even that fits nobody, anything. Of several symbols those that stand
    most often are the first to be read as small.
    """
    small: Range = (1, minimum - 1)
    symbols = len(released.released.symbols)
    # Two readings of all symbols, and one of each symbol, are tried with equal parts of the work.
    budget = budget or Budget((symbols + 2) * attack.work)
    part = budget.left // (symbols + 2)

    def fits(reading: Sequence[Range]) -> bool:
        """Return whether a reading leaves a population possible, as far as the budget tells."""
        low, high = released.told(reading)
        own = Budget(part, source=budget)
        return attack.fits(released=released, low=low, high=high, rng=rng, budget=own)

    if fits((small,) * symbols):
        return (small,) * symbols
    rest = NOT_ZERO if fits((NOT_ZERO,) * symbols) else ANY
    reading = [rest] * symbols
    if symbols > 1:
        often = np.bincount(released.released.symbol[released.released.symbol >= 0], minlength=symbols)
        for symbol in np.argsort(-often, kind="stable").tolist():
            tried = [small if at == symbol else own for at, own in enumerate(reading)]
            if fits(tried):
                reading = tried
    return tuple(reading)
