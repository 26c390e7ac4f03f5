"""Agreement patterns of record pairs, for Fellegi-Sunter weights.

They estimate how often matching and other pairs agree.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil._kernels.table.patterns import AgreementLevels, comparison
from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.attacks.table.record_linkage import compared
from unveil.data.table import Table
from unveil.data.table.encode import MISSING, without_markers
from unveil.errors import InputError

_LARGEST = 2**62
_ROUNDS = 1000
_STILL = 1e-8
#: Pairs that one block may leave.
MOST_PAIRS = 50_000_000


class Records(NamedTuple):
    """Both tables as integers, with the comparison of each column."""

    names: tuple[str, ...]
    released: IntArray
    original: IntArray
    rule: AgreementLevels


@dataclass(frozen=True, eq=False)
class Weights:
    """How much evidence each level of agreement is, per column.

    ``match[c, l]`` and ``chance[c, l]`` are the shares of pairs that reach level l of column c, among pairs of one
    person and among pairs at random, missing values left out: level 1 is a difference beyond all steps, the last one an
    equal value, level 0 a missing value. ``share`` is the prior chance that a pair is one person.
    """

    names: tuple[str, ...]
    steps: IntArray
    match: FloatArray
    chance: FloatArray
    share: float

    @property
    def logarithm(self) -> FloatArray:
        """Log Bayes factor of each level; 0 for a missing value."""
        ratio = np.zeros_like(self.match)
        seen = (self.match > 0) & (self.chance > 0)
        ratio[seen] = np.log(self.match[seen] / self.chance[seen])
        ratio[:, 0] = 0
        return ratio


def records_of(original: Table, released: Table, columns: tuple[str, ...] | None, steps: Sequence[float]) -> Records:
    """Return both tables ready to compare.

    Steps of numbers are in standard deviations of the original column.
    """
    known, masked = compared(original, released, columns)
    limits = [_limits(column, steps) for column in without_markers(known.numbers).T]
    limits += [[0]] * known.codes.shape[1]
    rule = comparison(limits)
    names = known.names_numbers + known.names_codes
    if rule.patterns > _LARGEST or (rule.stride < 1).any():
        raise InputError(
            f"{len(names)} columns with {len(steps)} steps make too many agreement patterns. "
            "Name fewer columns, or fewer steps"
        )
    one, other = (
        np.column_stack([without_markers(part.numbers), _with_missing(part.codes)]) for part in (masked, known)
    )
    return Records(names, one, other, rule)


def _with_missing(codes: Int32Array) -> IntArray:
    # Wide before the mark for missing goes in, which a narrow number would silently cut to 0.
    wide = codes.astype(np.int64)
    wide[codes <= 0] = MISSING
    return wide


def _limits(values: IntArray, steps: Sequence[float]) -> list[int]:
    known = values[values != MISSING].astype(np.float64)
    spread = float(known.std()) if known.size else 0.0
    return sorted({0, *(int(step * spread) for step in steps)})


def chance_levels(records: Records) -> FloatArray:
    """Return the share of pairs at each agreement level, per column.

    These are the pairs that drawing at random would give, all of them: counted from sorted values, exactly. Each
    released row's own original row is among them, one pair in as many as there are original rows.
    """
    steps = records.rule.steps
    chance = np.zeros((steps.size, int(steps.max()) + 2))
    for column in range(steps.size):
        one = records.released[:, column]
        one, other = one[one != MISSING], np.sort(records.original[:, column])
        other = other[np.searchsorted(other, MISSING, side="right") :]
        if not one.size or not other.size:
            continue
        within = [
            (np.searchsorted(other, one + limit, side="right") - np.searchsorted(other, one - limit)).sum()
            for limit in records.rule.limits[column, : steps[column]]
        ]
        # Levels go up as limits go down: beyond all limits first, within the least one last.
        inside = np.array([one.size * other.size, *within[::-1]], np.float64)
        chance[column, 1 : steps[column] + 2] = (inside - np.append(inside[1:], 0)) / inside[0]
    return chance


class PatternCounts(NamedTuple):
    """Number of pairs per released row and agreement pattern.

    ``row`` counts the rows from 0, ``which`` is a line of ``levels``, ``pairs`` has one number per row.
    """

    row: IntArray
    which: IntArray
    times: FloatArray
    levels: IntArray
    pairs: FloatArray


def counted(parts: Iterable[tuple[IntArray, IntArray]], rule: AgreementLevels) -> PatternCounts:
    """Return the counts of pairs that come in parts.

    Each part has rows of its own, and the patterns of pairs.
    """
    rows, patterns, counts = [], [], []
    for row, pattern in parts:
        distinct, which = np.unique(pattern, return_inverse=True)
        key, count = np.unique(row * distinct.size + which, return_counts=True)
        rows.append(key // distinct.size)
        patterns.append(distinct[key % distinct.size])
        counts.append(count)
    row, pattern, count = (np.concatenate(each) for each in (rows, patterns, counts))
    _, row = np.unique(row, return_inverse=True)
    distinct, which = np.unique(pattern, return_inverse=True)
    times = count.astype(np.float64)
    return PatternCounts(row, which, times, rule.levels(distinct), np.bincount(row, times).astype(np.float64))


def match_levels(pairs: PatternCounts, chance: FloatArray, *, certain: bool) -> tuple[FloatArray, float]:
    """Return agreement shares and number of matching pairs, by EM.

    Only what matching pairs do is learned; what pairs at random do (``chance``) stays as it is. A released row matches
    at most one of its pairs: without either, EM would find whatever else splits the pairs in two, such as households.
    Each column starts at nine in ten for an equal value, and one imagined pair that agrees at random keeps shares above
    0. ``certain`` says that each row's match is among its pairs; else how often it is, is learned.
    """
    match, here = _start(chance), 1.0 if certain else 0.5
    columns = np.arange(len(chance))
    size = pairs.pairs.size
    expected = np.zeros(pairs.row.size)
    for _ in range(_ROUNDS):
        ratio = np.log(np.where(match > 0, match, 1)) - np.log(np.where(chance > 0, chance, 1))
        ratio[:, 0] = 0
        weight = pairs.times * np.exp(ratio[columns, pairs.levels].sum(axis=1).clip(-600, 600))[pairs.which]
        nobody = (1 - here) / here * pairs.pairs
        expected = weight / (nobody + np.bincount(pairs.row, weight))[pairs.row]
        before, match = match, _shares(pairs, expected, chance)
        if not certain:
            here = float(np.clip(expected.sum() / size, 1e-9, 1 - 1e-9))
        if np.abs(match - before).max() < _STILL:
            break
    return match, float(expected.sum())


def _start(chance: FloatArray) -> FloatArray:
    """Return the EM start: nine tenths for the highest level."""
    match = np.zeros_like(chance)
    for own, by_lot in zip(match, chance, strict=True):
        occurring = np.flatnonzero(by_lot)
        if occurring.size:
            own[occurring] = 0.1 * by_lot[occurring]
            own[occurring[-1]] += 0.9
    return match


def _shares(pairs: PatternCounts, expected: FloatArray, chance: FloatArray) -> FloatArray:
    match = np.zeros_like(chance)
    by_pattern = np.bincount(pairs.which, expected, minlength=len(pairs.levels))
    for column, by_lot in enumerate(chance):
        total = np.bincount(pairs.levels[:, column], by_pattern, minlength=by_lot.size) + by_lot
        total[0] = 0  # a missing value says nothing
        match[column] = total / max(total.sum(), 1e-300)
    return match


def check_blocks(blocks: tuple[tuple[str, ...], ...]) -> None:
    """Refuse blocks that are no groups of columns."""
    if isinstance(blocks, str) or any(isinstance(block, str) or not block for block in blocks):
        raise InputError("a block is not a group of columns. Write blocks such as (('town',), ('age', 'sex'))")


def pairs_of_block(records: Records, block: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Return the pairs equal in all columns of a block."""
    places = [records.names.index(name) for name in block]
    released, original = records.released[:, places], records.original[:, places]
    both = np.concatenate([released, original])
    _, group = np.unique(both, axis=0, return_inverse=True)
    group = np.where((both == MISSING).any(axis=1), -1, group.ravel())
    one, other = group[: len(released)], group[len(released) :]
    order = np.argsort(other, kind="stable")
    begin, end = np.searchsorted(other[order], one), np.searchsorted(other[order], one, side="right")
    count = np.where(one < 0, 0, end - begin)
    if count.sum() > MOST_PAIRS:
        raise InputError(
            f"the block {', '.join(map(repr, block))} has {int(count.sum()):,} pairs, above the maximum of "
            f"{MOST_PAIRS:,}. Add a column to the block"
        )
    target = np.repeat(np.arange(one.size), count)
    place = np.arange(target.size) - np.repeat(np.cumsum(count) - count, count)
    return target, order[np.repeat(begin, count) + place]


def pairs_of_blocks(records: Records, blocks: Sequence[Sequence[str]], rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct pairs of all blocks for released ``rows``."""
    place = np.full(len(records.released), -1, np.int64)
    place[rows] = np.arange(rows.size)
    size = len(records.original)
    keys = []
    for block in blocks:
        target, candidate = pairs_of_block(records, block)
        wanted = place[target] >= 0
        keys.append(place[target[wanted]] * size + candidate[wanted])
    target, candidate = np.divmod(np.unique(np.concatenate(keys)), size)
    return target, candidate
