"""Attackers who infer a sensitive attribute: by agreement, counts, or a learner.

Every guess is a value that the rows hold, told by its rank, so that one rule says when it is correct. A number is
guessed by way of classes: values that many rows have are classes of their own, all others are cut into parts of equally
many rows, and of a class the value is guessed that is near enough to most of its rows. A regression aims between the
values, where few people are; docs/research/inference-measured.md has the numbers.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.learners.boosting import Growth, boosted_scores
from unveil._kernels.learners.sides import divide
from unveil._kernels.neighbours.best_rows import RightRanks, best_row_chances, by_agreement
from unveil._kernels.neighbours.guesses import ReleasedSecrets
from unveil._kernels.neighbours.index import EVERY, LAST_MARKER, BlockedRows, IntegerGrid, content_rank
from unveil._kernels.neighbours.secret_chances import right_chances
from unveil._kernels.random import State, below, fresh_state
from unveil._kernels.types import BagArray, BoolArray, ByteArray, FloatArray, Int32Array, IntArray
from unveil.attacks.table._features import binned
from unveil.errors import InputError

if TYPE_CHECKING:
    from unveil.data.table.encode import EncodedTable

Adversary = Literal["nearest", "agreement", "counts", "forest", "boosting"]
ADVERSARIES: tuple[Adversary, ...] = get_args(Adversary)
#: Those who take the sensitive value of one row, drawn at random among the best ones; all others say what is likeliest.
BY_ROWS: tuple[Adversary, ...] = ("nearest", "agreement")
LEARNERS: tuple[Adversary, ...] = ("forest", "boosting")
#: What each of them does, to be followed by the sensitive value.
NAMED: dict[Adversary, str] = {
    "nearest": "the nearest row tells",
    "agreement": "the row with the rarest values in common tells",
    "counts": "released counts tell",
    "forest": "a forest learns",
    "boosting": "boosting learns",
}
#: A learner sees at most this many rows, drawn by what they hold.
MOST_ROWS = 50_000
#: A sensitive value has at most this many classes; the values of a category that are rarer are never guessed.
MOST_CLASSES = 40
#: A number that this share of rows have is a class of its own, and the others are cut into this many parts at most.
_SPIKE = 0.02
_PARTS = 25
#: Counts look at numbers in this many parts.
_BINS = 16
#: Logarithms of chances are whole multiples of this, so that equal ones stay equal.
_UNIT = 2.0**-20
#: How boosting learns up to this many classes.
_GROWTH = (
    (3, Growth(rounds=150, leaves=31, rate=0.1)),
    (10, Growth(rounds=60, leaves=15, rate=0.1)),
    (MOST_CLASSES, Growth(rounds=25, leaves=15, rate=0.2)),
)
#: Trees of a forest, and the share of features that each division tries.
_TREES, _TRIED = 50, 0.5
#: Values of a byte, which holds the bin of a feature.
_BYTE_VALUES = 256
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class SecretClasses(NamedTuple):
    """Class of each rank (-1: none), and the rank guessed per class."""

    of_rank: IntArray
    guess: IntArray


@dataclass(frozen=True, eq=False)
class Teacher:
    """Training rows: quasi-identifiers and ranks of the sensitive attribute.

    ``near`` says of each rank from which rank up to which a guess is right about it, where sensitive values are
    numbers.
    """

    known: BlockedRows
    secrets: ReleasedSecrets
    near: tuple[IntArray, IntArray] | None = None
    _drawn: dict[int, IntArray] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def classes(self) -> SecretClasses:
        """Learnable classes; raises InputError if there are none."""
        return classes_of(self)

    def drawn(self, at_most: int) -> IntArray:
        """Return a content-ordered sample of training rows."""
        # Kept, because several learners are taught by the same rows.
        if at_most not in self._drawn:
            rank = self.secrets.rank
            rows = np.flatnonzero(np.where(rank >= 0, self.classes.of_rank[rank], -1) >= 0)
            if rows.size > at_most:
                numbers, codes = self.known.widths
                own = (self.known.column(place, rows) for place in range(numbers))
                others = (self.known.column(numbers + place, rows) for place in range(codes))
                bits = content_hash(chain(own, [rank[rows]], others), rows.size)
                rows = rows[drawn_by_content(bits, at_most, seed=0)]
            self._drawn[at_most] = rows[np.argsort(content_rank(_with_secret(self, rows)), kind="stable")]
        return self._drawn[at_most]


def single_cells(known: "EncodedTable") -> BlockedRows:
    """Return rows with a new value in place of range cells.

    Raises
    ------
    InputError
        If no cell is a single value.
    """
    if known.cells is None:
        return known
    cells, numbers, codes = known.cells, known.numbers.copy(), known.codes.copy()
    single = np.concatenate([cells.low == cells.high, np.diff(cells.start) == 1])
    several = ~single[cells.of_row + cells.offset[:-1, None]].T
    if several.all():
        raise InputError(
            "all quasi-identifier cells of the release are ranges, and this attacker learns from single values. "
            "Choose the attacker 'nearest'"
        )
    numbers[several[:, : cells.numbers]] = LAST_MARKER
    codes[several[:, cells.numbers :]] = np.iinfo(np.int32).min
    return known.grid()._replace(numbers=numbers, codes=codes)


def guess_chances(
    adversary: Adversary, teacher: Teacher, people: IntegerGrid, right: RightRanks, *, most_rows: int = MOST_ROWS
) -> FloatArray:
    """Return each person's probability of a correct guess.

    A learner sees at most ``most_rows`` of them.

    Raises
    ------
    InputError
        If there is nothing to learn from.
    """
    if not right.low.size:
        return np.empty(0)
    if adversary == "nearest":
        return right_chances(teacher.known, right.rank, people, right.low, right.high, 1)
    if adversary == "agreement":
        scores = by_agreement(teacher.known.block(EVERY), people)
        every = np.arange(scores.gain.shape[1])
        return best_row_chances(scores, right, every[:-1], every[-1:])[:, 0]
    classes = teacher.classes
    if adversary == "counts":
        prior, columns = _log_chances(teacher, people)
        return _likeliest(classes, prior + sum(columns), right)
    guess = classes.guess[_learned(adversary, teacher, people, most_rows)]
    return ((guess >= right.low) & (guess < right.high)).astype(np.float64)


def chances_alone(teacher: Teacher, people: IntegerGrid, right: RightRanks) -> list[FloatArray]:
    """Return `guess_chances` by each column's counts alone, numbers first."""
    prior, columns = _log_chances(teacher, people)
    return [_likeliest(teacher.classes, prior + column, right) for column in columns]


