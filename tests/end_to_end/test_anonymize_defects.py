"""What must hold of ``unveil protect-graph`` beyond its own tests: each once failed, or nearly did."""

import csv
import os
import re
from pathlib import Path

import numpy as np
import pytest

from tests.approved.sentences import Approved
from tests.end_to_end.commands import MARKER, Command
from tests.graph_strategies import heavy_tail
from unveil._kernels._compile import compiled
from unveil.data.graph import Graph
from unveil.data.graph.files import write_edges
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.read import read_graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import InputError
from unveil.protections import graph_protection_from

COMMAND = Command("protect-graph")
ask, answer = COMMAND.ask, COMMAND.answer


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a sparse and a dense graph."""
    monkeypatch.chdir(tmp_path)
    write_edges("edges.csv", heavy_tail(60, 3, 1))
    write_edges("dense.csv", heavy_tail(30, 12, 1))
    return tmp_path


def named_pairs(graph: Graph) -> set[frozenset[str]]:
    """Return the edges by the names of their ends."""
    one, other = (ends.tolist() for ends in graph.ends)
    return {frozenset((graph.name_of(a), graph.name_of(b))) for a, b in zip(one, other, strict=True)}


# Privacy of what is released


def test_whoever_knows_the_program_and_the_names_cannot_undo_the_release() -> None:
    """Who reads the source knows every default: a release made without a secret must not be undone with one."""
    assert ask("edges.csv", "--protect", "id-removal", "--out", "r.csv", "--truth", "t.csv", "--quiet").exit_code == 0
    with Path("t.csv").open() as file:
        truth = [int(row["original"]) for row in csv.DictReader(file)]
    guessed = np.argsort(np.random.default_rng(0).permutation(len(truth)))
    assert sum(np.array(truth) == guessed) < len(truth) / 2


@pytest.mark.parametrize("protect", ["id-removal", "k-degree:k=2", "dk-series-dp:compat=secgraph"])
def test_a_limit_on_epsilon_is_not_kept_by_a_release_that_has_none(protect: str) -> None:
    run = ask("edges.csv", "--protect", protect, "--limit", "epsilon=1", "--quiet")
    assert run.exit_code == 3
    assert "epsilon" in run.stderr


def test_a_private_release_says_all_that_it_takes_as_public(approved: Approved) -> None:
    """A graph without an edge is refused, so each release gives away that there is one."""
    for protect in ("dk-series-dp", "hrg-dp:moves_per_node=100"):
        approved(answer("edges.csv", "--protect", protect)["ledger"]["public"])


@pytest.mark.parametrize("text", ["user1,{0}\nuser2,{0}\n", "node1,{0}\nnode2,{0}\n", "to,{0}\nab,{0}\n"])
def test_a_first_row_of_data_is_not_printed(text: str) -> None:
    Path("names.csv").write_text(text.format(MARKER))
    run = ask("names.csv", "--protect", "id-removal")
    assert MARKER not in run.output + run.stderr


# Reading: never another graph than the one in the file


@pytest.mark.parametrize(
    "text",
    [
        "Id Source Target\n1 10 20\n2 20 30\n3 30 10\n",
        "Id\tSource\tTarget\tWeight\n1\t10\t20\t5\n2\t20\t30\t5\n3\t30\t10\t5\n",
        "weight source target\n5 10 20\n6 20 30\n7 30 10\n",
    ],
)
def test_the_columns_that_a_header_names_are_the_ends(text: str) -> None:
    Path("graph.txt").write_text(text)
    try:
        graph = read_graph("graph.txt")
    except InputError:
        return
    assert named_pairs(graph) == {frozenset(pair) for pair in (("10", "20"), ("20", "30"), ("30", "10"))}


@pytest.mark.parametrize("between", [",", " ", "\t"])
@pytest.mark.parametrize("word", ["user", "node", "person"])
def test_an_edge_between_nodes_with_usual_names_is_no_header(between: str, word: str) -> None:
    """A header that names a node of the rows below it is an edge, or not to be told from one."""
    pairs = [(1, 2), (2, 3), (3, 1)]
    Path("graph.txt").write_text("".join(f"{word}{a}{between}{word}{b}\n" for a, b in pairs))
    try:
        graph = read_graph("graph.txt")
    except InputError:
        return
    assert named_pairs(graph) == {frozenset((f"{word}{a}", f"{word}{b}")) for a, b in pairs}


def test_words_above_columns_of_numbers_are_not_silently_nodes() -> None:
    Path("graph.txt").write_text("personA personB\n1 2\n2 3\n3 1\n")
    try:
        graph = read_graph("graph.txt")
    except InputError:
        return
    assert graph.notes or graph.nodes == 3


def test_lines_that_end_with_a_carriage_return_alone_are_no_weights() -> None:
    Path("graph.txt").write_bytes(b"1 2\r2 3\r")
    try:
        graph = read_graph("graph.txt")
    except InputError:
        return
    assert graph.edges == 2


def test_the_overlap_is_taken_as_it_is_written() -> None:
    """0.29 of 50 edges are 14.5, which is 15 by the formula, though 0.29 * 50 is less in floating point."""
    ring = Graph.from_edges(range(50), [*range(1, 50), 0])
    release = GraphRelease(ring, ring, np.arange(50))
    knowledge = draw_knowledge(release, overlap=0.29, seed_pairs=0, rng=np.random.default_rng(1))
    assert knowledge.auxiliary.edges == 15


# What is written, and where


def test_a_release_whose_truth_cannot_be_written_is_not_left_behind() -> None:
    run = ask("edges.csv", "--protect", "id-removal", "--out", "released.csv", "--truth", "/dev/full", "--quiet")
    assert run.exit_code == 2
    assert not Path("released.csv").exists() or "Nothing was changed" not in run.stderr


def test_a_release_can_be_written_to_a_pipe() -> None:
    reading, writing = os.pipe()
    try:
        run = ask("edges.csv", "--protect", "id-removal", "--out", f"/dev/fd/{writing}", "--quiet")
    finally:
        os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    assert (run.exit_code, run.stderr) == (0, "")
    assert text.startswith("source,target\n")
    assert len(text.splitlines()) == 1 + heavy_tail(60, 3, 1).edges


def test_loops_are_compiled_where_no_folder_for_them_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without a home, and a package that root installed: nothing is cached, but all works."""
    from numba.core.caching import CompileResultCacheImpl

    def twice(number: int) -> int:
        return 2 * number

    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])
    assert compiled(twice)(21) == 42


