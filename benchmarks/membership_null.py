"""How often do figures of membership miss the truth, where it is known? Harmless tables, and leaks that were planted.

    UNVEIL_DATA=... python -m benchmarks.membership_null [--planted] [--seeds FIRST BEYOND]

Members, control and release are fresh draws of one population; planted releases hold a share of the members as they
are. Seeds are 0 to 399 for harmless tables and 0 to 39 for each planted share: fixed here, before anything was seen.
Each table is a line of a results file, so that a run may be stopped and started again.
"""

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import polars as pl

from benchmarks.calibrate import ACS, Case, Coded, Line, coded, drawn
from unveil.attacks import Membership
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.metrics.trials.membership import area_under_curve, called_at, pointed_out
from unveil.metrics.trials.risk import Rate, clopper_pearson

HARMLESS_SEEDS, PLANTED_SEEDS = (0, 400), (0, 40)
#: People in the data, in the control and in the release; the seed says which.
SIZES = (300, 500, 1000)
PLANTED_SIZE = 1000
LEAKS = (0.01, 0.02, 0.05, 0.1, 0.2)
LEVELS = (0.05, 0.01)


def populations(folder: Path) -> dict[str, Coded]:
    """Return whom tables are drawn from: with columns that tell nearly everybody apart, and without."""
    adult = pl.concat(
        [pl.read_csv(folder / "adult" / f"{name}.csv.gz", infer_schema_length=None) for name in ("train", "control")],
        how="vertical_relaxed",
    )
    census = pl.read_csv(folder / "acs" / "national2019.csv.gz", infer_schema_length=None)
    return {
        "Adult, 15 columns": coded(adult),
        "Adult without fnlwgt": coded(adult.drop("fnlwgt")),
        "census, 24 columns": coded(census.fill_null("N")),
        "census, 10 columns": coded(census.fill_null("N"), ACS),
    }


def measured(population: Coded, case: Case, seed: int, place: int) -> Line:
    """Return the figures of one table: of the combination, and of the one score that is used where people are few."""
    frames = map(
        population.frame, drawn(population.codes, population.numbers, case, np.random.default_rng([seed, place]))
    )
    kinds: dict[str, Any] = {
        name: "number" if number else "category"
        for name, number in zip(population.names, population.numbers, strict=True)
    }
    original, control, released = (Table.from_frame(frame, kinds=kinds) for frame in frames)
    told: Line = {}
    for method in ("combined", "relative"):
        attack = Membership(columns=population.names, method=method, targets=None)
        scores = attack.scores(
            released=released, knowledge=Knowledge(original, control), rng=np.random.default_rng([seed, place, 1])
        )
        both = scores.members, scores.nonmembers
        told[f"{method} area"] = _ends(area_under_curve(*both))
        for level in LEVELS:
            told[f"{method} at {level:g}"] = _ends(called_at(*both, level))
        told[f"{method} named"] = float(pointed_out(*both).mean())
    return told


def _ends(rate: Rate) -> list[float]:
    return [rate.value, rate.low, rate.high]


def cases(planted: bool, seeds: tuple[int, int]) -> Iterator[tuple[int, int, Case]]:
    """Yield seed, place of the population and case."""
    for seed in range(*seeds):
        if planted:
            yield from ((seed, place, Case(PLANTED_SIZE, PLANTED_SIZE, share)) for place in (0, 1) for share in LEAKS)
        else:
            size = SIZES[seed // 4 % len(SIZES)]
            yield seed, seed % 4, Case(size, size)


def truth_of(figure: str, leaked: float, expected: float) -> float:
    """Return what a figure is if just those who leaked stand out, and all others are called by luck alone."""
    level = 0.5 if figure.endswith("area") else expected
    return leaked + (1 - leaked) * level


def summary(lines: list[Line]) -> str:
    """Return per population and leak how often each interval misses the truth, and the mean of each figure."""
    rows = ["| population, leaked | figure | tables | truth | mean | interval misses | 95 % interval |"]
    rows += ["|---|---|---:|---:|---:|---:|---|"]
    groups = dict.fromkeys((str(line["population"]), float(str(line["leaked"]))) for line in lines)
    for name, leaked in [("all", 0.0)] * any(not line["leaked"] for line in lines) + list(groups):
        chosen = [line for line in lines if name in ("all", line["population"]) and line["leaked"] == leaked]
        for figure in (key for key in chosen[0] if key.endswith("area") or " at " in key):
            found = np.array([line[figure] for line in chosen], float)
            found = found[~np.isnan(found[:, 0])]
            if not len(found):
                continue
            truth = truth_of(figure, leaked, 0.0 if figure.endswith("area") else float(figure.rpartition(" ")[2]))
            missed = int(((found[:, 1] > truth) | (found[:, 2] < truth)).sum())
            rate = clopper_pearson(missed, len(found))
            rows.append(
                f"| {name}, {leaked:.0%} | {figure} | {len(found)} | {truth:.3f} | {found[:, 0].mean():.3f} | "
                f"{missed} ({rate.value:.1%}) | {rate.low:.1%} to {rate.high:.1%} |"
            )
        named = np.mean([float(str(line["combined named"])) for line in chosen])
        rows.append(f"| {name}, {leaked:.0%} | named with 5 % error | {len(chosen)} | {leaked:.3f} | {named:.3f} | | |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--planted", action="store_true", help="leaks of 1 to 20 % in place of harmless tables")
    parser.add_argument("--seeds", type=int, nargs=2, metavar=("FIRST", "BEYOND"))
    parser.add_argument("--results", type=Path, default=Path("unveil-calibration-membership.jsonl"))
    told = parser.parse_args()
    if "UNVEIL_DATA" not in os.environ:
        parser.error("set UNVEIL_DATA to the folder that holds adult/ and acs/")
    people = populations(Path(os.environ["UNVEIL_DATA"]))
    lines = [json.loads(line) for line in told.results.read_text().splitlines()] if told.results.exists() else []
    done = {(line["population"], line["leaked"], line["seed"]) for line in lines}
    seeds = tuple(told.seeds or (PLANTED_SEEDS if told.planted else HARMLESS_SEEDS))
    with told.results.open("a") as results:
        for seed, place, case in cases(told.planted, (seeds[0], seeds[1])):
            name = list(people)[place]
            if (name, case.leaked, seed) in done:
                continue
            line: Line = {"population": name, "leaked": case.leaked, "seed": seed, "people": case.members}
            line |= measured(people[name], case, seed, place)
            lines.append(line)
            results.write(json.dumps(line) + "\n")
            results.flush()
    print(summary([line for line in lines if bool(line["leaked"]) == told.planted]))


if __name__ == "__main__":
    main()
