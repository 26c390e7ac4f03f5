"""Distance to the closest record: the same rows beside SDMetrics, and time and memory where it is hardest.

Needs the Adult files below the folder that UNVEIL_DATA names. SDMetrics needs an older pandas and runs in its own
environment, by ``.venv-bench-sdmetrics/bin/python`` or the Python that UNVEIL_SDMETRICS names; that one runs this file
too, as ``-m benchmarks.closest_record``, so that nothing of unveil is imported at the top.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.timing import Row, peak_memory

if TYPE_CHECKING:
    from unveil.data.table.release import Release

ROOT = Path(__file__).parent.parent
#: Rows on both sides; SDMetrics compares all pairs.
SIZES = (1_000, 4_000)
LARGE = 30_000


def folder() -> Path | None:
    """Return where the Adult files are, if anywhere."""
    adult = Path(os.environ.get("UNVEIL_DATA", "")) / "adult"
    return adult if (adult / "train.csv.gz").exists() else None


def rows(sizes: tuple[int, ...] = SIZES) -> Iterator[Row]:
    """Yield how far rows of a synthesis are from the nearest original one, beside SDMetrics."""
    if folder() is None:
        print("UNVEIL_DATA names no folder with adult/train.csv.gz: the closest record is left out\n")
        return
    from unveil.metrics.releases.closeness import distance_to_closest

    peer = sdmetrics(sizes)
    for size in sizes:
        release, names = adult_release(size)
        found = distance_to_closest(release, columns=names)  # the compiler is warm
        case = f"{size:,} x {size:,} rows of Adult, 15 columns"
        times = []
        for _ in range(5):
            start = process_time()
            distance_to_closest(release, columns=names)
            times.append(process_time() - start)
        mine = min(times)
        yield Row(case, f"unveil (median {found.released.median:.4f})", mine, 1.0)
        if peer is not None:
            seconds, median = peer[str(size)]
            yield Row(case, f"SDMetrics {peer['version']} (median {median:.4f})", seconds, seconds / mine)


def sdmetrics(sizes: tuple[int, ...]) -> dict[str, Any] | None:
    """Return SDMetrics' CPU time and median of the same rows; None without it."""
    python = Path(os.environ.get("UNVEIL_SDMETRICS", ROOT / ".venv-bench-sdmetrics" / "bin" / "python"))
    if not python.exists():
        print(f"There is no {python}: SDMetrics is left out\n")
        return None
    command = [str(python), "-m", "benchmarks.closest_record", *map(str, sizes)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def peer(sizes: list[int]) -> None:
    """Print SDMetrics' CPU time and median for each size as JSON; only where SDMetrics is installed."""
    from importlib.metadata import version

    import pandas as pd
    from sdmetrics.single_table.privacy.dcr_utils import (  # type: ignore[import-not-found, unused-ignore]
        calculate_dcr,
    )

    adult = folder()
    if adult is None:
        return
    original, released = (pd.read_csv(adult / f"{name}.csv.gz") for name in ("train", "syn_ctgan"))
    kinds = {name: "numerical" if values.dtype.kind in "if" else "categorical" for name, values in original.items()}
    metadata = {"columns": {name: {"sdtype": kind} for name, kind in kinds.items()}}
    calculate_dcr(released.head(20), original.head(20), metadata)
    answer: dict[str, Any] = {"version": version("sdmetrics")}
    for size in sizes:
        start = process_time()
        found = calculate_dcr(released.head(size), original.head(size), metadata)
        answer[str(size)] = process_time() - start, float(found.median())
    json.dump(answer, sys.stdout)


def adult_release(size: int) -> tuple["Release", tuple[str, ...]]:
    """Return the first rows of Adult and of its synthesis, and all columns."""
    import polars as pl

    from unveil.data.table import Table
    from unveil.data.table.release import Release

    adult = folder() or Path()
    original, released = (
        Table.from_frame(pl.read_csv(adult / f"{name}.csv.gz").head(size), name=name) for name in ("train", "syn_ctgan")
    )
    return Release(original, released), original.column_names


def real(size: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fifteen columns of independent real numbers: no row is near, and no column leads to the nearest one."""
    original, released = ({f"x{place}": rng.normal(size=size) for place in range(15)} for _ in range(2))
    return original, released


def codes(size: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fifteen columns of independent categories with fifty levels: every row is a group of its own."""
    original, released = ({f"x{place}": rng.integers(0, 50, size).astype(str) for place in range(15)} for _ in range(2))
    return original, released


def ties(size: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """Original rows on a slope and released ones below it: all of the former are equally near to each of the latter."""
    place = np.arange(size)
    return {"x": place + size, "y": 2 * size - 1 - place}, {"x": place, "y": rng.permutation(size)}


HARD: dict[str, Callable[[int, np.random.Generator], tuple[dict[str, Any], dict[str, Any]]]] = {
    "15 columns of real numbers": real,
    "15 columns of 50 categories": codes,
    "2 columns in which all rows tie": ties,
}


def hardest(size: int = LARGE) -> None:
    """Print CPU time and the peak of memory at so many rows on both sides, each case in a process of its own."""
    print(f"| {size:,} x {size:,} rows | CPU seconds | peak memory, MB |\n|---|---:|---:|")
    for case in ([] if folder() is None else ["Adult, 15 columns"]) + list(HARD):
        code = f"from benchmarks.closest_record import hard; hard({case!r}, {size})"
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        print(done.stdout, end="", flush=True)


def hard(case: str, size: int) -> None:
    """Print one line of the table above; the compiler's time is in it where it has not run before."""
    import polars as pl

    from unveil.data.table import Table
    from unveil.data.table.release import Release
    from unveil.metrics.releases.closeness import distance_to_closest

    if case in HARD:
        frames = HARD[case](size, np.random.default_rng(1))
        original, released = (Table.from_frame(pl.DataFrame(columns)) for columns in frames)
        release, names = Release(original, released), original.column_names
    else:
        release, names = adult_release(size)
    start = process_time()
    distance_to_closest(release, columns=names)
    seconds = process_time() - start
    peak = peak_memory()
    print(f"| {case} | {seconds:.1f} | {peak:,} |")


if __name__ == "__main__":
    peer([int(size) for size in sys.argv[1:]])
