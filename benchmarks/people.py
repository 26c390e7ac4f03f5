"""Audits of people with several rows: AUC and TPR at 1% FPR of each view, on made-up and public histories."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from unveil.data.table import Table
from unveil.data.table.child_tables import ChildRelease, ChildTable
from unveil.data.table.release import Release

#: What of a leaked person is released: all, the parent row, the child rows, or their order alone.
Leak = Literal["all", "parent", "rows", "row", "order"]
TYPES, WARDS = 6, 8


class People(NamedTuple):
    """Patients, and their visits sorted by patient and time."""

    parents: pl.DataFrame
    visits: pl.DataFrame


def draw_people(number: int, rng: np.random.Generator, visits: float = 10.0) -> People:
    """Return patients with visits: types follow a Markov chain, and habits differ between patients."""
    age = rng.integers(18, 90, number)
    parents = pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], number),
            "region": rng.choice(["north", "south", "east", "west"], number, p=[0.4, 0.3, 0.2, 0.1]),
            "income": np.round(np.exp(rng.normal(7.5, 0.5, number))).astype(int),
            "illness": rng.choice(list("abcdefgh"), number),
        }
    )
    size = rng.poisson(visits * rng.gamma(4, 0.25, number))
    rate, habit = rng.gamma(2, 10, number), rng.integers(0, TYPES, number)
    cost, ward = rng.normal(5, 0.6, number), rng.integers(0, WARDS, number)
    person = np.repeat(np.arange(number), size)
    gap = 1 + rng.exponential(rate[person]).astype(int)
    kind = rng.integers(0, TYPES, person.size)
    first = np.concatenate([[True], person[1:] != person[:-1]])[: person.size]
    for row in range(person.size):
        if not first[row] and rng.random() < 0.6:
            kind[row] = (kind[row - 1] + (rng.random() < 0.5)) % TYPES
        elif rng.random() < 0.3:
            kind[row] = habit[person[row]]
    return People(
        parents,
        pl.DataFrame(
            {
                "person": person,
                "day": _days(person, gap, rng),
                "type": kind.astype(str),
                "ward": np.where(rng.random(person.size) < 0.5, ward[person], rng.integers(0, WARDS, person.size)).astype(
                    str
                ),
                "cost": np.round(np.exp(rng.normal(cost[person], 0.5)), 1),
            }
        ),
    )


def _days(person: np.ndarray, gap: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the day of each row, from a random first day."""
    total = np.cumsum(gap)
    start = np.searchsorted(person, person)
    return total - total[start] + rng.integers(0, 365, int(person.max(initial=0)) + 1)[person]


def leaked(people: People, fresh: People, share: float, leak: Leak, rng: np.random.Generator) -> People:
    """Return fresh people of whom a share is replaced by people of the data."""
    number = fresh.parents.height
    places = rng.choice(number, round(share * number), replace=False)
    sources = rng.choice(people.parents.height, places.size, replace=False)
    parents, visits = fresh.parents, fresh.visits
    if leak in ("all", "parent"):
        take = np.arange(number)
        both = pl.concat([parents, people.parents])
        take[places] = number + sources
        parents = both[take]
    if leak in ("all", "rows", "order"):
        moved = people.visits.filter(pl.col("person").is_in(sources)).with_columns(
            pl.col("person").replace_strict(sources, places, return_dtype=pl.Int64)
        )
        if leak == "order":
            moved = _order_alone(moved, fresh, rng)
        kept = visits.filter(~pl.col("person").is_in(places))
        visits = pl.concat([kept, moved.select(kept.columns)]).sort("person", "day", maintain_order=True)
    if leak == "row":
        own = people.visits.filter(pl.col("person").is_in(sources)).sample(fraction=1.0, shuffle=True, seed=int(rng.integers(2**31)))
        one = own.unique("person", keep="first", maintain_order=True)
        hosts = rng.integers(0, number, one.height)
        visits = pl.concat([visits, one.with_columns(pl.Series("person", hosts)).select(visits.columns)])
        visits = visits.sort("person", "day", maintain_order=True)
    return People(parents, visits)


def _order_alone(moved: pl.DataFrame, fresh: People, rng: np.random.Generator) -> pl.DataFrame:
    """Return the histories with other wards, costs, and first days: types in order and gaps remain."""
    drawn = fresh.visits[rng.integers(0, fresh.visits.height, moved.height)]
    shift = rng.integers(-300, 300, fresh.parents.height)
    return moved.with_columns(
        drawn["ward"], drawn["cost"], (pl.col("day") + pl.Series(shift[moved["person"].to_numpy()])).alias("day")
    )


def release_of(original: People, released: People, control: People) -> Release:
    """Return the release of people with their visits."""

    def table(people: People, name: str) -> Table:
        kinds = {name: "number" for name in ("age", "income")}
        return Table.from_frame(people.parents, name=name, kinds=kinds)

    def child(people: People) -> ChildTable:
        rows = Table.from_frame(
            people.visits.drop("person"), name="visits", kinds={"day": "number", "cost": "number", "type": "category", "ward": "category"}
        )
        return ChildTable("visits", rows, people.visits["person"].to_numpy().astype(np.int64), people.parents.height, "day")

    return Release(
        table(original, "original"),
        table(released, "released"),
        table(control, "control"),
        kind="synthetic",
        children=(ChildRelease.of(child(original), child(released), child(control)),),
    )
