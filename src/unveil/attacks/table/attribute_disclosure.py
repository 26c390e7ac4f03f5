"""Attribute disclosure: sensitive values of released rows that match a person exactly."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from unveil._kernels.neighbours.guesses import guess_chances
from unveil._kernels.neighbours.index import EVERY, IntegerGrid, sorted_rows
from unveil._kernels.neighbours.secret_chances import in_cells
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil._kernels.value_numbers import numbered
from unveil.attacks._listing import attack
from unveil.attacks.table import _secrets
from unveil.data.table.encode import encode, equality
from unveil.guesses.trials import Attempts, Trials

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.data.table.release import Knowledge


@dataclass(frozen=True, eq=False)
class ExactMatches:
    """Trials over all targets by exact matching, and which targets matched.

    ``matched`` has a 1 for each target that equals at least one released row in the quasi-identifiers, else a 0;
    ``sure`` has a 1 where moreover all these rows have the correct sensitive value, so that no doubt is left.
    ``control_matched`` and ``control_sure`` are the same for control people; None without them.

    Where released cells are coarse, a target matches every row that it is compatible with, and ``sure_of_shown`` has a
    1 where all rows have the correct sensitive value that match without a suppressed cell; None else.
    """

    trials: Trials
    matched: Attempts
    control_matched: Attempts | None
    sure: Attempts
    control_sure: Attempts | None
    sure_of_shown: Attempts | None = None
    control_sure_of_shown: Attempts | None = None

    @property
    def rate_among_matched(self) -> float:
        """Share of correct guesses among matched targets; NaN without any."""
        return _among(self.trials.attack, self.matched)

    @property
    def control_rate_among_matched(self) -> float:
        """The same for the control group; NaN without matches."""
        if self.trials.control is None or self.control_matched is None:
            return nan
        return _among(self.trials.control, self.control_matched)


def _among(right: Attempts, matched: Attempts) -> float:
    return right.expected / matched.expected if matched.expected else nan


class _MatchedPeople(NamedTuple):
    """Attacked people of one table, with success and baseline probabilities."""

    rows: IntArray
    chance: FloatArray
    blind: FloatArray
    matched: BoolArray
    sure_of_shown: BoolArray | None = None

    def attempts(self, which: BoolArray) -> Attempts:
        """Return per-person values as attempts."""
        return Attempts.from_chances(which, rows=self.rows)

    @property
    def shown(self) -> Attempts | None:
        """Who is sure without rows that have a suppressed cell."""
        return None if self.sure_of_shown is None else self.attempts(self.sure_of_shown)


#: Looks up the people of a table, by its number among those of people, and tells what their rows say.
_LookUp = Callable[[_secrets.SecretTruth, int], _MatchedPeople]


@attack(
    source="correct attribution of exact matches: Taub, Elliot, Pampaka & Smith (PSD 2018); homogeneity: "
    "Machanavajjhala et al. (TKDD 2007)",
    example="secret=vote,known=age,education",
    knows=("known",),
)
@dataclass(frozen=True, kw_only=True)
class AttributeDisclosure:
    """Look up released rows equal in all quasi-identifiers; infer their value.

    The guess is the sensitive value of one of these rows, drawn at random, and the chance that it is correct is their
    share with a correct sensitive value, exactly. A missing value equals a missing value. Who matches no released row
    is not attempted and counts as a miss, and is not attempted by the baseline guess either. When a guess is correct is
    told in :class:`~unveil.attacks.table.inference.Inference`, which also guesses where nothing matches.

    Where released cells stand for several values, all rows match that the person is compatible with, and one of them is
    drawn in proportion to the weights told there.

    Attributes
    ----------
    secret
        The column to guess.
    known
        The columns in which rows must be equal, at least one, without the sensitive value.
    tolerance
        How far off a guess of a number may be, as a share of the true value, from 0 up to, but not, 1.
    targets
        How many people to attack, drawn at random among those with a sensitive value by what is in the rows; None =
        all. As many are drawn from the control. Where there are fewer, all are attacked.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table.release import Knowledge
    >>> from unveil.data.table import Table
    >>> people = Table.from_frame(pl.DataFrame({"age": [25, 30, 40], "ill": ["flu", "none", "none"]}))
    >>> released = Table.from_frame(pl.DataFrame({"age": [25, 30, 30], "ill": ["flu", "none", "flu"]}))
    >>> attack = AttributeDisclosure(secret="ill", known=("age",), targets=None)
    >>> found = attack.details(released=released, knowledge=Knowledge(people), rng=np.random.default_rng(1))
    >>> found.trials.attack.chances, found.matched.expected, found.sure.expected
    (array([1. , 0.5, 0. ]), 2.0, 1.0)
    """

    secret: str
    known: tuple[str, ...]
    tolerance: float = 0.05
    targets: int | None = 500

    def __post_init__(self) -> None:
        known = _secrets.check_settings(self.secret, self.known, self.tolerance, self.targets)
        object.__setattr__(self, "known", known)

    def run(self, *, released: "Table", knowledge: "Knowledge", rng: np.random.Generator) -> Trials:
        """Return success on people of the records, baseline, and control.

        The trials of :meth:`details`, which also tells who matched.
        """
        return self.details(released=released, knowledge=knowledge, rng=rng).trials

    def details(self, *, released: "Table", knowledge: "Knowledge", rng: np.random.Generator) -> ExactMatches:
        """Return the success, with the people who matched.

        The same ``rng`` and the same rows, in whatever order, give the same numbers. The baseline guess takes the
        sensitive value of any released row, for the targets that matched.

        Raises
        ------
        InputError
            If a column is missing from a table or of another kind in two of them, or if everyone has the same sensitive
            value or none.
        """
        tables, end = _secrets.gathered(released, knowledge, self.known, self.secret)
        secrets = _secrets.read_secrets(tables[:end], self.secret, self.tolerance)
        coarse = bool(tables[1].coarse(self.known)) or secrets.released.draws is not None
        look_up = (self._compatible if coarse else self._equal)(tables, end, secrets, rng)
        found, notes = [], []
        for table, truth, people in zip((tables[0], *tables[2:end]), secrets.people, range(end - 1), strict=True):
            notes += _secrets.notes_on_people(table, truth, self.secret, self.targets)
            if truth.rows.size:
                found.append(look_up(truth, people))
        inside, outside = found[0], found[1] if len(found) > 1 else None
        right = _secrets.right_means(tables[0].column(self.secret).kind, self.tolerance)
        # As a share: a few matches are a few people.
        match = "are compatible with a released row" if coarse else "match a released row exactly"
        notes.append(f"{inside.matched.mean():.1%} of the targets {match}")
        trials = Trials(
            attack=Attempts.from_chances(inside.chance, rows=inside.rows),
            naive=Attempts.from_chances(inside.blind, rows=inside.rows),
            control=None if outside is None else Attempts.from_chances(outside.chance, rows=outside.rows),
            what=f"a released row has the same {', '.join(self.known)}, and its {self.secret} is {right}"
            if not coarse
            else f"a released row fits in {', '.join(self.known)}, and its {self.secret} is {right}",
            notes=tuple(notes),
        )
        return _disclosed(trials, inside, outside)

    def _equal(
        self, tables: Sequence["Table"], end: int, secrets: _secrets.Secrets, rng: np.random.Generator
    ) -> _LookUp:
        """Return a lookup of people equal to released rows."""
        equal = _equal_rows(tables[:end], self.known)
        match = np.flatnonzero(equal.of_row >= 0)
        group = equal.of_row[match]
        cells, copies = in_cells(group, secrets.rank[match]), np.bincount(group, minlength=equal.groups)
        of_people = np.split(equal.of_person, [tables[0].rows])

        def look_up(truth: _secrets.SecretTruth, table: int) -> _MatchedPeople:
            group = of_people[table]
            grid = IntegerGrid(group[:, None], np.empty((group.size, 0), np.int32), np.ones(1, np.int64), 1)
            who, known = _secrets.drawn(truth, grid, self.targets, rng)
            group = known.numbers[:, 0]
            matches = copies[group]
            chance = cells.within(group, who.low, who.high) / np.maximum(matches, 1)
            return _found(who, chance, matches > 0, secrets)

        return look_up

    def _compatible(
        self, tables: Sequence["Table"], end: int, secrets: _secrets.Secrets, rng: np.random.Generator
    ) -> _LookUp:
        """Return a lookup of people compatible with range cells."""
        encoded = encode(tables, self.known, span_of=(0, 1, *range(end, len(tables))))
        of_people = [encoded[0], *encoded[2:end]]

        def look_up(truth: _secrets.SecretTruth, table: int) -> _MatchedPeople:
            who, known = _secrets.drawn(truth, of_people[table].grid(), self.targets, rng)
            around, boxes = _secrets.surroundings(encoded[1], known)
            weight = np.zeros(around.copies.size) if boxes is None else boxes.log_weight
            chance, distance = guess_chances(around, weight, secrets.released, who.low, who.high, 1)
            found = _found(who, np.where(distance == 0, chance, 0.0), distance == 0, secrets)
            if boxes is None:
                return found
            shown = np.where(boxes.has_any, -np.inf, weight)
            among = guess_chances(around, shown, secrets.released, who.low, who.high, 1).chance
            return found._replace(sure_of_shown=(distance == 0) & (among == 1))

        return look_up


def _found(
    who: _secrets.SecretTruth, chance: FloatArray, matched: BoolArray, secrets: _secrets.Secrets
) -> _MatchedPeople:
    blind = np.where(matched, _secrets.blind_chances(secrets.released, who), 0.0)
    return _MatchedPeople(who.rows, chance, blind, matched)


def _disclosed(trials: Trials, inside: _MatchedPeople, outside: _MatchedPeople | None) -> ExactMatches:
    return ExactMatches(
        trials,
        matched=inside.attempts(inside.matched),
        control_matched=None if outside is None else outside.attempts(outside.matched),
        sure=inside.attempts(inside.chance == 1),
        control_sure=None if outside is None else outside.attempts(outside.chance == 1),
        sure_of_shown=inside.shown,
        control_sure_of_shown=None if outside is None else outside.shown,
    )


# Find the rows that equal a person's record, without sorting the rows.
#
# People are few and rows are many. A column at a time, only those rows are looked at further whose value a person has,
# together with the values of the columns before; mostly that are very few after two or three columns.

#: This many rows are looked at in one go; no number depends on it.
BLOCK_ROWS = 2**20


class ColumnOfRows(Protocol):
    """A column with selectable rows."""

    def of(self, rows: IntArray | slice, /) -> IntArray | Int32Array:
        """Return these rows' values, as integers."""


