"""The combined membership score: boosting beside logistic regression, by the number of people who are learned from.

    UNVEIL_DATA=... python -m benchmarks.membership_learners [--data adult acs midst] [--sizes 300 1000] [--seeds 5]

Needs the Adult, census and MIDST files below the folder that UNVEIL_DATA names, and scikit-learn for trees. As in an
audit, n people are in the data, n others are the control: a third shows the population, a third is learned from with as
many members, and the rest is measured, at most 2,000 of each kind. Size 0 is the largest that a data set allows, up to
20,000. Every learner sees the ten scores of the same people. Intervals are from the spread of the seeds.
"""

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl
from scipy.stats import t

from benchmarks.membership import draw_from_trees, table
from benchmarks.midst import CATEGORIES, NUMBERS
from unveil._kernels.learners.boosting import Growth, boosted_scores
from unveil._kernels.types import ByteArray, FloatArray, IntArray
from unveil.attacks.table.membership_scores import SCORES, combine, score_people
from unveil.metrics.trials.membership import area_under_curve, called_at

#: At most so many of each kind are measured; rows are taken from at most so many people.
MEASURED, LARGEST = 2_000, 20_000
SIZES = (300, 1_000, 2_000, 0)
CENSUS = ("PUMA", "AGEP", "SEX", "MSP", "HISP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DPHY")
LEAF = 5
LARGE = Growth(rounds=250, leaves=12, rate=0.04)
SMALL = Growth(rounds=100, leaves=4, rate=0.05)
#: The scores of measured people, learned from members and non-members.
Learner = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
#: Draws a release of the people; the second table holds others.
Release = Callable[[pl.DataFrame, pl.DataFrame, np.random.Generator], pl.DataFrame]


