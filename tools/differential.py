"""Run two revisions of unveil on foreign tables and graphs, and report every figure that differs.

``python tools/differential.py OLD_REV`` compares a revision with the working tree. The tables and graphs are parts of
those in the folder that ``UNVEIL_DATA`` names: releases of others with and without a control group, some with copied
rows.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ROOT = Path(__file__).resolve().parent.parent
#: Figures that differ by less, relative to the larger one, are equal.
TOLERANCE = 1e-9
#: Keys that tell of the run and not of the answer.
OF_THE_RUN = {"version", "seconds", "spent", "sha256", "date", "command", "digest"}
_ROWS, _CONTROL_ROWS, _COPIED = 600, 250, 60
_GRAPH_CASES = {
    "manufacturing": "--protect id-removal --attack ns",
    "dnc": "--protect k-degree:k=3 --attack kl",
    "irvine": "--protect switch:share=0.05 --attack jlsb",
    "pgp": "--protect id-removal --attack yg",
    "dblp": "--protect umga:k=5 --attack ns",
}
#: Runs all cases in one process, so that loops are compiled once.
_RUNNER = """
import json, sys
from pathlib import Path
from click.testing import CliRunner
from unveil.cli import main
for case in json.loads(Path(sys.argv[1]).read_text()):
    done = CliRunner().invoke(main, case["words"])
    Path(sys.argv[2], case["name"] + ".json").write_text(json.dumps(
        {"exit": done.exit_code, "said": done.stderr, "answer": json.loads(done.stdout) if done.stdout else None}))
    print(case["name"], done.exit_code, repr(done.exception or ""), file=sys.stderr, flush=True)
"""


def main() -> None:
    """Compare, and exit with 1 where anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", help="the revision to compare with, such as HEAD~3")
    parser.add_argument("--only", default="", help="run the cases whose name holds this text")
    parser.add_argument(
        "--options", default="", help="further options for every audit, such as '--attacks linkability'"
    )
    told = parser.parse_args()
    if not os.environ.get("UNVEIL_DATA"):
        sys.exit("UNVEIL_DATA must name the folder with the tables and graphs. Set it, and run this again")
    with tempfile.TemporaryDirectory(prefix="unveil-differential-") as name:
        home = Path(name)
        cases = [
            each for each in write_cases(Path(os.environ["UNVEIL_DATA"]), home, told.options) if told.only in each[0]
        ]
        (home / "cases.json").write_text(json.dumps([{"name": case, "words": words} for case, words in cases]))
        check_out(told.old, home / "old-source")
        sources = {"old": home / "old-source" / "src", "new": ROOT / "src"}
        with ThreadPoolExecutor(len(sources)) as pool:
            list(pool.map(lambda which: run(home, which, sources[which]), sources))
        different = sum([report(case, *(read(home, which, case) for which in sources)) for case, _ in cases])
    print(f"{len(cases)} cases, {different} figures or texts differ from {told.old}.")
    sys.exit(1 if different else 0)


def write_cases(data: Path, home: Path, options: str) -> Iterator[tuple[str, list[str]]]:
    """Write the parts of tables and graphs; yield what each case is called and the words of its command."""
    more = [*options.split(), "--seed", "3", "--json"]
    for name, tables in table_cases(data):
        for part, table in tables.items():
            table.write_csv(home / f"{name}-{part}.csv")
        control = ["--control", str(home / f"{name}-control.csv")] if "control" in tables else []
        yield name, ["audit", *(str(home / f"{name}-{part}.csv") for part in ("original", "released")), *control, *more]
    for name, words in _GRAPH_CASES.items():
        edges = np.loadtxt(data / "graphs" / f"{name}.txt.gz", dtype=int, usecols=(0, 1))
        inside = edges[(edges < np.quantile(np.unique(edges), 0.5)).all(axis=1)] if len(edges) > 6000 else edges
        np.savetxt(home / f"{name}.csv", inside[:6000], fmt="%d", delimiter=",", header="source,target", comments="")
        yield f"graph-{name}", ["graph", str(home / f"{name}.csv"), *words.split(), "--seed", "3", "--json"]


