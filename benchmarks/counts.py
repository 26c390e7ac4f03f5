"""What published counts give away, and what it takes to find out: census excerpts, Adult, and generated tables.

    UNVEIL_DATA=/where/the/data/are .venv/bin/python benchmarks/counts.py primary
    .venv/bin/python benchmarks/counts.py size

``primary`` hides counts below the minimum in tables with all their totals, and works them out; ``repair`` hides more
until none of these follows; ``rounding`` rounds or changes every figure instead; ``records`` ranks records by all
two-way tables; ``size`` attacks generated tables of thousands of cells. Times are seconds of one core; memory is the
most that the process held.
"""

import argparse
import os
import resource
from itertools import combinations
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl

import unveil
from unveil._kernels.types import IntArray
from unveil.attacks.counts.solve_counts import SolveCounts
from unveil.data.counts import CountSettings, Rounding, read_counts
from unveil.data.counts.system import CountSystem, system_of
from unveil.data.counts.tabulate import tabulate, with_small_hidden
from unveil.protections.counts.hide_counts import HideCounts, known_counts

PRIMARY = (
    ("acs/ma2019.csv.gz", ("PUMA", "RAC1P"), 11),
    ("acs/ma2019.csv.gz", ("PUMA", "RAC1P", "SEX"), 11),
    ("acs/ma2019.csv.gz", ("PUMA", "MSP", "RAC1P"), 11),
    ("acs/ma2019.csv.gz", ("PUMA", "AGE10", "SEX", "RAC1P"), 11),
    ("acs/tx2019.csv.gz", ("PUMA", "EDU", "RAC1P"), 5),
    ("acs/national2019.csv.gz", ("PUMA", "EDU", "RAC1P"), 5),
    ("acs/national2019.csv.gz", ("PUMA", "AGE5", "SEX", "RAC1P"), 5),
    ("adult/train.csv.gz", ("education", "occupation", "sex"), 5),
)


