"""Releases of a study: made once, stored, and shared by attacks."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from unveil.data.files.whole_files import SECRET_FOLDER, read_unlinked
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.data.table import Column, Marker, Table
from unveil.data.table.coded_columns import CellFrame
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.protections.specification import applied
from unveil.studies._parts import protection_of
from unveil.studies.plan import Study
from unveil.studies.scenario import DataSet, rng, short_hash, slug
from unveil.studies.sources import graph_of, path_of, table_of
from unveil.work.memory import check_memory, check_reading, graph_bytes, table_bytes
from unveil.work.result_format import ResultFormat
from unveil.work.seal import Seal, SealKey, parts_of, seal_of, sealed_parts, write_bytes

FOLDER = "releases"
#: How releases are written: whole numbers, texts, columns and their markers.
RELEASE_FORMAT = ResultFormat([Column, Marker])

# What reading a file can raise that was damaged, or written by something else.
_DAMAGED = (OSError, ValueError, KeyError, TypeError, InputError)


def release_name(study: Study, data: DataSet, protect: str, number: int) -> str:
    """Return the file name of a release: readable letters and a hash."""
    from unveil._version import __version__

    depends = (data.name, data.digest, ",".join(data.known), protect, str(number), str(study.seed), __version__)
    return f"{slug(data.name, protect, str(number))}-{short_hash(*depends)}.result"


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
    """Return a release from its file, or make and store it.

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
    """Return the estimated memory in bytes to protect and attack the data."""
    if isinstance(original, Table):
        return table_bytes(original.rows, len(original.columns))
    return graph_bytes(released.nodes, original.edges + released.edges)


def _kept(study: Study, data: DataSet, protect: str, number: int, file: Path, key: SealKey | None) -> Any:
    """Return a new release as its file will be read."""
    made = _made(study.seed, data, protect, number)
    file.parent.mkdir(SECRET_FOLDER, parents=True, exist_ok=True)
    content = _graph_content(made) if data.kind == "graph" else _table_content(made)
    write_bytes(file, sealed_parts(RELEASE_FORMAT.write(content), Seal(file.name, "", "fine"), key))
    return _loaded(file, file.stat().st_mtime_ns, data, key)


@lru_cache(maxsize=2)
def _made(seed: int, data: DataSet, protect: str, number: int) -> Any:
    protection = protection_of(data.kind, protect)
    original = graph_of(data) if data.kind == "graph" else table_of(data)
    release = applied(protection, original, rng=rng(seed, "release", data.name, protect, number))
    if release.truth is None:
        raise InputError(
            f"a protection in a study must record the true matches, but {protect!r} does not. Choose "
            "one of kind masked ('unveil list protections')"
        )
    return release


@lru_cache(maxsize=2)
def _loaded(file: Path, _changed: int, data: DataSet, key: SealKey | None) -> Any:
    content = read_unlinked(file)
    if seal_of(content, key) != Seal(file.name, "", "fine"):
        raise ValueError("damaged, or sealed by another user")
    reader: Callable[..., Any] = _graph_from if data.kind == "graph" else _table_from
    return reader(RELEASE_FORMAT.read(parts_of(content)), graph_of(data) if data.kind == "graph" else table_of(data))


def _graph_content(release: GraphRelease) -> dict[str, Any]:
    return {
        "start": release.released.start,
        "neighbour": release.released.neighbour,
        "truth": release.truth,
        **{name: getattr(release, name) for name in ("kind", "name", "notes", "pairing")},
        "facts": {name: float(value) for name, value in release.facts.items()},
    }


def _graph_from(stored: dict[str, Any], original: Graph) -> GraphRelease:
    released = Graph(stored.pop("start"), stored.pop("neighbour"), name=f"{stored['name']} graph")
    return GraphRelease(original, released, **stored)


def _table_content(release: Release) -> dict[str, Any]:
    truth = np.asarray(release.truth, np.int64)
    return {"table": stored_table(release.released), "truth": truth, "kind": release.kind, "name": release.name}


def _table_from(stored: dict[str, Any], original: Table) -> Release:
    return Release(original, table_from(stored.pop("table")), **stored)


def stored_table(table: Table) -> dict[str, Any]:
    """Return a table as data that `RELEASE_FORMAT` writes; `table_from` makes it again."""
    return {
        "name": table.name,
        "columns": tuple(replace(column, hierarchy=None) for column in table.columns),
        "content": table.frame,
        "sha256": table.sha256,
        "notes": table.notes,
        "marked": {name: cells.to_numpy() for name, cells in table.marked.items()},
    }


def table_from(stored: dict[str, Any]) -> Table:
    """Return the table that was stored."""
    import polars as pl

    marked = {name: pl.Series(name, cells) for name, cells in stored["marked"].items()}
    return Table(**{**stored, "content": CellFrame(stored["content"].to_dict()), "marked": marked})
