"""Arrays on disk are the same arrays: they are pages of files without a name, and nothing is left of them."""

import errno
import gc
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
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
from unveil.data.files.column_store import (
    ColumnBlocks,
    ColumnStore,
    arrays_on_disk,
    read_column,
    room_for,
    usual_folder,
    write_column,
)
from unveil.data.files.read import read_file
from unveil.data.files.settings import FileSettings
from unveil.data.table import Table
from unveil.errors import InputError

MAPS = Path("/proc/self/maps")
on_linux = pytest.mark.skipif(not MAPS.exists(), reason="only Linux tells what is mapped")
on_unix = pytest.mark.skipif(not column_store.can_map(), reason="there is no store here")
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
ORDINARY = tempfile.TemporaryFile


def nameless() -> list[range]:
    """Return where files that have no name are mapped."""
    lines = [line.split() for line in MAPS.read_text().splitlines() if line.endswith("(deleted)")]
    ends = [[int(end, 16) for end in line[0].split("-")] for line in lines]
    return [range(low, high) for low, high in ends]


def is_on_disk(values: "np.ndarray[Any, Any]") -> bool:
    return any(values.ctypes.data in mapped for mapped in nameless())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ColumnStore]:
    """A store whose folder is looked into afterwards."""
    folder = tmp_path / "store"
    folder.mkdir()
    yield ColumnStore(folder)
    assert list(folder.iterdir()) == []


@on_linux
def test_numbers_are_copied_to_the_disk(store: ColumnStore) -> None:
    values = np.arange(12, dtype=np.int32).reshape(4, 3)
    copy = store.array(values)
    assert type(copy) is np.ndarray
    assert (copy.dtype, copy.tolist()) == (values.dtype, values.tolist())
    assert is_on_disk(copy)
    copy[0, 0] = 7
    assert (copy[0, 0], values[0, 0]) == (7, 0)
    assert store.array(copy) is copy
    assert store.array(values[:0]).shape == (0, 3)


@on_linux
def test_room_to_be_filled_lies_in_a_file_and_is_not_written_twice(store: ColumnStore) -> None:
    room = store.room((3, 4), np.int32)
    assert type(room) is np.ndarray
    assert (room.shape, room.dtype) == ((3, 4), np.dtype(np.int32))
    room[:] = 7
    assert room.sum() == 84
    assert is_on_disk(room)
    assert store.array(room[1:].T).ctypes.data == room[1:].ctypes.data
    assert room_for(store, (0, 4), np.int32).size == room_for(None, (0, 4), np.int32).size == 0