def planted(share: float) -> Release:
    """Return a release of other people with a share of the people as they are."""

    def make(people: pl.DataFrame, others: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        number = round(share * people.height)
        return pl.concat([people[rng.permutation(people.height)[:number]], others[number:]])

    return make


def trees(people: pl.DataFrame, _: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return rows drawn from trees."""
    return draw_from_trees(people, rng, leaf=LEAF)


RELEASES: Mapping[str, Release] = {
    "other people": planted(0.0),
    "5% verbatim": planted(0.05),
    "20% verbatim": planted(0.2),
    "trees": trees,
}


def read(folder: Path, name: str) -> pl.DataFrame:
    """Return all people of a data set."""
    if name == "adult":
        files = [folder / "adult" / f"{part}.csv.gz" for part in ("train", "control")]
        whole = [pl.read_csv(file, infer_schema_length=None) for file in files]
        return pl.concat(whole, how="vertical_relaxed").drop("fnlwgt")
    if name == "acs":
        census = pl.read_csv(folder / "acs" / "national2019.csv.gz", infer_schema_length=0).select(CENSUS)
        return census.with_columns(pl.col("AGEP").cast(pl.Int64))
    return as_read(pl.read_parquet(folder / "midst" / "transactions.parquet"))


def as_read(rows: pl.DataFrame) -> pl.DataFrame:
    """Return transactions with numbers as floats and categories as strings."""
    return rows.select(pl.col(NUMBERS).cast(pl.Float64), pl.col(CATEGORIES).cast(pl.Int64).cast(pl.String))


def logistic(members: FloatArray, outsiders: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the score of the audit."""
    return combine(members, outsiders).score(measured)


def boosting(growth: Growth) -> Learner:
    """Return a learner of trees on the bins of the scores of those learned from."""

    def learn(members: FloatArray, outsiders: FloatArray, measured: FloatArray) -> FloatArray:
        known = np.concatenate([members, outsiders])
        edges = [np.unique(np.quantile(column, np.linspace(0, 1, 256)[1:-1])) for column in known.T]

        def bins(values: FloatArray) -> ByteArray:
            pairs = zip(edges, values.T, strict=True)
            return np.array([np.searchsorted(edge, column, "right") for edge, column in pairs], np.uint8)

        is_member = np.repeat([1, 0], [len(members), len(outsiders)])
        scores = boosted_scores(bins(known), np.zeros(len(edges), bool), is_member, bins(measured), growth)
        return scores[:, 1] - scores[:, 0]

    return learn


def both(growth: Growth) -> Learner:
    """Return a learner that adds the log odds of the regression and of trees."""

    def learn(members: FloatArray, outsiders: FloatArray, measured: FloatArray) -> FloatArray:
        return logistic(members, outsiders, measured) + boosting(growth)(members, outsiders, measured)

    return learn


LEARNERS: Mapping[str, Learner] = {
    "logistic": logistic,
    "250 trees of 12 leaves": boosting(LARGE),
    "100 trees of 4 leaves": boosting(SMALL),
    "logistic + 250 trees": both(LARGE),
    "logistic + 100 trees": both(SMALL),
}


def scored(people: pl.DataFrame, control: pl.DataFrame, released: pl.DataFrame, seed: int) -> list[FloatArray]:
    """Return the ten scores of members and non-members who are learned from, and of those who are measured."""
    part = control.height // 3
    pieces = [people[:part], control[part : 2 * part], people[part:], control[2 * part :]]
    tables = [table(each.head(size)) for each, size in zip(pieces, (part, part, MEASURED, MEASURED), strict=True)]
    found = score_people(
        released=table(released),
        population=table(control[:part]),
        people=tables,
        columns=tuple(control.columns),
        rng=np.random.default_rng(seed),
    )
    return [np.column_stack([scores[name] for name in SCORES]) for scores in found]


def differences(every: FloatArray) -> str:
    """Return the mean difference over seeds with a 95% interval."""
    half = t.ppf(0.975, every.size - 1) * every.std(ddof=1) / np.sqrt(every.size) if every.size > 1 else np.nan
    return f"{every.mean():+.3f} ± {half:.3f}"


#: People in the data, the control group, and the release.
Draw = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]


def drawn(whole: pl.DataFrame, number: int, make: Release, rng: np.random.Generator, _: int) -> Draw:
    """Return people, as many others, and a release."""
    rows: list[IntArray] = np.split(rng.permutation(whole.height)[: 3 * number], 3)
    people, control, others = (whole[each] for each in rows)
    return people, control, make(people, others, rng)


def diffusion(folder: Path, rng: np.random.Generator, seed: int) -> Draw:
    """Return the people of a train model of MIDST, as many others, and its release."""
    model = seed % 30 + 1
    everybody = pl.read_parquet(folder / "midst" / "transactions.parquet")
    saw = everybody["trained_on"].list.contains(model).to_numpy()
    inside, outside = (rng.permutation(np.flatnonzero(saw == each))[:LARGEST] for each in (True, False))
    released = pl.read_parquet(folder / "midst" / f"train-{model:03d}.parquet")
    people, control, rows = (as_read(each) for each in (everybody[inside], everybody[outside], released))
    return people, control, rows


def lines(folder: Path, name: str, size: int, seeds: range) -> Iterator[str]:
    """Yield what each learner reaches on each release."""
    whole = read(folder, name)
    number = size or min(LARGEST, whole.height // 3)
    cases: dict[str, Callable[[np.random.Generator, int], Draw]] = {
        release: partial(drawn, whole, number, make) for release, make in RELEASES.items()
    }
    if name == "midst" and number == LARGEST:
        cases["diffusion model"] = partial(diffusion, folder)
    for place, (release, case) in enumerate(cases.items()):
        figures: dict[str, list[tuple[float, float, float]]] = {learner: [] for learner in LEARNERS}
        for seed in seeds:
            parts = scored(*case(np.random.default_rng([seed, number, place]), seed), seed)
            for learner, learn in LEARNERS.items():
                start = process_time()
                inside, outside = (learn(parts[0], parts[1], each) for each in parts[2:])
                spent = process_time() - start
                area, rate = area_under_curve(inside, outside).value, called_at(inside, outside, 0.05).value
                figures[learner].append((area, rate, spent))
        base = np.array(figures["logistic"])
        for learner, found in figures.items():
            own = np.array(found)
            cells = [f"{own[:, at].mean():.3f}" for at in (0, 1)]
            if learner != "logistic":
                cells = [f"{cell} ({differences(own[:, at] - base[:, at])})" for at, cell in enumerate(cells)]
            learned = f"{number:,} | {number // 3:,} | {release} | {learner}"
            yield f"| {learned} | {' | '.join(cells)} | {own[:, 2].mean() / 2:.2f} |"


def main() -> None:
    """Print a line for each size, release, and learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", default=["adult", "acs", "midst"])
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--seeds", type=int, default=10, help="draws of people and releases; size 0 has at most 5")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    folder = Path(os.environ["UNVEIL_DATA"])
    for name in asked.data:
        print(f"\n{name}\n\n| n | learned from, of each | release | learner | AUC | TPR at 5% FPR | CPU s per group |")
        print("|---|---|---|---|---|---|---|")
        for size in asked.sizes:
            seeds = range(asked.first, asked.first + (asked.seeds if size else min(asked.seeds, 5)))
            for each in lines(folder, name, size, seeds):
                print(each, flush=True)


if __name__ == "__main__":
    main()
