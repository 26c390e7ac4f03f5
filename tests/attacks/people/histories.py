"""Small releases of people with several rows: ties, missing values, and people without rows."""

from typing import NamedTuple

import numpy as np
import polars as pl

from unveil._kernels.types import IntArray
from unveil.attacks.people.rows import PersonRows, TargetRows, child_rows, parent_rows
from unveil.data.table import Table
from unveil.data.table.child_tables import ChildRelease, ChildTable
from unveil.data.table.release import Release

COLUMNS = ("age", "town")


class People(NamedTuple):
    """One row per person, and the child rows with their person."""

    parents: pl.DataFrame
    rows: pl.DataFrame


def draw(number: int, rng: np.random.Generator, most: int = 4) -> People:
    """Return people with few values, so that rows and people tie; some have no row."""
    size = rng.integers(0, most + 1, number)
    size[0] = max(size[0], 1)
    person = np.repeat(np.arange(number), size)
    rows = pl.DataFrame(
        {
            "person": person,
            "day": rng.integers(0, 60, person.size),
            "kind": rng.choice(["a", "b", "c"], person.size),
            "cost": np.round(rng.random(person.size) * 90, 1),
        }
    )
    parents = pl.DataFrame({"age": np.round(rng.random(number) * 70, 1), "town": rng.choice(["x", "y", "z"], number)})
    return People(parents, rows.sort("person", "day", maintain_order=True))


def child_of(people: People) -> ChildTable:
    kinds = {"day": "number", "kind": "category", "cost": "number"}
    rows = Table.from_frame(people.rows.drop("person"), name="visits", kinds=kinds)
    return ChildTable("visits", rows, people.rows["person"].to_numpy().astype(np.int64), people.parents.height, "day")


def release_of(original: People, released: People, control: People | None) -> Release:
    """Return the release of these people with their visits."""
    tables = [
        None if each is None else Table.from_frame(each.parents, kinds={"age": "number", "town": "category"})
        for each in (original, released, control)
    ]
    assert tables[0] is not None
    assert tables[1] is not None
    children = (child_of(original), child_of(released), None if control is None else child_of(control))
    return Release(tables[0], tables[1], tables[2], kind="synthetic", children=(ChildRelease.of(*children),))


def coded(release: Release, targets: TargetRows | None = None) -> tuple[PersonRows, PersonRows]:
    """Return parent rows and child rows of targets, all unless given, and released people."""
    others = 0 if release.control is None else release.control.rows
    targets = targets or TargetRows(np.arange(release.original.rows), np.arange(others))
    return parent_rows(release, targets, COLUMNS), child_rows(release.children[0], targets, release.released.rows)


def shuffled(people: People, order: IntArray, rng: np.random.Generator) -> People:
    """Return the same people in another order with new keys; rows of one day may swap places."""
    place = np.argsort(order)
    rows = people.rows.with_columns(pl.Series("person", place[people.rows["person"].to_numpy()]))
    rows = rows[rng.permutation(rows.height)].sort("person", "day", maintain_order=True)
    return People(people.parents[order], rows)
