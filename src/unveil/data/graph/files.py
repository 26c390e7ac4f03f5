"""Write graphs and node truths; read truths and seed pairs."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.files._spreadsheet import as_meant, shown_as_text
from unveil.data.files.read import read_table, refuse_cells, refuse_repeats
from unveil.data.files.source import shown
from unveil.data.files.write import write_text
from unveil.data.graph.graph import Graph
from unveil.data.graph.release import NOBODY, GraphRelease

if TYPE_CHECKING:
    import polars as pl

PathLike = str | os.PathLike[str]

#: In a truth that was read, a node of which the file says nothing: it may stand for somebody or for nobody.
UNKNOWN = -2

_COLUMNS = {"released": "released", "original": "original"}


def edges_text(graph: Graph) -> str:
    r"""Return a graph as CSV: edges, then isolated nodes.

    Each edge comes once, the end with the smaller number first; a node without an edge has an empty target.
    A name that a spreadsheet would run as a formula has an apostrophe before it (a number never), and one with a
    control character is refused. :func:`unveil.data.read_graph` reads the same graph again.

    >>> edges_text(Graph.from_edges([0], [1], names=["Ada", "Bob", "Eve"]))
    'source,target\nAda,Bob\nEve,\n'
    """
    import polars as pl

    names = _names(graph)
    one, other = graph.ends
    alone = np.flatnonzero(graph.degrees == 0)
    source = names[np.concatenate([one, alone])]
    target = names[other].extend_constant(None, alone.size)
    return _csv(pl.DataFrame({"source": source, "target": target}))


def truth_text(release: GraphRelease) -> str:
    r"""Return the true node matches as CSV with ``released`` and ``original``.

    There is one row for each released node, in the order of their numbers; a pseudo node has an empty original. Names
    are written as :func:`edges_text` does, and :func:`read_truth` and :func:`read_seed_pairs` read them as they were.

    >>> edge = Graph.from_edges([0], [1], names=["Ada", "Bob"])
    >>> truth_text(GraphRelease(edge, Graph.from_edges([0], [2], nodes=3), np.array([1, -1, 0])))
    'released,original\n0,Bob\n1,\n2,Ada\n'
    """
    import polars as pl

    whose = pl.Series(release.truth)
    original = _names(release.original)[whose.replace(NOBODY, None).cast(pl.UInt32)]
    return _csv(pl.DataFrame({"released": _names(release.released), "original": original}))


def write_edges(path: PathLike, graph: Graph) -> Path:
    """Write the graph as :func:`edges_text` and return its path."""
    return write_text(path, edges_text(graph), shared=True)


def write_truth(path: PathLike, release: GraphRelease) -> Path:
    """Write the true node matches to a private file and return its path.

    It is written as :func:`truth_text` tells.
    """
    return write_text(path, truth_text(release))


def read_truth(path: PathLike, *, released: Graph, original: Graph) -> tuple[IntArray, tuple[str, ...]]:
    r"""Return the original node of each released one, -1 for none, and notes.

    Parameters
    ----------
    path
        CSV or Parquet with the columns ``released`` and ``original``, which hold names of nodes; an empty original is
        a pseudo node.
    released, original
        The graphs whose nodes are named.

    Returns
    -------
    truth, notes
        Released nodes that the file does not name have -2 (``UNKNOWN``): nothing an attacker says of them can be
        called right or wrong. The notes count them, and original nodes that no released node stands for.

    Raises
    ------
    InputError
        With the file and the row: if a name is missing or not in its graph, or if a node comes twice.

    Examples
    --------
    >>> import tempfile
    >>> edge = Graph.from_edges([0], [1], names=["Ada", "Bob"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "truth.csv")
    ...     _ = file.write_text("released,original\n0,Bob\n1,\n2,Ada\n")
    ...     read_truth(file, released=Graph.from_edges([0], [2], nodes=3), original=edge)
    (array([ 1, -1,  0]), ())
    """
    frame = read_table(path, _COLUMNS, complete=["released"])
    numbers = numbers_of_nodes(path, frame, "released", released)
    whose = numbers_of_nodes(path, frame, "original", original)
    refuse_nodes_twice(path, frame, "released")
    refuse_nodes_twice(path, frame, "original")
    truth = np.full(released.nodes, UNKNOWN, np.int64)
    truth[numbers] = whose
    notes = []
    if unnamed := released.nodes - numbers.size:
        are = "is" if unnamed == 1 else "are"
        notes.append(f"{unnamed:,} of {released.nodes:,} released nodes {are} not in {shown(Path(path))}")
    if lost := original.nodes - int((whose != NOBODY).sum()):
        have = "has" if lost == 1 else "have"
        notes.append(f"{lost:,} of {original.nodes:,} original nodes {have} no released node in {shown(Path(path))}")
    return truth, tuple(notes)


def read_seed_pairs(path: PathLike, *, released: Graph, auxiliary: Graph) -> IntArray:
    r"""Return the attacker's seed pairs: released and auxiliary node per row.

    Parameters
    ----------
    path
        CSV or Parquet with the columns ``released`` and ``original``, which hold names of nodes.
    released, auxiliary
        The graphs whose nodes are named: what is attacked, and what the attacker knows, under original names.

    Raises
    ------
    InputError
        With the file and the row: if a name is missing or not in its graph, or if a node is in two pairs.

    Examples
    --------
    >>> import tempfile
    >>> edge = Graph.from_edges([0], [1], names=["Ada", "Bob"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "seeds.csv")
    ...     _ = file.write_text("released,original\n0,Bob\n")
    ...     read_seed_pairs(file, released=Graph.from_edges([0], [1]), auxiliary=edge)
    array([[0, 1]])
    """
    frame = read_table(path, _COLUMNS, complete=["released", "original"])
    one = numbers_of_nodes(path, frame, "released", released)
    other = numbers_of_nodes(path, frame, "original", auxiliary)
    refuse_repeats(frame, path, ["released", "original"])
    refuse_nodes_twice(path, frame, "released")
    refuse_nodes_twice(path, frame, "original")
    return np.column_stack([one, other])


def _csv(frame: "pl.DataFrame") -> str:
    return frame.with_columns(shown_as_text(column, "the name of a node") for column in frame).write_csv()


def _names(graph: Graph) -> "pl.Series":
    import polars as pl

    names: Any = np.arange(graph.nodes).astype(str) if graph.names is None else graph.names
    return pl.Series([str(name) for name in names], dtype=pl.String)


def numbers_of_nodes(path: PathLike, frame: "pl.DataFrame", column: str, graph: Graph) -> IntArray:
    """Return the node number of each cell, -1 if empty."""
    import polars as pl

    names = frame[column].str.strip_chars().replace("", None)
    known = _names(graph).str.strip_chars()

    def numbers_of(texts: pl.Series) -> pl.Series:
        return texts.replace_strict(known, pl.Series(np.arange(graph.nodes)), default=None, return_dtype=pl.Int64)

    # In a file that was not written here, an apostrophe may be a part of the name.
    numbers = numbers_of(as_meant(names).str.strip_chars()).fill_null(numbers_of(names))
    refuse_cells(
        names.is_not_null() & numbers.is_null(),
        path,
        column,
        f"name nodes of the {graph.name}, which has {graph.nodes:,}",
    )
    return numbers.fill_null(NOBODY).to_numpy().astype(np.int64)


def refuse_nodes_twice(path: PathLike, frame: "pl.DataFrame", column: str) -> None:
    """Refuse a column in which a name comes twice; empty cells may."""
    import polars as pl

    # Rows keep their numbers, because messages name them: empty cells are told apart by their row.
    plain = frame[column].str.strip_chars().replace("", None)
    apart = pl.int_range(frame.height, dtype=pl.Int64, eager=True)
    marked = pl.DataFrame({column: plain, "blank": apart.set(plain.is_not_null(), -1)})
    refuse_repeats(marked.select(pl.struct(column, "blank").alias(column)), path, [column])
