"""Truthful releases: the definition by brute force, and releases that are true or not."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.metrics.verdict.made_up import draws
from tests.oracles import truthful as oracle
from unveil.data.table import Kind, Table
from unveil.errors import InputError
from unveil.metrics.releases import truthful
from unveil.metrics.releases.truthful import truthful_share

KINDS: dict[str, Kind] = {"age": "number", "town": "category"}
TOWNS = ("Ulm", "Bonn", "Kiel")
#: What is written, and which values it stands for; ages reach from 20 to 45, so that each is read in the same way.
AGES: dict[str, oracle.Cell] = {
    **{str(age): frozenset({age}) for age in (20, 27, 31, 45)},
    "20-29": frozenset({20, 27}),
    "30-49": frozenset({31, 45}),
    "20-31": frozenset({20, 27, 31}),
    "*": None,
}
PLACES: dict[str, oracle.Cell] = {
    **{town: frozenset({town}) for town in TOWNS},
    "{Kiel,Ulm}": frozenset({"Kiel", "Ulm"}),
    "{Bonn,Kiel}": frozenset({"Bonn", "Kiel"}),
    "*": None,
}
people = st.tuples(st.sampled_from((20, 27, 31, 45)), st.sampled_from(TOWNS))
masked = st.tuples(st.sampled_from(sorted(AGES)), st.sampled_from(sorted(PLACES)))
#: Everybody's values are there, so that nothing that is written depends on the rest.
EVERYBODY = [(20, "Ulm"), (27, "Bonn"), (31, "Kiel"), (45, "Ulm")]
WRITTEN = [("20-29", "{Kiel,Ulm}"), ("*", "*")]


def table(rows: list[tuple[object, ...]], name: str, **kinds: Kind) -> Table:
    frame = pl.DataFrame(rows, schema=list(KINDS), orient="row", strict=False)
    return Table.from_frame(frame, name=name, kinds=kinds, roles=dict.fromkeys(KINDS, "known"))


@given(st.lists(people, max_size=3), st.lists(masked, max_size=4), st.data())
def test_the_definition(more: list[tuple[int, str]], rows: list[tuple[str, str]], data: st.DataObject) -> None:
    original, released = [*EVERYBODY, *more], [*WRITTEN, *rows]
    sets = [(AGES[age], PLACES[town]) for age, town in released]
    tables = table([*original], "original", **KINDS), table([*released], "released")
    share = truthful_share(*tables, list(KINDS))
    assert share == oracle.most_matched(sets, original) / len(released)
    # The order of rows plays no part.
    mixed = [table([*data.draw(st.permutations(part))], "mixed", **kinds) for part, kinds in
             ((original, KINDS), (released, {}))]  # fmt: skip
    assert truthful_share(mixed[0], mixed[1], list(KINDS)) == share
    own = data.draw(st.lists(st.integers(-1, len(original) - 1), min_size=len(released), max_size=len(released)))
    right = [at >= 0 and oracle.compatible(row, original[at]) for row, at in zip(sets, own, strict=True)]
    assert truthful_share(*tables, list(KINDS), np.array(own)) == np.mean(right)


def share(original: pl.DataFrame, released: pl.DataFrame, matches: "list[int] | None" = None) -> float:
    tables = Table.from_frame(original, name="original"), Table.from_frame(released, name="released")
    return truthful_share(*tables, original.columns, None if matches is None else np.array(matches))


@pytest.mark.parametrize("most", [100, 2_000])
def test_true_releases_and_others(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truthful, "MOST_ROWS", most)
    original, fresh = draws(1, 400, 400)
    rng = np.random.default_rng(1)
    low = pl.col("age") // 10 * 10
    bands = original.with_columns(pl.format("{}-{}", low, low + 9).alias("age"))
    gone = bands.with_columns(
        pl.when(pl.Series(rng.random(400) < 0.2)).then(None).otherwise(pl.col("income")).alias("income"),
        pl.when(pl.Series(rng.random(400) < 0.2)).then(pl.lit("*")).otherwise(pl.col("region")).alias("region"),
    )
    for each in (original, bands, gone):
        assert share(original, each.sample(fraction=1, shuffle=True, seed=1)) == 1
        assert share(original, each, [*range(400)]) == 1
    assert share(original, gone, [*range(1, 400), 0]) < 0.1
    noise = original.with_columns(pl.col("income") + 25 * pl.Series(rng.integers(-1, 2, 400)))
    means = original.sort("income").with_columns(pl.col("income", "age").mean().over(pl.int_range(400) // 4))
    alone = original.select(pl.col(name).sample(fraction=1, shuffle=True, seed=at)
                            for at, name in enumerate(original.columns))  # fmt: skip
    for each in (noise, means, alone, fresh):
        assert share(original, each) < 0.7


def test_each_person_is_matched_once() -> None:
    original, *_ = draws(2, 40)
    assert share(original, pl.concat([original, original])) == 0.5
    assert share(original, original[[0] * 40]) == 1 / 40
    with pytest.raises(InputError, match="no column to compare is given"):
        truthful_share(Table.from_frame(original), Table.from_frame(original), [])
