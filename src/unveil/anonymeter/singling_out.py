"""Singling out with the queries of anonymeter 1.1.0, for comparison with its numbers.

It also follows the package where :class:`unveil.attacks.SinglingOut` does better: people who are equal in all columns
count as one, a query that could not be made counts as a miss, texts with quotes are never found, and the successes on
the control are multiplied by a factor that has nothing to do with how they depend on the number of rows.
"""

import operator
from collections.abc import Sequence
from functools import reduce
from sys import maxsize
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from unveil._kernels.table.predicates import Index, PredicateConditions, index, matches
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.anonymeter.frames import column_codes, frames_of
from unveil.anonymeter.results import Evaluator
from unveil.errors import InputError, whole_number

if TYPE_CHECKING:
    import polars as pl


_BATCH = 1000
#: The package draws its blind queries from these: all of them for numbers, the first two for other columns.
_OPERATORS = (operator.eq, operator.ne, operator.gt, operator.lt, operator.ge, operator.le)
EQUAL, UNEQUAL, _, _, AT_LEAST, AT_MOST = range(6)
#: The code of a value that no table has.
_NOWHERE = -1


class Queries(NamedTuple):
    """Queries: column positions, operators, and value codes."""

    column: IntArray
    relation: IntArray
    code: IntArray

    def take(self, which: Any) -> "Queries":
        """Return some of the queries."""
        return Queries(*(part[which] for part in self))


