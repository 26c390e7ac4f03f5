"""Attacks on all nodes of a graph at once, from their definitions: slow, and with lists instead of arrays."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from tests.oracles.graph_statistics import betweenness, closeness, neighbours
from tests.oracles.graph_statistics import distances as all_distances
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.guesses import Candidates

Vector = Sequence[float]
Pairs = Mapping[tuple[int, int], float]


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine; two vectors of zeros are alike, one such vector is like no other."""
    if not any(one) or not any(other):
        return float(not any(one) and not any(other))
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / math.sqrt(sum(a * a for a in one)) / math.sqrt(sum(b * b for b in other))


def distance_scores(
    released: Graph, auxiliary: Graph, references: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], float]:
    """Return the cosine of the steps to the reference nodes for each pair of a released and an auxiliary node."""
    far, other_far = all_distances(released), all_distances(auxiliary)
    one = [[far[node][reference] for reference, _ in references] for node in range(released.nodes)]
    other = [[other_far[node][reference] for _, reference in references] for node in range(auxiliary.nodes)]
    beyond = max(step for vector in one + other for step in vector if step < math.inf) + 1
    finite, other_finite = ([[min(step, beyond) for step in vector] for vector in many] for many in (one, other))
    return {(i, j): cosine(a, b) for i, a in enumerate(finite) for j, b in enumerate(other_finite)}


def seed_scores(released: Graph, knowledge: GraphKnowledge) -> dict[tuple[int, int], float]:
    """Return the cosine of the steps to the seeds."""
    seeds = [(int(one), int(other)) for one, other in knowledge.seeds]
    return distance_scores(released, knowledge.auxiliary, seeds)


def degree_scores(released: Graph, auxiliary: Graph) -> dict[tuple[int, int], float]:
    """Return sqrt(1 / (1 + difference of degrees))."""
    one, other = neighbours(released), neighbours(auxiliary)
    return {(i, j): math.sqrt(1 / (1 + abs(len(a) - len(b)))) for i, a in enumerate(one) for j, b in enumerate(other)}


def neighbour_scores(released: Graph, auxiliary: Graph, most: int) -> dict[tuple[int, int], float]:
    """Return the cosine of the largest degrees of neighbours, in falling order."""
    vectors = []
    for graph in (released, auxiliary):
        near = neighbours(graph)
        falling = [sorted((len(near[mate]) for mate in row), reverse=True)[:most] for row in near]
        vectors.append([row + [0] * (most - len(row)) for row in falling])
    return {(i, j): cosine(a, b) for i, a in enumerate(vectors[0]) for j, b in enumerate(vectors[1])}


def closeness_scores(released: Graph, auxiliary: Graph) -> dict[tuple[int, int], float]:
    """Return the smaller closeness over the larger."""
    one, other = closeness(released), closeness(auxiliary)
    return {
        (i, j): min(a, b) / max(a, b) if max(a, b) > 0 else 1.0 for i, a in enumerate(one) for j, b in enumerate(other)
    }


def structure_scores(released: Graph, auxiliary: Graph) -> dict[tuple[int, int], float]:
    """Return the cosine of closeness, betweenness and degree, each divided by the largest of the graph."""
    vectors = []
    for graph in (released, auxiliary):
        columns: list[Vector] = [closeness(graph), betweenness(graph), [len(row) for row in neighbours(graph)]]
        scaled = [[value / (max(column) or 1) for value in column] for column in columns]
        vectors.append(list(zip(*scaled, strict=True)))
    return {(i, j): cosine(a, b) for i, a in enumerate(vectors[0]) for j, b in enumerate(vectors[1])}


def inheritance_scores(
    released: Graph, auxiliary: Graph, mapping: Mapping[int, int], trust: Mapping[int, float]
) -> dict[tuple[int, int], float]:
    """Return the mean trust in pairs of neighbours mapped on one another, times the likeness of degrees."""
    one, other = neighbours(released), neighbours(auxiliary)
    scores = {}
    for i, row in enumerate(one):
        for j, column in enumerate(other):
            common = [trust[mate] for mate in row if mate in mapping and mapping[mate] in column]
            larger = max(len(row), len(column))
            scores[i, j] = math.fsum(common) / len(common) * (1 - abs(len(row) - len(column)) / larger) if common else 0
    return scores


def weighted(*parts: tuple[float, Pairs]) -> dict[tuple[int, int], float]:
    """Return the sum of scores times weights."""
    return {pair: math.fsum(weight * scores[pair] for weight, scores in parts) for pair in parts[0][1]}


def best_assignment(scores: Pairs, rows: Sequence[int], columns: Sequence[int]) -> tuple[float, dict[int, int]]:
    """Return the largest total of an assignment that leaves nobody of the shorter list out, and one that has it."""
    if len(rows) > len(columns):
        turned = {(j, i): score for (i, j), score in scores.items()}
        total, found = best_assignment(turned, columns, rows)
        return total, {row: column for column, row in found.items()}

    @cache
    def best(first: int, used: int) -> tuple[float, tuple[int, ...]]:
        if first == len(rows):
            return 0.0, ()
        options = []
        for place, column in enumerate(columns):
            if not used >> place & 1:
                total, rest = best(first + 1, used | 1 << place)
                options.append((scores[rows[first], column] + total, (column, *rest)))
        return max(options)

    total, chosen = best(0, 0)
    return total, dict(zip(rows, chosen, strict=True))


