"""Who is found in a released graph that was made elsewhere, with knowledge that was gathered elsewhere?"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil.ask.graph.answer import GraphAnswer, one_repetition
from unveil.ask.graph.run import World, attack_all, check_repeat, generators
from unveil.attack import AttacksGraph, graph_attack_from
from unveil.data.graph import Graph
from unveil.data.graph_files import UNKNOWN
from unveil.data.graph_release import NOBODY, GraphKnowledge
from unveil.data.graphs import graph_from
from unveil.errors import InputError
from unveil.show.progress import Progress, silent

Integers = NDArray[np.int64]


def graph_made_elsewhere(
    released: Any,
    auxiliary: Any,
    seeds: int | ArrayLike,
    truth: ArrayLike,
    attack: str | AttacksGraph = "ns",
    *,
    repeat: int = 1,
    rng: np.random.Generator,
    progress: Progress = silent,
    notes: Sequence[str] = (),
) -> GraphAnswer:
    """Return how many people an adversary finds in a release that was made elsewhere.

    The release and the auxiliary graph stay the same in each repetition. Where ``seeds`` is a number, so many pairs are
    drawn from the truth each time; where pairs are given, repetitions differ in nothing but what the attack draws.

    Parameters
    ----------
    released, auxiliary
        What was published, and what the adversary knows under true names: a Graph, a file, or whatever
        :func:`unveil.data.graphs.graph_from` takes.
    seeds
        One row per pair that the adversary knows, the number of the released and of the auxiliary node; or how many
        pairs to draw.
    truth
        For each released node the auxiliary one that it stands for, and a number from ``auxiliary.nodes`` on for
        somebody who is not in the auxiliary graph. -1 where it stands for nobody: an attempt on it is a failed one. -2
        where that is not known: the attack sees the node, but no figure counts it.
    attack, repeat, rng, progress, notes
        As in :func:`unveil.graph`.

    Raises
    ------
    InputError
        If seed pairs or the truth do not fit the graphs, or if the attack cannot work on them.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 0, 0], [1, 2, 3, 4, 0, 2, 5])
    >>> answer = graph_made_elsewhere(ring, ring, [[0, 0], [1, 1]], range(6), rng=np.random.default_rng(1))
    >>> answer.found.repetitions[0].matches.correct
    4.0
    """
    check_repeat(repeat)
    attacker = graph_attack_from(attack) if isinstance(attack, str) else attack
    seen, known = graph_from(released), graph_from(auxiliary)
    whose = _checked_truth(truth, seen)
    number = int(seeds) if isinstance(seeds, (int, np.integer)) else None
    given = GraphKnowledge(known, _pairs(seeds, seen)) if number is None else None

    def worlds() -> Iterator[World]:
        for own in generators(rng, repeat):
            for_seeds, for_attack = own.spawn(2)
            knowledge = given or GraphKnowledge(known, _drawn_seeds(whose, known, number or 0, for_seeds))
            yield World(released=seen, knowledge=knowledge, truth=whose, rng=for_attack)

    outcome = attack_all(
        attacker,
        worlds(),
        repeat=repeat,
        progress=progress,
        graph=None,
        protect=None,
        overlap=None,
        connected=False,
        given_seeds=given is not None,
    )
    said = [*notes, *seen.notes, *known.notes, *outcome.notes, *_notes(whose, given, repeat)]
    return GraphAnswer(
        found=outcome.found,
        notes=tuple(dict.fromkeys([*said, *one_repetition(repeat)])),
        guess=outcome.guess,
        truth=outcome.truth,
    )


def _checked_truth(truth: ArrayLike, released: Graph) -> Integers:
    rule = f"one auxiliary node for each of the {released.nodes} released ones, -1 for nobody, -2 if unknown"
    array = np.asarray(truth)
    if array.shape != (released.nodes,) or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"the truth must be {rule}, as whole numbers. Pass as many")
    whose = array.astype(np.int64)
    real = whose[(whose != NOBODY) & (whose != UNKNOWN)]
    if real.size and (real.min() < 0 or np.unique(real).size < real.size):
        raise InputError(f"the truth must be {rule}, each at most once. Correct it")
    return whose


def _pairs(seeds: ArrayLike, released: Graph) -> Integers:
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


def _drawn_seeds(truth: Integers, auxiliary: Graph, number: int, rng: np.random.Generator) -> Integers:
    """Return so many pairs of the truth, all sets of them equally likely."""
    known = np.flatnonzero((truth >= 0) & (truth < auxiliary.nodes))
    if not 0 <= number <= known.size:
        raise InputError(
            f"the number of seed pairs must be from 0 to {known.size}, so many released nodes have a true one in the "
            f"auxiliary graph, but is {number}. Ask for fewer pairs"
        )
    # By the auxiliary node, so that the draw does not depend on how the release numbers its nodes.
    known = known[np.argsort(truth[known])]
    chosen = known[rng.choice(known.size, number, replace=False)] if number else known[:0]
    return np.column_stack([chosen, truth[chosen]])


def _notes(truth: Integers, given: GraphKnowledge | None, repeat: int) -> Iterator[str]:
    nobody, unknown = int((truth == NOBODY).sum()), int((truth == UNKNOWN).sum())
    if nobody:
        stand = "stands" if nobody == 1 else "stand"
        yield (
            f"{nobody:,} of {truth.size:,} released nodes {stand} for nobody: an attempt there is a failed one, and "
            "overall success leaves them out."
        )
    if unknown:
        yield (
            f"The truth says nothing of {unknown:,} of {truth.size:,} released nodes: the attack saw them, but whether "
            "it was right about them is not known, and no figure counts them."
        )
    if given is None:
        return
    whose = truth[given.seeds[:, 0]]
    wrong = int(((whose != UNKNOWN) & (whose != given.seeds[:, 1])).sum())
    if wrong:
        contradict = "contradicts" if wrong == 1 else "contradict"
        yield f"{wrong:,} of {len(given.seeds):,} seed pairs {contradict} the truth: the adversary starts with errors."
    if repeat > 1:
        yield (
            "Graphs and seed pairs are given and stay the same, so repetitions differ only in what the attack draws: "
            "the intervals do not say what an adversary with other knowledge would find."
        )
