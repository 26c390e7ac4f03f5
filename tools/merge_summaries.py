"""Make one summary of a study whose data sets were run apart, each in a folder or on a machine of its own.

    .venv/bin/python tools/merge_summaries.py studies/paper-2.toml pgp-dblp.parquet rest.parquet --out paper-2.parquet

The first file names the study as a whole. A data set that several files have is taken from the one in which it has most
scenarios, and never twice; all must be of the same graphs, protections, attacks and strengths.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

# Run as a file, this folder is on the path and the project is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import polars as pl

from unveil.studies import Results, Study
from unveil.studies.summary import NAME
from unveil.work.seal import Seal, sealed_parquet


def main(arguments: list[str] | None = None) -> None:
    """Write the summary of all parts, and say how much of the study they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", type=Path, help="the file of the whole study")
    parser.add_argument("parts", type=Path, nargs="+", help="summaries of parts of it")
    parser.add_argument("--out", type=Path, required=True, help="where the whole goes")
    options = parser.parse_args(arguments)
    options.out.write_bytes(merged(Study.read(options.study), options.parts))
    whole = Results.read(options.out)
    print(f"{len(whole.fine)} scenarios of {len(whole.scenarios)} in {options.out}")


def merged(study: Study, parts: Sequence[Path]) -> bytes:
    """Return the content of the summary of a study whose data sets are in several summaries."""
    digests: dict[str, str] = {}
    best: dict[str, pl.DataFrame] = {}
    seconds: dict[str, float] = {}
    for path in parts:
        taken = json.loads(pl.read_parquet_metadata(path)["seconds"])
        _stop_unless_part(Results.read(path).study, study, path)
        for (name,), rows in pl.read_parquet(path).partition_by("data", as_dict=True).items():
            digest = _manifest(path)["data"][name]
            if digests.setdefault(name, digest) != digest:
                sys.exit(f"{path} was run on another {name} than a file before it. Run both on the same data")
            if name not in best or _levels(rows) > _levels(best[name]):
                best[name] = rows
                seconds |= {name: taken[name]} if name in taken else {}
    whole = pl.concat([best[each.name] for each in study.data if each.name in best])
    order = whole["metric"].unique(maintain_order=True)
    # Numbers of one kind beside one another need less room.
    whole = whole.sort(pl.col("metric").replace_strict(order, range(len(order))), maintain_order=True)
    more = {
        "form": pl.read_parquet_metadata(parts[0])["form"],
        "study": study.to_toml(),
        "manifest": json.dumps({**_manifest(parts[0]), "data": digests}),
        "errors": "{}",
        "seconds": json.dumps(seconds),
    }
    return sealed_parquet(whole, Seal(NAME, "", "fine"), more, level=22)


def _manifest(path: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(pl.read_parquet_metadata(path)["manifest"])
    return told


def _levels(rows: pl.DataFrame) -> int:
    return int(rows["levels"].list.len().sum())


def _stop_unless_part(part: Study, study: Study, path: Path) -> None:
    """Stop where a summary is of another study."""
    if replace(part, data=study.data) != study or not set(part.data) <= set(study.data):
        sys.exit(f"{path} is of another study. Name summaries that were made with its protections, attacks and levels")


if __name__ == "__main__":
    main()
