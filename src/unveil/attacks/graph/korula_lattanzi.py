"""Korula-Lattanzi attack: mutual best by mapped neighbors, high degrees first."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.witnesses import BEFORE, FIRST, NEVER, GraphSide, clear_row, count_row, is_small
from unveil._kernels.types import Int32Array, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.graph._course import both_sides, guess_after
from unveil.attacks.graph._guess import check_knowledge
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError, whole_number
from unveil.guesses.candidates import Candidates

#: A window may take this many bytes.
_MOST_BYTES = 1_000_000_000
#: A window shows this many nodes of each list by default.
_CHUNK = 100


@attack(
    source="Korula and Lattanzi (2014), an efficient reconciliation algorithm for social networks",
    aka=("KL",),
    scope="local",
)
@dataclass(frozen=True, kw_only=True)
class KorulaLattanzi:
    """Map mutually best nodes, by their mapped neighbors.

    In the variant "paper" only nodes with many neighbors in their graph are compared at first: at least ``2**j`` of
    them, with ``j`` falling from the logarithm of the highest degree to 1. At each step all pairs are mapped that have
    at least ``theta`` mapped pairs of neighbors and more than any other pair with either node; ties are broken at
    random. All this is done ``rounds`` times. Nodes with a single neighbor are never mapped.

    In the variant "window" both lists of nodes are sorted by falling degree, and of the first ``chunk`` of each the
    best pair leaves, again and again. It is mapped if it has at least ``theta`` mapped pairs of neighbors; if not,
    both nodes are given up. With 0 everything is mapped, until one list is used up.

    The guess holds the auxiliary nodes with a mapped pair of neighbors among those compared with the node when it
    was mapped, in proportion to the number of these pairs (where none has any, all alike); others are not attempted.

    Parameters
    ----------
    theta
        How many mapped pairs of neighbors a pair needs, from 0. The variant "paper" always asks for one. A number
        that no pair reaches leaves an empty guess.
    rounds
        How often all degrees are gone through in the variant "paper", from 1; it stops early when nothing is added.
    variant
        "paper" or "window".
    chunk
        How many nodes of each list the variant "window" shows, from 1, 100 if left out; "all" shows all of them, and is
        refused where that takes too much memory. The variant "paper" has no window, so that a chunk is refused there.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 0, 0, 1], [1, 2, 3, 4, 0, 2, 3, 3])
    >>> knowledge = GraphKnowledge(ring, np.array([[0, 0], [1, 1]]))
    >>> guess = KorulaLattanzi().run(released=ring, knowledge=knowledge, rng=np.random.default_rng(1))
    >>> guess.chosen
    array([-1, -1,  2,  3,  4], dtype=int32)
    """

    theta: int = 1
    rounds: int = 2
    variant: Literal["paper", "window"] = "paper"
    chunk: int | Literal["all"] | None = None

    def __post_init__(self) -> None:
        whole_number(self.theta, "theta", at_least=0)
        whole_number(self.rounds, "rounds")
        if self.variant not in ("paper", "window"):
            raise InputError(f"Unknown variant {self.variant!r}. Use 'paper' or 'window'")
        if self.chunk is None:
            return
        if self.variant == "paper":
            raise InputError(
                "chunk only applies to variant=window, where it limits the nodes compared. "
                "Write variant=window, or leave chunk out"
            )
        if self.chunk != "all":
            whole_number(self.chunk, "chunk", advice="Write chunk=all to compare all nodes at once")

    @property
    def compared_at_a_time(self) -> int | None:
        """Number of nodes of each list compared at a time, or None."""
        if self.variant == "paper" or self.chunk == "all":
            return None
        return _CHUNK if self.chunk is None else self.chunk

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        """Return each released node's mapping and runners-up; ``rng`` breaks ties."""
        check_knowledge(released, knowledge, attack="Korula-Lattanzi")
        here, there = both_sides(released, knowledge, rng)
        # No pair has as many witnesses as there are nodes.
        theta = min(int(self.theta), released.nodes)
        return self._by_degree(here, there, theta) if self.variant == "paper" else self._by_window(here, there, theta)

    def _by_degree(self, here: GraphSide, there: GraphSide, theta: int) -> Candidates:
        highest = int(min(here.degree.max(), there.degree.max()))
        # The degree asked for at each moment; nothing happens at the moments before the first.
        asked = np.zeros(FIRST, np.int64)
        for _ in range(self.rounds):
            mapped = 0
            for step in range(highest.bit_length() - 1, 0, -1):
                mapped += map_mutual_best(here, there, 2**step, theta, asked.size)
                asked = np.append(asked, 2**step)
            if mapped == 0:
                break
        decided = np.where(here.used == BEFORE, NEVER, here.used)
        least = asked[np.where(decided == NEVER, 0, decided)]
        return guess_after(here, there, decided, grade=there.degree, at_least=least)

    def _by_window(self, here: GraphSide, there: GraphSide, theta: int) -> Candidates:
        order, order_there = _by_falling_degree(here), _by_falling_degree(there)
        width = self.compared_at_a_time or max(order.size, order_there.size)
        _check_memory(min(width, order.size), min(width, order_there.size))
        entered = map_best_of_window(here, there, order, order_there, width, theta)
        decided = np.where(here.used == BEFORE, NEVER, here.used)
        return guess_after(here, there, decided, grade=-entered, at_least=-decided)


