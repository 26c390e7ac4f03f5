"""People who are masked a little, and others: what the tests of an audit ask about."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unveil.questions.audit.answer import AuditResult, audit
from unveil.questions.audit.findings import Audit, AuditedRelease
from unveil.questions.result import Result


def people(rows: int, seed: int) -> pl.DataFrame:
    """Return made-up people whose columns hang together a little."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, rows)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], rows),
            "region": rng.choice(["north", "south", "east"], rows),
            "income": (age * 100 + rng.integers(0, 3000, rows)) // 100,
        }
    )


def noisy(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return the same people with ages and incomes moved a little."""
    rng = np.random.default_rng(seed)
    moved = {name: frame[name].to_numpy() + rng.integers(-2, 3, frame.height) for name in ("age", "income")}
    return frame.with_columns(**{name: pl.Series(values) for name, values in moved.items()}).sample(
        fraction=1.0, shuffle=True, seed=seed
    )


ORIGINAL, CONTROL = people(120, 1), people(60, 2)
MASKED, FOREIGN = noisy(ORIGINAL, 3), people(100, 4)


def ask(*given: Any, seed: int = 5, **settings: Any) -> AuditResult:
    return audit(*given, rng=np.random.default_rng(seed), **settings)


def of(answer: Result[Audit], attack: str, release: str = "release") -> list[dict[str, Any]]:
    rows = answer.to_polars().filter((pl.col("attack") == attack) & (pl.col("release") == release))
    return rows.rows(named=True)


def write_files(folder: Path) -> Path:
    """Write the tables of the example."""
    folder.mkdir(exist_ok=True)
    for name, frame in {"original": ORIGINAL, "masked": MASKED, "foreign": FOREIGN, "control": CONTROL}.items():
        frame.write_csv(folder / f"{name}.csv")
    return folder


def asked(folder: Path, *, seed: int = 5, **settings: Any) -> str:
    """Return the JSON of the audit of these files."""
    told = {"sensitive": ["income"], "group_by": "region", "release_type": {"masked.csv": "masked"}, **settings}
    released = [folder / "masked.csv", folder / "foreign.csv"]
    rng = np.random.default_rng(seed)
    return audit(folder / "original.csv", released, folder / "control.csv", rng=rng, **told).to_json()


def audit_of(*releases: dict[str, Any]) -> Audit:
    """Return an audit of releases with these fields and without attacks."""
    plain = {"rows": 60, "kind": None, "columns": (), "sha256": None, "findings": ()}
    return Audit(
        rows=60, columns=(), sha256=None, control_rows=None, control_sha256=None, attacks=(),
        releases=tuple(AuditedRelease(**{**plain, **each}) for each in releases),
    )  # fmt: skip