class SinglingOutEvaluator(Evaluator):
    """Count queries that match one synthetic row and one person.

    Columns of numbers are compared by size, all others by equality. In a query about several columns a text with quotes
    gets backslashes before them, as in the package, and so is never found.

    Parameters
    ----------
    ori, syn, control
        Any DataFrames: original, synthetic, and people who are not in the original.
    n_attacks, n_cols
        How many queries to make, and about how many columns each is. Rates are shares of this number, even where
        fewer could be made.
    max_attempts
        How many queries about several columns are tried at most; None for no limit.
    seed
        Decides the queries about several columns; None draws them anew each time. Queries about one column come from
        a list without a fixed order in the package, so that only there being no more of them makes them the same.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 93, 93], "town": ["Ulm", "Bonn", "Bonn", "Bonn"]})
    >>> evaluator = SinglingOutEvaluator(people, people, n_attacks=10, seed=2).evaluate(mode="univariate")
    >>> evaluator.results().n_success, len(evaluator.queries())  # two people are 93, but count as one
    (6, 6)
    """

    def __init__(
        self,
        ori: Any,
        syn: Any,
        n_attacks: int = 500,
        n_cols: int = 3,
        control: Any = None,
        max_attempts: int | None = 10_000_000,
        seed: int | None = None,
    ) -> None:
        self._n_attacks, self._n_cols = whole_number(n_attacks, "n_attacks"), whole_number(n_cols, "n_cols")
        self._max_attempts = maxsize if max_attempts is None else whole_number(max_attempts, "max_attempts")
        self._rng = np.random.default_rng(None if seed is None else whole_number(seed, "seed", at_least=0))
        self._syn, self._ori, *self._control = map(_distinct_rows, frames_of(syn, ori, control))
        self._queries: list[pl.Expr] = []
        self._blind_queries: list[pl.Expr] = []

    def queries(self, baseline: bool = False) -> "list[pl.Expr]":
        """Return the successful queries as polars expressions, or baseline ones."""
        return self._blind_queries if baseline else self._queries

    def evaluate(self, mode: str = "multivariate") -> Self:
        """Make multivariate or univariate queries, and count their matches."""
        if mode not in ("multivariate", "univariate"):
            raise InputError(f"mode must be 'multivariate' or 'univariate', but is {mode!r}. Write one of them")
        size = 1 if mode == "univariate" else self._n_cols
        if min(frame.height for frame in (self._syn, self._ori, *self._control)) == 0:
            raise InputError("every table must have rows, but one has none. Pass tables with rows")
        if self._syn.width < size:
            raise InputError(
                f"n_cols must be at most the number of columns, but is {size}, and the synthetic table has "
                f"{self._syn.width}. Lower it"
            )
        coded = QueryColumns([self._syn, self._ori, *self._control])
        queries = self._rare_values(coded) if mode == "univariate" else self._combinations(coded)
        blind = self._blind(coded, size)
        single, *outside = (coded.count(queries, table) == 1 for table in range(1, 2 + len(self._control)))
        blind_single = coded.count(blind, 1) == 1
        self._queries, self._blind_queries = (
            coded.expressions(part) for part in (queries.take(single), blind.take(blind_single))
        )
        n_control = None
        if outside:
            n_control = float(outside[0].sum())
            if n_control:  # without a hit there is nothing to rescale
                n_control *= rescaling(single.size, original=self._ori.height, control=self._control[0].height)
        self._counts = (self._n_attacks,) * 3, int(single.sum()), int(blind_single.sum()), n_control
        return self

    def _rare_values(self, coded: "QueryColumns") -> Queries:
        """Return univariate queries that match one synthetic row."""
        found = []
        for column, numbers in enumerate(coded.numbers):
            rows = coded.tables[0].rows_with(column)
            found += [(column, EQUAL, code) for code in np.flatnonzero(rows == 1).tolist()]
            there = np.flatnonzero(rows[1:]) + 1
            if numbers and there.size:
                ends = (AT_MOST, int(there[0])), (AT_LEAST, int(there[-1]))
                found += [(column, relation, code) for relation, code in ends if rows[code] == 1]
        chosen = self._rng.permutation(np.array(found, np.int64).reshape(-1, 3))[: self._n_attacks]
        return Queries(*(chosen[:, [part]] for part in range(3)))

    def _combinations(self, coded: "QueryColumns") -> Queries:
        """Return the package's random queries for this seed."""
        codes, size = coded.tables[0].codes, self._n_cols
        by_name = np.argsort(np.argsort(np.array(coded.names, object)))
        extreme, escaped = _greater_than_median(self._syn), coded.escaped()
        kept: dict[bytes, IntArray] = {}
        batch = min(_BATCH, self._max_attempts)
        for _ in range(0, self._max_attempts, batch):
            row = self._rng.integers(low=0, high=codes.shape[1], size=batch)[:, None]
            drawn = np.array([self._rng.choice(len(codes), size=size, replace=False) for _ in range(batch)])
            column = np.take_along_axis(drawn, np.argsort(by_name[drawn], axis=1), axis=1)
            code = codes[column, row].astype(np.int64)
            relation = np.where(extreme[column, row], AT_LEAST, AT_MOST)
            relation = np.where(~coded.numbers[column] | (code == 0), EQUAL, relation)
            for place, written in escaped.items():
                code = np.where(column == place, written[code * (column == place)], code)
            picks = np.stack([column, relation, code], axis=1)
            for each in picks[coded.count(Queries(column, relation, code), 0, stop=2) == 1]:
                kept.setdefault(each.tobytes(), each)
            if len(kept) >= self._n_attacks:
                break
        found = np.array(list(kept.values())[: self._n_attacks], np.int64).reshape(-1, 3, size)
        return Queries(found[:, 0], found[:, 1], found[:, 2])

    def _blind(self, coded: "QueryColumns", size: int) -> Queries:
        """Return baseline queries with random columns, values, and operators."""
        there = [np.flatnonzero(coded.tables[0].rows_with(place)) for place in range(len(coded.names))]
        picks = np.empty((self._n_attacks, 3, size), np.int64)
        for pick in picks:
            columns = sorted(self._rng.choice(len(there), size=size, replace=False), key=coded.names.__getitem__)
            for place, column in enumerate(columns):
                code = there[column][self._rng.choice(there[column].size)]
                relation = self._rng.choice(6 if coded.numbers[column] else 2)
                if code and coded.truths[column] is not None:  # the package asks for the truth value itself
                    code, relation = coded.truths[column][relation], EQUAL
                pick[:, place] = column, relation, code
        return Queries(picks[:, 0], picks[:, 1], picks[:, 2])


