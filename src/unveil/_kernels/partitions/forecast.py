"""Forecast of evidence until all items of a subject are linked.

Each piece corrects one error about what the attacker holds of a subject: it merges another related cluster into it, or
splits the items of one other subject off. The helpers take and change plain arrays, so that the same source runs as it
is on small data and compiled on large.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray

#: How the next merging is chosen: by the cost of the paper, by chance alone, by items, or by given rates.
CHEAPEST, ANY, PAIRS, GIVEN = range(4)
#: What the mixed graph counts: foreign items, other subjects, or their effective number.
ITEMS, OTHERS, EVEN = range(3)

# Where the state of a future has what: the foreign weight that is held, how many others are, how many items they have,
# the sum of c * log2(c) over them, and the most items that anybody had so far.
_WEIGHT, _OTHERS, _ITEMS, _BITS, _MOST = range(5)

# Up to so many pieces of evidence plain Python is faster than loading a compiler.
PLAIN_STEPS = 100_000

# So often somebody is drawn and not taken before all are looked through, where few have most of the items.
_TRIES = 30


class ContingencyCells(NamedTuple):
    """Contingency cells by row and column, and linkage rates of columns."""

    start: IntArray
    order: IntArray
    column: Int32Array
    items: IntArray
    own: IntArray
    foreign: IntArray
    row_of: Int32Array
    column_start: IntArray
    cell_in_column: IntArray
    link_start: IntArray
    link_column: IntArray
    link_rate: FloatArray


class EvidenceModel(NamedTuple):
    """Settings of the arrival and counting of evidence."""

    linkage: int
    split: float
    counts: int
    subjects: int


class ShareBases(NamedTuple):
    """Denominators of shares, inverted mixing and the threshold, per subject."""

    base: FloatArray
    own: FloatArray
    foreign: FloatArray
    turned: BoolArray
    beta: FloatArray


class HeldItems(NamedTuple):
    """Items held of other subjects: amount and weight, presence, place and sums."""

    amount: FloatArray
    present: IntArray
    place: IntArray
    state: FloatArray


class OpenClusters(NamedTuple):
    """Unmerged related clusters, cheapest first, and their linkage rates."""

    cell: IntArray
    rate: FloatArray


def _change(held: HeldItems, other: int, items: float, weight: float) -> None:
    """Let another subject's items in, or out again where ``items`` is negative."""
    state = held.state
    before = held.amount[0, other]
    if before == 0:
        held.place[other] = int(state[_OTHERS])
        held.present[held.place[other]] = other
        state[_OTHERS] += 1
    held.amount[0, other] += items
    held.amount[1, other] += weight
    after = held.amount[0, other]
    state[_ITEMS] += items
    state[_WEIGHT] += weight
    state[_MOST] = max(state[_MOST], after)
    if before > 1:
        state[_BITS] -= before * np.log2(before)
    if after > 1:
        state[_BITS] += after * np.log2(after)
    if after == 0:
        state[_OTHERS] -= 1
        last = held.present[int(state[_OTHERS])]
        held.present[held.place[other]] = last
        held.place[last] = held.place[other]


def _mixed_now(state: FloatArray, counts: int, whole: float, turned: bool) -> float:
    """Return the mixed graph: include errors, subjects, or effective number."""
    value = state[_WEIGHT]
    if counts == OTHERS:
        value = state[_OTHERS]
    elif counts == EVEN:
        value = 0.0
        if state[_OTHERS] > 0:
            value = 2.0 ** (np.log2(state[_ITEMS]) - state[_BITS] / state[_ITEMS])
            value = min(state[_OTHERS], max(1.0, value))
    share = value / whole if whole > 0 else 0.0
    return 1.0 - share if turned else share


def _merge(
    cells: ContingencyCells, evidence: EvidenceModel, held: HeldItems, left: OpenClusters, size: int, at: int, row: int
) -> float:
    """Merge a remaining cluster, and return the subject's weight in it."""
    cell = left.cell[at]
    cluster = cells.column[cell]
    for later in range(at, size - 1):  # what is left keeps its order, as the cheapest comes first
        left.cell[later] = left.cell[later + 1]
        left.rate[later] = left.rate[later + 1]
    if evidence.split > 0 or evidence.counts != ITEMS:
        for spot in range(cells.column_start[cluster], cells.column_start[cluster + 1]):
            joined = cells.cell_in_column[spot]
            if cells.row_of[joined] != row:
                other = cells.row_of[joined] % evidence.subjects
                _change(held, other, float(cells.items[joined]), float(cells.own[joined]))
    else:
        held.state[_WEIGHT] += cells.foreign[cell]
    if evidence.linkage == GIVEN:
        for k in range(cells.link_start[cluster], cells.link_start[cluster + 1]):
            for later in range(size - 1):
                if cells.column[left.cell[later]] == cells.link_column[k]:
                    left.rate[later] += cells.link_rate[k]
    return float(cells.own[cell])


def _cheapest(rng: np.random.Generator, cells: ContingencyCells, left: OpenClusters, size: int) -> int:
    """Return the cheapest remaining cluster, random among ties."""
    first, tied = left.cell[0], 1
    while tied < size:
        cell = left.cell[tied]
        if cells.own[cell] != cells.own[first] or cells.foreign[cell] != cells.foreign[first]:
            break
        tied += 1
    return int(rng.random() * tied) if tied > 1 else 0


def _next_merging(left: OpenClusters, size: int, luck: float) -> int:
    """Return the next merged cluster for a random number below the rate sum."""
    for at in range(size - 1):
        luck -= left.rate[at]
        if luck < 0:
            return at
    return size - 1


