"""A million rows of eight coarse columns: reading what their cells stand for, and attacking 500 people.

``python -m benchmarks.cells`` prints CPU seconds and the most memory of a process that reads the tables from files.
"""

import argparse
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import polars as pl

from benchmarks.timing import Row, as_markdown, peak_memory
from unveil.attacks.table.inference import Inference
from unveil.attacks.table.linkability import Linkability
from unveil.data.table import Table
from unveil.data.table.release import Knowledge, Release

ROWS, TARGETS = 10**6, 500
_ILL = "ill"
_TOWNS = [f"town {number}" for number in range(40)]


def people(rows: int, *, seed: int) -> pl.DataFrame:
    """Return people with four numbers, four categories and a secret."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 95, rows),
            "pay": rng.gamma(2.0, 1500.0, rows).astype(np.int64),
            "hours": rng.integers(0, 60, rows),
            "size": rng.integers(1, 9, rows),
            "town": rng.choice(_TOWNS, rows),
            "job": rng.choice([f"job {number}" for number in range(25)], rows),
            "sex": rng.choice(["f", "m"], rows),
            "school": rng.choice(["none", "basic", "high", "college", "master"], rows),
            _ILL: rng.choice(["flu", "gout", "cold", "none"], rows),
        }
    )


def coarsened(frame: pl.DataFrame, *, seed: int) -> pl.DataFrame:
    """Return the people with bands, sets and a few stars in every known column."""

    def bands(name: str, width: int) -> pl.Expr:
        low = pl.col(name) // width * width
        return pl.concat_str(low, pl.lit("-"), low + width - 1).alias(name)

    def halves(name: str, words: list[str]) -> pl.Expr:
        together = {
            word: "{" + ",".join(words[at // 20 * 20 : at // 20 * 20 + 20]) + "}" for at, word in enumerate(words)
        }
        return pl.col(name).replace_strict(together)

    schools = {"none": "none|basic", "basic": "none|basic", "college": "college|master", "master": "college|master"}
    shown = frame.with_columns(
        bands("age", 10),
        bands("pay", 3000),
        bands("hours", 20),
        bands("size", 4),
        halves("town", _TOWNS),
        halves("job", [f"job {number}" for number in range(25)]),
        pl.col("school").replace(schools),
    )
    rng = np.random.default_rng(seed)
    return shown.with_columns(
        pl.when(pl.Series(rng.random(frame.height) < 0.01)).then(pl.lit("*")).otherwise(pl.col(name)).alias(name)
        for name in frame.columns[:-1]
    )


def write(folder: Path, size: int) -> None:
    """Write both tables."""
    frame = people(size, seed=1)
    frame.write_parquet(folder / "original.parquet")
    coarsened(frame, seed=2).write_parquet(folder / "released.parquet")


def rows(size: int = ROWS) -> list[Row]:
    """Return what reading costs, and what attacks cost beyond it."""
    with TemporaryDirectory() as folder:
        # In another process, so that making the tables does not count.
        writing = get_context("spawn").Process(target=write, args=(Path(folder), size))
        writing.start()
        writing.join()
        original, released = (Table.read(Path(folder) / f"{name}.parquet") for name in ("original", "released"))
    known = original.column_names[:-1]
    start = process_time()
    release = Release(original, released, kind="masked")
    found = [Row(f"reading {size:,} x {len(known)} cells", "unveil", process_time() - start, 1.0)]
    print(f"memory after reading: {peak_memory():,} MB\n")
    knowledge = Knowledge(release.original.take(np.arange(TARGETS)), scale=release.original.extremes())
    for attack in (
        Inference(secret=_ILL, known=known, targets=None),
        Linkability(first=known[:4], second=known[4:], targets=None),
    ):
        for warm in ("with the compiler", "warm"):
            start = process_time()
            attack.run(released=release.released, knowledge=knowledge, rng=np.random.default_rng(1))
            case = f"{type(attack).__name__}, {TARGETS} targets, {warm}"
            found.append(Row(case, "unveil", process_time() - start, 1.0))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=ROWS)
    print(as_markdown(rows(parser.parse_args().rows)))
    print(f"\nmost memory: {peak_memory():,} MB")
