"""Canaries: randomly inserted rows, and scores of their presence.

A canary is a person who was held out, or an unusual row: that of a person with two values that no person has together.
The coins are guessed from the release alone, so that what is guessed well was told by the generator.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.membership.agreement import UNIT, rarity
from unveil._kernels.membership.counts import how_often
from unveil._kernels.neighbours.index import LAST_MARKER
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.attacks.table._membership_space import MembershipSpace, compared_people
from unveil.attacks.table.membership_scores import CROWD, SCORES, LearnedCombination
from unveil.errors import InputError, column_names, whole_number

if TYPE_CHECKING:
    from unveil.data.table import Table

#: This many people of either kind there must be to learn from.
LEAST_TEACHERS = 100
#: Numbers and dates with at most this many values are like categories.
_FEW_VALUES = 64
#: A pair of columns has at most one of this many of the canaries, unless others have no more to give.
_SPREAD = 16


class UnusualRows(NamedTuple):
    """Canary rows made from a table's cells, with unique value pairs.

    ``rows`` has a line for each row and says for each column of the table from which row its cell is.
    """

    rows: IntArray
    pairs: tuple[tuple[str, str], ...]


def unusual_rows(table: "Table", number: int, *, columns: tuple[str, ...], rng: np.random.Generator) -> UnusualRows:
    """Return canary rows, each with two values new as a pair.

    `Table.composed` makes a table of them.

    No row shows the two values that were planted in another one, so that a released row that has them speaks of one
    coin. Pairs of columns take turns: those in which values occur often first, then those with numbers, whose values
    are taken as they are. A missing value is never planted. People lend their rows at random, each about as often as
    all others.

    Parameters
    ----------
    table
        The people.
    number
        How many rows.
    columns
        The columns that are released; all others are as the person has them who lends the row.
    rng
        Draws pairs, values and people.

    Raises
    ------
    InputError
        If the table has too few pairs of values that no person has.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> people = Table.from_frame(pl.DataFrame({"town": ["Ulm", "Ulm", "Bonn"], "job": ["a", "b", "b"]}))
    >>> found = unusual_rows(people, 1, columns=("town", "job"), rng=np.random.default_rng(1))
    >>> found.pairs, people.composed(found.rows).frame.rows()
    ((('job', 'town'),), [('Bonn', 'a')])
    """
    number = whole_number(number, "number")
    names = sorted(column_names(columns, "columns"))
    codes, example = _coded(table, names)
    made = _PlantedRows(codes, rng)
    many = [_is_many(table, name, each.size) for name, each in zip(names, example, strict=True)]
    alike: tuple[list[_PairOfColumns], ...] = ([], [], [])
    for one, two in rng.permutation(list(combinations(range(len(names)), 2))).tolist():
        alike[many[one] + many[two]].append(_PairOfColumns(codes, (one, two), number))
    for most in (-(-number // _SPREAD), number):
        for pairs in alike:
            _take_turns(pairs, made, number, most)
    if len(made.donors) < number:
        raise InputError(
            f"only {len(made.donors):,} of {number:,} outlier canaries can be made: each needs a pair of values that "
            f"is new to the {table.name} and to the other canaries. Ask for fewer canaries, or insert people instead"
        )
    rows = np.repeat(np.array(made.donors, np.int64)[:, None], len(table.columns), axis=1)
    for line, (pair, values) in enumerate(zip(made.pairs, made.values, strict=True)):
        for column, value in zip(pair, values, strict=True):
            rows[line, table.column_names.index(names[column])] = example[column][value - 1]
    return UnusualRows(rows, tuple((names[one], names[two]) for one, two in made.pairs))


def score_canaries(
    *,
    released: "Table",
    canaries: "Table",
    population: "Table",
    columns: tuple[str, ...],
    rng: np.random.Generator,
    scale: "Table | Sequence[Table] | None" = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    teachers: "tuple[Table, Table] | None" = None,
) -> FloatArray:
    """Return presence scores of canaries, comparable within one call.

    A higher score means a stronger sign that the canary was in.

    With teachers all ten scores of `SCORES` count as these teach to weigh them. Otherwise a canary scores

        log(1 + equal / (1/2 + as many as expected))

    where ``equal`` released rows have all its values, and as many are expected as the population has, row for row. An
    unusual row, for which ``pairs`` names the columns with the planted values, scores the same again for the released
    rows that hold these two, of which as many are expected as if the two had nothing to do with one another, and a
    quarter of what that one of them agrees with it in all other columns that agrees most, a value that c of n released
    rows have counting as -log((c + 1/2) / (n + 1)). Thus a generator is seen that keeps whole rows, one that keeps
    counts of two columns, and one that draws from few people, and a pair that comes up because its values are common
    says little. Among canaries that score the same, as where no row was found, the score "relative" decides. Equal
    canaries have equal scores, and nothing hangs on the order of rows or columns.

    Parameters
    ----------
    released, canaries, population
        The released rows, the canaries, and people who are neither in the data nor canaries.
    columns
        The columns in which everyone is compared.
    rng
        Draws sets of columns where there are too many.
    scale
        Rows that only make the ranges of columns.
    pairs
        For each of the canaries the columns in which its values were planted.
    teachers
        People who are in the data and people who are not, none of them a canary, at least 100 of each.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> rows, planted, others = (Table.from_frame(pl.DataFrame({"town": towns, "job": jobs}))
    ...     for towns, jobs in ((["Ulm", "Ulm"], ["b", "a"]), (["Ulm", "Bonn"], ["b", "a"]), (["Ulm"], ["a"])))
    >>> score_canaries(released=rows, canaries=planted, population=others, columns=("town", "job"),
    ...     pairs=[("town", "job")] * 2, rng=np.random.default_rng(1)).round(4)
    array([1.6094, 0.    ])
    """
    if pairs is not None and teachers is not None:
        raise InputError("outlier canaries have no teachers, but pairs and teachers are given. Leave one out")
    for people, what in zip(teachers or (), ("members", "outsiders"), strict=False):
        whole_number(
            people.rows, f"the number of {what} to learn from", at_least=LEAST_TEACHERS, advice="Pass no teachers"
        )
    compared = compared_people(released, population, [canaries, *(teachers or ())], columns, scale, rng, CROWD)
    if teachers is not None:
        ends = np.cumsum([canaries.rows, teachers[0].rows])
        every = {name: np.split(score.function(compared), ends) for name, score in SCORES.items()}
        mine, members, outsiders = ({name: parts[place] for name, parts in every.items()} for place in range(3))
        return LearnedCombination.learned(members, outsiders)(mine)
    found = _of_equal_rows(compared, len(columns))
    if pairs is not None:
        found += _of_planted(compared, pairs, canaries.rows)
    relative = SCORES["relative"].function(compared)
    span = np.ptp(relative)
    # Whole units, so that equal ones are equal; what decides between these is half a unit at most.
    return (np.rint(UNIT * found) + ((relative - relative.min()) / (2 * span) if span else 0.0)) / UNIT


def _of_equal_rows(compared: MembershipSpace, columns: int) -> FloatArray:
    """Return counts of released rows equal in all columns."""
    codes, every = compared.exact, [tuple(range(columns))]
    if len(codes.columns) < columns:
        return np.zeros(len(codes.of_people))
    (shown, rows), (known, others) = (
        how_often(blocks, codes.of_people, every) for blocks in (codes.blocks(), [codes.of_population])
    )
    found: FloatArray = np.log1p(shown[0] / (known[0] * rows / others + 0.5))
    return found


def _of_planted(compared: MembershipSpace, pairs: Sequence[tuple[str, str]], canaries: int) -> FloatArray:
    """Return counts of released rows with a canary's value pair."""
    if len(pairs) != canaries:
        raise InputError(f"{canaries:,} canaries have {len(pairs):,} pairs of columns. Pass one pair per canary")
    codes, rows = compared.exact, compared.released_rows
    shown, people = np.concatenate(list(codes.blocks())), codes.of_people
    weights = rarity(people, shown)
    columns = np.ascontiguousarray(shown.T)
    places = {column.name: place for place, column in enumerate(codes.columns)}
    found = np.zeros(canaries)
    for line, pair in enumerate(pairs):
        if all(name in places for name in pair):
            at = [places[name] for name in pair]
            one, two = (columns[place] == people[line, place] for place in at)
            both = np.flatnonzero(one & two)
            expected = np.count_nonzero(one) * np.count_nonzero(two) / rows
            weights[line, at] = 0
            agreement = (shown[both] == people[line]) @ weights[line]
            found[line] = np.log1p(both.size / (expected + 0.5)) + agreement.max(initial=0) / (4 * UNIT)
    return found