class QueryColumns:
    """Columns of several tables as ordered integers; 0 is missing.

    Attributes
    ----------
    names, numbers
        Of each column, its name and whether it holds numbers; those of other columns have codes in no order.
    tables
        The codes of each table, with the rows by code.
    values
        Those of each column, in the order of their codes.
    truths
        The codes of True and False of each column of truth values, else None.
    """

    def __init__(self, frames: Sequence["pl.DataFrame"]) -> None:
        import polars as pl

        self.names = frames[0].columns
        for name, what in ((name, place) for name in self.names for place in range(1, len(frames))):
            if name not in frames[what].columns:
                table = ("original", "control")[what - 1]
                raise InputError(f"column {name!r} is not in the {table} table. Add it, or drop it from all tables")
        self._dtypes = frames[0].dtypes
        self.numbers = np.array([dtype.is_numeric() for dtype in self._dtypes])
        ends = np.cumsum([frame.height for frame in frames])
        codes: list[list[IntArray]] = []
        self.values: list[pl.Series] = []
        for name in self.names:
            parts = [frame[name] for frame in frames]
            # A missing value comes first, so that it has the code 0 also where there is none.
            own = np.append(0, column_codes(parts))
            _, first, dense = np.unique(own, return_index=True, return_inverse=True)
            texts = parts[0].dtype in (pl.String, pl.Categorical, pl.Enum)
            whole = [(part.cast(pl.String) if texts else part).to_frame() for part in parts]
            self.values.append(pl.concat(whole, how="vertical_relaxed").to_series().gather(first[1:] - 1))
            codes.append(np.split(dense[1:], ends[:-1]))
        self._last = np.array([values.len() for values in self.values])
        self.tables: list[Index] = [index(list(columns), self._last.tolist()) for columns in zip(*codes, strict=True)]
        self.truths = [self._codes_of_truths(values) for values in self.values]

    @staticmethod
    def _codes_of_truths(values: "pl.Series") -> tuple[int, int] | None:
        import polars as pl

        if values.dtype != pl.Boolean:
            return None
        place = {value: code for code, value in enumerate(values.to_list(), 1)}
        return place.get(True, _NOWHERE), place.get(False, _NOWHERE)

    def count(self, queries: Queries, table: int, stop: int | None = None) -> IntArray:
        """Return the number of matching rows per query, counted up to ``stop``."""
        column, relation, code = (part.ravel() for part in queries)
        last, present, nowhere = self._last[column], (code == 0) & (relation != EQUAL), code == _NOWHERE
        # In the order of the operators, from the first to the last code that each is about.
        low = np.choose(relation, [code, code, code + 1, 1, code, 1])
        high = np.choose(relation, [code, code, last, code - 1, last, code])
        low, high = np.where(present | nowhere, 1, low), np.select([present, nowhere], [last, 0], high)
        begin = np.arange(len(queries.code) + 1) * queries.code.shape[1]
        spans = PredicateConditions(begin, column, low, high, (relation == UNEQUAL) & (code > 0))
        return matches(self.tables[table], spans, stop=stop)[0]

    def escaped(self) -> dict[int, IntArray]:
        """Return the codes of texts with quotes, as the package writes them."""
        import polars as pl

        found = {}
        for column, (values, dtype) in enumerate(zip(self.values, self._dtypes, strict=True)):
            if dtype in (pl.String, pl.Enum) and values.str.contains("['\"]").any():
                texts = values.to_list()
                place = {text: code for code, text in enumerate(texts, 1)}
                written = [text.replace('"', '\\"').replace("'", "\\'") for text in texts]
                found[column] = np.array([0, *(place.get(text, _NOWHERE) for text in written)])
        return found

    def expressions(self, queries: Queries) -> "list[pl.Expr]":
        """Return the queries as expressions of polars."""
        parts = (zip(*each, strict=True) for each in zip(*(part.tolist() for part in queries), strict=True))
        return [reduce(operator.and_, (self._expression(*condition) for condition in query)) for query in parts]

    def _expression(self, column: int, relation: int, code: int) -> "pl.Expr":
        import polars as pl

        cells = pl.col(self.names[column])
        if code == 0:
            return cells.is_null() if relation == EQUAL else cells.is_not_null()
        expression: pl.Expr = _OPERATORS[relation](cells, self.values[column][code - 1])
        return expression


def rescaling(queries: int, *, original: int, control: int) -> float:
    """Return the package's factor for a control of another size.

    It means to fit how the number of successes grows with the number of rows, but counts queries where it should count
    successes: that number is the same for every number of rows, so the factor does not depend on the data at all.

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
        best, _ = curve_fit(singled_out, sizes, np.full(sizes.size, queries), p0=start, bounds=(0, (1, np.inf)))
    except RuntimeError as error:
        raise InputError(
            f"the package's rescaling must find a curve, but finds none for {original} and {control} rows. Use "
            "unveil.attacks.SinglingOut, or tables of the same size"
        ) from error
    return float(singled_out(original, *best) / singled_out(control, *best))


def _distinct_rows(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Return the distinct rows, in order of first occurrence."""
    import polars.selectors as cs

    return frame.with_columns(cs.float().fill_nan(None)).unique(maintain_order=True)


def _greater_than_median(frame: "pl.DataFrame") -> BoolArray:
    """Return at [column, row] whether the cell exceeds the column median."""
    above = np.zeros((frame.width, frame.height), np.bool_)
    for place, column in enumerate(frame.iter_columns()):
        if column.dtype.is_temporal():
            raise InputError(
                f"the package makes no query about several columns if one is a date, as {column.name!r} is. Drop the "
                "column, or convert it to text"
            )
        median = column.median() if column.dtype.is_numeric() else None
        if median is not None:
            above[place] = (column > median).fill_null(False).to_numpy()
    return above
