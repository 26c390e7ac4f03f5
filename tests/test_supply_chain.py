"""Everything that unveil is made of is listed with version, hashes and a licence that it may use."""

import json
import re
from dataclasses import replace
from importlib.metadata import Distribution, distributions
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tools import licences, lock, sbom
from tools.environment import CONSTRAINTS, ROOT, project
from tools.licences import GPL, Package, objection, page, read_lock

LOCK = ROOT / CONSTRAINTS
PACKAGES = {package.name: package for package in read_lock(LOCK)}
INSTALLED: dict[str, Distribution] = {
    canonicalize_name(each.name): each for each in distributions() if each.name != "unveil"
}


def stated_licence(distribution: Distribution) -> str:
    """Return the licence that an installed package states, read from its own file and not from the list."""
    return licences.licence_of(distribution.metadata.json)


def needed(requirements: list[str]) -> set[str]:
    """Return the names of all that the requirements bring, going by what is installed."""
    waiting = [Requirement(text) for text in requirements]
    seen: set[str] = set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name in INSTALLED and name not in seen:
            seen.add(name)
            further = [Requirement(text) for text in INSTALLED[name].requires or ()]
            waiting += [each for each in further if each.marker is None or each.marker.evaluate({"extra": ""})]
    return seen


# The list


def test_every_requirement_is_listed_with_a_version_that_it_allows() -> None:
    for requirement in map(Requirement, set(chain(*lock.needs().values()))):
        listed = PACKAGES[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(Version(listed.version), prereleases=True), requirement.name


def test_what_the_tests_run_with_is_what_is_listed() -> None:
    wanted = needed([*project()["project"]["dependencies"], *project()["dependency-groups"]["test"], "pip"])
    assert {"numpy", "llvmlite", "pytest", "pip"} <= wanted
    assert {name: INSTALLED[name].version for name in wanted} == {name: PACKAGES[name].version for name in wanted}


def test_every_package_has_hashes_and_no_line_has_an_address() -> None:
    assert "://" not in LOCK.read_text(encoding="utf-8")
    assert len(PACKAGES) > 80
    assert all(package.hashes and len({*package.hashes}) == len(package.hashes) for package in PACKAGES.values())
    # Compiled ones have a file for each Python and platform, not the one of the machine that made the list alone.
    assert all(len(PACKAGES[name].hashes) > 10 for name in ("numpy", "scipy", "numba", "pillow"))


def test_the_list_says_what_it_was_made_from(tmp_path: Path) -> None:
    again = tmp_path / "again.txt"
    again.write_text(lock.HEADER + licences.lock_text(PACKAGES.values()), encoding="utf-8")
    assert again.read_bytes() == LOCK.read_bytes()


# How it is made

DIGESTS = [f"{digit}" * 64 for digit in range(6)]
INDEX_PAGE = f"""<!DOCTYPE html><html><body>
<a href="../files/peer-1.0-py3-none-any.whl#sha256={DIGESTS[0]}" data-requires-python="&gt;=3.11">peer</a>
<a href="../files/peer-1.0-cp312-cp312-win_amd64.whl#sha256={DIGESTS[1]}">peer</a>
<a href="../files/peer-1.0.tar.gz#sha256={DIGESTS[2]}">peer</a>
<a href="../files/peer-1.0.1.tar.gz#sha256={DIGESTS[3]}">peer</a>
<a href="../files/peer-1.0.win32.exe#sha256={DIGESTS[4]}">peer</a>
<a href="../files/peer-1.0-py3-none-macosx_11_0_arm64.whl">without a hash</a>
</body></html>"""


def test_the_hashes_of_all_files_of_the_version_are_taken() -> None:
    assert [*lock.hashes_on_page(INDEX_PAGE, Version("1.0"))] == DIGESTS[:3]
    with pytest.raises(SystemExit, match=r"must give the hashes of peer 3, but gives none\. Renew it"):
        lock.file_hashes(data_address(INDEX_PAGE), "peer", "3")
    assert lock.file_hashes(data_address(INDEX_PAGE), "peer", "1") == DIGESTS[:3]


def data_address(page: str) -> str:
    """Return an address that holds the page itself, so that no index is needed; a name after it is a comment."""
    return "data:text/html," + page.replace("%", "%25").replace("#", "%23").replace("\n", "%0A") + "<!--"


def test_the_index_is_the_one_of_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple/")
    assert lock.index_of_pip() == "http://127.0.0.1:9/simple"


def test_a_python_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python3.99").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lock.path_of("python3.99") == str(tmp_path / "python3.99")
    with pytest.raises(SystemExit, match=r"^python3\.98 is not on this machine\. Install it"):
        lock.path_of("python3.98")


REPORT: dict[str, Any] = {
    "environment": {"python_version": "3.11"},
    "install": [
        {"metadata": {"name": "A", "version": "1", "requires_dist": ["b[more]>=1", "old; python_version < '3.12'"]}},
        {"metadata": {"name": "b", "version": "1", "requires_dist": ["c; extra == 'more'", "d; extra == 'other'"]}},
        *({"metadata": {"name": name, "version": "1"}} for name in ("c", "d", "old", "new")),
    ],
}


def test_what_a_requirement_brings_is_followed_through_extras_and_markers() -> None:
    assert licences.reached(["a>=1"], REPORT) == {"a", "b", "c", "old"}
    assert licences.reached(["b", "new"], REPORT) == {"b", "new"}
    assert licences.reached(["a"], {**REPORT, "environment": {"python_version": "3.12"}}) == {"a", "b", "c"}
    assert licences.reached(["elsewhere"], {**REPORT, "install": []}) == set()


# Licences


def test_every_package_may_be_used() -> None:
    assert [said for package in PACKAGES.values() if (said := objection(package))] == []


def test_the_gpl_is_in_the_extra_orbits_alone() -> None:
    extras = project()["project"]["optional-dependencies"]
    with_gpl = {package.name: {*package.needed_by} for package in PACKAGES.values() if GPL.search(package.licence)}
    assert {name: parts & {"core", *extras} for name, parts in with_gpl.items() if parts & {"core", *extras}} == {
        "igraph": {"orbits"}
    }
    assert "core" in PACKAGES["numpy"].needed_by
    # Going by what is installed too, and not only by what the list says about itself.
    others = [text for extra, texts in extras.items() if extra != "orbits" for text in texts]
    brought = needed([*project()["project"]["dependencies"], *others])
    assert "distributed" in brought
    assert "igraph" not in brought
    assert [name for name in sorted(brought) if GPL.search(stated_licence(INSTALLED[name]))] == []


def test_installed_packages_state_the_licence_of_the_list() -> None:
    both = {name for name in INSTALLED.keys() & PACKAGES.keys() if INSTALLED[name].version == PACKAGES[name].version}
    assert len(both) > 60
    assert {name: stated_licence(INSTALLED[name]) for name in both} == {name: PACKAGES[name].licence for name in both}


@pytest.mark.parametrize(
    ("licence", "parts", "fine"),
    [
        ("MIT", ("core",), True),
        ("MIT AND (Apache-2.0 OR BSD-2-Clause)", ("core",), True),
        ("Apache-2.0 WITH LLVM-exception", ("core",), True),
        ("GNU General Public License (GPL)", ("orbits", "test"), True),
        ("GNU General Public License (GPL)", ("orbits", "web"), False),
        ("GPL-3.0-only", ("web",), False),
        ("GNU Affero General Public License v3", ("bench",), True),
        ("GNU Affero General Public License v3", ("bench", "cluster"), False),
        ("MIT AND AGPL-3.0-or-later", ("core",), False),
        ("LGPL-2.1-or-later", ("core",), False),
        ("unknown", ("test",), False),
        ("", ("core",), False),
    ],
)
def test_an_unknown_licence_and_the_gpl_elsewhere_are_refused(licence: str, parts: tuple[str, ...], fine: bool) -> None:
    package = Package(name="peer", version="1", licence=licence, needed_by=parts, hashes=())
    assert (objection(package) is None) is fine


@pytest.mark.parametrize(
    ("metadata", "licence"),
    [
        ({"license_expression": "mit or apache-2.0"}, "MIT OR Apache-2.0"),
        ({"license": "BSD-3-Clause", "classifier": ["License :: OSI Approved :: BSD License"]}, "BSD-3-Clause"),
        ({"license": "Copyright\nAll rights", "classifier": ["License :: OSI Approved :: BSD License"]}, "BSD License"),
        ({"license": "GNU General Public License (GPL)"}, "GNU General Public License (GPL)"),
        ({"license": "Copyright\nAll rights"}, ""),
        ({"classifier": ["Topic :: Security"]}, ""),
        ({}, ""),
    ],
)
def test_the_licence_is_what_the_package_states(metadata: dict[str, Any], licence: str) -> None:
    assert licences.licence_of(metadata) == licence


def test_the_page_of_licences_is_current() -> None:
    assert (ROOT / lock.PAGE).read_text(encoding="utf-8") == page(PACKAGES.values())


# The bill of materials


def written_bill(path: Path) -> bytes:
    sbom.main([str(path)])
    return path.read_bytes()


def check_component(component: dict[str, Any]) -> None:
    """Check what the form of CycloneDX 1.5 asks of a component."""
    assert component["type"] == "library"
    assert component["name"]
    assert component["version"]
    assert component["purl"] == component["bom-ref"] == f"pkg:pypi/{component['name']}@{component['version']}"
    (licence,) = component["licenses"]
    assert licence.keys() in ({"expression"}, {"license"})
    assert "license" not in licence or licence["license"].keys() == {"name"}
    assert "expression" not in licence or licences.is_spdx(licence["expression"])
    assert component.get("scope", "required") in {"required", "optional", "excluded"}
    for each in component.get("hashes", ()):
        assert each.keys() == {"alg", "content"}
        assert each["alg"] == "SHA-256"
        assert re.fullmatch("[0-9a-f]{64}", each["content"])


def test_the_bill_of_materials_has_the_form_and_the_list(tmp_path: Path) -> None:
    content = json.loads(written_bill(tmp_path / "one.json"))
    assert content.keys() == {"bomFormat", "specVersion", "version", "metadata", "components"}
    assert (content["bomFormat"], content["specVersion"], content["version"]) == ("CycloneDX", "1.5", 1)
    itself, parts = content["metadata"]["component"], content["components"]
    assert (itself["name"], itself["licenses"]) == ("unveil", [{"expression": "Apache-2.0"}])
    for component in (itself, *parts):
        check_component(component)
    assert len({component["bom-ref"] for component in (itself, *parts)}) == len(parts) + 1
    assert {part["name"]: part["version"] for part in parts} == {p.name: p.version for p in PACKAGES.values()}
    scopes = {part["name"]: part["scope"] for part in parts}
    assert [scopes[name] for name in ("numpy", "starlette", "pytest", "hatchling")] == [
        "required",
        "optional",
        "excluded",
        "excluded",
    ]


def test_the_bill_of_materials_is_the_same_each_time_and_changes_with_the_list(tmp_path: Path) -> None:
    assert written_bill(tmp_path / "one.json") == written_bill(tmp_path / "two.json")
    about, packages = project()["project"], [*PACKAGES.values()]
    other = [replace(packages[0], hashes=("0" * 64,)), *packages[1:]]
    assert sbom.bill_of_materials(about, other) != sbom.bill_of_materials(about, packages)


# What people are told


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_people_are_led_to_what_is_promised(name: str) -> None:
    assert "(SECURITY.md)" in (ROOT / name).read_text(encoding="utf-8")


def test_the_threat_model_names_the_three_places_and_how_to_report() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert {"The report", "The local page", "Folders that a run goes on from", "Reporting a problem"} <= {*headings}
    assert text.count("Not promised") >= 3
