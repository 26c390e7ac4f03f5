"""The generators of the examples: what they make is made of what they say, with the noise that they say."""

import csv
import importlib
import json
import random
import runpy
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "generators"
VALUES = {"town": ["Bonn", "Köln", "Ulm"], "job": ["a", "b"], "age": [20, 30]}


def run(script: str, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", [script, *map(str, arguments)])
    runpy.run_path(str(FOLDER / script), run_name="__main__")


@pytest.fixture
def people(tmp_path: Path) -> pl.DataFrame:
    """People in a file of the test's folder, some of their cells empty."""
    rng = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "number": rng.permutation(60) * 7,
            "town": [["Ulm", "Köln", None][at] for at in rng.integers(0, 3, 60)],
            "age": [[20, 30, None, 40][at] for at in rng.integers(0, 4, 60)],
            "job": [["a", "b"][at] for at in rng.integers(0, 2, 60)],
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "values.json").write_text(json.dumps(VALUES), encoding="utf-8")
    return frame


def test_leaves_of_one_copy_people_and_wide_leaves_mix_them(
    people: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[int, pl.DataFrame] = {}
    for leaf in (1, 5, 60):
        for again in range(2):
            run("cart.py", monkeypatch, tmp_path / "people.csv", tmp_path / "made.csv", leaf, "--seed", 1)
            frame = pl.read_csv(tmp_path / "made.csv")
            assert made.setdefault(leaf, frame).equals(frame), again
        assert made[leaf].schema == people.schema
        assert made[leaf].height == people.height
        for name in people.columns:
            assert set(made[leaf][name]) <= set(people[name])
    copied = {leaf: sum(row in set(people.rows()) for row in frame.rows()) for leaf, frame in made.items()}
    assert copied[1] == 60  # the first column is different for everybody
    assert copied[60] < copied[5] < 60


def margins(monkeypatch: pytest.MonkeyPatch, folder: Path, *settings: object) -> list[list[str]]:
    files = (folder / name for name in ("people.csv", "made.csv", "values.json"))
    run("noisy_margins.py", monkeypatch, *files, *settings)
    with (folder / "made.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))


def test_without_noise_neighbouring_columns_are_as_people_have_them(
    people: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, *rows = margins(monkeypatch, tmp_path, "--epsilon", 1e12, "--rows", 6000, "--seed", 1)
    assert head == ["town", "job", "age"]
    assert len(rows) == 6000
    # Nobody may have an age of 40, by the list.
    known = [(town or "", job, str(age) if age in (20, 30) else "") for _, town, age, job in people.rows()]
    for one, two in pairwise(range(3)):
        wanted, found = (Counter((row[one], row[two]) for row in each) for each in (known, rows))
        assert found.keys() == wanted.keys()
        for pair, count in wanted.items():
            assert found[pair] / 6000 == pytest.approx(count / 60, abs=0.03)


def test_the_fault_is_half_of_the_noise(people: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert people.height == 60
    right, twice = (margins(monkeypatch, tmp_path, "--epsilon", epsilon, "--seed", 1) for epsilon in (1, 2))
    assert margins(monkeypatch, tmp_path, "--epsilon", 1, "--seed", 1, "--fault") == twice != right
    for epsilon, values in ((0, VALUES), (1, {"town": ["Ulm"]})):
        (tmp_path / "values.json").write_text(json.dumps(values), encoding="utf-8")
        with pytest.raises(SystemExit):
            margins(monkeypatch, tmp_path, "--epsilon", epsilon)


def test_noise_is_that_of_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    module: Any = importlib.import_module("noisy_margins")
    values, rng = [str(value) for value in range(200)], random.Random(1)  # noqa: S311
    noise = np.array(module.noisy_margin(Counter(), (values, values), 3.0, rng))
    # Laplace noise of scale 3, cut at 0: half are 0, and the others are exponential.
    assert (noise == 0).mean() == pytest.approx(0.5, abs=0.01)
    assert noise[noise > 0].mean() == pytest.approx(3, rel=0.03)
    assert noise[noise > 0].std() == pytest.approx(3, rel=0.05)
    noise = np.array(module.noisy_margin(Counter({("1", "2"): 10**6}), (values, values), 3.0, rng))
    assert noise[1, 2] == pytest.approx(10**6, abs=60)


def test_the_script_that_installs_another_generator_can_be_read() -> None:
    subprocess.run(["sh", "-n", str(FOLDER / "third_party.sh")], check=True)
    compile((FOLDER / "privbayes.py").read_text(encoding="utf-8"), "privbayes.py", "exec")