def table_cases(data: Path) -> Iterator[tuple[str, dict[str, pl.DataFrame]]]:
    """Yield 20 audits: parts of an original, a release and, for every other one, a control group."""
    rng = np.random.default_rng(2024)
    index = pl.read_csv(data / "crc" / "index.csv").sort("file")
    for number, place in enumerate(np.linspace(0, index.height - 1, 12).astype(int).tolist()):
        original = _text(data / "acs" / f"{index['original'][place]}.csv.gz")
        released = _text(data / "crc" / index["file"][place])
        yield f"crc-{number + 1}", _parts(original, released, rng, number)
    adult, control, made = (_text(data / "adult" / f"{name}.csv.gz") for name in ("train", "control", "syn_ctgan"))
    for number in range(4):
        tables = _parts(adult, made, rng, number + 1)
        if "control" in tables:
            tables["control"] = _drawn(control, _CONTROL_ROWS, rng)
        yield f"adult-{number + 1}", tables
    asked = pl.read_parquet(data / "midst" / "challenge.parquet")
    for number, path in enumerate(sorted((data / "midst").glob("dev-*.parquet"))[:4]):
        own = asked.filter((pl.col("model") == int(path.stem[-3:])) & (pl.col("split") == "dev"))
        released = pl.read_parquet(path)
        both = [own.filter(pl.col("member") == member).select(released.columns) for member in (1, 0)]
        tables = {"original": both[0], "released": _drawn(released, 1000, rng)}
        yield f"midst-{number + 1}", {**tables, **({"control": both[1]} if number % 2 == 0 else {})}


def _parts(
    original: pl.DataFrame, released: pl.DataFrame, rng: np.random.Generator, number: int
) -> dict[str, pl.DataFrame]:
    drawn = original.sample(_ROWS + _CONTROL_ROWS, shuffle=True, seed=int(rng.integers(2**31)))
    people, others = drawn[:_ROWS], drawn[_ROWS:]
    shared = [name for name in original.columns if name in released.columns]
    part = _drawn(released, _ROWS, rng).select(shared)
    if number % 3 == 0:  # a leak of a tenth of the people
        part = pl.concat([part[_COPIED:], people.select(shared)[:_COPIED]])
    return {"original": people, "released": part, **({"control": others} if number % 2 == 0 else {})}


def _drawn(table: pl.DataFrame, rows: int, rng: np.random.Generator) -> pl.DataFrame:
    return table.sample(min(rows, table.height), shuffle=True, seed=int(rng.integers(2**31)))


def _text(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema=False)


def check_out(revision: str, folder: Path) -> None:
    """Write the files of a revision to a folder."""
    folder.mkdir()
    archive = folder.with_suffix(".tar")
    subprocess.run(["git", "-C", str(ROOT), "archive", "--output", str(archive), revision, "src"], check=True)
    subprocess.run(["tar", "-x", "-C", str(folder), "-f", str(archive)], check=True)


def run(home: Path, which: str, source: Path) -> None:
    """Run all cases with one revision."""
    (home / which).mkdir()
    words = [sys.executable, "-c", _RUNNER, str(home / "cases.json"), str(home / which)]
    subprocess.run(words, env={**os.environ, "PYTHONPATH": str(source)}, cwd=home, check=True)


def read(home: Path, which: str, case: str) -> Any:
    """Return what a revision answered."""
    return json.loads((home / which / f"{case}.json").read_text())


def report(case: str, old: Any, new: Any) -> int:
    """Print where two answers differ; return in how many places."""
    found = list(differences(old, new))
    for path, before, after in found[:20]:
        print(f"{case} {'.'.join(map(str, path))}: {_short(before)} -> {_short(after)}")
    if len(found) > 20:
        print(f"{case}: {len(found) - 20} further differences")
    return len(found)


def differences(old: Any, new: Any, path: Sequence[object] = ()) -> Iterator[tuple[Sequence[object], Any, Any]]:
    """Yield where two answers differ, with both values.

    >>> list(differences({"a": [1.0, 2.0]}, {"a": [1.0, 2.5], "b": 1}))
    [(('a', 1), 2.0, 2.5), (('b',), None, 1)]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            if key not in OF_THE_RUN:
                yield from differences(old.get(key), new.get(key), (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, (*path, place))
    elif not _equal(old, new):
        yield path, old, new


def _equal(old: Any, new: Any) -> bool:
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (old, new))
    return math.isclose(old, new, rel_tol=TOLERANCE) if numbers else bool(old == new)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 80 else f"{text[:77]}..."


if __name__ == "__main__":
    main()
