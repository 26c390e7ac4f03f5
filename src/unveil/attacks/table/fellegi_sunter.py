"""Fellegi-Sunter record linkage: column agreement weighed by its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log

import numpy as np

from unveil._kernels.table.patterns import patterns_of_pairs, patterns_of_rows, scores_of_pairs, scores_of_rows
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.table._agreement_patterns import (
    Records,
    Weights,
    chance_levels,
    check_blocks,
    counted,
    match_levels,
    pairs_of_block,
    pairs_of_blocks,
    records_of,
)
from unveil.attacks.table._scores import ScoredPairs, candidates_of_scores, check_share, drawn_rows, least_kept
from unveil.attacks.table.record_linkage import check_settings
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates

# This many pairs, of at least this many rows, tell how matching pairs agree; more would only take longer.
_LEARNT_FROM = 2**22
_LEAST_ROWS = 500
# This many pairs are weighed at a time.
_AT_A_TIME = 2**22


@attack(
    source='Fellegi and Sunter, "A theory for record linkage", 1969',
    aka=("probabilistic-record-linkage", "probabilistic-linkage"),
)
@dataclass(frozen=True, kw_only=True)
class FellegiSunter:
    """Link records by agreement weights learned from the files alone.

    A column's level of agreement (equal, within a step, beyond, missing) is worth ``log(m / u)``: m is the share of
    pairs of one person that reach it, u that of pairs at random. u is counted over all pairs and stays as it is; m is
    learned by EM, inside a block for the columns that the block does not use. The candidates of a released row are
    trusted in proportion to their Bayes factors, the product over the columns: each released row comes from one of
    them. (The chance that a pair matches, which the source stops at, does not add up to 1 over candidates.)

    Columns count as independent, both among pairs of one person and at random, which is seldom quite so: that makes the
    guess too sure of itself, and whether it is valid has to be tested.

    Parameters
    ----------
    columns
        The columns to compare; None for all that both tables have and the attacker knows.
    blocks
        Groups of columns: only pairs that are equal in all columns of a group are candidates, those of all groups
        together. No column may be in every group. With none (the default) every original row is a candidate of every
        released one, m is learned from all pairs, and that one in as many as there are original rows matches is known.
        Name blocks where both tables have tens of thousands of rows.
    steps
        How near two numbers (dates, ordered values) must be for each further level, in standard deviations of the
        original column; equal values are always a level of their own.
    least
        Candidates whose Bayes factor is less than this share of the target's largest are left out. None leaves out
        none where there are up to four million pairs, and those below a billionth beyond.
    confidence
        A released row is given up where the chance that its best pair matches is below this; 0 attempts all.
    targets
        How many released rows are attacked, drawn at random; None for all.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [25, 30, 61, 44], "town": ["Ulm", "Bonn", "Ulm", "Kiel"]})
    >>> original, released = Table.from_frame(people), Table.from_frame(people[::-1])
    >>> guess = FellegiSunter().run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1))
    >>> [int(guess.candidate[a:b][guess.probability[a:b].argmax()]) for a, b in zip(guess.start, guess.start[1:])]
    [3, 2, 1, 0]
    """

    columns: tuple[str, ...] | None = None
    blocks: tuple[tuple[str, ...], ...] = ()
    steps: tuple[float, ...] = (0.1, 0.3, 1.0)
    least: float | None = None
    confidence: float = 0.0
    targets: int | None = None

    def __post_init__(self) -> None:
        check_settings(self.columns, 1, self.targets)
        check_blocks(self.blocks)
        if any(not np.isfinite(step) or step < 0 for step in self.steps):
            raise InputError("steps must be finite numbers of at least 0, in standard deviations. Pass such numbers")
        check_share("least", self.least)
        check_share("confidence", self.confidence)

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Candidates:
        """Return each released row's candidates, by Bayes factor.

        ``rng`` draws the targets if not all are attacked, and rows to learn from where there are very many pairs.
        """
        records = self._records(released, knowledge)
        weights = self._learnt(records, rng)
        rows = drawn_rows(records.released, self.targets, rng)
        least = least_kept(self.least, rows.size * len(records.original))
        # The chance of a match is at least the confidence where the score is at least this.
        lowest = _logit(self.confidence) - _logit(weights.share)
        parts = self._scored(records, weights.logarithm, rows)
        return candidates_of_scores(
            parts,
            rows.size,
            at_least=least,
            lowest=lowest,
            targets=None if rows.size == len(records.released) else rows,
        )

    def weights(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Weights:
        """Return the agreement weights of each column.

        >>> import polars as pl
        >>> towns = Table.from_frame(pl.DataFrame({"town": ["Ulm", "Bonn", "Ulm", "Kiel"]}))
        >>> learnt = FellegiSunter().weights(released=towns, knowledge=Knowledge(towns), rng=np.random.default_rng(1))
        >>> learnt.chance
        array([[0.   , 0.625, 0.375]])
        """
        return self._learnt(self._records(released, knowledge), rng)

    def _records(self, released: Table, knowledge: Knowledge) -> Records:
        records = records_of(knowledge.records, released, self.columns, self.steps)
        for name in {name for block in self.blocks for name in block} - set(records.names):
            raise InputError(
                f"a block names column {name!r}, which is not compared. Columns: {', '.join(records.names)}. "
                "Name one of these, or add it to columns"
            )
        return records

    def _learnt(self, records: Records, rng: np.random.Generator) -> Weights:
        chance = chance_levels(records)
        share = min(1 / len(records.original), 0.5)
        if self.blocks:
            match = self._learnt_in_blocks(records, chance)
        else:
            enough = max(_LEAST_ROWS, _LEARNT_FROM // len(records.original))
            pairs = counted(_all_pairs(records, drawn_rows(records.released, enough, rng)), records.rule)
            match, _ = match_levels(pairs, chance, certain=True)
        return Weights(records.names, records.rule.steps, match, chance, share)

    def _learnt_in_blocks(self, records: Records, chance: FloatArray) -> FloatArray:
        """Return m per column, averaged over blocks without the column."""
        total, weight = np.zeros_like(chance), np.zeros(len(chance))
        for block in self.blocks:
            target, candidate = pairs_of_block(records, block)
            outside = [place for place, name in enumerate(records.names) if name not in block]
            if not target.size or not outside:
                continue
            pattern = patterns_of_pairs(records.released, records.original, records.rule, target, candidate)
            pairs = counted([(target, pattern)], records.rule)
            pairs = pairs._replace(levels=pairs.levels[:, outside])
            match, matching = match_levels(pairs, chance[outside], certain=False)
            total[outside] += matching * match
            weight[outside] += matching
        for place in np.flatnonzero(weight == 0):
            raise InputError(
                f"column {records.names[place]!r} is in every block with pairs, so its agreement weight cannot be "
                "learned. Add a block of other columns, or leave the column out"
            )
        return total / weight[:, None]

    def _scored(self, records: Records, weight: FloatArray, rows: IntArray) -> Iterator[ScoredPairs]:
        """Yield targets (sorted positions in ``rows``), candidates, and scores."""
        released, original, rule = records.released, records.original, records.rule
        if self.blocks:
            target, candidate = pairs_of_blocks(records, self.blocks, rows)
            yield ScoredPairs(
                target, candidate, scores_of_pairs(released, original, rule, weight, rows[target], candidate)
            )
            return
        at_a_time = max(1, _AT_A_TIME // len(original))
        for begin in range(0, rows.size, at_a_time):
            some = rows[begin : begin + at_a_time]
            score = scores_of_rows(released, original, rule, weight, some)
            target, candidate = np.divmod(np.arange(score.size), len(original))
            yield ScoredPairs(target + begin, candidate, score.ravel())


def _all_pairs(records: Records, rows: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield agreement patterns of released rows with all original rows."""
    size = len(records.original)
    at_a_time = max(1, _AT_A_TIME // size)
    for begin in range(0, rows.size, at_a_time):
        some = rows[begin : begin + at_a_time]
        yield np.repeat(some, size), patterns_of_rows(records.released, records.original, records.rule, some)


def _logit(chance: float) -> float:
    return log(chance / (1 - chance)) if chance > 0 else -inf
