"""Defects that ``unveil graph`` once had, each kept away by a test of what a reader is told instead."""

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.end_to_end.commands import Command
from tests.end_to_end.graph_folder import fill
from unveil.attacks import AdaptiveDeanonymization
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphRelease

COMMAND = Command("graph")
ask, answer = COMMAND.ask, COMMAND.answer
FEW = ("--seed-pairs", "9")
ELSEWHERE = ("released.csv", "--auxiliary", "known.csv", "--seed-pairs", "pairs.csv", "--truth")
#: Repetitions of this call attempt nothing, but for one.
MOSTLY_IDLE = ("--attack", "yg", "--overlap", "0.5", "--seed-pairs", "5", "--connected", "--seed", "4")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a graph whose nodes have private names, and a release of it that was made before."""
    monkeypatch.chdir(tmp_path)
    fill(tmp_path, share=0.02, overlap=0.95)
    return tmp_path


def success_rate(found: Any) -> Any:
    return next(row for row in found["metrics"] if row["name"] == "adversary_success_rate")


def words(path: str) -> str:
    """Return the text of a page, without tags."""
    page = re.sub(r"<(style|script).*?</\1>", "", Path(path).read_text(encoding="utf-8"), flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


# --- estimates are marked, and nothing else is ------------------------------------------------------------------------


def test_estimated_centralities_are_marked_in_a_release_made_elsewhere() -> None:
    found = answer(*ELSEWHERE, "truth.csv", "--attack", "ada:exact_up_to=10,pivots=5")
    assert any("was estimated from 5 of" in note for note in found["notes"])


def test_exact_centralities_are_not_called_estimates() -> None:
    # With as many pivots as nodes, every node is searched from.
    found = answer("edges.csv", *FEW, "--attack", "ada:exact_up_to=10,pivots=500")
    assert not any("estimated" in note for note in found["notes"])


def test_pivots_tell_nothing_about_who_is_who() -> None:
    # Nodes of a grid seen by three seeds differ in little; whoever profits from their numbers finds more where the
    # release kept those of the original.
    near = [(12 * row + column, step) for row in range(10) for column in range(12) for step in (1, 12)]
    edges = [(node, node + step) for node, step in near if node + step < 120 and (step == 12 or node % 12 < 11)]
    grid = Graph.from_edges(*zip(*edges, strict=True))
    attack = AdaptiveDeanonymization(exact_up_to=0, pivots=20)

    def found(number: Any, seed: int) -> int:
        released, truth = grid.relabelled(number), np.argsort(number)
        rng = np.random.default_rng(seed)
        knowledge = draw_knowledge(GraphRelease(grid, released, truth), overlap=1.0, seed_pairs=3, rng=rng)
        guess = attack.run(released=released, knowledge=knowledge, rng=rng)
        return int(np.sum(guess.chosen == truth))

    kept = [found(np.arange(120), seed) for seed in range(24)]
    other = [found(np.random.default_rng(99 + seed).permutation(120), seed) for seed in range(24)]
    error = np.sqrt((np.var(kept) + np.var(other)) / 24)
    assert abs(np.mean(kept) - np.mean(other)) <= 4 * error


# --- truth that is not known ------------------------------------------------------------------------------------------


def test_seed_pairs_of_which_the_truth_says_nothing_are_not_called_errors() -> None:
    known = set(Path("pairs.csv").read_text().splitlines()[1:4])
    rows = [row for row in Path("truth.csv").read_text().splitlines() if row not in known]
    Path("partial.csv").write_text("\n".join(rows) + "\n")
    found = answer(*ELSEWHERE, "partial.csv")
    assert not any("starts with errors" in note for note in found["notes"])


# --- repetitions in which little happens ------------------------------------------------------------------------------


def test_repetitions_without_an_attempt_do_not_lower_the_rate_of_attempts() -> None:
    found = answer(*MOSTLY_IDLE, "--repeat", "3")
    tried = [row for row in found["repetitions"] if row["attempted"]]
    assert 0 < len(tried) < 3
    rates = [row["correct"] / row["attempted"] for row in tried]
    assert min(rates) <= success_rate(found)["mean"] <= max(rates)


def test_where_nothing_was_attempted_no_interval_is_claimed() -> None:
    run = ask("edges.csv", *FEW, "--attack", "ns:theta=inf", "--repeat", "2")
    assert run.exit_code == 0
    assert "0 of 0 attempts" not in run.stdout
    assert "95% interval 0.0% to 0.0%" not in run.stdout
    assert success_rate(answer("edges.csv", *FEW, "--attack", "ns:theta=inf", "--repeat", "2"))["high"] is None


def test_undefined_metrics_of_one_repetition_are_explained_in_plain_words() -> None:
    run = ask("edges.csv", *FEW, "--attack", "ns:theta=inf")
    assert "1 times" not in run.stdout
    assert "target" not in run.stdout


@pytest.mark.parametrize("protect", ["dk-series-dp", "wpinq-dp"])
def test_a_release_without_edges_is_an_answer_not_the_end_of_all_repetitions(protect: str) -> None:
    Path("tiny.csv").write_text("source,target\na,b\nb,c\nc,d\nd,a\na,c\n")
    call = ("tiny.csv", "--protect", protect, "--attack", "dv", "--seed-pairs", "1", "--repeat")
    assert answer(*call, "1")["released"]["edges"] > 0
    assert answer(*call, "5")["repeats"] == 5


def test_a_number_of_repetitions_beyond_all_measure_is_refused() -> None:
    COMMAND.refuse("edges.csv", *FEW, "--repeat", "99999999999999999999", naming=("repe",))


# --- sentences --------------------------------------------------------------------------------------------------------


def test_an_attack_that_assigns_everybody_is_not_said_to_leave_nodes_alone() -> None:
    call = ("edges.csv", *FEW, "--attack", "kl:variant=window,theta=0")
    found = answer(*call, "--html", "report.html")
    assert found["attempted"] == found["targets"]
    assert "leaves alone what does not stand out" not in words("report.html")


def test_a_rate_near_nothing_is_not_called_high() -> None:
    found = answer(*MOSTLY_IDLE, "--repeat", "3", "--html", "report.html")
    assert found["correct"] / found["attempted"] < 0.2
    assert "the first is high by design" not in words("report.html")


def test_random_guessing_is_written_in_plain_numbers() -> None:
    run = ask("--attack", "ns:theta=12")
    headline = next(line for line in run.stdout.splitlines() if "baseline" in line)
    assert not re.search(r"\de[-+]\d", headline)


def test_numbers_on_the_page_are_plain() -> None:
    ask("--html", "report.html", "--quiet", "--seed", "1")
    assert "1.0e-04" not in words("report.html")
