"""Take the columns out of any eager DataFrame, one polars series each, whatever its cells are."""

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 5


def series_of(frame: Any, *, table: str) -> list[tuple["pl.Series", str]]:
    """Return each column under its name as text, with a remark on its cells where they are of several types, or ''."""
    import narwhals as nw

    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(
            f"the {table} must be an eager DataFrame (pandas, polars, pyarrow, …) or a file, but is a "
            f"{type(frame).__name__}. Collect or convert it first"
        ) from None
    except nw.exceptions.DuplicateError:
        labels = frame.column_names if hasattr(frame, "column_names") else frame.columns
        raise _repeated([str(label) for label in labels], table) from None
    names = [str(label) for label in eager.columns]
    if len(set(names)) < len(names):
        raise _repeated(names, table)
    return [_converted(column, name, table) for column, name in zip(eager.iter_columns(), names, strict=True)]


def _repeated(names: Sequence[str], table: str) -> InputError:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    more = f" and {len(repeated) - _SHOWN} more" if len(repeated) > _SHOWN else ""
    listed = ", ".join(map(repr, repeated[:_SHOWN]))
    return InputError(
        f"the columns of the {table} must have different names, but more than one is called {listed}{more}. "
        "Rename or remove the others"
    )


def _converted(column: Any, name: str, table: str) -> tuple["pl.Series", str]:
    import narwhals as nw
    import polars as pl

    try:
        series = column.to_polars().rename(name)
    except (ValueError, TypeError, OverflowError, NotImplementedError, pl.exceptions.PolarsError):
        # What the libraries say can hold a cell, so it is not passed on.
        return _from_objects(column.to_list(), name, table)
    dtype = series.dtype
    if dtype.is_nested():
        raise _nested(name, table)
    if isinstance(column.dtype, nw.Enum) and dtype != pl.Enum:
        levels = [str(level) for level in column.dtype.categories]
        return series.cast(pl.String).cast(pl.Enum(levels)), ""
    plain = dtype.is_numeric() or dtype.is_temporal()
    if plain or dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Binary, pl.Null):
        return series, ""
    return _from_objects(column.to_list(), name, table)


def _nested(name: str, table: str) -> InputError:
    return InputError(
        f"column {name!r} of the {table} must hold one value in each row, but holds lists or records. "
        "Spread them over columns of their own, or leave the column out"
    )


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, (float, Decimal)):
        return math.isnan(cell)
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def _from_objects(cells: list[Any], name: str, table: str) -> tuple["pl.Series", str]:
    """Return cells of any types as they are written."""
    import polars as pl

    filled = [None if _is_missing(cell) else cell for cell in cells]
    if any(isinstance(cell, (list, dict, set, tuple)) for cell in filled):
        raise _nested(name, table)
    types = sorted({type(cell).__name__ for cell in filled if cell is not None})
    text = pl.Series(name, [None if cell is None else str(cell) for cell in filled], dtype=pl.String)
    if len(types) < 2 or set(types) <= {"int", "float", "Decimal"}:
        return text, ""
    return text, f"its cells are of several types ({', '.join(types[:_SHOWN])}), compared as text"
