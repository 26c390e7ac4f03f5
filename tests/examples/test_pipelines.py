"""Every way to put an audit into a pipeline stops a bad release, and lets a good one pass."""

import os
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
import yaml
from click.testing import CliRunner

import unveil
from tests.approved.sentences import Approved
from tools.environment import project
from unveil.cli import main

ROOT = Path(__file__).parents[2]
LIMIT = "linkability=0.1"
#: The inputs of the action that a stranger may fill.
HOSTILE = [
    "original",
    "released",
    "control",
    "release-type",
    "sensitive",
    "quasi-identifiers",
    "threshold",
    "limits",
    "profile",
    "report",
    "arguments",
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["make_tables.py", "--out", str(folder)])
        runpy.run_path(str(ROOT / "examples" / "pipelines" / "make_tables.py"), run_name="__main__")
    return folder


def run_action(folder: Path, **inputs: str) -> "subprocess.CompletedProcess[str]":
    """Run the script of the action in a shell, with its inputs as variables, as a runner does."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = [each for each in action["runs"]["steps"] if each["name"] == "Audit"]
    given = {name: each.get("default", "") for name, each in action["inputs"].items()}
    given |= {name.replace("_", "-"): value for name, value in inputs.items()}
    told = {key: given.get(value.split()[1].removeprefix("inputs."), "") for key, value in step["env"].items()}
    (folder / ".venv").mkdir(exist_ok=True)
    if not (folder / ".venv" / "bin").exists():
        (folder / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env={**os.environ, **told, "ACTION": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def by_action(tables: Path, released: str) -> tuple[int, str]:
    """Run the action on a release, and return what a pipeline would see of it."""
    inputs = {"original": "people.csv", "released": f"\n{released}\n", "control": "others.csv", "limits": f"{LIMIT}\n"}
    done = run_action(tables, **inputs, arguments="--attacks\nlinkability\n", report="report.html")
    assert (tables / "report.html").stat().st_size > 10_000
    assert "shareable" in (tables / "report.html").read_text(encoding="utf-8").lower()
    assert not (tables / "unveil-report.html").exists()
    return done.returncode, done.stderr


@pytest.mark.parametrize("place", HOSTILE)
def test_no_input_of_the_action_becomes_a_command(tables: Path, place: str, approved: Approved) -> None:
    harm = "--generator=touch harm"
    inputs = {"original": "people.csv", "released": "good.csv", "control": "others.csv", "limits": LIMIT}
    inputs |= {"arguments": "--attacks\nlinkability", place: "--" if place == "arguments" else harm}
    done = run_action(tables, **inputs)
    assert not (tables / "harm").exists()
    if place in ("original", "released"):
        approved((done.returncode, done.stderr))
    elif place == "report":  # a file of that odd name
        assert done.returncode == 0
        (tables / harm).unlink()
    else:
        assert done.returncode == 2


def test_the_action_uses_no_other_action_and_writes_the_internal_report_only_where_asked(tables: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert not any("uses" in step for step in action["runs"]["steps"])
    (install,) = [each for each in action["runs"]["steps"] if each["name"] == "Install unveil"]
    assert install["run"] == 'python3 "$ACTION/tools/environment.py" .venv'  # which compares hashes
    before = {path.name for path in tables.iterdir()}
    inputs = {"original": "people.csv", "released": "good.csv", "arguments": "--attacks\nlinkability"}
    done = run_action(tables, **inputs, report="shared.html", internal_report="internal.html")
    assert (done.returncode, done.stdout) == (0, "")
    assert {path.name for path in tables.iterdir()} - before - {".venv"} == {"shared.html", "internal.html"}


def by_hook(tables: Path, released: str) -> tuple[int, str]:
    """Run the entry of the hook with the arguments that docs/how-to/pipelines.md gives it."""
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
        unveil.assert_release(people, release, others, limits={quantity: float(limit)}, attacks=["linkability"])
    except AssertionError as error:
        return 3, str(error)
    return 0, ""


@pytest.mark.parametrize("way", [by_action, by_hook, by_test])
def test_a_bad_release_is_stopped_and_a_good_one_passes(
    way: Callable[[Path, str], tuple[int, str]], tables: Path
) -> None:
    code, said = way(tables, "bad.csv")
    assert code == 3
    assert said.startswith("Fail (")
    assert way(tables, "good.csv") == (0, "")


def test_the_action_can_pass_a_threshold(tables: Path) -> None:
    files = {"original": "people.csv", "released": "good.csv", "control": "others.csv"}
    stated = {"release-type": "synthetic", "sensitive": "none", "quasi-identifiers": "", "threshold": "0.3"}
    done = run_action(tables, **files, **stated)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert run_action(tables, **files, threshold="0.3").returncode == 5


def container_lines() -> list[str]:
    """Return the instructions of the recipe, each on one line."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_the_recipe_of_the_container_copies_what_is_there_and_installs_what_is_locked() -> None:
    lines = container_lines()
    copied = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert all((ROOT / name).exists() for name in copied)
    assert "constraints.txt" in copied
    assert any(line.startswith("USER ") and "root" not in line for line in lines)


def test_the_steps_of_the_container_can_be_built(tmp_path: Path) -> None:
    """Copy what the recipe copies, run its installer up to the calls of pip, and build unveil from the copy."""
    home = tmp_path / "unveil"
    for line in container_lines():
        if line.startswith("COPY "):
            *sources, target = line.split()[1:]
            for name in sources:
                place = home / Path(target).relative_to("/unveil") / (name if target.endswith("/") else "")
                place.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, place)
    (run,) = [line for line in container_lines() if line.startswith("RUN ")]
    install = shlex.split(run.removeprefix("RUN ").split("&&")[0])
    assert install[:2] == ["python", "/unveil/tools/environment.py"]
    called: list[list[str]] = []
    installer = runpy.run_path(str(home / "tools" / "environment.py"))["main"]
    installer.__globals__.update(_run=called.append, _make=Path.mkdir)
    installer(install[2:])
    extras = [value for option, value in pairwise(install) if option == "--extra"]
    offered = project()["project"]["optional-dependencies"]
    assert {need for extra in extras for need in offered[extra]} <= set(called[0])
    assert "--require-hashes" in called[0]
    assert called[1][-2:] == ["--editable", "."]
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path / "dist")]
    done = subprocess.run(build, cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "dist").glob("unveil-*.whl"))
