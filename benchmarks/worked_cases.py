"""Rebuild worked cases of the decision rule as audits, and print each level next to the published one.

    UNVEIL_DATA=... python -m benchmarks.worked_cases --tables FOLDER [--cases 1 5 ...] [--seeds 3]

FOLDER holds ``SLID.csv`` (``benchmarks.decisions export``) and ``fair.csv`` (statsmodels, ``datasets/fair``). Cases of
Adult and of census records need UNVEIL_DATA. The draws are other ones than those of the published cases, so that
numbers differ; the level should not. Quasi-identifiers are not stated: cases 7 and 14 have two published results.
"""

import argparse
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import polars as pl

from benchmarks import calibrate
from benchmarks.audit_decision import Line, line_of, table
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.protections import Mondrian

#: The original, the control group, and the release.
Tables = tuple[pl.DataFrame, pl.DataFrame | None, Any]
Make = Callable[[Path, np.random.Generator], Tables]


@dataclass(frozen=True)
class WorkedCase:
    """How a case is made, and the published level and decision."""

    title: str
    make: Make
    level: str
    decision: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def rows_of(frame: pl.DataFrame, rng: np.random.Generator, *sizes: int) -> list[pl.DataFrame]:
    """Return disjoint samples of people."""
    drawn = frame[rng.permutation(frame.height)[: sum(sizes)]]
    return [drawn[start : start + size] for start, size in zip(np.cumsum([0, *sizes[:-1]]), sizes, strict=True)]


def slid(folder: Path, rng: np.random.Generator) -> list[pl.DataFrame]:
    """Return 1,800 and 1,200 earners of the Canadian Survey of Labour and Income Dynamics."""
    frame = pl.read_csv(folder / "SLID.csv", infer_schema_length=None)
    return rows_of(frame.select("age", "education", "sex", "language", "wages").drop_nulls(), rng, 1800, 1200)


def fair(folder: Path, rng: np.random.Generator) -> list[pl.DataFrame]:
    """Return 1,200 and 800 women of the survey of Fair (1978)."""
    return rows_of(pl.read_csv(folder / "fair.csv", infer_schema_length=None), rng, 1200, 800)


def in_bands(name: str, width: int) -> pl.Expr:
    """Return a number as the band it is in, such as 20-29."""
    low = (pl.col(name) / width).floor().cast(pl.Int64) * width
    return pl.format("{}-{}", low, low + width - 1).alias(name)


