"""One good, cheap call of every question, in several ways of asking it: what the fuzzer damages."""

import csv
import gzip
import io
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import polars as pl
import pyreadstat

from tests.data.files.workbooks import archive, ods, xlsx
from tests.end_to_end.commands import MARKER
from tests.studies.small import small_study
from unveil.studies import run_study

ROWS = 12


@dataclass(frozen=True)
class Call:
    """A call of the command line that can be answered: its arguments, and the files that they name."""

    arguments: tuple[str, ...]
    files: Mapping[str, bytes]


def _text(*rows: object) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()


def people(shift: int) -> bytes:
    """Return a table of a few people as CSV; the shift makes another one."""
    rows = (
        f"{20 + (7 * row + shift) % 50},{'fm'[row % 2]},{MARKER}{row % 4},{100 * row + shift}" for row in range(ROWS)
    )
    return _text("age,sex,town,income", *rows)


def _parquet(table: bytes) -> bytes:
    content = io.BytesIO()
    pl.read_csv(table).write_parquet(content)
    return content.getvalue()


def _sheet(table: bytes) -> bytes:
    return xlsx({"Sheet": list(map(tuple, csv.reader(table.decode().splitlines())))})


def _spss(table: bytes) -> bytes:
    labels = {"sex": {"f": "female", "m": "male"}}
    return _statistical(
        pl.read_csv(table),
        "table.sav",
        partial(pyreadstat.write_sav, variable_value_labels=labels),  # type: ignore[arg-type]
    )


def _records(table: bytes) -> bytes:
    return pl.read_csv(table).write_ndjson().encode()


def _clusters(size: int) -> bytes:
    return _text("item,cluster", *(f"{MARKER}{row},{row // size}" for row in range(ROWS)))


_EDGES = [(one, other) for one in range(ROWS) for other in (one + 1, one + 3) if other < ROWS]
_SETTINGS = """original = "people.csv"
released = ["masked.csv"]
sensitive = ["income"]
quasi_identifiers = ["age", "sex"]
attacks = ["copies", "disclosure"]
targets = 5
neighbors = 2
seed = 4
[limits]
"copies" = 1
[[scenario]]
name = "neighbour"
columns = ["age"]
"""
_SEVERAL = """id = ["nr"]
attacks = ["copies", "utility"]
targets = 5
[[table]]
name = "stays"
original = "stays.csv"
released = "new.csv"
time = "day"
"""
_STUDY = """name = "small"
seed = 3
protections = ["id-removal"]
attacks = ["tests.studies.own:Guess"]
metrics = ["entropy"]
[[data]]
name = "small"
kind = "graph"
source = "edges.csv"
[axes]
seed_pairs = [2, 3]
[replications]
number = 1
"""
_NETWORK = '[[node]]\ninputs = ["Flu", "Cold"]\noutputs = ["u", "v"]\nmatrix = [[0.5, 0.5], ["1/2", "1/2"]]\n'


def _numpy(matrix: list[list[float]]) -> bytes:
    content = io.BytesIO()
    np.save(content, np.array(matrix))
    return content.getvalue()


def _stays(shift: int) -> bytes:
    """Return rows of the people of `_keyed`, several for each."""
    rows = (f"{MARKER}{row % ROWS},2024-01-{1 + row % 28:02},{'ab'[row % 2]},{10 * row + shift}" for row in range(20))
    return _text("nr,day,ward,cost", *rows)


def _keyed(table: bytes) -> bytes:
    head, *rows = table.decode().splitlines()
    return _text(f"nr,{head}", *(f"{MARKER}{number},{row}" for number, row in enumerate(rows)))


