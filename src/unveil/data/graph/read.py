"""Read graphs from edge files or from objects of other libraries."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.files._delimited_text import csv_columns, csv_rows
from unveil.data.files._spreadsheet import as_meant
from unveil.data.files.source import Source
from unveil.data.graph._edge_layout import (
    Layout,
    find_ends,
    first_edge_notes,
    ignored,
    layout_of,
    lost_weights,
    surely_header,
    unknown_ends,
)
from unveil.data.graph._edge_lines import Between, EdgeFile, edge_lines, open_edges, whole
from unveil.data.graph._edge_names import NamedEdges, graph_of, natural_order, simple_graph
from unveil.data.graph.graph import DroppedInformation, Graph
from unveil.data.table.native import is_one_table, series_of
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

PathLike = str | os.PathLike[str]

_ENDINGS = {".gz", ".gzip", ".bz2", ".tar", ".tgz", ".csv", ".tsv", ".txt", ".edges", ".parquet"}


def read_graph(path: PathLike, *, name: str | None = None) -> Graph:
    r"""Return the simple undirected graph of an edge file, with notes.

    The content tells the format, whatever the file is called:

    * lines of two names with spaces or tabs between them (SNAP), after them at most a weight and a time, or any
      columns below a header that calls two of them source and target, or the like; lines that begin with ``#`` or
      ``%`` are remarks;
    * the same with the header of KONECT (``% asym positive``, ``% edges nodes nodes``), also in its archives, of which
      the file ``out.NAME`` is read;
    * CSV with a header, in which two columns are called source and target, from and to, or the like; a row with an
      empty target (``7,``) is a node without an edge;
    * lines of whole numbers with commas between them and no header;
    * Parquet with such columns;

    and any of these compressed with gzip or bzip2.

    A first line that could be a header as well as an edge is refused: ``user1,user2`` above nodes that are called so
    too, or two words above whole numbers only. Source and target are always a header.

    Parameters
    ----------
    path
        The file, or a pipe.
    name
        How reports call the graph; None takes the name of the file.

    Returns
    -------
    Graph
        Nodes are called by what the file calls them, as text without spaces around it (``01`` is not ``1``). They are
        in their natural order, whatever the order of the lines: whole numbers by value, then all others as text. Where
        their names are 0, 1, 2, … without a gap, ``names`` is None. Loops, repeats, directions, weights and times are
        left out, and the notes say how many; ``dropped`` says whether directions and weights were among them, a third
        column without a name counting as weights. Questions about such a graph are refused until they are told that
        these do not matter.

    Raises
    ------
    InputError
        With the file and the line or row: if it cannot be read, is empty or damaged, if a line has one column or not
        as many as the first, if the first line could be a header or an edge, if a name is missing, if two names differ
        only in the spaces around them, or if the graph is bipartite.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "friends.txt")
    ...     _ = file.write_text("# who knows whom\nBob Eve\nEve Bob\nAda Eve\nAda Ada\n")
    ...     friends = read_graph(file)
    >>> friends, friends.name, list(friends.names)
    (Graph(3 nodes, 2 edges), 'friends graph', ['Ada', 'Bob', 'Eve'])
    >>> friends.notes
    ('1 loop was left out', '1 edge occurred in both directions and counts once')
    """
    file = open_edges(path)
    name = _name_of(file) if name is None else name
    if file.head.startswith(b"PAR1"):
        from unveil.data.files.read import read_table

        frame = read_table(file.path)
        return graph_of_columns(frame.get_columns(), f"the file {file.name}", (file.name, "row", " "), name=name)
    layout = layout_of(file)
    if layout.kind == "table":
        return graph_of_csv(file, layout, name)
    return _from_lines(file, layout, name)


def graph_from(thing: Any, *, name: str | None = None) -> Graph:
    """Return the simple undirected graph of an object, with notes.

    Parameters
    ----------
    thing
        A `Graph` (returned as it is), the path of a file (see :func:`read_graph`), a graph of networkx or igraph, a
        square sparse matrix of scipy (an edge wherever it is not 0), a tuple of two lists or arrays (sources and
        targets), or a table with such columns, as :meth:`unveil.Table.from_frame` takes it. A list that is no such
        table, or a tuple of tuples, is refused: two pairs in it could be two edges, or sources and targets.
    name
        How reports call the graph; None takes the name of the file, or "graph".

    Returns
    -------
    Graph
        Nodes without an edge are kept. Nodes are called as they print, and are in their natural order (see
        :func:`read_graph`), except in a matrix, where they are known by their numbers. In a pair of arrays whole
        numbers are names too: those that do not occur are no nodes. Use `Graph.from_edges` where they are numbers.

    Raises
    ------
    InputError
        If it is none of these, or if nodes have the same name as text.

    Examples
    --------
    >>> graph = graph_from((["b", "a", "a"], ["a", "c", "b"]))
    >>> graph, list(graph.names), graph.notes
    (Graph(3 nodes, 2 edges), ['a', 'b', 'c'], ('1 edge occurred in both directions and counts once',))
    """
    if isinstance(thing, Graph):
        return thing if name is None else thing.called(name)
    if isinstance(thing, (str, os.PathLike)):
        return read_graph(thing, name=name)
    name = "graph" if name is None else name
    for fits, take in ((is_networkx, from_networkx), (is_igraph, from_igraph), (is_sparse, from_sparse)):
        if fits(thing):
            return take(thing, name=name)
    is_table = is_one_table(thing) if isinstance(thing, (Mapping, list)) else hasattr(type(thing), "columns")
    if isinstance(thing, (tuple, list)) and not is_table:
        if isinstance(thing, list) or len(thing) != 2 or any(isinstance(part, tuple) for part in thing):
            raise InputError(
                "the edges of a graph must be a tuple of two lists or arrays, the sources and the targets, but are a "
                f"{type(thing).__name__} that could hold pairs. Pass (sources, targets), or a DataFrame "
                "with these columns"
            )
        return _from_pair(*thing, name=name)
    if is_table:
        columns = [series for series, _ in series_of(thing, table=name)]
        return graph_of_columns(columns, f"the {name}", (f"the {name}", "row", " (counted from 1) "), name=name)
    raise InputError(
        f"a graph must be a Graph, a file, a graph of networkx or igraph, a sparse matrix, (sources, targets) or a "
        f"DataFrame with source and target, but is a {type(thing).__name__}. Convert it first"
    )


def _name_of(file: EdgeFile) -> str:
    if not file.path.is_file():
        return "graph"
    stem = Path(file.path.name.removeprefix("out."))
    while stem.suffix.lower() in _ENDINGS and stem.stem:
        stem = Path(stem.stem)
    return f"{stem.name} graph"


def _from_lines(file: EdgeFile, layout: Layout, name: str) -> Graph:
    import polars as pl

    between: Between = "spaces" if layout.kind == "table" else layout.kind
    ends = layout.ends if layout.header else None
    blocks = list(edge_lines(file, between, layout.columns, skip=layout.skip, before=layout.before, ends=ends))
    if not blocks:
        raise InputError(f"the file {file.name} must hold edges, but has a header only. Check that it is complete")

    def joined(label: str) -> pl.Series:
        parts = [block[label] for block in blocks]
        if any(part.dtype == pl.String for part in parts):
            parts = [part.cast(pl.String) for part in parts]
        return pl.concat(parts)

    read = sum(block.height for block in blocks)
    if layout.entries is not None and layout.entries != read:
        raise InputError(
            f"the matrix of {file.name} must hold the {layout.entries:,} entries that line {layout.before} counts, but "
            f"holds {read:,}. Check that it was written completely"
        )
    source, target, lines = joined("source"), joined("target"), joined("line").to_numpy()
    notes = _line_notes(file, layout, (source, target), lines[0])
    edges = NamedEdges(
        source,
        target,
        lines,
        (file.name, "line", " "),
        directed=layout.directed,
        declared=layout.declared,
    )
    return graph_of(edges, name=name, notes=notes, lost=_line_losses(layout))


def _line_losses(layout: Layout) -> tuple[DroppedInformation, ...]:
    """Return whether lines have weights: declared, or an unnamed third column."""
    if layout.header:
        return lost_weights(layout.header, layout.ends)
    return ("weights",) if layout.columns > 2 and layout.weights != "unweighted" else ()


def _line_notes(file: EdgeFile, layout: Layout, ends: "tuple[pl.Series, pl.Series]", line: int) -> tuple[str, ...]:
    if layout.header:
        header = [layout.header[place] for place in layout.ends]
        sure = surely_header(header, ends, f"line {layout.before} of {file.name}")
        return ("the first line was read as a header", *ignored(layout.header, layout.ends, shown=sure))
    said = list(first_edge_notes(ends, f"line {line} of {file.name}"))
    if layout.kind == "commas":
        said.append("the file has no header: its first line was read as an edge")
    if layout.columns > 2 and layout.weights in ("", "unweighted"):
        which = "the third column" if layout.columns == 3 else "the third and fourth columns"
        said.append(f"{which} (weights or times) {'was' if layout.columns == 3 else 'were'} ignored")
    elif layout.columns > 2:
        said.append(f"weights were ignored (the header calls the edges {layout.weights})")
        said += ["times were ignored"] if layout.columns == 4 else []
    return tuple(said)


def _from_pair(source: Any, target: Any, *, name: str) -> Graph:
    import polars as pl

    ends = []
    for label, values in (("source", source), ("target", target)):
        array = np.asarray(values)
        if array.ndim != 1 or array.dtype.kind not in "iuUO":
            raise InputError(
                f"the {label}s of edges must be a flat sequence of names or whole numbers, but are not. Pass one "
                "sequence of sources and one of targets, of the same length"
            )
        ends.append(pl.Series([None if each is None else str(each) for each in array.tolist()], dtype=pl.String))
    if ends[0].len() != ends[1].len():
        raise InputError(
            f"there must be a target for each source, but there are {ends[0].len()} sources and {ends[1].len()} targets"
        )
    return graph_of_ends(ends, (f"the {name}", "edge", " (counted from 1) "), name, None)


# Take graphs out of the objects of other libraries, known by what they can do, so that none need be installed.

_WEIGHTS = "weights were ignored"


def is_networkx(thing: object) -> bool:
    """Return whether this looks like a graph of networkx."""
    return all(hasattr(thing, part) for part in ("nodes", "edges", "is_directed", "is_multigraph"))


def is_igraph(thing: object) -> bool:
    """Return whether this looks like a graph of igraph."""
    return all(hasattr(thing, part) for part in ("vcount", "get_edgelist", "is_directed"))


def is_sparse(thing: object) -> bool:
    """Return whether this looks like a matrix of scipy.sparse."""
    return hasattr(thing, "tocoo") and hasattr(thing, "nnz")


def from_networkx(thing: Any, *, name: str) -> Graph:
    """Return the graph of a networkx object, with nodes in natural order."""
    nodes = list(thing.nodes)
    place = {node: number for number, node in enumerate(nodes)}
    ends = [(place[edge[0]], place[edge[1]]) for edge in thing.edges]
    weighted = any("weight" in facts for *_, facts in thing.edges(data=True))
    return _numbered_anew(ends, nodes, name=name, directed=bool(thing.is_directed()), weighted=weighted)


def from_igraph(thing: Any, *, name: str) -> Graph:
    """Return the graph of an igraph object, named by its attribute ``name``."""
    nodes = int(thing.vcount())
    names = list(thing.vs["name"]) if "name" in thing.vs.attributes() else list(range(nodes))
    weighted = "weight" in thing.es.attributes()
    return _numbered_anew(thing.get_edgelist(), names, name=name, directed=bool(thing.is_directed()), weighted=weighted)


def from_sparse(thing: Any, *, name: str) -> Graph:
    """Return the graph of the non-zeros of a square sparse matrix."""
    matrix = thing.tocoo(copy=True)
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"the matrix of a graph must have a row and a column for each node, but its shape is {matrix.shape}. "
            "Pass a square one"
        )
    matrix.sum_duplicates()
    value = np.asarray(matrix.data)
    if value.dtype.kind not in "biuf" or not np.isfinite(value).all():
        raise InputError("the matrix of a graph must hold finite numbers, but does not. Write 0 for missing edges")
    there = value != 0
    one, other = matrix.row[there].astype(np.int64), matrix.col[there].astype(np.int64)
    nodes = int(matrix.shape[0])
    forth, back = (np.sort(a * nodes + b) for a, b in ((one, other), (other, one)))
    directed = not np.array_equal(forth, back)
    if not directed:
        # A symmetric matrix holds each edge twice, which is how such a matrix is written and no repeat.
        one, other = one[one <= other], other[one <= other]
    notes, lost = _of_weights(not (value[there] == 1).all())
    return simple_graph(one, other, nodes, names=None, name=name, directed=directed or None, notes=notes, lost=lost)


def _of_weights(weighted: bool) -> tuple[tuple[str, ...], tuple[DroppedInformation, ...]]:
    return ((_WEIGHTS,), ("weights",)) if weighted else ((), ())


def _numbered_anew(
    ends: Iterable[tuple[int, int]], nodes: list[Any], *, name: str, directed: bool, weighted: bool
) -> Graph:
    import polars as pl

    names = pl.Series([str(node).strip() for node in nodes], dtype=pl.String)
    if names.n_unique() < names.len() or (names == "").any():
        raise InputError(
            f"the nodes of the {name} must have different names as text, without spaces around them, but some of "
            f"{names.len()} share a name or have none. Rename them"
        )
    order = natural_order(names)
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size)
    pairs: IntArray = np.array(list(ends), np.int64).reshape(-1, 2)
    chosen = names[order].to_numpy()
    labels = None if (chosen == np.arange(order.size).astype(str)).all() else chosen
    notes, lost = _of_weights(weighted)
    return simple_graph(
        number[pairs[:, 0]],
        number[pairs[:, 1]],
        order.size,
        names=labels,
        name=name,
        directed=directed,
        notes=notes,
        lost=lost,
    )


# Make a graph of a table of edges: CSV with a header, or the columns of a DataFrame.

_BELOW_HEADER = " (counted from 1 below the header) "
_CHUNK = 1 << 22


def graph_of_csv(file: EdgeFile, layout: Layout, name: str) -> Graph:
    """Return the graph of a CSV file with a header, ignoring further columns."""
    content = b"".join(file.chunks(_CHUNK, skip=layout.skip))
    source = Source(file.path, "csv", content)
    names = csv_columns(source)
    where = find_ends(names)
    if where is None:
        raise unknown_ends(names, f"the file {file.name}")
    # By place, because other columns may share a name.
    frame = csv_rows(source, len(names), where)
    if frame.height == 0:
        raise InputError(f"the file {file.name} must hold rows, but has a header only. Check that it is complete")
    ends = [as_meant(column) for column in frame]
    sure = surely_header([names[place] for place in where], ends, f"line {layout.before + 1} of {file.name}")
    said = () if sure else ("the first line was read as a header",)
    notes = (*said, *ignored(names, where, shown=sure))
    lost = lost_weights(names, where)
    return graph_of_ends(ends, (file.name, "row", _BELOW_HEADER), name, layout.directed, notes, lost)


def graph_of_columns(columns: Sequence["pl.Series"], what: str, where: tuple[str, str, str], *, name: str) -> Graph:
    """Return the graph of the two edge-end columns, with notes."""
    names = [column.name for column in columns]
    found = find_ends(names)
    if found is None:
        raise unknown_ends(names, what)
    ends = [columns[place] for place in found]
    return graph_of_ends(ends, where, name, None, ignored(names, found), lost_weights(names, found))


def graph_of_ends(
    ends: Sequence["pl.Series"],
    where: tuple[str, str, str],
    name: str,
    directed: bool | None,
    notes: tuple[str, ...] = (),
    lost: tuple[DroppedInformation, ...] = (),
) -> Graph:
    """Return the graph of two columns, the sources and the targets."""
    source, target = (_as_names(column, where) for column in ends)
    rows = np.arange(1, source.len() + 1)
    return graph_of(NamedEdges(source, target, rows, where, directed), name=name, notes=notes, lost=lost)


def _as_names(column: "pl.Series", where: tuple[str, str, str]) -> "pl.Series":
    """Return a column as names: integers if possible, else text."""
    import polars as pl

    if not column.dtype.is_float():
        return whole(column.cast(pl.String))
    column = column.fill_nan(None)
    rounded = column.cast(pl.Int64, strict=False)
    wrong = (column.is_not_null() & (rounded.is_null() | (rounded.cast(column.dtype) != column))).arg_true()
    if wrong.len():
        file, what, how = where
        raise InputError(
            f"nodes of {file} must be called by names or whole numbers, but {what} {wrong[0] + 1}{how}has a number "
            "with decimals. Check that these are the ends of edges, and write them as text"
        )
    return rounded
