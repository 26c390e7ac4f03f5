"""Noisy counts of people in cells, and rows drawn from them.

Which cells there are must not hang on who is in the table: it comes from a domain that is given. Where none is, the
values of the table are taken for it, and what epsilon promises holds for people with such values only.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Table
from unveil.data.table.forms import in_form, normal
from unveil.data.table.release import Release
from unveil.errors import InputError, share, whole_number
from unveil.protections.table._mechanism import value_numbers
from unveil.protections.table._release import release_of, released_columns

if TYPE_CHECKING:
    import polars as pl

Domain = Mapping[str, Iterable[Any]]
#: More cells than this are not counted: they would be noise, and fill the memory.
MOST_CELLS = 10**6
#: Numbers and dates with more values than this are cut in as many parts, or in fewer where these do not fit.
_MOST_PARTS = 64


def check_settings(epsilon: object, noise: object, rows: object, domain: object) -> None:
    """Refuse settings that cannot be."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)) or not 0 < epsilon < inf:
        raise InputError(f"epsilon is {epsilon!r}; it must be a number above 0. Take 1 as a start")
    share(noise, "noise", advice="Take 1, the full noise")
    if rows is not None:
        whole_number(rows, "rows", advice="Leave it out for as many as there are")
    if domain is not None and not isinstance(domain, Mapping):
        raise InputError("domain does not give the values of columns by name. Write domain={'sex': ['f', 'm', None]}")


@dataclass(frozen=True, eq=False, repr=False)
class ColumnLevels:
    """Levels of a column, missing last, and each row's level.

    Levels are values or bins of equal width.

    ``values`` are all values of the domain in ascending order; ``parts`` says in how many parts their range is cut, or
    is None where each value is a level.
    """

    values: "pl.Series"
    with_missing: bool
    parts: int | None
    level: IntArray

    @property
    def size(self) -> int:
        """How many levels there are."""
        return (self.values.len() if self.parts is None else self.parts) + self.with_missing

    def series(self, levels: IntArray, rng: np.random.Generator) -> "pl.Series":
        """Return a value per level, uniform within bins."""
        import polars as pl

        missing = levels == self.size - 1 if self.with_missing else np.zeros(levels.size, np.bool_)
        if self.parts is None:
            index = pl.Series(levels, dtype=pl.Int64)
            return self.values.gather(index.set(pl.Series(missing), None))
        inside = EqualWidthBins.of(self.values, self.parts).draw(np.where(missing, 0, levels), rng)
        return pl.Series(inside).cast(self.values.dtype).set(pl.Series(missing), None)