def _likeliest(classes: SecretClasses, logarithm: FloatArray, right: RightRanks) -> FloatArray:
    """Return the probability that a random most likely class is correct."""
    best = logarithm == logarithm.max(axis=1, keepdims=True)
    inside = (classes.guess >= right.low[:, None]) & (classes.guess < right.high[:, None])
    return np.asarray((best & inside).sum(axis=1) / best.sum(axis=1))


def notes_on_rows(adversary: Adversary, rows: int, most_rows: int = MOST_ROWS) -> list[str]:
    """Return a note on learners that saw only a sample."""
    if adversary not in LEARNERS or rows <= most_rows:
        return []
    return [f"{NAMED[adversary]} from {most_rows:,} of {rows:,} rows, drawn by what they hold"]


def classes_of(teacher: Teacher) -> SecretClasses:
    """Return the learnable classes: frequent ones of at least two rows.

    Raises
    ------
    InputError
        If fewer than two classes are left.
    """
    rank, size = teacher.secrets.rank, teacher.secrets.values
    count = np.bincount(rank[rank >= 0], minlength=size)
    often = np.lexsort((np.arange(size), -count))
    parts = [often[at : at + 1] for at in range(min(size, MOST_CLASSES))]
    if teacher.near is not None:
        spikes = often[count[often] >= _SPIKE * count.sum()][: MOST_CLASSES - _PARTS]
        rest = np.setdiff1d(np.flatnonzero(count), spikes)
        # The middle of its rows tells in which part a value lies, so that no value is in two.
        middle = np.cumsum(count[rest]) - count[rest] / 2
        part = np.minimum((middle * _PARTS / max(count[rest].sum(), 1)).astype(np.int64), _PARTS - 1)
        parts = [*parts[: spikes.size], *(rest[part == at] for at in np.unique(part))]
    parts = [each for each in parts if count[each].sum() >= 2]
    if len(parts) < 2:
        raise InputError(
            f"too few values of the sensitive attribute occur in two rows each: {len(parts)}, at least two are needed. "
            "Name another column, or the attacker 'nearest'"
        )
    of_rank = np.full(size, -1, np.int64)
    for number, each in enumerate(parts):
        of_rank[each] = number
    return SecretClasses(of_rank, np.array([_most_near(each, count, teacher.near) for each in parts], np.int64))


def _most_near(ranks: IntArray, count: IntArray, near: tuple[IntArray, IntArray] | None) -> int:
    """Return the value correct for most rows, the lowest on ties."""
    if near is None:
        return int(ranks[0])
    change = np.zeros(count.size + 1, np.int64)
    np.add.at(change, near[0][ranks], count[ranks])
    np.add.at(change, near[1][ranks], -count[ranks])
    return int(ranks[np.argmax(np.cumsum(change)[ranks])])


