"""The singling-out attack as anonymeter 1.1.0 runs it, for those who compare numbers with it.

It does the same also where :class:`unveil.attacks.table.singling_out.SinglingOut` does better: people who are equal
in all columns count as one, a guess that could not be made counts as a miss, texts with quotes are never found, and the
hits on the control are multiplied by a factor that has nothing to do with how these hits depend on the number of rows.
"""

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.table.predicates import PredicateConditions, matches
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.table.singling_out import (
    AT_LEAST,
    AT_MOST,
    EQUAL,
    Picks,
    conditions_of,
    predicates_of,
    rare_values,
)
from unveil.errors import InputError, column_names, whole_number
from unveil.guesses.predicates import CodedTable, Condition, Predicates, Relation
from unveil.guesses.trials import Attempts, Trials

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.data.table.release import Knowledge


_BATCH = 1000
_NUMBER_RELATIONS: tuple[Relation, ...] = ("=", "!=", ">", "<", ">=", "<=")


@attack(source="anonymeter 1.1.0; Giomi et al., PoPETs 2023", uses_row_order=True, knows=("columns",), uses="size")
@dataclass(frozen=True, kw_only=True)
class AnonymeterSinglingOut:
    """An adversary who singles out as anonymeter 1.1.0 does: the same guesses for the same seed, the same counts.

    With several columns a seed decides all guesses. With one column it does so only where there are no more guesses
    than asked for, because the package draws them from a list without a fixed order; otherwise they are drawn by
    ``rng``. The package's blind guesses cannot be seeded at all: ``naive`` is another draw of the same kind.

    Columns that are kept as numbers are compared by size, all others by whether two cells are equal. A text with quotes
    in it gets backslashes before them, as in the package, and so is never found with several columns.

    Parameters
    ----------
    columns
        The columns that guesses are made of; None takes all.
    size
        How many columns each guess is about; 1 is the package's univariate mode, more its multivariate one.
    guesses
        How many guesses to make; rates are shares of this number, even where fewer could be made.
    attempts
        How many guesses about several columns are tried at most. The package's default is 10,000,000.
    seed
        The seed that the package is given; None takes one from ``rng``.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table.release import Knowledge
    >>> from unveil.data.table import Table
    >>> people = Table.from_frame(pl.DataFrame({"age": [31, 34, 93, 93], "town": ["Ulm", "Bonn", "Bonn", "Bonn"]}))
    >>> attack = AnonymeterSinglingOut(size=1, guesses=10)
    >>> trials = attack.run(released=people, knowledge=Knowledge(people), rng=np.random.default_rng(1))
    >>> trials.attack.expected, trials.attack.tries  # two people are 93, but count as one
    (6.0, 10)
    """

    columns: tuple[str, ...] | None = None
    size: int = 3
    guesses: int = 500
    attempts: int = 1_000_000
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.columns is not None:
            object.__setattr__(self, "columns", column_names(self.columns, "columns"))
        for which in ("size", "guesses", "attempts"):
            whole_number(getattr(self, which), which)
        if self.seed is not None:
            whole_number(self.seed, "seed", at_least=0)

    def guess(self, released: "Table", *, rng: np.random.Generator) -> Predicates:
        """Return the package's guesses, in its order where several columns make one; they depend on the row order.

        Raises
        ------
        InputError
            If there are fewer columns than a guess needs, a guess about several columns would have to be about a date
            (the package stops there, or finds nothing, depending on the version of polars), or there is no guess.
        """
        if self.columns is not None:
            released = released.select(self.columns)
        if len(released.columns) < self.size:
            raise InputError(
                f"size must be at most the number of columns, but is {self.size}, and the {released.name} has "
                f"{len(released.columns)}. Lower it"
            )
        coded = CodedTable(_distinct(released), released.column_names)
        seed = int(rng.integers(2**32)) if self.seed is None else self.seed
        picks = self._univariate(coded, rng) if self.size == 1 else self._multivariate(coded, seed)
        if not picks.code.size:
            raise InputError(
                f"no guess about {self.size} of the columns holds for exactly one row of the {released.name}. "
                "Raise size, or use more columns"
            )
        return predicates_of(coded, picks)

    def run(self, *, released: "Table", knowledge: "Knowledge", rng: np.random.Generator) -> Trials:
        """Return what the guesses hit among distinct original rows, by chance, and among distinct control rows."""
        from unveil.data.table import agree

        tables = [knowledge.records, released] + ([] if knowledge.control is None else [knowledge.control])
        if self.columns is not None:
            tables = [table.select(self.columns) for table in tables]
        agreed = agree(tables[0], *tables[1:])
        # Guesses depend on the order of the released columns.
        names = [name for name in released.column_names if name in agreed[0].column_names]
        # The package knows single values only.
        records, released, *outside = (table.select(names).single_values() for table in agreed)
        predicates = self.guess(released, rng=rng)
        blind = self._blindly(_distinct(released), rng)
        trials = self.evaluate(predicates, records=records, control=outside[0] if outside else None)
        naive = blind.counts(_distinct(records)) == 1
        return Trials(
            attack=trials.attack,
            naive=Attempts.from_chances(naive),
            control=trials.control,
            what=trials.what,
            notes=trials.notes,
        )

    def evaluate(self, predicates: Predicates, *, records: "Table", control: "Table | None" = None) -> Trials:
        """Return how the package counts these predicates, however they came about; ``naive`` is 0 of them.

        ``control.expected`` is not whole where the package rescales it. Feed the result to
        :func:`unveil.metrics.trials.anonymeter.anonymeter_risk` for its risk.
        """
        records = _distinct(records)
        found = predicates.counts(records) == 1
        notes = []
        if len(predicates) < self.guesses:
            notes.append(
                f"{self.guesses} guesses were asked for and {len(predicates)} made: the others count as misses"
            )
        attack = Attempts.from_chances(np.concatenate([found, np.zeros(max(0, self.guesses - found.size))]))
        outside = None
        if control is not None:
            control = _distinct(control)
            factor = rescaling(len(predicates), original=records.rows, control=control.rows)
            hits = float((predicates.counts(control) == 1).sum()) * factor
            if hits > attack.tries:
                raise InputError(
                    f"the hits on the control, rescaled as the package does, must not be more than the {attack.tries} "
                    f"guesses, but are {hits:g}. Use SinglingOut, or tables of the same size"
                )
            outside = Attempts(tries=attack.tries, expected=hits, low=hits, high=hits)
            if factor != 1:
                notes.append(f"hits on the control were multiplied by {factor:.4g}, as the package does")
        return Trials(
            attack=attack,
            naive=Attempts.from_chances(np.zeros(attack.tries)),
            control=outside,
            what=f"exactly one of the different rows fits what the guess says of {self.size} columns",
            notes=tuple(notes),
        )

    def _univariate(self, coded: CodedTable, rng: np.random.Generator) -> Picks:
        found = [
            pick
            for place in range(len(coded.names))
            for pick in rare_values(coded, place, extremes=int in coded.takes[place], singles=True)
        ]
        chosen = np.array(found, np.int64).reshape(-1, 3)
        if len(found) > self.guesses:
            chosen = chosen[rng.choice(len(found), self.guesses, replace=False)]
        return Picks(*(chosen[:, [part]] for part in range(3)))

    def _multivariate(self, coded: CodedTable, seed: int) -> Picks:
        """Return the guesses that the package makes after this seed: rows of a batch first, then columns one by one."""
        draw = np.random.default_rng(seed)
        width, rows = coded.index.codes.shape
        by_name = np.argsort(np.argsort(np.array(coded.names, object)))
        above, written = _medians(coded), [_as_written(coded, place) for place in range(width)]
        kept: dict[bytes, IntArray] = {}
        batch = min(_BATCH, self.attempts)
        for _ in range(0, self.attempts, batch):
            row = draw.integers(low=0, high=rows, size=batch)[:, None]
            drawn = np.array([draw.choice(width, size=self.size, replace=False) for _ in range(batch)])
            column = np.take_along_axis(drawn, np.argsort(by_name[drawn], axis=1), axis=1)
            code = coded.index.codes[column, row].astype(np.int64)
            relation = np.where(code > above[column], AT_LEAST, AT_MOST)
            relation = np.where((above[column] < 0) | (code == 0), EQUAL, relation)
            for place in range(width):
                code = np.where(column == place, written[place][code * (column == place)], code)
            picks = np.stack([column, relation, code], axis=1)
            single = matches(coded.index, _findable(coded, Picks(column, relation, code)), stop=2)[0] == 1
            for each in picks[single]:
                kept.setdefault(each.tobytes(), each)
            if len(kept) >= self.guesses:
                break
        found = np.array(list(kept.values())[: self.guesses], np.int64).reshape(-1, 3, self.size)
        return Picks(found[:, 0], found[:, 1], found[:, 2])

    def _blindly(self, released: "Table", rng: np.random.Generator) -> Predicates:
        """Return guesses from columns, values that occur and relations drawn by lot, as the package makes them."""
        coded = CodedTable(released, released.column_names)
        there = [np.flatnonzero(coded.index.rows_with(place)) for place in range(len(coded.names))]
        guesses = []
        for _ in range(self.guesses):
            columns = rng.choice(len(there), size=self.size, replace=False).tolist()
            guesses.append(tuple(_any_condition(coded, place, int(rng.choice(there[place])), rng) for place in columns))
        return Predicates(tuple(guesses))


