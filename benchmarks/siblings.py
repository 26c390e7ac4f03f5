"""Sibling releases: how often tests flag harmless releases of census records, and how often they find leaks.

    UNVEIL_DATA=... python -m benchmarks.siblings [--repeats 300] [--powers 60] [--only NAME ...] [--speed]

Needs the census files below the folder that UNVEIL_DATA names. Every release has 300 rows, made from 300 people in 11
columns. A generator draws the columns one by one, or as a chain (each from people with the same value in the column
before), and copies a share of its people. Data sets are disjoint draws unless the case says otherwise. Harmless means
that the people of the test were used for no release. ``--speed`` measures one release with 44 siblings of 20,000 rows.
"""

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import polars as pl

from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks.table.sibling_calibration import COPY, nearness_to_releases
from unveil.data.table import Table
from unveil.metrics.verdict.siblings import (
    LEVEL,
    assignment_test,
    population_check,
    sibling_figures,
    sibling_test,
)
from unveil.protections.table.mondrian import Mondrian
from unveil.questions.audit.reference.read import as_middles

COLUMNS = (
    "PUMA", "AGEP", "SEX", "MSP", "HISP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DPHY",
)  # fmt: skip
PEOPLE, SIBLINGS = 300, 22
#: The columns that are masked in classes.
MASKED = ("PUMA", "AGEP", "RAC1P", "EDU", "PINCP_DECILE")
#: Draws the rows of a release from the codes of its people.
Generator = Callable[[IntArray, np.random.Generator], IntArray]
#: Runs a case once: whether each of its outcomes came about.
Run = Callable[[np.random.Generator], tuple[bool, ...]]


@dataclass(frozen=True)
class Case:
    """One line: a number of repeats (of nulls or of powers), and what happens in one."""

    name: str
    is_null: bool
    run: Run
    outcomes: tuple[str, ...] = ("flagged",)


@dataclass(frozen=True, eq=False)
class Census:
    """Census records as numbers: the place of each value among all; ages are themselves."""

    codes: IntArray
    age: IntArray

    def draw(self, sizes: int, rng: np.random.Generator, weight: FloatArray | None = None) -> list[IntArray]:
        """Return the records of disjoint data sets of 300 people."""
        chance = None if weight is None else weight / weight.sum()
        rows = rng.choice(len(self.codes), sizes * PEOPLE, replace=False, p=chance)
        return np.split(self.codes[rows], sizes)


def read(folder: Path) -> dict[str, Census]:
    """Return the records of each file with the same codes."""
    frames = {
        name: pl.read_csv(folder / "acs" / f"{name}2019.csv.gz", infer_schema_length=0).select(COLUMNS)
        for name in ("national", "ma", "tx")
    }
    whole = pl.concat(list(frames.values()))
    coded = np.column_stack(
        [whole[name].cast(pl.Int64) if name == "AGEP" else whole[name].rank("dense").cast(pl.Int64) for name in COLUMNS]
    )
    parts = np.split(coded, np.cumsum([frame.height for frame in frames.values()])[:-1])
    return {name: Census(part, part[:, COLUMNS.index("AGEP")]) for name, part in zip(frames, parts, strict=True)}


def columns(people: IntArray, rng: np.random.Generator) -> IntArray:
    """Return rows whose cells are drawn column by column."""
    return np.column_stack([rng.choice(column, len(people)) for column in people.T])


def chain(people: IntArray, rng: np.random.Generator) -> IntArray:
    """Return rows whose cells are drawn from people with the same value in the column before."""
    rows = np.empty_like(people)
    rows[:, 0] = rng.choice(people[:, 0], len(people))
    for place in range(1, people.shape[1]):
        order = np.argsort(people[:, place - 1], kind="stable")
        ascending = people[order, place - 1]
        low, high = (np.searchsorted(ascending, rows[:, place - 1], side=side) for side in ("left", "right"))
        rows[:, place] = people[order[rng.integers(low, high)], place]
    return rows


def copying(generator: Generator, share: float) -> Generator:
    """Return a generator that replaces a share of its rows by its people."""

    def make(people: IntArray, rng: np.random.Generator) -> IntArray:
        rows = generator(people, rng)
        number = round(share * len(people))
        rows[rng.permutation(len(rows))[:number]] = people[rng.permutation(len(people))[:number]]
        return rows

    return make


