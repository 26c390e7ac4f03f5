"""The question about an attacked graph asked of files: one to protect, or a release that was made elsewhere."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import IntArray
from unveil.data.files.read import read_table
from unveil.data.files.source import shown
from unveil.data.graph import Graph
from unveil.data.graph.files import UNKNOWN, read_seed_pairs, read_truth
from unveil.data.graph.read import graph_from
from unveil.data.graph.release import NOBODY
from unveil.errors import InputError
from unveil.questions.graph.settings import GraphSettings

PathLike = str | os.PathLike  # type: ignore[type-arg]


class ElsewhereInputs(NamedTuple):
    """A release made elsewhere, with what the adversary knows, who is who, and what has to be said."""

    released: Graph
    auxiliary: Graph
    seeds: int | IntArray
    truth: IntArray
    notes: tuple[str, ...]


def read_made_elsewhere(released: Any, settings: GraphSettings) -> ElsewhereInputs:
    """Return a release made elsewhere, from files or as it is; the arguments are those of `graph`."""
    if settings.calibrate == "simulate":
        raise InputError(
            "a release made elsewhere cannot be made again, so calibrate must be 'seeds' or 'none' for it, but is "
            "'simulate'. Choose one of them"
        )
    if settings.truth is None:
        raise InputError("it must be known who the released nodes are, but it is not. Pass truth")
    seen, known = (
        graph_from(graph, name=name if isinstance(graph, PathLike) else None).without(
            directions=settings.undirected, weights=settings.unweighted
        )
        for graph, name in ((released, "released graph"), (settings.auxiliary, "auxiliary graph"))
    )
    notes: tuple[str, ...] = ()
    truth, pairs = settings.truth, settings.pairs
    if isinstance(truth, PathLike):
        everybody, about = _with_those_of_truth(known, truth)
        truth, more = read_truth(truth, released=seen, original=everybody)
        notes = (*about, *more)
    if isinstance(pairs, PathLike):
        pairs = read_seed_pairs(pairs, released=seen, auxiliary=known)
    seeds = settings.seed_pairs if pairs is None else checked_pairs(pairs, seen)
    return ElsewhereInputs(seen, known, seeds, checked_truth(truth, seen), notes)


def _with_those_of_truth(auxiliary: Graph, truth: Any) -> tuple[Graph, tuple[str, ...]]:
    """Return the auxiliary graph with nodes, at its end, for the people of the truth that it lacks; and a note."""
    cells = read_table(truth, {"released": "released", "original": "original"})["original"].str.strip_chars()
    named = sorted({name for name in cells.to_list() if name})
    have = {auxiliary.name_of(node) for node in range(auxiliary.nodes)}
    extra = [name for name in named if name not in have]
    if named and len(extra) == len(named):
        raise InputError(
            f"{shown(Path(truth))} must name nodes of the auxiliary graph in its column original, but names none of "
            "them. Check that both files are about the same people and write their names alike"
        )
    if not extra:
        return auxiliary, ()
    names = [*(auxiliary.name_of(node) for node in range(auxiliary.nodes)), *extra]
    whole = Graph.from_edges(*auxiliary.ends, names=names, name=auxiliary.name)
    note = (
        f"{len(extra):,} of {len(named):,} original nodes in {shown(Path(truth))} are not in the auxiliary graph (in "
        "which nodes without a connection may be missing): the adversary cannot find them."
    )
    return whole, (note,)


def checked_truth(truth: ArrayLike, released: Graph) -> IntArray:
    """Return for whom each released node stands, as numbers that fit the released graph."""
    rule = f"one auxiliary node for each of the {released.nodes} released ones, -1 for nobody, -2 if unknown"
    array = np.asarray(truth)
    if array.shape != (released.nodes,) or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"the truth must be {rule}, as whole numbers. Pass as many")
    whose = array.astype(np.int64)
    real = whose[(whose != NOBODY) & (whose != UNKNOWN)]
    if real.size and (real.min() < 0 or np.unique(real).size < real.size):
        raise InputError(f"the truth must be {rule}, each at most once. Pass other numbers")
    return whose


def checked_pairs(seeds: ArrayLike, released: Graph) -> IntArray:
    """Return seed pairs as rows of two numbers, of which the first fit the released graph."""
    pairs = np.asarray(seeds)
    if pairs.size and (pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu"):
        raise InputError("seed pairs must be rows of two numbers, a released and an auxiliary node. Pass such rows")
    rows = pairs.astype(np.int64).reshape(-1, 2)
    if rows.size and rows[:, 0].max() >= released.nodes:
        raise InputError(
            f"seed pairs must name one of the {released.nodes} released nodes by its number from 0, but some do not. "
            "Pass such numbers"
        )
    return rows
