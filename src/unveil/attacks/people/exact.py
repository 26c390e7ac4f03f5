"""Exact matches: whole histories that are released unchanged, and known events of one released person."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil._kernels.verdict.tree import log_probabilities, tree_of_columns
from unveil.attacks.people.rows import PersonRows

#: A history is rare if at most this many released ones are expected to equal it by coincidence. A tree of columns
#: misses rules of three and more columns: this many times more coincidences are allowed for.
RARE, FACTOR = 0.05, 10
#: The rows of a history by which its probability is bounded, as shares of all.
_PLACES = (0.0, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class CopiedHistories:
    """Which targets have a history that is released.

    Attributes
    ----------
    copied
        Whether all rows of the target, and no others, are those of a released person. False without rows.
    rare
        Whether it is copied, no other target has it, and coincidence hardly explains it.
    expected
        How many released histories are expected to equal that of the target by coincidence.
    """

    copied: BoolArray
    rare: BoolArray
    expected: FloatArray


def copied_histories(rows: PersonRows) -> CopiedHistories:
    """Return the targets whose whole history is released.

    Two histories are equal if their rows are, times included, in any order of the file. A history is at most as
    probable as the number of its rows together with three of these: the first, the middle, and the last by content.
    That probability is by a tree of their columns, which knows how rows of a person depend on one another: a tree of
    the targets or of the released people, whichever gives more. Expected are ten times as many coincidences as the
    number of released people, times this probability.
    """
    history = _numbered(rows)
    size = rows.sizes
    released = np.zeros(history.max(initial=-1) + 1, np.bool_)
    released[history[rows.targets :]] = True
    own = history[: rows.targets]
    copied = released[own] & (size[: rows.targets] > 0)
    alone = np.bincount(own, minlength=released.size)[own] == 1
    expected = FACTOR * rows.released * np.exp(_log_chance(rows))
    return CopiedHistories(copied, copied & alone & (expected <= RARE), expected)


def _numbered(rows: PersonRows) -> IntArray:
    """Return a number for each person that people with the same rows share."""
    order = np.lexsort((rows.exact, rows.person))
    exact, size, start = rows.exact[order], rows.sizes, rows.start
    found = np.zeros(rows.people, np.int64)
    first = 0
    for number in np.unique(size):
        people = np.flatnonzero(size == number)
        held = exact[start[people, None] + np.arange(number)]
        place = np.unique(held, axis=0, return_inverse=True)[1].ravel() if number else np.zeros(people.size, np.int64)
        found[people] = first + place
        first += int(place.max()) + 1
    return found


def _log_chance(rows: PersonRows) -> FloatArray:
    """Return the logarithm of the probability of some rows of each target, by trees of their columns."""
    codes = np.column_stack([each + 1 for each in rows.all_codes])
    order = np.lexsort((rows.exact, rows.person))
    size, first = rows.sizes, rows.start[:-1]
    records = [size[:, None] + 1]
    for share in _PLACES:
        place = np.minimum(first + (share * (size - 1)).astype(np.int64), rows.person.size - 1)
        records.append(np.where(size[:, None] > 0, codes[order[place]], 0))
    numbers = [place for place, column in enumerate(rows.columns) if column.numbers is not None]
    cut = {0, *(1 + at * codes.shape[1] + place for at in range(len(_PLACES)) for place in numbers)}
    table = np.hstack(records).astype(np.int32)
    targets, released = table[: rows.targets], table[rows.targets :]
    found = [log_probabilities(each, tree_of_columns(each, cut=cut), targets) for each in (targets, released)]
    return np.asarray(np.max(found, axis=0), np.float64)


#: Times and other numbers are known to the attacker as one of this many groups of released values.
GROUPS = 20
#: Tries for each predicate until there are enough.
_TRIES = 20


class EventMatches(NamedTuple):
    """People who fit predicate g: ``targets[starts[g]:starts[g + 1]]``; ``events`` are its events."""

    starts: IntArray
    targets: IntArray
    events: tuple[tuple[int, ...], ...]

    @property
    def predicates(self) -> int:
        """Number of predicates."""
        return self.starts.size - 1


def events_of(rows: PersonRows) -> IntArray:
    """Return the event of each row as a number: its values, with numbers in groups."""
    released = rows.person >= rows.targets
    event = np.zeros(rows.person.size, np.int64)
    for column, codes in zip(rows.columns, rows.all_codes, strict=True):
        known = codes if column.numbers is None else _grouped(column.numbers, released)
        event = np.unique(event * (int(known.max(initial=-1)) + 2) + known, return_inverse=True)[1].astype(np.int64)
    return event


class EventIndex(NamedTuple):
    """The distinct events of each person, and the people of each event, both ascending.

    Person ``i`` has ``event[of_person[i]:of_person[i + 1]]``, and event ``e`` is one of
    ``person[of_event[e]:of_event[e + 1]]``.
    The first ``targets`` people are targets.
    """

    event: IntArray
    of_person: IntArray
    person: IntArray
    of_event: IntArray
    targets: int

    @classmethod
    def of(cls, rows: PersonRows) -> "EventIndex":
        """Return the events of targets and released people."""
        event = events_of(rows)
        number = int(event.max(initial=-1)) + 1
        pair = np.unique(rows.person * number + event)
        person, held = pair // max(number, 1), pair % max(number, 1)
        order = np.argsort(held, kind="stable")
        return cls(
            held,
            np.searchsorted(person, np.arange(rows.people + 1)),
            person[order],
            np.searchsorted(held[order], np.arange(number + 1)),
            rows.targets,
        )

    def fitting(self, events: tuple[int, ...]) -> IntArray:
        """Return the people with all of these events."""
        lists = sorted((self.person[self.of_event[e] : self.of_event[e + 1]] for e in events), key=len)
        found = lists[0]
        for each in lists[1:]:
            found = found[_holds(each, found)]
        return found


def known_events(index: EventIndex, number: int, *, predicates: int, rng: np.random.Generator) -> EventMatches:
    """Return predicates of ``number`` events that exactly one released person has, and the targets that fit them.

    Each starts from a released person and events of this person, all drawn at random. It is kept, once, if no other
    released person has all of its events.
    """
    having = np.flatnonzero(np.diff(index.of_person)[index.targets :] >= number) + index.targets
    chosen: set[tuple[int, ...]] = set()
    if having.size:
        for _ in range(_TRIES * predicates):
            person = int(having[rng.integers(having.size)])
            held = index.event[index.of_person[person] : index.of_person[person + 1]]
            events = tuple(sorted(rng.choice(held, number, replace=False).tolist()))
            if events not in chosen and (index.fitting(events) >= index.targets).sum() == 1:
                chosen.add(events)
                if len(chosen) == predicates:
                    break
    fits = [index.fitting(events) for events in sorted(chosen)]
    targets = [each[each < index.targets] for each in fits]
    starts = np.concatenate([[0], np.cumsum([each.size for each in targets])]).astype(np.int64)
    return EventMatches(starts, np.concatenate([np.zeros(0, np.int64), *targets]), tuple(sorted(chosen)))


def single_out_by_chance(
    index: EventIndex, number: int, members: int, *, predicates: int, rng: np.random.Generator
) -> float:
    """Return how many predicates single out one of the first ``members`` targets by chance.

    Each has as many events, drawn from all distinct released ones.
    """
    released = np.unique(index.event[index.of_person[index.targets] :])
    if released.size < number:
        return 0.0
    drawn = (tuple(rng.choice(released, number, replace=False).tolist()) for _ in range(predicates))
    return float(sum((index.fitting(events) < members).sum() == 1 for events in drawn))


def _holds(ascending: IntArray, values: IntArray) -> BoolArray:
    place = np.searchsorted(ascending, values)
    found: BoolArray = ascending[np.minimum(place, ascending.size - 1)] == values
    return found


def _grouped(numbers: FloatArray, released: BoolArray) -> Int32Array:
    """Return the group of each number among released ones, -1 if missing."""
    seen = ~np.isnan(numbers)
    own = numbers[seen & released]
    edges = np.unique(np.quantile(own, np.arange(1, GROUPS) / GROUPS)) if own.size else np.zeros(0)
    return np.where(seen, np.searchsorted(edges, numbers, side="right"), -1).astype(np.int32)
