"""A table on disk is the table in memory, cell by cell and word by word, and so is whatever agrees with it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.files.test_column_store import is_on_disk, on_linux, on_unix
from unveil.data.files import _delimited_text
from unveil.data.files.column_store import ColumnStore
from unveil.data.table import Table, agree, stacked
from unveil.data.table.cells import Cells
from unveil.data.table.coded_columns import StoredColumn
from unveil.errors import InputError

MANY = 3_000


def people(rows: int = MANY) -> pl.DataFrame:
    """Return columns of text of all kinds, with markers, gaps and codes."""
    rng = np.random.default_rng(7)
    age = rng.integers(18, 90, rows)
    words = pl.Series(["north", "south", "", "a region with a long name", "N/A"])
    return pl.DataFrame(
        {
            "id": [f"p{number:05d}" for number in range(rows)],
            "age": ["N/A" if each % 11 == 0 else str(each) for each in age],
            "income": [f"{each * 10.5:.2f}" for each in age],
            "ward": [f"{each % 40:03d}" for each in age],
            "smoker": rng.choice(["yes", "no", "?"], rows),
            "region": words.gather(rng.integers(0, 5, rows)),
            "born": [f"{each % 28 + 1:02d}/{each % 12 + 1:02d}/19{each:02d}" for each in age],
            "band": [f"{each // 10 * 10}-{each // 10 * 10 + 9}" for each in age],
            "visits": ["99" if each % 13 == 0 else str(each % 6) for each in age],
            "score": rng.integers(1, 6, rows).astype(str),
            "empty": [""] * rows,
            "long": [str(10**20 + int(each)) for each in age],
        }
    )


def facts(table: Table) -> dict[str, Any]:
    """Return all that a table is."""
    return {
        "name": table.name,
        "columns": [vars(column) for column in table.columns],
        "schema": dict(table.frame.schema),
        "rows": table.frame.rows(),
        "marked": {name: (cells.dtype, cells.to_list()) for name, cells in table.marked.items()},
        "notes": table.notes,
        "sha256": table.sha256,
        "cells": None if table.cells is None else {name: cell_facts(each) for name, each in table.cells.items()},
    }


def cell_facts(cells: Cells) -> tuple[Any, ...]:
    return cells.of_row.tolist(), cells.state.tolist(), cells.share.tolist(), cells.marker, cells.values.to_list()


def outcome(path: Path, *, store: ColumnStore | None = None, **told: Any) -> dict[str, Any] | str:
    try:
        return facts(Table.read(path, store=store, **told))
    except InputError as error:
        return str(error)


FILES: dict[str, bytes] = {
    "plain": people().write_csv().encode(),
    "semicolons": people().write_csv(separator=";").replace(".", ",").encode(),
    "quotes": people(50).write_csv(quote_style="always").encode(),
    "windows": people(300).write_csv(line_terminator="\r\n").encode("cp1252"),
    "late": b"a,b\n" + b"1,2\n" * MANY + b"1,x\n",
    "late bytes": b"a,b\n" + b"1,2\n" * MANY + b"1,\xe9\n",
    "broken": b"a,b\n" + b"1,2\n" * MANY + b"1\n" + b"1,2\n" * MANY,
    "infinite": b"a,b\n" + b"1,2.5\n" * MANY + b"1,inf\n",
    "twins": b"a,b,a\n" + b"1,2,1\n" * MANY,
    "groups": b"a;b\n" + b"1.234,5;x\n" * 40 + b"-;y\n",
}


@on_unix
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("block", [1 << 10, 1 << 22])
def test_a_text_gives_the_same_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, block: int) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(FILES[name])
    wanted = outcome(path)
    monkeypatch.setattr(_delimited_text, "_BLOCK", block)
    assert outcome(path, store=ColumnStore()) == wanted


TOLD: dict[str, Mapping[str, Any]] = {
    "kinds": {"kinds": {"age": "number", "band": ["10-19", "20-29"], "region": "category"}},
    "markers": {"markers": {"visits": {"5": "not applicable"}, "yes": "suppressed"}, "missing": ["north"]},
    "names": {"rename": {"age": "years"}, "roles": {"region": "sensitive"}},
    "wrong": {"kinds": {"income": "boolean"}},
    "unknown": {"kinds": {"incomes": "number"}},
    "no header": {"header": "no"},
}


@on_unix
@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_was_told_gives_the_same_table(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / f"people.{kind}"
    _ = people(300).write_csv(path) if kind == "csv" else people(300).write_parquet(path)
    assert outcome(path, store=ColumnStore(), **TOLD[name]) == outcome(path, **TOLD[name])


TYPED = people(200).with_columns(
    pl.col("income").cast(pl.Float32),
    pl.col("score").cast(pl.Int8),
    pl.col("smoker").eq("yes").alias("truth"),
    pl.col("band").cast(pl.Enum([f"{ten}-{ten + 9}" for ten in range(10, 90, 10)])).alias("levels"),
    pl.col("region").cast(pl.Categorical).alias("words"),
    pl.date(2020, 1, pl.col("score").cast(pl.Int8)).alias("day"),
    pl.datetime(2020, 1, 1, 5, time_zone="Europe/Berlin").alias("moment"),
    pl.lit(2.5).cast(pl.Decimal(10, 2)).alias("price"),
    pl.lit(float("nan")).alias("nan"),
    pl.lit(10**30).cast(pl.Int128).alias("huge"),
)


@on_unix
@pytest.mark.parametrize("kind", ["parquet", "feather", "ndjson"])
def test_types_of_files_give_the_same_table(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"people.{kind}"
    if kind == "parquet":
        TYPED.write_parquet(path, row_group_size=37)
    elif kind == "feather":
        TYPED.write_ipc(path)
    else:
        TYPED.select("id", "age", "score", "truth").write_ndjson(path)
    assert outcome(path, store=ColumnStore()) == outcome(path)


CELL = st.sampled_from(
    ["1", "2", "07", "x", "", " ", "N/A", "1.5", "-1", "99", "2020-01-02", "yes", "no", "<5", "1e3", '"q,r"']
)


@on_unix
@settings(deadline=None, max_examples=40)
@given(rows=st.lists(st.tuples(CELL, CELL), min_size=1, max_size=60), block=st.sampled_from([1, 40, 1 << 20]))
def test_any_cells_give_the_same_table(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], block: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "table.csv"
    path.write_text("a,b\n" + "".join(f"{one},{other}\n" for one, other in rows))
    wanted = outcome(path, header="yes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_delimited_text, "_BLOCK", block)
        assert outcome(path, store=ColumnStore(), header="yes") == wanted


def released() -> pl.DataFrame:
    """Return what may be released of them: ranges, stars, other words, unreadable cells."""
    frame = people(600)
    return frame.drop("id").with_columns(
        pl.when(pl.int_range(pl.len()) % 5 == 0).then(pl.lit("20-29")).otherwise("age").alias("age"),
        pl.when(pl.int_range(pl.len()) % 50 == 0).then(pl.lit("odd")).otherwise("income").alias("income"),
        pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.lit("*")).otherwise("region").alias("region"),
        pl.col("smoker").str.to_uppercase(),
        pl.col("visits").cast(pl.Int64) // 2 * 2,
    )


def tables(folder: Path, store: ColumnStore | None) -> tuple[Table, ...]:
    frames = {"original": people(600), "release": released(), "control": people(400).tail(300)}
    made = []
    for name, frame in frames.items():
        frame.write_csv(folder / f"{name}.csv")
        made.append(Table.read(folder / f"{name}.csv", name=name, store=store))
    return tuple(made)


@on_unix
@pytest.mark.parametrize("masked", [True, False])
def test_tables_agree_alike(tmp_path: Path, masked: bool) -> None:
    one, other = (agree(*tables(tmp_path, store), masked=masked) for store in (ColumnStore(), None))
    assert other[1].coarse()
    assert [facts(each) for each in one] == [facts(each) for each in other]
    rows = np.array([5, 0, 5, 299])
    assert [facts(each.take(rows)) for each in one] == [facts(each.take(rows)) for each in other]
    assert [facts(each.extremes()) for each in one] == [facts(each.extremes()) for each in other]
    assert [facts(each.single_values()) for each in one] == [facts(each.single_values()) for each in other]


def columns(table: Table) -> dict[str, StoredColumn]:
    """Return the columns of a table on disk; only real numbers with a negative zero are in memory."""
    coded = {name: each for name, each in table.content.cells.items() if isinstance(each, StoredColumn)}
    assert list(coded) == list(table.column_names)
    return coded


@on_linux
def test_whatever_has_all_rows_is_on_disk_and_shared_where_it_stays(tmp_path: Path) -> None:
    before = tables(tmp_path, ColumnStore())
    after = agree(*before, masked=True)
    for table in (*before, *after):
        assert all(is_on_disk(each.codes) for each in columns(table).values())
        assert all(is_on_disk(each.to_numpy()) for each in table.marked.values())
    assert after[1].frame["visits"].to_list() != before[1].frame["visits"].to_list()
    for name in ("ward", "income", "born", "long"):
        assert columns(after[0])[name] is columns(before[0])[name]
    # Of a table in memory nothing goes to the disk.
    mixed = agree(before[0], tables(tmp_path, None)[1])
    assert all(isinstance(each, pl.Series) for each in mixed[1].content.cells.values())


@on_linux
def test_tables_on_disk_are_put_below_one_another_on_disk(tmp_path: Path) -> None:
    one, other = (agree(*tables(tmp_path, store))[::2] for store in (ColumnStore(), None))
    names = other[0].column_names
    below, wanted = stacked(one, names), stacked(other, names)
    assert facts(below) == facts(wanted)
    assert all(is_on_disk(each.codes) for each in columns(below).values())
    assert (below.content_order() == wanted.content_order()).all()


@on_linux
def test_a_table_in_memory_can_be_put_on_disk(tmp_path: Path) -> None:
    table = Table.from_frame(people(100))
    stored = table.stored(ColumnStore(tmp_path))
    assert facts(stored) == facts(table)
    assert all(is_on_disk(each.codes) for each in columns(stored).values())
    assert all(is_on_disk(each.to_numpy()) for each in stored.marked.values())
    assert stored.store == ColumnStore(tmp_path)
    assert table.marked
    assert (stored.content_order() == table.content_order()).all()
    assert (stored.select(["age"]).content_order() == table.select(["age"]).content_order()).all()
