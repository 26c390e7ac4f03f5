"""Compare linkability at one, three and ten neighbors: what it rules out on harmless releases, and what it finds.

    UNVEIL_DATA=... python -m benchmarks.linkability_neighbours [--draws 3] [--tables adult acs-tx ...]

For each table and draw, 600 people are released in several ways and 600 others are the control group (400 of ANES 96).
Printed per way and number of neighbors: the largest upper limit of the excess over all column splits, the largest
excess, and the smallest adjusted p; medians over draws, with the worst draw behind them.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl

import unveil
from unveil.data.samples import path as sample
from unveil.guesses.trials import Trials
from unveil.metrics.verdict.effects import risk_difference
from unveil.protections import protection_from
from unveil.questions.audit.attacks import linkability

NEIGHBOURS = (1, 3, 10)
PEOPLE = 600
COLUMNS = 10
TABLES = {
    "adult": "adult/train.csv.gz",
    "acs-national": "acs/national2019.csv.gz",
    "acs-ma": "acs/ma2019.csv.gz",
    "acs-tx": "acs/tx2019.csv.gz",
}


def read(name: str) -> pl.DataFrame:
    """Return a table with its first columns, without the numbers of rows."""
    file = Path(os.environ["UNVEIL_DATA"]) / TABLES[name] if name in TABLES else sample("anes96.csv")
    frame = pl.read_csv(file, infer_schema_length=None)
    return frame.select([each for each in frame.columns if frame[each].n_unique() < frame.height][:COLUMNS])


def moved(rows: pl.DataFrame, everybody: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return the rows with each number moved by a tenth of its standard deviation at most, and rounded."""
    numbers = [name for name, kind in rows.schema.items() if kind.is_numeric() and everybody[name].n_unique() > 20]
    steps = {name: 0.1 * float(everybody[name].std() or 0.0) for name in numbers}  # type: ignore[arg-type]
    return rows.with_columns(
        (pl.col(name) + pl.Series(rng.uniform(-step, step, rows.height))).round(0) for name, step in steps.items()
    )


def masked(how: str) -> Callable[..., pl.DataFrame]:
    """Return what masks the people by a protection of tables."""

    def make(members: pl.DataFrame, _: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        protection: Any = protection_from(how)
        made: pl.DataFrame = protection.apply(unveil.Table.from_frame(members), rng=rng).released.frame
        return made.sample(fraction=1.0, shuffle=True, seed=int(rng.integers(2**31)))

    return make


def leaked(part: float, change: Callable[..., pl.DataFrame] | None = None) -> Callable[..., pl.DataFrame]:
    """Return what releases other people, and this share of the people themselves."""

    def make(members: pl.DataFrame, others: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        number = round(part * members.height)
        copied = members.head(number)
        copied = copied if change is None else change(copied, members, rng)
        whole = pl.concat([copied, others.head(members.height - number)], how="vertical_relaxed")
        return whole.sample(fraction=1.0, shuffle=True, seed=int(rng.integers(2**31)))

    return make


WAYS = {
    "fresh people": leaked(0),
    "5 % verbatim": leaked(0.05),
    "5 %, numbers moved": leaked(0.05, moved),
    "10 % verbatim": leaked(0.1),
    "mondrian k=10": masked("mondrian:k=10"),
    "noise": masked("additive-noise"),
}


def measured(
    original: pl.DataFrame, released: pl.DataFrame, control: pl.DataFrame, neighbours: int
) -> tuple[float, float, float]:
    """Return the largest upper limit, the largest excess and the smallest adjusted p over all splits."""
    every: list[Trials] = []
    own = linkability._finding

    def kept(attacked: Any, scenario: Any, trials: Trials, neighbours: int, **more: Any) -> Any:
        if scenario.origin == "tried":
            every.append(trials)
        return own(attacked, scenario, trials, neighbours, **more)

    linkability._finding = kept
    try:
        found = unveil.audit(original, released, control, attacks=["linkability"], neighbors=neighbours).findings
    finally:
        linkability._finding = own
    effects = [risk_difference(each.attack, each.control, effects=len(every)) for each in every if each.control]
    p = [each.p_adjusted for each in found.releases[0].findings if each.p_adjusted == each.p_adjusted]
    return max(each.high for each in effects), max(each.value for each in effects), min(p, default=float("nan"))


def rows(tables: list[str], draws: int) -> Iterator[tuple[str, str, int, tuple[float, float, float]]]:
    """Yield what each audit gave."""
    for name in tables:
        frame = read(name)
        for draw in range(draws):
            rng = np.random.default_rng([48, draw, len(name)])
            number = min(PEOPLE, frame.height // 3 // 100 * 100)
            drawn = frame.sample(3 * number, shuffle=True, seed=int(rng.integers(2**31)))
            members, control, others = (drawn[place * number : (place + 1) * number] for place in range(3))
            for way, make in WAYS.items():
                released = make(members, others, rng)
                for neighbours in NEIGHBOURS:
                    found = measured(members, released, control, neighbours)
                    print(name, draw, way, neighbours, *(f"{each:.4f}" for each in found), sep="\t", flush=True)
                    yield name, way, neighbours, found


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--tables", nargs="+", default=[*TABLES, "anes96"])
    told = parser.parse_args()
    found = list(rows(told.tables, told.draws))
    print("\nway, neighbors: largest upper limit (worst), largest excess, smallest adjusted p (worst)")
    for way in WAYS:
        for neighbours in NEIGHBOURS:
            own = [each for _, its, number, each in found if (its, number) == (way, neighbours)]
            highs, values, p = ([each[place] for each in own] for place in range(3))
            print(
                f"{way:20} {neighbours:3}  {median(highs):.3f} ({max(highs):.3f})  {median(values):.3f}  "
                f"{median(p):.4f} ({max(p):.4f})"
            )


if __name__ == "__main__":
    main()
