"""Columns that are put on their scale once: the same distances as if they were put there for each question."""

import pickle
from typing import Any

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from unveil._kernels.neighbours.matrix import all_distances
from unveil.data.table import Table, agree
from unveil.data.table.encode import EncodedTable, encode, equality
from unveil.data.table.scales import Agreement

AGES = st.one_of(st.none(), st.integers(-5, 60), st.sampled_from([10**12, -(10**12)]))
PAYS = st.one_of(st.none(), st.sampled_from([0.5, 1.25, 2.0, 3.75]))
REALS = st.one_of(st.none(), st.floats(-1, 1, allow_subnormal=False))
TOWNS = st.one_of(st.none(), st.sampled_from(["Ulm", "Bonn", "Kiel", "refused", "n/a"]))
ROWS = st.lists(st.tuples(AGES, PAYS, REALS, TOWNS, TOWNS), min_size=1, max_size=9)
KINDS: dict[str, Any] = {"age": "number", "pay": "number", "real": "number", "town": "category"}
LEVELS = ["Ulm", "Bonn", "Kiel"]


def table(rows: list[Any], name: str) -> Table:
    columns = dict(zip(("age", "pay", "real", "town", "level"), map(list, zip(*rows, strict=True)), strict=True))
    columns["level"] = [each if each in LEVELS else None for each in columns["level"]]
    types = {"age": pl.Int64, "pay": pl.Float64, "real": pl.Float64, "town": pl.String, "level": pl.String}
    frame = pl.DataFrame(columns, schema=types)
    markers = {"town": {"refused": "missing", "n/a": "not applicable"}}
    kinds = {**KINDS, "level": LEVELS}
    return Table.from_frame(frame, name=name, kinds=kinds, markers=markers)  # type: ignore[arg-type]


def distances(encoded: tuple[EncodedTable, ...]) -> list[list[float]]:
    """Return how far each person is from each released row, in mismatches."""
    people, released = encoded[0].grid(), encoded[1].grid()
    apart: list[list[float]] = (all_distances(released, people) / encoded[0].mismatch_cost).tolist()
    return apart


@given(ROWS, ROWS, ROWS, st.data())
def test_distances_are_those_of_tables_that_share_nothing(
    first: list[Any], second: list[Any], third: list[Any], data: st.DataObject
) -> None:
    original, released, control = agree(table(first, "original"), table(second, "released"), table(third, "control"))
    some = data.draw(st.lists(st.integers(0, original.rows - 1), min_size=1, max_size=4))
    names = data.draw(st.lists(st.sampled_from(original.column_names), min_size=1, unique=True))
    people, scale = original.take([*some, 0]).take(range(len(some))), original.extremes()
    shared = encode([people, released, control, scale], names, span_of=(0, 1, 3))
    # The same rows as tables that were never brought together.
    apart = encode(
        [Table(t.name, t.columns, t.content, marked=t.marked) for t in (people, released, control, scale)],
        names,
        span_of=(0, 1, 3),
    )
    if shared[0].exact and apart[0].exact:
        assert distances(shared) == distances(apart)
    else:  # steps that are rounded are rounded alike up to their size
        np.testing.assert_allclose(distances(shared), distances(apart), rtol=0.02, atol=1e-6)


def with_marks(people: Table, name: str) -> list[Any]:
    marks = people.marked.get(name, pl.Series([0] * people.rows)).to_list()
    return list(zip(people.frame[name].to_list(), marks, strict=True))


@given(ROWS, ROWS)
def test_numbers_are_equal_where_cells_are_and_only_there(first: list[Any], second: list[Any]) -> None:
    original, released = agree(table(first, "original"), table(second, "released"))
    for name in original.column_names:
        own, others = (part.of(slice(None)) for part in equality([original, released], name))
        marks = [t.marked.get(name, pl.Series([0] * t.rows)).to_list() for t in (original, released)]
        cells = [
            list(zip(t.frame[name].to_list(), m, strict=True)) for t, m in zip((original, released), marks, strict=True)
        ]
        for place, cell in enumerate(cells[0]):
            for other, there in enumerate(cells[1]):
                assert (own[place] == others[other]) == (cell == there)


def test_people_have_scales_beside_a_release_of_ranges() -> None:
    original = Table.from_frame({"age": [31, 40, 55, None], "ill": [True, False, True, None]}, kinds={"age": "number"})
    released = Table.from_frame({"age": ["30-39", "40-49", "*", "50-59"], "ill": ["*", "true", "true", "false"]})
    people, others = agree(original, released)
    assert others.coarse() == ("age", "ill")
    (alone,) = encode([people.take([0, 1, 3])], ["age", "ill"])
    assert alone.codes[:, 0].tolist() == [2, 1, 0]
    assert (alone.numbers[1, 0] - alone.numbers[0, 0]) * alone.step_cost[0] == alone.mismatch_cost


def test_rows_that_are_sent_elsewhere_do_not_take_the_tables_along() -> None:
    original, released = agree(*(table([(each, 0.5, 0.1, "Ulm", "Ulm") for each in range(9000)], n) for n in "ab"))
    sent = pickle.dumps(original.take([1, 2]))
    assert len(sent) < 20_000 < len(pickle.dumps(original))
    again, other = pickle.loads(pickle.dumps((original.take([1, 2]), released.take([3]))))  # noqa: S301
    assert isinstance(again.agreement, Agreement)
    assert again.agreement is other.agreement
    assert agree(again, other) == (again, other)
    here = encode([original.take([1, 2]), released.take([3])], ["age", "town"])
    assert distances(encode([again, other], ["age", "town"])) == distances(here)
