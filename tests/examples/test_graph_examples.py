"""The examples on graphs: they run, their readings are those of the definitions, and their page says their numbers."""

import csv
import doctest
import importlib
import re
from itertools import permutations
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.examples.scripts import run_script
from unveil.data.graph.release import GraphKnowledge
from unveil.guesses import Candidates
from unveil.metrics import unlinkability
from unveil.metrics.graphs.utility import edge_difference

FOLDER = Path(__file__).parents[2] / "examples" / "graphs"
NAMES = ("one_guess_three_readings", "switch_that_switches_nothing")
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")


def table(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [{key: number(cell) for key, cell in line.items()} for line in csv.DictReader(lines)]


def number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def run(name: str, folder: Path, repeat: int) -> tuple[list[dict[str, Any]], str]:
    """Run a script seldom, and with another seed than the page."""
    said = run_script(FOLDER / f"{name}.py", folder, "--seed", "2", "--repeat", str(repeat))
    return table(folder / f"{name}.csv"), said


def module(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module(name)


@pytest.mark.parametrize("name", [*NAMES, "graph_examples"])
def test_examples_in_docstrings_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctest.testmod(module(name, monkeypatch)).failed == 0


def test_the_three_readings_run(tmp_path: Path) -> None:
    rows, said = run(NAMES[0], tmp_path, 1)
    assert len(rows) == said.count("of the edges known") == 5
    for row in rows:
        assert 0.1 <= row["expected_as_matching"] <= 1
        assert row["records_missed"] <= 2
    assert rows[-1]["chosen_rightly"] > rows[0]["chosen_rightly"]
    assert rows[-1]["all_records_linked"] > rows[0]["all_records_linked"]


def test_the_matching_is_that_of_the_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module(NAMES[0], monkeypatch)
    rng = np.random.default_rng(3)
    matrix = rng.random((5, 5)) * (rng.random((5, 5)) < 0.8) + np.eye(5) * 0.1
    matrix[2] = 0.0
    truth = rng.permutation(5)
    guess = Candidates.from_matrix(matrix, normalize=True)
    filled = np.where(matrix.sum(axis=1, keepdims=True) > 0, matrix, 1.0)
    weights = {each: prod(filled[node, person] for node, person in enumerate(each)) for each in permutations(range(5))}
    wanted = sum(w * sum(p == t for p, t in zip(each, truth, strict=True)) for each, w in weights.items())
    assert script.cracked(guess, truth, rng) == pytest.approx(wanted / sum(weights.values()))


def test_those_known_before_are_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module(NAMES[0], monkeypatch)
    graph = script.acquaintances(4, np.random.default_rng(1))
    knowledge = GraphKnowledge(graph, np.array([[1, 3]]))
    guess = Candidates(np.array([0, 2, 2, 2, 2]), np.array([0, 2], np.int32), np.array([0.5, 0.5]), None)
    full = script.with_seeds(guess, knowledge, 4)
    assert full.attempted.tolist() == [True, True, False, False]
    assert full.probability.reshape(2, 4).tolist() == [[0.5, 0, 0.5, 0], [0, 0, 0, 1]]


def test_partitions_of_all_and_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module(NAMES[0], monkeypatch)
    whose = [np.array([2, 0, 1]), np.array([1, 2, 0])]
    truth = script.as_partition(whose, 3)
    assert sorted(truth.sizes.tolist()) == [3, 3, 3]
    assert unlinkability(truth, truth).miss.tolist() == [0, 0, 0]
    nothing = unlinkability(script.as_partition([np.full(3, -1)] * 2, 3), truth)
    assert (nothing.miss.tolist(), nothing.include.tolist()) == ([2, 2, 2], [0, 0, 0])
    # Persons 0 and 1 are taken for one another in both releases: two nodes together, with the other's own record.
    swapped = np.array([1, 0, 2])
    wrong = unlinkability(script.as_partition([swapped[each] for each in whose], 3), truth)
    assert (wrong.miss.tolist(), wrong.include.tolist()) == ([1, 1, 0], [1, 1, 0])


def test_both_switches_meet_the_same_adversaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = module(NAMES[1], monkeypatch)
    rows, said = run(NAMES[1], tmp_path, 2)
    empty = [row for row in rows if row["protection"] == "nothing switched"]
    real = [row for row in rows if row["protection"] == "switched"]
    assert {row["edges_changed"] for row in empty} == {0}
    assert len({row["found"] for row in empty}) == 1
    assert [row["edges_changed"] for row in real] == pytest.approx([2 * row["share"] for row in real], abs=1e-3)
    assert real[-1]["found"] < 0.5 * empty[-1]["found"]
    assert said.count("switches asked for") == len(script.SHARES)
    graph = script.samples.graph()
    assert edge_difference(script.EmptySwitch(share=0.5).apply(graph, rng=np.random.default_rng(1))) == 0


def test_the_page_has_the_numbers_of_the_files() -> None:
    def line(start: str) -> list[str]:
        return next(each for each in PAGE.splitlines() if each.startswith(start)).strip("| ").split(" | ")

    for row in table(FOLDER / f"{NAMES[0]}.csv"):
        keys = ("overlap", "chosen_rightly", "expected_node_by_node", "expected_as_matching", "all_records_linked")
        first = f"{row['overlap']:.0%}".replace("%", " %")
        assert [first, *(f"{100 * row[key]:.1f} %" for key in keys[1:])] in [
            line(f"| {first} | {100 * row[keys[1]]:.1f}")
        ]
    rows = table(FOLDER / f"{NAMES[1]}.csv")
    for empty, real in zip(rows[::2], rows[1::2], strict=True):
        figures = (real["edges_changed"], empty["found"], real["found"])
        shown = [f"{100 * real['share']:.0f} %", *(f"{100 * each:.1f} %" for each in figures)]
        assert line(f"| {shown[0]} | {shown[1]} |") == shown
    assert re.search(r"0\.04 wrong records", PAGE)


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_there_and_small(name: str) -> None:
    assert 5_000 < (FOLDER / f"{name}.png").stat().st_size < 100_000
