"""What a whole audit costs: CPU and wall seconds, memory, and that threads change no byte.

``python -m benchmarks.audit_scale 10000 100000 --threads 1 2`` audits generated tables of 15 mixed columns with a
control of a quarter as many rows; 2 % of the released rows are people as they are. ``--table`` prints what each part
takes as `unveil.ask.audit.projection` has it: remake that table with ``10000 100000 1000000 --threads 1 --table``.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

_AUDIT = """
import json, resource, sys, time
from collections import Counter
from unveil.ask.audit import run
from unveil.ask.audit.answer import audit_files
from unveil.ask.audit.tasks import ITSELF, Workbench
folder, threads = sys.argv[1], int(sys.argv[2])
seconds = Counter()

def timed(function, named):
    def wrapped(*told, **more):
        began = time.process_time()
        try:
            return function(*told, **more)
        finally:
            seconds[named(*told)] += time.process_time() - began
    return wrapped

def part(bench, task, *_):
    return "before" if task.release == ITSELF else "weigh" if task.step == "weigh" else task.part

Workbench.compute = timed(Workbench.compute, part)
run.AuditFiles.read = timed(run.AuditFiles.read, lambda *_: "reading")
run.prepare = timed(run.prepare, lambda *_: "reading")
run.judge_audit = timed(run.judge_audit, lambda *_: "judging")
found = audit_files(*(f"{folder}/original.parquet", [f"{folder}/released.parquet"], f"{folder}/control.parquet"),
    threads=threads, say=lambda sentence: print(sentence, file=sys.stderr))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
print(json.dumps(seconds))
print(found.to_json())
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


def measured(folder: str, threads: int) -> tuple[float, float, int, dict[str, float], str]:
    """Return CPU seconds, seconds by the clock, MB, the CPU seconds of each part, and the JSON of an audit."""
    before, begin = os.times(), time.perf_counter()
    told = [sys.executable, "-c", _AUDIT, folder, str(threads)]
    done = subprocess.run(told, stdout=subprocess.PIPE, check=True, text=True)
    wall, after = time.perf_counter() - begin, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    most, parts, answer = done.stdout.split("\n", 2)
    return used, wall, int(most), json.loads(parts), answer


def main() -> None:
    """Print a line for each size and number of threads."""
    parser = argparse.ArgumentParser(description="Measure whole audits.")
    parser.add_argument("rows", type=int, nargs="+")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--table", action="store_true", help="what each part takes, in CPU seconds for each size")
    asked = parser.parse_args()
    table: dict[str, list[float]] = {}
    print("      rows threads  CPU s  wall s     MB  sha256 of the JSON")
    for rows in asked.rows:
        with tempfile.TemporaryDirectory() as folder:
            write_tables(rows, Path(folder))
            for threads in asked.threads:
                used, wall, most, parts, answer = measured(folder, threads)
                digest = hashlib.sha256(answer.encode()).hexdigest()[:12]
                print(f"{rows:10,} {threads:7} {used:6.1f} {wall:7.1f} {most:>6}  {digest}", flush=True)
                for part, seconds in parts.items() if threads == asked.threads[0] else ():
                    table.setdefault(part, []).append(seconds)
    for part, sizes in table.items() if asked.table else ():
        print(f'        "{part}": ({", ".join(f"{each:.1f}" for each in sizes)}),')


if __name__ == "__main__":
    main()
