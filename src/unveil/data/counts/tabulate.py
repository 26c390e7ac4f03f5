"""Frequency tables made from records, with all totals."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

#: How totals are called in tables that are made here.
TOTAL = "Total"


def tabulate(people: "pl.DataFrame", variables: Sequence[str]) -> "pl.DataFrame":
    """Return the count of each combination of codes, with all totals.

    Combinations that nobody has are there too, with 0. Codes are sorted, totals stand last.

    >>> import polars as pl
    >>> people = pl.DataFrame({"ward": ["N", "N", "S"], "sex": ["f", "m", "m"]})
    >>> tabulate(people, ["ward", "sex"])["count"].to_list()
    [1, 1, 2, 0, 1, 1, 1, 2, 3]
    """
    import polars as pl

    names = list(variables)
    texts = people.select(pl.col(names).cast(pl.String).fill_null(""))
    codes = [
        pl.DataFrame({name: [*sorted(texts[name].unique().to_list()), TOTAL]}).with_row_index(f"\0{name}")
        for name in names
    ]
    grid = codes[0]
    for more in codes[1:]:
        grid = grid.join(more, how="cross")
    parts = []
    for number in range(len(names) + 1):
        for kept in combinations(names, number):
            counted = texts.group_by(kept).len() if kept else pl.DataFrame({"len": [texts.height]}, {"len": pl.UInt32})
            others = [pl.lit(TOTAL).alias(name) for name in names if name not in kept]
            parts.append(counted.with_columns(others).select(*names, pl.col("len").cast(pl.Int64).alias("count")))
    table = grid.join(pl.concat(parts), on=names, how="left")
    return table.sort([f"\0{name}" for name in names]).select(*names, pl.col("count").fill_null(0))


def with_small_hidden(table: "pl.DataFrame", minimum: int, symbol: str = "*") -> "pl.DataFrame":
    """Return a table in which counts from 1 to minimum − 1 are suppressed.

    >>> import polars as pl
    >>> with_small_hidden(pl.DataFrame({"count": [0, 3, 7]}), 5)["count"].to_list()
    ['0', '*', '7']
    """
    import polars as pl

    count = pl.col("count")
    small = (count > 0) & (count < minimum)
    return table.with_columns(pl.when(small).then(pl.lit(symbol)).otherwise(count.cast(pl.String)).alias("count"))
