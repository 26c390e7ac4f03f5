"""Write constraints.txt: every package that any part of unveil needs, with version, licence and the hash of each file.

Versions that are listed stay, unless they are to be renewed; what is new is resolved by pip, under each Python that is
named. The hashes are those that the index of packages gives for all files of a version, so that the list serves every
platform. The index is the one that pip of this machine uses. The page of licences is written from the same list.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from itertools import repeat
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

# Run as a file, this folder is on the path and the project is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.environment import CONSTRAINTS, ROOT, project
from tools.licences import Package, licence_of, lock_text, page, reached, read_lock

PAGE = "LICENSE-3RD-PARTY.md"
HEADER = """\
# The versions that every make target installs, tried together, so that every machine gets the same; with the hashes
# of all files of each version, which pip compares. Made by `make lock`: it keeps what is listed, adds what is missing.
# To renew: make lock ARGS="--renew NAME", or ARGS="--renew-all"; then make test.
"""


def main(arguments: list[str] | None = None) -> None:
    """Resolve what pyproject.toml asks for and write the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", help="a Python to resolve for; may be given several times")
    parser.add_argument("--renew", action="append", default=[], metavar="NAME", help="take the latest version of this")
    parser.add_argument("--renew-all", action="store_true", help="take the latest version of everything")
    options = parser.parse_args(arguments)
    path = ROOT / CONSTRAINTS
    renew = {canonicalize_name(name) for name in options.renew}
    pins = {package.name: package.version for package in read_lock(path) if not options.renew_all}
    pins = {name: version for name, version in pins.items() if name not in renew}
    reports = []
    for python in map(path_of, options.python or [sys.executable]):
        print(f"Resolving for {python} ...", flush=True)
        reports.append(resolve(python, sorted(set().union(*needs().values())), pins))
        # One version for all: what the first Python chose binds the next.
        pins |= {name: metadata["version"] for name, metadata in chosen(reports).items()}
    index = index_of_pip()
    with ThreadPoolExecutor(8) as pool:
        names, metadata = zip(*sorted(chosen(reports).items()), strict=True)
        packages = [*pool.map(described, names, metadata, repeat(reports), repeat(index))]
    path.write_text(HEADER + lock_text(packages), encoding="utf-8")
    (ROOT / PAGE).write_text(page(packages), encoding="utf-8")
    print(f"{CONSTRAINTS} lists {len(packages)} packages with {sum(len(p.hashes) for p in packages)} files.")


def path_of(python: str) -> str:
    """Return where this Python is: pip looks in no other place than the one it is told."""
    path = shutil.which(python)
    if path is None:
        sys.exit(f"{python} is not on this machine. Install it, or say where each Python is: make lock LOCK_FOR='...'")
    return path


def needs() -> dict[str, list[str]]:
    """Return the requirements of each part of unveil: its core, its extras, its groups, and what builds it."""
    settings = project()
    return {
        "core": settings["project"]["dependencies"],
        **settings["project"]["optional-dependencies"],
        **settings["dependency-groups"],
        # hatchling asks for editables when it builds an editable installation, and setuptools builds the one package of
        # the group bench that comes as source alone: neither is named by anything that pip resolves.
        "build": [*settings["build-system"]["requires"], "editables", "pip", "setuptools"],
    }


def chosen(reports: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the metadata of every package that pip would install under one of the Pythons."""
    found = [item["metadata"] for report in reports for item in report["install"]]
    return {canonicalize_name(metadata["name"]): metadata for metadata in found}


def described(name: str, metadata: dict[str, Any], reports: list[dict[str, Any]], index: str) -> Package:
    """Return the package with its licence, who needs it under any of the Pythons, and the hashes of its files."""
    parts = [part for part, texts in needs().items() if any(name in reached(texts, report) for report in reports)]
    licence, version = licence_of(metadata), metadata["version"]
    hashes = tuple(file_hashes(index, name, version))
    return Package(name=name, version=version, licence=licence or "unknown", needed_by=tuple(parts), hashes=hashes)


def resolve(python: str, requirements: list[str], pins: dict[str, str]) -> dict[str, Any]:
    """Return pip's report of what it would install for the requirements under this Python."""
    with tempfile.TemporaryDirectory() as folder:
        kept, report = Path(folder) / "pins.txt", Path(folder) / "report.json"
        kept.write_text("".join(f"{name}=={version}\n" for name, version in pins.items()), encoding="utf-8")
        command = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-input", "--dry-run"]
        command += ["--ignore-installed", "--report", str(report), "--constraint", str(kept), *requirements]
        if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode:
            sys.exit(
                f"pip found no versions that fit together under {python}. See its message above; renew what it names"
            )
        answer: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return answer


def index_of_pip() -> str:
    """Return the address of the index of packages, as pip says it after reading all its settings."""
    command = [sys.executable, "-m", "pip", "install", "--help"]
    environment = {**os.environ, "COLUMNS": "1000"}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    address = re.search(r"--index-url <url>.*?\(default (\S+?)/?\)", told, re.DOTALL)
    if address is None:
        sys.exit("pip must say which index it uses in its help, but did not. Install the version of constraints.txt")
    return address[1]


class _Links(HTMLParser):
    """The addresses that a page of the index points to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value for key, value in attrs if tag == "a" and key == "href" and value]


def file_hashes(index: str, name: str, version: str) -> list[str]:
    """Return the sorted SHA-256 hashes of all files that the index has for a version."""
    with urlopen(f"{index}/{name}/", timeout=180) as answer:  # noqa: S310 - the index that pip is told to trust
        page = answer.read().decode("utf-8")
    hashes = sorted(hashes_on_page(page, Version(version)))
    if not hashes:
        sys.exit(f"the index must give the hashes of {name} {version}, but gives none. Renew it, or ask another index")
    return hashes


def hashes_on_page(page: str, version: Version) -> Iterator[str]:
    """Yield the SHA-256 of every wheel and source archive of the version."""
    for address in _Links(page).addresses:
        parts = urlsplit(address)
        digest = re.search(r"sha256=([0-9a-f]{64})", parts.fragment)
        if digest and _version_of_file(unquote(parts.path.rsplit("/", 1)[-1])) == version:
            yield digest[1]


def _version_of_file(name: str) -> Version | None:
    try:
        return (parse_wheel_filename(name) if name.endswith(".whl") else parse_sdist_filename(name))[1]
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        # Installers and eggs of old: pip takes none of them.
        return None


if __name__ == "__main__":
    main()
