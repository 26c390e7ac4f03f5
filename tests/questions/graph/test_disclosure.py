"""What is said of edges and values that an adversary learns: planted mappings, files, frames and bad input."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.graph_attackers import Blind, Idle, graph_made_elsewhere
from tests.graph_strategies import erdos_renyi, heavy_tail
from unveil.data.graph import Graph
from unveil.data.graph.files import write_edges
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.protections import IdRemoval
from unveil.questions.graph.answer import graph
from unveil.questions.graph.findings import GraphFindings
from unveil.questions.graph.sections.attributes import value_sentence
from unveil.questions.graph.sections.edges import edge_chart, edge_sentence
from unveil.questions.result import Result

GRAPH = heavy_tail(120, 4, 3)
PEOPLE = {"node": [str(node) for node in range(120)]}
COLOURS = ["red"] * 80 + ["blue"] * 35 + ["green"] * 5


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


class Unnumbered(IdRemoval):
    """Leaves the numbers as they are, so that an adversary of a test can be told who is who."""

    def apply(self, original: Graph, *, rng: np.random.Generator) -> Any:
        release = super().apply(original, rng=rng)
        return type(release)(original, original.called("id-removal graph"), np.arange(original.nodes))


class Knows:
    """Maps the first nodes rightly, and gives the others to one another in turn."""

    def __init__(self, right: int) -> None:
        self.right = right

    def run(self, *, released: Graph, knowledge: GraphKnowledge, **_: Any) -> Candidates:
        chosen = np.arange(released.nodes, dtype=np.int32)
        free = np.setdiff1d(chosen[self.right :], knowledge.seeds[:, 0])
        chosen[free] = np.roll(free, 1)
        return Candidates(np.arange(released.nodes + 1), chosen, np.ones(chosen.size), chosen)


def asked(attack: Any, **settings: Any) -> Result[GraphFindings]:
    told: dict[str, Any] = {"seed_pairs": 5, "edge_overlap": 0.8, "rng": rng()} | settings
    return graph(GRAPH, Unnumbered(), attack, **told)


# --- edges ------------------------------------------------------------------------------------------------------------


def test_whoever_maps_all_learns_every_edge_and_the_sentence_says_so() -> None:
    answer = asked(Knows(120))
    edges, hidden = answer.findings.edges[0], GRAPH.edges - round(0.8 * GRAPH.edges)
    assert [each.way for each in answer.findings.edges] == ["mapping"]
    assert (edges.precision.mean, edges.recall.mean) == (1.0, 1.0)
    learned = f"The matches disclose 100% of {hidden} unknown edges; 100% of {hidden} claims are correct"
    assert edge_sentence(answer.findings).startswith(learned)
    section = next(each for each in answer.page().sections if each.heading == "Edge disclosure")
    assert section.lead == edge_sentence(answer.findings)
    precision, recall = edge_chart(answer.findings).series
    assert precision.x.tolist() == [1.0, edges.by_common_neighbors, edges.by_degrees]
    assert recall.x[0] == 1.0
    assert edges.each[0].all_of == edges.each[0].people
    told = json.loads(answer.to_json())["edges"][0]
    assert (told["claims"], told["correct"], told["unknown"], told["precision"]["mean"]) == (
        hidden,
        hidden,
        hidden,
        1.0,
    )
    # Even if all of its claims are right, few claims, and such that share nodes, prove less than 100%.
    assert 0.5 < told["precision"]["low"] < 1


def test_whoever_maps_blindly_learns_nothing_and_the_sentence_says_that(approved: Approved) -> None:
    said = edge_sentence(asked(Blind(), repeats=2).findings)
    assert "better than guessing" in said
    approved(said)
    assert "better than guessing" not in edge_sentence(asked(Knows(90)).findings)


def test_nothing_to_learn_and_nothing_claimed_are_said() -> None:
    assert edge_sentence(asked(Knows(120), edge_overlap=1.0).findings).startswith("The attacker knows every edge")
    none = asked(Idle(), seed_pairs=0)
    assert edge_sentence(none.findings).startswith("The matches claim none of the")
    assert math.isnan(none.quantities["edge_disclosure_precision"].value)
    assert none.quantities["edge_disclosure_recall"].value == 0
    for answer in (none, asked(Knows(120), edge_overlap=1.0)):
        assert "nan" not in answer.to_html().split("</style>")[1].lower().replace("nano", "")


def test_a_graph_that_was_drawn_anew_discloses_no_edge_in_words() -> None:
    for method in ("dk-series-dp:epsilon=1", "hrg-dp:epsilon=1,moves_per_node=5"):
        found = graph(GRAPH, method, "mf", seed_pairs=5, rng=rng()).findings
        assert found.drawn_anew
        assert edge_sentence(found).startswith("The edges of the release are drawn from a model; none is taken from")
        assert "disclose" not in edge_sentence(found)
        # Whoever knows the method claims nothing by probabilities.
        assert [(each.way, each.mean(lambda one: one.claims)) for each in found.edges[1:]] == [("chances", 0)]


def test_repetitions_are_averaged_and_a_wide_interval_of_few_does_not_hide_what_each_shows() -> None:
    found = asked(Knows(90), repeats=2).findings
    edges = found.edges[0]
    shares = [each.precision.value for each in edges.each]
    assert edges.precision.mean == pytest.approx(np.mean(shares))
    assert edges.precision.low <= min(shares)
    assert edge_sentence(found).startswith("The matches disclose")
    assert "better than guessing" not in edge_sentence(found)


def test_edges_of_people_who_are_not_heard_of_are_not_to_be_learned() -> None:
    found = graph(GRAPH, None, "mf", seed_pairs=5, node_overlap=0.5, edge_overlap=0.5, rng=rng()).findings
    assert 0 < found.edges[0].each[0].hidden < GRAPH.edges / 4
    assert [each.way for each in found.edges] == ["mapping", "chances"]


def test_learned_probabilities_make_claims_too_and_the_share_that_is_known_is_said(approved: Approved) -> None:
    answer = graph(GRAPH, "switch:share=0.05", "kl", seed_pairs=20, calibrate="seeds", rng=rng())
    assert [each.way for each in answer.findings.edges] == ["mapping", "calibrated"]
    other = graph(GRAPH, "k-degree:k=3", "mf", seed_pairs=20, rng=rng())
    approved([answer.page().method, other.page().method])


def test_a_release_made_elsewhere_has_no_original_to_learn_from() -> None:
    answer = graph_made_elsewhere(GRAPH, GRAPH, [[0, 0]], range(120), Blind(), rng=rng())
    assert answer.findings.edges == ()
    assert "Edge disclosure" not in [each.heading for each in answer.page().sections]
    assert json.loads(answer.to_json())["edges"] == []
    assert math.isnan(answer.quantities["edge_disclosure_recall"].value)


def test_limits_can_be_set_on_what_is_learned() -> None:
    answer = asked(Knows(120), attributes=PEOPLE | {"colour": COLOURS})
    values = {name: each.value for name, each in answer.quantities.items()}
    assert values["edge_disclosure_precision"] == values["edge_disclosure_recall"] == 1
    assert values["edge_disclosure_precision_high"] == 1
    assert values["edge_disclosure_lift"] > 1
    assert values["attribute_disclosure_accuracy"] == 1
    assert values["attribute_disclosure_gain"] == answer.findings.columns[0].gain.mean


# --- values -----------------------------------------------------------------------------------------------------------


def test_values_of_whoever_is_mapped_are_learned_the_rarest_too_and_few_people_are_not_named() -> None:
    answer = asked(Knows(120), attributes=PEOPLE | {"colour": COLOURS})
    column = answer.findings.columns[0]
    assert (column.column, column.way, column.accuracy.mean) == ("colour", "mapping", 1.0)
    assert [one.label for one in column.values] == ["red", "blue", "green"]
    assert all(one.accuracy == 1 for one in column.values)
    assert value_sentence(answer.findings).startswith("The attacker correctly infers colour for 100% of the people")
    for text in (answer.to_html(), answer.to_json()):
        assert "green" not in text


def test_values_by_lot_are_not_learned_from_a_blind_mapping() -> None:
    colours = rng(5).choice(["red", "blue"], 120).tolist()
    found = asked(Blind(), attributes=PEOPLE | {"colour": colours}, repeats=3).findings
    assert abs(found.columns[0].gain.mean) < 0.15
    assert value_sentence(found).startswith("Values are not inferred beyond guessing")


def test_the_attack_is_the_same_with_and_without_values() -> None:
    bare, told = (
        graph(GRAPH, "graph-anon:k=3", "ns", seed_pairs=9, attributes=given, repeats=2, rng=rng())
        for given in (None, PEOPLE | {"colour": COLOURS})
    )
    assert [each.matches.correct for each in bare.findings.repetitions] == [
        each.matches.correct for each in told.findings.repetitions
    ]


def test_a_file_tells_the_same_as_a_frame_and_numbers_are_put_into_bands(tmp_path: Path, approved: Approved) -> None:
    ages = rng(2).integers(18, 80, 120).tolist()
    frame = pl.DataFrame(PEOPLE | {"age": ages, "colour": [*COLOURS[:-3], None, None, None]})
    frame.write_csv(tmp_path / "nodes.csv")
    write_edges(tmp_path / "edges.csv", GRAPH)
    one = graph(GRAPH, None, "mf", seed_pairs=5, attributes=frame, rng=rng()).findings
    other = graph(
        tmp_path / "edges.csv", None, "mf", seed_pairs=5, attributes=tmp_path / "nodes.csv", rng=rng()
    ).findings
    assert [(each.column, each.way, len(each.values)) for each in one.columns] == [
        ("age", "mapping", 5), ("age", "chances", 5), ("colour", "mapping", 3), ("colour", "chances", 3)
    ]  # fmt: skip
    assert [each.gain.mean for each in one.columns] == [each.gain.mean for each in other.columns]
    said = " ".join(one.notes)
    approved(said)


def test_values_of_a_release_made_elsewhere_are_those_of_released_nodes() -> None:
    order = rng(4).permutation(120)
    released = GRAPH.relabelled(order)
    colours = np.array(COLOURS)[np.argsort(order)].tolist()
    truth = np.argsort(order).copy()
    truth[order[100:]] = -2
    found = graph_made_elsewhere(
        released, GRAPH, [[int(order[0]), 0]], truth, "mf", attributes=PEOPLE | {"colour": colours}, rng=rng()
    ).findings
    # Of 99 who are not known before somebody can say whether it is right.
    assert found.columns[0].each[0].people == 99
    assert found.columns[0].accuracy.mean > 0.9


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"node": ["0", *PEOPLE["node"][:-1]]}, "row 2 has that of row 1"),
        (
            {"node": ["nobody", *PEOPLE["node"][1:]]},
            "must name nodes of the graph, which has 120, but does not in row 1",
        ),
        ({"node": [None, *PEOPLE["node"][1:]]}, "must name a node in every row"),
        ({"colour": ["red"] * 120}, "has only 1 value"),
        ({"colour": [None] * 120}, "is empty"),
        ({"colour": [f"own {node}" for node in range(120)]}, "a different value for each of its 120 nodes"),
        ({"colour": None}, "at least one attribute, but has 1 column"),
        ({"node": None}, "1 column and no node"),
    ],
)
def test_values_that_cannot_be_learned_are_refused(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    told = {name: cells for name, cells in (PEOPLE | {"colour": COLOURS} | changed).items() if cells is not None}
    pl.DataFrame(told).write_csv(tmp_path / "nodes.csv")
    for given in (told, tmp_path / "nodes.csv"):
        with pytest.raises(InputError, match=message) as caught:
            graph(GRAPH, None, "ns", attributes=given, seed_pairs=5, rng=rng())
        assert "nobody" not in str(caught.value)
        assert "own 1" not in str(caught.value)


def test_nodes_that_are_nobodys_have_no_values() -> None:
    with pytest.raises(InputError, match="no original values"):
        graph(
            erdos_renyi(30, 0.2, 1), "dk-series-dp", "ns", attributes={"node": range(30), "x": [0, 1] * 15}, rng=rng()
        )
