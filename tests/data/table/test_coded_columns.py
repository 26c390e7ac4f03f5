"""A column as codes on disk is the same column, cell by cell, and so is whatever is made of it."""

import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.files.test_column_store import is_on_disk, on_linux, on_unix
from unveil.data.files.column_store import ColumnStore
from unveil.data.table import Table, coded_columns
from unveil.data.table.coded_columns import CellFrame, StoredColumn, cells_of, lookup_of, places, value_counts, words_of

CODED: dict[str, pl.Series] = {
    "text": pl.Series(["a", None, "", "Zoë", "a text of more than twelve bytes"] * 7),
    "whole": pl.Series([1, None, -3] * 9),
    "full": pl.Series([1, 2, 3]),
    "far": pl.Series([-(2**63), None, 2**63 - 1]),
    "real": pl.Series([0.5, None, float("inf"), -1e300, 0.0]),
    "truth": pl.Series([True, None, False] * 30),
    "long": pl.Series([1, None, 2**90], dtype=pl.Int128),
    "moment": pl.Series([datetime(2024, 2, 29, 1, 2, 3), None]),
    "byte": pl.Series([0, 255, None], dtype=pl.UInt8),
    "small": pl.Series([0, -5, None], dtype=pl.Int16),
    "single": pl.Series([0.5, None], dtype=pl.Float32),
    "missing": pl.Series([None, None], dtype=pl.String),
    "levels": pl.Series(["low", None, "high"], dtype=pl.Enum(["low", "middle", "high"])),
    "many": pl.Series(range(0, 3000, 7)),
}
#: These stay in memory.
PLAIN: dict[str, pl.Series] = {
    "zeros": pl.Series([0.0, -0.0, 1.5]),
    "nan": pl.Series([0.5, float("nan")]),
    "empty": pl.Series([], dtype=pl.Int64),
    "bytes": pl.Series([b"a", None]),
    "day": pl.Series([date(2024, 2, 29), None]),
    "span": pl.Series([timedelta(seconds=1), None]),
    "decimal": pl.Series([Decimal("1.5"), None]),
    "list": pl.Series([[1], None, [2, 3]]),
    "nothing": pl.Series([None, None]),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ColumnStore]:
    """A store whose folder is looked into afterwards."""
    yield ColumnStore(tmp_path)
    assert list(tmp_path.iterdir()) == []


def on_disk(frame: pl.DataFrame, store: ColumnStore) -> CellFrame:
    return CellFrame({column.name: StoredColumn.of(column, store) for column in frame})


@on_unix
@pytest.mark.parametrize("few", [1, 1 << 14])
@pytest.mark.parametrize("name", [*CODED, *PLAIN])
def test_a_column_on_disk_is_the_same_column(
    store: ColumnStore, name: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coded_columns, "_FEW_WORDS", few)
    given = (CODED | PLAIN)[name]
    for values in (given, given[1:], pl.concat([given, given[:1], given]), given.head(0)):
        column = StoredColumn.of(values, store)
        assert isinstance(column, StoredColumn) == (name in CODED and not values.is_empty())
        for same in (column, pickle.loads(pickle.dumps(column))):  # noqa: S301
            found = cells_of(same)
            assert (found.dtype, found.null_count()) == (values.dtype, values.null_count())
            assert found.to_list() == values.to_list() or name == "nan"
            rows = np.arange(values.len())[::-2]
            assert CellFrame({"a": same})[rows]["a"].to_list() == values.gather(rows).to_list() or name == "nan"


@on_linux
@pytest.mark.parametrize("name", CODED)
def test_codes_are_narrow_ascend_with_the_values_and_lie_on_disk(store: ColumnStore, name: str) -> None:
    values = CODED[name]
    column = StoredColumn.of(values, store)
    assert isinstance(column, StoredColumn)
    assert is_on_disk(column.codes)
    assert column.codes.dtype == (np.uint16 if name == "many" else np.uint8)
    there = values.is_not_null().to_numpy()
    assert ((column.codes > 0) == there).all()
    order = np.argsort(column.codes[there], kind="stable")
    assert values.drop_nulls().gather(order).is_sorted()


