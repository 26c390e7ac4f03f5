"""Mean-field matching: probabilities over all mappings between two graphs."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.graph.mean_field import Field, pair_of
from unveil._kernels.graph.sparse_field import SparseField, graphs_of, sparse_field
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.graph._guess import check_knowledge
from unveil.attacks.graph._restarts import (
    BYTES_PER_MESSAGE,
    FEWEST_NODES,
    LEAST_CHANCE,
    MEDIUM,
    SLACK,
    chosen_pairs,
    explained_share,
    learn_trust,
    message_density,
    search,
    slack_of,
    starts_of,
)
from unveil.attacks.graph.korula_lattanzi import KorulaLattanzi
from unveil.attacks.graph.needs import (
    BYTES_PER_CANDIDATE,
    BYTES_PER_NODE,
    BYTES_PER_PAIR,
    Needs,
    needs_of_all,
    needs_of_few,
)
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError, whole_number
from unveil.guesses.candidates import NOT_ATTEMPTED, Candidates

#: Graphs of more nodes have a few candidates for each node by default, and this many.
ALL_UP_TO = 4_000
FEW = 30
#: Graphs of more nodes start from the mapping of another attack: comparing all degrees would take minutes.
DEGREES_UP_TO = 30_000


@attack(
    source="Pedarsani, Figueiredo and Grossglauser (2013), a Bayesian method for matching two similar graphs without "
    "seeds; Gold and Rangarajan (1996), graduated assignment",
    aka=("MF",),
    scope="global",
    without_seeds=True,
    posterior=True,
)
@dataclass(frozen=True, kw_only=True)
class MeanField:
    """Weigh all mappings at once by the edges that they preserve.

    If pairs of nodes are edges in both graphs, in one or in none independently of one another, a mapping is the more
    likely the more edges are common. The attack computes for each released node the chance of each auxiliary one in the
    mean field of all mappings: in proportion to ``exp(ratio * expected common edges + what degrees say)``, with rows
    and columns that sum to 1. Seed pairs are certain from the start; none is needed.

    Graphs of at least 50 nodes to match start from features of each node's surroundings: neighbors' degrees, triangles,
    core numbers, walks, nodes within a few steps. How far both graphs differ in them is learned on thinned copies of
    the release. Several starts are tried; the solution with the best free energy is kept. Smaller graphs start from
    degrees, and let common edges count little at first.

    Between sparse graphs with as many nodes, neighbors pass messages instead (belief propagation): each says what it
    knows without the node that it tells, so that two nodes in a wrong place do not confirm each other. The share of
    common edges is learned on the way. The same is done where no two starts agree on graphs of a mean degree of about
    5. Chances are relied on if messages settle.

    Otherwise, if no two starts lead to the same solution, its chances are not to be relied on. The attacker then
    attacks a copy of the release in the same way, sees how often such choices are right there, and states that; what it
    takes from a choice lies elsewhere. So a failed attack states chances near 0.

    The mapping is the one with the largest product of chances, ties at random. The guess holds the chances
    themselves, which are probabilities; those below 0.0001 are left out and shared in proportion among the others, or,
    where candidates are few, lie elsewhere with those of nodes that are no candidates, which weigh what degrees say.

    Parameters
    ----------
    candidates
        How many auxiliary nodes are kept for each released one, or "all"; then it takes 64 bytes for each pair of
        nodes. "auto" keeps all in graphs of up to 4,000 nodes and 30 in larger ones. With a number the likeliest pair
        is mapped first. Above 30,000 nodes it then starts from the mapping of korula-lattanzi, and needs seed pairs.
    slack
        The log weight of being no node, next to which a pair without common edges and of equal degree weighs 0. A node
        that is more likely no node than whom it was mapped to is not attempted. None stands for no such weight where
        all candidates are kept and both graphs have as many nodes, and else for -8; where the release has more nodes,
        that weight is changed until as many of them are expected to be no node as it has more.
    memory
        How many GB it may take; what would take more is refused before it begins.
    restarts
        How many starts are tried at most; it ends earlier where two agree, or messages settle. Starts from features
        differ in the share of edges that both graphs are taken to have in common; messages start from features or from
        even chances.
    start
        "features", or "degrees" for one start from the degrees alone, whose chances are not checked. With a number of
        candidates it is always the latter.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 5, 0, 0], [1, 2, 3, 4, 5, 0, 2, 6])
    >>> nobody_known = GraphKnowledge(ring, np.empty((0, 2), int))
    >>> MeanField().run(released=ring, knowledge=nobody_known, rng=np.random.default_rng(1)).chosen
    array([0, 1, 2, 3, 4, 5, 6], dtype=int32)
    """

    candidates: int | Literal["auto", "all"] = "auto"
    slack: float | None = None
    memory: float = 2.0
    restarts: int = 2
    start: Literal["features", "degrees"] = "features"

    def __post_init__(self) -> None:
        if self.candidates not in ("auto", "all"):
            whole_number(self.candidates, "candidates", advice="Write all to keep every candidate")
        whole_number(self.restarts, "restarts")
        if self.start not in ("features", "degrees"):
            raise InputError(
                f"start is {self.start!r}; it must be features or degrees. Write features, or leave it out"
            )
        if self.slack is not None and not _is_finite(self.slack):
            raise InputError(f"slack is {self.slack!r}; it must be a finite number. Write -8, or leave it out")
        if not _is_finite(self.memory) or self.memory <= 0:
            raise InputError(f"memory is {self.memory!r}; it must be a number of GB above 0. Write 2 for 2 GB")

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        """Return each released node's candidate probabilities; ``rng`` breaks ties."""
        check_knowledge(released, knowledge, attack="mean-field", needs_seeds=False)
        if self._keeps_all(released, knowledge):
            return self._all(released, knowledge, rng)
        largest = max(released.nodes, knowledge.auxiliary.nodes)
        width = FEW if isinstance(self.candidates, str) else int(self.candidates)
        mapping = None
        if largest > DEGREES_UP_TO:
            if len(knowledge.seeds) == 0:
                raise InputError(
                    f"above {DEGREES_UP_TO:,} nodes mean-field starts from the mapping of korula-lattanzi, which needs "
                    f"seed pairs. There are none, and a graph has {largest:,} nodes. Give some, or attack a part"
                )
            mapping = KorulaLattanzi().run(released=released, knowledge=knowledge, rng=rng).chosen
        return run_sparse(released, knowledge, width, self.slack, self.memory, mapping, rng)

    def needs(self, released: Graph, knowledge: GraphKnowledge) -> Needs:
        """Return the estimated cost of a run, by graph sizes."""
        if self._keeps_all(released, knowledge):
            return needs_of_all(released.nodes, knowledge.auxiliary.nodes)
        largest = max(released.nodes, knowledge.auxiliary.nodes)
        width = FEW if isinstance(self.candidates, str) else int(self.candidates)
        return needs_of_few(released, knowledge.auxiliary, width, by_degree=largest <= DEGREES_UP_TO)

    def doubt(self, guess: Candidates, released: Graph, knowledge: GraphKnowledge) -> str | None:
        """Return a warning if the guess of this attack comes from starts that do not agree."""
        if not self._keeps_all(released, knowledge) or guess.elsewhere is None:
            return None
        return (
            "No two starts of mean-field led to the same solution. Its probabilities are the success rates of such "
            "matches in an attack on a copy of the release."
        )

    def _keeps_all(self, released: Graph, knowledge: GraphKnowledge) -> bool:
        """Return whether all candidates of each node are kept."""
        largest = max(released.nodes, knowledge.auxiliary.nodes)
        return self.candidates == "all" or (self.candidates == "auto" and largest <= ALL_UP_TO)

    def _all(self, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        # In random order: rounding, and the assignment, then tell nothing by where a node stands.
        rows = rng.permutation(knowledge.targets(released))
        columns = rng.permutation(np.setdiff1d(np.arange(knowledge.auxiliary.nodes), knowledge.seeds[:, 1]))
        density = message_density(released, knowledge.auxiliary) if self.start == "features" else np.inf
        per_pair = BYTES_PER_PAIR + (BYTES_PER_MESSAGE * density if density <= MEDIUM else 0)
        check_memory(
            rows.size * columns.size * per_pair,
            self.memory,
            f"comparing {rows.size:,} with {columns.size:,} nodes",
            f"Set candidates={FEW}, or raise memory",
        )
        if rows.size == 0 or columns.size == 0:
            return nobody_attempted(released)
        slack, absent = slack_of(rows.size, columns.size, self.slack)
        auxiliary = knowledge.auxiliary
        pair = pair_of(released.to_sparse(), auxiliary.to_sparse(), knowledge.seeds, rows, columns)
        starts = starts_of(self.start if min(rows.size, columns.size) >= FEWEST_NODES else "degrees", self.restarts)
        nodes, seeds = (rows, columns), knowledge.seeds
        found = search(released, auxiliary, pair, nodes, starts, seeds=seeds, slack=slack, absent=absent, rng=rng)
        if found.converged or not found.others:
            return guess_of_field(found.field, rows, columns, released.nodes)
        row, column = chosen_pairs(found.field)
        overlap = explained_share(found, pair, row, column)
        trust = learn_trust(released, auxiliary, seeds, found, overlap, starts, rng)
        sure = np.zeros(rows.size)
        sure[row] = trust.chance(found, row, column, auxiliary.degrees[columns[column]])
        return guess_of_field(found.field, rows, columns, released.nodes, sure, trust.listed)


def run_sparse(
    released: Graph,
    knowledge: GraphKnowledge,
    width: int,
    slack: float | None,
    memory: float,
    mapping: IntArray | Int32Array | None,
    rng: np.random.Generator,
) -> Candidates:
    """Return the guess with ``width`` candidates per released node.

    It starts from degrees or from a mapping.
    """
    auxiliary = knowledge.auxiliary
    width = min(width, auxiliary.nodes)
    # Only where candidates are chosen by degree is each node compared with all others, a part of them at a time.
    of_choosing = max(released.nodes, auxiliary.nodes) * BYTES_PER_NODE if mapping is None else 0
    check_memory(
        width * released.nodes * BYTES_PER_CANDIDATE + of_choosing,
        memory,
        f"keeping {width:,} candidates for each of {released.nodes:,} nodes",
        "Lower candidates, or raise memory",
    )
    if len(knowledge.seeds) == min(released.nodes, auxiliary.nodes):
        return nobody_attempted(released)
    # Random numbers: where nodes are alike, the first ones would be kept.
    number, other_number = rng.permutation(released.nodes), rng.permutation(auxiliary.nodes)
    here, there = released.relabelled(number), auxiliary.relabelled(other_number)
    seeds = np.column_stack([number[knowledge.seeds[:, 0]], other_number[knowledge.seeds[:, 1]]])
    graphs = graphs_of(here.start, here.neighbour, there.start, there.neighbour, seeds)
    renumbered = None
    if mapping is not None:
        renumbered = np.full(released.nodes, NOT_ATTEMPTED, np.int64)
        renumbered[number] = np.where(mapping >= 0, other_number[mapping], NOT_ATTEMPTED)
    absent = max(released.nodes - auxiliary.nodes, 0) if slack is None else 0
    field = sparse_field(graphs, width, slack=SLACK if slack is None else slack, mapping=renumbered, absent=absent)
    rows, columns = np.argsort(number), np.argsort(other_number)
    return guess_of_sparse_field(field, graphs.partner < 0, ~graphs.taken, rows, columns, rng)


def nobody_attempted(released: Graph) -> Candidates:
    """Return the empty guess: no node is left, or no candidate."""
    nothing = np.zeros(0)
    chosen = np.full(released.nodes, NOT_ATTEMPTED, np.int32)
    return Candidates(np.zeros(released.nodes + 1, np.int64), nothing.astype(np.int32), nothing, chosen)


def check_memory(needed: float, memory: float, what: str, advice: str) -> None:
    """Raise an error before a run exceeds the memory limit (GB)."""
    if needed > memory * 1e9:
        raise InputError(
            f"mean-field needs about {needed / 1e9:.3g} GB for {what}, above memory={memory:g} GB. {advice}"
        )


def _is_finite(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


# The guess that a mean field leaves: the likely pairs, and a mapping in which no node is taken twice.


def guess_of_field(
    field: Field,
    rows: IntArray,
    columns: IntArray,
    nodes: int,
    sure: FloatArray | None = None,
    listed: float = 1.0,
) -> Candidates:
    """Return the guess of a full matrix, given its randomly ordered nodes.

    The mapping has the largest product of chances; a row that is more likely no node than whom it was mapped to is not
    attempted. With ``sure``, the chance of each row's choice, the others have the share ``listed`` of what that leaves,
    but none has more than the choice; the rest lies elsewhere.
    """
    one, other = chosen_pairs(field)
    chosen = np.full(nodes, NOT_ATTEMPTED, np.int64)
    chosen[rows[one]] = columns[other]
    kept = np.zeros(field.chances.shape, np.bool_)
    kept[one] = field.chances[one] >= np.minimum(LEAST_CHANCE, field.chances[one].max(axis=1))[:, None]
    kept[one, other] = True
    row, column = np.nonzero(kept)
    likely = field.chances[kept].astype(np.float64)
    if sure is None:
        return _guess(rows[row], columns[column], likely, chosen)
    choice = np.full(rows.size, NOT_ATTEMPTED)
    choice[one] = other
    is_choice = choice[row] == column
    total, largest = np.bincount(row, np.where(is_choice, 0, likely), rows.size), np.zeros(rows.size)
    np.maximum.at(largest, row[~is_choice], likely[~is_choice])
    scale = np.minimum((1 - sure) * listed / np.maximum(total, 1e-300), sure / np.maximum(largest, 1e-300))
    likely = np.where(is_choice, sure[row], likely * scale[row])
    away = np.zeros(nodes)
    away[rows] = 1 - np.bincount(row, likely, rows.size)
    return _guess(rows[row], columns[column], likely, chosen, away, np.sort(columns))


def guess_of_sparse_field(
    field: SparseField,
    free: BoolArray,
    free_columns: BoolArray,
    rows: IntArray,
    columns: IntArray,
    rng: np.random.Generator,
) -> Candidates:
    """Return the guess of a sparse matrix, most likely pairs first.

    ``free`` rows and columns are not known, ``rows`` and ``columns`` are the numbers that the nodes have outside. What
    chances leave to candidates that were not kept lies elsewhere, evenly on all of them.
    """
    row, place = np.nonzero((field.candidate >= 0) & free[:, None])
    column, chance = field.candidate[row, place], field.chance[row, place]
    order = np.lexsort((rng.permutation(row.size), -chance))
    order = order[chance[order] >= field.nobody[row[order]]]
    partner, taken = np.full(rows.size, NOT_ATTEMPTED, np.int64), np.zeros(columns.size, np.bool_)
    _map_in_order(row[order], column[order], partner, taken)
    likeliest = np.zeros(rows.size)
    np.maximum.at(likeliest, row, chance)
    kept = (chance >= np.minimum(LEAST_CHANCE, likeliest[row])) | (partner[row] == column)
    kept &= partner[row] >= 0
    chosen, away = np.full(rows.size, NOT_ATTEMPTED, np.int64), np.zeros(rows.size)
    chosen[rows] = np.where(partner >= 0, columns[partner], NOT_ATTEMPTED)
    row, column, chance = row[kept], column[kept], chance[kept]
    away[rows] = 1 - field.nobody - np.bincount(row, chance, rows.size)
    return _guess(rows[row], columns[column], chance, chosen, away, np.sort(columns[free_columns]))


@kernel("i8[], i8[], i8[], b1[]")
def _map_in_order(row: IntArray, column: IntArray, partner: IntArray, taken: BoolArray) -> None:
    for place in range(row.size):
        if partner[row[place]] < 0 and not taken[column[place]]:
            partner[row[place]] = column[place]
            taken[column[place]] = True


def _guess(
    row: IntArray,
    column: IntArray,
    chance: FloatArray,
    chosen: IntArray,
    away: FloatArray | None = None,
    pool: IntArray | None = None,
) -> Candidates:
    """Return the guess with these candidates and remaining mass ``away`` per row.

    What is left to 1 is shared in proportion, since that is no node, or was left out.
    """
    order = np.lexsort((column, row))
    row, column, chance = row[order], column[order], chance[order]
    start = np.zeros(chosen.size + 1, np.int64)
    listed = np.bincount(row, minlength=chosen.size)
    np.cumsum(listed, out=start[1:])
    total = np.bincount(row, chance, chosen.size)
    elsewhere = None
    if away is not None and pool is not None:
        elsewhere = np.where((listed > 0) & (listed < pool.size), np.maximum(away, 0.0), 0.0)
        total = total + elsewhere
        elsewhere /= np.where(total > 0, total, 1.0)
    probability = chance / np.where(total > 0, total, 1.0)[row]
    return Candidates(
        start,
        column.astype(np.int32),
        probability,
        chosen.astype(np.int32),
        elsewhere=elsewhere,
        pool=None if pool is None else pool.astype(np.int32),
    )