class EqualRows(NamedTuple):
    """Group of each person and row; -1 is without a person."""

    of_person: IntArray
    of_row: IntArray
    groups: int


def equal_rows(people: Sequence[IntArray | Int32Array], rows: Sequence[ColumnOfRows], size: int) -> EqualRows:
    """Return groups of equal people, and which rows equal them.

    >>> class Column(NamedTuple):
    ...     cells: IntArray
    ...     def of(self, rows): return self.cells[rows]
    >>> equal_rows([np.array([7, 3, 7])], [Column(np.array([3, 8, 7, 3]))], 4)
    EqualRows(of_person=array([1, 0, 1]), of_row=array([ 0, -1,  1,  0]), groups=2)
    """
    values, codes = zip(*(np.unique(column, return_inverse=True) for column in people), strict=True)
    found = sorted_rows(codes, codes[0].size)
    of_person, groups = found.numbered(np.int64), found.start.size
    of_row = np.full(size, -1, np.int64)
    # The columns with the most values first: they leave the fewest rows.
    order = sorted(range(len(rows)), key=lambda place: -values[place].size)
    for first in range(0, size, BLOCK_ROWS):
        some, number, person = np.arange(first, min(first + BLOCK_ROWS, size)), np.zeros(1, np.int64), None
        for place in order:
            own = codes[place] if person is None else person * values[place].size + codes[place]
            known, person = np.unique(own, return_inverse=True)
            code = numbered(rows[place].of(some), values[place]).astype(np.int64)
            number = np.where(code > 0, numbered(number * values[place].size + code - 1, known), 0)
            is_there = number > 0
            some, number = some[is_there], number[is_there].astype(np.int64) - 1
        if some.size:
            group = np.empty(known.size, np.int64)
            group[person] = of_person
            of_row[some] = group[number]
    return EqualRows(of_person, of_row, groups)


def _equal_rows(tables: Sequence["Table"], known: Sequence[str]) -> EqualRows:
    """Return people and released rows equal in all quasi-identifiers."""
    columns = [equality(tables, name) for name in known]
    people = [np.concatenate([part.of(EVERY) for part in (each[0], *each[2:])]) for each in columns]
    return equal_rows(people, [each[1] for each in columns], tables[1].rows)