# What the report says


def page_of(*arguments: str) -> str:
    """Return the page of an answer, as text without marks."""
    run = ask(*arguments, "--html", "report.html", "--quiet")
    assert (run.exit_code, run.stderr) == (0, "")
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", Path("report.html").read_text()))


def test_the_questions_of_the_ledger_are_not_cut() -> None:
    page = page_of("edges.csv", "--protect", "dk-series-dp")
    for query in answer("edges.csv", "--protect", "dk-series-dp")["ledger"]["queries"]:
        assert query["name"] in page


def test_the_page_does_not_say_that_nothing_else_was_looked_at() -> None:
    """Its own figures compare the release with the original, and no noise covers them."""
    assert "Nothing else was looked at." not in page_of("edges.csv", "--protect", "hrg-dp:moves_per_node=100")


def test_nobody_is_found_in_nodes_that_are_nobodys() -> None:
    page = page_of("edges.csv", "--protect", "dk-series-dp")
    assert "These nodes are found by their number of neighbours alone" not in page
    assert "A connection that stays can be found by whoever knows it" not in page


@pytest.mark.parametrize(("protect", "setting"), [("k-degree", "k=5"), ("hrg-dp:moves_per_node=100", "epsilon=1")])
def test_the_page_states_settings_that_were_left_at_their_default(protect: str, setting: str) -> None:
    assert setting in page_of("edges.csv", "--protect", protect).replace(" = ", "=").replace("1.0", "1")


_ONE = re.compile(r"\b(?<![,.\d])1 (edges|nodes|moves|switches|hubs|pseudo nodes)\b|\ball 1 edge\b|the 1 edge are")


@pytest.mark.parametrize(
    ("graph", "protect"),
    [
        (Graph.from_edges([0], [1]), "id-removal"),
        (Graph.from_edges([0], [1]), "hrg-dp"),
        (Graph.from_edges([0], [1], nodes=5), "switch"),
        (Graph.from_edges([0], [1], nodes=5), "switch:share=1"),
        (Graph.from_edges([0, 1], [1, 2]), "hrg-dp:moves_per_node=1"),
        (Graph.from_edges(*np.triu_indices(12, 2)), "graph-anon:k=5,hide_new=no"),
        (Graph.from_edges([], [], nodes=1), "switch"),
    ],
)
def test_one_is_not_many(graph: Graph, protect: str) -> None:
    write_edges("small.csv", graph)
    run = ask("small.csv", "--protect", protect)
    found = _ONE.search(run.output + run.stderr)
    assert found is None, found


def test_a_refusal_does_not_blame_what_is_not_the_case() -> None:
    """In a star nearly all pairs are left to connect."""
    star = Graph.from_edges([0] * 12, range(1, 13))
    with pytest.raises(InputError) as refused:
        graph_protection_from("k-degree:k=3,attempts=1").apply(star, rng=np.random.default_rng(0))
    assert "too few pairs are left" not in str(refused.value)
