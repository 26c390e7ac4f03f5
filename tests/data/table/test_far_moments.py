"""Frames with dates that no calendar holds, or in zones that no database knows, are refused in one sentence."""

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from tests.data.refusals import refusal
from unveil.data.table import Table


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pa.table({"when": pa.array([1, 2], pa.timestamp("ns", tz="Mars/Phobos"))}), "a time zone may be unknown"),
        (pa.table({"when": pa.array([1, 2**31 - 1], pa.date32())}), "but does not in row 2"),
        (pl.DataFrame({"when": pl.Series([1, 2**62]).cast(pl.Datetime("ms"))}), "but does not in row 2"),
        ({"when": np.array([1, 2**62], dtype="m8[ms]")}, "but does not in row 2"),
        (pl.DataFrame({"when": pl.Series([[2**62]]).cast(pl.List(pl.Datetime("ms")))}), "holds lists or records"),
    ],
    ids=["zone", "days", "milliseconds", "span", "list"],
)
def test_moments_that_no_calendar_holds_are_refused(frame: Any, words: str) -> None:
    assert words in refusal(lambda: Table.from_frame(frame))
