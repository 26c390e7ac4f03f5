"""``unveil graph`` from files on disk to what a person or a machine reads, and every kind of bad input."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.approved.sentences import Approved
from tests.end_to_end.commands import MARKER, Command
from tests.end_to_end.graph_folder import fill
from tests.graph_strategies import heavy_tail
from unveil.attacks import ATTACKS
from unveil.data.graph.files import write_edges
from unveil.metrics import METRICS
from unveil.protections import PROTECTIONS
from unveil.report.trust import title_of, trust_of

COMMAND = Command("graph")
ask, refuse = COMMAND.ask, COMMAND.refuse
NAMES = [name for name, metric in METRICS.items() if metric.on == "Candidates" and metric.usual]
ON_GRAPHS = [name for name, one in ATTACKS.items() if one.on == "graph"]
PROTECT_GRAPHS = [name for name, one in PROTECTIONS.items() if one.on == "graph"]
METRIC = {"name", "category", "per", "more_means", "mean", "low", "high", "undefined", "why", "reliability", "at_cap"}
FEW = ("--seed-pairs", "9")
ELSEWHERE = ("released.csv", "--auxiliary", "known.csv", "--truth", "truth.csv")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a graph whose nodes have private names, and a release of it that was made before."""
    monkeypatch.chdir(tmp_path)
    fill(tmp_path, share=0.05, overlap=0.9)
    return tmp_path


def answer(*arguments: str) -> Any:
    found = COMMAND.answer(*arguments)
    assert MARKER not in json.dumps(found)
    return found


# --- what comes out ---------------------------------------------------------------------------------------------------


def test_json_has_the_promised_fields() -> None:
    call = ("edges.csv", "--protect", "switch:share=0.1", "--attack", "ns", *FEW, "--overlap", "9/10", "--seed", "4")
    found = answer(*call)
    edges = heavy_tail(60, 3, 1).edges
    assert (found["schema"], found["seed"], found["limits"]) == ("unveil.graph/2", 4, [])
    assert (found["protect"], found["attack"], found["scope"]) == ("switch:share=0.1", "narayanan-shmatikov", "local")
    assert found["graph"] == found["released"] == {"nodes": 60, "edges": edges}
    assert found["auxiliary"] == {"nodes": 60, "edges": int(0.9 * edges + 0.5)}
    assert (found["seed_pairs"], found["edge_overlap"], found["repeats"], found["connected"]) == (9, 0.9, 1, False)
    assert (found["targets"], found["without_original"]) == (51, 0)
    assert 0 <= found["correct"] <= found["attempted"] <= 51
    assert [row["name"] for row in found["metrics"]] == NAMES
    assert all(row.keys() == METRIC for row in found["metrics"])
    assert all(row["reliability"] == trust_of(row["name"], ["graphs"]) for row in found["metrics"])
    assert {row["low"] for row in found["metrics"]} == {None}
    assert [row["least"] for row in found["entropy_cut_offs"]] == [0, 0.0001, 0.001, 0.01]
    assert any("no CI" in note for note in found["notes"])
    assert answer(*call) == found
    assert answer(*call[:-1], "5")["metrics"] != found["metrics"]


def test_repetitions_give_intervals() -> None:
    found = answer("edges.csv", *FEW, "--repeat", "3")
    assert (found["repeats"], len(found["repetitions"])) == (3, 3)
    rate = next(row for row in found["metrics"] if row["name"] == "adversary_overall_success")
    values = [row["correct"] / 51 for row in found["repetitions"]]
    assert rate["mean"] == pytest.approx(np.mean(values))
    assert rate["low"] <= rate["mean"] <= rate["high"]
    assert not any("no CI" in note for note in found["notes"])


def test_there_are_eight_attacks() -> None:
    assert len(ON_GRAPHS) == 8


@pytest.mark.parametrize("name", ON_GRAPHS)
def test_every_attack_can_be_asked_for_by_name_and_by_letters(name: str) -> None:
    by_name = answer("edges.csv", "--attack", name, *FEW)
    (letters,) = ATTACKS[name].aka or (name,)
    assert by_name["attack"] == name
    assert by_name["scope"] in ("local", "global")
    assert answer("edges.csv", "--attack", letters.lower(), *FEW) == by_name
    assert by_name["correct"] > by_name["correct_by_random_mapping"]


