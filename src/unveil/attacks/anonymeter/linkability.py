"""The linkability attack with the same links as anonymeter 1.1.0, for those who compare numbers with it.

It does the same also where :class:`unveil.attacks.table.linkability.Linkability` does better: distances are rounded
floats, rows at the same distance stand in the order in which a sort leaves them, and so the answer depends on the
order of the released rows. Two groups of columns that tell nothing link everybody.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil._kernels.anonymeter.nearest import ColumnGroup, collapse, link
from unveil._kernels.types import BoolArray, Int32Array
from unveil.attacks._listing import attack
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError, column_names, whole_number
from unveil.guesses.trials import Attempts, Trials

if TYPE_CHECKING:
    import polars as pl


@attack(
    source="anonymeter 1.1.0; Giomi et al., PoPETs 2023",
    example="first=age,education,second=income,town_size",
    uses_row_order=True,
    knows=("first", "second"),
)
@dataclass(frozen=True, kw_only=True)
class AnonymeterLinkability:
    """An adversary who links as anonymeter 1.1.0 does: ties fall as its sort leaves them, not by lot.

    Parameters
    ----------
    first, second
        The columns known from the one and from the other source. A column whose cells are kept as numbers counts by
        its size, every other one (truth values and dates too) by whether two cells are equal.
    neighbours
        How many nearest released rows each source may point to. As in the package, no more than there are targets.
    targets
        How many people are attacked, and how many of the control; None attacks all of them.
    seed
        The targets are those that the package draws after ``numpy.random.seed(seed)``, those of the control after
        them; None takes a seed from ``rng``.

    Examples
    --------
    >>> import polars as pl
    >>> original = Table.from_frame(pl.DataFrame({"age": [30, 40], "income": [10, 20]}), name="original")
    >>> attack = AnonymeterLinkability(first=("age",), second=("income",), neighbours=1)
    >>> trials = attack.run(released=original, knowledge=Knowledge(original), rng=np.random.default_rng(1))
    >>> trials.attack.expected, trials.attack.tries, trials.naive.expected
    (2.0, 2, 1.0)
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    neighbours: int = 10
    targets: int | None = 500
    seed: int | None = None

    def __post_init__(self) -> None:
        for which in ("first", "second"):
            object.__setattr__(self, which, column_names(getattr(self, which), which))
        column_names(self.first + self.second, "the two groups")
        whole_number(self.neighbours, "neighbours")
        if self.targets is not None:
            whole_number(self.targets, "targets")
        _check_seed(self.seed)

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Trials:
        """Return which targets are linked, beside random rows and the same attack on the control.

        The package draws its random rows anew in each run and cannot be seeded there: here ``naive`` is what it finds
        on average. Where it stops because there are fewer people than targets, all of them are attacked, with a note.
        """
        draw = _generator(self.seed, rng)
        columns = [*self.first, *self.second]
        # The package knows single values only.
        released = released.single_values()
        tables = [released, knowledge.records] + ([] if knowledge.control is None else [knowledge.control])
        frames = [table.select(columns).frame for table in tables]
        return replace(self.run_on(frames, draw), notes=tuple(_notes(self, tables)))

    def run_on(self, frames: Sequence["pl.DataFrame"], draw: np.random.RandomState) -> Trials:
        """Return the same for frames as they are, without notes: released rows, the records, perhaps the control."""
        rows = frames[0].height
        if self.neighbours > rows:
            raise InputError(
                f"neighbours must be at most the number of released rows, but is {self.neighbours}, and the released "
                f"table has {rows}. Lower it to {rows} or less"
            )
        asked = frames[1].height if self.targets is None else self.targets
        drawn = [frame[draw.choice(frame.height, min(asked, frame.height), replace=False)] for frame in frames[1:]]
        linked = _link(frames[0], drawn, self.first, self.second, self.neighbours)
        k = min(self.neighbours, drawn[0].height)
        chance = 1 - prod(max(0, rows - k - i) / (rows - i) for i in range(k))
        return Trials(
            attack=Attempts.from_chances(linked[0]),
            naive=Attempts.from_chances(np.full(drawn[0].height, chance)),
            control=Attempts.from_chances(linked[1]) if len(linked) > 1 else None,
            what="the nearest released rows by the first and by the second group have a row in common, ties as in "
            "anonymeter",
        )


def _check_seed(seed: int | None) -> None:
    if seed is not None:
        whole_number(seed, "seed", at_least=0, at_most=2**32 - 1)


