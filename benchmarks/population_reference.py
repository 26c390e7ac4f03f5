"""A population file as reference set of membership scores: how often an audit flags, and the AUC of the learned score.

    UNVEIL_DATA=... python -m benchmarks.population_reference [--nulls 300] [--powers 20] [--only NAME ...]

Needs the census files below the folder that UNVEIL_DATA names. Each audit has people in the data and as many in the
control group, in 11 columns; the register has both and 2,000 others. A leak-free release draws columns one by one from
3,000 other people; a leaky one copies 2% of its people besides. The same seeds with and without register.
"""

import argparse
import os
from collections.abc import Iterator
from math import nan
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl

import unveil
from benchmarks.generator_siblings import frame
from benchmarks.siblings import Census, columns, interval, read
from unveil._kernels.types import IntArray

REGISTER, OTHERS = 2_000, 3_000


def audited(census: Census, people: int, copied: float, seed: int, *, known: bool, named: bool) -> tuple[bool, float]:
    """Return whether membership is significant, and the AUC; ``named`` tells people apart by an identifier."""
    rng = np.random.default_rng([seed, 61])
    rows = census.codes[rng.choice(len(census.codes), 2 * people + REGISTER + OTHERS, replace=False)]
    inside, outside = rows[:people], rows[people : 2 * people]

    def told(place: int, some: IntArray) -> pl.DataFrame:
        named_rows = frame(some).with_columns(id=np.arange(place, place + len(some)))
        return named_rows if named else named_rows.drop("id")

    released = columns(rows[-OTHERS:], rng)[:people]
    number = round(copied * people)
    released[:number] = inside[rng.permutation(people)[:number]]
    register = told(0, rows[: 2 * people + REGISTER]).sample(fraction=1.0, shuffle=True, seed=seed)
    asked: dict[str, Any] = {
        "attacks": ["membership"],
        "release_type": "synthetic",
        "sensitive": "none",
        "identifiers": ["id" if named else "none"],
        "rng": rng,
        **({"population": register} if known else {}),
    }
    found = unveil.audit(told(0, inside), frame(released), told(people, outside), **asked).findings
    areas = [each.separation.area.value for each in found.releases[0].findings if each.separation is not None]
    return bool(found.verdict.releases[0].proved), areas[0] if areas else nan


def cases() -> Iterator[tuple[str, int, float, bool, bool]]:
    """Yield all lines: people, share copied, whether the register is used, and whether people have identifiers."""
    yield "leak-free, register without identifier", 150, 0.0, True, False
    yield "leak-free, register with identifier", 150, 0.0, True, True
    yield "leak-free, no register", 150, 0.0, False, False
    for copied in (0.02, 0.05):
        yield f"{copied:.0%} copied, register without identifier", 450, copied, True, False
        yield f"{copied:.0%} copied, register with identifier", 450, copied, True, True
        yield f"{copied:.0%} copied, no register", 450, copied, False, False


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nulls", type=int, default=300, help="repeats of leak-free cases")
    parser.add_argument("--powers", type=int, default=20, help="repeats of all others")
    parser.add_argument("--only", nargs="*", default=[], help="cases whose names contain one of these")
    asked = parser.parse_args()
    census = read(Path(os.environ["UNVEIL_DATA"]))["national"]
    print("| case | significant | mean AUC |\n|---|---|---|")
    for name, people, copied, known, named in cases():
        if asked.only and not any(each in name for each in asked.only):
            continue
        tries, start = asked.powers if copied else asked.nulls, process_time()
        every = [audited(census, people, copied, seed, known=known, named=named) for seed in range(tries)]
        hits, area = sum(each for each, _ in every), float(np.nanmean([each for _, each in every]))
        print(f"| {name} | {hits} of {tries}: {interval(hits, tries)} | {area:.3f} |", flush=True)
        print(f"<!-- {(process_time() - start) / tries:.2f} s of CPU each -->", flush=True)


if __name__ == "__main__":
    main()
