"""Study in one small file: replications and node values.

A file holds a row per case (data, protection, attack, axis) and metric, with all levels of the axis in it. Replications
and the extremes, means and deviations of nodes are 32-bit floats. Of the sorted values of nodes 16 blocks are left,
each as one of 255 steps between the lowest and the highest. The file also keeps the version, the digests of the data,
and the CPU seconds of each data set. Studies of given releases keep 64-bit floats.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.sketches import means_of_runs, weights_of
from unveil._kernels.types import FloatArray
from unveil.data.files.source import shown
from unveil.errors import InputError
from unveil.studies.index import with_sources
from unveil.studies.plan import Study
from unveil.studies.scenario import Scenario
from unveil.studies.stored_results import KEYS, keys_of
from unveil.work.seal import Seal, seal_of, sealed_parquet

if TYPE_CHECKING:
    import polars as pl

#: How a summary calls itself in its seal.
NAME = "summary"
#: Columns of results that are no metrics, and are kept like them.
COUNTS = ("attempted", "correct")
BLOCKS = 16
_FACTS = ("low", "high", "mean", "deviation")

_CASE = KEYS[:-1]
#: How many steps lie between the lowest and the highest value of nodes for a block of them.
STEPS = 255
# Another number for another way to write files: what a file does not say of itself, such as its steps, may then differ.
_FORM = "2"
# The strongest that zstd has: a summary is written once, and read and passed on often.
_LEVEL = 22


@dataclass(frozen=True, kw_only=True, eq=False)
class StudySummary:
    """A summary's contents: study, manifest, results, node values, errors, and CPU seconds by data set."""

    study: Study
    manifest: Mapping[str, Any]
    fine: frozenset[str]
    errors: Mapping[str, str]
    frame: "pl.DataFrame"
    nodes: "pl.DataFrame"
    seconds: Mapping[str, float]


def summary_of(
    study: Study,
    manifest: Mapping[str, Any],
    scenarios: Sequence[Scenario],
    *,
    fine: Sequence[Scenario],
    columns: Sequence[str],
    frame: "pl.DataFrame",
    nodes: "pl.DataFrame",
    errors: Mapping[str, str],
    seconds: Mapping[str, float],
) -> bytes:
    """Return the content of a summary; arguments are what :class:`unveil.studies.results.Results` has.

    ``errors`` are those of failed scenarios by file. Of where the data lie only the names of files are told.
    """
    import polars as pl

    rows = _rows_of(frame, fine)
    numbers = {name: frame[name].cast(pl.Float64).to_numpy() for name in (*COUNTS, *columns)}
    sketches = _sketches(nodes)
    told: list[dict[str, Any]] = []
    for case, every in groupby(scenarios, key=_case):
        # A level that another axis has too is kept for both, so that each row is a whole case.
        levels = [each for each in every if each.file_name in rows]
        if not levels:
            continue
        for name in (*COUNTS, *columns):
            own = [numbers[name][rows[each.file_name]] for each in levels]
            told.append(
                {
                    **dict(zip(_CASE, case, strict=True)),
                    "metric": name,
                    "levels": [each.level for each in levels],
                    "replications": [each.size for each in own],
                    "values": np.concatenate(own).tolist(),
                    **_encoded_nodes([sketches.get((*case, each.level, name)) for each in levels]),
                }
            )
    order = {name: at for at, name in enumerate((*COUNTS, *columns))}
    told.sort(key=lambda row: order[row["metric"]])  # numbers of one kind beside one another need less room
    places = tuple(with_sources(each, _file_name) for each in study.data)
    more = {
        "form": _FORM,
        "study": replace(study, data=places).to_toml(),
        "manifest": json.dumps(dict(manifest)),
        "errors": json.dumps(dict(errors)),
        "seconds": json.dumps({name: round(each, 3) for name, each in seconds.items()}),
    }
    made = pl.DataFrame(told, schema=_schema(study), orient="row")
    return sealed_parquet(made, Seal(NAME, "", "fine"), more, level=_LEVEL)


