"""Convert any Python table to polars series.

pandas is converted column by column, because its own way to polars needs pyarrow, which a plain install lacks.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.data.files._columns import refuse_far_moments
from unveil.data.files._panics import polars_errors, without_panic_text
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 5
#: Types whose cells, written as text, are read as one kind again.
_ALIKE = ({"int", "float", "Decimal"}, {"date", "datetime", "Timestamp"})


def series_of(frame: Any, *, table: str) -> list[tuple["pl.Series", str]]:
    """Return each column by name, with a remark on mixed types.

    Takes an eager DataFrame of any library, a lazy one (which is collected), whatever streams Arrow, a mapping of
    columns, and a list of dicts with one row each, where a key that a row lacks is a missing value. ``table`` is how
    messages call it.
    """
    taken = [taken_column(column, name, table) for name, column in columns_of(frame, table=table).items()]
    lengths = [series.len() for series, _ in taken]
    if len(set(lengths)) > 1:
        raise InputError(
            f"the columns of the {table} have between {min(lengths)} and {max(lengths)} values. "
            "Pass columns of the same length"
        )
    return taken


def columns_of(frame: Any, *, table: str) -> dict[str, Any]:
    """Return the columns by name, in their library's form."""
    if isinstance(frame, Mapping):
        labels, columns = list(frame), list(frame.values())
        for label, column in frame.items():
            if not _is_column(column):
                raise InputError(
                    f"column {str(label)!r} of the {table} must be a list, an array or a series, but is a "
                    f"{type(column).__name__}. Pass one value for each row"
                )
    elif isinstance(frame, list) and frame and all(isinstance(row, Mapping) for row in frame):
        labels = list(dict.fromkeys(label for row in frame for label in row))
        columns = [[row.get(label) for row in frame] for label in labels]
    else:
        eager = _eager(frame, table)
        labels, columns = eager.columns, list(eager.iter_columns())
    return dict(zip(_different([str(label) for label in labels], table), columns, strict=True))


def is_one_table(given: Any) -> bool:
    """Return whether a mapping or list is one table, not several.

    >>> is_one_table({"age": [31, 40]}), is_one_table([{"age": 31}, {"age": 40}]), is_one_table([{"age": [31, 40]}])
    (True, True, False)
    """
    if isinstance(given, Mapping):
        return any(map(_is_column, given.values()))
    return bool(given) and all(isinstance(row, Mapping) for row in given) and not is_one_table(given[0])


def typed_series(column: Any) -> "pl.Series | None":
    """Return a column as a polars series, or None for mixed cells.

    >>> typed_series([31, None, 40.5]).to_list(), typed_series([31, "x"])
    ([31.0, None, 40.5], None)
    """
    import polars as pl

    # What the libraries say can hold a cell, so it is not passed on.
    with suppress(ValueError, TypeError, OverflowError, NotImplementedError, *polars_errors()), without_panic_text():
        series = _series(column)
        dtype = pl.Object() if series is None else series.dtype
        plain = dtype.is_numeric() or dtype.is_temporal()
        if plain or dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Binary, pl.Null):
            return series
    return None


def _is_column(values: Any) -> bool:
    if isinstance(values, (list, tuple)) and values and isinstance(values[0], Mapping):
        return False
    listed = isinstance(values, Sequence) and not isinstance(values, (str, bytes))
    return (listed or hasattr(values, "__array__")) and not hasattr(values, "columns")


def _different(names: list[str], table: str) -> list[str]:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        more = f" and {len(repeated) - _SHOWN} more" if len(repeated) > _SHOWN else ""
        raise InputError(
            f"the columns of the {table} must have different names, but more than one is called "
            f"{', '.join(map(repr, repeated[:_SHOWN]))}{more}. Rename or remove the duplicates"
        )
    return names


def _eager(frame: Any, table: str) -> Any:
    """Return a frame of narwhals with all rows in memory."""
    import narwhals as nw
    import polars as pl

    found = None
    with suppress(TypeError):
        try:
            found = nw.from_native(frame)
        except nw.exceptions.DuplicateError:
            labels = frame.column_names if hasattr(frame, "column_names") else frame.columns
            _different([str(label) for label in labels], table)
    if isinstance(found, nw.DataFrame):
        return found
    try:
        # This way first: DuckDB's own way to polars needs pyarrow.
        if hasattr(frame, "__arrow_c_stream__"):
            return nw.from_native(pl.DataFrame(frame))
        if found is not None:
            return found.collect("polars")
    except Exception as error:  # any library may be behind it, and what it says can hold a cell
        raise InputError(
            f"the {table} must be a table that can be read to its end, but this {type(frame).__name__} stopped with a "
            f"{type(error).__name__}. Collect it first, and pass the result"
        ) from None
    is_path = isinstance(frame, str) or hasattr(frame, "__fspath__")
    raise InputError(
        f"the {table} must be a DataFrame (pandas, polars, pyarrow, …), a list of dicts or a mapping of columns, but "
        f"is a {type(frame).__name__}. {'Read it with unveil.Table.read' if is_path else 'Convert it'} first"
    )


