"""Read and encode data frames as anonymeter 1.1.0 does."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import Int32Array, IntArray
from unveil.anonymeter.nearest_rows import ColumnGroup, collapse
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def frames_of(syn: Any, ori: Any, control: Any, columns: Sequence[str] | None = None) -> list["pl.DataFrame"]:
    """Return these columns of the synthetic, original, and control tables."""
    import polars as pl

    from unveil.data.table.native import series_of

    frames = []
    for frame, what in ((syn, "synthetic"), (ori, "original"), (control, "control"))[: 2 if control is None else 3]:
        found = {series.name: series for series, _ in series_of(frame, table=f"{what} table")}
        absent = [name for name in columns or () if name not in found]
        if absent:
            raise InputError(f"column {absent[0]!r} is not in the {what} table. Name a column that is there")
        frames.append(pl.DataFrame({name: found[name] for name in (found if columns is None else columns)}))
    return frames


def sample_rows(frame: "pl.DataFrame", size: int) -> IntArray:
    """Return rows from numpy's global generator, the ones that pandas samples after ``numpy.random.seed``."""
    if frame.height == 0:
        raise InputError("there must be rows to attack and to attack with, but a table has none. Pass one with rows")
    return np.random.choice(frame.height, size, replace=False)  # noqa: NPY002


def column_groups(
    released: "pl.DataFrame", people: Sequence["pl.DataFrame"], columns: Sequence[str]
) -> list[ColumnGroup]:
    """Return released rows by column set, with equal rows collapsed."""
    numbers = [name for name in sorted(columns) if is_number([frame[name] for frame in (released, *people)])]
    categories = [name for name in sorted(columns) if name not in numbers]
    sizes = [released.height, *(targets.height for targets in people)]
    codes = np.empty((sum(sizes), len(categories)), np.int32)
    for place, name in enumerate(categories):
        codes[:, place] = column_codes([frame[name] for frame in (released, *people)])
    of_released, *of_people = np.split(codes, np.cumsum(sizes)[:-1])
    values = [[number_cells(frame[name]) for name in numbers] for frame in (released, *people)]
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


def is_number(parts: Sequence["pl.Series"]) -> bool:
    """Return whether a column is numeric in all tables or none."""
    kinds = [part.dtype for part in parts]
    number = [kind.is_integer() or kind.is_float() for kind in kinds]
    if len(set(number)) > 1:
        raise InputError(
            f"column {parts[0].name!r} must hold numbers in all tables or in none, but is {kinds[0]} in the "
            f"synthetic table and "
            f"{kinds[number.index(not number[0])]} in another. Convert one of them"
        )
    return number[0]


def number_cells(series: "pl.Series") -> NDArray[Any]:
    """Return a number column in its pandas type."""
    import polars as pl

    if series.dtype.is_integer() and (series.null_count() or series.dtype in (pl.Int128, pl.UInt128)):
        series = series.cast(pl.Float64)
    return series.to_numpy()


def column_codes(parts: Sequence["pl.Series"]) -> Int32Array:
    """Return codes that are equal for equal cells; missing has a code."""
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
    """Return number columns over their joint range, in the package's types.

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
    """Return columns over their spans as a matrix, double if any is."""
    divided = [
        column / column.dtype.type(width) if column.dtype.kind == "f" else column.astype(np.float64) / float(width)
        for column, width in zip(columns, span, strict=True)
    ]
    return np.array(divided, np.float64 if categories else np.result_type(*divided))