def _coded(table: "Table", names: Sequence[str]) -> tuple[Int32Array, list[IntArray]]:
    """Return the columns coded from 1, with a row per value."""
    from unveil.data.table.encode import encode

    (encoded,) = encode([table.select(names)], names)
    codes, example = np.zeros((table.rows, len(names)), np.int32, order="F"), []
    for place, name in enumerate(names):
        if name in encoded.names_numbers:
            column = encoded.numbers[:, encoded.names_numbers.index(name)]
            there: BoolArray = column > LAST_MARKER
        else:
            column = encoded.codes[:, encoded.names_codes.index(name)].astype(np.int64)
            there = column > 0
        _, first, number = np.unique(column[there], return_index=True, return_inverse=True)
        codes[there, place] = number + 1
        example.append(np.flatnonzero(there)[first])
    return codes, example


def _is_many(table: "Table", name: str, values: int) -> bool:
    """Return whether few people share a value of the column."""
    shared = 2 * values <= table.rows
    return not shared or (values > _FEW_VALUES and table.column(name).kind in ("number", "date"))


class _PairOfColumns:
    """Two columns, and their value pairs that no person has."""

    def __init__(self, codes: Int32Array, columns: tuple[int, int], number: int) -> None:
        self.columns = columns
        self.taken = 0
        self._codes, self._number = codes, number
        self._left: Iterator[tuple[int, int]] | None = None

    def values(self, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
        """Return the unused value pairs."""
        if self._left is None:
            self._left = iter(self._drawn(rng))
        return self._left

    def _drawn(self, rng: np.random.Generator) -> list[tuple[int, int]]:
        one, two = (self._codes[:, column].astype(np.int64) for column in self.columns)
        width = int(two.max())
        size = int(one.max()) * width
        there = ((one - 1) * width + two - 1)[(one > 0) & (two > 0)]
        if size <= 4 * (there.size + self._number):
            free = np.ones(size, bool)
            free[there] = False
            found = rng.permutation(np.flatnonzero(free))
        else:  # most are free, and a few of them are enough
            some = rng.integers(0, size, 4 * self._number + 64)
            first = np.sort(np.unique(some, return_index=True)[1])
            found = some[first][~np.isin(some[first], there)]
        return list(zip((found // width + 1).tolist(), (found % width + 1).tolist(), strict=True))


class _PlantedRows:
    """The canaries so far: donors, columns, and values."""

    def __init__(self, codes: Int32Array, rng: np.random.Generator) -> None:
        self.donors: list[int] = []
        self.pairs: list[tuple[int, int]] = []
        self.values: list[tuple[int, int]] = []
        self.rng = rng
        self._codes = codes
        self._rows = np.empty((0, codes.shape[1]), np.int32)
        self._order = rng.permutation(len(codes))
        self._lent = np.zeros(len(codes), np.int64)
        self._beside: dict[tuple[int, int], list[tuple[int, int]]] = {}  # by a planted value, the other one

    def plant(self, pair: tuple[int, int], values: tuple[int, int]) -> bool:
        """Return whether a donor row was found for these values."""
        count = len(self.donors)
        if (self._rows[:count, pair] == values).all(axis=1).any():
            return False
        cells = list(zip(pair, values, strict=True))
        order = self._order
        # A planted pair occurs in no other row: only next to a value planted here could the row show it.
        for column, value in (other for cell in cells for other in self._beside.get(cell, ())):
            order = order[self._codes[order, column] != value]
        if not order.size:
            return False
        donor = int(order[self._lent[order].argmin()])
        self._lent[donor] += 1
        if count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros((count + 64, self._rows.shape[1]), np.int32)])
        self._rows[count] = self._codes[donor]
        self._rows[count, pair] = values
        for cell, other in (cells, cells[::-1]):
            self._beside.setdefault(cell, []).append(other)
        self.donors.append(donor)
        self.pairs.append(pair)
        self.values.append(values)
        return True


def _take_turns(pairs: Sequence[_PairOfColumns], planted: _PlantedRows, number: int, at_most: int) -> None:
    """Make canaries from each pair of columns in turn."""
    active = list(pairs)
    while active and len(planted.donors) < number:
        for pair in list(active):
            if len(planted.donors) == number:
                return
            if pair.taken < at_most and any(planted.plant(pair.columns, values) for values in pair.values(planted.rng)):
                pair.taken += 1
            else:
                active.remove(pair)
