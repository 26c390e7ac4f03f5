"""Validation of a mapping on held-out auxiliary edges, without the truth.

An attack lays any graph over any other, and mean field is sure of what it found even where both are of different
people. So some auxiliary edges are kept back, the attack runs without them, and each is looked up: are the released
nodes that its ends were mapped to connected? Where the mapping is correct most are; where it is not, no more than by
degrees alone.
"""

import math
from dataclasses import dataclass

import numpy as np

from unveil._figure import derived, figure
from unveil._kernels.graph.rows import among, edge_keys
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks.graph.mean_field import DEGREES_UP_TO, MeanField
from unveil.attacks.specification import GraphAttack
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.guesses.candidates import Candidates

#: The share of auxiliary edges that is kept back at a time; more would weaken the attack that is put to the test.
HELD_BACK = 0.1
#: This many edges are wanted; graphs with few edges are attacked several times, each time without others.
WANTED, MOST_TIMES = 200, 5
#: With fewer edges nothing can be said.
FEWEST = 30
#: Below this share of the edges kept back, beyond what degrees give, the mapping is not to be believed. True auxiliary
#: graphs of 40 to 60 % of the edges had 0.16 and more, graphs of others at most 0.03.
LEAST_SHARE = 0.1
# Nor where it is within this many deviations of what degrees give.
_DEVIATIONS = 2.0


@dataclass(frozen=True)
class Resemblance:
    """Number of held-out auxiliary edges, and shares on released edges.

    ``found`` is that share under the mapping of the attack, and ``by_degree`` what it would be if nothing but the
    degrees of the released nodes that they were mapped to counted.
    """

    held: int = figure("Number of held-out auxiliary edges.", name="edges_held_out")
    found: float = figure(
        "Share of them, from 0 to 1, that lie on released edges under the mapping of the attack.",
        name="on_released_edges",
    )
    by_degree: float = figure("Expected share, from 0 to 1, by degrees alone.", name="by_degree_alone")

    @derived(
        "Share explained by the mapping beyond degrees: (on_released_edges - by_degree_alone) / (1 - "
        "by_degree_alone), at most 1; about 0 for an unrelated graph."
    )
    def share(self) -> float:
        """Excess over the degree baseline, at most 1.

        It is about 0 for an unrelated graph.
        """
        return (self.found - self.by_degree) / (1 - self.by_degree) if self.by_degree < 1 else 0.0

    @derived("Whether the share is too low to rely on the attack's model.")
    def doubtful(self) -> bool:
        """Whether the mapping explains no edges that it was not made from."""
        deviation = math.sqrt(max(self.by_degree * (1 - self.by_degree), 1 / self.held) / self.held)
        return self.share < LEAST_SHARE or self.found - self.by_degree < _DEVIATIONS * deviation

    @property
    def sentence(self) -> str:
        """Warning about a doubtful mapping."""
        return (
            f"The posterior is unreliable: the auxiliary graph does not resemble the released graph. Of {self.held:,} "
            f"held-out auxiliary edges, {self.found:.0%} lie on released edges under the mapping; degrees alone give "
            f"{self.by_degree:.0%}. The graph is unrelated, shares too few edges with the release, or there are too "
            "few seed pairs."
        )


def resemblance(
    attack: GraphAttack | None, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator
) -> Resemblance | None:
    """Return the share of held-out auxiliary edges on released ones.

    Parameters
    ----------
    attack
        The attack whose mapping is put to the test; None for mean field with its usual settings, which is the
        strongest, whatever other attack is in question.
    released, knowledge
        What was attacked.
    rng
        Which edges are kept back, and what the attack draws.

    Returns
    -------
    Resemblance | None
        None where it cannot be told: fewer than 30 edges could be kept back, or no attack was given and graphs are so
        large that mean field starts from the mapping of another attack.

    Examples
    --------
    >>> near = np.arange(60)
    >>> one = Graph.from_edges(np.tile(near, 2), np.append((near + 1) % 60, (near + 7) % 60))
    >>> rng, pairs = np.random.default_rng(1), np.column_stack([np.arange(20)] * 2)
    >>> resemblance(None, released=one, knowledge=GraphKnowledge(one, pairs), rng=rng).doubtful
    False
    """
    auxiliary = knowledge.auxiliary
    held = max(1, round(HELD_BACK * auxiliary.edges))
    times = min(MOST_TIMES, -(-WANTED // held), auxiliary.edges // held if auxiliary.edges else 0)
    large = max(released.nodes, auxiliary.nodes) > DEGREES_UP_TO
    if held * times < FEWEST or released.edges == 0 or (attack is None and large):
        return None
    order, found, expected = rng.permutation(auxiliary.edges), 0, 0.0
    for time in range(times):
        back = np.sort(order[time * held : (time + 1) * held])
        shown = Graph.from_keys(np.delete(auxiliary.keys, back), auxiliary.nodes)
        guess = (MeanField() if attack is None else attack).run(
            released=released, knowledge=GraphKnowledge(shown, knowledge.seeds), rng=rng
        )
        here = _mapped(guess, knowledge)
        hits, chances = _on_edges(released, *(here[end[back]] for end in auxiliary.ends))
        found, expected = found + hits, expected + float(chances.sum())
    return Resemblance(held * times, found / (held * times), expected / (held * times))


def _mapped(guess: Candidates, knowledge: GraphKnowledge) -> IntArray:
    """Return the released node mapped to each auxiliary one, or -1."""
    here = np.full(knowledge.auxiliary.nodes, -1)
    chosen = np.full(guess.target_count, -1) if guess.chosen is None else guess.chosen
    tried = np.flatnonzero(guess.attempted & (chosen >= 0))
    here[chosen[tried]] = tried
    here[knowledge.seeds[:, 1]] = knowledge.seeds[:, 0]
    return here


def _on_edges(released: Graph, one: IntArray, other: IntArray) -> tuple[int, FloatArray]:
    """Return how many pairs are edges, and each one's degree baseline."""
    both = (one >= 0) & (other >= 0)
    one, other = one[both], other[both]
    hits = int(among(edge_keys(one, other, released.nodes), released.keys).sum())
    # As many edges between two nodes as their half-edges meet on average, and at least one with this chance.
    chance: FloatArray = -np.expm1(-released.degrees[one] * released.degrees[other] / (2 * released.edges))
    return hits, chance
