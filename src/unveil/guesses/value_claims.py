"""Attribute claims about people, read off their re-identified nodes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.graph.rows import row_numbers
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.data.graph.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates
from unveil.guesses.edge_claims import certain_seeds, partners

#: The value of a node that has none, or whose value is not known.
NO_VALUE = -1


@dataclass(frozen=True, eq=False, repr=False)
class ValueClaims:
    """Claimed attribute of each person, by the release and by baseline.

    Both are :class:`Candidates` whose targets are people and whose candidates are numbers of values; the likeliest
    value is claimed, and where several are, each with equal chance. The truth of such a guess is one number of a value
    for each auxiliary node, -1 where it is not known.

    Attributes
    ----------
    people
        The auxiliary nodes that the rows are about: those in no seed pair.
    claimed
        By ``Σ P(u is v) [u has the value]`` over released nodes u; what is guessed without the release where no
        released node is taken for a person.
    own
        Without the release: the commonest value among neighbors in the auxiliary graph whose value is known by seed
        pairs, and where there is none the commonest released one.
    read
        Whether each person's claim was read off the release.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2])
    >>> guess = Candidates([0, 0, 1, 2], [1, 2], [1.0, 1.0])
    >>> found = ValueClaims.from_mapping(guess, [0, 1, 1], released=path, knowledge=GraphKnowledge(path, [[0, 0]]))
    >>> found.people, found.claimed.candidate, found.own.candidate
    (array([1, 2]), array([1, 1], dtype=int32), array([0, 1], dtype=int32))
    """

    people: IntArray
    claimed: Candidates
    own: Candidates
    read: BoolArray

    @classmethod
    def from_mapping(
        cls, guess: Candidates, values: ArrayLike, *, released: Graph, knowledge: GraphKnowledge
    ) -> "ValueClaims":
        """Return the attributes of mapped nodes; ``values`` has one per node."""
        partner = partners(guess, released, knowledge)
        row = np.flatnonzero(partner >= 0)
        return cls._made(row, partner[row], np.ones(row.size), np.asarray(values, np.int64), released, knowledge)

    @classmethod
    def from_chances(
        cls, guess: Candidates, values: ArrayLike, *, released: Graph, knowledge: GraphKnowledge
    ) -> "ValueClaims":
        """Return the most likely attributes, by a guess's probabilities.

        Where several released nodes may be a person and all have the same value, that value is learned although the
        node is not. Chances below 0.001 are left out.
        """
        start, candidate, chance = certain_seeds(guess, released, knowledge)
        row = row_numbers(start).astype(np.int64)
        return cls._made(row, candidate, chance, np.asarray(values, np.int64), released, knowledge)

    @classmethod
    def _made(
        cls,
        row: IntArray,
        person: IntArray,
        chance: FloatArray,
        values: IntArray,
        released: Graph,
        knowledge: GraphKnowledge,
    ) -> "ValueClaims":
        if values.shape != (released.nodes,) or (values < NO_VALUE).any():
            raise InputError(
                f"the values differ in number from the {released.nodes} released nodes. "
                "Pass one whole number per node, -1 for none"
            )
        nodes, many = knowledge.auxiliary.nodes, int(values.max(initial=0)) + 1
        people = np.setdiff1d(np.arange(nodes), knowledge.seeds[:, 1])
        own = _own_values(values, many, knowledge)
        has = values[row] != NO_VALUE
        claims = _summed(person[has] * many + values[row][has], chance[has])
        silent = np.ones(nodes, np.bool_)
        silent[claims[0] // many] = False
        filled = silent[own[0] // many]
        every = np.concatenate([claims[0], own[0][filled]]), np.concatenate([claims[1], own[1][filled]])
        return cls(people, _rows(*every, nodes, many, people), _rows(*own, nodes, many, people), ~silent[people])

    def __repr__(self) -> str:
        return f"ValueClaims({self.people.size} people)"


def _summed(keys: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return each key once, ascending, and the sum of its weights."""
    different, place = np.unique(keys, return_inverse=True)
    return different, np.asarray(np.bincount(place, weights, different.size), np.float64)


def _own_values(values: IntArray, many: int, knowledge: GraphKnowledge) -> tuple[IntArray, FloatArray]:
    """Return ``person * many + value`` for baseline guesses, ties shared."""
    auxiliary, nodes = knowledge.auxiliary, knowledge.auxiliary.nodes
    held = np.full(nodes, NO_VALUE)
    held[knowledge.seeds[:, 1]] = values[knowledge.seeds[:, 0]]
    near = held[auxiliary.neighbour]
    known = near != NO_VALUE
    keys, number = _summed(
        row_numbers(auxiliary.start)[known].astype(np.int64) * many + near[known], np.ones(known.sum())
    )
    most = np.zeros(nodes)
    np.maximum.at(most, keys // many, number)
    keys = keys[number == most[keys // many]]
    overall = np.bincount(values[values != NO_VALUE], minlength=many)
    common = np.flatnonzero(overall == overall.max())
    others = np.flatnonzero(most == 0)
    every = np.sort(np.concatenate([keys, np.repeat(others, common.size) * many + np.tile(common, others.size)]))
    return every, np.ones(every.size)


def _rows(keys: IntArray, weights: FloatArray, nodes: int, many: int, people: IntArray) -> Candidates:
    order = np.argsort(keys)
    keys, weights = keys[order], weights[order]
    person = keys // many
    start = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(person, minlength=nodes), out=start[1:])
    total = np.bincount(person, weights, nodes)
    return Candidates(start, (keys % many).astype(np.int32), weights / total[person]).only(people)
