"""Joint degrees, their splitting over a grid and the change by one edge, each written as its definition says it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

Edge = tuple[int, int]
Cell = tuple[int, int]


def degrees(edges: Sequence[Edge], nodes: int) -> list[int]:
    count = Counter(end for edge in edges for end in edge)
    return [count[node] for node in range(nodes)]


def joint_degrees(edges: Sequence[Edge], nodes: int) -> Counter[Cell]:
    """How many edges join a node of the smaller degree to one of the larger."""
    have = degrees(edges, nodes)
    return Counter((min(have[u], have[v]), max(have[u], have[v])) for u, v in edges)


def parts(degree: int, grid: Sequence[int]) -> dict[int, Fraction]:
    """The places of the grid that a degree counts for: shares with sum 1 and the same mean of 1 / degree."""
    if degree >= grid[-1]:
        return {len(grid) - 1: Fraction(1)}
    above = next(place for place, each in enumerate(grid) if each > degree)
    low, high, inverse = Fraction(1, grid[above - 1]), Fraction(1, grid[above]), Fraction(1, degree)
    share = (low - inverse) / (low - high)
    return {above - 1: 1 - share, above: share}


def split_table(edges: Sequence[Edge], nodes: int, grid: Sequence[int]) -> dict[Cell, Fraction]:
    """The table on a grid, by the smaller and the larger place."""
    have = degrees(edges, nodes)
    table: dict[Cell, Fraction] = {}
    for u, v in edges:
        for i, one in parts(have[u], grid).items():
            for j, other in parts(have[v], grid).items():
                cell = min(i, j), max(i, j)
                table[cell] = table.get(cell, Fraction(0)) + one * other
    return table


def neighbours(edges: Sequence[Edge], nodes: int) -> Iterator[list[Edge]]:
    """All graphs that differ in one edge."""
    present = set(edges)
    for pair in combinations(range(nodes), 2):
        yield sorted(present ^ {pair})


def change(before: dict[Cell, Fraction], after: dict[Cell, Fraction], weight: Sequence[float] | None = None) -> float:
    """The sum of the changes of all cells, each divided by the weight of its larger place."""
    cells = {*before, *after}
    zero = Fraction(0)
    return sum(
        float(abs(before.get(cell, zero) - after.get(cell, zero))) / (1 if weight is None else weight[cell[1]])
        for cell in cells
    )
