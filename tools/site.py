"""Build the documentation site: copy what it is made of side by side, run the notebooks, and let zensical write it.

``make docs`` calls this. A link that leads nowhere, a page that is not in the navigation and anything that a browser
would fetch from elsewhere stops the build.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Run as a file, this folder is on the path and the project is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.environment import ROOT
from tools.notebooks import NOTEBOOKS, page_of

CONFIG = ROOT / "docs" / "site" / "zensical.toml"
#: Old addresses of pages below docs, and where these are now.
MOVED = tomllib.loads((ROOT / "docs" / "site" / "moved.toml").read_text(encoding="utf-8"))
#: What the site is made of, as it lies in the project.
PARTS = (
    *("README.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE", "docs", "examples"),
    "LICENSE-3RD-PARTY.md",
    *(".pre-commit-hooks.yaml", "Containerfile", "action.yml", "constraints.txt", "pyproject.toml", "studies"),
)
#: What the theme would fetch from elsewhere where a page is opened as a file, and what comes with the site instead.
_SHIM = "https://unpkg.com/iframe-worker/shim"
_OWN_SHIM = "docs/site/iframe-worker.js"
#: Code within a sentence or a cell (blocks have further tags inside), and where it must and may not be broken in two.
_CODE = re.compile(r"<code>([^<\n]+)</code>")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_JOINT = re.compile(r"(?<=\w)((?:\[\])?\??\.|[,:=])(?=\w)")
_LONG_WORD = re.compile(r"\w{19,}")
#: What a browser fetches by itself: scripts, styles, pictures, frames.
_FETCHED = re.compile(
    r"<(?:script|img|iframe|source|video|link)\b[^>]*?\b(?:src|href)=[\"']?((?:https?:)?//[^\"'\s>]+)"
)


def main(arguments: list[str] | None = None) -> None:
    """Build the site into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default=str(ROOT / "site"), help="where the site goes")
    parser.add_argument("--work", default=str(ROOT / "build" / "docs"), help="where its sources are put together")
    options = parser.parse_args(arguments)
    build(Path(options.folder), Path(options.work))
    print(f"The site is in {options.folder}: open index.html in it.")


def build(folder: Path, work: Path) -> None:
    """Put the sources together in ``work``, build them into ``folder``, and stop where anything is wrong."""
    shutil.rmtree(work, ignore_errors=True)
    source = work / "source"
    gather(source)
    for path in NOTEBOOKS:
        page_of(path, source / path.relative_to(ROOT).parent)
    for page in source.rglob("*.md"):
        # In the project a link leads to the notebook as text, on the site to what it shows.
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r"(examples/notebooks/\w+)\.py\)", r"\1.md)", text), encoding="utf-8")
    shutil.copy(CONFIG, work / "zensical.toml")
    _stop_if(list(not_in_navigation(source)), "every page must be in docs/site/zensical.toml, but these are not")
    done = subprocess.run(
        [
            str(Path(sys.executable).parent / "zensical"),
            "build",
            "--strict",
            "--clean",
            "-f",
            str(work / "zensical.toml"),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nthe site has links that lead nowhere, or zensical failed. See above")
    site = work / "site"
    for page in site.rglob("*.html"):
        _finish(page, site)
    for old, new in MOVED.items():
        if not (site / "docs" / f"{old}.html").exists():
            _redirect(site / "docs" / f"{old}.html", f"{new}.html")
    _stop_if(list(fetched_from_elsewhere(site)), "no page may fetch anything from elsewhere, but these would")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(site, folder)


def gather(source: Path) -> None:
    """Copy what the site is made of, as it lies in the project, so that links from page to page hold."""
    for name in PARTS:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, source / name, ignore=shutil.ignore_patterns("__pycache__", "zensical.toml"))
        else:
            source.mkdir(parents=True, exist_ok=True)
            shutil.copy(place, source / name)


def not_in_navigation(source: Path) -> Iterator[str]:
    """Yield the pages that the navigation lacks, and what it names that is no page."""
    named = set(_pages(tomllib.loads(CONFIG.read_text(encoding="utf-8"))["project"]["nav"]))
    there = {str(path.relative_to(source)) for path in source.rglob("*.md")}
    yield from sorted(there ^ named)


def _pages(navigation: Any) -> Iterator[str]:
    if isinstance(navigation, str):
        yield navigation
        return
    for entry in navigation:
        for below in entry.values():
            yield from _pages(below)


def _finish(page: Path, site: Path) -> None:
    """Let a page take the script that comes with the site, break code well, and no heading be an empty corner."""
    text = broken_well(page.read_text(encoding="utf-8").replace("<th></th>", "<td></td>"))
    up = "../" * (len(page.relative_to(site).parts) - 1)
    page.write_text(text.replace(_SHIM, f"{up}{_OWN_SHIM}"), encoding="utf-8")


def _redirect(page: Path, address: str) -> None:
    """Write a small page that leads from an old address to the new one."""
    page.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>This page has moved</title>'
        f'<meta http-equiv="refresh" content="0; url={address}"><a href="{address}">This page has moved</a></html>\n',
        encoding="utf-8",
    )


def broken_well(text: str) -> str:
    """Return a page in whose sentences options stay whole, and long names of code may go on in the next line."""

    def whole(code: re.Match[str]) -> str:
        words = _LONG_WORD.sub(lambda word: word[0].replace("_", "_<wbr>"), code[1])
        joints = _JOINT.sub(r"\1<wbr>", words)
        return "<code>" + _OPTION.sub(r'<span class="whole">\g<0></span>', joints) + "</code>"

    return _CODE.sub(whole, text)


def fetched_from_elsewhere(site: Path) -> Iterator[str]:
    """Yield every address that a page of the site would fetch from another machine."""
    for page in sorted(site.rglob("*.html")):
        for address in _FETCHED.findall(page.read_text(encoding="utf-8")):
            yield f"{page.relative_to(site)}: {address}"


def _stop_if(wrong: list[str], what: str) -> None:
    if wrong:
        sys.exit(f"{what}: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
