"""Linkability: the same targets' number, columns and neighbours beside anonymeter, and how the cost grows with rows.

Needs the Adult files below the folder that UNVEIL_DATA names. anonymeter needs an older numpy and runs in its own
environment, by ``.venv-bench-anonymeter/bin/python`` or the Python that UNVEIL_ANONYMETER names.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from benchmarks.timing import Row, least, peak_memory
from unveil._kernels.neighbours.index import IntegerGrid, prepare
from unveil._kernels.neighbours.link_chances import chances_by_search
from unveil.anonymeter import LinkabilityEvaluator
from unveil.attacks import Linkability
from unveil.data.table import Table, agree
from unveil.data.table.encode import EncodedTable, encode
from unveil.data.table.release import Knowledge

ROOT = Path(__file__).parent.parent
FIRST = ("age", "type_employer", "education", "marital", "sex", "country")
SECOND = (
    "occupation",
    "relationship",
    "race",
    "hr_per_week",
    "income",
    "education_num",
    "capital_gain",
    "capital_loss",
)
#: Twelve columns for tables of any size.
WIDE_SECOND = ("occupation", "relationship", "race", "hr_per_week", "capital_gain", "fnlwgt")
TARGETS, NEIGHBOURS = 2_000, 10


def folder() -> Path | None:
    """Return where the Adult files are, if anywhere."""
    adult = Path(os.environ.get("UNVEIL_DATA", "")) / "adult"
    return adult if (adult / "train.csv.gz").exists() else None


def paths(adult: Path) -> list[Path]:
    return [adult / f"{name}.csv.gz" for name in ("train", "syn_ctgan", "control")]


def link(original: Table, released: Table, control: Table | None, *, targets: int | None) -> None:
    attack = Linkability(first=FIRST, second=SECOND, neighbours=NEIGHBOURS, targets=targets)
    attack.run(released=released, knowledge=Knowledge(original, control), rng=np.random.default_rng(1))


def rows() -> Iterator[Row]:
    """Yield 2,000 targets and as many of the control beside anonymeter, and all targets there are."""
    adult = folder()
    if adult is None:
        print("UNVEIL_DATA names no folder with adult/train.csv.gz: linkability is left out\n")
        return
    frames = [pl.read_csv(path) for path in paths(adult)]
    tables = agree(*map(Table.from_frame, frames))
    link(*tables, targets=TARGETS)  # the compiler is warm
    case = f"{TARGETS:,} targets and control, k = {NEIGHBOURS}"
    mine = least(lambda: link(*tables, targets=TARGETS))
    yield Row(case, "unveil", mine, 1.0)
    from_frames = least(lambda: link(*agree(*map(Table.from_frame, frames)), targets=TARGETS))
    yield Row(case, "unveil, kinds of columns guessed from frames too", from_frames, from_frames / mine)
    peer = anonymeter(adult)
    if peer is not None:
        yield from _beside(peer, frames, case, mine)
    every = least(lambda: link(tables[0], tables[1], None, targets=None))
    yield Row(f"all {tables[0].rows:,} targets, k = {NEIGHBOURS}", "unveil", every, 1.0)


def _beside(peer: dict[str, Any], frames: Sequence[pl.DataFrame], case: str, mine: float) -> Iterator[Row]:
    """Yield anonymeter's time, and ours in its own way with the links compared.

    Both see the cells as they are: a table would take the question marks of Adult for missing values.
    """
    seconds = float(peer["seconds"])
    yield Row(case, "anonymeter", seconds, seconds / mine)
    original, released, control = frames

    def run() -> LinkabilityEvaluator:
        np.random.seed(0)  # noqa: NPY002 (the package draws from the old generator)
        return LinkabilityEvaluator(original, released, (FIRST, SECOND), TARGETS, NEIGHBOURS, control).evaluate()

    links = run()._links[NEIGHBOURS]
    same = [np.flatnonzero(each).tolist() for each in links] == [peer["attack"], peer["control"]]
    alike = least(run)
    verdict = "identical links" if same else "DIFFERENT LINKS"
    yield Row(case, f"unveil as anonymeter ({verdict}; {seconds / alike:.0f}x less than it)", alike, alike / mine)


def anonymeter(adult: Path) -> dict[str, Any] | None:
    """Return anonymeter's CPU time and links for the same columns, compiled beforehand; None without it."""
    python = Path(os.environ.get("UNVEIL_ANONYMETER", ROOT / ".venv-bench-anonymeter" / "bin" / "python"))
    if not python.exists():
        print(f"There is no {python}: anonymeter is left out\n")
        return None
    original, released, control = map(str, paths(adult))
    command = [str(python), str(Path(__file__).parent / "anonymeter_peer.py"), original, released, "--control", control]
    command += ["--first", *FIRST, "--second", *SECOND]
    command += ["--targets", str(TARGETS), "--neighbours", str(NEIGHBOURS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def resampled(frame: pl.DataFrame, size: int, rng: np.random.Generator) -> Table:
    """Return that many rows like those of the frame: half the numbers moved a bit, one category in twenty anew."""
    at = rng.integers(0, frame.height, size)
    columns = {}
    for name in (*FIRST, *WIDE_SECOND):
        values = frame[name].to_numpy()
        if frame[name].dtype.is_integer():
            noise = np.rint(rng.normal(0, 0.02 * np.ptp(values), size)).astype(np.int64)
            columns[name] = values[at] + noise * (rng.random(size) < 0.5)
        else:
            columns[name] = np.where(rng.random(size) < 0.05, values[rng.integers(0, frame.height, size)], values[at])
    return Table.from_frame(pl.DataFrame(columns))


def growth(sizes: list[int]) -> None:
    """Print CPU time per target and the peak of memory for ever more released rows x 12 columns."""
    if folder() is None:
        return
    print("| released rows x 12 | preparing, s | searching, µs per target | all, µs per target | peak memory, MB |")
    print("|---:|---:|---:|---:|---:|")
    for size in sizes:
        code = f"from benchmarks.linkability import grow; grow({size})"
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        print(done.stdout, end="", flush=True)


def grow(size: int) -> None:
    """Print one line of the table above, from a process of its own."""
    adult = folder()
    if adult is None:
        return
    original, released, _ = (pl.read_csv(path) for path in paths(adult))
    rng = np.random.default_rng(1)
    for rows in (20_000, size):  # the first time only for the compiler
        people, table = agree(resampled(original, TARGETS, rng), resampled(released, rows, rng))
        halves = [[_grid(part) for part in encode((people, table), names)] for names in (FIRST, WIDE_SECOND)]
        start = process_time()
        first, second = (prepare(released, targets) for targets, released in halves)
        prepared = process_time()
        chances_by_search(first, second, [NEIGHBOURS])
        done = process_time()
    peak = peak_memory()
    each = [seconds / TARGETS * 1e6 for seconds in (done - prepared, done - start)]
    print(f"| {size:,} | {prepared - start:.3f} | {each[0]:.1f} | {each[1]:.1f} | {peak:,} |")


def _grid(encoded: EncodedTable) -> IntegerGrid:
    return IntegerGrid(encoded.numbers, encoded.codes, encoded.step_cost, encoded.mismatch_cost)
