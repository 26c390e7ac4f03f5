"""Data sources of a study: paths, digests, and cached content."""

import hashlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import cast

from unveil.data import samples
from unveil.data.files.source import open_source, shown
from unveil.data.graph import Graph
from unveil.data.table import Table
from unveil.errors import InputError, did_you_mean
from unveil.studies.index import REST, without_variables
from unveil.studies.scenario import DataSet

_SAMPLES = {
    "graph": {"sample:generated-graph": "generated_graph.csv"},
    "table": {"sample:anes96": "anes96.csv"},
}

# A worker goes from release to release, and needs the data of one or two at a time.
_KEPT = 2


def path_of(data: DataSet) -> Path:
    """Return the file of a data set, with environment variables expanded."""
    if data.source.startswith("sample:"):
        have = _SAMPLES[data.kind]
        if data.source not in have:
            raise InputError(
                f"there is no sample {data.source!r} that is a {data.kind}; there is {', '.join(have)}."
                f"{did_you_mean(data.source, have)} Correct the source of {data.name!r}"
            )
        return samples.path(have[data.source])
    return Path(without_variables(data.source, data.name))


def paths_of(data: DataSet) -> tuple[Path, ...]:
    """Return every file of a data set, the main one first."""
    given = data.given
    if given is None:
        return (path_of(data),)
    others = (given.original, given.dictionary, "" if given.control == REST else given.control)
    return (path_of(data), *(Path(without_variables(each, data.name)) for each in others if each))


def digest_of(data: DataSet) -> str:
    """Return the hash of a data set's file or files."""
    digests = [_digest(path, data) for path in paths_of(data)]
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def _digest(path: Path, data: DataSet) -> str:
    try:
        if path.is_fifo() or path.is_char_device() or path.is_block_device():
            raise InputError(
                f"the source {shown(path)} of the data {data.name!r} must be a file, which can be read again, but is a "
                "pipe or a device. Write the data to a file, and name that"
            )
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise InputError(
            f"the file {shown(path)} of the data {data.name!r} does not exist. Check the source in the study"
        ) from error
    except (OSError, ValueError) as error:
        if not isinstance(error, InputError):
            open_source(path)  # says why it cannot be read
        raise


def graph_of(data: DataSet) -> Graph:
    """Return the graph of a data set, cached per process."""
    return cast("Graph", _read(data, *_state(data)))


def table_of(data: DataSet) -> Table:
    """Return the table of a data set, cached per process."""
    return cast("Table", _read(data, *_state(data)))


def size_of(data: DataSet) -> int:
    """Return the size of the file in bytes, without reading it."""
    return path_of(data).stat().st_size


def _state(data: DataSet) -> tuple[int, int]:
    path = path_of(data)
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(
            f"the file {shown(path)} of the data {data.name!r} does not exist. Check the source in the study"
        ) from error
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=_KEPT)
def _read(data: DataSet, _changed: int, _size: int) -> Graph | Table:
    """Return the data; file time and size invalidate the cache."""
    if data.digest and digest_of(data) != data.digest:
        raise InputError(
            f"the file of the data {data.name!r} changed after the study began. "
            "Restore the file, or start the study in another folder"
        )
    if data.kind == "table":
        return _with_known(_table(data), data)
    from unveil.data.graph.read import read_graph

    graph = read_graph(path_of(data), name=data.name)
    return graph.without(directions=data.undirected, weights=data.unweighted)


def _table(data: DataSet) -> Table:
    if data.source.startswith("sample:"):
        return samples.audit_sample()[0]
    return Table.read(path_of(data), name=data.name)


def _with_known(table: Table, data: DataSet) -> Table:
    """Return the table with the role known for the named columns only."""
    if not data.known:
        return table
    for name in data.known:
        table.column(name)
    columns = tuple(
        replace(each, role="known", role_told=True)
        if each.name in data.known
        else replace(each, role="sensitive" if each.role == "known" else each.role, role_told=True)
        for each in table.columns
    )
    return replace(table, columns=columns)
