"""Permutations of membership, and attack scores on them.

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
    """Return blocks of permutations (rows); True marks members.

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
    """Return permutations for a subset of N places.

    Where a figure looks at a few people of many, the others need no labels.

    >>> [make().shape for make in labels_among(3, 2_000, 1_000, 4, np.random.default_rng(0))]
    [(4, 3)]
    """

    def made(seed: list[int], number: int) -> BoolArray:
        own = np.random.default_rng(seed)
        return _drawn(own.hypergeometric(members, others, people, number), people, own)

    return [partial(made, *block) for block in _blocks(people, draws, rng)]


def labels_of_units(
    unit: IntArray, is_member: BoolArray, draws: int, rng: np.random.Generator, some: IntArray | None = None
) -> list[Callable[[], BoolArray]]:
    """Return permutations by unit, such as household.

    ``unit`` and ``is_member`` say of each place to which unit it belongs and whether it is a member. Units of as many
    places are exchanged: of each size as many are members as there are. With ``some`` only these places have columns.

    >>> homes, inside = np.array([0, 0, 1, 2, 2]), np.array([True, True, True, False, False])
    >>> (drawn,) = [make() for make in labels_of_units(homes, inside, 99, np.random.default_rng(0))]
    >>> drawn.sum(axis=1).tolist() == 99 * [3], drawn[:, 2].all(), (drawn[:, 0] == drawn[:, 1]).all()
    (True, np.True_, np.True_)
    """
    _, first, own, size = np.unique(unit, return_index=True, return_inverse=True, return_counts=True)
    # Units are known by their first places, as people are by theirs.
    by_place = np.argsort(first)
    rank = np.empty(first.size, np.int64)
    rank[by_place] = np.arange(first.size)
    inside, sizes, column = is_member[first[by_place]], size[by_place], rank[own]
    alike = [np.flatnonzero(sizes == each) for each in np.unique(sizes)]
    column = column if some is None else column[some]

    def made(seed: list[int], number: int) -> BoolArray:
        source = np.random.default_rng(seed)
        drawn = np.empty((number, first.size), np.bool_)
        for units in alike:
            members = int(np.count_nonzero(inside[units]))
            fewer = _drawn(np.full(number, min(members, units.size - members)), units.size, source)
            drawn[:, units] = fewer if 2 * members <= units.size else ~fewer
        return drawn[:, column]

    return [partial(made, *block) for block in _blocks(unit.size, draws, rng)]


def _blocks(people: int, draws: int, rng: np.random.Generator) -> Iterator[tuple[list[int], int]]:
    """Yield the seed of each block of draws, and how many draws it has."""
    seed = int(rng.integers(2**63))
    size = max(1, min(BLOCK, _LABELS // max(people, 1)))
    for block, first in enumerate(range(0, draws, size)):
        yield [seed, block], min(size, draws - first)


def _drawn(number: IntArray, people: int, rng: np.random.Generator) -> BoolArray:
    """Return one uniform permutation per number of people.

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
    """Return members' score sums at [permutation, test].

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

    Guess g fits the people at ``places[starts[g]:starts[g + 1]]``. As many draws are looked at together as a word has
    bits, and the people of a guess only until all of these have met two members.

    >>> singling_out_counts(np.array([[True, False, True]]), np.array([0, 2, 4]), np.array([0, 1, 0, 2]))
    array([1.])
    """
    alone = _exactly_one(_in_words(drawn), starts, places)
    # Bits of one word at a time, so that they stay small for any number of guesses.
    bits = (np.unpackbits(each.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little") for each in alone)
    counts = [each.sum(axis=0, dtype=np.int64) for each in bits]
    return np.concatenate([*counts, np.zeros(0)])[: len(drawn)].astype(np.float64)


def _in_words(drawn: BoolArray) -> IntArray:
    """Return at [word, place] the labels of 64 draws as bits."""
    draws, people = drawn.shape
    lanes = np.zeros((-(-draws // 64) * 8, people), np.uint8)
    packed = np.packbits(drawn, axis=0, bitorder="little")
    lanes[: len(packed)] = packed
    words: IntArray = np.ascontiguousarray(lanes.reshape(-1, 8, people).transpose(0, 2, 1)).view(np.int64)[..., 0]
    return words


@kernel("i8[,], i8[], i8[]")
def _exactly_one(words: IntArray, starts: IntArray, places: IntArray) -> IntArray:
    """Return bits of permutations with exactly one member, [word, predicate]."""
    alone = np.empty((len(words), starts.size - 1), np.int64)
    for word in range(len(words)):
        for guess in range(starts.size - 1):
            once, twice = 0, 0
            for at in range(starts[guess], starts[guess + 1]):
                drawn = words[word, places[at]]
                twice |= once & drawn
                once |= drawn
                if twice == -1:
                    break
            alone[word, guess] = once ^ twice
    return alone