def table(rows: IntArray) -> Table:
    """Return coded rows as a table with ages as numbers."""
    data = {
        name: column if name == "AGEP" else column.astype(str) for name, column in zip(COLUMNS, rows.T, strict=True)
    }
    kinds = {name: "number" if name == "AGEP" else "category" for name in COLUMNS}
    return Table.from_frame(pl.DataFrame(data), kinds=kinds)


def released(generator: Generator, data: list[IntArray], rng: np.random.Generator) -> list[Table]:
    """Return one release of each data set."""
    return [table(generator(each, rng)) for each in data]


def is_flagged(people: IntArray, releases: list[Table]) -> bool:
    """Return whether the test of section 1.3 flags the first release."""
    scores = nearness_to_releases(releases, table(people), COLUMNS, ranks=[1])[:, :, 0]
    return sibling_test(sibling_figures(scores, scores == COPY)).p <= LEVEL


def release_case(census: Census, generator: Generator, *, harmless: bool, shared: float = 0) -> Run:
    """Return a case of the test for one release; siblings may have seen a share of its people."""

    def run(rng: np.random.Generator) -> tuple[bool]:
        data = census.draw(SIBLINGS + 2, rng)
        people, own, others = (data[0] if harmless else data[1]), data[1], data[2:]
        number = round(shared * PEOPLE)
        for each in others if number else ():
            each[:number] = people[rng.permutation(PEOPLE)[:number]]
        return (is_flagged(people, released(generator, [own, *others], rng)),)

    return run


def in_classes(people: IntArray, rng: np.random.Generator) -> Table:
    """Return people in classes of at least three, with bands and sets that differ by release."""
    return Mondrian(columns=MASKED, k=3, cells=True).apply(table(people), rng=rng).released


def masked_case(census: Census, *, harmless: bool) -> Run:
    """Return a case of masked releases: whether they are withheld, and flagged."""

    def run(rng: np.random.Generator) -> tuple[bool, bool]:
        data = census.draw(SIBLINGS + 2, rng)
        people, made = table(data[0] if harmless else data[1]), [in_classes(each, rng) for each in data[1:]]
        scores = nearness_to_releases(made, people, COLUMNS, ranks=[1], masked=True)[:, :, 0]
        differs = population_check(as_middles(people, made, COLUMNS), COLUMNS).differs
        return differs, not differs and sibling_test(sibling_figures(scores, scores == COPY)).p <= LEVEL

    return run


def assignment_case(census: Census, generator: Generator, *, harmless: bool) -> Run:
    """Return a case of the test of four releases with their people."""

    def run(rng: np.random.Generator) -> tuple[bool]:
        data = census.draw(8, rng)
        made, people = released(generator, data[:4], rng), np.concatenate(data[4:] if harmless else data[:4])
        scores = nearness_to_releases(made, table(people), COLUMNS, ranks=[1])[:, :, 0]
        nearness = scores.reshape(4, PEOPLE, 4).mean(axis=1)
        return (assignment_test(nearness, rng=rng) <= LEVEL,)

    return run


def population_case(census: Census, others: Census, weight: FloatArray | None = None) -> Run:
    """Return a case of the population check: whether a harmless release is withheld, and flagged nevertheless."""

    def run(rng: np.random.Generator) -> tuple[bool, bool]:
        same = census is others and weight is None
        people, own, *rest = census.draw(SIBLINGS + 2 if same else 2, rng)
        made = released(copying(chain, 0.05), [own, *(rest if same else others.draw(SIBLINGS, rng, weight))], rng)
        differs = population_check(made, COLUMNS).differs
        return differs, not differs and is_flagged(people, made)

    return run


