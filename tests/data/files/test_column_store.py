"""Columns on disk are the same columns: their cells are pages of files without a name, and nothing is left of them."""

import errno
import gc
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.files.test_read import LOOSE, NEAT, WRONG, make
from tests.data.refusals import MARKER, refusal
from unveil.data.files import _delimited_text, column_store
from unveil.data.files.column_store import ColumnStore, StoredRows, arrays_on_disk, room_for, usual_folder
from unveil.data.files.read import read_file
from unveil.data.files.settings import FileSettings
from unveil.errors import InputError

MAPS = Path("/proc/self/maps")
on_linux = pytest.mark.skipif(not MAPS.exists(), reason="only Linux tells what is mapped")
on_unix = pytest.mark.skipif(not column_store.can_map(), reason="there is no store here")

CELLS: dict[str, pl.Series] = {
    "text": pl.Series(["a", None, "", "Zoë", "a text of more than twelve bytes"] * 7),
    "bytes": pl.Series([b"a", None, b"\0" * 20]),
    "whole": pl.Series([1, None, -3] * 9),
    "full": pl.Series([1, 2, 3]),
    "real": pl.Series([0.5, None, float("nan")]),
    "truth": pl.Series([True, None, False] * 30),
    "long": pl.Series([1, None, 2**90], dtype=pl.Int128),
    "day": pl.Series([date(2024, 2, 29), None]),
    "moment": pl.Series([datetime(2024, 2, 29, 1, 2, 3), None]),
    "zone": pl.Series([datetime(2024, 2, 29, 1, 2, 3), None]).dt.replace_time_zone("Europe/Berlin"),
    "span": pl.Series([timedelta(seconds=1), None]),
    "byte": pl.Series([0, 255, None], dtype=pl.UInt8),
    "small": pl.Series([0, -5, None], dtype=pl.Int16),
    "single": pl.Series([0.5, None], dtype=pl.Float32),
    "missing": pl.Series([None, None], dtype=pl.String),
    "empty": pl.Series([], dtype=pl.Int64),
    # These stay in memory.
    "levels": pl.Series(["low", None, "high"], dtype=pl.Enum(["low", "high"])),
    "decimal": pl.Series([Decimal("1.5"), None]),
    "list": pl.Series([[1], None, [2, 3]]),
    "nothing": pl.Series([None, None]),
}


def addresses(values: pl.Series) -> list[int]:
    """Return where the cells of a column lie."""
    buffers = [
        each for place in column_store._places(values) for each in place[3:] if isinstance(each, column_store._Buffer)
    ]
    return [each.address for each in buffers if each.address]


def nameless() -> list[range]:
    """Return where files that have no name are mapped."""
    lines = [line.split() for line in MAPS.read_text().splitlines() if line.endswith("(deleted)")]
    ends = [[int(end, 16) for end in line[0].split("-")] for line in lines]
    return [range(low, high) for low, high in ends]


def is_on_disk(values: pl.Series) -> bool:
    return all(any(at in mapped for mapped in nameless()) for at in addresses(values))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ColumnStore]:
    """A store whose folder is looked into afterwards."""
    folder = tmp_path / "store"
    folder.mkdir()
    yield ColumnStore(folder)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", CELLS)
def test_a_column_on_disk_is_the_same_column(store: ColumnStore, name: str) -> None:
    given = CELLS[name].alias(name)
    pieces = given, given[1:], pl.concat([given, given[:1], given]), given.head(0)
    for values in pieces:
        kept = store.column(values)
        assert (kept.name, kept.dtype, kept.len(), kept.null_count()) == (
            name, values.dtype, values.len(), values.null_count()
        )  # fmt: skip
        assert kept.equals(values, null_equal=True)
        assert pickle.loads(pickle.dumps(kept)).equals(values, null_equal=True)  # noqa: S301


@on_linux
@pytest.mark.parametrize("name", ["text", "whole", "real", "truth", "long", "moment", "byte"])
def test_no_cell_is_in_memory(store: ColumnStore, name: str) -> None:
    values = CELLS[name].alias(name)
    kept = store.column(values)
    assert not is_on_disk(values)
    assert is_on_disk(kept)
    before = len(nameless())
    renamed = pl.DataFrame([kept]).to_series().alias("other")
    del kept
    assert is_on_disk(renamed)
    assert len(nameless()) == before
    del renamed
    for _ in range(100):  # polars may let go of it in a thread of its own
        gc.collect()
        if len(nameless()) < before:
            break
        time.sleep(0.05)
    assert len(nameless()) < before


