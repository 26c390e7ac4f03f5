"""A few people as a generator is given them, and what is left of generators on this machine."""

import sys
from pathlib import Path

import polars as pl

from unveil.data.files.read import read_as_written
from unveil.data.table import Table
from unveil.protections.generators import SourceTable

#: A cell that no message may show.
SECRET = "SENTINEL7"  # noqa: S105 (not a password)
#: The people, as a German office writes them: decimal commas, groups of digits, codes with zeros.
PEOPLE = f"""id;town;income;code
p1;{SECRET};1.234,50;007
p2;"Bad ""X"" Ort";2.000,00;010
p3;;950,25;011
p4;Köln;1.100,00;012
"""
#: The beginning of a script: the two files.
HEAD = "import os, sys, time, pathlib\nsource, target = map(pathlib.Path, sys.argv[1:3])\n"


def people(folder: Path) -> SourceTable:
    """Write the people to a file, and return them as a generator is given them."""
    path = folder / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    table = Table.read(path, name="original", roles={"id": "identifier"})
    return SourceTable(table, *read_as_written(path))


def script(folder: Path, body: str, *more: str) -> str:
    """Return the command of a generator that does this with ``source`` and ``target``."""
    path = folder / "synth.py"
    path.write_text(HEAD + body + "\n", encoding="utf-8")
    return " ".join([f"'{sys.executable}' -S '{path}' {{in}} {{out}}", *more])


def left(seed: int) -> list[str]:
    """Return the processes that run with this seed of a generator, whatever session they have moved to."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"UNVEIL_SEED={seed}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return found


def typed(rows: int = 30) -> pl.DataFrame:
    """Return people with numbers and words, for generators of Python."""
    return pl.DataFrame({"age": range(rows), "town": [f"t{row % 4}" for row in range(rows)]})
