"""What users get: the wheel in an environment of its own, with what unveil asks for, pandas and networkx, and no more.

The environment of the tests has much else, such as pyarrow, which could hide that unveil needs it. Nothing is
downloaded: the packages are links to those that are installed here.
"""

import subprocess
import sys
from email import message_from_bytes
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.docs.test_docs import blocks

ROOT = Path(__file__).parents[2]
#: Whose tables and graphs people bring.
BROUGHT = ["pandas", "networkx"]


def run(*command: str | Path, folder: Path = ROOT) -> str:
    """Return what a command prints, after it succeeded and without a word about errors."""
    done = subprocess.run(
        [*map(str, command)], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def closure(requirements: list[str]) -> set[str]:
    """Return the names of the packages that the requirements bring, as they are installed here."""
    waiting, found = [Requirement(text) for text in requirements], set[str]()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name not in found and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            found.add(name)
            waiting += [Requirement(text) for text in distribution(name).requires or ()]
    return found


def link(name: str, packages: Path) -> None:
    """Put an installed package into another environment."""
    installed = distribution(name)
    tops = {file.parts[0] for file in installed.files or ()} - {"..", "__pycache__"}
    assert not [top for top in tops if top.endswith(".pth")], f"{name} would change the path of Python"
    for top in tops:
        if not (packages / top).exists():
            (packages / top).symlink_to(Path(str(installed.locate_file(top))))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment in which unveil was installed from its wheel; what is run in it starts in its folder."""
    folder = tmp_path_factory.mktemp("plain")
    run(sys.executable, "-c", "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])", folder)
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        asked = message_from_bytes(archive.read(metadata)).get_all("Requires-Dist") or []
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in closure([*asked, *BROUGHT]):
        link(name, packages)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "--quiet", "install"]
    run(*pip, "--no-deps", "--no-index", wheel)
    return folder


def test_only_what_was_asked_for_is_there(plain: Path) -> None:
    """Or the tests below would say nothing."""
    code = """
from importlib.metadata import distributions
from importlib.util import find_spec
import unveil
print(unveil.__file__, *sorted(each.name.lower() for each in distributions()))
print([name for name in ("pyarrow", "pytest", "hypothesis", "starlette", "pip") if find_spec(name)])
"""
    first, absent = run(plain / "bin" / "python", "-c", code, folder=plain).splitlines()
    where, *there = first.split()
    assert Path(where).is_relative_to(plain)
    assert {"unveil", "numpy", "polars", *BROUGHT} <= {*there}
    assert absent == "[]"


def test_the_lines_of_the_readme_run(plain: Path) -> None:
    pages = (ROOT / "README.md", ROOT / "docs" / "start" / "quickstart.md")
    lines = "\n".join(block for page in pages for block in blocks(page.read_text(encoding="utf-8"), "python"))
    assert all(word in lines for word in ("pl.DataFrame(", "unveil.audit(", ".summary()", ".to_html("))
    # A chart needs the extra `plot`, which a plain install does not have: the error names it.
    code = """
import networkx, pandas
print(type(unveil.audit(pandas.read_csv("people.csv"), "masked.csv", attacks="copies").to_pandas()).__name__)
print(result.seed, result._repr_html_()[:7], unveil.graph(networkx.path_graph(60), seed_pairs=2).findings.graph)
try:
    result.plot()
except unveil.UnveilError as error:
    print(error)
"""
    printed = run(plain / "bin" / "python", "-W", "error", "-c", f"{lines}\n{code}", folder=plain)
    needs = "this needs the library 'matplotlib', which is not installed. Install it with: pip install 'unveil[plot]'"
    assert printed == f"DataFrame\n0 <iframe (60, 59)\n{needs}\n"


def test_the_command_runs(plain: Path) -> None:
    unveil = plain / "bin" / "unveil"
    assert run(unveil, "--version", folder=plain).startswith("unveil")
    assert "breached" in run(unveil, "unlinkability", "--sample", folder=plain)
