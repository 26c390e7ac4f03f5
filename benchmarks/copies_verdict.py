"""How many leaked people are seen: copies counted, and unmistakable ones, in releases of fresh people with k members.

Needs the Adult files below the folder that UNVEIL_DATA names::

    python -m benchmarks.copies_verdict [releases]

All people, members, control and released rows, are disjoint draws with fixed seeds; k released rows are then those of
members. "Counted" is the hypergeometric p of members and control people who equal a released row, at 0.004, which is
what a family of figures leaves of 5 %.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
import polars as pl

from unveil._kernels.verdict.hypergeometric import hypergeometric_p
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.metrics.verdict.copies import copied_people
from unveil.metrics.verdict.pooled_tables import pool_tables

#: In these columns 2 % of strangers equal one of 1,000 people by coincidence; in all 15 nobody does.
TEN = ["age", "type_employer", "education", "marital", "occupation"]
TEN += ["relationship", "race", "sex", "hr_per_week", "country"]
LEAKED = (0, 1, 5, 10, 20)
PEOPLE = 1_000
COUNTED = 0.004


class Share(NamedTuple):
    """The share of releases in which so many leaked people were seen."""

    columns: int
    control: int
    leaked: int
    releases: int
    counted: float
    unmistakable: float


def adult() -> pl.DataFrame | None:
    """Return all people of Adult, if the files are there."""
    folder = Path(os.environ.get("UNVEIL_DATA", "")) / "adult"
    files = [folder / f"{name}.csv.gz" for name in ("train", "control")]
    return pl.concat([pl.read_csv(file) for file in files]) if all(file.exists() for file in files) else None


def tried(people: Table, control: int | None, leaked: int, seed: int) -> tuple[bool, bool]:
    """Return whether one release is found by counting, and by unmistakable copies; None is no control."""
    rng = np.random.default_rng([seed, leaked])
    others = control or 0
    drawn = rng.choice(people.rows, 2 * PEOPLE + others, replace=False)
    members, rest, fresh = np.split(drawn, [PEOPLE, PEOPLE + others])
    rows = np.concatenate([members[:leaked], fresh[leaked:]])
    outside = None if control is None else people.take(rest)
    found = copied_people(pool_tables(Release(people.take(members), people.take(rows), outside)))
    p = hypergeometric_p(found.people_unchanged, found.control_unchanged, PEOPLE, others)
    return p <= COUNTED, found.unmistakable > 0


def shares(people: pl.DataFrame, releases: int) -> Iterator[Share]:
    """Yield the share of releases that were found, by columns, control and leaked people."""
    for columns, control in ((TEN, 1_000), (people.columns, 1_000), (TEN, None)):
        table = Table.from_frame(people.select(columns), roles=dict.fromkeys(columns, "known"), missing=["?"])
        for leaked in LEAKED:
            found = np.array([tried(table, control, leaked, seed) for seed in range(releases)])
            yield Share(len(columns), control or 0, leaked, releases, *found.mean(axis=0).tolist())


def main(releases: int = 200) -> None:
    people = adult()
    if people is None:
        print("UNVEIL_DATA names no folder with adult/train.csv.gz: copies are left out")
        return
    start = process_time()
    print(
        "| columns | control | leaked of 1,000 | releases | counted | unmistakable |\n|---:|---:|---:|---:|---:|---:|"
    )
    for each in shares(people, releases):
        print(f"| {' | '.join(map(str, each[:4]))} | {each.counted:.3f} | {each.unmistakable:.3f} |", flush=True)
    print(f"{process_time() - start:.0f} s of CPU")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
