"""Who could as well have been in the data: draws of labels by lot, and what attacks score on those drawn.

People are known by their places from 0 on. A place must follow from what a person's rows hold and never from where they
stand, so that shuffled tables give the same draws. People who hold the same may swap their places: an attack that
looks at nothing else gives them the same score, so that no sum changes.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: How many draws are made at a time.
BLOCK = 500
#: No block has more labels than this, so that memory stays below some hundred megabytes for any number of people.
_LABELS = 2**25
#: So many labels are turned into floats at a time.
_FLOATS = 2**22
#: Members are first drawn one by one, so many standard deviations too few, because adding is quicker than removing.
_DEVIATIONS = 4
_WORD = 2**16


def labels(members: int, others: int, draws: int, rng: np.random.Generator) -> list[Callable[[], BoolArray]]:
    """Return blocks of draws to be made, one row per draw and one column per place; True marks the members.

    There are always as many, and every choice of ``members`` of all places is equally likely. One number is taken from
    ``rng``, and each block has a generator of its own made from that and the number of the block: blocks may be made in
    any order, by any number of threads. A block has 500 draws, and fewer only where so many would not fit into memory.

    >>> [make().sum(axis=1).tolist() for make in labels(2, 3, 4, np.random.default_rng(0))]
    [[2, 2, 2, 2]]
    """

    def made(seed: list[int], number: int) -> BoolArray:
        fewer = _drawn(np.full(number, min(members, others)), members + others, np.random.default_rng(seed))
        return fewer if members <= others else np.logical_not(fewer, out=fewer)

    return [partial(made, *block) for block in _blocks(members + others, draws, rng)]


def labels_among(
    people: int, members: int, others: int, draws: int, rng: np.random.Generator
) -> list[Callable[[], BoolArray]]:
    """Return the same for so many of all places: how many of them are members is drawn too, as in draws of everybody.

    Where a figure looks at a few people of many, the others need no labels.

    >>> [make().shape for make in labels_among(3, 2_000, 1_000, 4, np.random.default_rng(0))]
    [(4, 3)]
    """

    def made(seed: list[int], number: int) -> BoolArray:
        own = np.random.default_rng(seed)
        return _drawn(own.hypergeometric(members, others, people, number), people, own)

    return [partial(made, *block) for block in _blocks(people, draws, rng)]


def _blocks(people: int, draws: int, rng: np.random.Generator) -> Iterator[tuple[list[int], int]]:
    """Yield the seed of each block of draws, and how many draws it has."""
    seed = int(rng.integers(2**63))
    size = max(1, min(BLOCK, _LABELS // max(people, 1)))
    for block, first in enumerate(range(0, draws, size)):
        yield [seed, block], min(size, draws - first)


def _drawn(number: IntArray, people: int, rng: np.random.Generator) -> BoolArray:
    """Return one draw for each number of people, every choice of so many being equally likely.

    Independent labels are made first; given how many they mark, every choice of so many is equally likely, and it stays
    so when people are added, or removed, by lot until the number is right. This takes a third of the time of shuffling.
    """
    chance = np.maximum(number - _DEVIATIONS * number**0.5, 0.0) / max(people, 1)
    # Two at a time: numpy makes words of this length a third as fast one by one, and they are the same.
    pairs = rng.integers(0, _WORD**2, (number.size * people + 1) // 2, dtype="<u4")
    lot = pairs.view("<u2")[: number.size * people].reshape(number.size, people)
    drawn: BoolArray = lot < (_WORD * chance).astype(np.uint16)[:, None]
    missing = number - np.count_nonzero(drawn, axis=1)
    wrong = np.flatnonzero(missing)
    # Whoever is met is added to a draw that has too few, or removed from one that has too many.
    flat, first, adds, left = drawn.reshape(-1), wrong * people, missing[wrong] > 0, np.abs(missing[wrong])
    while left.size:
        at = first + rng.integers(0, people, left.size)
        left -= flat[at] != adds
        flat[at] = adds
        if not left.all():
            goes_on = left > 0
            first, adds, left = first[goes_on], adds[goes_on], left[goes_on]
    return drawn


def member_sums(drawn: BoolArray, scores: FloatArray) -> FloatArray:
    """Return at [draw, figure] the sum of the members' scores, for scores at [place, figure].

    Sums of zeros and ones are exact. Others are rounded, and how depends on the order of people and on threads:
    whoever compares sums must take those for equal that differ by rounding, as :func:`step_down` does.

    >>> member_sums(np.array([[True, False, True]]), np.array([[1.0, 0.5], [1.0, 0.5], [0.0, 0.25]]))
    array([[1.  , 0.75]])
    """
    people = np.flatnonzero(scores.any(axis=1))
    if people.size < len(scores):
        drawn, scores = drawn[:, people], scores[people]
    rows = max(1, _FLOATS // max(people.size, 1))
    parts = [drawn[first : first + rows].astype(np.float64) @ scores for first in range(0, len(drawn), rows)]
    return np.concatenate(parts) if parts else np.zeros((0, scores.shape[1]))


def singling_out_counts(drawn: BoolArray, starts: IntArray, places: IntArray) -> FloatArray:
    """Return for each draw how many guesses fit exactly one of the members.

    Guess g fits the people at ``places[starts[g]:starts[g + 1]]``. Whoever is not fitted is never looked at, and the
    people of a guess only until two members are met: on average two over the share of members, however many it fits. So
    2,000 guesses take some 0.1 ms per draw, from a handful of people each to thousands.

    >>> singling_out_counts(np.array([[True, False, True]]), np.array([0, 2, 4]), np.array([0, 1, 0, 2]))
    array([1.])
    """
    return _exactly_one(drawn, starts, places)


@kernel("b1[,], i8[], i8[]")
def _exactly_one(drawn: BoolArray, starts: IntArray, places: IntArray) -> FloatArray:
    number = np.zeros(len(drawn))
    for draw in range(len(drawn)):
        row = drawn[draw]
        for guess in range(starts.size - 1):
            met = 0
            for at in range(starts[guess], starts[guess + 1]):
                if row[places[at]]:
                    met += 1
                    if met == 2:
                        break
            if met == 1:
                number[draw] += 1
    return number
