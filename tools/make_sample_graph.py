"""Generate the sample graph: made up by a rule and by lot, with hubs, triangles, communities and nodes without an edge.

Nobody is in it. Only ``random.Random.random`` is drawn from, whose numbers are the same in every version of Python.
"""

from pathlib import Path
from random import Random

from unveil.data.graph import Graph
from unveil.data.graph.files import edges_text, write_edges

FILE = Path(__file__).resolve().parent.parent / "src" / "unveil" / "data" / "samples" / "generated_graph.csv"
NODES = 1000
ALONE = 20
COMMUNITIES = 20
SEED = 8

_MORE_EDGES = 0.83  # the chance that a new node tries to get one more edge
_TRIANGLE = 0.8  # the chance that an edge goes to a friend of a friend
_AT_HOME = 0.96  # the chance that any other edge stays in the community


def main() -> None:
    """Write the file anew, and say how large the graph is."""
    graph = generated()
    write_edges(FILE, graph)
    print(f"{FILE.name}: {graph.nodes} nodes, {graph.edges} edges, {len(edges_text(graph))} characters")


def generated() -> Graph:
    """Return the sample graph; it is the same every time.

    Nodes come one after the other, each into one of several communities, of which the first are larger. A new node
    brings a random number of edges. Each leads to a friend of somebody it already knows, which closes a triangle, or
    to a node drawn with a chance in proportion to its degree, most often in the same community: hubs grow.
    In the end numbers are given by lot, so that they tell neither age nor community.
    """
    lot = Random(SEED)  # noqa: S311 (nothing is kept secret with it)
    friends: list[set[int]] = [set() for _ in range(NODES - ALONE)]
    everywhere: list[int] = []
    at_home: list[list[int]] = [[] for _ in range(COMMUNITIES)]
    for node in range(NODES - ALONE):
        home = at_home[int(COMMUNITIES * lot.random() ** 1.6)]
        known: list[int] = []
        while everywhere and (not known or lot.random() < _MORE_EDGES):
            other = _somebody(lot, friends, known, home if home and lot.random() < _AT_HOME else everywhere)
            if other == node or other in friends[node]:
                continue
            friends[node].add(other)
            friends[other].add(node)
            known.append(other)
            everywhere += [node, other]
            home += [node, other]
        # Everybody stands in the lists once, to be found also without a friend.
        everywhere.append(node)
        home.append(node)
    number = _shuffled(lot, NODES)
    edges = [(number[one], number[other]) for one in range(NODES - ALONE) for other in friends[one] if one < other]
    return Graph.from_edges([one for one, _ in edges], [other for _, other in edges], nodes=NODES)


def _somebody(lot: Random, friends: list[set[int]], known: list[int], among: list[int]) -> int:
    if known and lot.random() < _TRIANGLE:
        circle = sorted(friends[_one_of(lot, known)])
        return _one_of(lot, circle)
    return _one_of(lot, among)


def _one_of(lot: Random, things: list[int]) -> int:
    return things[int(lot.random() * len(things))]


def _shuffled(lot: Random, count: int) -> list[int]:
    numbers = list(range(count))
    for place in range(count - 1, 0, -1):
        other = int(lot.random() * (place + 1))
        numbers[place], numbers[other] = numbers[other], numbers[place]
    return numbers


if __name__ == "__main__":
    main()
