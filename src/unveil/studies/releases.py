"""The releases of a study: made once, kept in files, and shared by all attacks on them."""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil.data.files.whole_files import SECRET_FOLDER, read_unlinked
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.data.table import Column, Marker, Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.protections.specification import applied
from unveil.studies._parts import protection_of
from unveil.studies.plan import Study
from unveil.studies.scenario import DataSet, rng, short_hash, slug
from unveil.studies.sources import graph_of, path_of, table_of
from unveil.work.memory import check_memory, check_reading, graph_bytes, table_bytes
from unveil.work.seal import Seal, SealKey, seal_of, sealed_archive, write_bytes

if TYPE_CHECKING:
    import polars as pl

FOLDER = "releases"

# What reading a file can raise that was damaged, or written by something else.
_DAMAGED = (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, InputError)


def release_name(study: Study, data: DataSet, protect: str, number: int) -> str:
    """Return the file of a release: readable letters, and a hash of all that it depends on."""
    from unveil._version import __version__

    depends = (data.name, data.digest, ",".join(data.known), protect, str(number), str(study.seed), __version__)
    return f"{slug(data.name, protect, str(number))}-{short_hash(*depends)}.npz"


def release_of(
    study: Study,
    data: DataSet,
    protect: str,
    number: int,
    folder: Path,
    *,
    memory: int | None = None,
    fresh: bool = False,
    key: SealKey | None = None,
) -> Any:
    """Return a release, out of its file or made now and written to it.

    While a process works on it, it stays the same object, so that an attack can keep what it computed of it. With
    ``fresh`` it is made anew even if the file is there, which also tells the mechanism (no file can hold that); the
    numbers are the same. A file that is not sealed with the ``key`` is not believed, and made again.
    """
    check_reading(path_of(data), memory, f"the data {data.name!r}")
    original = graph_of(data) if data.kind == "graph" else table_of(data)
    check_memory(bytes_of(original, original), memory, f"a scenario of {data.name!r}")
    release = _found(study, data, protect, number, folder, key, fresh=fresh)
    # Some protections add many nodes and edges.
    check_memory(bytes_of(original, release.released), memory, f"an attack on {protect!r} of {data.name!r}")
    return release


def _found(
    study: Study, data: DataSet, protect: str, number: int, folder: Path, key: SealKey | None, *, fresh: bool
) -> Any:
    file = folder / FOLDER / release_name(study, data, protect, number)
    if fresh:
        return _made(study.seed, data, protect, number)
    if not file.is_file():
        return _kept(study, data, protect, number, file, key)
    try:
        return _loaded(file, file.stat().st_mtime_ns, data, key)
    except _DAMAGED:
        return _kept(study, data, protect, number, file, key)


def bytes_of(original: Any, released: Any) -> int:
    """Return how much memory protecting and attacking this graph or table is projected to take."""
    if isinstance(original, Table):
        return table_bytes(original.rows, len(original.columns))
    return graph_bytes(released.nodes, original.edges + released.edges)


def _kept(study: Study, data: DataSet, protect: str, number: int, file: Path, key: SealKey | None) -> Any:
    """Return a release that was made now, as it will be read from its file by others."""
    made = _made(study.seed, data, protect, number)
    file.parent.mkdir(SECRET_FOLDER, parents=True, exist_ok=True)
    content = _graph_content(made) if data.kind == "graph" else _table_content(made)
    write_bytes(file, sealed_archive(content, Seal(file.name, "", "fine"), key))
    return _loaded(file, file.stat().st_mtime_ns, data, key)


@lru_cache(maxsize=2)
def _made(seed: int, data: DataSet, protect: str, number: int) -> Any:
    protection = protection_of(data.kind, protect)
    original = graph_of(data) if data.kind == "graph" else table_of(data)
    release = applied(protection, original, rng=rng(seed, "release", data.name, protect, number))
    if release.truth is None:
        raise InputError(
            f"a protection in a study must know whose each released row is, but {protect!r} leaves no truth. Choose "
            "one of kind masked ('unveil list protections')"
        )
    return release


@lru_cache(maxsize=2)
def _loaded(file: Path, _changed: int, data: DataSet, key: SealKey | None) -> Any:
    content = read_unlinked(file)
    if seal_of(content, key) != Seal(file.name, "", "fine"):
        raise ValueError("damaged, or sealed by another user")
    reader: Callable[..., Any] = _graph_from if data.kind == "graph" else _table_from
    return reader(content, graph_of(data) if data.kind == "graph" else table_of(data))


def _graph_content(release: GraphRelease) -> bytes:
    told = {key: getattr(release, key) for key in ("kind", "name", "notes", "pairing")}
    told["facts"] = {key: float(value) for key, value in release.facts.items()}
    stream = io.BytesIO()
    np.savez(
        stream,
        start=release.released.start,
        neighbour=release.released.neighbour,
        truth=release.truth,
        told=np.array(json.dumps(told)),
    )
    return stream.getvalue()


def _graph_from(content: bytes, original: Graph) -> GraphRelease:
    with np.load(io.BytesIO(content), allow_pickle=False) as parts:
        told = json.loads(str(parts["told"]))
        released = Graph(parts["start"], parts["neighbour"], name=f"{told['name']} graph")
        truth = parts["truth"]
    return GraphRelease(original, released, truth, **{**told, "notes": tuple(told["notes"])})


def _table_content(release: Release) -> bytes:
    rows, released = io.BytesIO(), release.released
    released.frame.write_parquet(rows)
    told = {**facts_of_table(released), "kind": release.kind, "name": release.name}
    stream = io.BytesIO()
    np.savez(
        stream,
        frame=np.frombuffer(rows.getvalue(), np.uint8),
        truth=np.asarray(release.truth, np.int64),
        marked=marks_of_table(released),
        told=np.array(json.dumps(told)),
    )
    return stream.getvalue()


def facts_of_table(table: Table) -> dict[str, Any]:
    """Return what a file says of a table beside its rows; `table_of_facts` makes it again."""
    columns = [asdict(replace(column, hierarchy=None)) for column in table.columns]
    return {"columns": columns, "marked": list(table.marked), "table": table.name}


def marks_of_table(table: Table) -> "NDArray[np.uint8]":
    """Return which marker each cell holds, a row for each column that has some."""
    return np.array([cells.to_numpy() for cells in table.marked.values()], np.uint8)


def table_of_facts(fields: dict[str, Any], frame: "pl.DataFrame", marks: "NDArray[np.uint8]") -> Table:
    """Return the table that a file holds."""
    import polars as pl

    marked = {name: pl.Series(name, cells) for name, cells in zip(fields["marked"], marks, strict=True)}
    return Table(fields["table"], tuple(map(_column_from, fields["columns"])), frame, marked=marked)


def _table_from(content: bytes, original: Table) -> Release:
    import polars as pl

    with np.load(io.BytesIO(content), allow_pickle=False) as parts:
        told = json.loads(str(parts["told"]))
        frame = pl.read_parquet(io.BytesIO(parts["frame"].tobytes()))
        released = table_of_facts(told, frame, parts["marked"])
        truth = parts["truth"]
    return Release(original, released, kind=told["kind"], name=told["name"], truth=truth)


def _column_from(fields: dict[str, Any]) -> Column:
    markers = tuple(Marker(**marker) for marker in fields["markers"])
    return Column(**{**fields, "markers": markers, "written": tuple(fields["written"])})
