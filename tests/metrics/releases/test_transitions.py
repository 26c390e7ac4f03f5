"""Transitions between consecutive values, against their definition."""

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.data.table import Table
from unveil.data.table.child_summaries import sorted_rows
from unveil.data.table.child_tables import ChildRelease, ChildTable
from unveil.metrics.releases.transitions import transition_distances

rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 99), st.sampled_from(["a", "b", None])), min_size=1, max_size=20,
    unique_by=lambda row: row[:2],
)  # fmt: skip


def child(given_rows: list[tuple[int, int, str | None]], *, time: bool = True) -> ChildTable:
    frame = pl.DataFrame(given_rows, schema={"person": pl.Int64, "year": pl.Int64, "ward": pl.String}, orient="row")
    kinds: dict[str, Any] = {"year": "number", "ward": "category"}
    table = Table.from_frame(frame.drop("person"), name="visits", kinds=kinds)
    ordered, person = sorted_rows(table, frame["person"].to_numpy(), "year")
    return ChildTable("visits", ordered, person, 4, "year" if time else None)


def shares(given_rows: list[tuple[int, int, str | None]]) -> dict[tuple[str | None, str | None], float]:
    """Return the share of each pair of consecutive values, person by person."""
    pairs: Counter[tuple[str | None, str | None]] = Counter()
    for person in range(4):
        values = [ward for _, ward in sorted((year, ward) for owner, year, ward in given_rows if owner == person)]
        pairs.update(pairwise(values))
    return {pair: number / sum(pairs.values()) for pair, number in pairs.items()}


@given(rows, rows, rows)
def test_the_distance_is_that_of_the_definition(
    one: list[tuple[int, int, str | None]],
    other: list[tuple[int, int, str | None]],
    control: list[tuple[int, int, str | None]],
) -> None:
    later = [(person, 100 + year, ward) for person, year, ward in control]  # people of their own
    found = transition_distances(ChildRelease.of(child(one), child(other), child(later)))
    own, released, outside = shares(one), shares(other), shares(control)
    if not own or not released:
        assert found == ()
        return
    (distance,) = found
    for value, there in ((distance.distance, released), (distance.control, outside)):
        if there:
            expected = sum(abs(own.get(pair, 0) - there.get(pair, 0)) for pair in own | there) / 2
            assert value == pytest.approx(expected)
        else:
            assert np.isnan(value)


def test_without_an_order_there_are_no_transitions() -> None:
    both = [child([(0, 1, "a"), (0, 2, "b")], time=False)] * 2
    assert transition_distances(ChildRelease.of(*both)) == ()
