"""Setting up happens once, and again after an interruption or a change; shown with a pip that only takes notes."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import chromium, environment


class Machine:
    """A folder like the project's, in which commands are written down and not run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.venv = root / ".venv"
        self.commands: list[list[str]] = []
        self.breaks_at = ""
        (root / "pyproject.toml").write_text("[project]")
        (root / "constraints.txt").write_text("pip==1")

    def run(self, command: list[str]) -> None:
        self.commands.append(command)
        if self.breaks_at and self.breaks_at in command:
            raise KeyboardInterrupt
        if "venv" in command:
            (self.venv / "bin").mkdir(parents=True)
            (self.venv / "bin" / "python").touch()

    def make(self, *options: str) -> list[str]:
        """Return what was done: a venv made, pip put into it, unveil installed with which options."""
        self.commands.clear()
        environment.main([".venv", *options])
        kinds = {"venv": "venv", "pip": "pip"}
        return [
            " ".join(command[command.index("--editable") :]) if "--editable" in command else kinds[command[2]]
            for command in self.commands
        ]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "_run", machine.run)
    return machine


FROM_NOTHING = ["venv", "pip", "--editable ."]


def test_a_second_run_does_nothing(machine: Machine) -> None:
    assert machine.make() == FROM_NOTHING
    assert machine.make() == []


def test_no_ensurepip_is_needed(machine: Machine) -> None:
    machine.make()
    assert "--without-pip" in machine.commands[0]
    assert machine.commands[1][1:5] == ["-m", "pip", "--python", str(machine.venv / "bin" / "python")]


@pytest.mark.parametrize("step", ["venv", "pip", "--editable"])
def test_an_interrupted_environment_is_remade(machine: Machine, step: str) -> None:
    machine.breaks_at = step
    with pytest.raises(KeyboardInterrupt):
        machine.make()
    machine.breaks_at = ""
    (machine.venv / "bin").mkdir(parents=True, exist_ok=True)
    (machine.venv / "half-made").touch()
    assert machine.make() == FROM_NOTHING
    assert not (machine.venv / "half-made").exists()


def test_an_interrupted_update_is_remade(machine: Machine) -> None:
    machine.make()
    machine.breaks_at = "--group"
    with pytest.raises(KeyboardInterrupt):
        machine.make("--group", "test")
    machine.breaks_at = ""
    assert machine.make() == FROM_NOTHING


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_changed_requirements_are_installed_but_a_touched_file_is_no_change(machine: Machine, name: str) -> None:
    machine.make("--group", "test")
    os.utime(machine.root / name, (1, 1))
    assert machine.make() == []
    (machine.root / name).write_text("changed")
    assert machine.make() == ["--editable . --group test"]
    assert machine.make("--group", "test") == []


def test_groups_and_extras_are_added(machine: Machine) -> None:
    assert machine.make() == FROM_NOTHING
    assert machine.make("--group", "test") == ["--editable . --group test"]
    assert machine.make() == []
    assert machine.make("--extra", "bench") == ["--editable .[bench] --group test"]


def test_another_place_or_python_needs_another_environment(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.make()
    monkeypatch.setattr(environment, "PYTHON", "/somewhere/else/python3")
    assert machine.make() == FROM_NOTHING
    (machine.venv / "bin" / "python").unlink()
    assert machine.make() == FROM_NOTHING
    shutil.move(machine.venv, machine.root / "kept")
    (machine.venv).symlink_to(machine.root / "kept")
    assert machine.make() == FROM_NOTHING
    assert (machine.root / "kept" / "unveil-ready.json").exists()


def test_an_unreadable_stamp_counts_as_none(machine: Machine) -> None:
    machine.make()
    (machine.venv / "unveil-ready.json").write_text("")
    assert machine.make() == FROM_NOTHING


def test_an_old_python_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    with pytest.raises(SystemExit, match=r"^unveil needs Python 3\.11 or later, but \S+ is \S+ Install"):
        runpy.run_path(str(environment.__file__))


def test_a_command_that_fails_ends_the_set_up() -> None:
    with pytest.raises(SystemExit, match="Setting up stopped at"):
        environment._run([sys.executable, "-c", "raise SystemExit(1)"])


def test_the_named_chromium_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mine", "google-chrome", "chromium-browser"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("UNVEIL_CHROMIUM", str(tmp_path / "mine"))
    assert chromium.find_chromium() == str(tmp_path / "mine")
    monkeypatch.setenv("UNVEIL_CHROMIUM", str(tmp_path / "not there"))
    assert chromium.find_chromium() is None
    monkeypatch.delenv("UNVEIL_CHROMIUM")
    assert chromium.find_chromium() == str(tmp_path / "chromium-browser")
    monkeypatch.setenv("PATH", "nowhere")
    assert chromium.find_chromium() is None


@pytest.mark.parametrize(
    ("user", "installs", "says"),
    [(0, [["update"], ["install", "-y", "--no-install-recommends", "chromium"]], "use"), (1000, [], "cannot run")],
)
def test_chromium_is_installed_where_that_is_possible(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    user: int,
    installs: list[list[str]],
    says: str,
) -> None:
    (tmp_path / "apt-get").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("UNVEIL_CHROMIUM", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    done: list[list[str]] = []

    def note(command: list[str], **_: object) -> None:
        done.append(command[2:])
        (tmp_path / "chromium").touch(mode=0o755)

    monkeypatch.setattr(subprocess, "run", note)
    chromium.main()
    assert done == installs
    assert says in capsys.readouterr().out.splitlines()[-1]
