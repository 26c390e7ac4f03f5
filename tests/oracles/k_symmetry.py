"""Cells, orbits and copies by their definitions, one node after the other."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from unveil.data.graph import Graph

Rows = list[set[int]]
#: A node and the number of its copy; 0 is the node itself.
Copy = tuple[int, int]


def rows(graph: Graph) -> Rows:
    return [set(graph.neighbours_of(node).tolist()) for node in range(graph.nodes)]


def groups(cell: Sequence[int]) -> set[frozenset[int]]:
    """Return the cells as sets of nodes, whatever their numbers."""
    return {frozenset(node for node, one in enumerate(cell) if one == number) for number in set(cell)}


def refined(near: Rows) -> list[int]:
    """Colour nodes alike, then by the colours of their neighbours, until no colour splits."""
    colour = [0] * len(near)
    while True:
        seen = [(colour[node], tuple(sorted(colour[one] for one in near[node]))) for node in range(len(near))]
        names = {view: number for number, view in enumerate(sorted(set(seen)))}
        if len(names) == len(set(colour)):
            return colour
        colour = [names[view] for view in seen]


def automorphisms(near: Rows, colour: Sequence[int], image: list[int]) -> Iterator[list[int]]:
    """Yield the permutations that keep edges and colours and begin with ``image``."""
    node = len(image)
    if node == len(near):
        yield image
        return
    for to in range(len(near)):
        fits = to not in image and colour[to] == colour[node] and len(near[to]) == len(near[node])
        if fits and all((one in near[node]) == (image[one] in near[to]) for one in range(node)):
            yield from automorphisms(near, colour, [*image, to])


def generators(near: Rows, colour: Sequence[int]) -> list[list[int]]:
    """Return for each pair of nodes an automorphism that maps one on the other, if there is one."""
    found = []
    for one, other in combinations(range(len(near)), 2):
        order = [one, *(node for node in range(len(near)) if node != one)]  # the pair first: it decides early
        place = {node: number for number, node in enumerate(order)}
        turned = [{place[each] for each in near[node]} for node in order]
        if colour[one] != colour[other] or len(near[one]) != len(near[other]):
            continue
        image = next(automorphisms(turned, [colour[node] for node in order], [place[other]]), None)
        if image is not None:
            found.append([order[image[place[node]]] for node in range(len(near))])
    return found


def orbits(near: Rows) -> list[int]:
    """Return for each node the first node that an automorphism maps on it."""
    orbit = list(range(len(near)))
    for each in generators(near, [0] * len(near)):
        for node, image in enumerate(each):
            low, high = sorted((orbit[node], orbit[image]))
            orbit = [low if one == high else one for one in orbit]
    return orbit


def copied(near: Rows, cells: Sequence[frozenset[int]], times: Sequence[int]) -> set[frozenset[Copy]]:
    """Copy the cells one by one, in the order given, until node ``i`` is there ``times[i]`` times; return the edges."""
    now: dict[Copy, set[Copy]] = {(node, 0): {(one, 0) for one in near[node]} for node in range(len(near))}
    for cell in cells:
        for number in range(1, times[min(cell)]):
            for node in cell:
                now[node, number] = set()
            for node in cell:
                for one, which in list(now[node, 0]):
                    to = (one, number) if one in cell else (one, which)
                    now[node, number].add(to)
                    now[to].add((node, number))
    return {frozenset((node, one)) for node, ones in now.items() for one in ones}