@on_unix
def test_whatever_is_done_with_columns_on_disk_gives_the_same(store: ColumnStore) -> None:
    frame = pl.DataFrame(
        {name: CELLS[name].gather(np.arange(50) % CELLS[name].len()) for name in CELLS if name != "empty"}
    )
    frame = frame.drop("list", "nothing", "bytes", "span")
    kept = store.frame(frame)
    assert kept.schema == frame.schema
    rows = np.array([49, 3, 3, 0])
    for name in frame.columns:
        one, other = kept.get_column(name), frame.get_column(name)
        assert one.gather(rows).equals(other.gather(rows), null_equal=True)
        assert one.sort().equals(other.sort(), null_equal=True)
        assert one.n_unique() == other.n_unique()
        assert one.drop_nulls().unique(maintain_order=True).equals(other.drop_nulls().unique(maintain_order=True))
        assert one.set(pl.Series([True] + [False] * 49), None).equals(other.set(pl.Series([True] + [False] * 49), None))
    assert kept[rows].equals(frame[rows])
    assert kept.hash_rows(0).equals(frame.hash_rows(0))
    keys = ["text", "whole", "truth"]
    assert kept.group_by(keys).len().sort(keys).equals(frame.group_by(keys).len().sort(keys))
    assert kept.filter(pl.col("whole") > 0).equals(frame.filter(pl.col("whole") > 0))
    assert pl.concat([kept, frame]).equals(pl.concat([frame, frame]))
    assert kept.write_csv() == frame.write_csv()


@on_linux
def test_cells_that_are_the_same_are_shared(store: ColumnStore) -> None:
    kept = store.column(CELLS["text"].alias("a"))
    again = store.column(kept.cast(pl.String).alias("b"), like=kept)
    assert (again.name, addresses(again)) == ("b", addresses(kept))
    for other in (kept.reverse(), kept.head(3), kept.set(kept == "a", None), CELLS["text"]):
        made = store.column(other, like=kept)
        assert made.equals(other, null_equal=True)
        assert not set(addresses(made)) & set(addresses(kept))
    in_two = pl.concat([kept, kept])
    assert (store.column(in_two, like=in_two).n_chunks(), store.column(in_two).n_chunks()) == (2, 1)


@on_linux
def test_rows_that_come_piece_by_piece_lie_in_few_pieces(store: ColumnStore) -> None:
    kept = StoredRows(store)
    before = len(nameless())
    for place in range(700):
        kept.add(pl.DataFrame({"place": [place], "text": [f"the text number {place}"]}))
        assert len(nameless()) - before <= 3 * 2 * StoredRows.PIECES
    found = kept.frame({"place": pl.Int64(), "text": pl.String()})
    assert found.rows() == [(place, f"the text number {place}") for place in range(700)]
    assert is_on_disk(found["text"])
    assert found["text"].n_chunks() < 3 * StoredRows.PIECES
    assert StoredRows(store).frame({"place": pl.Int64()}).shape == (0, 1)


@on_linux
def test_numbers_on_disk_can_be_changed_in_memory(store: ColumnStore) -> None:
    values = np.arange(12, dtype=np.int32).reshape(4, 3)
    kept = store.array(values)
    assert type(kept) is np.ndarray
    assert (kept.dtype, kept.tolist()) == (values.dtype, values.tolist())
    assert any(kept.ctypes.data in mapped for mapped in nameless())
    kept[0, 0] = 7
    assert (kept[0, 0], values[0, 0]) == (7, 0)
    assert store.array(values[:0]).shape == (0, 3)


@on_linux
def test_room_to_be_filled_lies_in_a_file_and_is_not_written_twice(store: ColumnStore) -> None:
    room = store.room((3, 4), np.int32)
    assert type(room) is np.ndarray
    assert (room.shape, room.dtype) == ((3, 4), np.dtype(np.int32))
    room[:] = 7
    assert room.sum() == 84
    assert any(room.ctypes.data in mapped for mapped in nameless())
    assert store.array(room[1:].T).ctypes.data == room[1:].ctypes.data
    assert room_for(store, (0, 4), np.int32).size == room_for(None, (0, 4), np.int32).size == 0


