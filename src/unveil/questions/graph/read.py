"""Read an attack on a graph from files."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import IntArray
from unveil.data.files.read import read_table, refuse_cells
from unveil.data.files.source import shown
from unveil.data.graph import Graph
from unveil.data.graph.files import UNKNOWN, numbers_of_nodes, read_seed_pairs, read_truth, refuse_nodes_twice
from unveil.data.graph.read import graph_from
from unveil.data.graph.release import NOBODY
from unveil.data.table.native import series_of
from unveil.errors import InputError, shortened
from unveil.guesses.value_claims import NO_VALUE
from unveil.questions.graph.settings import GraphSettings

if TYPE_CHECKING:
    import polars as pl

#: The column that names the nodes.
NODE = "node"
_WHOLE = "attributes"

PathLike = str | os.PathLike  # type: ignore[type-arg]


class ElsewhereInputs(NamedTuple):
    """A given release with the attacker's knowledge, the truth, and notes."""

    released: Graph
    auxiliary: Graph
    seeds: int | IntArray
    truth: IntArray
    notes: tuple[str, ...]


def read_made_elsewhere(released: Any, settings: GraphSettings) -> ElsewhereInputs:
    """Read a given release; arguments as in `graph`."""
    if settings.calibrate == "simulate":
        raise InputError(
            "Calibration 'simulate' needs a protection, but the release was given. Choose 'seeds' or 'none'"
        )
    if settings.truth is None:
        raise InputError("The true matches are missing. Pass truth")
    seen, known = (
        graph_from(graph, name=name if isinstance(graph, PathLike) else None).without(
            directions=settings.undirected, weights=settings.unweighted
        )
        for graph, name in ((released, "released graph"), (settings.auxiliary, "auxiliary graph"))
    )
    notes: tuple[str, ...] = ()
    truth, pairs = settings.truth, settings.seed_pairs if settings.pairs is None else settings.pairs
    if isinstance(truth, PathLike):
        everybody, about = _with_those_of_truth(known, truth)
        truth, more = read_truth(truth, released=seen, original=everybody)
        notes = (*about, *more)
    if isinstance(pairs, PathLike):
        pairs = read_seed_pairs(pairs, released=seen, auxiliary=known)
    seeds = pairs if isinstance(pairs, int) else checked_pairs(pairs, seen)
    return ElsewhereInputs(seen, known, seeds, checked_truth(truth, seen), notes)


def _with_those_of_truth(auxiliary: Graph, truth: Any) -> tuple[Graph, tuple[str, ...]]:
    """Return the auxiliary graph with the missing people added, and a note."""
    cells = read_table(truth, {"released": "released", "original": "original"})["original"].str.strip_chars()
    named = sorted({name for name in cells.to_list() if name})
    have = {auxiliary.name_of(node) for node in range(auxiliary.nodes)}
    extra = [name for name in named if name not in have]
    if named and len(extra) == len(named):
        raise InputError(
            f"{shown(Path(truth))}: column 'original' names no node of the auxiliary graph. Check that both "
            "files use the same names"
        )
    if not extra:
        return auxiliary, ()
    names = [*(auxiliary.name_of(node) for node in range(auxiliary.nodes)), *extra]
    whole = Graph.from_edges(*auxiliary.ends, names=names, name=auxiliary.name)
    note = (
        f"{len(extra):,} of {len(named):,} original nodes in {shown(Path(truth))} are not in the auxiliary "
        "graph. The attacker cannot re-identify them; nodes without edges may be missing."
    )
    return whole, (note,)


def checked_truth(truth: ArrayLike, released: Graph) -> IntArray:
    """Return the true match of each released node, as node numbers."""
    rule = f"one auxiliary node for each of the {released.nodes} released nodes: -1 for none, -2 if unknown"
    array = np.asarray(truth)
    if array.shape != (released.nodes,) or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"truth needs {rule}. Pass whole numbers")
    whose = array.astype(np.int64)
    real = whose[(whose != NOBODY) & (whose != UNKNOWN)]
    if real.size and (real.min() < 0 or np.unique(real).size < real.size):
        raise InputError(f"truth needs {rule}, each at most once. Remove the duplicates")
    return whose


