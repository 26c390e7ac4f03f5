"""Every way to put an audit into a pipeline stops a bad release, and lets a good one pass."""

import os
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import yaml
from click.testing import CliRunner

import unveil
from unveil.cli import main

ROOT = Path(__file__).parents[2]
LIMIT = "linkability.excess_over_control=0.2"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["make_tables.py", "--out", str(folder)])
        runpy.run_path(str(ROOT / "examples" / "pipelines" / "make_tables.py"), run_name="__main__")
    return folder


def by_action(tables: Path, released: str) -> tuple[int, str]:
    """Run the script of the action in a shell, with its inputs as variables, as a runner does."""
    (step,) = [
        each for each in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"] if each["name"] == "Audit"
    ]
    inputs = {"original": "people.csv", "released": f"\n{released}\n", "control": "others.csv", "limits": f"{LIMIT}\n"}
    inputs |= {"arguments": "--attacks\nlinkability\n", "report": "report.html"}
    told = {key: inputs.get(value.split("inputs.")[1].split()[0], "") for key, value in step["env"].items()}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env={**os.environ, **told, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        cwd=tables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (tables / "report.html").stat().st_size > 10_000
    return done.returncode, done.stderr


def by_hook(tables: Path, released: str) -> tuple[int, str]:
    """Run the entry of the hook with the arguments that docs/pipelines.md gives it."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    arguments = ["people.csv", released, "--control", "others.csv", "--attacks", "linkability", "--limit", LIMIT]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tables)
        done = CliRunner().invoke(main, [*shlex.split(hook["entry"])[1:], *arguments])
    return done.exit_code, done.stderr


def by_test(tables: Path, released: str) -> tuple[int, str]:
    """Assert in Python, and return what a pipeline would see of it."""
    people, others, release = (pl.read_csv(tables / name) for name in ("people.csv", "others.csv", released))
    quantity, _, limit = LIMIT.partition("=")
    try:
        unveil.assert_release_ok(people, release, {quantity: float(limit)}, others, attacks=["linkability"])
    except AssertionError as error:
        return 3, str(error)
    return 0, ""


@pytest.mark.parametrize("way", [by_action, by_hook, by_test])
def test_a_bad_release_is_stopped_and_a_good_one_passes(
    way: Callable[[Path, str], tuple[int, str]], tables: Path
) -> None:
    code, said = way(tables, "bad.csv")
    assert code == 3
    assert "limit exceeded: linkability.excess_over_control is at least" in said
    assert way(tables, "good.csv") == (0, "")


def test_the_recipe_of_the_container_copies_what_is_there_and_installs_what_is_locked() -> None:
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    copied = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert all((ROOT / name).exists() for name in copied)
    assert "constraints.txt" in copied
    assert any("tools/environment.py" in line for line in lines if line.startswith("RUN "))
    assert any(line.startswith("USER ") and "root" not in line for line in lines)