@on_linux
def test_arrays_on_disk_keep_no_file_open_and_are_unmapped_with_the_last_of_them(store: ColumnStore) -> None:
    before, mapped = len(list(Path("/proc/self/fd").iterdir())), len(list(nameless()))
    every = [make((30, 40), np.int32) for make in [store.room] * 20]
    every += [store.array(np.ones((30, 40), np.int32)) for _ in range(20)]
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 1
    views = [each.T[5:] for each in every]
    del every
    gc.collect()
    assert len(list(nameless())) >= mapped + 20  # neighbours may be shown as one
    for each in views:
        each[:] = 3
    assert {int(each.sum()) for each in views} == {3 * 35 * 30}
    del views, each
    gc.collect()
    assert len(list(nameless())) == mapped


@on_unix
@pytest.mark.parametrize("written", [False, True])
def test_room_that_is_not_there_is_said_before_anything_is_put_there(
    store: ColumnStore, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if written:  # not every system can reserve
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
        assert store.room((2**20,), np.int16).sum() == 0
        monkeypatch.setattr(tempfile, "TemporaryFile", Breaks(full, store.folder))
    else:

        def refused(*_: object) -> None:
            raise full

        monkeypatch.setattr(os, "posix_fallocate", refused)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
        store.room((2**20,), np.int16)


@dataclass(frozen=True)
class Part:
    """A part of what was found."""

    name: str
    many: "np.ndarray[Any, Any]"
    few: "np.ndarray[Any, Any]"
    more: tuple["Part", ...] = ()


@on_linux
def test_long_arrays_of_what_was_found_lie_on_disk(store: ColumnStore) -> None:
    inner = Part("inner", np.arange(2000.0), np.arange(3))
    outer = Part("outer", np.arange(1500), np.arange(2), (inner,))
    found = arrays_on_disk(outer, store)
    for old, new in ((outer, found), (inner, found.more[0])):
        assert (new.name, new.many.tolist(), new.few.tolist()) == (old.name, old.many.tolist(), old.few.tolist())
        assert new.many.dtype == old.many.dtype
        assert any(new.many.ctypes.data in mapped for mapped in nameless())
        assert new.few is old.few
    assert arrays_on_disk(outer, None) is outer


def test_large_files_for_a_while_are_not_put_into_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    lasting = Path("/var/tmp")  # noqa: S108
    assert usual_folder() == (lasting if os.access(lasting, os.W_OK) else Path(tempfile.gettempdir()))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert usual_folder() == tmp_path


class Breaks:
    """A file on which the second write goes wrong."""

    def __init__(self, error: BaseException, folder: Path) -> None:
        self.error, self.folder, self.writes = error, folder, 0

    def __call__(self, *, dir: Path) -> "Breaks":  # noqa: A002 (as tempfile has it)
        self.file = ORDINARY(dir=dir)
        return self

    def __enter__(self) -> "Breaks":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def write(self, content: Any) -> int:
        self.writes += 1
        if self.writes == 2:
            assert list(self.folder.iterdir()) == []  # also while it is written
            raise self.error
        return int(self.file.write(content))


ORDINARY = tempfile.TemporaryFile


@on_unix
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_disk_that_is_full_is_said(
    store: ColumnStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    frame = pl.DataFrame({"name": [MARKER, "b"], "age": [1, None]})
    path = tmp_path / f"people.{kind}"
    _ = frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(tempfile, "TemporaryFile", Breaks(full, store.folder))
    message = refusal(lambda: read_file(path, store=store))
    assert message == (
        f"tables that are worked on from disk must be kept in {str(store.folder)!r}, but that cannot be written "
        "(No space left on device). Make room there, name a folder on another disk in TMPDIR, or allow more memory"
    )


@on_unix
def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"but that cannot be written \(No such file or directory\)"):
        ColumnStore(tmp_path / "none").column(CELLS["whole"])


@on_unix
def test_ctrl_c_leaves_nothing(store: ColumnStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", Breaks(KeyboardInterrupt(), store.folder))
    with pytest.raises(KeyboardInterrupt):
        store.column(CELLS["text"])


@on_unix
@pytest.mark.parametrize(("ending", "code"), [("os.kill(os.getpid(), 9)", -9), ("pass", 0)])
def test_a_process_that_ends_or_is_killed_leaves_nothing(tmp_path: Path, ending: str, code: int) -> None:
    """Columns that are still there when Python ends are let go after the module is."""
    program = (
        "import os, sys, polars as pl; from pathlib import Path\n"
        "from unveil.data.files.column_store import ColumnStore\n"
        "pl.kept = ColumnStore(Path(sys.argv[1])).frame(pl.DataFrame({'a': ['x', None] * 999, 'b': [1, 2] * 999}))\n"
        f"{ending}"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, "")
    assert list(tmp_path.iterdir()) == []


def outcome(path: Path, settings: FileSettings | None = None, store: ColumnStore | None = None) -> tuple[object, ...]:
    """Return all that reading a file gives: the rows and what is said of them, or the refusal."""
    try:
        found = read_file(path, settings, store=store)
    except InputError as error:
        return type(error), str(error)
    return found.frame.schema, found.frame.rows(), found.notes, found.labels


@on_unix
@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("block", [7, 1 << 22])
def test_what_cannot_be_read_is_refused_alike(
    store: ColumnStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, block: int
) -> None:
    path = make(tmp_path, WRONG[case][0])
    monkeypatch.setattr(_delimited_text, "_BLOCK", block)
    assert outcome(path, store=store) == outcome(path)


@on_unix
@settings(deadline=None, max_examples=40)
@given(
    body=LOOSE | NEAT,
    fields=st.integers(1, 3),
    block=st.sampled_from([1, 5, 1 << 20]),
    end=st.sampled_from(["\n", "", "\n\n", "\r\n\r\n"]),
    header=st.sampled_from(["yes", "no", "detect"]),
)
def test_any_text_is_read_alike(
    tmp_path_factory: pytest.TempPathFactory, body: str, fields: int, block: int, end: str, header: Any
) -> None:
    text = ",".join("abc"[:fields]) + "\n" + body + end
    path = make(tmp_path_factory.getbasetemp(), text.encode(), "stored.csv")
    told = FileSettings(header=header)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_delimited_text, "_BLOCK", block)  # which of two reasons in one row comes first hangs on it
        assert outcome(path, told, ColumnStore()) == outcome(path, told)


@on_unix
def test_a_parquet_file_that_changes_between_two_columns_is_refused(
    store: ColumnStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.parquet"
    pl.DataFrame({"a": [1, 2], "b": [3, 4]}).write_parquet(path)
    frame = store.frame

    def change(columns: pl.DataFrame) -> pl.DataFrame:
        pl.DataFrame({"a": [1], "b": [3]}).write_parquet(path)
        return frame(columns)

    monkeypatch.setattr(ColumnStore, "frame", lambda _, columns: change(columns))
    with pytest.raises(InputError, match=r"people\.parquet' must stay as it is while it is read, but it changed"):
        read_file(path, store=store)


@on_unix
def test_parquet_is_read_column_by_column(store: ColumnStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, widths = tmp_path / "people.parquet", []
    pl.DataFrame({"a": [1, 2], "b": ["3", "4"], "c": [0.5, float("nan")]}).write_parquet(path)
    frame = ColumnStore.frame

    def noted(own: ColumnStore, columns: pl.DataFrame) -> pl.DataFrame:
        widths.append(columns.width)
        return frame(own, columns)

    monkeypatch.setattr(ColumnStore, "frame", noted)
    found = read_file(path, store=store).frame
    assert found.to_dict(as_series=False) == {"a": [1, 2], "b": [3, 4], "c": [0.5, None]}
    assert widths == [1, 1, 1]


@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_a_part_of_a_table_lies_on_disk_column_by_column_where_it_did(
    rows: int, columns: int, more: int, by_column: bool
) -> None:
    whole = np.arange((rows + more) * columns).reshape((rows + more, columns), order="F" if by_column else "C")
    part = whole[more:]
    kept = ColumnStore().array(part)
    assert kept.tolist() == part.tolist()
    assert (kept.T if by_column else kept).flags.c_contiguous
