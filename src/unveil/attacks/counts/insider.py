"""An adversary who is in the tables: somebody alone in a hidden count knows that count, and what follows from it."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.types import IntArray
from unveil.attacks.counts.solve_counts import SolveCounts, SolvedCounts
from unveil.data.counts.system import CountSystem

#: So many of them are tried out, drawn by lot where there are more.
MOST_TRIED = 100


@dataclass(frozen=True, kw_only=True)
class InsiderGains:
    """What people who are alone in a hidden count gain by knowing it.

    Attributes
    ----------
    there, tried
        How many there are, and how many of them were tried out.
    gain
        How many of these can work out further hidden counts.
    most
        The most further hidden counts that one of them can work out.
    """

    there: int
    tried: int
    gain: int
    most: int


def insider_gains(
    attack: SolveCounts, released: CountSystem, solved: SolvedCounts, counts: IntArray, *, rng: np.random.Generator
) -> InsiderGains:
    """Return what follows for whoever is the only person in a hidden count that outsiders cannot work out.

    ``solved`` is what outsiders know, and ``counts`` are the true counts.
    """
    ranges = solved.ranges
    alone = np.flatnonzero(ranges.is_hidden & ~ranges.is_worked_out & (counts == 1))
    tried = alone if alone.size <= MOST_TRIED else np.sort(rng.choice(alone, MOST_TRIED, replace=False))
    more = []
    for cell in tried.tolist():
        low, high = ranges.low.copy(), ranges.high.copy()
        low[cell] = high[cell] = 1
        wanted = ranges.is_hidden & ~ranges.is_worked_out
        out, _ = attack.worked_out(released=released, low=low, high=high, queried=wanted, rng=rng)
        more.append(int(out.sum()) - int(out[cell]))
    return InsiderGains(
        there=int(alone.size), tried=len(more), gain=sum(each > 0 for each in more), most=max(more, default=0)
    )