def _log_chances(teacher: Teacher, people: IntegerGrid) -> tuple[FloatArray, Iterator[FloatArray]]:
    """Return log class priors and naive Bayes terms at [person, class].

    Among the n_c rows of a class the value v of a column has the chance ``(n_cv + p_v) / (n_c + 1)``, where p_v is its
    share among all rows, ``(n_v + 1/2) / (n + 1)``. Logarithms are rounded, so that equal chances stay equal.
    """
    rank, classes = teacher.secrets.rank, teacher.classes
    own = np.where(rank >= 0, classes.of_rank[rank], -1)
    rows = np.flatnonzero(own >= 0)
    own = own[rows]
    size = np.bincount(own, minlength=classes.guess.size)

    def of_column(old: IntArray, new: IntArray) -> FloatArray:
        width = int(max(old.max(initial=0), new.max(initial=0))) + 1
        among = np.bincount(old * size.size + own, minlength=width * size.size).reshape(width, size.size)
        share = (among.sum(axis=1, keepdims=True) + 0.5) / (own.size + 1)
        return _whole(np.log((among + share) / (size + 1)))[new]

    return _whole(np.log(size / size.sum())), (of_column(*pair) for pair in _binned(teacher.known, rows, people))


def _whole(logarithm: FloatArray) -> FloatArray:
    return np.asarray(np.rint(logarithm / _UNIT))


def _binned(known: BlockedRows, rows: IntArray, people: IntegerGrid) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield each column as small integers: bins or code positions."""
    for place in range(known.widths[0]):
        old, new = known.column(place, rows), people.numbers[:, place]
        there = old[old > LAST_MARKER]
        places = (np.arange(1, _BINS) * there.size) // _BINS
        cuts = np.unique(np.partition(there, places)[places]) if there.size else there
        yield tuple(  # type: ignore[misc]
            np.where(each > LAST_MARKER, np.searchsorted(cuts, each, "right") + 1, 0).astype(np.int64)
            for each in (old, new)
        )
    for place in range(known.widths[1]):
        both = np.concatenate([known.column(known.widths[0] + place, rows), people.codes[:, place]]).astype(np.int64)
        low = both.min(initial=0)
        # Codes are close together unless some stand for a value that no person has.
        close = both.max(initial=0) - low <= both.size
        numbered = both - low if close else np.unique(both, return_inverse=True)[1].astype(np.int64)
        yield tuple(np.split(numbered, [rows.size]))  # type: ignore[misc]


def _learned(adversary: Adversary, teacher: Teacher, people: IntegerGrid, at_most: int) -> IntArray:
    """Return the class that a learner guesses for each person."""
    rows = teacher.drawn(at_most)
    own = teacher.classes.of_rank[teacher.secrets.rank[rows]]
    features = binned(teacher.known.block(rows), people)
    if adversary == "forest":
        scores = forest_shares(features.rows, own, features.people)
    else:
        classes = np.unique(own).size
        # Many classes have many trees in each round: fewer rounds of smaller ones then, or they diverge.
        growth = next(growth for most_classes, growth in _GROWTH if classes <= most_classes)
        scores = boosted_scores(features.rows, features.is_category, own, features.people, growth)
    return np.asarray(scores.argmax(axis=1), np.int64)


def _with_secret(teacher: Teacher, rows: IntArray) -> IntegerGrid:
    """Append the rank of the sensitive attribute."""
    some = teacher.known.block(rows)
    return some._replace(numbers=np.column_stack([some.numbers, teacher.secrets.rank[rows]]))


def mixed(values: BagArray) -> BagArray:
    """Return the splitmix64 hash of each value.

    >>> mixed(np.array([0, 1], np.uint64))
    array([16294208416658607535, 10451216379200822465], dtype=uint64)
    """
    with np.errstate(over="ignore"):
        bits = values + _GOLDEN
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))


def content_hash(columns: Iterable[IntArray | Int32Array], rows: int) -> BagArray:
    """Return a 64-bit hash of each row."""
    total = np.zeros(rows, np.uint64)
    for column in columns:
        total = mixed(total ^ column.astype(np.int64).view(np.uint64))
    return total


def drawn_by_content(bits: BagArray, number: int, seed: int) -> IntArray:
    """Draw rows at random by their hashes, whatever their order.

    Each of several equal rows has its own random key. A smaller draw is the beginning of a larger one.

    >>> drawn_by_content(np.array([7, 5, 7, 9], np.uint64), 2, seed=1)
    array([2, 3])
    """
    order = np.argsort(bits, kind="stable")
    ascending = bits[order]
    first = np.searchsorted(ascending, ascending)
    copy = (np.arange(bits.size) - first).astype(np.uint64)
    key = mixed(mixed(ascending ^ np.uint64(seed)) + copy)
    least = np.argpartition(key, number)[:number] if number < key.size else np.arange(key.size)
    return order[least[np.argsort(key[least], kind="stable")]]


def forest_shares(
    bins: ByteArray, classes: IntArray, people: ByteArray, *, trees: int = _TREES, seed: int = 0
) -> FloatArray:
    """Return class shares from a forest of extremely randomized trees.

    At each division half of the features are tried, each with one random cut, and the best cut is taken (Geurts, Ernst
    and Wehenkel 2006). Trees see all rows and grow until all rows of a leaf have the same class or the same features:
    the forest memorizes every row. A person's shares are the mean over trees of the class shares in the person's leaf.

    Parameters
    ----------
    bins
        Rows to learn from at [feature, row], as small whole numbers whose order counts.
    classes
        The class of each row, from 0 on.
    people
        The people to classify, at [feature, person].
    trees
        The number of trees.
    seed
        The seed of the random cuts.

    Examples
    --------
    >>> bins = np.arange(8, dtype=np.uint8)[None]
    >>> forest_shares(bins, np.array([0, 0, 0, 0, 1, 1, 1, 1]), bins).argmax(axis=1)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    number = int(classes.max(initial=0)) + 1
    learn = compiled(_forest) if bins.size * trees > PLAIN_UP_TO else _forest
    state = fresh_state(np.random.default_rng(seed))
    tried = max(1, round(_TRIED * len(bins)))
    own, theirs = np.ascontiguousarray(bins, np.uint8), np.ascontiguousarray(people.T, np.uint8)
    shares, rows = np.zeros((len(theirs), number)), classes.size
    room = np.arange(rows), np.arange(len(bins)), np.zeros(_BYTE_VALUES, np.bool_)
    learn(
        own,
        classes,
        theirs,
        trees,
        tried,
        state,
        *room,
        np.zeros((5, 2 * rows), np.int64),
        np.zeros((2, number)),
        shares,
    )
    return shares / trees


