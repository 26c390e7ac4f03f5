"""Small releases that were made already, with the file of a study over them."""

from pathlib import Path

import numpy as np
import polars as pl

#: Whatever is asked of a release in tests: next to nothing.
COUNT = "tests.studies.own:CountRows"


def people(rows: int = 60, seed: int = 1) -> pl.DataFrame:
    """Return made-up people, most of whom differ."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "town": rng.choice(["Ulm", "Bonn", "Trier", "Worms"], rows),
            "pay": rng.integers(0, 9, rows) * 100,
            "sex": rng.integers(1, 3, rows),
        }
    )


def index(folder: Path, **columns: list[str]) -> Path:
    """Write an original, three releases of it and their index; columns are added to the index or replace its own."""
    original = people()
    original.write_csv(folder / "people.csv")
    (folder / "made").mkdir(exist_ok=True)
    original[::2].write_csv(folder / "made" / "part.csv")
    for number, name in enumerate(("one", "two"), 2):
        people(seed=number).drop("sex").write_csv(folder / "made" / f"{name}.csv")
    told: dict[str, list[str]] = {
        "file": ["part.csv", "one.csv", "two.csv"],
        "original": ["people"] * 3,
        "technique": ["part", "noise", "noise"],
        "epsilon": ["", "1", "10"],
        "features": ["all", "few", "few"],
    }
    pl.DataFrame({**told, **columns}).write_csv(folder / "made" / "index.csv")
    return folder / "made" / "index.csv"


def study_file(folder: Path, *, attacks: str = f'["{COUNT}"]', more: str = "") -> Path:
    """Write the file of a study over the index."""
    path = folder / "given.toml"
    path.write_text(
        f"""name = "given"
seed = 1
attacks = {attacks}

[[original]]
name = "people"
source = "people.csv"

[index]
source = "made/index.csv"

[[where]]
technique = "part"
control = "rest"
made = "masked"
{more}""",
        encoding="utf-8",
    )
    return path
