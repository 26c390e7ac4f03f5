"""Singling out: predicates from the release that fit one original record."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.neighbours.nearest import IntegerGrid, content_rank
from unveil._kernels.table.predicates import PredicateConditions, chance_of_one, matches
from unveil._kernels.types import BoolArray, IntArray
from unveil.attacks._listing import attack
from unveil.errors import InputError, column_names, whole_number
from unveil.guesses.predicates import WITH_ORDER, CodedTable, Predicates, Relation
from unveil.guesses.trials import Attempts, Trials

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.data.table.release import Knowledge


#: Combinations of columns are given up after this many attempts for each guess that was asked for.
TRIES_PER_GUESS = 1000
#: Or after this many attempts in a row that had all been made before, in rounds of at least a fifth of it.
_STALE = 500
_RELATIONS: tuple[Relation, ...] = ("=", ">=", "<=")
EQUAL, AT_LEAST, AT_MOST = range(3)


class Picks(NamedTuple):
    """Predicates as arrays: columns, relation position, and value code."""

    column: IntArray
    relation: IntArray
    code: IntArray


class PredicateMatches(NamedTuple):
    """Rows that predicate g fits: ``rows[starts[g]:starts[g + 1]]``.

    Rows of the control come after the records.

    ``naive`` is what as many baseline guesses single out among the records, and ``notes`` are those of
    `SinglingOut.run`.
    """

    starts: IntArray
    rows: IntArray
    naive: Attempts
    notes: tuple[str, ...]


@attack(source="Giomi et al., PoPETs 2023; Cohen & Nissim, PNAS 117 (2020)", knows=("columns",), uses="size")
@dataclass(frozen=True, kw_only=True)
class SinglingOut:
    """Describe one released row by a predicate that fits one original row.

    With one column a description is a value that occurs once in the release, the least or the greatest of numbers,
    dates or ordered levels, or being the only one without a value. With more columns it starts from a released row
    drawn at random and as many columns drawn at random: the row's value, or at least that where it is above the median
    and at most that where it is below. Only descriptions that fit exactly one released row are used, each once, because
    the attacker can see that; whether they fit exactly one original row is the success.

    A cell that stands for several values is a description by itself (from 30 to 39, Ulm or Bonn), which holds for all
    people inside it, and is used where one released row has it. A suppressed cell describes no person.

    The same descriptions are tried on the same people, so the intervals around the rates treat descriptions as the
    sample: they say how far the rate of all descriptions that this attacker could draw may be from the one found, for
    these tables. They do not say what other people of the same kind would give.

    Attributes
    ----------
    columns
        The columns that descriptions are made of; None takes all whose role is "known".
    size
        How many columns each description has.
    guesses
        How many descriptions to make. There may be fewer (then a note says so): with one column that is all there are,
        with more that is what was found in 1,000 tries for each guess, or when tries began to repeat themselves.
    exact_numbers
        With one column, also take numbers, dates and levels that occur once in the release as descriptions. They fit
        where a release copies such values, and no person where it does not.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table.release import Knowledge
    >>> from unveil.data.table import Table
    >>> people = Table.from_frame(pl.DataFrame({"age": [31, 34, 93], "town": ["Ulm", "Bonn", "Bonn"]}))
    >>> released = Table.from_frame(pl.DataFrame({"age": [32, 33, 90], "town": ["Ulm", "Bonn", "Bonn"]}))
    >>> attack, rng = SinglingOut(), np.random.default_rng(1)
    >>> sorted(attack.guess(released, rng=rng).describe())[0]
    "exactly one record has 'age' <= …"
    >>> trials = attack.run(released=released, knowledge=Knowledge(people), rng=rng)
    >>> trials.attack.expected, trials.attack.tries  # nobody is at most 32 but the one of 31, and one is from Ulm
    (3.0, 3)
    """

    columns: tuple[str, ...] | None = None
    size: int = 1
    guesses: int = 500
    exact_numbers: bool = False

    def __post_init__(self) -> None:
        if self.columns is not None:
            object.__setattr__(self, "columns", column_names(self.columns, "columns"))
        whole_number(self.size, "size")
        whole_number(self.guesses, "guesses")

    def guess(self, released: "Table", *, rng: np.random.Generator) -> Predicates:
        """Return predicates that hold for exactly one released row each.

        The same ``rng`` and the same rows, in whatever order, give the same predicates.

        Raises
        ------
        InputError
            If there are fewer columns than a predicate needs, or if no predicate holds for exactly one released row.
        """
        coded = self._coded(released)
        return predicates_of(coded, self._found(coded, rng))

    def fitted(self, *, released: "Table", knowledge: "Knowledge", rng: np.random.Generator) -> PredicateMatches:
        """Return the people that `run`'s predicates fit, in records and control.

        Guesses come from the release alone, so that who is in the data plays no part in it.
        """
        records, outside, predicates, blind = self._guessed(released, knowledge, rng)
        coded = CodedTable(records, sorted({*predicates.columns, *blind.columns}))
        naive = Attempts.from_chances(coded.matches(blind)[0] == 1)
        found = [coded.fits(predicates)]
        del coded  # before the next one takes memory
        found += [predicates.fits(table) for table in outside]
        before = np.cumsum([0, records.rows])
        guess = np.concatenate([np.repeat(np.arange(len(predicates)), np.diff(starts)) for starts, _ in found])
        rows = np.concatenate([first + rows for first, (_, rows) in zip(before, found, strict=False)])
        return PredicateMatches(
            starts=np.searchsorted(np.sort(guess), np.arange(len(predicates) + 1)),
            rows=rows[np.argsort(guess, kind="stable")],
            naive=naive,
            notes=tuple(self._shortfall(len(predicates))),
        )

    def run(self, *, released: "Table", knowledge: "Knowledge", rng: np.random.Generator) -> Trials:
        """Return singled-out original rows, baseline, and control rows.

        ``knowledge.records`` must be the whole original. ``naive`` are as many predicates of the same size from
        columns, released values and relations drawn at random, without looking whether they single out any person.
        ``rows`` are the positions of those singled out, -1 where a predicate holds for no row or for several.

        Whether a predicate holds for exactly one row depends on how many rows there are. So ``control`` holds for each
        predicate the exact chance that it holds for exactly one of as many control rows as the original has, drawn by
        lot. A smaller control cannot tell, and there is none; what as many control people would give is then known
        within bounds, which :func:`unveil.metrics.verdict.singling_out.singling_out` finds for what `fitted` returns.
        """
        records, outside, predicates, blind = self._guessed(released, knowledge, rng)
        counts, rows = predicates.matches(records)
        control, notes = None, [*self._shortfall(len(predicates))]
        for table in outside:
            if table.rows < records.rows:
                notes.append(
                    f"the control has {table.rows} rows and the original {records.rows}: the control rate for as many "
                    "people is only known within bounds (fitted), so it is not compared"
                )
                continue
            there, rows_there = predicates.matches(table)
            control = Attempts.from_chances(chance_of_one(there, table.rows, records.rows), rows=rows_there)
        return Trials(
            attack=Attempts.from_chances(counts == 1, rows=rows),
            naive=Attempts.from_chances(blind.counts(records) == 1),
            control=control,
            what="exactly one row fits the predicate on "
            + ("one column" if self.size == 1 else f"{self.size} columns"),
            notes=tuple(notes),
        )

    def _guessed(
        self, released: "Table", knowledge: "Knowledge", rng: np.random.Generator
    ) -> "tuple[Table, list[Table], Predicates, Predicates]":
        """Return records, control, predicates, and as many baseline predicates."""
        from unveil.data.table import agree

        tables = [knowledge.records, released] + ([] if knowledge.control is None else [knowledge.control])
        if self.columns is not None:
            tables = [table.select(self.columns) for table in tables]
        records, released, *outside = agree(tables[0], *tables[1:])
        coded = self._coded(released)
        predicates = predicates_of(coded, self._found(coded, rng))
        return records, outside, predicates, predicates_of(coded, _blindly(coded, self.size, len(predicates), rng))

    def _coded(self, released: "Table") -> CodedTable:
        names = self.columns
        if names is None:
            names = tuple(column.name for column in released.columns if column.role == "known")
        if len(names) < self.size:
            raise InputError(
                f"size is {self.size}, but only {len(names)} columns of the {released.name} can be used. "
                "Lower size, or name columns with columns=(…)"
            )
        # By name, so that the order of the columns plays no part either.
        return CodedTable(released, sorted(names))

    def _found(self, coded: CodedTable, rng: np.random.Generator) -> Picks:
        if self.size == 1:
            found = _rare(coded, self.guesses, self.exact_numbers, rng)
        else:
            found = _combined(coded, self.size, self.guesses, rng)
        if not found.code.size:
            raise InputError(
                f"no predicate on {self.size} of {len(coded.names)} columns fits exactly one row of the "
                f"{coded.table_name}, so it singles out no record. Raise size, or use more columns"
            )
        return found

    def _shortfall(self, guess_count: int) -> list[str]:
        if guess_count >= self.guesses:
            return []
        fit = "predicate fits" if guess_count == 1 else "predicates fit"
        return [f"only {guess_count:,} {fit} exactly one released row; {self.guesses:,} were requested"]


def predicates_of(coded: CodedTable, picks: Picks) -> Predicates:
    """Return the predicates with the values that their codes stand for."""
    return Predicates(
        tuple(
            tuple(
                condition
                for column, relation, code in zip(*each, strict=True)
                for condition in coded.conditions(column, _RELATIONS[relation], code)
            )
            for each in zip(*(part.tolist() for part in picks), strict=True)
        )
    )


def _rare(coded: CodedTable, guesses: int, exact_numbers: bool, rng: np.random.Generator) -> Picks:
    """Return unique values and extremes of released rows, optionally sampled."""
    found, turn = [], [np.empty(0, np.int64)]
    for place, kind in enumerate(coded.kinds):
        ordered = kind in WITH_ORDER
        single = rare_values(coded, place, extremes=ordered, singles=exact_numbers or not ordered)
        found += single
        # Columns take turns, so that one with many single values does not crowd out the others.
        turn.append(rng.permutation(len(single)))
    order = np.lexsort((rng.random(len(found)), np.concatenate(turn)))[:guesses]
    chosen = np.array(found, np.int64).reshape(-1, 3)[order]
    return Picks(*(chosen[:, [part]] for part in range(3)))


def rare_values(coded: CodedTable, column: int, *, extremes: bool, singles: bool) -> list[tuple[int, int, int]]:
    """Return conditions that hold for one row: column, relation, code."""
    rows, last = coded.index.rows_with(column), int(coded.last[column])
    there = 1 + np.flatnonzero(rows[1 : last + 1])
    # What is missing, for each reason, is as rare as it is, whether or not single values are tried.
    found = [(EQUAL, code) for code in (0, *range(last + 1, rows.size)) if rows[code] == 1]
    if singles:
        found += [(EQUAL, code) for code in (1 + np.flatnonzero(rows[1 : last + 1] == 1)).tolist()]
    nothing = coded.says_nothing(column)
    found = [(relation, code) for relation, code in found if not nothing[code]]
    if extremes and there.size:
        ends = (AT_MOST, int(there[0])), (AT_LEAST, int(there[-1]))
        found += [(relation, code) for relation, code in ends if rows[code] == 1]
    return [(column, relation, code) for relation, code in found]


def _combined(coded: CodedTable, size: int, guesses: int, rng: np.random.Generator) -> Picks:
    """Return distinct random predicates that hold for one released row."""
    codes = coded.index.codes
    by_content = np.argsort(
        content_rank(IntegerGrid(np.empty((codes.shape[1], 0), np.int64), codes.T, np.empty(0, int), 1))
    )
    middle = _middle(coded)
    tried: set[bytes] = set()
    kept: list[IntArray] = []
    batch, stale = max(guesses, _STALE // 5), 0
    for _ in range(0, TRIES_PER_GUESS * guesses, batch):
        rows = by_content[rng.integers(codes.shape[1], size=(batch, 1))]
        column = np.sort(np.argsort(rng.random((batch, len(codes))), axis=1)[:, :size], axis=1)
        code = codes[column, rows].astype(np.int64)
        # Twice the code, because the median may lie between two values.
        above = np.sign(2 * code - middle[column])
        above = np.where(above == 0, rng.choice([-1, 1], above.shape), above)
        plain = (middle[column] < 0) | (code == 0) | (code > coded.last[column])
        relation = np.where(plain, EQUAL, np.where(above > 0, AT_LEAST, AT_MOST))
        drawn = _unseen(np.stack([column, relation, code], axis=1), tried)
        drawn = drawn[~_empty(coded, drawn[:, 0], drawn[:, 2])]
        picks = Picks(drawn[:, 0], drawn[:, 1], drawn[:, 2])
        kept += list(drawn[matches(coded.index, conditions_of(coded, picks), stop=2)[0] == 1])
        stale = 0 if len(drawn) else stale + batch
        if len(kept) >= guesses or stale >= _STALE:
            break
    found = np.array(kept[:guesses], np.int64).reshape(-1, 3, size)
    return Picks(found[:, 0], found[:, 1], found[:, 2])


def _unseen(drawn: IntArray, tried: set[bytes]) -> IntArray:
    """Return new predicates, and record them."""
    new = {key: place for place, each in enumerate(drawn) if (key := each.tobytes()) not in tried}
    tried.update(new)
    return drawn[list(new.values())]


def _empty(coded: CodedTable, column: IntArray, code: IntArray) -> BoolArray:
    """Return predicates with a cell that fits no record."""
    empty = np.zeros(column.shape, bool)
    for place, cells in enumerate(coded.cells):
        if cells is not None:
            here = column == place
            empty[here] = coded.says_nothing(place)[code[here]]
    return np.asarray(empty.any(axis=1))


def _middle(coded: CodedTable) -> IntArray:
    """Return twice each column's median code; -1 if unordered."""
    middle = np.full(len(coded.kinds), -1, np.int64)
    for place, kind in enumerate(coded.kinds):
        at_most = np.cumsum(coded.index.rows_with(place)[: coded.last[place] + 1])
        missing, rows = at_most[[0, -1]]
        if kind in WITH_ORDER and missing < rows:
            middle[place] = np.searchsorted(at_most, [(missing + rows - 1) // 2, (missing + rows) // 2], "right").sum()
    return middle


def conditions_of(coded: CodedTable, picks: Picks) -> PredicateConditions:
    """Return the predicates as spans of codes of the released table."""
    column, relation, code = (part.ravel() for part in picks)
    low = np.where(relation == AT_MOST, 1, code)
    high = np.where(relation == AT_LEAST, coded.last[column], code)
    start = np.arange(0, code.size + 1, picks.code.shape[1])
    return PredicateConditions(start, column, low, high, np.zeros(code.size, bool))


def _blindly(coded: CodedTable, size: int, guesses: int, rng: np.random.Generator) -> Picks:
    """Return predicates from random columns, released values, and relations."""
    there = []
    for place in range(len(coded.names)):
        codes = np.flatnonzero((coded.index.rows_with(place) > 0) & ~coded.says_nothing(place))
        # A column of stars alone has no value to draw: its missing one holds for who lacks it.
        there.append(codes if codes.size else np.zeros(1, np.int64))
    column = np.sort(np.argsort(rng.random((guesses, len(there))), axis=1)[:, :size], axis=1)
    lot, code = rng.random(column.shape), np.empty_like(column)
    for place, codes in enumerate(there):
        here = column == place
        code[here] = codes[(lot[here] * codes.size).astype(np.int64)]
    ordered = np.array([kind in WITH_ORDER for kind in coded.kinds])[column] & (code > 0) & (code <= coded.last[column])
    relation = np.where(ordered, rng.integers(len(_RELATIONS), size=column.shape), EQUAL)
    return Picks(column, relation, code)
