"""Runs of a generator as sibling releases: how often an audit finds a leak, and flags none, by the number of runs.

    UNVEIL_DATA=... python -m benchmarks.generator_siblings [--nulls 300] [--powers 20] [--only NAME ...] [--runs N ...]

Needs the census files below the folder that UNVEIL_DATA names. Every audit has 300 people in 11 columns, and attacks
membership alone, so that copies do not show as copies. The generators are those of `benchmarks.siblings`. A leak-free
one draws columns one by one from 3,000 other people. Each cell is run once, with seeds that were fixed before.
"""

import argparse
import os
from collections.abc import Iterator
from math import isnan
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import unveil
from benchmarks.siblings import COLUMNS, Census, Generator, chain, columns, copying, interval, read
from unveil._kernels.types import IntArray

PEOPLE, OTHERS = 300, 3_000
#: The settings of the audits whose power is compared.
PLANS: tuple[dict[str, Any], ...] = (
    {"runs": 1},
    {"folds": 5},
    {"runs": 2},
    {"runs": 4},
    {"runs": 8},
    {"runs": 22},
    {"runs": 44},
)


class Outcome(NamedTuple):
    """One audit: whether membership, and the test with the run as unit, is significant; and both AUCs of DCR."""

    is_significant: bool
    run_is_significant: bool
    auc: float
    auc_calibrated: float


def frame(rows: IntArray) -> pl.DataFrame:
    """Return coded rows as people."""
    return pl.DataFrame(
        {name: part if name == "AGEP" else part.astype(str) for name, part in zip(COLUMNS, rows.T, strict=True)}
    )


def codes(people: pl.DataFrame) -> IntArray:
    """Return people as coded rows."""
    return np.column_stack([people[name].cast(pl.Int64).to_numpy() for name in COLUMNS])


def audited(census: Census, generator: Generator | None, plan: dict[str, Any], seed: int) -> Outcome:
    """Audit one generator once; None is leak-free."""
    rng = np.random.default_rng([seed, 59])
    rows = census.codes[rng.choice(len(census.codes), PEOPLE + OTHERS, replace=False)]
    others = rows[PEOPLE:]

    def make(given: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        if generator is None:
            return frame(columns(others, rng)[: given.height])
        return frame(generator(codes(given), rng))

    asked: dict[str, Any] = {
        "attacks": ["membership"],
        "release_type": "synthetic",
        "sensitive": "none",
        "identifiers": ["none"],
        "rng": rng,
    }
    found = unveil.audit(frame(rows[:PEOPLE]), generator=make, **asked, **plan).findings
    if found.way is None:
        raise RuntimeError("a generator was audited")
    siblings = found.way.siblings
    p, auc, calibrated = (
        (float("nan"),) * 3 if siblings is None else (siblings.p, siblings.auc, siblings.auc_calibrated)
    )
    return Outcome(bool(found.verdict.releases[0].proved), p <= found.verdict.alpha, auc, calibrated)


def cases() -> Iterator[tuple[str, Generator | None]]:
    """Yield all generators."""
    yield "leak-free", None
    yield "columns", columns
    yield "columns, 1% copied", copying(columns, 0.01)
    yield "chain", chain


def shown(value: float) -> str:
    """Return an AUC as text."""
    return "–" if isnan(value) else f"{value:.3f}"


def main() -> None:
    """Print a line for each generator and number of runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nulls", type=int, default=300, help="repeats of leak-free cases")
    parser.add_argument("--powers", type=int, default=20, help="repeats of all others")
    parser.add_argument("--only", nargs="*", default=[], help="generators with these names")
    parser.add_argument("--runs", nargs="*", type=int, default=[], help="these numbers of runs alone; 5 are five folds")
    asked = parser.parse_args()
    census = read(Path(os.environ["UNVEIL_DATA"]))["national"]
    print("| generator | plan | membership significant | run as unit significant | AUC of DCR | calibrated |")
    print("|---|---|---|---|---|---|")
    for name, generator in cases():
        if asked.only and name not in asked.only:
            continue
        for plan in PLANS:
            if asked.runs and not set(plan.values()) & set(asked.runs):
                continue
            tries, start = asked.nulls if generator is None else asked.powers, process_time()
            every = [audited(census, generator, plan, seed) for seed in range(tries)]
            hits = [sum(each[place] for each in every) for place in range(2)]
            rates = [f"{int(number)} of {tries}: {interval(int(number), tries)}" for number in hits]
            areas = [shown(float(np.mean([each[place] for each in every]))) for place in (2, 3)]
            print(f"| {name} | {plan} | {' | '.join((*rates, *areas))} |", flush=True)
            print(f"<!-- {(process_time() - start) / tries:.2f} s of CPU each -->", flush=True)


if __name__ == "__main__":
    main()
