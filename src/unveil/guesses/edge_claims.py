"""Edge claims: new edges inferred from a mapped released graph."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.graph.rows import among, distinct, edge_keys, ends_of
from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.data.graph.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError, share
from unveil.guesses.candidates import NOT_ATTEMPTED, Candidates

#: Smaller chances of a released node are left out where edges are made likely: they cost much and add up to little.
LEAST_CHANCE = 1e-3
#: An edge is claimed where it is more likely than not.
CLAIMED_ABOVE = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class EdgeClaims:
    """Pairs of auxiliary nodes claimed as edges, new to the auxiliary graph.

    The truth of such a guess is the original graph under the numbers of the auxiliary one, which
    :func:`unveil.data.graph.knowledge.original_among` gives.

    Attributes
    ----------
    auxiliary
        What the attacker knew before: its edges are never claims.
    keys
        One number per claimed pair, ``smaller * nodes + larger``, ascending; read-only, as the next.
    probability
        How sure the attacker is of each; None where it has a mapping and no probabilities.

    Examples
    --------
    >>> path, edge = Graph.from_edges([0, 1], [1, 2]), Graph.from_edges([0], [1], nodes=3)
    >>> guess = Candidates([0, 1, 2, 3], [0, 1, 2], [1.0, 1.0, 1.0])
    >>> EdgeClaims.from_mapping(guess, released=path, knowledge=GraphKnowledge(edge, np.empty((0, 2)))).keys
    array([5])
    """

    auxiliary: Graph
    keys: IntArray
    probability: FloatArray | None = None

    def __post_init__(self) -> None:
        keys = np.array(self.keys, np.int64)
        if keys.ndim != 1 or (np.diff(keys) <= 0).any() or among(keys, self.auxiliary.keys).any():
            raise InputError(
                "Some claims are edges of the auxiliary graph, repeated, or not ascending by key. Make claims by "
                "from_mapping or from_chances"
            )
        one, other = np.divmod(keys, max(self.auxiliary.nodes, 1))
        if keys.size and (keys[0] < 0 or one.max() >= self.auxiliary.nodes or (one >= other).any()):
            raise InputError(
                f"Some claims are not pairs of the {self.auxiliary.nodes} auxiliary nodes, smaller number first. Make "
                "claims by from_mapping or from_chances"
            )
        keys.flags.writeable = False
        object.__setattr__(self, "keys", keys)
        if self.probability is not None:
            chance = np.array(self.probability, np.float64)
            if chance.shape != keys.shape or not ((chance >= 0) & (chance <= 1)).all():
                raise InputError(f"The number of probabilities differs from the {keys.size} claims. Pass one per claim")
            chance.flags.writeable = False
            object.__setattr__(self, "probability", chance)

    @classmethod
    def from_mapping(cls, guess: Candidates, *, released: Graph, knowledge: GraphKnowledge) -> "EdgeClaims":
        """Return the pairs whose released partners are joined, seed pairs included.

        The partner is whom the attacker settled on. Where it settled on no node in particular and several candidates
        are likeliest, there is no partner, and nothing is claimed.
        """
        auxiliary = knowledge.auxiliary
        partner = partners(guess, released, knowledge)
        return cls(auxiliary, mapped_edges(released.keys, partner, auxiliary.keys, auxiliary.nodes))

    @classmethod
    def from_chances(
        cls, guess: Candidates, *, released: Graph, knowledge: GraphKnowledge, original_share: float = 1.0
    ) -> "EdgeClaims":
        """Return pairs joined with probability above 1/2.

        The probability is ``min(1, c Σ P(u is v) P(w is x))`` over all released edges u-w, in both directions, seed
        pairs being certain; chances below 0.001 are left out. It takes both ends for independent. ``c`` is the chance
        that a released edge between two people is original although the auxiliary graph does not join them, see
        :func:`fresh_share`.

        Parameters
        ----------
        guess
            One target for each released node; its probabilities must be such, and no scores over their sum.
        released, knowledge
            What was attacked, and what the attacker knew.
        original_share
            The share of released edges that are original, as far as the attacker knows the protection.
        """
        auxiliary = knowledge.auxiliary
        fresh = fresh_share(original_share, released, auxiliary)
        if fresh == 0:
            return cls(auxiliary, np.empty(0, np.int64), np.empty(0))
        keys, expected = likely_edges(
            (released.start, released.neighbour),
            certain_seeds(guess, released, knowledge),
            (auxiliary.start, auxiliary.neighbour),
            CLAIMED_ABOVE / fresh,
        )
        return cls(auxiliary, keys, np.minimum(1.0, expected * fresh))

    def hidden(self, original: Graph) -> IntArray:
        """Return the keys of original edges that the attacker did not know."""
        if original.nodes != self.auxiliary.nodes:
            raise InputError(
                f"The original graph has {original.nodes} nodes, the auxiliary graph {self.auxiliary.nodes}. Number "
                "both the same way with unveil.data.graph.knowledge.original_among"
            )
        return original.keys[~among(original.keys, self.auxiliary.keys)]

    def __repr__(self) -> str:
        return f"EdgeClaims({self.keys.size} claims about {self.auxiliary.nodes} nodes)"


def fresh_share(original_share: float, released: Graph, auxiliary: Graph) -> float:
    """Return the share of original edges among new released edges.

    Of released edges the share κ is original, and of these the auxiliary graph has a share s, of the others none:
    ``κ (1 - s) / (1 - κ s)`` of those that it lacks are original, which is far less than κ where it has most. s is
    taken to be its edges over the released ones among as many nodes as it has, at most 1.

    >>> ring, part = Graph.from_edges(range(8), [*range(1, 8), 0]), Graph.from_edges(range(6), range(1, 7), nodes=8)
    >>> fresh_share(1.0, ring, part), round(fresh_share(0.9, ring, part), 4)
    (1.0, 0.6923)
    """
    share(original_share, "the share of original edges")
    if original_share == 1:
        return 1.0
    among_them = released.edges * min(1.0, auxiliary.nodes / max(released.nodes, 1)) ** 2
    known = min(1.0, auxiliary.edges / among_them) if among_them else 1.0
    return original_share * (1 - known) / (1 - original_share * known)


def partners(guess: Candidates, released: Graph, knowledge: GraphKnowledge) -> IntArray:
    """Return each released node's auxiliary node, -1 for none."""
    _check(guess, released, knowledge)
    found = np.full(released.nodes, NOT_ATTEMPTED, np.int64)
    if guess.chosen is not None:
        found[guess.attempted] = guess.chosen[guess.attempted]
    else:
        clear = guess.attempted & (guess.summary.ties == 1)
        row = np.repeat(np.arange(released.nodes), guess.considered)
        best = clear[row] & (guess.probability == guess.summary.largest[row])
        found[row[best]] = guess.candidate[best]
    found[knowledge.seeds[:, 0]] = knowledge.seeds[:, 1]
    return found


