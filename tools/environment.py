"""Make a virtual environment with unveil in it, once; a finished and unchanged one is left alone.

Runs under any python3 before anything is installed: the standard library only, and no word that Python 3.6 cannot
read, so that an old Python gets as far as the sentence about its version.
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        f"unveil needs Python 3.11 or later, but {sys.executable} is {sys.version.split()[0]}. "
        "Install a later one and name it, as in: make PYTHON=python3.12 setup"
    )

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = "constraints.txt"

# An environment made from inside another one (or from inside itself) is built on the same Python as that one.
PYTHON = getattr(sys, "_base_executable", None) or sys.executable


def main(arguments: list[str] | None = None) -> None:
    """Bring the environment up to date, or say in one sentence why that is not possible."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="the environment, relative to the project")
    parser.add_argument("--group", action="append", default=[], help="also install this dependency group")
    parser.add_argument("--extra", action="append", default=[], help="also install this extra of unveil")
    options = parser.parse_args(arguments)
    bring_up_to_date(ROOT / options.folder, groups=set(options.group), extras=set(options.extra))


def bring_up_to_date(folder: Path, *, groups: set[str], extras: set[str]) -> None:
    """Leave ``folder`` alone when its stamp says it has all that is asked for; else install, or remake it first.

    The stamp is written last and taken away first, so an environment without one was interrupted half-way.
    """
    stamp = folder / "unveil-ready.json"
    made = _read(stamp)
    has_python = (folder / "bin" / "python").exists()
    usable = has_python and made.get("home") == _home(folder)
    if usable and made.get("inputs") == _inputs() and {*groups} <= {*made["groups"]} and {*extras} <= {*made["extras"]}:
        return
    if usable:
        groups, extras = groups | {*made["groups"]}, extras | {*made["extras"]}
        stamp.unlink()
    else:
        _make(folder)
    print(f"Installing unveil and what it needs into {folder.name} ...", flush=True)
    _install_needs(folder, groups=groups, extras=extras)
    # A folder has no hash, so the project comes alone; what builds it is compared as well.
    _run([*_pip(folder), "--no-deps", "--build-constraint", CONSTRAINTS, "--editable", "."])
    done = {"home": _home(folder), "inputs": _inputs(), "groups": sorted(groups), "extras": sorted(extras)}
    stamp.write_text(json.dumps(done) + "\n", encoding="utf-8")


def _read(stamp: Path) -> dict[str, list[str]]:
    try:
        content: dict[str, list[str]] = json.loads(stamp.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}
    return content


def _home(folder: Path) -> list[str]:
    """Return what an environment cannot survive a change of: its own place and the Python below it."""
    return [str(folder.resolve()), str(Path(PYTHON).resolve()), sys.version]


def _inputs() -> list[str]:
    return [hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in ("pyproject.toml", CONSTRAINTS)]


def project() -> dict[str, Any]:
    """Return what pyproject.toml says."""
    import tomllib

    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _make(folder: Path) -> None:
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)
    print(f"Making {folder.name} (only the first time) ...", flush=True)
    # Debian ships venv without ensurepip, and forbids pip to touch its own Python; pip may fill another one, though.
    _run([PYTHON, "-m", "venv", "--without-pip", str(folder)])
    into = ["--python", str(folder / "bin" / "python")]
    # The pip of the machine may be one that takes no hashes from constraints, so it gets the line about pip alone.
    listed = (ROOT / CONSTRAINTS).read_text(encoding="utf-8")
    line = re.search(r"^pip==(?:.*\\\n)*.*$", listed, re.MULTILINE)
    if line is None:
        sys.exit(f"{CONSTRAINTS} must list pip, but does not. Write it anew with make lock")
    requirement = folder / "pip.txt"
    requirement.write_text(line[0] + "\n", encoding="utf-8")
    _run([PYTHON, "-m", "pip", *into, "install", *_QUIETLY, "--require-hashes", "--requirement", str(requirement)])


def _install_needs(folder: Path, *, groups: set[str], extras: set[str]) -> None:
    needs = project()["project"]
    requirements = [*needs["dependencies"]]
    for extra in sorted(extras):
        if extra not in needs["optional-dependencies"]:
            sys.exit(f"unveil has no extra {extra!r}. Choose from: {', '.join(needs['optional-dependencies'])}")
        requirements += needs["optional-dependencies"][extra]
    from_groups = [word for group in sorted(groups) for word in ("--group", group)]
    checked = ["--require-hashes", "--constraint", CONSTRAINTS, "--build-constraint", CONSTRAINTS]
    _run([*_pip(folder), *checked, *requirements, *from_groups])


def _pip(folder: Path) -> list[str]:
    return [str(folder / "bin" / "python"), "-m", "pip", "install", *_QUIETLY]


_QUIETLY = ["--quiet", "--no-input", "--disable-pip-version-check"]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"Setting up stopped at: {' '.join(command)}. See the message above; then run make again")


if __name__ == "__main__":
    main()
