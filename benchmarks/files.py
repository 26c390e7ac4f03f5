"""How often a file is read as it was meant: real tables, each written in six spellings, with and without a header.

Give folders with CSV files, such as those of packages that bring data with them::

    python -m benchmarks.files FOLDER ... [--most 400] [--skip 0]

A table counts as real where Python's own reader finds the same number of cells, at least two, in each of its rows.
It is then written again in six ways, as programs in several countries write it, and what is read must be the table.
"""

import argparse
import csv
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import polars as pl

from unveil.data.files.header import is_surely_header
from unveil.data.files.read import names_of, read_file
from unveil.data.files.settings import FileSettings
from unveil.data.files.source import open_source
from unveil.errors import InputError

_DECIMAL = re.compile(r"\s*[<>]?\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
_LARGEST = 1 << 22
_LEAST_ROWS, _MOST_ROWS = 8, 3_000
_TOLD = FileSettings(header="yes")


class Spelling(NamedTuple):
    """How a table is written."""

    separator: str
    decimal: str
    encoding: str


SPELLINGS = (
    Spelling(",", ".", "utf-8"),
    Spelling(";", ",", "cp1252"),
    Spelling(";", ".", "utf-8-sig"),
    Spelling("\t", ",", "utf-16"),
    Spelling("|", ",", "utf-8"),
    Spelling(",", ",", "mac-roman"),
)


def tables(folders: list[str]) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the real tables below folders: where each is, and its rows, the header first."""
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.csv")):
            # What tests of a package compare with are matrices of results, many without names.
            if path.name.startswith(".") or "tests" in path.parts or path.stat().st_size > _LARGEST:
                continue
            try:
                with path.open(encoding="utf-8-sig", newline="") as stream:
                    rows = list(csv.reader(stream, strict=True))[:_MOST_ROWS]
            except (csv.Error, UnicodeDecodeError):
                continue
            widths = set(map(len, rows))
            if len(rows) > _LEAST_ROWS and len(widths) == 1 and min(widths) > 1 and len({*rows[0]}) == len(rows[0]):
                yield str(path), rows


def write(path: Path, rows: list[list[str]], spelling: Spelling) -> bool:
    """Write the rows in one way; return whether its encoding has all their signs."""
    cells = rows
    if spelling.decimal == ",":
        cells = [[each.replace(".", ",") if _DECIMAL.fullmatch(each) else each for each in row] for row in rows]
    try:
        with path.open("w", encoding=spelling.encoding, newline="") as stream:
            csv.writer(stream, delimiter=spelling.separator, lineterminator="\r\n").writerows(cells)
    except UnicodeEncodeError:
        return False
    return True


def main() -> None:
    """Count what is read as it was meant, and name what is not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--most", type=int, default=400, help="how many tables at most")
    parser.add_argument("--skip", type=int, default=0, help="how many tables to leave out first")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        for name, rows in islice(tables(options.folders), options.skip, options.skip + options.most):
            counts["tables"] += 1
            write(path, rows, SPELLINGS[0])
            plain = read_file(path, FileSettings(header="yes", separator=",", decimal=".")).frame
            for spelling in SPELLINGS:
                if write(path, rows, spelling):
                    counts[_compared(path, plain, spelling, name)] += 1
            for key, some in (("header", rows), ("no header", rows[1:])):
                write(path, some, SPELLINGS[0])
                source = open_source(path)
                right = is_surely_header(source, names_of(source, _TOLD)) == (key == "header")
                counts[f"{key} {'seen' if right else 'not seen'}"] += 1
                if not right:
                    print(f"{key} not seen: {name}")
    for key, count in counts.most_common():
        print(f"{count:6,} {key}")


def _stripped(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.all().str.strip_chars())


def _compared(path: Path, plain: pl.DataFrame, spelling: Spelling, name: str) -> str:
    """Return whether a spelling was read as the table that it was made of; thousands that are said to be unsure are."""
    source = open_source(path)
    try:
        right = _stripped(read_file(path, _TOLD).frame).equals(_stripped(plain))
    except InputError as error:
        print(f"refused: {name} {spelling}: {str(error).replace(str(path), '…')}")
        return "spellings refused"
    if right:
        return "spellings read as meant"
    if source.dialect.doubt:
        return f"spellings with the doubt that is said: {source.dialect.doubt}"
    print(f"read otherwise: {name} {spelling}: {source.dialect}")
    return "spellings read otherwise"


if __name__ == "__main__":
    main()
