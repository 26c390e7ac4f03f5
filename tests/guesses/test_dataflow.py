"""Networks of randomizing nodes: the chances of the thesis's figures, of enumeration, and what is no network."""

import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.refusals import MARKER, refusal
from tests.oracles import matching_attacks as oracle
from unveil.data import samples
from unveil.guesses.dataflow import Dataflow, Node
from unveil.guesses.matching import Matching

ENTRIES = ("Flu", "Viral Fever", "Cold", "Asthma", "Tuberculosis")
TOKENS = ("u", "v", "x", "y", "z")


def node(inputs: Any, outputs: Any, chances: Any = None) -> Node:
    return Node(tuple(inputs), tuple(outputs), chances)


def network(*nodes: Node, items: Any = None, pseudonyms: Any = None) -> Dataflow:
    return Dataflow(nodes, items, pseudonyms)


FIGURE_3_1 = (
    node(["Flu", "Viral Fever", "2 to 1"], ["y", "z", "1 to 3"]),
    node(["Cold", "Asthma", "Tuberculosis"], ["u", "2 to 1", "2 to 3"]),
    node(["1 to 3", "2 to 3"], ["v", "x"]),
)
FIGURE_3_3 = (
    node(["Flu", "Viral Fever", "inner"], ["x", "y", "z"]),
    node(["Cold", "Asthma", "Tuberculosis"], ["u", "v", "inner"]),
)


def test_the_network_of_figure_3_1() -> None:
    upper = [0, 1 / 6, 1 / 6, 1 / 3, 1 / 3]
    lower = [1 / 3, 2 / 9, 2 / 9, 1 / 9, 1 / 9]
    flow = network(*FIGURE_3_1, items=ENTRIES, pseudonyms=TOKENS)
    np.testing.assert_allclose(flow.matrix, [upper, upper, lower, lower, lower], atol=1e-15)
    attack = Matching.from_dataflow(flow)
    assert attack.is_doubly_stochastic
    assert (attack.items, attack.pseudonyms, repr(flow)) == (
        ENTRIES,
        TOKENS,
        "Dataflow(3 nodes, 5 items and pseudonyms)",
    )


def test_the_network_of_figure_3_3_is_flat() -> None:
    upper = [0, 0, 1 / 3, 1 / 3, 1 / 3]
    lower = [1 / 3, 1 / 3, 1 / 9, 1 / 9, 1 / 9]
    flow = network(*FIGURE_3_3, items=ENTRIES, pseudonyms=TOKENS)
    np.testing.assert_allclose(flow.matrix, [upper, upper, lower, lower, lower], atol=1e-15)
    weights = oracle.weights(np.round(flow.matrix * 9).astype(int).tolist())
    assert len(weights) == 36  # and 84 of the 120 have probability 0
    assert sum(weights.values()) / 9**5 == pytest.approx(4 / 81)
    drawn = flow.distribution()
    assert drawn.count == 36
    np.testing.assert_allclose(drawn.probability, 1 / 36)


def test_the_embedded_network_is_figure_3_1_in_the_order_of_its_rows() -> None:
    flow = Dataflow.read(samples.path("matching_dataflow.csv"))
    assert (flow.items, flow.pseudonyms) == (ENTRIES, ("y", "z", "u", "v", "x"))
    again = network(*FIGURE_3_1, items=ENTRIES, pseudonyms=flow.pseudonyms)
    np.testing.assert_array_equal(flow.matrix, again.matrix)


@given(st.data(), st.integers(1, 5), st.integers(0, 4))
@settings(deadline=None, max_examples=22)
def test_chances_are_those_of_everything_the_nodes_can_draw(data: st.DataObject, items: int, more: int) -> None:
    names = [f"item {k}" for k in range(items)]
    free, nodes, number = list(names), [], 0
    for _ in range(more + 1):
        size = data.draw(st.integers(1, min(3, len(free))))
        taken = data.draw(st.permutations(free))[:size]
        outputs = [f"wire {number + k}" for k in range(size)]
        number += size
        free = [wire for wire in free if wire not in taken] + outputs
        nodes.append((taken, outputs))
    # An item that no node has touched is no part of the network.
    loose = [wire for wire in free if wire in names]
    if loose:
        nodes.append((loose, [f"last {k}" for k in range(len(loose))]))
    shuffled = data.draw(st.permutations(nodes))
    flow = network(*(node(*each) for each in shuffled))
    assert flow.items is not None
    assert flow.pseudonyms is not None
    chances = oracle.network(nodes, names)
    wanted = np.zeros((items, items))
    for pairs, chance in chances.items():
        for item, pseudonym in pairs:
            wanted[flow.items.index(item), flow.pseudonyms.index(pseudonym)] += float(chance)
    np.testing.assert_allclose(flow.matrix, wanted, atol=1e-12)
    drawn = flow.distribution()
    found = {
        frozenset((flow.items[row], flow.pseudonyms[column]) for row, column in enumerate(one)): chance
        for one, chance in zip(drawn.matchings.tolist(), drawn.probability.tolist(), strict=True)
    }
    assert found == pytest.approx({pairs: float(chance) for pairs, chance in chances.items()})


