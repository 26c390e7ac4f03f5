"""One attack on a graph, and its guess read in three ways: node by node, as one matching, and as a partition.

Node by node, each released node has a distribution over people (`Candidates`). But every person is one node: read as
a `Matching`, all nodes at once, the same numbers leave fewer possibilities. And if the same people are released twice,
what the adversary says about both releases puts records together that belong to one person, or not: a `Partition`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from graph_examples import BLUE, GREEN, GREY, ORANGE, acquaintances, options, save_picture, write_numbers
from numpy.typing import NDArray

from unveil.attacks.graph.narayanan_shmatikov import NarayananShmatikov
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge, GraphRelease
from unveil.guesses import Candidates, Partition
from unveil.guesses.matching import Matching
from unveil.metrics import expected_cracks, unlinkability
from unveil.protections import IdRemoval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "one_guess_three_readings"
PEOPLE, KNOWN = 100, 10
OVERLAPS = (0.6, 0.7, 0.8, 0.9, 1.0)

Integers = NDArray[np.int64]


def with_seeds(guess: Candidates, knowledge: GraphKnowledge, people: int) -> Candidates:
    """Return the guess as it is after the attack: sure of the people known before, nothing on those not attempted."""
    weight = np.zeros((guess.target_count, people))
    weight[np.repeat(np.arange(guess.target_count), guess.considered), guess.candidate] = guess.probability
    weight[knowledge.seeds[:, 0], knowledge.seeds[:, 1]] = 1.0
    return Candidates.from_matrix(weight, normalize=True)


def cracked(guess: Candidates, truth: Integers, rng: np.random.Generator) -> float:
    """Return how many people an adversary expects to crack who reads the guess as one matching of all.

    Three nodes, of which the first is Ada or Bob and the second Ada: only one matching is left.

    >>> unsure = Candidates.from_matrix([[0.5, 0.5, 0], [1, 0, 0], [0, 0, 1]])
    >>> cracked(unsure, np.array([1, 0, 2]), np.random.default_rng(1))
    3.0
    """
    matching = Matching.from_candidates(guess, unattempted="uniform")
    # Rows of a matching are people, so its truth is the node of each person.
    return float(expected_cracks(matching, np.argsort(truth), rng=rng).value)


def as_partition(claims: Sequence[Integers], people: int) -> Partition:
    """Return what the adversary puts together: each person's own record and all nodes that it takes for that person.

    ``claims`` has for each release the person that each node is taken for, -1 for nobody; such a node is alone.

    >>> as_partition([np.array([1, -1]), np.array([0, 1])], 2).codes
    array([0, 1, 1, 2, 0, 1], dtype=int32)
    """
    labels: list[Any] = list(range(people))
    for number, claim in enumerate(claims):
        labels += [(number, node) if person < 0 else person for node, person in enumerate(claim.tolist())]
    return Partition.from_labels(labels)


def claims_of(guess: Candidates, knowledge: GraphKnowledge) -> Integers:
    """Return the person that each node is taken for, those known before included; -1 for nobody."""
    chosen = np.array(guess.chosen, np.int64)
    chosen[knowledge.seeds[:, 0]] = knowledge.seeds[:, 1]
    return chosen


def same_adversary(knowledge: GraphKnowledge, other: GraphRelease) -> GraphKnowledge:
    """Return what the adversary of one release knows about another of the same people: the same edges and people."""
    node = np.argsort(other.truth)
    people = knowledge.seeds[:, 1]
    return GraphKnowledge(knowledge.auxiliary, np.column_stack([node[people], people]))


def try_once(graph: Graph, overlap: float, rng: np.random.Generator) -> dict[str, float]:
    """Return the figures of all three readings, as shares of the people, for two releases and one adversary."""
    people = graph.nodes
    releases = [IdRemoval().apply(graph, rng=rng) for _ in range(2)]
    first = draw_knowledge(releases[0], overlap=overlap, seed_pairs=KNOWN, rng=rng)
    known = [first, same_adversary(first, releases[1])]
    attack = NarayananShmatikov()
    pairs = list(zip(releases, known, strict=True))
    guesses = [attack.run(released=release.released, knowledge=each, rng=rng) for release, each in pairs]
    claims = [claims_of(guess, each) for guess, each in zip(guesses, known, strict=True)]
    truth = releases[0].truth
    full = with_seeds(guesses[0], known[0], people)
    likely = np.zeros(people)
    entry = full.entry_of(truth)
    likely[entry >= 0] = full.probability[entry[entry >= 0]]
    linked = unlinkability(as_partition(claims, people), as_partition([each.truth for each in releases], people))
    return {
        "chosen_rightly": float((claims[0] == truth).mean()),
        "expected_node_by_node": float(likely.sum() / people),
        "expected_as_matching": cracked(full, truth, rng) / people,
        "blind": 1 / people,
        "all_records_linked": float(linked.breached.mean()),
        "records_missed": float(linked.miss.mean()),
        "foreign_records": float(linked.include.mean()),
    }


def draw(rows: Sequence[dict[str, float]]) -> "Figure":
    """Return both panels: how many are cracked in each reading, and how well records of a person are put together."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    x = [100 * row["overlap"] for row in rows]
    lines = (
        ("expected_as_matching", "expected, all nodes at once (Matching)", ORANGE, "s-"),
        ("chosen_rightly", "right by the attack's own choice", BLUE, "o-"),
        ("expected_node_by_node", "expected, node by node (Candidates)", GREEN, "^-"),
        ("blind", "blind guessing", GREY, ":"),
    )
    for key, label, colour, mark in lines:
        left.plot(x, [100 * row[key] for row in rows], mark, color=colour, label=label)
    left.set(title="People cracked, in %", xlabel="edges that the adversary knows, in %", ylim=(-3, 103))
    right.plot(x, [100 * row["all_records_linked"] for row in rows], "o-", color=BLUE, label="people, all linked, in %")
    right.set(title="Three records of each person (Partition)", xlabel="edges that the adversary knows, in %")
    right.set(ylim=(-3, 103))
    beside = right.twinx()
    beside.plot(x, [row["records_missed"] for row in rows], "s--", color=ORANGE, label="records missed (right scale)")
    beside.plot(x, [row["foreign_records"] for row in rows], "^--", color=GREEN, label="foreign records (right scale)")
    beside.set(ylim=(-0.06, 2.06))
    left.legend(fontsize="small", frameon=False)
    handles = [*right.get_lines(), *beside.get_lines()]
    right.legend(
        handles, [str(line.get_label()) for line in handles], fontsize="small", frameon=False, loc="upper left"
    )
    for axes in (left, right):
        axes.grid(alpha=0.3)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Attack, read the guess in three ways, print and draw."""
    chosen = options("Read the guess of a graph attack in three ways.").parse_args(arguments)
    rows = []
    for overlap in OVERLAPS:
        rngs = np.random.default_rng([chosen.seed, round(100 * overlap)]).spawn(chosen.repeat)
        tried = [try_once(acquaintances(PEOPLE, rng), overlap, rng) for rng in rngs]
        rows.append({"overlap": overlap, **{key: float(np.mean([one[key] for one in tried])) for key in tried[0]}})
        row = rows[-1]
        print(
            f"{overlap:.0%} of the edges known: {row['chosen_rightly']:.1%} are chosen rightly. Node by node the "
            f"scores promise {row['expected_node_by_node']:.1%}, all nodes at once {row['expected_as_matching']:.1%}. "
            f"All three records are put together for {row['all_records_linked']:.1%} of the people, with "
            f"{row['foreign_records']:.2f} foreign ones on average."
        )
    write_numbers(rows, NAME, chosen.out)
    save_picture(draw(rows), NAME, chosen.out)


if __name__ == "__main__":
    main()