def _generator(seed: int | None, rng: np.random.Generator) -> np.random.RandomState:
    """Return the old generator, because it is the one the package draws from."""
    return np.random.RandomState(int(rng.integers(2**32)) if seed is None else seed)


def _notes(settings: AnonymeterLinkability, tables: Sequence[Table]) -> list[str]:
    asked = settings.targets or 0
    notes = [
        f"{asked} targets were asked for, but the {table.name} has {table.rows}: all were attacked, where anonymeter "
        "stops with an error"
        for table in tables[1:]
        if table.rows < asked
    ]
    attacked = min([table.rows for table in tables[1:]] + [settings.targets or tables[1].rows])
    if settings.neighbours > attacked:
        notes.append(f"as in anonymeter, no more nearest rows were compared than there were targets ({attacked})")
    return notes + _notes_on_categories(tables[0], (*settings.first, *settings.second))


def _notes_on_categories(released: Table, columns: Sequence[str]) -> list[str]:
    return [
        f"column {name!r} was taken as a category, though all its cells are numbers, which anonymeter would compare by "
        "size; tell its kind, number or category, to settle it"
        for name in columns
        if not released.column(name).kind_told and _looks_like_numbers(released.frame[name])
    ]


def _looks_like_numbers(cells: "pl.Series") -> bool:
    import polars as pl

    if cells.dtype != pl.String or cells.null_count() == cells.len():
        return False
    for some in (cells.drop_nulls().head(1), cells.drop_nulls().unique()):
        if some.cast(pl.Float64, strict=False).null_count():
            return False
    return True


def links(
    original: Any,
    released: Any,
    target_rows: ArrayLike,
    first: Sequence[str],
    second: Sequence[str],
    neighbours: int = 10,
) -> BoolArray:
    """Return for each target whether anonymeter 1.1.0 links it.

    Parameters
    ----------
    original, released
        Any DataFrames. Columns of integers and floats are compared by size, all others by equality.
    target_rows
        The rows of the original to attack, counted from 0. Number columns are divided by their range over the released
        rows and these targets, so that other targets may change the answer for one.
    first, second
        The two groups of columns.
    neighbours
        How many nearest released rows of each group are compared; no more than there are targets.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [30, 40, 31], "income": [10, 20, 30]})
    >>> released = pl.DataFrame({"age": [41, 29, 31], "income": [20, 11, 12]})
    >>> links(original, released, [0, 1, 2], ["age"], ["income"], 1)
    array([ True,  True, False])
    """
    columns = list(dict.fromkeys([*first, *second]))
    rows, targets = _released_and_targets(original, released, target_rows, columns)
    if targets.height == 0 or rows.height == 0:
        return np.zeros(targets.height, np.bool_)
    return _link(rows, [targets], first, second, neighbours)[0]


def _released_and_targets(
    original: Any, released: Any, target_rows: ArrayLike, columns: list[str]
) -> tuple["pl.DataFrame", "pl.DataFrame"]:
    people, rows = _as_polars(original, columns, "original"), _as_polars(released, columns, "released")
    target = np.asarray(target_rows, np.int64)
    if target.size and not 0 <= target.min() <= target.max() < people.height:
        raise InputError(
            f"target rows must be from 0 to {people.height - 1}, the rows of the original, but reach from "
            f"{target.min()} to {target.max()}. Count rows from 0"
        )
    return rows, people[target]


def _as_polars(frame: Any, columns: list[str], what: str) -> "pl.DataFrame":
    import polars as pl

    from unveil.data.table.native import series_of

    found = {series.name: series for series, _ in series_of(frame, table=f"{what} table")}
    absent = [name for name in columns if name not in found]
    if absent:
        raise InputError(f"column {absent[0]!r} is not in the {what} table. Name a column that is there")
    return pl.DataFrame({name: found[name] for name in columns})


def _link(
    released: "pl.DataFrame", people: Sequence["pl.DataFrame"], first: Sequence[str], second: Sequence[str], k: int
) -> list[BoolArray]:
    """Return the links of several sets of targets, each with scales of its own, as the package has them."""
    one, other = _groups(released, people, first), _groups(released, people, second)
    return [
        link(group, other_group, min(k, targets.height))
        for group, other_group, targets in zip(one, other, people, strict=True)
    ]