def cases(census: Mapping[str, Census]) -> Iterator[Case]:
    """Yield all lines."""
    whole = census["national"]
    older = np.where(whole.age > 60, 4 / 3, 1.0)
    both = ("withheld", "flagged nevertheless")
    generators: dict[str, Generator] = {"chain": chain, "columns": columns}
    for name, generator in generators.items():
        leaky = copying(generator, 0.05)
        yield Case(f"harmless, {name}, copies 5% of its people", True, release_case(whole, leaky, harmless=True))
    yield Case(
        "assignment of four releases, harmless", True, assignment_case(whole, copying(chain, 0.05), harmless=True)
    )
    yield Case("masked in classes of three, harmless", True, masked_case(whole, harmless=True), both)
    yield Case("masked in classes of three, own people", False, masked_case(whole, harmless=False), both)
    yield Case("population check, same population", True, population_case(whole, whole), both)
    for share in (0.02, 0.05):
        for name, generator in generators.items():
            run = release_case(whole, copying(generator, share), harmless=False)
            yield Case(f"{share:.0%} copied, {name}", False, run)
    for share in (0.02, 0.05):
        run = release_case(whole, copying(chain, share), harmless=False, shared=0.3)
        yield Case(f"siblings saw 30% of the people, {share:.0%} copied, chain", False, run)
    generators = {
        "chain without copies": chain,
        "2% copied, chain": copying(chain, 0.02),
        "5% copied, columns": copying(columns, 0.05),
    }
    for name, generator in generators.items():
        yield Case(f"assignment of four releases, {name}", False, assignment_case(whole, generator, harmless=False))
    yield Case("population check, TX siblings, MA release", False, population_case(census["ma"], census["tx"]), both)
    yield Case("population check, a third more people over 60", False, population_case(whole, whole, older), both)
    slightly = np.where(whole.age > 60, 1.1, 1.0)
    yield Case("population check, a tenth more people over 60", False, population_case(whole, whole, slightly), both)


def interval(hits: int, tries: int) -> str:
    """Return the exact 95% interval of a share in percent."""
    from scipy.stats import binomtest

    ends = binomtest(hits, tries).proportion_ci(0.95)
    return f"{100 * hits / tries:.1f}%, {100 * ends.low:.1f} to {100 * ends.high:.1f}"


def measure_speed(census: Census) -> None:
    """Print the time of one release with 44 siblings of 20,000 rows, and 200 people."""
    rng = np.random.default_rng(0)
    rows = [table(chain(census.codes[rng.integers(0, len(census.codes), 20_000)], rng)) for _ in range(45)]
    people = table(census.codes[rng.permutation(len(census.codes))[:200]])
    nearness_to_releases([each.take(np.arange(300)) for each in rows[:2]], people, COLUMNS, ranks=[1])
    start, spent = perf_counter(), process_time()
    scores = nearness_to_releases(rows, people, COLUMNS)[:, :, 0]
    found = sibling_test(sibling_figures(scores, scores == COPY))
    took = f"{perf_counter() - start:.1f} s, {process_time() - spent:.1f} s of CPU"
    print(f"200 people, 45 releases of 20,000 rows: {took}; p {found.p:.3f}")
    start = perf_counter()
    population_check(rows, COLUMNS)
    print(f"population check: {perf_counter() - start:.1f} s")


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=300, help="repeats of harmless cases")
    parser.add_argument("--powers", type=int, default=60, help="repeats of all others")
    parser.add_argument("--only", nargs="*", default=[], help="cases whose names contain one of these")
    parser.add_argument("--speed", action="store_true", help="measure the time of one release")
    asked = parser.parse_args()
    census = read(Path(os.environ["UNVEIL_DATA"]))
    if asked.speed:
        measure_speed(census["national"])
        return
    print("| case | outcome | count | share, 95% |\n|---|---|---|---|")
    for case in cases(census):
        if asked.only and not any(each in case.name for each in asked.only):
            continue
        tries = asked.repeats if case.is_null else asked.powers
        start = process_time()
        seen = np.array([case.run(np.random.default_rng([seed, 53])) for seed in range(tries)])
        for outcome, hits in zip(case.outcomes, seen.sum(axis=0).tolist(), strict=True):
            print(f"| {case.name} | {outcome} | {hits} of {tries} | {interval(hits, tries)} |", flush=True)
        print(f"<!-- {(process_time() - start) / tries:.2f} s of CPU each -->", flush=True)


if __name__ == "__main__":
    main()
