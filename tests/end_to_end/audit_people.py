"""People that the tests of ``unveil audit`` write to files."""

import numpy as np
import polars as pl

from tests.end_to_end.commands import MARKER


def people(rows: int, seed: int) -> pl.DataFrame:
    """Return made-up people; every town holds the marker that no output may show."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 70, rows),
            "sex": rng.choice(["f", "m"], rows),
            "town": rng.choice([f"{MARKER}-{town}" for town in "abc"], rows),
            "ill": rng.choice(["flu", "gout", "none"], rows),
        }
    )
