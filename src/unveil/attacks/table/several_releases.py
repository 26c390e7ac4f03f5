"""Joint attack on several releases about the same people."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol

import numpy as np

from unveil._kernels.types import IntArray
from unveil.attacks._listing import attack
from unveil.attacks.table.candidate_set import CandidateSet
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.candidates import Candidates
from unveil.guesses.mass_function import MassFunction

Conflict = Literal["refuse", "normalize"]


class Runs(Protocol):
    """Interface of attacks on one release."""

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Beliefs | Candidates:
        """Return the attacker's belief about each released row."""


@attack(
    source='Ganta, Kasiviswanathan and Smith, "Composition attacks and auxiliary information in data privacy", 2008',
    aka=("composition-attack", "intersection-of-releases"),
)
@dataclass(frozen=True, kw_only=True)
class SeveralReleases:
    """Attack several releases, and keep the candidates common to all.

    The belief from the release at hand is conditioned on what each of the other releases leaves possible, one after
    the other: on a set that is certain to hold the truth this is always valid. Two candidate sets are intersected.

    Parameters
    ----------
    others
        The further releases, as tables.
    attacks
        How each release is attacked, the one at hand first: one attack for all of them, or as many as there are. None
        attacks all with `CandidateSet`. Their guesses may be of either kind; of those on further releases only counts
        who is held possible at all.
    key
        The column that tells which rows of the releases belong to one person, such as a pseudonym: each value once in
        each release. A row that another release lacks learns nothing from it. None means that they belong together by
        their position.
    conflict
        What happens where another release leaves a person out who was held possible alone: "refuse", because then one
        of the guesses is not valid, or "normalize" to leave them out.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 30, 40], "town": ["Ulm", "Bonn", "Bonn"]}))
    >>> ages = Table.from_frame(pl.DataFrame({"age": [30], "pseudonym": ["x7"]}))
    >>> towns = Table.from_frame(pl.DataFrame({"town": ["Ulm", "Bonn"], "pseudonym": ["q3", "x7"]}))
    >>> attack = SeveralReleases(others=(towns,), key="pseudonym")
    >>> guess = attack.run(released=ages, knowledge=Knowledge(people), rng=np.random.default_rng(1))
    >>> guess.each[0].sets
    (array([1]),)
    """

    others: tuple[Table, ...] = ()
    attacks: tuple[Runs, ...] | None = None
    key: str | None = None
    conflict: Conflict = "refuse"

    def __post_init__(self) -> None:
        if self.conflict not in ("refuse", "normalize"):
            raise InputError("Unknown conflict setting. Use 'refuse' or 'normalize'")
        if not all(isinstance(other, Table) for other in self.others):
            raise InputError("some further releases are not tables. Read the files with Table.read")
        if self.attacks is not None and len(self.attacks) not in (1, 1 + len(self.others)):
            raise InputError(
                f"there are {len(self.attacks)} attacks for {1 + len(self.others)} releases. "
                "Pass one attack for all, or one for each"
            )

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Beliefs:
        """Return beliefs after all releases; ``rng`` is passed to the attacks."""
        attacks = self.attacks or (CandidateSet(),)
        attacks = attacks if len(attacks) > 1 else attacks * (1 + len(self.others))
        places = [self._places(released, other) for other in self.others]
        releases = (released, *self.others)
        guesses = [
            as_beliefs(attack.run(released=self._seen(table), knowledge=knowledge, rng=rng), knowledge.records.rows)
            for attack, table in zip(attacks, releases, strict=True)
        ]
        for guess, table in zip(guesses, releases, strict=True):
            if guess.target_count != table.rows:
                raise InputError(
                    f"an attack left a guess about {guess.target_count} of {table.rows} rows of its release. "
                    "Set its targets to None"
                )
        return conditioned(guesses[0], guesses[1:], places, conflict=self.conflict)

    def _seen(self, released: Table) -> Table:
        """Return a release without the key column."""
        names = [name for name in released.column_names if name != self.key]
        return released.select(names) if names and len(names) < len(released.column_names) else released

    def _places(self, released: Table, other: Table) -> IntArray:
        """Return each row's position in another release, or -1."""
        if self.key is None:
            if released.rows != other.rows:
                raise InputError(
                    f"releases matched row by row differ in length: the {released.name} has "
                    f"{released.rows} rows and the {other.name} has {other.rows}. Name the column that identifies "
                    "people in key"
                )
            return np.arange(released.rows)
        place: dict[object, int] = {}
        for table in (released, other):
            table.column(self.key)
            names = table.series(self.key).drop_nulls()
            if names.n_unique() < names.len():
                raise InputError(
                    f"column {self.key!r} of the {table.name} repeats {names.len() - names.n_unique()} values, but "
                    "must identify people. Keep one row of each, or name another key"
                )
        place = {name: row for row, name in enumerate(other.series(self.key).to_list()) if name is not None}
        return np.array([place.get(name, -1) for name in released.series(self.key).to_list()], np.int64)


def as_beliefs(guess: Beliefs | Candidates, size: int) -> Beliefs:
    """Return a guess as beliefs; unattempted targets may be any record.

    >>> [mass.sets for mass in as_beliefs(Candidates.from_matrix([[0.5, 0.5], [0, 1]]), 2).each]
    [(array([0]), array([1])), (array([1]),)]
    """
    if isinstance(guess, Beliefs):
        return guess
    each = []
    for low, high in pairwise(guess.start.tolist()):
        shares = guess.candidate[low:high], guess.probability[low:high]
        each.append(MassFunction.from_probability(size, shares) if high > low else MassFunction.vacuous(size))
    return Beliefs(size, tuple(each))


def conditioned(
    first: Beliefs, others: Sequence[Beliefs], places: Sequence[IntArray], *, conflict: Conflict = "refuse"
) -> Beliefs:
    """Return beliefs conditioned on the possibilities of the other releases.

    ``places[r][j]`` is the target of ``others[r]`` that is the same person as target j, -1 for none.
    """
    each = list(first.each)
    known: dict[tuple[int, int], MassFunction] = {}
    for release, (other, place) in enumerate(zip(others, places, strict=True), 2):
        # By identity, which lasts as long as the lists that hold them do.
        before = tuple(each)
        known.clear()
        for target, at in enumerate(place.tolist()):
            if at < 0:
                continue
            pair = id(before[target]), id(other.each[at])
            if pair not in known:
                try:
                    known[pair] = before[target].conditioned(other.each[at].support, conflict=conflict)
                except InputError as error:
                    raise InputError(
                        f"the releases contradict each other at row {target + 1} (counted from 1 below the header): "
                        f"release {release} excludes the candidates left by the first {release - 1}. At least one of "
                        "the guesses is not valid: correct the attacks or the key"
                    ) from error
            each[target] = known[pair]
    return Beliefs(first.size, tuple(each))
