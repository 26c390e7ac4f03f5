"""Damaged Parquet: one sentence of ours, and nothing of what polars prints past Python."""

import io
import os
import random
from pathlib import Path

import polars as pl
import pytest

from tests.data.refusals import refusal
from unveil.data.files.read import read_table


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