def certain_seeds(
    guess: Candidates, released: Graph, knowledge: GraphKnowledge
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return candidate starts, candidates, and probabilities, seeds certain.

    Tiny probabilities are left out.
    """
    _check(guess, released, knowledge)
    row = np.repeat(np.arange(released.nodes), guess.considered)
    open_rows = guess.attempted.copy()
    open_rows[knowledge.seeds[:, 0]] = False
    kept = open_rows[row] & (guess.probability >= LEAST_CHANCE)
    every = np.concatenate([row[kept], knowledge.seeds[:, 0]])
    candidate = np.concatenate([guess.candidate[kept].astype(np.int64), knowledge.seeds[:, 1]])
    chance = np.concatenate([guess.probability[kept], np.ones(len(knowledge.seeds))])
    order = np.argsort(every, kind="stable")
    start = np.zeros(released.nodes + 1, np.int64)
    np.cumsum(np.bincount(every, minlength=released.nodes), out=start[1:])
    return start, candidate[order], chance[order]


def _check(guess: Candidates, released: Graph, knowledge: GraphKnowledge) -> None:
    if guess.target_count != released.nodes:
        raise InputError(
            f"The guess has {guess.target_count} targets for {released.nodes} released nodes. "
            "Pass the guess of the attack, with the seed nodes"
        )
    if int(guess.candidate.max(initial=-1)) >= knowledge.auxiliary.nodes:
        raise InputError(
            f"Some candidates are not among the {knowledge.auxiliary.nodes} auxiliary nodes. Pass the knowledge that "
            "the attack had"
        )


# Pairs of nodes that a mapping of one graph to another claims to be joined, by the mapping alone or by its chances.


def mapped_edges(keys: IntArray, partner: IntArray, known: IntArray, nodes: int) -> IntArray:
    """Return the new edges between mapped nodes, as ascending keys.

    ``keys`` are those of the released edges, ``partner`` has the auxiliary node of each released one (-1 for none),
    ``known`` the sorted keys of the auxiliary edges, and ``nodes`` is how many auxiliary nodes there are.

    >>> mapped_edges(np.array([1, 5]), np.array([2, 0, 1]), np.array([1]), 3)
    array([2])
    """
    one, other = (partner[ends] for ends in ends_of(keys, partner.size))
    both = (one >= 0) & (other >= 0) & (one != other)
    claimed = distinct(edge_keys(one[both], other[both], nodes))
    return claimed[~among(claimed, known)]


def likely_edges(
    released: tuple[IntArray, Int32Array],
    chances: tuple[IntArray, IntArray, FloatArray],
    auxiliary: tuple[IntArray, Int32Array],
    at_least: float,
) -> tuple[IntArray, FloatArray]:
    """Return new pairs with an expected edge number above ``at_least``.

    Parameters
    ----------
    released, auxiliary
        ``start`` and ``neighbour`` of both graphs.
    chances
        ``start``, auxiliary node and chance of the entries of each released node; at most 1 in sum.
    at_least
        What the expected number of released edges between both, ``Σ P(u is v) P(w is x)`` over all released edges in
        both directions, must exceed; above 0.

    Returns
    -------
    keys, expected
        The keys of the pairs, ascending, and their expected numbers of edges.

    Examples
    --------
    >>> edge = np.array([0, 1, 2]), np.array([1, 0], np.int32)
    >>> none = np.zeros(3, np.int64), np.zeros(0, np.int32)
    >>> likely_edges(edge, (np.array([0, 1, 2]), np.array([0, 1]), np.array([0.9, 0.8])), none, 0.5)
    (array([1]), array([0.72]))
    """
    nodes = auxiliary[0].size - 1
    start, candidate, chance = chances
    order = np.argsort(candidate, kind="stable")
    row = np.repeat(np.arange(start.size - 1), np.diff(start))[order]
    by_candidate = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(candidate, minlength=nodes), out=by_candidate[1:])
    # All pairs together have at most one for each released edge, so no more of them can be above the least.
    most = int(released[1].size / 2 / at_least) + 1
    keys, expected = np.empty(most, np.int64), np.empty(most)
    found = _likely_edges(
        *released, start, candidate, chance, by_candidate, row, chance[order], *auxiliary, at_least, keys, expected
    )
    order = np.argsort(keys[:found])
    return keys[:found][order], expected[:found][order]


@kernel("const i8[], const i4[], i8[], i8[], f8[], i8[], i8[], f8[], const i8[], const i4[], f8, i8[], f8[]")
def _likely_edges(
    start: IntArray,
    neighbour: Int32Array,
    row_start: IntArray,
    candidate: IntArray,
    chance: FloatArray,
    column_start: IntArray,
    row: IntArray,
    column_chance: FloatArray,
    known_start: IntArray,
    known_neighbour: Int32Array,
    at_least: float,
    keys: IntArray,
    expected: FloatArray,
) -> int:
    nodes = column_start.size - 1
    total = np.zeros(nodes)
    touched = np.empty(nodes, np.int64)
    known_of = np.full(nodes, -1)
    found = 0
    for node in range(nodes):
        for place in range(known_start[node], known_start[node + 1]):
            known_of[known_neighbour[place]] = node
        seen = 0
        for entry in range(column_start[node], column_start[node + 1]):
            one = row[entry]
            for place in range(start[one], start[one + 1]):
                other = neighbour[place]
                for at in range(row_start[other], row_start[other + 1]):
                    partner = candidate[at]
                    if partner > node:
                        if total[partner] == 0.0:
                            touched[seen] = partner
                            seen += 1
                        total[partner] += column_chance[entry] * chance[at]
        for place in range(seen):
            partner = touched[place]
            if total[partner] > at_least and known_of[partner] != node:
                keys[found] = node * nodes + partner
                expected[found] = total[partner]
                found += 1
            total[partner] = 0.0
    return found
