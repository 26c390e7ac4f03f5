"""Attacks that grow from known nodes, by the definition: every score is counted anew whenever it is looked at.

Random numbers are drawn in the same order as in the attacks, so that a run can be compared step by step: first one lot
per released node and one per auxiliary node, then what the attack itself draws.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unveil._kernels.random import below, fresh_state
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge

Row = dict[int, float]


class Outcome(NamedTuple):
    """Whom each released node was mapped to (seeds left out), and the scores when that was decided."""

    mapping: dict[int, int]
    scores: dict[int, Row]


class Attack:
    """Both graphs as sets of neighbours, the mapping so far, and the lots."""

    def __init__(self, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> None:
        auxiliary = knowledge.auxiliary
        self.near = [set(released.neighbours_of(node).tolist()) for node in range(released.nodes)]
        self.near_there = [set(auxiliary.neighbours_of(node).tolist()) for node in range(auxiliary.nodes)]
        self.seeds = {int(one): int(other) for one, other in knowledge.seeds}
        self.mapping = dict(self.seeds)
        self.scores: dict[int, Row] = {}
        self.lot = rng.permutation(released.nodes)
        self.lot_there = rng.permutation(auxiliary.nodes)

    def free(self) -> list[int]:
        return [node for node in range(len(self.near)) if node not in self.mapping]

    def free_there(self) -> list[int]:
        taken = set(self.mapping.values())
        return [node for node in range(len(self.near_there)) if node not in taken]

    def witnesses(self, node: int, other: int) -> int:
        return sum(one in self.near[node] and two in self.near_there[other] for one, two in self.mapping.items())

    def outcome(self) -> Outcome:
        return Outcome({node: other for node, other in self.mapping.items() if node not in self.seeds}, self.scores)


def _positive(row: Row) -> Row:
    """Return the scores above 0; where all are 0, nobody is better than the others."""
    return {key: score for key, score in row.items() if score > 0} or dict.fromkeys(row, 1.0)


def narayanan_shmatikov(
    released: Graph, knowledge: GraphKnowledge, *, theta: float, order: str, rng: np.random.Generator
) -> Outcome:
    attack = Attack(released, knowledge, rng)
    added = True
    while added:
        added = False
        free = np.array(attack.free(), np.int64)
        for node in (rng.permutation(free) if order == "random" else free).tolist():
            row = {
                other: attack.witnesses(node, other) / math.sqrt(max(len(attack.near_there[other]), 1))
                for other in attack.free_there()
            }
            tops = _standing_out(row, len(attack.near_there), theta)
            if not tops:
                continue
            best = max(tops, key=lambda other: attack.lot_there[other])
            column = {
                one: attack.witnesses(one, best) / math.sqrt(max(len(attack.near[one]), 1)) for one in attack.free()
            }
            if node in _standing_out(column, len(attack.near), theta):
                attack.scores[node] = _positive(row)
                attack.mapping[node] = best
                added = True
    return attack.outcome()


def _standing_out(row: Row, nodes: int, theta: float) -> list[int]:
    """Return who has the highest score if that is far enough above the second; several with a threshold of 0 alone."""
    scores = sorted([*row.values(), *[0.0] * (nodes - len(row))], reverse=True)
    if scores[0] == 0:
        return []
    spread = float(np.std(scores, ddof=1))
    tied = math.isclose(scores[0], scores[1], rel_tol=1e-12)
    eccentricity = 0.0 if tied or spread == 0 else (scores[0] - scores[1]) / spread
    if eccentricity < theta and not math.isclose(eccentricity, theta, rel_tol=1e-9):
        return []
    return [key for key, score in row.items() if math.isclose(score, scores[0], rel_tol=1e-12)]


def korula_lattanzi(
    released: Graph, knowledge: GraphKnowledge, *, theta: int, rounds: int, rng: np.random.Generator
) -> Outcome:
    attack = Attack(released, knowledge, rng)
    highest = max(map(len, [*attack.near, *attack.near_there]))
    for _ in range(rounds):
        for step in range(int(math.log2(highest)), 0, -1):
            nodes = [node for node in attack.free() if len(attack.near[node]) >= 2**step]
            others = [other for other in attack.free_there() if len(attack.near_there[other]) >= 2**step]
            counts = {(node, other): attack.witnesses(node, other) for node in nodes for other in others}
            mutual = []
            for node, other in counts:
                first = max(others, key=lambda two, node=node: (counts[node, two], attack.lot_there[two]))  # type: ignore[misc]
                back = max(nodes, key=lambda one, other=other: (counts[one, other], attack.lot[one]))  # type: ignore[misc]
                if first == other and back == node and counts[node, other] >= max(theta, 1):
                    mutual.append((node, other))
            for node, other in mutual:
                attack.scores[node] = _positive({two: counts[node, two] for two in others})
                attack.mapping[node] = other
    return attack.outcome()


def korula_lattanzi_window(
    released: Graph, knowledge: GraphKnowledge, *, theta: int, chunk: int | None, rng: np.random.Generator
) -> Outcome:
    attack = Attack(released, knowledge, rng)
    nodes = sorted(attack.free(), key=lambda node: (-len(attack.near[node]), attack.lot[node]))
    others = sorted(attack.free_there(), key=lambda other: (-len(attack.near_there[other]), attack.lot_there[other]))
    while nodes and others:
        rows, columns = nodes[:chunk], others[:chunk]
        counts = {(node, other): attack.witnesses(node, other) for node in rows for other in columns}
        node, other = max(counts, key=lambda pair: (counts[pair], attack.lot[pair[0]], attack.lot_there[pair[1]]))
        if counts[node, other] >= theta:
            attack.scores[node] = _positive({two: counts[node, two] for two in columns})
            attack.mapping[node] = other
        nodes.remove(node)
        others.remove(other)
    return attack.outcome()


def yartseva_grossglauser(
    released: Graph, knowledge: GraphKnowledge, *, theta: int, strict: bool, rng: np.random.Generator
) -> Outcome:
    attack = Attack(released, knowledge, rng)
    state = fresh_state(rng)
    enough: Callable[[int], bool] = (lambda marks: marks > theta) if strict else (lambda marks: marks >= theta)
    marks = {(node, other): 0 for node in range(len(attack.near)) for other in range(len(attack.near_there))}
    waiting = sorted(attack.seeds)
    while waiting:
        node = _drawn(waiting, state)
        free, free_there = set(attack.free()), set(attack.free_there())
        for one in attack.near[node] & free:
            for two in attack.near_there[attack.mapping[node]] & free_there:
                marks[one, two] += 1
        full = [one for one in sorted(free) if any(enough(marks[one, two]) for two in free_there)]
        while full:
            one = _drawn(full, state)
            row: Row = {two: marks[one, two] for two in attack.free_there()}
            fitting = [two for two in sorted(row) if enough(marks[one, two])]
            if fitting:
                attack.scores[one] = _positive(row)
                attack.mapping[one] = fitting[below(state, len(fitting))]
                waiting.append(one)
    return attack.outcome()


def _drawn(items: list[int], state: np.ndarray) -> int:
    """Take one out by lot; the last one moves to its place."""
    place = below(state, len(items))
    items[place], items[-1] = items[-1], items[place]
    return items.pop()
