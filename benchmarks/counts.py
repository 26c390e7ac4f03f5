"""What published counts give away, and what it takes to find out: census excerpts, Adult, and generated tables.

    UNVEIL_DATA=/where/the/data/are .venv/bin/python benchmarks/counts.py primary
    .venv/bin/python benchmarks/counts.py size

``primary`` hides counts below the minimum in tables with all their totals, and works them out; ``size`` does so with
generated tables of thousands of cells. Times are seconds of one core; memory is the most that the process held.
"""

import argparse
import os
import resource
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl

from unveil.attack.counts.solve_counts import SolveCounts
from unveil.data.counts import CountSettings, Rounding, read_counts
from unveil.data.counts.system import CountSystem, system_of
from unveil.data.counts.tabulate import tabulate, with_small_hidden

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
        solved = SolveCounts().run(released=system, reading=((1, minimum - 1),), rng=np.random.default_rng(0))
        seconds = process_time() - begin
        ranges = solved.ranges
        truth = np.zeros(system.number, np.int64)
        truth[system.cell] = table["count"].to_numpy()
        if not ((ranges.low <= truth) & (truth <= ranges.high)).all():
            raise SystemExit("a range does not hold the truth")
        out, hidden = ranges.is_worked_out, ranges.is_hidden
        open_before = int((hidden & (solved.solution.sums.low < solved.solution.sums.high)).sum())
        proven = "" if ranges.is_proven[hidden].all() else f" ({int((~ranges.is_proven & hidden).sum())} not proven)"
        print(
            f"{path.split('/')[1][:8]} {' x '.join(variables):40} <{minimum:<3} {system.number:8,} {hidden.sum():6,} "
            f"{out.sum():6,} {int(ranges.low[out].sum()):6,} {open_before:6,} {solved.linear}+{solved.whole} "
            f"{seconds:.2f}{proven}"
        )


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


def size(only: str) -> None:
    """Print what it takes to attack larger tables."""
    rng = np.random.default_rng(1)
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
        ("small hidden", (46, 46, 46), "sums"),
        ("small hidden", (316, 316), "sums"),
        ("small hidden", (18, 18, 18, 18), "sums"),
    ]
    for name, shape, way in cases:
        if only and only not in f"{name} {shape}":
            continue
        table = generated(shape, rng)
        begin = process_time()
        system, reading = _prepared(table, way, rng)
        built = process_time() - begin
        attack = SolveCounts(work=1) if way == "sums" else SolveCounts()
        solved = attack.run(released=system, reading=(reading,), rng=np.random.default_rng(0))
        seconds = process_time() - begin
        ranges = solved.ranges
        hidden = ranges.is_hidden
        settled = hidden & (ranges.is_proven | ranges.has_more_than(3))
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name:15} {shape!s:18} {system.number:8,} hidden {hidden.sum():6,} out {ranges.is_worked_out.sum():6,} "
            f"proven {int((ranges.is_proven & hidden).sum()):6,} settled {settled.sum():6,} "
            f"{solved.linear}+{solved.whole} work {solved.work:,} {seconds:.1f} s (reading {built:.1f}) {most:.0f} MB",
            flush=True,
        )


def _prepared(table: pl.DataFrame, way: str, rng: np.random.Generator) -> tuple[CountSystem, tuple[int, int | None]]:
    count = pl.col("count")
    if way in ("small", "sums"):
        return system_of(read_counts([with_small_hidden(table, 5)])), (1, 4)
    if way == "more":
        inner = table.select(pl.all_horizontal(pl.col("^v.*$") != "Total")).to_series()
        small, others = table["count"] < 5, pl.Series(rng.random(table.height) < 0.15) & inner
        hidden = (table["count"] > 0) & (small | others)
        shown = table.with_columns(pl.when(hidden).then(pl.lit("*")).otherwise(count.cast(pl.String)).alias("count"))
        return system_of(read_counts([shown])), (1, None)
    rounding = Rounding.from_text(way)
    values = table["count"].to_numpy()
    rest = values % 5
    up = rng.random(values.size) < rest / 5 if rounding.way == "random" else rest >= 3
    rounded = values - rest + 5 * up
    shown = table.with_columns(pl.Series("count", rounded))
    return system_of(read_counts([shown], CountSettings(rounding=rounding))), (0, None)


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description="Measure what published counts give away.")
    parser.add_argument("what", choices=("primary", "size"))
    parser.add_argument("only", nargs="?", default="", help="only cases that hold this text")
    asked = parser.parse_args()
    if asked.what == "primary":
        primary()
    else:
        size(asked.only)


if __name__ == "__main__":
    main()