@pytest.mark.parametrize("name", PROTECT_GRAPHS)
def test_every_protection_can_be_attacked(name: str) -> None:
    write_edges("small.csv", heavy_tail(30, 3, 1))
    found = answer("small.csv", "--protect", name, *FEW)
    assert found["protect"] == name
    assert found["targets"] == found["released"]["nodes"] - 9
    assert found["without_original"] == found["released"]["nodes"] - 30


def test_a_class_of_ones_own_needs_no_registration() -> None:
    found = answer("edges.csv", "--attack", "tests.graph_attackers:Blind", *FEW)
    assert (found["attack"], found["scope"], found["attempted"]) == ("tests.graph_attackers:Blind", None, 51)


def test_a_release_made_elsewhere_is_attacked_as_it_is() -> None:
    found = answer(*ELSEWHERE, "--seed-pairs", "pairs.csv", "--attack", "ns")
    assert (found["graph"], found["protect"], found["edge_overlap"]) == (None, None, None)
    assert (found["released"]["nodes"], found["auxiliary"]["nodes"], found["seed_pairs"]) == (60, 60, 12)
    assert found["targets"] == 48
    assert found["correct"] > 5
    drawn = answer(*ELSEWHERE, "--seed-pairs", "20", "--repeat", "2")
    assert (drawn["seed_pairs"], drawn["targets"], len(drawn["repetitions"])) == (20, 40, 2)


def test_truth_that_is_missing_for_some_nodes_is_said() -> None:
    rows = Path("truth.csv").read_text().splitlines()
    named = [row for row in rows[1:] if row.split(",")[0] not in ("3", "4")]
    Path("truth.csv").write_text("\n".join([rows[0], *named]) + "\n")
    found = answer(*ELSEWHERE, "--seed-pairs", "10")
    assert (found["without_original"], found["truth_unknown"], found["targets"]) == (0, 2, 48)
    assert any("2 of 60 released nodes are not in" in note for note in found["notes"])


def test_text_has_headline_figures_and_every_metric() -> None:
    run = ask("--repeat", "2", "--html", "report.html")
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.startswith("Built-in example: a generated graph of about 1,000 nodes, without real people.")
    assert "re-identifies" in run.stdout
    assert "95% CI" in run.stdout
    assert len(run.stdout.splitlines()) <= 20
    verbose = ask("--repeat", "2", "--verbose").stdout
    assert all(title_of(METRICS[name]) in verbose for name in NAMES)
    assert "Entropy without improbable candidates" in verbose
    assert "The report is in report.html" in run.stdout
    assert "\x1b" not in run.stdout
    assert "Re-identified nodes" in Path("report.html").read_text()


def test_neither_page_nor_text_names_a_node() -> None:
    run = ask("edges.csv", *FEW, "--html", "report.html")
    assert run.exit_code == 0
    assert MARKER not in run.stdout + Path("report.html").read_text()


def test_an_attack_that_accepts_nothing_is_an_answer() -> None:
    run = ask("edges.csv", "--attack", "ns:theta=1000", *FEW, "--html", "report.html")
    assert (run.exit_code, run.stderr) == (0, "")
    found = answer("edges.csv", "--attack", "ns:theta=1000", *FEW)
    assert (found["attempted"], found["correct"]) == (0, 0)


# --- limits -----------------------------------------------------------------------------------------------------------