def _parted(rng: np.random.Generator, held: HeldItems, linkage: int) -> int:
    """Return the other subject that evidence separates, uniformly or by items.

    By items, somebody is drawn and taken with a chance of items over the most that anybody had. Where that fails
    often, all are looked through; either way each has exactly its chance.
    """
    others = int(held.state[_OTHERS])
    for _ in range(_TRIES):
        at = int(rng.random() * others)
        if linkage == ANY or rng.random() * held.state[_MOST] < held.amount[0, held.present[at]]:
            return at
    luck = rng.random() * held.state[_ITEMS]
    for at in range(others - 1):
        luck -= held.amount[0, held.present[at]]
        if luck < 0:
            return at
    return others - 1


def _let_go(held: HeldItems, at: int) -> None:
    """Let go of the other subject at this place."""
    other = held.present[at]
    _change(held, other, -held.amount[0, other], -held.amount[1, other])


def _future(
    rng: np.random.Generator,
    cells: ContingencyCells,
    evidence: EvidenceModel,
    shares: ShareBases,
    held: HeldItems,
    row: int,
    linked_rise: FloatArray,
    mixed_rise: FloatArray,
) -> tuple[float, float, int]:
    """Simulate one row's future to β, and return its results.

    A subject that is never linked has infinite evidence, and -1 as its step.
    """
    subject = row % evidence.subjects
    beta, base, own_whole = shares.beta[subject], shares.base[subject], shares.own[subject]
    left = OpenClusters(
        cells.order[cells.start[row] : cells.start[row + 1]].copy(), np.ones(cells.start[row + 1] - cells.start[row])
    )
    size = left.cell.size
    for at in range(size):
        if evidence.linkage == GIVEN:
            left.rate[at] = 0.0
        elif evidence.linkage != ANY:
            left.rate[at] = cells.items[left.cell[at]]
    for sum_of in range(held.state.size):
        held.state[sum_of] = 0.0
    needed, there, reached = np.inf, 0.0, -1
    taken, linked, mixed = 0.0, 0.0, 0.0
    step, at = 0, _cheapest(rng, cells, left, size)
    while True:
        if at >= 0:
            taken += _merge(cells, evidence, held, left, size, at, row)
            size -= 1
        now = (base + taken) / own_whole if own_whole > 0 else 1.0
        mixed_now = _mixed_now(held.state, evidence.counts, shares.foreign[subject], shares.turned[subject])
        linked_rise[step] += now - linked
        mixed_rise[step] += mixed_now - mixed
        if reached < 0 and now >= beta - 1e-12:
            part = 1.0 if step == 0 else min(1.0, (beta - linked) / (now - linked))
            reached, needed, there = step, max(0.0, step - 1 + part), mixed + part * (mixed_now - mixed)
        linked, mixed = now, mixed_now
        merging = left.rate[:size].sum()
        splitting = evidence.split * held.state[_OTHERS if evidence.linkage == ANY else _ITEMS]
        if size == 0 or merging + splitting <= 0:
            break
        luck = rng.random() * (merging + splitting)
        at = -1
        if luck < merging:
            by_cost = evidence.linkage == CHEAPEST
            at = _cheapest(rng, cells, left, size) if by_cost else _next_merging(left, size, luck)
        else:
            _let_go(held, _parted(rng, held, evidence.linkage))
        step += 1
    while held.state[_OTHERS] > 0:
        _let_go(held, 0)
    return needed, there, reached


@loop(
    "rng, i8[], i8[], ContingencyCells(i8[], i8[], i4[], i8[], i8[], i8[], i4[], i8[], i8[], i8[], i8[], f8[]), "
    "EvidenceModel(i8, f8, i8, i8), ShareBases(f8[], f8[], f8[], b1[], f8[]), i8",
)
def _futures(
    rng: np.random.Generator,
    guess_of: IntArray,
    subject: IntArray,
    cells: ContingencyCells,
    evidence: EvidenceModel,
    shares: ShareBases,
    length: int,
) -> tuple[FloatArray, FloatArray, IntArray, FloatArray, FloatArray]:
    needed = np.zeros((guess_of.size, subject.size))
    there = np.zeros((guess_of.size, subject.size))
    reached = np.zeros((guess_of.size, subject.size), np.int64)
    linked = np.zeros((guess_of.size, length))
    mixed = np.zeros((guess_of.size, length))
    held = HeldItems(
        np.zeros((2, evidence.subjects)),
        np.zeros(evidence.subjects, np.int64),
        np.zeros(evidence.subjects, np.int64),
        np.zeros(5),
    )
    for draw in range(guess_of.size):
        for k in range(subject.size):
            row = guess_of[draw] * evidence.subjects + subject[k]
            found = _future(rng, cells, evidence, shares, held, row, linked[draw], mixed[draw])
            needed[draw, k], there[draw, k], reached[draw, k] = found
    return needed, there, reached, linked, mixed


def futures(
    rng: np.random.Generator,
    guess_of: IntArray,
    subject: IntArray,
    cells: ContingencyCells,
    evidence: EvidenceModel,
    shares: ShareBases,
    length: int,
) -> tuple[FloatArray, FloatArray, IntArray, FloatArray, FloatArray]:
    """Return simulated futures: evidence to β, mixed graph, and rises.

    The first three have a row per draw and a column per subject of ``subject``; the rises of the linked and the mixed
    graph, summed over these subjects, a row per draw and a column per piece of evidence, of which a future has at most
    ``length``. Draw d starts from guess ``guess_of[d]``.
    """
    run = _futures
    if guess_of.size * subject.size * length > PLAIN_STEPS:
        run = compiled(_futures)
    return run(rng, guess_of, subject, cells, evidence, shares, length)
