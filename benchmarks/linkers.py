"""Linking: the window attack on rank swapping, and Fellegi-Sunter beside splink on registers of people."""

import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from benchmarks.timing import Row, peak_memory
from unveil.attacks.table.fellegi_sunter import FellegiSunter
from unveil.attacks.table.rank_intersection import RankIntersection
from unveil.attacks.table.splink_linkage import SplinkLinkage
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import MissingExtraError
from unveil.metrics import adversary_overall_success, adversary_success_rate
from unveil.protections.table._rank_schemes import partners

ROOT = Path(__file__).parent.parent
# By its path: among the peers is one that installs a package called tests.
_ORACLE = runpy.run_path(str(ROOT / "tests" / "oracles" / "linkers.py"))
free_links, person_file = _ORACLE["free_links"], _ORACLE["person_file"]
BLOCKS = (("day", "month", "first"), ("surname", "year"), ("first", "street"), ("day", "year", "month"))


def rows() -> Iterator[Row]:
    """Yield Fellegi-Sunter by itself, beside splink where it is installed, and beside EM that may choose freely."""
    for size in (5_000, 50_000):
        first, second, truth = person_file(size, rng=np.random.default_rng(5))
        original, released = (_words(frame, name) for frame, name in ((first, "original"), (second, "released")))
        case = f"{size:,} x {size:,} people, {len(BLOCKS)} blocks"
        attack = FellegiSunter(blocks=BLOCKS, confidence=0.5)
        attack.run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1))  # warm
        mine = _timed(case, "unveil", attack, original, released, truth, None)
        yield mine
        try:
            splink = SplinkLinkage(blocks=BLOCKS)
            yield _timed(case, "splink through the adapter", splink, original, released, truth, mine.seconds)
        except MissingExtraError:
            print("splink is not installed: it is left out\n")
        start = process_time()
        links = free_links(first, second, BLOCKS)
        seconds = process_time() - start
        right = sum(truth[target] == row for target, row in links)
        who = f"free EM (precision {right / len(links):.3f}, recall {right / size:.3f})"
        yield Row(case, who, seconds, seconds / mine.seconds)


def _timed(case: str, who: str, attack: Any, original: Table, released: Table, truth: Any, mine: float | None) -> Row:
    start = process_time()
    guess = attack.run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1))
    seconds = process_time() - start
    found = adversary_success_rate(guess, truth), adversary_overall_success(guess, truth)
    return Row(case, f"{who} (precision {found[0]:.3f}, recall {found[1]:.3f})", seconds, seconds / (mine or seconds))


def _words(frame: pl.DataFrame, name: str) -> Table:
    kinds = dict.fromkeys(frame.columns, "category")
    return Table.from_frame(frame, name=name, kinds=kinds, roles=dict.fromkeys(frame.columns, "known"))


def intersection(sizes: list[int]) -> None:
    """Print CPU time and peak memory of the window attack on ever more rank-swapped rows x 8 columns, p = 10."""
    print(
        "| rows x 8, p = 10 | CPU seconds | rows left per released row, mean | peak memory, MB |\n|---:|---:|---:|---:|"
    )
    for size in sizes:
        code = f"from benchmarks.linkers import intersect; intersect({size})"
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        print(done.stdout, end="", flush=True)


def intersect(size: int) -> None:
    """Print one line of the table above, from a process of its own; the columns go together, as real ones do."""
    rng = np.random.default_rng(1)
    attack = RankIntersection(p=10)
    for count in (2_000, size):  # the first time only for the compiler
        values = np.round(1000 * (rng.normal(size=(count, 8)) + rng.normal(size=(count, 1)))).astype(np.int64)
        swapped = values.copy()
        for column in range(8):
            order = np.argsort(values[:, column], kind="stable")
            swapped[order, column] = values[order, column][partners(rng.random(count), count // 10)]
        original, released = (_numbers(table) for table in (values, swapped))
        start = process_time()
        guess = attack.run(released=released, knowledge=Knowledge(original), rng=rng)
        seconds = process_time() - start
    left = np.exp(guess.nonspecificity()).mean()
    peak = peak_memory()
    print(f"| {size:,} | {seconds:.2f} | {left:.1f} | {peak:,} |")


def _numbers(values: np.ndarray[Any, Any]) -> Table:
    names = [f"v{column}" for column in range(values.shape[1])]
    return Table.from_frame(pl.DataFrame(values, schema=names), roles=dict.fromkeys(names, "known"))


if __name__ == "__main__":
    from benchmarks.timing import as_markdown

    intersection([10_000, 100_000])
    print()
    print(as_markdown(list(rows())))
