"""Say under which licence every package of the list stands, who needs it, and whether unveil may use it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# What may be used anywhere: permissive, or binding only for changes of its own files (MPL); first as SPDX, then in the
# words of packages that name no SPDX identifier.
FINE = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "LLVM-exception", "MIT", "MIT-CMU"),
        *("MPL-2.0", "PSF-2.0", "Zlib"),
        *("Apache Software License", "BSD", "BSD License", "MIT License", "Python Software Foundation License"),
        "Mozilla Public License 2.0 (MPL 2.0)",
    }
)

# The GPL, the AGPL and, until somebody has a reason to tell it apart, the LGPL: in one extra that nobody needs
# otherwise, and in what developers install to test and to compare, which no installation of unveil names.
GPL = re.compile("GPL|General Public License")
GPL_MAY_BE_IN = frozenset({"orbits", "test", "bench"})

# Packages that state no license in their metadata, with the licenses in their files.
IN_FILES = {"axe-playwright-python": "MIT AND MPL-2.0"}

PAGE = """\
# Third-party licenses

unveil is under Apache-2.0. This table lists every package that unveil, its extras or its development need, at the
version of `constraints.txt`. `core` comes with a plain installation. `test`, `docs`, `bench` and `build` are used by
`make test`, `make docs`, `make bench` and the build. The GPL, LGPL and AGPL are allowed in the extra `orbits`, in
`test` and in `bench` only. No package may have an unknown license; `tests/test_supply_chain.py` checks both. `make
lock` writes this page, and `make sbom` the same list as CycloneDX, with hashes.

| Package | Version | License | Needed by |
| --- | --- | --- | --- |
"""


@dataclass(frozen=True, kw_only=True)
class Package:
    """One line of the list: a package at one version."""

    name: str
    version: str
    licence: str
    needed_by: tuple[str, ...]
    hashes: tuple[str, ...]


def read_lock(path: Path) -> list[Package]:
    """Return the packages of constraints.txt, in its order."""
    found = []
    about = ("", "")
    for line in path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        if said := re.fullmatch(r"# licence: (.+); needed by: (.+)", line):
            about = (said[1], said[2])
        elif pin := re.match(r"([\w.-]+)==(\S+)", line):
            found.append(
                Package(
                    name=canonicalize_name(pin[1]),
                    version=pin[2],
                    licence=about[0],
                    needed_by=tuple(about[1].split(", ")),
                    hashes=tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})\b", line)),
                )
            )
            about = ("", "")
    return found


def lock_text(packages: Iterable[Package]) -> str:
    """Return the lines of constraints.txt that say all that `read_lock` reads."""
    entries = []
    for package in packages:
        pin = [f"{package.name}=={package.version}", *(f"    --hash=sha256:{value}" for value in package.hashes)]
        about = f"# licence: {package.licence}; needed by: {', '.join(package.needed_by)}\n"
        entries.append(about + " \\\n".join(pin) + "\n")
    return "".join(entries)


def page(packages: Iterable[Package]) -> str:
    """Return the page for people."""
    rows = [f"| {p.name} | {p.version} | {p.licence} | {', '.join(p.needed_by)} |\n" for p in packages]
    return PAGE + "".join(rows)


def is_spdx(licence: str) -> bool:
    """Return whether the words are an expression of SPDX identifiers."""
    try:
        canonicalize_license_expression(licence)
    except InvalidLicenseExpression:
        return False
    return True


def licence_of(metadata: dict[str, Any]) -> str:
    """Return the licence that a package states about itself, as SPDX where it does, or an empty string.

    ``metadata`` is in the form of pip's report. A text of many lines names nothing; the classifiers then do.
    """
    words = [metadata.get("license_expression") or "", (metadata.get("license") or "").strip()]
    for word in words:
        if word and is_spdx(word):
            return str(canonicalize_license_expression(word))
    kinds = [kind.split(" :: ")[-1] for kind in metadata.get("classifier", ()) if kind.startswith("License :: ")]
    short = words[1] if 0 < len(words[1]) <= 60 and "\n" not in words[1] else ""
    return " AND ".join(sorted(set(kinds))) or short or IN_FILES.get(canonicalize_name(metadata.get("name", "")), "")


def objection(package: Package) -> str | None:
    """Return why unveil may not use the package, or None when it may."""
    needed_by = ", ".join(package.needed_by)
    if GPL.search(package.licence):
        if {*package.needed_by} <= GPL_MAY_BE_IN:
            return None
        return f"{package.name}, needed by {needed_by}, is under {package.licence}. Only the extra orbits may need such"
    words = re.split(r"\s+(?:AND|OR|WITH)\s+", package.licence)
    strange = [word for word in words if word not in FINE and word.strip("()") not in FINE]
    if not strange:
        return None
    return (
        f"{package.name}, needed by {needed_by}, is under {package.licence}, which is not among those that unveil may "
        "use. Do without it, or add the licence to FINE in tools/licences.py with a reason"
    )


def reached(requirements: Iterable[str], report: dict[str, Any]) -> set[str]:
    """Return the names of all packages that the requirements bring, directly or not, going by pip's report."""
    needs = {canonicalize_name(item["metadata"]["name"]): item["metadata"] for item in report["install"]}
    waiting = [Requirement(text) for text in requirements]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        wanted = waiting.pop()
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key in seen or key[0] not in needs:
            continue
        seen.add(key)
        for text in needs[key[0]].get("requires_dist", ()):
            further = Requirement(text)
            environments = [{**report["environment"], "extra": extra} for extra in ("", *wanted.extras)]
            if further.marker is None or any(further.marker.evaluate(each) for each in environments):
                waiting.append(further)
    return {name for name, _ in seen}