def read_summary(path: Path) -> StudySummary:
    """Return the content of a file made by :func:`summary_of`.

    Raises
    ------
    InputError
        If the file is none, or was damaged.
    """
    import polars as pl

    content, metadata = _opened(path)
    study = Study.from_toml(metadata["study"])
    manifest = json.loads(metadata["manifest"])
    stored = pl.read_parquet(BytesIO(content))
    scenarios = study.scenarios(version=str(manifest["version"]))
    by_metric = {str(name): part for (name,), part in stored.partition_by("metric", as_dict=True).items()}
    cases = by_metric.get(COUNTS[0], stored)
    levels = {(*case, level) for *case, every in cases.select(*_CASE, "levels").iter_rows() for level in every}
    return StudySummary(
        study=study,
        manifest=manifest,
        fine=frozenset(each.file_name for each in scenarios if (*_case(each), each.level) in levels),
        errors={Path(name).stem + ".result": said for name, said in json.loads(metadata["errors"]).items()},
        frame=_frame(study, cases, by_metric),
        nodes=_ordered(_nodes(stored), scenarios),
        seconds=json.loads(metadata["seconds"]),
    )


def is_summary(path: Path) -> bool:
    """Return whether a file is a Parquet file."""
    try:
        if not path.is_file():  # whoever opens a pipe waits for ever
            return False
        with path.open("rb") as stream:
            return stream.read(4) == b"PAR1"
    except (OSError, ValueError):
        return False


def manifest_of_summary(path: Path) -> dict[str, Any]:
    """Return the manifest stored in a summary."""
    told: dict[str, Any] = json.loads(_opened(path)[1]["manifest"])
    return told


def _opened(path: Path) -> tuple[bytes, dict[str, str]]:
    """Return the content and texts of a summary, or reject the file."""
    import polars as pl

    content = path.read_bytes()
    seal = seal_of(content)
    if seal is None or seal.name != NAME:
        raise InputError(
            f"{shown(path)} must be the folder of a study or its summary, but is another file, or a damaged one. Name "
            "the folder, or make the summary again with 'unveil study summary'"
        )
    metadata = pl.read_parquet_metadata(BytesIO(content))
    if metadata.get("form") != _FORM:
        raise InputError(
            f"the summary {shown(path)} was written by another version of unveil, in an unsupported "
            "format. Read it with that version, or make it again from the folder"
        )
    return content, metadata


def _case(scenario: Scenario) -> tuple[str, str, str, str]:
    return scenario.data.name, scenario.protect, scenario.attack, scenario.axis


def _file_name(source: str) -> str:
    return source if source.startswith(("sample:", "$")) else Path(source).name


def _schema(study: Study) -> dict[str, Any]:
    import polars as pl

    numbers = pl.List(pl.Float32)
    # Given releases have one replication, whose numbers reports show as they are.
    values = pl.List(pl.Float64) if study.kind == "release" else numbers
    return {
        **dict.fromkeys((*_CASE, "metric"), pl.String),
        "levels": pl.List(pl.Float64),
        "replications": pl.List(pl.UInt32),
        "values": values,
        "count": pl.List(pl.UInt64),
        **dict.fromkeys(_FACTS, numbers),
        "blocks": pl.List(pl.UInt8),
    }


def _rows_of(frame: "pl.DataFrame", fine: Sequence[Scenario]) -> dict[str, slice]:
    """Return the rows of each scenario, in study order."""
    first = np.flatnonzero(frame["replication"].to_numpy() == 0)
    ends = np.append(first[1:], frame.height)
    return {each.file_name: slice(int(start), int(end)) for each, start, end in zip(fine, first, ends, strict=True)}


def _steps(values: FloatArray, lowest: float, highest: float) -> FloatArray:
    width = highest - lowest
    return np.rint((values - lowest) / width * STEPS) if width > 0 else np.zeros(values.shape)


def _from_steps(values: NDArray[Any], lowest: float, highest: float) -> FloatArray:
    part = values.astype(np.float64) / STEPS
    # In this form both ends come out as they went in.
    return lowest * (1 - part) + highest * part


def _sketches(nodes: "pl.DataFrame") -> dict[tuple[Any, ...], tuple[Any, ...]]:
    keys = nodes.select(*_CASE, "level", "metric").iter_rows()
    return dict(zip(keys, nodes.select("count", "lowest", "highest", "sum", "squares", "blocks").rows(), strict=True))