@on_linux
def test_many_arrays_share_few_files_and_none_shares_a_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_store, "_LEAST_FILE", 1 << 12)
    gc.collect()
    before, mapped, store = len(list(Path("/proc/self/fd").iterdir())), len(nameless()), ColumnStore(tmp_path)
    every = [store.room((30, 1 + place), np.uint8) for place in range(200)]
    for place, each in enumerate(every):
        each[:] = place
    assert all((each == place).all() for place, each in enumerate(every))
    assert len(list(Path("/proc/self/fd").iterdir())) - before < 30
    views = [each.T[:1] for each in every]
    del every, each, store
    gc.collect()
    assert [each.max() for each in views] == list(range(200))
    del views
    gc.collect()
    assert len(nameless()) == mapped
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@on_linux
def test_arrays_that_are_gone_leave_the_disk_and_others_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = ORDINARY(dir=tmp_path)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: file)
    store = ColumnStore(tmp_path)
    arrays = [store.array(np.full(10**6, place, np.uint8)) for place in range(4)]
    full = os.fstat(file.fileno()).st_blocks
    some = arrays[1].reshape(1000, 1000).T[5:]
    del arrays
    gc.collect()
    left = os.fstat(file.fileno()).st_blocks
    assert left in (full, -(-full // 4))  # not every file system can give back a part of a file
    assert (some == 1).all()


@on_unix
def test_another_process_gets_a_store_of_its_own(store: ColumnStore) -> None:
    store.room((3,), np.int32)
    assert pickle.loads(pickle.dumps(store)) == store  # noqa: S301


@on_unix
@pytest.mark.parametrize("reserves", [True, False])
def test_a_full_disk_is_said_before_anything_is_put_there(
    store: ColumnStore, monkeypatch: pytest.MonkeyPatch, reserves: bool
) -> None:
    if reserves:
        monkeypatch.setattr(os, "posix_fallocate", raising(FULL))
    else:  # not every system can reserve
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
        made = store.room((2**20,), np.int16)
        assert (made.sum(), store.room((3,), np.int8).size) == (0, 3)
        monkeypatch.setattr(tempfile, "TemporaryFile", FullDisk)
        store = ColumnStore(store.folder)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
        store.room((2**20,), np.int16)


class FullDisk:
    """A file that nothing can be written to."""

    def __init__(self, **told: Any) -> None:
        self.file = ORDINARY(**told)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def write(self, _: bytes) -> None:
        raise FULL


def raising(error: BaseException, *, after: int = 0) -> Any:
    """Return a function that goes wrong when it is called once more than ``after`` times."""
    calls = iter(range(after))

    def act(*_: object) -> None:
        if next(calls, None) is None:
            raise error

    return act


@on_unix
@pytest.mark.parametrize("after", range(6))
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_disk_that_is_full_is_said(
    store: ColumnStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, after: int
) -> None:
    frame = pl.DataFrame({"name": [MARKER, "b"], "age": [1, None]})
    path = tmp_path / f"people.{kind}"
    _ = frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
    # Text is written to the disk once more than columns with types.
    monkeypatch.setattr(os, "posix_fallocate", raising(FULL, after=after))
    if after >= (4 if kind == "csv" else 2):
        assert Table.read(path, store=store).rows == 2
        return
    assert refusal(lambda: Table.read(path, store=store)) == (
        f"tables that are worked on from disk must be kept in {str(store.folder)!r}, but that cannot be written "
        "(No space left on device). Make room there, name a folder on another disk in TMPDIR, or allow more memory"
    )


@on_unix
def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"but that cannot be written \(No such file or directory\)"):
        ColumnStore(tmp_path / "none").array(np.arange(3))


@on_unix
def test_ctrl_c_leaves_nothing(store: ColumnStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "posix_fallocate", raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        store.array(np.arange(3))


@on_unix
@pytest.mark.parametrize(("ending", "code"), [("os.kill(os.getpid(), 9)", -9), ("pass", 0)])
def test_a_process_that_ends_or_is_killed_leaves_nothing(tmp_path: Path, ending: str, code: int) -> None:
    """Columns that are still there when Python ends are let go after the module is."""
    program = (
        "import os, sys, polars as pl; from pathlib import Path\n"
        "from unveil.data import ColumnStore, Table\n"
        "table = Table.from_frame({'a': ['x', None] * 999, 'b': [1, 2] * 999})\n"
        "pl.table = table.stored(ColumnStore(Path(sys.argv[1])))\n"
        "assert not os.listdir(sys.argv[1])\n"
        f"{ending}"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("values", [["a", None, "", "Zoë", "a text of more than twelve bytes"], [1, None], [], [0.5]])
def test_a_column_is_read_as_it_was_written(store: ColumnStore, values: list[Any]) -> None:
    column = pl.Series(values)
    content = write_column(column, store)
    assert read_column(content).equals(column, null_equal=True)
    assert read_column(content).dtype == column.dtype


@on_linux
def test_rows_that_come_block_by_block_are_read_by_column_and_leave_the_disk(store: ColumnStore) -> None:
    gc.collect()
    before = len(nameless())
    blocks = ColumnBlocks(["place", "text"], store)
    for place in range(70):
        blocks.add(pl.DataFrame({"text": [f"the text number {place}", None], "place": [str(place)] * 2}))
    assert len(nameless()) > before
    text = blocks.get_column("text")
    assert (text.name, text.n_chunks(), blocks.height) == ("text", 1, 140)
    assert text.to_list() == [each for place in range(70) for each in (f"the text number {place}", None)]
    assert blocks.get_column("place").unique().len() == 70
    assert ColumnBlocks(["a"], store).get_column("a").equals(pl.Series("a", dtype=pl.String))
    del blocks
    gc.collect()
    assert len(nameless()) == before


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
        assert is_on_disk(new.many)
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
def test_a_parquet_file_that_changes_between_two_columns_is_refused(store: ColumnStore, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pl.DataFrame({"a": [1, 2], "b": [3, 4]}).write_parquet(path)
    columns = read_file(path, store=store).columns
    assert columns["a"]().to_list() == [1, 2]
    pl.DataFrame({"a": [1], "b": [3]}).write_parquet(path)
    with pytest.raises(InputError, match=r"people\.parquet' must stay as it is while it is read, but it changed"):
        columns["b"]()


@on_unix
def test_parquet_is_read_column_by_column(store: ColumnStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, widths = tmp_path / "people.parquet", []
    pl.DataFrame({"a": [1, 2], "b": ["3", "4"], "c": [0.5, float("nan")]}).write_parquet(path)
    collect = pl.LazyFrame.collect

    def noted(own: pl.LazyFrame, *told: Any, **more: Any) -> Any:
        frame = collect(own, *told, **more)
        widths.append(frame.shape)
        return frame

    monkeypatch.setattr(pl.LazyFrame, "collect", noted)
    found = read_file(path, store=store).frame
    assert found.to_dict(as_series=False) == {"a": [1, 2], "b": [3, 4], "c": [0.5, None]}
    assert widths == [(1, 1), (2, 1), (2, 1), (2, 1)]  # first the number of rows


@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_a_part_of_a_table_lies_on_disk_column_by_column_where_it_did(
    rows: int, columns: int, more: int, by_column: bool
) -> None:
    whole = np.arange((rows + more) * columns).reshape((rows + more, columns), order="F" if by_column else "C")
    part = whole[more:]
    kept = ColumnStore().array(part)
    assert kept.tolist() == part.tolist()
    assert (kept.T if by_column else kept).flags.c_contiguous