@on_unix
@pytest.mark.parametrize("name", [name for name in CODED if name != "missing"])
def test_the_different_values_and_their_numbers_are_those_of_the_cells(store: ColumnStore, name: str) -> None:
    values = CODED[name].append(CODED[name].head(2))
    column = StoredColumn.of(values, store)
    assert StoredColumn.of(column, store) is column
    assert (column.len(), column.null_count()) == (values.len(), values.null_count())
    for each in (column, values):
        assert words_of(each).sort().to_list() == values.drop_nulls().unique().sort().to_list()
        assert dict(value_counts(each).rows()) == Counter(values.drop_nulls().to_list())
        assert value_counts(each)["value"].is_sorted()


@on_unix
def test_columns_below_one_another_are_one_column(store: ColumnStore) -> None:
    parts = [pl.Series([3, None, 1]), pl.Series([2.5, 3.0]), PLAIN["zeros"]]
    for some in (parts[:1], parts[:2], parts):
        wanted = pl.concat([each.to_frame("a") for each in some], how="vertical_relaxed")
        for place in (store, None):
            columns = [lookup_of(StoredColumn.of(each, place)) for each in some]
            found = StoredColumn.joined(columns, place)
            assert isinstance(found, StoredColumn) == (place is not None and len(some) < 3)
            assert cells_of(found).equals(wanted["a"], check_dtypes=True)
            assert np.signbit(cells_of(found).drop_nulls().to_numpy()).any() == (len(some) > 2)


@on_unix
def test_a_frame_on_disk_gives_the_same_rows(store: ColumnStore, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {name: each.gather(np.arange(50) % each.len()) for name, each in CODED.items()}
    frame = pl.DataFrame(columns | {"zeros": PLAIN["zeros"].gather(np.arange(50) % 3)})
    stored = on_disk(frame, store)
    assert (stored.height, stored.schema) == (50, dict(frame.schema))
    rows = np.array([49, 3, 3, 0])
    assert stored[rows].equals(frame[rows])
    assert stored[5:9].equals(frame[5:9])
    assert stored[["truth", "text"]][:].equals(frame[["truth", "text"]])
    assert stored.rename({"text": "word"}).get_column("word").equals(frame["text"])
    assert stored.with_columns([frame["whole"].alias("byte")])[:].equals(
        frame.with_columns(frame["whole"].alias("byte"))
    )
    monkeypatch.setattr(coded_columns, "_BLOCK", 7)
    assert stored.hash_rows(0).equals(frame.hash_rows(0))
    assert CellFrame({}).height == 0


@on_unix
@given(
    st.lists(
        st.tuples(st.sampled_from(["b", "a", "ä", "", None]), st.integers(-2, 2) | st.none(), st.booleans()),
        min_size=1,
        max_size=300,
    )
)
def test_ranks_sort_as_values_do(rows: list[tuple[str | None, int | None, bool]]) -> None:
    """Also among equal rows, so that tables on disk give the same answer to the byte."""
    frame = pl.DataFrame(
        {"a": [row[0] for row in rows], "b": [row[1] for row in rows], "c": [row[2] for row in rows]},
        schema={"a": pl.String, "b": pl.Int64, "c": pl.Boolean},
    )
    ranks = on_disk(frame, ColumnStore()).ranks()
    wanted, found = (each.select(pl.arg_sort_by(each.columns)).to_series() for each in (frame, ranks))
    assert found.equals(wanted)


@given(st.lists(st.integers(-5, 5) | st.none() | st.integers(-(2**62), 2**62), max_size=40))
def test_places_are_dense_ranks(values: list[int | None]) -> None:
    cells = pl.Series(values, dtype=pl.Int64)
    assert places(cells).tolist() == cells.rank("dense").fill_null(0).to_list()
    texts = cells.cast(pl.String)
    assert places(texts).tolist() == texts.rank("dense").fill_null(0).to_list()


@on_unix
def test_values_go_by_the_name_of_their_column(store: ColumnStore) -> None:
    """In memory and on disk: below one another columns must have one name."""
    for place in (store, None):
        content = CellFrame({"a": StoredColumn.of(CODED["whole"].alias("b"), place)})
        table = replace(Table.from_frame({"a": [1]}), content=content)
        assert {table.series("a").name, table.values("a").name, *table.frame.columns} == {"a"}
