"""Networks of randomizing nodes between items and pseudonyms (mix networks)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.data.matrices.square_matrix import MOST_DENSE_ROWS, square_matrix
from unveil.errors import InputError
from unveil.guesses._pairing import Names, of_file

if TYPE_CHECKING:
    import os

    from unveil.guesses.matching_distribution import MatchingDistribution


_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Node:
    """A node that sends each input to a different random output.

    Attributes
    ----------
    inputs, outputs
        The names of the wires into the node and out of it, as many of each.
    chances
        How likely each input (row) leaves by each output (column): rows and columns sum to 1. None means that every
        order is equally likely.

    Examples
    --------
    >>> Node(["Flu", "Cold"], ["u", "v"], [[0.9, 0.1], [0.1, 0.9]]).size
    2
    """

    inputs: Names
    outputs: Names
    chances: FloatArray | None = None

    def __post_init__(self) -> None:
        for name in ("inputs", "outputs"):
            wires = getattr(self, name)
            if isinstance(wires, str):
                raise InputError(f"the {name} of a node are one text. Put them in a list of names")
            object.__setattr__(self, name, tuple(str(wire) for wire in wires))
        if not self.inputs or len(self.inputs) != len(self.outputs):
            raise InputError(
                f"a node has {len(self.inputs)} inputs and {len(self.outputs)} outputs. A node needs equally many, at "
                "least one"
            )
        if self.chances is not None:
            object.__setattr__(self, "chances", self._checked(self.chances))

    def _checked(self, chances: Any) -> FloatArray:
        matrix = square_matrix(chances, what="the matrix of a node")
        if not isinstance(matrix, np.ndarray):
            matrix = matrix.toarray()
        if len(matrix) != self.size:
            raise InputError(
                f"the matrix of a node has {len(matrix)} rows for {self.size} inputs. "
                "Pass one row and one column per input"
            )
        if any((np.abs(matrix.sum(axis=axis) - 1) > _TOLERANCE).any() for axis in (0, 1)):
            raise InputError("a row or column of a node's matrix does not sum to 1. Scale its probabilities")
        return matrix

    @property
    def size(self) -> int:
        """The number of inputs, which is the number of outputs."""
        return len(self.inputs)


@dataclass(frozen=True, eq=False, repr=False)
class Dataflow:
    """A network of randomizing nodes, joined by output and input names.

    An input that no node puts out is an item; an output that no node takes in is a pseudonym. What a node draws does
    not depend on what others draw. The network must have no loop.

    Attributes
    ----------
    nodes
        In any order.
    items, pseudonyms
        The names of the open inputs and outputs. None takes them in the order in which the nodes name them; to have
        another order, pass exactly these names in that order.

    Examples
    --------
    Two items are mixed, and one of them is mixed with a third:

    >>> network = Dataflow([Node(["Flu", "Cold"], ["u", "inner"]), Node(["inner", "Asthma"], ["v", "x"])])
    >>> network.items, network.pseudonyms
    (('Flu', 'Cold', 'Asthma'), ('u', 'v', 'x'))
    >>> network.matrix
    array([[0.5 , 0.25, 0.25],
           [0.5 , 0.25, 0.25],
           [0.  , 0.5 , 0.5 ]])
    """

    nodes: tuple[Node, ...]
    items: Names | None = None
    pseudonyms: Names | None = None

    def __post_init__(self) -> None:
        nodes = tuple(self.nodes)
        if not nodes:
            raise InputError("The network has no node. Describe at least one")
        object.__setattr__(self, "nodes", nodes)
        into = _wires([node.inputs for node in nodes], "input")
        out = _wires([node.outputs for node in nodes], "output")
        open_in, open_out = [wire for wire in into if wire not in out], [wire for wire in out if wire not in into]
        order = _upstream_first(nodes, out)
        if len(open_in) > MOST_DENSE_ROWS:
            raise InputError(
                f"The network has {len(open_in):,} items; at most {MOST_DENSE_ROWS:,} are supported. "
                "Describe its separate parts one by one"
            )
        object.__setattr__(self, "nodes", tuple(nodes[k] for k in order))
        object.__setattr__(self, "items", _ordered(self.items, open_in, "items"))
        object.__setattr__(self, "pseudonyms", _ordered(self.pseudonyms, open_out, "pseudonyms"))

    @classmethod
    def read(cls, path: "str | os.PathLike[str]") -> "Dataflow":
        """Return the network in a TOML or CSV file.

        See :func:`~unveil.data.matrices.dataflows.read_dataflow`.

        >>> from unveil.data import samples
        >>> Dataflow.read(samples.path("matching_dataflow.csv"))
        Dataflow(3 nodes, 5 items and pseudonyms)
        """
        from unveil.data.matrices.dataflows import read_dataflow

        file = read_dataflow(path)
        nodes = []
        for number, node in enumerate(file.nodes, start=1):
            with of_file(path, f" at node {number} (counted from 1)"):
                nodes.append(Node(*node))
        with of_file(path):
            return cls(tuple(nodes), file.items, file.pseudonyms)

    @property
    def n(self) -> int:
        """The number of items, which is the number of pseudonyms."""
        return len(self.items or ())

    @cached_property
    def matrix(self) -> FloatArray:
        """Probability of each pseudonym (column) per item (row), read-only.

        Every row and column sums to 1. Chances flow through the nodes one by one: an output holds the mean of the
        inputs, weighted by the node's chances.
        """
        place = {name: k for k, name in enumerate(self.items or ())}
        held = {name: np.eye(1, self.n, k)[0] for name, k in place.items()}
        for node in self.nodes:
            taken = np.array([held.pop(wire) for wire in node.inputs])
            if node.chances is None:
                mixed = taken.sum(axis=0) / node.size
                held.update(dict.fromkeys(node.outputs, mixed))
            else:
                held.update(zip(node.outputs, node.chances.T @ taken, strict=True))
        matrix = np.array([held[pseudonym] for pseudonym in self.pseudonyms or ()]).T.copy()
        matrix.flags.writeable = False
        return matrix

    def distribution(self, *, at_most: int = 100_000) -> "MatchingDistribution":
        """Return the probability of each whole matching.

        The matrix keeps the chance of each pair and forgets which pairs come together; this keeps both. Only networks
        whose nodes draw every order alike, have two inputs, or do not draw at all say how likely each order is.

        Parameters
        ----------
        at_most
            More partial matchings than this, at any node, are refused.

        Examples
        --------
        >>> Dataflow([Node(["Flu", "Cold"], ["u", "v"], [[0.9, 0.1], [0.1, 0.9]])]).distribution().probability
        array([0.9, 0.1])
        """
        from unveil.guesses.matching_distribution import MatchingDistribution

        wires = list(self.items or ())
        states = {tuple(range(self.n)): 1.0}
        for node in self.nodes:
            orders = _orders(node, at_most // len(states))
            places = [wires.index(wire) for wire in node.inputs]
            rest = [k for k in range(len(wires)) if k not in places]
            wires = [wires[k] for k in rest] + list(node.outputs)
            following: dict[tuple[int, ...], float] = {}
            for state, chance in states.items():
                kept = tuple(state[k] for k in rest)
                for order, share in orders:
                    after = kept + tuple(state[places[k]] for k in order)
                    following[after] = following.get(after, 0.0) + chance * share
            states = following
        column = [wires.index(pseudonym) for pseudonym in self.pseudonyms or ()]
        # A state holds the item on each wire; a matching the pseudonym of each item.
        matchings = np.argsort(np.array(list(states))[:, column], axis=1)
        return MatchingDistribution(matchings, np.array(list(states.values())), self.items, self.pseudonyms)

    def __repr__(self) -> str:
        return f"Dataflow({len(self.nodes)} node{'s' * (len(self.nodes) > 1)}, {self.n} items and pseudonyms)"


def _wires(lists: Sequence[Names], word: str) -> dict[str, int]:
    """Return the number of the node that each wire belongs to."""
    node_of: dict[str, int] = {}
    for number, names in enumerate(lists):
        for name in names:
            if name in node_of:
                raise InputError(
                    f"a wire is an {word} twice: in nodes {node_of[name] + 1} and {number + 1} (counted from 1). Give "
                    "each wire a different name"
                )
            node_of[name] = number
    return node_of


def _upstream_first(nodes: Sequence[Node], source: dict[str, int]) -> list[int]:
    """Return the nodes in topological order."""
    feeding = [Counter(source[wire] for wire in node.inputs if wire in source) for node in nodes]
    fed: list[list[int]] = [[] for _ in nodes]
    for number, before in enumerate(feeding):
        for other in before:
            fed[other].append(number)
    waiting = [len(before) for before in feeding]
    ready = [number for number, count in enumerate(waiting) if count == 0]
    for number in ready:  # grows while it is walked through
        for other in fed[number]:
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.append(other)
    if len(ready) < len(nodes):
        raise InputError(
            f"The network has a loop: {len(nodes) - len(ready)} of its {len(nodes)} nodes are in or behind one. Check "
            "the wire names: an item and a pseudonym must not share a name"
        )
    return ready


def _ordered(order: Sequence[Any] | None, have: Sequence[str], what: str) -> Names:
    names = tuple(have) if order is None else tuple(str(name) for name in order)
    if len(names) != len(have) or set(names) != set(have):
        side = "input of a node that no node puts out" if what == "items" else "output of a node that no node takes in"
        raise InputError(
            f"{len(names)} {what} are named for a network with {len(have)} open wires, and "
            f"{len(set(names) & set(have))} of the names fit. Name every {side}, and nothing else"
        )
    return names


def _orders(node: Node, at_most: int) -> list[tuple[tuple[int, ...], float]]:
    """Return the input of each output, with probabilities, per order."""
    k, chances = node.size, node.chances
    if chances is None:
        if k > 20 or factorial(k) > at_most:
            raise InputError(
                f"a node of {k} inputs has too many orders to list, given the nodes before it. "
                "Measure the matrix of the network, or pass a larger number as most"
            )
        return [(order, 1 / factorial(k)) for order in permutations(range(k))]
    if k == 2:
        return [((0, 1), float(chances[0, 0])), ((1, 0), 1 - float(chances[0, 0]))]
    if not np.isin(chances, (0.0, 1.0)).all():
        raise InputError(
            f"a node of {k} inputs has probabilities of pairs, not of orders. "
            "Describe it by nodes of two inputs, or without a matrix; or measure the matrix of the network"
        )
    return [(tuple(int(row) for row in chances.argmax(axis=0)), 1.0)]