@dataclass(frozen=True, eq=False, repr=False)
class EqualWidthBins:
    """A range of numbers cut into bins of equal width.

    Whole numbers, and dates as counts of microseconds, lie on a grid that begins at the lowest and has the greatest
    step that meets all values of the domain: days stay days, and hundreds hundreds. They are numbered on it.
    """

    low: Any
    step: int
    borders: NDArray[Any]

    @classmethod
    def of(cls, values: "pl.Series", parts: int) -> "EqualWidthBins":
        """Return the parts of the range of ascending values."""
        numbers = _as_numbers(values)
        if numbers.dtype == np.float64:
            at = np.arange(parts + 1) / parts
            # Weighed, not subtracted: a range may be wider than the largest float.
            return cls(numbers[0], 0, numbers[0] * (1 - at) + numbers[-1] * at)
        # Differences of ascending whole numbers are correct as unsigned ones, however far apart they are.
        apart = np.diff(numbers.view(np.uint64))
        step = int(np.gcd.reduce(apart))
        many = (int(numbers[-1]) - int(numbers[0])) // step + 1
        return cls(numbers[0], step, np.array([many * part // parts for part in range(parts)] + [many - 1], np.uint64))

    def place(self, numbers: NDArray[Any]) -> IntArray:
        """Return the part of each number, which must lie in the range."""
        if self.step:
            numbers = (numbers.view(np.uint64) - self.low.view(np.uint64)) // np.uint64(self.step)
        return np.searchsorted(self.borders[1:-1], numbers, side="right").astype(np.int64)

    def draw(self, parts: IntArray, rng: np.random.Generator) -> NDArray[Any]:
        """Return a number of each part."""
        low, high = self.borders[parts], self.borders[parts + 1]
        if not self.step:
            at = rng.random(parts.size)
            return np.asarray(low * (1 - at) + high * at)
        # A part ends before the next begins; the last ends at the highest number.
        last = high - (parts < self.borders.size - 2).astype(np.uint64)
        place = rng.integers(low, last, dtype=np.uint64, endpoint=True)
        return np.asarray(place * np.uint64(self.step) + self.low.view(np.uint64)).view(np.int64)


def axes_of(
    original: Table, domain: Domain | None, cells: Callable[[Sequence[int]], int], what: str, instead: str = ""
) -> list[ColumnLevels]:
    """Return the levels of released columns, within the cell limit.

    ``cells`` says how many cells the largest table of counts has where columns have this many levels; ``instead`` is
    what else can be done where these are too many.
    """
    names = released_columns(original)
    for name in domain or {}:
        original.column(name)
    values = [_domain(original, name, domain) for name in names]
    cut = [original.column(name).kind in ("number", "date") for name in names]

    def sizes(at_most: int) -> list[int]:
        return [
            (min(each.len(), at_most) if is_cut else each.len()) + gap
            for (each, gap), is_cut in zip(values, cut, strict=True)
        ]

    parts = next((most for most in range(_MOST_PARTS, 1, -1) if cells(sizes(most)) <= MOST_CELLS), None)
    if parts is None:
        raise InputError(
            f"{what} counts people in at most {MOST_CELLS:,} cells, but the columns of the {original.name} need "
            f"{cells(sizes(2)):,}, even with numbers and dates cut in two. Leave out columns with many values, "
            f"generalize them first{instead}"
        )
    return [
        _axis(original, name, each, gap, parts if is_cut and each.len() > parts else None)
        for name, (each, gap), is_cut in zip(names, values, cut, strict=True)
    ]


def _domain(original: Table, name: str, domain: Domain | None) -> tuple["pl.Series", bool]:
    """Return a column's domain, ascending, and whether missing belongs to it."""
    import polars as pl

    column, own = original.column(name), original.series(name).alias("values")
    if domain is None or name not in domain:
        return own.drop_nulls().unique().sort(), column.missing > 0
    try:
        told = pl.Series("values", list(domain[name]), strict=False)
        form = own.dtype.categories.to_list() if isinstance(own.dtype, pl.Enum) else column.kind
        found = in_form(normal(told, "domain"), form) if told.null_count() < told.len() else told.cast(own.dtype)
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise _no_domain(name, column.kind) from error
    if told.is_empty() or found.null_count() > told.null_count():
        raise _no_domain(name, column.kind)
    return found.drop_nulls().unique().sort(), found.null_count() > 0


def _no_domain(name: str, kind: str) -> InputError:
    return InputError(
        f"the domain of column {name!r} is not a list of values of type {kind}, with None where cells may be "
        "missing. Write domain={'sex': ['f', 'm', None]}"
    )


def _axis(original: Table, name: str, values: "pl.Series", gap: bool, parts: int | None) -> ColumnLevels:
    """Return a column's levels; raise InputError outside the domain."""
    column = original.series(name).alias("values")
    if parts is None:
        level = value_numbers(values, column)
        outside = level > values.len() - (not gap)
    else:
        column = column.cast(values.dtype) if values.dtype.is_float() else column
        outside = ((column < values[0]) | (column > values[-1])).fill_null(not gap).to_numpy()
        inside = column.clip(values[0], values[-1]).fill_null(values[0]).cast(values.dtype)
        level = EqualWidthBins.of(values, parts).place(_as_numbers(inside))
        level = np.where(column.is_null().to_numpy(), parts, level)
    if outside.any():
        raise InputError(
            f"column {name!r} of the {original.name} has a value outside its domain in row "
            f"{int(np.flatnonzero(outside)[0]) + 1} (counted from 1 below the header). Add the possible values "
            "to the domain, None for missing cells, or leave out such rows"
        )
    return ColumnLevels(values, gap, parts, level)


def _as_numbers(values: "pl.Series") -> NDArray[Any]:
    """Return numbers or dates as int64, or else as float64."""
    import polars as pl

    whole = values.dtype in (pl.Int64, pl.Datetime)
    return values.cast(pl.Int64 if whole else pl.Float64).to_numpy()


def counts_of(axes: Sequence[ColumnLevels]) -> FloatArray:
    """Return how many rows have each combination of levels."""
    shape = tuple(axis.size for axis in axes)
    place = np.ravel_multi_index(tuple(axis.level for axis in axes), shape)
    return np.bincount(place, minlength=prod(shape)).reshape(shape).astype(np.float64)


def drawn_cells(weights: FloatArray, line: IntArray, rng: np.random.Generator) -> IntArray:
    """Return a random position per line, by weights or uniformly."""
    width = weights.shape[1]
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, 1.0)
    upto = np.cumsum(weights).reshape(weights.shape)
    begin = np.append(0.0, upto[:-1, -1])[line]
    asked = begin + rng.random(line.size) * (upto[line, -1] - begin)
    place: IntArray = np.searchsorted(upto.ravel(), asked, side="right") - line * width
    # Rounding must not lead into another line.
    return place.clip(0, width - 1)


def noisy_release(
    original: Table,
    axes: Sequence[ColumnLevels],
    levels: Sequence[IntArray],
    *,
    name: str,
    epsilon: float,
    noise: float,
    domain: Domain | None,
    rng: np.random.Generator,
) -> Release:
    """Return the release of drawn levels, with notes on epsilon."""
    import polars as pl

    names = released_columns(original)
    frame = pl.DataFrame(
        [axis.series(drawn, rng).alias(each) for each, axis, drawn in zip(names, axes, levels, strict=True)]
    )
    notes = []
    own = [each for each in names if each not in (domain or {})]
    if own:
        notes.append(
            f"the values of {_listed(own)} were taken from the table itself, so epsilon = {epsilon:g} holds only for "
            "people whose values occur anyhow"
        )
    cut = [each for each, axis in zip(names, axes, strict=True) if axis.parts is not None]
    if cut:
        notes.append(
            f"the values of {_listed(cut)} were drawn within {axes[names.index(cut[0])].parts} parts of equal width"
        )
    if noise != 1:
        true = f"{epsilon / noise:g}" if noise else "infinite"
        notes.append(
            f"only {noise:g} of the required noise was added, so the true epsilon is {true}: a deliberate fault"
        )
    return release_of(original, frame, name=name, kind="synthetic", rng=rng, notes=tuple(notes), even_markers=True)


def _listed(names: Sequence[str]) -> str:
    return f"{'column' if len(names) == 1 else 'columns'} {', '.join(map(repr, names))}"
