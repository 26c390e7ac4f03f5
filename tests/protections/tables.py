"""Tables for the tests of protections: every kind of column, and every awkward size."""

from datetime import date
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.protections import Protection, TableProtection

LEVELS = ["low", "middle", "high"]


def people(rows: int = 200, seed: int = 7) -> Table:
    """Return made-up people with a column of every kind, some with missing values, and an identifier."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    frame = pl.DataFrame(
        {
            "person_id": [f"P{number:05d}" for number in range(rows)],
            "age": age,
            "income": (age * 700 + rng.normal(0, 9000, rows)).round(2),
            "town": rng.choice(["Ulm", "Bonn", "Jena", "Kiel"], rows, p=[0.5, 0.3, 0.15, 0.05]),
            "level": pl.Series(rng.choice(LEVELS, rows), dtype=pl.Enum(LEVELS)),
            "born": [date(2024 - int(years), 1 + int(years) % 12, 1) for years in age],
            "smoker": rng.random(rows) < 0.3,
            "remark": [f"a remark of some length about what was said, number {number}" for number in range(rows)],
        }
    )
    gaps = rng.random((rows, 3)) < 0.2
    gaps[0] = False
    for name, gone in zip(("income", "town", "smoker"), gaps.T, strict=True):
        frame = frame.with_columns(frame[name].set(pl.Series(gone), None))
    return Table.from_frame(frame, name="original", roles={"person_id": "identifier", "remark": "ignored"})


def table(**columns: Any) -> Table:
    """Return a table with these columns, all of them known to the adversary, in which numbers are no codes."""
    frame = pl.DataFrame(columns)
    numbers = [name for name, values in zip(frame.columns, frame, strict=True) if values.dtype.is_numeric()]
    return Table.from_frame(frame, kinds=dict.fromkeys(numbers, "number"), roles=dict.fromkeys(frame.columns, "known"))


def applied(protection: TableProtection, original: Table, seed: int = 1) -> Release:
    release = protection.apply(original, rng=np.random.default_rng(seed))
    assert isinstance(release, Release)
    return release


def truth_of(release: Release) -> NDArray[np.int64]:
    assert release.truth is not None
    return release.truth


def refuses(protection: Protection, original: Table) -> bool | None:
    """Return whether the facts of a protection say that it cannot be used on a table; None where it depends."""
    frame = original.frame
    suited = [
        column.name for column in original.columns if column.role != "identifier" and column.kind in protection.suits
    ]
    if not suited or original.rows < protection.least_rows:
        return True
    gaps = any(frame[name].null_count() for name in suited)
    return {"stay": False, "few": None, "refused": True}[protection.gaps or "stay"] if gaps else False


def released_or_refused(protection: Protection, original: Table, made: TableProtection | None = None) -> Release | None:
    """Return the release, or None where the facts say that there may be none and one sentence says why."""
    expected = refuses(protection, original)
    try:
        release = applied(made or protection.make(), original)
    except InputError as error:
        refused = str(error)
    else:
        assert expected is not True
        return release
    assert expected is not False, refused
    assert "\n" not in refused
    return None


#: Tables on which a protection could stumble.
AWKWARD = {
    "one row": lambda: table(age=[30], town=["Ulm"]),
    "one row, missing": lambda: table(age=pl.Series([None], dtype=pl.Int64)),
    "one column": lambda: table(age=[3, 1, 4, 1, 5, 9, 2, 6]),
    "constant": lambda: table(age=[30] * 20, town=["Ulm"] * 20, smoker=[True] * 20),
    "all missing": lambda: table(age=pl.Series([None] * 20, dtype=pl.Int64), town=[None] * 20, size=[1, 2] * 10),
    "mostly missing": lambda: table(age=[*[None] * 18, 1, 2], size=[3, 4, *[None] * 18], town=["a", *[None] * 19]),
    "categories only": lambda: table(town=list("abcaabbbcd"), pet=list("xyxyxyxyxx")),
    "dates and truths": lambda: table(born=[date(2000, 1, day) for day in range(1, 11)], smoker=[True, False] * 5),
    "copies of columns": lambda: table(one=[*range(9), 20], two=[*range(9), 20], three=[*range(0, -9, -1), -20]),
    "huge numbers": lambda: table(number=[2**63 - 1, -(2**63), 0, 5], real=[1e300, -1e300, 1e-300, 0.0]),
    "odd names": lambda: Table.from_frame(pl.DataFrame({"a.*$": [1, 2, 2], 'a,"b"\n=<i>': ["=1+1", "<b>", "<b>"]})),
    "every kind": people,
}
