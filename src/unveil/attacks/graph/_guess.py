"""Checks of the attacker's knowledge, and the initial mapping."""

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses.candidates import NOT_ATTEMPTED


def check_knowledge(released: Graph, knowledge: GraphKnowledge, *, attack: str, needs_seeds: bool = True) -> None:
    """Validate the seed pairs and the auxiliary graph.

    A released graph without edges is allowed: no node stands out in it.
    """
    seeds, auxiliary = knowledge.seeds, knowledge.auxiliary
    if needs_seeds and len(seeds) == 0:
        raise InputError(
            f"{attack} starts from seed pairs, but there are none. Give some, or attack "
            "with mean-field, which needs none"
        )
    if seeds[:, 0].max(initial=-1) >= released.nodes:
        raise InputError(
            f"Some seed pairs name no released node: there are {released.nodes}, numbered from 0. Pass such numbers"
        )
    if auxiliary.edges == 0:
        raise InputError(
            f"{attack} compares edges, but the auxiliary graph has none. Pass one with edges, or more edge overlap"
        )


def mapping_of_seeds(released: Graph, knowledge: GraphKnowledge) -> tuple[IntArray, IntArray]:
    """Return the seed mapping in both directions; -1 is unmapped."""
    forth = np.full(released.nodes, NOT_ATTEMPTED, np.int64)
    back = np.full(knowledge.auxiliary.nodes, NOT_ATTEMPTED, np.int64)
    forth[knowledge.seeds[:, 0]] = knowledge.seeds[:, 1]
    back[knowledge.seeds[:, 1]] = knowledge.seeds[:, 0]
    return forth, back
