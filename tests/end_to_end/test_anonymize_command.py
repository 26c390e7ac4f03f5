"""``unveil protect-graph`` from a file of edges to what a person or a machine reads, and every kind of bad input."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from tests.end_to_end.commands import MARKER, Command
from tests.graph_strategies import heavy_tail
from unveil.data.graph.files import read_truth, write_edges
from unveil.data.graph.read import read_graph
from unveil.protections import PROTECTIONS

COMMAND = Command("protect-graph")
ask, answer, refuse = COMMAND.ask, COMMAND.answer, COMMAND.refuse
ON_GRAPHS = [name for name, one in PROTECTIONS.items() if one.on == "graph"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a graph whose nodes have private names; two of them have no edge."""
    monkeypatch.chdir(tmp_path)
    write_edges("numbers.csv", heavy_tail(60, 3, 1))
    one, other = heavy_tail(60, 3, 1).ends
    lines = [f"{MARKER}{a},{MARKER}{b}" for a, b in zip(one.tolist(), other.tolist(), strict=True)]
    Path("edges.csv").write_text("\n".join(["source,target", *lines, f"{MARKER}60,", f"{MARKER}61,"]) + "\n")
    return tmp_path


def test_json_has_the_promised_fields() -> None:
    found = answer("edges.csv", "--protect", "switch:share=0.1", "--seed", "4")
    edges = heavy_tail(60, 3, 1).edges
    switches = int(0.1 * edges)
    assert (found["schema"], found["protect"], found["seed"]) == ("unveil.protect-graph/2", "switch:share=0.1", 4)
    assert found["graph"] == found["released"] == {"nodes": 62, "edges": edges}
    assert found["changed"] == {
        "added": 2 * switches,
        "removed": 2 * switches,
        "kept": edges - 2 * switches,
        "pseudo_nodes": 0,
    }
    assert found["utility"]["edge_difference"]["value"] == pytest.approx(2 * switches / edges)
    assert found["utility"]["degree_distance"]["value"] == 0
    assert (found["kind"], found["pairing"], found["ledger"], found["limits"]) == ("masked", "node", None, [])


@pytest.mark.parametrize("name", ON_GRAPHS)
def test_every_protection_can_be_asked_for(name: str) -> None:
    found = answer("numbers.csv", "--protect", name)
    assert found["protect"] == name
    assert found["graph"]["nodes"] == 60
    assert found["released"]["nodes"] == 60 + found["changed"]["pseudo_nodes"]
    assert found["released"]["edges"] == found["changed"]["kept"] + found["changed"]["added"]
    assert found["graph"]["edges"] == found["changed"]["kept"] + found["changed"]["removed"]
    if found["ledger"] is not None:
        assert found["ledger"]["total"] <= found["ledger"]["epsilon"] * (1 + 1e-9)
        assert found["ledger"]["queries"]


def test_the_release_and_the_truth_can_be_read_back() -> None:
    run = ask("edges.csv", "--protect", "graph-anon:k=4", "--out", "released.csv", "--truth", "truth.csv")
    assert (run.exit_code, run.stderr) == (0, "")
    released, original = read_graph("released.csv"), read_graph("edges.csv")
    truth, notes = read_truth("truth.csv", released=released, original=original)
    assert notes == ()
    assert sorted(truth[truth >= 0].tolist()) == list(range(62))
    real = truth >= 0
    one, other = released.ends
    inside = real[one] & real[other]
    pairs = {frozenset(pair) for pair in zip(truth[one[inside]].tolist(), truth[other[inside]].tolist(), strict=True)}
    assert pairs == {frozenset(pair) for pair in zip(*map(np.ndarray.tolist, original.ends), strict=True)}
    assert np.bincount(released.degrees)[np.unique(released.degrees)].min() >= 4
    assert MARKER not in Path("released.csv").read_text()
    assert MARKER not in run.stdout


def test_a_person_reads_what_changed_and_what_was_lost() -> None:
    run = ask("edges.csv", "--protect", "k-symmetry:k=2", "--html", "report.html")
    assert run.exit_code == 0
    assert "nodes with a unique degree" in run.stdout.splitlines()[0]
    for words in ("Nodes that stand for no original node", "shares its degree", "Utility loss", "The report is in"):
        assert words in run.stdout
    assert len(run.stdout.splitlines()) <= 20
    page = Path("report.html").read_text()
    assert MARKER not in page
    assert "Degree distribution" in page


