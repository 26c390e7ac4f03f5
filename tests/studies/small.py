"""Small studies, and how their results are compared."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from tests.graph_strategies import heavy_tail
from unveil.studies import Axis, DataSet, Replications, Study
from unveil.studies.scenario import Scenario
from unveil.studies.sources import digest_of
from unveil.studies.stored_results import StoredRows, frame_of, read_result

#: Few, so that a scenario takes milliseconds.
METRICS = ("entropy", "adversary_success_rate", "anonymity_set_size")
GUESS = "tests.studies.own:Guess"


def small_graph(folder: Path, *, nodes: int = 40, name: str = "small.csv") -> Path:
    """Write a graph of a few dozen nodes."""
    one, other = heavy_tail(nodes, 2, 7).ends
    path = folder / name
    lines = [f"{a},{b}" for a, b in zip(one.tolist(), other.tolist(), strict=True)]
    path.write_text("source,target\n" + "\n".join(lines) + "\n")
    return path


def small_study(folder: Path, **changes: Any) -> Study:
    """Return a study of two protections and a guess at two levels, which takes next to no time."""
    told: dict[str, Any] = {
        "name": "small",
        "seed": 3,
        "data": (DataSet("small", "graph", str(small_graph(folder))),),
        "protections": ("id-removal", "switch"),
        "attacks": (GUESS,),
        "axes": (Axis("seed_pairs", (2, 5)),),
        "replications": Replications(number=3),
        "metrics": METRICS,
    }
    return Study(**{**told, **changes})


def looked_at(study: Study) -> Study:
    """Return the study with the hashes of its data, as a run sees it."""
    return replace(study, data=tuple(replace(each, digest=digest_of(each)) for each in study.data))


def first(study: Study) -> Scenario:
    """Return the first scenario."""
    return study.scenarios()[0]


def rows_of(out: Path, scenario: Scenario) -> pl.DataFrame:
    """Return the replications in the file of a scenario as a data frame."""
    stored = read_result((out / "results" / scenario.file_name).read_bytes(), StoredRows)
    return frame_of([scenario], stored.metrics, [stored])


def files(out: Path) -> dict[str, str]:
    """Return the hash of every file of results, whatever it is called."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (out / "results").iterdir()}


def node_files(out: Path) -> dict[str, str]:
    """Return the hash of every file of values of nodes."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (out / "nodes").iterdir()}
