"""Setting up happens once, and again after an interruption or a change; shown with a pip that only takes notes."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

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


class BareMachine:
    """A machine with apt, on which nothing is installed: apt puts in place what it is asked for, and takes notes."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.asked: list[list[str]] = []
        self.really_run = subprocess.run
        self.put("apt-get")
        self.put("driver", "test -e libatomic1 && exit 0; echo 'driver: error while loading shared libraries: '\\")
        with (folder / "driver").open("a") as driver:
            driver.write("'libatomic.so.1: cannot open shared object file' >&2; exit 127\n")
        monkeypatch.chdir(folder)
        monkeypatch.setenv("PATH", str(folder))
        monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(folder / "driver"))
        monkeypatch.delenv("UNVEIL_CHROMIUM", raising=False)
        monkeypatch.setattr(subprocess, "run", self.run)

    def put(self, name: str, script: str = "") -> None:
        (self.folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.folder / name).chmod(0o755)

    def run(self, command: list[str], **options: Any) -> object:
        if command[0] != "apt-get":
            return self.really_run(command, **options)
        self.asked.append(command[2:])
        for package in {"chromium", "libatomic1"} & {*command}:
            self.put(package)
        return None


INSTALL = ["install", "-y", "--no-install-recommends"]


@pytest.mark.parametrize(
    ("present", "user", "installs", "says"),
    [
        ([], 0, ["chromium", "libatomic1"], "Browser tests use"),
        (["chromium"], 0, ["libatomic1"], "Browser tests use"),
        (["libatomic1"], 0, ["chromium"], "Browser tests use"),
        (["chromium", "libatomic1"], 0, [], "Browser tests use"),
        ([], 1000, [], "cannot run: no Chromium found"),
        (["chromium"], 1000, [], "cannot run: playwright, which drives Chromium, cannot load libatomic.so.1"),
    ],
)
def test_what_browser_tests_need_is_installed_where_that_is_possible(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    present: list[str],
    user: int,
    installs: list[str],
    says: str,
) -> None:
    machine = BareMachine(tmp_path, monkeypatch)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    for package in present:
        machine.put(package)
    chromium.main()
    assert machine.asked == ([["update"], [*INSTALL, *installs]] if installs else [])
    *before, last = capsys.readouterr().out.splitlines()
    assert says in last
    assert len(before) == bool(installs)
    assert all(package in before[0] for package in installs)


def test_the_driver_is_asked_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNVEIL_CHROMIUM", sys.executable)
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(tmp_path / "driver"))
    assert chromium.missing_library() is None
    said = "driver: error while loading shared libraries: libother.so.2: cannot open shared object file"
    (tmp_path / "driver").write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 127\n")
    (tmp_path / "driver").chmod(0o755)
    assert str(chromium.what_is_missing()).endswith("cannot load libother.so.2. Install the package that holds it.")
    monkeypatch.delenv("PLAYWRIGHT_NODEJS_PATH")
    driver = chromium.find_driver()
    assert driver is not None
    assert os.access(driver, os.X_OK)
    assert chromium.missing_library() is None
    monkeypatch.setattr(chromium, "find_spec", lambda _: None)
    assert chromium.find_driver() is None
    assert chromium.missing_library() is None
