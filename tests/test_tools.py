"""Setting up happens once, and again after an interruption or a change; shown with a pip that only takes notes."""

import configparser
import hashlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tools import chromium, environment, fresh

PYPROJECT = """
[project]
dependencies = ["click"]
optional-dependencies.web = ["peer"]
"""

LISTED = "click==1 --hash=0\npip==1 --hash=1 \\\n  --hash=2\nzipp==1 --hash=3\n"


class Machine:
    """A folder like the project's, in which commands are written down and not run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.venv = root / ".venv"
        self.commands: list[list[str]] = []
        self.breaks_at = ""
        (root / "pyproject.toml").write_text(PYPROJECT)
        (root / "constraints.txt").write_text(LISTED)

    def run(self, command: list[str]) -> None:
        self.commands.append(command)
        if self.breaks_at and self.breaks_at in command:
            raise KeyboardInterrupt
        if "venv" in command:
            (self.venv / "bin").mkdir(parents=True)
            (self.venv / "bin" / "python").touch()

    def make(self, *options: str) -> list[str]:
        """Return what was done: a venv made, pip put into it, needs installed for which parts, then unveil itself."""
        self.commands.clear()
        environment.main([".venv", *options])
        return [self.kind(command) for command in self.commands]

    def kind(self, command: list[str]) -> str:
        if "venv" in command:
            return "venv"
        if "--editable" in command:
            return "unveil"
        return " ".join(word for word in command if word in {"click", "peer", "test"}) or "pip"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "_run", machine.run)
    return machine


FROM_NOTHING = ["venv", "pip", "click", "unveil"]


def test_a_second_run_does_nothing(machine: Machine) -> None:
    assert machine.make() == FROM_NOTHING
    assert machine.make() == []


def test_no_ensurepip_is_needed(machine: Machine) -> None:
    machine.make()
    assert "--without-pip" in machine.commands[0]
    assert machine.commands[1][1:5] == ["-m", "pip", "--python", str(machine.venv / "bin" / "python")]


@pytest.mark.parametrize("step", ["venv", "pip", "click", "--editable"])
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
    with (machine.root / name).open("a") as file:
        file.write("# changed\n")
    assert machine.make() == ["click test", "unveil"]
    assert machine.make("--group", "test") == []


def test_groups_and_extras_are_added(machine: Machine) -> None:
    assert machine.make() == FROM_NOTHING
    assert machine.make("--group", "test") == ["click test", "unveil"]
    assert machine.make() == []
    assert machine.make("--extra", "web") == ["click peer test", "unveil"]


def test_every_package_is_compared_with_its_hash(machine: Machine) -> None:
    machine.make("--group", "test", "--extra", "web")
    _, pip, needs, unveil = machine.commands
    assert pip[-3:-1] == ["--require-hashes", "--requirement"]
    assert Path(pip[-1]).read_text() == "pip==1 --hash=1 \\\n  --hash=2\n"
    assert needs[needs.index("--require-hashes") :][1:3] == ["--constraint", "constraints.txt"]
    # A folder has no hash: unveil comes without anything else, and what builds it is compared.
    for command in (needs, unveil):
        assert command[command.index("--build-constraint") :][1] == "constraints.txt"
    assert "--no-deps" in unveil


def test_a_list_without_pip_is_told_in_one_sentence(machine: Machine) -> None:
    (machine.root / "constraints.txt").write_text("pip-tools==1 --hash=1\n")
    with pytest.raises(SystemExit, match=r"^constraints\.txt must list pip, but does not\. Write it anew"):
        machine.make()


@pytest.mark.parametrize("listed", ["right", "wrong", "without"])
def test_pip_refuses_a_package_with_another_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], listed: str
) -> None:
    wheel = tmp_path / "peer-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("peer-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: peer\nVersion: 1\n")
        archive.writestr("peer-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("peer-1.dist-info/RECORD", "")
    right = hashlib.sha256(wheel.read_bytes()).hexdigest()
    hashes = {"right": f" --hash=sha256:{right}", "wrong": f" --hash=sha256:{'0' * 64}", "without": ""}
    (tmp_path / "constraints.txt").write_text(f"peer==1{hashes[listed]}\n")
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["peer"]\n')
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    # pip itself runs, but looks at this folder alone and installs nothing.
    for name, value in {
        "NO_INDEX": "1",
        "FIND_LINKS": str(tmp_path),
        "DRY_RUN": "1",
        "CONFIG_FILE": os.devnull,
    }.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    if listed == "right":
        environment._install_needs(Path(sys.prefix), groups=set(), extras=set())
    else:
        with pytest.raises(SystemExit, match="Setting up stopped at"):
            environment._install_needs(Path(sys.prefix), groups=set(), extras=set())
        said = capfd.readouterr().err
        assert ("DO NOT MATCH THE HASHES" if listed == "wrong" else "--require-hashes mode") in said


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
    # On a bare Debian the real driver lacks the library too, and the loader of this process agrees.
    loaded = subprocess.run([sys.executable, "-c", "import ctypes; ctypes.CDLL('libatomic.so.1')"], capture_output=True)
    assert chromium.missing_library() == (None if loaded.returncode == 0 else "libatomic.so.1")
    monkeypatch.setattr(chromium, "find_spec", lambda _: None)
    assert chromium.find_driver() is None
    assert chromium.missing_library() is None


# tools/fresh.py


def test_fresh_needs_root_and_apt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit, match=r"^make fresh needs root and apt"):
        fresh.main([])


def test_the_mirror_is_the_one_of_apt() -> None:
    targets = "trixie-updates http://127.0.0.1/more/\ntrixie http://127.0.0.1/debian/\ntrixie http://127.0.0.1/last/\n"
    assert fresh.mirror_of("trixie", targets) == "http://127.0.0.1/debian/"
    with pytest.raises(SystemExit, match="must have a source for bookworm, but has none"):
        fresh.mirror_of("bookworm", targets)


def test_a_folder_with_a_mount_in_it_is_never_removed(tmp_path: Path) -> None:
    folder, mounts = tmp_path / "debian", tmp_path / "mounts"
    (folder / "proc").mkdir(parents=True)
    mounts.write_text(f"proc {folder}/proc proc rw 0 0\n")
    with pytest.raises(SystemExit, match=r"is left as it is, because \S+/proc is mounted in it"):
        fresh.remove(folder, mounts)
    assert (folder / "proc").exists()
    mounts.write_text(f"proc {folder}-other/proc proc rw 0 0\n")
    fresh.remove(folder, mounts)
    assert not folder.exists()


def test_the_folder_must_be_empty_and_goes_away_whatever_happens(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    with pytest.raises(SystemExit, match="must be empty"), fresh.a_folder(str(tmp_path / "mine")):
        pass
    assert (tmp_path / "mine" / "file").exists()
    with suppress(KeyboardInterrupt), fresh.a_folder(str(tmp_path / "new")) as folder:
        (folder / "file").touch()
        raise KeyboardInterrupt
    assert not (tmp_path / "new").exists()


def test_the_settings_of_pip_are_carried_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("wheels", "index/simple", "index/files"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "pip.conf").write_text(
        f"[global]\ntimeout = 7\nfind-links = {tmp_path}/elsewhere\nextra-index-url =\n"
        f"  file://{tmp_path}/index/simple\n  http://127.0.0.1:9/simple\n[install]\nno-clean = yes\n"
    )
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("PIP_FIND_LINKS", f"{tmp_path}/wheels")
    settings = fresh.pip_settings()
    # What the environment says goes before what the file says; both of several values stay.
    assert settings["global.find-links"] == f"{tmp_path}/wheels"
    assert settings["global.extra-index-url"].split() == [
        f"file://{tmp_path}/index/simple",
        "http://127.0.0.1:9/simple",
    ]
    # Pages of an index point to files beside them.
    assert fresh.local_places(settings) == [tmp_path / "index", tmp_path / "wheels"]
    written = configparser.ConfigParser()
    written.read_string(fresh.pip_configuration(settings))
    assert written["global"]["timeout"] == "7"
    assert written["global"]["extra-index-url"].split()[1] == "http://127.0.0.1:9/simple"
    assert written["install"]["no-clean"] == "yes"


@pytest.mark.parametrize(("command", "well"), [("exit 0", True), ("exit 3", False), ("exec sleep 60", False)])
def test_a_command_is_timed_and_bounded(capsys: pytest.CaptureFixture[str], command: str, well: bool) -> None:
    assert fresh.timed("make it", ["sh", "-c", command], time.monotonic() + 1) is well
    said = capsys.readouterr().out.splitlines()[-1]
    ending = {"exit 0": "passed", "exit 3": r"FAILED \(exit 3\)", "exec sleep 60": r"FAILED \(out of time\)"}[command]
    assert re.fullmatch(rf"--- make it: {ending} after \d+ s", said)


def test_the_commands_run_as_the_user_with_the_home_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh, "pip_settings", lambda: {"global.find-links": str(tmp_path)})
    root = fresh.inner_script(Path("/debian"), plain_user=False, read_only_home=False)
    assert f"mount --bind {tmp_path} /debian{tmp_path}\nmount -o remount,bind,ro /debian{tmp_path}" in root
    assert root.endswith('sh -c "cd /srv/unveil && $1" </dev/null')
    assert "--userspec" not in root
    plain = fresh.inner_script(Path("/debian"), plain_user=True, read_only_home=True)
    assert "mount -o remount,bind,ro /debian/home/plain" in plain
    assert "chroot --userspec=plain:plain /debian env -i HOME=/home/plain " in plain
