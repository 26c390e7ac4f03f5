"""Formats that keep types: read with them; damaged, one sentence of ours and nothing of what polars prints."""

import gzip
import io
import os
import random
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from tests.data.refusals import MARKER, refusal
from unveil.data.files.read import read_file, read_table
from unveil.data.files.source import open_source
from unveil.data.table import Table

WRITERS = {"parquet": pyarrow.parquet.write_table, "feather": pyarrow.feather.write_feather}


def damaged(seed: int) -> bytes:
    content = io.BytesIO()
    rows = range(300)
    pl.DataFrame({"item": [f"i{row}" for row in rows], "cluster": [f"c{row % 7}" for row in rows]}).write_parquet(
        content
    )
    rng = random.Random(seed)  # noqa: S311
    changed = bytearray(content.getvalue())
    for _ in range(rng.choice((1, 2, 5, 20))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


# With these, of the first 1,500, a thread of polars panics and says so on standard error before it raises the error.
@pytest.mark.parametrize("seed", [129, 146, 454, 939, 947])
def test_the_text_of_a_panic_is_not_shown(seed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(damaged(seed))
    assert "is cut short or damaged" in refusal(lambda: read_table(path))
    assert capfd.readouterr() == ("", "")


def test_standard_error_is_there_again_afterwards(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(damaged(129))
    refusal(lambda: read_table(path))
    os.write(2, b"still here\n")
    assert capfd.readouterr().err == "still here\n"


TYPED = pl.DataFrame(
    {"n": [1, 2, None], "x": [0.5, None, 2.5], "town": ["Ulm", "Köln", None], "ok": [True, None, False]}
)


@pytest.mark.parametrize("kind", ["parquet", "feather", "ndjson"])
@pytest.mark.parametrize("packed", [False, True])
def test_formats_with_types_keep_them(tmp_path: Path, kind: str, packed: bool) -> None:
    path = tmp_path / "typed"
    getattr(TYPED, {"parquet": "write_parquet", "feather": "write_ipc", "ndjson": "write_ndjson"}[kind])(path)
    path.write_bytes(gzip.compress(path.read_bytes()) if packed else path.read_bytes())
    assert open_source(path).kind == kind
    assert read_file(path).frame.equals(TYPED)
    assert read_table(path, {"number": "n"})["number"].to_list() == ["1", "2", None]


def test_records_may_lack_keys_and_change_types_late(tmp_path: Path) -> None:
    path = tmp_path / "records.ndjson"
    path.write_text(
        '\n{"age": 31, "town": "Ulm"}\n' + '{"age": 40}\n' * 200 + '{"age": 1.5, "sex": "f"}\n', encoding="utf-8"
    )
    frame = read_file(path).frame
    assert frame.columns == ["age", "town", "sex"]
    assert frame.row(-1) == (1.5, None, "f")
    path.write_text(f'{{"age": [1, "{MARKER}"]}}\n', encoding="utf-8")
    assert "holds lists or records" in refusal(lambda: Table.read(path))


def column_of(path: Path, column: pa.Array) -> Path:
    WRITERS[path.suffix[1:]](pa.table({"age": pa.array(range(len(column))), "when": column}), str(path))
    return path


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("zone", ["Mars/Phobos", "+05:30", "+99:99", "Z"])
def test_moments_in_a_zone_that_no_database_knows_are_read_in_utc(
    tmp_path: Path, kind: str, zone: str, capfd: pytest.CaptureFixture[str]
) -> None:
    column = pa.array([0, None, 1_600_000_000_000_000_000], pa.timestamp("ns", tz=zone))
    path = column_of(tmp_path / f"zoned.{kind}", column)
    same = column_of(tmp_path / f"utc.{kind}", column.cast(pa.timestamp("ns", tz="UTC")))
    assert read_file(path).frame.equals(read_file(same).frame)
    assert read_table(path, {"who": "when"}).equals(read_table(same, {"who": "when"}))
    assert Table.read(path).frame.equals(Table.read(same).frame)
    assert "POLARS_IGNORE_TIMEZONE_PARSE_ERROR" not in os.environ
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", WRITERS)
def test_a_known_zone_next_to_an_unknown_one_stays(tmp_path: Path, kind: str) -> None:
    zones = ("Mars/Phobos", "Europe/Berlin")
    path = tmp_path / f"a.{kind}"
    WRITERS[kind](pa.table({zone: pa.array([0, 1], pa.timestamp("us", tz=zone)) for zone in zones}), str(path))
    assert read_file(path).frame.dtypes == [pl.Datetime("us", "UTC"), pl.Datetime("us", "Europe/Berlin")]


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("zone", ["UTC", "Mars/Phobos"])
def test_lists_of_moments_are_refused_as_lists(tmp_path: Path, kind: str, zone: str) -> None:
    path = column_of(tmp_path / f"a.{kind}", pa.array([[1], [2]], pa.list_(pa.timestamp("ns", tz=zone))))
    assert "holds lists or records" in refusal(lambda: Table.read(path))
    assert "holds lists or records" in refusal(lambda: read_table(path, {"who": "when"}))


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("dtype", "far"),
    [
        (pa.date32(), 2**31 - 1),
        (pa.timestamp("ms"), 2**62),
        (pa.timestamp("ms", tz="Europe/Berlin"), 2**62),
        (pa.timestamp("us", tz="Mars/Phobos"), 2**63 - 1),
        (pa.duration("ms"), 2**62),
    ],
    ids=str,
)
def test_moments_and_spans_out_of_range_are_refused_with_their_place(
    tmp_path: Path, kind: str, dtype: pa.DataType, far: int, sign: int, capfd: pytest.CaptureFixture[str]
) -> None:
    column = pa.array([1, None, sign * far], pa.int32() if dtype == pa.date32() else pa.int64()).cast(dtype)
    path = column_of(tmp_path / f"a.{kind}", column)
    for read in (lambda path: read_file(path).frame, Table.read, lambda path: read_table(path, {"who": "when"})):
        said = refusal(lambda read=read: read(path))  # type: ignore[misc]
        assert "column 'when' of '" in said
        assert f"a.{kind}' must hold" in said
        assert "but does not in row 3" in said
    assert capfd.readouterr() == ("", "")


def test_the_last_day_of_the_calendar_is_read(tmp_path: Path) -> None:
    days = pl.DataFrame({"when": [date.min, date.max, None]})
    moments = days.with_columns(pl.col("when").cast(pl.Datetime("us")))
    for frame in (days, moments):
        frame.write_parquet(tmp_path / "a.parquet")
        assert read_file(tmp_path / "a.parquet").frame.equals(frame)
