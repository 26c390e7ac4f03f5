from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.refusals import refusal
from tests.graph_strategies import graphs
from tools import make_sample_graph
from unveil.data import samples
from unveil.data.graph import Graph
from unveil.data.graph.files import edges_text, read_seed_pairs, read_truth, truth_text, write_edges, write_truth
from unveil.data.graph.read import read_graph
from unveil.data.graph.release import GraphRelease

NAMED = Graph.from_edges([0, 1], [1, 2], names=["SECRET1", "SECRET2", "x, y", 'q"'], name="original graph")
RELEASED = Graph.from_edges([0, 4], [3, 1], nodes=5, name="released graph")


def make(folder: Path, text: str) -> Path:
    path = folder / "pairs.csv"
    path.write_text(text, encoding="utf-8")
    return path


@given(graph=graphs(min_nodes=1, max_nodes=8), named=st.booleans())
@settings(deadline=None, max_examples=24)
def test_a_graph_that_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, graph: Graph, named: bool
) -> None:
    if named:
        names = [f'n{node:02d}, "{node}"' for node in range(graph.nodes)]
        graph = Graph.from_keys(graph.keys, graph.nodes, names=names)
    path = write_edges(tmp_path_factory.mktemp("graph") / "released.csv", graph)
    again = read_graph(path)
    assert again.nodes == graph.nodes
    assert again.keys.tolist() == graph.keys.tolist()
    assert (again.names is None) == (graph.names is None)
    assert [again.name_of(node) for node in range(graph.nodes)] == [graph.name_of(node) for node in range(graph.nodes)]
    assert again.notes == ()


def test_what_the_files_look_like(tmp_path: Path) -> None:
    assert edges_text(NAMED) == 'source,target\nSECRET1,SECRET2\nSECRET2,"x, y"\n"q""",\n'
    release = GraphRelease(NAMED, RELEASED, np.array([2, -1, 3, 0, 1]))
    assert truth_text(release) == 'released,original\n0,"x, y"\n1,\n2,"q"""\n3,SECRET1\n4,SECRET2\n'
    assert write_truth(tmp_path / "truth.csv", release).read_text() == truth_text(release)
    assert edges_text(Graph.from_edges([], [])) == "source,target\n"


def test_a_truth_that_is_written_is_read_again(tmp_path: Path) -> None:
    release = GraphRelease(NAMED, RELEASED, np.array([2, -1, 3, 0, 1]))
    truth, notes = read_truth(write_truth(tmp_path / "t.csv", release), released=RELEASED, original=NAMED)
    assert truth.tolist() == release.truth.tolist()
    assert truth.dtype == np.int64
    assert notes == ()


def test_a_truth_may_leave_nodes_out_and_says_so(tmp_path: Path) -> None:
    path = make(tmp_path, "original,released,more\nSECRET2,0,1\n,3,1\n , 4,1\n")
    truth, notes = read_truth(path, released=RELEASED, original=NAMED)
    assert truth.tolist() == [1, -2, -2, -1, -1]
    assert notes == (
        f"2 of 5 released nodes are not in {str(path)!r}",
        f"3 of 4 original nodes have no released node in {str(path)!r}",
    )


def test_seed_pairs(tmp_path: Path) -> None:
    path = make(tmp_path, 'released,original\n4,"x, y"\n 0,SECRET1 \n')
    seeds = read_seed_pairs(path, released=RELEASED, auxiliary=NAMED)
    assert seeds.tolist() == [[4, 2], [0, 0]]
    assert seeds.dtype == np.int64


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("0,SECRET1\n7,SECRET2", ["'released'", "row 2 ", "released graph, which has 5"]),
        ("0,SECRET1\n1,SECRET3", ["'original'", "row 2 ", "original graph, which has 4"]),
        ("0,SECRET1\n,SECRET2", ["'released'", "row 2 "]),
        ("0,SECRET1\n1,SECRET2\n0,SECRET2", ["another released", "row 3 has that of row 1 "]),
        ("0,SECRET1\n1,SECRET2\n2,SECRET1", ["another original", "row 3 has that of row 1 "]),
        ("0,SECRET1\n1,SECRET2\n2, SECRET1", ["another original", "row 3 has that of row 1 "]),
        ("0,SECRET1,5", ["row 1", "3 fields"]),
        ("", ["header only"]),
    ],
)
def test_pairs_that_cannot_be_are_refused(tmp_path: Path, rows: str, words: list[str]) -> None:
    path = make(tmp_path, f"released,original\n{rows}\n")
    for message in (
        refusal(lambda: read_truth(path, released=RELEASED, original=NAMED)),
        refusal(lambda: read_seed_pairs(path, released=RELEASED, auxiliary=NAMED)),
    ):
        assert "pairs.csv" in message
        assert [word for word in words if word not in message] == []


def test_a_seed_pair_must_be_whole_and_come_once(tmp_path: Path) -> None:
    one = make(tmp_path, "released,original\n0,SECRET1\n1,\n")
    assert "'original'" in refusal(lambda: read_seed_pairs(one, released=RELEASED, auxiliary=NAMED))
    two = make(tmp_path, "released,original\n0,SECRET1\n3,SECRET2\n0,SECRET1\n")
    message = refusal(lambda: read_seed_pairs(two, released=RELEASED, auxiliary=NAMED))
    assert "another released and original, but row 3 has that of row 1 " in message
    three = make(tmp_path, "released,who\n0,SECRET1\n")
    assert "'original'" in refusal(lambda: read_truth(three, released=RELEASED, original=NAMED))


def test_the_sample_graph_is_what_its_script_generates() -> None:
    file = samples.path("generated_graph.csv")
    assert file.read_text(encoding="utf-8") == edges_text(make_sample_graph.generated())
    graph = samples.graph()
    assert (graph.nodes, graph.edges, graph.names, graph.notes) == (1000, 4622, None, ())


def test_the_script_writes_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make_sample_graph, "FILE", tmp_path / "generated_graph.csv")
    make_sample_graph.main()
    assert capsys.readouterr().out == "generated_graph.csv: 1000 nodes, 4622 edges, 36026 characters\n"
    assert (tmp_path / "generated_graph.csv").read_bytes() == samples.path("generated_graph.csv").read_bytes()


def test_the_sample_graph_has_hubs_triangles_and_nodes_without_an_edge() -> None:
    graph = samples.graph()
    degrees = graph.degrees
    assert (degrees == 0).sum() == 20
    assert degrees.max() > 10 * degrees.mean()
    matrix = graph.to_sparse()
    corners = (matrix @ matrix).multiply(matrix).sum()
    wedges = (degrees * (degrees - 1)).sum()
    chance = 2 * graph.edges / (graph.nodes * (graph.nodes - 1))
    assert corners / wedges > 10 * chance
    # Numbers tell nothing: a hub's number is as likely as any other.
    assert abs(np.corrcoef(np.arange(graph.nodes), degrees)[0, 1]) < 0.1