def _by_falling_degree(side: GraphSide) -> IntArray:
    """Return the unmapped nodes by falling degree, ties at random."""
    order = np.lexsort((side.lot, -side.degree))
    return order[side.partner[order] < 0]


def _check_memory(rows: int, columns: int) -> None:
    size = rows * columns * CELL_BYTES
    if size > _MOST_BYTES:
        raise InputError(
            f"the window compares {rows:,} with {columns:,} nodes and needs {size / 1e9:.1f} GB, above the limit. "
            "Set chunk to a smaller number, such as 100"
        )


# All pairs of nodes that have more witnesses than any other pair with either of them, mapped at one moment.


def map_mutual_best(here: GraphSide, there: GraphSide, least_degree: int, threshold: int, now: int) -> int:
    """Map all mutually best pairs; return the number of pairs.

    Parameters
    ----------
    here, there
        Both graphs; those mapped change.
    least_degree
        Only nodes with at least this many neighbors in their graph are compared.
    threshold
        How many witnesses a pair needs; it always needs one.
    now
        The moment at which all these pairs are mapped: none bears witness for another.
    """
    run = _map_mutual_best if is_small(here, there) else compiled(_map_mutual_best)
    return int(run(here, there, least_degree, threshold, now))


@loop(
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), "
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), i8, i8, i8",
)
def _map_mutual_best(here: GraphSide, there: GraphSide, least_degree: int, threshold: int, now: int) -> int:
    row_best, column_best, column_most = _bests(here, there, least_degree, now)
    mapped = 0
    for other in range(column_best.size):
        node = column_best[other]
        if node < 0 or row_best[node] != other or column_most[other] < threshold:
            continue
        here.partner[node], there.partner[other] = other, node
        here.used[node] = here.taken[node] = now
        there.used[other] = there.taken[other] = now
        mapped += 1
    return mapped


