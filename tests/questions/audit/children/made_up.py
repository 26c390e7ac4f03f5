"""Made-up patients and their visits."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl

KEY = "patient"


def patients(seed: int, number: int = 150, *, prefix: str = "p") -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return patients with one row each, and their visits in random order."""
    rng = np.random.default_rng(seed)
    keys = [f"{prefix}{seed}{at:04}" for at in rng.permutation(number)]
    age = rng.integers(18, 95, number)
    people = pl.DataFrame(
        {KEY: keys, "age": age, "sex": rng.choice(["f", "m"], number), "region": rng.choice(list("ABCD"), number)}
    )
    who = np.repeat(np.arange(number), 1 + rng.poisson(age / 25))
    rows = pl.DataFrame(
        {
            KEY: [keys[each] for each in who],
            "date": [date(2020, 1, 1) + timedelta(days=int(each)) for each in rng.integers(0, 1400, who.size)],
            "diagnosis": rng.choice(["I10", "E11", "J45", "M54"], who.size, p=[0.4, 0.3, 0.2, 0.1]),
            "cost": np.round(rng.gamma(2, 60, who.size) * (1 + age[who] / 100), 2),
        }
    )
    return people, rows.sample(fraction=1.0, shuffle=True, seed=seed)


def copied(
    people: pl.DataFrame, rows: pl.DataFrame, other: pl.DataFrame, other_rows: pl.DataFrame, number: int
) -> pl.DataFrame:
    """Return the visits of ``other`` people, of whom the first have whole histories of the first people."""
    sources, keys = people[KEY][:number].to_list(), other[KEY][:number].to_list()
    mine = rows.filter(pl.col(KEY).is_in(sources)).with_columns(
        pl.col(KEY).replace(dict(zip(sources, keys, strict=True)))
    )
    return pl.concat([other_rows.filter(~pl.col(KEY).is_in(keys)), mine])


ORIGINAL, VISITS = patients(1)
CONTROL, CONTROL_VISITS = patients(2)
RELEASE, FRESH_VISITS = patients(3, prefix="s")
RELEASED_VISITS = copied(ORIGINAL, VISITS, RELEASE, FRESH_VISITS, 60)


def write_files(folder: Path) -> Path:
    """Write all tables as CSV files."""
    folder.mkdir(parents=True, exist_ok=True)
    frames = {
        "patients": ORIGINAL, "visits": VISITS, "control": CONTROL, "control-visits": CONTROL_VISITS,
        "synthetic": RELEASE, "synthetic-visits": RELEASED_VISITS,
    }  # fmt: skip
    for name, frame in frames.items():
        frame.write_csv(folder / f"{name}.csv")
    return folder