def rescaling(predicates: int, *, original: int, control: int) -> float:
    """Return the factor by which the package multiplies the hits on the control where the tables differ in size.

    It means to fit how the number of hits grows with the number of rows, but counts predicates where it should count
    hits: that number is the same for every number of rows, so the factor does not depend on the data at all.

    >>> round(rescaling(500, original=39032, control=9758), 2)
    0.25
    """
    if original == control:
        return 1.0
    from scipy.optimize import curve_fit

    def singled_out(rows: FloatArray | float, at_most: float, norm: float) -> FloatArray | float:
        return norm * (1 - (rows * at_most + 1) * (1 - at_most) ** rows) / (rows + 1)

    sizes = np.repeat(np.linspace(min(1000, control), control, 10).astype(int), 5)
    start = 1 / control, 1 / float(singled_out(control, 1 / control, 1.0))
    try:
        best, _ = curve_fit(singled_out, sizes, np.full(sizes.size, predicates), p0=start, bounds=(0, (1, np.inf)))
    except RuntimeError as error:
        raise InputError(
            f"the package's rescaling must find a curve, but finds none for {original} and {control} rows. Use "
            "SinglingOut, or tables of the same size"
        ) from error
    return float(singled_out(original, *best) / singled_out(control, *best))


def _distinct(table: "Table") -> "Table":
    """Return one of each of the rows that are equal in all columns, in the order of the first of them."""
    import polars as pl

    return table.take(table.frame.select(pl.struct(pl.all()).is_first_distinct()).to_series().arg_true().to_numpy())


