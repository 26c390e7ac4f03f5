"""Masked releases are detected, fresh people and synthetic rows are not."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from tests.oracles import truthful as oracle
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.metrics.releases.release_type import is_masked
from unveil.metrics.releases.truthful import HeldValues, cells_of, compatible_rows
from unveil.protections import Mondrian, Suppression

TOWNS = [f"town {each}" for each in range(12)]
COLUMNS = ["age", "wage", "town"]


def people(rng: np.random.Generator, rows: int) -> pl.DataFrame:
    age = rng.integers(18, 90, rows)
    return pl.DataFrame(
        {"age": age, "wage": np.round(rng.normal(900 + 5 * age, 300), 1), "town": rng.choice(TOWNS, rows)}
    )


def bands(frame: pl.DataFrame) -> pl.DataFrame:
    low = pl.col("age") // 10 * 10
    band = pl.concat_str(low.cast(pl.String), pl.lit("-"), (low + 9).cast(pl.String)).alias("age")
    return frame.with_columns(band, pl.lit("*").alias("wage")).sample(fraction=1, shuffle=True, seed=1)


def protected(protection: Mondrian | Suppression) -> Callable[[pl.DataFrame], Table]:
    return lambda frame: protection.apply(Table.from_frame(frame), rng=np.random.default_rng(3)).released


def independent(frame: pl.DataFrame) -> pl.DataFrame:
    seeds = range(len(frame.columns))
    parts = [
        frame[name].sample(fraction=1, with_replacement=True, shuffle=True, seed=seed)
        for name, seed in zip(frame.columns, seeds, strict=True)
    ]
    return pl.DataFrame(parts)


def detected(original: pl.DataFrame, released: pl.DataFrame | Table, control: pl.DataFrame | None) -> bool:
    shown = released if isinstance(released, Table) else Table.from_frame(released)
    others = None if control is None else Table.from_frame(control)
    return is_masked(Release(Table.from_frame(original), shown, others, kind="masked"), original.columns)


@pytest.mark.parametrize("control", [True, False])
@pytest.mark.parametrize(
    "mask",
    [
        bands,
        lambda frame: bands(frame).head(200),
        lambda frame: frame.sample(fraction=1, shuffle=True, seed=2),
        protected(Mondrian(columns=("age", "wage"), k=5, cells=True)),
        protected(Mondrian(columns=("age", "wage", "town"), k=20, cells=True)),
        protected(Suppression(cells=True)),
    ],
    ids=["bands", "half of them", "shuffled", "mondrian 5", "mondrian 20", "suppressed"],
)
def test_masked_rows_are_detected(mask: Callable[[pl.DataFrame], pl.DataFrame | Table], control: bool) -> None:
    everybody = people(np.random.default_rng(1), 700)
    original, others = everybody.head(400), everybody.tail(300)
    assert detected(original, mask(original), others if control else None)


@pytest.mark.parametrize("columns", [COLUMNS, ["age"], ["town"], ["age", "town"]])
@pytest.mark.parametrize("control", [True, False])
def test_other_rows_are_not(columns: list[str], control: bool) -> None:
    rng = np.random.default_rng(2)
    for rows in (100, 1_000, 1_000):
        everybody = people(rng, 2 * rows + rows // 2).select(columns)
        original, fresh, others = everybody.head(rows), everybody.slice(rows, rows), everybody.tail(rows // 2)
        noisy = original.with_columns((pl.col(name) + 3) for name in columns if name != "town")
        noisy = noisy if "town" not in columns else noisy.with_columns(fresh["town"])
        for released in (fresh, fresh.head(rows // 3), independent(original), noisy):
            assert not detected(original, released, others if control else None)


def test_few_values_prove_nothing() -> None:
    rng = np.random.default_rng(4)
    original, others, fresh = (pl.DataFrame({"sex": rng.choice(["f", "m"], 5_000)}) for _ in range(3))
    assert not detected(original, fresh, others)
    assert not detected(original, fresh.head(300), others)
    assert not detected(original, fresh.head(300), None)


def test_the_order_of_rows_plays_no_part() -> None:
    rng = np.random.default_rng(6)
    for rows in (25, 50, 100):
        everybody = people(rng, 2 * rows).select("age", "town")
        original, others = everybody.head(rows), everybody.tail(rows)
        shown = bands(original.with_columns(wage=0)).select("age", "town")
        found = {
            detected(*(each.sample(fraction=1, shuffle=True, seed=seed) for each in (original, shown, others)))
            for seed in range(4)
        }
        assert len(found) == 1


def test_compatible_people_are_those_of_the_definition() -> None:
    frame = people(np.random.default_rng(7), 60)
    shown = (
        bands(frame)
        .select("age", "town")
        .with_columns(
            pl.when(pl.int_range(pl.len()) % 5 == 0).then(pl.lit("*")).otherwise(pl.col("town")).alias("town")
        )
    )
    release = Release(Table.from_frame(frame), Table.from_frame(shown), kind="masked")
    held = [HeldValues.of(cells_of([release.original], release.released, name)) for name in shown.columns]
    places = [each.cells.places(release.original.held(name)) for each, name in zip(held, shown.columns, strict=True)]
    boxes = np.column_stack([each.cells.of_row for each in held])
    found = compatible_rows(held, places, boxes, 1_000)
    rows = frame.select("age", "town").rows()
    for (band, town), own in zip(shown.rows(), found, strict=True):
        low = int(band[:2])
        sets = frozenset(range(low, low + 10)), None if town == "*" else frozenset({town})
        assert own is not None
        assert sorted(own.tolist()) == [at for at, row in enumerate(rows) if oracle.compatible(sets, row)]
