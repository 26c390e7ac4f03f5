"""The nodes of an attacked graph on rings, by what the adversary believes of each: a picture as data, without names."""

import numpy as np
from numpy.typing import NDArray

from unveil.show.blocks import Rings
from unveil.ask.graph.findings import AttackedGraph, Nodes
from unveil.show.svg.rings import MOST_MARKS
from unveil.show.text import count, percent

#: Where levels begin: the probability that the adversary gave to the true node.
LEVELS = (0.5, 0.1, 0.01, 0.0)
_NAMES = ("1/2 or more", "1/10 to 1/2", "1/100 to 1/10", "less than 1/100", "not attempted")
_LEGEND = ("right node given 1/2 or more", *_NAMES[1:])
NOT_ATTEMPTED = len(LEVELS)

Floats = NDArray[np.float64]


def node_picture(found: AttackedGraph) -> Rings:
    """Return the nodes of the first repetition, those with the most connections in the middle.

    Above 1,000 nodes a mark stands for several that follow one another in that order: its level is that of the mean
    over those attempted, or "not attempted" where most were not, and it is struck where most were matched rightly.
    """
    nodes = found.nodes
    size = max(1, -(-nodes.degree.size // MOST_MARKS))
    probability, right = _grouped(nodes, size)
    level = levels_of(probability)
    counted = np.bincount(levels_of(nodes.probability), minlength=len(_NAMES))
    return Rings(
        title="Who is found",
        caption=_caption(found, size),
        description=_description(nodes, counted, size),
        level=level,
        levels=tuple(f"{name}: {count(int(of))}" for name, of in zip(_LEGEND, counted, strict=True)),
        struck=right > 0.5,
        struck_name=f"rightly matched: {count(int((nodes.right > 0.5).sum()))}",
    )


def levels_of(probability: Floats) -> NDArray[np.int64]:
    """Return the number of each probability's level, the last one for NaN.

    >>> levels_of(np.array([1.0, 0.5, 0.2, 0.05, 0.0, np.nan])).tolist()
    [0, 0, 1, 2, 3, 4]
    """
    # What is counted as 1 - (1 - p) lies a rounding error beside p.
    level = (np.asarray(LEVELS)[None, :] > probability[:, None] + 1e-12).sum(axis=1)
    return np.where(np.isnan(probability), NOT_ATTEMPTED, np.minimum(level, NOT_ATTEMPTED - 1)).astype(np.int64)


def _grouped(nodes: Nodes, size: int) -> tuple[Floats, Floats]:
    """Return the mean probability of each group of nodes that follow one another, NaN where few were attempted."""
    if size == 1:
        return nodes.probability, nodes.right
    first = np.arange(0, nodes.degree.size, size)
    members = np.diff(np.append(first, nodes.degree.size))
    tried = ~np.isnan(nodes.probability)
    attempted = np.add.reduceat(tried.astype(np.float64), first)
    total = np.add.reduceat(np.where(tried, nodes.probability, 0.0), first)
    mean = np.where(2 * attempted >= members, total / np.maximum(attempted, 1), np.nan)
    return mean, np.add.reduceat(nodes.right, first) / members


def _caption(found: AttackedGraph, size: int) -> str:
    first = " of the first repetition" if found.repeated else ""
    each = f"Each mark is a node{first}"
    if size > 1:
        each = (
            f"Each mark is {size} nodes{first} with about as many connections, and shows the mean over those attempted "
            "(a dash where most were not, a point where most were matched rightly)"
        )
    shown = found.repetitions[0]
    seeds, nobody, unknown = shown.seeds, shown.matches.nobody, shown.unknown
    parts = [f"the {'node' if seeds == 1 else count(seeds, 'node', 'nodes')} that the adversary knew before"]
    if nobody:
        parts.append(f"{count(nobody, 'node that stands', 'nodes that stand')} for nobody")
    if unknown:
        parts.append(f"{count(unknown, 'node', 'nodes')} of which the truth says nothing")
    left_out = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return (
        f"{each}; those with the most connections are in the middle, and of those with as many, the least "
        f"private come first. The larger and the darker (on a dark page: the brighter) a mark, the more probability "
        f"the adversary gave to the right node, and the less private it is. Not drawn: {left_out}. Numbers count "
        "nodes."
    )


def _description(nodes: Nodes, counted: NDArray[np.int64], size: int) -> str:
    number = nodes.degree.size
    if number == 0:
        return "There is no node to draw."
    said = [
        f"{count(number, 'node', 'nodes')} on rings{f', {size} to a mark' if size > 1 else ''}, those with the most "
        "connections in the middle. Probability that the adversary gave to the right node: "
        + ", ".join(
            f"{name} for {count(int(of))} ({percent(of / number)})" for name, of in zip(_NAMES, counted, strict=True)
        )
        + f". Rightly matched: {count(int((nodes.right > 0.5).sum()))}."
    ]
    tenth = number // 10
    if tenth:
        inner, outer = (percent(float(part.mean())) for part in (nodes.right[:tenth], nodes.right[-tenth:]))
        said.append(
            f"Of the tenth with the most connections {inner} are rightly matched, of the tenth with the fewest {outer}."
        )
    return " ".join(said)
