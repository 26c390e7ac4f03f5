"""Made-up people with usual and rare records, and releases of them that leak or not."""

from collections.abc import Callable

import numpy as np
import polars as pl

from unveil._kernels.types import BoolArray
from unveil.data.table import Kind, Table
from unveil.data.table.release import Release

KINDS: dict[str, Kind] = {
    "age": "number",
    "job": "category",
    "degree": "category",
    "region": "category",
    "hours": "number",
    "children": "number",
    "married": "boolean",
    "income": "number",
    "moved": "date",
}
#: The few people of this region are a minority.
ISLE = "isle"
REGIONS = ["north", "south", "east", "west", ISLE]


def people(rows: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return people whose columns depend on one another, some of whose values are rare and some missing."""
    job = np.minimum(rng.geometric(0.2, rows), 15)
    age = np.clip(rng.normal(42 + job, 12, rows), 18, 90).astype(np.int64)
    month = rng.integers(0, 60, rows) + 12 * (age < 40)
    return pl.DataFrame(
        {
            "age": age,
            "job": [f"job {each}" for each in job],
            "degree": [
                f"degree {each}" for each in np.where(rng.random(rows) < 0.7, job % 5, rng.integers(0, 5, rows))
            ],
            "region": rng.choice(REGIONS, rows, p=[0.4, 0.3, 0.2, 0.075, 0.025]),
            "hours": np.where(rng.random(rows) < 0.6, 40, rng.integers(5, 70, rows)),
            "children": np.minimum(rng.poisson(np.where(age > 30, 1.5, 0.3)), 7),
            "married": rng.random(rows) < np.where(age > 30, 0.7, 0.2),
            "income": 25 * rng.integers(30 + 4 * job, 80 + 8 * job, rows),
            "moved": pl.Series(month).map_elements(
                lambda each: f"{2000 + each // 12}-{each % 12 + 1:02}-01", pl.String
            ),
        }
    ).with_columns(pl.when(pl.Series(rng.random(rows) < 0.02)).then(None).otherwise(pl.col("hours")).alias("hours"))


def table(frame: pl.DataFrame, name: str = "table", **more: Kind) -> Table:
    kinds = {column: kind for column, kind in (KINDS | more).items() if column in frame.columns}
    return Table.from_frame(frame, name=name, kinds=kinds, roles=dict.fromkeys(kinds, "known"))


def release(original: pl.DataFrame, released: pl.DataFrame, control: pl.DataFrame | None = None) -> Release:
    outside = None if control is None else table(control, "control")
    return Release(table(original, "original"), table(released, "released"), outside)


def draws(seed: int, *sizes: int) -> tuple[pl.DataFrame, ...]:
    rng = np.random.default_rng(seed)
    return tuple(people(size, rng) for size in sizes)


def lots(members: int, others: int, number: int, rng: np.random.Generator) -> list[Callable[[], BoolArray]]:
    """Return what makes draws of labels, in blocks of unequal sizes."""
    labels = np.tile(np.arange(members + others) < members, (number, 1))
    return [block.copy for block in np.array_split(rng.permuted(labels, axis=1), 3)]
