"""The place of each cell of a column among its different values, in their order."""

from typing import TYPE_CHECKING, Any

import numpy as np

from unveil._kernels.types import Int32Array

if TYPE_CHECKING:
    import polars as pl


def places(cells: "pl.Series") -> Int32Array:
    """Return the place of each cell among the different values in their order, from 1 on; 0 is a missing one.

    As the dense rank, which sorts all cells where only the different ones have to be.

    >>> import polars as pl
    >>> places(pl.Series(["b", None, "a", "b"])), places(pl.Series([7, None, 5, 7]))
    (array([2, 0, 1, 2], dtype=int32), array([2, 0, 1, 2], dtype=int32))
    """
    if are_close(cells):
        return places_of_close(cells)[0]
    return places_among(cells, different(cells))


def different(*parts: "pl.Series") -> "pl.Series":
    """Return the different values that are there, ascending."""
    import polars as pl

    return pl.concat([part.unique() for part in parts]).unique().drop_nulls().sort()


def places_among(cells: "pl.Series", words: "pl.Series") -> Int32Array:
    """Return the place of each cell among the words, which ascend and hold all that are there, from 1 on; 0 is missing.

    >>> import polars as pl
    >>> places_among(pl.Series(["b", None]), pl.Series(["a", "b", "c"]))
    array([2, 0], dtype=int32)
    """
    import polars as pl

    if cells.dtype == pl.String:  # looking up each cell is quicker than joining
        place = cells.cast(pl.Enum(words)).to_physical().cast(pl.Int32) + 1
        return place.fill_null(0).to_numpy()
    numbered = words.alias("word").to_frame().with_row_index("code", offset=1)
    found = cells.alias("word").to_frame().join(numbered, on="word", how="left", maintain_order="left")["code"]
    return found.fill_null(0).cast(pl.Int32).to_numpy()


def are_close(cells: "pl.Series") -> bool:
    """Return whether cells are whole numbers so close together that marking which occur is quicker than sorting."""
    if not cells.dtype.is_integer():
        return False
    low, high = cells.min(), cells.max()
    return isinstance(low, int) and isinstance(high, int) and high - low <= 4 * cells.len() and high < 2**62


def places_of_close(cells: "pl.Series") -> tuple[Int32Array, list[Any]]:
    """Return what `places` does of whole numbers close together, and these numbers."""
    import polars as pl

    low: Any = cells.min()
    above = (cells.cast(pl.Int64) - low).fill_null(0).to_numpy()
    # What is missing counts as the lowest number, which occurs anyhow.
    occurs = np.bincount(above) > 0
    codes = np.cumsum(occurs, dtype=np.int32)[above]
    if cells.null_count():
        codes[cells.is_null().to_numpy()] = 0
    return codes, (low + np.flatnonzero(occurs)).tolist()
