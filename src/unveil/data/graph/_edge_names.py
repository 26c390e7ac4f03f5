"""Build a graph from named edges, with nodes in natural order."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.graph.rows import distinct, edge_keys, rows_of
from unveil._kernels.types import IntArray
from unveil.data.graph._edge_lines import whole
from unveil.data.graph.graph import MOST_NODES, DroppedInformation, Graph
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl


_INTEGER = r"^-?[0-9]{1,18}$"
# A header that counts many times more nodes than have an edge is wrong, and following it could fill the memory.
_MOST_LACKING = 10


@dataclass(frozen=True, eq=False)
class NamedEdges:
    """Edges between named nodes, in file order.

    Attributes
    ----------
    source, target
        The names, as text or as whole numbers. An empty target makes the source a node without this edge.
    row
        The number of each edge in the file, for messages.
    where
        What messages call the file and its numbers, such as ("'edges.csv'", "row", " (counted from 1 below …)").
    directed
        Whether the edges have a direction; None if that is not known.
    declared
        Nodes called 1, 2, … up to this number are there even without an edge; 0 for none.
    """

    source: "pl.Series"
    target: "pl.Series"
    row: IntArray
    where: tuple[str, str, str]
    directed: bool | None = None
    declared: int = 0


def graph_of(
    edges: NamedEdges, *, name: str, notes: tuple[str, ...] = (), lost: tuple[DroppedInformation, ...] = ()
) -> Graph:
    """Return the simple graph of named edges; integer names come first.

    Raises
    ------
    InputError
        If a source has no name, or if two names differ only in the spaces around them.
    """
    source, target = _stripped(edges)
    empty = source.is_null()
    if empty.any():
        file, what, how = edges.where
        raise InputError(
            f"every {what} of {file} must name the source of an edge, but {what} {edges.row[empty.arg_true()[0]]} does "
            f"not{how or ' '}(such {what}s: {empty.sum()}). Write a node without an edge as 'name,'"
        )
    kept = target.is_not_null()
    numbers, names = _numbered(source, target)
    one, other = numbers[: source.len()][kept.to_numpy()], numbers[source.len() :]
    missing: tuple[str, ...] = ()
    if edges.declared:
        one, other, names, missing = _with_declared(one, other, names, edges.declared)
    labels = None if _are_their_numbers(names) else names
    return simple_graph(
        one, other, names.size, names=labels, name=name, directed=edges.directed, notes=(*notes, *missing), lost=lost
    )


def simple_graph(
    one: IntArray,
    other: IntArray,
    nodes: int,
    *,
    names: NDArray[Any] | None,
    name: str,
    directed: bool | None,
    notes: tuple[str, ...] = (),
    lost: tuple[DroppedInformation, ...] = (),
) -> Graph:
    """Return the simple graph of edge arrays, with notes on dropped edges.

    ``lost`` is what was dropped on the way here.

    >>> simple_graph(np.array([0, 1, 2]), np.array([1, 0, 2]), 3, names=None, name="graph", directed=True).notes
    ('1 loop was left out', 'the directions of edges were dropped: 1 of 1 edge occurred in both')
    """
    if nodes > MOST_NODES:
        raise InputError(f"a graph can have at most {MOST_NODES:,} nodes, but has {nodes:,}. Take a part of it")
    loop = one == other
    if loop.any():
        one, other = one[~loop], other[~loop]
    keys = distinct(edge_keys(one, other, nodes))
    ordered = distinct(one * nodes + other).size
    both = ordered - keys.size
    said, dropped = list(notes), list(lost)
    said += [_left_out(int(loop.sum()), "loop")] if loop.any() else []
    said += [_left_out(one.size - ordered, "repeated edge")] if one.size > ordered else []
    if directed:
        edges = f"{keys.size:,} edge{'s' * (keys.size != 1)}"
        said.append(f"the directions of edges were dropped: {both:,} of {edges} occurred in both")
        # Where each edge goes both ways, directions tell nothing.
        dropped += ["directions"] if both < keys.size else []
    elif both:
        said.append(f"{both:,} edge{'s' * (both != 1)} occurred in both directions and count{'s' * (both == 1)} once")
    return Graph(*rows_of(keys, nodes), names, name, tuple(said), tuple(dropped))


def natural_order(names: "pl.Series") -> IntArray:
    """Return the natural order of distinct names: integers by value, then text.

    >>> import polars as pl
    >>> natural_order(pl.Series(["b", "10", "9", "a"]))
    array([2, 1, 3, 0])
    """
    import polars as pl

    number = pl.when(pl.col("name").str.contains(_INTEGER)).then(pl.col("name")).cast(pl.Int64, strict=False)
    frame = pl.DataFrame({"name": names.cast(pl.String)}).with_row_index("place").with_columns(number.alias("number"))
    order: IntArray = frame.sort("number", "name", nulls_last=True)["place"].to_numpy().astype(np.int64)
    return order


def _left_out(count: int, what: str) -> str:
    return f"{count:,} {what}{' was' if count == 1 else 's were'} left out"


def _stripped(edges: NamedEdges) -> tuple["pl.Series", "pl.Series"]:
    """Return the names without outer spaces, null if empty."""
    import polars as pl

    if edges.source.dtype == pl.Int64 and edges.target.dtype == pl.Int64:
        return edges.source, edges.target
    columns = [_without_style(column.cast(pl.String)) for column in (edges.source, edges.target)]
    plain = [column.str.strip_chars() for column in columns]
    if any((now != before).any() for now, before in zip(plain, columns, strict=True)):
        _refuse_collisions(edges, columns, plain)
    return whole(plain[0].replace("", None)), whole(plain[1].replace("", None))


def _without_style(column: "pl.Series") -> "pl.Series":
    """Return the column without the space after each comma."""
    spaced = column.str.contains(r"^\s").all() and column.null_count() < column.len()
    return column.str.strip_chars() if spaced else column


def _refuse_collisions(edges: NamedEdges, columns: list["pl.Series"], plain: list["pl.Series"]) -> None:
    import polars as pl

    frame = pl.DataFrame(
        {"written": pl.concat(columns), "plain": pl.concat(plain), "row": np.tile(edges.row, 2)}
    ).filter(pl.col("plain") != "")
    first = pl.col("written", "row").sort_by("row", maintain_order=True).first().over("plain").name.prefix("first_")
    other = frame.with_columns(first).filter(pl.col("written") != pl.col("first_written")).sort("row")
    if other.height:
        file, what, how = edges.where
        raise InputError(
            f"names in {file} must differ in more than the spaces around them, but {what}s {other['first_row'][0]} and "
            f"{other['row'][0]}{how or ' '}have two that do not (such names: {other['plain'].n_unique()}). "
            "Use one spelling for each name"
        )


def _numbered(source: "pl.Series", target: "pl.Series") -> tuple[IntArray, NDArray[Any]]:
    """Return node numbers of sources and targets, and the node names."""
    import polars as pl

    if source.dtype == pl.Int64 and target.dtype == pl.Int64:
        values = np.concatenate([source.to_numpy(), target.drop_nulls().to_numpy()])
        numbers = distinct(values)
        return np.searchsorted(numbers, values), numbers
    every = pl.concat([source.cast(pl.String), target.drop_nulls().cast(pl.String)])
    different = every.unique()
    different = different[natural_order(different)]
    return every.cast(pl.Enum(different)).to_physical().to_numpy().astype(np.int64), different.to_numpy()


def _are_their_numbers(names: NDArray[Any]) -> bool:
    return names.dtype.kind == "i" and bool((names == np.arange(names.size)).all())


def _with_declared(
    one: IntArray, other: IntArray, names: NDArray[Any], declared: int
) -> tuple[IntArray, IntArray, NDArray[Any], tuple[str, ...]]:
    """Return the edges among nodes 1 to ``declared``, and a note."""
    if names.size == declared:
        return one, other, names, ()
    numbered = names.dtype.kind == "i" and names.size > 0 and names[0] >= 1 and names[-1] <= declared
    if not numbered or declared > _MOST_LACKING * names.size:
        said = f"the header counts {declared:,} nodes, but the edges name {names.size:,}, and only these were read"
        return one, other, names, (said,)
    lacking = declared - names.size
    said = f"{lacking:,} node{' was' if lacking == 1 else 's were'} added that the header counts and no edge names"
    return names[one] - 1, names[other] - 1, np.arange(1, declared + 1), (said,)