@loop("u1[,], i8[], u1[,], i8, i8, u8[], i8[], i8[], b1[], i8[,], f8[,], f8[,]")
def _forest(
    bins: ByteArray,
    classes: IntArray,
    people: ByteArray,
    trees: int,
    tried: int,
    state: State,
    order: IntArray,
    features: IntArray,
    goes_first: BoolArray,
    nodes_of: IntArray,
    counts: FloatArray,
    shares: FloatArray,
) -> None:
    rows = classes.size
    # Nodes: their rows in the order, the feature (-1: a leaf) and the last bin of the first side, and the first of the
    # two nodes below.
    begin, end, below_it, feature, cut = nodes_of[0], nodes_of[1], nodes_of[2], nodes_of[3], nodes_of[4]
    first, whole = counts[0], counts[1]
    for _ in range(trees):
        begin[0], end[0] = 0, rows
        node, nodes = 0, 1
        while node < nodes:
            some = order[begin[node] : end[node]]
            feature[node], cut[node] = _drawn_division(bins, classes, some, features, tried, state, first, whole)
            if feature[node] >= 0:
                for place in range(_BYTE_VALUES):
                    goes_first[place] = place <= cut[node]
                middle = begin[node] + divide(some, bins[feature[node]], goes_first)
                below_it[node] = nodes
                begin[nodes], end[nodes] = begin[node], middle
                begin[nodes + 1], end[nodes + 1] = middle, end[node]
                nodes += 2
            node += 1
        for person in range(len(people)):
            node = 0
            while feature[node] >= 0:
                node = below_it[node] + (people[person, feature[node]] > cut[node])
            some = order[begin[node] : end[node]]
            for row in some:
                shares[person, classes[row]] += 1 / some.size


def _drawn_division(
    bins: ByteArray,
    classes: IntArray,
    some: IntArray,
    features: IntArray,
    tried: int,
    state: State,
    first: FloatArray,
    whole: FloatArray,
) -> tuple[int, int]:
    """Return the best random feature and cut; -1 if none divides."""
    for own in range(whole.size):
        whole[own] = 0.0
    for row in some:
        whole[classes[row]] += 1
    best, by, at = -1.0, -1, 0
    left = 0 if whole[classes[some[0]]] == some.size else features.size
    while left > 0 and tried > 0:
        # Drawn features go to the end.
        drawn = below(state, left)
        left -= 1
        features[drawn], features[left] = features[left], features[drawn]
        column = bins[features[left]]
        least = most = column[some[0]]
        for row in some:
            least, most = min(least, column[row]), max(most, column[row])
        if least == most:
            continue
        tried -= 1
        up_to = int(least) + below(state, int(most) - int(least))
        for own in range(first.size):
            first[own] = 0.0
        for row in some:
            first[classes[row]] += column[row] <= up_to
        size, equal, unequal = 0.0, 0.0, 0.0
        for own in range(first.size):
            size += first[own]
            equal += first[own] ** 2
            unequal += (whole[own] - first[own]) ** 2
        purity = equal / size + unequal / (some.size - size)
        if purity > best:
            best, by, at = purity, features[left], up_to
    return by, at