def cuts(length: int, longest: int, chunk: int | None) -> list[int]:
    """Return where a list is cut if the longest one is cut after every ``chunk`` entries."""
    size = chunk or max(longest, 1)
    return [min(i * size, longest) * length // max(longest, 1) for i in range(math.ceil(longest / size) + 1)]


def check_chunks(
    guess: Candidates, scores: Pairs, released: Graph, knowledge: GraphKnowledge, chunk: int | None
) -> None:
    """Check that the guess is what sorting by degree, cutting, and assigning in chunks leads to, whatever the lots.

    Which nodes shared a chunk is seen from the candidates. Sizes of chunks, the order of degrees from chunk to chunk,
    the total score of each, and the beliefs are then certain.
    """
    assert guess.chosen is not None
    seeds = knowledge.seeds
    rows = sorted(set(range(released.nodes)) - set(seeds[:, 0].tolist()))
    columns = sorted(set(range(knowledge.auxiliary.nodes)) - set(seeds[:, 1].tolist()))
    longest = max(len(rows), len(columns))
    row_cuts, column_cuts = (list(pairwise(cuts(len(nodes), longest, chunk))) for nodes in (rows, columns))
    expected = [(b - a, d - c) for (a, b), (c, d) in zip(row_cuts, column_cuts, strict=True) if a < b and c < d]
    blocks: dict[tuple[int, ...], list[int]] = {}
    for node in rows:
        considered = guess.candidate[guess.start[node] : guess.start[node + 1]].tolist()
        if considered:
            blocks.setdefault(tuple(considered), []).append(node)

    def degrees(block: tuple[tuple[int, ...], list[int]]) -> tuple[int, ...]:
        one, other = released.degrees[block[1]], knowledge.auxiliary.degrees[list(block[0])]
        return -max(other), -min(other), -max(one), -min(one)

    ordered = sorted(blocks.items(), key=degrees)
    # Chunks of the same degrees cannot be told apart, so the sizes are compared as a whole.
    sizes = sorted((len(members), len(considered)) for considered, members in ordered)
    assert sizes == sorted((min(a, b), b) for a, b in expected)
    for (before, mates), (after, others) in pairwise(ordered):
        assert min(knowledge.auxiliary.degrees[list(before)]) >= max(knowledge.auxiliary.degrees[list(after)])
        assert min(released.degrees[mates]) >= max(released.degrees[others])
    for considered, members in ordered:
        partners = [int(guess.chosen[node]) for node in members]
        assert len(set(partners)) == len(members)
        assert set(partners) <= set(considered)
        found = math.fsum(scores[pair] for pair in zip(members, partners, strict=True))
        # Of several chunks it is not seen which nodes were left over.
        compared = rows if len(row_cuts) == 1 else members
        assert abs(found - best_assignment(scores, compared, considered)[0]) < 1e-9
        check_beliefs(guess, scores, members)


def check_beliefs(guess: Candidates, scores: Pairs, targets: Sequence[int]) -> None:
    """Check that each target's beliefs are its scores divided by their sum."""
    for node in targets:
        entries = slice(guess.start[node], guess.start[node + 1])
        row = [scores[node, j] for j in guess.candidate[entries].tolist()]
        total = math.fsum(row)
        shares = [score / total for score in row] if total > 0 else [1 / len(row)] * len(row)
        assert max(abs(a - b) for a, b in zip(shares, guess.probability[entries].tolist(), strict=True)) < 1e-6


class Adaptive(NamedTuple):
    """The mapping (seeds left out) and the scores of each mapped node with the candidates of its round."""

    mapping: dict[int, int]
    rows: dict[int, dict[int, float]]


def adaptive(
    released: Graph,
    knowledge: GraphKnowledge,
    *,
    accept: float,
    theta: float,
    weights: tuple[float, float, float],
    gap: float = 1e-6,
) -> Adaptive | None:
    """Return what the adaptive attack finds comparing all nodes at once, None if it hangs on lots or rounding."""
    auxiliary = knowledge.auxiliary
    mapping = {int(one): int(other) for one, other in knowledge.seeds}
    trust = dict.fromkeys(mapping, 1.0)
    fixed = ((weights[0], seed_scores(released, knowledge)), (weights[1], structure_scores(released, auxiliary)))
    found = Adaptive({}, {})
    while True:
        rows, columns = _near(released, set(mapping)), _near(auxiliary, set(mapping.values()))
        scores = weighted(*fixed, (weights[2], inheritance_scores(released, auxiliary, mapping, trust)))
        total, pairs = best_assignment(scores, rows, columns)
        for pair in pairs.items():
            if best_assignment({**scores, pair: -100.0}, rows, columns)[0] > total - gap:
                return None
        ranked = sorted(((scores[pair], pair) for pair in pairs.items()), reverse=True)
        most = math.ceil(accept * len(ranked))
        if 0 < most < len(ranked) and ranked[most - 1][0] - ranked[most][0] < gap:
            return None
        if any(abs(score - theta) < gap for score, _ in ranked):
            return None
        kept = [(score, pair) for score, pair in ranked[:most] if score >= theta]
        if not kept:
            return found
        for score, (row, column) in kept:
            mapping[row], trust[row], found.mapping[row] = column, score, column
            found.rows[row] = {other: scores[row, other] for other in columns}


def _near(graph: Graph, mapped: set[int]) -> list[int]:
    far = all_distances(graph)
    return [node for node in range(graph.nodes) if node not in mapped and any(far[node][one] <= 2 for one in mapped)]
