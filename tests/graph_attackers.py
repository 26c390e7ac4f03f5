"""Adversaries for tests of graphs: one who guesses blindly, one who does nothing, one who was told, one who errs."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.guesses import Candidates
from unveil.questions.graph.answer import graph
from unveil.questions.graph.findings import GraphFindings
from unveil.questions.result import Result


def unknown(released: Graph, knowledge: GraphKnowledge) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the released and the auxiliary nodes that are in no seed pair."""
    return (
        np.setdiff1d(np.arange(released.nodes), knowledge.seeds[:, 0]),
        np.setdiff1d(np.arange(knowledge.auxiliary.nodes), knowledge.seeds[:, 1]),
    )


@dataclass(frozen=True, kw_only=True)
class Blind:
    """Names any auxiliary node for each released one, and is sure of it."""

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        targets, others = unknown(released, knowledge)
        chosen = np.full(released.nodes, -1, np.int32)
        chosen[targets] = rng.choice(others, targets.size)
        start = np.concatenate([[0], np.cumsum(chosen >= 0)])
        return Candidates(start, chosen[chosen >= 0], np.ones(targets.size), chosen)


@dataclass(frozen=True, kw_only=True)
class Idle:
    """Attempts nothing."""

    def run(self, *, released: Graph, **_: Any) -> Candidates:
        nothing = np.zeros(0)
        return Candidates(
            np.zeros(released.nodes + 1, np.int64),
            nothing.astype(np.int32),
            nothing,
            np.full(released.nodes, -1, np.int32),
        )


@dataclass(frozen=True, kw_only=True)
class Told:
    """Repeats a matrix of scores that was worked out before, for every released node, those known before too."""

    scores: NDArray[np.float64] = field(repr=False)

    def run(self, **_: Any) -> Candidates:
        return Candidates.from_scores(self.scores)


@dataclass(frozen=True, kw_only=True)
class OnlyHalf:
    """Leaves a guess about half of the nodes, which no attack may do."""

    def run(self, *, released: Graph, **_: Any) -> Candidates:
        return Candidates.from_scores(np.ones((max(released.nodes // 2, 1), 2)))


def graph_made_elsewhere(
    released: Any, auxiliary: Any, seeds: Any, truth: Any, attack: Any = "ns", **settings: Any
) -> Result[GraphFindings]:
    """Return who is found in a release made elsewhere; ``seeds`` are pairs, or how many to draw."""
    return graph(released, None, attack, auxiliary=auxiliary, truth=truth, seed_pairs=seeds, **settings)