def _audits() -> list[Call]:
    original, masked = people(0), people(3)
    keyed = {"people.csv": _keyed(original), "masked.csv": _keyed(masked), "stays.csv": _stays(0), "new.csv": _stays(5)}
    cheap = ("--targets", "5", "--neighbours", "2", "--guesses", "5", "--seed", "1")
    csv = {"people.csv": original, "masked.csv": masked, "others.csv": people(5)}
    named = ("audit", "people.csv", "masked.csv")
    earlier = {"schema": "unveil.audit/2", "releases": [{"name": "masked.csv", "attacks": [{"attack": "copies"}]}]}
    return [
        Call((*named, "--attacks", "copies,disclosure", "--sensitive", "income", "--weight", "age", *cheap), csv),
        Call((*named, "--attacks", "linkability", "--control", "others.csv", "--scenario", "n=age,sex", *cheap), csv),
        Call((*named, "--attacks", "utility", "--id", "town", "--by", "sex", "--html", "r.html", *cheap), csv),
        Call(("audit", "--config", "settings.toml"), {**csv, "settings.toml": _SETTINGS.encode()}),
        Call(("audit", "--config", "several.toml"), {**keyed, "several.toml": _SEVERAL.encode()}),
        Call(
            (
                *named,
                "--table",
                "stays=stays.csv:new.csv",
                "--id",
                "nr",
                "--time",
                "stays=day",
                "--attacks",
                "copies",
                "--sensitive",
                "cost",
                *cheap,
            ),
            keyed,
        ),
        Call(
            (*named, "--attacks", "copies", "--compare", "earlier.json", "--review", "2030-01-31", *cheap),
            {**csv, "earlier.json": json.dumps(earlier).encode()},
        ),
        Call(
            ("audit", "people.parquet", "masked.csv", "--attacks", "copies", "--missing", "?", *cheap),
            {"people.parquet": _parquet(original), "masked.csv": masked},
        ),
        Call(
            ("audit", "people.sav", "masked.xlsx", "--attacks", "copies", *cheap),
            {"people.sav": _spss(original), "masked.xlsx": _sheet(masked)},
        ),
        Call(
            ("audit", "people.csv", "masked.zip", "--attacks", "copies", *cheap),
            {
                "people.csv": original.replace(b",", b";").decode().encode("utf-16"),
                "masked.zip": archive({"masked.csv": masked.replace(b",", b"\t")}),
            },
        ),
    ]


def _partitions() -> list[Call]:
    files = {"truth.csv": _clusters(4), "guess.csv": _clusters(3)}
    weights = _text("item,weight", *(f"{MARKER}{row},{row}/20" for row in range(ROWS)))
    policy = _text("subject,alpha,beta,contamination_desirable", "0,1/3,0.9,yes", "1,,,no")
    return [
        Call(("unlinkability", "truth.csv", "guess.csv", "--alpha", "1/3", "--beta", "0.9"), files),
        Call(
            ("unlinkability", "truth.csv", "guess.csv", "--weights", "weights.csv"), {**files, "weights.csv": weights}
        ),
        Call(("unlinkability", "truth.csv", "guess.csv", "--policy", "policy.csv"), {**files, "policy.csv": policy}),
        Call(("unlinkability", "truth.csv", "guess.csv=0.7", "truth.csv=0.3", "--html", "r.html", "--top", "2"), files),
        Call(("unlinkability", "a.parquet", "a.parquet", "--json"), {"a.parquet": _parquet(_clusters(4))}),
        Call(("unlinkability", "a.json", "a.xlsx"), {"a.json": _records(_clusters(4)), "a.xlsx": _sheet(_clusters(3))}),
    ]


def _candidates() -> list[Call]:
    pairs = [(target, (target + step) % 5) for target in range(5) for step in (0, 1)]
    guess = _text("target,candidate,probability", *(f"{MARKER}{one},{MARKER}{other},0.5" for one, other in pairs))
    truth = _text("target,candidate", *(f"{MARKER}{one},{MARKER}{one}" for one in range(5)))
    return [
        Call(("attack-metrics", "guess.csv", "--truth", "truth.csv"), {"guess.csv": guess, "truth.csv": truth}),
        Call(("attack-metrics", "guess.csv", "--metric", "entropy", "--limit", "entropy=0.5"), {"guess.csv": guess}),
        Call(("attack-metrics", "guess.parquet", "--normalize"), {"guess.parquet": _parquet(guess)}),
        Call(("attack-metrics", "guess.csv"), {"guess.csv": guess.replace(b",", b";").replace(b".", b",")}),
    ]