def _bests(here: GraphSide, there: GraphSide, least_degree: int, now: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return each node's best candidate on both sides, with witnesses.

    Between candidates with as many witnesses the lot decides; -1 where no node has any.
    """
    nodes, others = here.start.size - 1, there.start.size - 1
    count, found = np.zeros(others, np.int64), np.empty(others, np.int64)
    row_best = np.full(nodes, -1, np.int64)
    column_best, column_most = np.full(others, -1, np.int64), np.zeros(others, np.int64)
    for node in range(nodes):
        if here.taken[node] < now or here.degree[node] < least_degree:
            continue
        size = count_row(here, there, node, now, count, found)
        best, most = -1, 0
        for place in range(size):
            other = found[place]
            seen = count[other]
            if there.degree[other] < least_degree:
                continue
            if seen > most or (seen == most and there.lot[other] > there.lot[best]):
                best, most = other, seen
            rival = column_best[other]
            if seen > column_most[other] or (seen == column_most[other] and here.lot[node] > here.lot[rival]):
                column_best[other], column_most[other] = node, seen
        row_best[node] = best
        clear_row(count, found, size)
    return row_best, column_best, column_most


# A window on two lists of nodes from which the pair with the most witnesses leaves, again and again.

#: The bytes that one cell of the window takes.
CELL_BYTES = 4
_NOBODY = -1


class Window(NamedTuple):
    """Nodes in a window's rows and columns, and witnesses per pair.

    ``best`` is the highest number of witnesses in each row and ``column`` where that is; it means nothing where the
    best is 0, because then all columns are alike.
    """

    seen: Int32Array
    node: IntArray
    other: IntArray
    row_of: IntArray
    column_of: IntArray
    best: IntArray
    column: IntArray


def map_best_of_window(
    here: GraphSide, there: GraphSide, order: IntArray, order_there: IntArray, width: int, threshold: int
) -> IntArray:
    """Let the best pair leave the window until one side is empty.

    It returns when each other node came in.

    The window shows the first ``width`` nodes of both lists that have not left yet. The pair in it with the most
    witnesses leaves, the lot deciding between equals; it is mapped if it has at least ``threshold`` witnesses, and else
    both are given up. Each departure takes one moment; ``NEVER`` is when nodes come in that do not.
    """
    rows, columns = min(width, order.size), min(width, order_there.size)
    window = Window(
        np.zeros((rows, columns), np.int32),
        np.full(rows, _NOBODY, np.int64),
        np.full(columns, _NOBODY, np.int64),
        np.full(here.start.size - 1, _NOBODY, np.int64),
        np.full(there.start.size - 1, _NOBODY, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
    )
    run = _run if is_small(here, there) else compiled(_run)
    entered: IntArray = run(here, there, order, order_there, threshold, window)
    return entered


@loop(
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), "
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), "
    "i8[], i8[], i8, Window(i4[,], i8[], i8[], i8[], i8[], i8[], i8[])",
)
def _run(
    here: GraphSide, there: GraphSide, order: IntArray, order_there: IntArray, threshold: int, window: Window
) -> IntArray:
    nodes, others = here.start.size - 1, there.start.size - 1
    count, found = np.zeros(others, np.int64), np.empty(others, np.int64)
    count_back, found_back = np.zeros(nodes, np.int64), np.empty(nodes, np.int64)
    entered = np.empty(others, np.int64)
    for other in range(others):
        entered[other] = NEVER
    rows, columns = window.node.size, window.other.size
    now = FIRST
    for column in range(columns):
        entered[order_there[column]] = now
        _enter_column(here, there, window, column, order_there[column], now, count_back, found_back)
    for row in range(rows):
        _enter_row(here, there, window, row, order[row], now, count, found)
    while True:
        row, column = _best_pair(here, there, window)
        if row < 0 or column < 0:
            return entered
        enough = window.seen[row, column] >= threshold
        if not enough and rows == order.size and columns == order_there.size:
            # No node comes in and no node gets another witness: those left would all be given up.
            return entered
        _leave(here, there, window, row, column, now, enough)
        now += 1
        if columns < order_there.size:
            entered[order_there[columns]] = now
            _enter_column(here, there, window, column, order_there[columns], now, count_back, found_back)
            columns += 1
        if rows < order.size:
            _enter_row(here, there, window, row, order[rows], now, count, found)
            rows += 1


def _enter_row(
    here: GraphSide, there: GraphSide, window: Window, row: int, node: int, now: int, count: IntArray, reached: IntArray
) -> None:
    window.node[row], window.row_of[node] = node, row
    for column in range(window.other.size):
        window.seen[row, column] = 0
    size = count_row(here, there, node, now, count, reached)
    for place in range(size):
        column = window.column_of[reached[place]]
        if column >= 0:
            window.seen[row, column] = count[reached[place]]
    clear_row(count, reached, size)
    _rank(there, window, row)


def _enter_column(
    here: GraphSide,
    there: GraphSide,
    window: Window,
    column: int,
    other: int,
    now: int,
    count: IntArray,
    reached: IntArray,
) -> None:
    window.other[column], window.column_of[other] = other, column
    for row in range(window.node.size):
        window.seen[row, column] = 0
    size = count_row(there, here, other, now, count, reached)
    for place in range(size):
        row = window.row_of[reached[place]]
        if row >= 0:
            window.seen[row, column] = count[reached[place]]
            _compare(there, window, row, column)
    clear_row(count, reached, size)


def _compare(there: GraphSide, window: Window, row: int, column: int) -> None:
    """Update the best cell of a row with one cell."""
    seen, best = window.seen[row, column], window.best[row]
    lot, rival = there.lot[window.other[column]], there.lot[window.other[window.column[row]]]
    if seen > best or (seen == best and lot > rival):
        window.best[row], window.column[row] = seen, column


def _rank(there: GraphSide, window: Window, row: int) -> None:
    """Find the best cell of a row again."""
    window.best[row] = 0
    for column in range(window.other.size):
        if window.other[column] >= 0 and window.seen[row, column] > 0:
            _compare(there, window, row, column)


def _best_pair(here: GraphSide, there: GraphSide, window: Window) -> tuple[int, int]:
    """Return the pair with the most witnesses; -1 for an empty side."""
    top = -1
    for row in range(window.node.size):
        if window.node[row] < 0:
            continue
        ahead = 1 if top < 0 else window.best[row] - window.best[top]
        if ahead > 0 or (ahead == 0 and here.lot[window.node[row]] > here.lot[window.node[top]]):
            top = row
    if top >= 0 and window.best[top] > 0:
        return top, int(window.column[top])
    first = -1
    for column in range(window.other.size):
        if window.other[column] < 0:
            continue
        if first < 0 or there.lot[window.other[column]] > there.lot[window.other[first]]:
            first = column
    return top, first


def _leave(here: GraphSide, there: GraphSide, window: Window, row: int, column: int, now: int, mapped: bool) -> None:
    node, other = window.node[row], window.other[column]
    window.node[row] = window.row_of[node] = window.other[column] = window.column_of[other] = _NOBODY
    here.taken[node] = there.taken[other] = now
    for rest in range(window.node.size):
        if window.node[rest] >= 0 and window.best[rest] > 0 and window.column[rest] == column:
            _rank(there, window, rest)
    if not mapped:
        return
    here.partner[node], there.partner[other] = other, node
    here.used[node] = there.used[other] = now
    for place in range(here.start[node], here.start[node + 1]):
        rest = window.row_of[here.neighbour[place]]
        if rest < 0:
            continue
        for spot in range(there.start[other], there.start[other + 1]):
            near = window.column_of[there.neighbour[spot]]
            if near >= 0:
                window.seen[rest, near] += 1
                _compare(there, window, rest, near)
