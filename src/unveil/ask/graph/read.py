"""The question about an attacked graph asked of files: one to protect, or a release that was made elsewhere."""

from pathlib import Path
from typing import Any

import numpy as np

from unveil.ask.graph.answer import GraphAnswer, graph
from unveil.ask.graph.elsewhere import graph_made_elsewhere
from unveil.attack import graph_attack_from
from unveil.data._source import shown
from unveil.data.graph import Graph
from unveil.data.graph_files import read_seed_pairs, read_truth
from unveil.data.graphs import read_graph
from unveil.data.read import read_table
from unveil.errors import InputError
from unveil.protect import graph_protection_from
from unveil.show.progress import Progress, silent


def graph_file(
    path: str | Path | None,
    protect: str | None = None,
    attack: str = "ns",
    *,
    rng: np.random.Generator,
    progress: Progress = silent,
    **settings: Any,
) -> GraphAnswer:
    """Return who is found in the protected graph of a file, or of the generated graph inside unveil if there is none.

    Parameters
    ----------
    path
        The file with the edges, as :func:`unveil.data.graphs.read_graph` takes it; None takes the example.
    protect, attack, rng, progress, settings
        As in :func:`unveil.graph`.
    """
    from unveil.data import samples

    # A slip in what was written is said before a large file is read.
    protection = None if protect is None else graph_protection_from(protect)
    attacker = graph_attack_from(attack)
    progress("reading", 0.0)
    original = samples.graph() if path is None else read_graph(path)
    return graph(original, protection, attacker, rng=rng, progress=progress, **settings)


def graph_made_elsewhere_files(
    released: str | Path,
    auxiliary: str | Path,
    seeds: int | str | Path,
    truth: str | Path,
    attack: str = "ns",
    *,
    repeat: int = 1,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> GraphAnswer:
    """Return who is found in the released graph of a file, by an adversary who has the graph of another one.

    Parameters
    ----------
    released, auxiliary
        Files with edges, as :func:`unveil.data.graphs.read_graph` takes them.
    seeds
        CSV or Parquet with the columns ``released`` and ``original``: the pairs of nodes that the adversary knows. Or a
        number: so many are drawn from the truth in each repetition.
    truth
        CSV or Parquet with the columns ``released`` and ``original``; an empty original is a pseudo node. Originals
        that the auxiliary graph lacks can be named, but not found.
    attack, repeat, rng, progress
        As in :func:`unveil.graph`.
    """
    attacker = graph_attack_from(attack)
    progress("reading", 0.0)
    seen = read_graph(released, name="released graph")
    known = read_graph(auxiliary, name="auxiliary graph")
    everybody, notes = _with_those_of_truth(known, truth)
    whose, said = read_truth(truth, released=seen, original=everybody)
    pairs = seeds if isinstance(seeds, int) else read_seed_pairs(seeds, released=seen, auxiliary=known)
    return graph_made_elsewhere(
        seen, known, pairs, whose, attacker, repeat=repeat, rng=rng, progress=progress, notes=(*notes, *said)
    )


def _with_those_of_truth(auxiliary: Graph, truth: str | Path) -> tuple[Graph, tuple[str, ...]]:
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