def checked_pairs(seeds: ArrayLike, released: Graph) -> IntArray:
    """Return seed pairs as rows of two numbers, of which the first fit the released graph."""
    pairs = np.asarray(seeds)
    if pairs.size and (pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu"):
        raise InputError("Seed pairs need rows of two numbers: a released and an auxiliary node. Pass such rows")
    rows = pairs.astype(np.int64).reshape(-1, 2)
    if rows.size and rows[:, 0].max() >= released.nodes:
        raise InputError(f"Seed pairs name nodes outside the {released.nodes} released ones. Count nodes from 0")
    return rows


# Values of nodes.


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeAttributes:
    """Node attributes: for each column, its labels and each node's value.

    ``codes`` has a row for each column and a number for each node, -1 where it has no value. ``notes`` say how many
    have none, and which columns of numbers were put into bands.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    codes: IntArray
    notes: tuple[str, ...] = ()

    def at(self, whose: IntArray, rng: np.random.Generator) -> IntArray:
        """Return the values that are released at nodes, by the node that each stands for.

        A node that stands for nobody gets a value by lot among those of all others: without one it would be known for
        what it is.
        """
        made_up = np.flatnonzero(whose < 0)
        released = self.codes[:, np.maximum(whose, 0)]
        for own, place in zip(self.codes, range(len(self.columns)), strict=True):
            released[place, made_up] = rng.choice(own[own != NO_VALUE], made_up.size)
        return released


def read_attributes(path: str | os.PathLike[str], graph: Graph) -> NodeAttributes:
    """Read node attributes from a file with a column ``node``."""
    return _attributes(read_table(path, None), path, graph)


def attributes_from(frame: Any, graph: Graph) -> NodeAttributes:
    """Read node attributes from a frame, list of dicts, mapping, or file."""
    import polars as pl

    if isinstance(frame, (str, os.PathLike)):
        return read_attributes(frame, graph)
    columns = [series.alias(series.name) for series, _ in series_of(frame, table=_WHOLE)]
    whole = pl.DataFrame(columns)
    if NODE in whole.columns:
        whole = whole.with_columns(pl.col(NODE).cast(pl.String))
    return _attributes(whole, _WHOLE, graph)


def _attributes(frame: "pl.DataFrame", path: str | os.PathLike[str], graph: Graph) -> NodeAttributes:
    if NODE not in frame.columns or frame.width < 2:
        raise InputError(
            f"{shown(Path(path))} needs a column {NODE!r} and at least one attribute, but has {frame.width} "
            f"column{'s' * (frame.width != 1)}{' and no ' + NODE if NODE not in frame.columns else ''}. "
            "Correct its header"
        )
    names = frame[NODE].str.strip_chars()
    refuse_cells((names.is_null() | (names == "")), path, NODE, "name a node in every row")
    numbers = numbers_of_nodes(path, frame, NODE, graph)
    refuse_nodes_twice(path, frame, NODE)
    notes = list(_unnamed(graph, numbers, path))
    columns, labels, codes = [], [], []
    for name in (each for each in frame.columns if each != NODE):
        values, own, said = _column(frame, name, path)
        placed = np.full(graph.nodes, NO_VALUE)
        placed[numbers] = values
        columns.append(name)
        labels.append(own)
        codes.append(placed)
        notes += said
    return NodeAttributes(columns=tuple(columns), labels=tuple(labels), codes=np.array(codes), notes=tuple(notes))


def _unnamed(graph: Graph, numbers: IntArray, path: str | os.PathLike[str]) -> Sequence[str]:
    missing = graph.nodes - numbers.size
    if not missing:
        return ()
    are = "is" if missing == 1 else "are"
    return (
        f"{missing:,} of {graph.nodes:,} nodes of the {graph.name} {are} not in {shown(Path(path))}: no value of "
        "theirs is released or looked for.",
    )


def _column(
    frame: "pl.DataFrame", name: str, path: str | os.PathLike[str]
) -> tuple[IntArray, tuple[str, ...], list[str]]:
    """Return codes and labels of one attribute, with notes; reject unusable ones."""
    import polars as pl

    from unveil.data.table import Table
    from unveil.metrics.trials.groups import bands

    where = f"column {shortened(name)} of {shown(Path(path))}"
    if frame[name].is_null().all():
        raise InputError(f"{where} is empty, so nothing can be inferred. Fill it in, or leave it out")
    table = Table.from_frame(frame.select(name), name=_WHOLE)
    grouped = pl.Series(bands(table, name), dtype=pl.String)
    present = grouped.drop_nulls()
    different = table.frame[name].drop_nulls().n_unique()
    labels = present.unique(maintain_order=True).sort().to_list()
    if len(labels) < 2:
        raise InputError(f"{where} has only {len(labels)} value, so nothing can be inferred. Leave it out")
    if len(labels) == present.len():
        raise InputError(
            f"{where} has a different value for each of its {present.len():,} nodes, so it is a direct "
            "identifier. Leave it out"
        )
    notes = []
    if len(labels) < different:
        notes.append(
            f"The {different:,} different numbers of {shortened(name)} were grouped into {len(labels)} "
            "intervals of about equal size; inferring the interval counts as disclosure."
        )
    if gaps := grouped.len() - present.len():
        have = "has" if gaps == 1 else "have"
        notes.append(
            f"{gaps:,} of {grouped.len():,} nodes {have} no value of {shortened(name)}, and are left out there."
        )
    place = {label: at for at, label in enumerate(labels)}
    codes = np.array([NO_VALUE if each is None else place[each] for each in grouped.to_list()], np.int64)
    return codes, tuple(labels), notes


def values_of_people(codes: IntArray, truth: IntArray, people: int) -> IntArray:
    """Return each auxiliary node's value from its released node; -1 if unknown."""
    found = np.full((len(codes), people), NO_VALUE)
    there = np.flatnonzero((truth > NOBODY) & (truth < people))
    found[:, truth[there]] = codes[:, there]
    return found
