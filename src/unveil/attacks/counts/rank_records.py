"""An adversary who rebuilds records: combinations of codes that somebody must have, then what most worlds have."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.counts.rows import NO_END
from unveil._kernels.counts.solver import Budget
from unveil._kernels.counts.worlds import worlds_by_lot
from unveil._kernels.types import FloatArray
from unveil.attacks._listing import attack
from unveil.attacks.counts.solve_counts import SolveCounts
from unveil.data.counts.knowledge import CountKnowledge
from unveil.data.counts.system import CountSystem
from unveil.errors import whole_number
from unveil.guesses.count_ranges import CountRanges
from unveil.guesses.ranked_records import RankedRecords


@attack(source="Dick and others (2023), with whole-number programs in place of their relaxation")
@dataclass(frozen=True, kw_only=True)
class RankRecords:
    """An adversary who builds populations that fit all counts, and trusts the records that most of them have.

    Attributes
    ----------
    worlds
        How many populations are built. They are corners of what is possible, so the share of them that has a record
        ranks it, and is no probability.
    work
        Steps of the solver that may be taken in all.
    """

    worlds: int = 12
    work: int = 1_000_000

    def __post_init__(self) -> None:
        whole_number(self.worlds, "worlds", at_least=1, at_most=10_000)
        whole_number(self.work, "work", at_least=1)

    def run(self, *, released: CountSystem, knowledge: CountKnowledge, rng: np.random.Generator) -> RankedRecords:
        """Return every combination of one code of each variable, the surest first."""
        attack = SolveCounts(work=self.work, records=True)
        return self.rank(released, attack.run(released=released, knowledge=knowledge, rng=rng), rng=rng)

    def rank(self, released: CountSystem, ranges: CountRanges, *, rng: np.random.Generator) -> RankedRecords:
        """Return the records ranked by what is known of every cell already.

        The confidence is the share of the populations that have a record, 0 where none was built, and -1 for one that
        nobody can have.
        """
        own = released.is_record
        made = worlds_by_lot(released.arrays.rows, ranges.low, ranges.high, own, self.worlds, Budget(self.work), rng)
        # A record that no population had may exist; one that none can have does not.
        confidence = np.where(ranges.high == 0, -1.0, np.nan_to_num(made.share))
        return RankedRecords.by(np.flatnonzero(own), confidence[own], (ranges.low >= 1)[own], rng=rng)


def by_margins(released: CountSystem, ranges: CountRanges, *, rng: np.random.Generator) -> RankedRecords:
    """Return the same records ranked by the product of their margins: what whoever sees no table but these expects.

    A margin that is hidden counts as the middle of its range, its low end where it has no other.
    """
    cells = np.flatnonzero(released.is_record)
    codes = released.arrays.codes[cells].astype(np.int64)
    middle = np.where(ranges.high >= NO_END, ranges.low, (ranges.low + ranges.high) / 2)
    product: FloatArray = np.zeros(cells.size)
    for at in range(codes.shape[1]):
        alone = np.zeros_like(codes)
        alone[:, at] = codes[:, at]
        with np.errstate(divide="ignore"):
            product += np.log(middle[released.arrays.locate(alone)])
    return RankedRecords.by(cells, product, np.zeros(cells.size, np.bool_), rng=rng)
