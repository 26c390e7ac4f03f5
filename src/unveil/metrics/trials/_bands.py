"""Subgroup of each row by one column: a value or a band."""

from datetime import datetime
from itertools import pairwise
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.data.table import Table
from unveil.data.table.coded_columns import Lookup

if TYPE_CHECKING:
    import polars as pl


MOST_BANDS = 5
#: Numbers and dates of this many different values stay as they are.
FEW_VALUES = 10
_YEAR = 365.25 * 86_400_000_000


def bands(table: Table, column: str, *, like: Table | None = None) -> tuple[str | None, ...]:
    """Return the subgroup of each row; None if the value is missing.

    A category, a text or a truth value is its own group. Numbers and dates of more than 10 different values are put
    into at most five bands that hold about as many people each. Their edges are rounded, and the outer bands are open,
    so that no one's value can be read from them.

    Parameters
    ----------
    table
        The rows to put into groups.
    column
        The column they are grouped by.
    like
        The table whose values make the bands, by default the same: for control rows the original, so that both have
        the same bands.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [*range(18, 78), None], "sex": ["f", "m", None] * 20 + ["f"]}))
    >>> sorted({band for band in bands(people, "age") if band is not None})
    ['30 to below 42', '42 to below 54', '54 to below 66', '66 and more', 'below 30']
    >>> bands(people, "sex")[:3]
    ('f', 'm', None)
    """
    groups, rows = band_lookup(table, column, like=like)
    return tuple((groups if isinstance(rows, slice) else groups.gather(rows)).to_list())


def band_lookup(table: Table, column: str, *, like: Table | None = None) -> Lookup:
    """Return the subgroup of each looked-up value, and row positions."""
    import polars as pl

    own, whole = table.column(column), like if like is not None else table
    values, rows = table.lookup(column)
    is_date = own.kind == "date"
    counted = is_date or (own.kind in ("number", "ordered") and values.dtype.is_numeric())
    if not counted or whole.values(column).n_unique() <= FEW_VALUES:
        return _texts(values), rows
    edges, names = _named(np.sort(_numbers(whole.series(column).drop_nulls())), is_date=is_date)
    place = np.searchsorted(edges, _numbers(values), side="right")
    return pl.Series(names, dtype=pl.String).gather(pl.Series(place).set(values.is_null(), None)), rows


def _texts(values: "pl.Series") -> "pl.Series":
    import polars as pl

    if values.dtype == pl.Datetime:
        return values.dt.to_string("%Y-%m-%d %H:%M:%S").str.replace(r" 00:00:00$", "")
    text = values.cast(pl.String)
    return text.str.replace(r"\.0$", "") if values.dtype.is_float() else text


def _numbers(values: "pl.Series") -> FloatArray:
    import polars as pl

    plain = values.cast(pl.Int64) if values.dtype == pl.Datetime else values
    return plain.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _named(values: FloatArray, *, is_date: bool) -> tuple[FloatArray, list[str]]:
    """Return the band edges of the sorted values, and band names."""
    raw = _quantile_edges(values)
    if is_date:
        rounded, texts = _round_dates(raw, values)
        below, between, above = "before {}", "{} to before {}", "{} and later"
    else:
        rounded, texts = _round_numbers(raw, values)
        below, between, above = "below {}", "{} to below {}", "{} and more"
    if not texts:
        return rounded, ["all values"]
    middle = [between.format(low, high) for low, high in pairwise(texts)]
    return rounded, [below.format(texts[0]), *middle, above.format(texts[-1])]


def _quantile_edges(values: FloatArray) -> FloatArray:
    """Return the quintile edges of all values."""
    distinct, first = np.unique(values, return_index=True)
    wanted = np.arange(1, MOST_BANDS) / MOST_BANDS * values.size
    return np.unique(distinct[np.minimum(np.searchsorted(first, wanted), distinct.size - 1)])


def _inside(edges: FloatArray, values: FloatArray) -> FloatArray:
    """Return the edges that have values on both sides, each once."""
    return np.unique(edges[(edges > values[0]) & (edges <= values[-1])])


def _round_numbers(edges: FloatArray, values: FloatArray) -> tuple[FloatArray, list[str]]:
    low, high = values[values.size // 10], values[-1 - values.size // 10]
    spread = high - low if high > low else values[-1] - values[0]
    # A step of at most a fiftieth of where most values lie moves few people to another band.
    power = 10.0 ** floor(log10(spread / 50))
    step = next(factor * power for factor in (5.0, 2.0, 1.0) if factor * power <= spread / 50 * (1 + 1e-9))
    # Down, so that a value which many people share stays below the edge that comes after it.
    rounded = _inside(np.floor(edges / step + 1e-9) * step, values)
    if rounded.size == 0:
        rounded = _inside(np.array([_roundest(values, edge) for edge in edges]), values)
    return rounded, [f"{edge:.12g}" for edge in rounded]


def _roundest(values: FloatArray, edge: float) -> float:
    """Return the shortest number between two values.

    It is above all values below the edge, and not above the edge.
    """
    before = values[np.searchsorted(values, edge) - 1] if edge > values[0] else edge
    for digits in range(1, 16):
        rounded = float(f"{edge:.{digits - 1}e}")
        step = 10.0 ** (floor(log10(abs(edge))) - digits + 1) if edge else 1.0
        for each in (rounded, rounded - step):
            if before < each <= edge:
                return each
    return edge


def _round_dates(edges: FloatArray, values: FloatArray) -> tuple[FloatArray, list[str]]:
    years = (values[-1] - values[0]) / _YEAR
    pattern = "%Y" if years >= 10 else "%Y-%m" if years >= 1 else "%Y-%m-%d"
    start = datetime(1970, 1, 1)
    kept: dict[float, str] = {}
    for edge in edges.tolist():
        moment = np.datetime64(int(edge), "us").astype(datetime)
        day = datetime(moment.year, moment.month if years < 10 else 1, moment.day if years < 1 else 1)
        kept[(day - start).total_seconds() * 1e6] = day.strftime(pattern) if day.year >= 1000 else str(day.date())
    rounded = _inside(np.array(list(kept)), values)
    return rounded, [kept[edge] for edge in rounded.tolist()]
