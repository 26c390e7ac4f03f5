"""The question about an attacked graph asked of files: one to protect, or a release that was made elsewhere."""

from pathlib import Path
from typing import Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import IntArray
from unveil.attacks import GraphAttack, graph_attack_from
from unveil.attacks.graph.calibration import CalibrationSource
from unveil.data.files.read import read_table
from unveil.data.files.source import shown
from unveil.data.graph import Graph
from unveil.data.graph.files import UNKNOWN, read_seed_pairs, read_truth
from unveil.data.graph.read import read_graph
from unveil.data.graph.release import NOBODY
from unveil.errors import InputError, whole_number
from unveil.protections import GraphProtection, graph_protection_from
from unveil.report.progress import Progress

#: Whether and how an adversary learns what its scores are worth.
Calibrate = Literal["simulate", "seeds", "none"]
#: More repetitions than this tell nothing new, and their figures would have to be kept.
MOST_REPETITIONS = 10_000


class GraphInputs(NamedTuple):
    """A graph that was read, and what will be done to it: the protection (None if there is none) and the attack."""

    original: Graph
    protection: GraphProtection | None
    attack: GraphAttack


class ElsewhereInputs(NamedTuple):
    """A release made elsewhere that was read, with what the adversary knows, who is who, and what has to be said."""

    released: Graph
    auxiliary: Graph
    seeds: int | IntArray
    truth: IntArray
    attack: GraphAttack
    notes: tuple[str, ...]


def read(path: str | Path | None, protect: str | None, attack: str, *, progress: Progress) -> GraphInputs:
    """Return what the file holds, or the example if there is none; the arguments are those of `graph_file`."""
    from unveil.data import samples

    # A slip in what was written is said before a large file is read.
    protection = None if protect is None else graph_protection_from(protect)
    attacker = graph_attack_from(attack)
    progress("reading", 0.0)
    return GraphInputs(samples.graph() if path is None else read_graph(path), protection, attacker)


def read_made_elsewhere(
    released: str | Path,
    auxiliary: str | Path,
    seeds: int | str | Path,
    truth: str | Path,
    attack: str,
    *,
    progress: Progress,
) -> ElsewhereInputs:
    """Return what the files hold; the arguments are those of `graph_made_elsewhere_files`."""
    attacker = graph_attack_from(attack)
    progress("reading", 0.0)
    seen = read_graph(released, name="released graph")
    known = read_graph(auxiliary, name="auxiliary graph")
    everybody, notes = _with_those_of_truth(known, truth)
    whose, said = read_truth(truth, released=seen, original=everybody)
    pairs = seeds if isinstance(seeds, int) else read_seed_pairs(seeds, released=seen, auxiliary=known)
    return ElsewhereInputs(seen, known, pairs, whose, attacker, (*notes, *said))


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


def check_repeat(repeat: object) -> None:
    """Refuse a number of repetitions that is none, or that would never end."""
    whole_number(repeat, "the number of repetitions", at_most=MOST_REPETITIONS)


def checked_calibration(calibrate: object) -> CalibrationSource | None:
    """Return how the adversary learns what its scores are worth, None if it does not."""
    if calibrate not in get_args(Calibrate):
        raise InputError(f"calibrate must be 'simulate', 'seeds' or 'none', but is {calibrate!r}. Choose one of them")
    return None if calibrate == "none" else cast("CalibrationSource", calibrate)


def checked_truth(truth: ArrayLike, released: Graph) -> IntArray:
    """Return for whom each released node stands, as numbers that fit the released graph."""
    rule = f"one auxiliary node for each of the {released.nodes} released ones, -1 for nobody, -2 if unknown"
    array = np.asarray(truth)
    if array.shape != (released.nodes,) or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"the truth must be {rule}, as whole numbers. Pass as many")
    whose = array.astype(np.int64)
    real = whose[(whose != NOBODY) & (whose != UNKNOWN)]
    if real.size and (real.min() < 0 or np.unique(real).size < real.size):
        raise InputError(f"the truth must be {rule}, each at most once. Correct it")
    return whose


def checked_pairs(seeds: ArrayLike, released: Graph) -> IntArray:
    """Return seed pairs as rows of two numbers, of which the first fit the released graph."""
    pairs = np.asarray(seeds)
    if pairs.size and (pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu"):
        raise InputError("seed pairs must be rows of two numbers, a released and an auxiliary node. Correct them")
    rows = pairs.astype(np.int64).reshape(-1, 2)
    if rows.size and rows[:, 0].max() >= released.nodes:
        raise InputError(
            f"seed pairs must name one of the {released.nodes} released nodes by its number from 0, but some do not. "
            "Correct them"
        )
    return rows