def _encoded_nodes(levels: list[tuple[Any, ...] | None]) -> dict[str, Any]:
    """Return the sketches of all levels; empty levels have count 0."""
    if all(each is None for each in levels):
        return {}
    told: dict[str, Any] = {"count": [], **{name: [] for name in _FACTS}, "blocks": []}
    for count, low, high, total, squares, blocks in (each or (0, 0.0, 0.0, 0.0, 0.0, []) for each in levels):
        told["count"].append(count)
        if not count:
            continue
        mean = min(max(total / count, low), high)
        spread = np.sqrt(max(squares / count - (total / count) ** 2, 0.0)) if high > low else 0.0
        for name, value in zip(_FACTS, (low, high, mean, spread), strict=True):
            told[name].append(value)
        weight = weights_of(count, len(blocks)).astype(np.float64)
        runs, _ = means_of_runs(np.array(blocks, np.float64), weight, BLOCKS)
        told["blocks"] += _steps(np.clip(runs, low, high), low, high).astype(int).tolist()
    return told


def _frame(study: Study, cases: "pl.DataFrame", by_metric: Mapping[str, "pl.DataFrame"]) -> "pl.DataFrame":
    """Return the rows of results as the files of a folder have them."""
    import polars as pl

    rows = [number for every in cases["replications"].to_list() for number in every]
    levels = [level for every in cases["levels"].to_list() for level in every]
    of_case = cases["replications"].list.sum().to_numpy()
    columns = [pl.Series(name, np.repeat(cases[name].to_numpy(), of_case), pl.String) for name in _CASE]
    number = np.concatenate([np.empty(0, np.int64), *(np.arange(each) for each in rows)])
    columns.append(pl.Series("level", np.repeat(np.array(levels, np.float64), rows), pl.Float64))
    columns.append(pl.Series("replication", number, pl.UInt32))
    columns.append(pl.Series("release", number % study.releases, pl.UInt32))
    for name, part in by_metric.items():
        values = part["values"].explode().to_numpy() if part.height else np.empty(0, np.float32)
        column = pl.Series(name, values.astype(np.float64), pl.Float64).fill_nan(None)
        columns.append(column.round().cast(pl.UInt32) if name == "attempted" else column)
    columns.append(pl.Series("error", [None] * number.size, pl.String))
    return pl.DataFrame(columns)


def _nodes(stored: "pl.DataFrame") -> "pl.DataFrame":
    """Return the rows of nodes as the files of a folder have them."""
    import polars as pl

    told: list[tuple[Any, ...]] = []
    for row in stored.filter(pl.col("count").is_not_null()).iter_rows(named=True):
        facts = [row[name] for name in _FACTS]
        some = [(level, count) for level, count in zip(row["levels"], row["count"], strict=True) if count]
        ends = np.cumsum([min(count, BLOCKS) for _, count in some])
        blocks = np.split(np.array(row["blocks"], np.float64), ends[:-1])
        for (level, count), low, high, mean, deviation, own in zip(some, *facts, blocks, strict=True):
            runs = _from_steps(own, low, high).tolist()
            case, squares = tuple(row[name] for name in _CASE), count * (deviation**2 + mean**2)
            told.append((*case, level, row["metric"], count, low, high, count * mean, squares, runs))
    schema: dict[str, Any] = {
        **dict.fromkeys(_CASE, pl.String),
        "level": pl.Float64,
        "metric": pl.String,
        "count": pl.UInt64,
        **dict.fromkeys(("lowest", "highest", "sum", "squares"), pl.Float64),
        "blocks": pl.List(pl.Float32),
    }
    return pl.DataFrame(told, schema=schema, orient="row")


def _ordered(nodes: "pl.DataFrame", scenarios: Sequence[Scenario]) -> "pl.DataFrame":
    """Return the rows of each scenario together, in the order of the study."""
    place = keys_of(scenarios, [1] * len(scenarios)).with_row_index("place")
    joined = nodes.join(place, on=KEYS, how="left", maintain_order="left")
    return joined.sort("place", maintain_order=True).select(nodes.columns)
