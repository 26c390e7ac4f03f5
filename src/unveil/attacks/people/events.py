"""Predicates made of a few events that only one released person has."""

from typing import NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.attacks.people.rows import PersonRows

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


def known_events(rows: PersonRows, number: int, *, predicates: int, rng: np.random.Generator) -> EventMatches:
    """Return predicates of ``number`` events that exactly one released person has, and the targets that fit them.

    Each starts from a released person and events of this person, all drawn at random. It is kept, once, if no other
    released person has all of its events.
    """
    people = _Postings.of(rows, events_of(rows))
    having = np.flatnonzero(np.diff(people.of_person)[rows.targets :] >= number) + rows.targets
    chosen: set[tuple[int, ...]] = set()
    if having.size:
        for _ in range(_TRIES * predicates):
            person = int(having[rng.integers(having.size)])
            held = people.event[people.of_person[person] : people.of_person[person + 1]]
            events = tuple(sorted(rng.choice(held, number, replace=False).tolist()))
            if events not in chosen and (people.fitting(events) >= rows.targets).sum() == 1:
                chosen.add(events)
                if len(chosen) == predicates:
                    break
    fits = [people.fitting(events) for events in sorted(chosen)]
    targets = [each[each < rows.targets] for each in fits]
    starts = np.concatenate([[0], np.cumsum([each.size for each in targets])]).astype(np.int64)
    return EventMatches(starts, np.concatenate([np.zeros(0, np.int64), *targets]), tuple(sorted(chosen)))


def single_out_by_chance(
    rows: PersonRows, number: int, members: int, *, predicates: int, rng: np.random.Generator
) -> float:
    """Return how many predicates single out one of the first ``members`` targets if nobody's events are known.

    Each has as many events, drawn from all distinct released ones.
    """
    event = events_of(rows)
    people, released = _Postings.of(rows, event), np.unique(event[rows.person >= rows.targets])
    if released.size < number:
        return 0.0
    drawn = (tuple(rng.choice(released, number, replace=False).tolist()) for _ in range(predicates))
    return float(sum((people.fitting(events) < members).sum() == 1 for events in drawn))


class _Postings(NamedTuple):
    """The distinct events of each person, and the people of each event, ascending."""

    event: IntArray
    of_person: IntArray
    person: IntArray
    of_event: IntArray

    @classmethod
    def of(cls, rows: PersonRows, event: IntArray) -> "_Postings":
        number = int(event.max(initial=-1)) + 1
        pair = np.unique(rows.person * number + event)
        person, held = pair // max(number, 1), pair % max(number, 1)
        order = np.argsort(held, kind="stable")
        return cls(
            held,
            np.searchsorted(person, np.arange(rows.people + 1)),
            person[order],
            np.searchsorted(held[order], np.arange(number + 1)),
        )

    def fitting(self, events: tuple[int, ...]) -> IntArray:
        """Return the people with all of these events."""
        lists = sorted((self.person[self.of_event[e] : self.of_event[e + 1]] for e in events), key=len)
        found = lists[0]
        for each in lists[1:]:
            found = found[_holds(each, found)]
        return found


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
