"""Read an edge list the slow way: line by line into sets, after which everything is counted by its definition."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SlowGraph:
    """What a file of edges says: names in order, edges as sets of two names, and what is not in a simple graph."""

    names: list[str]
    edges: set[frozenset[str]]
    loops: int
    repeats: int
    both_ways: int


def natural_key(name: str) -> tuple[int, int, str]:
    """Return what names are sorted by: whole numbers by value first, then text."""
    digits = name.removeprefix("-")
    whole = digits.isascii() and digits.isdigit() and len(digits) <= 18
    return (0, int(name), name) if whole else (1, 0, name)


def slow_graph(pairs: list[tuple[str, str | None]]) -> SlowGraph:
    """Return the graph of pairs of names; None as the second makes the first a node without this edge."""
    names = {name for pair in pairs for name in pair if name is not None}
    real = [(one, other) for one, other in pairs if other is not None]
    apart = [(one, other) for one, other in real if one != other]
    edges = {frozenset(pair) for pair in apart}
    distinct = set(apart)
    return SlowGraph(
        names=sorted(names, key=natural_key),
        edges=edges,
        loops=len(real) - len(apart),
        repeats=len(apart) - len(distinct),
        both_ways=sum((other, one) in distinct for one, other in distinct) // 2,
    )


def read_slowly(text: str) -> SlowGraph:
    """Return the graph of lines with spaces between names; lines that begin with # or % are remarks."""
    words = [line.split() for line in text.split("\n")]
    return slow_graph([(line[0], line[1]) for line in words if line and line[0][0] not in "#%"])
