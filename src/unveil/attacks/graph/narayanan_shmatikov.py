"""Narayanan-Shmatikov attack: map the candidate that shares far more mapped neighbors."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.witnesses import BEFORE, FIRST, NEVER, GraphSide, clear_row, count_row, is_small
from unveil._kernels.types import IntArray
from unveil.attacks._listing import attack
from unveil.attacks.graph._course import both_sides, guess_after
from unveil.attacks.graph._guess import check_knowledge
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates


@attack(source="Narayanan and Shmatikov (2009), de-anonymizing social networks", aka=("NS",), scope="local")
@dataclass(frozen=True, kw_only=True)
class NarayananShmatikov:
    """Map a released node where one candidate stands out, and propagate.

    Two nodes score one point for each pair of their neighbors that is already mapped to one another, divided by the
    square root of the auxiliary node's degree. The best auxiliary node stands out if its score exceeds the second best
    by ``theta`` standard deviations of all scores (those of auxiliary nodes already taken count 0). If it does, and the
    released node stands out in the same way among those that score with that auxiliary node, both are mapped at once.
    Released nodes are gone through again until none is mapped any more. Nodes once mapped stay so.

    The guess holds the auxiliary nodes with a score when the node was mapped; nodes never mapped are not attempted.

    Parameters
    ----------
    theta
        How far the best must stand out, from 0. With 0 any lead will do and ties are broken at random; with any other,
        a node with two best ones is left alone. 0.5 is customary; where nothing stands out, no node is attempted.
    order
        "random" goes through the released nodes in a new order each time; "natural" by their number, which makes the
        attack exactly repeatable (unless ``theta`` is 0), and should be used only if the numbers tell nothing.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 0, 0], [1, 2, 3, 4, 0, 2, 5])
    >>> knowledge = GraphKnowledge(ring, np.array([[0, 0], [1, 1]]))
    >>> guess = NarayananShmatikov().run(released=ring, knowledge=knowledge, rng=np.random.default_rng(1))
    >>> guess.chosen
    array([-1, -1,  2,  3,  4,  5], dtype=int32)
    """

    theta: float = 0.5
    order: Literal["random", "natural"] = "random"

    def __post_init__(self) -> None:
        number = isinstance(self.theta, int | float | np.number) and not isinstance(self.theta, bool)
        if not number or not self.theta >= 0:
            raise InputError(f"theta is {self.theta!r}; it must be a number of at least 0. Raise it")
        if self.order not in ("random", "natural"):
            raise InputError(f"Unknown order {self.order!r}. Use 'random' or 'natural'")

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        """Return each released node's mapping and runners-up.

        ``rng`` draws the order and breaks ties.
        """
        check_knowledge(released, knowledge, attack="Narayanan-Shmatikov")
        here, there = both_sides(released, knowledge, rng)
        looks = nothing_seen(released.nodes, knowledge.auxiliary.nodes)
        now, before = FIRST, BEFORE
        while now > before:
            unmapped = np.flatnonzero(here.partner < 0)
            order = rng.permutation(unmapped) if self.order == "random" else unmapped
            before, now = now, sweep(here, there, order, float(self.theta), now, looks)
        decided = np.where(here.taken == BEFORE, NEVER, here.taken)
        return guess_after(here, there, decided, weight=1 / np.sqrt(np.maximum(there.degree, 1)))


# Nodes whose best candidate stands out from all others, in both directions, are mapped to it one after the other.

# An eccentricity this little below the threshold is one that rounding has moved.
_ROUNDING = 1e-9


class Looks(NamedTuple):
    """Times that make another look at a node unnecessary.

    A look at a node ends as it did before, unless its row of witnesses has changed since, or it was turned down by its
    best candidate and that one's column has changed.
    """

    looked: IntArray
    turned_down_by: IntArray
    row_changed: IntArray
    column_changed: IntArray


def nothing_seen(nodes: int, others: int) -> Looks:
    """Return the state before the first look."""
    return Looks(
        looked=np.zeros(nodes, np.int64),
        turned_down_by=np.full(nodes, -1, np.int64),
        row_changed=np.full(nodes, FIRST, np.int64),
        column_changed=np.zeros(others, np.int64),
    )


def standing_out(there: GraphSide, count: IntArray, reached: IntArray, size: int, threshold: float) -> int:
    """Return the node with the outstanding score, or -1.

    A score is the number of witnesses divided by the square root of the degree; all nodes of the graph have one, which
    is 0 for those not found. The best stands out if it exceeds the second best by ``threshold`` standard deviations
    (dividing by one less than the number of nodes). With a threshold of 0 ties are broken at random; with any other,
    equals do not stand out.
    """
    best, second = -1, -1
    for place in range(size):
        node = reached[place]
        lead = 1 if best < 0 else _lead(count[node], there.degree[node], count[best], there.degree[best])
        if lead > 0 or (lead == 0 and there.lot[node] > there.lot[best]):
            second = best
            best = node
        elif second < 0 or _lead(count[node], there.degree[node], count[second], there.degree[second]) > 0:
            second = node
    if threshold <= 0 or best < 0:
        return best
    if second >= 0 and _lead(count[best], there.degree[best], count[second], there.degree[second]) == 0:
        return -1
    ahead = count[best] / np.sqrt(there.degree[best])
    if second >= 0:
        ahead -= count[second] / np.sqrt(there.degree[second])
    return best if ahead * (1 + _ROUNDING) >= threshold * _deviation(there, count, reached, size) else -1


def _lead(one: int, degree: int, other: int, other_degree: int) -> int:
    """Return the sign of the score lead of some witnesses.

    In whole numbers, because roots are rounded and would part scores that are equal.
    """
    return one * one * other_degree - other * other * degree


def _deviation(there: GraphSide, count: IntArray, reached: IntArray, size: int) -> float:
    """Return the standard deviation of scores over all nodes."""
    nodes = count.size
    total = 0.0
    for place in range(size):
        total += count[reached[place]] / np.sqrt(there.degree[reached[place]])
    mean = total / nodes
    squares = (nodes - size) * mean**2
    for place in range(size):
        squares += (count[reached[place]] / np.sqrt(there.degree[reached[place]]) - mean) ** 2
    return float(np.sqrt(squares / (nodes - 1)))


def sweep(here: GraphSide, there: GraphSide, order: IntArray, threshold: float, now: int, looks: Looks) -> int:
    """Visit nodes in order, map outstanding ones; return the new time.

    A node is mapped to its best candidate if that stands out from all candidates of the node, and the node from all
    candidates of that one. Both sides and what is known of former looks change. Moments start at ``FIRST``, and each
    mapping takes one.
    """
    run = _sweep if is_small(here, there) else compiled(_sweep)
    return int(run(here, there, order, threshold, now, looks))


@loop(
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), "
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), i8[], f8, i8, Looks(i8[], i8[], i8[], i8[])",
)
def _sweep(here: GraphSide, there: GraphSide, order: IntArray, threshold: float, now: int, looks: Looks) -> int:
    nodes, others = here.start.size - 1, there.start.size - 1
    count, found = np.zeros(others, np.int64), np.empty(others, np.int64)
    count_back, found_back = np.zeros(nodes, np.int64), np.empty(nodes, np.int64)
    for node in order:
        by = looks.turned_down_by[node]
        seen = looks.looked[node]
        if looks.row_changed[node] <= seen and (by < 0 or looks.column_changed[by] <= seen):
            continue
        looks.looked[node] = now
        size = count_row(here, there, node, now, count, found)
        best = standing_out(there, count, found, size, threshold)
        looks.turned_down_by[node] = best
        if best >= 0:
            size_back = count_row(there, here, best, now, count_back, found_back)
            first = standing_out(here, count_back, found_back, size_back, threshold)
            # One of several equals, which can stand out with a threshold of 0 alone, is as good as the first of them.
            if first >= 0 and _is_as_good(here, count_back, node, first):
                _map(here, node, best, now)
                _map(there, best, node, now)
                now += 1
                _note_change(here, looks.row_changed, node, found_back, size_back, now)
                _note_change(there, looks.column_changed, best, found, size, now)
            clear_row(count_back, found_back, size_back)
        clear_row(count, found, size)
    return now


def _is_as_good(here: GraphSide, count: IntArray, node: int, first: int) -> bool:
    return _lead(count[node], here.degree[node], count[first], here.degree[first]) == 0


def _map(here: GraphSide, node: int, other: int, now: int) -> None:
    here.partner[node] = other
    here.used[node] = now
    here.taken[node] = now


def _note_change(here: GraphSide, changed: IntArray, node: int, reached: IntArray, size: int, now: int) -> None:
    """Mark neighbors with a new witness, and those that lost a candidate."""
    for place in range(here.start[node], here.start[node + 1]):
        changed[here.neighbour[place]] = now
    for place in range(size):
        changed[reached[place]] = now