def test_nodes_with_chances_of_their_own() -> None:
    swap = [[0.9, 0.1], [0.1, 0.9]]
    flow = network(node(["a", "b"], ["inner", "u"], swap), node(["inner", "c"], ["v", "x"], sp.csr_array(swap)))
    assert flow.pseudonyms == ("u", "v", "x")
    np.testing.assert_allclose(flow.matrix, [[0.1, 0.81, 0.09], [0.9, 0.09, 0.01], [0, 0.1, 0.9]])
    drawn = flow.distribution()
    np.testing.assert_allclose(drawn.marginals, flow.matrix)
    np.testing.assert_allclose(drawn.probability.sum(), 1)
    cycle = network(node("abc", "xyz", np.eye(3)[[2, 0, 1]]))
    assert cycle.matrix.tolist() == np.eye(3)[[2, 0, 1]].tolist()
    assert cycle.distribution().matchings.tolist() == [[2, 0, 1]]


def test_a_network_of_separate_parts_and_of_one_wire() -> None:
    flow = network(node(["a", "b"], ["u", "v"]), node(["c"], ["w"]))
    assert flow.matrix.tolist() == [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]]
    assert network(node(["a"], ["u"])).matrix.tolist() == [[1.0]]
    assert not flow.matrix.flags.writeable


def test_a_long_chain_and_a_wide_node() -> None:
    chain = [node([f"{k}", f"new {k}"], [f"out {k}", f"{k + 1}"]) for k in range(300)]
    pseudonyms = [f"out {k}" for k in range(300)] + ["300"]
    matrix = network(*chain[::-1], items=["0"] + [f"new {k}" for k in range(300)], pseudonyms=pseudonyms).matrix
    np.testing.assert_allclose(matrix.sum(axis=0), 1)
    assert matrix[0, -1] == pytest.approx(0.5**300, abs=0)
    wide = network(node([f"e{k}" for k in range(500)], [f"t{k}" for k in range(500)]))
    np.testing.assert_allclose(wide.matrix, 1 / 500)


@pytest.mark.parametrize(
    ("inputs", "outputs", "chances", "message"),
    [
        ([], [], None, "at least one"),
        (["a"], ["u", "v"], None, "1 inputs and 2 outputs"),
        (["a", "b"], ["u", "v"], [[1]], "1 rows for 2 inputs"),
        (["a", "b"], ["u", "v"], [[1, 0], [1, 0]], "sum to 1"),
        (["a", "b"], ["u", "v"], [[0.5, 0.4], [0.5, 0.6]], "sum to 1"),
        (["a", "b"], ["u", "v"], [[2, -1], [-1, 2]], "at least 0"),
        (["a", "b"], ["u", "v"], [[1, 0]], "square"),
    ],
)
def test_what_is_no_node_is_refused(inputs: Any, outputs: Any, chances: Any, message: str) -> None:
    assert message in refusal(lambda: node(inputs, outputs, chances))


def test_a_text_is_no_list_of_wires() -> None:
    assert "one text" in refusal(lambda: Node("ab", ("u", "v")))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("nodes", "names", "message"),
    [
        ([], {}, "has no node"),
        ([node([MARKER], ["u"]), node([MARKER], ["v"])], {}, r"an input twice: in nodes 1 and 2"),
        ([node(["a", "b"], [MARKER, MARKER])], {}, "an output twice: in nodes 1 and 1"),
        ([node(["a"], ["a"])], {}, "a loop: 1 of its 1 nodes"),
        ([node(["a", "x"], ["u", "y"]), node(["y"], ["x"]), node(["b"], ["w"])], {}, "a loop: 2 of its 3"),
        ([node(["a"], ["u"])], {"items": [MARKER]}, "1 items are named for a network with 1 open wires, and 0 of"),
        (
            [node(["a", "b"], ["u", "v"])],
            {"pseudonyms": ["u", "u"]},
            "2 pseudonyms are named for a network with 2 open wires, and 1 of",
        ),
        (
            [node(["a", "b"], ["u", "v"])],
            {"pseudonyms": ["u"]},
            "1 pseudonyms are named for a network with 2 open wires, and 1 of",
        ),
    ],
)
def test_what_is_no_network_is_refused(nodes: Any, names: Any, message: str) -> None:
    assert re.search(message, refusal(lambda: network(*nodes, **names)))


def test_a_distribution_that_cannot_be_told_or_listed_is_refused() -> None:
    thirds = np.full((3, 3), 1 / 3)
    assert "probabilities of pairs, not of orders" in refusal(
        lambda: network(node("abc", "xyz", thirds)).distribution()
    )
    wide = network(node([f"e{k}" for k in range(30)], [f"t{k}" for k in range(30)]))
    assert "30 inputs" in refusal(wide.distribution)
    assert "3 inputs" in refusal(lambda: network(node("abc", "xyz")).distribution(at_most=5))


def test_too_many_entries_are_refused() -> None:
    many = node([f"e{k}" for k in range(10_001)], [f"t{k}" for k in range(10_001)])
    assert "at most 10,000 are supported" in refusal(lambda: network(many))
