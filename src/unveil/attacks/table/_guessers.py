"""Adversaries who guess a secret from known columns after learning from rows: by agreement, by counts, by a learner.

Every guess is a value that the rows hold, told by its rank, so that one rule says when it is right. A number is guessed
by way of classes: values that many rows have are classes of their own, all others are cut into parts of equally many
rows, and of a class the value is guessed that is near enough to most of its rows. A regression aims between the values,
where hardly anybody is; docs/inference.md has figures.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from unveil._kernels.learners.boosting import Growth, boosted_scores
from unveil._kernels.learners.forest import forest_shares
from unveil._kernels.neighbours.best_rows import RightRanks, best_row_chances, by_agreement
from unveil._kernels.neighbours.content import content_hash, drawn_by_content
from unveil._kernels.neighbours.guesses import ReleasedSecrets
from unveil._kernels.neighbours.index import EVERY, LAST_MARKER, BlockedRows, IntegerGrid, content_rank
from unveil._kernels.neighbours.secret_chances import right_chances
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks.table._features import binned
from unveil.errors import InputError

if TYPE_CHECKING:
    from unveil.data.table.encode import EncodedTable

Adversary = Literal["nearest", "agreement", "counts", "forest", "boosting"]
ADVERSARIES: tuple[Adversary, ...] = get_args(Adversary)
#: Those who take the secret of one row, drawn by lot among the best ones; all others say what is likeliest.
BY_ROWS: tuple[Adversary, ...] = ("nearest", "agreement")
LEARNERS: tuple[Adversary, ...] = ("forest", "boosting")
#: What each of them does, to be followed by the secret.
NAMED: dict[Adversary, str] = {
    "nearest": "the nearest row tells",
    "agreement": "the row with the rarest values in common tells",
    "counts": "released counts tell",
    "forest": "a forest learns",
    "boosting": "boosting learns",
}
#: A learner sees at most so many rows, drawn by what they hold.
MOST_ROWS = 50_000
#: A secret has at most so many classes; the values of a category that are rarer are never guessed.
MOST_CLASSES = 40
#: A number that this share of rows have is a class of its own, and the others are cut into so many parts at most.
_SPIKE = 0.02
_PARTS = 25
#: Counts look at numbers in so many parts.
_BINS = 16
#: Logarithms of chances are whole multiples of this, so that equal ones stay equal.
_UNIT = 2.0**-20
#: How boosting learns up to so many classes.
_GROWTH = (
    (3, Growth(rounds=150, leaves=31, rate=0.1)),
    (10, Growth(rounds=60, leaves=15, rate=0.1)),
    (MOST_CLASSES, Growth(rounds=25, leaves=15, rate=0.2)),
)


class SecretClasses(NamedTuple):
    """The class of each rank of a secret (-1: none), and the rank guessed for each class."""

    of_rank: IntArray
    guess: IntArray


@dataclass(frozen=True, eq=False)
class Teacher:
    """Rows to learn from: what is known, and the secrets by rank.

    ``near`` says of each rank from which rank up to which a guess is right about it, where secrets are numbers.
    """

    known: BlockedRows
    secrets: ReleasedSecrets
    near: tuple[IntArray, IntArray] | None = None
    _drawn: dict[int, IntArray] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def classes(self) -> SecretClasses:
        """What can be learned of the secret; refused where that is nothing."""
        return classes_of(self)

    def drawn(self, at_most: int) -> IntArray:
        """Return at most so many rows to learn from, drawn by what they hold and in the order of it."""
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
    """Return rows with a value that nobody has in place of each cell that stands for several.

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
            "some known cells of the release must be single values to learn from, but all of them stand for several. "
            "Choose the adversary 'nearest'"
        )
    numbers[several[:, : cells.numbers]] = LAST_MARKER
    codes[several[:, cells.numbers :]] = np.iinfo(np.int32).min
    return known.grid()._replace(numbers=numbers, codes=codes)


def guess_chances(
    adversary: Adversary, teacher: Teacher, people: IntegerGrid, right: RightRanks, *, most_rows: int = MOST_ROWS
) -> FloatArray:
    """Return for each person the chance that the adversary, taught by these rows, guesses the secret right.

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
    """Return what `guess_chances` does by counts of each column alone, number columns first."""
    prior, columns = _log_chances(teacher, people)
    return [_likeliest(teacher.classes, prior + column, right) for column in columns]


def _likeliest(classes: SecretClasses, logarithm: FloatArray, right: RightRanks) -> FloatArray:
    """Return the chance that a likeliest class, drawn by lot where several are, is guessed right."""
    best = logarithm == logarithm.max(axis=1, keepdims=True)
    inside = (classes.guess >= right.low[:, None]) & (classes.guess < right.high[:, None])
    return np.asarray((best & inside).sum(axis=1) / best.sum(axis=1))


def notes_on_rows(adversary: Adversary, rows: int, most_rows: int = MOST_ROWS) -> list[str]:
    """Return that a learner saw some of the rows only, in a sentence, where that is so."""
    if adversary not in LEARNERS or rows <= most_rows:
        return []
    return [f"{NAMED[adversary]} from {most_rows:,} of {rows:,} rows, drawn by what they hold"]


def classes_of(teacher: Teacher) -> SecretClasses:
    """Return the classes that can be learned: those of at least two rows, the most frequent ones where there are many.

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
            "at least two values of the secret must stand in two rows each for them to be learned, but "
            f"{len(parts)} did. Name another secret, or the adversary 'nearest'"
        )
    of_rank = np.full(size, -1, np.int64)
    for number, each in enumerate(parts):
        of_rank[each] = number
    return SecretClasses(of_rank, np.array([_most_near(each, count, teacher.near) for each in parts], np.int64))


def _most_near(ranks: IntArray, count: IntArray, near: tuple[IntArray, IntArray] | None) -> int:
    """Return which of these values is right about most rows of them, the lowest where several are."""
    if near is None:
        return int(ranks[0])
    change = np.zeros(count.size + 1, np.int64)
    np.add.at(change, near[0][ranks], count[ranks])
    np.add.at(change, near[1][ranks], -count[ranks])
    return int(ranks[np.argmax(np.cumsum(change)[ranks])])


def _log_chances(teacher: Teacher, people: IntegerGrid) -> tuple[FloatArray, Iterator[FloatArray]]:
    """Return how likely each class is, and at [person, class] what each column adds, columns taken for independent.

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
    """Yield each column of the rows and of the people as small whole numbers: parts of numbers, places of codes."""
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
        # Codes are close together unless some stand for a value that nobody has.
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
    """Return some rows with the rank of their secret as one more column."""
    some = teacher.known.block(rows)
    return some._replace(numbers=np.column_stack([some.numbers, teacher.secrets.rank[rows]]))
