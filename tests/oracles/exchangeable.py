"""Which nodes of a small graph can be exchanged: by trying every exchange, and every permutation."""

from itertools import permutations

Edges = set[frozenset[int]]


def moved(edges: Edges, image: dict[int, int]) -> Edges:
    return {frozenset(image.get(node, node) for node in edge) for edge in edges}


def twins(nodes: int, edges: Edges, free: set[int]) -> list[int]:
    """Return how many free nodes each free node can change places with, itself included, and no edge changes."""
    return [
        sum(moved(edges, {one: other, other: one}) == edges for other in free) if one in free else 0
        for one in range(nodes)
    ]


def orbits(nodes: int, edges: Edges, free: set[int]) -> list[int]:
    """Return to how many places each free node is brought by permutations of the free nodes that change no edge."""
    order = sorted(free)
    images = [dict(zip(order, places, strict=True)) for places in permutations(order)]
    kept = [image for image in images if moved(edges, image) == edges]
    return [len({image[node] for image in kept}) if node in free else 0 for node in range(nodes)]