def _matchings() -> list[Call]:
    matrix = [[0.5, 0.5, 0.0], [0.5, 0.25, 0.25], [0.0, 0.25, 0.75]]
    names = [f"{MARKER}{row}" for row in range(3)]
    written = _text("entry,u,v,w", *(",".join([name, *map(str, row)]) for name, row in zip(names, matrix, strict=True)))
    truth = {"truth.csv": _text("item,pseudonym", *map(",".join, zip(names, "uvw", strict=True)))}
    numbered = {"truth.csv": _text("item,pseudonym", "1,1", "2,2", "3,3")}
    cells = [f"{i + 1} {j + 1} {matrix[i][j]}" for i in range(3) for j in range(3) if matrix[i][j]]
    market = _text("%%MatrixMarket matrix coordinate real general", f"3 3 {len(cells)}", *cells)
    ranges = _text("entry,low,high", *(f"{name},0,1/{k + 1}" for k, name in enumerate(names)))
    frequencies = _text("token,frequency", "u,10%", "v,0.2", "w,1/4")
    sets = _text("set,entry", f"a,{names[0]}", f"a,{names[1]}", f"b,{names[1]}")
    return [
        Call(("matching", "matrix.csv", "--truth", "truth.csv"), {"matrix.csv": written, **truth}),
        Call(("matching", "matrix.npy", "--truth", "truth.csv"), {"matrix.npy": _numpy(matrix), **numbered}),
        Call(("matching", "matrix.mtx", "--truth", "truth.csv"), {"matrix.mtx": market, **numbered}),
        Call(
            ("matching", "--ranges", "ranges.csv", "--frequencies", "frequencies.csv", "--truth", "truth.csv"),
            {"ranges.csv": ranges, "frequencies.csv": frequencies, **truth},
        ),
        Call(
            ("matching", "--dataflow", "network.toml", "--truth", "truth.csv"),
            {"network.toml": _NETWORK.encode(), "truth.csv": _text("item,pseudonym", "Flu,u", "Cold,v")},
        ),
        Call(
            ("matching", "matrix.csv", "--also", "again.csv", "--truth", "truth.csv", "--sets", "sets.csv"),
            {"matrix.csv": written, "again.csv": written, **truth, "sets.csv": sets},
        ),
        Call(("matching", "wide.csv", "--pairs", "2", "--precision", "0.05"), {"wide.csv": _text("1,0,1/2", "1,1,0")}),
    ]


def _counts() -> list[Call]:
    wards = _text("ward,0-17,18-64,65+,Total", "North,20,*,9,32", "South,8,17,*,27", "Total,28,20,11,59")
    minors = _text("ward,age,count", "North,0-18,22", "South,0-18,9", "Total,0-18,31")
    rounded = _text("ward,sex,count", "North,f,10", "North,m,5", "South,f,15", "Total,f,25")
    groups = _text("child,parent", "North,All of it", "South,All of it")
    ages = {"North": [5] * 20 + [18] * 2 + [30] + [70] * 9, "South": [5] * 8 + [18] + [30] * 16 + [70] * 2}
    residents = _text("ward,age,name", *(f"{ward},{age},{MARKER}" for ward, own in ages.items() for age in own))
    own = ("tables", "wards.csv", "minors.csv", "--minimum", "5")
    return [
        Call((*own, "--html", "r.html", "--shareable", "s.html"), {"wards.csv": wards, "minors.csv": minors}),
        Call((*own[:2], "--hidden", "*=1..4", "--hierarchy", "ward=g.csv"), {"wards.csv": wards, "g.csv": groups}),
        Call(("tables", "r.parquet", "--round", "5:random", "--json"), {"r.parquet": _parquet(rounded)}),
        Call(("tables", "r.xlsx", "--noise", "2", "--cells", "c.csv"), {"r.xlsx": _sheet(rounded)}),
        Call((*own, "--truth", "p.csv"), {"wards.csv": wards, "minors.csv": minors, "p.csv": residents}),
        Call((*own, "--population", "minors.csv<wards.csv"), {"wards.csv": wards, "minors.csv": minors}),
    ]


def _reidentifications() -> list[Call]:
    files = {"people.csv": people(0), "masked.csv": people(3)}
    truth = _text("released,original", *(f"{row},{row}" for row in range(1, ROWS + 1)))
    own = (
        "reidentify",
        "people.csv",
        "--protect",
        "rank-swapping:p=50",
        "--attack",
        "nearest",
        "--known",
        "age,income",
    )
    return [
        Call(own, files),
        Call(
            ("reidentify", "people.csv", "masked.csv", "--truth", "truth.csv", "--attack", "nearest"),
            {**files, "truth.csv": truth},
        ),
    ]


def _table_protections() -> list[Call]:
    files = {"people.csv": people(0), "others.csv": people(5)}
    steps = ("--first", "generalization:k=3", "--protect", "rank-swapping:p=20")
    quick = ("--attacks", "disclosure,utility", "--control", "others.csv", "--out", "out.csv")
    return [Call(("protect", "people.csv", *steps, *quick), files)]


def _graph_files() -> dict[str, bytes]:
    names = [(f"{MARKER}{one}", f"{MARKER}{other}") for one, other in _EDGES]
    cells = [f"{other + 1} {one + 1} 0.5" for one, other in _EDGES]
    return {
        "edges.csv": _text("source,target", *map(",".join, names)),
        "edges.txt": _text("# FromNodeId\tToNodeId", *(f"{one}\t{other}" for one, other in _EDGES)),
        "edges.mtx": _text("%%MatrixMarket matrix coordinate real symmetric", f"{ROWS} {ROWS} {len(cells)}", *cells),
        "truth.csv": _text("released,original", *(f"{row},{row}" for row in range(ROWS))),
    }


