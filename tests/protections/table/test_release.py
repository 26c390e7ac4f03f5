import numpy as np
import polars as pl
import pytest

from unveil.data.table import Table
from unveil.protections import protection_from
from unveil.protections.table._release import release_of

CELLS = ["N", "?", "", "5", "6", "7", "8", "9", "10", "11"] * 6


def people() -> Table:
    words = ["n/a", "a", "b", "c", "d"] * 12
    return Table.from_frame(pl.DataFrame({"age": CELLS, "town": words, "pay": [*range(60)]}), roles={"pay": "known"})


def held(table: Table, name: str) -> list[str]:
    """Return the marker in each cell, "null" for a plain gap and "" for a value."""
    texts = [marker.text for marker in table.column(name).markers]
    return [
        texts[place - 1] if place else "null" if empty else ""
        for place, empty in zip(table.marked[name], table.frame[name].is_null(), strict=True)
    ]


@pytest.mark.parametrize("shuffle", [True, False])
def test_rows_that_stay_or_lose_cells_keep_their_markers(shuffle: bool) -> None:
    original = people()
    gone = original.frame.with_columns(age=pl.when(pl.col("age") != 7).then(pl.col("age")))
    release = release_of(original, gone, name="x", kind="masked", rng=np.random.default_rng(1), shuffle=shuffle)
    assert release.truth is not None
    before = held(original, "age")
    cells = [CELLS[row] for row in release.truth]
    assert held(release.released, "age") == [
        "null" if cell == "7" else before[row] for cell, row in zip(cells, release.truth, strict=True)
    ]
    assert held(release.released, "town") == [held(original, "town")[row] for row in release.truth]
    assert release.released.column("age").markers == original.column("age").markers


@pytest.mark.parametrize(
    "name",
    ["shuffle", "gaussian-copula", "rank-swapping:p=0.2", "additive-noise:scale=0.1", "noisy-histogram:epsilon=9"],
)
def test_a_release_has_a_marker_wherever_it_has_no_number(name: str) -> None:
    original = people()
    release = protection_from(name).apply(original, rng=np.random.default_rng(2))
    markers = held(release.released, "age")
    assert {"N", "?", "null", ""} == set(markers)
    assert [bool(marker) for marker in markers] == release.released.frame["age"].is_null().to_list()
    assert [marker == "n/a" for marker in held(release.released, "town")] == (
        release.released.frame["town"] == "n/a"
    ).to_list()


def test_markers_may_tell_nothing_of_how_often_each_occurs() -> None:
    cells = pl.DataFrame({"age": ["N"] * 990 + ["?"] * 10 + ["5", "6"] * 500})
    original = Table.from_frame(cells, kinds={"age": "number"}, missing=["N", "?"])
    release = protection_from("noisy-histogram:rows=4000").apply(original, rng=np.random.default_rng(3))
    found = held(release.released, "age")
    # About half of 2,000 missing cells each; five standard deviations are 112.
    assert found.count("?") == pytest.approx(found.count("N"), abs=250)
    assert found.count("?") > 700
