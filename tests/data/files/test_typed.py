"""Formats that keep types: read with them; damaged, one sentence of ours and nothing of what polars prints."""

import gzip
import io
import os
import random
from pathlib import Path

import polars as pl
import pytest

from tests.data.refusals import MARKER, refusal
from unveil.data.files.read import read_file, read_table
from unveil.data.files.source import open_source
from unveil.data.table import Table


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