def _groups(released: "pl.DataFrame", people: Sequence["pl.DataFrame"], columns: Sequence[str]) -> list[ColumnGroup]:
    """Return the released rows beside each set of targets, in the given columns; equal rows are found only once."""
    numbers = [name for name in sorted(columns) if _is_number(released, people, name)]
    categories = [name for name in sorted(columns) if name not in numbers]
    sizes = [released.height, *(targets.height for targets in people)]
    codes = np.empty((sum(sizes), len(categories)), np.int32)
    for place, name in enumerate(categories):
        codes[:, place] = _codes([frame[name] for frame in (released, *people)])
    of_released, *of_people = np.split(codes, np.cumsum(sizes)[:-1])
    values = [[_values(frame[name]) for name in numbers] for frame in (released, *people)]
    ranks = np.empty((released.height, len(numbers)), np.int32)
    for place, column in enumerate(values[0]):
        ranks[:, place] = np.unique(column, return_inverse=True)[1]
    kept, tuple_start, row_start, row = collapse(of_released, ranks)
    groups = []
    for target_codes, target_values in zip(of_people, values[1:], strict=True):
        scaled, targets_scaled = np.empty((0, kept.size)), np.empty((0, len(target_codes)))
        if numbers:
            scaled, targets_scaled = _scale([column[kept] for column in values[0]], target_values, bool(categories))
        groups.append(
            ColumnGroup(
                codes=np.ascontiguousarray(of_released[kept[tuple_start[:-1]]].T),
                tuple_start=tuple_start,
                numbers=scaled,
                row_start=row_start,
                row=row,
                target_codes=np.ascontiguousarray(target_codes),
                target_numbers=np.ascontiguousarray(targets_scaled.T),
            )
        )
    return groups


def _is_number(released: "pl.DataFrame", people: Sequence["pl.DataFrame"], name: str) -> bool:
    kinds = [frame.schema[name] for frame in (released, *people)]
    number = [kind.is_integer() or kind.is_float() for kind in kinds]
    if len(set(number)) > 1:
        raise InputError(
            f"column {name!r} must hold numbers in all tables or in none, but is {kinds[0]} in the released table and "
            f"{kinds[number.index(not number[0])]} in another. Convert one of them"
        )
    return number[0]


def _values(series: "pl.Series") -> NDArray[Any]:
    """Return a number column in the type that pandas has for it: missing values make floats of integers."""
    import polars as pl

    if series.dtype.is_integer() and (series.null_count() or series.dtype in (pl.Int128, pl.UInt128)):
        series = series.cast(pl.Float64)
    return series.to_numpy()


def _codes(parts: Sequence["pl.Series"]) -> Int32Array:
    """Return numbers that are equal where cells are; a missing value is a cell of its own."""
    import polars as pl

    texts = [part.dtype in (pl.String, pl.Categorical, pl.Enum) for part in parts]
    if all(texts):
        whole = pl.concat([part.cast(pl.String) for part in parts]).cast(pl.Categorical).to_physical()
    elif any(texts):
        names = " and ".join(sorted({str(part.dtype) for part in parts}))
        raise InputError(f"column {parts[0].name!r} must be of one type in all tables, but is {names}. Convert one")
    else:
        whole = pl.concat([part.to_frame() for part in parts], how="vertical_relaxed").to_series().rank("dense")
    return whole.cast(pl.Int64).fill_null(-1).to_numpy() + 1


def _scale(
    released: Sequence[NDArray[Any]], targets: Sequence[NDArray[Any]], categories: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return number columns divided by their range over both, in the types that the package computes in.

    All columns of a table share one type for least and greatest values, in which the range is taken; a range of 0
    becomes 1. A column without any value in the released rows has the range of the targets, but not the reverse.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        low, other_low = _extremes(released, np.fmin), _extremes(targets, np.fmin)
        high, other_high = _extremes(released, np.fmax), _extremes(targets, np.fmax)
        span = np.where(high > other_high, high, other_high) - np.where(low < other_low, low, other_low)
        span[span == 0] = 1
        return _divide(released, span, categories), _divide(targets, span, categories)


def _extremes(columns: Sequence[NDArray[Any]], smallest: Any) -> NDArray[Any]:
    return np.array([smallest.reduce(column) for column in columns], np.result_type(*columns))


def _divide(columns: Sequence[NDArray[Any]], span: NDArray[Any], categories: bool) -> NDArray[Any]:
    """Return the columns over their spans as one matrix, in single precision only if nothing in it is double."""
    divided = [
        column / column.dtype.type(width) if column.dtype.kind == "f" else column.astype(np.float64) / float(width)
        for column, width in zip(columns, span, strict=True)
    ]
    return np.array(divided, np.float64 if categories else np.result_type(*divided))
