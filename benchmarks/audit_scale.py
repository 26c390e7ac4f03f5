"""What a whole audit costs: CPU and wall seconds, memory, and that threads change no byte.

``python -m benchmarks.audit_scale 10000 100000 --threads 1 2`` audits generated tables of 15 mixed columns with a
control of a quarter as many rows; 2 % of the released rows are people as they are. ``--steps`` says what each takes.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

_AUDIT = """
import resource, sys, time
from unveil.ask.audit.answer import audit_files
folder, threads, steps = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "True"
last = [time.process_time(), "reading"]

def progress(name, share):
    what = name.split(" as ")[0].split(" remembered ")[0]
    what = what if not what.startswith("guessing ") else "guessing"
    if steps and what != last[1]:
        print(f"    {time.process_time() - last[0]:7.1f} s {last[1]}", file=sys.stderr, flush=True)
        last[:] = [time.process_time(), what]

answer = audit_files(*(f"{folder}/original.parquet", [f"{folder}/released.parquet"], f"{folder}/control.parquet"),
    threads=threads, progress=progress)
progress("the end", 1.0)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
print(answer.to_json())
"""


def people(rows: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return people in six columns of numbers and nine of categories, some of which go together."""

    def skewed(values: int, power: float) -> np.ndarray:
        weight = 1 / np.arange(1, values + 1) ** power
        return rng.choice(values, rows, p=weight / weight.sum())

    def words(letter: str, codes: np.ndarray) -> pl.Series:
        return pl.Series([f"{letter}{code:02d}" for code in range(100)]).gather(codes)

    age, latent = rng.integers(0, 90, rows), rng.normal(size=rows)
    income = np.exp(10 + 0.5 * latent + 0.01 * age).round().astype(np.int64)
    occupation = (skewed(25, 0.8) + (latent > 0) * 3) % 25
    return pl.DataFrame(
        {
            "age": age,
            "income": income,
            "hours": np.clip(rng.normal(38, 12, rows), 0, 99).round().astype(np.int64),
            "weight": np.clip(70 + 12 * rng.normal(size=rows) + 0.1 * age, 35, 180).round(1),
            "children": rng.poisson(1.2, rows),
            "rent": (income * rng.uniform(0.1, 0.4, rows) / 12).round().astype(np.int64),
            "sex": words("s", rng.integers(0, 2, rows)),
            "region": words("r", skewed(40, 0.6)),
            "occupation": words("o", occupation),
            "education": words("e", np.clip((latent * 2 + 4 + rng.normal(size=rows)).astype(np.int64), 0, 7)),
            "marital": words("m", np.minimum(age // 23, 3)),
            "industry": words("i", (occupation + skewed(18, 1.5)) % 18),
            "origin": words("c", skewed(60, 1.4)),
            "tenure": words("t", skewed(3, 1.0)),
            "insured": words("y", (rng.random(rows) < 0.1).astype(np.int64)),
        }
    )


def write_tables(rows: int, folder: Path) -> None:
    """Write original, release and control."""
    rng = np.random.default_rng(1)
    original, control, fresh = people(rows, rng), people(max(rows // 4, 1), rng), people(rows, rng)
    copied = rng.choice(rows, rows // 50, replace=False)
    released = pl.concat([fresh.head(rows - copied.size), original[copied]])
    tables = {"original": original, "control": control, "released": released[rng.permutation(rows)]}
    for name, table in tables.items():
        table.write_parquet(folder / f"{name}.parquet")


def main() -> None:
    """Print a line for each size and number of threads."""
    parser = argparse.ArgumentParser(description="Measure whole audits.")
    parser.add_argument("rows", type=int, nargs="+")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--steps", action="store_true", help="what each step takes, on standard error")
    asked = parser.parse_args()
    print("      rows threads  CPU s  wall s     MB  sha256 of the JSON")
    for rows in asked.rows:
        with tempfile.TemporaryDirectory() as folder:
            write_tables(rows, Path(folder))
            for threads in asked.threads:
                before, begin = os.times(), time.perf_counter()
                done = subprocess.run(
                    [sys.executable, "-c", _AUDIT, folder, str(threads), str(asked.steps)],
                    stdout=subprocess.PIPE,
                    check=True,
                    text=True,
                )
                wall, after = time.perf_counter() - begin, os.times()
                used = after.children_user + after.children_system - before.children_user - before.children_system
                most, _, answer = done.stdout.partition("\n")
                digest = hashlib.sha256(answer.encode()).hexdigest()[:12]
                print(f"{rows:10,} {threads:7} {used:6.1f} {wall:7.1f} {most:>6}  {digest}", flush=True)


if __name__ == "__main__":
    main()
