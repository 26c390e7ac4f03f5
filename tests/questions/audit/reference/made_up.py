"""People of one population, and generators that copy a share of the people they are given."""

import numpy as np
import polars as pl

ROWS = 120


def people(seed: int, rows: int = ROWS, *, older: int = 0) -> pl.DataFrame:
    """Return people of a population; each has an identifier."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    return pl.DataFrame(
        {
            "id": [f"p{seed}_{place}" for place in range(rows)],
            "age": age + older,
            "sex": rng.choice(["f", "m"], rows),
            "region": rng.choice(list("abcdefgh"), rows),
            "job": rng.choice([f"job {place}" for place in range(12)], rows),
            "income": age * 100 + rng.integers(0, 3000, rows),
        }
    )


def released(table: pl.DataFrame, seed: int, *, copied: float = 0.0, older: int = 0) -> pl.DataFrame:
    """Return a release: people of the population who are nobody's, and a share of copies."""
    number = round(copied * table.height)
    fresh = people(10_000 + seed, table.height - number, older=older)
    both = pl.concat([fresh, table.sample(number, seed=seed)])
    return both.drop("id").sample(fraction=1.0, shuffle=True, seed=seed)


def siblings(number: int, *, copied: float = 0.0, older: int = 0) -> tuple[list[pl.DataFrame], list[pl.DataFrame]]:
    """Return sibling releases, and the people of each."""
    behind = [people(100 + place, older=older) for place in range(number)]
    return [released(each, 100 + place, copied=copied, older=older) for place, each in enumerate(behind)], behind
