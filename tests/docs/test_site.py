"""The site is built whole, with what its notebooks show; it can be searched, fits a phone, and asks nobody else."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tools.notebooks import NOTEBOOKS, Cell, cells_of, page_of
from tools.site import broken_well, build, fetched_from_elsewhere, not_in_navigation

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: What each notebook must have shown, so that its numbers are those that its text tells of.
SHOWN = {
    "synthetic_table": (
        "Fail (high risk): ",
        "Pass (nothing significant): ",
        "Membership inference: ",
    ),
    "own_anonymizer": ("Graph(1000 nodes, 4622 edges)", "of 950 re-identified", "korula-lattanzi re-identifies"),
    "published_counts": ("4 of 4 suppressed cells can be recovered exactly", "recovered afterwards: 0"),
}


def test_the_site_is_whole_and_needs_nobody_else(browser: "Browser", tmp_path: Path) -> None:
    # One test, because the build takes ten seconds and two processes would each make their own.
    site = tmp_path / "site"
    build(site, tmp_path / "work")
    assert {path.stem for path in NOTEBOOKS} == set(SHOWN)
    for name, sentences in SHOWN.items():
        shown = (tmp_path / "work" / "source" / "examples" / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
        assert [sentence for sentence in sentences if sentence not in shown] == []
        cells = json.loads((site / "examples" / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
        assert {cell["cell_type"] for cell in cells} == {"markdown", "code"}
    page = browser.new_page(viewport={"width": 390, "height": 844})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for name in (
        "index.html",
        "docs/reference/metrics.html",
        "docs/start/read-a-report.html",
        "examples/notebooks/own_anonymizer.html",
    ):
        page.goto(f"{site.as_uri()}/{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    page.goto(f"{site.as_uri()}/docs/limits.html")
    page.wait_for_url("**/docs/understand/threshold.html")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{site.as_uri()}/index.html")
    page.wait_for_function("[...document.querySelectorAll('*')].some((each) => each.shadowRoot)")  # the search is there
    page.keyboard.press("Control+k")
    page.locator("input:focus").wait_for()
    page.keyboard.type("mondrian")
    page.get_by_text(re.compile(r"\d+ results")).first.wait_for()
    page.close()
    assert [address for address in asked if not address.startswith(("file:", "data:", "blob:"))] == []


def test_a_page_that_is_not_named_and_a_script_from_elsewhere_are_seen(tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text("# New\n", encoding="utf-8")
    assert "new.md" in list(not_in_navigation(tmp_path))
    text = '<a href="https://example.org">fine</a><script src="https://example.org/a.js"></script><img src="a.png">'
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    assert list(fetched_from_elsewhere(tmp_path)) == ["page.html: https://example.org/a.js"]


def test_code_is_broken_between_words_and_never_within_an_option() -> None:
    assert broken_well("<code>a --hold-out N</code>") == '<code>a <span class="whole">--hold-out</span> N</code>'
    assert broken_well("<code>releases[].attacks?.rate</code>") == "<code>releases[].<wbr>attacks?.<wbr>rate</code>"
    assert broken_well("<code>excess_over_control_of</code>") == "<code>excess_<wbr>over_<wbr>control_<wbr>of</code>"
    for whole in ("<code>entropy_of</code>", "<code>0.5 --- x</code>", "<code>a <b>--option</b></code>", "--option"):
        assert broken_well(whole) == whole.replace("0.5", "0.<wbr>5")


def test_a_notebook_shows_what_it_prints_and_its_last_value(tmp_path: Path) -> None:
    text = "# %% [markdown]\n# # A title\n# Words.\n\n# %%\nx = 20\nprint('said')\nx + 1\n\n# %%\ny = x\n"
    assert cells_of(text)[0] == Cell(True, "# A title\nWords.")
    path = tmp_path / "small.py"
    path.write_text(text, encoding="utf-8")
    page_of(path, tmp_path / "out")
    page = (tmp_path / "out" / "small.md").read_text(encoding="utf-8")
    assert (
        "# A title\nWords.\n\n```python\nx = 20\nprint('said')\nx + 1\n```\n\n```text\nsaid\n```\n\n```text\n21\n```"
        in page
    )
    assert page.count("```text") == 2


def test_a_notebook_that_fails_stops_the_build(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text("# %%\n1 / 0\n", encoding="utf-8")
    with pytest.raises(ZeroDivisionError):
        page_of(path, tmp_path)
