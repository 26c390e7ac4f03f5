"""Files made at random from the inside: bytes that are damaged afterwards seldom hit a date, a zone or a line end."""

import io
import math
import random
import string
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pyreadstat

from tests.end_to_end.commands import MARKER
from tests.fuzz.questions import ROWS, Call, people

#: The digits of every number out of range; no message may hold them.
DIGITS = "7377373"
_FAR = [float(f"{sign}{DIGITS}e{power}") for sign in ("", "-") for power in (0, 3, 6, 9, 12, 16, 20, 60)]
_STRANGE = [math.nan, 0.5, *_FAR]
_FORMATS = {
    "sav": ("DATE11", "ADATE10", "EDATE10", "SDATE10", "JDATE7", "DATETIME20", "TIME8", "DTIME12", "MOYR8", "WKYR10"),
    "dta": ("%td", "%tc", "%tC", "%tw", "%tm", "%tq", "%th", "%ty"),
    "xpt": ("DATE9", "DATETIME20", "TIME8", "MMDDYY10", "YYMMDD10", "E8601DT"),
}
_WRITERS: Mapping[str, Callable[..., Any]] = {
    "sav": pyreadstat.write_sav,
    "dta": pyreadstat.write_dta,
    "xpt": pyreadstat.write_xport,
}
_CHEAP = ("--attacks", "copies", "--targets", "3", "--seed", "1")
_ZONES = ("UTC", "Europe/Berlin", "Mars/Phobos", "+05:30", "-00:00", "+99:99", "GMT+99", "Z", "utc", " ", "\0", "é")
_UNITS = ("s", "ms", "us", "ns")


def _dates(rng: random.Random) -> Call:
    """Return an audit of a file of SPSS, Stata or SAS whose dates may be out of range."""
    kind = rng.choice(sorted(_WRITERS))
    good = [float(rng.randrange(20_000)) for _ in range(ROWS)]
    strange = rng.choice((0.0, 0.1, 0.5))
    born = [rng.choice(_STRANGE) if rng.random() < strange else each for each in good]
    frame = pl.DataFrame({"age": good[::-1], "town": [MARKER] * ROWS, "born": born, "died": good})
    written = {name: rng.choice(_FORMATS[kind]) for name in ("born", "died")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"people.{kind}")
        _WRITERS[kind](frame, str(path), variable_format=written)
        return _asked(path.name, path.read_bytes(), rng)


def _asked(name: str, content: bytes, rng: random.Random) -> Call:
    return Call(rng.choice((("columns", name), ("audit", name, name, *_CHEAP))), {name: content})


def _hierarchy(rng: random.Random) -> Call:
    """Return an audit, or tables of counts, with a hierarchy of random words, signs and line ends."""
    words = ("North", "South", "any", "*", "", " ", '"', '"a', 'b"', "\t", ";", ",", "\0", "é", "x" * 200_000, MARKER)
    towns = [f"{MARKER}{row}" for row in range(4)]
    lines = [
        rng.choice((";", ",", "\t")).join(rng.choices((*words, *towns), k=rng.randrange(4)))
        if rng.random() < 0.3
        else ";".join((town, rng.choice(("here", "there")), "*"))
        for town in (*towns, *rng.choices(towns, k=rng.randrange(3)))
    ]
    content = "".join(line + rng.choice(("\n", "\n", "\n", "\r\n", "\r", "\n\r", "", "\v", "\u2028")) for line in lines)
    if rng.random() < 0.7:
        files = {"people.csv": people(0), "masked.csv": people(3), "h.csv": content.encode()}
        return Call(("audit", "people.csv", "masked.csv", "--hierarchy", "town=h.csv", *_CHEAP), files)
    counts = "town,count\n" + "".join(f"{town},{row + 3}\n" for row, town in enumerate(towns)) + "Total,18\n"
    return Call(
        ("tables", "counts.csv", "--hierarchy", "town=h.csv"),
        {"counts.csv": counts.encode(), "h.csv": content.encode()},
    )


def _zones(rng: random.Random) -> Call:
    """Return an audit of a Parquet or Feather file with moments of any unit in any zone."""
    name = rng.choice((*_ZONES, "".join(rng.choices(string.printable, k=rng.randrange(1, 9)))))
    unit = rng.choice(_UNITS)
    least, most = rng.choice(((0, 10**9), (-(10**12), 10**12), (-(2**63), 2**63 - 1)))
    # Parquet holds no seconds: pyarrow writes them as milliseconds, and refuses those that do not fit.
    if unit == "s":
        least, most = least // 1000, most // 1000
    moments = pa.array(
        [rng.choice((None, rng.randint(least, most), 0)) for _ in range(ROWS)], pa.timestamp(unit, tz=name)
    )
    spans = pa.array([rng.randint(least, most) for _ in range(ROWS)], pa.duration(unit))
    form = rng.choice((lambda column: column, lambda column: column, pa.Array.dictionary_encode, _listed))
    table = pa.table(
        {"age": list(range(ROWS)), "town": [MARKER] * ROWS, "born": form(moments), "stay": rng.choice((spans, moments))}
    )
    kind, content = rng.choice(("parquet", "feather")), io.BytesIO()
    write: Callable[..., Any] = pyarrow.parquet.write_table if kind == "parquet" else pyarrow.feather.write_feather
    write(table, content)
    return _asked(f"people.{kind}", content.getvalue(), rng)


def _listed(column: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(list(range(len(column) + 1)), column)


#: What makes a call for each kind of file.
ROOTS: Mapping[str, Callable[[random.Random], Call]] = {
    "spss-dates": _dates,
    "hierarchies": _hierarchy,
    "time-zones": _zones,
}
