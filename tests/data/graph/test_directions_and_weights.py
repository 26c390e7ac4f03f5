"""Edges with directions or weights: seen wherever they come from, and refused until somebody says that they may go."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.data.graph.test_read_objects import FakeIgraph, FakeNetworkx
from tests.data.refusals import refusal
from tests.graph_attackers import graph_made_elsewhere
from unveil.data.graph import Graph
from unveil.data.graph.read import graph_from, read_graph
from unveil.errors import InputError
from unveil.questions.graph.answer import graph
from unveil.questions.protect_graph.answer import protect_graph
from unveil.studies.scenario import DataSet
from unveil.studies.sources import graph_of

BOTH, DIRECTIONS, WEIGHTS = ("weights", "directions"), ("directions",), ("weights",)
RING = list(range(8))
NEXT = [*range(1, 8), 0]


@pytest.mark.parametrize(
    ("text", "dropped"),
    [
        ("source,target\n1,2\n2,3\n", ()),
        ("source,target\n1,2\n2,1\n2,3\n", ()),  # nobody says that edges have directions; the notes count those of both
        ("source,target,time\n1,2,9\n2,3,9\n", ()),
        ("source,target,Weight\n1,2,9\n2,3,9\n", WEIGHTS),
        ("from\tto\tedge weight\n1\t2\t9\n2\t3\t9\n", WEIGHTS),
        ("1 2\n2 3\n", ()),
        ("1 2 7\n2 3 8\n", WEIGHTS),  # or times: nobody knows
        ("# Directed graph\n1 2\n2 3\n", DIRECTIONS),
        ("# Directed graph\n1 2\n2 1\n2 3\n3 2\n", ()),  # each goes both ways, so that nothing is lost
        ("# Undirected graph\n1 2\n2 3\n", ()),
        ("% sym unweighted\n1 2 1\n2 3 1\n", ()),
        ("% sym positive\n1 2 4\n2 3 1\n", WEIGHTS),
        ("% asym signed\n1 2 -1\n2 3 1\n", BOTH),
        ("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 .5\n2 3 1\n", BOTH),
        ("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n", ()),
    ],
)
def test_what_a_file_had_is_known(tmp_path: Path, text: str, dropped: tuple[str, ...]) -> None:
    path = tmp_path / "edges.txt"
    path.write_text(text)
    assert read_graph(path).dropped == dropped


@pytest.mark.parametrize(
    ("thing", "dropped"),
    [
        (FakeNetworkx(RING, list(zip(RING, NEXT, strict=True))), ()),
        (FakeNetworkx(RING, list(zip(RING, NEXT, strict=True)), directed=True, weight=2.0), BOTH),
        (FakeIgraph(3, [(0, 1), (1, 2)], directed=True), DIRECTIONS),
        (FakeIgraph(3, [(0, 1), (1, 2)], weight=[1.0, 3.0]), WEIGHTS),
        (sparse.coo_array(([1, 1], ([0, 1], [1, 2])), shape=(3, 3)), DIRECTIONS),
        (sparse.coo_array(([1, 1], ([0, 1], [1, 0])), shape=(3, 3)), ()),
        (sparse.coo_array(([5, 5], ([0, 1], [1, 0])), shape=(3, 3)), WEIGHTS),
        ({"source": [1, 2], "target": [2, 3], "weight": [1.0, 2.0]}, WEIGHTS),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_an_object_had_is_known_and_goes_when_told(thing: Any, dropped: tuple[str, ...]) -> None:
    found = graph_from(thing)
    assert found.dropped == dropped
    for what, setting in (("directions", "undirected"), ("weights", "unweighted")):
        allowed = {"directions": True, "weights": True, what: False}
        if what in dropped:
            with pytest.raises(
                InputError, match=f"without {what} here, but the edges of .* {what}. Drop them with --{setting} "
            ):
                found.without(**allowed)
        else:
            assert found.without(**allowed).dropped == ()
    assert found.without(directions=True, weights=True).keys.tolist() == found.keys.tolist()


def test_every_question_refuses_them_until_it_is_told(tmp_path: Path) -> None:
    one_way = FakeNetworkx(RING, list(zip(RING, NEXT, strict=True)), directed=True)
    plain, rng = Graph.from_edges(RING, NEXT), np.random.default_rng(1)
    path = tmp_path / "mail.txt"
    path.write_text("# Directed graph\n" + "".join(f"{a} {b}\n" for a, b in zip(RING, NEXT, strict=True)))
    data = DataSet("mail", "graph", str(path))
    for call in (
        lambda: graph(one_way, seed_pairs=2),
        lambda: protect_graph(one_way, "id-removal"),
        lambda: protect_graph(path, "id-removal"),
        lambda: graph_made_elsewhere(one_way, plain, 2, RING),
        lambda: graph_made_elsewhere(plain, one_way, 2, RING),
        lambda: graph_of(data),
    ):
        assert "have directions. Drop them with --undirected (in Python undirected=True" in refusal(call)
    note = "the directions of edges were dropped: 0 of 8 edges occurred in both"
    assert note in graph(one_way, seed_pairs=2, undirected=True, rng=rng).findings.notes
    assert note in protect_graph(path, "id-removal", undirected=True, rng=rng).to_json()
    assert graph_of(DataSet("mail", "graph", str(path), undirected=True)).edges == 8
