"""Write three tables: people, others of the same kind, and releases of the people, one of them bad."""

import argparse
from pathlib import Path

import numpy as np
import polars as pl


def main() -> None:
    """Write the tables to a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(), help="the folder")
    folder = parser.parse_args().out
    rng = np.random.default_rng(5)
    age = rng.integers(18, 90, 1200)
    everybody = pl.DataFrame(
        {
            "age": age,
            "town": rng.choice(["Ulm", "Bonn", "Kiel", "Trier"], age.size),
            "income": np.round(500 + 60 * age + rng.gamma(2.0, 300.0, age.size)),
        }
    )
    people, others = everybody[:600], everybody[600:]
    tables = {
        "people": people,
        "others": others,
        "bad": people.sample(fraction=1.0, shuffle=True, seed=1),
        "good": people.select(pl.col(name).shuffle(seed=k) for k, name in enumerate(people.columns)),
    }
    for name, table in tables.items():
        table.write_csv(folder / f"{name}.csv")


if __name__ == "__main__":
    main()