def taken_column(column: Any, name: str, table: str) -> tuple["pl.Series", str]:
    """Return one column under a name, with a remark on its cells."""
    series = typed_series(column)
    if series is not None:
        series = series.rename(name)
        refuse_far_moments(series, f"the {table}")
        return series, ""
    dtype = getattr(column, "dtype", None)
    if getattr(dtype, "is_nested", bool)():  # its cells need not even be such that Python can hold them
        raise _nested(name, table)
    try:
        cells = _cells(column)
    except (ValueError, OverflowError, RuntimeError):
        raise InputError(  # what the library says can hold a cell
            f"column {name!r} of the {table} must hold values that Python can hold, but does not: a time zone may be "
            "unknown or a date out of range. Convert it to UTC or to text"
        ) from None
    return _as_text(cells, name, table)


def _series(column: Any) -> "pl.Series | None":
    """Return a column as polars has it, or None for mixed types."""
    import narwhals as nw
    import polars as pl

    column = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        return _from_pandas(column) if column.implementation.is_pandas_like() else column.to_polars()
    if isinstance(column, np.ndarray) and not isinstance(column, np.ma.MaskedArray):
        return _from_array(column)
    return pl.Series(column) if hasattr(column, "__arrow_c_array__") else _from_cells(_cells(column))


def _from_pandas(column: Any) -> "pl.Series | None":
    import polars as pl

    if getattr(column.dtype, "time_zone", None) is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    native = column.to_native()
    dtype = native.dtype
    if hasattr(dtype, "pyarrow_dtype"):  # and so pyarrow is there
        return column.to_polars()  # type: ignore[no-any-return]
    if isinstance(dtype, np.dtype):
        return _from_array(native.to_numpy())
    if hasattr(dtype, "categories"):
        return _from_codes(native)
    if hasattr(dtype, "numpy_dtype"):
        values = pl.Series(native.to_numpy(dtype=dtype.numpy_dtype, na_value=0))
        return pl.select(pl.when(pl.Series(native.notna().to_numpy())).then(values)).to_series()
    return _from_cells(_cells(native))


def _from_codes(native: Any) -> "pl.Series | None":
    """Return pandas categories, ordered if they are."""
    import polars as pl

    codes = pl.Series(native.cat.codes.to_numpy().astype(np.int64))
    levels = [str(level) for level in native.cat.categories]
    values = (
        pl.Series(levels, dtype=pl.Enum(levels)) if native.cat.ordered else _from_cells(_cells(native.cat.categories))
    )
    return None if values is None else values.gather(pl.select(pl.when(codes >= 0).then(codes)).to_series())


def _from_array(values: np.ndarray[Any, Any]) -> "pl.Series | None":
    import polars as pl

    kind = values.dtype.kind
    if values.ndim != 1 or kind not in "biufmM":
        return _from_cells(_cells(values))
    if kind in "mM" and np.datetime_data(values.dtype)[0] not in ("ms", "us", "ns"):
        values = values.astype(f"{kind}8[ms]")
    return pl.Series(values)


def _cells(column: Any) -> list[Any]:
    """Return the cells as Python has them, None for each that is missing."""
    listed = getattr(column, "to_list", None) or getattr(column, "tolist", None)
    cells = list(column) if listed is None else listed()
    never_missing = set(map(type, cells)) <= {str, int, bool, type(None)}
    return cells if never_missing else [_plain(cell) for cell in cells]


def _plain(cell: Any) -> Any:
    if isinstance(cell, np.generic):
        # Nanoseconds would become whole numbers.
        cell = (cell.astype(f"{cell.dtype.kind}8[us]") if cell.dtype.kind in "mM" else cell).item()
    if isinstance(cell, (float, Decimal)):
        return None if math.isnan(cell) else cell
    return None if type(cell).__name__ in ("NAType", "NaTType") else cell


def _from_cells(cells: list[Any]) -> "pl.Series | None":
    """Return cells of one type, or None for several."""
    import polars as pl

    types = {type(cell) for cell in cells if cell is not None}
    if types == {int, float}:
        return pl.Series([None if cell is None else float(cell) for cell in cells])
    if types and all(issubclass(each, datetime) for each in types):
        # As in files: moments with a zone are told in UTC, and those without one are taken to be.
        return pl.Series([_in_utc(cell) for cell in cells], dtype=pl.Datetime("us"))
    return pl.Series(cells) if len(types) < 2 else None


def _in_utc(moment: datetime | None) -> datetime | None:
    return moment if moment is None or moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def _as_text(cells: list[Any], name: str, table: str) -> tuple["pl.Series", str]:
    """Return cells of any types as they are written."""
    import polars as pl

    if any(isinstance(cell, (list, dict, set, tuple, np.ndarray)) for cell in cells):
        raise _nested(name, table)
    types = sorted({type(cell).__name__ for cell in cells if cell is not None})
    text = pl.Series(name, [None if cell is None else str(cell) for cell in cells], dtype=pl.String)
    if len(types) < 2 or any({*types} <= alike for alike in _ALIKE):
        return text, ""
    return text, f"its cells are of several types ({', '.join(types[:_SHOWN])}), compared as text"


def _nested(name: str, table: str) -> InputError:
    return InputError(
        f"column {name!r} of the {table} must hold one value in each row, but holds lists or records. "
        "Spread them over columns of their own, or leave the column out"
    )