def test_limits_are_watched_from_the_side_that_is_worse(approved: Approved) -> None:
    call = ("edges.csv", *FEW, "--quiet")
    assert ask(*call, "--limit", "adversary_overall_success=1", "--limit", "entropy=0").exit_code == 0
    run = ask(*call, "--limit", "entropy=50", "--html", "report.html")
    assert run.exit_code == 3
    assert run.stderr.startswith("fail: entropy is ")
    assert 'class="decision fail"' in Path("report.html").read_text()
    once = ask(*call, "--limit", "adversary_success_rate_high=0")
    approved((once.exit_code, once.stderr))
    assert ask(*call, "--repeat", "2", "--limit", "adversary_success_rate_high=0").exit_code == 3
    listed = ask("--limit", "help").stdout
    assert all(name in listed for name in NAMES)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "naming"),
    [
        (("missing.csv",), ("missing.csv",)),
        (("edges.csv", "--sample"), ("example takes no files",)),
        (("edges.csv", "--attack", "nss"), ("there is no attack 'nss'",)),
        (("edges.csv", "--attack", "record-linkage"), ("is on a table",)),
        (("edges.csv", "--protect", "mondrian"), ("is for a table",)),
        (("edges.csv", "--seed-pairs", "0"), ("starts from seed pairs, but there are none",)),
        (("edges.csv", "--seed-pairs", "61"), ("60 nodes", "Ask for fewer pairs")),
        (("edges.csv", "--seed-pairs", "60"), ("All 60 released nodes",)),
        (("edges.csv", "--seed-pairs", "-3"), ("the minimum is 0",)),
        (("edges.csv", "--seed-pairs", ""), ("--seed-pairs", "is empty")),
        (("edges.csv", "--seed-pairs", "9999999999"), ("60 nodes", "Ask for fewer pairs")),
        (("edges.csv", "--seed-pairs", "9" * 5000), ("--seed-pairs", "5,000")),
        (("edges.csv", "--seed-pairs", "2.5"), ("--seed-pairs", "whole number")),
        (("edges.csv", "--seed-pairs", "pairs.csv"), ("--seed-pairs FILE", "--auxiliary")),
        (("edges.csv", "--truth", "truth.csv"), ("--truth", "--auxiliary")),
        (("edges.csv", "--overlap", "1.5"), ("must be in [0, 1]",)),
        (("edges.csv", "--overlap", "0"), ("auxiliary graph has none",)),
        (("edges.csv", "--repeat", "0"), ("--repeat",)),
        (("edges.csv", "--repeat", "10001"), ("--repeat", "10,000")),
        (("released.csv", "--auxiliary", "known.csv"), ("--truth",)),
        (("--auxiliary", "known.csv", "--truth", "truth.csv"), ("EDGES",)),
        ((*ELSEWHERE, "--protect", "switch"), ("--method", "--auxiliary")),
        ((*ELSEWHERE, "--overlap", "0.5"), ("--edge-overlap", "--auxiliary")),
        ((*ELSEWHERE, "--connected"), ("--keep-connected", "--auxiliary")),
        ((*ELSEWHERE, "--calibrate", "simulate"), ("--calibrate", "--auxiliary")),
        ((*ELSEWHERE, "--seed-pairs", "nowhere.csv"), ("nowhere.csv",)),
        ((*ELSEWHERE, "--seed-pairs", "61"), ("only 60 released nodes",)),
        ((*ELSEWHERE[:-1], "pairs.csv", "--seed-pairs", "truth.csv"), ("All 60 released nodes",)),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments: tuple[str, ...], naming: tuple[str, ...]) -> None:
    refuse(*arguments, naming=naming)


@pytest.mark.parametrize(
    ("pairs", "naming"),
    [
        (f"0,{MARKER}1\n0,{MARKER}1\n", ("pairs.csv", "row 2")),
        (f"0,{MARKER}1\n0,{MARKER}2\n", ("pairs.csv", "row 2")),
        (f"0,{MARKER}1\n1,{MARKER}1\n", ("pairs.csv", "row 2")),
        (f"0,{MARKER}1\n99,{MARKER}2\n", ("pairs.csv", "released graph")),
        (f"0,{MARKER}1\n1,{MARKER}99\n", ("pairs.csv", "auxiliary graph")),
        ("0,\n", ("pairs.csv",)),
        ("", ("pairs.csv",)),
    ],
    ids=["twice", "contradictory", "shared", "not released", "not known", "empty cell", "empty"],
)
def test_bad_seed_pairs_are_refused(pairs: str, naming: tuple[str, ...]) -> None:
    Path("pairs.csv").write_text(f"released,original\n{pairs}")
    refuse(*ELSEWHERE, "--seed-pairs", "pairs.csv", naming=naming)