def test_the_report_of_a_private_release_shows_the_ledger() -> None:
    run = ask("numbers.csv", "--protect", "dk-series-dp:epsilon=2", "--html", "report.html")
    assert run.exit_code == 0
    assert "2 of ε = 2 spent" in run.stdout
    page = Path("report.html").read_text()
    assert "Privacy budget" in page
    assert "number of edges" in page


def test_without_a_file_the_generated_graph_is_used() -> None:
    words = ("--protect", "id-removal", "--seed", "1")
    assert answer(*words) == answer("--sample", *words)
    run = ask("--protect", "id-removal")
    assert run.stdout.startswith("Built-in example: a generated graph")


def test_limits_are_watched() -> None:
    run = ask("numbers.csv", "--protect", "switch:share=0.2", "--limit", "edge_difference=0.1", "--quiet")
    assert (run.exit_code, run.stdout) == (3, "")
    assert "fail: edge_difference" in run.stderr
    assert ask("numbers.csv", "--protect", "id-removal", "--limit", "smallest_degree_class=2").exit_code == 3
    assert ask("numbers.csv", "--protect", "graph-anon:k=2", "--limit", "smallest_degree_class=2").exit_code == 0
    assert ask("--limit", "help").exit_code == 0
    run = ask("numbers.csv", "--protect", "id-removal", "--limit", "epsilon=1", "--out", "r.csv", "--truth", "t.csv")
    assert run.exit_code == 3
    assert "epsilon is inf" in run.stderr
    assert "The release is not written" in run.stderr
    assert not Path("r.csv").exists()
    assert not Path("t.csv").exists()


def test_direction_weights_loops_and_repeats_are_said() -> None:
    Path("out.net").write_text("% asym weighted\n1 2 0.5\n2 1 3\n2 3 1\n3 3 1\n2 3 2\n")
    refuse("out.net", "--protect", "id-removal", naming=("--undirected",))
    notes = " ".join(answer("out.net", "--protect", "id-removal", "--undirected", "--unweighted")["notes"])
    for words in ("loop", "repeated", "direction", "weight"):
        assert words in notes


def test_bad_input_is_refused_in_one_sentence() -> None:
    Path("one.txt").write_text(f"{MARKER} a\n{MARKER}\n")
    refuse("one.txt", naming=("one.txt", "2"))
    Path("empty.csv").write_text("source,target\n")
    refuse("empty.csv", naming=("empty.csv",))
    Path("cut.txt.gz").write_bytes(gzip.compress(b"1 2\n2 3\n" * 500)[:40])
    refuse("cut.txt.gz", naming=("cut.txt.gz", "cut short"))
    Path("spaces.csv").write_text(f'source,target\n{MARKER},b\n"{MARKER} ",c\n')
    refuse("spaces.csv", naming=("spaces.csv",))
    Path("lonely.csv").write_text("source,target\n7,\n")
    refuse("lonely.csv", "--protect", "switch", naming=("edges",))
    refuse("missing.csv", naming=("missing.csv",))
    for protect, word in (
        ("k-degree:k=1", "k must be"),
        ("k-degree:k=1000", "nodes. Take a smaller k"),
        ("switch:share=1.5", "between 0 and 1"),
        ("shuffle", "is for a table"),
        ("k-degre", "k-degree"),
        ("dk-series-dp:epsilon=0", "epsilon"),
    ):
        refuse("edges.csv", "--protect", protect, naming=(word,))


def test_no_file_is_overwritten_by_mistake() -> None:
    refuse("edges.csv", "--out", "edges.csv", naming=("edges.csv",))
    refuse("edges.csv", "--out", "same.csv", "--truth", "same.csv", naming=("the same file",))
    refuse("edges.csv", "--out", "no/such/folder.csv", naming=("does not exist",))
    refuse("edges.csv", "--sample", naming=("--example",))


def test_without_a_seed_the_release_is_secret_and_with_one_that_is_said() -> None:
    releases = set()
    for name in ("one", "two"):
        run = ask("edges.csv", "--protect", "id-removal", "--out", f"{name}.csv", "--html", f"{name}.html")
        assert "seed is not recorded" in run.stdout
        releases.add(Path(f"{name}.csv").read_text())
    assert len(releases) == 2
    assert answer("edges.csv", "--protect", "id-removal")["seed"] is None
    run = ask("edges.csv", "--protect", "id-removal", "--seed", "77123", "--html", "three.html")
    assert "77123" not in Path("three.html").read_text()