def people(path: str) -> pl.DataFrame:
    """Return records with the bands of age that tables need."""
    frame = pl.read_csv(Path(os.environ["UNVEIL_DATA"], path), infer_schema=False)
    if "AGEP" in frame.columns:
        age = pl.col("AGEP").cast(pl.Int64)
        frame = frame.with_columns(((age // years) * years).cast(pl.String).alias(f"AGE{years}") for years in (5, 10))
    return frame


def primary() -> None:
    """Print what follows from tables in which only small counts are hidden."""
    print(f"{'table':58} cells hidden out people left linear+whole seconds")
    for path, variables, minimum in PRIMARY:
        table = tabulate(people(path), variables)
        shown = with_small_hidden(table, minimum)
        begin = process_time()
        system = system_of(read_counts([shown]))
        solved = SolveCounts().solve(released=system, reading=((1, minimum - 1),), rng=np.random.default_rng(0))
        seconds = process_time() - begin
        ranges = solved.ranges
        truth = np.zeros(system.number, np.int64)
        truth[system.cell] = table["count"].to_numpy()
        if not ((ranges.low <= truth) & (truth <= ranges.high)).all():
            raise SystemExit("a range does not hold the truth")
        out, hidden = ranges.is_recovered, ranges.is_hidden
        open_before = int((hidden & (solved.solution.sums.low < solved.solution.sums.high)).sum())
        proven = "" if ranges.is_proven[hidden].all() else f" ({int((~ranges.is_proven & hidden).sum())} not proven)"
        print(
            f"{path.split('/')[1][:8]} {' x '.join(variables):40} <{minimum:<3} {system.number:8,} {hidden.sum():6,} "
            f"{out.sum():6,} {int(ranges.low[out].sum()):6,} {open_before:6,} {solved.linear}+{solved.whole} "
            f"{seconds:.2f}{proven}"
        )


REPAIRED = (
    ("acs/ma2019.csv.gz", ("PUMA", "RAC1P"), 11),
    ("acs/ma2019.csv.gz", ("PUMA", "MSP", "RAC1P"), 11),
    ("acs/ma2019.csv.gz", ("PUMA", "AGE10", "RAC1P"), 11),
    ("acs/ma2019.csv.gz", ("PUMA", "AGE10", "SEX", "RAC1P"), 11),
    ("acs/tx2019.csv.gz", ("PUMA", "EDU", "RAC1P"), 5),
)


def repair() -> None:
    """Print how much more is hidden so that small counts keep two or four values, and what the attack finds then."""
    for path, variables, minimum in REPAIRED:
        table = tabulate(people(path), variables)
        system = system_of(read_counts([table]))
        counts = known_counts(system)
        if counts is None:
            raise SystemExit("a count is not known")
        small = (counts > 0) & (counts < minimum)
        for keep in (2, 4):
            begin = process_time()
            hidden = HideCounts(minimum=minimum, keep=keep).apply(system, counts)
            seconds = process_time() - begin
            mask = pl.Series(hidden.is_hidden[system.cell])
            texts = pl.when(mask).then(pl.lit("*")).otherwise(pl.col("count").cast(pl.String))
            again = system_of(read_counts([table.with_columns(texts.alias("count"))]))
            found = []
            for reading in ((0, None), (1, None)):
                ranges = SolveCounts().solve(released=again, reading=(reading,), rng=np.random.default_rng(0)).ranges
                narrow = ranges.is_hidden & (ranges.values <= 3)
                few = f"{narrow.sum()} of at most 3 values ({(narrow & small).sum()} small)"
                found.append(f"{ranges.is_recovered.sum()} out, {few}")
            print(
                f"{path.split('/')[1][:8]} {' x '.join(variables):32} <{minimum:<3} small {small.sum()} keep {keep} "
                f"hidden {mask.sum()} helpless {hidden.is_helpless.sum()} short {hidden.is_short.sum()} | any: "
                f"{found[0]} | not zero: {found[1]} | {seconds:.1f} s",
                flush=True,
            )


def rounding() -> None:
    """Print what follows from tables in which every figure is rounded or changed."""
    ways = ("3:random", "5:random", "5", "5:nearest:inner", "noise")
    for path, variables, _ in PRIMARY[:3:2]:
        table = tabulate(people(path), variables)
        values = table["count"].to_numpy()
        inner = table.select(pl.all_horizontal(pl.col(variables) != "Total")).to_series().to_numpy()
        for way in ways:
            rng = np.random.default_rng(1)
            if way == "noise":
                shown = np.where(values == 0, 0, np.maximum(values + rng.integers(-2, 3, values.size), 1))
                settings = CountSettings(noise=2, zeros_true=True)
            else:
                settings = CountSettings(rounding=Rounding.from_text(way))
                shown = _rounded(values, settings.rounding, rng)
                if settings.rounding is not None and settings.rounding.inner:
                    shown = np.where(inner, shown, values)
            begin = process_time()
            system = system_of(read_counts([table.with_columns(pl.Series("count", shown))], settings))
            solved = SolveCounts().solve(released=system, reading=(), rng=np.random.default_rng(0))
            ranges = solved.ranges
            own = ranges.is_hidden
            print(
                f"{' x '.join(variables):24} {way:16} changed {own.sum():4} out {ranges.is_recovered.sum():4} values "
                f"{ranges.values_told[own].mean():.2f} to {ranges.values[own].mean():.2f} proven "
                f"{(ranges.is_proven & own).sum()} {solved.linear}+{solved.whole} {process_time() - begin:.1f} s",
                flush=True,
            )


RECORDS = (
    ("SEX", "MSP", "RAC1P", "OWN_RENT"),
    ("SEX", "AGE10", "RAC1P", "MSP"),
    ("SEX", "AGE10", "RAC1P", "MSP", "HISP"),
)


def records() -> None:
    """Print which records follow from all two-way tables of one district, and how well the others are ranked."""
    everybody = people("acs/ma2019.csv.gz")
    # The district with the fewest people.
    puma = everybody["PUMA"].value_counts().sort("count", "PUMA")["PUMA"][0]
    own = everybody.filter(pl.col("PUMA") == puma)
    for variables in RECORDS:
        tables = [tabulate(own, pair) for pair in combinations(variables, 2)]
        begin = process_time()
        found = unveil.tables(tables, reconstruct=10, microdata=own).findings.records
        if found is None:
            raise SystemExit("no record was looked for")
        shares = ", ".join(
            f"{'as many as exist' if each.first is None else each.first}: {each.ranked:.2f} ({each.by_margins:.2f})"
            for each in found.precision
        )
        print(
            f"{own.height:,} people, {', '.join(variables)}: {found.possible:,} possible, {found.certain} certain, "
            f"{found.unique} once, {found.absent:,} absent | {shares} | {process_time() - begin:.1f} s",
            flush=True,
        )


def _rounded(values: IntArray, rounding: Rounding | None, rng: np.random.Generator) -> IntArray:
    base = 1 if rounding is None else rounding.base
    rest = values % base
    by_lot = rounding is not None and rounding.way == "random"
    up = rng.random(values.size) < rest / base if by_lot else 2 * rest > base
    return np.asarray(values - rest + base * up, np.int64)


def generated(shape: tuple[int, ...], rng: np.random.Generator) -> pl.DataFrame:
    """Return a table of skewed counts with all its totals, 12 people in a cell on average."""
    inner = rng.geometric(1 / 5, shape) * rng.integers(0, 6, shape)
    for axis in range(len(shape)):
        inner = np.concatenate([inner, inner.sum(axis=axis, keepdims=True)], axis=axis)
    codes = np.indices(inner.shape).reshape(len(shape), -1)
    names = {
        f"v{at}": pl.Series(
            np.append(np.char.add(f"{'abcdef'[at]}", np.arange(size).astype(str)), "Total")[codes[at]].tolist()
        )
        for at, size in enumerate(shape)
    }
    return pl.DataFrame({**names, "count": inner.ravel()})


def size(only: str, seed: int) -> None:
    """Print what it takes to attack larger tables."""
    rng = np.random.default_rng(seed)
    cases: list[tuple[str, tuple[int, ...], str]] = [
        ("small hidden", (100, 100), "small"),
        ("random 5", (100, 100), "5:random"),
        ("nearest 5", (100, 100), "5"),
        ("small hidden", (10, 10, 10), "small"),
        ("random 5", (10, 10, 10), "5:random"),
        ("small and 15 %", (30, 30), "more"),
        ("small and 15 %", (100, 100), "more"),
        ("small and 15 %", (10, 10, 10), "more"),
        ("small and 15 %", (20, 20, 20), "more"),
        ("small hidden", (46, 46, 46), "small"),
        ("small hidden", (316, 316), "small"),
        ("small hidden", (18, 18, 18, 18), "small"),
    ]
    for name, shape, way in cases:
        if only and only not in f"{name} {shape}":
            continue
        table = generated(shape, rng)
        begin = process_time()
        system, reading = _prepared(table, way, rng)
        built = process_time() - begin
        solved = SolveCounts().solve(released=system, reading=(reading,), rng=np.random.default_rng(0))
        seconds = process_time() - begin
        ranges = solved.ranges
        hidden = ranges.is_hidden
        settled = hidden & (ranges.is_proven | ranges.has_more_than(3))
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name:15} {shape!s:18} {system.number:8,} hidden {hidden.sum():6,} out {ranges.is_recovered.sum():6,} "
            f"proven {int((ranges.is_proven & hidden).sum()):6,} settled {settled.sum():6,} "
            f"{solved.linear}+{solved.whole} work {solved.work:,} {seconds:.1f} s (reading {built:.1f}) {most:.0f} MB",
            flush=True,
        )


def _prepared(table: pl.DataFrame, way: str, rng: np.random.Generator) -> tuple[CountSystem, tuple[int, int | None]]:
    count = pl.col("count")
    if way == "small":
        return system_of(read_counts([with_small_hidden(table, 5)])), (1, 4)
    if way == "more":
        inner = table.select(pl.all_horizontal(pl.col("^v.*$") != "Total")).to_series()
        small, others = table["count"] < 5, pl.Series(rng.random(table.height) < 0.15) & inner
        hidden = (table["count"] > 0) & (small | others)
        shown = table.with_columns(pl.when(hidden).then(pl.lit("*")).otherwise(count.cast(pl.String)).alias("count"))
        return system_of(read_counts([shown])), (1, None)
    rounding = Rounding.from_text(way)
    shown = table.with_columns(pl.Series("count", _rounded(table["count"].to_numpy(), rounding, rng)))
    return system_of(read_counts([shown], CountSettings(rounding=rounding))), (0, None)


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description="Measure what published counts give away.")
    parser.add_argument("what", choices=("primary", "repair", "rounding", "records", "size"))
    parser.add_argument("only", nargs="?", default="", help="only cases that hold this text")
    parser.add_argument("--seed", type=int, default=1, help="what the tables of `size` are generated from")
    asked = parser.parse_args()
    if asked.what == "size":
        size(asked.only, asked.seed)
    else:
        {"primary": primary, "repair": repair, "rounding": rounding, "records": records}[asked.what]()


if __name__ == "__main__":
    main()
