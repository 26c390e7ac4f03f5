"""Each question asked with paths, pandas, polars and on the command line: one answer."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import unveil
from tests.questions.link.planted import panel
from unveil.cli import main
from unveil.data.samples import path as sample


@dataclass(frozen=True, kw_only=True)
class Case:
    """A question: its function, its files in order, and settings in Python and on the command line."""

    function: Callable[..., Any]
    files: Sequence[Path | str]
    #: How the files are written behind the command, with {} for each.
    command: str
    settings: dict[str, Any] = field(default_factory=dict)
    #: Whether the function takes tables as well as paths.
    frames: bool = True


def _people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, rows)
    town = rng.choice(["Ulm", "Bonn", "Kiel"], rows)
    return pl.DataFrame({"age": age, "town": town, "pay": age * 31 + rng.integers(0, 900, rows)})


CASES = {
    "audit": Case(
        function=unveil.audit,
        files=("original.csv", "released.csv", "control.csv"),
        command="audit {} {} --control {} --attacks linkability,copies --sensitive pay --kind masked",
        settings={"attacks": ["linkability", "copies"], "sensitive": "pay", "release_type": "masked"},
    ),
    "columns": Case(function=unveil.columns, files=("original.csv",), command="columns {}"),
    "reidentify": Case(
        function=unveil.reidentify,
        files=("original.csv",),
        command="reidentify {} --protect rank-swapping --attack nearest",
        settings={"method": "rank-swapping", "attacks": "nearest"},
    ),
    "candidates": Case(
        function=unveil.attack_metrics,
        files=(sample("candidates_guess.csv"), sample("candidates_truth.csv")),
        command="attack-metrics {} --truth {}",
        frames=False,
    ),
    "partition": Case(
        function=unveil.unlinkability,
        files=(sample("partition_guess_bold.csv"), sample("partition_truth.csv")),
        command="unlinkability {1} {0}",
        frames=False,
    ),
    "matching": Case(
        function=unveil.matching,
        files=(sample("matching_matrix.csv"), sample("matching_truth.csv")),
        command="matching {} --truth {}",
        frames=False,
    ),
    "tables": Case(function=unveil.tables, files=(sample("tables_wards.csv"),), command="tables {}"),
    "link": Case(
        function=unveil.link,
        files=("wave1.csv", "wave2.csv"),
        command="link {} {} --person id --draws 200",
        settings={"person": "id", "draws": 200},
    ),
    "graph": Case(function=unveil.graph, files=(sample("generated_graph.csv"),), command="graph {}", frames=False),
}
#: What tells apart how the same tables came in; notes name files.
_OF_FILES = ("sha256", "name", "file", "table", "notes", "earlier", "later")


def _answer(text: str) -> Any:
    return _without_files(json.loads(text))


def _without_files(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _without_files(each) for key, each in content.items() if key not in _OF_FILES}
    return [_without_files(each) for each in content] if isinstance(content, list) else content


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tables")
    original = _people(80, 1)
    for name, frame in (("original", original), ("released", original.reverse()), ("control", _people(70, 2))):
        frame.write_csv(made / f"{name}.csv")
    for name, wave in zip(("wave1", "wave2"), panel(30), strict=True):
        wave.write_csv(made / f"{name}.csv")
    return made


@pytest.mark.parametrize("name", CASES)
def test_paths_frames_and_the_command_line_give_the_same_answer(name: str, folder: Path) -> None:
    case = CASES[name]
    paths = [folder / each if isinstance(each, str) else each for each in case.files]
    written = case.command.format(*paths).split()
    run = CliRunner().invoke(main, [*written, "--json"], catch_exceptions=False)
    assert run.exit_code == 0, run.output
    by_paths = case.function(*map(str, paths), **case.settings)
    assert json.loads(by_paths.to_json()) == json.loads(run.stdout)
    if case.frames:
        for read in (pd.read_csv, pl.read_csv):
            by_frames = case.function(*(read(path) for path in paths), **case.settings)
            assert _answer(by_frames.to_json()) == _answer(run.stdout)
            assert by_frames.library == read.__module__.partition(".")[0]
