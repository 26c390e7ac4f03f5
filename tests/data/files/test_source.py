"""What stands behind a path: files, pipes that are read with a bound, and devices that are not read at all."""

import gzip
import os
import socket
import threading
from pathlib import Path

import polars as pl
import pytest

from tests.data.refusals import refusal
from unveil.data.files import source as _source
from unveil.data.files.read import read_table
from unveil.data.files.source import open_source
from unveil.data.graph.read import read_graph
from unveil.data.matrices.matchings import read_matrix
from unveil.data.partitions import read_partition
from unveil.data.table import Table

READERS = (read_table, read_graph, read_matrix, Table.read)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/null"])
def test_a_device_is_refused_and_not_read(read: object, device: str) -> None:
    assert callable(read)
    assert "is a device or a socket. Name a file" in refusal(lambda: read(device))


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("door")
        assert "is a device or a socket" in refusal(lambda: read_table("door"))


@pytest.mark.parametrize("read", READERS)
def test_a_pipe_that_nobody_writes_to_is_given_up(
    read: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(read)
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(_source, "LONGEST_SILENCE", 0)
    assert "nothing came for 0 seconds. Check the command" in refusal(lambda: read(tmp_path / "pipe"))


def write_to(path: Path, content: bytes) -> threading.Thread:
    def write() -> None:
        # Whoever refuses what comes closes its end, which breaks this one.
        try:
            path.write_bytes(content)
        except BrokenPipeError:
            return

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@pytest.mark.parametrize("rows", [1, 100_000])
def test_a_pipe_is_read_to_its_end(tmp_path: Path, rows: int) -> None:
    os.mkfifo(tmp_path / "pipe")
    thread = write_to(tmp_path / "pipe", b"item,cluster\n" + b"".join(b"%d,x\n" % row for row in range(rows)))
    assert read_partition(tmp_path / "pipe").height == rows
    thread.join()


def test_an_endless_pipe_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(_source, "LARGEST_PIPE", 1 << 20)
    thread = write_to(tmp_path / "pipe", b"y\n" * (1 << 20))
    assert "at most 1,048,576 bytes, but holds more. Write the data to a file" in refusal(
        lambda: read_table(tmp_path / "pipe")
    )
    thread.join()


@pytest.mark.parametrize("read", [read_table, read_matrix])
def test_a_compressed_table_does_not_fill_the_memory(
    read: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(read)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 10_000))
    monkeypatch.setattr(_source, "LARGEST", 10_000)
    assert "at most 10,000 bytes, but holds more" in refusal(lambda: read(tmp_path / "a.csv.gz"))


def test_a_file_that_cannot_fit_is_refused_before_polars_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"a\n" + b"1\n" * 500_000)
    monkeypatch.setattr(_source, "most_memory", lambda: 2_010_000_000)
    assert open_source(path).kind == "csv"
    monkeypatch.setattr(_source, "most_memory", lambda: 2_004_000_000)
    assert "has 1 MB and must fit into memory, but this process may take 2.0 GB only" in refusal(
        lambda: open_source(path)
    )


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_name_that_is_not_utf_8_is_a_name(tmp_path: Path, form: str) -> None:
    frame = pl.DataFrame({"item": ["a", "b"], "cluster": ["x", "y"]})
    path = tmp_path / os.fsdecode(b"caf\xe9." + form.encode())
    content = tmp_path / "plain"
    frame.write_csv(content) if form == "csv" else frame.write_parquet(content)
    content.rename(path)
    assert read_table(path).rows() == frame.rows()


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "\ud800.csv"])
def test_a_name_that_no_file_can_have_is_refused(read: object, name: str) -> None:
    assert callable(read)
    assert refusal(lambda: read(name)).startswith("the file '")