def _graphs() -> list[Call]:
    files = _graph_files()
    elsewhere = ("--auxiliary", "edges.txt", "--truth", "truth.csv", "--seed-pairs", "2")
    return [
        Call(("graph", "edges.csv", "--attack", "ns", "--seed-pairs", "2"), files),
        Call(("graph", "edges.mtx", "--attack", "dv", "--seed-pairs", "2", "--overlap", "0.9", "--unweighted"), files),
        Call(("graph", "edges.txt", *elsewhere), files),
    ]


def _anonymizations() -> list[Call]:
    files = _graph_files()
    written = ("--out", "out.csv", "--truth", "who.csv")
    return [
        Call(("protect-graph", "edges.csv", "--protect", "switch:share=0.1", *written), files),
        Call(("protect-graph", "edges.mtx", "--protect", "k-degree:k=2", "--unweighted", "--out", "out.csv"), files),
        Call(("protect-graph", "edges.txt", "--protect", "id-removal", "--seed", "3"), files),
    ]


def _splits() -> list[Call]:
    shifts = (people(shift).split(b"\n", 1) for shift in range(5))
    header, rows = zip(*shifts, strict=True)
    table = header[0] + b"\n" + b"".join(rows)
    written = ("--out", "out.csv", "--write-control", "control.csv", "--share", "1/2")
    return [
        Call(("split", "people.csv", *written), {"people.csv": table}),
        Call(("split", "people.csv", "--household", "income", "--seed", "3", *written), {"people.csv": table}),
        Call(("split", "people.xlsx", *written[:-2], "--share", "0.4"), {"people.xlsx": _sheet(table)}),
    ]


def _links() -> list[Call]:
    rows = [f"c{n % 24},{n // 24 * 3}.5,s{n % 24 % 7},{MARKER}" for n in range(24 * 5)]
    files = {"visits.csv": _text("card,day,stop,note", *rows)}
    asked = ("--person", "card", "--draws", "100")
    return [
        Call(("link", "visits.csv", *asked, "--time", "day", "--lifetime", "7d,3d", "--at", "7d"), files),
        Call(("link", "visits.csv", *asked, "--time", "day", "--lifetime", "2 records", "--points", "1,2"), files),
        Call(("link", "visits.csv", *asked, "--period", "day", "--columns", "stop", "--learned"), files),
    ]


def _studies(done: Mapping[str, bytes]) -> list[Call]:
    plan = {"study.toml": _STUDY.encode(), **_graph_files()}
    return [
        Call(("study", "run", "study.toml", "--out", "out", "--workers", "0"), plan),
        Call(("study", "status", "done"), done),
        Call(("study", "report", "done", "--metric", "entropy"), done),
    ]


def _formats() -> list[Call]:
    """Return calls that read people from a file of every format, with a private text in each row."""
    table = people(0)
    frame = pl.read_csv(table)
    rows: list[tuple[object, ...]] = [tuple(row) for row in csv.reader(table.decode().splitlines())]
    feather = io.BytesIO()
    frame.write_ipc(feather)
    files = {
        "people.csv": table,
        "people.gz": gzip.compress(table),
        "people.parquet": _parquet(table),
        "people.feather": feather.getvalue(),
        "people.ndjson": _records(table),
        "people.sav": _spss(table),
        "people.dta": _statistical(frame, "people.dta", pyreadstat.write_dta),
        "people.xpt": _statistical(frame, "people.xpt", pyreadstat.write_xport),
        "people.xlsx": _sheet(table),
        "people.ods": ods(rows),
    }
    asked = (("columns",), ("columns", "--kinds", "sex=text"))
    return [Call((*words[:1], name, *words[1:]), {name: content}) for name, content in files.items() for words in asked]


def _statistical(frame: pl.DataFrame, name: str, write: Callable[..., object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(frame, str(path))
        return path.read_bytes()


@cache
def calls_of(folder: Path) -> Mapping[str, list[Call]]:
    """Return the good calls of each question; ``folder`` is where a small study is computed for those that read one."""
    run_study(small_study(folder), folder / "done", workers=0)
    done = {str(path.relative_to(folder)): path.read_bytes() for path in (folder / "done").rglob("*") if path.is_file()}
    return {
        "audit": _audits(),
        "unlinkability": _partitions(),
        "attack-metrics": _candidates(),
        "matching": _matchings(),
        "tables": _counts(),
        "protect": _table_protections(),
        "reidentify": _reidentifications(),
        "graph": _graphs(),
        "protect-graph": _anonymizations(),
        "split": _splits(),
        "link": _links(),
        "study": _studies(done),
        "grade-metrics": [Call(("grade-metrics", "done"), done)],
        "formats": _formats(),
        "list": [Call(("list", "metrics"), {}), Call(("list", "attacks", "--json"), {})],
    }
