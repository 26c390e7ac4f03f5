"""The frozen setting of `benchmarks.midst` on a second set: releases of generators of other families, made here.

    UNVEIL_DATA=... python -m benchmarks.midst_second [--try]

Needs the MIDST transactions below the folder that UNVEIL_DATA names, and scikit-learn. 23 disjoint samples of 20,000
transactions give 23 releases of each generator: a Gaussian copula, and trees with at least 5 rows in a leaf, each as it
is and with amounts and balances moved by 2% of their deviation. Ten releases are measured on 200 members and 200
non-members each; the other 13, with 600 of each, teach. Non-members are from the other samples. Siblings are the
releases of the same generator that did not see the person, 21 for each. All settings were fixed before the only run.
``--try`` tests the script on other, small samples and prints no result.
"""

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl

from benchmarks.membership import draw_from_trees
from benchmarks.midst import (
    CATEGORIES,
    COLUMNS,
    HEAD,
    NUMBERS,
    Points,
    boosting,
    line,
    log_distances,
    logistic,
    scalings,
    sibling_features,
    ten_scores,
)
from unveil._kernels.types import FloatArray
from unveil.data.table import Table
from unveil.protections import GaussianCopula

#: Fixed beforehand.
LEAF, MOVED, SEED = 5, 0.02, 20_000


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many releases, rows, and people; those who teach come after those who are measured."""

    rows: int = 20_000
    releases: int = 23
    measured: int = 10
    scored: int = 200
    teaching: int = 600
    seed: int = SEED


SMALL = Plan(rows=900, releases=6, measured=3, scored=40, teaching=60, seed=1)
#: Draws the rows of a release from its transactions.
Generator = Callable[[pl.DataFrame, np.random.Generator], pl.DataFrame]


def copula(people: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return rows of a Gaussian copula."""
    kinds = {**dict.fromkeys(NUMBERS, "number"), **dict.fromkeys(CATEGORIES, "category")}
    return GaussianCopula().apply(Table.from_frame(with_names(people), kinds=kinds), rng=rng).released.frame


def trees(people: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return rows drawn from trees, column by column."""
    return draw_from_trees(with_names(people), rng, leaf=LEAF)


def moved(generator: Generator) -> Generator:
    """Return a generator that moves amounts and balances by a normal error, so that no value is repeated."""

    def make(people: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        rows = generator(people, rng)
        spread = {name: float(people[name].to_numpy().std()) for name in ("amount", "balance")}
        errors = {name: rng.normal(0, MOVED * each, rows.height) for name, each in spread.items()}
        return rows.with_columns(*[(pl.col(name) + pl.Series(error)).alias(name) for name, error in errors.items()])

    return make


GENERATORS: Mapping[str, Generator] = {
    "copula": copula,
    "copula, moved": moved(copula),
    "trees": trees,
    "trees, moved": moved(trees),
}


def with_names(people: pl.DataFrame) -> pl.DataFrame:
    """Return numbers as floats and categories as strings."""
    return people.select(pl.col(NUMBERS).cast(pl.Float64), pl.col(CATEGORIES).cast(pl.Int64).cast(pl.String))


def samples(everybody: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Return the transactions of all samples, with the release that saw each."""
    some = everybody.sample(plan.rows * plan.releases, shuffle=True, seed=plan.seed).select(COLUMNS)
    saw = pl.Series("trained_on", np.repeat(np.arange(plan.releases), plan.rows))
    return some.with_columns(saw.reshape((-1, 1)).cast(pl.List(pl.Int64)).alias("trained_on"))


def points(everybody: pl.DataFrame, plan: Plan) -> Points:
    """Return the people who are scored; "challenge" are those of the measured releases."""
    rng = np.random.default_rng(plan.seed)
    saw = np.repeat(np.arange(plan.releases), plan.rows)
    drawn, model, member = [], [], []
    for each in range(plan.releases):
        number = plan.scored if each < plan.measured else plan.teaching
        for is_in in (True, False):
            drawn.append(rng.choice(np.flatnonzero((saw == each) == is_in), number, replace=False))
            model.append(np.full(number, each))
            member.append(np.full(number, is_in))
    rows, of = np.concatenate(drawn), np.concatenate(model)
    return Points(
        everybody[rows].select(pl.col(COLUMNS).cast(pl.Float64)),
        of,
        np.concatenate(member),
        of < plan.measured,
        saw[rows, None] == np.arange(plan.releases),
    )


def lines(everybody: pl.DataFrame, plan: Plan) -> Iterator[str]:
    """Yield the lines of each generator."""
    people = points(everybody, plan)
    numbers, siblings = list(range(plan.releases)), plan.releases - 2
    teaching, measured = ~people.challenge, people.some(people.challenge)
    scaled = scalings(everybody.select(pl.col(COLUMNS).cast(pl.Float64)))
    data = list(everybody.select(COLUMNS).iter_slices(plan.rows))
    for place, (name, generator) in enumerate(GENERATORS.items()):
        start = process_time()
        released = {
            each: generator(data[each], np.random.default_rng([plan.seed, place, each])).with_columns(
                pl.col(CATEGORIES).cast(pl.Float64)
            )
            for each in numbers
        }
        made = process_time() - start
        near = [log_distances(released, people.rows, *each) for each in scaled.values()]
        ten = ten_scores(released, people, everybody, np.random.default_rng([plan.seed, 3]))
        table = sibling_features(near, people, numbers, siblings)
        own = near[0][np.arange(people.model.size), people.model, 0]
        both = np.column_stack([ten, table])

        def score(learner: Callable[..., FloatArray], values: FloatArray) -> FloatArray:
            return learner(values[teaching], people.member[teaching], values[~teaching])

        yield line(f"{name}: own distance, one scaling | none", own[~teaching], measured)
        yield line(f"{name}: difference, {siblings} siblings | none", table[~teaching, 0], measured)
        yield line(f"{name}: ten | logistic", score(logistic, ten), measured)
        yield line(f"{name}: ten | boosting", score(boosting, ten), measured)
        yield line(f"{name}: ten + {siblings} siblings | logistic", score(logistic, both), measured)
        yield line(f"{name}: ten + {siblings} siblings (frozen) | boosting", score(boosting, both), measured)
        yield f"<!-- {name}: releases {made:.0f} s, attack {process_time() - start - made:.0f} s of CPU -->"


def main() -> None:
    """Make the releases and score them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--try", action="store_true", dest="small", help="test the script on other, small samples")
    plan = SMALL if parser.parse_args().small else Plan()
    everybody = samples(pl.read_parquet(Path(os.environ["UNVEIL_DATA"]) / "midst" / "transactions.parquet"), plan)
    if plan is SMALL:
        print(f"{sum(1 for _ in lines(everybody, plan))} lines made")
        return
    print(HEAD)
    for each in lines(everybody, plan):
        print(each, flush=True)


if __name__ == "__main__":
    main()
