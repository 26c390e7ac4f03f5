"""Records that somebody must have, and those that may exist, ranked beside what margins alone would rank."""

import numpy as np

from unveil._kernels.counts.rows import NO_END
from unveil.attacks.counts.rank_records import RankRecords, by_margins
from unveil.attacks.counts.solve_counts import SolvedCounts
from unveil.data.counts.system import CountSystem
from unveil.data.counts.truth import TrueCounts
from unveil.errors import InputError
from unveil.metrics.counts.records import record_precision
from unveil.questions.tables.findings import RankedRecord, RecordFindings, RecordPrecision

#: How many of the first records are held against the truth; None is as many as exist.
_FIRST = (10, 100, None)


def ranked(
    system: CountSystem,
    solved: SolvedCounts,
    truth: TrueCounts | None,
    *,
    number: int,
    work: int,
    rng: np.random.Generator,
) -> RecordFindings:
    """Return how many records must and cannot exist, the first of all ranked ones, and how often these are right."""
    own, ranges = system.is_record, solved.ranges
    if not own.any():
        raise InputError(
            "records must hold every variable of all tables, but their combinations are more than --largest allows. "
            "Leave --records out, allow more, or pass fewer tables"
        )
    attack = RankRecords(work=work)
    guess, plain = attack.rank(system, ranges, rng=rng), by_margins(system, ranges, rng=rng)
    unsure = own & (ranges.low == 0) & (ranges.high > 0) & ~solved.solution.low_attained
    can = guess.confidence >= 0
    return RecordFindings(
        possible=int(own.sum()),
        certain=int((own & (ranges.low >= 1)).sum()),
        unique=int((own & (ranges.low == 1) & (ranges.high == 1)).sum()),
        absent=int((own & (ranges.high == 0)).sum()),
        undecided=int(unsure.sum()),
        worlds=attack.worlds,
        first=tuple(
            RankedRecord(
                record=system.label(cell),
                is_certain=certain,
                share=share,
                low=int(ranges.low[cell]),
                high=None if ranges.high[cell] >= NO_END else int(ranges.high[cell]),
            )
            for cell, certain, share in zip(
                *(each[can][:number].tolist() for each in (guess.cells, guess.is_certain, guess.confidence)),
                strict=True,
            )
        ),
        precision=()
        if truth is None
        else tuple(
            RecordPrecision(
                first=first,
                ranked=record_precision(guess, truth.counts, first=first),
                by_margins=record_precision(plain, truth.counts, first=first),
            )
            for first in _FIRST
            if first is None or first <= int(own.sum())
        ),
    )
