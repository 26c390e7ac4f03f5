"""What a whole audit costs: CPU and wall seconds, memory, and that threads change no byte.

``python -m benchmarks.audit_scale 10000 100000 --threads 1 2`` audits generated tables of 15 mixed columns with a
control of a quarter as many rows; 2 % of the released rows are people as they are. ``--table`` prints what each part
takes, as in `unveil.questions.audit.projection`: remake it with ``10000 100000 1000000 --threads 1 --table``.
``--memory 2000`` allows so many MB, as `unveil audit --memory` does; what is written as "own" is the peak of what
belongs to no file, which the system cannot drop. ``--read`` reads and prepares the tables and attacks nothing, and
``--attacks copies`` attacks so only; ``--format csv`` reads text.
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
from typing import NamedTuple

import numpy as np
import polars as pl

#: How many columns people are described in, unless more are asked for.
COLUMNS = 15
_AUDIT = """
import json, resource, sys, threading, time
from collections import Counter
from unveil.questions.audit import run
from unveil.questions.audit.answer import audit
from unveil.questions.audit.tasks import ITSELF, Workbench
folder, told = sys.argv[1], json.loads(sys.argv[2])
seconds, own = Counter(), [0]

def watch():
    while True:
        with open("/proc/self/status") as stream:
            own[0] = max(own[0], *(int(line.split()[1]) // 1024 for line in stream if line.startswith("RssAnon")))
        time.sleep(0.01)

def ended(*_, **__):
    shown(None)

def shown(found):
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, own[0])
    print(json.dumps(seconds))
    print("" if found is None else found.to_json())
    sys.exit()

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
if told.pop("read"):
    run.forewarn = ended
if sys.platform == "linux":
    threading.Thread(target=watch, daemon=True).start()
names = [f"{folder}/{name}.{told['format']}" for name in ("original", "released", "control")]
del told["format"]
shown(audit(names[0], names[1:2], names[2], say=lambda sentence: print(sentence, file=sys.stderr), **told))
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


def wide_people(rows: int, columns: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return people in so many columns, fifteen that go together at a time."""
    parts = [people(rows, rng) for _ in range(-(-columns // COLUMNS))]
    named = (part.rename({name: f"{name}_{place}" for name in part.columns}) for place, part in enumerate(parts, 1))
    return (parts[0] if len(parts) == 1 else pl.concat(named, how="horizontal"))[:, :columns]


def write_tables(rows: int, folder: Path, kind: str = "parquet", columns: int = COLUMNS) -> None:
    """Write original, release and control."""
    rng = np.random.default_rng(1)
    original, control, fresh = (wide_people(each, columns, rng) for each in (rows, max(rows // 4, 1), rows))
    copied = rng.choice(rows, rows // 50, replace=False)
    released = pl.concat([fresh.head(rows - copied.size), original[copied]])
    tables = {"original": original, "control": control, "released": released[rng.permutation(rows)]}
    for name, table in tables.items():
        _ = (
            table.write_csv(folder / f"{name}.csv")
            if kind == "csv"
            else table.write_parquet(folder / f"{name}.parquet")
        )


class Measured(NamedTuple):
    """CPU seconds, seconds by the clock, MB in all and MB of no file, CPU seconds of each part, and the JSON."""

    used: float
    wall: float
    most: int
    own: int
    parts: dict[str, float]
    answer: str


def measured(folder: str, told: dict[str, object]) -> Measured:
    """Return what an audit takes and gives."""
    before, begin = os.times(), time.perf_counter()
    command = [sys.executable, "-c", _AUDIT, folder, json.dumps(told)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    wall, after = time.perf_counter() - begin, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    sizes, parts, answer = done.stdout.split("\n", 2)
    most, own = map(int, sizes.split())
    return Measured(used, wall, most, own, json.loads(parts), answer)


def main() -> None:
    """Print a line for each size and number of threads."""
    parser = argparse.ArgumentParser(description="Measure whole audits.")
    parser.add_argument("rows", type=int, nargs="+")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--table", action="store_true", help="what each part takes, in CPU seconds for each size")
    parser.add_argument("--memory", type=int, help="how many MB an audit may take")
    parser.add_argument("--attacks", help="which attacks, with commas between them")
    parser.add_argument("--format", choices=["parquet", "csv"], default="parquet")
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--read", action="store_true", help="read and prepare the tables, and attack nothing")
    asked = parser.parse_args()
    told = {
        "memory": asked.memory and asked.memory * 10**6,
        "attacks": asked.attacks and asked.attacks.split(","),
        "format": asked.format,
        "read": asked.read,
    }
    table: dict[str, list[float]] = {}
    print("      rows threads  CPU s  wall s     MB  own MB  sha256 of the JSON")
    for rows in asked.rows:
        with tempfile.TemporaryDirectory() as folder:
            write_tables(rows, Path(folder), asked.format, asked.columns)
            for threads in asked.threads:
                found = measured(folder, {**told, "threads": threads})
                digest = hashlib.sha256(found.answer.encode()).hexdigest()[:12]
                sizes = f"{found.used:6.1f} {found.wall:7.1f} {found.most:>6}  {found.own:>6}"
                print(f"{rows:10,} {threads:7} {sizes}  {digest}", flush=True)
                for part, seconds in found.parts.items() if threads == asked.threads[0] else ():
                    table.setdefault(part, []).append(seconds)
    for part, each in table.items() if asked.table else ():
        print(f'        "{part}": ({", ".join(f"{seconds:.1f}" for seconds in each)}),')


if __name__ == "__main__":
    main()