def apart(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return each column drawn from the table on its own."""
    return frame.select(pl.Series(each.name, each.gather(rng.integers(0, len(each), len(each)))) for each in frame)


def shuffled(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    return frame[rng.permutation(frame.height)]


def banded(folder: Path, rng: np.random.Generator) -> Tables:
    people, others = slid(folder, rng)
    return people, others, shuffled(people.with_columns(in_bands("age", 10), pl.col("wages").round(0)), rng)


def generalized(folder: Path, rng: np.random.Generator) -> Tables:
    """Return a release in broad bands, of which the person of each row is known."""
    people, others = slid(folder, rng)
    bands = in_bands("age", 30), in_bands("education", 10), in_bands("wages", 30)
    order = rng.permutation(people.height)
    made = Table.from_frame(people.with_columns(bands)[order], name="released")
    return people, others, Release(Table.from_frame(people, name="original"), made, kind="masked", truth=order)


def mondrian(k: int) -> Make:
    """Return what masks people in classes of k, of which the person of each row is known."""

    def make(folder: Path, rng: np.random.Generator) -> Tables:
        people, others = slid(folder, rng)
        return people, others, Mondrian(k=k).apply(Table.from_frame(people, name="original"), rng=rng)

    return make


def independent(people: Callable[[Path, np.random.Generator], list[pl.DataFrame]]) -> Make:
    def make(folder: Path, rng: np.random.Generator) -> Tables:
        inside, others = people(folder, rng)
        return inside, others, apart(inside, rng)

    return make


def without_control(make: Make) -> Make:
    def made(folder: Path, rng: np.random.Generator) -> Tables:
        people, _, released = make(folder, rng)
        return people, None, released

    return made


def noisy(folder: Path, rng: np.random.Generator) -> Tables:
    people, others = fair(folder, rng)
    noise = pl.Series(rng.normal(0, 0.5, people.height))
    return people, others, shuffled(people.with_columns((pl.col("affairs") + noise).round(4)), rng)


def ctgan(_: Path, rng: np.random.Generator) -> Tables:
    folder = Path(os.environ["UNVEIL_DATA"]) / "adult"
    read = (
        pl.read_csv(folder / f"{name}.csv.gz", infer_schema_length=None) for name in ("train", "control", "syn_ctgan")
    )
    people, others, made = (rows_of(frame, rng, 2000)[0] for frame in read)
    return people, others, made


def copied(_: Path, rng: np.random.Generator) -> Tables:
    census = calibrate.acs(Path(os.environ["UNVEIL_DATA"]))
    case = calibrate.Case(500, 500, 0.05)
    people, others, made = map(census.frame, calibrate.drawn(census.codes, census.numbers, case, rng))
    return people, others, made


def cart(_: Path, __: np.random.Generator) -> Tables:
    folder = Path(os.environ["UNVEIL_DATA"])
    made = pl.read_csv(folder / "crc/ma/rsynthpop_cart/cart_cf21_ma2019.csv.gz", infer_schema_length=None)
    people = pl.read_csv(folder / "acs/ma2019.csv.gz", infer_schema_length=None).select(made.columns)
    return people, None, made


_MASKED = {"release_type": "masked", "sensitive": ["wages"]}
_SYNTHETIC = {"release_type": "synthetic", "sensitive": ["wages"]}
_FAIR = {"release_type": "synthetic", "sensitive": ["affairs"]}
CASES: Mapping[str, WorkedCase] = MappingProxyType(
    {
        "1": WorkedCase("SLID, age bands, wages rounded", banded, "high", "fail", _MASKED),
        "5": WorkedCase("SLID mondrian:k=25", mondrian(25), "very_low", "pass", _MASKED),
        "6": WorkedCase("SLID mondrian:k=100", mondrian(100), "very_low", "pass", _MASKED),
        "7": WorkedCase("SLID, generalized by hand", generalized, "very_low", "pass", _MASKED),
        "8": WorkedCase(
            "case 1 without control, type not stated", without_control(banded), "high", "fail", {"sensitive": ["wages"]}
        ),
        "9": WorkedCase(
            "CRC synthpop CART, no control",
            cart,
            "low",
            "inconclusive",
            {"release_type": "synthetic", "sensitive": ["PINCP_DECILE"]},
        ),
        "10": WorkedCase(
            "Fair, independent columns, no control",
            without_control(independent(fair)),
            "inconclusive",
            "inconclusive",
            _FAIR,
        ),
        "11": WorkedCase("SLID, independent columns", independent(slid), "very_low", "inconclusive", _SYNTHETIC),
        "14": WorkedCase("SLID mondrian:k=5", mondrian(5), "low", "pass", _MASKED),
        "15": WorkedCase("Fair, noise on one column", noisy, "high", "fail", {**_FAIR, "release_type": "masked"}),
        "16": WorkedCase("Fair, independent columns", independent(fair), "none_found", "inconclusive", _FAIR),
        "17": WorkedCase(
            "Adult CTGAN (2,000/2,000)",
            ctgan,
            "none_found",
            "pass",
            {"release_type": "synthetic", "sensitive": ["income"]},
        ),
        "18": WorkedCase(
            "ACS, 5% verbatim (500/500)",
            copied,
            "medium",
            "fail",
            {"release_type": "synthetic", "sensitive": ["PINCP_DECILE"]},
        ),
    }
)


def line(number: str, folder: Path, seed: int) -> Line:
    """Return the line of one case."""
    case = CASES[number]
    people, others, released = case.make(folder, np.random.default_rng([48, int(number), seed]))
    return line_of(people, released, others, seed=seed, **case.settings)


def _row(number: str, found: Line) -> tuple[object, ...]:
    """Return what is printed: the levels, the decisions, and the effects that matter."""
    case, worst = CASES[number], found["worst"]
    effect = "" if worst is None or worst["value"] is None else _points(worst)
    tested = [each for each in found["effects"] if each["high"] is not None]
    widest = max(tested, key=lambda each: each["high"], default=None)
    same = "yes" if found["level"] == case.level else "NO"
    return (
        number,
        case.title,
        found["seed"],
        case.level,
        found["level"],
        same,
        case.decision,
        found["decision"],
        effect,
        "" if widest is None else _points(widest),
        found["reason"],
        found["seconds"],
    )


def _points(effect: Line) -> str:
    value, low, high = (100 * effect[key] for key in ("value", "low", "high"))
    p = "" if effect["p"] is None else f", p {effect['p']:.4f}"
    return f"{effect['attack']} {effect['attacker']} {value:.1f} ({low:.1f}, {high:.1f}){p}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, default=Path())
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    rows = []
    for number in asked.cases:
        for seed in range(asked.seeds):
            rows.append(_row(number, line(number, asked.tables, seed)))
            print(*rows[-1], sep="; ", flush=True)
    head = (
        "Case | title | seed | level published | level | same | decision published | decision | worst effect | "
        "largest upper limit | reason | seconds"
    )
    print(f"\n{table(head, iter(rows))}")


if __name__ == "__main__":
    main()
