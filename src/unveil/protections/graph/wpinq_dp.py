"""wPINQ: a graph fitted to noisy degrees and joint degrees."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from unveil._kernels.random import State, fresh_state
from unveil._kernels.types import FloatArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.data.ledger import Ledger, Query, check_epsilon
from unveil.errors import InputError, whole_number
from unveil.protections._listing import protection
from unveil.protections.graph._rank_pairing import PAIRED, paired_by_rank
from unveil.protections.graph._release import check_edges, check_shares, counted, graph_release
from unveil.protections.graph._wpinq_steps import (
    Scales,
    Seed,
    Walk,
    chosen_cells,
    expected_cells,
    facts_of,
    noisy_distribution,
    seed_graph,
    walked,
)
from unveil.protections.graph._wpinq_walk import (
    DEGREE_DISTRIBUTION_CHANGES,
    DEGREE_SEQUENCE_CHANGES,
    JOINT_DEGREES_CHANGE,
    MOST_CELLS,
    TRIANGLES_CHANGE,
    DegreeCells,
    cells_of,
    classes_for,
    keys_of_half_edges,
)

WeightedQuery = Literal["joint-degrees", "triangles"]

# Proposals of the walk for each edge.
_PROPOSALS = {"joint-degrees": 100, "triangles": 50}
# With fewer cells the last question says next to nothing about how degrees meet.
_LEAST_CELLS = 6
# What the last question spends if it is asked.
_QUERY_SHARE = 0.5
# The noise that the public code adds to triangles, whatever epsilon is.
_SECGRAPH_SCALE = 10.0

_PUBLIC = ("the number of nodes", "that there is an edge at all")


@protection(
    kind="synthetic",
    source='Proserpio, Goldberg and McSherry, "Calibrating data to sensitivity in private data analysis", 2014',
    aka=("WPINQ-DP", "wPINQ"),
    name="wpinq-dp",
    least_rows=2,
    needs_edges=True,
    keeps=("node count",),
)
@dataclass(frozen=True, kw_only=True)
class WpinqDP:
    """Measure degrees and joint degrees with noise, and fit a graph.

    It is differentially private for single edges: an observer of the release can hardly tell whether any one edge was
    in the original. The number of nodes counts as public. Three questions are asked, and the ledger has them: how many
    nodes have more than i neighbors, for each i; the sorted degrees; and the weights of edges by the degrees of both
    ends, or of triangles by the degrees of all three. All else is made from the noisy answers: degrees that fit both of
    the first two, a random graph with these degrees, and a walk that exchanges ends of edges, which keeps the degrees,
    to come near the third answer.

    They are asked one after the other. Where the first answer shows that weights of edges would have fewer than six
    cells, they are not asked for: the second question spends that share, the release is a random graph with noisy
    degrees, and a note says so. That choice looks at a noisy answer alone, so that it costs nothing; the ledger has
    what was asked. Weights of triangles are always asked for, as one cell of them already tells how many there are.

    Weights are those of wPINQ: an edge between degrees x and y weighs 1 / (1 + x + y), a triangle 3 / (x² + y² + z²).
    With them one edge more or less changes all answers together by less than 4, or less than 2.13 for triangles,
    however many neighbors its ends have.

    Our reading, where the source leaves it open: degrees are put in classes, as many as leave a cell eight times its
    noise (with a huge epsilon each degree is a class), because single degrees drown in noise; and the walk ends as soon
    as the graph is as near the noisy answer as the original itself would be, because what comes after fits noise.
    Laplace noise is drawn in floating point, which is known to leak a little to an observer of its last digits; only
    whole numbers of edges leave here.

    Parameters
    ----------
    epsilon
        The budget, finite and above 0: smaller is more private and less true.
    query
        "joint-degrees", or "triangles", which brings clustering and takes longer.
    iterations
        How many exchanges the walk proposes at most; 0 stays at a random graph with the fitted degrees. None proposes
        100 per edge, or 50 for triangles.
    power
        How steadily the walk goes down: a rise of the energy (the sum of all differences from the measured weights,
        each divided by the scale of its noise) is accepted with probability exp(-power * rise). 0 accepts every step,
        infinity none that goes up. Triangles weigh little, so that more than 10,000 takes them further down.
    classes
        How many classes of degrees there are; None takes as many as the noise allows. With a number the third question
        is asked, however few cells it has.
    fit_noise
        Whether the walk goes on until its last proposal, as in the source.
    distribution_share, sequence_share, query_share
        The shares of epsilon that the three questions spend, each above 0; they must add up to 1. If ``query_share`` is
        None it is one half, which goes to the second question where the third is not worth it; a number is obeyed.
    compat
        "secgraph" takes the noise of the public code of that name: degrees measured twice with noise of scale
        1 / epsilon, and weights with noise of scale 10, with each degree a class and to the last proposal; its counts
        of nodes and of repeated edges change nothing here. This is NOT differentially private at epsilon, and its
        release has no ledger. Shares and ``fit_noise`` have no part in it.

    Examples
    --------
    >>> ring = Graph.from_edges(np.arange(50), (np.arange(50) + 1) % 50)
    >>> release = WpinqDP(epsilon=2).apply(ring, rng=np.random.default_rng(1))
    >>> release.ledger.total
    2.0
    >>> exact = WpinqDP(epsilon=1e9).apply(ring, rng=np.random.default_rng(1))
    >>> int(exact.released.degrees.min()), int(exact.released.degrees.max())
    (2, 2)
    """

    epsilon: float = 1.0
    query: WeightedQuery = "joint-degrees"
    iterations: int | None = None
    power: float = 10_000.0
    classes: int | None = None
    fit_noise: bool = False
    distribution_share: float = 0.25
    sequence_share: float = 0.25
    query_share: float | None = None
    compat: Literal["secgraph"] | None = None

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_shares(self.epsilon, self._shares)
        if self.query not in get_args(WeightedQuery):
            raise InputError(f"Unknown query {self.query!r}. Use 'joint-degrees' or 'triangles'")
        if self.compat not in (None, "secgraph"):
            raise InputError(f"Unknown compat {self.compat!r}. Use 'secgraph' or nothing")
        for what, number, least in (("iterations", self.iterations, 0), ("classes", self.classes, 1)):
            if number is not None:
                whole_number(number, what, at_least=least, advice="Leave it out to have one set")
        if self.classes is not None and cells_of(self.classes, triangles=self._triangles) > MOST_CELLS:
            most = classes_for(MOST_CELLS, triangles=self._triangles)
            raise InputError(f"classes is {self.classes:,}, above the maximum of {most:,}. Take fewer")
        power = self.power
        if isinstance(power, bool) or not isinstance(power, (int, float, np.number)) or not power >= 0:
            raise InputError(f"power is {power!r}; it must be a number from 0, or infinity. Change it")

    @property
    def _triangles(self) -> bool:
        return self.query == "triangles"

    @property
    def _shares(self) -> dict[str, float]:
        return {
            "distribution_share": self.distribution_share,
            "sequence_share": self.sequence_share,
            "query_share": _QUERY_SHARE if self.query_share is None else self.query_share,
        }

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return a new graph fitted to the noisy answers."""
        check_edges(original, what="wpinq-dp")
        state = fresh_state(rng)
        asked = self._asked(original.nodes, self._shares)
        scales = Scales(asked[0].scale, asked[1].scale, asked[2].scale)
        if self.compat == "secgraph":
            scales = Scales(1 / self.epsilon, 1 / self.epsilon, _SECGRAPH_SCALE, times=2)
        above = noisy_distribution(original, scales, rng)
        notes = self._too_few_cells(above, scales.query)
        cells, way = None, None
        if notes and self.query_share is None:
            rest = {**self._shares, "sequence_share": 1 - self.distribution_share}
            asked = self._asked(original.nodes, rest)[:2]
            seed = seed_graph(original, above, scales._replace(sequence=asked[1].scale), state=state, rng=rng)
        else:
            seed = seed_graph(original, above, scales, state=state, rng=rng)
            cells = self._cells(seed, scales.query)
            way = self._walked(original, seed, cells, scales.query, state=state, rng=rng)
            asked = (*asked[:2], replace(asked[2], answers=cells.count))
        return graph_release(
            original,
            paired_by_rank(keys_of_half_edges(seed.graph), original.degrees, rng=rng),
            name="wpinq-dp",
            rng=rng,
            kind="synthetic",
            notes=(PAIRED, *notes, *self._said(seed, way)),
            facts=facts_of(seed, cells, way),
            pairing="rank",
            ledger=None if self.compat else Ledger(epsilon=self.epsilon, queries=asked, public=_PUBLIC),
        )

    def _too_few_cells(self, above: FloatArray, scale: float) -> tuple[str, ...]:
        """Return a note if the last question would have few cells."""
        if self.compat is not None or self.classes is not None or self._triangles:
            return ()
        cells, allowed = expected_cells(above, scale)
        if cells >= _LEAST_CELLS:
            return ()
        reason = (
            f"epsilon = {self.epsilon:g} is too small to measure joint degrees on a graph of this size"
            if allowed < _LEAST_CELLS
            else "the degrees are too similar to measure joint degrees"
        )
        if self.query_share is None:
            return (f"{reason}: the release is a random graph with noisy degrees",)
        few = counted(cells, "cell", "cells")
        return (f"{reason}: query_share = {self.query_share:g} of epsilon yields about {few}. Leave it out to save it",)

    def _walked(
        self,
        original: Graph,
        seed: Seed,
        cells: DegreeCells,
        scale: float,
        *,
        state: State,
        rng: np.random.Generator,
    ) -> Walk:
        """Measure the last question, and walk the graph towards it."""
        measured = cells.answer(original.start, original.neighbour) + rng.laplace(0, scale, cells.count)
        return walked(
            seed.graph,
            cells,
            measured,
            scale=scale,
            power=float(self.power),
            proposals=_PROPOSALS[self.query] * seed.edges if self.iterations is None else int(self.iterations),
            fit_noise=self.fit_noise or self.compat == "secgraph",
            state=state,
        )

    def _asked(self, nodes: int, shares: dict[str, float]) -> tuple[Query, ...]:
        """Return the three questions; the last gets its cells later."""
        what = "triangles" if self._triangles else "edges"
        changes = TRIANGLES_CHANGE if self._triangles else JOINT_DEGREES_CHANGE
        asked = (
            ("numbers of nodes above each degree", DEGREE_DISTRIBUTION_CHANGES, nodes - 1),
            ("sorted degrees", DEGREE_SEQUENCE_CHANGES, nodes),
            (f"weights of {what} by the degrees of their nodes", changes, 1),
        )
        return tuple(
            Query(
                name=name,
                mechanism="Laplace",
                sensitivity=change,
                scale=change / (self.epsilon * share),
                cost=self.epsilon * share,
                answers=answers,
            )
            for (name, change, answers), share in zip(asked, shares.values(), strict=True)
        )

    def _cells(self, seed: Seed, scale: float) -> DegreeCells:
        """Return the cells to measure, by default one per degree pair."""
        if self.compat is None:
            return chosen_cells(seed, scale, self.classes, triangles=self._triangles)
        classes = classes_for(MOST_CELLS, triangles=self._triangles) if self.classes is None else self.classes
        cells = chosen_cells(seed, scale, classes, triangles=self._triangles)
        return replace(cells, loops=True)

    def _said(self, seed: Seed, way: Walk | None) -> tuple[str, ...]:
        """Return the notes of this release."""
        said = []
        if self.compat:
            changes = TRIANGLES_CHANGE if self._triangles else JOINT_DEGREES_CHANGE
            spent = 4 * DEGREE_SEQUENCE_CHANGES * self.epsilon + changes / _SECGRAPH_SCALE
            said.append(
                f"this is NOT differentially private at epsilon = {self.epsilon:g}: the noise is that of the public "
                f"code (secgraph), and its protection corresponds to an epsilon of {spent:.3g}"
            )
        if not seed.best:
            said.append("the degrees were fitted only near the middle of their range, because the graph is large")
        if seed.lost:
            said.append(f"no simple graph has the fitted degrees: their sum was lowered by {seed.lost:,}")
        if way is not None and not way.settled:
            done = counted(way.proposals, "proposal", "proposals")
            said.append(
                f"the walk has not converged after {done}: more iterations would bring the graph closer to the noisy "
                "answers"
            )
        return tuple(said)