def _medians(coded: CodedTable) -> IntArray:
    """Return for each column of numbers the greatest code that is not above the median, -1 for the others."""
    above = np.full(len(coded.names), -1, np.int64)
    for place, takes in enumerate(coded.takes):
        if np.datetime64 in takes:
            raise InputError(
                f"the package makes no guess about several columns if one is a date, as {coded.names[place]!r} is. "
                "Leave it out with columns=(…), or tell its kind to be category"
            )
        values = coded.values[place]
        if int in takes and values:
            at_most = np.cumsum(coded.index.rows_with(place))
            both = at_most[[0, -1]].sum()
            low, high = (values[at - 1] for at in np.searchsorted(at_most, [(both - 1) // 2, both // 2], "right"))
            above[place] = bisect_right(values, (low + high) / 2)
    return above


def _as_written(coded: CodedTable, column: int) -> IntArray:
    """Return for each code that of the value with a backslash before each quote, -1 where no row has it."""
    codes = np.arange(len(coded.values[column]) + 1)
    if str in coded.takes[column] and coded.kinds[column] != "ordered":
        place = {value: code for code, value in enumerate(coded.values[column], 1)}
        for code, value in enumerate(coded.values[column], 1):
            if "'" in value or '"' in value:
                codes[code] = place.get(value.replace('"', '\\"').replace("'", "\\'"), -1)
    return codes


def _findable(coded: CodedTable, picks: Picks) -> PredicateConditions:
    """Return the predicates as spans of codes, none where a text is not found."""
    conditions = conditions_of(coded, picks)
    lost = conditions.low < 0
    return conditions._replace(low=np.where(lost, 1, conditions.low), high=np.where(lost, 0, conditions.high))


def _any_condition(coded: CodedTable, column: int, code: int, rng: np.random.Generator) -> Condition:
    name, numbers = coded.names[column], int in coded.takes[column]
    relation = _NUMBER_RELATIONS[int(rng.integers(6 if numbers else 2))]
    if code == 0:
        return Condition(name, "is missing" if relation == "=" else "is not missing")
    if bool in coded.takes[column]:
        return Condition(name, "=", relation == "=")
    return coded.condition(column, relation, code)
